//! What threads compute: registers, shared memory, stores, prints, faults.

use super::build::Build;
use super::facts::Facts;
use super::footprint::{Footprint, Spaces};
use super::shared::Issuing;
use crate::kernel::MemKind;
use crate::packet::Cycle;
use crate::saved;
use raddle_exec::core::{Core, Effect, LaneFault, Lanes, lanes_in};
use raddle_exec::fault::Fault;
use raddle_exec::memory::{Global, LOCAL_WINDOW, StoreLog};
use raddle_exec::op::{Class, MemSpace};
use raddle_exec::printf::MAX_KEPT;
use raddle_exec::sanitize::Notes;

/// The threads of an SM.
pub(super) struct Threads<'k> {
    /// Registers, shared memory and barriers of all blocks.
    pub(super) core: Core<'k>,
    /// Stores that the rest of the GPU has not seen.
    pub(super) log: StoreLog,
    /// What ended the run here, and when.
    pub(super) fault: Option<(Cycle, Box<Fault>)>,
    /// What kernels printed, by time.
    pub(super) printed: Vec<(Cycle, String)>,
    printed_bytes: usize,
    /// What the last memory instruction touched.
    pub(super) footprint: Footprint,
    /// What they did to each other, where somebody looks for races.
    pub(super) notes: Option<Box<Notes>>,
}

