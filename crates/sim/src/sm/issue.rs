//! Issue and the way to the arithmetic units: each scheduler picks a warp, the instruction is executed functionally,
//! collects its operands, enters its unit and is written back.

use super::collector::InstId;
use super::lanes::enters;
use super::slices::Slice;
use super::state::Place;
use super::virtual_blocks::named;
use super::{Build, Sm, view};
use crate::event::EventKind;
use crate::kernel::{MemKind, TimedOp, UnitKind};
use crate::packet::Cycle;
use crate::seam::{Cause, Outcome, Shape, WarpId};
use raddle_exec::core::{Arrival, Effect, LaneFault, lanes_in, lanes_of};
use raddle_exec::decode::{BarrierOp, MEMBERS, WarpOp};
use raddle_exec::memory::{DeviceMemory, Global};
use raddle_exec::op::{Class, Op};
use raddle_exec::printf::MAX_KEPT;
use raddle_ptx::num::fit;

/// An instruction in the cycle it issues.
#[derive(Clone, Copy)]
pub(super) struct Issuing<'a> {
    pub(super) warp: WarpId,
    pub(super) op: &'a Op,
    pub(super) pc: u32,
    /// Lanes of the warp that are at it.
    pub(super) mask: u32,
    /// Those of them whose guard is true.
    pub(super) active: u32,
    pub(super) now: Cycle,
    pub(super) memory: &'a DeviceMemory,
}

