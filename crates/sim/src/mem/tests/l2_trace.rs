//! Traces of an L2 slice written by hand, with what each access must find: replacement, fill and write policies.

use super::{Bench, one_slice, request};
use crate::mem::l2::L2Counters;
use crate::packet::Purpose;

/// One set of two ways: all lines compete.
fn bench() -> Bench {
    let mut machine = one_slice();
    (machine.l2.sets, machine.l2.ways) = (1, 2);
    Bench::new(&machine)
}

/// An access that is over before the next begins: what is done, to which sector of which line, what it finds and
/// how many lines are written back for it.
type Step = (&'static str, u64, u64, &'static str, u64);

fn counters(bench: &Bench) -> L2Counters {
    bench.partition.l2_counters()
}

/// The counters of what an access may find.
fn found(counters: &L2Counters) -> [(&'static str, u64); 4] {
    [
        ("hit", counters.hits),
        ("pending", counters.pending_hits),
        ("sector miss", counters.sector_misses),
        ("miss", counters.misses),
    ]
}

fn send(bench: &mut Bench, what: &str, line: u64, sector: u64) {
    let purpose = if what == "read" { Purpose::GlobalRead } else { Purpose::GlobalWrite };
    let mut access = request(1, purpose, line * 128 + sector * 32, 32);
    if what == "write a word" {
        access.byte_mask = 0xF;
    }
    bench.send(access);
}

fn follow(bench: &mut Bench, trace: &[Step]) {
    for (number, &(what, line, sector, wanted, write_backs)) in trace.iter().enumerate() {
        let before = counters(bench);
        send(bench, what, line, sector);
        bench.drain();
        let after = counters(bench);
        let (name, _) = *found(&after)
            .iter()
            .zip(found(&before))
            .find(|(now, then)| now.1 > then.1)
            .map(|(now, _)| now)
            .expect("an access is counted");
        let step = format!("access {number}: {what} of sector {sector} of line {line}");
        assert_eq!(name, wanted, "{step}");
        assert_eq!(after.write_backs - before.write_backs, write_backs, "lines written back by {step}");
    }
}

#[test]
fn the_line_used_longest_ago_is_replaced() {
    let mut bench = bench();
    follow(
        &mut bench,
        &[
            ("read", 0, 0, "miss", 0),
            ("read", 1, 0, "miss", 0),
            ("read", 0, 0, "hit", 0),
            // Line 1 was used longest ago.
            ("read", 2, 0, "miss", 0),
            ("read", 0, 0, "hit", 0),
            ("read", 1, 0, "miss", 0),
            // Now it was line 2. Another sector of a line that is there replaces nothing.
            ("read", 0, 3, "sector miss", 0),
            ("read", 1, 0, "hit", 0),
            ("read", 2, 0, "miss", 0),
            // Line 0 went with both its sectors.
            ("read", 0, 3, "miss", 0),
        ],
    );
    assert_eq!(bench.partition.dram_counters().reads, 7, "what missed was read from DRAM, and only that");
}

#[test]
fn a_write_takes_a_line_without_reading_it() {
    let mut bench = bench();
    follow(
        &mut bench,
        &[
            ("write", 0, 0, "miss", 0),
            // Wholly written, it can be read; so can be what a read brought and a write changed.
            ("read", 0, 0, "hit", 0),
            ("read", 1, 1, "miss", 0),
            ("write a word", 1, 1, "hit", 0),
            ("read", 1, 1, "hit", 0),
            // Of a sector written in part the rest is requested when it is read, and not before.
            ("write a word", 0, 2, "sector miss", 0),
            ("write a word", 0, 2, "hit", 0),
            ("read", 0, 2, "sector miss", 0),
            ("read", 0, 2, "hit", 0),
            ("read", 0, 1, "sector miss", 0),
        ],
    );
    assert_eq!(bench.partition.dram_counters().reads, 3, "sector 1 of line 1, sectors 2 and 1 of line 0");
    assert_eq!(bench.partition.dram_counters().writes, 0, "nothing was replaced");
}

#[test]
fn what_was_written_goes_to_dram_when_its_line_is_replaced() {
    let mut bench = bench();
    follow(
        &mut bench,
        &[
            ("write", 0, 0, "miss", 0),
            ("write", 0, 3, "sector miss", 0),
            ("read", 1, 0, "miss", 0),
            // Two changed sectors are one line written back.
            ("read", 2, 0, "miss", 1),
            // Line 1 was only read.
            ("write a word", 3, 0, "miss", 0),
            // Line 2 was only read, too; then line 3 goes, and after it line 0, written again.
            ("write", 0, 0, "miss", 0),
            ("read", 1, 0, "miss", 1),
            ("read", 2, 0, "miss", 1),
            ("read", 0, 0, "miss", 0),
            ("read", 2, 0, "hit", 0),
        ],
    );
    assert_eq!(bench.partition.dram_counters().writes, 3);
}

#[test]
fn lines_that_wait_for_data_are_not_replaced() {
    let mut bench = bench();
    for (what, line) in [("read", 0), ("read", 1), ("read", 0), ("read", 2)] {
        send(&mut bench, what, line, 0);
    }
    bench.drain();
    let all = counters(&bench);
    assert_eq!(found(&all).map(|(_, count)| count), [0, 1, 0, 3]);
    assert!(all.reservation_fails > 0, "the third line waits until the first has come");
    // Line 0 was used after line 1, but line 1 was still waited for when its place was wanted.
    follow(&mut bench, &[("read", 1, 0, "hit", 0), ("read", 2, 0, "hit", 0), ("read", 0, 0, "miss", 0)]);
}
