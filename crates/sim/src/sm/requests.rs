//! How an instruction in the load-store unit hands out its requests: to shared memory, the caches or the interconnect.

use super::cache::Answer;
use super::coalesce::Access;
use super::collector::InstId;
use super::ldst::{PAST_L1, Stuck};
use super::{Build, Sm};
use crate::event::EventKind;
use crate::kernel::MemKind;
use crate::packet::{Cycle, Purpose, Request};
use crate::seam::WarpId;

impl<B: Build> Sm<'_, B> {
    /// Each cache sends one request.
    pub(super) fn send_misses(&mut self, now: Cycle) {
        if self.ldst.l1t.queue.front().is_some_and(|r| self.port.accepts(r))
            && let Some(request) = self.ldst.l1t.pop_request()
        {
            self.send(request, now);
        }
        for data in [false, true] {
            let cache = if data { &mut self.ldst.l1d } else { &mut self.ldst.l1c };
            if cache.queue.front().is_some_and(|r| self.port.accepts(r))
                && let Some(request) = cache.pop_request()
            {
                if data && !request.purpose.is_write() {
                    self.ldst.sent_at[request.token as usize] = now;
                }
                self.send(request, now);
            }
        }
    }

    fn send(&mut self, request: Request, now: Cycle) {
        let write = request.purpose.is_write();
        self.emit_slot(now, EventKind::Request { address: request.address, bytes: request.bytes, write });
        self.port.send(request, self.ldst.sector, now);
    }

    /// The request that has reached the tags of the data cache.
    pub(super) fn look_up(&mut self, now: Cycle) {
        let Some(&(at, inst, access, token)) = self.ldst.lookups.front() else { return };
        if at > now {
            return;
        }
        let entry = self.insts.get(inst);
        let local = entry.local;
        let is_store = self.op(entry.pc).mem == MemKind::Store;
        let purpose = purpose(is_store, local);
        let answer = if is_store {
            let Access { address, bytes, byte_mask, .. } = access;
            let posted = !self.config.interconnect.write_replies;
            let request = Request { sm: self.id, token, purpose, address, bytes, posted, byte_mask, atomic: None };
            self.ldst.l1d.write(request, now)
        } else {
            self.ldst.l1d.read(access.address, purpose, token, now)
        };
        self.ldst.stalled = answer == Answer::Fail;
        if answer == Answer::Fail {
            self.ldst.refused = Some(self.ldst.l1d.version());
            self.counters.memory_stalls += 1;
            return;
        }
        self.ldst.refused = None;
        self.ldst.lookups.pop_front();
        if is_store && (answer == Answer::Hit || !self.config.interconnect.write_replies) {
            // The line keeps it, or no store is acknowledged.
            self.store_kept(token, access.bytes.div_ceil(self.ldst.sector));
        }
        if self.is_carrier(inst) {
            self.joint_looked_up(inst);
        } else if is_store {
            self.store_left(inst);
        }
        if !is_store && answer == Answer::Hit {
            self.part_came(token);
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
    pub(super) fn hand_out(&mut self, now: Cycle) {
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
            MemKind::Const => self.hand_to_l1c(inst, now),
            MemKind::Texture => self.hand_to_l1t(inst, now),
            MemKind::Atomic => self.hand_atomic(inst, now),
            _ if op.bypass_l1 || !self.ldst.l1d.is_present() => self.hand_past_l1(inst, now),
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
        if !entry.members.is_empty() {
            self.joint_leaves(inst);
            return;
        }
        match op.mem {
            MemKind::Store => {
                // The instruction is done; its entry stays until its requests have left the queue.
                let warp = WarpId(entry.warp);
                self.fronts[warp.index()].in_flight -= 1;
                if self.regroups() {
                    entry.for_each_row(|row, lanes| self.scoreboard.set_busy(row, lanes, false, false));
                }
                if entry.pending == 0 || !self.ldst.l1d.is_present() || op.bypass_l1 || entry.shared {
                    self.insts.release(inst);
                }
                self.refresh(warp);
                if self.regroups() {
                    self.finish(warp);
                }
            }
            _ if entry.pending == 0 => self.complete(inst),
            _ => {}
        }
    }

    fn hand_to_l1c(&mut self, inst: InstId, now: Cycle) -> bool {
        let Some(&access) = self.insts.get(inst).accesses.last() else { return true };
        let token = self.token(inst, &access, 1, inst);
        let cache = &mut self.ldst.l1c;
        let answer =
            if cache.is_present() { cache.read(access.address, Purpose::Const, token, now) } else { Answer::Hit };
        let (latency, refused) = (cache.latency(), Stuck::Constant(cache.version()));
        let Some(empty) = self.answered(inst, token, answer, refused) else { return false };
        if answer == Answer::Hit {
            if latency > 0 {
                self.ldst.hits.push_back((now + Cycle::from(latency), token));
            } else if token == inst {
                self.insts.get_mut(inst).pending -= 1;
            } else {
                self.joint_hit(token);
            }
        }
        empty
    }

    fn hand_to_l1t(&mut self, inst: InstId, now: Cycle) -> bool {
        let Some(&access) = self.insts.get(inst).accesses.last() else { return true };
        let token = self.token(inst, &access, 1, inst);
        let answer = self.ldst.l1t.read(access.address, token, now);
        let refused = Stuck::Texture(self.ldst.l1t.version());
        self.answered(inst, token, answer, refused).unwrap_or(false)
    }

    /// A cache has answered the first request of an instruction: whether it was its last, `None` if it was refused.
    fn answered(&mut self, inst: InstId, token: u32, answer: Answer, refused: Stuck) -> Option<bool> {
        self.ldst.stalled = answer == Answer::Fail;
        if answer == Answer::Fail {
            self.ldst.stuck = refused;
            self.counters.memory_stalls += 1;
            if token != inst {
                self.parts.release(token);
            }
            return None;
        }
        let entry = self.insts.get_mut(inst);
        entry.accesses.pop();
        Some(entry.accesses.is_empty())
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
        entry.pending += u32::from(!entry.members.is_empty());
        let sectors = access.bytes.div_ceil(self.ldst.sector);
        let is_store = self.op(pc).mem == MemKind::Store;
        let (replies, own) = if is_store { (sectors, u32::from(warp)) } else { (1, inst) };
        let token = self.token(inst, &access, replies, own);
        self.ldst.lookups.push_back((now + Cycle::from(latency), inst, access, token));
        if is_store {
            self.for_each_front(token, |front| front.stores += sectors);
        }
        empty
    }

    /// Loads that go past the L1, and everything when there is none.
    fn hand_past_l1(&mut self, inst: InstId, now: Cycle) -> bool {
        let entry = self.insts.get(inst);
        let Some(&access) = entry.accesses.last() else { return true };
        let Access { address, bytes, byte_mask, .. } = access;
        let is_store = self.op(entry.pc).mem == MemKind::Store;
        let purpose = purpose(is_store, entry.local);
        let token = if is_store { u32::from(entry.warp) } else { inst | PAST_L1 };
        let posted = is_store && !self.config.interconnect.write_replies;
        let mut request = Request { sm: self.id, token, purpose, address, bytes, posted, byte_mask, atomic: None };
        if !self.port.accepts(&request) {
            self.ldst.stuck = Stuck::Port(self.port.flits(&request));
            self.ldst.stalled = true;
            self.counters.memory_stalls += 1;
            return false;
        }
        let replies = bytes.div_ceil(self.ldst.sector);
        let token = self.token(inst, &access, replies, token & !PAST_L1);
        request.token = token | request.token & PAST_L1;
        let entry = self.insts.get_mut(inst);
        entry.accesses.pop();
        let empty = entry.accesses.is_empty();
        if is_store {
            self.for_each_front(token, |front| front.stores += replies);
        } else if entry.members.is_empty() {
            // Every sector comes by itself.
            entry.pending += replies - 1;
        }
        if posted {
            self.store_kept(token, replies);
        }
        self.ldst.stalled = false;
        self.send(request, now);
        empty
    }

    fn hand_atomic(&mut self, inst: InstId, now: Cycle) -> bool {
        let entry = self.insts.get_mut(inst);
        let Some(&access) = entry.accesses.last() else { return true };
        let Access { address, bytes, .. } = access;
        let mut request = Request {
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
        request.token = self.token(inst, &access, replies, inst) | PAST_L1;
        let entry = self.insts.get_mut(inst);
        entry.accesses.pop();
        if entry.members.is_empty() {
            entry.pending += replies - 1;
        }
        let empty = entry.accesses.is_empty();
        self.ldst.stalled = false;
        self.send(request, now);
        empty
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
