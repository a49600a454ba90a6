//! Floating point programs: arithmetic, roots, fused multiply-add, rounding, comparison, conversion.
//!
//! Every operation here is exact or correctly rounded on both machines. NaNs are equal to each
//! other: their bits are replaced before anything can look at them (see the prelude).

use super::Written;
use super::instructions;
use super::scope::{Scope, Slots};
use super::ty::Ty;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FTy {
    F16,
    F32,
    F64,
}

impl FTy {
    fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    fn bits(self) -> u32 {
        match self {
            Self::F16 => 16,
            Self::F32 => 32,
            Self::F64 => 64,
        }
    }
}

/// A scope with floating point variables beside the integer ones.
struct Floats {
    s: Scope,
    vars: Vec<(String, FTy)>,
    functions: Vec<(String, FTy, Vec<FTy>)>,
    use_half: bool,
}

pub(super) fn write(mut s: Scope) -> Written {
    let use_half = s.rng.one_in(3);
    let mut f = Floats { s, vars: Vec::new(), functions: Vec::new(), use_half };
    for _ in 0..f.s.rng.below(4) {
        let &(name, ret, params) = f.s.rng.pick(instructions::FLOAT);
        f.functions.push((name.into(), ret, params.to_vec()));
    }
    f.s.line("struct State {};");
    for _ in 0..f.s.rng.below(3) {
        f.write_function();
    }
    f.s.line("FN void body(State&, const u32* in, u32* out, int n) {");
    f.s.line("const u32 g = gid();");
    f.s.line("if ((int)g >= n) return;");
    f.s.declare("g", Ty::U32);
    let integers = f.s.rng.between(2, 4);
    f.s.write_inputs(integers);
    for _ in 0..f.s.rng.between(3, 6) {
        f.write_input();
    }
    for _ in 0..f.s.rng.between(8, 24) {
        f.write_statement();
    }
    let words_per_thread = f.store_results();
    f.s.line("}");
    let attributes = f.s.entry_attributes();
    f.s.line(format!("ENTRY_BEGIN({}, {attributes})", f.s.kernel.clone()));
    f.s.line("PHASE(body)");
    f.s.line("ENTRY_END");
    Written { text: f.s.into_text(), words_per_thread, extra_words: 0, zero_words: 0 }
}

impl Floats {
    fn any(&mut self) -> FTy {
        if self.use_half && self.s.rng.one_in(4) { FTy::F16 } else { *self.s.rng.pick(&[FTy::F32, FTy::F32, FTy::F64]) }
    }

    fn write_input(&mut self) {
        let name = self.s.fresh("x");
        let ty = self.any();
        let bytes = ty.bits() / 8;
        let last = self.s.shape.in_words * 4 / bytes - 1;
        let (factor, offset) = (self.s.rng.below(5) * 2 + 1, self.s.rng.below(64));
        self.s.line(format!(
            "const {t} {name} = make_{t}(load_as<u{}>(in, ((g * {factor}u + {offset}u) & {last}u) * {bytes}u));",
            ty.bits(),
            t = ty.name(),
        ));
        self.vars.push((name, ty));
    }

    fn write_function(&mut self) {
        let name = self.s.fresh("fun");
        let ret = self.any();
        let params: Vec<_> = (0..self.s.rng.between(1, 3)).map(|_| self.any()).collect();
        let list: Vec<_> = params.iter().enumerate().map(|(i, p)| format!("{} a{i}", p.name())).collect();
        self.s.line(format!("NOINLINE {} {name}({}) {{", ret.name(), list.join(", ")));
        let outer = std::mem::take(&mut self.vars);
        self.vars.extend(params.iter().enumerate().map(|(i, &p)| (format!("a{i}"), p)));
        if self.s.rng.one_in(2) {
            let (c, early) = (self.condition(2), self.expr(ret, 1));
            self.s.line(format!("if ({c}) return {early};"));
        }
        let result = self.expr(ret, 3);
        self.s.line(format!("return {result};"));
        self.s.line("}");
        self.vars = outer;
        self.functions.push((name, ret, params));
    }

