//! Conventional power gating: pipelines are gated after some idle cycles and woken on demand.
//!
//! # What it models
//! The integer and the floating-point pipelines of each SP have one power switch each. A pipeline without an
//! instruction for `idle_detect` cycles is gated. If a warp's instruction finds no powered SP, the warp does not issue
//! and the pipelines of an SP start waking. The warp can issue `wake_up` cycles later. An instruction that arrives at
//! an SP that is free but gated wakes it in the same way.
//!
//! # Source
//! Hu et al., ISLPED 2004; the comparison of the Origami paper (ICS 2016).
//!
//! # Parameters
//! Idle cycles before gating, gated cycles that pay for switching, and cycles to wake.
//!
//! # Simplifications
//! Switching costs `break_even` cycles of leakage, all at once. A waking pipeline leaks as much as a powered one. The
//! last powered SP is not gated while an instruction that needs it is in flight. SFUs and the load-store unit are never
//! gated.
//!
//! # Counters
//! Those of the groups `int` and `fp`, and `stall_gated`.

use super::ByPipeline;
use super::power::Times;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Gating,
    name: "conventional",
    summary: "pipelines are gated after some idle cycles and woken on demand",
    source: "Hu et al., ISLPED 2004",
    counters: &[],
    refuses: &[],
};

impl ByPipeline {
    /// Everything powered; gated when idle, woken on demand.
    #[must_use]
    pub fn conventional(times: Times, machine: &MachineConfig) -> Self {
        Self::new(times, machine, false)
    }
}
