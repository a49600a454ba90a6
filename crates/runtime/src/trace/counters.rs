//! Intervals as numbers on tracks.

use super::file::{TraceFile, Track};
use super::interval::{Interval, Partition};
use crate::numbers::ratio;
use raddle_sim::config::MachineConfig;
use raddle_sim::packet::Cycle;

/// Of the bytes of a trace, one in so many is for numbers.
pub(super) const SHARE: u64 = 8;

/// Where numbers go.
pub(super) struct CounterTracks {
    machine: Vec<Track>,
    partitions: Vec<Vec<Track>>,
    /// Billions of bytes in a second are so many bytes in a cycle.
    gigahertz: f64,
    /// Bytes that may still be used.
    left: u64,
    /// Bytes that were used since intervals were last made longer.
    used: u64,
    /// So many intervals are shown as one.
    stride: u64,
    /// Those that have not been shown, and how many they are.
    sum: Interval,
    held: u64,
}

const OF_MACHINE: [(&str, &str); 7] = [
    ("warp IPC", "warp instructions per cycle"),
    ("thread IPC", "thread instructions per cycle"),
    ("L1D hits", "%"),
    ("L2 hits", "%"),
    ("DRAM bandwidth", "GB/s"),
    ("resident blocks", "blocks"),
    ("resident warps", "warps"),
];

const OF_PARTITION: [(&str, &str); 4] =
    [("L2 accesses", "sectors per cycle"), ("L2 hits", "%"), ("DRAM bandwidth", "GB/s"), ("DRAM queue", "requests")];

impl CounterTracks {
    /// Tracks for a machine, which are shown from `rank` on.
    pub(super) fn new(file: &mut TraceFile, config: &MachineConfig, rank: i32, limit: u64) -> Self {
        let mut tracks = |name: &str, rank, list: &[(&str, &str)]| -> Vec<Track> {
            let under = file.track(name, None, rank);
            (0..).zip(list).map(|(n, (name, unit))| file.counter_track(name, under, n, unit)).collect()
        };
        let machine = tracks("all SMs and memory", rank, &OF_MACHINE);
        let partition = |n: u32| tracks(&format!("memory partition {n}"), rank + 1 + n as i32, &OF_PARTITION);
        Self {
            machine,
            partitions: (0..config.dram.channels).map(partition).collect(),
            gigahertz: f64::from(config.clock.core) / 1000.0,
            left: limit / SHARE,
            used: 0,
            stride: 1,
            sum: Interval::default(),
            held: 0,
        }
    }

    /// An interval is over.
    pub(super) fn push(&mut self, file: &mut TraceFile, interval: &Interval) {
        if self.held == 0 {
            self.sum = Interval { start: interval.start, ..Interval::default() };
        }
        self.sum.append(interval);
        self.held += 1;
        if self.held >= self.stride {
            self.show(file);
        }
    }

    /// A launch has ended: numbers are zero from then on.
    pub(super) fn end(&mut self, file: &mut TraceFile, at: Cycle) {
        self.show(file);
        self.write(file, at, &Interval::default());
    }

    fn show(&mut self, file: &mut TraceFile) {
        if std::mem::take(&mut self.held) > 0 {
            let sum = std::mem::take(&mut self.sum);
            self.write(file, sum.start, &sum);
        }
    }

    /// Writes numbers while there is room. They come four times more seldom whenever half of it is used, so that there is some
    /// for runs of any length.
    fn write(&mut self, file: &mut TraceFile, at: Cycle, interval: &Interval) {
        if !file.cycles().contains(&at) {
            return;
        }
        let before = file.bytes();
        let values = self.of_machine(interval);
        self.machine.iter().zip(values).for_each(|(track, value)| file.count(*track, at, value));
        let none = Partition::default();
        for (number, tracks) in self.partitions.iter().enumerate() {
            let own = interval.partitions.get(number).unwrap_or(&none);
            let values = self.of_partition(own, interval.cycles);
            tracks.iter().zip(values).for_each(|(track, value)| file.count(*track, at, value));
        }
        self.used += file.bytes() - before;
        if self.used > self.left / 2 {
            self.left = self.left.saturating_sub(self.used);
            (self.used, self.stride) = (0, self.stride.saturating_mul(4));
        }
    }

    fn of_machine(&self, interval: &Interval) -> [f64; 7] {
        let memory = interval.memory();
        [
            ratio(interval.warp_insts, interval.cycles),
            ratio(interval.thread_insts, interval.cycles),
            100.0 * ratio(interval.l1d_hits, interval.l1d_accesses),
            100.0 * ratio(memory.l2_hits, memory.l2_accesses),
            self.gigahertz * ratio(memory.dram_bytes(), interval.cycles),
            interval.blocks as f64,
            interval.warps as f64,
        ]
    }

    fn of_partition(&self, own: &Partition, cycles: Cycle) -> [f64; 4] {
        [
            ratio(own.l2_accesses, cycles),
            100.0 * ratio(own.l2_hits, own.l2_accesses),
            self.gigahertz * ratio(own.dram_bytes(), cycles),
            ratio(own.dram_queue, own.dram_busy),
        ]
    }
}
