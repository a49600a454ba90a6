//! Most waiting first, with round robin inside a block.
//!
//! # What it models
//! The block with most warps waiting at a barrier comes first, so that the last warps are not kept from it; of several
//! such blocks the one with the smallest number in the grid. Inside a block warps take turns, from the one after the last
//! that issued there. The counts are those of the SM: a warp priority table with a counter for each block, which all
//! schedulers of the SM share. Without barriers this is the oldest block first.
//!
//! # Source
//! BAWS paper (ICS 2016), section 4.1: MWF(LRR).
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! The paper compares identifiers of blocks without saying which. Ours are numbers in the grid and not slots of the SM, so
//! that a block that takes the slot of one that ended comes last, as the youngest. A warp counts when all its lanes wait,
//! and the last one to arrive counts until its barrier lets go, in the same cycle.
//!
//! # Counters
//! None of its own; `phase_wait` and `stall_barrier` show what it is for.

use super::by_rank;
use super::inside::{Inside, LastIssued};
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, Refusal, SchedulerView, Seam, WarpId, WarpSet};
use std::cmp::Reverse;

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "mwf-lrr",
    summary: "most waiting first: the block with most warps at a barrier, its warps in turn",
    source: "BAWS paper (ICS 2016), section 4.1",
    refuses: REFUSES,
};

const REASON: &str = "its warps hold threads of several blocks, so waiting warps cannot be counted by block";

/// What schedulers that know how many warps of a block wait do not work with.
pub(super) const REFUSES: &[Refusal] = &[
    Refusal { seam: Seam::Divergence, name: "dwf", reason: REASON },
    Refusal { seam: Seam::Divergence, name: "dwf-wb", reason: REASON },
];

/// The scheduler, with either order inside a block.
pub struct MostWaitingFirst {
    inside: Inside,
    last: LastIssued,
}

impl MostWaitingFirst {
    /// Nothing issued yet; warps of a block take turns.
    #[must_use]
    pub fn new(_: NoConfig, _: &MachineConfig) -> Self {
        Self { inside: Inside::Lrr, last: LastIssued::default() }
    }

    /// Nothing issued yet; a warp goes on as long as it can.
    #[must_use]
    pub fn greedy(_: NoConfig, _: &MachineConfig) -> Self {
        Self { inside: Inside::Gto, last: LastIssued::default() }
    }

    /// The place of a warp in the order of all.
    fn rank(&self, view: &SchedulerView<'_>, warp: WarpId) -> (Reverse<u32>, u64, u64) {
        let block = view.block(warp);
        let place = self.inside.place(view, self.last.in_block_of(view, warp), warp);
        (Reverse(block.waiting), block.cta, place)
    }
}

impl IssueScheduler for MostWaitingFirst {
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
