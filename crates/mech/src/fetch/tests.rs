//! Who is fetched for.

use super::*;
use crate::NoConfig;
use crate::issue::{Gto, Lrr as LrrIssue};
use raddle_sim::config::{Machine, MachineConfig, Source};
use raddle_sim::seam::{
    FetchScheduler, FetchView, IssueScheduler, Iterations, SchedulerView, WarpId, WarpSet, WarpTable,
};

fn machine() -> MachineConfig {
    Machine::load(Source::Preset("gtx480"), &[""; 0]).unwrap().config
}

fn set(warps: impl IntoIterator<Item = u16>) -> WarpSet {
    let mut set = WarpSet::new(8);
    warps.into_iter().for_each(|w| set.set(WarpId(w), true));
    set
}

/// What is picked of `wanting` by a fetch scheduler over two issue schedulers with eight warps, the first the oldest.
fn pick(fetch: &mut dyn FetchScheduler, issue: &[Box<dyn IssueScheduler>], wanting: &[u16], entries: [u32; 8]) -> u16 {
    let (table, age) = (WarpTable::new(8), [0, 1, 2, 3, 4, 5, 6, 7]);
    let warps = [set((0..8).step_by(2)), set((1..8).step_by(2))];
    let seen = |n: usize| SchedulerView {
        now: 0,
        warps: &warps[n],
        places: &[],
        table: &table,
        age: &age,
        issued: &age,
        blocks: &[],
        iterations: Iterations::default(),
        ops: &[],
    };
    let view = FetchView {
        now: 0,
        wanting: &set(wanting.iter().copied()),
        entries: &|w| entries[w.index()],
        slots: 8,
        issue,
        issue_view: &|n, f| f(&seen(n)),
    };
    let warp = fetch.pick(&view).expect("some want instructions");
    fetch.fetched(warp, true);
    warp.0
}

/// Two issue schedulers that have issued from warps 4 and 3.
fn after_issue(make: fn() -> Box<dyn IssueScheduler>) -> [Box<dyn IssueScheduler>; 2] {
    let (table, none) = (WarpTable::new(8), WarpSet::new(8));
    let mut both = [make(), make()];
    for (scheduler, warp) in both.iter_mut().zip([4, 3]) {
        let view = SchedulerView {
            now: 0,
            warps: &none,
            places: &[],
            table: &table,
            age: &[0; 8],
            issued: &[0; 8],
            blocks: &[],
            iterations: Iterations::default(),
            ops: &[],
        };
        scheduler.issued(&view, WarpId(warp));
    }
    both
}

#[test]
fn the_warp_that_would_issue_next_is_fetched_for_first() {
    let gto = after_issue(|| Box::new(Gto::new(NoConfig {}, &machine())));
    let mut cff = Cff::new(NoConfig {}, &machine());
    let mut next = |wanting: &[u16]| pick(&mut cff, &gto, wanting, [0; 8]);
    // The last one of each scheduler, then the oldest of each, in turns.
    assert_eq!(next(&[0, 1, 2, 3, 4, 5, 6, 7]), 4);
    assert_eq!(next(&[0, 1, 2, 3, 5, 6, 7]), 3);
    assert_eq!(next(&[0, 1, 2, 5, 6, 7]), 0);
    assert_eq!(next(&[1, 2, 5, 6, 7]), 1);
    // The first scheduler's turn, but none of its warps wants any.
    assert_eq!(next(&[5, 7]), 5);
    assert_eq!(next(&[6, 7]), 6);
    assert!(!cff.serves_waiting());

    let lrr = after_issue(|| Box::new(LrrIssue::new(NoConfig {}, &machine())));
    let mut cff = Cff::new(NoConfig {}, &machine());
    assert_eq!(pick(&mut cff, &lrr, &[0, 1, 2, 3, 4, 5, 6, 7], [0; 8]), 6);
    assert_eq!(pick(&mut cff, &lrr, &[0, 1, 2, 3, 4, 5, 7], [0; 8]), 5);
}

#[test]
fn the_emptiest_buffer_comes_first_and_equal_ones_take_turns() {
    let none: [Box<dyn IssueScheduler>; 0] = [];
    let mut fef = Fef::new(NoConfig {}, &machine());
    let entries = [2, 1, 0, 2, 1, 0, 2, 1];
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    let mut next = |wanting: &[u16]| pick(&mut fef, &none, wanting, entries);
    assert_eq!([next(&all), next(&all), next(&all)], [2, 5, 2]);
    assert_eq!([next(&[0, 1, 4]), next(&[0, 1, 4]), next(&[0, 6])], [4, 1, 6]);
}
