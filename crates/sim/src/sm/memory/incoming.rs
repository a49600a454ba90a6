//! What comes back to the load-store unit: replies from memory, and results to be written to the registers.

use super::super::build::Build;
use super::super::datapath::Datapath;
use super::super::in_flight::InstId;
use super::super::port::Port;
use super::super::shared::Shared;
use super::Caches;
use super::outgoing::Outgoing;
use super::parts::Parts;
use super::served::{Load, Store};
use super::watch;
use crate::config::MachineConfig;
use crate::mem::ring::Ring;
use crate::packet::{Cycle, Purpose, Reply, Request, Token};
use crate::saved;
use crate::seam::WarpId;
use raddle_exec::atomics::AtomicWork;
use raddle_exec::op::Class;
use std::collections::VecDeque;

/// Who may use the write-back port, in turn.
const CLIENTS: u32 = 5;

/// Replies, and results that have not been written to the registers.
pub(super) struct Incoming {
    /// Loads in shared memory's pipeline, with the time they are done.
    shared: VecDeque<(Cycle, InstId)>,
    shared_latency: u32,
    /// Hits of the constant cache, with the time their data come.
    hits: VecDeque<(Cycle, Load)>,
    /// What is written to the registers in this cycle.
    writeback: Option<Load>,
    /// Registers of it that are written.
    written: usize,
    turn: u32,
    /// A reply that went past the L1 and waits for the write-back port.
    past_l1: Option<Load>,
    /// Replies that have come into the SM.
    responses: Ring<Reply>,
    response_queue: u32,
    /// Replies at the port.
    ejected: Ring<Reply>,
    ejection_buffer: u32,
    /// When each line of the data cache was requested.
    sent_at: Vec<Cycle>,
    /// The operations for which they were, in builds with a profile.
    sent_for: Vec<u32>,
}

saved!(Incoming {
    values: shared, hits, writeback, written, turn, past_l1, responses, ejected, sent_at;
    fixed: shared_latency, response_queue, ejection_buffer, sent_for;
});

impl Incoming {
    pub(super) fn new(config: &MachineConfig) -> Self {
        Self {
            shared: VecDeque::new(),
            shared_latency: config.sm.shared.latency,
            hits: VecDeque::new(),
            writeback: None,
            written: 0,
            turn: 0,
            past_l1: None,
            responses: Ring::new(config.sm.response_queue),
            response_queue: config.sm.response_queue,
            ejected: Ring::new(config.sm.ejection_buffer),
            ejection_buffer: config.sm.ejection_buffer,
            sent_at: vec![0; config.sm.l1d.mshr_entries as usize],
            sent_for: vec![0; config.sm.l1d.mshr_entries as usize],
        }
    }

    /// Replies at the port.
    #[inline]
    pub(super) fn held(&self) -> u32 {
        self.ejected.len()
    }

