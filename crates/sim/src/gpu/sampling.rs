//! Samples of what is counted while a launch runs.

use super::run::Run;
use crate::mem::dram::DramCounters;
use crate::mem::l2::L2Counters;
use crate::packet::Cycle;
use crate::parallel::lock;
use crate::sm::build::Build;
use crate::sm::memory::cache::CacheCounters;
use crate::stats::Counters;

/// What has been counted up to a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The cycle.
    pub at: Cycle,
    /// All SMs, since the launch started.
    pub sms: SmSample,
    /// Memory partitions, since the GPU was made.
    pub partitions: Vec<PartitionSample>,
}

/// What SMs have counted, and what they hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmSample {
    /// Instructions issued, by warp.
    pub warp_insts: u64,
    /// The same by thread.
    pub thread_insts: u64,
    /// Data caches.
    pub l1d: CacheCounters,
    /// Thread blocks that are resident or about to start.
    pub blocks: u64,
    /// Warps that are resident.
    pub warps: u64,
}

impl SmSample {
    fn add(&mut self, other: &Self) {
        self.warp_insts += other.warp_insts;
        self.thread_insts += other.thread_insts;
        self.l1d.add(&other.l1d);
        self.blocks += other.blocks;
        self.warps += other.warps;
    }
}

/// What a memory partition has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionSample {
    /// Its L2 slices together.
    pub l2: L2Counters,
    /// Its DRAM channel.
    pub dram: DramCounters,
}

impl<B: Build> Run<'_, '_, '_, '_, B> {
    /// Begins with intervals, if somebody wants samples.
    pub(super) fn start_sampling(&mut self) {
        let interval = self.options.observer.as_ref().and_then(|observer| observer.interval());
        self.sampled = interval.map(|interval| self.start + interval.max(1));
    }

    /// Takes a sample when an interval is over. What comes after the last block belongs to the last one.
    #[inline]
    pub(super) fn sample(&mut self) {
        if self.sampled.is_some_and(|at| self.gpu.now >= at) && self.done < self.total {
            let now = self.gpu.now;
            self.gpu.memory.make_up(now);
            self.tell_sample(now);
        }
    }

    /// Takes the sample at the end of a launch.
    pub(super) fn last_sample(&mut self, end: Cycle) {
        if self.sampled.is_some() {
            self.tell_sample(end);
        }
    }

    fn tell_sample(&mut self, at: Cycle) {
        let Some(observer) = &mut self.options.observer else { return };
        let mut sample = Sample { at, ..Sample::default() };
        self.sms.iter().for_each(|seat| sample.sms.add(&lock(&seat.sm).sample()));
        for berth in &*self.gpu.memory.partitions() {
            let partition = berth.lock();
            let (l2, dram) = (partition.l2_counters(), partition.dram_counters().clone());
            sample.partitions.push(PartitionSample { l2, dram });
        }
        observer.sample(&sample);
        let interval = observer.interval().unwrap_or(Cycle::MAX).max(1);
        let done = at.saturating_sub(self.start) / interval;
        self.sampled = Some(self.start.saturating_add((done + 1).saturating_mul(interval)));
    }
}
