//! Integer programs: expressions of all widths, stack arrays, structs by value, calls, recursion.

use super::Written;
use super::instructions;
use super::scope::{Callee, Scope, Slots};
use super::ty::Ty;

pub(super) fn write(mut s: Scope) -> Written {
    let tables = s.rng.below(3);
    s.write_tables(tables);
    s.line("struct State {};");
    let functions = s.rng.below(4);
    for _ in 0..functions {
        write_function(&mut s);
    }
    if s.rng.one_in(3) {
        write_recursion(&mut s);
    }
    let record = s.rng.one_in(2).then(|| write_record(&mut s));

    s.line("FN void body(State&, const u32* in, u32* out, int n) {");
    s.line("const u32 g = gid();");
    s.line("if ((int)g >= n) return;");
    s.declare("g", Ty::U32);
    s.declare("n", Ty::I32);
    let inputs = s.rng.between(3, 7);
    s.write_inputs(inputs);
    let statements = s.rng.between(6, 22);
    for _ in 0..statements {
        write_statement(&mut s, record.as_ref());
    }
    let words_per_thread = store_results(&mut s, 12);
    s.line("}");

    let attributes = s.entry_attributes();
    s.line(format!("ENTRY_BEGIN({}, {attributes})", s.kernel.clone()));
    s.line("PHASE(body)");
    s.line("ENTRY_END");
    Written { text: s.into_text(), words_per_thread, extra_words: 0, zero_words: 0 }
}

/// Stores the last `count` variables, each in its own width, and gives the words per thread.
pub(super) fn store_results(s: &mut Scope, count: usize) -> u32 {
    let mut slots = Slots::default();
    let first = s.vars.len().saturating_sub(count);
    let results: Vec<_> = s.vars[first..].iter().map(|var| (var.clone(), slots.take(var.ty.bits() / 8))).collect();
    let words = slots.words();
    s.line(format!("u32* const mine = (u32*)__builtin_assume_aligned(out + g * {words}u, 8);"));
    for (var, at) in results {
        s.line(format!("store_as<{}>(mine, {at}u, {});", var.ty.name(), var.name));
    }
    words
}

/// A function of a few integers, called from expressions.
pub(super) fn write_function(s: &mut Scope) {
    let name = s.fresh("fun");
    let ret = Ty::any(&mut s.rng);
    let params: Vec<_> = (0..s.rng.between(1, 4)).map(|_| Ty::any(&mut s.rng)).collect();
    let list: Vec<_> = params.iter().enumerate().map(|(i, p)| format!("{} a{i}", p.name())).collect();
    let linkage = if s.rng.one_in(5) { "FN" } else { "NOINLINE" };
    s.line(format!("{linkage} {} {name}({}) {{", ret.name(), list.join(", ")));
    s.function(|s| {
        for (i, &p) in params.iter().enumerate() {
            s.declare(format!("a{i}"), p);
        }
        for _ in 0..s.rng.below(4) {
            write_let(s, 2);
        }
        if s.rng.one_in(3) {
            let (c, early) = (s.condition(2), s.expr(ret, 1));
            s.line(format!("if ({c}) return {early};"));
        }
        let result = s.expr(ret, 3);
        s.line(format!("return {result};"));
    });
    s.line("}");
    s.callees.push(Callee { name, ret, params });
}

/// A function that calls itself up to twice, to a depth that is part of its argument.
pub(super) fn write_recursion(s: &mut Scope) {
    let name = s.fresh("rec");
    let ty = *s.rng.pick(&[Ty::U32, Ty::U64, Ty::I32]);
    let t = ty.name();
    let depth = s.rng.between(2, 5);
    s.line(format!("NOINLINE {t} {name}_go({t} x, u32 depth) {{"));
    s.function(|s| {
        s.declare("x", ty);
        s.declare("depth", Ty::U32);
        let (c, base) = (s.condition(1), s.expr(ty, 1));
        s.line(format!("if (depth == 0 || {c}) return {base};"));
        let first = s.expr(ty, 1);
        s.line(format!("const {t} l = {name}_go({first}, depth - 1);"));
        s.declare("l", ty);
        let (c, second, other) = (s.condition(1), s.expr(ty, 1), s.expr(ty, 1));
        s.line(format!("const {t} r = {c} ? {name}_go({second}, depth - 1) : {other};"));
        s.declare("r", ty);
        let result = s.expr(ty, 2);
        s.line(format!("return ({t})({} ^ (({}){result}));", "l", ty.name()));
    });
    s.line("}");
    s.line(format!("FN {t} {name}({t} x) {{"));
    s.line(format!("return {name}_go(x, {depth}u);"));
    s.line("}");
    s.callees.push(Callee { name, ret: ty, params: vec![ty] });
}

/// A struct and a function that takes and returns it by value.
struct Record {
    name: String,
    function: String,
    fields: Vec<(String, Ty)>,
}

