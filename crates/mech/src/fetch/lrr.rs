//! Loose round robin fetch.
//!
//! # What it models
//! The scheduler starts with the warp after the last one it fetched for, and fetches for the first warp that wants
//! instructions. A refused fetch counts as served.
//!
//! # Source
//! GPGPU-Sim's fetch stage; BAWS paper, section 2.2.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! None known.
//!
//! # Counters
//! None of its own. `fetches`, `fetch_misses` and `stall_not_fetched` show its effect.

use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{FetchScheduler, FetchView, MechanismInfo, Seam, WarpId};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Fetch,
    name: "lrr",
    summary: "loose round robin: the next warp after the last one fetched for that wants instructions",
    source: "common baseline; BAWS paper, section 2.2",
    counters: &[],
    refuses: &[],
};

/// The scheduler.
pub struct Lrr {
    next: WarpId,
    slots: usize,
}

saved!(Lrr { values: next; fixed: slots });

impl Lrr {
    /// As if it had just served the first warp, as in GPGPU-Sim: the second warp is the first one fetched for.
    #[must_use]
    pub fn new(_: NoConfig, machine: &MachineConfig) -> Self {
        let slots = (machine.sm.threads / machine.sm.warp_width.max(1)) as usize;
        Self { next: second(machine), slots }
    }
}

/// The second warp, of each slice.
pub(super) fn second(machine: &MachineConfig) -> WarpId {
    let slots = machine.sm.threads / machine.sm.warp_width.max(1);
    WarpId::at(if machine.sm.slices < slots { machine.sm.slices as usize } else { 0 })
}

impl FetchScheduler for Lrr {
    fn pick(&mut self, view: &FetchView<'_>) -> Option<WarpId> {
        view.wanting.next_from(self.next)
    }

    fn chooses_by_wanting(&self) -> bool {
        true
    }

    fn fetched(&mut self, warp: WarpId, _hit: bool) {
        let next = warp.index() + 1;
        self.next = WarpId(if next < self.slots { next as u16 } else { 0 });
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
