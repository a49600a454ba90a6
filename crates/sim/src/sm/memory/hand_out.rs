//! How an instruction in the load-store unit sends its requests: to shared memory, the caches or the interconnect.

use super::super::build::Build;
use super::super::in_flight::InstId;
use super::cache::Answer;
use super::coalesce::Access;
use super::outgoing::{Desk, Lookup, Outgoing, Stuck, purpose};
use super::served::{Load, Store};
use crate::kernel::MemKind;
use crate::packet::{Cycle, Purpose, Request, Token};
use crate::profile::PcCounters;
use crate::seam::WarpId;
use raddle_ptx::num::fit;

impl Outgoing {
    /// The current instruction sends a request.
    pub(super) fn hand_out<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>) {
        let Some(inst) = self.current else { return };
        self.stuck = Stuck::No;
        let entry = desk.on.insts.get_mut(inst);
        let op = desk.on.facts.op(entry.pc);
        let done = match op.mem {
            _ if entry.bank_cycles > 1 => {
                entry.bank_cycles -= 1;
                if entry.bank_steps > 1 {
                    entry.bank_steps -= 1;
                } else {
                    desk.on.account.counters.shared_bank_conflicts += 1;
                    desk.on.account.row(entry.pc).into_iter().for_each(|row| row.shared_bank_conflicts += 1);
                }
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

    /// All requests are sent.
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

    /// A request for the constant cache; all of them where there is none, and everything is there at once.
    fn hand_to_l1c<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>, inst: InstId) -> bool {
        let is_present = desk.caches.l1c.is_present();
        loop {
            let Some(&access) = desk.on.insts.get(inst).accesses.last() else { return true };
            let load = desk.parts.load(&desk.on.insts, inst, &access, 1);
            let cache = &mut desk.caches.l1c;
            let answer = match is_present {
                true => cache.read(access.address, Purpose::Const, load.token(), desk.now),
                false => Answer::Hit,
            };
            let (latency, refused) = (cache.latency(), Stuck::Constant(cache.version()));
            if B::PROFILED && is_present {
                let pc = desk.on.insts.get(inst).pc;
                cache.name_origin(desk.on.facts.origin::<B>(pc));
                charge_l1c(desk.on.account.row(pc), answer);
            }
            let Some(is_last) = self.answered(desk, inst, load, answer, refused) else { return false };
            if answer == Answer::Hit {
                if latency > 0 {
                    desk.back.hits_at(desk.now + Cycle::from(latency), load);
                } else {
                    desk.parts.hit(&mut desk.on.insts, load);
                }
            }
            if is_present || is_last {
                return is_last;
            }
        }
    }

    fn hand_to_l1t<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>, inst: InstId) -> bool {
        let Some(&access) = desk.on.insts.get(inst).accesses.last() else { return true };
        let load = desk.parts.load(&desk.on.insts, inst, &access, 1);
        let answer = desk.caches.l1t.read(access.address, load.token(), desk.now);
        if B::PROFILED {
            let pc = desk.on.insts.get(inst).pc;
            desk.caches.l1t.name_origin(desk.on.facts.origin::<B>(pc));
            charge_l1t(desk.on.account.row(pc), answer);
        }
        let refused = Stuck::Texture(desk.caches.l1t.version());
        self.answered(desk, inst, load, answer, refused).unwrap_or(false)
    }

    /// A cache has answered the first request of an instruction: whether it was its last, `None` if it was refused.
    fn answered<B: Build>(
        &mut self,
        desk: &mut Desk<'_, '_, B>,
        inst: InstId,
        load: Load,
        answer: Answer,
        refused: Stuck,
    ) -> Option<bool> {
        self.stalled = answer == Answer::Fail;
        if answer == Answer::Fail {
            self.stuck = refused;
            desk.stalls();
            desk.parts.forget(load);
            return None;
        }
        let entry = desk.on.insts.get_mut(inst);
        entry.accesses.pop();
        Some(entry.accesses.is_empty())
    }

    /// Requests for the data cache, as many as it has banks: up to the first whose bank has taken one in this cycle, or
    /// has no room.
    fn hand_to_l1<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>, inst: InstId) -> bool {
        let mut taken = 0u64;
        loop {
            let Some(access) = desk.on.insts.get(inst).accesses.last() else { return true };
            let bank = self.bank_of::<B>(access.address);
            if !B::PLAIN && taken >> bank & 1 != 0 {
                return false;
            }
            if self.is_full::<B>(&desk.caches.l1d, bank) {
                if taken == 0 {
                    self.stuck = Stuck::Lookups(fit(bank));
                    desk.stalls();
                }
                return false;
            }
            taken |= 1 << bank;
            let is_last = self.hand_to_bank(desk, inst, bank);
            if B::PLAIN || is_last {
                return is_last;
            }
        }
    }

    /// A bank takes the next request; whether it was the last.
    #[inline]
    fn hand_to_bank<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>, inst: InstId, bank: usize) -> bool {
        let entry = desk.on.insts.get_mut(inst);
        let Some(access) = entry.accesses.pop() else { return true };
        let (warp, empty) = (entry.warp, entry.accesses.is_empty());
        entry.pending += u32::from(!entry.members.is_empty());
        let is_store = desk.on.facts.op(entry.pc).mem == MemKind::Store;
        let sectors = access.bytes.div_ceil(self.sector);
        let part = desk.parts.part(&desk.on.insts, inst, &access, if is_store { sectors } else { 1 });
        let token = if is_store {
            let store = part.map_or(Store::Warp(WarpId(warp)), Store::Part);
            desk.parts.for_each_warp(store, |warp| desk.on.warps.front_mut(warp).stores += sectors);
            store.token()
        } else {
            part.map_or(Load::Inst(inst), Load::Part).token()
        };
        let at = desk.now + Cycle::from(desk.caches.l1d.latency());
        self.banks.at_mut::<B>(bank).lookups.push(Lookup { at, inst, access, token });
        empty
    }

    /// Loads that go past the L1, and everything when there is none.
    fn hand_past_l1<B: Build>(&mut self, desk: &mut Desk<'_, '_, B>, inst: InstId) -> bool {
        let entry = desk.on.insts.get(inst);
        let Some(&access) = entry.accesses.last() else { return true };
        let Access { address, bytes, byte_mask, .. } = access;
        let is_store = desk.on.facts.op(entry.pc).mem == MemKind::Store;
        let purpose = purpose(is_store, entry.local);
        let (warp, origin) = (WarpId(entry.warp), desk.on.facts.origin::<B>(entry.pc));
        let (sm, posted, token) = (desk.on.facts.id, is_store && !self.write_replies, Token::default());
        let mut request = Request { sm, token, purpose, address, bytes, posted, byte_mask, atomic: None, origin };
        if !desk.port.accepts(&request) {
            self.port_is_full(desk, &request);
            return false;
        }
        let replies = bytes.div_ceil(self.sector);
        let part = desk.parts.part(&desk.on.insts, inst, &access, replies);
        let entry = desk.on.insts.get_mut(inst);
        entry.accesses.pop();
        let empty = entry.accesses.is_empty();
        if is_store {
            let store = part.map_or(Store::Warp(warp), Store::Part);
            request.token = store.token();
            desk.parts.for_each_warp(store, |warp| desk.on.warps.front_mut(warp).stores += replies);
            if posted {
                desk.parts.store_kept(desk.on, store, replies);
            }
        } else {
            request.token = part.map_or(Load::Inst(inst), Load::Part).token_past_l1();
            if part.is_none() {
                // Every sector comes on its own.
                entry.pending += replies - 1;
            }
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
            token: Token::default(),
            purpose: Purpose::Atomic,
            address,
            bytes,
            posted: false,
            byte_mask: u128::MAX,
            atomic: entry.work.pop(),
            origin: desk.on.facts.origin::<B>(entry.pc),
        };
        if !desk.port.accepts(&request) {
            self.port_is_full(desk, &request);
            desk.on.insts.get_mut(inst).work.extend(request.atomic);
            return false;
        }
        let replies = bytes.div_ceil(self.sector);
        request.token = desk.parts.load(&desk.on.insts, inst, &access, replies).token_past_l1();
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

/// Charges what the constant cache answered to an operation.
fn charge_l1c(row: Option<&mut PcCounters>, answer: Answer) {
    let Some(row) = row else { return };
    match answer {
        Answer::Hit => row.l1c_hits += 1,
        Answer::Pending => row.l1c_pending_hits += 1,
        Answer::Miss => row.l1c_misses += 1,
        Answer::Fail => {}
    }
}

/// The same of the texture cache, whose hits wait too.
fn charge_l1t(row: Option<&mut PcCounters>, answer: Answer) {
    let Some(row) = row else { return };
    match answer {
        Answer::Hit | Answer::Pending => row.l1t_hits += 1,
        Answer::Miss => row.l1t_misses += 1,
        Answer::Fail => {}
    }
}
