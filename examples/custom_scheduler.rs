//! A whole issue scheduler in a file of its own, outside the simulator: youngest first, compared with `gto`.
//!
//! `cargo run --release --example custom_scheduler`
#![allow(clippy::print_stdout, reason = "an example prints its result")]

use raddle_mech::NoConfig;
use raddle_sim::config::{Machine, MachineConfig, Source};
use raddle_sim::job::Job;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId, WarpSet};

const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "youngest",
    summary: "of the warps that can issue, the one that came last",
    source: "this example",
    counters: &[],
    refuses: &[],
};

/// Of the warps that can issue, the one that came to the SM last. It needs no memory of what it did.
struct Youngest;

impl Youngest {
    fn new(_: NoConfig, _: &MachineConfig) -> Self {
        Self
    }
}

impl IssueScheduler for Youngest {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        order.extend(view.warps.iter());
        order.sort_by_key(|warp| std::cmp::Reverse(view.age[warp.index()]));
    }

    fn pick(&mut self, view: &SchedulerView<'_>, eligible: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        eligible.iter().max_by_key(|warp| view.age[warp.index()])
    }
}

/// Every thread sums `n` words, one from each row of as many words as there are threads.
const PTX: &str = include_str!("column_sums.ptx");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (blocks, threads, rows) = (60, 256, 8);
    let columns = blocks * threads;
    let input: Vec<u32> = (0..rows * columns).map(|n| n % 1000).collect();

    let mut registry = raddle_mech::registry();
    registry.issue(INFO, Youngest::new);
    for scheduler in ["gto", "youngest"] {
        let changes = [format!("mechanism.issue={scheduler}")];
        let machine = Machine::load(Source::Preset("gtx480"), &changes).map_err(|problems| problems[0].to_string())?;
        let job = Job::new(PTX, "column_sums")?.buffer(&input)?.buffer(&vec![0; columns as usize])?;
        let mut job = job.scalar(columns)?.scalar(rows)?;
        let result = job.run(&registry, &machine.config, blocks, threads)?;
        let sum: u64 = job.words(1).iter().map(|w| u64::from(*w)).sum();
        println!("{scheduler:<9} {:>6} cycles, {:?}, sum of all results {sum}", result.cycles, result.ending);
    }
    Ok(())
}
