//! The warp that is inside the most branches.
//!
//! # What it models
//! The warp that still has to pass the most reconvergence points issues; of several, the oldest. Threads that have
//! already reconverged thus wait for those that have not. Under dynamic warp formation they can then form full warps
//! together.
//!
//! # Source
//! Fung et al., MICRO 2007, the policy post-dominator priority.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! In the paper, a thread counts the branches at which it has diverged. Here the scheduler counts all branches around
//! the instruction, including those on which the threads agreed. It does not count branches around a call.
//!
//! # Counters
//! None of its own. `issued_*` and `stall_*` show how a scheduler's slots were used.

use super::Ranked;
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "pdom-priority",
    summary: "the warp inside the most branches at which threads can diverge, the oldest of several",
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
