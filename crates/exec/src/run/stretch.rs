//! A launch executed a stretch of blocks at a time, by somebody who executes the other blocks elsewhere.

use super::{Block, Ran, RunOptions, Runner};
use crate::core::{Arrival, Core, Effect, LaneFault, Lanes, Moved, lanes_in};
use crate::decode::Program;
use crate::image::LoadError;
use crate::lanes::LANES;
use crate::launch::{Launch, Report};
use crate::memory::{DeviceMemory, Global};
use crate::op::{Class, MemSpace};
use crate::sanitize::{Sanitizer, Who};
use std::ops::Range;

/// Told of what blocks read and write outside their SM.
pub trait Touch {
    /// The lanes of `mask` have accessed these addresses, by the operation at `pc`. Generic addresses may lie anywhere.
    fn touch(&mut self, pc: u32, addresses: &[u64; LANES], mask: u32);
}

/// The functional machine between two stretches of a launch's blocks.
pub struct Stretches<'p> {
    core: Core<'p>,
    program: &'p Program,
    launch: &'p Launch,
    options: RunOptions,
    report: Report,
    resident: Vec<Block>,
    finished: Vec<Block>,
    arrivals: Vec<Arrival>,
    sanitizer: Option<Sanitizer<'p>>,
}

impl<'p> Stretches<'p> {
    /// With no block yet.
    ///
    /// # Errors
    /// When the launch does not fit the kernel.
    pub fn new(program: &'p Program, launch: &'p Launch, options: RunOptions) -> Result<Self, LoadError> {
        let core = Core::new(program, launch, options.warp_width)?;
        let (report, resident, finished, arrivals) = Default::default();
        let sanitizer = launch.checks.any().then(|| Sanitizer::seeing_all(program, launch));
        Ok(Self { core, program, launch, options, report, resident, finished, arrivals, sanitizer })
    }

    /// Executes blocks, those it still has first, and takes from `blocks` what it starts. Gives up when no block has ended
    /// for `patience` warp-instructions, as they may be waiting for blocks that are not here: false; it can be called again.
    ///
    /// # Errors
    /// When a thread does something it must not.
    pub fn run<'a>(
        &'a mut self,
        blocks: &mut Range<u64>,
        memory: &'a mut DeviceMemory,
        patience: u64,
        touch: Option<&'a mut (dyn Touch + 'a)>,
    ) -> Ran<bool> {
        if let Some(sanitizer) = &mut self.sanitizer {
            sanitizer.take_over(memory);
        }
        let mut runner = Runner {
            core: &mut self.core,
            program: self.program,
            launch: self.launch,
            memory,
            options: self.options,
            report: &mut self.report,
            finished: &mut self.finished,
            arrivals: &mut self.arrivals,
            sanitizer: self.sanitizer.as_mut(),
            touch,
        };
        let done = runner.grid(&mut self.resident, blocks, patience);
        if let Some(sanitizer) = runner.sanitizer {
            sanitizer.give_back(runner.memory);
        }
        done
    }

    /// What was counted and printed since this was last asked, of launches in this memory.
    pub fn take_report(&mut self, memory: &DeviceMemory) -> Report {
        let findings = self.sanitizer.as_mut().map(|s| s.take_findings(memory)).unwrap_or_default();
        Report { output: self.core.take_output(), findings, ..std::mem::take(&mut self.report) }
    }
}

impl Runner<'_, '_> {
    /// Executes an operation, and tells whoever listens what it accessed.
    #[inline]
    pub(super) fn execute(&mut self, pc: u32, lanes: Lanes<'_>, active: u32) -> Result<Effect, LaneFault> {
        let op = &self.program.ops[pc as usize];
        if self.sanitizer.is_some() {
            return self.watched(pc, lanes, active);
        }
        let memory = &mut Global::Direct(self.memory);
        let Some(touch) = self.touch.as_mut().filter(|_| active != 0) else {
            return self.core.execute(memory, op, lanes, active);
        };
        let goes_out = matches!(op.access.space, MemSpace::Global | MemSpace::Generic);
        match op.class {
            Class::Load | Class::Store | Class::Atomic if goes_out => {
                let mut addresses = [0; LANES];
                self.core.access(memory, op, lanes, active, &mut addresses)?;
                touch.touch(pc, &addresses, active);
                Ok(Effect::Next)
            }
            Class::Copy => {
                let copied = self.core.copied(memory, op, lanes, active)?;
                touch.touch(pc, &copied.from, copied.reads);
                Ok(Effect::Next)
            }
            Class::Texture | Class::Surface => {
                let texels = self.core.texels(memory, op, lanes, active)?;
                let found = lanes_in(active).filter(|lane| texels[*lane].is_some()).fold(0, |m, lane| m | 1 << lane);
                touch.touch(pc, &texels.map(Option::unwrap_or_default), found);
                Ok(Effect::Next)
            }
            _ => self.core.execute(memory, op, lanes, active),
        }
    }

    /// Executes an operation, and shows the sanitizer who accessed what.
    fn watched(&mut self, pc: u32, lanes: Lanes<'_>, active: u32) -> Result<Effect, LaneFault> {
        let op = &self.program.ops[pc as usize];
        let memory = &mut Global::Direct(self.memory);
        let mut addresses = [0; LANES];
        let mut done = Effect::Next;
        match op.class {
            Class::Copy if active != 0 => {
                let copied = self.core.copied(memory, op, lanes, active)?;
                for (mask, addresses) in copied.accesses(active) {
                    self.show(pc, lanes, mask, &addresses);
                }
                return Ok(done);
            }
            Class::Load | Class::Store | Class::Atomic if active != 0 => {
                self.core.access(memory, op, lanes, active, &mut addresses)?;
            }
            Class::Surface if active != 0 => {
                let places = self.core.texels(memory, op, lanes, active)?;
                let inside = lanes_in(active).filter(|lane| places[*lane].is_some()).fold(0, |m, lane| m | 1 << lane);
                self.show(pc, lanes, inside, &places.map(Option::unwrap_or_default));
                return Ok(done);
            }
            Class::Texture if active != 0 => {
                let mut fetched = Vec::new();
                self.core.fetch(memory, op, lanes, active, &mut fetched)?;
                self.show_moved(pc, lanes, active, &fetched);
                return Ok(done);
            }
            _ => done = self.core.execute(memory, op, lanes, active)?,
        }
        self.show(pc, lanes, active, &addresses);
        Ok(done)
    }

    /// Shows the sanitizer what lanes of a warp have moved.
    pub(super) fn show_moved(&mut self, pc: u32, lanes: Lanes<'_>, mask: u32, moved: &[Moved]) {
        if let (true, Some(sanitizer)) = (mask != 0, &mut self.sanitizer) {
            let slot = self.core.slot_of(lanes, mask);
            let first_row = self.core.cta_rows(slot).0;
            sanitizer.moved(&Who { lanes, mask, slot, first_row }, pc, moved);
        }
    }

    /// Shows the sanitizer who accessed what.
    fn show(&mut self, pc: u32, lanes: Lanes<'_>, mask: u32, addresses: &[u64; LANES]) {
        if let (true, Some(sanitizer)) = (mask != 0, &mut self.sanitizer) {
            let slot = self.core.slot_of(lanes, mask);
            let first_row = self.core.cta_rows(slot).0;
            sanitizer.executed(&Who { lanes, mask, slot, first_row }, pc, addresses);
        }
    }
}
