//! Every counter that is declared moves in some run.

use super::common::{gating_schemes, kernel_files, presets, with_gating};
use raddle_mech::NoConfig;
use raddle_sim::config::{Choice, MachineConfig};
use raddle_sim::gpu::{Gpu, RunOptions};
use raddle_sim::kernel::{TimedOp, UnitKind};
use raddle_sim::mem::crossbar::CrossbarCounters;
use raddle_sim::mem::dram::DramCounters;
use raddle_sim::mem::l2::L2Counters;
use raddle_sim::packet::Cycle;
use raddle_sim::result::LaunchResult;
use raddle_sim::seam::{Cause, Gating, MechanismInfo, Seam};
use raddle_sim::sm::counters::SmCounters;
use raddle_sim::sm::lanes::LaneCounters;
use raddle_sim::sm::memory::cache::CacheCounters;
use raddle_sim::stats::Counters;
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

/// Refuses every other instruction of the SPs once.
struct Grudging {
    asked: u64,
}

impl Gating for Grudging {
    fn may_issue(&mut self, _: Cycle, op: &TimedOp, _: u32) -> Result<(), Cause> {
        self.asked += 1;
        if op.unit == UnitKind::Sp && self.asked.is_multiple_of(2) { Err(Cause::Mechanism) } else { Ok(()) }
    }
}

const GRUDGING: MechanismInfo = MechanismInfo {
    seam: Seam::Gating,
    name: "grudging",
    summary: "refuses every other instruction",
    source: "this test",
    refuses: &[],
};

fn with_veto(mut config: MachineConfig) -> LaunchResult {
    config.mechanism.gating = Choice::Name("grudging".to_owned());
    let mut registry = raddle_mech::registry();
    registry.gating(GRUDGING, |_: NoConfig, _| Grudging { asked: 0 });
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
            let runs = run_timed(&source, &config, RunOptions::default).unwrap_or_else(|e| panic!("{file}: {e}"));
            runs.iter().for_each(|run| sum.add(&run.result));
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
    // Gangs that part and meet again, and what slices have of their own.
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