impl<B: Build> Sm<'_, B> {
    /// Results of the arithmetic units are written back.
    #[inline]
    pub(super) fn write_back(&mut self, now: Cycle) {
        let mut due = self.slices.agenda.take_due(now);
        while due != 0 {
            self.write_back_of(due.trailing_zeros() as usize, now);
            due &= due - 1;
        }
    }

    #[inline(always)]
    fn write_back_of(&mut self, slice: usize, now: Cycle) {
        while let Some(inst) = self.slices.get(slice).units.next_done(now) {
            let entry = self.insts.get(inst);
            let (warp, pc) = (entry.warp, entry.pc);
            for number in self.op(pc).write_numbers() {
                self.slices.get(slice).collector.write(*number, warp);
            }
            self.complete(inst);
        }
    }

    /// Instructions with their operands enter the arithmetic units.
    #[inline]
    pub(super) fn execute(&mut self, now: Cycle) {
        let mut collected = self.slices.agenda.collected;
        while collected != 0 {
            self.execute_in(collected.trailing_zeros() as usize, now);
            collected &= collected - 1;
        }
    }

    #[inline(always)]
    fn execute_in(&mut self, slice: usize, now: Cycle) {
        let has_gating = self.has_gating();
        let (Slice { collector, units }, agenda) = self.slices.with_agenda(slice);
        for pipeline in 0..units.len() {
            let kind = units.kind(pipeline);
            let Some(inst) = collector.output[kind as usize].front() else { continue };
            let entry = self.insts.get(inst);
            let (pc, shape) = (entry.pc, entry.shape);
            let timing = self.kernel.ops[pc as usize].timing;
            let latency = timing.latency + shape.extra_latency;
            let gating = has_gating.then_some(&mut *self.mechanisms.gating);
            let may_enter = || gating.is_none_or(|g| enters(g, &self.kernel.ops[pc as usize], shape, pipeline, now));
            if units.accepts(pipeline, latency, now) && may_enter() {
                collector.take(kind);
                let written = units.enter(pipeline, inst, latency, timing.interval * shape.passes, now);
                agenda.set_due(slice, written);
            }
        }
        agenda.set_collected(slice, collector.has_collected());
    }

    /// One cycle of the operand collectors.
    #[inline]
    pub(super) fn collect(&mut self) {
        self.collect_in(0);
        for slice in 1..self.slices.len() {
            self.collect_in(slice);
        }
    }

    #[inline(always)]
    fn collect_in(&mut self, slice: usize) {
        let (insts, ops) = (&self.insts, &self.kernel.ops);
        let (Slice { collector, .. }, agenda) = self.slices.with_agenda(slice);
        if collector.is_empty() {
            collector.end_cycle();
            return;
        }
        collector.step(|inst| {
            let entry = insts.get(inst);
            (ops[entry.pc as usize].reads(), entry.warp)
        });
        agenda.set_collected(slice, collector.has_collected());
    }

    /// Every scheduler issues, or its slot is charged to a cause.
    pub(super) fn issue_stage(&mut self, now: Cycle, memory: &DeviceMemory) {
        let count = self.scheduler_used.len();
        let used = if self.has_gangs() { self.issue_gangs(now, memory) } else { 0 };
        if self.fault.is_some() {
            return;
        }
        let mut scheduler = match self.config.sm.issue.rotate {
            false => 0,
            true if count.is_power_of_two() => fit(self.turns.at(now) & (count as Cycle - 1)),
            true => fit(self.turns.at(now) % count as Cycle),
        };
        for _ in 0..count {
            if used >> scheduler & 1 == 0 {
                match self.known_idle_cause(scheduler) {
                    Some(cause) => self.charge_slot(scheduler, cause, now, 1),
                    None => self.schedule(scheduler, now, memory),
                }
            }
            scheduler = if scheduler + 1 == count { 0 } else { scheduler + 1 };
            if self.fault.is_some() {
                return;
            }
        }
        if self.has_gangs() {
            self.settle_gangs(now);
        }
    }

    fn schedule(&mut self, scheduler: usize, now: Cycle, memory: &DeviceMemory) {
        let own = &self.scheduler_used[scheduler];
        let is_open = self.pipeline_is_open(now);
        let open = |unit: UnitKind| if is_open && self.slices.accepts(scheduler, unit) { u64::MAX } else { 0 };
        let (sp, sfu, mem) = (open(UnitKind::Sp), open(UnitKind::Sfu), open(UnitKind::Mem));
        let sets = &self.sets;
        let (on_sp, on_sfu, on_mem) = (sets.ready(UnitKind::Sp), sets.ready(UnitKind::Sfu), sets.ready(UnitKind::Mem));
        let mut any = 0;
        for n in 0..own.word_count() {
            let ready = on_sp.word(n) & sp | on_sfu.word(n) & sfu | on_mem.word(n) & mem;
            let free = if B::PLAIN { u64::MAX } else { self.gangs.free.word(n) };
            let eligible = ready & own.word(n) & free;
            self.eligible.set_word(n, eligible);
            any |= eligible;
        }
        let mut vetoed = None;
        let pick = if any == 0 { None } else { self.choose(scheduler, now, &mut vetoed) };
        if self.sets.at(Place::Hazard).meets(&self.scheduler_used[scheduler]) {
            self.flush_ahead(scheduler, pick, now);
        }
        let Some(warp) = pick else {
            let cause = vetoed.unwrap_or_else(|| self.idle_cause(scheduler));
            self.charge_slot(scheduler, cause, now, 1);
            return;
        };
        for n in 0..self.config.sm.issue.per_warp {
            let info = self.table.get(warp);
            if n > 0 {
                let unit = info.valid && info.blocked.is_none();
                let unit = unit.then(|| self.op(info.pc).unit);
                let again =
                    unit.is_some_and(|u| self.sets.ready(u).contains(warp) && self.slices.accepts(scheduler, u));
                if !again || self.gating_veto(warp, now).is_some() {
                    break;
                }
            }
            let occupied = self.op(self.table.get(warp).pc).timing.interval;
            if !self.issue_or_fault(warp, now, memory, n == 0) {
                return;
            }
            if let Some(pipeline) = self.pipeline.as_mut().filter(|_| !B::PLAIN) {
                pipeline.free_at = now + Cycle::from(occupied);
            }
        }
        let (used, sets, table) = (&self.scheduler_used, &self.sets, &self.table);
        let seen = view(scheduler, now, used, sets, table, &self.ages, &self.issued, self.phases.blocks(), self.kernel);
        self.mechanisms.issue[scheduler].issued(&seen, warp);
    }

    /// Asks the scheduler, and the gating scheme, which may veto.
    fn choose(&mut self, scheduler: usize, now: Cycle, vetoed: &mut Option<Cause>) -> Option<WarpId> {
        loop {
            let (used, sets, table) = (&self.scheduler_used, &self.sets, &self.table);
            let seen =
                view(scheduler, now, used, sets, table, &self.ages, &self.issued, self.phases.blocks(), self.kernel);
            let picked = self.mechanisms.issue[scheduler].pick(&seen, &self.eligible, &mut self.scratch);
            let warp = picked.filter(|w| self.eligible.contains(*w))?;
            let Some(cause) = self.gating_veto(warp, now) else { return Some(warp) };
            vetoed.get_or_insert(cause);
            self.eligible.set(warp, false);
        }
    }

    /// Warps that are looked at before the pick and whose decoded instructions are wrong drop them.
    fn flush_ahead(&mut self, scheduler: usize, pick: Option<WarpId>, now: Cycle) {
        let (used, sets, table) = (&self.scheduler_used, &self.sets, &self.table);
        let seen = view(scheduler, now, used, sets, table, &self.ages, &self.issued, self.phases.blocks(), self.kernel);
        let policy = &self.mechanisms.issue[scheduler];
        let mut looked_at = std::mem::take(&mut self.scratch);
        looked_at.clear();
        let (gangs, own) = (&self.gangs.members, &used[scheduler]);
        looked_at.extend(sets.at(Place::Hazard).iter().filter(|w| own.contains(*w) && !gangs.contains(*w)));
        if let Some(pick) = pick {
            looked_at.retain(|w| policy.is_before(&seen, *w, pick));
        }
        for warp in looked_at.drain(..) {
            self.drop_decoded(warp);
        }
        self.scratch = looked_at;
    }

    /// The decoded instructions of a warp are wrong: it drops them.
    pub(super) fn drop_decoded(&mut self, warp: WarpId) {
        let pc = self.table.get(warp).pc;
        self.fronts[warp.index()].flush(pc);
        self.counters.fetch_flushes += 1;
        self.refresh(warp);
    }

    /// Issues the instruction a warp is at; false when that ended the run.
    pub(super) fn issue_or_fault(&mut self, warp: WarpId, now: Cycle, memory: &DeviceMemory, first: bool) -> bool {
        let Err((pc, fault)) = self.issue(warp, now, memory, first) else { return true };
        let lanes = self.table.lanes(warp);
        self.fault = Some((now, Box::new(self.core.fault(pc, lanes, fault))));
        false
    }

    /// Issues the instruction a warp is at.
    fn issue(&mut self, warp: WarpId, now: Cycle, memory: &DeviceMemory, first: bool) -> Result<(), (u32, LaneFault)> {
        let info = self.table.get(warp);
        let (pc, mask, row) = (info.pc, info.mask, info.row);
        let op = &self.kernel.program.ops[pc as usize];
        let timed = self.op(pc);
        let active = self.core.guarded(op, self.table.lanes(warp), mask);
        let issuing = Issuing { warp, op, pc, mask, active, now, memory };
        let inst = self.enter(issuing, timed, row, first);
        let failed = |fault| (pc, fault);
        if timed.unit == UnitKind::Mem {
            if timed.mem == MemKind::Fence {
                self.fronts[warp.index()].fence = true;
            }
            self.memory_op(inst, issuing).map_err(failed)?;
            let may_leave = self.regroups() && !self.pooled();
            let front = &mut self.fronts[warp.index()];
            if may_leave && (front.fence || front.atomics > 0) {
                // Its threads must not leave the warp before. Those of a pool do so when it is done, and nobody may join
                // them from now on.
                front.stays = true;
                self.refresh(warp);
            } else {
                self.go_behind(warp);
            }
        } else {
            self.control(issuing).map_err(failed)?;
        }
        if self.core.has_output() {
            let text = self.core.take_output();
            // What comes behind the first of it cannot be among what is kept of the launch.
            if self.printed_bytes <= MAX_KEPT {
                self.printed_bytes += text.len();
                self.printed.push((now, text));
            }
        }
        Ok(())
    }

    /// An instruction enters the machine: it is counted, its registers are reserved, it goes to its collector.
    #[inline(always)]
    pub(super) fn enter(&mut self, issuing: Issuing<'_>, timed: &TimedOp, row: u32, first: bool) -> InstId {
        let Issuing { warp, pc, mask, active, now, .. } = issuing;
        self.count(issuing, first);
        let front = &mut self.fronts[warp.index()];
        front.pop();
        front.in_flight += 1;
        front.last_is_memory = timed.unit == UnitKind::Mem;
        let inst = self.insts.alloc();
        let regroups = self.regroups();
        let entry = self.insts.get_mut(inst);
        (entry.warp, entry.pc, entry.issued, entry.row, entry.at) = (warp.0, pc, mask, row, now);
        if regroups {
            let homes = self.table.get(warp).homes();
            entry.gathered = homes.is_some();
            if let Some(homes) = homes {
                *entry.homes = *homes;
            }
            entry.for_each_row(|row, lanes| {
                self.scoreboard.set_busy(row, lanes, true, timed.unit == UnitKind::Mem);
            });
        }
        (entry.pending, entry.bank_cycles, entry.shared, entry.local, entry.shape) = (0, 1, false, false, Shape::PLAIN);
        if self.has_gating() {
            self.insts.get_mut(inst).shape = self.mechanisms.gating.issued(now, timed, active);
        }
        self.table.for_each_row(warp, mask, |row, lanes| {
            self.scoreboard.reserve_writes(timed, row, lanes, timed.unit == UnitKind::Mem);
        });
        self.slices.collector(warp).push(timed.unit, inst);
        inst
    }

    #[inline(always)]
    fn count(&mut self, issuing: Issuing<'_>, first: bool) {
        let Issuing { warp, op, pc, mask, active, now, .. } = issuing;
        if first {
            *self.counters.issued_bucket(mask.count_ones()) += 1;
        }
        self.counters.issue_cycles += u64::from(self.last_issue != now || self.counters.issue_cycles == 0);
        self.last_issue = now;
        if op.hidden {
            return;
        }
        let threads = u64::from(active.count_ones());
        self.counters.warp_insts += 1;
        self.counters.thread_insts += threads;
        self.issued[warp.index()] += 1;
        self.issued_threads[warp.index()] += threads;
        let counts = &mut self.pc_counts[pc as usize];
        counts[0] += 1;
        counts[1] += threads;
        match self.op(pc).unit {
            UnitKind::Sp => self.counters.sp_insts += 1,
            UnitKind::Sfu => self.counters.sfu_insts += 1,
            UnitKind::Mem => self.counters.mem_insts += 1,
        }
        self.emit_slot(now, EventKind::Issue { warp: warp.0, pc, at: mask, lanes: active });
    }

    /// The warp goes on behind its instruction.
    #[inline]
    pub(super) fn go_behind(&mut self, warp: WarpId) {
        if self.table.step(warp) {
            self.refresh_running(warp);
        } else {
            self.go_on(warp, Outcome::Next);
        }
    }

    fn go_on(&mut self, warp: WarpId, outcome: Outcome<'_>) {
        self.mechanisms.divergence.issued(warp, outcome, &mut self.table);
        self.refresh_touched();
    }

    /// Executes an instruction that is not a memory instruction, and what it means for control flow.
    fn control(&mut self, issuing: Issuing<'_>) -> Result<(), LaneFault> {
        let Issuing { warp, op, pc, mask, active, now, memory } = issuing;
        match op.class {
            Class::Branch => {
                self.counters.branches += 1;
                self.counters.divergent_branches += u64::from(active != 0 && active != mask);
                self.go_on(warp, Outcome::Branch { taken: active, op });
            }
            Class::Exit => self.exit(warp, active, now),
            Class::Barrier if active != 0 => self.barrier(warp, op, active, now)?,
            Class::Warp => self.warp_wide(warp, op, mask, active),
            _ => {
                if op.class == Class::Clock {
                    self.core.set_clock(now);
                }
                let global = &mut Global::Logged(memory, &mut self.log);
                let effect = self.core.execute(global, op, self.table.lanes(warp), active)?;
                let depth = match effect {
                    Effect::Next => {
                        if self.has_virtual_blocks() {
                            self.set_thread_index(warp, op, pc, active);
                        }
                        self.go_behind(warp);
                        return Ok(());
                    }
                    Effect::Scatter => 0,
                    Effect::Depth(by) => by,
                };
                let targets = *self.core.targets();
                self.go_on(warp, Outcome::Scatter { active, targets: &targets, depth, op });
            }
        }
        Ok(())
    }

    /// Calls `f` with each block that has threads in these lanes of a warp, and their lanes.
    fn for_each_block(&mut self, warp: WarpId, lanes: u32, mut f: impl FnMut(&mut Self, u32, u32)) {
        if !self.pooled() {
            let slot = self.table.get(warp).cta;
            f(self, slot, lanes);
            return;
        }
        let mut left = lanes;
        while left != 0 {
            let block = |sm: &Self, lane: usize| sm.row_blocks[sm.table.lanes(warp).home(lane).row as usize];
            let slot = block(self, left.trailing_zeros() as usize);
            let own = lanes_in(left).filter(|lane| block(self, *lane) == slot).fold(0, |own, lane| own | 1 << lane);
            left &= !own;
            f(self, slot, own);
        }
    }

    fn exit(&mut self, warp: WarpId, active: u32, now: Cycle) {
        let mut slots = std::mem::take(&mut self.blocks);
        slots.clear();
        self.for_each_block(warp, active, |sm, slot, lanes| {
            if lanes != 0 {
                sm.core.end_threads(slot, sm.table.lanes(warp), lanes);
            }
            slots.push(slot);
        });
        self.go_on(warp, Outcome::Exit { mask: active });
        if self.table.get(warp).ended {
            self.fronts[warp.index()].flush(0);
        }
        self.release_syncs(warp);
        self.lanes_ended(warp, now);
        for slot in slots.drain(..) {
            self.release_barriers(slot, now);
            if self.pooled() && self.core.live_threads(slot) == 0 {
                self.ending.push(slot);
            }
        }
        self.blocks = slots;
    }

    fn barrier(&mut self, warp: WarpId, op: &Op, active: u32, now: Cycle) -> Result<(), LaneFault> {
        if self.has_virtual_blocks() && op.variant == BarrierOp::NextBlock as u8 {
            self.leave_logical_block(warp, op, active, now);
            return Ok(());
        }
        let mut arrivals = std::mem::take(&mut self.arrivals);
        self.core.arrivals(op, self.table.lanes(warp), active, &mut arrivals)?;
        self.choose_bank(warp, &mut arrivals);
        let wait = op.variant != BarrierOp::Arrive as u8;
        for arrival in &arrivals {
            self.for_each_block(warp, arrival.mask, |sm, slot, mask| {
                let Arrival { number, expected, .. } = *arrival;
                sm.core.arrive(slot, op, sm.table.lanes(warp), &Arrival { number, expected, mask });
                let number = named(fit(number));
                sm.emit(now, EventKind::BarrierArrive { warp: warp.0, slot, number });
            });
        }
        let mut slots = std::mem::take(&mut self.blocks);
        slots.clear();
        self.for_each_block(warp, active, |_, slot, _| slots.push(slot));
        self.counters.barriers += 1;
        self.go_on(warp, Outcome::Barrier { arrivals: &arrivals, active, wait });
        self.arrivals = arrivals;
        if wait {
            let scheduler = warp.index() % self.scheduler_used.len();
            self.mechanisms.issue[scheduler].barrier(warp, true);
            self.phases.arrive(warp, now, self.table.get(warp));
        }
        for slot in slots.drain(..) {
            self.release_barriers(slot, now);
        }
        self.blocks = slots;
        Ok(())
    }

    pub(super) fn release_barriers(&mut self, slot: u32, now: Cycle) {
        while let Some((number, barrier)) = self.complete_barrier(slot) {
            let (core, program) = (&mut self.core, self.kernel.program);
            let mut left = std::mem::take(&mut self.scratch);
            left.clear();
            self.mechanisms.divergence.release(slot, number, &mut self.table, &mut |leaving| {
                let op = &program.ops[leaving.pc as usize];
                core.leave_barrier(&barrier, op, leaving.lanes, leaving.mask);
                left.push(leaving.warp);
            });
            for warp in &left {
                self.emit(now, EventKind::BarrierLeave { warp: warp.0, slot, number: named(number) });
                let scheduler = warp.index() % self.scheduler_used.len();
                self.mechanisms.issue[scheduler].barrier(*warp, false);
                self.phases.leave(*warp, slot, now, &mut self.counters);
            }
            self.scratch = left;
            if let Some(Some(resident)) = self.residents.get(slot as usize) {
                let warps = resident.first_warp..resident.first_warp + self.warps_per_cta;
                self.phases.released(slot, warps, &self.table, &mut self.counters);
            }
            self.refresh_touched();
        }
    }

    /// An operation of a whole static warp: at once, or when all its members have come.
    fn warp_wide(&mut self, warp: WarpId, op: &Op, mask: u32, active: u32) {
        let base = u32::from(self.table.get(warp).base);
        let members = if active == 0 { None } else { self.core.uniform(op, MEMBERS, self.table.lanes(warp), active) };
        let whole = lanes_of(self.config.sm.warp_width);
        let wanted = members.map_or(0, |m| (m & whole) << base);
        let mixed = self.table.get(warp).homes().is_some();
        if wanted & !mask != 0 || mixed {
            self.go_on(warp, Outcome::Sync { wanted, anywhere: op.variant == WarpOp::Sync as u8 });
            self.release_syncs(warp);
            return;
        }
        if active != 0 {
            self.core.collective(op, self.table.lanes(warp), active, base);
        }
        self.go_behind(warp);
    }

    /// Executes warp-wide operations whose members have all come.
    fn release_syncs(&mut self, warp: WarpId) {
        if !self.has_warp_ops {
            return;
        }
        let base = u32::from(self.table.get(warp).base);
        while let Some((pc, mask)) = self.mechanisms.divergence.take_sync(warp, &mut self.table) {
            let op = &self.kernel.program.ops[pc as usize];
            let active = self.core.guarded(op, self.table.lanes(warp), mask);
            self.core.collective(op, self.table.lanes(warp), active, base);
        }
        self.refresh_touched();
    }
}
