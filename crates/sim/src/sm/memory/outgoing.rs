//! How an instruction in the load-store unit hands out its requests: to shared memory, the caches or the interconnect.

use super::super::build::Build;
use super::super::collector::InstId;
use super::super::port::Port;
use super::super::shared::Shared;
use super::cache::{Answer, Cache};
use super::coalesce::Access;
use super::incoming::Incoming;
use super::parts::Parts;
use super::{Caches, PAST_L1};
use crate::config::MachineConfig;
use crate::kernel::MemKind;
use crate::packet::{Cycle, Purpose, Request};
use crate::saved;
use crate::seam::WarpId;
use std::collections::VecDeque;

/// A request in the look-up queue of the data cache.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
struct Lookup {
    /// When it gets there.
    at: Cycle,
    inst: InstId,
    access: Access,
    token: u32,
}

/// Requests that are made.
pub(super) struct Outgoing {
    /// The instruction that hands out its requests.
    pub(super) current: Option<InstId>,
    lookups: VecDeque<Lookup>,
    sector: u32,
    /// Stores are acknowledged.
    write_replies: bool,
    /// The last request could not be handed on.
    pub(super) stalled: bool,
    /// Why the current instruction could not hand on its request in the last cycle.
    stuck: Stuck,
    /// The data cache refused the first look-up when it was at this version.
    refused: Option<u64>,
}

saved!(Outgoing {
    values: current, lookups, stalled, stuck, refused;
    fixed: sector, write_replies;
});

/// Why the current instruction could not hand on its request: it will fail again until that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Stuck {
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
    fn send(&mut self, request: Request, sector: u32) {
        self.on.emit_request(self.now, &request);
        self.port.send(request, sector, self.now);
    }

    fn stalls(&mut self) {
        self.on.account.counters.memory_stalls += 1;
    }
}

impl Outgoing {
    pub(super) fn new(config: &MachineConfig) -> Self {
        Self {
            current: None,
            lookups: VecDeque::new(),
            sector: config.l2.sector,
            write_replies: config.interconnect.write_replies,
            stalled: false,
            stuck: Stuck::No,
            refused: None,
        }
    }

