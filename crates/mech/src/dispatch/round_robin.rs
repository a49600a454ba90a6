//! Blocks in turn to all SMs.
//!
//! # What it models
//! In each cycle, every SM with room gets one block. The order starts after the SM served last, also across launches.
//!
//! # Source
//! GPGPU-Sim's block scheduler.
//!
//! # Parameters
//! The SM that is served first in the first launch. The choice should not matter: a result that changes with it is
//! noise.
//!
//! # Simplifications
//! The room of each SM is checked once per window. When a block ends, its room is given to another block in the next
//! window.
//!
//! # Counters
//! None of its own. `ctas` of each SM shows its effect.

use raddle_sim::config::MachineConfig;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{Assignment, DispatchView, Dispatcher, MechanismInfo, Seam};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Dispatch,
    name: "round-robin",
    summary: "in each cycle every SM with room gets one block, starting after the one served last",
    source: "GPGPU-Sim",
    counters: &[],
    refuses: &[],
};

/// Parameters.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The SM that gets the first block of the first launch, modulo the number of SMs.
    #[schemars(range(min = 0, max = 65535))]
    pub first: u32,
}

/// The dispatcher.
pub struct RoundRobin {
    next: usize,
}

saved!(RoundRobin { values: next });

impl RoundRobin {
    /// Starts with the SM the parameters say.
    #[must_use]
    pub fn new(config: Config, machine: &MachineConfig) -> Self {
        Self { next: (config.first % machine.gpu.sms.max(1)) as usize }
    }
}

impl Dispatcher for RoundRobin {
    fn dispatch(&mut self, view: &DispatchView<'_>, out: &mut Vec<Assignment>) {
        let sms = view.room.len();
        let mut cta = view.next;
        for step in 0..sms {
            let sm = (self.next + step) % sms;
            if view.room[sm] > 0 && cta < view.total {
                out.push(Assignment { sm: sm as u32, cta });
                cta += 1;
            }
        }
        if let Some(last) = out.last() {
            self.next = (last.sm as usize + 1) % sms;
        }
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
