//! Phases of blocks, the stretches between barriers: what schedulers see of blocks, and how long warps wait for each
//! other. Touched when blocks start and end, at barriers, and when warps end.

use super::super::counters::SmCounters;
use crate::packet::Cycle;
use crate::saved;
use crate::seam::{BlockState, Cause, Iterations, WarpId, WarpInfo, WarpTable};
use std::ops::Range;

/// Times that warps of a block took for the current phase.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Times {
    warps: u64,
    sum: u64,
    longest: u64,
}

impl Times {
    fn add(&mut self, time: Cycle) {
        self.warps += 1;
        self.sum += time;
        self.longest = self.longest.max(time);
    }
}

/// What is known of a block slot.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Block {
    start: Cycle,
    /// Times at which warps ended, summed.
    exits: u64,
    times: Times,
}

/// Where warps are between barriers.
#[derive(Debug)]
pub(super) struct Phases {
    /// Warps are of one block each; where they are not, there is nothing to follow.
    has_blocks: bool,
    states: Vec<BlockState>,
    blocks: Vec<Block>,
    /// When the phase of each warp began.
    from: Vec<Cycle>,
    /// When each warp came to the barrier it waits at.
    arrived: Vec<Option<Cycle>>,
    /// Logical blocks each warp has begun, and what it had issued then. Empty until a block is virtual.
    iterations: Vec<u32>,
    iteration_from: Vec<u64>,
    /// No block is left to be given out.
    pub(super) is_last: bool,
}

saved!(Phases {
    values: states, blocks, from, arrived, iterations, iteration_from, is_last;
    fixed: has_blocks;
});

/// What schedulers see of blocks.
#[derive(Clone, Copy)]
pub(in super::super) struct SeenBlocks<'a> {
    pub(in super::super) states: &'a [BlockState],
    pub(in super::super) iterations: Iterations<'a>,
}

impl Phases {
    /// For this many warps, each of one block or of several.
    pub(super) fn new(slots: usize, has_blocks: bool) -> Self {
        Self {
            has_blocks,
            states: Vec::new(),
            blocks: Vec::new(),
            from: vec![0; slots],
            arrived: vec![None; slots],
            iterations: Vec::new(),
            iteration_from: Vec::new(),
            is_last: false,
        }
    }