fn write_record(s: &mut Scope) -> Record {
    let name = s.fresh("Record");
    let function = s.fresh("update");
    let mut fields = Vec::new();
    s.line(format!("struct {name} {{"));
    for i in 0..s.rng.between(2, 6) {
        let ty = Ty::any(&mut s.rng);
        match s.rng.below(5) {
            0 => {
                let len = s.rng.between(2, 3);
                s.line(format!("{} m{i}[{len}];", ty.name()));
                fields.extend((0..len).map(|e| (format!("m{i}[{e}]"), ty)));
            }
            1 => {
                let width = s.rng.between(1, ty.bits() - 1);
                s.line(format!("{} m{i} : {width};", ty.name()));
                fields.push((format!("m{i}"), ty));
            }
            _ => {
                s.line(format!("{} m{i};", ty.name()));
                fields.push((format!("m{i}"), ty));
            }
        }
    }
    s.line("};");
    s.line(format!("NOINLINE {name} {function}({name} r, u32 x) {{"));
    s.function(|s| {
        s.declare("x", Ty::U32);
        for (field, ty) in &fields {
            s.declare(format!("r.{field}"), *ty);
        }
        for _ in 0..s.rng.between(1, 5) {
            let (field, ty) = s.rng.pick(&fields).clone();
            let value = s.expr(ty, 2);
            s.line(format!("r.{field} = {value};"));
        }
        s.line("return r;");
    });
    s.line("}");
    Record { name, function, fields }
}

/// One new variable.
pub(super) fn write_let(s: &mut Scope, depth: u32) {
    let name = s.fresh("v");
    let ty = Ty::any(&mut s.rng);
    let value = s.expr(ty, depth);
    s.line(format!("const {} {name} = {value};", ty.name()));
    s.declare(name, ty);
}

fn write_statement(s: &mut Scope, record: Option<&Record>) {
    match s.rng.below(10) {
        0 => write_array(s),
        1 => write_switch(s),
        2 if record.is_some() => write_record_use(s, record.expect("tested in the guard")),
        3 => write_let(s, 4),
        4 | 5 => {
            let &(function, ty, params) = s.rng.pick(instructions::INTEGER);
            let args: Vec<_> = params.iter().map(|&p| s.expr(p, 1)).collect();
            let name = s.fresh("v");
            s.line(format!("const {} {name} = {function}({});", ty.name(), args.join(", ")));
            s.declare(name, ty);
        }
        _ => {
            let depth = s.rng.between(1, 3);
            write_let(s, depth);
        }
    }
}

/// An array on the stack, indexed by data.
pub(super) fn write_array(s: &mut Scope) {
    let name = s.fresh("arr");
    let ty = Ty::any(&mut s.rng);
    let t = ty.name();
    let len = *s.rng.pick(&[4_u32, 5, 8, 11, 16]);
    let index = |e: String| {
        if len.is_power_of_two() { format!("{e} & {}u", len - 1) } else { format!("{e} % {len}u") }
    };
    s.line(format!("{t} {name}[{len}];"));
    s.nested(|s| {
        s.declare("i", Ty::U32);
        let value = s.expr(ty, 2);
        s.line(format!("for (u32 i = 0; i < {len}u; ++i) {name}[i] = {value};"));
    });
    for _ in 0..s.rng.between(1, 4) {
        let (at, value) = (s.expr(Ty::U32, 1), s.expr(ty, 2));
        s.line(format!("{name}[{}] = {value};", index(at)));
    }
    if ty == Ty::U32 && s.rng.one_in(2) {
        let digest = s.fresh("v");
        s.line(format!("const u32 {digest} = digest_words({name}, {len}u);"));
        s.declare(digest, Ty::U32);
    }
    for _ in 0..s.rng.between(1, 2) {
        let (var, at) = (s.fresh("v"), s.expr(Ty::U32, 1));
        s.line(format!("const {t} {var} = {name}[{}];", index(at)));
        s.declare(var, ty);
    }
}

fn write_switch(s: &mut Scope) {
    let name = s.fresh("v");
    let ty = Ty::any(&mut s.rng);
    let start = s.expr(ty, 1);
    s.line(format!("{} {name} = {start};", ty.name()));
    s.declare(name.clone(), ty);
    let cases = s.rng.between(2, 9);
    let selector = s.expr(Ty::U32, 2);
    s.line(format!("switch (({selector}) % {}u) {{", cases + 1));
    let constants = s.rng.one_in(3);
    for case in 0..cases {
        // All-constant cases become a table in memory.
        let value = if constants { ty.literal(&mut s.rng) } else { s.expr(ty, 2) };
        let end = if s.rng.one_in(5) && !constants { "" } else { " break;" };
        s.line(format!("case {case}: {name} = {value};{end}"));
    }
    let value = s.expr(ty, 1);
    s.line(format!("default: {name} = {value};"));
    s.line("}");
}

fn write_record_use(s: &mut Scope, record: &Record) {
    let name = s.fresh("r");
    s.line(format!("{} {name} = {{}};", record.name));
    for (field, ty) in &record.fields {
        let value = s.expr(*ty, 1);
        s.line(format!("{name}.{field} = {value};"));
    }
    for _ in 0..s.rng.between(1, 2) {
        let x = s.expr(Ty::U32, 1);
        s.line(format!("{name} = {}({name}, {x});", record.function));
    }
    for (field, ty) in &record.fields {
        let var = s.fresh("v");
        s.line(format!("const {} {var} = {name}.{field};", ty.name()));
        s.declare(var, *ty);
    }
}
