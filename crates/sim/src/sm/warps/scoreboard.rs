//! Registers whose value has not come.
//!
//! If warps are always made of the same threads, a register of a warp is pending for all its threads or for none: all
//! lanes wait for what diverged lanes write. Pending registers are then bits of a few words. If threads change warps, a
//! register is pending for lanes of a row, wherever they go.

use crate::kernel::{Bits, TimedOp};
use crate::seam::WarpId;

/// Pending register writes.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Scoreboard {
    /// Of warps that are always made of the same threads, `words` for each.
    warps: Vec<Word>,
    words: usize,
    /// Of rows, `registers` for each; after those of a row, whether its lanes have an instruction in flight.
    rows: Vec<Pending>,
    registers: usize,
}

/// 64 registers of a warp: those that are pending, and those of them that wait for memory.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Word {
    pending: u64,
    from_memory: u64,
}

/// Lanes of a row whose register is pending.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Pending {
    lanes: u32,
    /// Those of them that wait for memory.
    from_memory: u32,
}

impl Pending {
    /// What these lanes wait for.
    #[inline]
    fn hazard(self, lanes: u32) -> Hazard {
        Hazard::of((self.lanes & lanes).into(), (self.from_memory & lanes).into())
    }

    #[inline]
    fn set(&mut self, lanes: u32, memory: bool) {
        self.lanes |= lanes;
        self.from_memory |= if memory { lanes } else { 0 };
    }

    #[inline]
    fn clear(&mut self, lanes: u32) {
        self.lanes &= !lanes;
        self.from_memory &= !lanes;
    }
}

/// Why registers are not ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hazard {
    /// They are.
    None,
    /// A result of an arithmetic unit.
    Alu,
    /// A load.
    Memory,
}

impl Hazard {
    #[inline]
    fn of(pending: u64, from_memory: u64) -> Self {
        match (pending, from_memory) {
            (0, _) => Self::None,
            (_, 0) => Self::Alu,
            _ => Self::Memory,
        }
    }
}

impl Scoreboard {
    /// For `slots` warps whose threads have this many registers. `regroups` says that threads change warps.
    #[must_use]
    pub fn new(registers: usize, slots: usize, regroups: bool) -> Self {
        let words = registers.div_ceil(64).max(1);
        let warps = if regroups { 0 } else { slots * words };
        Self { warps: vec![Word::default(); warps], words, rows: Vec::new(), registers: registers + 1 }
    }

    // Warps that are always made of the same threads.

    #[inline]
    fn word(&mut self, warp: WarpId, bits: Bits) -> &mut Word {
        &mut self.warps[warp.index() * self.words + usize::from(bits.word)]
    }

    /// Whether a warp may issue an instruction.
    #[inline]
    #[must_use]
    pub fn check(&self, op: &TimedOp, warp: WarpId) -> Hazard {
        let (mut pending, mut from_memory) = (0, 0);
        for bits in op.hazard_bits() {
            let word = self.warps[warp.index() * self.words + usize::from(bits.word)];
            pending |= word.pending & bits.mask;
            from_memory |= word.from_memory & bits.mask;
        }
        Hazard::of(pending, from_memory)
    }

    /// An instruction of a warp will write its registers.
    #[inline]
    pub fn reserve(&mut self, op: &TimedOp, warp: WarpId, memory: bool) {
        for bits in op.write_bits() {
            let word = self.word(warp, *bits);
            word.pending |= bits.mask;
            word.from_memory |= if memory { bits.mask } else { 0 };
        }
    }

    /// It has written them.
    #[inline]
    pub fn release(&mut self, op: &TimedOp, warp: WarpId) {
        for bits in op.write_bits() {
            let word = self.word(warp, *bits);
            word.pending &= !bits.mask;
            word.from_memory &= !bits.mask;
        }
    }

    // Threads that change warps.

    /// Makes room for rows up to `rows`.
    pub fn reserve_rows(&mut self, rows: usize) {
        let size = rows * self.registers;
        if self.warps.is_empty() && self.rows.len() < size {
            self.rows.resize(size, Pending::default());
        }
    }

    /// The registers of a row.
    #[inline]
    fn row(&self, row: u32) -> &[Pending] {
        &self.rows[row as usize * self.registers..][..self.registers]
    }

    #[inline]
    fn row_mut(&mut self, row: u32) -> &mut [Pending] {
        &mut self.rows[row as usize * self.registers..][..self.registers]
    }

    /// Whether lanes of a row have an instruction in flight.
    #[inline]
    #[must_use]
    pub fn busy(&self, row: u32, lanes: u32) -> Hazard {
        self.row(row)[self.registers - 1].hazard(lanes)
    }

    /// Lanes of a row have one, or have none any more.
    #[inline]
    pub fn set_busy(&mut self, row: u32, lanes: u32, busy: bool, memory: bool) {
        let last = self.registers - 1;
        let pending = &mut self.row_mut(row)[last];
        pending.clear(lanes);
        if busy {
            pending.set(lanes, memory);
        }
    }

    /// Whether lanes of a row may issue an instruction.
    #[inline]
    #[must_use]
    pub fn check_lanes(&self, op: &TimedOp, row: u32, lanes: u32) -> Hazard {
        let row = self.row(row);
        let all = op.hazards().iter().fold(Pending::default(), |all, register| {
            let Pending { lanes, from_memory } = row[usize::from(*register)];
            Pending { lanes: all.lanes | lanes, from_memory: all.from_memory | from_memory }
        });
        all.hazard(lanes)
    }

    /// An instruction will write registers of lanes of a row.
    #[inline]
    pub fn reserve_lanes(&mut self, op: &TimedOp, row: u32, lanes: u32, memory: bool) {
        let row = self.row_mut(row);
        op.writes().iter().for_each(|register| row[usize::from(*register)].set(lanes, memory));
    }

    /// It has written them.
    #[inline]
    pub fn release_lanes(&mut self, op: &TimedOp, row: u32, lanes: u32) {
        let row = self.row_mut(row);
        op.writes().iter().for_each(|register| row[usize::from(*register)].clear(lanes));
    }
}
