//! Virtual blocks: warps take their next logical block and go on, each when it has left the one before.
//!
//! The hardware of the VTW paper, section 4.2, for kernels that ask for logical blocks by `raddle.next_tbid`. A warp that
//! issues it waits at a barrier of its own until its [`IndexMap`] lets it go on. New logical blocks come from the GPU's
//! counter ([`crate::logical_blocks`]).
//!
//! Barriers are those of a logical block: warps of two iterations have banks of their own.

use super::index_map::{IndexMap, Next};
use super::state::Place;
use super::{Build, Sm};
use crate::kernel::{MemKind, TimedKernel};
use crate::packet::Cycle;
use crate::seam::{Outcome, WarpId};
use raddle_exec::Launch;
use raddle_exec::core::{Arrival, BARRIERS, Barrier, SECOND_BANK, lanes_of};
use raddle_exec::decode::{BarrierOp, LOGICAL_BLOCKS};
use raddle_exec::op::{Class, MemSpace, Op};
use raddle_ptx::isa::{Opcode, Word};
use raddle_ptx::num::fit;
use raddle_ptx::transform::ThreadOrder;
use std::collections::VecDeque;

/// The number of the barrier at which warp 0 of a virtual block waits for its next logical block; others have those behind it.
const OWN_BARRIER: u32 = 64;

/// Warps of a block that can have one.
const MAX_OWN: u32 = 256 - OWN_BARRIER;

/// What an SM keeps for virtual blocks.
#[derive(Debug)]
pub(super) struct VirtualBlocks {
    order: ThreadOrder,
    /// Threads of a block, of a warp.
    threads: u32,
    width: u32,
    /// Operations that may go to shared memory.
    is_shared: Vec<bool>,
    /// Operations that give threads their indices.
    is_index: Vec<bool>,
    /// By slot.
    maps: Vec<Option<IndexMap>>,
    /// Lanes of each warp that have left their logical block.
    left: Vec<u32>,
    /// Slots that ask for a logical block, with the time.
    pub(super) asking: Vec<(Cycle, u32)>,
    /// Logical blocks that have not arrived: when they do, and for which slot.
    pub(super) coming: VecDeque<(Cycle, u32, u32)>,
    /// Logical blocks there are, once a warp has said so.
    pub(super) total: Option<u32>,
}

impl VirtualBlocks {
    /// For a kernel that asks for logical blocks; `None` for any other.
    pub(super) fn new(kernel: &TimedKernel<'_>, launch: &Launch, width: u32, slots: usize) -> Option<Self> {
        let program = kernel.program;
        let asks = |op: &Op| op.class == Class::Barrier && op.variant == BarrierOp::NextBlock as u8;
        let threads = launch.threads_per_cta();
        if !program.ops.iter().any(asks) || threads.div_ceil(width) > MAX_OWN {
            return None;
        }
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
        let has_shared = program.layout.static_shared + launch.dynamic_shared > 0;
        let is_shared = kernel.ops.iter().map(|op| {
            let reaches = op.space == MemSpace::Shared || op.space == MemSpace::Generic;
            matches!(op.mem, MemKind::Load | MemKind::Store | MemKind::Atomic) && reaches && has_shared
        });
        Some(Self {
            order,
            threads,
            width,
            is_shared: is_shared.collect(),
            is_index: indices.iter().map(Option::is_some).collect(),
            maps: Vec::new(),
            left: vec![0; slots],
            asking: Vec::new(),
            coming: VecDeque::new(),
            total: None,
        })
    }

    /// When a logical block next arrives.
    pub(super) fn next_event(&self) -> Option<Cycle> {
        self.coming.front().map(|c| c.0)
    }

    fn map(&self, slot: u32) -> Option<&IndexMap> {
        self.maps.get(slot as usize)?.as_ref()
    }

    /// Lanes that a warp of a block has, as those of a static warp.
    fn lanes(&self, warp: u16) -> u32 {
        lanes_of(self.width.min(self.threads - u32::from(warp) * self.width))
    }
}

