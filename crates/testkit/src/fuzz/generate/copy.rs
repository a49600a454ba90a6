//! `cp.async`: copies to shared memory in groups, and waits for them.

use super::Scope;
use super::writer::{Buffer, Writer};

/// Bytes of shared memory of a thread.
const OWN: u32 = 48;

/// Copies to a thread's own part, waits, and loads; perhaps of another's part, after a barrier.
pub(super) fn emit(writer: &mut Writer, scope: Scope) {
    let Some(at) = writer.take_shared(OWN * writer.shape.threads()) else { return };
    let to = writer.own_shared(at, OWN);
    for word in 0..OWN / 4 {
        writer.line(&format!("st.shared.b32 [{to}+{}], %h;", 4 * word));
    }
    let groups = writer.rng.between(1, 3);
    for group in 0..groups {
        copy(writer, &to, 16 * group);
        if writer.rng.one_in(3) {
            copy(writer, &to, 16 * group);
        }
        writer.line("cp.async.commit_group;");
    }
    // Those that have been waited for are loaded before the next wait.
    let mut done = 0;
    while done < groups {
        let left = if writer.rng.one_in(2) { 0 } else { writer.rng.below(groups - done) };
        if left == 0 && writer.rng.one_in(2) {
            writer.line("cp.async.wait_all;");
        } else {
            writer.line(&format!("cp.async.wait_group {left};"));
        }
        for group in done..groups - left {
            load(writer, &to, 16 * group);
        }
        done = groups - left;
    }
    if scope == Scope::Block && writer.rng.one_in(2) {
        exchange(writer, at);
    }
}

/// A copy of 4, 8 or 16 bytes, of which some, all or none come from memory.
fn copy(writer: &mut Writer, to: &str, offset: u32) {
    let bytes: u32 = *writer.rng.pick(&[4, 8, 16, 16]);
    let cache = if bytes == 16 { *writer.rng.pick(&["ca", "cg"]) } else { "ca" };
    let space = *writer.rng.pick(&["shared", "shared", "shared::cta"]);
    let fetch = *writer.rng.pick(&["", "", ".L2::64B", ".L2::128B", ".L2::256B"]);
    let count = (2560 / bytes).ilog2();
    let from = writer.somewhere(Buffer::Words, 1 << count, bytes);
    let within = bytes * writer.rng.below(16 / bytes);
    let part = match writer.rng.below(5) {
        0 => format!(", {}", writer.rng.between(0, bytes)),
        // As much as a register says, which may be more than there is.
        1 => format!(", {}", writer.bits(31)),
        2 => {
            let p = writer.condition();
            format!(", {}{p}", *writer.rng.pick(&["", "!"]))
        }
        _ => String::new(),
    };
    let guard = if writer.rng.one_in(4) { format!("@{} ", writer.condition()) } else { String::new() };
    writer.line(&format!(
        "{guard}cp.async.{cache}.{space}.global{fetch} [{to}+{}], [{from}], {bytes}{part};",
        offset + within
    ));
}

fn load(writer: &mut Writer, from: &str, offset: u32) {
    let mut all: Vec<String> = (0..4).map(|_| writer.r()).collect();
    let mut from = from.to_owned();
    if writer.has_key() {
        // The address is used again after the load, which may write its register.
        let own = writer.r();
        writer.line(&format!("mov.u32 {own}, {from};"));
        writer.overwrite(&mut all, &own, false);
        from = own;
    }
    writer.line(&format!("ld.shared.v4.b32 {{{}}}, [{from}+{offset}];", all.join(", ")));
    for r in &all {
        writer.fold(r);
    }
}

/// Loads what another thread has copied.
fn exchange(writer: &mut Writer, at: u32) {
    super::barrier::of_all(writer, 0);
    let (threads, r, base) = (writer.shape.threads(), writer.r(), writer.r());
    let (by, part) = (writer.rng.below(threads), 16 * writer.rng.below(OWN / 16));
    writer.line(&format!("add.u32 {r}, %t, {by};"));
    writer.line(&format!("rem.u32 {r}, {r}, {threads};"));
    writer.line(&format!("mov.u32 {base}, pool;"));
    writer.line(&format!("mad.lo.u32 {r}, {r}, {OWN}, {base};"));
    load(writer, &r, at + part);
}