    /// Whether nothing is in it, replies at the port aside.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.writeback.is_none()
            && self.past_l1.is_none()
            && self.responses.is_empty()
            && self.shared.is_empty()
            && self.hits.is_empty()
    }

    /// Whether something waits for the write-back port, or is at it.
    #[inline]
    pub(super) fn has_results(&self, caches: &Caches) -> bool {
        let Caches { l1d, l1c, l1t } = caches;
        let of_caches = l1d.has_ready() || l1c.has_ready() || l1t.has_results();
        self.writeback.is_some() || of_caches || !self.shared.is_empty() || self.past_l1.is_some()
    }

    /// Whether replies have come into the SM.
    #[inline]
    pub(super) fn has_responses(&self) -> bool {
        !self.responses.is_empty()
    }

    /// Whether the constant cache hands over data, now or later.
    #[inline]
    pub(super) fn has_hits(&self) -> bool {
        !self.hits.is_empty()
    }

    /// Whether something in it moves in this cycle.
    pub(super) fn is_busy(&self, now: Cycle) -> bool {
        self.writeback.is_some()
            || self.past_l1.is_some()
            || !self.responses.is_empty()
            || !self.ejected.is_empty()
            || self.next_event().is_some_and(|at| at <= now)
    }

    /// When something in it next moves on its own.
    pub(super) fn next_event(&self) -> Option<Cycle> {
        let shared = self.shared.front().map(|s| s.0);
        shared.into_iter().chain(self.hits.front().map(|h| h.0)).min()
    }

    /// A load enters shared memory's pipeline; false when that is full.
    pub(super) fn enters_shared(&mut self, inst: InstId, now: Cycle) -> bool {
        let has_room = self.shared.len() < self.shared_latency as usize;
        if has_room {
            self.shared.push_back((now + Cycle::from(self.shared_latency), inst));
        }
        has_room
    }

    /// The constant cache has what somebody waits for, and hands it over at this time.
    pub(super) fn hits_at(&mut self, at: Cycle, load: Load) {
        self.hits.push_back((at, load));
    }

    /// A line of the data cache is requested.
    pub(super) fn line_sent<B: Build>(&mut self, request: &Request, now: Cycle) {
        self.sent_at[request.token.0 as usize] = now;
        if B::PROFILED {
            self.sent_for[request.token.0 as usize] = request.origin;
        }
    }

    /// Replies: one goes from the port into the SM, one from the interconnect to the port. The token of a line of
    /// instructions, if one came.
    pub(super) fn receive(&mut self, port: &mut Port, now: Cycle) -> Option<Token> {
        let mut instructions = None;
        if let Some(reply) = self.ejected.front() {
            if reply.purpose == Purpose::Inst {
                instructions = Some(reply.token);
                self.ejected.pop();
                port.received += 1;
            } else if self.responses.len() < self.response_queue
                && let Some(reply) = self.ejected.pop()
            {
                port.received += 1;
                self.responses.push(reply);
            }
        }
        if self.ejected.len() < self.ejection_buffer
            && let Some(reply) = port.take_reply(now)
        {
            self.ejected.push(reply);
        }
        instructions
    }

    /// Registers are written; then the port takes the next result.
    pub(super) fn write_back<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        caches: &mut Caches,
        parts: &mut Parts,
        datapath: &mut Datapath,
        out: &mut Outgoing,
        now: Cycle,
    ) {
        let current = out.current;
        if let Some(load) = self.writeback {
            // Registers of one bank are written one after the other.
            let (warp, pc) = parts.writer(on, load);
            let numbers = on.op(pc).write_numbers();
            let left = &numbers[self.written..];
            let count = left.iter().take_while(|number| datapath.write::<B>(warp, **number)).count();
            self.written += count;
            if count < left.len() {
                return;
            }
            self.writeback = None;
            self.written = 0;
            match load {
                Load::Inst(inst) if on.insts.get(inst).shared => parts.done(on, inst),
                _ => parts.came(on, load, current),
            }
        }
        let Caches { l1d, l1c, l1t } = caches;
        // Who wants the port, one bit each.
        let wanting = u32::from(self.shared.front().is_some_and(|s| s.0 <= now))
            | u32::from(l1t.has_results()) << 1
            | u32::from(l1c.has_ready()) << 2
            | u32::from(self.past_l1.is_some()) << 3
            | u32::from(l1d.has_ready()) << 4;
        if wanting == 0 {
            return;
        }
        let ahead = wanting >> self.turn << self.turn;
        let client = if ahead != 0 { ahead } else { wanting }.trailing_zeros();
        self.writeback = match client {
            0 => self.shared.pop_front().map(|s| Load::Inst(s.1)),
            1 => l1t.next_ready().map(Load::of),
            2 => l1c.next_ready().map(Load::of),
            3 => self.past_l1.take(),
            _ => {
                let line = if watch::is_wanted(on) { l1d.ready_line() } else { None };
                let token = l1d.next_ready();
                if let (Some(line), Some(token)) = (line, token) {
                    out.watch.came(on, parts, token, line);
                }
                token.map(Load::of)
            }
        };
        self.turn = if client + 1 == CLIENTS { 0 } else { client + 1 };
    }

    /// One reply is used.
    pub(super) fn take_response<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        caches: &mut Caches,
        parts: &mut Parts,
        now: Cycle,
    ) {
        let Some(reply) = self.responses.front() else { return };
        let token = reply.token;
        let counters = &mut on.account.counters;
        match reply.purpose {
            Purpose::Texture => caches.l1t.fill(token),
            Purpose::Const => caches.l1c.fill(token, now),
            Purpose::GlobalWrite | Purpose::LocalWrite => parts.store_acknowledged(on, Store::of(token)),
            _ if let Some(load) = Load::past_l1(token) => {
                if self.past_l1.is_some() {
                    return;
                }
                self.past_l1 = Some(load);
                counters.reads_done += 1;
                counters.lines_done += 1;
                let latency = now - parts.issued_at(&on.insts, load);
                counters.read_latency += latency;
                if B::PROFILED {
                    let (_, pc) = parts.writer(on, load);
                    on.account.line_came(pc, latency);
                }
                let work = self.responses.pop().and_then(|reply| reply.atomic);
                if let (Some(work), Some(owner)) = (work, parts.owner(load)) {
                    finish_atomic(on, owner, work, now);
                }
                return;
            }
            _ => {
                // The sectors before the last one were counted when they came.
                caches.l1d.fill(token, now);
                counters.reads_done += 1;
                counters.lines_done += 1;
                let latency = now - self.sent_at[token.0 as usize];
                counters.read_latency += latency;
                if B::PROFILED {
                    let pc = on.facts.pc_of_origin(self.sent_for[token.0 as usize]);
                    on.account.line_came(pc, latency);
                }
            }
        }
        self.responses.pop();
    }

    /// Data of hits in the constant cache have come.
    pub(super) fn take_hits<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        parts: &mut Parts,
        current: Option<InstId>,
        now: Cycle,
    ) {
        while let Some(&(at, load)) = self.hits.front()
            && at <= now
        {
            self.hits.pop_front();
            parts.came(on, load, current);
        }
    }
}

/// The threads of an instruction get what its atomic request found in memory.
fn finish_atomic<B: Build>(on: &mut Shared<'_, B>, inst: InstId, work: Box<AtomicWork>, now: Cycle) {
    let entry = on.insts.get(inst);
    let op = &on.facts.kernel.program.ops[entry.pc as usize];
    if let Err(fault) = on.threads.core.finish_atomic(op, entry.lanes(), &work) {
        on.threads.fail(entry.pc, entry.lanes(), fault, now);
    }
    if op.class == Class::Atomic {
        let (when, who) = ((now, entry.pc), (entry.lanes(), work.mask));
        on.threads.note::<B>(|notes, core| notes.answered(core, when, who, &work.address));
    }
    let warp = WarpId(entry.warp);
    on.insts.spare_work.push(work);
    on.warps.atomic_done(warp);
}
