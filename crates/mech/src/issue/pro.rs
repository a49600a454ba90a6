//! Progress-aware.
//!
//! # What it models
//! Progress is the number of instructions that a warp or a block has issued. After the last block has been dispatched,
//! blocks and warps with the least progress come first. Until then, the order is:
//!
//! 1. blocks with warps that wait at a barrier: the block with the most waiting warps first, then the one with the most
//!    progress; inside a block, the warp with the least progress first;
//! 2. blocks with warps that have ended: the block with the fewest warps left first; inside a block, the warp with the
//!    least progress first;
//! 3. all other blocks: blocks and warps with the most progress first.
//!
//! # Source
//! Anantpur and Govindarajan, IPDPS 2015, as described in the VTW paper (CGO 2017), section 4.3.2, which builds on it.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! The order is recomputed in every cycle. The scheduler learns one window later that the last block has been
//! dispatched. Ties are broken by the number of the block, then by age.
//!
//! # Counters
//! None of its own. `exit_wait`, `phase_wait` and `stall_*` show its effect.

use super::ByProgress;
use super::progress::Since;
use super::waiting::REFUSES;
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "pro",
    summary: "progress-aware: blocks at barriers, then blocks about to end, then blocks with most progress",
    source: "Anantpur and Govindarajan, IPDPS 2015; VTW paper (CGO 2017), section 4.3.2",
    counters: &[],
    refuses: REFUSES,
};

impl ByProgress {
    /// By barriers and ends of blocks.
    #[must_use]
    pub fn pro(_: NoConfig, _: &MachineConfig) -> Self {
        Self::new(false, Since::Start, 1)
    }
}
