//! Records from hand-made events.

use super::*;

fn record(residency: u32, events: &[(Cycle, EventKind)]) -> LaunchRecord {
    let mut record = LaunchRecord { residency, ..LaunchRecord::default() };
    events.iter().for_each(|(at, kind)| record.event(&Event { at: *at, sm: 0, kind: *kind }));
    record
}

fn start(cta: u64, slot: u32) -> EventKind {
    EventKind::CtaStart { cta, slot }
}

fn end(cta: u64, slot: u32) -> EventKind {
    EventKind::CtaEnd { cta, slot }
}

fn warp(warp: u16, slot: u32) -> EventKind {
    EventKind::WarpStart { warp, slot, lanes: 32 }
}

fn exit(warp: u16, slot: u32, warp_insts: u64) -> EventKind {
    EventKind::WarpExit { warp, slot, warp_insts, thread_insts: warp_insts * 32 }
}

fn arrive(warp: u16) -> EventKind {
    EventKind::BarrierArrive { warp, pc: 5, slot: 0, number: 0 }
}

fn leave(warp: u16) -> EventKind {
    EventKind::BarrierLeave { warp, slot: 0, number: 0 }
}

#[test]
fn rtru_of_the_paper() {
    assert_eq!(rtru(&[10, 20, 30, 40]), 0.375);
    assert_eq!(rtru(&[]), 0.0);
}

#[test]
fn waits_at_barriers_and_at_the_end() {
    let events = [
        (0, start(0, 0)),
        (0, warp(0, 0)),
        (0, warp(1, 0)),
        (10, arrive(0)),
        (30, arrive(1)),
        (30, leave(0)),
        (30, leave(1)),
        (40, exit(0, 0, 4)),
        (50, exit(1, 0, 6)),
        (50, end(0, 0)),
    ];
    let summary = LaunchSummary::new(&record(1, &events), 1);
    assert_eq!((summary.blocks, summary.warps, summary.barriers), (1, 2, 2));
    assert_eq!((summary.life, summary.barrier_wait, summary.exit_wait), (100, 20, 10));
    assert_eq!((summary.barrier_share(), summary.exit_share()), (0.2, 0.1));
    // Phase 0 takes 10 and 30 cycles, phase 1 takes 10 and 20.
    assert_eq!(summary.phases, [(1, rtru(&[10, 30])), (1, rtru(&[10, 20]))]);
    assert_eq!((summary.phase_wait, summary.phase_time), (20 + 10, 60 + 40));
    assert_eq!(summary.rtru(), 0.3);
    assert_eq!(summary.insts_over, [1, 1, 1, 1]);
    assert_eq!(summary.cycles_over, [0, 1, 1, 1]);
}

#[test]
fn warps_that_end_belong_to_the_phase_in_which_they_do() {
    let events = [
        (0, start(0, 0)),
        (0, warp(0, 0)),
        (0, warp(1, 0)),
        (0, warp(2, 0)),
        (5, exit(2, 0, 1)),
        (10, arrive(0)),
        (30, arrive(1)),
        (30, leave(0)),
        (30, leave(1)),
        (30, exit(0, 0, 4)),
        (50, exit(1, 0, 6)),
        (50, end(0, 0)),
    ];
    let phases = record(1, &events).blocks[0].phases();
    let phase = |end, times: &[u64]| Phase { end, times: times.to_vec() };
    assert_eq!(phases, [phase(30, &[10, 30, 5]), phase(50, &[0, 20])]);
}

#[test]
fn parts_of_a_warp_wait_from_the_last_arrival() {
    let events = [
        (0, start(0, 0)),
        (0, warp(0, 0)),
        (5, arrive(0)),
        (9, arrive(0)),
        (12, leave(0)),
        (20, exit(0, 0, 1)),
        (20, end(0, 0)),
    ];
    let record = record(1, &events);
    assert_eq!(record.blocks[0].warps[0].waits, [Wait { number: 0, pc: 5, arrive: 9, leave: Some(12) }]);
}

#[test]
fn slots_are_used_again() {
    let mut events = Vec::new();
    // The blocks of Figure 1 of the VTW paper, one after the other on one SM that holds one.
    let mut now = 0;
    for (cta, times) in [[40, 50, 30], [50, 30, 40], [25, 40, 45]].into_iter().enumerate() {
        let begin = now;
        events.push((begin, start(cta as u64, 0)));
        events.extend((0..3).map(|w| (begin, warp(w, 0))));
        let mut exits: Vec<(u64, u16)> = times.into_iter().zip(0..).collect();
        exits.sort_unstable();
        events.extend(exits.iter().map(|(time, w)| (begin + time, exit(*w, 0, 7))));
        now += exits[2].0;
        events.push((now, end(cta as u64, 0)));
    }
    assert_eq!(now, 145);
    let record = record(1, &events);
    let summary = LaunchSummary::new(&record, 1);
    let dwr: Vec<f64> = summary.divergences.iter().map(BlockDivergence::dwr).collect();
    assert_eq!(dwr, [1.0 - 30.0 / 50.0, 1.0 - 30.0 / 50.0, 1.0 - 25.0 / 45.0]);
    // Only the first two of three blocks end while another waits.
    assert_eq!(summary.dwr, Some((dwr[0] + dwr[1]) / 2.0));
    assert_eq!(summary.insts_over, [0; 4]);
    assert_eq!(summary.cycles_over, [3, 3, 3, 3]);
}

