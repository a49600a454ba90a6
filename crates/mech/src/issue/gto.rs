//! Greedy then oldest.
//!
//! # What it models
//! The scheduler keeps issuing from the warp that issued last, as long as that warp can issue. Otherwise it picks the
//! warp that came to the SM first. A warp's age is the arrival time of its block; in a block, the warp with the smaller
//! number is older.
//!
//! # Source
//! Rogers et al., MICRO 2012; BAWS paper, section 2.2.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! In the paper, all warps of a block have the same age, and the smaller warp identifier comes first. Here age is a
//! number that grows with every warp, and the warps of a block get theirs in order; the result is the same. The
//! scheduler remembers the slot that issued last, not the warp. A new warp in that slot therefore counts as the last
//! one until another warp issues, as in GPGPU-Sim.
//!
//! # Counters
//! None of its own. `issued_*` and `stall_*` show how a scheduler's slots were used.

use super::arrival::Arrivals;
use super::by_age;
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId, WarpSet};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "gto",
    summary: "greedy then oldest: the warp that issued last while it can issue, otherwise the oldest",
    source: "Rogers et al., MICRO 2012; BAWS paper (ICS 2016), section 2.2",
    counters: &[],
    refuses: &[],
};

/// The scheduler.
pub struct Gto {
    last: Option<WarpId>,
    arrivals: Arrivals,
}

saved!(Gto { values: last; parts: arrivals });

impl Gto {
    /// Nothing issued yet.
    #[must_use]
    pub fn new(_: NoConfig, _: &MachineConfig) -> Self {
        Self { last: None, arrivals: Arrivals::new() }
    }
}

impl IssueScheduler for Gto {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        by_age(view, order);
        if let Some(at) = order.iter().position(|w| Some(*w) == self.last) {
            order[..=at].rotate_right(1);
        }
    }

    fn is_before(&self, view: &SchedulerView<'_>, a: WarpId, b: WarpId) -> bool {
        let rank = |w: WarpId| (Some(w) != self.last, view.age[w.index()]);
        rank(a) < rank(b)
    }

    fn first_of(&self, view: &SchedulerView<'_>, among: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        self.last.filter(|w| among.contains(*w)).or_else(|| self.arrivals.first(view, among))
    }

    fn warp_changed(&mut self, warp: WarpId, present: bool) {
        self.arrivals.changed(warp, present);
    }

    fn issued(&mut self, _: &SchedulerView<'_>, warp: WarpId) {
        self.last = Some(warp);
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
