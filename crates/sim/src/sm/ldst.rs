//! The load-store unit: one instruction at a time hands out its requests (`requests.rs`); results come back through
//! one write-back port (`replies.rs`). Here is what it holds, and when it stands still.

use super::cache::Cache;
use super::coalesce::Access;
use super::collector::InstId;
use super::port::Port;
use super::texture_cache::TextureCache;
use super::{Build, Sm};
use crate::config::MachineConfig;
use crate::packet::{Cycle, Reply, Request};
use raddle_ptx::num::fit;
use std::collections::VecDeque;

/// Marks tokens of requests that go past the L1.
pub(super) const PAST_L1: u32 = 1 << 31;

/// The load-store unit.
pub struct LoadStore {
    /// Data cache.
    pub l1d: Cache,
    /// Constant cache.
    pub l1c: Cache,
    /// Texture cache.
    pub l1t: TextureCache,
    /// The instruction that hands out its requests.
    pub(super) current: Option<InstId>,
    /// Requests that have not reached the data cache's tags, with the time they get there and their token.
    pub(super) lookups: VecDeque<(Cycle, InstId, Access, u32)>,
    /// Loads in shared memory's pipeline, with the time they are done.
    pub(super) shared: VecDeque<(Cycle, InstId)>,
    /// Hits of the constant cache, with the time their data come.
    pub(super) hits: VecDeque<(Cycle, InstId)>,
    /// What is written to the registers in this cycle.
    pub(super) writeback: Option<InstId>,
    /// Registers of it that are written.
    pub(super) written: usize,
    pub(super) turn: usize,
    /// A reply that went past the L1 and waits for the write-back port.
    pub(super) past_l1: Option<InstId>,
    /// Replies that have come into the SM.
    pub(super) responses: VecDeque<Reply>,
    /// Replies at the port.
    pub(super) ejected: VecDeque<Reply>,
    /// When each line of the data cache was sent for.
    pub(super) sent_at: Vec<Cycle>,
    pub(super) response_queue: usize,
    pub(super) ejection_buffer: usize,
    pub(super) shared_latency: u32,
    pub(super) sector: u32,
    pub(super) stalled: bool,
    /// Why the current instruction could not hand on its request in the last cycle.
    pub(super) stuck: Stuck,
    /// The data cache refused the first look-up when it was at this version.
    pub(super) refused: Option<u64>,
}

/// Why the current instruction could not hand on its request: it will fail again until that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stuck {
    /// It could.
    No,
    /// The look-up queue of the data cache is full.
    Lookups,
    /// The port has fewer flits than this.
    Port(u32),
    /// The constant cache refused at this version.
    Constant(u64),
    /// The texture cache refused at this version.
    Texture(u64),
}

impl LoadStore {
    pub(super) fn new(config: &MachineConfig, sm: u16, l1c: Cache, l1t: TextureCache) -> Self {
        Self {
            l1d: Cache::new(&config.sm.l1d, sm, config.l2.sector),
            l1c,
            l1t,
            current: None,
            lookups: VecDeque::new(),
            shared: VecDeque::new(),
            hits: VecDeque::new(),
            writeback: None,
            written: 0,
            turn: 0,
            past_l1: None,
            responses: VecDeque::new(),
            ejected: VecDeque::new(),
            sent_at: vec![0; config.sm.l1d.mshr_entries as usize],
            response_queue: config.sm.response_queue as usize,
            ejection_buffer: config.sm.ejection_buffer as usize,
            shared_latency: config.sm.shared.latency,
            sector: config.l2.sector,
            stalled: false,
            stuck: Stuck::No,
            refused: None,
        }
    }

    /// Whether the last request could not be handed on.
    pub(super) fn is_stalled(&self) -> bool {
        self.stalled
    }

    /// Whether nothing is in it.
    #[inline]
    fn is_empty(&self) -> bool {
        self.current.is_none()
            && self.writeback.is_none()
            && self.past_l1.is_none()
            && self.responses.is_empty()
            && self.lookups.is_empty()
            && self.shared.is_empty()
            && self.hits.is_empty()
            && self.l1d.is_quiet()
            && self.l1c.is_quiet()
            && self.l1t.is_quiet()
    }

