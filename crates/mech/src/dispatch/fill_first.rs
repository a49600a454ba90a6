//! Blocks fill one SM after another.
//!
//! # What it models
//! The first SM with room gets the next block, one block in a cycle: small grids stay on few SMs.
//!
//! # Source
//! The opposite end of the choice to round robin; for experiments with unused SMs.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! What room an SM has is looked at once per window, so the room of a block that ends is given away in the next one.
//!
//! # Counters
//! None of its own; `ctas` of each SM shows what it does.

use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{Assignment, DispatchView, Dispatcher, MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Dispatch,
    name: "fill-first",
    summary: "the first SM with room gets the next block, one in a cycle",
    source: "our own, for comparison",
    counters: &[],
    refuses: &[],
};

/// The dispatcher.
pub struct FillFirst;

impl FillFirst {
    /// It has no state.
    #[must_use]
    pub fn new(_: NoConfig, _: &MachineConfig) -> Self {
        Self
    }
}

impl Dispatcher for FillFirst {
    fn dispatch(&mut self, view: &DispatchView<'_>, out: &mut Vec<Assignment>) {
        if let Some(sm) = view.room.iter().position(|room| *room > 0)
            && view.next < view.total
        {
            out.push(Assignment { sm: sm as u32, cta: view.next });
        }
    }
}
