//! Part of a launch without time: blocks that are executed at once when their turn comes.
//!
//! While they are, the rest of the GPU stands still, with its blocks, its queues and what its SMs hold. They change
//! memory, and the L2 as if their requests had come one after another; nothing else is moved or counted. Then the next
//! blocks are given to the SMs as if nothing had been: the machine stays full.

use super::run::Run;
use super::{Gpu, GpuError};
use crate::config::MachineConfig;
use crate::kernel::{MemKind, TimedKernel};
use crate::mem::address::AddressMap;
use crate::mem::l2::Warm;
use crate::mem::partition::Partition;
use crate::mem::system::Berth;
use crate::packet::Cycle;
use crate::result::Ending;
use crate::sm::build::Build;
use crate::sm::memory::coalesce::{Access, Rules, coalesce};
use raddle_exec::core::lanes_in;
use raddle_exec::fault::Fault;
use raddle_exec::memory::{DeviceMemory, Region, region};
use raddle_exec::op::MemSpace;
use raddle_exec::{Launch, Program, Report, RunOptions as ExecOptions, Stretches, Touch};
use std::ops::Range;
use std::sync::{MutexGuard, PoisonError};

/// How far the part with time had come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Cycles since the launch began.
    pub cycles: Cycle,
    /// Warp-instructions issued.
    pub warp_insts: u64,
    /// Thread-instructions issued.
    pub thread_insts: u64,
}

/// Blocks that were executed at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Their numbers.
    pub blocks: Range<u64>,
    /// Warp-instructions they executed.
    pub warp_insts: u64,
    /// Thread-instructions they executed.
    pub thread_insts: u64,
    /// When their turn came.
    pub before: Mark,
    /// When the last of them had ended: later only if they waited for blocks with time.
    pub after: Mark,
}

/// What was left out of the time of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// In the order of their blocks.
    pub gaps: Vec<Gap>,
    /// When the last block of the grid started.
    pub last_start: Mark,
    /// Of the blocks between two gaps, when the last one ended: those before the first gap first.
    pub ends: Vec<Cycle>,
    /// Blocks waited for others across a gap, so nothing was left out after it.
    pub has_waited: bool,
}

impl Skipped {
    /// Blocks that were executed without time.
    #[must_use]
    pub fn ctas(&self) -> u64 {
        self.gaps.iter().map(|gap| gap.blocks.end - gap.blocks.start).sum()
    }

    /// Warp-instructions and thread-instructions of these blocks.
    #[must_use]
    pub fn insts(&self) -> [u64; 2] {
        self.gaps.iter().fold([0; 2], |[warp, thread], gap| [warp + gap.warp_insts, thread + gap.thread_insts])
    }
}

/// Warp-instructions after which blocks that do not end may be waiting for others.
const PATIENCE: u64 = 50_000_000;
/// Cycles the others get then.
const OTHERS: Cycle = 10_000;

/// The gaps of a launch under way.
pub(super) struct Gaps<'k> {
    /// Of which the first comes last.
    left: Vec<Range<u64>>,
    /// When the next block has this number there is something to do.
    due: u64,
    engine: Option<Stretches<'k>>,
    kernel: &'k TimedKernel<'k>,
    launch: &'k Launch,
    /// The gap whose blocks wait for others: what has not been started, and when to continue with it.
    waiting: Option<(Range<u64>, Cycle)>,
    done: Skipped,
    /// Blocks of gaps that have all been executed.
    ctas: u64,
}

impl<'k> Gaps<'k> {
    /// Gaps in ascending order; see [`super::RunOptions::gaps`].
    pub(super) fn new(gaps: &[Range<u64>], kernel: &'k TimedKernel<'k>, launch: &'k Launch) -> Self {
        let left: Vec<Range<u64>> = gaps.iter().rev().cloned().collect();
        debug_assert!(gaps.iter().all(|gap| gap.start <= gap.end && gap.end <= launch.ctas()), "{gaps:?}");
        let due = left.last().map_or(u64::MAX, |gap| gap.start);
        Self { left, due, engine: None, kernel, launch, waiting: None, done: Skipped::default(), ctas: 0 }
    }

