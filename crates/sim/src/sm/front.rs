//! Keeping the sets of warps up to date, and why a slot stays empty.

use super::state::{Front, Hazard, Place};
use super::{Build, Sm};
use crate::event::EventKind;
use crate::kernel::UnitKind;
use crate::seam::{Cause, WarpId};
use raddle_exec::core::lanes_in;
use raddle_ptx::num::fit;

/// Why a scheduler could not issue, for the state in which that was found.
#[derive(Clone, Copy)]
pub(super) struct Idle {
    /// The version of its warps' places.
    version: u64,
    /// Whether the load-store unit was stalled, and whether it kept others from the one pipeline.
    memory: [bool; 2],
    cause: Cause,
    /// None of its warps can issue or has wrong instructions to drop, whatever the units do.
    is_quiet: bool,
}

impl Idle {
    /// Nothing is known.
    pub(super) const UNKNOWN: Self =
        Self { version: u64::MAX, memory: [false; 2], cause: Cause::NoWarp, is_quiet: false };
}

impl<B: Build> Sm<'_, B> {
    /// Brings the sets up to date for every warp whose control flow changed.
    pub(super) fn refresh_touched(&mut self) {
        while let Some(warp) = self.table.take_formed() {
            self.tell_threads(warp);
            let pc = self.table.get(warp).pc;
            let front = &mut self.fronts[warp.index()];
            if front.head().unwrap_or(front.next_pc) != pc {
                front.flush(pc);
            }
            let scheduler = warp.index() % self.scheduler_used.len();
            if self.pooled() && !self.scheduler_used[scheduler].contains(warp) {
                self.use_slot(warp);
            }
        }
        while let Some(warp) = self.table.take_touched() {
            if self.has_gangs() {
                self.gangs.moved(warp.index() / self.slices.len());
            }
            self.refresh(warp);
        }
        if self.regroups() {
            self.divergence_due = self.mechanisms.divergence.next_event();
        }
    }

    /// Tells who listens which threads are in a warp.
    pub(super) fn tell_threads(&mut self, warp: WarpId) {
        if !self.hears_slots() {
            return;
        }
        for lane in lanes_in(self.table.get(warp).mask) {
            let home = self.table.lanes(warp).home(lane);
            let slot = self.row_blocks[home.row as usize];
            let thread = fit((home.row - self.core.cta_rows(slot).0) * 32 + u32::from(home.lane));
            let kind = EventKind::Thread { warp: warp.0, lane: fit(lane), slot, thread };
            self.emit(self.table.now(), kind);
        }
    }

    /// An instruction has ended: its threads may go on, in whatever warp they are now.
    pub(super) fn refresh_all_waiting(&mut self) {
        for warp in WarpId::first(self.table.slots()) {
            self.refresh_waiting(warp);
        }
    }

    /// An instruction of a warp has ended, for which it may have waited.
    #[inline]
    pub(super) fn refresh_waiting(&mut self, warp: WarpId) {
        if self.sets.place(warp).waits_for_results() {
            self.refresh(warp);
        }
    }

    /// Brings the sets up to date for one warp.
    pub(super) fn refresh(&mut self, warp: WarpId) {
        let pooled = self.pooled();
        let info = self.table.get(warp);
        let front = &mut self.fronts[warp.index()];
        let sm = &self.config.sm;
        if front.fence && front.has_its_results() && (front.stores == 0 || !sm.fence_waits_for_stores) {
            front.fence = false;
            if sm.fence_empties_l1d {
                self.ldst.l1d.invalidate();
            }
            if pooled {
                self.finish(warp);
                return;
            }
        }
        if front.stays && !front.fence && front.atomics == 0 {
            front.stays = false;
            self.go_behind(warp);
            return;
        }
        if pooled && !info.valid {
            let scheduler = warp.index() % self.scheduler_used.len();
            if self.scheduler_used[scheduler].contains(warp) {
                self.set_used(warp, false);
            }
            self.sets.wanting.set(warp, false);
            self.sets.put(warp, Place::Free);
            return;
        }
        if info.valid && info.blocked.is_none() {
            self.refresh_running(warp);
            return;
        }
        let serves = self.fetch_waiting || info.blocked != Some(Cause::Barrier);
        let wants = info.valid && !info.ended && !front.fetching && front.decoded() < self.fetch_below && serves;
        self.sets.wanting.set(warp, wants);
        let front = &self.fronts[warp.index()];
        let place = match info.blocked {
            _ if !info.valid => Place::Free,
            Some(Cause::ExitWait) if front.is_drained() => Place::Drained,
            Some(Cause::ExitWait) => Place::Ended,
            Some(Cause::Barrier) if self.waits_for_block(warp) => Place::Sibling,
            Some(Cause::Barrier) => Place::Barrier,
            Some(Cause::DataAlu) if front.fence || front.atomics > 0 => Place::Fence,
            Some(Cause::DataAlu) if front.last_is_memory => Place::DataMemory,
            Some(Cause::DataAlu) => Place::DataAlu,
            _ => Place::Held,
        };
        self.sets.put(warp, place);
    }

    /// The same for a warp that is in use and not blocked.
    #[inline]
    pub(super) fn refresh_running(&mut self, warp: WarpId) {
        let front = &self.fronts[warp.index()];
        self.sets.wanting.set(warp, !front.fetching && front.decoded() < self.fetch_below);
        let place = self.place_of(warp, front);
        self.sets.put(warp, place);
    }

    #[inline]
    fn place_of(&self, warp: WarpId, front: &Front) -> Place {
        if front.atomics > 0 || front.fence {
            return Place::Fence;
        }
        let info = self.table.get(warp);
        match front.head() {
            Some(head) if head == info.pc => {}
            _ if self.config.sm.fetch.ideal => {}
            Some(_) => return Place::Hazard,
            None => return if front.redirected { Place::Redirected } else { Place::Starved },
        }
        let op = &self.kernel.ops[info.pc as usize];
        if self.config.sm.single_in_flight || self.pooled() {
            let hazard = match (self.regroups(), front.in_flight) {
                (true, _) => self.hazard_of(warp, info.mask, |row, lanes| self.scoreboard.busy(row, lanes)),
                (false, 0) => Hazard::None,
                _ if front.last_is_memory => Hazard::Memory,
                _ => Hazard::Alu,
            };
            match hazard {
                Hazard::Memory => return Place::DataMemory,
                Hazard::Alu => return Place::DataAlu,
                Hazard::None => {}
            }
        }
        let hazard = match info.homes() {
            // Lanes of a warp that have parted wait for each other's results.
            None => self.scoreboard.check(op, info.row, self.warp_lanes << info.base),
            Some(_) => self.hazard_of(warp, info.mask, |row, lanes| self.scoreboard.check(op, row, lanes)),
        };
        match hazard {
            Hazard::Memory => Place::DataMemory,
            Hazard::Alu => Place::DataAlu,
            Hazard::None if op.unit == UnitKind::Mem && self.is_kept_from_shared(warp, info.pc) => Place::Sibling,
            Hazard::None => Place::ready(op.unit),
        }
    }

    /// What the threads of a warp wait for, when `of` says so for the lanes of a row.
    fn hazard_of(&self, warp: WarpId, mask: u32, of: impl Fn(u32, u32) -> Hazard) -> Hazard {
        let mut hazard = Hazard::None;
        self.table.for_each_row(warp, mask, |row, lanes| match of(row, lanes) {
            Hazard::None => {}
            Hazard::Memory => hazard = Hazard::Memory,
            Hazard::Alu if hazard == Hazard::None => hazard = Hazard::Alu,
            Hazard::Alu => {}
        });
        hazard
    }

    /// Why a scheduler cannot issue, from the sets. Where warps of a scheduler are held up by different things,
    /// the one closest to issue counts: a warp that only waits for its unit before one that waits for data, that
    /// before one whose instruction is not there, and so on.
    #[inline]
    pub(super) fn idle_cause(&mut self, scheduler: usize) -> Cause {
        let (version, memory) = (self.sets.version(scheduler), [self.ldst.is_stalled(), self.memory_is_in_the_way()]);
        let known = self.idle[scheduler];
        if (known.version, known.memory) == (version, memory) {
            return known.cause;
        }
        let (cause, is_quiet) = self.find_idle_cause(scheduler);
        self.idle[scheduler] = Idle { version, memory, cause, is_quiet };
        cause
    }

    /// Why a scheduler cannot issue, when it is known that none of its warps has anything to do in the issue stage, even
    /// if units were free.
    #[inline]
    pub(super) fn known_idle_cause(&self, scheduler: usize) -> Option<Cause> {
        let known = self.idle[scheduler];
        (known.is_quiet && known.version == self.sets.version(scheduler)).then_some(known.cause)
    }

    /// Whether a warp of a scheduler that is in no gang could issue to a unit.
    fn has_ready_alone(&self, scheduler: usize, unit: UnitKind) -> bool {
        let (own, ready) = (&self.scheduler_used[scheduler], self.sets.ready(unit));
        (0..own.word_count()).any(|n| own.word(n) & ready.word(n) & self.gangs.free.word(n) != 0)
    }

    /// Why it cannot, and whether that is so whatever the units do.
    fn find_idle_cause(&self, scheduler: usize) -> (Cause, bool) {
        let own = &self.scheduler_used[scheduler];
        let sets = &self.sets;
        if own.is_empty() {
            return (Cause::NoWarp, true);
        }
        for (unit, cause) in
            [(UnitKind::Mem, Cause::UnitMem), (UnitKind::Sfu, Cause::UnitSfu), (UnitKind::Sp, Cause::UnitSp)]
        {
            if own.meets(sets.ready(unit)) {
                if self.has_gangs() && !self.has_ready_alone(scheduler, unit) {
                    return (Cause::Mechanism, false);
                }
                if self.is_unified() {
                    return (self.pipeline_cause(), false);
                }
                let full = unit == UnitKind::Mem && self.ldst.is_stalled();
                return (if full { Cause::BackPressure } else { cause }, false);
            }
        }
        let rest = [
            (Place::DataMemory, Cause::DataMemory),
            (Place::DataAlu, Cause::DataAlu),
            (Place::Hazard, Cause::Control),
            (Place::Redirected, Cause::Control),
            (Place::Starved, Cause::Fetch),
            (Place::Fence, Cause::Fence),
            (Place::Held, Cause::Mechanism),
            (Place::Sibling, Cause::Sibling),
            (Place::Barrier, Cause::Barrier),
        ];
        let first = rest.iter().find(|(place, _)| own.meets(sets.at(*place)));
        // Wrong instructions are dropped in the issue stage.
        (first.map_or(Cause::ExitWait, |(_, cause)| *cause), !own.meets(sets.at(Place::Hazard)))
    }
}
