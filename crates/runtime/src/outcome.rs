//! What a run did.

use crate::compare::Comparison;
use crate::sample::LaunchSample;
use crate::timing::Timed;
use raddle_exec::{DeviceMemory, Fault, FaultKind, OutsideRead, Program, Report};
use raddle_sim::gpu::gaps::Skipped;
use raddle_sim::sm::BlockedWarp;
use std::collections::BTreeMap;
use std::time::Duration;

/// Why a launch did not complete.
#[derive(Clone, Debug)]
pub enum Stop {
    /// A thread did something it must not. Executors without time put their deadlocks and limits here too.
    Fault(Box<Fault>),
    /// Nothing can go on; the warps that wait.
    Deadlock(Box<Stuck>),
    /// The limit of instructions was reached; where warps were.
    InstructionLimit(Box<Stuck>),
    /// The limit of cycles was reached.
    CycleLimit,
}

/// Warps that had not ended, and the places they were at.
#[derive(Clone, Debug, Default)]
pub struct Stuck {
    /// The warps.
    pub warps: Vec<BlockedWarp>,
    /// Every operation one of them or of their parts is at: function, PTX line and source line.
    pub places: BTreeMap<u32, String>,
}

impl Stuck {
    /// Finds the places of the warps' parts in `program`, whose text is `source`.
    #[must_use]
    pub fn new(warps: &[BlockedWarp], program: &Program, source: &str) -> Self {
        let pcs = warps.iter().flat_map(|w| w.stack.iter().map(|part| part.pc).chain([w.pc]));
        let places = pcs.map(|pc| (pc, program.place(pc, Some(source)))).collect();
        Self { warps: warps.to_vec(), places }
    }

    /// Where an operation is.
    #[must_use]
    pub fn place(&self, pc: u32) -> &str {
        self.places.get(&pc).map_or("", String::as_str)
    }
}

impl Stop {
    /// Its name in outputs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fault(fault) => match fault.kind {
                FaultKind::Deadlock(_) => "deadlock",
                FaultKind::InstructionLimit(_) => "instruction limit",
                FaultKind::Interrupted => "interrupted",
                _ => "fault",
            },
            Self::Deadlock(_) => "deadlock",
            Self::InstructionLimit(_) => "instruction limit",
            Self::CycleLimit => "cycle limit",
        }
    }
}

/// A launch that was made.
#[derive(Clone, Debug)]
pub struct Launched {
    /// Kernel.
    pub kernel: String,
    /// Thread blocks.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub shared: u32,
    /// Counts and printed text; of a launch that faulted without a notion of time, only the text.
    pub report: Report,
    /// Why it did not complete.
    pub stop: Option<Stop>,
    /// Places that read outside of memory, if that does not stop a launch.
    pub outside_reads: Vec<OutsideRead>,
    /// What the timing model measured, if it ran there; of a launch of which a part was simulated, of that part.
    pub timed: Option<Box<Timed>>,
    /// How it was made in a sampled run.
    pub sample: Option<LaunchSample>,
    /// Time on this machine.
    pub wall: Duration,
}

/// An expectation that was checked.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Index of the buffer.
    pub buffer: usize,
    /// What came out of the comparison.
    pub comparison: Comparison,
}

/// All of memory against what the reference interpreter makes of the same launches.
#[derive(Clone, Debug, Default)]
pub struct MemoryCheck {
    /// Bytes compared.
    pub bytes: u64,
    /// Bytes that differ.
    pub wrong: u64,
    /// The first that differs.
    pub first: Option<MemoryDifference>,
    /// The reference interpreter's fault, if it did not come to an end.
    pub stopped: Option<Box<Fault>>,
}

/// Where memory differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDifference {
    /// Name of the allocation.
    pub name: String,
    /// Byte in it.
    pub offset: usize,
    /// What is there.
    pub got: u8,
    /// What the reference interpreter has there.
    pub want: u8,
}

impl MemoryCheck {
    /// The reference interpreter faulted where the executor did not.
    #[must_use]
    pub fn stopped(fault: Box<Fault>) -> Self {
        Self { stopped: Some(fault), ..Self::default() }
    }

    /// Compares two memories with the same allocations.
    #[must_use]
    pub fn of(got: &DeviceMemory, want: &DeviceMemory) -> Self {
        let mut check = Self::default();
        for (index, allocation) in got.allocations().iter().enumerate() {
            let (got, want) = (got.bytes(index), want.bytes(index));
            check.bytes += got.len() as u64;
            for (offset, (&got, &want)) in got.iter().zip(want).enumerate().filter(|(_, (a, b))| a != b) {
                check.wrong += 1;
                let name = allocation.name.clone();
                check.first.get_or_insert(MemoryDifference { name, offset, got, want });
            }
        }
        check
    }

    /// Whether everything is equal.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.wrong == 0 && self.stopped.is_none()
    }
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Launches in order; only the last can have stopped.
    pub launches: Vec<Launched>,
    /// Checks in order; none after a launch that stopped.
    pub checks: Vec<Checked>,
    /// Files written: index of the buffer and path.
    pub written: Vec<(usize, String)>,
    /// The comparison with the reference interpreter, if it was asked for.
    pub memory: Option<MemoryCheck>,
}

impl Outcome {
    /// Why the last launch did not complete.
    #[must_use]
    pub fn stop(&self) -> Option<&Stop> {
        self.launches.last().and_then(|l| l.stop.as_ref())
    }

    /// Whether nothing went wrong.
    #[must_use]
    pub fn is_good(&self) -> bool {
        let is_equal = self.memory.as_ref().is_none_or(MemoryCheck::is_equal);
        self.stop().is_none() && is_equal && self.checks.iter().all(|c| c.comparison.wrong == 0)
    }
}

impl Timed {
    /// Counts and printed text, as the other executors report them.
    pub(crate) fn report(&self) -> Report {
        let total = self.result.total().sm;
        let [warp_insts, thread_insts] = self.result.skipped.as_ref().map_or([0; 2], Skipped::insts);
        let output = self.result.output.clone();
        let (thread_insts, warp_insts) = (total.thread_insts + thread_insts, total.warp_insts + warp_insts);
        let findings = self.result.findings.clone();
        Report { thread_insts, warp_insts, output, findings, ..Report::default() }
    }
}

/// The result of an executor without time.
pub(crate) fn timeless(result: Result<Report, Fault>) -> (Report, Option<Stop>) {
    match result {
        Ok(report) => (report, None),
        Err(fault) => {
            let report = Report { output: fault.output.clone(), ..Report::default() };
            (report, Some(Stop::Fault(Box::new(fault))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        let mut want = DeviceMemory::new();
        want.alloc("a", 4).unwrap();
        want.alloc("b", 4).unwrap();
        let mut got = want.clone();
        assert!(MemoryCheck::of(&got, &want).is_equal());
        got.bytes_mut(1)[2] = 7;
        got.bytes_mut(1)[3] = 8;
        let check = MemoryCheck::of(&got, &want);
        assert_eq!((check.bytes, check.wrong), (8, 2));
        assert_eq!(check.first, Some(MemoryDifference { name: "b".to_owned(), offset: 2, got: 7, want: 0 }));
    }
}
