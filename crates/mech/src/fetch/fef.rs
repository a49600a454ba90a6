//! Fewest entries first.
//!
//! # What it models
//! Of the warps that want instructions, the one with the fewest in its buffer comes first. Of several, it is the first
//! one after the warp that was fetched for last.
//!
//! # Source
//! BAWS paper (ICS 2016), section 6.2.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! The paper does not say which of several warps with equally many entries comes first. Some machines fetch only for
//! warps whose buffer is empty, such as `gtx480` and the one of section 2.2 of the paper. There all these warps have no
//! entries, and this scheduler is `lrr`. It differs with `sm.fetch.only_when_empty=false` and a buffer that holds more
//! than one fetch (`sm.fetch.ibuffer`, `sm.fetch.width`).
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
    name: "fef",
    summary: "fewest entries first: the warp with the fewest instructions in its buffer",
    source: "BAWS paper (ICS 2016), section 6.2",
    counters: &[],
    refuses: &[],
};

/// The scheduler.
pub struct Fef {
    /// The warp after the last one fetched for.
    next: usize,
}

saved!(Fef { values: next });

impl Fef {
    /// Starts as `lrr` does.
    #[must_use]
    pub fn new(_: NoConfig, machine: &MachineConfig) -> Self {
        Self { next: super::lrr::second(machine).index() }
    }
}

impl FetchScheduler for Fef {
    fn pick(&mut self, view: &FetchView<'_>) -> Option<WarpId> {
        // Warps before the one to be served next come last.
        view.wanting.iter().min_by_key(|w| ((view.entries)(*w), w.index() < self.next, *w))
    }

    fn fetched(&mut self, warp: WarpId, _hit: bool) {
        self.next = warp.index() + 1;
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
