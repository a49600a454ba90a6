//! Control-flow programs: bounded loops, nested branches, switches, early exits, divergent calls.

use super::Written;
use super::instructions;
use super::integer::{store_results, write_function, write_let, write_recursion};
use super::scope::{Callee, Scope};
use super::ty::Ty;

/// The mutable variables; statements assign to them, expressions read them.
const MUTABLE: [(&str, Ty); 6] =
    [("m.a", Ty::U32), ("m.b", Ty::U32), ("m.c", Ty::I32), ("m.d", Ty::U64), ("m.e", Ty::I64), ("m.f", Ty::U16)];

pub(super) fn write(mut s: Scope) -> Written {
    let tables = s.rng.below(2);
    s.write_tables(tables);
    s.line("struct State {};");
    s.line("struct Mutable { u32 a, b; i32 c; u64 d; i64 e; u16 f; u32 fuel; };");
    for _ in 0..s.rng.below(3) {
        write_function(&mut s);
    }
    if s.rng.one_in(4) {
        write_recursion(&mut s);
    }
    for _ in 0..s.rng.below(3) {
        let &(name, ret, params) = s.rng.pick(instructions::INTEGER);
        s.callees.push(Callee { name: name.into(), ret, params: params.to_vec() });
    }
    let pointers = s.rng.one_in(6);
    if pointers {
        write_pointees(&mut s);
    }
    // Apart, so that an early return still meets the stores that follow it.
    let linkage = if s.rng.one_in(4) { "NOINLINE" } else { "FN" };
    s.line(format!("{linkage} void work(Mutable& m, const u32* in, u32 g, int n) {{"));
    s.function(|s| {
        s.declare("g", Ty::U32);
        s.declare("n", Ty::I32);
        s.write_inputs(3);
        for (name, ty) in MUTABLE {
            s.declare(name, ty);
        }
        let mut flow = Flow { loops: 0, budget: s.rng.between(10, 26), pointers };
        while flow.budget > 0 {
            flow.statement(s, 0);
        }
    });
    s.line("}");

    s.line("FN void body(State&, const u32* in, u32* out, int n) {");
    s.line("const u32 g = gid();");
    s.line("if ((int)g >= n) return;");
    s.declare("g", Ty::U32);
    s.write_inputs(3);
    s.line("Mutable m;");
    for (name, ty) in MUTABLE {
        let value = s.expr(ty, 1);
        s.line(format!("{name} = {value};"));
    }
    let fuel = s.rng.between(20, 120);
    s.line(format!("m.fuel = {fuel}u;"));
    s.line("work(m, in, g, n);");
    s.vars.clear();
    for (name, ty) in MUTABLE {
        s.declare(name, ty);
    }
    s.declare("m.fuel", Ty::U32);
    let words_per_thread = store_results(&mut s, 7);
    s.line("}");
    let attributes = s.entry_attributes();
    s.line(format!("ENTRY_BEGIN({}, {attributes})", s.kernel.clone()));
    s.line("PHASE(body)");
    s.line("ENTRY_END");
    Written { text: s.into_text(), words_per_thread, extra_words: 0, zero_words: 0 }
}

/// Functions of one signature, to be called through a pointer.
fn write_pointees(s: &mut Scope) {
    for i in 0..3 {
        s.line(format!("NOINLINE u32 pointee{i}(u32 x, u32 y) {{"));
        s.function(|s| {
            s.declare("x", Ty::U32);
            s.declare("y", Ty::U32);
            let value = s.expr(Ty::U32, 2);
            s.line(format!("return {value};"));
        });
        s.line("}");
    }
}

/// What the statements written so far allow the next one to be.
struct Flow {
    /// Loops around the current statement.
    loops: u32,
    /// Statements that may still be written.
    budget: u32,
    /// There are functions to call through a pointer.
    pointers: bool,
}

impl Flow {
    fn block(&mut self, s: &mut Scope, depth: u32, most: u32) {
        s.nested(|s| {
            for _ in 0..s.rng.between(1, most) {
                self.statement(s, depth + 1);
            }
        });
    }

