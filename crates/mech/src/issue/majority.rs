//! The operation that most threads are at.
//!
//! # What it models
//! The scheduler chooses an operation and issues all warps that are at it, one after another. When no warp there can
//! issue, it chooses the operation at which most threads wait. This keeps threads close together in the program, so
//! that they can form full warps under dynamic warp formation.
//!
//! # Source
//! Fung et al., MICRO 2007; the policy of DWF and DWF-WB in the TBC paper (HPCA 2011).
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! Threads whose instruction is in flight do not count. With several schedulers, each one counts its own warps.
//!
//! # Counters
//! None of its own. `issued_*` and `stall_*` show how a scheduler's slots were used.

use super::by_rank;
use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId, WarpSet};
use std::cmp::Reverse;

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "majority",
    summary: "all warps at the operation where most threads wait, then the next such operation",
    source: "Fung et al., MICRO 2007",
    counters: &[],
    refuses: &[],
};

/// The scheduler.
pub struct Majority {
    pc: Option<u32>,
    /// Threads at each operation, while another one is chosen.
    counts: Vec<u32>,
}

saved!(Majority { values: pc, counts });

impl Majority {
    /// Nothing issued yet.
    #[must_use]
    pub fn new(_: NoConfig, _: &MachineConfig) -> Self {
        Self { pc: None, counts: Vec::new() }
    }

    /// The place of a warp: those at the current operation first, then by how many threads are where it is, then by
    /// age.
    fn rank(
        &self,
        view: &SchedulerView<'_>,
        warp: WarpId,
        threads: impl Fn(u32) -> u32,
    ) -> (bool, Reverse<u32>, u32, u64) {
        let pc = view.table.get(warp).pc;
        (Some(pc) != self.pc, Reverse(threads(pc)), pc, view.age[warp.index()])
    }
}

/// Threads that can continue, with the operation they are at: one entry for each warp.
fn threads<'v>(view: &'v SchedulerView<'_>) -> impl Iterator<Item = (u32, u32)> + 'v {
    let warps = view.warps.iter().map(|w| view.table.get(w)).filter(|w| w.blocked.is_none());
    warps.map(|w| (w.pc, w.mask.count_ones()))
}

/// Threads that can continue at an operation.
fn threads_at(view: &SchedulerView<'_>, pc: u32) -> u32 {
    threads(view).filter(|(at, _)| *at == pc).map(|(_, count)| count).sum()
}

impl IssueScheduler for Majority {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        by_rank(view, order, |w| self.rank(view, w, |pc| threads_at(view, pc)));
    }

    fn is_before(&self, view: &SchedulerView<'_>, a: WarpId, b: WarpId) -> bool {
        let rank = |w: WarpId| self.rank(view, w, |pc| threads_at(view, pc));
        rank(a) < rank(b)
    }

    fn first_of(&self, view: &SchedulerView<'_>, among: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        among.iter().min_by_key(|w| self.rank(view, *w, |pc| threads_at(view, pc)))
    }

    fn pick(&mut self, view: &SchedulerView<'_>, eligible: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        let here = eligible.iter().filter(|w| Some(view.table.get(*w).pc) == self.pc);
        if let Some(oldest) = here.min_by_key(|w| view.age[w.index()]) {
            return Some(oldest);
        }
        // All operations at once: there may be as many warps as threads.
        let mut counts = std::mem::take(&mut self.counts);
        counts.clear();
        for (pc, count) in threads(view) {
            counts.resize(counts.len().max(pc as usize + 1), 0);
            counts[pc as usize] += count;
        }
        let chosen = eligible.iter().min_by_key(|w| self.rank(view, *w, |pc| counts[pc as usize]));
        self.counts = counts;
        let chosen = chosen?;
        self.pc = Some(view.table.get(chosen).pc);
        Some(chosen)
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
