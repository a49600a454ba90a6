//! Checks of what threads do to each other: SMs take notes of it, and the sanitizer hears them at the edges of windows.
//!
//! Notes are in the order of (time, SM). An atomic on global memory takes part in two: when it is issued, with what
//! came before it, and when its result comes back, with what was told at its address until then.

use super::seat::Seat;
use super::{GpuError, RunOptions};
use crate::packet::Cycle;
use crate::sm::build::Build;
use raddle_exec::sanitize::{Finding, Note, Sanitizer};
use raddle_exec::{DeviceMemory, Launch, Program};

/// The sanitizer of a launch, if one is wanted.
pub(super) struct Sanitizing<'p> {
    sanitizer: Option<Sanitizer<'p>>,
    /// Kept for its memory.
    notes: Vec<(Cycle, u16, Note)>,
}

impl<'p> Sanitizing<'p> {
    /// Before anything has happened. `is_virtual`: warps take logical blocks on their own.
    pub(super) fn new(
        program: &'p Program,
        launch: &'p Launch,
        options: &RunOptions<'_>,
        is_virtual: bool,
        memory: &mut DeviceMemory,
    ) -> Result<Self, GpuError> {
        let is_wanted = launch.checks.any();
        let why = match options {
            _ if is_virtual => Some("whose warps take logical blocks by themselves"),
            RunOptions { gaps: [_, ..], .. } => Some("that is sampled"),
            RunOptions { keeper: Some(_), .. } | RunOptions { resume: Some(_), .. } => Some("that is kept or resumed"),
            _ => None,
        };
        match why.filter(|_| is_wanted) {
            Some(why) => Err(GpuError::Refused(format!("the sanitizer does not follow a launch {why}"))),
            None => {
                let mut sanitizer = is_wanted.then(|| Sanitizer::new(program, launch));
                sanitizer.iter_mut().for_each(|sanitizer| sanitizer.take_over(memory));
                Ok(Self { sanitizer, notes: Vec::new() })
            }
        }
    }

    /// Hears what SMs have noted since it last did.
    pub(super) fn hear<B: Build>(&mut self, sms: &[Seat<'_, B>]) {
        let Some(sanitizer) = &mut self.sanitizer else { return };
        for (id, sm) in (0..).zip(sms) {
            self.notes.extend(sm.mail().notes.drain(..).map(|note| (note.at, id, note)));
        }
        self.notes.sort_by_key(|(at, sm, _)| (*at, *sm));
        self.notes.drain(..).for_each(|(_, sm, note)| sanitizer.hear(sm, &note));
    }

    /// What was found, when all is done.
    pub(super) fn findings(&mut self, memory: &mut DeviceMemory) -> Vec<Finding> {
        let Some(sanitizer) = &mut self.sanitizer else { return Vec::new() };
        sanitizer.give_back(memory);
        sanitizer.take_findings(memory)
    }
}
