//! Ganging units of another kind than those that come with Raddle: the SM does what they say.

use crate::determinism;
use crate::slices::sliced;
use raddle_mech::NoConfig;
use raddle_sim::config::{Choice, MachineConfig};
use raddle_sim::event::{Event, EventKind};
use raddle_sim::gpu::{Observer, RunOptions};
use raddle_sim::packet::Cycle;
use raddle_sim::result::LaunchResult;
use raddle_sim::seam::{
    GangTable, GangView, Ganging, GangingView, MechanismInfo, Parts, Registry, Seam, WarpId, slices_in,
};
use raddle_testkit::reference::{Case, KERNELS, small};
use raddle_testkit::timing::try_run_with;

/// Where a warp is: its operation, and whether it waits.
fn place(view: &GangingView<'_>, warp: WarpId) -> (u32, bool) {
    let info = view.table.get(warp);
    (info.pc, info.blocked.is_some())
}

/// Warps that have ended leave their parts, and gangs of which not all warps are at one place dissolve.
fn dissolve(gangs: &mut GangTable, set: usize, view: &GangingView<'_>) {
    let mut parts = *gangs.parts(set);
    let ended = |slice: &usize| view.table.get(gangs.warp(set, *slice)).ended;
    slices_in(parts.all()).filter(ended).for_each(|slice| parts.remove(1 << slice));
    let at = |slice| place(view, gangs.warp(set, slice));
    for gang in parts.gangs().to_vec() {
        if slices_in(gang).any(|slice| at(slice) != at(gang.trailing_zeros() as usize)) {
            parts.remove(gang);
            slices_in(gang).for_each(|slice| parts.add(1 << slice));
        }
    }
    gangs.set_parts(set, parts);
}

/// Pairs of neighbouring slices: in every sixteenth cycle, two warps at the same operation become a gang, until they are not.
struct Pairs;

const EVERY: Cycle = 16;

impl Ganging for Pairs {
    fn start(&mut self, gangs: &mut GangTable, set: usize, mask: u8) {
        gangs.set_parts(set, Parts::apart(mask));
    }

    fn moved(&mut self, gangs: &mut GangTable, set: usize, view: &GangingView<'_>) {
        dissolve(gangs, set, view);
    }

    fn tick(&mut self, gangs: &mut GangTable, view: &GangingView<'_>) {
        if !view.now.is_multiple_of(EVERY) {
            return;
        }
        for set in 0..gangs.sets() {
            let mut parts = *gangs.parts(set);
            for first in (0..gangs.slices()).step_by(2) {
                let (pair, [a, b]) = (0b11 << first, [0, 1].map(|n| place(view, gangs.warp(set, first + n))));
                if parts.alone() & pair == pair && a == b && !a.1 {
                    parts.remove(pair);
                    parts.add(pair);
                }
            }
            gangs.set_parts(set, parts);
        }
    }

    fn next_event(&self, _: &GangTable, now: Cycle) -> Option<Cycle> {
        Some(now.next_multiple_of(EVERY))
    }

    fn per_cycle(&self) -> usize {
        4
    }

    fn rank(&self, gang: &GangView) -> u64 {
        gang.age
    }
}

/// Holds every warp back up to a cycle, half of them in gangs.
struct Late;

const LATE: Cycle = 20_000;

impl Ganging for Late {
    fn start(&mut self, gangs: &mut GangTable, set: usize, mask: u8) {
        gangs.set_parts(set, if set.is_multiple_of(2) { Parts::whole(mask) } else { Parts::apart(mask) });
        slices_in(mask).for_each(|slice| gangs.hold(gangs.warp(set, slice), true));
    }

    fn moved(&mut self, gangs: &mut GangTable, set: usize, view: &GangingView<'_>) {
        dissolve(gangs, set, view);
    }

    fn tick(&mut self, gangs: &mut GangTable, view: &GangingView<'_>) {
        if view.now >= LATE {
            (0..gangs.sets() * gangs.slices()).for_each(|warp| gangs.hold(WarpId::at(warp), false));
        }
    }

    fn next_event(&self, gangs: &GangTable, now: Cycle) -> Option<Cycle> {
        (!gangs.held().is_empty()).then_some(LATE.max(now))
    }

    fn per_cycle(&self) -> usize {
        1
    }

    fn rank(&self, _: &GangView) -> u64 {
        0
    }
}

/// Leaves warps in a gang that have gone different ways.
struct Careless;

