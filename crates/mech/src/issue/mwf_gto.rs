//! Most waiting first, greedy inside a block.
//!
//! # What it models
//! As `mwf-lrr`, the block with most warps waiting at a barrier comes first, of several the one with the smallest number.
//! Inside a block the warp that issued last goes on as long as it can, then the oldest does. Together with the fetch
//! scheduler `cff` this is BAWS, barrier-aware warp scheduling.
//!
//! # Source
//! BAWS paper (ICS 2016), section 4.1: MWF(GTO).
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! As in `mwf-lrr`. Which warp of a block issued last is remembered for each block, also while warps of others issue.
//!
//! # Counters
//! None of its own; `phase_wait` and `stall_barrier` show what it is for.

use super::Inside;
use super::mwf_lrr::rank;
use super::waiting::{ByWaiting, REFUSES};
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "mwf-gto",
    summary: "most waiting first: the block with most warps at a barrier, greedy then oldest inside it",
    source: "BAWS paper (ICS 2016), section 4.1",
    counters: &[],
    refuses: REFUSES,
};

impl ByWaiting {
    /// Most waiting first; a warp of a block goes on as long as it can.
    #[must_use]
    pub fn mwf_gto(_: NoConfig, _: &MachineConfig) -> Self {
        Self::new(rank, Inside::Gto)
    }
}