    fn write_statement(&mut self) {
        match self.s.rng.below(10) {
            0 => self.write_loop(),
            1 => {
                let name = self.s.fresh("it");
                let ty = Ty::any(&mut self.s.rng);
                let value = self.integer_of_float(ty);
                self.s.line(format!("const {} {name} = {value};", ty.name()));
                self.s.declare(name, ty);
            }
            2 => {
                let &(function, ty, params) = self.s.rng.pick(instructions::FLOAT);
                let args: Vec<_> = params.iter().map(|&p| self.expr(p, 1)).collect();
                let name = self.s.fresh("y");
                self.s.line(format!("const {} {name} = {function}({});", ty.name(), args.join(", ")));
                self.vars.push((name, ty));
            }
            3 => {
                // A choice that is worth a branch.
                let name = self.s.fresh("y");
                let ty = self.any();
                let start = self.expr(ty, 1);
                self.s.line(format!("{} {name} = {start};", ty.name()));
                let (c, a, b) = (self.condition(2), self.expr(ty, 3), self.expr(ty, 3));
                self.s.line(format!("if ({c}) {name} = {a}; else {name} = {b};"));
                self.vars.push((name, ty));
            }
            _ => {
                let name = self.s.fresh("y");
                let ty = self.any();
                let depth = self.s.rng.between(1, 3);
                let value = self.expr(ty, depth);
                self.s.line(format!("const {} {name} = {value};", ty.name()));
                self.vars.push((name, ty));
            }
        }
    }

    /// An iteration such as Newton's, with an early way out.
    fn write_loop(&mut self) {
        let name = self.s.fresh("y");
        let ty = self.any();
        let start = self.expr(ty, 1);
        self.s.line(format!("{} {name} = {start};", ty.name()));
        self.vars.push((name.clone(), ty));
        let count = self.s.rng.between(2, 9);
        self.s.line(format!("for (u32 i = 0; i < {count}u; ++i) {{"));
        let known = self.vars.len();
        self.vars.push(("(f32)i".into(), FTy::F32));
        let value = self.expr(ty, 3);
        self.s.line(format!("{name} = {value};"));
        if self.s.rng.one_in(2) {
            let c = self.condition(1);
            self.s.line(format!("if ({c}) break;"));
        }
        self.vars.truncate(known);
        self.s.line("}");
    }

    fn store_results(&mut self) -> u32 {
        let mut slots = Slots::default();
        let mut stores = Vec::new();
        let first = self.vars.len().saturating_sub(14);
        for (name, ty) in &self.vars[first..] {
            let bits = ty.bits();
            stores.push(format!("store_as<u{bits}>(mine, {}u, bits({name}));", slots.take(bits / 8)));
        }
        let first = self.s.vars.len().saturating_sub(4);
        for var in &self.s.vars[first..] {
            let at = slots.take(var.ty.bits() / 8);
            stores.push(format!("store_as<{}>(mine, {at}u, {});", var.ty.name(), var.name));
        }
        let words = slots.words();
        self.s.line(format!("u32* const mine = (u32*)__builtin_assume_aligned(out + g * {words}u, 8);"));
        for store in stores {
            self.s.line(store);
        }
        words
    }

    fn integer_of_float(&mut self, ty: Ty) -> String {
        if self.s.rng.one_in(3) {
            let &(name, _, params) = self.s.rng.pick(instructions::TO_INTEGER);
            let value = self.expr(params[0], 2);
            return format!("({}){name}({value})", ty.name());
        }
        let from = *self.s.rng.pick(&[FTy::F32, FTy::F64]);
        let value = self.expr(from, 2);
        format!("to_{}({value})", ty.name())
    }

    fn literal(&mut self, ty: FTy) -> String {
        const F16: [&str; 8] = ["0.0", "1.0", "-1.5", "65504.0", "0x1p-24", "0x1p-14", "0.333", "1000.0"];
        const F32: [&str; 14] = [
            "0.0f",
            "-0.0f",
            "1.0f",
            "-1.0f",
            "0.5f",
            "3.0f",
            "0.1f",
            "1e-40f",
            "0x1p-149f",
            "3.4e38f",
            "16777216.0f",
            "0x1.fffffep-1f",
            "-7.25f",
            "__builtin_inff()",
        ];
        const F64: [&str; 14] = [
            "0.0",
            "-0.0",
            "1.0",
            "-1.0",
            "0.5",
            "3.0",
            "0.1",
            "1e-310",
            "0x1p-1074",
            "1.7e308",
            "9007199254740992.0",
            "0x1.fffffffffffffp-1",
            "-7.25",
            "__builtin_inf()",
        ];
        let text = match ty {
            FTy::F16 => return format!("(f16){}", self.s.rng.pick(&F16)),
            FTy::F32 => *self.s.rng.pick(&F32),
            FTy::F64 => *self.s.rng.pick(&F64),
        };
        format!("({text})")
    }

    fn leaf(&mut self, ty: FTy) -> String {
        if self.vars.is_empty() || self.s.rng.one_in(6) {
            return self.literal(ty);
        }
        let same: Vec<_> = self.vars.iter().filter(|(_, t)| *t == ty).map(|(name, _)| name.clone()).collect();
        if !same.is_empty() && !self.s.rng.one_in(5) {
            return self.s.rng.pick(&same).clone();
        }
        let (name, _) = self.s.rng.pick(&self.vars).clone();
        format!("({})({name})", ty.name())
    }

