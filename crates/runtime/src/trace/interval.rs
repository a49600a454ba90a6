//! What happened in an interval: the difference of two samples.

use raddle_sim::config::MachineConfig;
use raddle_sim::gpu::{PartitionSample, Sample, SmSample};
use raddle_sim::packet::Cycle;
use raddle_sim::stats::Counters;

/// What happened on the whole machine in some cycles of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Number of the launch.
    pub launch: u64,
    /// First cycle, counted from the start of the first launch.
    pub start: Cycle,
    /// Cycles.
    pub cycles: Cycle,
    /// Instructions issued, by warp.
    pub warp_insts: u64,
    /// The same by thread.
    pub thread_insts: u64,
    /// Accesses to the data caches of SMs.
    pub l1d_accesses: u64,
    /// Those that found their line.
    pub l1d_hits: u64,
    /// Blocks that were resident at its end; at the end of a launch there is none.
    pub blocks: u64,
    /// Warps that were resident at its end.
    pub warps: u64,
    /// Each memory partition.
    pub partitions: Vec<Partition>,
}

/// What a memory partition did in an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Partition {
    /// Sectors its L2 slices served.
    pub l2_accesses: u64,
    /// Those that were there.
    pub l2_hits: u64,
    /// Bytes read from DRAM.
    pub dram_read: u64,
    /// Bytes written to DRAM.
    pub dram_written: u64,
    /// Cycles of DRAM commands in which there was a request.
    pub dram_busy: u64,
    /// Requests that waited for a bank, summed over these cycles.
    pub dram_queue: u64,
}

impl Partition {
    fn between(before: &PartitionSample, now: &PartitionSample, burst_bytes: u64) -> Self {
        let (mut l2, mut dram) = (now.l2.clone(), now.dram.clone());
        l2.subtract(&before.l2);
        dram.subtract(&before.dram);
        Self {
            l2_accesses: l2.accesses,
            l2_hits: l2.hits,
            dram_read: dram.reads * burst_bytes,
            dram_written: dram.writes * burst_bytes,
            dram_busy: dram.busy_cycles,
            dram_queue: dram.queue_occupancy,
        }
    }

    fn add(&mut self, other: &Self) {
        self.l2_accesses += other.l2_accesses;
        self.l2_hits += other.l2_hits;
        self.dram_read += other.dram_read;
        self.dram_written += other.dram_written;
        self.dram_busy += other.dram_busy;
        self.dram_queue += other.dram_queue;
    }

    /// Bytes to and from DRAM.
    #[must_use]
    pub fn dram_bytes(&self) -> u64 {
        self.dram_read + self.dram_written
    }
}

impl Interval {
    /// All partitions together.
    #[must_use]
    pub fn memory(&self) -> Partition {
        let mut sum = Partition::default();
        self.partitions.iter().for_each(|own| sum.add(own));
        sum
    }

    /// Adds the interval after it.
    pub(super) fn append(&mut self, next: &Self) {
        self.cycles += next.cycles;
        self.warp_insts += next.warp_insts;
        self.thread_insts += next.thread_insts;
        self.l1d_accesses += next.l1d_accesses;
        self.l1d_hits += next.l1d_hits;
        (self.blocks, self.warps) = (next.blocks, next.warps);
        self.partitions.resize(next.partitions.len(), Partition::default());
        self.partitions.iter_mut().zip(&next.partitions).for_each(|(sum, own)| sum.add(own));
    }
}

/// Makes intervals of samples.
pub(super) struct Differences {
    burst_bytes: u64,
    launch: u64,
    at: Cycle,
    sms: SmSample,
    partitions: Vec<PartitionSample>,
}

impl Differences {
    pub(super) fn new(machine: &MachineConfig) -> Self {
        Self {
            burst_bytes: u64::from(machine.dram.burst_bytes),
            launch: 0,
            at: 0,
            sms: SmSample::default(),
            partitions: vec![PartitionSample::default(); machine.dram.channels as usize],
        }
    }

    /// A launch starts: SMs count from zero.
    pub(super) fn start(&mut self, launch: u64, at: Cycle) {
        (self.launch, self.at, self.sms) = (launch, at, SmSample::default());
    }

    /// What happened since the sample before, or the start of the launch.
    pub(super) fn next(&mut self, sample: &Sample) -> Interval {
        let (old, new) = (std::mem::replace(&mut self.sms, sample.sms.clone()), &sample.sms);
        let partitions = self.partitions.iter().zip(&sample.partitions);
        let interval = Interval {
            launch: self.launch,
            start: self.at,
            cycles: sample.at.saturating_sub(self.at),
            warp_insts: new.warp_insts - old.warp_insts,
            thread_insts: new.thread_insts - old.thread_insts,
            l1d_accesses: new.l1d.accesses - old.l1d.accesses,
            l1d_hits: new.l1d.hits - old.l1d.hits,
            blocks: new.blocks,
            warps: new.warps,
            partitions: partitions.map(|(old, new)| Partition::between(old, new, self.burst_bytes)).collect(),
        };
        self.at = sample.at;
        self.partitions.clone_from(&sample.partitions);
        interval
    }
}
