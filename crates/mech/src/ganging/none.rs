//! No ganging: every warp issues on its own.
//!
//! # What it models
//! A machine whose warps have one size: that of a slice if the machine has slices, otherwise that of the datapath.
//!
//! # Source
//! Baseline; the VWS paper's WS4, WS8, WS16 and WS32.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! None: it does nothing, and the SM does not ask it.
//!
//! # Counters
//! None.

use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{GangTable, GangView, Ganging, GangingView, MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Ganging,
    name: "none",
    summary: "every warp issues on its own",
    source: "baseline",
    counters: &[],
    refuses: &[],
};

/// Nothing.
pub struct NoGanging;

impl NoGanging {
    /// It has no state.
    #[must_use]
    pub fn new(_: NoConfig, _: &MachineConfig) -> Self {
        Self
    }
}

impl Ganging for NoGanging {
    fn is_active(&self) -> bool {
        false
    }

    fn moved(&mut self, _: &mut GangTable, _: usize, _: &GangingView<'_>) {}

    fn per_cycle(&self) -> usize {
        0
    }

    fn rank(&self, _: &GangView) -> u64 {
        0
    }
}
