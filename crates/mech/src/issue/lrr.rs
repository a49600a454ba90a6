//! Loose round robin.
//!
//! # What it models
//! The scheduler starts with the warp after the last one served, and issues from the first warp that can issue. It
//! skips warps that cannot.
//!
//! # Source
//! The baseline of most studies; BAWS paper, section 2.2.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! None known. The order is that of the warp slots, not of arrival.
//!
//! # Counters
//! None of its own. `issued_*` and `stall_*` show how a scheduler's slots were used.

use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId, WarpSet};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "lrr",
    summary: "loose round robin: the next warp after the last one served that can issue",
    source: "common baseline; BAWS paper, section 2.2",
    counters: &[],
    refuses: &[],
};

/// The scheduler.
pub struct Lrr {
    next: WarpId,
}

saved!(Lrr { values: next });

impl Lrr {
    /// Starts with the first warp.
    #[must_use]
    pub fn new(_: NoConfig, _: &MachineConfig) -> Self {
        Self { next: WarpId(0) }
    }
}

impl IssueScheduler for Lrr {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        order.extend(view.warps.iter().filter(|w| *w >= self.next));
        order.extend(view.warps.iter().filter(|w| *w < self.next));
    }

    fn is_before(&self, _: &SchedulerView<'_>, a: WarpId, b: WarpId) -> bool {
        // Warps before the one to be served next come last.
        (a < self.next, a) < (b < self.next, b)
    }

    fn first_of(&self, _: &SchedulerView<'_>, among: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        among.next_from(self.next)
    }

    fn issued(&mut self, view: &SchedulerView<'_>, warp: WarpId) {
        let next = warp.index() + 1;
        self.next = WarpId(if next < view.age.len() { next as u16 } else { 0 });
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
