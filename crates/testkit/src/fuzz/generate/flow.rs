//! Control flow without structure: blocks that branch to each other at random, until a thread is out of fuel.

use super::writer::{Registers, Writer};
use super::{Scope, Weights, feature, vector};

/// Blocks of a kernel, or of a function that it calls.
pub(super) fn emit(writer: &mut Writer, weights: &Weights) {
    if writer.in_function || writer.rng.one_in(6) { called(writer) } else { blocks(writer, Some(weights)) }
}

fn blocks(writer: &mut Writer, weights: Option<&Weights>) {
    let count = writer.rng.between(3, 7);
    let labels: Vec<String> = (0..count).map(|_| writer.label("BLOCK")).collect();
    let (end, fuel, out) = (writer.label("OUT"), writer.r(), writer.p());
    let most = *writer.rng.pick(&[3, 7, 15]);
    let extra = writer.bits(most);
    writer.line(&format!("add.u32 {fuel}, {extra}, {};", count / 2));
    // Into the midst, past what leads there.
    branch(writer, &labels, &end);
    let exits = writer.may_exit && !writer.in_function;
    for label in &labels {
        writer.line(&format!("{label}:"));
        writer.line(&format!("sub.u32 {fuel}, {fuel}, 1;"));
        writer.line(&format!("setp.eq.u32 {out}, {fuel}, 0;"));
        writer.line(&format!("@{out} bra {end};"));
        match weights {
            Some(weights) if writer.rng.one_in(6) => {
                // Not another set of blocks.
                let mut inside = Weights(weights.0);
                inside.0[super::Feature::Flow as usize] = 0;
                feature(writer, &inside, Scope::Thread);
            }
            _ if writer.rng.one_in(5) => vector::local(writer),
            _ => writer.mix(),
        }
        if exits && writer.rng.one_in(3) {
            exit(writer);
        }
        branch(writer, &labels, &end);
    }
    writer.line(&format!("{end}:"));
}

/// How a block ends, or does not.
fn branch(writer: &mut Writer, labels: &[String], end: &str) {
    let any = |writer: &mut Writer| writer.rng.pick(labels).clone();
    match writer.rng.below(7) {
        0..3 => {
            let (p, to, not) = (writer.condition(), any(writer), *writer.rng.pick(&["", "!"]));
            writer.line(&format!("@{not}{p} bra {to};"));
        }
        3 | 4 => {
            let (table, entries) = (writer.label("TABLE"), *writer.rng.pick(&[2, 4, 8]));
            let mut targets: Vec<String> = (1..entries).map(|_| any(writer)).collect();
            targets.push(if writer.rng.one_in(2) { end.to_owned() } else { any(writer) });
            let index = writer.bits(entries - 1);
            writer.line(&format!("{table}: .branchtargets {};", targets.join(", ")));
            let guard = if writer.rng.one_in(3) { format!("@{} ", writer.condition()) } else { String::new() };
            writer.line(&format!("{guard}brx.idx {index}, {table};"));
        }
        5 => {
            let (p, to, other) = (writer.condition(), any(writer), any(writer));
            writer.line(&format!("@{p} bra {to};"));
            writer.line(&format!("bra {other};"));
        }
        _ => {}
    }
}

/// Some threads end; not the first of four.
pub(super) fn exit(writer: &mut Writer) {
    writer.has_exits = true;
    let (p, q, r) = (writer.condition(), writer.p(), writer.r());
    writer.line(&format!("and.b32 {r}, %t, 3;"));
    writer.line(&format!("setp.ne.and.u32 {q}, {r}, 0, {p};"));
    let how = *writer.rng.pick(&["exit", "ret"]);
    if writer.rng.one_in(2) {
        writer.line(&format!("@{q} st.global.b32 [%out], %h;"));
        writer.line(&format!("@{q} {how};"));
    } else {
        let label = writer.label("STAY");
        writer.line(&format!("@!{q} bra {label};"));
        writer.line("st.global.b32 [%out], %h;");
        writer.line(&format!("{how};"));
        writer.line(&format!("{label}:"));
    }
}

/// Irreducible flow in a function.
fn called(writer: &mut Writer) {
    let name = writer.label("f");
    let outer = (std::mem::take(&mut writer.body), std::mem::take(&mut writer.registers));
    writer.in_function = true;
    blocks(writer, None);
    writer.in_function = false;
    let body = std::mem::replace(&mut writer.body, outer.0);
    let registers: Registers = std::mem::replace(&mut writer.registers, outer.1);
    let (parameter, begin, given) = match writer.has_key() {
        true => (", .param .b32 key", "    .reg .b32 %k;\n    ld.param.b32 %k, [key];\n", "in, key"),
        false => ("", "", "in"),
    };
    writer.module.push_str(&format!(
        ".func (.param .b32 out) {name}(.param .b32 in{parameter})\n{{\n{}    .reg .b32 %h;\n\
         {begin}    ld.param.b32 %h, [in];\n{body}    st.param.b32 [out], %h;\n    ret;\n}}\n",
        registers.declarations()
    ));
    let guard = if writer.rng.one_in(3) { format!("@{} ", writer.condition()) } else { String::new() };
    let r = writer.r();
    for line in [&format!("mov.u32 {r}, 0;"), "{", ".param .b32 in;", ".param .b32 out;", "st.param.b32 [in], %h;"] {
        writer.line(line);
    }
    if writer.has_key() {
        writer.line(".param .b32 key;");
        writer.line("st.param.b32 [key], %k;");
    }
    for line in [&format!("{guard}call (out), {name}, ({given});"), &format!("{guard}ld.param.b32 {r}, [out];"), "}"] {
        writer.line(line);
    }
    writer.fold(&r);
}
