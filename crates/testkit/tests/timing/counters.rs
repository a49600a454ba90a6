//! Every counter that is declared moves in some run.

use super::common::{gating_schemes, is_too_new, kernel_files, presets, with_gating};
use raddle_mech::NoConfig;
use raddle_sim::config::{Choice, MachineConfig};
use raddle_sim::gpu::{Gpu, RunOptions};
use raddle_sim::kernel::{TimedOp, UnitKind};
use raddle_sim::mem::crossbar::CrossbarCounters;
use raddle_sim::mem::dram::DramCounters;
use raddle_sim::mem::l2::L2Counters;
use raddle_sim::packet::Cycle;
use raddle_sim::result::LaunchResult;
use raddle_sim::seam::{
    Assignment, Cause, Counted, DispatchView, Dispatcher, Gating, IssueScheduler, MechanismInfo, Registry,
    SchedulerView, Seam, WarpId,
};
use raddle_sim::sm::counters::SmCounters;
use raddle_sim::sm::lanes::LaneCounters;
use raddle_sim::sm::memory::cache::CacheCounters;
use raddle_sim::stats::{CounterInfo, Counters, Unit};
use raddle_testkit::kernel_file::run_timed;
use raddle_testkit::{reference, timing};

#[derive(Default)]
struct Sum {
    sm: SmCounters,
    int: LaneCounters,
    fp: LaneCounters,
    cache: CacheCounters,
    l2: L2Counters,
    dram: DramCounters,
    network: CrossbarCounters,
}

impl Sum {
    fn add(&mut self, result: &LaunchResult) {
        let total = result.total();
        self.sm.add(&total.sm);
        self.int.add(&total.int);
        self.fp.add(&total.fp);
        [&total.l1i, &total.l1d, &total.l1c, &total.l1t].into_iter().for_each(|c| self.cache.add(c));
        self.l2.add(&result.l2_total());
        self.dram.add(&result.dram_total());
        self.network.add(&result.up);
        self.network.add(&result.down);
    }
}

fn still<C: Counters>(group: &str, counters: &C) -> Vec<String> {
    let values = C::INFO.iter().zip(counters.values());
    values.filter(|(_, value)| *value == 0).map(|(info, _)| format!("{group}.{}", info.name)).collect()
}

/// Refuses instructions of the SPs in every other cycle.
struct Grudging;

impl Gating for Grudging {
    fn may_issue(&self, now: Cycle, op: &TimedOp, _: u32) -> Result<(), Cause> {
        if op.unit == UnitKind::Sp && now.is_multiple_of(2) { Err(Cause::Mechanism) } else { Ok(()) }
    }
}

const GRUDGING: MechanismInfo = MechanismInfo {
    seam: Seam::Gating,
    name: "grudging",
    summary: "refuses instructions in every other cycle",
    source: "this test",
    counters: &[],
    refuses: &[],
};

fn with_veto(mut config: MachineConfig) -> LaunchResult {
    config.mechanism.gating = Choice::Name("grudging".to_owned());
    let mut registry = raddle_mech::registry();
    registry.gating(GRUDGING, |_: NoConfig, _| Grudging);
    let mechanisms = registry.check(&config).unwrap_or_else(|e| panic!("{e:?}"));
    let mut case = reference::vecadd(500).prepare();
    let (program, launch) = (case.program(), case.launch.clone());
    let mut gpu = Gpu::new(&config).unwrap();
    gpu.launch(&mechanisms, &program, &launch, &mut case.memory, RunOptions::default()).unwrap()
}

