//! The parts of a GPU that are run for a window each: SMs with their mail, and memory partitions.

use crate::mem::system::Berth;
use crate::packet::Cycle;
use crate::parallel::{Apart, Sleep, Work, lock};
use crate::sm::build::Build;
use crate::sm::{Mail, Sm};
use raddle_exec::memory::DeviceMemory;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

/// An SM, and what it and the rest of the GPU tell each other.
pub(super) struct Seat<'k, B> {
    pub(super) sm: Mutex<Sm<'k, B>>,
    pub(super) mail: Apart<Mutex<Mail>>,
    pub(super) sleep: Sleep,
    /// Somebody listens to it.
    pub(super) is_heard: bool,
}

impl<'k, B: Build> Seat<'k, B> {
    /// It has slept, and has been told something.
    const CALLED: Cycle = 1;

    pub(super) fn new(sm: Sm<'k, B>, now: Cycle) -> Self {
        let mail = Apart(Mutex::new(Mail::new(&sm, now)));
        let is_heard = sm.is_heard();
        Self { sm: Mutex::new(sm), mail, sleep: Sleep::new(), is_heard }
    }

    /// Wakes it in the next window when it sleeps.
    pub(super) fn call(&self) {
        if self.sleep.until() != Sleep::AWAKE {
            self.sleep.set(Self::CALLED);
        }
    }

    /// When it next moves.
    pub(super) fn next_event(&self) -> Option<Cycle> {
        match self.sleep.until() {
            Sleep::AWAKE | Self::CALLED => self.mail().next_event(),
            Cycle::MAX => None,
            until => Some(until),
        }
    }

    pub(super) fn mail(&self) -> MutexGuard<'_, Mail> {
        lock(&self.mail.0)
    }

    /// Runs it for a window. Not inline, so that those that sleep cost little.
    #[inline(never)]
    fn window(&self, from: Cycle, to: Cycle, memory: &DeviceMemory) {
        lock(&self.sm).window(&mut self.mail(), from, to, memory);
    }
}

/// The parts of a GPU: its SMs, then its memory partitions.
pub(super) struct Parts<'r, 'k, B> {
    pub(super) sms: &'r [Seat<'k, B>],
    pub(super) partitions: &'r [Berth],
    pub(super) memory: &'r RwLock<&'r mut DeviceMemory>,
}

impl<'r, B: Build> Work for Parts<'r, '_, B> {
    type Hold<'w>
        = RwLockReadGuard<'w, &'r mut DeviceMemory>
    where
        Self: 'w;

    fn hold(&self) -> Self::Hold<'_> {
        self.memory.read().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn run(&self, memory: &Self::Hold<'_>, part: usize, from: Cycle, to: Cycle) {
        match self.sms.get(part) {
            Some(seat) if seat.sleep.lasts(to) => {}
            Some(seat) => seat.window(from, to, memory),
            None => {
                let berth = &self.partitions[part - self.sms.len()];
                if !berth.sleeps_through(to) {
                    berth.window(from, to, memory);
                }
            }
        }
    }
}
