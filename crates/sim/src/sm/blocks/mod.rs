//! Blocks come to an SM and leave it, with the slots of their warps; their warps wait for each other at barriers.

mod barriers;
pub mod phases;
mod virtual_blocks;

use super::build::Build;
use super::kept::Turns;
use super::shared::Shared;
use crate::event::EventKind;
use crate::packet::Cycle;
use crate::saved;
use crate::seam::{LogicalBlocks, Place, WarpId};
use barriers::Barriers;
use phases::SeenBlocks;
use raddle_exec::Launch;
use raddle_ptx::num::fit;
use std::collections::VecDeque;

pub(super) use virtual_blocks::takes_logical_blocks;

/// How an SM looks from outside, for the dispatcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Occupancy {
    /// Blocks resident or about to start.
    pub resident: u32,
    /// Blocks it can hold.
    pub most: u32,
}

/// A resident block.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Resident {
    /// Number in the grid.
    cta: u64,
    first_warp: u16,
    /// Warps that have not been retired.
    left: u16,
}

/// A static warp of a block that starts: its slot, row of registers, first lane and lanes.
pub(super) type StaticWarp = (WarpId, u32, u8, u32);

/// The blocks of an SM.
pub(super) struct Blocks {
    residents: Vec<Option<Resident>>,
    /// Blocks that come, with the time.
    starts: VecDeque<(Cycle, u64)>,
    /// Blocks that ended in this window.
    ended: Vec<(Cycle, u64)>,
    /// Cycles with a block: schedulers take turns in these.
    turns: Turns,
    /// Warps that start.
    warps: Vec<StaticWarp>,
    /// Where threads of a block wait for each other.
    barriers: Barriers,
}

saved!(Blocks { values: residents, starts, ended, turns, warps; parts: barriers });

impl Blocks {
    /// None yet. `policy` says who takes which logical block, if any are asked for; without it a block takes its next
    /// one as a whole.
    pub(super) fn new<B: Build>(
        on: &mut Shared<'_, B>,
        launch: &Launch,
        turns: Turns,
        policy: Option<Box<dyn LogicalBlocks>>,
    ) -> Self {
        Self {
            residents: Vec::new(),
            starts: VecDeque::new(),
            ended: Vec::new(),
            turns,
            warps: Vec::new(),
            barriers: Barriers::new(on, launch, policy),
        }
    }

    /// Where threads of a block wait for each other.
    #[inline]
    pub(super) fn barriers_mut(&mut self) -> &mut Barriers {
        &mut self.barriers
    }

    /// The same, for reports.
    pub(super) fn barriers(&self) -> &Barriers {
        &self.barriers
    }

    // For those outside.

