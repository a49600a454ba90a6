//! Blocks in turn to all SMs.
//!
//! # What it models
//! In each cycle every SM with room gets one block, starting after the SM served last.
//!
//! # Source
//! GPGPU-Sim's block scheduler.
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
    name: "round-robin",
    summary: "in each cycle every SM with room gets one block, starting after the one served last",
    source: "GPGPU-Sim",
    refuses: &[],
};

/// The dispatcher.
pub struct RoundRobin {
    next: usize,
}

impl RoundRobin {
    /// Starts with the first SM.
    #[must_use]
    pub fn new(_: NoConfig, _: &MachineConfig) -> Self {
        Self { next: 0 }
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
}
