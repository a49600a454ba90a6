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

use super::Inside;
use super::waiting::{ByWaiting, REFUSES};
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{BlockState, MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "mwf-lrr",
    summary: "most waiting first: the block with most warps at a barrier, its warps in turn",
    source: "BAWS paper (ICS 2016), section 4.1",
    counters: &[],
    refuses: REFUSES,
};

/// Most waiting warps first.
pub(super) fn rank(block: BlockState) -> u64 {
    u64::from(u32::MAX - block.waiting)
}

impl ByWaiting {
    /// Most waiting first; warps of a block take turns.
    #[must_use]
    pub fn mwf_lrr(_: NoConfig, _: &MachineConfig) -> Self {
        Self::new(rank, Inside::Lrr)
    }
}
