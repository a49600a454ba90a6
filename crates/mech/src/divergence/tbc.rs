//! Thread block compaction.
//!
//! # What it models
//! The warps of a block share one reconvergence stack. The warps that run its top entry wait for each other at every
//! branch that might diverge, and at every reconvergence point. Then the threads of the next entry are compacted into
//! as few warps as their lanes allow. A thread never changes its lane; each lane takes its threads in the order of
//! their static warps. The SM has one compactor, which makes one warp a cycle. When all threads of the block are in one
//! entry, the result is the static warps again.
//!
//! What holds for the lanes of a warp under `pdom` holds here for the warps of a block. If one warp holds a lock and
//! another one spins for it, the lock is never released: its holder waits for the others at the end of the loop.
//!
//! # Source
//! Fung and Aamodt, HPCA 2011 (the TBC paper), section 3.
//!
//! # Parameters
//! Whether threads are compacted. The side of a branch that jumps always runs first.
//!
//! # Simplifications
//! Warps do not wait for each other at branches marked `.uni` or shown to be uniform; compilers mark few. When all
//! warps of the top entry wait at a barrier, another entry runs, so all threads can reach a barrier inside divergent
//! code. Threads that then still wait at the exit to reconverge exit. In kernels with warp-wide operations that
//! exchange values, threads stay in their static warps. In kernels whose only warp-wide operation is `bar.warp.sync`,
//! compacted warps wait there for the others of their entry. Registers are read as if all banks served any thread.
//!
//! # Counters
//! Its own counters say how many warps the compactor makes, and how many of these hold threads of several static warps.
//! `stall_mechanism` counts slots in which the only warps left wait for others of their block. `stack_depth`, and
//! `issued_*` by active lanes.

use super::block::Block;
use raddle_exec::Program;
use raddle_exec::decode::Ends;
use raddle_exec::op::{Class, NO_PC, NONE, Op};
use raddle_exec::splits::{Group, Meeting, add_by_target};
use raddle_sim::config::MachineConfig;
use raddle_sim::counters;
use raddle_sim::packet::Cycle;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{Divergence, Leaving, MechanismInfo, Outcome, Seam, StackEntry, WarpId, WarpTable};
use raddle_sim::stats::Counters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Divergence,
    name: "tbc",
    summary: "thread block compaction: a stack for the whole block, threads regrouped at branches",
    source: "TBC paper (HPCA 2011), section 3",
    counters: CompactorCounters::INFO,
    refuses: &[],
};

/// When threads are compacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compaction {
    /// In kernels whose warps exchange no values by warp-wide operations.
    #[default]
    Auto,
    /// Never: threads stay in their static warps, which still wait for each other at branches.
    Off,
}

/// Parameters.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// When threads are compacted: `auto` (unless warp-wide operations of the kernel exchange values) or `off` (never).
    pub compactor: Compaction,
}

counters! {
    /// What the compactor does.
    pub(super) struct CompactorCounters {
        made: Events, "warps that the compactor made; each takes one cycle";
        mixed: Events, "warps in `made` with threads of several static warps";
    }
}

/// The model.
pub struct Tbc {
    compactor: Compaction,
    /// Threads reconverge at likely-convergence points too.
    likely: bool,
    width: usize,
    keeps_warps: bool,
    blocks: Vec<Option<Block>>,
    /// The block of each slot.
    block_of: Vec<u32>,
    /// Blocks whose threads are to be compacted, in the order they asked.
    queue: VecDeque<u32>,
    /// Blocks to check in the next cycle: all their warps may be waiting.
    stuck: Vec<u32>,
    due: Cycle,
    deepest: usize,
    groups: Vec<Group>,
    /// Where threads of the kernel end.
    ends: Ends,
    counters: CompactorCounters,
}

saved!(Tbc {
    values: blocks, block_of, queue, stuck, due, deepest, groups;
    parts: counters;
    fixed: compactor, likely, width, keeps_warps, ends;
});

