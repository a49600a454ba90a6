//! Shares and divergences of a launch.

use super::{BlockRecord, LaunchRecord, WarpRecord};
use raddle_sim::packet::Cycle;
use std::collections::BTreeMap;

/// Divergences that are counted, in percent of the warp that did least: the columns of Table 1 of the VTW paper.
pub const THRESHOLDS: [u32; 4] = [50, 25, 10, 5];

/// The four sets of kernels of the VTW paper.
///
/// The paper does not say how many blocks are many. These lines give the set it has for 50 of its 51 kernels: a kernel
/// diverges in instructions when more than 4 % of its blocks do by 10 % or more than 24 % by 5 %, and in cycles when
/// more than 4 % do by 5 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DivergenceSet {
    /// Set 1: in instructions and in cycles.
    Both,
    /// Set 2: in cycles only.
    Cycles,
    /// Set 3: in instructions only.
    Instructions,
    /// Set 4: in neither.
    Neither,
}

impl DivergenceSet {
    /// From the shares of blocks that diverge in instructions by 10 and by 5 %, and in cycles by 5 %.
    #[must_use]
    pub fn new([insts_10, insts_5]: [f64; 2], cycles_5: f64) -> Self {
        match (insts_10 > 0.04 || insts_5 > 0.24, cycles_5 > 0.04) {
            (true, true) => Self::Both,
            (false, true) => Self::Cycles,
            (true, false) => Self::Instructions,
            (false, false) => Self::Neither,
        }
    }

    /// Its number in the paper.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Both => 1,
            Self::Cycles => 2,
            Self::Instructions => 3,
            Self::Neither => 4,
        }
    }

    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Both => "in instructions and in cycles",
            Self::Cycles => "in cycles only",
            Self::Instructions => "in instructions only",
            Self::Neither => "in neither",
        }
    }
}

/// How far the warps of a block are apart.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockDivergence {
    /// Number in the grid.
    pub cta: u64,
    /// Fewest and most instructions of a warp.
    pub insts: [u64; 2],
    /// Fewest and most cycles of a warp, from the block's start to the warp's exit.
    pub cycles: [u64; 2],
}

impl BlockDivergence {
    /// Of a block that has ended; none when it has not, or has no warps.
    #[must_use]
    pub fn new(block: &BlockRecord) -> Option<Self> {
        block.end?;
        let range = |value: &dyn Fn(&WarpRecord) -> u64| {
            Some([block.warps.iter().map(value).min()?, block.warps.iter().map(value).max()?])
        };
        let insts = range(&|w| w.warp_insts)?;
        let cycles = range(&|w| w.exit.map_or(0, |exit| exit - block.start))?;
        Some(Self { cta: block.cta, insts, cycles })
    }

    /// Instruction divergence: what the busiest warp issued more, relative to the least busy one.
    #[must_use]
    pub fn insts(&self) -> f64 {
        spread(self.insts)
    }

    /// Cycle divergence: what the last warp took longer, relative to the first one.
    #[must_use]
    pub fn cycles(&self) -> f64 {
        spread(self.cycles)
    }

    /// The divergent warp region: the share of the block's time in which some of its warps have ended.
    #[must_use]
    pub fn dwr(&self) -> f64 {
        if self.cycles[1] == 0 { 0.0 } else { 1.0 - self.cycles[0] as f64 / self.cycles[1] as f64 }
    }
}

fn spread([min, max]: [u64; 2]) -> f64 {
    (max - min) as f64 / min.max(1) as f64
}

/// How much of the time of a set of warps is spent waiting for the slowest of them: equation 1 of the BAWS paper.
#[must_use]
pub fn rtru(times: &[u64]) -> f64 {
    let [waited, all] = waiting(times);
    share(waited, all)
}

