//! What threads of a block do together: they end, wait at barriers and take logical blocks; and warps as a whole.

use super::super::build::Build;
use super::super::facts::Facts;
use super::super::in_flight::InstId;
use super::super::memory::matrix::make_requests;
use super::super::shared::{Issuing, Shared};
use super::super::warps::rules::Held;
use super::phases::Phases;
use super::virtual_blocks::{VirtualBlocks, named, takes_logical_blocks};
use crate::event::EventKind;
use crate::kernel::MemKind;
use crate::packet::Cycle;
use crate::saved;
use crate::seam::{LogicalBlocks, Outcome, StackEntry, WarpId};
use raddle_exec::Launch;
use raddle_exec::core::{Arrival, LaneFault, lanes_in};
use raddle_exec::decode::BarrierOp;
use raddle_exec::memory::Global;
use raddle_exec::op::{Class, Op};
use raddle_exec::sanitize;
use raddle_ptx::num::fit;

/// Where threads of a block wait for each other.
pub(in super::super) struct Barriers {
    pub(super) phases: Phases,
    /// Where warps take logical blocks on their own.
    pub(super) logical: Option<Box<VirtualBlocks>>,
    /// Blocks whose threads have all ended, with something of them left in the machine.
    pub(super) ending: Vec<u32>,
    arrivals: Vec<Arrival>,
    /// Blocks of the threads that just ended or came to a barrier, while they are looked at.
    slots: Vec<u32>,
    left: Vec<WarpId>,
    has_warp_ops: bool,
}

saved!(Barriers {
    values: ending, arrivals, slots, left;
    parts: phases, logical;
    fixed: has_warp_ops;
});

impl Barriers {
    /// Nobody is there. `policy` says who takes which logical block, if any are asked for; without it a block takes its
    /// next one as a whole.
    pub(super) fn new<B: Build>(
        on: &mut Shared<'_, B>,
        launch: &Launch,
        policy: Option<Box<dyn LogicalBlocks>>,
    ) -> Self {
        let Facts { kernel, config, .. } = on.facts;
        let (slots, width) = (on.warps.table().slots(), config.sm.warp_width);
        let policy = policy.filter(|_| takes_logical_blocks(kernel, launch, width));
        let logical = policy.map(|policy| VirtualBlocks::new(policy, kernel, launch, width, slots));
        if let Some(logical) = &logical {
            *on.warps.held() = Held::new(slots, logical.shared_ops(kernel));
        }
        Self {
            phases: Phases::new(slots, !on.warps.pooled()),
            logical: logical.map(Box::new),
            ending: Vec::new(),
            arrivals: Vec::new(),
            slots: Vec::new(),
            left: Vec::new(),
            has_warp_ops: kernel.program.ops.iter().any(Op::is_warp_wide),
        }
    }

