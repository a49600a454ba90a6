//! The load-store unit: one instruction at a time sends its requests (`outgoing.rs`); results come back through
//! one write-back port (`incoming.rs`). Here is what both share, and when the unit stands still.

pub mod access;
mod access_events;
mod banks;
pub mod cache;
pub mod coalesce;
mod hand_out;
mod incoming;
pub(super) mod matrix;
mod outgoing;
mod parts;
mod served;
pub mod texture_cache;
mod watch;

use super::build::Build;
use super::datapath::Datapath;
use super::in_flight::InstId;
use super::port::Port;
use super::shared::Shared;
use crate::config::{CacheConfig, MachineConfig};
use crate::packet::{Cycle, Purpose, Reply, Request, Token};
use crate::saved;
use cache::{Cache, CacheCounters};
use incoming::Incoming;
use outgoing::{Desk, Outgoing};
use parts::Parts;
use raddle_ptx::num::fit;
use served::Load;
use std::collections::VecDeque;
use texture_cache::TextureCache;

/// The caches of the load-store unit.
struct Caches {
    /// Data cache.
    l1d: Cache,
    /// Constant cache.
    l1c: Cache,
    /// Texture cache.
    l1t: TextureCache,
}

saved!(Caches { parts: l1d, l1c, l1t });

impl Caches {
    /// Whether one has something for the interconnect.
    #[inline]
    fn want_to_send(&self) -> bool {
        !(self.l1d.queue.is_empty() && self.l1c.queue.is_empty() && self.l1t.queue.is_empty())
    }
}

/// The load-store unit.
pub(super) struct LoadStore {
    caches: Caches,
    out: Outgoing,
    back: Incoming,
    parts: Parts,
    /// The end of a fence empties the data cache.
    fence_empties_l1d: bool,
}

saved!(LoadStore { values: parts; parts: caches, out, back; fixed: fence_empties_l1d });

impl LoadStore {
    /// For a launch whose blocks need so many bytes of shared memory in an SM.
    pub(super) fn new(config: &MachineConfig, sm: u16, shared_bytes: u32, l1c: Cache, l1t: TextureCache) -> Self {
        let data = &config.sm.data;
        let l1d = CacheConfig { ways: data.ways(config.sm.l1d.ways, shared_bytes), ..config.sm.l1d.clone() };
        let l1d = Cache::new(&l1d, sm, config.l2.sector).with_sectors(data);
        Self {
            caches: Caches { l1d, l1c, l1t },
            out: Outgoing::new(config),
            back: Incoming::new(config),
            parts: Parts::default(),
            fence_empties_l1d: config.sm.fence_empties_l1d,
        }
    }

    /// Counters of its caches: data, constants, textures.
    pub(super) fn counters(&self) -> [&CacheCounters; 3] {
        [&self.caches.l1d.counters, &self.caches.l1c.counters, &self.caches.l1t.counters]
    }

    /// What the next launch finds: constants and textures.
    pub(super) fn into_kept(self) -> (Cache, TextureCache) {
        (self.caches.l1c, self.caches.l1t)
    }

    /// Whether the last request could not be sent.
    #[inline]
    pub(super) fn is_stalled(&self) -> bool {
        self.out.stalled
    }

    /// Whether an instruction is handing out its requests.
    #[inline]
    pub(super) fn is_occupied(&self) -> bool {
        self.out.current.is_some()
    }

    /// Whether it holds something the interconnect has not taken.
    pub(super) fn wants_to_send(&self) -> bool {
        self.out.waits_for_port() || self.caches.want_to_send()
    }

    /// Replies at the port.
    pub(super) fn held(&self) -> u32 {
        self.back.held()
    }

    /// Whether nothing is in it.
    #[inline]
    fn is_empty<B: Build>(&self) -> bool {
        let Caches { l1d, l1c, l1t } = &self.caches;
        self.out.is_empty::<B>() && self.back.is_empty() && l1d.is_quiet() && l1c.is_quiet() && l1t.is_quiet()
    }

