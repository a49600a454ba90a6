//! Schedulers that choose a block by its warps at barriers, then a warp inside it.

use super::by_rank;
use super::inside::{Inside, LastIssued};
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{BlockState, IssueScheduler, Refusal, SchedulerView, Seam, WarpId, WarpSet};

const REASON: &str = "its warps hold threads of several blocks, so waiting warps cannot be counted by block";

/// What they do not work with.
pub(super) const REFUSES: &[Refusal] = &[
    Refusal { seam: Seam::Divergence, name: "dwf", reason: REASON },
    Refusal { seam: Seam::Divergence, name: "dwf-wb", reason: REASON },
];

/// A scheduler by the rank of blocks, of which the lowest comes first; of several, the one with the smallest number in
/// the grid.
pub struct ByWaiting {
    rank: fn(BlockState) -> u64,
    inside: Inside,
    last: LastIssued,
}

saved!(ByWaiting { values: last; fixed: rank, inside });

impl ByWaiting {
    /// Nothing issued yet.
    pub(super) fn new(rank: fn(BlockState) -> u64, inside: Inside) -> Self {
        Self { rank, inside, last: LastIssued::default() }
    }

    /// The place of a warp in the order of all.
    fn place(&self, view: &SchedulerView<'_>, warp: WarpId) -> (u64, u64, u64) {
        let block = view.block(warp);
        ((self.rank)(block), block.cta, self.inside.place(view, self.last.in_block_of(view, warp), warp))
    }
}

impl IssueScheduler for ByWaiting {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        by_rank(view, order, |w| self.place(view, w));
    }

    fn is_before(&self, view: &SchedulerView<'_>, a: WarpId, b: WarpId) -> bool {
        self.place(view, a) < self.place(view, b)
    }

    fn first_of(&self, view: &SchedulerView<'_>, among: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        among.iter().min_by_key(|w| self.place(view, *w))
    }

    fn issued(&mut self, view: &SchedulerView<'_>, warp: WarpId) {
        self.last.set(view, warp);
    }

    fn warp_changed(&mut self, warp: WarpId, _: bool) {
        self.last.forget(warp);
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
