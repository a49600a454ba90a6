//! Requests that leave the load-store unit: the look-up queue of the data cache, and what the caches request. How
//! an instruction makes them is in `hand_out.rs`.

use super::super::build::Build;
use super::super::in_flight::InstId;
use super::super::port::Port;
use super::super::shared::Shared;
use super::Caches;
use super::banks::{Bank, Banks};
use super::cache::{Answer, Cache, CacheCounters};
use super::coalesce::Access;
use super::incoming::Incoming;
use super::parts::Parts;
use super::served::{Load, Store};
use super::watch::{self, Watch};
use crate::config::MachineConfig;
use crate::kernel::MemKind;
use crate::packet::{Cycle, Purpose, Request, Token};
use crate::saved;
use crate::seam::{DataOutcome, WarpId};
use raddle_ptx::num::fit;

/// A request in the look-up queue of the data cache.
#[derive(Clone, Copy, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Lookup {
    /// When it gets there.
    pub(super) at: Cycle,
    pub(super) inst: InstId,
    pub(super) access: Access,
    /// Whom it serves, a [`Load`] or a [`Store`].
    pub(super) token: Token,
}

/// Requests that are made.
pub(super) struct Outgoing {
    /// The instruction that sends its requests.
    pub(super) current: Option<InstId>,
    pub(super) banks: Banks,
    pub(super) sector: u32,
    /// Stores are acknowledged.
    pub(super) write_replies: bool,
    /// The last request could not be sent.
    pub(super) stalled: bool,
    /// Why the current instruction could not send its request in the last cycle.
    pub(super) stuck: Stuck,
    /// Tells of what requests find there, if somebody asks.
    pub(super) watch: Watch,
}

saved!(Outgoing {
    values: current, stalled, stuck, watch;
    parts: banks;
    fixed: sector, write_replies;
});

/// Why the current instruction could not send its request: it will fail again until that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Stuck {
    /// It could.
    No,
    /// The look-up queue of a bank of the data cache is full.
    Lookups(u8),
    /// The port has fewer flits than this.
    Port(u32),
    /// The constant cache refused at this version.
    Constant(u64),
    /// The texture cache refused at this version.
    Texture(u64),
}

/// What requests go to, and through.
pub(super) struct Desk<'a, 'k, B> {
    pub(super) on: &'a mut Shared<'k, B>,
    pub(super) caches: &'a mut Caches,
    pub(super) parts: &'a mut Parts,
    pub(super) back: &'a mut Incoming,
    pub(super) port: &'a mut Port,
    pub(super) now: Cycle,
}

impl<B: Build> Desk<'_, '_, B> {
    pub(super) fn send(&mut self, request: Request, sector: u32) {
        self.on.emit_request(self.now, &request);
        self.port.send(request, sector, self.now);
    }

    /// Hits, hits of outstanding lines and misses of the data cache so far.
    #[inline]
    fn found(&self) -> [u64; 3] {
        let CacheCounters { hits, pending_hits, misses, .. } = self.caches.l1d.counters;
        [hits, pending_hits, misses]
    }

    /// Charges what a look-up in the data cache has counted since to its operation.
    #[inline]
    fn charge_lookup(&mut self, pc: u32, before: [u64; 3]) {
        let now = self.found();
        if let Some(row) = self.on.account.row(pc) {
            row.l1d_hits += now[0] - before[0];
            row.l1d_pending_hits += now[1] - before[1];
            row.l1d_misses += now[2] - before[2];
        }
    }

    pub(super) fn stalls(&mut self) {
        self.on.account.counters.memory_stalls += 1;
    }
}

impl Outgoing {
    pub(super) fn new(config: &MachineConfig) -> Self {
        Self {
            current: None,
            banks: Banks::new(&config.sm),
            sector: config.l2.sector,
            write_replies: config.interconnect.write_replies,
            stalled: false,
            stuck: Stuck::No,
            watch: Watch::default(),
        }
    }

