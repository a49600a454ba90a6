//! Virtual blocks: warps take their next logical block, each when it has left the one before.
//!
//! This is for kernels that ask for logical blocks by `raddle.next_tbid`. A warp that issues it waits at a barrier of
//! its own until the mechanism ([`LogicalBlocks`]) lets it begin the next one. New logical blocks come from the GPU's
//! counter ([`crate::logical_blocks`]), which is asked when the mechanism says so.
//!
//! Barriers are those of a logical block: warps of two iterations have banks of their own. Shared memory is there once:
//! a warp that is ahead does not use it before all others have left the iteration before, and then it is cleared.

use super::super::build::Build;
use super::super::shared::Shared;
use super::phases::Phases;
use crate::kernel::{MemKind, TimedKernel};
use crate::packet::Cycle;
use crate::saved;
use crate::seam::{
    LogicalBlocks, LogicalLaunch, LogicalView, LogicalWarp, MOST_AHEAD, Outcome, Place, ThreadOrder, VirtualBlock,
    WarpId,
};
use raddle_exec::Launch;
use raddle_exec::core::{Arrival, BARRIERS, Barrier, SECOND_BANK, lanes_of};
use raddle_exec::decode::{BarrierOp, LOGICAL_BLOCKS};
use raddle_exec::op::{Class, MemSpace, Op};
use raddle_ptx::isa::{Opcode, Word};
use raddle_ptx::num::fit;
use std::collections::VecDeque;

/// The number of the barrier at which warp 0 of a virtual block waits for its next logical block; others have those
/// after it.
const OWN_BARRIER: u32 = 64;

/// Warps of a block that can have one.
const MAX_OWN: u32 = 256 - OWN_BARRIER;

/// Whether a kernel's warps take logical blocks on their own.
pub(in super::super) fn takes_logical_blocks(kernel: &TimedKernel<'_>, launch: &Launch, width: u32) -> bool {
    let asks = |op: &Op| op.class == Class::Barrier && op.variant == BarrierOp::NextBlock as u8;
    kernel.program.ops.iter().any(asks) && launch.threads_per_cta().div_ceil(width) <= MAX_OWN
}

/// What an SM keeps for virtual blocks.
pub(super) struct VirtualBlocks {
    /// Who begins what, and when.
    policy: Box<dyn LogicalBlocks>,
    launch: LogicalLaunch,
    /// Threads of a block, of a warp.
    threads: u32,
    width: u32,
    /// The kernel has shared memory.
    has_shared: bool,
    /// Operations that give threads their indices.
    is_index: Vec<bool>,
    /// By slot.
    blocks: Vec<VirtualBlock>,
    /// Lanes of each warp that have left their logical block.
    left: Vec<u32>,
    /// Slots that ask for a logical block, with the time.
    pub(super) asking: Vec<(Cycle, u32)>,
    /// Logical blocks that have not arrived: when they do, and for which slot.
    pub(super) coming: VecDeque<(Cycle, u32, u32)>,
    /// Logical blocks there are, once a warp has said so.
    pub(super) total: Option<u32>,
}

saved!(VirtualBlocks {
    values: blocks, left, asking, coming, total;
    parts: policy;
    fixed: launch, threads, width, has_shared, is_index;
});

