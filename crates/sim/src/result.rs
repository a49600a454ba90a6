//! What a launch left behind: how it ended, and every counter.

use crate::gpu::gaps::Skipped;
use crate::kernel::TimedKernel;
use crate::mem::crossbar::CrossbarCounters;
use crate::mem::dram::DramCounters;
use crate::mem::l2::L2Counters;
use crate::mem::system::{Berth, MemorySystem};
use crate::packet::Cycle;
use crate::profile::LaunchProfile;
use crate::saved;
use crate::seam::{Counted, Mechanisms};
use crate::sm::build::Build;
use crate::sm::counters::SmCounters;
use crate::sm::lanes::LaneCounters;
use crate::sm::memory::cache::CacheCounters;
use crate::sm::{BlockedWarp, Sm};
use crate::stats::Counters;
use raddle_exec::fault::Fault;
use raddle_exec::sanitize::Finding;
use std::ops::Deref;

/// How a launch ended.
#[derive(Clone, Debug)]
pub enum Ending {
    /// Every thread has ended.
    Completed,
    /// A thread did something it must not, at this cycle.
    Fault(Cycle, Box<Fault>),
    /// Nothing can continue.
    Deadlock(Vec<BlockedWarp>),
    /// The limit of cycles was reached.
    CycleLimit,
    /// The limit of instructions was reached; where every warp was.
    InstructionLimit(Vec<BlockedWarp>),
}

/// What one SM counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmResult {
    /// The SM itself.
    pub sm: SmCounters,
    /// Integer pipelines of the SPs; zero unless the gating scheme keeps account.
    pub int: LaneCounters,
    /// Floating-point pipelines of the SPs; zero unless the gating scheme keeps account.
    pub fp: LaneCounters,
    /// Instruction cache.
    pub l1i: CacheCounters,
    /// Data cache.
    pub l1d: CacheCounters,
    /// Constant cache.
    pub l1c: CacheCounters,
    /// Texture cache.
    pub l1t: CacheCounters,
    /// What its mechanisms count of their own.
    pub own: Vec<Counted>,
}

/// A finished launch.
#[derive(Clone, Debug)]
pub struct LaunchResult {
    /// How it ended.
    pub ending: Ending,
    /// Cycles of the core clock from its start to the end of its last block.
    pub cycles: Cycle,
    /// Blocks that ended.
    pub ctas: u64,
    /// Blocks an SM could hold at once.
    pub residency: u32,
    /// Each SM.
    pub sms: Vec<SmResult>,
    /// L2 slices, by number; since the GPU was made.
    pub l2: Vec<L2Counters>,
    /// DRAM channels; since the GPU was made.
    pub dram: Vec<DramCounters>,
    /// The network to memory; since the GPU was made.
    pub up: CrossbarCounters,
    /// The network from memory; since the GPU was made.
    pub down: CrossbarCounters,
    /// What the dispatcher counts of its own.
    pub dispatch: Vec<Counted>,
    /// Instructions issued at each operation of the program, by warp and by thread.
    pub pcs: Vec<[u64; 2]>,
    /// What is charged to each operation, if that was asked for.
    pub profile: Option<LaunchProfile>,
    /// What the kernel printed.
    pub output: String,
    /// What was executed without time; everything else is then of the other blocks.
    pub skipped: Option<Skipped>,
    /// What the launch's checks found.
    pub findings: Vec<Finding>,
}

saved!(SmResult { parts: sm, int, fp, l1i, l1d, l1c, l1t, own });
saved!(LaunchResult {
    values: cycles, ctas, residency, pcs, output;
    parts: sms, up, down, dispatch;
    lists: l2, dram;
    fixed: ending, skipped, profile, findings;
});

/// What the GPU knows at the end.
pub(crate) struct Summary {
    pub(crate) ending: Ending,
    pub(crate) cycles: Cycle,
    /// Cycles SMs were run beyond the end.
    pub(crate) trailing: Cycle,
    pub(crate) ctas: u64,
    pub(crate) residency: u32,
    pub(crate) output: String,
    pub(crate) skipped: Option<Skipped>,
    pub(crate) findings: Vec<Finding>,
}

impl LaunchResult {
    pub(crate) fn collect<'k, B: Build + 'k>(
        sms: &[impl Deref<Target = Sm<'k, B>>],
        memory: &MemorySystem,
        summary: Summary,
        kernel: &TimedKernel<'_>,
    ) -> Self {
        let Summary { ending, cycles, trailing, ctas, residency, output, skipped, findings } = summary;
        let mut pcs = vec![[0; 2]; kernel.ops.len()];
        let mut results = Vec::new();
        for sm in sms {
            results.push(sm.stages().result(trailing, matches!(ending, Ending::Fault(..))));
            for (sum, own) in pcs.iter_mut().zip(sm.pc_counts()) {
                sum[0] += own[0];
                sum[1] += own[1];
            }
        }
        let partitions = memory.partitions();
        let partitions: Vec<_> = partitions.iter().map(Berth::lock).collect();
        let [up, down] = memory.networks().map(Clone::clone);
        Self {
            ending,
            cycles,
            ctas,
            residency,
            sms: results,
            l2: partitions.iter().flat_map(|p| (0..p.slices()).map(|s| p.slice_counters(s).clone())).collect(),
            dram: partitions.iter().map(|p| p.dram_counters().clone()).collect(),
            up,
            down,
            dispatch: Vec::new(),
            pcs,
            profile: None,
            output,
            skipped,
            findings,
        }
    }

    /// A completed launch that did nothing, on a machine with so many SMs: what a result that was saved is read into.
    #[must_use]
    pub fn blank(mechanisms: &Mechanisms<'_>, sms: usize) -> Self {
        let [own, dispatch] = mechanisms.nothing_counted();
        Self {
            ending: Ending::Completed,
            cycles: 0,
            ctas: 0,
            residency: 0,
            sms: vec![SmResult { own, ..SmResult::default() }; sms],
            l2: Vec::new(),
            dram: Vec::new(),
            up: CrossbarCounters::default(),
            down: CrossbarCounters::default(),
            dispatch,
            pcs: Vec::new(),
            profile: None,
            output: String::new(),
            skipped: None,
            findings: Vec::new(),
        }
    }

    /// All SMs together.
    #[must_use]
    pub fn total(&self) -> SmResult {
        let mut sum = SmResult::default();
        for sm in &self.sms {
            sum.sm.add(&sm.sm);
            sum.int.add(&sm.int);
            sum.fp.add(&sm.fp);
            sum.l1i.add(&sm.l1i);
            sum.l1d.add(&sm.l1d);
            sum.l1c.add(&sm.l1c);
            sum.l1t.add(&sm.l1t);
            Counted::add(&mut sum.own, &sm.own);
        }
        sum
    }

    /// What all mechanisms count of their own, by seam.
    #[must_use]
    pub fn own_total(&self) -> Vec<Counted> {
        let mut all = self.dispatch.clone();
        self.sms.iter().for_each(|sm| Counted::add(&mut all, &sm.own));
        all.sort_by_key(|counted| counted.seam);
        all
    }

    /// All L2 slices together.
    #[must_use]
    pub fn l2_total(&self) -> L2Counters {
        let mut sum = L2Counters::default();
        self.l2.iter().for_each(|slice| sum.add(slice));
        sum
    }

    /// All DRAM channels together.
    #[must_use]
    pub fn dram_total(&self) -> DramCounters {
        let mut sum = DramCounters::default();
        self.dram.iter().for_each(|channel| sum.add(channel));
        sum
    }
}
