//! Operations of a whole static warp.

use super::{Core, LaneFault, Lanes, lanes_in, lanes_of};
use crate::decode::{MEMBERS, WarpOp};
use crate::fault::FaultKind;
use crate::lanes::{LANES, ROW_THREADS};
use crate::op::{Bank, CONST, Class, NONE, Op};
use raddle_ptx::num::{fit, low32};

impl Core<'_> {
    /// Calls `f` with each static warp of the block in `slot` that threads of `mask` are from, and their lanes
    /// in it; several times with the same warp if they are from other rows.
    pub(crate) fn for_each_static(&self, slot: u32, lanes: Lanes<'_>, mask: u32, mut f: impl FnMut(usize, u32)) {
        let (first, width) = (self.ctas[slot as usize].first_row, self.width);
        let number = |row: u32, lane: u32| ((row - first) * ROW_THREADS + lane) / width;
        match lanes {
            Lanes::Row(row) => {
                for base in (0..ROW_THREADS).step_by(width as usize) {
                    let bits = mask >> base & lanes_of(width);
                    if bits != 0 {
                        f(number(row, base) as usize, bits);
                    }
                }
            }
            Lanes::Gathered(homes) => {
                for home in lanes_in(mask).map(|lane| homes[lane]) {
                    let lane = u32::from(home.lane);
                    f(number(home.row, lane) as usize, 1 << (lane % width));
                }
            }
        }
    }

    /// The value of a source that must be the same in all lanes, taken from the first.
    pub fn uniform(&mut self, op: &Op, n: usize, lanes: Lanes<'_>, mask: u32) -> Option<u32> {
        if op.s[n] == NONE || op.s_bank[n] == Bank::Absent {
            return None;
        }
        let lane = mask.trailing_zeros() as usize & 31;
        if op.s[n] & CONST != 0 {
            return Some(low32(self.file.get(0, op.s[n], op.s_bank[n], lane)));
        }
        let home = lanes.home(lane);
        Some(low32(self.file.get(home.row, op.s[n], op.s_bank[n], usize::from(home.lane))))
    }

    /// The lanes that those of `mask` wait for at a warp-wide operation: all that their member masks name, counted from the
    /// first lane of the static warp. None when the operation has no members.
    ///
    /// # Errors
    /// When a lane leaves itself out.
    pub fn members(&mut self, op: &Op, lanes: Lanes<'_>, mask: u32) -> Result<u32, LaneFault> {
        let (slot, bank) = (op.s[MEMBERS], op.s_bank[MEMBERS]);
        if op.class == Class::Matrix && mask != 0 {
            return Ok(lanes_of(self.width));
        }
        if slot == NONE || bank == Bank::Absent {
            return Ok(0);
        }
        let mut wanted = 0;
        for lane in lanes_in(mask) {
            let home = lanes.home(lane);
            let row = if slot & CONST != 0 { 0 } else { home.row };
            let members = low32(self.file.get(row, slot, bank, usize::from(home.lane))) & lanes_of(self.width);
            let own = u32::from(home.lane) % self.width;
            if members >> own & 1 == 0 {
                return Err(LaneFault { lane, kind: FaultKind::not_a_member(own, members) });
            }
            wanted |= members;
        }
        Ok(wanted)
    }

    /// How many lanes of `mask` have a true predicate in source `n`.
    pub(crate) fn count_true(&mut self, op: &Op, n: usize, lanes: Lanes<'_>, mask: u32) -> u32 {
        let mut count = 0;
        for lane in lanes_in(mask) {
            let home = lanes.home(lane);
            let row = if op.s[n] & CONST != 0 { 0 } else { home.row };
            count += low32(self.file.get(row, op.s[n], op.s_bank[n], usize::from(home.lane)));
        }
        count
    }

    /// Writes the same value to the first destination of every lane of `mask`.
    pub(crate) fn broadcast(&mut self, op: &Op, lanes: Lanes<'_>, mask: u32, value: u32) {
        for lane in lanes_in(mask) {
            let home = lanes.home(lane);
            self.file.put(home.row, op.d[0], op.d_bank[0], usize::from(home.lane), u64::from(value));
        }
    }

    /// Executes a warp-wide operation for the lanes of `mask`, those with the same members together. `base` is the first
    /// lane of the static warp in its row: masks in registers count from it.
    pub fn collective(&mut self, op: &Op, lanes: Lanes<'_>, mask: u32, base: u32) {
        let (row, homes) = match lanes {
            Lanes::Row(row) => (row, None),
            Lanes::Gathered(homes) => {
                self.file.gather(op, self.program.frame_pointer, homes, mask);
                (0, Some(homes))
            }
        };
        let mut left = mask;
        while left != 0 {
            let group = self.with_same_members(op, row, left);
            self.together(op, row, group, base);
            left &= !group;
        }
        if let Some(homes) = homes {
            self.file.scatter(op, homes, mask);
        }
    }

    /// The lanes of `mask` with the same member mask as the first of them.
    fn with_same_members(&mut self, op: &Op, row: u32, mask: u32) -> u32 {
        let slot = op.s[MEMBERS];
        if slot == NONE || slot & CONST != 0 || op.s_bank[MEMBERS] == Bank::Absent {
            return mask;
        }
        let whole = lanes_of(self.width);
        let masks = self.regs(row).plane32(slot).map(|members| members & whole);
        let first = masks[mask.trailing_zeros() as usize & 31];
        lanes_in(mask).filter(|lane| masks[*lane] == first).fold(0, |group, lane| group | 1 << lane)
    }

    /// Executes a warp-wide operation for lanes of a row that know of each other.
    fn together(&mut self, op: &Op, row: u32, mask: u32, base: u32) {
        let width = self.width;
        let local = mask >> base & lanes_of(width);
        match WarpOp::ALL[usize::from(op.variant)] {
            WarpOp::Sync => {}
            kind @ (WarpOp::VoteAll | WarpOp::VoteAny | WarpOp::VoteUni | WarpOp::Ballot) => {
                let bits = self.regs(row).pred(op.s[0]) & mask;
                let mut regs = self.regs(row);
                match kind {
                    WarpOp::VoteAll => regs.set_pred(op.d[0], all_ones(bits == mask), mask),
                    WarpOp::VoteAny => regs.set_pred(op.d[0], all_ones(bits != 0), mask),
                    WarpOp::VoteUni => regs.set_pred(op.d[0], all_ones(bits == mask || bits == 0), mask),
                    _ => regs.set32(op.d[0], &[bits >> base & lanes_of(width); LANES], mask),
                }
            }
            WarpOp::Activemask => self.regs(row).set32(op.d[0], &[local; LANES], mask),
            WarpOp::Elect => {
                let leader = mask.trailing_zeros();
                let mut regs = self.regs(row);
                regs.set32(op.d[0], &[leader.wrapping_sub(base); LANES], mask);
                regs.set_pred(op.d[1], 1u32.checked_shl(leader).unwrap_or(0), mask);
            }
            kind @ (WarpOp::ShflUp | WarpOp::ShflDown | WarpOp::ShflBfly | WarpOp::ShflIdx) => {
                self.shuffle(op, kind, row, mask, base);
            }
            WarpOp::MatchAny => {
                let values: [u64; LANES] = std::array::from_fn(|l| self.file.get(row, op.s[0], op.s_bank[0], l));
                let equal = |lane: usize| {
                    let same = lanes_in(mask).filter(|l| values[*l] == values[lane]).map(|l| 1u32 << l);
                    same.sum::<u32>() >> base
                };
                let out = std::array::from_fn(equal);
                self.regs(row).set32(op.d[0], &out, mask);
            }
            WarpOp::MatchAll => {
                let mut values = lanes_in(mask).map(|l| self.file.get(row, op.s[0], op.s_bank[0], l));
                let first = values.next();
                let all = values.all(|v| Some(v) == first);
                let mut regs = self.regs(row);
                regs.set32(op.d[0], &[if all { local } else { 0 }; LANES], mask);
                regs.set_pred(op.d[1], all_ones(all), mask);
            }
            kind => {
                let plane = *self.regs(row).plane32(op.s[0]);
                let value = lanes_in(mask).map(|l| plane[l]).reduce(|a, b| reduce(kind, a, b)).unwrap_or(0);
                self.regs(row).set32(op.d[0], &[value; LANES], mask);
            }
        }
    }

    /// `shfl`: sources are the value, the lane or distance, and clamp with segment mask.
    fn shuffle(&mut self, op: &Op, kind: WarpOp, row: u32, mask: u32, base: u32) {
        let regs = self.regs(row);
        let (a, b, c) = (*regs.plane32(op.s[0]), *regs.plane32(op.s[1]), *regs.plane32(op.s[2]));
        let width = self.width;
        let mut out = a;
        let mut valid = 0u32;
        for lane in lanes_in(mask) {
            let own = fit::<u32, _>(lane) - base;
            let (distance, clamp, segment) = (b[lane] & 31, c[lane] & 31, c[lane] >> 8 & 31);
            let max = own & segment | clamp & !segment;
            let min = own & segment;
            let (source, inside) = match kind {
                WarpOp::ShflUp => (own.wrapping_sub(distance), own >= distance && own - distance >= max),
                WarpOp::ShflDown => (own + distance, own + distance <= max),
                WarpOp::ShflBfly => (own ^ distance, own ^ distance <= max),
                _ => (min | distance & !segment, min | distance & !segment <= max),
            };
            // A warp narrower than 32 lanes ends earlier than the operands say.
            let inside = inside && source < width;
            let source = if inside { source } else { own };
            valid |= u32::from(inside) << lane;
            // The ISA leaves open what a lane gives that takes no part: here it gives 0.
            let from = (source + base) as usize;
            out[lane] = if from < LANES && mask >> from & 1 != 0 { a[from] } else { 0 };
        }
        let mut regs = self.regs(row);
        regs.set32(op.d[0], &out, mask);
        regs.set_pred(op.d[1], valid, mask);
    }
}

fn all_ones(condition: bool) -> u32 {
    if condition { u32::MAX } else { 0 }
}

fn reduce(kind: WarpOp, a: u32, b: u32) -> u32 {
    match kind {
        WarpOp::ReduxAdd => a.wrapping_add(b),
        WarpOp::ReduxMinU => a.min(b),
        WarpOp::ReduxMaxU => a.max(b),
        WarpOp::ReduxMinS => a.cast_signed().min(b.cast_signed()).cast_unsigned(),
        WarpOp::ReduxMaxS => a.cast_signed().max(b.cast_signed()).cast_unsigned(),
        WarpOp::ReduxAnd => a & b,
        WarpOp::ReduxOr => a | b,
        _ => a ^ b,
    }
}
