//! The warp that is inside the most branches.
//!
//! # What it models
//! The warp whose threads have to pass the most points at which those that parted meet again, the oldest of several.
//! Threads that have met wait, as it were, for those that have not, so that they can form full warps with them under
//! dynamic warp formation.
//!
//! # Source
//! Fung et al., MICRO 2007, the policy post-dominator priority.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! In the paper a thread counts the branches it has parted at. Here the branches around the instruction count, also
//! those on which its threads agreed; branches around a call do not.
//!
//! # Counters
//! None of its own; `issued_*` and `stall_*` show what a scheduler's slots were used for.

use super::Ranked;
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "pdom-priority",
    summary: "the warp inside the most branches that threads can part at, the oldest of several",
    source: "Fung et al., MICRO 2007",
    counters: &[],
    refuses: &[],
};

impl Ranked {
    /// The most branches around it.
    #[must_use]
    pub fn by_nesting(_: NoConfig, _: &MachineConfig) -> Self {
        Self { rank: |view, warp| u32::from(u16::MAX - view.op(warp).map_or(0, |op| op.nesting)) }
    }
}
