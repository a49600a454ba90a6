//! Schedulers without state: each warp has a rank, and the lowest comes first.

use super::by_rank;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{IssueScheduler, SchedulerView, WarpId, WarpSet};

/// A scheduler by rank; of several warps with the same, the oldest comes first.
pub struct Ranked {
    pub(super) rank: fn(&SchedulerView<'_>, WarpId) -> u32,
}

saved!(Ranked { fixed: rank });

impl Ranked {
    fn place(&self, view: &SchedulerView<'_>, warp: WarpId) -> (u32, u64) {
        ((self.rank)(view, warp), view.age[warp.index()])
    }
}

impl IssueScheduler for Ranked {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        by_rank(view, order, |w| self.place(view, w));
    }

    fn is_before(&self, view: &SchedulerView<'_>, a: WarpId, b: WarpId) -> bool {
        self.place(view, a) < self.place(view, b)
    }

    fn first_of(&self, view: &SchedulerView<'_>, among: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        among.iter().min_by_key(|w| self.place(view, *w))
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
