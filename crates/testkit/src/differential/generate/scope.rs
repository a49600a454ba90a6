//! Where a generated program is written: text, variables in reach, and integer expressions.

use super::{Shape, ty::Ty};
use crate::rng::Rng;

/// Something an expression may read.
#[derive(Clone, Debug)]
pub(super) struct Var {
    pub(super) name: String,
    pub(super) ty: Ty,
}

/// A function an expression may call.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    pub(super) name: String,
    pub(super) ret: Ty,
    pub(super) params: Vec<Ty>,
}

/// A read-only table at file scope; its length is a power of two.
#[derive(Clone, Debug)]
struct Table {
    name: String,
    len: u32,
}

/// The state of the generator.
pub(super) struct Scope {
    pub(super) rng: Rng,
    pub(super) shape: Shape,
    pub(super) kernel: String,
    pub(super) vars: Vec<Var>,
    pub(super) callees: Vec<Callee>,
    tables: Vec<Table>,
    text: String,
    indent: usize,
    next_id: u32,
}

impl Scope {
    pub(super) fn new(rng: Rng, shape: Shape, kernel: String) -> Self {
        Self {
            rng,
            shape,
            kernel,
            vars: Vec::new(),
            callees: Vec::new(),
            tables: Vec::new(),
            text: String::new(),
            indent: 0,
            next_id: 0,
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Writes a line. A line that ends in `{` opens a level, one that begins with `}` closes one.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if line.starts_with('}') {
            self.indent -= 1;
        }
        self.text.extend(std::iter::repeat_n("    ", self.indent));
        self.text.push_str(line);
        self.text.push('\n');
        if line.ends_with('{') {
            self.indent += 1;
        }
    }

    /// A name not used before in this program.
    pub(super) fn fresh(&mut self, prefix: &str) -> String {
        self.next_id += 1;
        format!("{prefix}{}", self.next_id)
    }

    /// Makes a variable readable by the expressions that follow.
    pub(super) fn declare(&mut self, name: impl Into<String>, ty: Ty) {
        self.vars.push(Var { name: name.into(), ty });
    }

    /// Runs `write` and forgets the variables it declared.
    pub(super) fn nested<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> R {
        let known = self.vars.len();
        let result = write(self);
        self.vars.truncate(known);
        result
    }

    /// Runs `write` for a function of its own: it sees none of the variables around it.
    pub(super) fn function<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::take(&mut self.vars);
        let result = write(self);
        self.vars = outer;
        result
    }

    /// Declares up to `count` tables in constant or global memory.
    pub(super) fn write_tables(&mut self, count: u32) {
        for _ in 0..count {
            let name = self.fresh("table");
            let ty = Ty::any(&mut self.rng);
            let len = *self.rng.pick(&[4, 8, 16]);
            let place = *self.rng.pick(&["CONSTANT", "TABLE"]);
            let values: Vec<_> = (0..len).map(|_| ty.literal(&mut self.rng)).collect();
            self.line(format!("{place} {} {name}[{len}] = {{ {} }};", ty.name(), values.join(", ")));
            self.tables.push(Table { name, len });
        }
    }

    /// Declares a few variables read from the input, one of each width at least.
    pub(super) fn write_inputs(&mut self, count: u32) {
        let mask = self.shape.in_words - 1;
        for i in 0..count {
            let name = self.fresh("x");
            let ty = match i {
                0 => Ty::U32,
                1 => Ty::I64,
                _ => Ty::any(&mut self.rng),
            };
            let (factor, offset) = (self.rng.between(0, 4) * 2 + 1, self.rng.below(64));
            let load = match ty.bits() {
                64 => format!("load_as<u64>(in, ((g * {factor}u + {offset}u) & {}u) * 8u)", mask / 2),
                32 => format!("in[(g * {factor}u + {offset}u) & {mask}u]"),
                16 => format!("load_as<{}>(in, ((g * {factor}u + {offset}u) & {}u) * 2u)", ty.name(), mask * 2 + 1),
                _ => format!("((const u8*)in)[(g * {factor}u + {offset}u) & {}u]", mask * 4 + 3),
            };
            self.line(format!("const {0} {name} = ({0}){load};", ty.name()));
            self.declare(name, ty);
        }
        if self.rng.one_in(3) {
            let name = self.fresh("v");
            let (vector, bytes, lanes) = *self.rng.pick(&[("u32x2", 8, 2), ("u32x4", 16, 4)]);
            let last = self.shape.in_words * 4 / bytes - 1;
            self.line(format!("const {vector} {name} = load_as<{vector}>(in, (g & {last}u) * {bytes}u);"));
            for lane in ["x", "y", "z", "w"].into_iter().take(lanes) {
                self.declare(format!("{name}.{lane}"), Ty::U32);
            }
        }
    }

