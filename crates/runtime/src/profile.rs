//! The profile of a run by source lines: what was charged to operations, put together for each line they were compiled from.

use crate::outcome::Launched;
use crate::timing::{PcCount, Timed};
use raddle_sim::profile::{LaunchProfile, PcCounters};
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

/// All launches of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelProfile {
    /// The kernel.
    pub kernel: String,
    /// Launches with a profile.
    pub launches: u64,
    /// Their cycles.
    pub cycles: u64,
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
    let mut all: Vec<Sum> = Vec::new();
    for launched in launches {
        let Some((timed, profile)) = launched.timed.as_ref().and_then(|t| Some((t, t.result.profile.as_ref()?))) else {
            continue;
        };
        let found = all.iter().position(|sum| sum.kernel == launched.kernel);
        let at = found.unwrap_or_else(|| {
            all.push(Sum { kernel: launched.kernel.clone(), ..Sum::default() });
            all.len() - 1
        });
        all[at].add(timed, profile);
    }
    all.into_iter().map(Sum::finish).collect()
}

/// The launches of a kernel so far.
#[derive(Default)]
struct Sum {
    kernel: String,
    launches: u64,
    cycles: u64,
    profile: LaunchProfile,
    places: BTreeMap<u32, PcCount>,
}

impl Sum {
    fn add(&mut self, timed: &Timed, profile: &LaunchProfile) {
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
        let Self { kernel, launches, cycles, profile, .. } = self;
        let LaunchProfile { no_warp, other, .. } = profile;
        KernelProfile { kernel, launches, cycles, slots, no_warp, other, lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_causes_counts() {
        let mut counters = PcCounters { stall_fetch: 3, stall_barrier: 3, stall_data_alu: 1, ..PcCounters::default() };
        assert_eq!(main_cause(&counters), Some((Cause::Fetch, 3)));
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
