//! The seam of logical blocks: when a warp of a virtual block takes its next logical block, and which of its warps it
//! becomes.
//!
//! A warp that comes to `raddle.next_tbid` has left its logical block and waits. What it does for one logical block is
//! an *iteration*; iterations are numbered from one. The SM does the following. It keeps track of where each warp is
//! ([`VirtualBlock`]). It requests logical blocks from the GPU's counter. It gives each iteration its own barriers. It
//! keeps warps from using shared memory that others may still use, and clears it in between. The mechanism decides
//! everything else.

use crate::saved::Saved;
use raddle_ptx::transform::ThreadOrder;
use std::collections::VecDeque;

/// How many iterations a warp can be ahead of another one of its virtual block: each iteration has a bank of barriers,
/// and there are two banks.
pub const MOST_AHEAD: u32 = 1;

/// Properties that all virtual blocks of a launch share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogicalLaunch {
    /// Which warp of its next logical block a warp is to become, as the kernel says in `raddle.next_tidx`.
    pub order: ThreadOrder,
    /// Warps of a block.
    pub warps: u16,
    /// The last of them is not full.
    pub is_last_partial: bool,
}

impl LogicalLaunch {
    /// Whether a warp keeps its number in every logical block, because the kernel relies on it or because no other warp
    /// has as few threads.
    #[must_use]
    pub fn stays(&self, warp: u16) -> bool {
        self.order == ThreadOrder::SameLane || self.is_last_partial && warp + 1 == self.warps
    }
}

/// Where a warp of a virtual block is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LogicalWarp {
    /// The iteration that it is in, or that it has left to wait for the next; 0 before the first.
    pub iteration: u32,
    /// Which warp of the logical block it is in this iteration.
    pub role: u16,
    /// It has left its iteration and waits for the next.
    pub has_left: bool,
    /// It will not begin another one.
    pub has_ended: bool,
}

/// Where the warps of a virtual block are, and the logical blocks it has received. The SM updates it; mechanisms read
/// it.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct VirtualBlock {
    warps: Vec<LogicalWarp>,
    /// Those that wait for their next iteration, in the order in which they came.
    waiting: Vec<u16>,
    /// The first iteration whose logical block is still known, and the logical blocks from it on.
    from: u32,
    blocks: VecDeque<u32>,
    /// The last iteration whose logical block has been requested.
    asked: u32,
}

impl VirtualBlock {
    /// A virtual block with so many warps, which begins with this logical block.
    #[must_use]
    pub fn new(warps: u16, first: u32) -> Self {
        let warps = vec![LogicalWarp::default(); usize::from(warps)];
        Self { warps, waiting: Vec::new(), from: 1, blocks: VecDeque::from([first]), asked: 1 }
    }

    // For mechanisms.

    /// The warps with their numbers.
    pub fn warps(&self) -> impl Iterator<Item = (u16, &LogicalWarp)> {
        (0..).zip(&self.warps)
    }

    /// The warps that have not ended.
    pub fn live(&self) -> impl Iterator<Item = (u16, &LogicalWarp)> {
        self.warps().filter(|(_, w)| !w.has_ended)
    }

    /// One of them.
    #[must_use]
    pub fn warp(&self, warp: u16) -> &LogicalWarp {
        &self.warps[usize::from(warp)]
    }

    /// Those that wait for their next iteration, in the order in which they came.
    #[must_use]
    pub fn waiting(&self) -> &[u16] {
        &self.waiting
    }

    /// The logical block of an iteration, if it has arrived and the iteration is not over.
    #[must_use]
    pub fn block(&self, iteration: u32) -> Option<u32> {
        self.blocks.get(iteration.checked_sub(self.from)? as usize).copied()
    }

    /// The last iteration whose logical block has been requested. The first one is known from the start.
    #[must_use]
    pub fn asked(&self) -> u32 {
        self.asked
    }

