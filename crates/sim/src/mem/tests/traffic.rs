//! Random traffic: nothing is lost, nothing stops, and jumping over idle time changes nothing.

use super::request;
use crate::config::{DramScheduler, MachineConfig};
use crate::mem::dram::DramCounters;
use crate::mem::l2::L2Counters;
use crate::mem::partition::Partition;
use crate::mem::test_machine::gtx480;
use crate::packet::{Cycle, Purpose, Request};
use proptest::prelude::*;
use raddle_exec::memory::{DeviceMemory, Global};

/// Two slices of one channel with small parts.
fn small(sizes: &[u32]) -> MachineConfig {
    let mut machine = gtx480();
    machine.dram.channels = 1;
    let l2 = &mut machine.l2;
    (l2.sets, l2.ways) = (sizes[0] - 1, sizes[1]);
    (l2.mshr_entries, l2.mshr_merges, l2.miss_queue) = (sizes[2], sizes[3], sizes[4]);
    (l2.input_queue, l2.to_dram_queue, l2.from_dram_queue) = (sizes[5], sizes[6], sizes[7]);
    (l2.output_queue, l2.inbox, l2.rop_latency) = (sizes[8], sizes[9], sizes[10] * 5);
    (machine.dram.queue, machine.dram.return_queue, machine.dram.latency) = (sizes[11], sizes[12], sizes[13] * 5);
    if sizes[14] > 4 {
        machine.dram.scheduler = DramScheduler::Fifo;
    }
    machine.clock.l2 = 200 * sizes[15];
    machine
}

#[derive(Clone, Debug)]
struct Step {
    wait: u64,
    line: u64,
    sectors: u32,
    kind: u32,
    mask: u128,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0u64..400, 0u64..40, 1u32..5, 0u32..8, any::<u128>()).prop_map(|(wait, line, sectors, kind, mask)| {
        Step { wait: wait.saturating_sub(300), line, sectors, kind, mask }
    });
    prop::collection::vec(step, 1..150)
}

fn make(number: usize, step: &Step) -> Request {
    let purpose = [
        Purpose::GlobalRead,
        Purpose::GlobalWrite,
        Purpose::LocalWrite,
        Purpose::Texture,
        Purpose::Inst,
        Purpose::GlobalRead,
        Purpose::GlobalWrite,
        Purpose::LocalRead,
    ][step.kind as usize];
    // Lines of several rows and sets; sectors from the front of the line.
    let address = step.line % 8 * 128 + (step.line / 8) * (1 << 14);
    let mut request = request(number as u32, purpose, address, step.sectors * 32);
    request.posted = purpose == Purpose::LocalWrite;
    if purpose.is_write() && step.mask & 1 == 0 {
        request.byte_mask = step.mask;
    }
    request
}

type Outcome = (Vec<(u32, Cycle, u32)>, L2Counters, DramCounters, Cycle);

/// Runs the traffic window by window; the network takes `credit` flits of each slice in a window.
fn run(machine: &MachineConfig, steps: &[Step], credit: u32, skipping: bool) -> Outcome {
    let mut partition = Partition::new(machine, 0);
    partition.set_skipping(skipping);
    let map = crate::mem::address::AddressMap::new(&machine.dram, &machine.l2).unwrap();
    let mut memory = DeviceMemory::new();
    let mut replies = Vec::new();
    let (mut now, mut next, mut due) = (0, 0, 0);
    while next < steps.len() || !partition.is_idle() {
        while next < steps.len() {
            let request = make(next, &steps[next]);
            let slice = map.slice(request.address);
            if due + steps[next].wait >= now + 5 || partition.inbox_room(slice) == 0 {
                break;
            }
            due = (due + steps[next].wait).max(now);
            partition.deliver(slice, due, request);
            next += 1;
        }
        for slice in 0..2 {
            partition.set_reply_credit(slice, credit);
        }
        partition.run(now, now + 5, &mut Global::Direct(&mut memory));
        now += 5;
        for slice in 0..2 {
            let taken = std::iter::from_fn(|| partition.pop_reply(slice));
            replies.extend(taken.map(|(at, reply)| (slice, at, reply.token.0)));
        }
        assert!(now < 2_000_000, "stuck with {} in flight, {} sent", partition.in_flight(), next);
    }
    assert_eq!((partition.in_flight(), partition.next_event(now)), (0, None));
    (replies, partition.l2_counters(), partition.dram_counters().clone(), now)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn nothing_is_lost_and_skipping_changes_nothing(
        sizes in prop::collection::vec(1u32..9, 16),
        steps in steps(),
        credit in 1u32..6,
    ) {
        let machine = small(&sizes);
        let outcome = run(&machine, &steps, credit, true);
        let sectors: u32 = steps.iter().filter(|step| step.kind != 2).map(|step| step.sectors).sum();
        prop_assert_eq!(outcome.0.len(), sectors as usize);
        for (number, step) in steps.iter().enumerate() {
            let replies = outcome.0.iter().filter(|reply| reply.2 == number as u32).count() as u32;
            prop_assert_eq!(replies, if step.kind == 2 { 0 } else { step.sectors });
        }
        let l2 = &outcome.1;
        prop_assert_eq!(l2.requests, steps.len() as u64);
        prop_assert_eq!(l2.accesses, u64::from(steps.iter().map(|step| step.sectors).sum::<u32>()));
        prop_assert_eq!(l2.reads + l2.writes, l2.accesses);
        if machine.l2.sets > 0 {
            prop_assert_eq!(l2.hits + l2.pending_hits + l2.misses + l2.sector_misses, l2.accesses);
        }
        prop_assert_eq!(&run(&machine, &steps, credit, false), &outcome);
        prop_assert_eq!(&run(&machine, &steps, credit, true), &outcome);
    }
}

#[test]
fn a_full_cache_makes_accesses_wait() {
    let mut machine = gtx480();
    machine.dram.channels = 1;
    (machine.l2.sets, machine.l2.ways) = (1, 1);
    let step = |line, kind| Step { wait: 0, line, sectors: 4, kind, mask: 1 };
    let steps: Vec<_> = (0..40).map(|line| step(line, (line % 2) as u32)).collect();
    let (replies, l2, dram, _) = run(&machine, &steps, 64, true);
    assert_eq!((replies.len() as u64, l2.replies), (160, 160));
    assert!(l2.reservation_fails > 1000 && l2.write_backs >= 18 && dram.precharges > 0, "{l2:?} {dram:?}");
}