    /// The blocks as schedulers see them, by slot.
    #[inline]
    pub(super) fn blocks(&self) -> SeenBlocks<'_> {
        let (number, from) = (&self.iterations[..], &self.iteration_from[..]);
        SeenBlocks { states: &self.states, iterations: Iterations { number, from, is_last: self.is_last } }
    }

    /// A warp of a virtual block begins an iteration, having issued so many instructions.
    pub(super) fn begin_iteration(&mut self, warp: WarpId, number: u32, issued: u64) {
        self.iterations.resize(self.from.len(), 0);
        self.iteration_from.resize(self.from.len(), 0);
        self.iterations[warp.index()] = number;
        self.iteration_from[warp.index()] = issued;
    }

    /// What these warps of a virtual block had issued then.
    pub(super) fn issued_before(&self, warps: Range<usize>) -> &[u64] {
        &self.iteration_from[warps]
    }

    /// A block starts, with these slots for warps.
    pub(super) fn start_block(&mut self, slot: u32, cta: u64, warps: Range<u16>, now: Cycle) {
        let slot = slot as usize;
        if self.states.len() <= slot {
            self.states.resize(slot + 1, BlockState::default());
            self.blocks.resize(slot + 1, Block::default());
        }
        self.states[slot] = BlockState { cta, ..BlockState::default() };
        self.blocks[slot] = Block { start: now, ..Block::default() };
        let warps = usize::from(warps.start)..usize::from(warps.end);
        self.from[warps.clone()].fill(now);
        self.arrived[warps].fill(None);
    }

    /// Lanes of a warp have come to a barrier; the warp waits when it has none that can continue.
    pub(super) fn arrive(&mut self, warp: WarpId, now: Cycle, info: &WarpInfo) {
        if !self.has_blocks {
            return;
        }
        self.arrived[warp.index()] = Some(now);
        if info.blocked == Some(Cause::Barrier) {
            let state = &mut self.states[info.cta as usize];
            if state.waiting == 0 {
                state.since = now;
            }
            state.waiting += 1;
        }
    }

    /// Lanes of a warp leave a barrier.
    pub(super) fn leave(&mut self, warp: WarpId, slot: u32, now: Cycle, counters: &mut SmCounters) {
        // A warp whose lanes waited apart leaves once.
        let Some(arrived) = self.arrived[warp.index()].take() else { return };
        counters.barrier_wait += now - arrived;
        let from = std::mem::replace(&mut self.from[warp.index()], now);
        self.blocks[slot as usize].times.add(arrived.saturating_sub(from));
    }

    /// All who waited at a barrier of a block have left it: a phase has ended. Others of its warps may wait at another
    /// one.
    pub(super) fn released(&mut self, slot: u32, warps: Range<u16>, table: &WarpTable, counters: &mut SmCounters) {
        if !self.has_blocks {
            return;
        }
        let waits = |w: u16| {
            let blocked = table.get(WarpId(w)).blocked == Some(Cause::Barrier);
            u32::from(blocked && self.arrived[usize::from(w)].is_some())
        };
        self.states[slot as usize].waiting = warps.map(waits).sum();
        self.end_phase(slot, counters);
    }

    /// A warp has ended.
    pub(super) fn exit(&mut self, warp: WarpId, slot: u32, now: Cycle) {
        let time = now - self.from[warp.index()];
        let block = &mut self.blocks[slot as usize];
        block.exits += now;
        block.times.add(time);
        self.states[slot as usize].ended += 1;
    }

    /// A block has ended, with this many warps.
    pub(super) fn end_block(&mut self, slot: u32, warps: u64, now: Cycle, counters: &mut SmCounters) {
        if !self.has_blocks {
            return;
        }
        self.end_phase(slot, counters);
        let block = &self.blocks[slot as usize];
        counters.warp_life += warps * (now - block.start);
        counters.exit_wait += warps * now - block.exits;
    }

    fn end_phase(&mut self, slot: u32, counters: &mut SmCounters) {
        let Times { warps, sum, longest } = std::mem::take(&mut self.blocks[slot as usize].times);
        counters.phase_wait += warps * longest - sum;
        counters.phase_time += warps * longest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of four warps in slot 0.
    fn block(table: &mut WarpTable) -> Phases {
        let mut phases = Phases::new(4, true);
        phases.start_block(0, 7, 0..4, 100);
        (0..4).for_each(|n| table.form_static(WarpId(n), 0, u32::from(n), 0, u32::MAX));
        phases
    }

    #[test]
    fn a_phase_counts_what_equation_1_says() {
        let (mut table, mut counters) = (WarpTable::new(4), SmCounters::default());
        let mut phases = block(&mut table);
        for n in 0..4 {
            table.block(WarpId(n), 5, Cause::Barrier);
            let now = 110 + 10 * Cycle::from(n);
            phases.arrive(WarpId(n), now, table.get(WarpId(n)));
            assert_eq!(
                phases.blocks().states[0],
                BlockState { cta: 7, waiting: u32::from(n) + 1, since: 110, ended: 0 }
            );
        }
        for n in 0..4 {
            table.set(WarpId(n), 6, u32::MAX);
            phases.leave(WarpId(n), 0, 140, &mut counters);
        }
        phases.released(0, 0..4, &table, &mut counters);
        assert_eq!(phases.blocks().states[0].waiting, 0);
        // Times of 10, 20, 30 and 40 cycles.
        assert_eq!((counters.phase_wait, counters.phase_time, counters.barrier_wait), (60, 160, 60));
        for n in 0..4 {
            phases.exit(WarpId(n), 0, 150 + Cycle::from(n));
        }
        phases.end_block(0, 4, 153, &mut counters);
        assert_eq!((counters.exit_wait, counters.warp_life), (6, 4 * 53));
        assert_eq!((counters.phase_wait, counters.phase_time), (66, 160 + 4 * 13));
    }

    #[test]
    fn warps_at_another_barrier_go_on_waiting() {
        let (mut table, mut counters) = (WarpTable::new(4), SmCounters::default());
        let mut phases = block(&mut table);
        for n in 0..3 {
            table.block(WarpId(n), 5, Cause::Barrier);
            phases.arrive(WarpId(n), 110, table.get(WarpId(n)));
        }
        for n in 0..2 {
            table.set(WarpId(n), 6, u32::MAX);
            phases.leave(WarpId(n), 0, 120, &mut counters);
        }
        phases.released(0, 0..4, &table, &mut counters);
        assert_eq!(phases.blocks().states[0].waiting, 1);
        assert_eq!((counters.phase_time, counters.barrier_wait), (20, 20));
    }
}
