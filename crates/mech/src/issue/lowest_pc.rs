//! The warp that is least far in the program.
//!
//! # What it models
//! The warp with the lowest program counter issues; of several, the oldest. Threads that have fallen behind catch up.
//! Under dynamic warp formation they can then form full warps with the others.
//!
//! # Source
//! Fung et al., MICRO 2007, the policy PC.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! None known.
//!
//! # Counters
//! None of its own. `issued_*` and `stall_*` show how a scheduler's slots were used.

use super::Ranked;
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "lowest-pc",
    summary: "the warp with the lowest program counter, the oldest of several",
    source: "Fung et al., MICRO 2007",
    counters: &[],
    refuses: &[],
};

impl Ranked {
    /// The lowest program counter.
    #[must_use]
    pub fn by_pc(_: NoConfig, _: &MachineConfig) -> Self {
        Self { rank: |view, warp| view.table.get(warp).pc }
    }
}
