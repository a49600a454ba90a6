//! Blackout: what is gated stays so until break-even, and the SPs take turns.
//!
//! # What it models
//! The switches and times of `conventional`, with two changes. Pipelines that have lost power do not get it back
//! before break-even, so gating never loses energy and warps may have to wait. And while the pipelines of a type are
//! without power in one SP, those of another SP are gated only when no warp that could soon issue has an instruction
//! of the type, and then at once: a type that is in use is not switched off altogether.
//!
//! # Source
//! Abdel-Majeed et al., Warped Gates, MICRO 2013: coordinated blackout, as the Origami paper (ICS 2016) compares it.
//!
//! # Parameters
//! Idle cycles before gating, cycles without power that make up for switching, cycles to wake.
//!
//! # Simplifications
//! Our reading of a paper that was not at hand; its adaptive idle-detect is left out. Warps that could soon issue are
//! those of the whole SM that have decoded an instruction of the type and wait for nothing but arithmetic. Otherwise
//! as `conventional`.
//!
//! # Counters
//! Those of the groups `int` and `fp`, and `stall_gated`; `early_wakes` stays at zero.

use super::ByPipeline;
use super::power::Times;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Gating,
    name: "blackout",
    summary: "as conventional, but gated pipelines stay so until break-even, coordinated between SPs",
    source: "Abdel-Majeed et al., MICRO 2013",
    counters: &[],
    refuses: &[],
};

impl ByPipeline {
    /// Everything on; what is gated stays so until break-even.
    #[must_use]
    pub fn blackout(times: Times, machine: &MachineConfig) -> Self {
        Self::new(times, machine, true)
    }
}
