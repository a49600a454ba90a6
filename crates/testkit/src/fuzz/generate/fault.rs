//! Instructions that fault for one thread, or for some of four neighbours.

use super::matrix;
use super::surface::geometry;
use super::vector::{Access, operand};
use super::words;
use super::writer::{Buffer, Writer};
use raddle_ptx::isa::{Opcode, Word};

/// An instruction that faults.
pub(super) fn emit(writer: &mut Writer) {
    let one = writer.rng.one_in(2);
    writer.faults = Some(if one { "one" } else { "some" });
    let p = threads(writer, one);
    match writer.rng.below(8) {
        0 => copy(writer, &p),
        1 => surface(writer, &p),
        2 => table(writer, &p),
        3 => barrier(writer, &p),
        4 if writer.has_full_warps() && !writer.has_exits => matrix::misaligned(writer, &p),
        _ => vector(writer, &p),
    }
}

/// A predicate that is true for one thread of a block, or for some of four neighbours. The first of four never exits.
fn threads(writer: &mut Writer, one: bool) -> String {
    let four = writer.rng.below(writer.shape.threads().div_ceil(4));
    let (r, p, q) = (writer.r(), writer.p(), writer.p());
    if one {
        writer.line(&format!("setp.eq.u32 {q}, %t, {};", 4 * four));
    } else {
        let set = 2 * writer.rng.between(0, 7) + 1;
        writer.line(&format!("shr.u32 {r}, %t, 2;"));
        writer.line(&format!("setp.eq.u32 {p}, {r}, {four};"));
        writer.line(&format!("and.b32 {r}, %t, 3;"));
        writer.line(&format!("shr.u32 {r}, {set}, {r};"));
        writer.line(&format!("and.b32 {r}, {r}, 1;"));
        writer.line(&format!("setp.eq.and.u32 {q}, {r}, 1, {p};"));
    }
    let both = writer.p();
    writer.line(&format!("setp.eq.and.u32 {both}, %c, 0, {q};"));
    both
}

/// What is added to an address where the predicate is true: not a multiple of `size`.
fn misalignment(writer: &mut Writer, p: &str, size: u32) -> String {
    let (r, by) = (writer.r(), writer.rng.between(1, size - 1));
    writer.line(&format!("selp.u32 {r}, {by}, 0, {p};"));
    r
}

/// A load or store at a misaligned address, in any state space.
fn vector(writer: &mut Writer, p: &str) {
    let access = loop {
        let access = Access::random(writer);
        if access.size() > 1 {
            break access;
        }
    };
    let by = misalignment(writer, p, access.size());
    let space = *writer.rng.pick(&[".global", ".global", "", ".shared", ".local"]);
    let address = match space {
        ".shared" => {
            let Some(at) = writer.take_shared(64 * writer.shape.threads()) else { return };
            let base = writer.own_shared(at, 64);
            writer.line(&format!("add.u32 {by}, {by}, {base};"));
            by
        }
        ".local" => {
            let (name, r) = (writer.label("own"), writer.r());
            writer.line(&format!(".local .align 16 .b8 {name}[64];"));
            writer.line(&format!("mov.u32 {r}, {name};"));
            writer.line(&format!("add.u32 {by}, {by}, {r};"));
            by
        }
        _ => {
            let (base, d) = (writer.own(Buffer::Work, 64), writer.d());
            writer.line(&format!("cvt.u64.u32 {d}, {by};"));
            writer.line(&format!("add.u64 {d}, {d}, {base};"));
            d
        }
    };
    // Something is there before it is loaded.
    let values = access.values(writer);
    let words = access.words();
    if writer.rng.one_in(2) {
        writer.line(&format!("st{space}{words} [{address}], {};", operand(&values)));
    } else {
        let into = access.registers(writer);
        writer.line(&format!("ld{space}{words} {}, [{address}];", operand(&into)));
        for register in &into {
            writer.fold_any(register);
        }
    }
}

/// A copy to or from a misaligned address.
fn copy(writer: &mut Writer, p: &str) {
    let bytes = *writer.rng.pick(&[4, 8, 16]);
    let Some(at) = writer.take_shared(32 * writer.shape.threads()) else { return };
    let (by, to) = (misalignment(writer, p, bytes), writer.own_shared(at, 32));
    let from = writer.somewhere(Buffer::Words, 64, 16);
    if writer.rng.one_in(2) {
        writer.line(&format!("add.u32 {to}, {to}, {by};"));
    } else {
        let d = writer.d();
        writer.line(&format!("cvt.u64.u32 {d}, {by};"));
        writer.line(&format!("add.u64 {from}, {from}, {d};"));
    }
    writer.line(&format!("cp.async.ca.shared.global [{to}], [{from}], {bytes};"));
    writer.line("cp.async.wait_all;");
}

/// A load from outside of a surface.
fn surface(writer: &mut Writer, p: &str) {
    let surface = super::texture::object(writer, true);
    let (geometry_words, x, r) = (words::random(Opcode::Suld, &mut writer.rng), writer.r(), writer.r());
    let geometry_word = geometry_words[1];
    let (y, z) = ("0".to_owned(), "0".to_owned());
    let outside = *writer.rng.pick(&["64", "-4", "2", "0x7ffffffc"]);
    writer.line(&format!("selp.u32 {x}, {outside}, 0, {p};"));
    let coords = geometry(&[geometry_word], &x, &y, &z);
    writer.line(&format!("suld.b.{}.b32.trap {r}, [{surface}, {coords}];", geometry_word.as_str()));
    writer.fold(&r);
    debug_assert!(geometry_words[0] == Word::B);
}

/// A branch past the end of its table.
fn table(writer: &mut Writer, p: &str) {
    let (index, label, table) = (writer.r(), writer.label("NEXT"), writer.label("TABLE"));
    let past = *writer.rng.pick(&["2", "7", "-1"]);
    writer.line(&format!("selp.u32 {index}, {past}, 0, {p};"));
    writer.line(&format!("{table}: .branchtargets {label}, {label};"));
    writer.line(&format!("brx.idx {index}, {table};"));
    writer.line(&format!("{label}:"));
}

/// A barrier that does not exist.
fn barrier(writer: &mut Writer, p: &str) {
    let number = *writer.rng.pick(&["16", "17", "-1"]);
    let r = writer.r();
    writer.line(&format!("mov.u32 {r}, {number};"));
    writer.line(&format!("@{p} barrier.sync {r};"));
}
