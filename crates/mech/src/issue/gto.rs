//! Greedy then oldest.
//!
//! # What it models
//! The warp issued last as long as it can issue, otherwise the one that came to the SM first. Age is the arrival of
//! the warp's block, the smaller warp first in a block.
//!
//! # Source
//! Rogers et al., MICRO 2012; BAWS paper, section 2.2.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! None known. Age is a number that grows with every warp, so two warps are never equally old.
//!
//! # Counters
//! None of its own; `issued_*` and `stall_*` show what a scheduler's slots were used for.

use super::{by_age, oldest_of};
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId, WarpSet};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "gto",
    summary: "greedy then oldest: the last warp while it can issue, else the one that came first",
    source: "Rogers et al., MICRO 2012",
    refuses: &[],
};

/// The scheduler.
pub struct Gto {
    last: Option<WarpId>,
}

impl Gto {
    /// Nothing issued yet.
    #[must_use]
    pub fn new(_: NoConfig, _: &MachineConfig) -> Self {
        Self { last: None }
    }
}

impl IssueScheduler for Gto {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        by_age(view, order);
        if let Some(at) = order.iter().position(|w| Some(*w) == self.last) {
            order[..=at].rotate_right(1);
        }
    }

    fn is_before(&self, view: &SchedulerView<'_>, a: WarpId, b: WarpId) -> bool {
        let rank = |w: WarpId| (Some(w) != self.last, view.age[w.index()]);
        rank(a) < rank(b)
    }

    fn pick(&mut self, view: &SchedulerView<'_>, eligible: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        self.last.filter(|w| eligible.contains(*w)).or_else(|| oldest_of(view, eligible))
    }

    fn issued(&mut self, _: &SchedulerView<'_>, warp: WarpId) {
        self.last = Some(warp);
    }
}