    /// Whether nothing is in it.
    #[inline]
    pub(super) fn is_empty<B: Build>(&self) -> bool {
        self.current.is_none() && self.banks.are_empty::<B>()
    }

    /// Whether it holds something the port did not take.
    pub(super) fn waits_for_port(&self) -> bool {
        matches!(self.stuck, Stuck::Port(_))
    }

    /// Whether something in it moves in this cycle.
    pub(super) fn is_busy<B: Build>(&self, caches: &Caches, port: &Port, now: Cycle) -> bool {
        self.current.is_some() && !self.is_stuck::<B>(caches, port)
            || self.next_lookup::<B>(&caches.l1d).is_some_and(|at| at <= now)
    }

    /// When the first look-up reaches the tags, unless it is known to be refused.
    #[inline]
    pub(super) fn next_lookup<B: Build>(&self, l1d: &Cache) -> Option<Cycle> {
        self.banks.next_lookup::<B>(l1d.version())
    }

    /// Whether the current instruction would fail again to send its request.
    fn is_stuck<B: Build>(&self, caches: &Caches, port: &Port) -> bool {
        match self.stuck {
            Stuck::No => false,
            Stuck::Lookups(bank) => self.is_full::<B>(&caches.l1d, bank.into()),
            Stuck::Port(flits) => port.free_flits < flits,
            Stuck::Constant(version) => caches.l1c.version() == version,
            Stuck::Texture(version) => caches.l1t.version() == version,
        }
    }

    /// Whether the look-up queue of a bank of the data cache takes no more.
    #[inline]
    pub(super) fn is_full<B: Build>(&self, l1d: &Cache, bank: usize) -> bool {
        self.banks.at::<B>(bank).lookups.len() >= l1d.latency().max(1)
    }

    /// The bank of an address.
    #[inline]
    pub(super) fn bank_of<B: Build>(&self, address: u64) -> usize {
        // Their number is a power of two.
        if B::PLAIN { 0 } else { fit((address / u64::from(self.sector)) & (self.banks.count::<B>() as u64 - 1)) }
    }

    /// Counts refusals of cycles in which nothing moved; gives the stalls among them.
    pub(super) fn skip<B: Build>(&mut self, caches: &mut Caches, now: Cycle, cycles: u64) -> u64 {
        let mut stalls = 0;
        for _ in (0..self.banks.count::<B>()).filter(|bank| self.banks.at::<B>(*bank).has_lookup(now)) {
            caches.l1d.counters.reservation_fails += cycles;
            stalls += cycles;
        }
        if self.current.is_some() {
            stalls += cycles;
            match self.stuck {
                Stuck::Constant(_) => caches.l1c.counters.reservation_fails += cycles,
                Stuck::Texture(_) => caches.l1t.counters.reservation_fails += cycles,
                _ => {}
            }
        }
        stalls
    }

