//! Synchronisation-aware: the block whose first warp reached a barrier first.
//!
//! # What it models
//! Of the blocks with warps waiting at a barrier, the one whose first warp arrived earliest comes first. Blocks without
//! waiting warps follow, the one with the smallest number in the grid first. Inside a block, the order is greedy then
//! oldest, or warps take turns.
//!
//! # Source
//! Liu et al., MICRO 2015, as section 6.6 of the BAWS paper (ICS 2016) describes it.
//!
//! # Parameters
//! The order of warps inside a block.
//!
//! # Simplifications
//! Only the priority of blocks is modelled, because that is what the BAWS paper compares with. The schedulers of an SM
//! are coordinated only in that all see the same blocks. Of two blocks with the same arrival cycle, the one with the
//! smaller number comes first.
//!
//! # Counters
//! None of its own. `phase_wait` and `stall_barrier` show its effect.

use super::Inside;
use super::waiting::{ByWaiting, REFUSES};
use raddle_sim::config::MachineConfig;
use raddle_sim::packet::Cycle;
use raddle_sim::seam::{BlockState, MechanismInfo, Seam};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "saws",
    summary: "synchronisation-aware: the block whose first warp reached a barrier first",
    source: "Liu et al., MICRO 2015; BAWS paper (ICS 2016), section 6.6",
    counters: &[],
    refuses: REFUSES,
};

/// Parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Which warp of a block comes first: `lrr` (in turn) or `gto` (the last one, then the oldest).
    pub inside: Inside,
}

impl Default for Config {
    fn default() -> Self {
        Self { inside: Inside::Gto }
    }
}

/// The earliest first arrival first.
fn rank(block: BlockState) -> Cycle {
    if block.waiting == 0 { Cycle::MAX } else { block.since }
}

impl ByWaiting {
    /// The first block at a barrier first.
    #[must_use]
    pub fn saws(config: Config, _: &MachineConfig) -> Self {
        Self::new(rank, config.inside)
    }
}
