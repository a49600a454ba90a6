//! The scheduling seams: issue, fetch, dispatch, gating.

use super::{Cause, WarpId, WarpSet, WarpTable};
use crate::kernel::{TimedOp, UnitKind};
use crate::packet::Cycle;

/// A resident block as schedulers see it. The SM's schedulers see the same: their warps are of the same blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockState {
    /// Number in the grid.
    pub cta: u64,
    /// Its warps that wait at a barrier.
    pub waiting: u32,
    /// When the first of them came there.
    pub since: Cycle,
}

/// What an issue scheduler may look at.
pub struct SchedulerView<'a> {
    /// Now.
    pub now: Cycle,
    /// The warps of this scheduler that are in use.
    pub warps: &'a WarpSet,
    /// Warps that wait for a register from memory.
    pub waits_for_memory: &'a WarpSet,
    /// Warps at a barrier, a fence, or ended.
    pub waiting: &'a WarpSet,
    /// Control flow of all warps of the SM.
    pub table: &'a WarpTable,
    /// When each warp came to the SM: a number that grows with every warp.
    pub age: &'a [u64],
    /// Instructions each warp has issued.
    pub issued: &'a [u64],
    /// The blocks of the SM, by slot.
    pub blocks: &'a [BlockState],
    /// The kernel, by program counter.
    pub ops: &'a [TimedOp],
}

impl SchedulerView<'_> {
    /// The instruction a warp is at.
    #[must_use]
    pub fn op(&self, warp: WarpId) -> Option<&TimedOp> {
        self.ops.get(self.table.get(warp).pc as usize)
    }

    /// The block a warp belongs to.
    #[must_use]
    pub fn block(&self, warp: WarpId) -> BlockState {
        self.blocks.get(self.table.get(warp).cta as usize).copied().unwrap_or_default()
    }
}

/// Which warp issues. One object per scheduler.
///
/// In every cycle the SM calls `pick` once with the warps that can issue, and `issued` if one did. Both must depend
/// only on what the object was told and on the view: a run is replayed exactly.
pub trait IssueScheduler: Send {
    /// All warps of the scheduler, the one to be preferred first. Does not change the scheduler.
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>);

    /// The warp of `among` that comes first in the priority order, whether or not it can issue; `scratch` is for its own
    /// use. Asked in every cycle, so worth an answer that does not make the whole order.
    fn first_of(&self, view: &SchedulerView<'_>, among: &WarpSet, scratch: &mut Vec<WarpId>) -> Option<WarpId> {
        scratch.clear();
        self.priority_order(view, scratch);
        scratch.iter().copied().find(|w| among.contains(*w))
    }

    /// The warp to issue from, out of `eligible`; `scratch` is for its own use.
    fn pick(&mut self, view: &SchedulerView<'_>, eligible: &WarpSet, scratch: &mut Vec<WarpId>) -> Option<WarpId> {
        self.first_of(view, eligible, scratch)
    }

    /// Whether `a` comes before `b` in the priority order. Asked only now and then, but worth an answer that does not
    /// make the whole order.
    fn is_before(&self, view: &SchedulerView<'_>, a: WarpId, b: WarpId) -> bool {
        let mut order = Vec::new();
        self.priority_order(view, &mut order);
        let place = |warp: WarpId| order.iter().position(|w| *w == warp);
        place(a) < place(b)
    }

    /// A warp has issued.
    fn issued(&mut self, view: &SchedulerView<'_>, warp: WarpId) {
        let _ = (view, warp);
    }

    /// A warp came to the SM, or its slot was freed.
    fn warp_changed(&mut self, warp: WarpId, present: bool) {
        let _ = (warp, present);
    }

    /// A warp came to a barrier, or may leave it.
    fn barrier(&mut self, warp: WarpId, arrives: bool) {
        let _ = (warp, arrives);
    }

    /// When it next acts on its own, if nothing else happens: the SM does not sleep past it.
    fn next_event(&self, now: Cycle) -> Option<Cycle> {
        let _ = now;
        None
    }

    /// Cycles `from` to `to` passed without a call because nothing could issue.
    fn skip(&mut self, from: Cycle, to: Cycle) {
        let _ = (from, to);
    }
}