    /// The block before which dispatching stops.
    pub(super) fn limit(&self, total: u64) -> u64 {
        self.due.min(total)
    }

    /// A block ended, this long after the start of the launch.
    pub(super) fn ended(&mut self, cta: u64, at: Cycle) {
        if self.done.gaps.is_empty() && self.left.is_empty() {
            return;
        }
        let part = self.done.gaps.partition_point(|gap| gap.blocks.start <= cta);
        self.done.ends.resize(self.done.ends.len().max(part + 1), 0);
        self.done.ends[part] = self.done.ends[part].max(at + 1);
    }

    /// Blocks and thread-instructions that had no time so far.
    pub(super) fn skipped(&self) -> (u64, u64) {
        (self.ctas, self.done.insts()[1])
    }

    /// What was left out, if anything.
    pub(super) fn finish(self) -> Option<Skipped> {
        (!self.done.gaps.is_empty()).then_some(self.done)
    }

    /// The gap that is due has been executed as far as `report` says.
    fn count(&mut self, report: &Report) {
        if let Some(gap) = self.done.gaps.last_mut() {
            gap.warp_insts += report.warp_insts;
            gap.thread_insts += report.thread_insts;
        }
    }
}

impl<B: Build> Run<'_, '_, '_, '_, B> {
    /// Executes the blocks of a gap when their turn has come.
    pub(super) fn fill_gap(&mut self, now: Cycle) -> Option<Ending> {
        if self.next < self.gaps.due || self.gaps.waiting.as_ref().is_some_and(|(_, at)| now < *at) {
            return None;
        }
        let mark = self.mark(now);
        if self.next >= self.total {
            (self.gaps.done.last_start, self.gaps.due) = (mark, u64::MAX);
            return None;
        }
        let mut blocks = match self.gaps.waiting.take() {
            Some((blocks, _)) => blocks,
            None => {
                let blocks = self.gaps.left.pop()?;
                self.gaps.done.gaps.push(Gap { blocks: blocks.clone(), before: mark, ..Gap::default() });
                blocks
            }
        };
        let is_done = match self.execute(&mut blocks, now) {
            Ok(is_done) => is_done,
            Err(fault) => return Some(Ending::Fault(now - self.start, fault)),
        };
        if !is_done {
            // Blocks that wait for each other need time together: this is the last that goes without.
            self.gaps.left.clear();
            self.gaps.done.has_waited = true;
            self.gaps.waiting = Some((blocks, now + OTHERS));
            return None;
        }
        let gap = self.gaps.done.gaps.last_mut()?;
        gap.after = mark;
        self.next = gap.blocks.end;
        self.gaps.ctas += gap.blocks.end - gap.blocks.start;
        self.done += gap.blocks.end - gap.blocks.start;
        self.gaps.due = self.gaps.left.last().map_or(self.total, |gap| gap.start);
        None
    }

    fn mark(&self, now: Cycle) -> Mark {
        let mut mark = Mark { cycles: now - self.start, ..Mark::default() };
        for sm in self.sms {
            let mail = sm.mail();
            mark.warp_insts += mail.warp_insts;
            mark.thread_insts += mail.thread_insts;
        }
        mark
    }

    /// Executes blocks at once; false when they may be waiting for others.
    fn execute(&mut self, blocks: &mut Range<u64>, now: Cycle) -> Result<bool, Box<Fault>> {
        let Gaps { engine, kernel, launch, .. } = &mut self.gaps;
        let engine = match engine {
            Some(engine) => engine,
            none => match stretches(self.gpu.config, kernel.program, launch) {
                Ok(made) => none.insert(made),
                // The SMs have been made for the same launch.
                Err(error) => unreachable!("{error}"),
            },
        };
        let partitions = self.gpu.memory.partitions();
        let mut warmer = Warmer::new(self.gpu.config, self.gpu.memory.map(), &partitions, kernel, now);
        let mut memory = self.memory.write().unwrap_or_else(PoisonError::into_inner);
        let is_done = engine.run(blocks, &mut memory, PATIENCE, Some(&mut warmer));
        let report = engine.take_report(&memory);
        self.gaps.count(&report);
        if !report.output.is_empty() {
            self.printed_bytes += report.output.len();
            self.printed.push((now, 0, report.output));
        }
        is_done
    }
}

