//! Blocks fill one SM after another.
//!
//! # What it models
//! The first SM with room gets the next block, one block in a cycle. Small grids stay on few SMs.
//!
//! # Source
//! Our own: the opposite of round robin, for experiments with unused SMs.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! The room of each SM is checked once per window. When a block ends, its room is given to another block in the next
//! window.
//!
//! # Counters
//! None of its own. `ctas` of each SM shows its effect.

use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{Assignment, DispatchView, Dispatcher, MechanismInfo, Seam};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Dispatch,
    name: "fill-first",
    summary: "the first SM with room gets the next block, one block in a cycle",
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
