//! Keeping the sets of warps up to date, and why a slot stays empty.

use super::Sm;
use super::state::Hazard;
use crate::kernel::UnitKind;
use crate::seam::{Cause, WarpId};

impl Sm<'_> {
    /// Brings the sets up to date for every warp whose control flow changed.
    pub(super) fn refresh_touched(&mut self) {
        while let Some(warp) = self.table.take_touched() {
            self.refresh(warp);
        }
    }

    /// The same for the warps with threads in a row; `warp` is one of them.
    pub(super) fn refresh_row(&mut self, row: u32, warp: WarpId) {
        let count = self.row_warps[row as usize].len();
        if count <= 1 {
            self.refresh(warp);
            return;
        }
        for n in 0..count {
            self.refresh(self.row_warps[row as usize][n]);
        }
    }

    /// Brings the sets up to date for one warp.
    pub(super) fn refresh(&mut self, warp: WarpId) {
        self.sets.clear(warp);
        let info = self.table.get(warp);
        let front = &mut self.fronts[warp.index()];
        if !info.valid {
            self.sets.wanting.set(warp, false);
            return;
        }
        let fetch = &self.config.sm.fetch;
        let room =
            if fetch.only_when_empty { front.decoded() == 0 } else { front.decoded() + fetch.width <= fetch.ibuffer };
        self.sets.wanting.set(warp, !fetch.ideal && !info.ended && !front.fetching && room);
        if front.fence && front.in_flight == 0 && front.stores == 0 && front.atomics == 0 {
            front.fence = false;
        }
        if let Some(cause) = info.blocked {
            let set = match cause {
                Cause::ExitWait => &mut self.sets.ended,
                Cause::Barrier => &mut self.sets.barrier,
                _ => &mut self.sets.held,
            };
            set.set(warp, true);
            self.sets.waiting.set(warp, true);
            return;
        }
        if front.atomics > 0 || front.fence {
            self.sets.fence.set(warp, true);
            self.sets.waiting.set(warp, true);
            return;
        }
        if !fetch.ideal {
            match front.head() {
                None => return self.sets.starved.set(warp, true),
                Some(head) if head != info.pc => return self.sets.hazard.set(warp, true),
                Some(_) => {}
            }
        }
        if self.config.sm.single_in_flight && front.in_flight > 0 {
            return self.sets.data_alu.set(warp, true);
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
            Hazard::Memory => self.sets.data_memory.set(warp, true),
            Hazard::Alu => self.sets.data_alu.set(warp, true),
            Hazard::None => self.sets.ready[op.unit as usize].set(warp, true),
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
            if own.meets(&sets.ready[unit as usize]) {
                let full = unit == UnitKind::Mem && self.ldst.is_stalled();
                return if full { Cause::BackPressure } else { cause };
            }
        }
        let rest = [
            (&sets.data_memory, Cause::DataMemory),
            (&sets.data_alu, Cause::DataAlu),
            (&sets.hazard, Cause::Control),
            (&sets.starved, Cause::Fetch),
            (&sets.fence, Cause::Fence),
            (&sets.held, Cause::Mechanism),
            (&sets.barrier, Cause::Barrier),
        ];
        rest.iter().find(|(set, _)| own.meets(set)).map_or(Cause::ExitWait, |(_, cause)| *cause)
    }
}
