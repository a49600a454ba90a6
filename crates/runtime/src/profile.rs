//! The profile of a run by source lines: what was charged to operations, put together for each line they were compiled from.

use crate::outcome::Launched;
use crate::timing::{PcCount, Timed};
use raddle_sim::config::MachineConfig;
use raddle_sim::fill::Fill;
use raddle_sim::profile::{LaunchProfile, PcCounters};
use raddle_sim::residency::Residency;
use raddle_sim::seam::Cause;
use raddle_sim::stats::Counters;
use std::collections::BTreeMap;

/// A line of a file: a source file, or, without a name, the PTX.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// The source file; none where the PTX does not say what it was compiled from.
    pub file: Option<String>,
    /// Its line, or that of the PTX.
    pub line: u32,
    /// File and line of the call, where the function was inlined.
    pub inlined_at: Option<(String, u32)>,
}

impl Line {
    /// The line an operation was compiled from.
    #[must_use]
    pub fn of(count: &PcCount) -> Self {
        match &count.source {
            // Line 0 says that the compiler knew none.
            Some((file, line)) if *line > 0 => {
                Self { file: Some(file.clone()), line: *line, inlined_at: count.inlined_at.clone() }
            }
            _ => Self { file: None, line: count.ptx_line, inlined_at: None },
        }
    }
}

/// An operation of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstProfile {
    /// Number of the operation in the program.
    pub pc: u32,
    /// Function it is in.
    pub function: String,
    /// Line of the PTX file.
    pub ptx_line: u32,
    /// What is charged to it.
    pub counters: PcCounters,
}

/// A line with all that was compiled from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProfile {
    /// The line.
    pub line: Line,
    /// What is charged to all its operations.
    pub counters: PcCounters,
    /// Its operations, in the order of the program.
    pub insts: Vec<InstProfile>,
}

/// A launch beside the room there was for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// Thread blocks.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks an SM held at once, and what limited them.
    pub residency: Residency,
    /// Its cycles.
    pub cycles: u64,
}

impl LaunchShape {
    fn new(launched: &Launched, timed: &Timed) -> Self {
        let product = |n: &[u32; 3]| n.iter().map(|n| u64::from(*n)).product();
        let threads = u32::try_from(product(&launched.block)).unwrap_or(u32::MAX);
        let residency = timed.residency.clone();
        Self { blocks: product(&launched.grid), threads, residency, cycles: timed.result.cycles }
    }

    /// Its blocks and the places for them.
    #[must_use]
    pub fn fill(&self, machine: &MachineConfig) -> Fill {
        Fill::new(self.blocks, &self.residency, machine.gpu.sms)
    }
}

/// All launches of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelProfile {
    /// The kernel.
    pub kernel: String,
    /// Launches with a profile.
    pub launches: u64,
    /// Their cycles.
    pub cycles: u64,
    /// The one that took the most cycles, the first of several.
    pub longest: LaunchShape,
    /// All scheduler slots.
    pub slots: u64,
    /// Slots without any warp.
    pub no_warp: u64,
    /// What no operation caused: instruction fetches, and what earlier launches left behind.
    pub other: PcCounters,
    /// Its lines, the one with the most slots first.
    pub lines: Vec<LineProfile>,
}

impl KernelProfile {
    /// What is charged to all its operations, and to none.
    #[must_use]
    pub fn total(&self) -> PcCounters {
        let mut sum = self.other.clone();
        self.lines.iter().for_each(|line| sum.add(&line.counters));
        sum
    }
}

/// The cause that took the most empty slots, and how many.
#[must_use]
pub fn main_cause(counters: &PcCounters) -> Option<(Cause, u64)> {
    counters.stalls().into_iter().rev().max_by_key(|(_, slots)| *slots)
}

/// The kernels of a run in the order of their first launches; those without a profile are left out.
#[must_use]
pub fn kernels(launches: &[Launched]) -> Vec<KernelProfile> {
    let mut all = Profiler::default();
    for launched in launches {
        all.add(launched);
    }
    all.finish()
}

/// Sums up launches as they are made.
#[derive(Default)]
pub struct Profiler {
    all: Vec<Sum>,
}