    /// Threads of a warp end.
    pub(in super::super) fn exit<B: Build>(&mut self, on: &mut Shared<'_, B>, issuing: Issuing<'_>) {
        let Issuing { warp, active, now, .. } = issuing;
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        for_each_block(on, warp, active, |on, slot, lanes| {
            if lanes != 0 {
                on.threads.core.end_threads(slot, on.warps.lanes(warp), lanes);
            }
            slots.push(slot);
        });
        on.warps.go_on(warp, Outcome::Exit { mask: active });
        if on.warps.get(warp).ended {
            on.warps.drop_ended(warp);
        }
        self.release_syncs(on, issuing, None);
        if let Some(logical) = self.logical.as_mut().filter(|_| !B::PLAIN) {
            logical.settle(on, &mut self.phases, warp, now);
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
    pub(in super::super) fn barrier<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        warp: WarpId,
        (pc, op): (u32, &Op),
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
                let lanes = on.warps.lanes(warp);
                on.threads.core.arrive(slot, op, lanes, &Arrival { number, expected, mask });
                on.threads.note::<B>(|notes, core| notes.arrived(core, now, slot, (lanes, mask), (number, wait)));
                let number = named(fit(number));
                on.emit(now, EventKind::BarrierArrive { warp: warp.0, pc, slot, number });
            });
        }
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        for_each_block(on, warp, active, |_, slot, _| slots.push(slot));
        on.account.counters.barriers += 1;
        on.warps.go_on(warp, Outcome::Barrier { arrivals: &arrivals, active, wait });
        self.arrivals = arrivals;
        if wait {
            on.warps.news.arrives(warp);
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
            let is_watched = !B::PLAIN && on.threads.notes.is_some();
            let mut waited = Vec::new();
            on.warps.flow.release(slot, number, &mut |leaving| {
                let op = &program.ops[leaving.pc as usize];
                core.leave_barrier(&barrier, op, leaving.lanes, leaving.mask);
                self.left.push(leaving.warp);
                if is_watched {
                    waited.push((leaving.pc, sanitize::threads(core, slot, leaving.lanes, leaving.mask)));
                }
            });
            let is_whole = barrier.expected.is_none();
            on.threads.note::<B>(|notes, core| notes.opened(core, now, slot, (number.into(), is_whole), waited));
            for warp in &self.left {
                on.emit(now, EventKind::BarrierLeave { warp: warp.0, slot, number: named(number) });
                on.warps.news.leaves(*warp);
                self.phases.leave(*warp, slot, now, &mut on.account.counters);
            }
            let first = on.facts.first_warp(slot);
            let warps = first..first + on.facts.warps_per_cta;
            self.phases.released(slot, warps, on.warps.table(), &mut on.account.counters);
            on.warps.refresh_touched();
        }
    }

    /// An operation of a whole static warp: at once, or when all its members have come. What it moves are requests of
    /// `inst`.
    pub(in super::super) fn warp_wide<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        issuing: Issuing<'_>,
        inst: InstId,
    ) -> Result<(), LaneFault> {
        let Issuing { warp, op, mask, active, .. } = issuing;
        let (info, lanes) = (on.warps.get(warp), on.warps.lanes(warp));
        let base = u32::from(info.base);
        let wanted = on.threads.core.members(op, lanes, active)? << base;
        let mixed = info.homes().is_some();
        if wanted & !mask != 0 || mixed {
            on.warps.go_on(warp, Outcome::Sync { wanted, anywhere: op.is_warp_barrier() });
            self.release_syncs(on, issuing, Some(inst));
            return Ok(());
        }
        together(on, issuing, Some(inst))?;
        on.warps.go_behind(warp);
        Ok(())
    }

    /// Executes warp-wide operations whose members have all come. Those who came last, with `inst`, make the requests.
    fn release_syncs<B: Build>(&mut self, on: &mut Shared<'_, B>, issuing: Issuing<'_>, inst: Option<InstId>) {
        if !self.has_warp_ops {
            return;
        }
        let warp = issuing.warp;
        while let Some((pc, mask)) = on.warps.flow.take_sync(warp) {
            let op = &on.facts.kernel.program.ops[pc as usize];
            let active = on.threads.core.guarded(op, on.warps.lanes(warp), mask);
            let released = Issuing { op, pc, mask, active, ..issuing };
            if let Err(fault) = together(on, released, inst.filter(|_| pc == issuing.pc)) {
                on.threads.fail(pc, on.warps.lanes(warp), fault, issuing.now);
            }
        }
        on.warps.refresh_touched();
    }

    /// Threads get the indices of the warp they are, if that is what the operation does.
    #[inline]
    pub(in super::super) fn set_thread_index<B: Build>(
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

    /// What a warp waits for, when it has to do with logical blocks.
    pub(in super::super) fn logical_block_text<B: Build>(&self, on: &Shared<'_, B>, warp: WarpId) -> Option<String> {
        self.logical.as_ref()?.waits(on, &self.phases, warp)
    }

    /// What the threads of a block at a barrier wait for, when a split says that it is there.
    pub(in super::super) fn barrier_text<B: Build>(
        &self,
        on: &Shared<'_, B>,
        slot: u32,
        stack: &[StackEntry],
    ) -> Option<String> {
        let text = stack.iter().rev().find_map(|e| e.waits.as_deref())?;
        let number = text.strip_prefix("barrier ")?.parse::<u8>().ok()?;
        if let Some(text) = self.logical.as_ref().and_then(|logical| logical.barrier_text(on, slot, number)) {
            return Some(text);
        }
        let (arrived, wanted) = on.threads.core.barrier_state(slot, number);
        Some(format!("waits at barrier {number}: {arrived} of {wanted} threads have arrived"))
    }
}

/// Executes a warp-wide operation for lanes that have come together; what it moves are requests of `inst`.
fn together<B: Build>(on: &mut Shared<'_, B>, issuing: Issuing<'_>, inst: Option<InstId>) -> Result<(), LaneFault> {
    let Issuing { warp, op, pc, active, now, memory, .. } = issuing;
    if active == 0 {
        return Ok(());
    }
    let (lanes, base) = (on.warps.lanes(warp), u32::from(on.warps.get(warp).base));
    if B::PLAIN || op.class != Class::Matrix {
        on.threads.core.collective(op, lanes, active, base);
        on.threads.note::<B>(|notes, core| notes.together(core, (now, pc), (lanes, active)));
        return Ok(());
    }
    let timed = on.facts.op(pc);
    let mut moved = Vec::new();
    let wanted = inst.filter(|_| timed.mem != MemKind::None);
    let global = &mut Global::Logged(memory, &mut on.threads.log);
    on.threads.core.matrix(global, op, lanes, active, wanted.map(|_| &mut moved))?;
    if timed.mem == MemKind::Store {
        on.threads.log.end_group(now);
    }
    if let Some(inst) = wanted {
        make_requests((&on.facts, &mut on.account), on.insts.get_mut(inst), timed, &mut moved);
    }
    Ok(())
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
        let block = |on: &Shared<'_, B>, lane: usize| on.warps.flow.block_of_row(on.warps.lanes(warp).home(lane).row);
        let slot = block(on, left.trailing_zeros() as usize);
        let own = lanes_in(left).filter(|lane| block(on, *lane) == slot).fold(0, |own, lane| own | 1 << lane);
        left &= !own;
        f(on, slot, own);
    }
}
