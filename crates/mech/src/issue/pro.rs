//! Progress-aware.
//!
//! # What it models
//! While blocks are left to be given out: first blocks with warps that wait at a barrier, the one with most of them first,
//! then the one that has issued most; of their warps the one that has issued least. Then blocks with warps that have ended,
//! the one with fewest left first; of their warps the one that has issued least. Then all others, blocks and warps that
//! have issued most first. When the last block has been given out, blocks and warps that have issued least come first.
//!
//! # Source
//! Anantpur and Govindarajan, IPDPS 2015, as far as the VTW paper (CGO 2017), section 4.3.2, which builds on it, tells.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! The order is made anew in every cycle. That the last block has been given out is known from the next window on. What is
//! alike goes by the number of the block, then by age.
//!
//! # Counters
//! None of its own; `exit_wait`, `phase_wait` and `stall_*` show what it is for.

use super::ByProgress;
use super::progress::Since;
use super::waiting::REFUSES;
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "pro",
    summary: "progress-aware: blocks at barriers, then blocks that end, then those that have done most",
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
