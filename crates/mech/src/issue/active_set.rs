//! The small set of active warps from which two-level schedulers choose.

use raddle_sim::counters;
use raddle_sim::saved;
use raddle_sim::seam::{Place, SchedulerView, WarpId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How many warps are in the set.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ActiveConfig {
    /// Warps in the active set of each scheduler.
    #[schemars(range(min = 1, max = 1024))]
    pub active: u32,
}

impl Default for ActiveConfig {
    fn default() -> Self {
        Self { active: 8 }
    }
}

counters! {
    /// What happens to the set.
    pub(super) struct ActiveCounters {
        entered: Events, "times a warp was taken into the active set";
        left: Events, "times a warp left the active set because it waits";
    }
}

/// Warps that are considered, and those that wait for a place.
pub(super) struct ActiveSet {
    most: usize,
    /// In the order they are served.
    pub(super) active: VecDeque<WarpId>,
    pub(super) pending: VecDeque<WarpId>,
    pub(super) counters: ActiveCounters,
}

saved!(ActiveSet { values: active, pending; parts: counters; fixed: most });

impl ActiveSet {
    pub(super) fn new(most: u32) -> Self {
        Self {
            most: most.max(1) as usize,
            active: VecDeque::new(),
            pending: VecDeque::new(),
            counters: ActiveCounters::default(),
        }
    }

    /// Warps that wait for memory, at a barrier or at a fence leave; others enter, in the order they left.
    pub(super) fn settle(&mut self, view: &SchedulerView<'_>) {
        let waits = |w: WarpId| view.place(w) == Place::MemoryDependence || view.place(w).is_waiting();
        for _ in 0..self.active.len() {
            if let Some(warp) = self.active.pop_front() {
                let leaves = waits(warp);
                self.counters.left += u64::from(leaves);
                let queue = if leaves { &mut self.pending } else { &mut self.active };
                queue.push_back(warp);
            }
        }
        while self.active.len() < self.most {
            let Some(at) = self.pending.iter().position(|w| !waits(*w)) else { break };
            self.active.extend(self.pending.remove(at));
            self.counters.entered += 1;
        }
    }

    /// A warp has issued: it is served last now.
    pub(super) fn issued(&mut self, warp: WarpId) {
        if let Some(at) = self.active.iter().position(|w| *w == warp) {
            self.active.remove(at);
            self.active.push_back(warp);
        }
    }

    /// A warp came to the SM, or its slot was freed.
    pub(super) fn changed(&mut self, warp: WarpId, present: bool) {
        if present {
            self.pending.push_back(warp);
        } else {
            self.active.retain(|w| *w != warp);
            self.pending.retain(|w| *w != warp);
        }
    }

    /// The warps of the set by rank, those of one rank in the order they are served, then the others.
    pub(super) fn by_rank(&self, order: &mut Vec<WarpId>, rank: impl Fn(WarpId) -> u8) {
        let start = order.len();
        order.extend(&self.active);
        order[start..].sort_by_key(|w| rank(*w));
        order.extend(&self.pending);
    }
}