/// Calls a function with what issue scheduler number `n` sees.
pub type IssueViews<'a> = &'a dyn Fn(usize, &mut dyn FnMut(&SchedulerView<'_>));

/// What a fetch scheduler may look at.
pub struct FetchView<'a> {
    /// Now.
    pub now: Cycle,
    /// Warps that want instructions: room in the buffer, no miss on the way, not ended.
    pub wanting: &'a WarpSet,
    /// Decoded instructions a warp has.
    pub entries: &'a dyn Fn(WarpId) -> u32,
    /// Slots of the SM.
    pub slots: usize,
    /// The issue schedulers; warp `w` belongs to number `w` modulo their count.
    pub issue: &'a [Box<dyn IssueScheduler>],
    /// What issue scheduler `n` sees.
    pub issue_view: IssueViews<'a>,
}

/// Which warp's next instructions are fetched. One object per SM.
pub trait FetchScheduler: Send {
    /// The warp to fetch for.
    fn pick(&mut self, view: &FetchView<'_>) -> Option<WarpId>;

    /// A fetch was tried for a warp: it hit, missed or was refused by the cache.
    fn fetched(&mut self, warp: WarpId, hit: bool) {
        let _ = (warp, hit);
    }

    /// Whether warps that wait at a barrier want instructions; when not, they are not among those it chooses from.
    fn serves_waiting(&self) -> bool {
        true
    }
}

/// What a dispatcher may look at, at the start of a window.
pub struct DispatchView<'a> {
    /// Now.
    pub now: Cycle,
    /// Blocks each SM has room for.
    pub room: &'a [u32],
    /// Blocks resident on each SM.
    pub resident: &'a [u32],
    /// Number of the next block.
    pub next: u64,
    /// Blocks of the grid.
    pub total: u64,
}

/// A block for an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The SM.
    pub sm: u32,
    /// The block.
    pub cta: u64,
}

/// Which block goes to which SM and when. One object for the GPU.
pub trait Dispatcher: Send {
    /// Blocks to start in this cycle, at most one for an SM, in ascending order of block number. Called for every
    /// cycle of a window in which blocks are left and an SM has room.
    fn dispatch(&mut self, view: &DispatchView<'_>, out: &mut Vec<Assignment>);
}

/// How an instruction goes through its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Times the unit is occupied as long as usual.
    pub passes: u32,
    /// Extra cycles of latency.
    pub extra_latency: u32,
}

/// Which lanes are powered. One object per SM.
pub trait Gating: Send {
    /// Whether an instruction of this kind may go to its unit now.
    ///
    /// # Errors
    /// The cause to charge when it may not.
    fn may_issue(&self, unit: UnitKind, op: &TimedOp, mask: u32) -> Result<(), Cause> {
        let _ = (unit, op, mask);
        Ok(())
    }

    /// An instruction is issued for the lanes of `mask`: how it is executed.
    fn issued(&mut self, now: Cycle, unit: UnitKind, op: &TimedOp, mask: u32) -> Shape {
        let _ = (now, unit, op, mask);
        Shape { passes: 1, extra_latency: 0 }
    }

    /// Whether it may ever refuse or change an instruction; when not, the SM does not ask.
    fn is_active(&self) -> bool {
        true
    }

    /// When it next acts on its own, if nothing else happens: the SM does not sleep past it.
    fn next_event(&self, now: Cycle) -> Option<Cycle> {
        let _ = now;
        None
    }

    /// Cycles `from` to `to` passed without an instruction.
    fn skip(&mut self, from: Cycle, to: Cycle) {
        let _ = (from, to);
    }
}