impl Gpu<'_> {
    /// Executes a launch without time. It leaves memory as the launch does, and its lines in the L2.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn execute(
        &mut self,
        program: &Program,
        launch: &Launch,
        memory: &mut DeviceMemory,
    ) -> Result<Result<Report, Box<Fault>>, GpuError> {
        let kernel = TimedKernel::new(program, self.config);
        let mut engine = stretches(self.config, program, launch)?;
        let partitions = self.memory.partitions();
        let mut warmer = Warmer::new(self.config, self.memory.map(), &partitions, &kernel, self.now);
        let done = engine.run(&mut (0..launch.ctas()), memory, u64::MAX, Some(&mut warmer));
        let report = engine.take_report(memory);
        Ok(match done {
            Ok(_) => Ok(report),
            Err(fault) => Err(Box::new(Fault { output: report.output, ..*fault })),
        })
    }
}

fn stretches<'p>(config: &MachineConfig, program: &'p Program, launch: &'p Launch) -> Result<Stretches<'p>, GpuError> {
    let options = ExecOptions { warp_width: config.sm.warp_width, ..ExecOptions::default() };
    Stretches::new(program, launch, options).map_err(|error| GpuError::Launch(error.to_string()))
}

/// Brings the lines that blocks without time access to the L2.
struct Warmer<'w> {
    config: &'w MachineConfig,
    map: &'w AddressMap,
    partitions: Vec<MutexGuard<'w, Partition>>,
    kernel: &'w TimedKernel<'w>,
    now: Cycle,
    /// Kept for its memory.
    accesses: Vec<Access>,
}

impl<'w> Warmer<'w> {
    fn new(
        config: &'w MachineConfig,
        map: &'w AddressMap,
        partitions: &'w [Berth],
        kernel: &'w TimedKernel<'w>,
        now: Cycle,
    ) -> Self {
        let partitions = partitions.iter().map(Berth::lock).collect();
        Self { config, map, partitions, kernel, now, accesses: Vec::new() }
    }

    fn request(&mut self, address: u64, bytes: u32, what: Warm) {
        let slice = self.map.slice(address);
        let each = self.config.l2.slices;
        self.partitions[(slice / each) as usize].warm(slice % each, self.now, address, bytes, what);
    }
}

impl Touch for Warmer<'_> {
    fn touch(&mut self, pc: u32, addresses: &[u64; 32], mask: u32) {
        let (op, config) = (&self.kernel.ops[pc as usize], self.config);
        let lanes = match op.space {
            MemSpace::Generic if op.mem != MemKind::Texture => {
                let is_outside =
                    |lane: &usize| !matches!(region(addresses[*lane]), Region::Shared(_) | Region::Local(_));
                lanes_in(mask).filter(is_outside).fold(0, |lanes, lane| lanes | 1 << lane)
            }
            _ => mask,
        };
        // A cache between lanes and L2 asks for whole lines; writes go through as they are.
        let line = match op.mem {
            MemKind::Texture => Some(config.sm.l1t.line),
            MemKind::Load if !op.bypass_l1 && config.sm.l1d.sets > 0 => Some(config.sm.l1d.line.min(config.l2.line)),
            _ => None,
        };
        let rules = Rules {
            coalescing: config.sm.coalescing,
            lane_bytes: if op.mem == MemKind::Texture { 4 } else { u32::from(op.bytes) * u32::from(op.count) },
            segment: line.unwrap_or(if op.bypass_l1 { config.l2.sector } else { config.l2.line }),
            sector: config.l2.sector,
            exclusive: false,
            is_write: op.mem == MemKind::Store,
        };
        let mut accesses = std::mem::take(&mut self.accesses);
        accesses.clear();
        coalesce(rules, addresses, lanes, &mut accesses);
        for access in &accesses {
            let (address, bytes) = match line {
                Some(line) => (access.address & !u64::from(line - 1), line),
                None => (access.address, access.bytes),
            };
            let what = match op.mem {
                MemKind::Store => Warm::Write(access.byte_mask),
                MemKind::Atomic => Warm::Update,
                _ => Warm::Read,
            };
            self.request(address, bytes, what);
        }
        self.accesses = accesses;
    }
}
