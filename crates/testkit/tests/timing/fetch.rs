//! Who is fetched for, and what the depth of instruction buffers and the policy change.

use crate::common::{fetch_schedulers, with_fetch};
use raddle_mech::NoConfig;
use raddle_sim::config::{Choice, MachineConfig};
use raddle_sim::gpu::RunOptions;
use raddle_sim::result::LaunchResult;
use raddle_sim::seam::{FetchScheduler, FetchView, MechanismInfo, Seam, WarpId};
use raddle_testkit::{reference, timing};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Takes the first warp, and notes the most instructions that one had which wanted more.
struct Noting {
    most: Arc<AtomicU32>,
    serves_waiting: bool,
}

thread_local! {
    /// What the schedulers that were made here noted: a registry has functions, which hold nothing.
    static MOST: Arc<AtomicU32> = Arc::default();
}

impl Noting {
    fn new(serves_waiting: bool) -> Self {
        Self { most: MOST.with(Arc::clone), serves_waiting }
    }
}

impl FetchScheduler for Noting {
    fn pick(&mut self, view: &FetchView<'_>) -> Option<WarpId> {
        let most = view.wanting.iter().map(|w| (view.entries)(w)).max().unwrap_or(0);
        self.most.fetch_max(most, Ordering::Relaxed);
        for n in 0..view.issue.len() {
            (view.issue_view)(n, &mut |seen| {
                let waits = |w: WarpId| seen.table.get(w).blocked == Some(raddle_sim::seam::Cause::Barrier);
                let any = seen.warps.iter().any(|w| waits(w) && view.wanting.contains(w));
                assert!(self.serves_waiting || !any, "a warp at a barrier wants instructions");
            });
        }
        view.wanting.iter().next()
    }

    fn serves_waiting(&self) -> bool {
        self.serves_waiting
    }
}

const INFO: MechanismInfo =
    MechanismInfo { seam: Seam::Fetch, name: "noting", summary: "", source: "this test", counters: &[], refuses: &[] };

/// The most instructions a warp had that wanted more, and the result.
fn noted(mut config: MachineConfig, serves_waiting: bool) -> (u32, LaunchResult) {
    config.mechanism.fetch = Choice::Name("noting".to_owned());
    let mut registry = raddle_mech::registry();
    match serves_waiting {
        true => registry.fetch(INFO, |_: NoConfig, _: &MachineConfig| Noting::new(true)),
        false => registry.fetch(INFO, |_: NoConfig, _: &MachineConfig| Noting::new(false)),
    }
    let case = reference::reduce(4096);
    let result =
        timing::try_run_with(&registry, &case, &config, RunOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    (MOST.with(|most| most.swap(0, Ordering::Relaxed)), result)
}

#[test]
fn buffers_are_as_deep_as_the_machine_says() {
    let machine = |set: &[&str]| timing::machine("gtx480", set);
    // Section 2.2 of the BAWS paper: only a warp without an instruction is fetched for.
    assert_eq!(noted(machine(&[]), true).0, 0);
    assert_eq!(noted(machine(&["sm.fetch.ibuffer=4", "sm.fetch.width=4"]), true).0, 0);
    // A buffer that is filled as soon as a fetch fits.
    assert_eq!(noted(machine(&["sm.fetch.ibuffer=4", "sm.fetch.only_when_empty=false"]), true).0, 2);
    assert_eq!(noted(machine(&["sm.fetch.ibuffer=3", "sm.fetch.only_when_empty=false"]), true).0, 1);
}

#[test]
fn warps_at_a_barrier_are_not_fetched_for_when_the_scheduler_says_so() {
    let config = timing::machine("gtx480", &[""; 0]);
    let (with, without) = (noted(config.clone(), true).1, noted(config, false).1);
    assert_ne!(with.cycles, without.cycles);
    assert_eq!(with.total().sm.warp_insts, without.total().sm.warp_insts);
}

#[test]
fn depth_and_policy_matter() {
    let cycles = |fetch: &str, set: &[&str]| {
        let config = with_fetch(&timing::gtx480("gto", set), fetch);
        timing::run(&reference::reduce(16384), &config, RunOptions::default()).cycles
    };
    let empty: Vec<u64> = fetch_schedulers().into_iter().map(|fetch| cycles(fetch, &[])).collect();
    let [lrr, cff, fef] = empty[..] else { panic!("another fetch scheduler: {empty:?}") };
    assert_ne!(lrr, cff);
    assert_eq!(lrr, fef, "no warp that is fetched for has an instruction");
    let filled = ["sm.fetch.ibuffer=4", "sm.fetch.only_when_empty=false"];
    assert_ne!(cycles("lrr", &filled), cycles("fef", &filled));
    assert_ne!(cycles("lrr", &filled), lrr);
    assert_ne!(cycles("lrr", &["sm.fetch.ibuffer=4", "sm.fetch.width=4"]), lrr);
}