    /// Each cache sends one request.
    pub(super) fn send_misses<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>) {
        if desk.caches.l1t.queue.front().is_some_and(|r| desk.port.accepts(r))
            && let Some(request) = desk.caches.l1t.pop_request()
        {
            desk.send(request, self.sector);
        }
        for data in [false, true] {
            let cache = if data { &mut desk.caches.l1d } else { &mut desk.caches.l1c };
            if cache.queue.front().is_some_and(|r| desk.port.accepts(r))
                && let Some(request) = cache.pop_request()
            {
                if data && !request.purpose.is_write() {
                    desk.back.line_sent::<B>(&request, desk.now);
                }
                desk.send(request, self.sector);
            }
        }
    }

    /// Each bank looks one up.
    pub(super) fn look_up<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>) {
        self.stalled = false;
        for bank in 0..self.banks.count::<B>() {
            if self.banks.at::<B>(bank).has_lookup(desk.now) && !self.look_up_in(desk, bank) {
                self.stalled = true;
                desk.stalls();
            }
        }
    }

    /// Looks up the first request of a bank; false when it is refused.
    fn look_up_in<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>, bank: usize) -> bool {
        let refused = self.banks.at::<B>(bank).refused;
        let is_refused = match self.banks.count::<B>() {
            1 => refused.is_some() && desk.caches.l1d.still_refuses(),
            _ => refused == Some(desk.caches.l1d.version()),
        };
        if is_refused {
            desk.caches.l1d.refuse_again();
            self.banks.at_mut::<B>(bank).refused = Some(desk.caches.l1d.version());
            return false;
        }
        let Some(&Lookup { at, inst, access, token }) = self.banks.at::<B>(bank).lookups.front() else { return true };
        let pc = desk.on.insts.get(inst).pc;
        let is_store = desk.on.op(pc).mem == MemKind::Store;
        let (purpose, origin) = (purpose(is_store, desk.on.insts.get(inst).local), desk.on.facts.origin::<B>(pc));
        let before = if B::PROFILED { desk.found() } else { [0; 3] };
        let answer = if is_store {
            let Access { address, bytes, byte_mask, .. } = access;
            let (sm, posted) = (desk.on.facts.id, !self.write_replies);
            let request = Request { sm, token, purpose, address, bytes, posted, byte_mask, atomic: None, origin };
            desk.caches.l1d.write(request, desk.now)
        } else {
            desk.caches.l1d.read(access.address, purpose, token, desk.now)
        };
        if B::PROFILED {
            desk.caches.l1d.name_origin(origin);
            desk.charge_lookup(pc, before);
        }
        if watch::is_wanted(desk.on) {
            let line = desk.caches.l1d.line_of(access.address);
            let lookup = Lookup { at, inst, access, token };
            self.watch.looked_up(desk.on, desk.parts, &lookup, line, is_store, outcome(answer));
        }
        if answer == Answer::Fail {
            self.banks.at_mut::<B>(bank).refused = Some(desk.caches.l1d.version());
            return false;
        }
        let Bank { lookups, refused } = self.banks.at_mut::<B>(bank);
        *refused = None;
        lookups.drop_front();
        if is_store && (answer == Answer::Hit || !self.write_replies) {
            // The line keeps it, or no store is acknowledged.
            desk.parts.store_kept(desk.on, Store::of(token), access.bytes.div_ceil(self.sector));
        }
        if desk.on.insts.is_carrier(inst) {
            desk.parts.looked_up(&mut desk.on.insts, inst, self.current);
        } else if is_store {
            self.store_left(desk.on, inst);
        }
        if !is_store && answer == Answer::Hit {
            desk.parts.came(desk.on, Load::of(token), self.current);
        }
        true
    }

    /// A store's request has left the look-up queue; the last one ends the instruction's entry.
    fn store_left<B: Build>(&self, on: &mut Shared<'_, B>, inst: InstId) {
        let entry = on.insts.get_mut(inst);
        entry.pending -= 1;
        let (warp, done) = (WarpId(entry.warp), entry.pending == 0 && self.current != Some(inst));
        if done {
            on.insts.release(inst);
        }
        on.warps.refresh(warp);
    }
}

/// What mechanisms call an answer of the data cache.
fn outcome(answer: Answer) -> DataOutcome {
    match answer {
        Answer::Hit => DataOutcome::Hit,
        Answer::Pending => DataOutcome::Pending,
        Answer::Miss => DataOutcome::Miss,
        Answer::Fail => DataOutcome::Refused,
    }
}

/// Why an access to global or local memory makes a request.
pub(super) fn purpose(is_store: bool, local: bool) -> Purpose {
    match (is_store, local) {
        (true, true) => Purpose::LocalWrite,
        (true, false) => Purpose::GlobalWrite,
        (false, true) => Purpose::LocalRead,
        (false, false) => Purpose::GlobalRead,
    }
}
