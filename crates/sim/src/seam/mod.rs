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
    /// Who takes which logical block, in launches of virtual blocks.
    pub logical_blocks: Box<dyn LogicalBlocks>,
}

/// Why a scheduler's slot stayed empty. Each empty slot has exactly one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Cause {
    /// The next instruction was fetched from the wrong place, or its place is not known yet.
    Control,
    /// A register is on its way from memory.
    DataMemory,
    /// A register is on its way from an arithmetic unit.
    DataAlu,
    /// The SPs, or integer pipelines of their own, take no instruction.
    UnitSp,
    /// The SFUs, or pipelines of their own for double precision and matrices, take no instruction.
    UnitSfu,
    /// The load-store unit takes no instruction though memory has room.
    UnitMem,
    /// The load-store unit takes no instruction because memory beyond the SM is full.
    BackPressure,
    /// The next instruction has not been fetched.
    Fetch,
    /// All warps that could go on wait at a barrier.
    Barrier,
    /// Warps wait for their next logical block, or with shared memory for warps of the one before.
    Sibling,
    /// Warps wait for fences or atomics to be acknowledged.
    Fence,
    /// Warps have ended and wait for their stores or their block.
    ExitWait,
    /// The lanes it needs have no power, or are waking.
    Gated,
    /// A mechanism forbids it: a synchronising branch.
    Mechanism,
    /// There is no warp.
    NoWarp,
}

impl Cause {
    /// All causes.
    pub const ALL: [Self; 15] = [
        Self::Control,
        Self::DataMemory,
        Self::DataAlu,
        Self::UnitSp,
        Self::UnitSfu,
        Self::UnitMem,
        Self::BackPressure,
        Self::Fetch,
        Self::Barrier,
        Self::Sibling,
        Self::Fence,
        Self::ExitWait,
        Self::Gated,
        Self::Mechanism,
        Self::NoWarp,
    ];

    /// Its name in those of counters, after `stall_`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::DataMemory => "data_memory",
            Self::DataAlu => "data_alu",
            Self::UnitSp => "unit_sp",
            Self::UnitSfu => "unit_sfu",
            Self::UnitMem => "unit_mem",
            Self::BackPressure => "back_pressure",
            Self::Fetch => "fetch",
            Self::Barrier => "barrier",
            Self::Sibling => "sibling",
            Self::Fence => "fence",
            Self::ExitWait => "exit_wait",
            Self::Gated => "gated",
            Self::Mechanism => "mechanism",
            Self::NoWarp => "no_warp",
        }
    }
}
