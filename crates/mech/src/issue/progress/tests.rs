//! Algorithm 1 of the VTW paper.

use super::*;
use crate::NoConfig;
use crate::issue::vtw;
use raddle_sim::config::{Machine, MachineConfig, Source};
use raddle_sim::seam::{Iterations, WarpTable};

/// Blocks of two warps in a row of slots, all of one scheduler.
struct Blocks {
    table: WarpTable,
    warps: WarpSet,
    age: Vec<u64>,
    issued: Vec<u64>,
    from: Vec<u64>,
    iterations: Vec<u32>,
    states: Vec<BlockState>,
    is_last: bool,
}

impl Blocks {
    /// By block: warps at a barrier, and for each warp its iteration and what it has issued in it.
    fn new(blocks: &[(u32, [(u32, u64); 2])]) -> Self {
        let count = 2 * blocks.len();
        let (mut table, mut warps) = (WarpTable::new(count), WarpSet::new(count));
        for n in 0..count as u16 {
            table.form_static(WarpId(n), u32::from(n) / 2, u32::from(n), 0, u32::MAX);
            warps.set(WarpId(n), true);
        }
        let each = || blocks.iter().flat_map(|(_, warps)| warps);
        let state = |(n, (waiting, _)): (usize, &(u32, _))| BlockState {
            cta: n as u64,
            waiting: *waiting,
            ..BlockState::default()
        };
        Self {
            table,
            warps,
            age: (0..count as u64).collect(),
            // Whoever has done more iterations has issued more in all.
            issued: each().map(|(iteration, done)| 1000 * u64::from(*iteration) + done).collect(),
            from: each().map(|(iteration, _)| 1000 * u64::from(*iteration)).collect(),
            iterations: each().map(|(iteration, _)| *iteration).collect(),
            states: blocks.iter().enumerate().map(state).collect(),
            is_last: false,
        }
    }

    fn order(&self, scheduler: &ByProgress) -> Vec<u16> {
        self.order_at(0, scheduler)
    }

    fn order_at(&self, now: Cycle, scheduler: &ByProgress) -> Vec<u16> {
        let view = SchedulerView {
            now,
            warps: &self.warps,
            places: &[],
            table: &self.table,
            age: &self.age,
            issued: &self.issued,
            blocks: &self.states,
            iterations: Iterations { number: &self.iterations, from: &self.from, is_last: self.is_last },
            ops: &[],
        };
        let mut order = Vec::new();
        scheduler.priority_order(&view, &mut order);
        assert_eq!(scheduler.first_of(&view, &self.warps, &mut Vec::new()), order.first().copied());
        assert!(order.windows(2).all(|w| scheduler.is_before(&view, w[0], w[1])));
        order.iter().map(|w| w.0).collect()
    }
}

fn machine() -> MachineConfig {
    Machine::load(Source::Preset("gtx480"), &[""; 0]).unwrap().config
}

fn vtw() -> ByProgress {
    ByProgress::vtw(vtw::Config::default(), &machine())
}

fn pro() -> ByProgress {
    ByProgress::pro(NoConfig {}, &machine())
}

#[test]
fn the_four_classes_come_in_the_order_of_algorithm_1() {
    let blocks = Blocks::new(&[
        (0, [(3, 10), (3, 20)]), // same iteration
        (0, [(4, 5), (3, 90)]),  // different ones
        (1, [(3, 40), (3, 30)]), // at a barrier
    ]);
    assert_eq!(blocks.order(&vtw()), [5, 4, 3, 1, 0, 2]);
}

#[test]
fn at_barriers_more_waiting_come_first_then_more_progress() {
    let blocks = Blocks::new(&[(1, [(1, 10), (1, 20)]), (2, [(1, 1), (1, 2)]), (1, [(1, 40), (1, 30)])]);
    assert_eq!(blocks.order(&vtw()), [2, 3, 5, 4, 0, 1]);
    assert_eq!(blocks.order(&pro()), [2, 3, 5, 4, 0, 1]);
}

#[test]
fn of_the_same_iteration_what_has_done_most_comes_first() {
    let blocks = Blocks::new(&[(0, [(1, 10), (1, 20)]), (0, [(1, 50), (1, 2)]), (0, [(1, 15), (1, 16)])]);
    assert_eq!(blocks.order(&vtw()), [2, 3, 5, 4, 1, 0]);
}

#[test]
fn progress_counts_from_the_logical_block_or_from_the_start() {
    let blocks = Blocks::new(&[(0, [(1, 30), (1, 30)]), (0, [(2, 10), (2, 10)])]);
    assert_eq!(blocks.order(&vtw()), [0, 1, 2, 3]);
    let since_start = ByProgress::vtw(vtw::Config { since: Since::Start, ..vtw::Config::default() }, &machine());
    assert_eq!(blocks.order(&since_start), [2, 3, 0, 1]);
}

#[test]
fn fewer_in_the_lower_iteration_come_first_and_more_in_the_higher() {
    // Three blocks of four warps: the two blocks of two make one each.
    let mut blocks = Blocks::new(&[
        (0, [(1, 10), (2, 20)]),
        (0, [(2, 30), (2, 40)]), // of block 0: one is behind
        (0, [(1, 50), (1, 60)]),
        (0, [(2, 70), (2, 80)]), // of block 1: two are behind
    ]);
    for n in 0..8 {
        blocks.table.form_static(WarpId(n), u32::from(n) / 4, u32::from(n), 0, u32::MAX);
    }
    blocks.states.truncate(2);
    assert_eq!(blocks.order(&vtw()), [0, 4, 5, 3, 2, 1, 7, 6]);
}

#[test]
fn when_no_block_is_left_the_least_progress_comes_first() {
    let mut blocks = Blocks::new(&[(1, [(3, 10), (3, 20)]), (0, [(4, 5), (3, 90)]), (0, [(3, 4), (3, 3)])]);
    blocks.is_last = true;
    assert_eq!(blocks.order(&vtw()), [5, 4, 0, 1, 2, 3]);
}

#[test]
fn blocks_that_end_come_before_others() {
    let mut blocks = Blocks::new(&[(0, [(0, 90), (0, 80)]), (0, [(0, 10), (0, 20)])]);
    assert_eq!(blocks.order(&pro()), [0, 1, 3, 2]);
    // A warp of block 1 has ended.
    blocks.states[1].ended = 1;
    blocks.table.free(WarpId(3));
    blocks.warps.set(WarpId(3), false);
    assert_eq!(blocks.order(&pro()), [2, 0, 1]);
}

#[test]
fn the_order_can_stay_for_some_cycles() {
    let mut scheduler = ByProgress::vtw(vtw::Config { every: 100, ..vtw::Config::default() }, &machine());
    let before = Blocks::new(&[(0, [(1, 10), (1, 20)]), (0, [(1, 50), (1, 2)])]);
    let after = Blocks::new(&[(0, [(1, 90), (1, 20)]), (0, [(1, 50), (1, 2)])]);
    assert_eq!(before.order_at(110, &scheduler), [2, 3, 1, 0]);
    assert_eq!(after.order_at(199, &scheduler), [2, 3, 1, 0], "as it was");
    assert_eq!(after.order_at(200, &scheduler), [0, 1, 2, 3]);
    assert_eq!(before.order_at(201, &scheduler), [0, 1, 2, 3], "as it was");
    // A warp that was not there makes a new one.
    scheduler.warp_changed(WarpId(3), true);
    assert_eq!(before.order_at(202, &scheduler), [2, 3, 1, 0]);
}