impl VirtualBlocks {
    /// For a kernel that asks for logical blocks.
    pub(super) fn new(
        mut policy: Box<dyn LogicalBlocks>,
        kernel: &TimedKernel<'_>,
        launch: &Launch,
        width: u32,
        slots: usize,
    ) -> Self {
        let program = kernel.program;
        let threads = launch.threads_per_cta();
        let module = &program.image.module;
        let words = |at: usize| {
            let origin = &program.origins[at];
            let inst = &module.func(origin.func).insts[origin.inst.index()];
            (inst.opcode == Opcode::Raddle && !program.ops[at].hidden)
                .then(|| inst.first_of(&[Word::SameLane, Word::SlowestLane, Word::LowestLane]))
                .flatten()
        };
        let indices: Vec<Option<Word>> = (0..program.ops.len()).map(words).collect();
        let order = match indices.iter().flatten().next() {
            Some(Word::SlowestLane) => ThreadOrder::SlowestLane,
            Some(Word::LowestLane) => ThreadOrder::LowestLane,
            _ => ThreadOrder::SameLane,
        };
        let has_shared = launch.shared_bytes(&program.layout) > 0;
        let is_last_partial = !threads.is_multiple_of(width);
        let launch = LogicalLaunch { order, warps: fit(threads.div_ceil(width)), is_last_partial };
        policy.start_launch(&launch);
        Self {
            policy,
            launch,
            threads,
            width,
            has_shared,
            is_index: indices.iter().map(Option::is_some).collect(),
            blocks: Vec::new(),
            left: vec![0; slots],
            asking: Vec::new(),
            coming: VecDeque::new(),
            total: None,
        }
    }

    /// Operations that may go to shared memory.
    pub(super) fn shared_ops(&self, kernel: &TimedKernel<'_>) -> Vec<bool> {
        let is_shared = kernel.ops.iter().map(|op| {
            let reaches = op.space == MemSpace::Shared || op.space == MemSpace::Generic;
            matches!(op.mem, MemKind::Load | MemKind::Store | MemKind::Atomic) && reaches && self.has_shared
        });
        is_shared.collect()
    }

    /// When a logical block next arrives.
    pub(super) fn next_event(&self) -> Option<Cycle> {
        self.coming.front().map(|c| c.0)
    }

    /// Who begins what, and when.
    pub(super) fn policy(&self) -> &dyn LogicalBlocks {
        &*self.policy
    }

    /// Where a warp is.
    fn warp<B: Build>(&self, on: &Shared<'_, B>, warp: WarpId) -> &LogicalWarp {
        self.blocks[on.warps.get(warp).cta as usize].warp(number_in_block(on, warp))
    }

    /// Lanes that a warp of a block has, as those of a static warp.
    fn lanes(&self, warp: u16) -> u32 {
        lanes_of(self.width.min(self.threads - u32::from(warp) * self.width))
    }

    /// A block has started.
    pub(super) fn start_block<B: Build>(&mut self, on: &mut Shared<'_, B>, phases: &mut Phases, slot: u32, cta: u64) {
        if self.blocks.len() <= slot as usize {
            self.blocks.resize(slot as usize + 1, VirtualBlock::default());
        }
        let (first_warp, warps) = (on.facts.first_warp(slot), on.facts.warps_per_cta);
        self.blocks[slot as usize] = VirtualBlock::new(warps, u32::try_from(cta).unwrap_or(u32::MAX));
        self.policy.start_block(slot);
        for n in first_warp..first_warp + warps {
            self.left[usize::from(n)] = 0;
            phases.begin_iteration(WarpId(n), 0, 0);
        }
        self.publish(on, slot);
    }

    /// Says of the warps of a block whether they wait for their next logical block, and whether they may use shared
    /// memory.
    fn publish<B: Build>(&self, on: &mut Shared<'_, B>, slot: u32) {
        let (block, first) = (&self.blocks[slot as usize], on.facts.first_warp(slot));
        for (number, warp) in block.warps() {
            on.warps.held().set(WarpId(first + number), warp.has_left, block.is_ahead(number));
        }
    }

