//! Decoded operations: everything about an instruction resolved to slots and constants.

use crate::decode::WarpOp;
use crate::lanes::KernelFn;
use raddle_ptx::ir::{FuncId, InstId};

/// The number of a register, predicate or constant in its file. Wide enough for one of each in every instruction of the
/// largest program.
pub type Slot = u32;

/// No guard, no slot, no target.
pub const NONE: Slot = Slot::MAX;
/// No program counter.
pub const NO_PC: u32 = u32::MAX;

/// Set in a source that is a constant.
pub(crate) const CONST: Slot = 1 << 31;
/// Set in a predicate source that is negated.
pub(crate) const NOT: Slot = 1 << 30;

/// Which file a slot is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bank {
    /// Absent.
    #[default]
    Absent,
    /// 32-bit registers.
    R32,
    /// 64-bit registers.
    R64,
    /// Predicates.
    Pred,
}

/// What executing an operation involves beyond lane arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Registers to registers: the kernel does it all.
    Alu,
    /// Load; [`Op::access`] says how.
    Load,
    /// Store.
    Store,
    /// Atomic with or without a result.
    Atomic,
    /// Texture fetch.
    Texture,
    /// Copy from global to shared memory that nobody waits for; [`Op::target`] is the site.
    Copy,
    /// Load from or store to a surface; [`Op::target`] is the site.
    Surface,
    /// Reads a clock.
    Clock,
    /// Conditional or unconditional branch to [`Op::target`].
    Branch,
    /// Branch through a table.
    BranchTable,
    /// Call; [`Op::target`] is the call site.
    Call,
    /// Return from a function.
    Return,
    /// The end of the thread.
    Exit,
    /// `trap` or `brkpt`.
    Trap,
    /// Barrier of the thread block.
    Barrier,
    /// Matrices that the lanes of a warp hold together; [`Op::target`] is the site.
    Matrix,
    /// Vote, shuffle, match and the like: the lanes of the static warp together.
    Warp,
    /// Nothing that shows without time: fences, prefetches, sleeps.
    Nop,
}

/// Where a memory operation looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemSpace {
    /// By address window.
    #[default]
    Generic,
    /// Global memory.
    Global,
    /// Shared memory of the thread block.
    Shared,
    /// Memory of the thread.
    Local,
    /// Constant bank.
    Const,
    /// Kernel parameters.
    Param,
}

/// How a memory operation moves data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Where.
    pub space: MemSpace,
    /// Bytes per element: 1, 2, 4 or 8.
    pub bytes: u8,
    /// Elements: 1, 2 or 4.
    pub count: u8,
    /// Loads sign-extend.
    pub signed: bool,
    /// Loaded elements narrower than the register fill 16, 32 or 64 bits of it.
    pub register_bits: u8,
    /// Elements are floating-point numbers: textures and atomics ask.
    pub float: bool,
    /// The address register is 64 bits wide.
    pub wide_address: bool,
    /// A matrix is stored, not loaded.
    pub writes: bool,
}

/// One decoded operation.
#[derive(Clone)]
pub struct Op {
    /// Lane arithmetic; does nothing for classes that need none.
    pub(crate) kernel: KernelFn,
    /// Constants of the operation: offset of an address, look-up table, rounding, branch table.
    pub aux: u64,
    /// Branch target, the call site of a call, or the site of a matrix instruction.
    pub target: u32,
    /// Where a branch reconverges: the first operation of its immediate post-dominator.
    pub reconverge: u32,
    /// Where threads that diverge at a branch are likely to reconverge before that, or [`NO_PC`].
    pub likely: u32,
    /// A branch on which the threads of a block cannot disagree, as far as can be told from the program.
    pub uniform: bool,
    /// Destination slots.
    pub d: [Slot; 4],
    /// Source slots, constants and negation marked in the high bits.
    pub s: [Slot; 5],
    /// Guard predicate slot, or [`NONE`].
    pub guard: Slot,
    /// All ones when the guard is negated.
    pub guard_flip: u32,
    /// Files of the destinations.
    pub d_bank: [Bank; 4],
    /// Files of the sources.
    pub s_bank: [Bank; 5],
    /// How it is executed.
    pub class: Class,
    /// Which operation of its class: index of an atomic, barrier, or warp operation.
    pub variant: u8,
    /// Memory access.
    pub access: Access,
    /// Not an instruction of the program: not counted.
    pub hidden: bool,
}

/// Where an operation came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Function.
    pub func: FuncId,
    /// Instruction.
    pub inst: InstId,
}

impl Op {
    /// Whether the lanes of a warp execute it together: those that arrive first wait for the others.
    #[must_use]
    pub fn is_warp_wide(&self) -> bool {
        matches!(self.class, Class::Warp | Class::Matrix)
    }

    /// Whether lanes of a warp exchange values when they execute it together.
    #[must_use]
    pub fn exchanges(&self) -> bool {
        self.is_warp_wide() && !self.is_warp_barrier()
    }

    /// Whether it is `bar.warp.sync`: lanes wait for each other and do nothing else.
    #[must_use]
    pub fn is_warp_barrier(&self) -> bool {
        self.class == Class::Warp && self.variant == WarpOp::Sync as u8
    }
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Op")
            .field("class", &self.class)
            .field("variant", &self.variant)
            .field("d", &self.d)
            .field("s", &self.s)
            .field("guard", &self.guard)
            .field("target", &self.target)
            .field("reconverge", &self.reconverge)
            .finish_non_exhaustive()
    }
}
