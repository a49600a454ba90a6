//! Latency without load equals the formulas of `partition.rs`.

use super::{Bench, one_slice, request};
use crate::config::{DramScheduler, MachineConfig};
use crate::packet::{Cycle, Purpose};
use raddle_exec::atomics::AtomicWork;
use raddle_exec::decode::AtomicOp;

fn hit(machine: &MachineConfig) -> Cycle {
    u64::from(machine.l2.rop_latency) + 1 + 1
}

fn miss(machine: &MachineConfig) -> Cycle {
    let timing = &machine.dram.timing;
    let l2 = machine.l2.rop_latency + 1;
    let dram = 1 + 1 + machine.dram.latency + 1 + timing.rcd + timing.cl + 1;
    u64::from(l2 + dram + 1 + 1)
}

#[test]
fn reads() {
    for (rop, dram, cl) in [(120, 100, 12), (7, 0, 5), (0, 30, 20)] {
        let mut machine = one_slice();
        machine.l2.rop_latency = rop;
        machine.dram.latency = dram;
        machine.dram.timing.cl = cl;
        let mut bench = Bench::new(&machine);
        assert_eq!(bench.alone(request(1, Purpose::GlobalRead, 0, 32)), miss(&machine));
        assert_eq!(bench.alone(request(1, Purpose::GlobalRead, 0, 32)), hit(&machine));
        assert_eq!(bench.alone(request(1, Purpose::Texture, 0, 32)), 1);
        // Four sectors of a line in the cache: one reply a cycle.
        bench.alone(request(1, Purpose::GlobalRead, 128, 128));
        assert_eq!(bench.alone(request(1, Purpose::GlobalRead, 128, 128)), hit(&machine) + 3);
        // A write that misses does not wait for DRAM.
        assert_eq!(bench.alone(request(1, Purpose::GlobalWrite, 4096, 32)), hit(&machine));
    }
}

#[test]
fn the_order_of_arrival_changes_nothing_for_one() {
    let mut machine = one_slice();
    machine.dram.scheduler = DramScheduler::Fifo;
    let mut bench = Bench::new(&machine);
    assert_eq!(bench.alone(request(1, Purpose::GlobalRead, 0, 32)), miss(&machine));
}

#[test]
fn without_an_l2_every_access_goes_to_dram() {
    let mut machine = one_slice();
    machine.l2.sets = 0;
    let mut bench = Bench::new(&machine);
    let closed = bench.alone(request(1, Purpose::GlobalRead, 0, 32));
    // No miss queue and no wait for a response.
    assert_eq!(closed, miss(&machine) - 2);
    let open = bench.alone(request(1, Purpose::GlobalRead, 0, 32));
    assert_eq!(open, closed - u64::from(machine.dram.timing.rcd));
    bench.alone(request(1, Purpose::GlobalWrite, 0, 32));
    let counters = bench.partition.dram_counters();
    assert_eq!((counters.reads, counters.writes, counters.row_hits), (2, 1, 3));
    assert_eq!(bench.partition.l2_counters().writes, 1);
}

#[test]
fn a_row_conflict_costs_a_precharge() {
    let machine = one_slice();
    let mut bench = Bench::new(&machine);
    // Row 1 first: bank 0 looks as if row 0 had been open.
    bench.alone(request(1, Purpose::GlobalRead, 1 << 16, 32));
    let conflict = bench.alone(request(1, Purpose::GlobalRead, 2 << 16, 32));
    assert_eq!(conflict, miss(&machine) + u64::from(machine.dram.timing.rp));
    let open = bench.alone(request(1, Purpose::GlobalRead, (2 << 16) + 64, 32));
    assert_eq!(open, miss(&machine) - u64::from(machine.dram.timing.rcd));
    let counters = bench.partition.dram_counters();
    assert_eq!((counters.activates, counters.precharges, counters.reads), (2, 1, 3));
    assert_eq!((counters.requests, counters.row_hits), (3, 1));
}

