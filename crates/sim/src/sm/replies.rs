//! What comes back to an SM: replies from memory, and results to be written to the registers.

use super::collector::InstId;
use super::joint::PART;
use super::ldst::PAST_L1;
use super::{Build, Sm};
use crate::packet::{Cycle, Purpose, Reply};
use crate::seam::WarpId;
use raddle_exec::atomics::AtomicWork;

/// Who may use the write-back port, in turn.
const CLIENTS: usize = 5;

impl<B: Build> Sm<'_, B> {
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
    pub(super) fn deliver(&mut self, at: Cycle, reply: Reply) {
        let cache = match reply.purpose {
            Purpose::Texture => {
                if self.ldst.l1t.absorb(reply.token) {
                    self.port.received += 1;
                } else {
                    self.port.inbox.push_back((at, reply));
                }
                return;
            }
            Purpose::Inst => &mut self.fetch.cache,
            Purpose::Const => &mut self.ldst.l1c,
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

    /// Registers are written; then the port takes the next result.
    pub(super) fn ldst_writeback(&mut self, now: Cycle) {
        if let Some(inst) = self.ldst.writeback {
            // Registers of one bank are written one after the other.
            let (warp, pc) = self.writer(inst);
            let numbers = self.op(pc).write_numbers();
            let left = &numbers[self.ldst.written..];
            let count =
                left.iter().take_while(|number| self.slices.collector(WarpId(warp)).write(**number, warp)).count();
            self.ldst.written += count;
            if count == left.len() {
                self.ldst.writeback = None;
                self.ldst.written = 0;
                if inst & PART != 0 || !self.insts.get(inst).shared {
                    self.part_came(inst);
                } else if self.is_carrier(inst) {
                    self.joint_done(inst);
                } else {
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
    pub(super) fn take_response(&mut self, now: Cycle) {
        let Some(reply) = self.ldst.responses.front() else { return };
        let token = reply.token;
        match reply.purpose {
            Purpose::Texture => self.ldst.l1t.fill(token),
            Purpose::Const => self.ldst.l1c.fill(token, now),
            Purpose::GlobalWrite | Purpose::LocalWrite => {
                self.ldst.responses.pop_front();
                self.store_acknowledged(token);
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
                self.counters.read_latency += now - self.issued_at(inst);
                if let Some(work) = reply.atomic {
                    self.finish_atomic(inst, work);
                }
                return;
            }
            _ => {
                // The sectors before the last one were counted when they came.
                self.ldst.l1d.fill(token, now);
                self.counters.reads_done += 1;
                self.counters.lines_done += 1;
                self.counters.read_latency += now - self.ldst.sent_at[token as usize];
            }
        }
        self.ldst.responses.pop_front();
    }

    /// Data of hits in the constant cache have come.
    pub(super) fn take_hits(&mut self, now: Cycle) {
        while let Some(&(at, inst)) = self.ldst.hits.front()
            && at <= now
        {
            self.ldst.hits.pop_front();
            self.part_came(inst);
        }
    }

    fn finish_atomic(&mut self, token: u32, work: Box<AtomicWork>) {
        let inst = self.owner(token);
        let entry = self.insts.get(inst);
        let (warp, pc) = (WarpId(entry.warp), entry.pc);
        self.core.finish_atomic(&self.kernel.program.ops[pc as usize], entry.lanes(), &work);
        self.insts.spare_work.push(work);
        self.fronts[warp.index()].atomics -= 1;
        self.refresh(warp);
    }

    /// A part of a load has come; the last one ends the instruction, unless it still hands out requests.
    pub(super) fn part_came(&mut self, inst: InstId) {
        if inst & PART != 0 {
            self.joint_part_came(inst);
            return;
        }
        let entry = self.insts.get_mut(inst);
        entry.pending -= 1;
        if entry.pending == 0 && self.ldst.current != Some(inst) {
            self.complete(inst);
        }
    }
}