    /// The lowest iteration of all warps that have not ended.
    #[must_use]
    pub fn lowest(&self) -> u32 {
        self.live().map(|(_, w)| w.iteration).min().unwrap_or(0)
    }

    /// Whether a warp has left an iteration, or is past it.
    #[must_use]
    pub fn is_past(&self, warp: u16, iteration: u32) -> bool {
        let warp = self.warp(warp);
        warp.has_ended || warp.iteration > iteration || warp.iteration == iteration && warp.has_left
    }

    /// Whether every warp has left an iteration, or is past it.
    #[must_use]
    pub fn all_have_left(&self, iteration: u32) -> bool {
        self.warps().all(|(n, _)| self.is_past(n, iteration))
    }

    /// Whether others are still in an iteration before that of a warp: they may use shared memory, and it may not.
    #[must_use]
    pub fn is_ahead(&self, warp: u16) -> bool {
        let iteration = self.warp(warp).iteration;
        iteration > 1 && !self.all_have_left(iteration - 1)
    }

    // What the SM does with it, and tests of mechanisms do.

    /// A warp has left its iteration.
    pub fn leave(&mut self, warp: u16) {
        self.warps[usize::from(warp)].has_left = true;
        self.waiting.push(warp);
    }

    /// A warp has ended.
    pub fn end(&mut self, warp: u16) {
        self.warps[usize::from(warp)].has_ended = true;
        self.waiting.retain(|w| *w != warp);
    }

    /// The logical block of one more iteration has been requested.
    pub fn ask(&mut self) {
        self.asked += 1;
    }

    /// The requested logical block is this one.
    pub fn answer(&mut self, block: u32) {
        self.blocks.push_back(block);
    }

    /// A warp begins its next iteration, whose logical block has arrived, as this warp of it.
    ///
    /// # Panics
    /// If the decision of the mechanism breaks a rule of [`LogicalBlocks::begins`].
    pub fn begin(&mut self, launch: &LogicalLaunch, warp: u16, role: u16) {
        let iteration = self.warp(warp).iteration + 1;
        let is_behind = |w: &LogicalWarp| !w.has_ended && w.iteration + MOST_AHEAD < iteration;
        let has_role = |w: &LogicalWarp| w.iteration == iteration && w.role == role;
        let is_its_own = if launch.stays(warp) { role == warp } else { role < launch.warps && !launch.stays(role) };
        assert!(!self.warps.iter().any(is_behind), "warp {warp} begins iteration {iteration} too early");
        assert!(is_its_own, "warp {warp} cannot become warp {role} of a logical block");
        assert!(!self.warps.iter().any(has_role), "two warps become warp {role} of iteration {iteration}");
        self.waiting.retain(|w| *w != warp);
        self.warps[usize::from(warp)] = LogicalWarp { iteration, role, has_left: false, has_ended: false };
        let over = self.lowest().saturating_sub(self.from);
        self.blocks.drain(..(over as usize).min(self.blocks.len()));
        self.from += over;
    }
}

/// What a mechanism may look at.
#[derive(Clone, Copy, Debug)]
pub struct LogicalView<'a> {
    /// The slot of the SM that the virtual block is in.
    pub slot: u32,
    /// Its warps.
    pub block: &'a VirtualBlock,
    /// Instructions each of them has issued.
    pub issued: &'a [u64],
    /// Instructions each of them had issued when it began its iteration.
    pub from: &'a [u64],
}

impl LogicalView<'_> {
    /// Instructions a warp has issued in its iteration.
    #[must_use]
    pub fn progress(&self, warp: u16) -> u64 {
        self.issued[usize::from(warp)] - self.from[usize::from(warp)]
    }
}