saved!(impl['k] Threads<'k> {
    values: log, printed, printed_bytes, footprint;
    parts: core;
    fixed: fault, notes;
});

impl<'k> Threads<'k> {
    /// There are none yet. `watched`: notes are taken of what they do to each other.
    pub(super) fn new(core: Core<'k>, watched: bool) -> Self {
        let footprint = Footprint { addresses: [0; 32], spaces: Spaces::default(), fixed: None };
        let notes = watched.then(Box::default);
        Self { core, log: StoreLog::default(), fault: None, printed: Vec::new(), printed_bytes: 0, footprint, notes }
    }

    /// Takes a note, where notes are taken.
    #[inline(always)]
    pub(super) fn note<B: Build>(&mut self, note: impl FnOnce(&mut Notes, &Core<'k>)) {
        if let Some(notes) = self.notes.as_mut().filter(|_| !B::PLAIN) {
            note(notes, &self.core);
        }
    }

    /// A thread did something it must not: the run ends here.
    pub(super) fn fail(&mut self, pc: u32, lanes: Lanes<'_>, fault: LaneFault, now: Cycle) {
        self.fault = Some((now, Box::new(self.core.fault(pc, lanes, fault))));
    }

    /// Takes what the last instruction printed.
    #[inline]
    pub(super) fn take_output(&mut self, now: Cycle) {
        if self.core.has_output() {
            let text = self.core.take_output();
            // What comes after the first of it cannot be among what is kept of the launch.
            if self.printed_bytes <= MAX_KEPT {
                self.printed_bytes += text.len();
                self.printed.push((now, text));
            }
        }
    }

    /// What an instruction does to registers and memory.
    #[inline]
    pub(super) fn perform(&mut self, issuing: Issuing<'_>, lanes: Lanes<'_>) -> Result<Effect, LaneFault> {
        let global = &mut Global::Logged(issuing.memory, &mut self.log);
        self.core.execute(global, issuing.op, lanes, issuing.active)
    }

    /// Whether an atomic is executed at the memory partitions; calls of the allocator are.
    pub(super) fn is_global_atomic(&mut self, issuing: Issuing<'_>, lanes: Lanes<'_>) -> bool {
        let Issuing { op, active, .. } = issuing;
        if op.class == Class::Call && active != 0 {
            return true;
        }
        op.class == Class::Atomic && active != 0 && self.core.is_atomic_on_global(op, lanes, active)
    }

    /// Executes an instruction that computes, loads or stores; whether it touches memory ([`Threads::footprint`]).
    pub(super) fn touch_or_compute<B: Build>(
        &mut self,
        facts: &Facts<'_>,
        issuing: Issuing<'_>,
        lanes: Lanes<'_>,
    ) -> Result<bool, LaneFault> {
        match issuing.op.class {
            Class::Alu => self.perform(issuing, lanes).map(|_| false),
            _ => self.touch::<B>(facts, issuing, lanes),
        }
    }

    /// Executes a memory instruction; whether it touches memory ([`Threads::footprint`]).
    #[inline(always)]
    pub(super) fn touch<B: Build>(
        &mut self,
        facts: &Facts<'_>,
        issuing: Issuing<'_>,
        lanes: Lanes<'_>,
    ) -> Result<bool, LaneFault> {
        let Issuing { op, pc, active, now, .. } = issuing;
        let timed = facts.op(pc);
        if timed.mem == MemKind::Texture || op.class == Class::Surface && active != 0 {
            return self.touch_texels(facts, issuing, lanes).map(|()| true);
        }
        if timed.mem == MemKind::Fence || active == 0 {
            self.note::<B>(|notes, core| notes.executed(core, (now, pc), (lanes, active), &[0; 32]));
            return self.perform(issuing, lanes).map(|_| false);
        }
        self.footprint.fixed = timed.fixed_address;
        if timed.fixed_address.is_some() {
            self.footprint.spaces = Spaces { constant: active, ..Spaces::default() };
            return self.perform(issuing, lanes).map(|_| true);
        }
        if !B::PLAIN && op.class == Class::Copy {
            return self.touch_copied::<B>(issuing, lanes).map(|()| true);
        }
        let global = &mut Global::Logged(issuing.memory, &mut self.log);
        self.core.access(global, op, lanes, active, &mut self.footprint.addresses)?;
        if !B::PLAIN {
            let addresses = self.footprint.addresses;
            self.note::<B>(|notes, core| notes.executed(core, (now, pc), (lanes, active), &addresses));
        }
        let Footprint { addresses, spaces, .. } = &mut self.footprint;
        *spaces = Spaces::of(timed.space, addresses, active);
        if timed.mem == MemKind::Store {
            self.log.end_group(now);
        }
        for lane in lanes_in(spaces.local) {
            let offset = match timed.space {
                MemSpace::Local => addresses[lane],
                _ => addresses[lane] - LOCAL_WINDOW,
            };
            addresses[lane] = facts.local_address(lanes.home(lane), offset);
        }
        Ok(true)
    }

    /// An asynchronous copy: its requests are those of its reads. That it writes to shared memory costs nothing.
    fn touch_copied<B: Build>(&mut self, issuing: Issuing<'_>, lanes: Lanes<'_>) -> Result<(), LaneFault> {
        let Issuing { op, pc, active, now, .. } = issuing;
        let copied = self.core.copied(&mut Global::Logged(issuing.memory, &mut self.log), op, lanes, active)?;
        for (mask, addresses) in copied.accesses(active) {
            self.note::<B>(|notes, core| notes.executed(core, (now, pc), (lanes, mask), &addresses));
        }
        let spaces = Spaces { global: copied.reads, ..Spaces::default() };
        self.footprint = Footprint { addresses: copied.from, spaces, fixed: None };
        Ok(())
    }

    /// Texture fetches, each texture separately. Texels of one byte count as the word they are in. Accesses to surfaces
    /// are as those to global memory.
    fn touch_texels(&mut self, facts: &Facts<'_>, issuing: Issuing<'_>, lanes: Lanes<'_>) -> Result<(), LaneFault> {
        let global = &mut Global::Logged(issuing.memory, &mut self.log);
        let texels = self.core.texels(global, issuing.op, lanes, issuing.active)?;
        let Footprint { addresses, spaces, fixed } = &mut self.footprint;
        (*spaces, *fixed) = (Spaces::default(), None);
        for lane in lanes_in(issuing.active) {
            match texels[lane] {
                Some(at) if issuing.op.class == Class::Surface => {
                    addresses[lane] = at;
                    spaces.global |= 1 << lane;
                }
                Some(texel) => {
                    addresses[lane] = texel & !3;
                    spaces.texture |= 1 << lane;
                }
                None => {}
            }
        }
        if facts.op(issuing.pc).mem == MemKind::Store {
            self.log.end_group(issuing.now);
        }
        Ok(())
    }
}