#[test]
fn every_counter_moves() {
    let mut sum = Sum::default();
    for (name, config) in presets() {
        for kernel in reference::KERNELS {
            sum.add(&timing::run(&reference::small(kernel), &config, RunOptions::default()));
        }
        if name == "gtx480" {
            sum.add(&with_veto(config.clone()));
            for scheme in gating_schemes() {
                let config = with_gating(&config, scheme);
                for kernel in ["matmul", "diverge"] {
                    sum.add(&timing::run(&reference::small(kernel), &config, RunOptions::default()));
                }
            }
        }
        let files = ["ptx/memory", "ptx/texture", "ptx/f64", "litmus"].into_iter().flat_map(kernel_files);
        for (file, source) in files {
            match run_timed(&source, &config, RunOptions::default) {
                Ok(runs) => runs.iter().for_each(|run| sum.add(&run.result)),
                Err(e) => assert!(is_too_new(&file, &e), "{file} on {name}: {e}"),
            }
        }
    }
    // Local memory that does not fit the L1: lines are written back.
    let small = timing::machine(
        "gtx480",
        &["sm.l1d.sets=1", "sm.l1d.index=linear", "sm.l1d.ways=1", "l2.sets=2", "sm.ejection_buffer=1"],
    );
    for (file, source) in kernel_files("ptx/memory").into_iter().filter(|f| f.0.starts_with("local")) {
        let runs = run_timed(&source, &small, RunOptions::default).unwrap_or_else(|e| panic!("{file}: {e}"));
        runs.iter().for_each(|run| sum.add(&run.result));
    }
    // Gangs that diverge and reconverge, and what slices have of their own.
    for (what, config) in super::slices::configurations() {
        if ["E-VWS", "two ports, L0"].contains(&what) {
            sum.add(&timing::run(&reference::small("diverge"), &config, RunOptions::default()));
        }
    }
    sum.add(&super::virtual_blocks::waiting());
    let sfu = timing::micros().into_iter().find(|p| p.case.name == "sfu_chain_32w").expect("a micro run");
    sum.add(&timing::run_point(&sfu, &[""; 0]));
    sum.add(&timing::run(&reference::small("stencil"), &small, RunOptions::default()));
    let mut dead = still("sm", &sum.sm);
    dead.extend(still("int", &sum.int));
    dead.extend(still("fp", &sum.fp));
    dead.extend(still("l1", &sum.cache));
    dead.extend(still("l2", &sum.l2));
    dead.extend(still("dram", &sum.dram));
    dead.extend(still("network", &sum.network));
    assert!(dead.is_empty(), "these counters never moved: {dead:?}");
}

/// What mechanisms counted of their own, by name.
fn own(result: &LaunchResult) -> Vec<(String, u64)> {
    result.own_total().iter().map(|counted| (counted.name(), counted.value)).collect()
}

#[test]
fn every_counter_of_a_mechanism_moves_whether_or_not_cycles_are_skipped() {
    let registry = raddle_mech::registry();
    let mut known = 0;
    for info in registry.iter().map(|m| m.info).filter(|info| !info.counters.is_empty()) {
        let config = timing::machine("gtx480", &[format!("mechanism.{}={}", info.seam.key(), info.name)]);
        let case = reference::small("diverge");
        let result = timing::run(&case, &config, RunOptions::default());
        let values = own(&result);
        let names: Vec<String> = info.counter_names().map(|(name, _)| name).collect();
        assert_eq!(values.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(), names);
        // Nobody is let go where no loop waits: `its.rs` has one that does.
        let moves = |(name, value): &(String, u64)| *value > 0 || name == "divergence.its.let_go";
        assert!(values.iter().all(moves), "these do not move: {values:?}");
        let slow = timing::run(&case, &config, RunOptions { never_skip: true, ..RunOptions::default() });
        assert_eq!((own(&slow), slow.total()), (values, result.total()), "{}", info.name);
        known += 1;
    }
    assert!(known >= 7, "{known} mechanisms have counters");
    assert_eq!(
        own(&timing::run(&reference::small("diverge"), &timing::machine("gtx480", &[""; 0]), RunOptions::default())),
        []
    );
}

