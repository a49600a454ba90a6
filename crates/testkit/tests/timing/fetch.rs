//! Who is fetched for, and what the depth of instruction buffers and the policy change.

use crate::common::{fetch_schedulers, with_fetch};
use raddle_mech::NoConfig;
use raddle_sim::config::{Choice, MachineConfig};
use raddle_sim::gpu::RunOptions;
use raddle_sim::result::{Ending, LaunchResult};
use raddle_sim::seam::{FetchScheduler, FetchView, MechanismInfo, Seam, WarpId};
use raddle_testkit::kernel_file::run_timed;
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

/// Two passes over a short loop and a long path behind it, by one warp: in the second pass, all that lies behind the
/// branch of the loop is in the instruction cache.
fn loop_before_long_path() -> String {
    let behind = "add.u32 %r2, %r2, 3;\n".repeat(200);
    format!(
        "// run: grid=1 block=32\n// arg: out u32[1] = zero\n.version 6.0\n.target sm_60\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<1>;\n\
         ld.param.u64 %rd0, [out];\nmov.u32 %r0, 0;\nmov.u32 %r2, 0;\nPASS:\nmov.u32 %r1, 0;\nLOOP:\n\
         add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 20;\n@%p0 bra LOOP;\n{behind}add.u32 %r0, %r0, 1;\n\
         setp.lt.u32 %p1, %r0, 2;\n@%p1 bra PASS;\nst.global.u32 [%rd0], %r2;\nret;\n}}\n"
    )
}

#[test]
fn a_fetch_for_a_path_that_the_warp_has_left_is_dropped() {
    let run = |ahead: bool, set: &[&str]| {
        let ahead = format!("sm.fetch.only_when_empty={}", !ahead);
        let set: Vec<_> = ["sm.fetch.ibuffer=4", &ahead].iter().chain(set).copied().collect();
        let config = timing::gtx480("gto", &set);
        let options = || RunOptions { max_cycles: Some(1_000_000), ..RunOptions::default() };
        let result = run_timed(&loop_before_long_path(), &config, options).unwrap().remove(0).result;
        assert!(matches!(result.ending, Ending::Completed), "{:?}", result.ending);
        result
    };
    for set in [&[][..], &["sm.fetch.refetch=true"], &["sm.fetch.width=1"], &["sm.l1i.latency=5"]] {
        let (ahead, empty) = (run(true, set), run(false, set));
        let (sm, set) = (ahead.total().sm, format!("{set:?}"));
        assert!(ahead.cycles <= empty.cycles, "{set}: {} cycles, {} otherwise", ahead.cycles, empty.cycles);
        // Of each taken branch, a full buffer and what is outstanding are lost.
        let most = sm.warp_insts + 40 * 5;
        assert!(sm.fetches <= most, "{set}: {} fetches for {} instructions", sm.fetches, sm.warp_insts);
    }
}
