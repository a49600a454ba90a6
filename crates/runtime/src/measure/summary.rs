//! Shares and divergences of a launch.

use super::{BlockRecord, LaunchRecord, WarpRecord};
use raddle_sim::packet::Cycle;

/// Divergences that are counted, in percent of the warp that did least: the columns of Table 1 of the VTW paper.
pub const THRESHOLDS: [u32; 4] = [50, 25, 10, 5];

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
    let longest = times.iter().copied().max().unwrap_or(0);
    let waited: u64 = times.iter().map(|t| longest - t).sum();
    waited as f64 / (times.len() as u64 * longest).max(1) as f64
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
            for (n, times) in phase_times(block).iter().enumerate() {
                if phases.len() <= n {
                    phases.push(Vec::new());
                }
                phases[n].push(rtru(times));
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
        self.barrier_wait as f64 / self.life.max(1) as f64
    }

    /// The share of warps' lives spent waiting for their block to end.
    #[must_use]
    pub fn exit_share(&self) -> f64 {
        self.exit_wait as f64 / self.life.max(1) as f64
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

/// Times of all warps in each phase between barriers.
fn phase_times(block: &BlockRecord) -> Vec<Vec<u64>> {
    let mut phases: Vec<Vec<u64>> = Vec::new();
    for warp in &block.warps {
        let mut from = warp.start;
        let visits = warp.waits.iter().filter_map(|w| Some((w.arrive, w.leave?)));
        let ends = visits.chain(warp.exit.map(|exit| (exit, exit)));
        for (n, (arrive, leave)) in ends.enumerate() {
            if phases.len() <= n {
                phases.push(Vec::new());
            }
            phases[n].push(arrive.saturating_sub(from));
            from = leave;
        }
    }
    phases
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