    fn statement(&mut self, s: &mut Scope, depth: u32) {
        self.budget = self.budget.saturating_sub(1);
        if depth >= 4 || self.budget == 0 {
            return assign(s);
        }
        match s.rng.below(16) {
            0..=3 => assign(s),
            4 => {
                let depth = s.rng.between(1, 2);
                write_let(s, depth);
            }
            5..=7 => self.branch(s, depth),
            8 | 9 if self.loops < 3 => self.counted_loop(s, depth),
            10 if self.loops < 3 => self.while_loop(s, depth),
            11 if self.loops < 3 => self.do_loop(s, depth),
            12 => self.switch(s, depth),
            13 if self.loops > 0 => {
                let c = s.condition(2);
                let way = *s.rng.pick(&["break", "continue"]);
                s.line(format!("if ({c}) {way};"));
            }
            14 if depth > 0 && s.rng.one_in(3) => {
                let c = s.condition(2);
                s.line(format!("if ({c}) {{"));
                assign(s);
                s.line("return;");
                s.line("}");
            }
            15 if self.pointers => {
                let (at, x, y) = (s.expr(Ty::U32, 1), s.expr(Ty::U32, 1), s.expr(Ty::U32, 1));
                let name = s.fresh("p");
                s.line(format!(
                    "u32 (*const {name})(u32, u32) = ({at}) % 3u == 0 ? pointee0 : ({at}) % 3u == 1 ? pointee1 : pointee2;"
                ));
                s.line(format!("m.a ^= {name}({x}, {y});"));
            }
            _ => {
                // Short circuit with a call or a nested choice on the right.
                let (a, b) = (s.condition(2), s.condition(3));
                let op = *s.rng.pick(&["&&", "||"]);
                s.line(format!("if ({a} {op} {b}) {{"));
                self.block(s, depth, 2);
                s.line("}");
            }
        }
    }

    fn branch(&mut self, s: &mut Scope, depth: u32) {
        let c = s.condition(2);
        s.line(format!("if ({c}) {{"));
        self.block(s, depth, 3);
        while s.rng.one_in(4) {
            let c = s.condition(1);
            s.line(format!("}} else if ({c}) {{"));
            self.block(s, depth, 2);
        }
        if s.rng.one_in(2) {
            s.line("} else {");
            self.block(s, depth, 3);
        }
        s.line("}");
    }

    fn counted_loop(&mut self, s: &mut Scope, depth: u32) {
        let i = s.fresh("it");
        let most = if self.loops == 0 { 15 } else { 3 };
        let bound = if s.rng.one_in(3) {
            format!("{}u", s.rng.between(1, most.min(6)))
        } else {
            format!("({} & {most}u)", s.expr(Ty::U32, 1))
        };
        let unroll = *s.rng.pick(&["", "", "#pragma unroll", "#pragma nounroll"]);
        if !unroll.is_empty() {
            s.line(unroll);
        }
        s.line(format!("for (u32 {i} = 0, {i}_end = {bound}; {i} < {i}_end; ++{i}) {{"));
        self.loops += 1;
        s.nested(|s| {
            s.declare(i, Ty::U32);
            self.block(s, depth, 3);
        });
        self.loops -= 1;
        s.line("}");
    }

    fn while_loop(&mut self, s: &mut Scope, depth: u32) {
        let c = s.condition(2);
        s.line(format!("while (m.fuel > 0 && {c}) {{"));
        s.line("--m.fuel;");
        self.loops += 1;
        self.block(s, depth, 3);
        self.loops -= 1;
        s.line("}");
    }

    fn do_loop(&mut self, s: &mut Scope, depth: u32) {
        s.line("do {");
        s.line("if (m.fuel == 0) break;");
        s.line("--m.fuel;");
        self.loops += 1;
        self.block(s, depth, 3);
        self.loops -= 1;
        let c = s.condition(2);
        s.line(format!("}} while ({c});"));
    }

    fn switch(&mut self, s: &mut Scope, depth: u32) {
        let cases = s.rng.between(2, 8);
        let selector = s.expr(Ty::U32, 1);
        let modulus = cases + s.rng.below(3);
        s.line(format!("switch (({selector}) % {modulus}u) {{"));
        for case in 0..cases {
            s.line(format!("case {case}: {{"));
            // A `break` written inside leaves the switch, a `continue` the loop around it.
            self.block(s, depth, 2);
            s.line("}");
            if !s.rng.one_in(5) {
                s.line("break;");
            }
        }
        s.line("default: {");
        assign(s);
        s.line("}");
        s.line("}");
    }
}

fn assign(s: &mut Scope) {
    let (name, ty) = *s.rng.pick(&MUTABLE);
    let depth = s.rng.between(1, 3);
    let value = s.expr(ty, depth);
    // Adding keeps the history of the path in the value.
    if s.rng.one_in(2) {
        let w = ty.wrapping();
        s.line(format!("{name} = ({})(({w}){name} * 5u + ({w})({value}));", ty.name()));
    } else {
        s.line(format!("{name} = {value};"));
    }
}
