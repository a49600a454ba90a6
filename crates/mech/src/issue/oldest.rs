//! Oldest first.
//!
//! # What it models
//! Of the warps that can issue, the one that came to the SM first issues.
//!
//! # Source
//! Greedy then oldest without the greedy part.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! None known.
//!
//! # Counters
//! None of its own. `issued_*` and `stall_*` show how a scheduler's slots were used.

use super::arrival::Arrivals;
use super::by_age;
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId, WarpSet};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "oldest",
    summary: "oldest first: of the warps that can issue, the one that came to the SM first",
    source: "common baseline",
    counters: &[],
    refuses: &[],
};

/// The scheduler.
pub struct Oldest {
    arrivals: Arrivals,
}

saved!(Oldest { parts: arrivals });

impl Oldest {
    /// Nobody has come yet.
    #[must_use]
    pub fn new(_: NoConfig, _: &MachineConfig) -> Self {
        Self { arrivals: Arrivals::new() }
    }
}

impl IssueScheduler for Oldest {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        by_age(view, order);
    }

    fn is_before(&self, view: &SchedulerView<'_>, a: WarpId, b: WarpId) -> bool {
        view.age[a.index()] < view.age[b.index()]
    }

    fn first_of(&self, view: &SchedulerView<'_>, among: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        self.arrivals.first(view, among)
    }

    fn warp_changed(&mut self, warp: WarpId, present: bool) {
        self.arrivals.changed(warp, present);
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
