//! No gating: every lane is always powered.
//!
//! # What it models
//! A machine whose lanes are never gated; the baseline of every gating study.
//!
//! # Source
//! Baseline.
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
use raddle_sim::seam::{Gating, MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Gating,
    name: "none",
    summary: "every lane is always powered",
    source: "baseline",
    counters: &[],
    refuses: &[],
};

/// Nothing.
pub struct NoGating;

impl NoGating {
    /// It has no state.
    #[must_use]
    pub fn new(_: NoConfig, _: &MachineConfig) -> Self {
        Self
    }
}

impl Gating for NoGating {
    fn is_active(&self) -> bool {
        false
    }
}
