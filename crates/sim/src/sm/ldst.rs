//! The load-store unit: one instruction at a time hands its requests to shared memory, the caches or the
//! interconnect; results come back through one write-back port.

use super::Sm;
use super::cache::{Answer, Cache};
use super::coalesce::Access;
use super::collector::InstId;
use super::port::Port;
use crate::config::MachineConfig;
use crate::event::EventKind;
use crate::kernel::{MemKind, UnitKind};
use crate::packet::{Cycle, Purpose, Reply, Request};
use crate::seam::WarpId;
use raddle_exec::core::Lanes;
use std::collections::VecDeque;

/// Marks tokens of requests that go past the L1.
const PAST_L1: u32 = 1 << 31;

/// Who may use the write-back port, in turn.
const CLIENTS: usize = 5;

/// The load-store unit.
pub struct LoadStore {
    /// Data cache.
    pub l1d: Cache,
    /// Constant cache.
    pub l1c: Cache,
    /// Texture cache.
    pub l1t: Cache,
    /// The instruction that hands out its requests.
    current: Option<InstId>,
    /// Requests on their way to the data cache's tags, with the time they get there.
    lookups: VecDeque<(Cycle, InstId, Access)>,
    /// Loads on their way through shared memory, with the time they are done.
    shared: VecDeque<(Cycle, InstId)>,
    /// Hits of the constant and the texture cache, with the time their data come.
    hits: [VecDeque<(Cycle, InstId)>; 2],
    /// What is written to the registers in this cycle.
    writeback: Option<InstId>,
    turn: usize,
    /// A reply that went past the L1 and waits for the write-back port.
    past_l1: Option<InstId>,
    /// Replies that have come into the SM.
    responses: VecDeque<Reply>,
    /// Replies at the port.
    ejected: VecDeque<Reply>,
    /// When each line of the data cache was sent for.
    sent_at: Vec<Cycle>,
    response_queue: usize,
    ejection_buffer: usize,
    shared_latency: u32,
    sector: u32,
    stalled: bool,
    /// Why the current instruction could not hand on its request in the last cycle.
    stuck: Stuck,
    /// The data cache refused the first look-up when it was at this version.
    refused: Option<u64>,
}

