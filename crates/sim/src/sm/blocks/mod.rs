//! Blocks come to an SM and leave it, with the slots of their warps; their warps meet at barriers.

mod index_map;
pub mod phases;
mod virtual_blocks;

use super::build::Build;
use super::facts::Facts;
use super::kept::Turns;
use super::shared::Shared;
use super::warps::places::Place;
use super::warps::rules::Held;
use crate::event::EventKind;
use crate::kernel::TimedKernel;
use crate::packet::Cycle;
use crate::seam::{Outcome, StackEntry, WarpId};
use phases::{Phases, SeenBlocks};
use raddle_exec::Launch;
use raddle_exec::core::{Arrival, LaneFault, lanes_in, lanes_of};
use raddle_exec::decode::{BarrierOp, MEMBERS, WarpOp};
use raddle_exec::op::{Class, Op};
use raddle_ptx::num::fit;
use std::collections::VecDeque;
use virtual_blocks::{VirtualBlocks, named};

/// How an SM looks from outside, for the dispatcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks resident or about to start.
    pub resident: u32,
    /// Blocks it can hold.
    pub most: u32,
}

/// A resident block.
#[derive(Clone, Debug)]
struct Resident {
    /// Number in the grid.
    cta: u64,
    first_warp: u16,
    /// Warps that have not been retired.
    left: u16,
}

/// A static warp of a block that starts: its slot, row of registers, first lane and lanes.
pub(super) type StaticWarp = (WarpId, u32, u8, u32);

/// Whether a kernel's warps take logical blocks by themselves.
pub(super) fn takes_logical_blocks(kernel: &TimedKernel<'_>, launch: &Launch, width: u32, slots: usize) -> bool {
    VirtualBlocks::new(kernel, launch, width, slots).is_some()
}

/// The blocks of an SM.
pub(super) struct Blocks {
    residents: Vec<Option<Resident>>,
    /// Blocks that come, with the time.
    starts: VecDeque<(Cycle, u64)>,
    /// Blocks that ended in this window.
    ended: Vec<(Cycle, u64)>,
    /// Blocks whose threads have all ended, with something of them left in the machine.
    ending: Vec<u32>,
    phases: Phases,
    /// Cycles with a block: schedulers take turns in these.
    turns: Turns,
    /// Where warps take logical blocks by themselves.
    logical: Option<Box<VirtualBlocks>>,
    /// Warps that start.
    warps: Vec<StaticWarp>,
    arrivals: Vec<Arrival>,
    /// Blocks of the threads that just ended or came to a barrier, while they are looked at.
    slots: Vec<u32>,
    left: Vec<WarpId>,
    has_warp_ops: bool,
}

impl Blocks {
    /// None yet. `whole` says that a block takes its next logical block as a whole, if it takes any.
    pub(super) fn new<B: Build>(on: &mut Shared<'_, B>, launch: &Launch, turns: Turns, whole: bool) -> Self {
        let Facts { kernel, config, .. } = on.facts;
        let slots = on.warps.table().slots();
        let logical = if whole { None } else { VirtualBlocks::new(kernel, launch, config.sm.warp_width, slots) };
        if let Some(logical) = &logical {
            *on.warps.held() = Held::new(slots, logical.shared_ops(kernel));
        }
        Self {
            residents: Vec::new(),
            starts: VecDeque::new(),
            ended: Vec::new(),
            ending: Vec::new(),
            phases: Phases::new(slots, !on.warps.pooled()),
            turns,
            logical: logical.map(Box::new),
            warps: Vec::new(),
            arrivals: Vec::new(),
            slots: Vec::new(),
            left: Vec::new(),
            has_warp_ops: kernel.program.ops.iter().any(|op| op.class == Class::Warp),
        }
    }

    // For those outside.

    /// The blocks as schedulers see them, by slot.
    #[inline]
    pub(super) fn seen(&self) -> SeenBlocks<'_> {
        self.phases.blocks()
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

    /// Whether warps take logical blocks by themselves.
    pub(super) fn are_virtual(&self) -> bool {
        self.logical.is_some()
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
        !self.ending.is_empty()
    }

    /// When the next block starts.
    #[inline]
    pub(super) fn next_start(&self) -> Option<Cycle> {
        self.starts.front().map(|s| s.0)
    }

    /// When a logical block next arrives.
    #[inline]
    pub(super) fn next_logical(&self) -> Option<Cycle> {
        self.logical.as_ref().and_then(|logical| logical.next_event())
    }

    /// Takes what came for it in the mail: blocks that start, logical blocks, and whether blocks are left.
    pub(super) fn take_mail(&mut self, mail: &mut super::Mail) {
        self.starts.extend(mail.starts.drain(..));
        self.phases.is_last = mail.is_last;
        if let Some(logical) = &mut self.logical {
            logical.coming.extend(mail.logical_blocks.drain(..));
        }
    }

