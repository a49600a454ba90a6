//! The warps of an SM: a table that divergence models fill and schedulers choose from.

use super::{Cause, WarpId};
use crate::packet::Cycle;
use raddle_exec::core::{Home, Lanes, lanes_in};

/// What a warp of the table is.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct WarpInfo {
    /// The block it belongs to; if it has threads of several blocks, that of the first thread.
    pub cta: u32,
    /// Row of registers, if all threads are of one row.
    pub row: u32,
    /// First lane of a static warp in its row.
    pub base: u8,
    /// Threads by lane, if they are not all of one row.
    homes: Option<Box<[Home; 32]>>,
    /// Whether they are not.
    gathered: bool,
    /// The lanes it was then made of, and the rows they are of, each with its lanes.
    formed: u32,
    rows: Vec<(u32, u32)>,
    /// Next operation.
    pub pc: u32,
    /// The machine advances the warp over straight-line instructions itself, until the warp would come here.
    until: u32,
    /// Lanes that are active there; 0 when all of them wait or have ended.
    pub mask: u32,
    /// What it waits for when no lane can issue.
    pub blocked: Option<Cause>,
    /// Every lane has ended.
    pub ended: bool,
    /// In use.
    pub valid: bool,
}

impl WarpInfo {
    /// Threads by lane, if they are not all of one row.
    #[inline]
    #[must_use]
    pub fn homes(&self) -> Option<&[Home; 32]> {
        if self.gathered { self.homes.as_deref() } else { None }
    }

    /// The rows these threads are of, each with its lanes.
    #[inline]
    #[must_use]
    pub fn rows(&self) -> &[(u32, u32)] {
        &self.rows
    }
}

/// The warps of an SM: a table that divergence models fill and schedulers choose from.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct WarpTable {
    now: Cycle,
    warps: Vec<WarpInfo>,
    /// Warps whose program counter or mask changed since the machine last looked.
    touched: Vec<WarpId>,
    /// Warps that are made of other threads than before.
    formed: Vec<WarpId>,
}

