//! Barriers with numbers and counts, of all threads of a block or of those of some warps.

use super::writer::Writer;

/// The words before the form of a barrier: both names, with and without what may be left out.
const SYNC: &[&str] = &["bar.sync", "bar.cta.sync", "barrier.sync", "barrier.cta.sync.aligned", "barrier.sync.aligned"];
const ARRIVE: &[&str] = &["bar.arrive", "bar.cta.arrive", "barrier.arrive", "barrier.cta.arrive.aligned"];
const REDUCE: &[(&str, &str)] =
    &[("bar.red", ""), ("bar.cta.red", ""), ("barrier.red", ""), ("barrier.red", ".aligned"), ("barrier.cta.red", "")];

/// A barrier that all threads of a block come to, of any kind.
pub(super) fn of_all(writer: &mut Writer, number: u32) {
    let count = match writer.rng.below(3) {
        0 => format!(", {}", count(writer, 0, writer.shape.warps())),
        _ => String::new(),
    };
    if writer.rng.one_in(4) {
        reduce(writer, &number.to_string(), &count);
    } else {
        let sync = *writer.rng.pick(SYNC);
        writer.line(&format!("{sync} {number}{count};"));
    }
}

/// A reduction at a barrier, whose result goes into the state. `count` begins with a comma, or is empty.
fn reduce(writer: &mut Writer, number: &str, count: &str) {
    let p = writer.state_condition();
    let not = *writer.rng.pick(&["", "!"]);
    let (name, end) = *writer.rng.pick(REDUCE);
    let (kind, ty) = *writer.rng.pick(&[("popc", "u32"), ("and", "pred"), ("or", "pred")]);
    let result = if ty == "pred" { writer.p() } else { writer.r() };
    writer.line(&format!("{name}.{kind}{end}.{ty} {result}, {number}{count}, {not}{p};"));
    writer.fold_any(&result);
}

/// How many threads of whole warps those of `warps` warps from `first` on are: a constant, or a register.
fn count(writer: &mut Writer, first: u32, warps: u32) -> String {
    let threads = writer.shape.threads();
    let end = (32 * (first + warps)).min(threads);
    if end.is_multiple_of(32) && !writer.rng.one_in(4) {
        return (end - 32 * first).to_string();
    }
    // The last warp is not full, and how many threads count for it depends on the width of warps.
    let r = writer.r();
    let own = end - 32 * first;
    writer.line(&format!("mov.u32 {r}, WARP_SZ;"));
    writer.line(&format!("add.u32 {r}, {r}, {};", own - 1));
    let width = writer.r();
    writer.line(&format!("mov.u32 {width}, WARP_SZ;"));
    writer.line(&format!("div.u32 {r}, {r}, {width};"));
    writer.line(&format!("mul.lo.u32 {r}, {r}, {width};"));
    r
}

/// One of the ways to use barriers.
pub(super) fn emit(writer: &mut Writer) {
    let warps = writer.shape.warps();
    match writer.rng.below(6) {
        0 => all(writer),
        1 | 2 if warps > 1 => groups(writer, warps),
        3 if warps > 1 => producers(writer, warps),
        4 if warps > 1 => chain(writer, warps),
        5 => apart(writer),
        _ => groups(writer, warps),
    }
}

/// All threads exchange words.
fn all(writer: &mut Writer) {
    let Some(at) = writer.take_shared(4 * writer.shape.threads()) else { return };
    let own = writer.own_shared(at, 4);
    writer.line(&format!("st.shared.b32 [{own}], %h;"));
    of_all(writer, 0);
    let threads = writer.shape.threads();
    neighbour(writer, at, 0, threads);
}

/// Reads the word of another of the threads from `first` to `end`.
fn neighbour(writer: &mut Writer, at: u32, first: u32, end: u32) {
    let (count, r, base) = (end - first, writer.r(), writer.r());
    let by = writer.rng.below(count);
    writer.line(&format!("add.u32 {r}, %t, {};", by + count - first % count));
    writer.line(&format!("rem.u32 {r}, {r}, {count};"));
    writer.line(&format!("mov.u32 {base}, pool;"));
    writer.line(&format!("mad.lo.u32 {r}, {r}, 4, {base};"));
    writer.line(&format!("ld.shared.b32 {r}, [{r}+{}];", at + 4 * first));
    writer.fold(&r);
}