#[test]
fn a_faster_command_clock_shortens_only_its_own_stages() {
    let mut machine = one_slice();
    let slow = Bench::new(&machine).alone(request(1, Purpose::GlobalRead, 1 << 16, 32));
    machine.clock.dram = machine.clock.core * 2;
    let fast = Bench::new(&machine).alone(request(1, Purpose::GlobalRead, 1 << 16, 32));
    let ticks = u64::from(machine.dram.timing.rcd + machine.dram.timing.cl);
    assert!((slow - ticks / 2 - 2..=slow - ticks / 2).contains(&fast), "{slow} {fast}");
}

#[test]
fn partly_written_sectors_are_fetched_when_read() {
    let machine = one_slice();
    let mut bench = Bench::new(&machine);
    let write = |mask| crate::packet::Request { byte_mask: mask, ..request(1, Purpose::GlobalWrite, 32, 32) };
    assert_eq!(bench.alone(write(0xFFFF)), hit(&machine));
    assert_eq!(bench.partition.dram_counters().reads, 0);
    assert_eq!(bench.alone(request(1, Purpose::GlobalRead, 32, 32)), miss(&machine));
    let counters = bench.partition.l2_counters();
    assert_eq!((counters.misses, counters.sector_misses, counters.writes, counters.reads), (1, 1, 1, 1));
    // Whole sectors are not fetched.
    bench.alone(request(1, Purpose::GlobalWrite, 64, 32));
    assert_eq!(bench.alone(request(1, Purpose::GlobalRead, 64, 32)), hit(&machine));
}

#[test]
fn a_dirty_line_is_written_back_once() {
    let mut machine = one_slice();
    machine.l2.sets = 1;
    machine.l2.ways = 1;
    let mut bench = Bench::new(&machine);
    bench.alone(request(1, Purpose::GlobalWrite, 0, 128));
    bench.alone(request(1, Purpose::GlobalRead, 128, 32));
    assert_eq!(bench.partition.l2_counters().write_backs, 1);
    let counters = bench.partition.dram_counters();
    // 128 bytes are two bursts, a sector is one.
    assert_eq!((counters.writes, counters.reads), (2, 1));
}

#[test]
fn atomics_are_done_when_their_last_sector_is_served() {
    let machine = one_slice();
    let mut bench = Bench::new(&machine);
    let base = bench.memory.alloc("counter", 256).unwrap();
    bench.memory.write(base, &5u32.to_le_bytes()).unwrap();
    let work = AtomicWork {
        mask: 0b11,
        op: AtomicOp::Add,
        bytes: 4,
        address: [base; 32],
        b: [2; 32],
        c: [0; 32],
        old: [0; 32],
        ..AtomicWork::default()
    };
    let atomic = |work: &AtomicWork| crate::packet::Request {
        atomic: Some(Box::new(work.clone())),
        ..request(9, Purpose::Atomic, base & !127, 64)
    };
    bench.send(atomic(&work));
    bench.send(atomic(&work));
    let replies = bench.drain();
    assert_eq!(replies.len(), 4);
    let old: Vec<_> = replies.iter().filter_map(|reply| reply.1.atomic.as_ref()).map(|work| work.old[1]).collect();
    assert_eq!(old, [7, 11]);
    assert!(replies[3].1.atomic.is_some() && replies[0].1.atomic.is_none());
    let mut word = [0; 4];
    bench.memory.read(base, &mut word).unwrap();
    assert_eq!(u32::from_le_bytes(word), 13);
    // The second request found its sectors pending.
    assert_eq!(bench.partition.l2_counters().pending_hits, 2);
    assert_eq!(bench.partition.slice_counters(0).hits, 0);
    // Its sectors are dirty now, and nothing remembers them after an invalidation.
    bench.partition.invalidate_l2();
    bench.alone(request(1, Purpose::GlobalRead, base & !127, 32));
    assert_eq!(bench.partition.l2_counters().misses, 2);
}
