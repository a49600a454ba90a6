//! Instructions whose operands are loaded values, in kernels whose time does not depend on them: arithmetic that takes
//! iterations in hardware, atomics, constants, and operations of a warp.

use super::launch::CONSTANTS;
use super::writer::{Buffer, Writer};

/// One or two of them. `has_warps` says whether all threads of a warp come.
pub(super) fn emit(writer: &mut Writer, has_warps: bool) {
    for _ in 0..writer.rng.between(1, 2) {
        match writer.rng.below(6) {
            0 => arithmetic(writer),
            1 => global_atomic(writer),
            2 => shared_atomic(writer),
            3 => reduction(writer),
            4 if has_warps && writer.shape.threads().is_multiple_of(32) => of_warp(writer),
            _ => constant(writer),
        }
    }
}

/// An operation that hardware does in several steps, or that has special cases.
fn arithmetic(writer: &mut Writer) {
    let (name, kind) = *writer.rng.pick(&[
        ("div.u32", 'r'),
        ("rem.s32", 'r'),
        ("mul.hi.s32", 'r'),
        ("div.s64", 'd'),
        ("rem.u64", 'd'),
        ("div.rn.f32", 'f'),
        ("div.full.f32", 'f'),
        ("max.NaN.f32", 'f'),
        ("div.rn.f64", 'e'),
        ("sqrt.rn.f32", 'f'),
        ("sqrt.rn.f64", 'e'),
        ("sin.approx.f32", 'f'),
        ("lg2.approx.f32", 'f'),
        ("rcp.rn.f64", 'e'),
        ("popc.b32", 'r'),
        ("bfind.u32", 'r'),
    ]);
    let is_binary = ["div", "rem", "mul", "max"].iter().any(|start| name.starts_with(start));
    let a = writer.value(kind);
    let b = if is_binary { format!(", {}", writer.value(kind)) } else { String::new() };
    writer.line(&format!("{name} {a}, {a}{b};"));
    writer.fold_any(&a);
}

/// The name of an atomic of 32 bits, with what comes after the address.
fn operation(writer: &mut Writer) -> (&'static str, String) {
    let name = *writer.rng.pick(&["add.u32", "max.s32", "exch.b32", "cas.b32", "inc.u32", "and.b32"]);
    let value = writer.value('r');
    if name == "cas.b32" {
        let other = writer.value('r');
        return (name, format!("{value}, {other}"));
    }
    (name, value)
}

/// An atomic on a thread's own place or on one of all threads.
fn global_atomic(writer: &mut Writer) {
    let address =
        if writer.rng.one_in(2) { writer.own(Buffer::Work, 64) } else { writer.somewhere(Buffer::Work, 4, 8) };
    if writer.rng.one_in(2) {
        let name = *writer.rng.pick(&["add.u64", "exch.b64", "max.u64"]);
        let value = writer.value('d');
        writer.line(&format!("atom.global.{name} {address}, [{address}], {value};"));
        writer.fold_any(&address);
        return;
    }
    let ((name, values), r) = (operation(writer), writer.r());
    let space = *writer.rng.pick(&[".global", ""]);
    writer.line(&format!("atom{space}.{name} {r}, [{address}], {values};"));
    writer.fold(&r);
}

/// An atomic on shared memory, whose result goes to the register of its address.
fn shared_atomic(writer: &mut Writer) {
    let Some(at) = writer.take_shared(4 * writer.shape.threads()) else { return };
    let address = writer.own_shared(at, 4);
    writer.line(&format!("st.shared.b32 [{address}], %h;"));
    let (name, values) = operation(writer);
    writer.line(&format!("atom.shared.{name} {address}, [{address}], {values};"));
    writer.fold(&address);
}

/// An atomic without a result.
fn reduction(writer: &mut Writer) {
    let address = writer.somewhere(Buffer::Work, 4, 8);
    let (name, kind) = *writer.rng.pick(&[("add.f32", 'f'), ("add.u32", 'r'), ("min.s32", 'r'), ("add.u64", 'd')]);
    let value = writer.value(kind);
    writer.line(&format!("red.global.{name} [{address}], {value};"));
}

/// An operation on values of all lanes, for which the value also chooses a lane.
fn of_warp(writer: &mut Writer) {
    let (r, p) = (writer.r(), writer.state_condition());
    match writer.rng.below(3) {
        0 => {
            let (mode, lane) = (*writer.rng.pick(&["idx", "up", "down", "bfly"]), writer.value('r'));
            let clamp = if mode == "up" { 0 } else { 31 };
            writer.line(&format!("shfl.sync.{mode}.b32 {r}, %h, {lane}, {clamp}, -1;"));
        }
        1 => writer.line(&format!("vote.sync.ballot.b32 {r}, {p}, -1;")),
        _ => writer.line(&format!("match.any.sync.b32 {r}, %h, -1;")),
    }
    let chosen = writer.r();
    writer.line(&format!("selp.b32 {chosen}, {r}, %t, {p};"));
    writer.fold(&chosen);
}

/// A word of constant memory, to the register of its address.
fn constant(writer: &mut Writer) {
    let (index, base) = (writer.bits(CONSTANTS - 1), writer.r());
    writer.line(&format!("mov.u32 {base}, table;"));
    writer.line(&format!("mad.lo.u32 {index}, {index}, 4, {base};"));
    writer.line(&format!("ld.const.b32 {index}, [{index}];"));
    writer.fold(&index);
}