impl<B: Build> Sm<'_, B> {
    /// A block has started.
    pub(super) fn start_virtual_block(&mut self, slot: u32, cta: u64, first_warp: u16) {
        let Some(blocks) = &mut self.virtual_blocks else { return };
        if blocks.maps.len() <= slot as usize {
            blocks.maps.resize(slot as usize + 1, None);
        }
        let is_last_partial = !blocks.threads.is_multiple_of(blocks.width);
        let first = u32::try_from(cta).unwrap_or(u32::MAX);
        blocks.maps[slot as usize] = Some(IndexMap::new(blocks.order, self.warps_per_cta, is_last_partial, first));
        for n in first_warp..first_warp + self.warps_per_cta {
            blocks.left[usize::from(n)] = 0;
            self.phases.begin_iteration(WarpId(n), 0, 0);
        }
    }

    /// Number of a warp in its block.
    fn number_in_block(&self, warp: WarpId) -> u16 {
        warp.0 - self.first_warp(self.table.get(warp).cta)
    }

    /// Lanes of a warp come to `raddle.next_tbid`: they leave their logical block.
    pub(super) fn leave_logical_block(&mut self, warp: WarpId, op: &Op, active: u32, now: Cycle) {
        let (slot, number) = (self.table.get(warp).cta, self.number_in_block(warp));
        let base = u32::from(self.table.get(warp).base);
        let total = self.core.uniform(op, LOGICAL_BLOCKS, self.table.lanes(warp), active);
        let arrivals = [Arrival { number: OWN_BARRIER + u32::from(number), expected: None, mask: active }];
        self.mechanisms.divergence.issued(
            warp,
            Outcome::Barrier { arrivals: &arrivals, active, wait: true },
            &mut self.table,
        );
        let Some(blocks) = &mut self.virtual_blocks else { return };
        blocks.total = total;
        blocks.left[warp.index()] |= active >> base;
        self.refresh_touched();
        self.settle_logical_block(warp, slot, number, now);
        // Who has left may be what a barrier waited for.
        self.release_barriers(slot, now);
    }

    /// Lanes of a warp have ended.
    pub(super) fn lanes_ended(&mut self, warp: WarpId, now: Cycle) {
        if self.has_virtual_blocks() {
            let (slot, number) = (self.table.get(warp).cta, self.number_in_block(warp));
            self.settle_logical_block(warp, slot, number, now);
        }
    }

    /// A warp may have left its logical block, or ended.
    fn settle_logical_block(&mut self, warp: WarpId, slot: u32, number: u16, now: Cycle) {
        let (first, gone) = (self.first_warp(slot), self.core.gone(slot, number));
        let Some(blocks) = &mut self.virtual_blocks else { return };
        let Some(Some(map)) = blocks.maps.get_mut(slot as usize) else { return };
        let left = blocks.left[warp.index()];
        if left | gone != lanes_of(blocks.width) {
            return;
        }
        if left & !gone == 0 {
            map.end(number);
        } else if !map.has_left(number) {
            let (phases, issued) = (&self.phases, &self.issued);
            map.leave(number, |n| phases.progress(WarpId(first + n), issued));
        }
        // Nobody uses shared memory for the next iteration before all have left this one; but the first iteration may be
        // under way before all have come to it.
        let iteration = map.iteration(number);
        if iteration > 0 && map.all_have_left(iteration) {
            self.core.clear_shared(slot);
        }
        self.refresh(warp);
        self.begin_iterations(slot, now);
        self.refresh_held(slot);
    }

    /// Warps that can begin their next iteration do, in the order in which they came.
    fn begin_iterations(&mut self, slot: u32, now: Cycle) {
        let mut at = 0;
        loop {
            let Some(blocks) = &mut self.virtual_blocks else { return };
            let Some(Some(map)) = blocks.maps.get_mut(slot as usize) else { return };
            let Some(number) = map.waiting().get(at).copied() else { return };
            match map.next(number) {
                Next::Begin => {
                    let block = map.begin(number);
                    let iteration = map.iteration(number);
                    self.begin_iteration(slot, number, iteration, block);
                    // Others may now be no more than one ahead.
                    at = 0;
                }
                Next::Ask => {
                    map.asked(map.iteration(number));
                    blocks.asking.push((now, slot));
                    at += 1;
                }
                Next::Asked | Next::TwoAhead(_) => at += 1,
            }
        }
    }

    /// A warp goes on with a logical block.
    fn begin_iteration(&mut self, slot: u32, number: u16, iteration: u32, block: u32) {
        let warp = WarpId(self.first_warp(slot) + number);
        if let Some(blocks) = &mut self.virtual_blocks {
            blocks.left[warp.index()] = 0;
        }
        self.phases.begin_iteration(warp, iteration, self.issued[warp.index()]);
        let (core, program) = (&mut self.core, self.kernel.program);
        let given = Barrier { block, ..Barrier::default() };
        let own = fit(OWN_BARRIER + u32::from(number));
        self.mechanisms.divergence.release(slot, own, &mut self.table, &mut |leaving| {
            let op = &program.ops[leaving.pc as usize];
            core.leave_barrier(&given, op, leaving.lanes, leaving.mask);
        });
        self.refresh_touched();
    }

    /// Logical blocks arrive.
    pub(super) fn take_logical_blocks(&mut self, now: Cycle) {
        while let Some(blocks) = &mut self.virtual_blocks
            && blocks.coming.front().is_some_and(|c| c.0 <= now)
            && let Some((_, slot, block)) = blocks.coming.pop_front()
        {
            if let Some(Some(map)) = blocks.maps.get_mut(slot as usize) {
                map.answer(block);
            }
            self.begin_iterations(slot, now);
        }
    }

    /// Warps that were kept from shared memory, or wait for others, are looked at again.
    fn refresh_held(&mut self, slot: u32) {
        let first = self.first_warp(slot);
        for warp in (first..first + self.warps_per_cta).map(WarpId) {
            if self.sets.place(warp) == Place::Sibling {
                self.refresh(warp);
            }
        }
    }

    /// Whether a warp waits for its next logical block.
    pub(super) fn waits_for_block(&self, warp: WarpId) -> bool {
        let Some(blocks) = &self.virtual_blocks else { return false };
        let Some(map) = blocks.map(self.table.get(warp).cta) else { return false };
        map.has_left(self.number_in_block(warp))
    }

    /// Whether a warp may not issue an operation because others could still use the shared memory of the logical block
    /// before.
    #[inline]
    pub(super) fn is_kept_from_shared(&self, warp: WarpId, pc: u32) -> bool {
        let Some(blocks) = &self.virtual_blocks else { return false };
        blocks.is_shared[pc as usize]
            && blocks.map(self.table.get(warp).cta).is_some_and(|map| map.is_ahead(self.number_in_block(warp)))
    }

    /// The barriers a warp comes to are those of its logical block.
    pub(super) fn choose_bank(&self, warp: WarpId, arrivals: &mut [Arrival]) {
        let Some(blocks) = &self.virtual_blocks else { return };
        let Some(map) = blocks.map(self.table.get(warp).cta) else { return };
        let first = bank(map.iteration(self.number_in_block(warp)));
        arrivals.iter_mut().for_each(|arrival| arrival.number += first);
    }

    /// Takes a barrier of a block that everyone it waits for has come to.
    pub(super) fn complete_barrier(&mut self, slot: u32) -> Option<(u8, Barrier)> {
        let Some(blocks) = &self.virtual_blocks else { return self.core.complete_barrier(slot) };
        let map = blocks.map(slot)?;
        let first = self.first_warp(slot);
        map.under_way().into_iter().find_map(|iteration| {
            let left = |n: u16| match map.iteration(n) == iteration {
                true => blocks.left[usize::from(first + n)],
                false if map.is_past(n, iteration) => blocks.lanes(n),
                false => 0,
            };
            self.core.complete_logical_barrier(slot, bank(iteration), left)
        })
    }

    /// Threads get the indices of the warp they are, if that is what the operation does.
    #[inline]
    pub(super) fn set_thread_index(&mut self, warp: WarpId, op: &Op, pc: u32, active: u32) {
        let Some(blocks) = &self.virtual_blocks else { return };
        if blocks.is_index[pc as usize]
            && let Some(map) = blocks.map(self.table.get(warp).cta)
        {
            let role = u32::from(map.role(self.number_in_block(warp)));
            self.core.set_thread_index(op, self.table.lanes(warp), active, role);
        }
    }

    /// What a warp waits for, when it has to do with logical blocks.
    pub(super) fn logical_block_text(&self, warp: WarpId) -> Option<String> {
        let blocks = self.virtual_blocks.as_ref()?;
        let map = blocks.map(self.table.get(warp).cta)?;
        let number = self.number_in_block(warp);
        let iteration = map.iteration(number);
        if !map.has_left(number) {
            let info = self.table.get(warp);
            let kept = info.valid && info.blocked.is_none() && self.is_kept_from_shared(warp, info.pc);
            let text = "waits with shared memory until all warps have left the logical block before";
            return kept.then(|| text.to_owned());
        }
        Some(match map.next(number) {
            Next::TwoAhead(behind) => format!(
                "waits for its next logical block: iteration {} would be two ahead of warp {behind}",
                iteration + 1
            ),
            _ => format!("waits for the logical block of iteration {}", iteration + 1),
        })
    }

    /// The barrier that a block's warps wait at, as programs call it, and who has come there: of the logical block of a
    /// virtual one.
    pub(super) fn logical_barrier_text(&self, slot: u32, number: u8) -> Option<String> {
        let map = self.virtual_blocks.as_ref()?.map(slot)?;
        if u32::from(number) >= OWN_BARRIER {
            return Some("some of its lanes wait for its next logical block, the others are elsewhere".to_owned());
        }
        let (own, arrived) = (named(number), self.core.barrier_state(slot, number).0);
        let [low, high] = map.under_way();
        let iteration = if bank(low) == u32::from(number - own) { low } else { high };
        let block = map.block(iteration).map_or_else(|| "?".to_owned(), |block| block.to_string());
        Some(format!("waits at barrier {own} of logical block {block}: {arrived} threads have arrived"))
    }
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
