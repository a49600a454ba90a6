//! The registers of all resident threads.

use super::{Home, lanes_in};
use crate::decode::Program;
use crate::lanes::{LANES, Regs};
use crate::op::{Bank, CONST, NONE, NOT, Op, Slot};
use raddle_ptx::num::low32;

/// Registers and predicates by row, and the constants of the launch.
pub(super) struct RegFile {
    per_row: [usize; 3],
    r32: Vec<[u32; LANES]>,
    r64: Vec<[u64; LANES]>,
    preds: Vec<u32>,
    pub(super) c32: Vec<[u32; LANES]>,
    pub(super) c64: Vec<[u64; LANES]>,
}

crate::saved!(RegFile { values: r32, r64, preds; fixed: per_row, c32, c64 });

impl RegFile {
    pub(super) fn new(program: &Program) -> Self {
        Self {
            per_row: [program.r32, program.r64, program.preds].map(|n| n as usize),
            r32: Vec::new(),
            r64: Vec::new(),
            preds: Vec::new(),
            c32: program.c32.clone(),
            c64: program.c64.clone(),
        }
    }

    /// Makes room for this many rows.
    pub(super) fn resize(&mut self, rows: usize) {
        let [n32, n64, np] = self.per_row;
        self.r32.resize(rows * n32, [0; LANES]);
        self.r64.resize(rows * n64, [0; LANES]);
        self.preds.resize(rows * np, 0);
    }

    /// The registers of a row.
    #[inline]
    pub(super) fn row(&mut self, row: u32) -> Regs<'_> {
        let [n32, n64, np] = self.per_row;
        let row = row as usize;
        Regs {
            r32: &mut self.r32[row * n32..(row + 1) * n32],
            r64: &mut self.r64[row * n64..(row + 1) * n64],
            preds: &mut self.preds[row * np..(row + 1) * np],
            c32: &self.c32,
            c64: &self.c64,
        }
    }

    /// One lane of a source.
    pub(super) fn get(&mut self, row: u32, slot: Slot, bank: Bank, lane: usize) -> u64 {
        let regs = self.row(row);
        match bank {
            Bank::R64 => regs.plane64(slot)[lane],
            Bank::Pred => u64::from(regs.pred(slot) >> lane & 1),
            _ => u64::from(regs.plane32(slot)[lane]),
        }
    }

    /// Writes one lane of a destination; nothing when there is none.
    pub(super) fn put(&mut self, row: u32, slot: Slot, bank: Bank, lane: usize, value: u64) {
        if slot == NONE {
            return;
        }
        let mut regs = self.row(row);
        match bank {
            Bank::R64 => regs.r64[slot as usize][lane] = value,
            Bank::Pred => regs.set_pred(slot, (low32(value) & 1) << lane, 1 << lane),
            _ => regs.r32[slot as usize][lane] = low32(value),
        }
    }

    /// Copies what `op` reads from the threads' homes to row 0. The frame pointer is copied too:
    /// calls and frame accesses read it whatever their operands are.
    pub(super) fn gather(&mut self, op: &Op, frame_pointer: Slot, homes: &[Home; LANES], mask: u32) {
        let sources = op.s.iter().zip(&op.s_bank).map(|(s, b)| (*s, *b));
        let guard = (op.guard, if op.guard == NONE { Bank::Absent } else { Bank::Pred });
        for (slot, bank) in sources.chain([guard, (frame_pointer, Bank::R32)]) {
            if bank == Bank::Absent || slot & CONST != 0 {
                continue;
            }
            let slot = if bank == Bank::Pred { slot & !NOT } else { slot };
            self.move_lanes(slot, bank, homes, mask, Way::ToFirst);
        }
    }

    /// Copies what `op` wrote in row 0 to the threads' homes.
    pub(super) fn scatter(&mut self, op: &Op, homes: &[Home; LANES], mask: u32) {
        for (slot, bank) in op.d.iter().zip(&op.d_bank).filter(|(slot, _)| **slot != NONE) {
            self.move_lanes(*slot, *bank, homes, mask, Way::Home);
        }
    }

    /// Copies lanes of a register between the threads' homes and row 0.
    fn move_lanes(&mut self, slot: Slot, bank: Bank, homes: &[Home; LANES], mask: u32, way: Way) {
        let [n32, n64, np] = self.per_row;
        let slot = slot as usize;
        match bank {
            Bank::R64 => move_plane(&mut self.r64, slot, n64, homes, mask, way),
            Bank::Pred => {
                for lane in lanes_in(mask) {
                    let (home, own) = (homes[lane].row as usize * np + slot, usize::from(homes[lane].lane) % LANES);
                    let ((from, at), (to, bit)) = match way {
                        Way::ToFirst => ((home, own), (slot, lane)),
                        Way::Home => ((slot, lane), (home, own)),
                    };
                    let value = self.preds[from] >> at & 1;
                    self.preds[to] = self.preds[to] & !(1 << bit) | value << bit;
                }
            }
            _ => move_plane(&mut self.r32, slot, n32, homes, mask, way),
        }
    }
}

/// Which way registers of gathered threads are copied.
#[derive(Clone, Copy)]
enum Way {
    /// From their homes to row 0.
    ToFirst,
    /// From row 0 to their homes.
    Home,
}

/// Copies lanes of one register, of which rows have `per_row`.
fn move_plane<T: Copy>(
    planes: &mut [[T; LANES]],
    slot: usize,
    per_row: usize,
    homes: &[Home; LANES],
    mask: u32,
    way: Way,
) {
    for lane in lanes_in(mask) {
        let Home { row, lane: own } = homes[lane];
        let (home, own) = (row as usize * per_row + slot, usize::from(own) % LANES);
        match way {
            Way::ToFirst => planes[slot][lane] = planes[home][own],
            Way::Home => planes[home][own] = planes[slot][lane],
        }
    }
}
