//! What moves in a slice in one tick, step by step.

use raddle_exec::memory::Global;
use raddle_ptx::num::fit;

use super::{Delayed, Sector, Served, Slice};
use crate::mem::dram_bank::Access;
use crate::packet::{Cycle, Purpose, Reply, Request};

impl Slice {
    /// Cuts a request of the inbox into sectors.
    pub(super) fn accept(&mut self, index: u32, now: Cycle) {
        let served = &self.served[index as usize];
        let request = &served.request;
        let first = fit::<u32, _>(request.address - served.line) / self.config.sector;
        let last = first + served.left - 1;
        debug_assert!(served.left > 0 && last < self.config.line / self.config.sector);
        let next = Sector { request: index, number: fit(first) };
        self.counters.requests += 1;
        if request.purpose == Purpose::Texture && !self.config.rop_for_textures {
            for number in first..=last {
                self.input.push(Sector { number: fit(number), ..next });
            }
        } else {
            self.rop.push(Delayed { at: now + Cycle::from(self.config.rop_latency), next, last: fit(last) });
        }
    }

    /// A sector goes from the ROP delay to the input queue.
    #[inline]
    pub(super) fn leave_rop(&mut self) {
        let Some(delayed) = self.rop.front_mut() else { return };
        let sector = delayed.next;
        delayed.next.number += 1;
        if sector.number == delayed.last {
            self.rop.drop_front();
        }
        self.input.push(sector);
    }

    /// Answers one waiter of a sector that came, takes a reply of DRAM, sends a miss there.
    pub(super) fn serve_dram(&mut self, memory: &mut Global<'_>) -> bool {
        let mut moved = false;
        if self.mshr.has_ready()
            && !self.output_full()
            && let Some(sector) = self.mshr.pop_ready()
        {
            self.dram_side -= u32::from(!self.mshr.has_ready());
            self.stuck = false;
            self.respond(sector, memory);
            moved = true;
        }
        if let Some(&tag) = self.from_dram.front() {
            moved |= self.take_fill(tag, memory);
        }
        if let Some(&access) = self.miss_queue.front()
            && !self.to_dram_full()
        {
            self.miss_queue.drop_front();
            self.dram_side -= 1;
            self.send(access);
            self.stuck = false;
            moved = true;
        }
        moved
    }

    /// Takes a reply of DRAM, unless there is no room to answer.
    pub(super) fn take_fill(&mut self, tag: u64, memory: &mut Global<'_>) -> bool {
        if self.config.sets == 0 {
            if self.output_full() {
                return false;
            }
            self.respond(Sector::from_tag(tag), memory);
        } else {
            let entry: u32 = fit(tag);
            let (line, sector) = self.filling[entry as usize];
            self.tags.fill(line, sector);
            self.dram_side += u32::from(!self.mshr.has_ready());
            self.mshr.fill(entry);
            self.stuck = false;
        }
        self.from_dram.drop_front();
        self.dram_side -= 1;
        self.dram_news = true;
        true
    }

    /// Something goes to the queue of the channel.
    pub(super) fn send(&mut self, access: Access) {
        self.to_dram.push(access);
        self.dram_news = true;
    }

    /// Tries the access at the head of the input queue.
    pub(super) fn access(&mut self, tick: u64, now: Cycle, memory: &mut Global<'_>) -> bool {
        if self.stuck {
            return false;
        }
        let Some(&sector) = self.input.front() else { return false };
        if self.config.sets == 0 {
            self.bypass(sector);
        } else if !self.try_access(sector, tick, now, memory) {
            self.counters.reservation_fails += 1;
            self.stuck = true;
            self.counted = tick + 1;
            return false;
        }
        self.input.drop_front();
        true
    }

    #[inline]
    pub(super) fn served(&self, sector: Sector) -> &Served {
        &self.served[sector.request as usize]
    }

    /// A sector is served. With the last one an atomic is done to memory: the only place where the memory side
    /// touches data.
    pub(super) fn respond(&mut self, sector: Sector, memory: &mut Global<'_>) {
        let served = &mut self.served[sector.request as usize];
        let Request { sm, token, purpose, posted, .. } = served.request;
        served.left -= 1;
        let mut atomic = None;
        if served.left == 0 {
            atomic = served.request.atomic.take();
            self.free.push(sector.request);
            if let Some(work) = &mut atomic {
                work.perform(memory);
            }
        }
        if !posted {
            self.counters.replies += 1;
            self.output.push(Reply { sm, token, purpose, atomic });
        }
    }
}
