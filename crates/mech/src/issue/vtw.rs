//! Progress-aware, for virtual blocks.
//!
//! # What it models
//! Algorithm 1 of the VTW paper. While logical blocks are left to be given out, warps come in four classes:
//!
//! 1. of blocks with warps that wait at a barrier: the block with most of them first, then the one that has issued most; of
//!    its warps the one that has issued least;
//! 2. of blocks whose warps are in different iterations, those in the lower one: the block with fewest such first; of its
//!    warps the one that has issued least;
//! 3. of blocks whose warps are all in one iteration: blocks and warps that have issued most first;
//! 4. of blocks whose warps are in different iterations, those in the higher one: the block with most such first.
//!
//! When the last logical block has been given out, blocks and warps that have issued least come first. Kernels that are not
//! virtualised have blocks of classes 1 and 3 only. [The page](../guide/virtual-blocks.md) says what an iteration is.
//!
//! # Source
//! VTW paper (CGO 2017), section 4.3.2.
//!
//! # Parameters
//! Since when the instructions of a warp count, and how often the order is made anew.
//!
//! # Simplifications
//! The paper does not say how often the order is made; the default is every cycle. That the last logical block has been given out is known from the next window on.
//! The paper does not say how warps of class 4 go inside a block: here the one that has issued most first. What is alike
//! goes by the number of the block, then by age.
//!
//! # Counters
//! None of its own; `stall_sibling` counts slots that were empty because warps waited for their next logical block.

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
    summary: "progress-aware, for virtual blocks: warps that keep others from going on first, those ahead last",
    source: "VTW paper (CGO 2017), section 4.3.2",
    counters: &[],
    refuses: REFUSES,
};

/// Parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Since when instructions count: `iteration` (the warp's logical block) or `start` (its virtual block).
    pub since: Since,
    /// Cycles for which the order stays as it is; 1 makes it anew in every cycle.
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
