//! The examples of the BAWS paper.

use super::*;
use crate::NoConfig;
use raddle_sim::config::{Machine, MachineConfig, Source};
use raddle_sim::packet::Cycle;
use raddle_sim::seam::{BlockState, IssueScheduler, Iterations, WarpSet, WarpTable};

/// Blocks of four warps in a row of slots, all of one scheduler.
struct Blocks {
    table: WarpTable,
    warps: WarpSet,
    age: Vec<u64>,
    states: Vec<BlockState>,
}

impl Blocks {
    /// Block `n` of the grid in slot `n`, with so many of its warps waiting since then.
    fn new(waiting: &[(u32, Cycle)]) -> Self {
        let count = 4 * waiting.len();
        let (mut table, mut warps) = (WarpTable::new(count), WarpSet::new(count));
        for n in 0..count as u16 {
            table.form_static(WarpId(n), u32::from(n) / 4, u32::from(n), 0, u32::MAX);
            warps.set(WarpId(n), true);
        }
        let state = |(n, (waiting, since)): (usize, &(u32, Cycle))| BlockState {
            cta: n as u64,
            waiting: *waiting,
            since: *since,
            ended: 0,
        };
        let states = waiting.iter().enumerate().map(state).collect();
        Self { table, warps, age: (0..count as u64).collect(), states }
    }

    fn view(&self) -> SchedulerView<'_> {
        SchedulerView {
            now: 0,
            warps: &self.warps,
            places: &[],
            table: &self.table,
            age: &self.age,
            issued: &self.age,
            blocks: &self.states,
            iterations: Iterations::default(),
            ops: &[],
        }
    }

    /// The order of the warps that are given.
    fn order(&self, scheduler: &dyn IssueScheduler, running: &[u16]) -> Vec<u16> {
        let mut order = Vec::new();
        scheduler.priority_order(&self.view(), &mut order);
        order.iter().map(|w| w.0).filter(|w| running.contains(w)).collect()
    }
}

fn machine() -> MachineConfig {
    Machine::load(Source::Preset("gtx480"), &[""; 0]).unwrap().config
}

fn mwf_lrr() -> ByWaiting {
    ByWaiting::mwf_lrr(NoConfig {}, &machine())
}

fn mwf_gto() -> ByWaiting {
    ByWaiting::mwf_gto(NoConfig {}, &machine())
}

fn saws() -> ByWaiting {
    ByWaiting::saws(Default::default(), &machine())
}

#[test]
fn most_waiting_first_is_as_in_figure_7() {
    let running = [0, 1, 3, 4, 6, 8];
    let blocks = Blocks::new(&[(1, 0), (2, 0), (3, 0)]);
    let mut scheduler = mwf_lrr();
    scheduler.issued(&blocks.view(), WarpId(0));
    scheduler.issued(&blocks.view(), WarpId(7));
    assert_eq!(blocks.order(&scheduler, &running), [8, 4, 6, 1, 3, 0]);
    let picked = scheduler.pick(&blocks.view(), &blocks.warps, &mut Vec::new());
    assert_eq!(picked.map(|w| w.0 / 4), Some(2));

    // A fourth block with two waiting comes after block 1.
    let blocks = Blocks::new(&[(1, 0), (2, 0), (3, 0), (2, 0)]);
    assert_eq!(blocks.order(&scheduler, &[0, 1, 3, 4, 6, 8, 12, 13]), [8, 4, 6, 12, 13, 1, 3, 0]);

    // Greedy: the last of a block first, and then the oldest.
    let mut scheduler = mwf_gto();
    scheduler.issued(&blocks.view(), WarpId(3));
    scheduler.issued(&blocks.view(), WarpId(6));
    assert_eq!(blocks.order(&scheduler, &running), [8, 6, 4, 3, 0, 1]);
}

#[test]
fn blocks_go_as_in_figure_13() {
    // At t0 a warp of block 0 waits, at t1 two of block 1, at t2 three of block 2.
    let moments = [[(1, 10), (0, 0), (0, 0)], [(1, 10), (2, 20), (0, 0)], [(1, 10), (2, 20), (3, 30)]];
    let first = |scheduler: &dyn IssueScheduler, moment: &[(u32, Cycle)]| {
        let all: Vec<u16> = (0..12).collect();
        Blocks::new(moment).order(scheduler, &all)[0] / 4
    };
    assert_eq!(moments.map(|m| first(&mwf_gto(), &m)), [0, 1, 2]);
    assert_eq!(moments.map(|m| first(&mwf_lrr(), &m)), [0, 1, 2]);
    assert_eq!(moments.map(|m| first(&saws(), &m)), [0, 0, 0]);
    // Once block 0 has left its barrier, the next to have come is first.
    assert_eq!(first(&saws(), &[(0, 10), (2, 20), (3, 30)]), 1);
}

#[test]
fn without_barriers_the_block_with_the_smallest_number_comes_first() {
    let mut blocks = Blocks::new(&[(0, 0), (0, 0), (0, 0)]);
    // A block that takes the slot of another has a higher number, and its warps are younger.
    blocks.states[0].cta = 9;
    blocks.age[..4].copy_from_slice(&[12, 13, 14, 15]);
    let all: Vec<u16> = (0..12).collect();
    let mut scheduler = mwf_gto();
    scheduler.issued(&blocks.view(), WarpId(6));
    assert_eq!(blocks.order(&scheduler, &all), [6, 4, 5, 7, 8, 9, 10, 11, 0, 1, 2, 3]);
    let mut gto = Gto::new(NoConfig {}, &machine());
    gto.issued(&blocks.view(), WarpId(6));
    assert_eq!(blocks.order(&gto, &all), blocks.order(&scheduler, &all));
}

#[test]
fn a_new_warp_is_not_taken_for_the_one_before_it() {
    let blocks = Blocks::new(&[(0, 0)]);
    let mut scheduler = mwf_gto();
    scheduler.issued(&blocks.view(), WarpId(2));
    assert_eq!(blocks.order(&scheduler, &[0, 1, 2, 3]), [2, 0, 1, 3]);
    scheduler.warp_changed(WarpId(2), false);
    assert_eq!(blocks.order(&scheduler, &[0, 1, 2, 3]), [0, 1, 2, 3]);
}

#[test]
fn the_oldest_is_of_the_block_that_came_first_and_has_the_smallest_number() {
    // The block in slot 1 came before that in slot 0; ages grow in the order of warps in a block.
    let mut blocks = Blocks::new(&[(0, 0), (0, 0)]);
    blocks.age = vec![4, 5, 6, 7, 0, 1, 2, 3];
    let mut gto = Gto::new(NoConfig {}, &machine());
    let all: Vec<u16> = (0..8).collect();
    assert_eq!(blocks.order(&gto, &all), [4, 5, 6, 7, 0, 1, 2, 3]);
    gto.issued(&blocks.view(), WarpId(1));
    assert_eq!(blocks.order(&gto, &all), [1, 4, 5, 6, 7, 0, 2, 3]);
}