impl WarpTable {
    /// A table of `slots` free slots.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        let free = WarpInfo {
            cta: 0,
            row: 0,
            base: 0,
            homes: None,
            gathered: false,
            formed: 0,
            rows: Vec::new(),
            pc: 0,
            until: 0,
            mask: 0,
            blocked: None,
            ended: false,
            valid: false,
        };
        Self { now: 0, warps: vec![free; slots], touched: Vec::new(), formed: Vec::new() }
    }

    /// The current cycle.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.now
    }

    pub(crate) fn set_now(&mut self, now: Cycle) {
        self.now = now;
    }

    /// Slots, used or not.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.warps.len()
    }

    /// A warp.
    #[inline]
    #[must_use]
    pub fn get(&self, warp: WarpId) -> &WarpInfo {
        &self.warps[warp.index()]
    }

    /// Forms a static warp: lanes `mask` of a row of registers, of which `base` is the warp's first.
    pub fn form_static(&mut self, warp: WarpId, cta: u32, row: u32, base: u8, mask: u32) {
        let info = &mut self.warps[warp.index()];
        (info.cta, info.row, info.base, info.gathered) = (cta, row, base, false);
        (info.pc, info.until, info.mask, info.blocked) = (0, 1, mask, None);
        (info.ended, info.valid) = (false, true);
        self.touched.push(warp);
    }

    /// Forms a warp of threads from anywhere, `homes` by lane, of which those of `mask` exist. It continues as with
    /// [`WarpTable::set_until`]. Such a warp belongs to the block `cta`, as far as blocks ask.
    pub fn form(&mut self, warp: WarpId, cta: u32, homes: &[Home; 32], mask: u32, pc: u32, until: u32) {
        let info = &mut self.warps[warp.index()];
        let first = homes[mask.trailing_zeros() as usize & 31];
        let alike = |lane: usize| homes[lane].row == first.row && usize::from(homes[lane].lane) == lane;
        (info.cta, info.row, info.ended, info.valid) = (cta, first.row, false, true);
        info.gathered = !lanes_in(mask).all(alike);
        if info.gathered {
            **info.homes.get_or_insert_default() = *homes;
            info.formed = mask;
            info.rows.clear();
            for Home { row, lane } in lanes_in(mask).map(|lane| homes[lane]) {
                match info.rows.iter_mut().find(|known| known.0 == row) {
                    Some((_, lanes)) => *lanes |= 1 << lane,
                    None => info.rows.push((row, 1 << lane)),
                }
            }
        }
        self.formed.push(warp);
        self.set_until(warp, pc, mask, until);
    }

    /// Takes one of the warps that were formed since the last call.
    #[inline]
    pub(crate) fn take_formed(&mut self) -> Option<WarpId> {
        self.formed.pop()
    }

    /// Puts a warp at an operation with these lanes. The model is told of every instruction.
    #[inline]
    pub fn set(&mut self, warp: WarpId, pc: u32, mask: u32) {
        self.set_until(warp, pc, mask, pc + 1);
    }

    /// Puts a warp at an operation with these lanes. From there, the machine advances the warp itself as long as the
    /// outcome is [`Outcome::Next`](super::Outcome::Next) and the next operation is not `until`. For these instructions
    /// it does not call [`Divergence::issued`](super::Divergence::issued); the table alone says where the warp is.
    #[inline]
    pub fn set_until(&mut self, warp: WarpId, pc: u32, mask: u32, until: u32) {
        let info = &mut self.warps[warp.index()];
        info.pc = pc;
        info.until = until;
        info.mask = mask;
        info.blocked = None;
        self.touched.push(warp);
    }

    /// No lane of a warp can issue, for this reason; the warp is at `pc`.
    pub fn block(&mut self, warp: WarpId, pc: u32, cause: Cause) {
        let info = &mut self.warps[warp.index()];
        info.pc = pc;
        info.mask = 0;
        info.blocked = Some(cause);
        self.touched.push(warp);
    }

    /// The same for a warp that keeps its lanes while it waits.
    pub fn wait(&mut self, warp: WarpId, cause: Cause) {
        let info = &mut self.warps[warp.index()];
        info.blocked = Some(cause);
        self.touched.push(warp);
    }

    /// Every lane of a warp has ended.
    pub fn end(&mut self, warp: WarpId) {
        let info = &mut self.warps[warp.index()];
        info.mask = 0;
        info.ended = true;
        info.blocked = Some(Cause::Draining);
        self.touched.push(warp);
    }

    /// Frees the slot.
    pub fn free(&mut self, warp: WarpId) {
        let info = &mut self.warps[warp.index()];
        info.valid = false;
        info.mask = 0;
        self.touched.push(warp);
    }

    /// Advances a warp over an instruction that did not change the control flow; false when the model wants to know.
    #[inline]
    pub(crate) fn step(&mut self, warp: WarpId) -> bool {
        let info = &mut self.warps[warp.index()];
        let next = info.pc + 1;
        let free = next != info.until;
        if free {
            info.pc = next;
        }
        free
    }

    /// Takes one of the warps that changed since the last call.
    #[inline]
    pub fn take_touched(&mut self) -> Option<WarpId> {
        self.touched.pop()
    }

    /// The registers that a warp works on.
    #[inline]
    #[must_use]
    pub fn lanes(&self, warp: WarpId) -> Lanes<'_> {
        let info = &self.warps[warp.index()];
        match info.homes() {
            None => Lanes::Row(info.row),
            Some(homes) => Lanes::Gathered(homes),
        }
    }

    /// Calls `f` with each row that has lanes of `mask` of a warp, and those lanes in the row.
    #[inline]
    pub fn for_each_row(&self, warp: WarpId, mask: u32, mut f: impl FnMut(u32, u32)) {
        let info = &self.warps[warp.index()];
        match info.homes() {
            None => f(info.row, mask),
            Some(_) if mask == info.formed => info.rows.iter().for_each(|(row, lanes)| f(*row, *lanes)),
            Some(homes) => lanes_in(mask).for_each(|lane| f(homes[lane].row, 1 << homes[lane].lane)),
        }
    }
}
