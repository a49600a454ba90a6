//! Keeping the sets of warps up to date, and why a slot stays empty.

use super::Sm;
use super::state::{Hazard, Place};
use crate::kernel::UnitKind;
use crate::seam::{Cause, WarpId};

impl Sm<'_> {
    /// Brings the sets up to date for every warp whose control flow changed.
    pub(super) fn refresh_touched(&mut self) {
        while let Some(warp) = self.table.take_touched() {
            self.refresh(warp);
        }
    }

    /// An instruction of `warp`, whose threads are in `row`, has ended: the same for the warps with threads there that
    /// may have waited for it.
    pub(super) fn refresh_row(&mut self, row: u32, warp: WarpId) {
        let count = self.row_warps[row as usize].len();
        if count <= 1 {
            self.refresh_waiting(warp);
            return;
        }
        for n in 0..count {
            self.refresh_waiting(self.row_warps[row as usize][n]);
        }
    }

    #[inline]
    fn refresh_waiting(&mut self, warp: WarpId) {
        if self.sets.place(warp).waits_for_results() {
            self.refresh(warp);
        }
    }

    /// Brings the sets up to date for one warp.
    pub(super) fn refresh(&mut self, warp: WarpId) {
        let info = self.table.get(warp);
        let front = &mut self.fronts[warp.index()];
        if !info.valid {
            self.sets.wanting.set(warp, false);
            self.sets.put(warp, Place::Free);
            return;
        }
        let fetch = &self.config.sm.fetch;
        let decoded = front.decoded();
        let room = if fetch.only_when_empty { decoded == 0 } else { decoded + fetch.width <= fetch.ibuffer };
        self.sets.wanting.set(warp, !fetch.ideal && !info.ended && !front.fetching && room);
        if front.fence && front.is_drained() {
            front.fence = false;
        }
        let place = self.place_of(warp);
        self.sets.put(warp, place);
    }

    #[inline]
    fn place_of(&self, warp: WarpId) -> Place {
        let (info, front) = (self.table.get(warp), &self.fronts[warp.index()]);
        if let Some(cause) = info.blocked {
            return match cause {
                Cause::ExitWait => Place::Ended,
                Cause::Barrier => Place::Barrier,
                _ => Place::Held,
            };
        }
        if front.atomics > 0 || front.fence {
            return Place::Fence;
        }
        if !self.config.sm.fetch.ideal {
            match front.head() {
                None => return if front.redirected { Place::Redirected } else { Place::Starved },
                Some(head) if head != info.pc => return Place::Hazard,
                Some(_) => {}
            }
        }
        if self.config.sm.single_in_flight && front.in_flight > 0 {
            return if front.last_is_memory { Place::DataMemory } else { Place::DataAlu };
        }
        let op = &self.kernel.ops[info.pc as usize];
        let mut hazard = Hazard::None;
        self.table.for_each_row(warp, info.mask, |row, lanes| match self.scoreboard.check(op, row, lanes) {
            Hazard::None => {}
            Hazard::Memory => hazard = Hazard::Memory,
            Hazard::Alu if hazard == Hazard::None => hazard = Hazard::Alu,
            Hazard::Alu => {}
        });
        match hazard {
            Hazard::Memory => Place::DataMemory,
            Hazard::Alu => Place::DataAlu,
            Hazard::None => Place::ready(op.unit),
        }
    }

    /// Why a scheduler cannot issue, from the sets. Where warps of a scheduler are held up by different things,
    /// the one closest to issue counts: a warp that only waits for its unit before one that waits for data, that
    /// before one whose instruction is not there, and so on.
    #[inline]
    pub(super) fn idle_cause(&mut self, scheduler: usize) -> Cause {
        let key = (self.sets.version, self.ldst.is_stalled());
        let (known, cause) = self.idle_causes[scheduler];
        if known == key {
            return cause;
        }
        let cause = self.find_idle_cause(scheduler);
        self.idle_causes[scheduler] = (key, cause);
        cause
    }

    fn find_idle_cause(&self, scheduler: usize) -> Cause {
        let own = &self.scheduler_used[scheduler];
        let sets = &self.sets;
        if own.is_empty() {
            return Cause::NoWarp;
        }
        for (unit, cause) in
            [(UnitKind::Mem, Cause::UnitMem), (UnitKind::Sfu, Cause::UnitSfu), (UnitKind::Sp, Cause::UnitSp)]
        {
            if own.meets(sets.ready(unit)) {
                let full = unit == UnitKind::Mem && self.ldst.is_stalled();
                return if full { Cause::BackPressure } else { cause };
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
            (Place::Barrier, Cause::Barrier),
        ];
        rest.iter().find(|(place, _)| own.meets(sets.at(*place))).map_or(Cause::ExitWait, |(_, cause)| *cause)
    }
}