impl Tbc {
    /// For a machine.
    #[must_use]
    pub fn new(config: Config, machine: &MachineConfig) -> Self {
        let width = machine.sm.warp_width.max(1) as usize;
        Self {
            compactor: config.compactor,
            likely: false,
            width,
            keeps_warps: config.compactor == Compaction::Off,
            blocks: Vec::new(),
            block_of: vec![0; machine.sm.threads as usize / width],
            queue: VecDeque::new(),
            stuck: Vec::new(),
            due: Cycle::MAX,
            deepest: 1,
            groups: Vec::new(),
            ends: Ends::default(),
            counters: CompactorCounters::default(),
        }
    }

    /// The same with likely-convergence points.
    #[must_use]
    pub fn with_likely_convergence(config: Config, machine: &MachineConfig) -> Self {
        Self { likely: true, ..Self::new(config, machine) }
    }

    fn meeting(&self, op: &Op) -> Meeting {
        Meeting { surely: op.reconverge, likely: if self.likely { op.likely } else { NO_PC } }
    }

    /// Calls `f` with a block, then queues the block if it wants the compactor or is stuck.
    fn with_block(&mut self, cta: u32, now: Cycle, f: impl FnOnce(&mut Block)) {
        let Some(Some(block)) = self.blocks.get_mut(cta as usize) else { return };
        f(block);
        self.deepest = self.deepest.max(block.deepest());
        if block.wants_compactor() && !self.queue.contains(&cta) {
            self.queue.push_back(cta);
        }
        if block.is_stuck() && !self.stuck.contains(&cta) {
            self.stuck.push(cta);
        }
        if !self.queue.is_empty() || !self.stuck.is_empty() {
            self.due = now + 1;
        }
    }

    /// Whether all warps of the block are sure to branch alike, so that no warp has to wait.
    fn is_alike(op: &Op, taken: u32, mask: u32) -> bool {
        (op.guard == NONE || op.uniform) && (taken == 0 || taken == mask)
    }
}

impl Divergence for Tbc {
    fn start_launch(&mut self, program: &Program) -> Result<(), (u32, String)> {
        self.keeps_warps = self.compactor == Compaction::Off || program.ops.iter().any(Op::exchanges);
        self.ends = program.ends();
        Ok(())
    }

    fn regroups(&self) -> bool {
        true
    }

    fn next_event(&self) -> Cycle {
        self.due
    }

    fn tick(&mut self, table: &mut WarpTable) {
        let now = table.now();
        self.due = Cycle::MAX;
        for cta in std::mem::take(&mut self.stuck) {
            self.with_block(cta, now, |block| {
                if block.is_stuck() {
                    block.step_aside(table);
                }
            });
        }
        if let Some(cta) = self.queue.pop_front() {
            let mut is_mixed = None;
            self.with_block(cta, now, |block| is_mixed = block.compact(table));
            self.counters.made += u64::from(is_mixed.is_some());
            self.counters.mixed += u64::from(is_mixed == Some(true));
            // The block that is being served comes first again.
            if self.queue.back() == Some(&cta) {
                self.queue.rotate_right(1);
            }
        }
        if !self.queue.is_empty() {
            self.due = now + 1;
        }
    }

    fn stack_depth(&self) -> u32 {
        self.deepest as u32
    }

    fn start_cta(&mut self, cta: u32, warps: &[(WarpId, u32, u8, u32)], table: &mut WarpTable) {
        if self.blocks.len() <= cta as usize {
            self.blocks.resize_with(cta as usize + 1, || None);
        }
        for &(warp, row, base, mask) in warps {
            self.block_of[warp.index()] = cta;
            table.form_static(warp, cta, row, base, mask);
            table.set_until(warp, 0, mask, NO_PC);
        }
        self.blocks[cta as usize] = Some(Block::new(cta, warps, self.width, self.keeps_warps, self.ends.clone()));
    }