/// Leaves out all but the warps from `first` to `end`; the label to put after what they do.
pub(super) fn only(writer: &mut Writer, first: u32, end: u32) -> String {
    let (r, p, label) = (writer.r(), writer.p(), writer.label("GROUP"));
    writer.line(&format!("sub.u32 {r}, %w, {first};"));
    writer.line(&format!("setp.ge.u32 {p}, {r}, {};", end - first));
    writer.line(&format!("@{p} bra {label};"));
    label
}

/// Groups of neighbouring warps, each with barriers and rounds of its own.
fn groups(writer: &mut Writer, warps: u32) {
    let mut first = 0;
    while first < warps {
        let end = first + writer.rng.between(1, warps - first);
        // Some do nothing.
        if !writer.rng.one_in(5) {
            group(writer, first, end);
        }
        first = end;
    }
}

fn group(writer: &mut Writer, first: u32, end: u32) {
    let threads = 32 * first..(32 * end).min(writer.shape.threads());
    let own_part = 4 * writer.shape.threads();
    let (Some(at), Some(number)) = (writer.take_shared(own_part), writer.take_barriers(2)) else { return };
    let label = only(writer, first, end);
    let own = writer.own_shared(at, 4);
    let (counter, again, rounds) = (writer.r(), writer.label("ROUND"), writer.rng.between(1, 3));
    writer.line(&format!("mov.u32 {counter}, 0;"));
    writer.line(&format!("{again}:"));
    writer.line(&format!("st.shared.b32 [{own}], %h;"));
    some(writer, number, first, end);
    neighbour(writer, at, threads.start, threads.end);
    some(writer, number + 1, first, end);
    let p = writer.p();
    writer.line(&format!("add.u32 {counter}, {counter}, 1;"));
    writer.line(&format!("setp.lt.u32 {p}, {counter}, {rounds};"));
    writer.line(&format!("@{p} bra {again};"));
    writer.line(&format!("{label}:"));
}

/// A barrier of the threads of some warps, whose number may be in a register.
fn some(writer: &mut Writer, number: u32, first: u32, end: u32) {
    let count = count(writer, first, end - first);
    let mut name = number.to_string();
    if writer.rng.one_in(3) {
        name = writer.r();
        writer.line(&format!("mov.u32 {name}, {number};"));
    }
    if writer.rng.one_in(2) {
        reduce(writer, &name, &format!(", {count}"));
    } else {
        let sync = *writer.rng.pick(SYNC);
        writer.line(&format!("{sync} {name}, {count};"));
    }
}