impl Ganging for Careless {
    fn moved(&mut self, _: &mut GangTable, _: usize, _: &GangingView<'_>) {}

    fn per_cycle(&self) -> usize {
        1
    }

    fn rank(&self, _: &GangView) -> u64 {
        0
    }
}

fn info(name: &'static str) -> MechanismInfo {
    MechanismInfo { seam: Seam::Ganging, name, summary: "", source: "this test", counters: &[], refuses: &[] }
}

fn registry() -> Registry {
    let mut registry = raddle_mech::registry();
    registry.ganging(info("pairs"), |_: NoConfig, _: &MachineConfig| Pairs);
    registry.ganging(info("late"), |_: NoConfig, _: &MachineConfig| Late);
    registry.ganging(info("careless"), |_: NoConfig, _: &MachineConfig| Careless);
    registry
}

/// A kernel in slices with a ganging unit; it ends, and its memory is right.
fn result(case: &Case, unit: &str, options: RunOptions<'_>) -> LaunchResult {
    let options = RunOptions { max_cycles: Some(1_000_000), ..options };
    let mut config = sliced("vws-sm", 4, &[]);
    config.mechanism.ganging = Choice::Name(unit.to_owned());
    try_run_with(&registry(), case, &config, options).unwrap_or_else(|e| panic!("{}: {e}", case.name))
}

/// What happened in a run.
#[derive(Default)]
struct Seen {
    /// The warps of an SM by the size of their gang, the most there were of each at once.
    sizes: [u16; 9],
    first_issue: Option<Cycle>,
}

impl Observer for Seen {
    fn event(&mut self, event: &Event) {
        match event.kind {
            EventKind::Gangs { sizes } => {
                self.sizes.iter_mut().zip(sizes).for_each(|(most, size)| *most = size.max(*most));
            }
            EventKind::Issue { .. } => self.first_issue = Some(self.first_issue.unwrap_or(event.at)),
            _ => {}
        }
    }
}

#[test]
fn those_it_puts_together_issue_together() {
    for kernel in ["diverge", "bfs", "matmul", "reduce"] {
        let (case, mut seen) = (small(kernel), Seen::default());
        let none = result(&case, "none", RunOptions::default());
        let pairs = result(&case, "pairs", RunOptions { observer: Some(&mut seen), ..RunOptions::default() });
        let sizes = seen.sizes;
        assert!(sizes[1] > 0 && sizes[2] > 0 && sizes[3..] == [0; 6], "{kernel}: {sizes:?}");
        assert_ne!(pairs.cycles, none.cycles, "{kernel}");
        let [none, pairs] = [none, pairs].map(|result| result.total().sm);
        assert_eq!(pairs.warp_insts, none.warp_insts, "{kernel}");
        assert_eq!(pairs.gang_insts, 2 * pairs.gang_issues, "{kernel}");
        assert!(pairs.gang_insts > pairs.warp_insts / 10, "{kernel}: {} of {}", pairs.gang_insts, pairs.warp_insts);
        assert!(pairs.fetches < none.fetches, "{kernel}: fetched for once, {} and {}", pairs.fetches, none.fetches);
        assert!(pairs.gang_joins > 0 && (pairs.gang_splits > 0 || kernel == "matmul"), "{kernel}");
    }
}

#[test]
fn those_it_holds_back_do_not_issue() {
    let (case, mut seen) = (small("vecadd"), Seen::default());
    let late = result(&case, "late", RunOptions { observer: Some(&mut seen), ..RunOptions::default() });
    assert_eq!(seen.first_issue, Some(LATE), "nobody before, and somebody then");
    assert!(result(&case, "none", RunOptions::default()).cycles < LATE);
    let late = late.total().sm;
    assert!(late.gang_insts > 0 && late.gang_insts < late.warp_insts, "in gangs and alone");
}

#[test]
fn nothing_it_does_is_slept_over() {
    for unit in ["pairs", "late"] {
        for kernel in KERNELS {
            let text = |never_skip| {
                let options = RunOptions { never_skip, ..RunOptions::default() };
                format!("{:#?}", result(&determinism::tiny(kernel), unit, options))
            };
            determinism::same(&text(false), &text(true), &format!("{unit}, {kernel}"));
        }
    }
}

#[test]
#[should_panic(expected = "the warps of a gang are not at the same operation")]
fn a_gang_that_should_have_fallen_apart_is_found() {
    drop(result(&small("diverge"), "careless", RunOptions::default()));
}