    /// Whether something in it moves in this cycle.
    pub(super) fn is_busy<B: Build>(&self, port: &Port, now: Cycle) -> bool {
        let Caches { l1d, l1c, l1t } = &self.caches;
        let sends = |queue: &VecDeque<Request>| queue.front().is_some_and(|r| port.accepts(r));
        self.out.is_busy::<B>(&self.caches, port, now)
            || self.back.is_busy(now)
            || [l1d, l1c].iter().any(|c| c.has_ready() || sends(&c.queue))
            || l1t.has_ready()
            || sends(&l1t.queue)
    }

    /// When something in it next moves on its own.
    pub(super) fn next_event<B: Build>(&self) -> Option<Cycle> {
        let lookup = self.out.next_lookup::<B>(&self.caches.l1d);
        lookup.into_iter().chain(self.back.next_event()).min()
    }

    /// Counts refusals of cycles in which nothing moved; gives the stalls among them.
    pub(super) fn skip<B: Build>(&mut self, now: Cycle, cycles: u64) -> u64 {
        self.out.skip::<B>(&mut self.caches, now, cycles)
    }

    /// A reply will arrive at `at`; whether it is one of many sectors of a line, which count at once, and the last has
    /// not come.
    pub(super) fn absorbs<B: Build>(&mut self, on: &mut Shared<'_, B>, reply: &Reply) -> bool {
        let token = reply.token;
        match reply.purpose {
            Purpose::Texture => self.caches.l1t.absorb(token),
            Purpose::Const => self.caches.l1c.absorb(token),
            Purpose::GlobalRead | Purpose::LocalRead if Load::past_l1(token).is_none() => {
                let absorbed = self.caches.l1d.absorb(token);
                on.account.counters.reads_done += u64::from(absorbed);
                absorbed
            }
            _ => false,
        }
    }

    /// Whether replies are at the port, or in flight to it.
    #[inline]
    pub(super) fn has_replies(&self, port: &Port) -> bool {
        self.back.held() > 0 || !port.inbox.is_empty()
    }

    /// Replies: one goes from the port into the SM, one from the interconnect to the port. The token of a line of
    /// instructions, if one came.
    #[inline]
    pub(super) fn receive(&mut self, port: &mut Port, now: Cycle) -> Option<Token> {
        self.back.receive(port, now)
    }

    /// One cycle of it.
    #[inline]
    pub(super) fn cycle<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        datapath: &mut Datapath,
        port: &mut Port,
        now: Cycle,
    ) {
        self.end_fences(on);
        if !datapath.has_memory::<B>() && self.is_empty::<B>() {
            return;
        }
        let Self { caches, out, back, parts, .. } = self;
        if back.has_results(caches) {
            back.write_back(on, caches, parts, datapath, out, now);
        }
        if back.has_responses() {
            back.take_response(on, caches, parts, now);
        }
        self.end_fences(on);
        let Self { caches, out, back, parts, .. } = self;
        let mut desk = Desk { on, caches, parts, back, port, now };
        if desk.caches.want_to_send() {
            out.send_misses(&mut desk);
        }
        desk.caches.l1t.step();
        if desk.back.has_hits() {
            back.take_hits(on, parts, out.current, now);
            self.end_fences(on);
        }
        let Self { caches, out, back, parts, .. } = self;
        let mut desk = Desk { on, caches, parts, back, port, now };
        if out.banks.have_lookup::<B>(now) {
            out.look_up(&mut desk);
        }
        if out.current.is_some() {
            out.hand_out(&mut desk);
        }
        if out.current.is_none() {
            self.out.current = self.take_next(on, datapath);
        }
    }

    /// Fences that have ended may empty the data cache.
    #[inline]
    fn end_fences<B: Build>(&mut self, on: &mut Shared<'_, B>) {
        if on.warps.news.take_fence() && self.fence_empties_l1d {
            self.caches.l1d.invalidate();
        }
    }

    /// The next instruction that has its operands.
    fn take_next<B: Build>(&mut self, on: &mut Shared<'_, B>, datapath: &mut Datapath) -> Option<InstId> {
        if !B::PLAIN && datapath.slices() > 1 {
            return self.parts.take_joint(on, datapath);
        }
        let inst = match datapath.has_subcores::<B>() {
            true => datapath.first_with_memory::<B>().and_then(|first| datapath.take_memory::<B>(first))?,
            false => datapath.take_memory::<B>(0)?,
        };
        let entry = on.insts.get_mut(inst);
        entry.pending = fit(entry.accesses.len());
        Some(inst)
    }
}
