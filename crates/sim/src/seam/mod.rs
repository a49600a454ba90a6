//! The seams: what a mechanism decides, what it is told, what it may look at.
//!
//! A mechanism never holds the machine: it gets a read-only view and returns a decision. One object of each kind
//! serves one SM (a scheduler object one scheduler), so mechanisms need no locks.

mod counted;
mod data_access;
mod divergence;
mod gang_table;
mod ganging;
mod gating;
mod key;
mod logical_blocks;
mod place;
mod registry;
mod schedule;
mod set;
mod state;
mod warp_table;

pub use counted::Counted;
pub use data_access::{DataAccess, DataOutcome};
pub use divergence::{Divergence, Leaving, Outcome, StackEntry};
pub use gang_table::{GangTable, MAX_SLICES, Parts, slices_in};
pub use ganging::{Gang, GangView, Ganging, GangingView};
pub use gating::{Census, Entry, Gating, GatingView, Shape};
pub use key::Seam;
pub use logical_blocks::{LogicalBlocks, LogicalLaunch, LogicalView, LogicalWarp, MOST_AHEAD, VirtualBlock};
pub use place::Place;
pub use registry::{Fits, Mechanism, MechanismInfo, Mechanisms, Parameter, Refusal, Registry};
pub use schedule::{
    Assignment, BlockState, DispatchView, Dispatcher, FetchScheduler, FetchView, IssueScheduler, IssueViews,
    Iterations, SchedulerView,
};
pub use set::{MAX_WARPS, WarpId, WarpSet};
pub use warp_table::{WarpInfo, WarpTable};

pub use raddle_ptx::transform::ThreadOrder;

/// The mechanisms of one SM.
pub struct SmMechanisms {
    /// Divergence model.
    pub divergence: Box<dyn Divergence>,
    /// One issue scheduler for each of the SM's schedulers.
    pub issue: Vec<Box<dyn IssueScheduler>>,
    /// One fetch scheduler for each slice.
    pub fetch: Vec<Box<dyn FetchScheduler>>,
    /// Ganging unit.
    pub ganging: Box<dyn Ganging>,
    /// Gating scheme.
    pub gating: Box<dyn Gating>,
    /// When warps take logical blocks, in launches of virtual blocks.
    pub logical_blocks: Box<dyn LogicalBlocks>,
}

/// Why a scheduler's slot stayed empty. Each empty slot has exactly one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Cause {
    /// The decoded instructions are from the wrong path, or it is not yet known where the warp continues.
    WrongPath,
    /// An operand is pending from memory.
    MemoryDependence,
    /// An operand is pending from an arithmetic unit.
    ArithmeticDependence,
    /// The SPs, or the machine's separate pipelines for integers, accept no instruction.
    SpBusy,
    /// The SFUs, or the machine's separate pipelines for double precision and matrices, accept no instruction.
    SfuBusy,
    /// The load-store unit accepts no instruction though memory has room.
    LoadStoreBusy,
    /// The load-store unit accepts no instruction because the memory system is full.
    MemoryBackPressure,
    /// The next instruction has not been fetched.
    NotFetched,
    /// Every warp that could continue waits at a barrier.
    Barrier,
    /// Warps wait for their next logical block, or, before using shared memory, for siblings in the previous one.
    Sibling,
    /// Warps wait for fences or atomics to be acknowledged.
    Fence,
    /// Warps have exited and wait for their stores or for the rest of their block.
    Draining,
    /// The lanes that an instruction needs are gated or waking.
    Gated,
    /// A mechanism holds the instruction back.
    Mechanism,
    /// The scheduler has no resident warp.
    NoWarpResident,
}

impl Cause {
    /// All causes.
    pub const ALL: [Self; 15] = [
        Self::WrongPath,
        Self::MemoryDependence,
        Self::ArithmeticDependence,
        Self::SpBusy,
        Self::SfuBusy,
        Self::LoadStoreBusy,
        Self::MemoryBackPressure,
        Self::NotFetched,
        Self::Barrier,
        Self::Sibling,
        Self::Fence,
        Self::Draining,
        Self::Gated,
        Self::Mechanism,
        Self::NoWarpResident,
    ];

    /// Its name in texts: the name in counters, apart from blanks, hyphens and capitals.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::WrongPath => "wrong path",
            Self::MemoryDependence => "memory dependence",
            Self::ArithmeticDependence => "arithmetic dependence",
            Self::SpBusy => "SP busy",
            Self::SfuBusy => "SFU busy",
            Self::LoadStoreBusy => "load-store busy",
            Self::MemoryBackPressure => "memory back-pressure",
            Self::NotFetched => "not fetched",
            Self::Barrier => "barrier",
            Self::Sibling => "sibling",
            Self::Fence => "fence",
            Self::Draining => "draining",
            Self::Gated => "gated",
            Self::Mechanism => "mechanism",
            Self::NoWarpResident => "no warp resident",
        }
    }

    /// Its name in counters, after `stall_`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::WrongPath => "wrong_path",
            Self::MemoryDependence => "memory_dependence",
            Self::ArithmeticDependence => "arithmetic_dependence",
            Self::SpBusy => "sp_busy",
            Self::SfuBusy => "sfu_busy",
            Self::LoadStoreBusy => "load_store_busy",
            Self::MemoryBackPressure => "memory_back_pressure",
            Self::NotFetched => "not_fetched",
            Self::Barrier => "barrier",
            Self::Sibling => "sibling",
            Self::Fence => "fence",
            Self::Draining => "draining",
            Self::Gated => "gated",
            Self::Mechanism => "mechanism",
            Self::NoWarpResident => "no_warp_resident",
        }
    }
}
