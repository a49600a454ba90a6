//! What each warp could do next: its front end, the registers it waits for, and the set it is in.

use super::super::build::Build;
use super::super::in_flight::InFlight;
use super::copies::Copies;
use super::front::Front;
use super::places::Sets;
use super::rules::{Held, Rules};
use super::scoreboard::{Hazard, Scoreboard};
use crate::config::SmConfig;
use crate::kernel::{CopyRole, TimedKernel, TimedOp, UnitKind};
use crate::saved;
use crate::seam::{Cause, Place, WarpId, WarpInfo, WarpTable};
use std::marker::PhantomData;

/// What each warp could do next.
pub(super) struct Readiness<'k, B> {
    build: PhantomData<B>,
    kernel: &'k TimedKernel<'k>,
    rules: Rules,
    /// Threads change warps.
    regroups: bool,
    /// The divergence model takes slots as it likes.
    is_pool: bool,
    /// Its warps are parts of static ones and wait for registers of their own lanes only; others of a pool issue one
    /// instruction at a time.
    splits: bool,
    pub(super) fronts: Vec<Front>,
    pub(super) sets: Sets<B>,
    pub(super) scoreboard: Scoreboard,
    /// Warps of virtual blocks that are kept from something.
    pub(super) held: Held,
    /// Asynchronous copies that are outstanding.
    pub(super) copies: Copies,
}