    /// Leaves what it has to tell.
    pub(super) fn leave_mail(&mut self, mail: &mut super::Mail) {
        mail.ended.append(&mut self.ended);
        if let Some(logical) = &mut self.logical {
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
        self.phases.start_block(slot, cta, first_warp..first_warp + count, now);
        if let Some(logical) = &mut self.logical {
            logical.start_block(on, &mut self.phases, slot, cta);
        }
        on.emit(now, EventKind::CtaStart { cta, slot });
        for (warp, _, _, lanes) in &self.warps {
            on.emit(now, EventKind::WarpStart { warp: warp.0, slot, lanes: *lanes });
        }
        on.warps.start_block(slot, &self.warps);
        &self.warps
    }

    /// Logical blocks arrive.
    pub(super) fn take_logical_blocks<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        if let Some(logical) = self.logical.as_mut().filter(|_| !B::PLAIN) {
            logical.take(on, &mut self.phases, now);
        }
    }

    /// Frees warps that have ended and have nothing outstanding, and blocks whose warps are all gone.
    #[inline]
    pub(super) fn retire<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        if on.warps.pooled() {
            self.retire_blocks(on, now);
            return;
        }
        while let Some(warp) = on.warps.sets().at(Place::Drained).next_from(WarpId(0)) {
            self.retire_warp(on, now, warp);
        }
    }

    /// Blocks that have no thread left and nothing in flight end.
    fn retire_blocks<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        for n in (0..self.ending.len()).rev() {
            let slot = self.ending[n];
            let (first, rows) = on.threads.core.cta_rows(slot);
            if on.warps.rows_are_done(first, rows) {
                self.ending.remove(n);
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
        self.phases.exit(warp, slot, now);
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
        on.warps.end_block(slot);
        self.ended.push((now, resident.cta));
        if self.residents.iter().all(Option::is_none) {
            self.turns.end(now + 1);
        }
        let counters = &mut on.account.counters;
        counters.ctas += 1;
        self.phases.end_block(slot, u64::from(on.facts.warps_per_cta), now, counters);
        on.emit(now, EventKind::CtaEnd { cta: resident.cta, slot });
    }

    // What threads of a block do together.

    /// Threads of a warp end.
    pub(super) fn exit<B: Build>(&mut self, on: &mut Shared<'_, B>, warp: WarpId, active: u32, now: Cycle) {
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        for_each_block(on, warp, active, |on, slot, lanes| {
            if lanes != 0 {
                on.threads.core.end_threads(slot, on.warps.lanes(warp), lanes);
            }
            slots.push(slot);
        });
        on.warps.go_on(warp, Outcome::Exit { mask: active });
        on.warps.flush_ended(warp);
        self.release_syncs(on, warp);
        if let Some(logical) = self.logical.as_mut().filter(|_| !B::PLAIN) {
            logical.lanes_ended(on, &mut self.phases, warp, now);
        }
        for slot in slots.drain(..) {
            self.release_barriers(on, slot, now);
            if on.warps.pooled() && on.threads.core.live_threads(slot) == 0 {
                self.ending.push(slot);
            }
        }
        self.slots = slots;
    }

    /// Threads of a warp come to a barrier, or leave their logical block.
    pub(super) fn barrier<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        warp: WarpId,
        op: &Op,
        active: u32,
        now: Cycle,
    ) -> Result<(), LaneFault> {
        if op.variant == BarrierOp::NextBlock as u8
            && let Some(logical) = self.logical.as_mut().filter(|_| !B::PLAIN)
        {
            logical.leave(on, &mut self.phases, warp, op, active, now);
            // Who has left may be what a barrier waited for.
            self.release_barriers(on, on.warps.get(warp).cta, now);
            return Ok(());
        }
        let mut arrivals = std::mem::take(&mut self.arrivals);
        on.threads.core.arrivals(op, on.warps.lanes(warp), active, &mut arrivals)?;
        if let Some(logical) = &self.logical {
            logical.choose_bank(on, warp, &mut arrivals);
        }
        let wait = op.variant != BarrierOp::Arrive as u8;
        for arrival in &arrivals {
            for_each_block(on, warp, arrival.mask, |on, slot, mask| {
                let Arrival { number, expected, .. } = *arrival;
                on.threads.core.arrive(slot, op, on.warps.lanes(warp), &Arrival { number, expected, mask });
                let number = named(fit(number));
                on.emit(now, EventKind::BarrierArrive { warp: warp.0, slot, number });
            });
        }
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        for_each_block(on, warp, active, |_, slot, _| slots.push(slot));
        on.account.counters.barriers += 1;
        on.warps.go_on(warp, Outcome::Barrier { arrivals: &arrivals, active, wait });
        self.arrivals = arrivals;
        if wait {
            on.warps.arrives(warp);
            self.phases.arrive(warp, now, on.warps.get(warp));
        }
        for slot in slots.drain(..) {
            self.release_barriers(on, slot, now);
        }
        self.slots = slots;
        Ok(())
    }

    /// Barriers of a block that everyone has come to open.
    fn release_barriers<B: Build>(&mut self, on: &mut Shared<'_, B>, slot: u32, now: Cycle) {
        loop {
            let complete = match &self.logical {
                Some(logical) => logical.complete_barrier(on, slot),
                None => on.threads.core.complete_barrier(slot),
            };
            let Some((number, barrier)) = complete else { return };
            let (core, program) = (&mut on.threads.core, on.facts.kernel.program);
            self.left.clear();
            on.warps.release(slot, number, &mut |leaving| {
                let op = &program.ops[leaving.pc as usize];
                core.leave_barrier(&barrier, op, leaving.lanes, leaving.mask);
                self.left.push(leaving.warp);
            });
            for warp in &self.left {
                on.emit(now, EventKind::BarrierLeave { warp: warp.0, slot, number: named(number) });
                on.warps.leaves(*warp);
                self.phases.leave(*warp, slot, now, &mut on.account.counters);
            }
            if let Some(Some(resident)) = self.residents.get(slot as usize) {
                let warps = resident.first_warp..resident.first_warp + on.facts.warps_per_cta;
                self.phases.released(slot, warps, on.warps.table(), &mut on.account.counters);
            }
            on.warps.refresh_touched();
        }
    }

    /// An operation of a whole static warp: at once, or when all its members have come.
    pub(super) fn warp_wide<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        warp: WarpId,
        op: &Op,
        mask: u32,
        active: u32,
    ) {
        let (info, lanes) = (on.warps.get(warp), on.warps.lanes(warp));
        let base = u32::from(info.base);
        let members = if active == 0 { None } else { on.threads.core.uniform(op, MEMBERS, lanes, active) };
        let whole = lanes_of(on.facts.config.sm.warp_width);
        let wanted = members.map_or(0, |m| (m & whole) << base);
        let mixed = info.homes().is_some();
        if wanted & !mask != 0 || mixed {
            on.warps.go_on(warp, Outcome::Sync { wanted, anywhere: op.variant == WarpOp::Sync as u8 });
            self.release_syncs(on, warp);
            return;
        }
        if active != 0 {
            on.threads.core.collective(op, lanes, active, base);
        }
        on.warps.go_behind(warp);
    }

    /// Executes warp-wide operations whose members have all come.
    fn release_syncs<B: Build>(&mut self, on: &mut Shared<'_, B>, warp: WarpId) {
        if !self.has_warp_ops {
            return;
        }
        let base = u32::from(on.warps.get(warp).base);
        while let Some((pc, mask)) = on.warps.take_sync(warp) {
            let op = &on.facts.kernel.program.ops[pc as usize];
            let lanes = on.warps.lanes(warp);
            let active = on.threads.core.guarded(op, lanes, mask);
            on.threads.core.collective(op, lanes, active, base);
        }
        on.warps.refresh_touched();
    }

    /// Threads get the indices of the warp they are, if that is what the operation does.
    #[inline]
    pub(super) fn set_thread_index<B: Build>(
        &self,
        on: &mut Shared<'_, B>,
        warp: WarpId,
        op: &Op,
        pc: u32,
        active: u32,
    ) {
        if let Some(logical) = &self.logical {
            logical.set_thread_index(on, warp, op, pc, active);
        }
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

    /// What a warp waits for, when it has to do with logical blocks.
    pub(super) fn logical_block_text<B: Build>(&self, on: &Shared<'_, B>, warp: WarpId) -> Option<String> {
        self.logical.as_ref()?.waits(on, warp)
    }

    /// What the threads of a block at a barrier wait for, when a part of a warp says that it is there.
    pub(super) fn barrier_text<B: Build>(&self, on: &Shared<'_, B>, slot: u32, stack: &[StackEntry]) -> Option<String> {
        let text = stack.iter().rev().find_map(|e| e.waits.as_deref())?;
        let number = text.strip_prefix("barrier ")?.parse::<u8>().ok()?;
        if let Some(text) = self.logical.as_ref().and_then(|logical| logical.barrier_text(on, slot, number)) {
            return Some(text);
        }
        let (arrived, wanted) = on.threads.core.barrier_state(slot, number);
        Some(format!("waits at barrier {number}: {arrived} of {wanted} threads have arrived"))
    }
}

/// Calls `f` with each block that has threads in these lanes of a warp, and their lanes.
fn for_each_block<B: Build>(
    on: &mut Shared<'_, B>,
    warp: WarpId,
    lanes: u32,
    mut f: impl FnMut(&mut Shared<'_, B>, u32, u32),
) {
    if !on.warps.pooled() {
        let slot = on.warps.get(warp).cta;
        f(on, slot, lanes);
        return;
    }
    let mut left = lanes;
    while left != 0 {
        let block = |on: &Shared<'_, B>, lane: usize| on.warps.block_of_row(on.warps.lanes(warp).home(lane).row);
        let slot = block(on, left.trailing_zeros() as usize);
        let own = lanes_in(left).filter(|lane| block(on, *lane) == slot).fold(0, |own, lane| own | 1 << lane);
        left &= !own;
        f(on, slot, own);
    }
}
