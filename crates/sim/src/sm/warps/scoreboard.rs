//! Registers whose value has not come.

use crate::kernel::TimedOp;

/// Pending register writes: masks of lanes for each row and register.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Scoreboard {
    /// Of a thread; behind them, whether it has an instruction in flight.
    registers: usize,
    pending: Vec<Pending>,
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
        match (self.lanes & lanes, self.from_memory & lanes) {
            (0, _) => Hazard::None,
            (_, 0) => Hazard::Alu,
            _ => Hazard::Memory,
        }
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

impl Scoreboard {
    /// For threads with this many registers.
    #[must_use]
    pub fn new(registers: usize) -> Self {
        Self { registers: registers + 1, pending: Vec::new() }
    }

    /// The registers of a row.
    #[inline]
    fn row(&self, row: u32) -> &[Pending] {
        &self.pending[row as usize * self.registers..][..self.registers]
    }

    #[inline]
    fn row_mut(&mut self, row: u32) -> &mut [Pending] {
        &mut self.pending[row as usize * self.registers..][..self.registers]
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

    /// Makes room for rows up to `rows`.
    pub fn reserve(&mut self, rows: usize) {
        let size = rows * self.registers;
        if self.pending.len() < size {
            self.pending.resize(size, Pending::default());
        }
    }

    /// Whether lanes of a row may issue an instruction.
    #[inline]
    #[must_use]
    pub fn check(&self, op: &TimedOp, row: u32, lanes: u32) -> Hazard {
        let row = self.row(row);
        let all = op.hazards().iter().fold(Pending::default(), |all, register| {
            let Pending { lanes, from_memory } = row[usize::from(*register)];
            Pending { lanes: all.lanes | lanes, from_memory: all.from_memory | from_memory }
        });
        all.hazard(lanes)
    }

    /// An instruction will write its registers.
    #[inline]
    pub fn reserve_writes(&mut self, op: &TimedOp, row: u32, lanes: u32, memory: bool) {
        let row = self.row_mut(row);
        op.writes().iter().for_each(|register| row[usize::from(*register)].set(lanes, memory));
    }

    /// It has written them.
    #[inline]
    pub fn release(&mut self, op: &TimedOp, row: u32, lanes: u32) {
        let row = self.row_mut(row);
        op.writes().iter().for_each(|register| row[usize::from(*register)].clear(lanes));
    }
}
