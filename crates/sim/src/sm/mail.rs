//! What an SM and the rest of the GPU tell each other at the edges of windows.
//!
//! It is all the rest of the GPU looks at while a launch runs: the SM itself stays in the cache of the core that runs
//! it.

use super::build::Build;
use super::shared::Shared;
use super::{Occupancy, Sm};
use crate::event::Event;
use crate::packet::{Cycle, Reply, Request};
use crate::saved;
use raddle_exec::fault::Fault;
use raddle_exec::memory::StoreLog;
use raddle_exec::sanitize::Note;

/// What an SM is told before a window, and what it tells after it.
#[derive(Default)]
pub struct Mail {
    /// To the SM: replies with the time they arrive.
    pub replies: Vec<(Cycle, Reply)>,
    /// To the SM: blocks that start, with the time.
    pub starts: Vec<(Cycle, u64)>,
    /// To the SM: logical blocks that arrive, with the time and the slot they are for.
    pub logical_blocks: Vec<(Cycle, u32, u32)>,
    /// To the SM: no block is left to be given out.
    pub is_last: bool,
    /// To the SM: flits the interconnect takes.
    pub free_flits: u32,
    /// Requests sent in the window, with their time.
    pub requests: Vec<(Cycle, Request)>,
    /// Slots that asked for a logical block in the window, with their time.
    pub asking: Vec<(Cycle, u32)>,
    /// Logical blocks there are, where blocks are virtual and a warp has said so.
    pub logical_total: Option<u32>,
    /// Stores made in the window.
    pub log: StoreLog,
    /// Blocks that ended in the window.
    pub ended: Vec<(Cycle, u64)>,
    /// What kernels printed in the window.
    pub printed: Vec<(Cycle, String)>,
    /// Events of the window.
    pub events: Vec<Event>,
    /// What threads did to each other in the window, where somebody looks for races.
    pub notes: Vec<Note>,
    /// What ended the run here, and when.
    pub fault: Option<(Cycle, Box<Fault>)>,
    /// Replies it can take.
    pub reply_room: u32,
    /// Blocks it holds.
    pub occupancy: Occupancy,
    /// It has no block and nothing outstanding.
    pub is_idle: bool,
    /// When it next moves on its own if it is told nothing; `None` when only a message can wake it.
    pub next: Option<Cycle>,
    /// It has something to send that the interconnect did not take.
    pub waits_for_flits: bool,
    /// Thread-instructions issued so far.
    pub thread_insts: u64,
    /// Warp-instructions issued so far.
    pub warp_insts: u64,
    /// Cycle before which it has run.
    pub ran_until: Cycle,
}

saved!(Mail {
    values: replies, starts, logical_blocks, is_last, free_flits, requests, asking, logical_total, log, ended, printed,
        reply_room, occupancy, is_idle, next, waits_for_flits, thread_insts, warp_insts, ran_until;
    fixed: events, notes, fault;
});

impl Mail {
    /// For an SM that runs from `now` on.
    #[must_use]
    pub fn new<B: Build>(sm: &Sm<'_, B>, now: Cycle) -> Self {
        let mut mail = Self { ran_until: now, ..Self::default() };
        mail.describe(sm, now);
        mail
    }

    /// How the SM looks from outside.
    pub(super) fn describe<B: Build>(&mut self, sm: &Sm<'_, B>, now: Cycle) {
        let Shared { threads, account, facts, .. } = &sm.shared;
        let held = sm.memory.held() + sm.port.inbox.len();
        let is_answered = sm.port.expected == sm.port.received;
        self.free_flits = sm.port.free_flits;
        if threads.fault.is_some() {
            self.fault.clone_from(&threads.fault);
        }
        self.reply_room = facts.config.sm.ejection_buffer.saturating_sub(held);
        self.occupancy = sm.blocks.occupancy(facts.most_ctas);
        self.is_idle = sm.blocks.is_empty() && is_answered && !sm.memory.wants_to_send();
        self.thread_insts = account.counters.thread_insts;
        self.warp_insts = account.counters.warp_insts;
        self.next = match account.has_just_issued(now) {
            true => Some(now),
            false => Some(sm.stages().sleep_until(now).unwrap_or(now)).filter(|at| *at != Cycle::MAX),
        };
    }

    /// When the SM next moves, with what it will be told; `None` when only a message can wake it.
    #[must_use]
    pub fn next_event(&self) -> Option<Cycle> {
        let told = self.replies.first().map(|r| r.0).into_iter().chain(self.logical_blocks.first().map(|b| b.0));
        self.next.into_iter().chain(told).min()
    }

    /// How long it need not be run if it is told nothing more; `None` when it has to know of the next window.
    #[must_use]
    pub fn sleeps_until(&self) -> Option<Cycle> {
        let is_told = !self.replies.is_empty() || !self.logical_blocks.is_empty() || self.waits_for_flits;
        (!is_told).then(|| self.next.unwrap_or(Cycle::MAX))
    }

    /// Tells how many flits the interconnect takes: more than before may wake the SM at `now`.
    pub fn set_free_flits(&mut self, flits: u32, now: Cycle) {
        if self.waits_for_flits && flits != self.free_flits {
            self.next = Some(now);
        }
        self.free_flits = flits;
    }
}
