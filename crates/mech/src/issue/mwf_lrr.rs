//! Most waiting first, with round robin inside a block.
//!
//! # What it models
//! The block with the most warps waiting at a barrier comes first, so that nothing delays the block's last warps on
//! their path to the barrier. Of several such blocks, the one with the smallest number in the grid comes first. Inside
//! a block, warps take turns, starting after the last one that issued. The SM counts the waiting warps of each block in
//! a warp priority table, which all its schedulers share. Without barriers, the oldest block comes first.
//!
//! # Source
//! BAWS paper (ICS 2016), section 4.1: MWF(LRR).
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! The paper compares block identifiers without saying which. Here they are numbers in the grid, not slots of the SM.
//! So a block that takes the slot of an ended block comes last, as the youngest. A warp counts as waiting when all its
//! lanes wait. The last warp to arrive counts until its barrier releases the warps, in the same cycle.
//!
//! # Counters
//! None of its own. `phase_wait` and `stall_barrier` show its effect.

use super::Inside;
use super::waiting::{ByWaiting, REFUSES};
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{BlockState, MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "mwf-lrr",
    summary: "most waiting first: the block with most warps at a barrier; inside it warps take turns",
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