    /// Lanes of a warp come to `raddle.next_tbid`: they leave their logical block.
    pub(super) fn leave<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        phases: &mut Phases,
        warp: WarpId,
        op: &Op,
        active: u32,
        now: Cycle,
    ) {
        let (number, base) = (number_in_block(on, warp), u32::from(on.warps.get(warp).base));
        self.total = on.threads.core.uniform(op, LOGICAL_BLOCKS, on.warps.lanes(warp), active);
        let arrivals = [Arrival { number: OWN_BARRIER + u32::from(number), expected: None, mask: active }];
        on.warps.go_on(warp, Outcome::Barrier { arrivals: &arrivals, active, wait: true });
        self.left[warp.index()] |= active >> base;
        self.settle(on, phases, warp, now);
    }

    /// A warp may have left its logical block, or ended.
    pub(super) fn settle<B: Build>(&mut self, on: &mut Shared<'_, B>, phases: &mut Phases, warp: WarpId, now: Cycle) {
        let (slot, number) = (on.warps.get(warp).cta, number_in_block(on, warp));
        let (first, gone) = (on.facts.first_warp(slot), on.threads.core.gone(slot, number));
        let left = self.left[warp.index()];
        if left | gone != lanes_of(self.width) {
            return;
        }
        let block = &mut self.blocks[slot as usize];
        if left & !gone == 0 {
            block.end(number);
        } else if !block.warp(number).has_left {
            block.leave(number);
            self.policy.left(&view(block, on, phases, slot), number);
        }
        // Nobody uses shared memory for the next iteration before all have left this one; but the first iteration may
        // be under way before all have come to it.
        let iteration = block.warp(number).iteration;
        if iteration > 0 && block.all_have_left(iteration) {
            on.threads.core.clear_shared(slot);
        }
        self.publish(on, slot);
        on.warps.refresh(warp);
        self.begin_iterations(on, phases, slot, now);
        // Warps that were kept from shared memory, or wait for others, are looked at again.
        for warp in (first..first + on.facts.warps_per_cta).map(WarpId) {
            if on.warps.sets().place(warp) == Place::Sibling {
                on.warps.refresh(warp);
            }
        }
    }

    /// Warps that the mechanism lets begin their next iteration do, in the order in which they came; then it may ask
    /// for another logical block.
    fn begin_iterations<B: Build>(&mut self, on: &mut Shared<'_, B>, phases: &mut Phases, slot: u32, now: Cycle) {
        let mut at = 0;
        while let Some(number) = self.blocks[slot as usize].waiting().get(at).copied() {
            let own = &mut self.blocks[slot as usize];
            let iteration = own.warp(number).iteration + 1;
            let next = own.block(iteration);
            let begun = next.and_then(|next| Some((next, self.policy.begins(&view(own, on, phases, slot), number)?)));
            if let Some((next, role)) = begun {
                own.begin(&self.launch, number, role);
                self.publish(on, slot);
                self.begin_iteration(on, phases, slot, number, iteration, next);
                // That may let others begin.
                at = 0;
            } else {
                at += 1;
            }
        }
        let own = &mut self.blocks[slot as usize];
        if self.policy.asks(&view(own, on, phases, slot)) {
            own.ask();
            self.asking.push((now, slot));
        }
    }

    /// A warp continues with a logical block.
    fn begin_iteration<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        phases: &mut Phases,
        slot: u32,
        number: u16,
        iteration: u32,
        block: u32,
    ) {
        let warp = WarpId(on.facts.first_warp(slot) + number);
        self.left[warp.index()] = 0;
        phases.begin_iteration(warp, iteration, on.warps.slots.issued_by(warp).0);
        let (core, program) = (&mut on.threads.core, on.facts.kernel.program);
        let given = Barrier { block, ..Barrier::default() };
        let own = fit(OWN_BARRIER + u32::from(number));
        on.warps.flow.release(slot, own, &mut |leaving| {
            let op = &program.ops[leaving.pc as usize];
            core.leave_barrier(&given, op, leaving.lanes, leaving.mask);
        });
        on.warps.refresh_touched();
    }

    /// Logical blocks arrive.
    pub(super) fn take<B: Build>(&mut self, on: &mut Shared<'_, B>, phases: &mut Phases, now: Cycle) {
        while self.coming.front().is_some_and(|c| c.0 <= now)
            && let Some((_, slot, block)) = self.coming.pop_front()
        {
            self.blocks[slot as usize].answer(block);
            self.publish(on, slot);
            self.begin_iterations(on, phases, slot, now);
        }
    }

    /// The barriers a warp comes to are those of its logical block.
    pub(super) fn choose_bank<B: Build>(&self, on: &Shared<'_, B>, warp: WarpId, arrivals: &mut [Arrival]) {
        let first = bank(self.warp(on, warp).iteration);
        arrivals.iter_mut().for_each(|arrival| arrival.number += first);
    }

    /// Takes a barrier of a block that everyone it waits for has come to.
    pub(super) fn complete_barrier<B: Build>(&self, on: &mut Shared<'_, B>, slot: u32) -> Option<(u8, Barrier)> {
        let (block, first) = (&self.blocks[slot as usize], on.facts.first_warp(slot));
        under_way(block).find_map(|iteration| {
            let left = |n: u16| match block.warp(n).iteration == iteration {
                true => self.left[usize::from(first + n)],
                false if block.is_past(n, iteration) => self.lanes(n),
                false => 0,
            };
            on.threads.core.complete_logical_barrier(slot, bank(iteration), left)
        })
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
        if self.is_index[pc as usize] {
            let role = u32::from(self.warp(on, warp).role);
            on.threads.core.set_thread_index(op, on.warps.lanes(warp), active, role);
        }
    }

    /// What a warp waits for, when it has to do with logical blocks.
    pub(super) fn waits<B: Build>(&self, on: &Shared<'_, B>, phases: &Phases, warp: WarpId) -> Option<String> {
        let (info, own) = (on.warps.get(warp), self.warp(on, warp));
        if !own.has_left {
            let kept = info.valid && info.blocked.is_none() && on.warps.is_kept_apart(warp, info.pc);
            let text = "waits with shared memory until all warps have left the logical block before";
            return kept.then(|| text.to_owned());
        }
        let view = view(&self.blocks[info.cta as usize], on, phases, info.cta);
        Some(match self.policy.reason(&view, number_in_block(on, warp)) {
            Some(reason) => format!("waits for its next logical block: {reason}"),
            None => format!("waits for the logical block of iteration {}", own.iteration + 1),
        })
    }

    /// The barrier that a block's warps wait at, as programs call it, and who has come there: of the logical block of a
    /// virtual one.
    pub(super) fn barrier_text<B: Build>(&self, on: &Shared<'_, B>, slot: u32, number: u8) -> Option<String> {
        let block = self.blocks.get(slot as usize)?;
        if u32::from(number) >= OWN_BARRIER {
            return Some("some of its lanes wait for its next logical block, the others are elsewhere".to_owned());
        }
        let (own, arrived) = (named(number), on.threads.core.barrier_state(slot, number).0);
        let iteration = under_way(block).find(|iteration| bank(*iteration) == u32::from(number - own))?;
        let block = block.block(iteration).map_or_else(|| "?".to_owned(), |block| block.to_string());
        Some(format!("waits at barrier {own} of logical block {block}: {arrived} threads have arrived"))
    }
}

