//! Blackout: gated pipelines stay gated until break-even, and the SPs take turns.
//!
//! # What it models
//! The switches and times of `conventional`, with two changes. First, a gated pipeline is not woken before break-even.
//! So gating never loses energy, but warps may have to wait. Second, the SPs are coordinated. While the pipelines of a
//! type are gated in one SP, those of another SP are gated only when no warp that could soon issue has an instruction
//! of the type; then they are gated at once. So a type that is in use is never gated everywhere.
//!
//! # Source
//! Abdel-Majeed et al., Warped Gates, MICRO 2013: coordinated blackout, as the Origami paper (ICS 2016) compares it.
//!
//! # Parameters
//! Idle cycles before gating, gated cycles that pay for switching, and cycles to wake.
//!
//! # Simplifications
//! This is our reading of a paper that was not at hand; its adaptive idle-detect is left out. A warp of the SM could
//! soon issue if it has decoded an instruction of the type and waits for nothing but arithmetic. Otherwise as
//! `conventional`.
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
    summary: "as conventional, but pipelines stay gated until break-even, coordinated between SPs",
    source: "Abdel-Majeed et al., MICRO 2013",
    counters: &[],
    refuses: &[],
};

impl ByPipeline {
    /// Everything powered; what is gated stays gated until break-even.
    #[must_use]
    pub fn blackout(times: Times, machine: &MachineConfig) -> Self {
        Self::new(times, machine, true)
    }
}
