//! Blocks first, then the warps of a block.
//!
//! # What it models
//! Each block resident on the SM has a priority. The scheduler issues from the first block that has a warp that can
//! issue. With `age`, the oldest block comes first. With `rrb`, priorities rotate every cycle. With `srr`, the block
//! that issued last stays first until none of its warps can issue; then the next block becomes first. Inside a block,
//! warps take turns (`lrr`), or the last warp stays first and then the oldest (`gto`).
//!
//! # Source
//! TBC paper (HPCA 2011), section 6.2: thread block prioritization. Here it is a scheduler of its own, which works with
//! every divergence model.
//!
//! # Parameters
//! The order of blocks, and the order of warps inside a block.
//!
//! # Simplifications
//! With several schedulers, each one orders the blocks on its own.
//!
//! # Counters
//! None of its own. `issued_*` and `stall_*` show how a scheduler's slots were used.

use super::by_rank;
use super::inside::{Inside, LastIssued};
use raddle_sim::config::MachineConfig;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId, WarpSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "by-block",
    summary: "blocks by priority: the oldest first, in rotation, or the one that issued last",
    source: "TBC paper (HPCA 2011), section 6.2",
    counters: &[],
    refuses: &[],
};

/// Which block comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Blocks {
    /// The one that came to the SM first.
    #[default]
    Age,
    /// Another one every cycle.
    Rrb,
    /// The one that issued last, until it cannot.
    Srr,
}

/// Parameters.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Which block comes first: `age` (the oldest), `rrb` (in rotation) or `srr` (the last one, until it cannot issue).
    pub blocks: Blocks,
    /// Which warp of a block comes first: `lrr` (in turn) or `gto` (the last one, then the oldest).
    pub inside: Inside,
}

/// The scheduler.
pub struct ByBlock {
    config: Config,
    last: LastIssued,
    last_block: u32,
}

saved!(ByBlock { values: last, last_block; fixed: config });

impl ByBlock {
    /// Nothing issued yet.
    #[must_use]
    pub fn new(config: Config, _: &MachineConfig) -> Self {
        Self { config, last: LastIssued::default(), last_block: 0 }
    }

    /// The place of a block in the order of blocks; smaller is earlier.
    fn place_of(&self, view: &SchedulerView<'_>, block: u32) -> u64 {
        let blocks = || view.warps.iter().map(|w| (view.table.get(w).cta, view.age[w.index()]));
        let first = match self.config.blocks {
            Blocks::Age => return blocks().filter(|(of, _)| *of == block).map(|(_, age)| age).min().unwrap_or(0),
            Blocks::Rrb => view.now,
            Blocks::Srr => u64::from(self.last_block),
        };
        let count = blocks().map(|(of, _)| u64::from(of) + 1).max().unwrap_or(1);
        (u64::from(block) + count - first % count) % count
    }

    /// The place of a warp in its block.
    fn inside(&self, view: &SchedulerView<'_>, warp: WarpId) -> u64 {
        self.config.inside.place(view, self.last.in_block_of(view, warp), warp)
    }

    /// The place of a warp in the order of all.
    fn rank(&self, view: &SchedulerView<'_>, warp: WarpId) -> (u64, u64) {
        (self.place_of(view, view.table.get(warp).cta), self.inside(view, warp))
    }
}

impl IssueScheduler for ByBlock {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        by_rank(view, order, |w| self.rank(view, w));
    }

    fn is_before(&self, view: &SchedulerView<'_>, a: WarpId, b: WarpId) -> bool {
        self.rank(view, a) < self.rank(view, b)
    }

    fn first_of(&self, view: &SchedulerView<'_>, among: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        // The warps of a block stand side by side: its place is looked up once.
        let mut known = None;
        among.iter().min_by_key(|warp| {
            let block = view.table.get(*warp).cta;
            let (_, place) = match known {
                Some(found @ (of, _)) if of == block => found,
                _ => *known.insert((block, self.place_of(view, block))),
            };
            (place, self.inside(view, *warp))
        })
    }

    fn issued(&mut self, view: &SchedulerView<'_>, warp: WarpId) {
        self.last.set(view, warp);
        self.last_block = view.table.get(warp).cta;
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