    /// Whether nothing is in it.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.current.is_none() && self.lookups.is_empty()
    }

    /// Whether it holds something the port did not take.
    pub(super) fn waits_for_port(&self) -> bool {
        matches!(self.stuck, Stuck::Port(_))
    }

    /// Whether something in it moves in this cycle.
    pub(super) fn is_busy(&self, caches: &Caches, port: &Port, now: Cycle) -> bool {
        self.current.is_some() && !self.is_stuck(caches, port)
            || self.next_lookup(&caches.l1d).is_some_and(|at| at <= now)
    }

    /// When the first look-up reaches the tags, unless it is known to be refused.
    pub(super) fn next_lookup(&self, l1d: &Cache) -> Option<Cycle> {
        self.lookups.front().map(|l| l.at).filter(|_| self.refused != Some(l1d.version()))
    }

    /// Whether the current instruction would fail again to hand on its request.
    fn is_stuck(&self, caches: &Caches, port: &Port) -> bool {
        match self.stuck {
            Stuck::No => false,
            Stuck::Lookups => self.is_full(&caches.l1d),
            Stuck::Port(flits) => port.free_flits < flits,
            Stuck::Constant(version) => caches.l1c.version() == version,
            Stuck::Texture(version) => caches.l1t.version() == version,
        }
    }

    /// Whether the look-up queue of the data cache takes no more.
    fn is_full(&self, l1d: &Cache) -> bool {
        self.lookups.len() >= l1d.latency().max(1) as usize
    }

    /// Counts refusals of cycles in which nothing moved; gives the stalls among them.
    pub(super) fn skip(&mut self, caches: &mut Caches, now: Cycle, cycles: u64) -> u64 {
        let mut stalls = 0;
        if self.lookups.front().is_some_and(|l| l.at <= now) {
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
                    desk.back.line_sent(request.token, desk.now);
                }
                desk.send(request, self.sector);
            }
        }
    }

    /// The request that has reached the tags of the data cache.
    pub(super) fn look_up<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>) {
        let Some(&Lookup { at, inst, access, token }) = self.lookups.front() else { return };
        if at > desk.now {
            return;
        }
        let is_store = desk.on.op_of(inst).mem == MemKind::Store;
        let purpose = purpose(is_store, desk.on.insts.get(inst).local);
        let answer = if is_store {
            let Access { address, bytes, byte_mask, .. } = access;
            let (sm, posted) = (desk.on.facts.id, !self.write_replies);
            let request = Request { sm, token, purpose, address, bytes, posted, byte_mask, atomic: None };
            desk.caches.l1d.write(request, desk.now)
        } else {
            desk.caches.l1d.read(access.address, purpose, token, desk.now)
        };
        self.stalled = answer == Answer::Fail;
        if answer == Answer::Fail {
            self.refused = Some(desk.caches.l1d.version());
            desk.stalls();
            return;
        }
        self.refused = None;
        self.lookups.pop_front();
        if is_store && (answer == Answer::Hit || !self.write_replies) {
            // The line keeps it, or no store is acknowledged.
            desk.parts.store_kept(desk.on, token, access.bytes.div_ceil(self.sector));
        }
        if desk.on.insts.is_carrier(inst) {
            desk.parts.looked_up(&mut desk.on.insts, inst, self.current);
        } else if is_store {
            self.store_left(desk.on, inst);
        }
        if !is_store && answer == Answer::Hit {
            desk.parts.came(desk.on, token, self.current);
        }
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

    /// The current instruction hands out a request.
    pub(super) fn hand_out<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>) {
        let Some(inst) = self.current else { return };
        self.stuck = Stuck::No;
        let entry = desk.on.insts.get_mut(inst);
        let op = desk.on.facts.op(entry.pc);
        let done = match op.mem {
            _ if entry.bank_cycles > 1 => {
                entry.bank_cycles -= 1;
                desk.on.account.counters.shared_conflicts += 1;
                false
            }
            _ if entry.accesses.is_empty() => true,
            MemKind::Const => self.hand_to_l1c(desk, inst),
            MemKind::Texture => self.hand_to_l1t(desk, inst),
            MemKind::Atomic => self.hand_atomic(desk, inst),
            _ if op.bypass_l1 || !desk.caches.l1d.is_present() => self.hand_past_l1(desk, inst),
            _ => self.hand_to_l1(desk, inst),
        };
        if done {
            self.leave(desk, inst);
        }
    }

    /// All requests are handed out.
    fn leave<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>, inst: InstId) {
        let on = &mut *desk.on;
        let entry = on.insts.get(inst);
        let op = on.facts.op(entry.pc);
        if entry.shared && op.mem != MemKind::Store && !op.writes().is_empty() {
            if desk.back.enters_shared(inst, desk.now) {
                self.current = None;
            }
            return;
        }
        self.current = None;
        self.stalled = false;
        if !entry.members.is_empty() {
            desk.parts.leave(on, inst);
            return;
        }
        match op.mem {
            MemKind::Store => {
                // The instruction is done; its entry stays until its requests have left the queue.
                let stays = entry.pending != 0 && desk.caches.l1d.is_present() && !op.bypass_l1 && !entry.shared;
                on.warps.complete_store(entry);
                if !stays {
                    on.insts.release(inst);
                }
            }
            _ if entry.pending == 0 => on.complete(inst),
            _ => {}
        }
    }

    fn hand_to_l1c<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>, inst: InstId) -> bool {
        let Some(&access) = desk.on.insts.get(inst).accesses.last() else { return true };
        let token = desk.parts.token(&desk.on.insts, inst, &access, 1, inst);
        let cache = &mut desk.caches.l1c;
        let answer = match cache.is_present() {
            true => cache.read(access.address, Purpose::Const, token, desk.now),
            false => Answer::Hit,
        };
        let (latency, refused) = (cache.latency(), Stuck::Constant(cache.version()));
        let Some(empty) = self.answered(desk, inst, token, answer, refused) else { return false };
        if answer == Answer::Hit {
            if latency > 0 {
                desk.back.hits_at(desk.now + Cycle::from(latency), token);
            } else if token == inst {
                desk.on.insts.get_mut(inst).pending -= 1;
            } else {
                desk.parts.hit(&mut desk.on.insts, token);
            }
        }
        empty
    }

    fn hand_to_l1t<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>, inst: InstId) -> bool {
        let Some(&access) = desk.on.insts.get(inst).accesses.last() else { return true };
        let token = desk.parts.token(&desk.on.insts, inst, &access, 1, inst);
        let answer = desk.caches.l1t.read(access.address, token, desk.now);
        let refused = Stuck::Texture(desk.caches.l1t.version());
        self.answered(desk, inst, token, answer, refused).unwrap_or(false)
    }

    /// A cache has answered the first request of an instruction: whether it was its last, `None` if it was refused.
    fn answered<B: Build>(
        &mut self,
        desk: &mut Desk<'_, '_, B>,
        inst: InstId,
        token: u32,
        answer: Answer,
        refused: Stuck,
    ) -> Option<bool> {
        self.stalled = answer == Answer::Fail;
        if answer == Answer::Fail {
            self.stuck = refused;
            desk.stalls();
            if token != inst {
                desk.parts.release(token);
            }
            return None;
        }
        let entry = desk.on.insts.get_mut(inst);
        entry.accesses.pop();
        Some(entry.accesses.is_empty())
    }

    fn hand_to_l1<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>, inst: InstId) -> bool {
        if self.is_full(&desk.caches.l1d) {
            self.stuck = Stuck::Lookups;
            desk.stalls();
            return false;
        }
        let entry = desk.on.insts.get_mut(inst);
        let Some(access) = entry.accesses.pop() else { return true };
        let (warp, empty) = (entry.warp, entry.accesses.is_empty());
        entry.pending += u32::from(!entry.members.is_empty());
        let is_store = desk.on.facts.op(entry.pc).mem == MemKind::Store;
        let sectors = access.bytes.div_ceil(self.sector);
        let (replies, own) = if is_store { (sectors, u32::from(warp)) } else { (1, inst) };
        let token = desk.parts.token(&desk.on.insts, inst, &access, replies, own);
        let at = desk.now + Cycle::from(desk.caches.l1d.latency());
        self.lookups.push_back(Lookup { at, inst, access, token });
        if is_store {
            desk.parts.for_each_warp(token, |warp| desk.on.warps.front_mut(warp).stores += sectors);
        }
        empty
    }

    /// Loads that go past the L1, and everything when there is none.
    fn hand_past_l1<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>, inst: InstId) -> bool {
        let entry = desk.on.insts.get(inst);
        let Some(&access) = entry.accesses.last() else { return true };
        let Access { address, bytes, byte_mask, .. } = access;
        let is_store = desk.on.facts.op(entry.pc).mem == MemKind::Store;
        let purpose = purpose(is_store, entry.local);
        let token = if is_store { u32::from(entry.warp) } else { inst | PAST_L1 };
        let (sm, posted) = (desk.on.facts.id, is_store && !self.write_replies);
        let mut request = Request { sm, token, purpose, address, bytes, posted, byte_mask, atomic: None };
        if !desk.port.accepts(&request) {
            self.port_is_full(desk, &request);
            return false;
        }
        let replies = bytes.div_ceil(self.sector);
        let token = desk.parts.token(&desk.on.insts, inst, &access, replies, token & !PAST_L1);
        request.token = token | request.token & PAST_L1;
        let entry = desk.on.insts.get_mut(inst);
        entry.accesses.pop();
        let empty = entry.accesses.is_empty();
        if is_store {
            desk.parts.for_each_warp(token, |warp| desk.on.warps.front_mut(warp).stores += replies);
        } else if entry.members.is_empty() {
            // Every sector comes by itself.
            entry.pending += replies - 1;
        }
        if posted {
            desk.parts.store_kept(desk.on, token, replies);
        }
        self.stalled = false;
        desk.send(request, self.sector);
        empty
    }

    fn hand_atomic<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>, inst: InstId) -> bool {
        let entry = desk.on.insts.get_mut(inst);
        let Some(&access) = entry.accesses.last() else { return true };
        let Access { address, bytes, .. } = access;
        let mut request = Request {
            sm: desk.on.facts.id,
            token: inst | PAST_L1,
            purpose: Purpose::Atomic,
            address,
            bytes,
            posted: false,
            byte_mask: u128::MAX,
            atomic: entry.work.pop(),
        };
        if !desk.port.accepts(&request) {
            self.port_is_full(desk, &request);
            desk.on.insts.get_mut(inst).work.extend(request.atomic);
            return false;
        }
        let replies = bytes.div_ceil(self.sector);
        request.token = desk.parts.token(&desk.on.insts, inst, &access, replies, inst) | PAST_L1;
        let entry = desk.on.insts.get_mut(inst);
        entry.accesses.pop();
        if entry.members.is_empty() {
            entry.pending += replies - 1;
        }
        let empty = entry.accesses.is_empty();
        self.stalled = false;
        desk.send(request, self.sector);
        empty
    }

    fn port_is_full<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>, request: &Request) {
        self.stuck = Stuck::Port(desk.port.flits(request));
        self.stalled = true;
        desk.stalls();
    }
}

/// Why an access to global or local memory makes a request.
fn purpose(is_store: bool, local: bool) -> Purpose {
    match (is_store, local) {
        (true, true) => Purpose::LocalWrite,
        (true, false) => Purpose::GlobalWrite,
        (false, true) => Purpose::LocalRead,
        (false, false) => Purpose::GlobalRead,
    }
}
