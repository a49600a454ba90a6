//! Fetch and decode: instruction cache, fetch buffer, instruction buffers.

use super::Sm;
use super::cache::{Answer, Cache};
use super::port::Port;
use crate::config::MachineConfig;
use crate::event::EventKind;
use crate::packet::{Cycle, Purpose};
use crate::seam::{FetchView, WarpId};
use std::collections::VecDeque;

/// Where instructions are in memory.
const CODE_BASE: u64 = 0xF000_0000;

/// The fetch stage of an SM.
pub struct Fetch {
    /// Instruction cache.
    pub cache: Cache,
    /// What has been fetched: the time it is there, warp and operation. It is decoded in the cycle after that.
    buffer: VecDeque<(Cycle, WarpId, u32)>,
    instruction_bytes: u64,
    sector: u32,
}

impl Fetch {
    pub(super) fn new(config: &MachineConfig, sm: u16) -> Self {
        Self {
            cache: Cache::new(&config.sm.l1i, sm, config.l2.sector),
            buffer: VecDeque::new(),
            instruction_bytes: u64::from(config.sm.fetch.instruction_bytes),
            sector: config.l2.sector,
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.buffer.is_empty() || self.cache.has_ready()
    }

    pub(super) fn can_send(&self, port: &Port) -> bool {
        self.cache.queue.front().is_some_and(|r| port.accepts(r))
    }
}

impl Sm<'_> {
    /// Fetched instructions go to the buffers of their warps.
    pub(super) fn decode(&mut self, now: Cycle) {
        let width = self.config.sm.fetch.width;
        while let Some(&(at, warp, pc)) = self.fetch.buffer.front()
            && at < now
        {
            self.fetch.buffer.pop_front();
            let front = &mut self.fronts[warp.index()];
            front.fetching = false;
            if self.table.get(warp).valid && !self.table.get(warp).ended {
                // What lies behind the program is fetched too: the warp is found to be elsewhere and drops it.
                for next in pc..pc + width {
                    front.push(next);
                }
                front.next_pc = pc + width;
            }
            self.refresh(warp);
        }
    }

    /// Chooses warps and looks their instructions up.
    pub(super) fn fetch_stage(&mut self, now: Cycle) {
        for _ in 0..self.config.sm.fetch.warps_per_cycle {
            // A line that has come serves those who wait for it first.
            if let Some(waiter) = self.fetch.cache.next_ready() {
                let warp = WarpId(waiter as u16);
                let pc = self.fronts[warp.index()].next_pc;
                self.fetch.buffer.push_back((now, warp, pc));
                continue;
            }
            if self.sets.wanting.is_empty() {
                break;
            }
            let Some(warp) = self.pick_fetch(now) else { break };
            let pc = self.fronts[warp.index()].next_pc;
            let address = CODE_BASE + u64::from(pc) * self.fetch.instruction_bytes;
            let present = self.fetch.cache.is_present();
            let answer = if present {
                self.fetch.cache.read(address, Purpose::Inst, u32::from(warp.0), now)
            } else {
                Answer::Hit
            };
            match answer {
                Answer::Hit => {
                    self.counters.fetches += 1;
                    let latency = if present { self.fetch.cache.latency() } else { 0 };
                    self.fetch.buffer.push_back((now + Cycle::from(latency), warp, pc));
                }
                Answer::Pending | Answer::Miss => self.counters.fetch_misses += 1,
                Answer::Fail => {}
            }
            self.mechanisms.fetch.fetched(warp, answer == Answer::Hit);
            if answer != Answer::Fail {
                self.fronts[warp.index()].fetching = true;
                self.sets.wanting.set(warp, false);
            }
        }
        if self.fetch.can_send(&self.port)
            && let Some(request) = self.fetch.cache.pop_request()
        {
            let kind = EventKind::Request { address: request.address, bytes: request.bytes, write: false };
            self.emit_slot(now, kind);
            self.port.send(request, self.fetch.sector, now);
        }
    }

    fn pick_fetch(&mut self, now: Cycle) -> Option<WarpId> {
        let (used, sets, table) = (&self.scheduler_used, &self.sets, &self.table);
        let (ages, issued, kernel) = (&self.ages, &self.issued, self.kernel);
        let (blocks, fronts) = (self.phases.blocks(), &self.fronts);
        let view = FetchView {
            now,
            wanting: &sets.wanting,
            entries: &|warp| fronts[warp.index()].decoded(),
            slots: self.fronts.len(),
            issue: &self.mechanisms.issue,
            issue_view: &|n, f| f(&super::view(n, now, used, sets, table, ages, issued, blocks, kernel)),
        };
        self.mechanisms.fetch.pick(&view)
    }
}