    fn issued(&mut self, warp: WarpId, outcome: Outcome<'_>, table: &mut WarpTable) {
        let (pc, mask) = (table.get(warp).pc, table.get(warp).mask);
        let (cta, now) = (self.block_of[warp.index()], table.now());
        let mut groups = std::mem::take(&mut self.groups);
        groups.clear();
        match outcome {
            Outcome::Next | Outcome::Barrier { wait: false, .. } => {
                self.with_block(cta, now, |block| block.go_on(warp, pc + 1, mask, None, table));
            }
            Outcome::Branch { taken, op } if Self::is_alike(op, taken, mask) => {
                let to = if taken == 0 { pc + 1 } else { op.target };
                self.with_block(cta, now, |block| block.go_on(warp, to, mask, None, table));
            }
            Outcome::Branch { taken, op } => {
                let meeting = self.meeting(op);
                self.with_block(cta, now, |block| {
                    let depth = block.call_depth(warp);
                    groups.push(Group { pc: pc + 1, mask: mask & !taken, depth });
                    groups.push(Group { pc: op.target, mask: taken, depth });
                    block.part(warp, pc, meeting, &groups, table);
                });
            }
            Outcome::Scatter { active, targets, depth: by, op } => {
                let meeting = self.meeting(op);
                self.with_block(cta, now, |block| {
                    let depth = block.call_depth(warp);
                    let inside = depth.wrapping_add_signed(by);
                    add_by_target(&mut groups, active, targets, inside);
                    let waits = op.class == Class::BranchTable && !op.uniform;
                    match groups[..] {
                        [only] if only.mask == mask && !waits => block.go_on(warp, only.pc, mask, Some(inside), table),
                        _ => {
                            groups.push(Group { pc: pc + 1, mask: mask & !active, depth });
                            block.part(warp, pc, meeting, &groups, table);
                        }
                    }
                });
            }
            Outcome::Exit { mask } => self.with_block(cta, now, |block| block.exit(warp, mask, table)),
            Outcome::Barrier { arrivals: [only], .. } if only.mask == mask => {
                self.with_block(cta, now, |block| block.wait_at_barrier(warp, only.number as u8, table));
            }
            Outcome::Barrier { arrivals, active, .. } => self.with_block(cta, now, |block| {
                let depth = block.call_depth(warp);
                let others = (Group { pc: pc + 1, mask: mask & !active, depth }, None);
                let waiting = arrivals.iter().map(|a| (Group { pc, mask: a.mask, depth }, Some(a.number as u8)));
                let parts: Vec<_> = waiting.chain([others]).collect();
                block.wait_apart(warp, &parts, table);
            }),
            Outcome::Sync { .. } if !self.keeps_warps => {
                self.with_block(cta, now, |block| block.wait_for_whole_warps(warp, table));
            }
            Outcome::Sync { wanted, anywhere } => {
                self.with_block(cta, now, |block| block.wait_for_lanes(warp, wanted, anywhere, table));
            }
        }
        self.groups = groups;
    }

    fn release(&mut self, cta: u32, number: u8, table: &mut WarpTable, leave: &mut dyn FnMut(Leaving<'_>)) {
        let now = table.now();
        self.with_block(cta, now, |block| block.release(number, table, leave));
    }

    fn take_sync(&mut self, warp: WarpId, table: &mut WarpTable) -> Option<(u32, u32)> {
        let mut taken = None;
        let now = table.now();
        self.with_block(self.block_of[warp.index()], now, |block| taken = block.take_sync(warp, table));
        taken
    }

    fn end_cta(&mut self, cta: u32, _table: &mut WarpTable) {
        if let Some(block) = self.blocks.get_mut(cta as usize) {
            *block = None;
        }
    }

    fn stack(&self, warp: WarpId, table: &WarpTable) -> Vec<StackEntry> {
        let block = self.blocks.get(self.block_of[warp.index()] as usize).and_then(Option::as_ref);
        block.map_or_else(Vec::new, |block| block.entries(warp, table))
    }

    fn counters(&self) -> Vec<u64> {
        self.counters.values()
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
