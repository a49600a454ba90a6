//! An instruction as the pipeline sees it.

use crate::config::{MachineConfig, OpTiming};
use raddle_exec::op::MemSpace;

/// Where an instruction is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnitKind {
    /// Single precision; integers too, where they have no pipelines of their own.
    Sp,
    /// Special functions, division; double precision where it has no pipelines of its own.
    Sfu,
    /// Load-store unit.
    Mem,
    /// Tensor cores.
    Tensor,
    /// Double precision.
    Dp,
    /// Integers, logic, moves, control.
    Int,
}

/// Units there are.
pub const UNITS: usize = 6;

impl UnitKind {
    /// All of them, in the order in which the collectors look at what was issued.
    pub const ALL: [Self; UNITS] = [Self::Sp, Self::Sfu, Self::Mem, Self::Tensor, Self::Dp, Self::Int];
    /// Those of a machine without pipelines for integers, double precision and matrices.
    pub const BASIC: [Self; 3] = [Self::Sp, Self::Sfu, Self::Mem];
}

/// Which pipelines of an SP's lanes an instruction uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Pipe {
    /// Integers, logic, moves of bits, control.
    Int,
    /// Whatever has a floating-point type in its name.
    Fp,
}

impl Pipe {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Int, Self::Fp];

    /// Its name in outputs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Fp => "fp",
        }
    }
}

/// What the load-store unit does with an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemKind {
    /// Not a memory instruction.
    None,
    /// Load through the data cache, or past it.
    Load,
    /// Store.
    Store,
    /// Atomic or reduction.
    Atomic,
    /// Constant or kernel parameter.
    Const,
    /// Texture.
    Texture,
    /// Waits until earlier accesses of the warp are done.
    Fence,
}

/// What an instruction has to do with asynchronous copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyRole {
    /// Nothing.
    None,
    /// It is one.
    Copy,
    /// It makes those of its warp so far a group.
    Commit,
    /// It waits for all groups but so many.
    Wait(u32),
    /// It waits for all copies.
    WaitForAll,
}

/// What an instruction works on: for energy and gating.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataKind {
    /// Integers, logic, control.
    Int,
    /// Single precision and narrower.
    F32,
    /// Double precision.
    F64,
    /// Memory.
    Mem,
}

/// Registers read at most: a vector store with its address and guard.
pub const MAX_READS: usize = 10;
/// The same of a matrix product: three matrices.
pub const MAX_MATRIX_READS: usize = 24;
/// Registers written at most: a matrix.
pub const MAX_WRITES: usize = 8;

/// Registers as bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// Which word: registers from 64 times this on.
    pub word: u16,
    /// Which of its registers.
    pub mask: u64,
}

impl Bits {
    /// Registers as bits of as many words as they are in.
    pub(super) fn of(registers: &[u16]) -> Box<[Self]> {
        let mut words: Vec<Self> = Vec::new();
        for register in registers {
            let (word, mask) = (register / 64, 1 << (register % 64));
            match words.iter_mut().find(|known| known.word == word) {
                Some(known) => known.mask |= mask,
                None => words.push(Self { word, mask }),
            }
        }
        words.into()
    }
}

/// An instruction as the pipeline sees it.
#[derive(Clone, Debug)]
pub struct TimedOp {
    /// Unit.
    pub unit: UnitKind,
    /// Memory behaviour.
    pub mem: MemKind,
    /// Address space of a memory instruction, as far as the instruction says.
    pub space: MemSpace,
    /// What it works on.
    pub data: DataKind,
    /// Cycles in the unit and between instructions, for a whole warp.
    pub timing: OpTiming,
    /// What it has to do with asynchronous copies.
    pub copies: CopyRole,
    /// Goes past the L1.
    pub bypass_l1: bool,
    /// Bytes of an element, and elements.
    pub bytes: u8,
    /// Elements per lane.
    pub count: u8,
    /// The number of branches around it at which threads can diverge.
    pub nesting: u16,
    /// Address of a parameter or constant that is known beforehand.
    pub fixed_address: Option<u64>,
    /// Registers the scoreboard checks, the written ones first.
    pub(super) hazards: Box<[u16]>,
    pub(super) writes: u8,
    /// The same as bits.
    pub(super) hazard_bits: Box<[Bits]>,
    pub(super) write_bits: Box<[Bits]>,
    /// Numbers of the registers the operand collector reads, each once, then of those written.
    pub(super) banks: [u16; MAX_MATRIX_READS + MAX_WRITES],
    pub(super) read_count: u8,
    pub(super) bank_count: u8,
}

impl TimedOp {
    /// One that does nothing.
    pub(super) fn blank(config: &MachineConfig) -> Self {
        Self {
            unit: UnitKind::Sp,
            mem: MemKind::None,
            space: MemSpace::Generic,
            data: DataKind::Int,
            timing: config.sm.latency.simple,
            copies: CopyRole::None,
            bypass_l1: false,
            bytes: 4,
            count: 1,
            nesting: 0,
            fixed_address: None,
            hazards: Box::default(),
            writes: 0,
            hazard_bits: Box::default(),
            write_bits: Box::default(),
            banks: [0; MAX_MATRIX_READS + MAX_WRITES],
            read_count: 0,
            bank_count: 0,
        }
    }

    /// The pipelines of the SPs it uses; none when it goes elsewhere.
    #[inline]
    #[must_use]
    pub fn pipe(&self) -> Option<Pipe> {
        match (self.unit, self.data) {
            (UnitKind::Sp | UnitKind::Int, DataKind::F32 | DataKind::F64) => Some(Pipe::Fp),
            (UnitKind::Sp | UnitKind::Int, _) => Some(Pipe::Int),
            _ => None,
        }
    }

    /// Registers written.
    #[inline]
    #[must_use]
    pub fn writes(&self) -> &[u16] {
        &self.hazards[..usize::from(self.writes)]
    }

    /// Registers that must not be pending when it issues: those written and those read.
    #[inline]
    #[must_use]
    pub fn hazards(&self) -> &[u16] {
        &self.hazards
    }

    /// [`TimedOp::writes`] as bits.
    #[inline]
    #[must_use]
    pub fn write_bits(&self) -> &[Bits] {
        &self.write_bits
    }

    /// [`TimedOp::hazards`] as bits.
    #[inline]
    #[must_use]
    pub fn hazard_bits(&self) -> &[Bits] {
        &self.hazard_bits
    }

    /// What the operand collector reads: all sources but the guard, each once. These are the numbers in the
    /// registers' names, which select the bank; `%r1` and `%f1` share one.
    #[inline]
    #[must_use]
    pub fn reads(&self) -> &[u16] {
        &self.banks[..usize::from(self.read_count)]
    }

    /// What is written back to the register banks.
    #[inline]
    #[must_use]
    pub fn write_numbers(&self) -> &[u16] {
        &self.banks[usize::from(self.read_count)..usize::from(self.bank_count)]
    }
}