/// Cycles warps wait for the slowest of them, and the cycles of that one, for each warp.
fn waiting(times: &[u64]) -> [u64; 2] {
    let longest = times.iter().copied().max().unwrap_or(0);
    [times.iter().map(|t| longest - t).sum(), times.len() as u64 * longest]
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// What follows from the record of a launch.
#[derive(Clone, Debug, Default)]
pub struct LaunchSummary {
    /// Blocks that ended.
    pub blocks: u64,
    /// Warps of these blocks.
    pub warps: u64,
    /// Cycles of their lives, summed.
    pub life: u64,
    /// Cycles they waited at barriers, summed.
    pub barrier_wait: u64,
    /// Cycles they had ended and waited for their block, summed.
    pub exit_wait: u64,
    /// Visits to barriers.
    pub barriers: u64,
    /// For each phase between barriers: in how many blocks it occurs, and its mean RTRU.
    pub phases: Vec<(u64, f64)>,
    /// Cycles warps had come to the end of a phase and waited for the slowest, summed over all phases.
    pub phase_wait: u64,
    /// Cycles of the slowest warp of a phase, for each of its warps, summed over all phases.
    pub phase_time: u64,
    /// Blocks with an instruction divergence of at least each of [`THRESHOLDS`].
    pub insts_over: [u64; 4],
    /// Blocks with a cycle divergence of at least each of [`THRESHOLDS`].
    pub cycles_over: [u64; 4],
    /// Mean divergent warp region of the blocks that ended while others waited to start; none when no block waited.
    pub dwr: Option<f64>,
    /// The share of empty issue slots that fall into it, averaged over all blocks.
    pub dws: f64,
    /// Each block, in the order of the grid.
    pub divergences: Vec<BlockDivergence>,
}

impl LaunchSummary {
    /// From the record of a launch on this many SMs.
    #[must_use]
    pub fn new(record: &LaunchRecord, sms: u32) -> Self {
        let mut summary = Self::default();
        let mut dws = 0.0;
        let mut phases: Vec<Vec<f64>> = Vec::new();
        for block in &record.blocks {
            let (Some(end), Some(divergence)) = (block.end, BlockDivergence::new(block)) else { continue };
            summary.blocks += 1;
            block.warps.iter().for_each(|warp| summary.add_warp(warp, end));
            for (n, phase) in block.phases().iter().enumerate() {
                if phases.len() <= n {
                    phases.push(Vec::new());
                }
                phases[n].push(rtru(&phase.times));
                let [waited, all] = waiting(&phase.times);
                summary.phase_wait += waited;
                summary.phase_time += all;
            }
            for (n, threshold) in THRESHOLDS.iter().enumerate() {
                let least = f64::from(*threshold) / 100.0;
                summary.insts_over[n] += u64::from(divergence.insts() >= least);
                summary.cycles_over[n] += u64::from(divergence.cycles() >= least);
            }
            dws += stall_share(record, block, end);
            summary.divergences.push(divergence);
        }
        summary.divergences.sort_by_key(|d| d.cta);
        let mean = |list: &Vec<f64>| (list.len() as u64, list.iter().sum::<f64>() / list.len() as f64);
        summary.phases = phases.iter().map(mean).collect();
        summary.dws = dws / summary.blocks.max(1) as f64;
        summary.dwr = dwr(record, sms);
        summary
    }

    fn add_warp(&mut self, warp: &WarpRecord, end: Cycle) {
        self.warps += 1;
        self.life += end - warp.start;
        self.exit_wait += warp.exit.map_or(0, |exit| end - exit);
        for wait in &warp.waits {
            self.barriers += 1;
            self.barrier_wait += wait.leave.map_or(0, |leave| leave - wait.arrive);
        }
    }

    /// The share of warps' lives spent at barriers.
    #[must_use]
    pub fn barrier_share(&self) -> f64 {
        share(self.barrier_wait, self.life)
    }

    /// The share of warps' lives spent waiting for their block to end.
    #[must_use]
    pub fn exit_share(&self) -> f64 {
        share(self.exit_wait, self.life)
    }

    /// The set its blocks make it part of.
    #[must_use]
    pub fn set(&self) -> DivergenceSet {
        let part = |count: u64| share(count, self.blocks);
        DivergenceSet::new([part(self.insts_over[2]), part(self.insts_over[3])], part(self.cycles_over[3]))
    }

    /// RTRU of all phases of all blocks together, long ones counting for more.
    #[must_use]
    pub fn rtru(&self) -> f64 {
        share(self.phase_wait, self.phase_time)
    }
}

/// The mean DWR of the first N-R blocks to end, of N blocks of which R are resident at once.
fn dwr(record: &LaunchRecord, sms: u32) -> Option<f64> {
    let mut ended: Vec<&BlockRecord> = record.blocks.iter().filter(|b| b.end.is_some()).collect();
    ended.sort_by_key(|b| (b.end, b.cta));
    let resident = record.residency as usize * sms as usize;
    let counted = ended.len().checked_sub(resident).filter(|n| *n > 0)?;
    let sum: f64 = ended.iter().take(counted).filter_map(|b| BlockDivergence::new(b)).map(|d| d.dwr()).sum();
    Some(sum / counted as f64)
}

/// A phase of a block: it ends when a barrier lets warps go, and with the block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// When it ended.
    pub end: Cycle,
    /// How long its warps took for it: those that left the barrier, and those that ended since the phase before.
    pub times: Vec<u64>,
}

impl BlockRecord {
    /// Its phases, in the order they ended.
    #[must_use]
    pub fn phases(&self) -> Vec<Phase> {
        let mut phases: BTreeMap<(Cycle, u8), Vec<u64>> = BTreeMap::new();
        phases.extend(self.end.map(|_| ((Cycle::MAX, 0), Vec::new())));
        let mut exits = Vec::new();
        for warp in &self.warps {
            let mut from = warp.start;
            for (wait, leave) in warp.waits.iter().filter_map(|w| Some((w, w.leave?))) {
                phases.entry((leave, wait.number)).or_default().push(wait.arrive.saturating_sub(from));
                from = leave;
            }
            exits.extend(warp.exit.map(|exit| (exit, exit.saturating_sub(from))));
        }
        for (exit, time) in exits {
            // A warp that ends in the cycle in which a barrier lets others go does so after it.
            let next = phases.range_mut((exit + 1, 0)..).next();
            next.into_iter().for_each(|(_, times)| times.push(time));
        }
        let phase = |((end, _), times): ((Cycle, u8), Vec<u64>)| Phase { end: end.min(self.end.unwrap_or(end)), times };
        phases.into_iter().map(phase).filter(|phase| !phase.times.is_empty()).collect()
    }
}

/// Of the empty slots of the block's SM during its life, the share after its first warp ended.
fn stall_share(record: &LaunchRecord, block: &BlockRecord, end: Cycle) -> f64 {
    let first_exit = block.warps.iter().filter_map(|w| w.exit).min().unwrap_or(end);
    let (mut all, mut late) = (0, 0);
    for (_, stalls) in record.stalls.range((block.sm, 0)..=(block.sm, u8::MAX)) {
        let from = stalls.partition_point(|[_, until]| *until <= block.start);
        for [at, until] in stalls[from..].iter().take_while(|[at, _]| *at < end) {
            let until = (*until).min(end);
            all += until - (*at).max(block.start);
            late += until.saturating_sub((*at).max(first_exit));
        }
    }
    late as f64 / (all as f64).max(1.0)
}
