//! Blocks come to an SM and leave it, with the slots of their warps.

use super::state::{Front, Hazard, Place};
use super::{Build, Sm};
use crate::event::EventKind;
use crate::packet::Cycle;
use crate::seam::WarpId;
use raddle_ptx::num::fit;

/// A resident block.
#[derive(Clone, Debug)]
pub(super) struct Resident {
    /// Number in the grid.
    pub(super) cta: u64,
    pub(super) first_warp: u16,
    /// Warps that have not been retired.
    pub(super) left: u16,
}

impl<B: Build> Sm<'_, B> {
    pub(super) fn start_blocks(&mut self, now: Cycle) {
        while self.starts.front().is_some_and(|s| s.0 <= now) {
            if let Some((_, cta)) = self.starts.pop_front() {
                self.start_block(now, cta);
            }
        }
    }

    /// The first warp of a block.
    pub(super) fn first_warp(&self, slot: u32) -> u16 {
        fit(slot * u32::from(self.slots_per_cta))
    }

    fn start_block(&mut self, now: Cycle, cta: u64) {
        if self.residents.iter().all(Option::is_none) {
            self.turns.begin(now + 1);
        }
        let slot = self.core.start_cta(cta);
        let (first_row, rows) = self.core.cta_rows(slot);
        let width = self.config.sm.warp_width;
        let first_warp = self.first_warp(slot);
        let threads = self.core.live_threads(slot);
        self.scoreboard.reserve((first_row + rows) as usize);
        if self.row_blocks.len() < (first_row + rows) as usize {
            self.row_blocks.resize((first_row + rows) as usize, 0);
        }
        self.row_blocks[first_row as usize..(first_row + rows) as usize].fill(slot);
        let mut warps = Vec::with_capacity(usize::from(self.warps_per_cta));
        for number in 0..self.warps_per_cta {
            let (warp, n) = (WarpId(first_warp + number), u32::from(number));
            let (row, base) = (first_row + n * width / 32, (n * width % 32) as u8);
            let lanes = width.min(threads - n * width);
            let mask = (u32::MAX >> (32 - lanes)) << base;
            warps.push((warp, row, base, mask));
            if !self.pooled() {
                self.fronts[warp.index()] = Front::default();
                self.use_slot(warp);
            }
        }
        if self.residents.len() <= slot as usize {
            self.residents.resize(slot as usize + 1, None);
        }
        let count = self.warps_per_cta;
        self.residents[slot as usize] = Some(Resident { cta, first_warp, left: count });
        self.phases.start_block(slot, cta, first_warp..first_warp + count, now);
        self.start_virtual_block(slot, cta, first_warp);
        self.emit(now, EventKind::CtaStart { cta, slot });
        for (warp, _, _, lanes) in &warps {
            self.emit(now, EventKind::WarpStart { warp: warp.0, slot, lanes: *lanes });
        }
        self.mechanisms.divergence.start_cta(slot, &warps, &mut self.table);
        self.start_gangs(now, &warps);
        if !self.pooled() {
            warps.iter().for_each(|(warp, ..)| self.tell_threads(*warp));
        }
        self.refresh_touched();
    }

    /// A slot is used by a warp that was not there before.
    pub(super) fn use_slot(&mut self, warp: WarpId) {
        self.ages[warp.index()] = self.next_age;
        self.next_age += 1;
        self.issued[warp.index()] = 0;
        self.issued_threads[warp.index()] = 0;
        self.set_used(warp, true);
    }

    pub(super) fn set_used(&mut self, warp: WarpId, used: bool) {
        let scheduler = warp.index() % self.scheduler_used.len();
        self.scheduler_used[scheduler].set(warp, used);
        self.mechanisms.issue[scheduler].warp_changed(warp, used);
    }

    /// An instruction of a warp whose threads change warps has ended.
    pub(super) fn finish(&mut self, warp: WarpId) {
        let front = &self.fronts[warp.index()];
        if self.pooled() && front.in_flight == 0 && front.atomics == 0 && !front.fence {
            self.mechanisms.divergence.finished(warp, &mut self.table);
            self.refresh_touched();
        }
        self.refresh_all_waiting();
    }

    /// Blocks that have no thread left and nothing in flight end.
    fn retire_blocks(&mut self, now: Cycle) {
        for n in (0..self.ending.len()).rev() {
            let slot = self.ending[n];
            let (first, rows) = self.core.cta_rows(slot);
            if (first..first + rows).all(|row| self.scoreboard.busy(row, u32::MAX) == Hazard::None) {
                self.ending.remove(n);
                self.counters.warps += u64::from(self.warps_per_cta);
                self.end_block(now, slot);
            }
        }
    }

    pub(super) fn end_block(&mut self, now: Cycle, slot: u32) {
        let Some(resident) = self.residents[slot as usize].take() else { return };
        self.core.end_cta(slot);
        self.mechanisms.divergence.end_cta(slot, &mut self.table);
        self.ended_ctas.push((now, resident.cta));
        if self.residents.iter().all(Option::is_none) {
            self.turns.end(now + 1);
        }
        self.counters.ctas += 1;
        self.phases.end_block(slot, u64::from(self.warps_per_cta), now, &mut self.counters);
        self.emit(now, EventKind::CtaEnd { cta: resident.cta, slot });
    }

    /// Frees warps that have ended and have nothing outstanding, and blocks whose warps are all gone.
    pub(super) fn retire(&mut self, now: Cycle) {
        if self.pooled() {
            self.retire_blocks(now);
            return;
        }
        while let Some(warp) = self.sets.at(Place::Drained).next_from(WarpId(0)) {
            self.retire_warp(now, warp);
        }
    }

    fn retire_warp(&mut self, now: Cycle, warp: WarpId) {
        let slot = self.table.get(warp).cta;
        let (warp_insts, thread_insts) = (self.issued[warp.index()], self.issued_threads[warp.index()]);
        self.emit(now, EventKind::WarpExit { warp: warp.0, slot, warp_insts, thread_insts });
        self.sets.put(warp, Place::Free);
        self.sets.wanting.set(warp, false);
        self.set_used(warp, false);
        self.table.free(warp);
        self.counters.warps += 1;
        self.phases.exit(warp, slot, now);
        let Some(Some(resident)) = self.residents.get_mut(slot as usize) else { return };
        resident.left -= 1;
        if resident.left == 0 {
            self.end_block(now, slot);
        }
        self.refresh_touched();
    }
}