    /// Whether an instruction is handing out its requests.
    pub(super) fn is_occupied(&self) -> bool {
        self.current.is_some()
    }

    /// Whether it holds something the interconnect has not taken.
    pub(super) fn wants_to_send(&self) -> bool {
        matches!(self.stuck, Stuck::Port(_))
            || [&self.l1d.queue, &self.l1c.queue, &self.l1t.queue].iter().any(|queue| !queue.is_empty())
    }

    /// Replies at the port.
    pub(super) fn held(&self) -> usize {
        self.ejected.len()
    }

    /// Whether the current instruction would fail again to hand on its request.
    fn is_stuck(&self, port: &Port) -> bool {
        match self.stuck {
            Stuck::No => false,
            Stuck::Lookups => self.lookups.len() >= self.l1d.latency().max(1) as usize,
            Stuck::Port(flits) => port.free_flits < flits,
            Stuck::Constant(version) => self.l1c.version() == version,
            Stuck::Texture(version) => self.l1t.version() == version,
        }
    }

    /// Whether the first look-up would be refused again.
    fn is_refused(&self) -> bool {
        self.refused == Some(self.l1d.version())
    }

    /// Whether something in it moves in this cycle.
    pub(super) fn is_busy(&self, port: &Port, now: Cycle) -> bool {
        let sends = |queue: &VecDeque<Request>| queue.front().is_some_and(|r| port.accepts(r));
        self.current.is_some() && !self.is_stuck(port)
            || self.writeback.is_some()
            || self.past_l1.is_some()
            || !self.responses.is_empty()
            || !self.ejected.is_empty()
            || self.lookups.front().is_some_and(|l| l.0 <= now) && !self.is_refused()
            || self.shared.front().is_some_and(|s| s.0 <= now)
            || self.hits.front().is_some_and(|h| h.0 <= now)
            || [&self.l1d, &self.l1c].iter().any(|c| c.has_ready() || sends(&c.queue))
            || self.l1t.has_ready()
            || sends(&self.l1t.queue)
    }

    /// When something in it next moves by itself.
    pub(super) fn next_event(&self) -> Option<Cycle> {
        let lookup = self.lookups.front().map(|l| l.0).filter(|_| !self.is_refused());
        let shared = self.shared.front().map(|s| s.0);
        let hits = self.hits.front().map(|h| h.0);
        lookup.into_iter().chain(shared).chain(hits).min()
    }

    /// Counts refusals of cycles in which nothing moved; gives the stalls among them.
    pub(super) fn skip(&mut self, now: Cycle, cycles: u64) -> u64 {
        let mut stalls = 0;
        if self.lookups.front().is_some_and(|l| l.0 <= now) {
            self.l1d.counters.reservation_fails += cycles;
            stalls += cycles;
        }
        if self.current.is_some() {
            stalls += cycles;
            match self.stuck {
                Stuck::Constant(_) => self.l1c.counters.reservation_fails += cycles,
                Stuck::Texture(_) => self.l1t.counters.reservation_fails += cycles,
                _ => {}
            }
        }
        stalls
    }
}

impl<B: Build> Sm<'_, B> {
    /// One cycle of it.
    pub(super) fn ldst_cycle(&mut self, now: Cycle) {
        if !self.slices.has_memory() && self.ldst.is_empty() {
            return;
        }
        self.ldst_writeback(now);
        self.take_response(now);
        self.send_misses(now);
        self.ldst.l1t.step();
        self.take_hits(now);
        self.look_up(now);
        self.hand_out(now);
        if self.ldst.current.is_none()
            && let Some(inst) = self.take_memory()
        {
            self.ldst.current = Some(inst);
            if !self.is_carrier(inst) {
                let entry = self.insts.get_mut(inst);
                entry.pending = fit(entry.accesses.len());
            }
        }
    }
}
