//! All of `raddle` with an issue scheduler of your own: of the warps that can issue, the one that came last. It has a
//! counter of its own, which is in all outputs.
//!
//! `cargo run --release -p raddle-cli --example my_raddle -- compare bfs --issue gto,youngest`

use raddle_mech::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId};
use raddle_sim::stats::Counters;
use std::cmp::Reverse;
use std::process::ExitCode;

const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "youngest",
    summary: "youngest first: of the warps that can issue, the one that came last",
    source: "",
    counters: Counts::INFO,
    refuses: &[],
};

raddle_sim::counters! {
    /// What it counts.
    struct Counts { changes: Events, "times it issued from another warp than the time before"; }
}

#[derive(Default)]
struct Youngest {
    last: Option<WarpId>,
    counts: Counts,
}

// What a checkpoint has of it.
saved!(Youngest { values: last; parts: counts });

impl IssueScheduler for Youngest {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        order.extend(view.warps.iter());
        order.sort_by_key(|warp| Reverse(view.age[warp.index()]));
    }

    fn issued(&mut self, _: &SchedulerView<'_>, warp: WarpId) {
        self.counts.changes += u64::from(self.last.replace(warp).is_some_and(|last| last != warp));
    }

    fn counters(&self) -> Vec<u64> {
        self.counts.values()
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}

fn main() -> ExitCode {
    let mut registry = raddle_mech::registry();
    registry.set_origin("my_raddle 1");
    registry.issue(INFO, |_: NoConfig, _: &MachineConfig| Youngest::default());
    raddle_cli::main_with(registry)
}
