//! All of `raddle` with an issue scheduler of your own: of the warps that can issue, the one that came last.
//!
//! `cargo run --release -p raddle-cli --example my_raddle -- compare bfs --issue gto,youngest`

use raddle_mech::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId};
use std::cmp::Reverse;
use std::process::ExitCode;

const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "youngest",
    summary: "youngest first: of the warps that can issue, the one that came last",
    source: "",
    refuses: &[],
};

struct Youngest;

impl IssueScheduler for Youngest {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        order.extend(view.warps.iter());
        order.sort_by_key(|warp| Reverse(view.age[warp.index()]));
    }
}

fn main() -> ExitCode {
    let mut registry = raddle_mech::registry();
    registry.set_origin("my_raddle 1");
    registry.issue(INFO, |_: NoConfig, _: &MachineConfig| Youngest);
    raddle_cli::main_with(registry)
}