/// Why the current instruction could not hand on its request: it will fail again until that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl LoadStore {
    pub(super) fn new(config: &MachineConfig, sm: u16) -> Self {
        let cache = |c| Cache::new(c, sm, config.l2.sector);
        Self {
            l1d: cache(&config.sm.l1d),
            l1c: cache(&config.sm.l1c),
            l1t: cache(&config.sm.l1t),
            current: None,
            lookups: VecDeque::new(),
            shared: VecDeque::new(),
            hits: Default::default(),
            writeback: None,
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
            && self.hits[0].is_empty()
            && self.hits[1].is_empty()
            && self.l1d.is_quiet()
            && self.l1c.is_quiet()
            && self.l1t.is_quiet()
    }

    /// Whether an instruction is handing out its requests.
    pub(super) fn is_occupied(&self) -> bool {
        self.current.is_some()
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
        let sends = |cache: &Cache| cache.queue.front().is_some_and(|r| port.accepts(r));
        self.current.is_some() && !self.is_stuck(port)
            || self.writeback.is_some()
            || self.past_l1.is_some()
            || !self.responses.is_empty()
            || !self.ejected.is_empty()
            || self.lookups.front().is_some_and(|l| l.0 <= now) && !self.is_refused()
            || self.shared.front().is_some_and(|s| s.0 <= now)
            || self.hits.iter().any(|h| h.front().is_some_and(|h| h.0 <= now))
            || [&self.l1d, &self.l1c, &self.l1t].iter().any(|c| c.has_ready() || sends(c))
    }

    /// When something in it next moves by itself.
    pub(super) fn next_event(&self) -> Option<Cycle> {
        let lookup = self.lookups.front().map(|l| l.0).filter(|_| !self.is_refused());
        let shared = self.shared.front().map(|s| s.0);
        let hits = self.hits.iter().filter_map(|h| h.front().map(|h| h.0));
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

impl Sm<'_> {
    /// Replies: one goes from the port into the SM, one from the interconnect to the port.
    pub(super) fn receive(&mut self, now: Cycle) {
        if let Some(reply) = self.ldst.ejected.front() {
            if reply.purpose == Purpose::Inst {
                let token = reply.token;
                self.ldst.ejected.pop_front();
                self.port.received += 1;
                self.fetch.cache.fill(token, now);
            } else if self.ldst.responses.len() < self.ldst.response_queue
                && let Some(reply) = self.ldst.ejected.pop_front()
            {
                self.port.received += 1;
                self.ldst.responses.push_back(reply);
            }
        }
        if self.ldst.ejected.len() < self.ldst.ejection_buffer
            && self.port.inbox.front().is_some_and(|r| r.0 <= now)
            && let Some((_, reply)) = self.port.inbox.pop_front()
        {
            self.ldst.ejected.push_back(reply);
        }
    }

    /// A reply will arrive at `at`. All sectors of a line but the last count at once.
    pub fn deliver(&mut self, at: Cycle, reply: Reply) {
        let cache = match reply.purpose {
            Purpose::Inst => &mut self.fetch.cache,
            Purpose::Const => &mut self.ldst.l1c,
            Purpose::Texture => &mut self.ldst.l1t,
            Purpose::GlobalRead | Purpose::LocalRead if reply.token & PAST_L1 == 0 => &mut self.ldst.l1d,
            _ => return self.port.inbox.push_back((at, reply)),
        };
        if cache.absorb(reply.token) {
            self.port.received += 1;
            let data = matches!(reply.purpose, Purpose::GlobalRead | Purpose::LocalRead);
            self.counters.reads_done += u64::from(data);
        } else {
            self.port.inbox.push_back((at, reply));
        }
    }

    pub(super) fn ldst_cycle(&mut self, now: Cycle) {
        if self.collector.output[UnitKind::Mem as usize].is_empty() && self.ldst.is_empty() {
            return;
        }
        self.ldst_writeback(now);
        self.take_response(now);
        self.send_misses(now);
        self.take_hits(now);
        self.look_up(now);
        self.hand_out(now);
        if self.ldst.current.is_none()
            && let Some(inst) = self.collector.take(UnitKind::Mem)
        {
            self.ldst.current = Some(inst);
            let entry = self.insts.get_mut(inst);
            entry.pending = entry.accesses.len() as u32;
        }
    }

    /// One cycle of the operand collector.
    pub(super) fn collect(&mut self) {
        let (insts, ops) = (&self.insts, &self.kernel.ops);
        self.collector.step(|inst| {
            let entry = insts.get(inst);
            (ops[entry.pc as usize].reads(), entry.warp)
        });
    }

    /// Registers are written; then the port takes the next result.
    fn ldst_writeback(&mut self, now: Cycle) {
        if let Some(inst) = self.ldst.writeback {
            let entry = self.insts.get(inst);
            let warp = entry.warp;
            let numbers = self.op(entry.pc).write_numbers();
            let mut free = true;
            for number in numbers {
                free &= self.collector.write(*number, warp);
            }
            if free {
                self.ldst.writeback = None;
                let entry = self.insts.get_mut(inst);
                if !entry.shared {
                    entry.pending -= 1;
                }
                if entry.shared || entry.pending == 0 && self.ldst.current != Some(inst) {
                    self.complete(inst);
                }
            }
        }
        if self.ldst.writeback.is_some() {
            return;
        }
        for step in 0..CLIENTS {
            let client = (self.ldst.turn + step) % CLIENTS;
            let found = match client {
                0 if self.ldst.shared.front().is_some_and(|s| s.0 <= now) => self.ldst.shared.pop_front().map(|s| s.1),
                1 => self.ldst.l1t.next_ready(),
                2 => self.ldst.l1c.next_ready(),
                3 => self.ldst.past_l1.take(),
                4 => self.ldst.l1d.next_ready(),
                _ => None,
            };
            if found.is_some() {
                self.ldst.writeback = found;
                self.ldst.turn = (client + 1) % CLIENTS;
                return;
            }
        }
    }

    /// One reply is used.
    fn take_response(&mut self, now: Cycle) {
        let Some(reply) = self.ldst.responses.front() else { return };
        let token = reply.token;
        match reply.purpose {
            Purpose::Texture => self.ldst.l1t.fill(token, now),
            Purpose::Const => self.ldst.l1c.fill(token, now),
            Purpose::GlobalWrite | Purpose::LocalWrite => {
                let warp = WarpId(token as u16);
                self.fronts[warp.index()].stores -= 1;
                self.ldst.responses.pop_front();
                self.refresh(warp);
                return;
            }
            _ if token & PAST_L1 != 0 => {
                if self.ldst.past_l1.is_some() {
                    return;
                }
                let inst = token & !PAST_L1;
                self.ldst.past_l1 = Some(inst);
                let Some(reply) = self.ldst.responses.pop_front() else { return };
                self.counters.reads_done += 1;
                self.counters.lines_done += 1;
                self.counters.read_latency += now - self.insts.get(inst).at;
                if let Some(work) = reply.atomic {
                    self.finish_atomic(inst, work);
                }
                return;
            }
            _ => {
                let before = self.ldst.l1d.has_ready();
                self.ldst.l1d.fill(token, now);
                self.counters.reads_done += 1;
                if !before && self.ldst.l1d.has_ready() {
                    self.counters.lines_done += 1;
                    self.counters.read_latency += now - self.ldst.sent_at[token as usize];
                }
            }
        }
        self.ldst.responses.pop_front();
    }

    /// Data of hits in the constant and texture cache have come.
    fn take_hits(&mut self, now: Cycle) {
        for which in 0..2 {
            while let Some(&(at, inst)) = self.ldst.hits[which].front()
                && at <= now
            {
                self.ldst.hits[which].pop_front();
                let entry = self.insts.get_mut(inst);
                entry.pending -= 1;
                if entry.pending == 0 && self.ldst.current != Some(inst) {
                    self.complete(inst);
                }
            }
        }
    }

    fn finish_atomic(&mut self, inst: InstId, work: Box<raddle_exec::atomics::AtomicWork>) {
        let entry = self.insts.get(inst);
        let (warp, pc, row) = (WarpId(entry.warp), entry.pc, entry.row);
        self.core.finish_atomic(&self.kernel.program.ops[pc as usize], Lanes::Row(row), &work);
        self.insts.spare_work.push(work);
        self.fronts[warp.index()].atomics -= 1;
        self.refresh(warp);
    }

    /// Each cache sends one request.
    fn send_misses(&mut self, now: Cycle) {
        for which in 0..3 {
            let cache = match which {
                0 => &mut self.ldst.l1t,
                1 => &mut self.ldst.l1c,
                _ => &mut self.ldst.l1d,
            };
            if cache.queue.front().is_some_and(|r| self.port.accepts(r))
                && let Some(request) = cache.pop_request()
            {
                if which == 2 && !request.purpose.is_write() {
                    self.ldst.sent_at[request.token as usize] = now;
                }
                self.send(request, now);
            }
        }
    }

    fn send(&mut self, request: Request, now: Cycle) {
        let write = request.purpose.is_write();
        self.emit(now, EventKind::Request { address: request.address, bytes: request.bytes, write });
        self.port.send(request, self.ldst.sector, now);
    }

    /// The request that has reached the tags of the data cache.
    fn look_up(&mut self, now: Cycle) {
        let Some(&(at, inst, access)) = self.ldst.lookups.front() else { return };
        if at > now {
            return;
        }
        let entry = self.insts.get(inst);
        let (warp, local) = (entry.warp, entry.local);
        let is_store = self.op(entry.pc).mem == MemKind::Store;
        let answer = if is_store {
            let purpose = if local { Purpose::LocalWrite } else { Purpose::GlobalWrite };
            let Access { address, bytes, byte_mask, .. } = access;
            let token = u32::from(warp);
            let request =
                Request { sm: self.id, token, purpose, address, bytes, posted: false, byte_mask, atomic: None };
            self.ldst.l1d.write(request, now)
        } else {
            let purpose = if local { Purpose::LocalRead } else { Purpose::GlobalRead };
            self.ldst.l1d.read(access.address, purpose, inst, now)
        };
        self.ldst.stalled = answer == Answer::Fail;
        if answer == Answer::Fail {
            self.ldst.refused = Some(self.ldst.l1d.version());
            self.counters.memory_stalls += 1;
            return;
        }
        self.ldst.refused = None;
        self.ldst.lookups.pop_front();
        if is_store {
            let front = &mut self.fronts[usize::from(warp)];
            if answer == Answer::Hit {
                // The line keeps it: nothing has to be acknowledged.
                front.stores -= access.bytes.div_ceil(self.ldst.sector);
            }
            self.store_left(inst);
        } else if answer == Answer::Hit {
            let entry = self.insts.get_mut(inst);
            entry.pending -= 1;
            if entry.pending == 0 && self.ldst.current != Some(inst) {
                self.complete(inst);
            }
        }
    }

    /// A store's request has left the look-up queue; the last one ends the instruction's entry.
    fn store_left(&mut self, inst: InstId) {
        let entry = self.insts.get_mut(inst);
        entry.pending -= 1;
        let (warp, done) = (WarpId(entry.warp), entry.pending == 0 && self.ldst.current != Some(inst));
        if done {
            self.insts.release(inst);
        }
        self.refresh(warp);
    }

    /// The current instruction hands out a request.
    fn hand_out(&mut self, now: Cycle) {
        let Some(inst) = self.ldst.current else { return };
        self.ldst.stuck = Stuck::No;
        let entry = self.insts.get(inst);
        let op = self.op(entry.pc);
        let done = match op.mem {
            _ if entry.bank_cycles > 1 => {
                self.insts.get_mut(inst).bank_cycles -= 1;
                self.counters.shared_conflicts += 1;
                false
            }
            _ if entry.accesses.is_empty() => true,
            MemKind::Const => self.read_only(inst, now, Purpose::Const),
            MemKind::Texture => self.read_only(inst, now, Purpose::Texture),
            MemKind::Atomic => self.hand_atomic(inst, now),
            _ if op.bypass_l1 && op.mem == MemKind::Load || !self.ldst.l1d.is_present() => self.hand_past_l1(inst, now),
            _ => self.hand_to_l1(inst, now),
        };
        if done {
            self.leave(inst, now);
        }
    }

    /// All requests are handed out.
    fn leave(&mut self, inst: InstId, now: Cycle) {
        let entry = self.insts.get(inst);
        let op = self.op(entry.pc);
        if entry.shared && op.mem != MemKind::Store && !op.writes().is_empty() {
            if self.ldst.shared.len() >= self.ldst.shared_latency as usize {
                return;
            }
            self.ldst.shared.push_back((now + Cycle::from(self.ldst.shared_latency), inst));
            self.ldst.current = None;
            return;
        }
        self.ldst.current = None;
        self.ldst.stalled = false;
        match op.mem {
            MemKind::Store => {
                // The instruction is done; its entry stays until its requests have left the queue.
                let warp = WarpId(entry.warp);
                if entry.pending == 0 || !self.ldst.l1d.is_present() || entry.shared {
                    self.insts.release(inst);
                }
                self.fronts[warp.index()].in_flight -= 1;
                self.refresh(warp);
            }
            _ if entry.pending == 0 => self.complete(inst),
            _ => {}
        }
    }

    fn read_only(&mut self, inst: InstId, now: Cycle, purpose: Purpose) -> bool {
        let Some(&access) = self.insts.get(inst).accesses.last() else { return true };
        let cache = if purpose == Purpose::Const { &mut self.ldst.l1c } else { &mut self.ldst.l1t };
        let answer = if cache.is_present() { cache.read(access.address, purpose, inst, now) } else { Answer::Hit };
        self.ldst.stalled = answer == Answer::Fail;
        if answer == Answer::Fail {
            self.ldst.stuck = match purpose {
                Purpose::Const => Stuck::Constant(self.ldst.l1c.version()),
                _ => Stuck::Texture(self.ldst.l1t.version()),
            };
            self.counters.memory_stalls += 1;
            return false;
        }
        let entry = self.insts.get_mut(inst);
        entry.accesses.pop();
        let empty = entry.accesses.is_empty();
        if answer == Answer::Hit {
            let constant = purpose == Purpose::Const;
            let latency = if constant { self.ldst.l1c.latency() } else { self.ldst.l1t.latency() };
            if latency == 0 {
                entry.pending -= 1;
            } else {
                self.ldst.hits[usize::from(!constant)].push_back((now + Cycle::from(latency), inst));
            }
        }
        empty
    }

    fn hand_to_l1(&mut self, inst: InstId, now: Cycle) -> bool {
        let latency = self.ldst.l1d.latency();
        if self.ldst.lookups.len() >= latency.max(1) as usize {
            self.ldst.stuck = Stuck::Lookups;
            self.counters.memory_stalls += 1;
            return false;
        }
        let entry = self.insts.get_mut(inst);
        let Some(access) = entry.accesses.pop() else { return true };
        let (warp, pc, empty) = (entry.warp, entry.pc, entry.accesses.is_empty());
        self.ldst.lookups.push_back((now + Cycle::from(latency), inst, access));
        if self.op(pc).mem == MemKind::Store {
            self.fronts[usize::from(warp)].stores += access.bytes.div_ceil(self.ldst.sector);
        }
        empty
    }

    /// Loads that go past the L1, and everything when there is none.
    fn hand_past_l1(&mut self, inst: InstId, now: Cycle) -> bool {
        let entry = self.insts.get(inst);
        let Some(&Access { address, bytes, byte_mask, .. }) = entry.accesses.last() else { return true };
        let is_store = self.op(entry.pc).mem == MemKind::Store;
        let purpose = match (is_store, entry.local) {
            (true, true) => Purpose::LocalWrite,
            (true, false) => Purpose::GlobalWrite,
            (false, true) => Purpose::LocalRead,
            (false, false) => Purpose::GlobalRead,
        };
        let token = if is_store { u32::from(entry.warp) } else { inst | PAST_L1 };
        let request = Request { sm: self.id, token, purpose, address, bytes, posted: false, byte_mask, atomic: None };
        if !self.port.accepts(&request) {
            self.ldst.stuck = Stuck::Port(self.port.flits(&request));
            self.ldst.stalled = true;
            self.counters.memory_stalls += 1;
            return false;
        }
        let replies = bytes.div_ceil(self.ldst.sector);
        let entry = self.insts.get_mut(inst);
        entry.accesses.pop();
        let (warp, empty) = (entry.warp, entry.accesses.is_empty());
        if is_store {
            self.fronts[usize::from(warp)].stores += replies;
        } else {
            // Every sector comes by itself.
            entry.pending += replies - 1;
        }
        self.ldst.stalled = false;
        self.send(request, now);
        empty
    }

    fn hand_atomic(&mut self, inst: InstId, now: Cycle) -> bool {
        let entry = self.insts.get_mut(inst);
        let Some(&Access { address, bytes, .. }) = entry.accesses.last() else { return true };
        let request = Request {
            sm: self.id,
            token: inst | PAST_L1,
            purpose: Purpose::Atomic,
            address,
            bytes,
            posted: false,
            byte_mask: u128::MAX,
            atomic: entry.work.pop(),
        };
        if !self.port.accepts(&request) {
            self.ldst.stuck = Stuck::Port(self.port.flits(&request));
            self.ldst.stalled = true;
            self.counters.memory_stalls += 1;
            self.insts.get_mut(inst).work.extend(request.atomic);
            return false;
        }
        let replies = bytes.div_ceil(self.ldst.sector);
        let entry = self.insts.get_mut(inst);
        entry.accesses.pop();
        entry.pending += replies - 1;
        let empty = entry.accesses.is_empty();
        self.ldst.stalled = false;
        self.send(request, now);
        empty
    }
}
