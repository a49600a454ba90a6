//! Progress-aware, for virtual blocks.
//!
//! # What it models
//! Algorithm 1 of the VTW paper. Progress is the number of instructions that a warp or a block has issued. [The page
//! about virtual blocks](../guide/virtual-blocks.md) says what an iteration is. Kernels that are not virtualised only
//! have blocks of classes 1 and 3. After the last logical block has been assigned, blocks and warps with the least
//! progress come first. Until then, warps form four classes, in this order:
//!
//! 1. warps of blocks with warps that wait at a barrier: the block with the most waiting warps first, then the one with
//!    the most progress; inside a block, the warp with the least progress first;
//! 2. warps in the lower iteration, of blocks whose warps are in different iterations: the block with the fewest such
//!    warps first; inside a block, the warp with the least progress first;
//! 3. warps of blocks that are all in one iteration: blocks and warps with the most progress first;
//! 4. warps in the higher iteration, of blocks whose warps are in different iterations: the block with the most such
//!    warps first.
//!
//! # Source
//! VTW paper (CGO 2017), section 4.3.2.
//!
//! # Parameters
//! Since when the instructions of a warp count, and how often the order is recomputed.
//!
//! # Simplifications
//! The paper does not say how often the order is recomputed; the default is every cycle. It does not say either how
//! warps of class 4 are ordered inside a block; here the warp with the most progress comes first. The scheduler learns
//! one window later that the last logical block has been assigned. Ties are broken by the number of the block, then by
//! age.
//!
//! # Counters
//! None of its own. `stall_sibling` counts slots that stayed empty because warps waited for their next logical block.

use super::ByProgress;
use super::progress::Since;
use super::waiting::REFUSES;
use raddle_sim::config::MachineConfig;
use raddle_sim::packet::Cycle;
use raddle_sim::seam::{MechanismInfo, Seam};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "vtw",
    summary: "progress-aware, for virtual blocks: first warps that others wait for, last warps that are ahead",
    source: "VTW paper (CGO 2017), section 4.3.2",
    counters: &[],
    refuses: REFUSES,
};

/// Parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Since when instructions count: the start of the logical block (`iteration`) or of the virtual block (`start`).
    pub since: Since,
    /// Cycles after which the order is recomputed; 1 means every cycle.
    pub every: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { since: Since::Iteration, every: 1 }
    }
}

impl ByProgress {
    /// By barriers and iterations.
    #[must_use]
    pub fn vtw(config: Config, _: &MachineConfig) -> Self {
        Self::new(true, config.since, Cycle::from(config.every))
    }
}