/// The iterations that warps of a block can be in.
fn under_way(block: &VirtualBlock) -> impl Iterator<Item = u32> {
    let lowest = block.lowest();
    lowest..=lowest + MOST_AHEAD
}

/// What the mechanism may look at.
fn view<'a, B: Build>(
    block: &'a VirtualBlock,
    on: &'a Shared<'_, B>,
    phases: &'a Phases,
    slot: u32,
) -> LogicalView<'a> {
    let first = usize::from(on.facts.first_warp(slot));
    let warps = first..first + usize::from(on.facts.warps_per_cta);
    LogicalView { slot, block, issued: &on.warps.slots.issued()[warps.clone()], from: phases.issued_before(warps) }
}

/// Number of a warp in its block.
fn number_in_block<B: Build>(on: &Shared<'_, B>, warp: WarpId) -> u16 {
    warp.0 - on.facts.first_warp(on.warps.get(warp).cta)
}

/// Where the barriers of an iteration begin.
fn bank(iteration: u32) -> u32 {
    if iteration & 1 == 1 { 0 } else { SECOND_BANK }
}

/// The number by which programs know a barrier.
pub(super) fn named(number: u8) -> u8 {
    let of_second = u32::from(number).checked_sub(SECOND_BANK).filter(|own| *own < BARRIERS);
    of_second.map_or(number, fit)
}
