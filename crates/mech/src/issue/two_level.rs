//! Two levels: a small set of active warps served round robin.
//!
//! # What it models
//! The scheduler considers only the warps of the active set, in turn. A warp leaves the set when it waits for a result
//! from memory, at a barrier or at a fence. Pending warps that wait for none of these take the free places, in the
//! order in which they left the set.
//!
//! # Source
//! Gebhart et al., ISCA 2011; used as TLS by BAWS and as the base of Origami.
//!
//! # Parameters
//! The size of the active set.
//!
//! # Simplifications
//! Our reading of the paper: leaving and entering take no time, and a warp leaves when its next instruction needs the
//! result, not when the load issues. The set is updated only in cycles in which some warp can issue. The BAWS paper
//! does not say how large its set is.
//!
//! # Counters
//! Its own counters say how often warps enter and leave the active set. `issued_*` and `stall_*` show how a scheduler's
//! slots were used.

use super::active_set::{ActiveConfig, ActiveCounters, ActiveSet};
use raddle_sim::config::MachineConfig;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId, WarpSet};
use raddle_sim::stats::Counters;

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "two-level",
    summary: "two levels: a small active set served round robin; warps that wait for memory leave it",
    source: "Gebhart et al., ISCA 2011",
    counters: ActiveCounters::INFO,
    refuses: &[],
};

/// The scheduler.
pub struct TwoLevel {
    set: ActiveSet,
}

saved!(TwoLevel { parts: set });

impl TwoLevel {
    /// Nothing active.
    #[must_use]
    pub fn new(config: ActiveConfig, _: &MachineConfig) -> Self {
        Self { set: ActiveSet::new(config.active) }
    }
}

impl IssueScheduler for TwoLevel {
    fn priority_order(&self, _: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        order.extend(self.set.active.iter().chain(&self.set.pending));
    }

    fn pick(&mut self, view: &SchedulerView<'_>, eligible: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        self.set.settle(view);
        self.set.active.iter().copied().find(|w| eligible.contains(*w))
    }

    fn issued(&mut self, _: &SchedulerView<'_>, warp: WarpId) {
        self.set.issued(warp);
    }

    fn warp_changed(&mut self, warp: WarpId, present: bool) {
        self.set.changed(warp, present);
    }

    fn counters(&self) -> Vec<u64> {
        self.set.counters.values()
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