impl Profiler {
    /// Adds a launch; whether it is the first one of its kernel with a profile.
    pub fn add(&mut self, launched: &Launched) -> bool {
        let Some((timed, profile)) = launched.timed.as_ref().and_then(|t| Some((t, t.result.profile.as_ref()?))) else {
            return false;
        };
        let found = self.all.iter().position(|sum| sum.kernel == launched.kernel);
        let at = found.unwrap_or_else(|| {
            self.all.push(Sum::new(launched, timed));
            self.all.len() - 1
        });
        self.all[at].add(launched, timed, profile);
        found.is_none()
    }

    /// The kernels in the order of their first launches.
    #[must_use]
    pub fn finish(self) -> Vec<KernelProfile> {
        self.all.into_iter().map(Sum::finish).collect()
    }
}

/// The launches of a kernel so far.
struct Sum {
    kernel: String,
    launches: u64,
    cycles: u64,
    longest: LaunchShape,
    profile: LaunchProfile,
    places: BTreeMap<u32, PcCount>,
}

impl Sum {
    fn new(launched: &Launched, timed: &Timed) -> Self {
        let (kernel, longest) = (launched.kernel.clone(), LaunchShape::new(launched, timed));
        let (profile, places) = (LaunchProfile::default(), BTreeMap::new());
        Self { kernel, launches: 0, cycles: 0, longest, profile, places }
    }

    fn add(&mut self, launched: &Launched, timed: &Timed, profile: &LaunchProfile) {
        if timed.result.cycles > self.longest.cycles {
            self.longest = LaunchShape::new(launched, timed);
        }
        self.launches += 1;
        self.cycles += timed.result.cycles;
        self.profile.add(profile);
        for count in &timed.pcs {
            self.places.entry(count.pc).or_insert_with(|| count.clone());
        }
    }

    fn finish(self) -> KernelProfile {
        let slots = self.profile.slots();
        let mut lines: BTreeMap<Line, LineProfile> = BTreeMap::new();
        for (pc, count) in &self.places {
            let Some(counters) = self.profile.pcs.get(*pc as usize) else { continue };
            let line = Line::of(count);
            let new = || LineProfile { line: line.clone(), counters: PcCounters::default(), insts: Vec::new() };
            let sum = lines.entry(line.clone()).or_insert_with(new);
            sum.counters.add(counters);
            let (function, ptx_line) = (count.function.clone(), count.ptx_line);
            sum.insts.push(InstProfile { pc: *pc, function, ptx_line, counters: counters.clone() });
        }
        let mut lines: Vec<LineProfile> = lines.into_values().collect();
        // Lines with as many slots stay in the order of the files.
        lines.sort_by_key(|line| std::cmp::Reverse(line.counters.slots()));
        let Self { kernel, launches, cycles, longest, profile, .. } = self;
        let LaunchProfile { no_warp, other, .. } = profile;
        KernelProfile { kernel, launches, cycles, longest, slots, no_warp, other, lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_causes_counts() {
        let mut counters = PcCounters {
            stall_not_fetched: 3,
            stall_barrier: 3,
            stall_arithmetic_dependence: 1,
            ..PcCounters::default()
        };
        assert_eq!(main_cause(&counters), Some((Cause::NotFetched, 3)));
        counters.stall_barrier = 4;
        assert_eq!(main_cause(&counters), Some((Cause::Barrier, 4)));
        assert_eq!(main_cause(&PcCounters { issued: 9, ..PcCounters::default() }), None);
    }

    #[test]
    fn lines_without_a_source_are_those_of_the_ptx() {
        let count = |source: Option<(&str, u32)>| PcCount {
            pc: 0,
            function: String::new(),
            ptx_line: 7,
            source: source.map(|(file, line)| (file.to_owned(), line)),
            inlined_at: Some(("b.cu".to_owned(), 3)),
            warp_insts: 1,
            thread_insts: 1,
        };
        let line = Line::of(&count(Some(("a.cu", 5))));
        assert_eq!((line.file.as_deref(), line.line), (Some("a.cu"), 5));
        assert_eq!(line.inlined_at, Some(("b.cu".to_owned(), 3)));
        for source in [None, Some(("a.cu", 0))] {
            assert_eq!(Line::of(&count(source)), Line { file: None, line: 7, inlined_at: None });
        }
    }
}
