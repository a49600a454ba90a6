//! Most waiting first, greedy inside a block.
//!
//! # What it models
//! As in `mwf-lrr`, the block with the most warps waiting at a barrier comes first; of several, the one with the
//! smallest number. Inside a block, the warp that issued last stays first as long as it can issue; then the oldest
//! does. Together with the fetch scheduler `cff` this is BAWS, barrier-aware warp scheduling.
//!
//! # Source
//! BAWS paper (ICS 2016), section 4.1: MWF(GTO).
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! As in `mwf-lrr`. For each block, the scheduler remembers which of its warps issued last, even while warps of other
//! blocks issue.
//!
//! # Counters
//! None of its own. `phase_wait` and `stall_barrier` show its effect.

use super::Inside;
use super::mwf_lrr::rank;
use super::waiting::{ByWaiting, REFUSES};
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "mwf-gto",
    summary: "most waiting first: the block with most warps at a barrier; inside it greedy then oldest",
    source: "BAWS paper (ICS 2016), section 4.1",
    counters: &[],
    refuses: REFUSES,
};

impl ByWaiting {
    /// Most waiting first; inside a block, greedy then oldest.
    #[must_use]
    pub fn mwf_gto(_: NoConfig, _: &MachineConfig) -> Self {
        Self::new(rank, Inside::Gto)
    }
}
