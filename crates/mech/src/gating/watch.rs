//! No gating, but an account of what the lanes do.
//!
//! # What it models
//! A machine whose lanes are never gated, like `none`. It also counts how long the integer and floating-point pipelines
//! of the SPs are busy, and how long the gaps between their instructions are. A run takes the same cycles as with `none`.
//!
//! # Source
//! Baseline; the counts are those of Figures 2 and 3 of the Origami paper.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! A pipeline counts as busy as a whole, however few of its lanes are active: from the entry of an instruction, for its
//! latency.
//!
//! # Counters
//! Those of the groups `int` and `fp`. All idle cycles are in `idle_detect`; the counters of gating stay at zero.

use super::power::{Power, Times};
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::kernel::TimedOp;
use raddle_sim::packet::Cycle;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{Entry, Gating, GatingView, MechanismInfo, Seam, Shape};
use raddle_sim::sm::lanes::LaneCounters;

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Gating,
    name: "watch",
    summary: "every lane is always powered, and its activity is counted",
    source: "baseline of the Origami paper (ICS 2016)",
    counters: &[],
    refuses: &[],
};

/// The scheme.
pub struct Watch {
    power: Power,
}

saved!(Watch { parts: power });

impl Watch {
    /// Everything on.
    #[must_use]
    pub fn new(_: NoConfig, machine: &MachineConfig) -> Self {
        Self { power: Power::new(Times::default(), machine, false) }
    }
}

impl Gating for Watch {
    fn tick(&mut self, view: &GatingView<'_>) {
        self.power.begin(view.now);
    }

    fn issued(&mut self, _: Cycle, op: &TimedOp, _: u32) -> Shape {
        if let Some(pipe) = op.pipe() {
            self.power.coming(pipe, u32::MAX);
        }
        Shape::PLAIN
    }

    fn entered(&mut self, entry: &Entry<'_>) {
        self.power.entered(entry);
    }

    fn skip(&mut self, from: Cycle, _: Cycle) {
        self.power.begin(from);
    }

    fn lanes(&self, cycles: Cycle) -> Option<[LaneCounters; 2]> {
        Some(self.power.account(cycles))
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
