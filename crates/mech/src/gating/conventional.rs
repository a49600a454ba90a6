//! Conventional power gating: off after some idle cycles, on when wanted.
//!
//! # What it models
//! The integer and the floating-point pipelines of each SP have a switch each. Pipelines without an instruction in
//! them for `idle_detect` cycles lose power. A warp whose instruction finds no SP with power for it does not issue,
//! which wakes them; it can issue `wake_up` cycles later. So does an instruction that comes to an SP that is free and
//! has no power.
//!
//! # Source
//! Hu et al., ISLPED 2004; the comparison of the Origami paper (ICS 2016).
//!
//! # Parameters
//! Idle cycles before gating, cycles without power that make up for switching, cycles to wake.
//!
//! # Simplifications
//! Switching costs `break_even` cycles of leakage, all at once, and a waking pipeline leaks as one with power. The
//! last SP with power keeps it while an instruction that needs it is on its way. SFUs and the load-store unit are not
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
    summary: "pipelines lose power after some idle cycles and get it back when wanted",
    source: "Hu et al., ISLPED 2004",
    counters: &[],
    refuses: &[],
};

impl ByPipeline {
    /// Everything on; gated when idle, woken when wanted.
    #[must_use]
    pub fn conventional(times: Times, machine: &MachineConfig) -> Self {
        Self::new(times, machine, false)
    }
}