    /// A value without operators: a variable, a constant or a load.
    fn leaf(&mut self, ty: Ty) -> String {
        if self.vars.is_empty() || self.rng.one_in(6) {
            return ty.literal(&mut self.rng);
        }
        if !self.tables.is_empty() && self.rng.one_in(12) {
            let table = self.rng.pick(&self.tables).clone();
            let index = self.rng.pick(&self.vars).name.clone();
            return format!("({}){}[(u32)({index}) & {}u]", ty.name(), table.name, table.len - 1);
        }
        // Recent variables carry the most computation.
        let recent = self.vars.len().min(8);
        let var = if self.rng.one_in(2) {
            let start = self.vars.len() - recent;
            self.rng.pick(&self.vars[start..]).clone()
        } else {
            self.rng.pick(&self.vars).clone()
        };
        if var.ty == ty { var.name } else { format!("({})({})", ty.name(), var.name) }
    }

    /// A condition.
    pub(super) fn condition(&mut self, depth: u32) -> String {
        if depth > 1 && self.rng.one_in(4) {
            let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
            return match self.rng.below(3) {
                0 => format!("({a} && {b})"),
                1 => format!("({a} || {b})"),
                _ => format!("(!{a} ^ {b})"),
            };
        }
        let ty = Ty::any(&mut self.rng);
        let depth = depth.saturating_sub(1);
        let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
        let op = *self.rng.pick(&["<", "<=", ">", ">=", "==", "!="]);
        match self.rng.below(4) {
            0 => format!("(({a} & {b}) != 0)"),
            _ => format!("({a} {op} {b})"),
        }
    }

    /// An expression whose C++ type is exactly `ty`.
    pub(super) fn expr(&mut self, ty: Ty, depth: u32) -> String {
        if depth == 0 {
            return self.leaf(ty);
        }
        let (t, w) = (ty.name(), ty.wrapping());
        let below = depth - 1;
        match self.rng.below(24) {
            0..=5 => {
                let op = *self.rng.pick(&["+", "-", "*", "&", "|", "^"]);
                let (a, b) = (self.expr(ty, below), self.expr(ty, below));
                format!("({t})(({w})({a}) {op} ({w})({b}))")
            }
            6 => {
                // Multiply and add in one expression, for mad and mul.wide.
                let (a, b, c) = (self.expr(ty, below), self.expr(ty, below), self.leaf(ty));
                format!("({t})(({w})({a}) * ({w})({b}) + ({w})({c}))")
            }
            7 | 8 => self.shift(ty, below),
            9 | 10 => {
                let f = *self.rng.pick(&["div_", "rem_"]);
                let (a, b) = (self.expr(ty, below), self.divisor(ty, below));
                format!("{f}<{t}>({a}, {b})")
            }
            11 | 12 => self.unary(ty, below),
            13 => {
                let f = *self.rng.pick(&["min_", "max_"]);
                let (a, b) = (self.expr(ty, below), self.expr(ty, below));
                format!("{f}<{t}>({a}, {b})")
            }
            14 => {
                let (a, b) = (self.expr(ty, below), self.expr(ty, below));
                format!("mulhi({a}, {b})")
            }
            15 => {
                let f = *self.rng.pick(&["add_flag", "sub_flag", "mul_flag", "add_sat", "sub_sat"]);
                let (a, b) = (self.expr(ty, below), self.expr(ty, below));
                format!("{f}<{t}>({a}, {b})")
            }
            16 | 17 => {
                let c = self.condition(depth);
                let (a, b) = (self.expr(ty, below), self.expr(ty, below));
                format!("({t})({c} ? {a} : {b})")
            }
            18 => format!("({t}){}", self.condition(depth)),
            19 => self.field(ty, below),
            20 => self.wide(ty, below),
            21 if !self.callees.is_empty() => {
                let callee = self.rng.pick(&self.callees).clone();
                let args: Vec<_> = callee.params.iter().map(|&p| self.expr(p, below.min(1))).collect();
                let call = format!("{}({})", callee.name, args.join(", "));
                if callee.ret == ty { call } else { format!("({t}){call}") }
            }
            21 | 22 => {
                let other = Ty::any(&mut self.rng);
                let a = self.expr(other, below);
                format!("({t})({a})")
            }
            _ => self.leaf(ty),
        }
    }

    fn divisor(&mut self, ty: Ty, depth: u32) -> String {
        match self.rng.below(4) {
            // A constant: the compiler multiplies by a reciprocal.
            0 => ty.literal(&mut self.rng),
            1 => {
                let a = self.expr(ty, depth);
                format!("({})(({a} & 15) + 1)", ty.name())
            }
            _ => self.expr(ty, depth),
        }
    }