#[test]
fn what_is_regrouped_adds_up() {
    let of = |model: &str| {
        let config = timing::machine("gtx480", &[format!("mechanism.divergence={model}")]);
        timing::run(&reference::small("diverge"), &config, RunOptions::default())
    };
    let values = |result: &LaunchResult| result.own_total().iter().map(|counted| counted.value).collect::<Vec<_>>();
    let result = of("dwf");
    let [formed, joined] = values(&result)[..] else { panic!("two counters") };
    let total = result.total().sm;
    assert_eq!(formed, total.warp_insts, "every warp of the pool is of one instruction");
    assert!(joined < total.thread_insts);
    let [made, mixed] = values(&of("tbc"))[..] else { panic!("two counters") };
    assert!(mixed <= made, "{mixed} of {made}");
}

/// Gives blocks to SMs with room, and counts.
struct CountingDispatcher {
    given: u64,
    most: u64,
}

impl Dispatcher for CountingDispatcher {
    fn dispatch(&mut self, view: &DispatchView<'_>, out: &mut Vec<Assignment>) {
        let free = (0..).zip(view.room).filter(|(_, room)| **room > 0);
        let blocks = free.zip(view.next..view.total);
        out.extend(blocks.map(|((sm, _), cta)| Assignment { sm, cta }));
        self.given += out.len() as u64;
        self.most = self.most.max(out.len() as u64);
    }

    fn counters(&self) -> Vec<u64> {
        vec![self.given, self.most]
    }
}

/// The first warp, with one counter for each scheduler.
#[derive(Default)]
struct CountingScheduler {
    issued: u64,
}

impl IssueScheduler for CountingScheduler {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        order.extend(view.warps.iter());
    }

    fn issued(&mut self, _: &SchedulerView<'_>, _: WarpId) {
        self.issued += 1;
    }

    fn counters(&self) -> Vec<u64> {
        vec![self.issued]
    }
}

#[test]
fn counters_of_mechanisms_are_of_one_launch_and_of_all_their_objects() {
    const fn info(seam: Seam, counters: &'static [CounterInfo]) -> MechanismInfo {
        MechanismInfo { seam, name: "counting", summary: "", source: "", counters, refuses: &[] }
    }
    let mut registry: Registry = raddle_mech::registry();
    let given = &[
        CounterInfo { name: "given", unit: Unit::Events, doc: "blocks given out" },
        CounterInfo { name: "most", unit: Unit::MostEntries, doc: "blocks given out in a cycle" },
    ];
    let issued = &[CounterInfo { name: "issued", unit: Unit::WarpInsts, doc: "instructions issued" }];
    registry.dispatch(info(Seam::Dispatch, given), |_: NoConfig, _| CountingDispatcher { given: 0, most: 0 });
    registry.issue(info(Seam::Issue, issued), |_: NoConfig, _| CountingScheduler::default());
    let config = timing::machine("gtx480", &["mechanism.dispatch=counting", "mechanism.issue=counting"]);
    let mechanisms = registry.check(&config).unwrap_or_else(|e| panic!("{e:?}"));
    let mut case = reference::vecadd(3000).prepare();
    let (program, launch) = (case.program(), case.launch.clone());
    let mut gpu = Gpu::new(&config).unwrap();
    for _ in 0..2 {
        let result = gpu.launch(&mechanisms, &program, &launch, &mut case.memory, RunOptions::default()).unwrap();
        let (insts, all) = (result.total().sm.warp_insts, own(&result));
        assert_eq!(all[0], ("issue.counting.issued".to_owned(), insts));
        assert_eq!(all[1], ("dispatch.counting.given".to_owned(), result.ctas));
        assert!(all[2].1 > 1 && all[2].1 <= result.ctas, "{all:?}");
        let mut sum = Vec::new();
        result.sms.iter().for_each(|sm| Counted::add(&mut sum, &sm.own));
        assert_eq!(sum, result.total().own);
    }
}