    fn condition(&mut self, depth: u32) -> String {
        if depth > 1 && self.s.rng.one_in(4) {
            let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
            let op = *self.s.rng.pick(&["&&", "||"]);
            return format!("({a} {op} {b})");
        }
        let ty = self.any();
        let (a, b) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
        match self.s.rng.below(8) {
            0 => {
                let x = self.leaf(ty);
                format!("({x} != {x})")
            }
            1 if ty != FTy::F16 => format!("__builtin_isunordered({a}, {b})"),
            2 if ty != FTy::F16 => format!("__builtin_islessgreater({a}, {b})"),
            // The negations are true for NaN: ltu and its kin.
            3 | 4 => {
                let op = *self.s.rng.pick(&["<", "<=", ">", ">=", "=="]);
                format!("(!({a} {op} {b}))")
            }
            _ => {
                let op = *self.s.rng.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({a} {op} {b})")
            }
        }
    }

    /// An expression whose C++ type is exactly `ty`.
    fn expr(&mut self, ty: FTy, depth: u32) -> String {
        if depth == 0 {
            return self.leaf(ty);
        }
        if ty == FTy::F16 {
            return self.half_expr(depth);
        }
        let t = ty.name();
        let below = depth - 1;
        match self.s.rng.below(20) {
            0..=5 => {
                let op = *self.s.rng.pick(&["+", "-", "*", "+", "-", "*", "/"]);
                let (a, b) = (self.expr(ty, below), self.expr(ty, below));
                format!("({a} {op} {b})")
            }
            6 | 7 => {
                let (a, b, c) = (self.expr(ty, below), self.expr(ty, below), self.expr(ty, below));
                format!("fma_({a}, {b}, {c})")
            }
            8 => format!("sqrt_({})", self.expr(ty, below)),
            9 => format!("(-{})", self.expr(ty, below)),
            10 => {
                let f = *self.s.rng.pick(&["floor_", "ceil_", "trunc_", "rint_", "round_"]);
                format!("{f}({})", self.expr(ty, below))
            }
            11 => {
                let f = *self.s.rng.pick(&["fmin_", "fmax_"]);
                let (a, b) = (self.expr(ty, below), self.expr(ty, below));
                format!("{f}({a}, {b})")
            }
            12 => {
                let (a, b) = (self.expr(ty, below), self.expr(ty, below));
                format!("copysign_({a}, {b})")
            }
            13 => format!("abs_({})", self.expr(ty, below)),
            14 => {
                let c = self.condition(depth);
                let (a, b) = (self.expr(ty, below), self.expr(ty, below));
                format!("({c} ? {a} : {b})")
            }
            15 => {
                let from = Ty::any(&mut self.s.rng);
                let value = self.s.expr(from, 1);
                format!("({t})({value})")
            }
            16 => {
                let from = Ty::any(&mut self.s.rng);
                let value = self.integer_of_float(from);
                format!("({t})({value})")
            }
            17 => {
                let from = self.any();
                let value = self.expr(from, below);
                format!("({t})({value})")
            }
            18 if !self.functions.is_empty() => {
                let (name, ret, params) = self.s.rng.pick(&self.functions).clone();
                let args: Vec<_> = params.iter().map(|&p| self.expr(p, below.min(1))).collect();
                let call = format!("{name}({})", args.join(", "));
                if ret == ty { call } else { format!("({t}){call}") }
            }
            18 => {
                // Through the bits.
                let (u, value) = (format!("u{}", ty.bits()), self.expr(ty, below));
                let flip = self.s.rng.below(23);
                format!("make_{t}(bits({value}) ^ ({u})1 << {flip})")
            }
            _ => self.leaf(ty),
        }
    }

    /// Half precision knows the four operations, comparison and conversion.
    fn half_expr(&mut self, depth: u32) -> String {
        let below = depth - 1;
        match self.s.rng.below(8) {
            0..=3 => {
                let op = *self.s.rng.pick(&["+", "-", "*", "/"]);
                let (a, b) = (self.expr(FTy::F16, below), self.expr(FTy::F16, below));
                format!("(f16)({a} {op} {b})")
            }
            4 => {
                let from = *self.s.rng.pick(&[FTy::F32, FTy::F64]);
                let value = self.expr(from, below);
                format!("(f16)({value})")
            }
            5 => {
                let from = *self.s.rng.pick(&[Ty::I16, Ty::U16, Ty::I8, Ty::U8]);
                let value = self.s.expr(from, 1);
                format!("(f16)({value})")
            }
            6 => {
                let c = self.condition(depth);
                let (a, b) = (self.expr(FTy::F16, below), self.expr(FTy::F16, below));
                format!("(f16)({c} ? {a} : {b})")
            }
            _ => self.leaf(FTy::F16),
        }
    }
}