/// When a warp of a virtual block takes its next logical block, and which of its warps it becomes. One object per SM.
///
/// The SM acts whenever a warp of a virtual block has left its iteration or ended, or a logical block has arrived. It
/// asks for each waiting warp, in order of arrival, whether it begins (`begins`). After a warp that begins, it asks for
/// all again. Then it asks once whether to request another logical block (`asks`). It does none of this in launches
/// whose kernel does not request logical blocks. Nor does it on machines where threads change warps or warps form
/// gangs: there a block takes its logical blocks as a whole.
pub trait LogicalBlocks: Send {
    /// A launch with virtual blocks begins. Called once, before everything else.
    fn start_launch(&mut self, launch: &LogicalLaunch);

    /// A virtual block has come to a slot. Its first logical block has its own number and is known.
    fn start_block(&mut self, slot: u32) {
        let _ = slot;
    }

    /// A warp has left its iteration and waits.
    fn left(&mut self, view: &LogicalView<'_>, warp: u16) {
        let _ = (view, warp);
    }

    /// Whether a waiting warp begins its next iteration now, and if so, as which warp of the logical block. That block
    /// has arrived.
    ///
    /// No warp may get further ahead of another one than [`MOST_AHEAD`]. A warp that [stays](LogicalLaunch::stays) must
    /// keep its number, and each of the other numbers must be assigned once in an iteration.
    fn begins(&mut self, view: &LogicalView<'_>, warp: u16) -> Option<u16>;

    /// Whether to request the logical block of one more iteration, the one after [`VirtualBlock::asked`]. It arrives
    /// one window later. Some warp must then begin it, because no other virtual block gets it.
    fn asks(&mut self, view: &LogicalView<'_>) -> bool;

    /// Why a warp that waits does not begin even if its logical block comes, for reports.
    fn reason(&self, view: &LogicalView<'_>, warp: u16) -> Option<String> {
        let _ = (view, warp);
        None
    }

    /// The values of the counters that it declares in its [`MechanismInfo`](super::MechanismInfo), in that order. Asked
    /// once, at the end of a launch; values of several objects are added up.
    fn counters(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Its state, for checkpoints ([`saved!`](crate::saved!)). A type without fields has none. A type with fields that
    /// does not return them here cannot be used in runs with checkpoints.
    fn saved(&mut self) -> Option<&mut dyn Saved> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOWEST: LogicalLaunch = LogicalLaunch { order: ThreadOrder::LowestLane, warps: 3, is_last_partial: true };

    fn begun() -> VirtualBlock {
        let mut block = VirtualBlock::new(3, 7);
        for warp in 0..3 {
            block.leave(warp);
            block.begin(&LOWEST, warp, warp);
        }
        block
    }

    #[test]
    fn logical_blocks_are_known_while_somebody_is_in_them() {
        let mut block = begun();
        assert_eq!((block.block(0), block.block(1), block.block(2)), (None, Some(7), None));
        block.ask();
        block.answer(9);
        block.leave(0);
        block.begin(&LOWEST, 0, 1);
        assert_eq!((block.block(1), block.block(2), block.asked()), (Some(7), Some(9), 2));
        assert!(block.is_ahead(0) && !block.is_ahead(1));
        block.leave(1);
        block.begin(&LOWEST, 1, 0);
        block.end(2);
        assert!(!block.is_ahead(0), "who has ended uses nothing");
        assert!(block.all_have_left(1));
        assert_eq!(block.lowest(), 2);
    }

    #[test]
    #[should_panic(expected = "warp 0 begins iteration 3 too early")]
    fn nobody_gets_two_ahead() {
        let mut block = begun();
        block.begin(&LOWEST, 0, 0);
        block.begin(&LOWEST, 0, 0);
    }

    #[test]
    #[should_panic(expected = "warp 2 cannot become warp 0 of a logical block")]
    fn a_last_warp_that_is_not_full_stays_the_last() {
        begun().begin(&LOWEST, 2, 0);
    }

    #[test]
    #[should_panic(expected = "two warps become warp 1 of iteration 2")]
    fn every_warp_of_a_logical_block_runs_once() {
        let mut block = begun();
        block.begin(&LOWEST, 0, 1);
        block.begin(&LOWEST, 1, 1);
    }
}
