//! The operation most threads are at.
//!
//! # What it models
//! All warps at one operation issue, one after the other, until none that could is left; then the operation that most
//! threads wait at is chosen. Made for dynamic warp formation, where threads should stay close together so that they can
//! form full warps.
//!
//! # Source
//! Fung et al., MICRO 2007; the policy of DWF and DWF-WB in the TBC paper (HPCA 2011).
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! Threads whose instruction is in flight do not count. With several schedulers, each counts its own warps.
//!
//! # Counters
//! None of its own; `issued_*` and `stall_*` show what a scheduler's slots were used for.

use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId, WarpSet};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "majority",
    summary: "warps at the operation most threads are at, until none is left there",
    source: "Fung et al., MICRO 2007",
    refuses: &[],
};

/// The scheduler.
pub struct Majority {
    pc: Option<u32>,
}

impl Majority {
    /// Nothing issued yet.
    #[must_use]
    pub fn new(_: NoConfig, _: &MachineConfig) -> Self {
        Self { pc: None }
    }

    /// The place of a warp: those at the current operation first, then by how many threads are where it is, then by age.
    fn rank(&self, view: &SchedulerView<'_>, warp: WarpId) -> (bool, u32, u32, u64) {
        let pc = view.table.get(warp).pc;
        let others = view.warps.iter().map(|w| view.table.get(w)).filter(|w| w.pc == pc && w.blocked.is_none());
        let threads: u32 = others.map(|w| w.mask.count_ones()).sum();
        (Some(pc) != self.pc, u32::MAX - threads, pc, view.age[warp.index()])
    }
}

impl IssueScheduler for Majority {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        order.extend(view.warps.iter());
        order.sort_by_cached_key(|w| self.rank(view, *w));
    }

    fn is_before(&self, view: &SchedulerView<'_>, a: WarpId, b: WarpId) -> bool {
        self.rank(view, a) < self.rank(view, b)
    }

    fn pick(&mut self, view: &SchedulerView<'_>, eligible: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        let here = eligible.iter().filter(|w| Some(view.table.get(*w).pc) == self.pc);
        if let Some(oldest) = here.min_by_key(|w| view.age[w.index()]) {
            return Some(oldest);
        }
        let chosen = eligible.iter().min_by_key(|w| self.rank(view, *w))?;
        self.pc = Some(view.table.get(chosen).pc);
        Some(chosen)
    }
}
