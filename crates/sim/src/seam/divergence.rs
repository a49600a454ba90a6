//! The divergence seam: which threads form a warp, and where it is in the program.

use super::{DataAccess, WarpId, WarpTable};
use crate::packet::Cycle;
use crate::saved::Saved;
use raddle_exec::Program;
use raddle_exec::core::{Arrival, Lanes};
use raddle_exec::op::Op;

/// What an issued instruction did to control flow. Masks are of the warp's lanes.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
    /// Every lane continues after it.
    Next,
    /// A branch: the lanes of `taken` go to the instruction's target, the others continue after it.
    Branch {
        /// Lanes that jump.
        taken: u32,
        /// The instruction.
        op: &'a Op,
    },
    /// Each lane of `active` goes to its own target, and its call depth changes; the others continue after the
    /// instruction.
    Scatter {
        /// Lanes that jump.
        active: u32,
        /// Their targets, by lane.
        targets: &'a [u32; 32],
        /// Change of call depth.
        depth: i32,
        /// The instruction.
        op: &'a Op,
    },
    /// Lanes end; the others continue.
    Exit {
        /// Lanes that end.
        mask: u32,
    },
    /// Lanes arrive at barriers. With `wait` they stay until [`Divergence::release`].
    Barrier {
        /// Which lanes at which barrier.
        arrivals: &'a [Arrival],
        /// Lanes that take part.
        active: u32,
        /// Whether they wait.
        wait: bool,
    },
    /// Lanes wait until all lanes of `wanted` (of the static warp) are at the same warp-wide operation.
    Sync {
        /// Lanes to wait for.
        wanted: u32,
        /// They may wait at any such operation, not only this one.
        anywhere: bool,
    },
}

/// Threads that leave a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Leaving<'a> {
    /// Their warp, by its slot.
    pub warp: WarpId,
    /// The operation they waited at.
    pub pc: u32,
    /// The registers they work on.
    pub lanes: Lanes<'a>,
    /// Which of them.
    pub mask: u32,
}

/// An entry of a reconvergence stack, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackEntry {
    /// Next operation.
    pub pc: u32,
    /// Lanes.
    pub mask: u32,
    /// Where it reconverges with others.
    pub rejoin: Option<u32>,
    /// What it waits for.
    pub waits: Option<String>,
}

/// Which threads form a schedulable warp, its program counter and mask, and where threads wait and reconverge.
///
/// The SM calls `start_cta` when a block becomes resident. It calls `issued` once after every instruction, in the cycle
/// of issue, except for instructions that the model leaves to the machine ([`WarpTable::set_until`]). The model must
/// leave every warp in the table in one of three states: it can continue ([`WarpTable::set`]), it waits
/// ([`WarpTable::block`]) or it has ended ([`WarpTable::end`]).
///
/// A model that makes warps of threads from several static warps says so ([`Divergence::regroups`]). It forms them in
/// the slots it was given ([`WarpTable::form`]), and what the machine knows of a slot's decoded instructions is then
/// forgotten. Instructions still in flight belong to the threads that issued them, not to the slot. A model that gives
/// each split of a static warp a slot takes these slots from a pool ([`Divergence::pool`], [`Divergence::splits`]).
pub trait Divergence: Send {
    /// A kernel is launched.
    ///
    /// # Errors
    /// Why the model cannot run it, with the operation that prevents it.
    fn start_launch(&mut self, program: &Program) -> Result<(), (u32, String)> {
        let _ = program;
        Ok(())
    }

    /// Whether warps are made of threads from several static warps.
    fn regroups(&self) -> bool {
        false
    }

    /// Slots for its warps on an SM that holds this many static warps, when warps are made of threads from several
    /// blocks. The SM then gives no slot to a block: the model takes any free one, and frees it ([`WarpTable::free`]).
    fn pool(&self, static_warps: usize) -> Option<usize> {
        let _ = static_warps;
        None
    }

    /// Whether the warps of a pool are splits of static warps. Each split issues one instruction after another and
    /// waits only for registers of its own lanes. Other warps of a pool issue one instruction at a time.
    fn splits(&self) -> bool {
        false
    }

    /// A warp has nothing in flight any more. Only called for models with a pool.
    fn finished(&mut self, warp: WarpId, table: &mut WarpTable) {
        let _ = (warp, table);
    }

    /// Whether the model wants to know what becomes of requests at the data cache ([`Self::data_access`]). Asked once.
    fn watches_data(&self) -> bool {
        false
    }

    /// A request of a warp has reached the data cache, or its data have come. The warp's threads may have moved on
    /// since.
    fn data_access(&mut self, access: &DataAccess, table: &mut WarpTable) {
        let _ = (access, table);
    }

    /// When the model next acts on its own; [`Cycle::MAX`] if it does not.
    fn next_event(&self) -> Cycle {
        Cycle::MAX
    }

    /// The time of `next_event` has come, at the start of a cycle.
    fn tick(&mut self, table: &mut WarpTable) {
        let _ = table;
    }

    /// The most entries a reconvergence stack has had.
    fn stack_depth(&self) -> u32 {
        0
    }

    /// A block became resident. `warps` are the free slots for its static warps, in order: row, first lane and
    /// lanes of each.
    fn start_cta(&mut self, cta: u32, warps: &[(WarpId, u32, u8, u32)], table: &mut WarpTable);

    /// An instruction at the warp's program counter has been issued for the lanes of its mask.
    fn issued(&mut self, warp: WarpId, outcome: Outcome<'_>, table: &mut WarpTable);

    /// Barrier `number` of a block is complete: calls `leave` with all threads that waited there, and lets them
    /// continue after it.
    fn release(&mut self, cta: u32, number: u8, table: &mut WarpTable, leave: &mut dyn FnMut(Leaving<'_>));

    /// Lanes of a warp that wait at the same warp-wide operation and whose partners have all come: the operation and
    /// the lanes. From now on these lanes continue after it. In kernels with such operations, the SM calls this after
    /// every issue until it returns `None`.
    fn take_sync(&mut self, warp: WarpId, table: &mut WarpTable) -> Option<(u32, u32)>;

    /// A block has ended; its warps' slots will be used again.
    fn end_cta(&mut self, cta: u32, table: &mut WarpTable);

    /// The splits of a warp; the one that runs first is the last.
    fn stack(&self, warp: WarpId, table: &WarpTable) -> Vec<StackEntry>;

    /// The same for a static warp, lanes `mask` of a row of registers, wherever its threads are. Only called for models
    /// with a pool; masks of the entries are of the row.
    fn parts(&self, row: u32, mask: u32) -> Vec<StackEntry> {
        let _ = (row, mask);
        Vec::new()
    }

    /// The values of the counters that it declares in its [`MechanismInfo`](super::MechanismInfo), in that order. Asked
    /// once, at the end of a launch; the values of several objects are added up.
    fn counters(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Its state, for checkpoints ([`saved!`](crate::saved!)). A type without fields has none. A type with fields that
    /// does not return them here cannot be used in runs with checkpoints.
    fn saved(&mut self) -> Option<&mut dyn Saved> {
        None
    }
}