    /// The blocks as schedulers see them, by slot.
    #[inline]
    pub(super) fn seen(&self) -> SeenBlocks<'_> {
        self.barriers.phases.blocks()
    }

    /// Whose turn it is.
    #[inline]
    pub(super) fn turn(&self, now: Cycle) -> u64 {
        self.turns.at(now)
    }

    /// What the next launch finds.
    pub(super) fn turns(&self) -> Turns {
        self.turns
    }

    /// Whether warps take logical blocks on their own.
    pub(super) fn are_virtual(&self) -> bool {
        self.barriers.logical.is_some()
    }

    /// Who takes which logical block, where warps do so on their own.
    pub(super) fn logical_blocks(&self) -> Option<&dyn LogicalBlocks> {
        self.barriers.logical.as_ref().map(|logical| logical.policy())
    }

    /// Blocks resident or about to start, and how many fit.
    pub(super) fn occupancy(&self, most: u32) -> Occupancy {
        let resident = self.residents.iter().flatten().count() + self.starts.len();
        Occupancy { resident: fit(resident), most }
    }

    /// Whether there is none, and none about to start.
    pub(super) fn is_empty(&self) -> bool {
        self.starts.is_empty() && self.residents.iter().all(Option::is_none)
    }

    /// Whether blocks whose threads have ended wait for what is left of them.
    #[inline]
    pub(super) fn are_ending(&self) -> bool {
        !self.barriers.ending.is_empty()
    }

    /// When the next block starts.
    #[inline]
    pub(super) fn next_start(&self) -> Option<Cycle> {
        self.starts.front().map(|s| s.0)
    }

    /// When a logical block next arrives.
    #[inline]
    pub(super) fn next_logical(&self) -> Option<Cycle> {
        self.barriers.logical.as_ref().and_then(|logical| logical.next_event())
    }

    /// Takes what came for it in the mail: blocks that start, logical blocks, and whether blocks are left.
    pub(super) fn take_mail(&mut self, mail: &mut super::Mail) {
        self.starts.extend(mail.starts.drain(..));
        self.barriers.phases.is_last = mail.is_last;
        if let Some(logical) = &mut self.barriers.logical {
            logical.coming.extend(mail.logical_blocks.drain(..));
        }
    }

    /// Leaves what it has to tell.
    pub(super) fn leave_mail(&mut self, mail: &mut super::Mail) {
        mail.ended.append(&mut self.ended);
        if let Some(logical) = &mut self.barriers.logical {
            mail.asking.append(&mut logical.asking);
            mail.logical_total = logical.total;
        }
    }

    // Coming and leaving.

    /// The number of a block that starts now.
    #[inline]
    pub(super) fn take_start(&mut self, now: Cycle) -> Option<u64> {
        let has_come = self.starts.front().is_some_and(|s| s.0 <= now);
        if has_come { self.starts.pop_front().map(|s| s.1) } else { None }
    }

    /// A block starts: it gets slots and registers, and the divergence model its warps, which are not looked at yet.
    pub(super) fn start<B: Build>(&mut self, on: &mut Shared<'_, B>, cta: u64, now: Cycle) -> &[StaticWarp] {
        if self.residents.iter().all(Option::is_none) {
            self.turns.begin(now + 1);
        }
        let slot = on.threads.core.start_cta(cta);
        on.threads.note::<B>(|notes, core| notes.started(core, now, slot, cta));
        let (first_row, rows) = on.threads.core.cta_rows(slot);
        let (width, count) = (on.facts.config.sm.warp_width, on.facts.warps_per_cta);
        let first_warp = on.facts.first_warp(slot);
        let threads = on.threads.core.live_threads(slot);
        on.warps.give_rows(slot, first_row, rows);
        self.warps.clear();
        for number in 0..count {
            let (warp, n) = (WarpId(first_warp + number), u32::from(number));
            let (row, base) = (first_row + n * width / 32, (n * width % 32) as u8);
            let lanes = width.min(threads - n * width);
            let mask = (u32::MAX >> (32 - lanes)) << base;
            self.warps.push((warp, row, base, mask));
            if !on.warps.pooled() {
                on.warps.start(warp);
            }
        }
        if self.residents.len() <= slot as usize {
            self.residents.resize(slot as usize + 1, None);
        }
        self.residents[slot as usize] = Some(Resident { cta, first_warp, left: count });
        self.barriers.phases.start_block(slot, cta, first_warp..first_warp + count, now);
        if let Some(logical) = &mut self.barriers.logical {
            logical.start_block(on, &mut self.barriers.phases, slot, cta);
        }
        on.emit(now, EventKind::CtaStart { cta, slot });
        for (warp, _, _, lanes) in &self.warps {
            on.emit(now, EventKind::WarpStart { warp: warp.0, slot, lanes: *lanes });
        }
        on.warps.flow.start_block(slot, &self.warps);
        &self.warps
    }

    /// Logical blocks arrive.
    pub(super) fn take_logical_blocks<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        if let Some(logical) = self.barriers.logical.as_mut().filter(|_| !B::PLAIN) {
            logical.take(on, &mut self.barriers.phases, now);
        }
    }

    /// Frees warps that have ended and have nothing outstanding, and blocks whose warps are all gone.
    #[inline]
    pub(super) fn retire<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        if on.warps.pooled() {
            self.retire_blocks(on, now);
            return;
        }
        while let Some(warp) = on.warps.sets().first(Place::Drained) {
            self.retire_warp(on, now, warp);
        }
    }

    /// Blocks that have no thread left and nothing in flight end.
    fn retire_blocks<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        for n in (0..self.barriers.ending.len()).rev() {
            let slot = self.barriers.ending[n];
            let (first, rows) = on.threads.core.cta_rows(slot);
            if on.warps.rows_are_done(first, rows) {
                self.barriers.ending.remove(n);
                on.account.counters.warps += u64::from(on.facts.warps_per_cta);
                self.end_block(on, now, slot);
            }
        }
    }

    fn retire_warp<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle, warp: WarpId) {
        let slot = on.warps.get(warp).cta;
        let (warp_insts, thread_insts) = on.warps.slots.issued_by(warp);
        on.emit(now, EventKind::WarpExit { warp: warp.0, slot, warp_insts, thread_insts });
        on.warps.free(warp);
        on.account.counters.warps += 1;
        self.barriers.phases.exit(warp, slot, now);
        let Some(Some(resident)) = self.residents.get_mut(slot as usize) else { return };
        resident.left -= 1;
        if resident.left == 0 {
            self.end_block(on, now, slot);
        }
        on.warps.refresh_touched();
    }

    fn end_block<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle, slot: u32) {
        let Some(resident) = self.residents[slot as usize].take() else { return };
        on.threads.core.end_cta(slot);
        on.warps.flow.end_block(slot);
        self.ended.push((now, resident.cta));
        if self.residents.iter().all(Option::is_none) {
            self.turns.end(now + 1);
        }
        let counters = &mut on.account.counters;
        counters.ctas += 1;
        self.barriers.phases.end_block(slot, u64::from(on.facts.warps_per_cta), now, counters);
        on.emit(now, EventKind::CtaEnd { cta: resident.cta, slot });
    }

    // Reports.

    /// Slots of the blocks there are.
    pub(super) fn resident_slots(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.residents).filter(|(_, resident)| resident.is_some()).map(|(slot, _)| slot)
    }

    /// The first warp of a block.
    pub(super) fn first_warp(&self, slot: u32) -> u16 {
        self.residents.get(slot as usize).and_then(|r| r.as_ref()).map_or(0, |r| r.first_warp)
    }
}