saved!(impl['k, B] Readiness<'k, B> {
    values: fronts, scoreboard;
    parts: sets, held, copies;
    fixed: build, kernel, rules, regroups, is_pool, splits;
});

impl<'k, B: Build> Readiness<'k, B> {
    /// Nobody is there. `fetch_waiting` says that warps at a barrier want instructions too.
    pub(super) fn new(
        kernel: &'k TimedKernel<'k>,
        sm: &SmConfig,
        slots: usize,
        [regroups, is_pool, splits, fetch_waiting]: [bool; 4],
    ) -> Self {
        Self {
            build: PhantomData,
            kernel,
            rules: Rules::new(sm, fetch_waiting),
            regroups,
            is_pool,
            splits,
            fronts: vec![Front::default(); slots],
            sets: Sets::new(slots, sm.schedulers() as usize),
            scoreboard: Scoreboard::new(kernel.registers, slots, regroups),
            held: Held::default(),
            copies: if kernel.has_copies() { Copies::new(slots) } else { Copies::default() },
        }
    }

    /// Whether threads change warps.
    #[inline(always)]
    pub(super) fn regroups(&self) -> bool {
        !B::PLAIN && self.regroups
    }

    /// Whether the divergence model takes slots as it likes.
    #[inline(always)]
    pub(super) fn is_pool(&self) -> bool {
        !B::PLAIN && self.is_pool
    }

    #[inline]
    pub(super) fn front(&mut self, warp: WarpId) -> &mut Front {
        &mut self.fronts[warp.index()]
    }

    /// A warp drops its decoded instructions and continues at `pc`.
    ///
    /// With it goes a fetch that is outstanding, if fetches run ahead: what it brings would be taken for the path to
    /// `pc`, and the next fetch would continue after it. Otherwise only a warp that is formed anew can have one. It
    /// finds out when it looks at what has arrived.
    pub(super) fn redirect(&mut self, warp: WarpId, pc: u32) {
        let drops = self.rules.fetches_ahead;
        let front = self.front(warp);
        front.flush(pc);
        if drops {
            front.drop_fetch();
        }
    }

    /// Another warp begins in a slot. It waits for a fetch that ran ahead of the one before, and drops it.
    pub(super) fn restart(&mut self, warp: WarpId) {
        let fetching = self.rules.fetches_ahead && self.front(warp).fetching;
        let front = self.front(warp);
        *front = Front::default();
        front.fetching = fetching;
        front.drop_fetch();
    }

    /// Instructions of a warp have arrived: it decodes them, unless it has left their path.
    #[inline]
    pub(super) fn decode(&mut self, info: &WarpInfo, warp: WarpId, pc: u32, width: u32) {
        let ahead = self.rules.fetches_ahead;
        let front = self.front(warp);
        if front.end_fetch() || !info.valid || info.ended {
            return;
        }
        debug_assert!(!ahead || front.next_pc == pc, "what is decoded for warp {} is not what it wants", warp.0);
        // What lies after the program is fetched too: the warp is found to be elsewhere and drops it.
        for next in pc..pc + width {
            front.push(next);
        }
        front.next_pc = pc + width;
    }

    /// A warp issues an instruction, which is `entry` from now on: its registers are reserved.
    #[inline(always)]
    pub(super) fn enter(&mut self, table: &WarpTable, warp: WarpId, op: &TimedOp, entry: &mut InFlight) {
        let is_memory = op.unit == UnitKind::Mem;
        let regroups = self.regroups();
        self.sets.mark(warp);
        let front = &mut self.fronts[warp.index()];
        front.pop();
        front.in_flight += 1;
        front.last_is_memory = is_memory;
        if !B::PLAIN && op.copies != CopyRole::None {
            entry.group = self.copies.issue(warp, op.copies);
        }
        if regroups {
            let homes = table.get(warp).homes();
            entry.gathered = homes.is_some();
            if let Some(homes) = homes {
                *entry.homes = *homes;
                entry.rows.clear();
                table.for_each_row(warp, entry.issued, |row, lanes| entry.rows.push((row, lanes)));
            }
            entry.for_each_row(|row, lanes| {
                self.scoreboard.set_busy(row, lanes, true, is_memory);
                self.scoreboard.reserve_lanes(op, row, lanes, is_memory);
            });
        } else {
            self.scoreboard.reserve(op, warp, is_memory);
        }
    }

    /// An instruction is done: its registers are written.
    #[inline]
    pub(super) fn release(&mut self, entry: &InFlight) {
        let op = &self.kernel.ops[entry.pc as usize];
        self.fronts[usize::from(entry.warp)].in_flight -= 1;
        if !B::PLAIN && op.copies == CopyRole::Copy {
            self.copies.done(WarpId(entry.warp), entry.group);
        }
        if self.regroups() {
            entry.for_each_row(|row, lanes| {
                self.scoreboard.release_lanes(op, row, lanes);
                self.scoreboard.set_busy(row, lanes, false, false);
            });
        } else {
            self.scoreboard.release(op, WarpId(entry.warp));
        }
    }

    /// A store is done, though its requests may be outstanding.
    pub(super) fn release_store(&mut self, entry: &InFlight) {
        self.fronts[usize::from(entry.warp)].in_flight -= 1;
        if self.regroups() {
            entry.for_each_row(|row, lanes| self.scoreboard.set_busy(row, lanes, false, false));
        }
    }

    /// Ends the fence of a warp if all it waits for has come; whether it does.
    #[inline]
    pub(super) fn end_fence(&mut self, warp: WarpId) -> bool {
        let front = &mut self.fronts[warp.index()];
        if !front.has_fence() || !front.has_its_results() || front.stores > 0 && self.rules.fence_waits_for_stores {
            return false;
        }
        front.end_fence();
        true
    }

    /// Brings the sets up to date for a warp that is blocked, or a slot that is free.
    pub(super) fn refresh_blocked(&mut self, info: &WarpInfo, warp: WarpId) {
        let front = &self.fronts[warp.index()];
        let serves = self.rules.fetch_waiting || info.blocked != Some(Cause::Barrier);
        let has_room = !front.fetching && front.decoded() < self.rules.fetch_below;
        self.sets.wanting.set(warp, info.valid && !info.ended && has_room && serves);
        let place = match info.blocked {
            _ if !info.valid => Place::Free,
            Some(Cause::Draining) if front.is_drained() => Place::Drained,
            Some(Cause::Draining) => Place::Ended,
            Some(Cause::Barrier) if self.held.is_between(warp) => Place::Sibling,
            Some(Cause::Barrier) => Place::Barrier,
            Some(Cause::ArithmeticDependence) if front.waits_in_order() => Place::Fence,
            Some(Cause::ArithmeticDependence) if front.last_is_memory => Place::MemoryDependence,
            Some(Cause::ArithmeticDependence) => Place::ArithmeticDependence,
            _ => Place::Held,
        };
        self.sets.put(warp, place);
    }

    /// A slot is free.
    pub(super) fn refresh_free(&mut self, warp: WarpId) {
        self.sets.wanting.remove(warp);
        self.sets.put(warp, Place::Free);
    }

    /// Brings the sets up to date for a warp that is in use and not blocked.
    #[inline]
    pub(super) fn refresh_running(&mut self, table: &WarpTable, warp: WarpId) {
        let front = &self.fronts[warp.index()];
        self.sets.wanting.set(warp, !front.fetching && front.decoded() < self.rules.fetch_below);
        self.refresh_place(table, warp);
    }

    /// The same when it has as many decoded instructions as before.
    #[inline]
    pub(super) fn refresh_place(&mut self, table: &WarpTable, warp: WarpId) {
        let place = self.place_of(table, warp, &self.fronts[warp.index()]);
        self.sets.put(warp, place);
    }

    #[inline]
    fn place_of(&self, table: &WarpTable, warp: WarpId, front: &Front) -> Place {
        if front.waits_in_order() {
            return Place::Fence;
        }
        let info = table.get(warp);
        match front.head() {
            Some(head) if head == info.pc => {}
            _ if self.rules.ideal_fetch => {}
            Some(_) => return Place::Hazard,
            None => return if front.redirected { Place::Redirected } else { Place::Starved },
        }
        let op = &self.kernel.ops[info.pc as usize];
        if self.rules.single_in_flight || self.is_pool() && !self.splits {
            let hazard = match (self.regroups(), front.in_flight) {
                (true, _) => self.hazard_of(table, warp, info.mask, |row, lanes| self.scoreboard.busy(row, lanes)),
                (false, 0) => Hazard::None,
                _ if front.last_is_memory => Hazard::Memory,
                _ => Hazard::Alu,
            };
            match hazard {
                Hazard::Memory => return Place::MemoryDependence,
                Hazard::Alu => return Place::ArithmeticDependence,
                Hazard::None => {}
            }
        }
        let check = |row, lanes| self.scoreboard.check_lanes(op, row, lanes);
        let hazard = match info.homes() {
            // Lanes of a warp that have diverged wait for each other's results.
            _ if !self.regroups() => self.scoreboard.check(op, warp),
            None if self.splits => check(info.row, info.mask),
            None => check(info.row, self.rules.lanes << info.base),
            Some(_) => self.hazard_of(table, warp, info.mask, check),
        };
        match hazard {
            Hazard::Memory => Place::MemoryDependence,
            Hazard::Alu => Place::ArithmeticDependence,
            Hazard::None if !B::PLAIN && op.unit == UnitKind::Mem && self.held.is_kept_apart(warp, info.pc) => {
                Place::Sibling
            }
            Hazard::None if !B::PLAIN && self.waits_for_copies(table, warp, op) => Place::MemoryDependence,
            Hazard::None => Place::ready(op.unit),
        }
    }

    /// Whether a warp has to wait for asynchronous copies before it issues its instruction.
    fn waits_for_copies(&self, table: &WarpTable, warp: WarpId, op: &TimedOp) -> bool {
        match op.copies {
            CopyRole::None | CopyRole::Copy | CopyRole::Commit => false,
            CopyRole::Wait(_) | CopyRole::WaitForAll if self.regroups() => {
                let mask = table.get(warp).mask;
                self.hazard_of(table, warp, mask, |row, lanes| self.scoreboard.busy(row, lanes)) == Hazard::Memory
            }
            waits => self.copies.keep(warp, waits),
        }
    }

    /// What the threads of a warp wait for, when `of` says so for the lanes of a row.
    fn hazard_of(&self, table: &WarpTable, warp: WarpId, mask: u32, of: impl Fn(u32, u32) -> Hazard) -> Hazard {
        let mut hazard = Hazard::None;
        table.for_each_row(warp, mask, |row, lanes| match of(row, lanes) {
            Hazard::None => {}
            Hazard::Memory => hazard = Hazard::Memory,
            Hazard::Alu if hazard == Hazard::None => hazard = Hazard::Alu,
            Hazard::Alu => {}
        });
        hazard
    }
}
