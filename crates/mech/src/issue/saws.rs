//! Synchronisation-aware: the block that came to a barrier first.
//!
//! # What it models
//! Of the blocks with warps waiting at a barrier, the one whose first warp came there first; then blocks without, the one
//! with the smallest number in the grid first. Inside a block greedy then oldest, or in turn.
//!
//! # Source
//! Liu et al., MICRO 2015, as section 6.6 of the BAWS paper (ICS 2016) describes it.
//!
//! # Parameters
//! The order of warps inside a block.
//!
//! # Simplifications
//! Only the priority of blocks is modelled, which is what the BAWS paper compares with. What keeps the schedulers of an SM
//! together is that all see the same blocks. Two blocks that came in the same cycle go by number.
//!
//! # Counters
//! None of its own; `phase_wait` and `stall_barrier` show what it is for.

use super::by_rank;
use super::inside::{Inside, LastIssued};
use super::mwf_lrr::REFUSES;
use raddle_sim::config::MachineConfig;
use raddle_sim::packet::Cycle;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId, WarpSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "saws",
    summary: "synchronisation-aware: the block that came to a barrier first",
    source: "Liu et al., MICRO 2015; BAWS paper (ICS 2016), section 6.6",
    refuses: REFUSES,
};

/// Parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Which warp of a block comes first: `lrr` (in turn) or `gto` (the last one, then the oldest).
    pub inside: Inside,
}

impl Default for Config {
    fn default() -> Self {
        Self { inside: Inside::Gto }
    }
}

/// The scheduler.
pub struct Saws {
    inside: Inside,
    last: LastIssued,
}

impl Saws {
    /// Nothing issued yet.
    #[must_use]
    pub fn new(config: Config, _: &MachineConfig) -> Self {
        Self { inside: config.inside, last: LastIssued::default() }
    }

    /// The place of a warp in the order of all.
    fn rank(&self, view: &SchedulerView<'_>, warp: WarpId) -> (Cycle, u64, u64) {
        let block = view.block(warp);
        let since = if block.waiting == 0 { Cycle::MAX } else { block.since };
        (since, block.cta, self.inside.place(view, self.last.in_block_of(view, warp), warp))
    }
}

impl IssueScheduler for Saws {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        by_rank(view, order, |w| self.rank(view, w));
    }

    fn is_before(&self, view: &SchedulerView<'_>, a: WarpId, b: WarpId) -> bool {
        self.rank(view, a) < self.rank(view, b)
    }

    fn first_of(&self, view: &SchedulerView<'_>, among: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        among.iter().min_by_key(|w| self.rank(view, *w))
    }

    fn issued(&mut self, view: &SchedulerView<'_>, warp: WarpId) {
        self.last.set(view, warp);
    }

    fn warp_changed(&mut self, warp: WarpId, _: bool) {
        self.last.forget(warp);
    }
}