    fn shift(&mut self, ty: Ty, depth: u32) -> String {
        let (t, w, last) = (ty.name(), ty.wrapping(), ty.bits() - 1);
        let a = self.expr(ty, depth);
        let amount = if self.rng.one_in(2) {
            format!("{}u", self.rng.below(last + 1))
        } else {
            format!("({} & {last}u)", self.expr(Ty::U32, depth))
        };
        match self.rng.below(4) {
            0 => format!("({t})(({w})({a}) << {amount})"),
            1 => format!("({t})({a} >> {amount})"),
            2 => format!("({t})(({w})({a}) >> {amount})"),
            _ => {
                let side = *self.rng.pick(&["left", "right"]);
                format!("({t})__builtin_rotate{side}{}({a}, {amount})", ty.bits())
            }
        }
    }

    fn unary(&mut self, ty: Ty, depth: u32) -> String {
        let (t, w) = (ty.name(), ty.wrapping());
        let a = self.expr(ty, depth);
        let long = if ty.bits() == 64 { "ll" } else { "" };
        // Counting zeros is undefined for zero: one bit is set first.
        match self.rng.below(8) {
            0 => format!("({t})(0 - ({w})({a}))"),
            1 => format!("({t})(~({w})({a}))"),
            2 => format!("({t})__builtin_popcount{long}(({w})({a}))"),
            3 => format!("({t})__builtin_clz{long}(({w})({a}) | 1u)"),
            4 => format!("({t})__builtin_ctz{long}(({w})({a}) | ({w})1 << {})", if long.is_empty() { 31 } else { 63 }),
            5 => format!("({t})__builtin_bitreverse{}({a})", ty.bits()),
            6 if ty.bits() > 8 => format!("({t})__builtin_bswap{}({a})", ty.bits()),
            _ if ty.is_signed() => format!("({t})({a} < 0 ? 0 - ({w})({a}) : ({w})({a}))"),
            _ => format!("({t})(({w})({a}) & (0 - ({w})({a})))"),
        }
    }

    /// Takes a bit field out of a value, or puts one in.
    fn field(&mut self, ty: Ty, depth: u32) -> String {
        let (t, w, bits) = (ty.name(), ty.wrapping(), ty.bits());
        let position = self.rng.below(bits);
        let width = self.rng.between(1, bits - position);
        let mask = u64::MAX >> (64 - width);
        let a = self.expr(ty, depth);
        match self.rng.below(3) {
            0 => format!("({t})((({w})({a}) >> {position}) & ({w}){mask:#x}ull)"),
            1 if ty.is_signed() => {
                format!("({t})(({t})(({w})({a}) << {}) >> {})", bits - position - width, bits - width)
            }
            _ => {
                let b = self.expr(ty, depth);
                let hole = mask << position;
                format!("({t})((({w})({a}) & ({w})~{hole:#x}ull) | ((({w})({b}) & ({w}){mask:#x}ull) << {position}))")
            }
        }
    }

    /// Products of narrower operands and 128-bit arithmetic.
    fn wide(&mut self, ty: Ty, depth: u32) -> String {
        let t = ty.name();
        let mut word = |ty| self.expr(ty, depth.min(1));
        let (a, b) = (word(Ty::U64), word(Ty::U64));
        let (c, d) = (word(Ty::U32), word(Ty::U32));
        let (e, f) = (word(Ty::I32), word(Ty::I32));
        match self.rng.below(10) {
            0 => format!("({t})((i64)({e}) * (i64)({f}))"),
            1 => format!("({t})((u64)({c}) * (u64)({d}) + {a})"),
            2 => format!("({t})add128({a}, {b}, {c}, {d})"),
            3 => format!("({t})sub128({a}, {b}, {c}, {d})"),
            4 => format!("({t})mul128({a}, {b}, {c}, {d})"),
            5 => format!("({t})shl128({a}, {b}, {c})"),
            6 => format!("({t})shr128({a}, {b}, {c})"),
            7 => format!("({t})sar128({a}, {b}, {c})"),
            8 => format!("({t})funnel({a}, {b}, {c})"),
            _ => format!("({t})funnel32({c}, {d}, (u32)({e}))"),
        }
    }

    /// Attributes of the entry function, for the second argument of `ENTRY_BEGIN`.
    pub(super) fn entry_attributes(&mut self) -> String {
        if self.rng.one_in(4) { format!("MAX_THREADS({})", self.shape.threads_per_block()) } else { String::new() }
    }
}

/// Where in the output of a thread the next value goes.
#[derive(Default)]
pub(super) struct Slots {
    bytes: u32,
}

impl Slots {
    /// The byte offset of a value of `size` bytes, aligned to it.
    pub(super) fn take(&mut self, size: u32) -> u32 {
        let at = self.bytes.next_multiple_of(size);
        self.bytes = at + size;
        at
    }

    /// Words per thread, even so that 64-bit values stay aligned.
    pub(super) fn words(&self) -> u32 {
        self.bytes.div_ceil(8).max(1) * 2
    }
}
