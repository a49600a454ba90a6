//! The event stream: what happened, for traces, timelines and records. Nothing is kept when nobody listens.

use crate::packet::Cycle;
use crate::seam::{Cause, Place};

/// Something that happened on an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Cycle,
    /// Where.
    pub sm: u16,
    /// What.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Warps by the size of the gang they are in, from now on.
    Gangs {
        /// By size; those of size 1 issue on their own.
        sizes: [u16; 9],
    },
    /// A block became resident.
    CtaStart {
        /// Number in the grid.
        cta: u64,
        /// Slot on the SM.
        slot: u32,
    },
    /// A block ended.
    CtaEnd {
        /// Number in the grid.
        cta: u64,
        /// Slot on the SM.
        slot: u32,
    },
    /// A warp was formed.
    WarpStart {
        /// Warp.
        warp: u16,
        /// Slot of its block.
        slot: u32,
        /// Lanes.
        lanes: u32,
    },
    /// All lanes of a warp have ended; it has issued this many instructions.
    WarpExit {
        /// Warp.
        warp: u16,
        /// Slot of its block.
        slot: u32,
        /// Instructions.
        warp_insts: u64,
        /// The same counted by thread.
        thread_insts: u64,
    },
    /// A thread is in this lane of a warp from now on.
    Thread {
        /// Warp.
        warp: u16,
        /// Lane.
        lane: u8,
        /// Slot of its block.
        slot: u32,
        /// Number in the block.
        thread: u16,
    },
    /// An instruction was issued.
    Issue {
        /// Warp.
        warp: u16,
        /// Operation.
        pc: u32,
        /// Lanes of the warp that are at it.
        at: u32,
        /// Those of them whose guard is true.
        lanes: u32,
    },
    /// A scheduler's slots stayed empty from this cycle on.
    Stall {
        /// Scheduler.
        scheduler: u8,
        /// Why.
        cause: Cause,
        /// Cycles.
        cycles: u64,
    },
    /// What a warp could do when schedulers looked, from this cycle on: told where it or the operation is another than
    /// before.
    State {
        /// Warp.
        warp: u16,
        /// Slot of its block.
        slot: u32,
        /// Operation it is at.
        pc: u32,
        /// What it could do, or why it cannot.
        place: Place,
    },
    /// Lanes of a warp came to a barrier.
    BarrierArrive {
        /// Warp.
        warp: u16,
        /// Operation.
        pc: u32,
        /// Slot of its block.
        slot: u32,
        /// Barrier.
        number: u8,
    },
    /// A barrier let a warp go.
    BarrierLeave {
        /// Warp.
        warp: u16,
        /// Slot of its block.
        slot: u32,
        /// Barrier.
        number: u8,
    },
    /// A request left for the interconnect.
    Request {
        /// Address.
        address: u64,
        /// Bytes.
        bytes: u32,
        /// Whether it writes.
        write: bool,
    },
    /// What a memory instruction asks for, part by part; told to those who want accesses.
    Access(AccessPart),
}

/// A part of what a memory instruction asks of global or shared memory. The parts of one instruction come one after
/// another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessPart {
    /// The first: the instruction.
    Start {
        /// Warp.
        warp: u16,
        /// Operation.
        pc: u32,
        /// Bytes of each lane.
        lane_bytes: u16,
        /// Sectors of global memory that its requests have.
        sectors: u16,
        /// Sectors its bytes would fit in.
        least_sectors: u16,
        /// Cycles the banks of shared memory take.
        bank_cycles: u16,
    },
    /// A lane that wants something of global memory.
    Global {
        /// Lane.
        lane: u8,
        /// Address.
        address: u64,
    },
    /// A request for some of these lanes.
    Request {
        /// First byte.
        address: u64,
        /// Bytes.
        bytes: u32,
        /// The lanes it is for.
        lanes: u32,
    },
    /// A lane that wants something of shared memory.
    Shared {
        /// Lane.
        lane: u8,
        /// Offset in shared memory.
        offset: u32,
        /// The bank it is in.
        bank: u8,
        /// The cycle of the access in which the bank gives it, counted from 0.
        cycle: u8,
    },
}
