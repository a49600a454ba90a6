//! Bandwidth and scheduling of a channel.

use super::{Bench, one_slice, request};
use crate::config::{DramScheduler, MachineConfig};
use crate::packet::{Cycle, Purpose};
use raddle_exec::memory::Global;

/// Keeps the slice fed with one-sector reads at these addresses and returns the stamps of the replies.
fn stream(machine: &MachineConfig, addresses: impl Iterator<Item = u64>) -> (Bench, Vec<Cycle>) {
    let mut bench = Bench::new(machine);
    let mut stamps = Vec::new();
    let mut addresses = addresses.peekable();
    while addresses.peek().is_some() || !bench.partition.is_idle() {
        while bench.partition.inbox_room(0) > 0 {
            let Some(address) = addresses.next() else { break };
            bench.send(request(0, Purpose::GlobalRead, address, 32));
        }
        bench.partition.set_reply_credit(0, 1000);
        bench.partition.run(bench.now, bench.now + 5, &mut Global::Direct(&mut bench.memory));
        bench.now += 5;
        stamps.extend(std::iter::from_fn(|| bench.partition.pop_reply(0)).map(|reply| reply.0));
    }
    (bench, stamps)
}

#[test]
fn row_hits_in_two_groups_stream_at_one_column_command_per_ccd() {
    let machine = one_slice();
    let timing = &machine.dram.timing;
    // 256 bytes in an even bank, then 256 in the odd one next to it: neighbours are in different groups. One sector
    // of each 64-byte burst, half of it from each bank.
    let address = |n: u64| (n & 1) << 8 | (n >> 1 & 3) << 6 | (n >> 3) << 9;
    let (bench, stamps) = stream(&machine, (0..128).map(address));
    let cycles = stamps[127] - stamps[27];
    // The turn of the banks passes one of them twice now and then, and its group is not ready then.
    let ideal = 100 * u64::from(timing.ccd);
    assert!((ideal..=ideal + 4).contains(&cycles), "{cycles}");
    assert_eq!(bench.partition.dram_counters().reads, 128);
    assert_eq!(bench.partition.dram_counters().activates, 2);
}

#[test]
fn row_hits_in_one_group_stream_at_one_column_command_per_ccdl() {
    let machine = one_slice();
    // One bank only. It asks the scheduler for its next request after a column command: one tick, below CCDL.
    let (bench, stamps) = stream(&machine, (0..64).map(|n| (n & 3) << 6 | (n >> 2) << 9));
    assert_eq!(stamps[63] - stamps[13], 50 * u64::from(machine.dram.timing.ccdl));
    let counters = bench.partition.dram_counters();
    assert!(counters.busy_cycles >= 63 * 3 && counters.queue_occupancy > 0);
}

/// Alternating rows of one bank.
fn two_rows(scheduler: DramScheduler) -> (Cycle, u64, u64) {
    let mut machine = one_slice();
    machine.dram.scheduler = scheduler;
    let (bench, stamps) = stream(&machine, (0..32).map(|n| (n & 1) << 16 | (n >> 1 & 3) << 6 | (n >> 3) << 9));
    let counters = bench.partition.dram_counters();
    (stamps[31], counters.activates, counters.precharges)
}

#[test]
fn row_hits_go_first() {
    let (first_ready, activates, precharges) = two_rows(DramScheduler::FrFcfs);
    let (in_order, all_activates, _) = two_rows(DramScheduler::Fifo);
    assert_eq!(all_activates, 32);
    assert!(activates <= 8 && precharges == activates - 1, "{activates}");
    // In order, each access waits for the bank's row cycle.
    assert!(in_order > 31 * 40 && first_ready < in_order / 2, "{first_ready} {in_order}");
}

#[test]
fn reads_after_writes_turn_the_bus() {
    let mut machine = one_slice();
    machine.l2.sets = 0;
    let timing = &machine.dram.timing;
    let mut bench = Bench::new(&machine);
    bench.alone(request(0, Purpose::GlobalRead, 1 << 16, 32));
    bench.send(request(0, Purpose::GlobalWrite, 1 << 16, 32));
    bench.send(request(0, Purpose::GlobalRead, (1 << 16) + 64, 32));
    let replies = bench.drain();
    let turn = timing.wl + timing.burst + timing.cdlr + timing.cl - timing.wl;
    assert_eq!(replies[1].0 - replies[0].0, u64::from(turn));
}
