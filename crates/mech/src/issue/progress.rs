//! Schedulers by progress: how many instructions warps and blocks have issued.

use super::by_rank;
use raddle_sim::packet::Cycle;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{BlockState, IssueScheduler, SchedulerView, WarpId, WarpSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

/// Since when instructions of a warp count as progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Since {
    /// It began its logical block.
    #[default]
    Iteration,
    /// It began its virtual block.
    Start,
}

/// A block, from all its warps.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Block {
    /// Instructions of all its warps.
    progress: u64,
    /// Its lowest iteration and warps that are in it; warps that are in a higher one.
    lowest: u32,
    low: u64,
    high: u64,
}

/// Where a warp stands; the smallest comes first: its class, up to two numbers of the block, the block, the warp.
type Place = (u8, u64, u64, u64, u64);

/// A scheduler by progress.
pub struct ByProgress {
    /// Warps of one block may be in different iterations; else, in different states only when some have ended.
    is_virtual: bool,
    since: Since,
    /// Cycles for which the order stays as it is.
    every: Cycle,
    /// The blocks by slot, as they were when they were last looked at.
    blocks: RefCell<Vec<Block>>,
    known: RefCell<Known>,
}

saved!(ByProgress { values: blocks, known; fixed: is_virtual, since, every });

/// Where warps stand until the next look.
#[derive(Default, serde::Serialize, serde::Deserialize)]
struct Known {
    until: Cycle,
    /// By slot; none for warps that have come since.
    places: Vec<Option<Place>>,
}

/// More first.
fn most(number: u64) -> u64 {
    u64::MAX - number
}

impl ByProgress {
    pub(super) fn new(is_virtual: bool, since: Since, every: Cycle) -> Self {
        Self { is_virtual, since, every, blocks: RefCell::default(), known: RefCell::default() }
    }

    fn progress(&self, view: &SchedulerView<'_>, warp: WarpId) -> u64 {
        match self.since {
            Since::Iteration => view.progress(warp),
            Since::Start => view.issued[warp.index()],
        }
    }

    /// Makes the order anew when its time has come, or when there are warps that are not in it.
    fn look(&self, view: &SchedulerView<'_>) {
        if self.every <= 1 {
            self.look_at_blocks(view);
            return;
        }
        let known = &mut *self.known.borrow_mut();
        known.places.resize(view.table.slots(), None);
        if view.now < known.until && view.warps.iter().all(|w| known.places[w.index()].is_some()) {
            return;
        }
        self.look_at_blocks(view);
        known.places.fill(None);
        view.warps.iter().for_each(|w| known.places[w.index()] = Some(self.find_place(view, w)));
        known.until = (view.now / self.every + 1) * self.every;
    }

    /// Looks at all warps of the SM: blocks are the same for every scheduler.
    fn look_at_blocks(&self, view: &SchedulerView<'_>) {
        let mut blocks = self.blocks.borrow_mut();
        blocks.clear();
        blocks.resize(view.blocks.len(), Block::default());
        for n in 0..view.table.slots() {
            let warp = WarpId(n as u16);
            let info = view.table.get(warp);
            let Some(block) = blocks.get_mut(info.cta as usize) else { continue };
            block.progress += self.progress(view, warp);
            if !info.valid || info.ended {
                continue;
            }
            let iteration = view.iteration(warp);
            match block.low {
                0 => (block.lowest, block.low) = (iteration, 1),
                _ if iteration < block.lowest => {
                    (block.lowest, block.high, block.low) = (iteration, block.high + block.low, 1);
                }
                _ if iteration == block.lowest => block.low += 1,
                _ => block.high += 1,
            }
        }
    }

    /// Where a warp stands, after [`ByProgress::look`].
    fn place(&self, view: &SchedulerView<'_>, warp: WarpId) -> Place {
        let known = if self.every > 1 { self.known.borrow().places[warp.index()] } else { None };
        known.unwrap_or_else(|| self.find_place(view, warp))
    }

    fn find_place(&self, view: &SchedulerView<'_>, warp: WarpId) -> Place {
        let slot = view.table.get(warp).cta;
        let block = self.blocks.borrow().get(slot as usize).copied().unwrap_or_default();
        let BlockState { cta, waiting, ended, .. } = view.block(warp);
        let own = self.progress(view, warp);
        if view.iterations.is_last {
            return (0, block.progress, 0, cta, own);
        }
        if waiting > 0 {
            return (0, most(u64::from(waiting)), most(block.progress), cta, own);
        }
        let is_apart = if self.is_virtual { block.high > 0 } else { ended > 0 };
        match is_apart {
            false => (2, most(block.progress), 0, cta, most(own)),
            true if view.iteration(warp) == block.lowest => (1, block.low, 0, cta, own),
            true => (3, most(block.high), 0, cta, most(own)),
        }
    }
}

impl IssueScheduler for ByProgress {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        self.look(view);
        by_rank(view, order, |w| (self.place(view, w), view.age[w.index()]));
    }

    fn is_before(&self, view: &SchedulerView<'_>, a: WarpId, b: WarpId) -> bool {
        self.look(view);
        let place = |w: WarpId| (self.place(view, w), view.age[w.index()]);
        place(a) < place(b)
    }

    fn first_of(&self, view: &SchedulerView<'_>, among: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        let mut warps = among.iter();
        let first = warps.next()?;
        if warps.next().is_none() {
            return Some(first);
        }
        self.look(view);
        among.iter().min_by_key(|w| (self.place(view, *w), view.age[w.index()]))
    }

    fn warp_changed(&mut self, warp: WarpId, _: bool) {
        if let Some(place) = self.known.get_mut().places.get_mut(warp.index()) {
            *place = None;
        }
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}

#[cfg(test)]
mod tests;
