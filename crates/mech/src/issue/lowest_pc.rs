//! The warp that is least far in the program.
//!
//! # What it models
//! The warp with the lowest program counter, the oldest of several. Threads that have fallen behind catch up, so that
//! they can form full warps with the others under dynamic warp formation.
//!
//! # Source
//! Fung et al., MICRO 2007, the policy PC.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! None known.
//!
//! # Counters
//! None of its own; `issued_*` and `stall_*` show what a scheduler's slots were used for.

use super::by_rank;
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId, WarpSet};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "lowest-pc",
    summary: "the warp with the lowest program counter, the oldest of several",
    source: "Fung et al., MICRO 2007",
    refuses: &[],
};

/// The scheduler.
pub struct LowestPc;

impl LowestPc {
    /// It remembers nothing.
    #[must_use]
    pub fn new(_: NoConfig, _: &MachineConfig) -> Self {
        Self
    }
}

fn rank(view: &SchedulerView<'_>, warp: WarpId) -> (u32, u64) {
    (view.table.get(warp).pc, view.age[warp.index()])
}

impl IssueScheduler for LowestPc {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        by_rank(view, order, |w| rank(view, w));
    }

    fn is_before(&self, view: &SchedulerView<'_>, a: WarpId, b: WarpId) -> bool {
        rank(view, a) < rank(view, b)
    }

    fn first_of(&self, view: &SchedulerView<'_>, among: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        among.iter().min_by_key(|w| rank(view, *w))
    }
}
