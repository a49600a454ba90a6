//! The scheduling seams: issue, fetch, dispatch.

use super::{DataAccess, Place, WarpId, WarpSet, WarpTable};
use crate::kernel::TimedOp;
use crate::packet::Cycle;
use crate::saved::Saved;

/// A resident block as schedulers see it. All schedulers of an SM see the same blocks, whose warps they share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BlockState {
    /// Number in the grid.
    pub cta: u64,
    /// Its warps that wait at a barrier.
    pub waiting: u32,
    /// When the first of them arrived there.
    pub since: Cycle,
    /// Its warps that have ended.
    pub ended: u32,
}

/// How far warps are in the logical blocks of virtual blocks, and whether blocks are left.
#[derive(Clone, Copy, Debug, Default)]
pub struct Iterations<'a> {
    /// The number of logical blocks that each warp has begun; empty if blocks are not virtual.
    pub number: &'a [u32],
    /// The instructions that each warp had issued when it began the last one.
    pub from: &'a [u64],
    /// No block is left to be dispatched or assigned, neither of the grid nor of logical ones.
    pub is_last: bool,
}

/// What an issue scheduler may look at.
pub struct SchedulerView<'a> {
    /// Now.
    pub now: Cycle,
    /// The warps of this scheduler that are in use.
    pub warps: &'a WarpSet,
    /// What every warp of the SM could do next, or why it cannot.
    pub places: &'a [Place],
    /// Control flow of all warps of the SM.
    pub table: &'a WarpTable,
    /// When each warp came to the SM: a number that grows with every warp.
    pub age: &'a [u64],
    /// Instructions each warp has issued.
    pub issued: &'a [u64],
    /// The blocks of the SM, by slot.
    pub blocks: &'a [BlockState],
    /// Logical blocks.
    pub iterations: Iterations<'a>,
    /// The kernel, by program counter.
    pub ops: &'a [TimedOp],
}

impl SchedulerView<'_> {
    /// The instruction a warp is at.
    #[must_use]
    pub fn op(&self, warp: WarpId) -> Option<&TimedOp> {
        self.ops.get(self.table.get(warp).pc as usize)
    }

    /// What a warp could do next, or why it cannot.
    #[inline]
    #[must_use]
    pub fn place(&self, warp: WarpId) -> Place {
        self.places.get(warp.index()).copied().unwrap_or_default()
    }

    /// Instructions that a warp has issued in its block, or in its logical block if it has one.
    #[must_use]
    pub fn progress(&self, warp: WarpId) -> u64 {
        self.issued[warp.index()] - self.iterations.from.get(warp.index()).copied().unwrap_or(0)
    }

    /// How many logical blocks a warp has begun; 0 if blocks are not virtual.
    #[must_use]
    pub fn iteration(&self, warp: WarpId) -> u32 {
        self.iterations.number.get(warp.index()).copied().unwrap_or(0)
    }

    /// The block a warp belongs to.
    #[must_use]
    pub fn block(&self, warp: WarpId) -> BlockState {
        self.blocks.get(self.table.get(warp).cta as usize).copied().unwrap_or_default()
    }
}

/// Which warp issues. One object per scheduler.
///
/// In every cycle the SM calls `pick` with the warps that can issue, and `issued` if one issued. The decision must
/// depend only on the view and on what the object was told, so that runs are reproducible.
pub trait IssueScheduler: Send {
    /// All warps of the scheduler, the preferred one first. Does not change the scheduler.
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>);

    /// The warp of `among` that comes first in the priority order, whether or not it can issue; `scratch` is for its
    /// own use. It is called in every cycle, so it should not compute the whole order.
    fn first_of(&self, view: &SchedulerView<'_>, among: &WarpSet, scratch: &mut Vec<WarpId>) -> Option<WarpId> {
        scratch.clear();
        self.priority_order(view, scratch);
        scratch.iter().copied().find(|w| among.contains(*w))
    }

    /// The warp to issue from, out of `eligible`; `scratch` is for its own use.
    fn pick(&mut self, view: &SchedulerView<'_>, eligible: &WarpSet, scratch: &mut Vec<WarpId>) -> Option<WarpId> {
        self.first_of(view, eligible, scratch)
    }

    /// Whether `a` comes before `b` in the priority order. It is called less often, but should not compute the whole
    /// order either.
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

    /// A warp has arrived at a barrier, or may leave it.
    fn barrier(&mut self, warp: WarpId, arrives: bool) {
        let _ = (warp, arrives);
    }

    /// Whether it wants to know what becomes of its warps' requests at the data cache ([`Self::data_access`]). Asked
    /// once.
    fn watches_data(&self) -> bool {
        false
    }

    /// A request of one of its warps has reached the data cache, or its data have arrived. Called before the next
    /// `pick`.
    fn data_access(&mut self, access: &DataAccess) {
        let _ = access;
    }

    /// When it next acts on its own, if nothing else happens. The SM does not sleep past this time.
    fn next_event(&self, now: Cycle) -> Option<Cycle> {
        let _ = now;
        None
    }

    /// Cycles `from` to `to` passed without a call because nothing could issue.
    fn skip(&mut self, from: Cycle, to: Cycle) {
        let _ = (from, to);
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

/// Calls a function with what issue scheduler number `n` sees.
pub type IssueViews<'a> = &'a dyn Fn(usize, &mut dyn FnMut(&SchedulerView<'_>));

/// What a fetch scheduler may look at.
pub struct FetchView<'a> {
    /// Now.
    pub now: Cycle,
    /// Warps that want instructions: they have room in their buffer, no outstanding miss, and have not ended.
    pub wanting: &'a WarpSet,
    /// The number of decoded instructions that a warp has.
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

    /// A fetch was tried for a warp; `hit` says whether it hit. Otherwise it missed or was refused by the cache.
    fn fetched(&mut self, warp: WarpId, hit: bool) {
        let _ = (warp, hit);
    }

    /// Whether its choice depends only on which warps want instructions and on what it was told. If so, it is not
    /// always asked again while these stay the same.
    fn chooses_by_wanting(&self) -> bool {
        false
    }

    /// Whether warps that wait at a barrier want instructions; if not, it cannot choose them.
    fn serves_waiting(&self) -> bool {
        true
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
    /// Blocks to start in this cycle, at most one for each SM, in ascending order of block number. Called for every
    /// cycle of a window, as long as blocks are left and an SM has room.
    fn dispatch(&mut self, view: &DispatchView<'_>, out: &mut Vec<Assignment>);

    /// The values of the counters that it declares in its [`MechanismInfo`](super::MechanismInfo), in that order, since
    /// it was made. A dispatcher serves all launches, so it is asked before and after each launch.
    fn counters(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Its state, for checkpoints ([`saved!`](crate::saved!)). A type without fields has none. A type with fields that
    /// does not return them here cannot be used in runs with checkpoints.
    fn saved(&mut self) -> Option<&mut dyn Saved> {
        None
    }
}
