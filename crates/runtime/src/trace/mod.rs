//! Traces: what a run does over time, in Perfetto's format, and statistics of intervals.
//!
//! ```text
//!  simulator ──events──► tracks of SMs, schedulers, blocks, warps ──┐
//!      │                                                           ├──► the file, packet by packet
//!      └──samples──► intervals ──► tracks of numbers ───────────────┘
//!                        └──► a table in Parquet
//! ```
//! A cycle of the core clock is written as a nanosecond. Nothing is kept but what has not ended yet.

mod counters;
mod file;
mod interval;
mod ops;
pub mod packet;
mod shared;
mod sm;
mod table;

pub use interval::{Interval, Partition};
pub use shared::SharedTracer;

use crate::error::{Error, Problem};
use crate::timing::{LaunchObserver, Starting};
use counters::CounterTracks;
use file::{Note, TraceFile, Track, What};
use interval::Differences;
use ops::Ops;
use raddle_sim::config::MachineConfig;
use raddle_sim::event::Event;
use raddle_sim::gpu::{Observer, Sample};
use raddle_sim::packet::Cycle;
use raddle_sim::residency::Residency;
use raddle_sim::result::{Ending, LaunchResult};
use sm::SmTracks;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;
use table::IntervalTable;

/// What is to be written.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// The file of the trace, if there is to be one.
    pub trace: Option<PathBuf>,
    /// SMs of which schedulers, blocks and warps are shown.
    pub sms: BTreeSet<u16>,
    /// The cycles that are shown, counted from the start of the first launch.
    pub cycles: Range<Cycle>,
    /// The most bytes of the file.
    pub limit: u64,
    /// Cycles of an interval.
    pub interval: Cycle,
    /// The file of a table of intervals, if there is to be one.
    pub intervals: Option<PathBuf>,
    /// Turns the symbol of a kernel into what people read.
    pub readable: fn(&str) -> String,
}

/// A trace that is being written. It listens to launches.
pub struct Tracer {
    timeline: Option<Timeline>,
    table: Option<IntervalTable>,
    differences: Differences,
    interval: Cycle,
    readable: fn(&str) -> String,
    /// Launches so far.
    launches: u64,
    launch: Option<Running>,
    /// The end of the last launch.
    now: Cycle,
}

/// The launch that runs.
struct Running {
    number: u64,
    kernel: String,
    start: Cycle,
    grid: [u32; 3],
    block: [u32; 3],
}

/// The file and its tracks.
struct Timeline {
    file: TraceFile,
    limit: u64,
    launches: Track,
    /// There when something was copied.
    copies: Option<Track>,
    counters: CounterTracks,
    sms: BTreeMap<u16, SmTracks>,
    ops: Ops,
    /// The launch that runs is listened to.
    is_listening: bool,
    /// Schedulers, blocks and warps are no longer shown: the file would be too large.
    has_ended: bool,
}

/// Where tracks are shown: launches and copies first, then numbers, then SMs.
const RANKS: [i32; 4] = [0, 1, 10, 1000];

impl Timeline {
    fn new(options: &TraceOptions, path: &std::path::Path, machine: &MachineConfig) -> Result<Self, Error> {
        let mut file = TraceFile::create(path, options.limit, options.cycles.clone())?;
        let launches = file.track("launches", None, RANKS[0]);
        let counters = CounterTracks::new(&mut file, machine, RANKS[2], options.limit);
        let schedulers = machine.sm.schedulers();
        let sms = options.sms.iter().map(|sm| {
            let tracks = SmTracks::new(&mut file, *sm, RANKS[3] + i32::from(*sm), schedulers);
            (*sm, tracks)
        });
        let sms = sms.collect();
        let ops = Ops::default();
        let (copies, is_listening, has_ended) = (None, false, false);
        Ok(Self { file, limit: options.limit, launches, copies, counters, sms, ops, is_listening, has_ended })
    }

    fn start(&mut self, launch: &Starting<'_>) {
        self.is_listening = !self.sms.is_empty() && !self.has_ended && launch.at < self.file.cycles().end;
        if self.is_listening {
            self.ops.start(launch);
            self.sms.values_mut().for_each(|sm| sm.start(launch.at));
        }
    }

    fn event(&mut self, event: &Event) {
        if self.has_ended {
            return;
        }
        if let Some(sm) = self.sms.get_mut(&event.sm) {
            sm.event(&mut self.file, &self.ops, event);
        }
        // Numbers, launches and copies need the rest.
        if self.file.bytes() > self.limit / 4 * 3 {
            self.has_ended = true;
            let what = What { kind: "limit", name: "the trace's limit: SMs are shown up to here", notes: &[] };
            self.file.instant(self.launches, event.at, what);
        }
    }

