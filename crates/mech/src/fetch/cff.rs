//! Critical fetch first.
//!
//! # What it models
//! Instructions are fetched for the warp that the issue scheduler would prefer. That is the first warp in its priority
//! order that wants instructions and does not wait at a barrier. It works with every issue scheduler. With `gto`, it is
//! the warp that issued last, otherwise the oldest.
//!
//! # Source
//! BAWS paper (ICS 2016), section 4.2.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! The paper does not say how the schedulers of an SM share the fetch unit. Here they take turns: after a fetch for a
//! warp of one scheduler, the next scheduler is asked first. A scheduler whose warps want nothing is skipped.
//!
//! # Counters
//! None of its own. `fetches`, `fetch_misses` and `stall_not_fetched` show its effect.

use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{FetchScheduler, FetchView, MechanismInfo, Seam, WarpId, WarpSet};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Fetch,
    name: "cff",
    summary: "critical fetch first: the warp that the issue scheduler would prefer to issue from",
    source: "BAWS paper (ICS 2016), section 4.2",
    counters: &[],
    refuses: &[],
};

/// The scheduler.
pub struct Cff {
    /// The issue scheduler to ask first.
    turn: usize,
    schedulers: usize,
    /// Warps of one issue scheduler that want instructions.
    own: WarpSet,
    scratch: Vec<WarpId>,
}

saved!(Cff { values: turn, own, scratch; fixed: schedulers });

impl Cff {
    /// Starts with the first issue scheduler.
    #[must_use]
    pub fn new(_: NoConfig, machine: &MachineConfig) -> Self {
        let schedulers = machine.sm.schedulers().max(1) as usize;
        Self { turn: 0, schedulers, own: WarpSet::new(1), scratch: Vec::new() }
    }
}

impl FetchScheduler for Cff {
    fn pick(&mut self, view: &FetchView<'_>) -> Option<WarpId> {
        for step in 0..self.schedulers {
            let n = (self.turn + step) % self.schedulers;
            let (own, scratch, mut found) = (&mut self.own, &mut self.scratch, None);
            (view.issue_view)(n, &mut |seen| {
                own.clone_from(view.wanting);
                own.words_mut().iter_mut().zip(seen.warps.words()).for_each(|(word, warps)| *word &= warps);
                if !own.is_empty() {
                    found = view.issue[n].first_of(seen, own, scratch);
                }
            });
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn fetched(&mut self, warp: WarpId, _hit: bool) {
        self.turn = (warp.index() + 1) % self.schedulers;
    }

    fn serves_waiting(&self) -> bool {
        false
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