/// Warps that write and warps that read, with two buffers: those that write wait for an empty one, and those that read
/// for a full one.
fn producers(writer: &mut Writer, warps: u32) {
    let threads = writer.shape.threads();
    let middle = writer.rng.between(1, warps - 1);
    let (Some(at), Some(full)) = (writer.take_shared(8 * threads), writer.take_barriers(4)) else { return };
    let (empty, rounds) = (full + 2, writer.rng.between(1, 4));
    let count = count(writer, 0, warps);
    let (sync, arrive) = (*writer.rng.pick(SYNC), *writer.rng.pick(ARRIVE));
    let (readers, end) = (writer.label("READ"), writer.label("READY"));
    let (p, turn, parity, number, base) = (writer.p(), writer.r(), writer.r(), writer.r(), writer.r());
    writer.line(&format!("mov.u32 {turn}, 0;"));
    writer.line(&format!("setp.ge.u32 {p}, %w, {middle};"));
    writer.line(&format!("@{p} bra {readers};"));
    let begin = |writer: &mut Writer, label: &str| {
        writer.line(&format!("{label}:"));
        writer.line(&format!("and.b32 {parity}, {turn}, 1;"));
        writer.line(&format!("mov.u32 {base}, pool;"));
        writer.line(&format!("mad.lo.u32 {base}, {parity}, {}, {base};", 4 * threads));
    };
    let next = |writer: &mut Writer, label: &str| {
        writer.line(&format!("add.u32 {turn}, {turn}, 1;"));
        writer.line(&format!("setp.lt.u32 {p}, {turn}, {rounds};"));
        writer.line(&format!("@{p} bra {label};"));
    };
    let again = writer.label("FILL");
    begin(writer, &again);
    writer.line(&format!("add.u32 {number}, {parity}, {empty};"));
    writer.line(&format!("{sync} {number}, {count};"));
    let place = writer.r();
    writer.line(&format!("mad.lo.u32 {place}, %t, 4, {base};"));
    writer.line(&format!("st.shared.b32 [{place}+{at}], %h;"));
    writer.mix();
    writer.line(&format!("add.u32 {number}, {parity}, {full};"));
    writer.line(&format!("{arrive} {number}, {count};"));
    next(writer, &again);
    writer.line(&format!("bra {end};"));
    writer.line(&format!("{readers}:"));
    for buffer in 0..rounds.min(2) {
        writer.line(&format!("{arrive} {}, {count};", empty + buffer));
    }
    let again = writer.label("DRAIN");
    begin(writer, &again);
    writer.line(&format!("add.u32 {number}, {parity}, {full};"));
    writer.line(&format!("{sync} {number}, {count};"));
    let place = writer.r();
    let by = writer.rng.below(32 * middle);
    writer.line(&format!("add.u32 {place}, %t, {by};"));
    writer.line(&format!("rem.u32 {place}, {place}, {};", 32 * middle));
    writer.line(&format!("mad.lo.u32 {place}, {place}, 4, {base};"));
    writer.line(&format!("ld.shared.b32 {place}, [{place}+{at}];"));
    writer.fold(&place);
    // No warp waits for the last of them.
    let (q, skip) = (writer.p(), writer.label("LAST"));
    writer.line(&format!("add.u32 {number}, {turn}, 2;"));
    writer.line(&format!("setp.ge.u32 {q}, {number}, {rounds};"));
    writer.line(&format!("@{q} bra {skip};"));
    writer.line(&format!("add.u32 {number}, {parity}, {empty};"));
    writer.line(&format!("{arrive} {number}, {count};"));
    writer.line(&format!("{skip}:"));
    next(writer, &again);
    writer.line(&format!("{end}:"));
}

/// Each warp waits for the one before it, and passes a word on: as many barriers as warps.
fn chain(writer: &mut Writer, warps: u32) {
    let threads = writer.shape.threads();
    let links = warps.min(6);
    let (Some(at), Some(number)) = (writer.take_shared(4 * threads), writer.take_barriers(links - 1)) else { return };
    let (sync, arrive) = (*writer.rng.pick(SYNC), *writer.rng.pick(ARRIVE));
    let own = writer.own_shared(at, 4);
    for warp in 0..links {
        let label = only(writer, warp, warp + 1);
        if warp > 0 {
            let count = count(writer, warp - 1, 2);
            writer.line(&format!("{sync} {}, {count};", number + warp - 1));
            neighbour(writer, at, 32 * (warp - 1), 32 * warp);
        }
        if warp + 1 < links {
            writer.line(&format!("st.shared.b32 [{own}], %h;"));
            let count = count(writer, warp, 2);
            writer.line(&format!("{arrive} {}, {count};", number + warp));
        }
        writer.line(&format!("{label}:"));
    }
}

/// Threads of a warp come to a barrier by two ways.
fn apart(writer: &mut Writer) {
    let threads = writer.shape.threads();
    let Some(at) = writer.take_shared(4 * threads) else { return };
    let own = writer.own_shared(at, 4);
    let count = match writer.rng.below(2) {
        0 => format!(", {}", count(writer, 0, writer.shape.warps())),
        _ => String::new(),
    };
    let (p, other, end) = (writer.condition(), writer.label("APART"), writer.label("AGAIN"));
    writer.line(&format!("@{p} bra {other};"));
    for label in [&other, &end] {
        writer.mix();
        writer.line(&format!("st.shared.b32 [{own}], %h;"));
        writer.line(&format!("barrier.sync 0{count};"));
        if label == &other {
            writer.line(&format!("bra {end};"));
        }
        writer.line(&format!("{label}:"));
    }
    neighbour(writer, at, 0, threads);
}