    fn end(&mut self, launch: &Running, result: &LaunchResult) {
        let end = launch.start + result.cycles;
        let has_fault = matches!(result.ending, Ending::Fault(..));
        for sm in self.sms.values_mut().filter(|_| self.is_listening && !self.has_ended) {
            sm.end(&mut self.file, &self.ops, end, has_fault);
        }
        self.counters.end(&mut self.file, end);
        let total = result.total().sm;
        let shape = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
        let (grid, block) = (shape(launch.grid), shape(launch.block));
        let notes = [
            ("launch", Note::Number(launch.number)),
            ("grid", Note::Text(&grid)),
            ("block", Note::Text(&block)),
            ("warp_insts", Note::Number(total.warp_insts)),
            ("thread_insts", Note::Number(total.thread_insts)),
        ];
        let what = What { kind: "launches", name: &launch.kernel, notes: &notes };
        self.file.slice(self.launches, launch.start..end, what);
    }
}

/// What became of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Bytes of the trace.
    pub bytes: u64,
    /// Something was left out because of the limit.
    pub is_cut: bool,
}

impl Tracer {
    /// Begins with the files, for runs on a machine.
    ///
    /// # Errors
    /// When they cannot be written, or the machine has no such SM.
    pub fn new(options: &TraceOptions, machine: &MachineConfig) -> Result<Self, Error> {
        if let Some(sm) = options.sms.iter().find(|sm| u32::from(**sm) >= machine.gpu.sms) {
            let message = format!("there is no SM {sm} to trace: the machine has {}", machine.gpu.sms);
            return Err(Problem::new(message).help("they count from 0").into());
        }
        let timeline = options.trace.as_deref().map(|path| Timeline::new(options, path, machine)).transpose()?;
        Ok(Self {
            timeline,
            table: options.intervals.as_deref().map(IntervalTable::create).transpose()?,
            differences: Differences::new(machine),
            interval: options.interval,
            readable: options.readable,
            launches: 0,
            launch: None,
            now: 0,
        })
    }

    /// Host code has copied bytes, which takes no time.
    pub fn copied(&mut self, direction: &str, bytes: u64) {
        if let Some(Timeline { file, copies, .. }) = &mut self.timeline {
            let track = *copies.get_or_insert_with(|| file.track("copies", None, RANKS[1]));
            let notes = [("bytes", Note::Number(bytes))];
            file.instant(track, self.now, What { kind: "copies", name: direction, notes: &notes });
        }
    }

    /// Writes what is left; what there is of a trace.
    ///
    /// # Errors
    /// When something could not be written, now or before.
    pub fn finish(&mut self) -> Result<Option<Written>, Error> {
        self.table.as_mut().map_or(Ok(()), IntervalTable::finish)?;
        let Some(Timeline { file, has_ended, .. }) = &mut self.timeline else { return Ok(None) };
        file.finish()?;
        Ok(Some(Written { bytes: file.bytes(), is_cut: *has_ended || file.is_full() }))
    }
}

impl Observer for Tracer {
    fn event(&mut self, event: &Event) {
        self.timeline.iter_mut().for_each(|timeline| timeline.event(event));
    }

    fn wants_states(&self) -> bool {
        true
    }

    fn hears(&self, sm: u16) -> bool {
        self.timeline.as_ref().is_some_and(|timeline| timeline.is_listening && timeline.sms.contains_key(&sm))
    }

    fn interval(&self) -> Option<Cycle> {
        Some(self.interval)
    }

    fn sample(&mut self, sample: &Sample) {
        let interval = self.differences.next(sample);
        self.table.iter_mut().for_each(|table| table.push(&interval));
        if let Some(Timeline { file, counters, .. }) = &mut self.timeline {
            counters.push(file, &interval);
        }
    }
}

impl LaunchObserver for Tracer {
    fn launch(&mut self, _: usize, _: &Residency) {}

    fn starts(&mut self, launch: &Starting<'_>) {
        let (number, kernel, start) = (self.launches, (self.readable)(launch.kernel), launch.at);
        self.launches += 1;
        self.differences.start(number, start);
        self.launch = Some(Running { number, kernel, start, grid: launch.launch.grid, block: launch.launch.block });
        self.timeline.iter_mut().for_each(|timeline| timeline.start(launch));
    }

    fn ends(&mut self, result: &LaunchResult) {
        let Some(launch) = self.launch.take() else { return };
        self.now = launch.start + result.cycles;
        self.timeline.iter_mut().for_each(|timeline| timeline.end(&launch, result));
    }
}

#[cfg(test)]
mod tests;