#[test]
fn stalls_count_where_warps_have_ended() {
    let stall = |cycles| EventKind::Stall { scheduler: 0, cause: raddle_sim::seam::Cause::NotFetched, cycles };
    let events = [
        (0, start(0, 0)),
        (0, warp(0, 0)),
        (0, warp(1, 0)),
        (5, stall(10)),
        (20, exit(0, 0, 1)),
        (20, stall(30)),
        (40, exit(1, 0, 1)),
        (40, end(0, 0)),
    ];
    // Ten empty slots before the first exit, twenty after it until the block's end.
    assert_eq!(LaunchSummary::new(&record(1, &events), 1).dws, 20.0 / 30.0);
}

#[test]
fn blocks_that_have_not_ended_do_not_count() {
    let summary = LaunchSummary::new(&record(1, &[(0, start(0, 0)), (0, warp(0, 0))]), 1);
    assert_eq!((summary.blocks, summary.life, summary.dwr), (0, 0, None));
}

/// Table 1 of the VTW paper: blocks, those that diverge in instructions by 10 and by 5 %, in cycles by 5 %, and the set.
const TABLE_1: [[u64; 5]; 51] = [
    [18000, 17999, 17999, 18000, 1],
    [17408, 846, 936, 17360, 1],
    [1954, 1005, 1015, 1695, 1],
    [1954, 159, 492, 1621, 1],
    [695, 695, 695, 694, 1],
    [256, 130, 133, 209, 1],
    [196, 21, 176, 196, 1],
    [256, 255, 255, 255, 1],
    [512, 108, 128, 116, 1],
    [10000, 0, 9073, 9999, 1],
    [168, 168, 168, 168, 1],
    [6000, 2268, 5848, 5999, 1],
    [2594, 2594, 2594, 2588, 1],
    [1849, 1849, 1849, 1800, 1],
    [1584, 1583, 1583, 356, 1],
    [4096, 4096, 4096, 214, 1],
    [5188, 1, 1, 5188, 2],
    [4098, 1, 1, 4098, 2],
    [3249, 0, 0, 3249, 2],
    [1212, 0, 0, 1211, 2],
    [1212, 0, 0, 1212, 2],
    [450, 1, 1, 450, 2],
    [450, 0, 0, 450, 2],
    [256, 0, 0, 252, 2],
    [450, 1, 1, 450, 2],
    [1212, 0, 0, 1210, 2],
    [99, 0, 0, 99, 2],
    [128, 0, 0, 126, 2],
    [450, 1, 1, 450, 2],
    [16384, 0, 0, 8414, 2],
    [3249, 0, 0, 1743, 2],
    [1212, 8, 252, 1065, 2],
    [128, 0, 0, 126, 2],
    [4096, 1, 1, 2864, 2],
    [16384, 0, 0, 729, 2],
    [225, 0, 0, 77, 2],
    [41, 41, 41, 0, 3],
    [463, 462, 462, 0, 3],
    [100, 100, 100, 0, 3],
    [64, 4, 4, 0, 4],
    [121, 0, 27, 0, 4],
    [201, 0, 11, 0, 4],
    [257, 0, 0, 4, 4],
    [2800, 0, 0, 0, 4],
    [280, 0, 0, 0, 4],
    [1400, 0, 0, 0, 4],
    [384, 0, 0, 0, 4],
    [1024, 0, 0, 0, 4],
    [1024, 0, 0, 0, 4],
    [64, 0, 0, 0, 4],
    [64, 0, 0, 0, 4],
];

#[test]
fn kernels_are_in_the_sets_of_the_paper() {
    let wrong = TABLE_1.into_iter().filter(|[blocks, insts_10, insts_5, cycles_5, set]| {
        let summary = LaunchSummary {
            blocks: *blocks,
            insts_over: [0, 0, *insts_10, *insts_5],
            cycles_over: [0, 0, 0, *cycles_5],
            ..LaunchSummary::default()
        };
        u64::from(summary.set().number()) != *set
    });
    // The stencil of Parboil: 4 blocks of 64 diverge, which is more than the paper counts as few elsewhere.
    assert_eq!(wrong.collect::<Vec<_>>(), [[64, 4, 4, 0, 4]]);
}
