//! Two levels: a small set of active warps served round robin.
//!
//! # What it models
//! Only the warps of the active set are considered, in turn. A warp that waits for a result from memory, at a barrier
//! or at a fence leaves the set; a pending warp that waits for none of these enters, in the order they left.
//!
//! # Source
//! Gebhart et al., ISCA 2011; used as TLS by BAWS and as the base of Origami.
//!
//! # Parameters
//! The size of the active set.
//!
//! # Simplifications
//! Our reading: leaving and entering take no time, and a warp leaves when its next instruction needs the result, not
//! when the load issues. The set is brought up to date in cycles in which some warp can issue. The BAWS paper does not say
//! how large its set is.
//!
//! # Counters
//! None of its own; `issued_*` and `stall_*` show what a scheduler's slots were used for.

use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId, WarpSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "two-level",
    summary: "two levels: a small active set served round robin; warps that wait for memory leave it",
    source: "Gebhart et al., ISCA 2011",
    refuses: &[],
};

/// Parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Warps in the active set of each scheduler.
    #[schemars(range(min = 1, max = 1024))]
    pub active: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { active: 8 }
    }
}

/// The scheduler.
pub struct TwoLevel {
    most: usize,
    /// In the order they are served.
    active: VecDeque<WarpId>,
    pending: VecDeque<WarpId>,
}

impl TwoLevel {
    /// Nothing active.
    #[must_use]
    pub fn new(config: Config, _: &MachineConfig) -> Self {
        Self { most: config.active.max(1) as usize, active: VecDeque::new(), pending: VecDeque::new() }
    }

    fn settle(&mut self, view: &SchedulerView<'_>) {
        let waits = |w: WarpId| view.waits_for_memory.contains(w) || view.waiting.contains(w);
        for _ in 0..self.active.len() {
            if let Some(warp) = self.active.pop_front() {
                let queue = if waits(warp) { &mut self.pending } else { &mut self.active };
                queue.push_back(warp);
            }
        }
        while self.active.len() < self.most {
            let Some(at) = self.pending.iter().position(|w| !waits(*w)) else { break };
            self.active.extend(self.pending.remove(at));
        }
    }
}

impl IssueScheduler for TwoLevel {
    fn priority_order(&self, _: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        order.extend(self.active.iter().chain(&self.pending));
    }

    fn pick(&mut self, view: &SchedulerView<'_>, eligible: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        self.settle(view);
        self.active.iter().copied().find(|w| eligible.contains(*w))
    }

    fn issued(&mut self, _: &SchedulerView<'_>, warp: WarpId) {
        if let Some(at) = self.active.iter().position(|w| *w == warp) {
            self.active.remove(at);
            self.active.push_back(warp);
        }
    }

    fn warp_changed(&mut self, warp: WarpId, present: bool) {
        if present {
            self.pending.push_back(warp);
        } else {
            self.active.retain(|w| *w != warp);
            self.pending.retain(|w| *w != warp);
        }
    }
}
