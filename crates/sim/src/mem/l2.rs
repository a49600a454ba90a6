//! An L2 slice: the part of the memory side between the interconnect and its DRAM channel.
//!
//! ```text
//!  inbox ─► ROP delay ─► input queue ─► cache ─► miss queue ─► to-DRAM queue ─► channel
//!                                         │ ▲                                     │
//!  outbox ◄─────────── output queue ◄─────┘ └── MSHR ◄── from-DRAM queue ◄────────┘
//! ```
//! A request is cut into sectors when it leaves the inbox, and answered sector by sector. A write that misses takes
//! a line without fetching it; a sector written in part is fetched when it is read. A replaced line with dirty
//! sectors makes one write to DRAM. Without an L2 (no sets) sectors go straight to DRAM and back.

mod access;
mod warm;

pub use warm::Warm;

use std::collections::VecDeque;

use raddle_exec::memory::Global;
use raddle_ptx::num::{fit, low8, low32};

use crate::config::{L2Config, SetIndex};
use crate::counters;
use crate::mem::address::AddressMap;
use crate::mem::cache::{TagArray, set_of};
use crate::mem::dram_bank::Access;
use crate::mem::mshr::Mshr;
use crate::packet::{Cycle, Purpose, Reply, Request};

counters! {
    /// What an L2 slice did. Accesses are sectors.
    pub struct L2Counters {
        requests: Events, "requests taken from the interconnect";
        accesses: Events, "sectors served or accepted as a miss";
        reads: Events, "accesses that read; atomics too";
        writes: Events, "accesses that wrote";
        hits: Events, "accesses whose sector was there";
        pending_hits: Events, "accesses whose sector an earlier miss had asked for";
        misses: Events, "accesses whose line was not there";
        sector_misses: Events, "accesses whose line was there but not the sector";
        reservation_failures: Cycles, "L2 cycles in which an access had to be tried again";
        write_backs: Events, "replaced lines that were written to DRAM";
        replies: Events, "replies sent to the interconnect";
    }
}

/// One sector of a request.
#[derive(Clone, Copy, Debug, Default)]
struct Sector {
    request: u32,
    /// Number of the sector in its line.
    number: u8,
}

impl Sector {
    fn bit(self) -> u8 {
        1 << self.number
    }

    fn tag(self) -> u64 {
        u64::from(self.request) << 8 | u64::from(self.number)
    }

    fn from_tag(tag: u64) -> Self {
        Self { request: low32(tag >> 8), number: low8(tag) }
    }
}

/// A request being served.
#[derive(Debug)]
struct Served {
    request: Request,
    line: u64,
    set: u32,
    left: u32,
}

/// Something for DRAM to do.
#[derive(Clone, Copy, Debug)]
struct ToDram {
    address: u64,
    bytes: u32,
    write: bool,
    reply: bool,
    tag: u64,
}

/// An L2 slice.
#[derive(Debug)]
pub struct Slice {
    config: L2Config,
    map: AddressMap,
    burst_bytes: u32,
    local: u8,
    inbox: VecDeque<(Cycle, Request)>,
    served: Vec<Option<Served>>,
    free: Vec<u32>,
    rop: VecDeque<(Cycle, Sector)>,
    input: VecDeque<Sector>,
    tags: TagArray,
    mshr: Mshr<Sector>,
    /// Line and sector an MSHR entry fills.
    filling: Vec<(u32, u8)>,
    miss_queue: VecDeque<ToDram>,
    to_dram: VecDeque<ToDram>,
    from_dram: VecDeque<u64>,
    output: VecDeque<Reply>,
    /// First L2 tick at which the data port is free.
    port_at: u64,
    /// The access at the head failed and nothing it waits for has changed.
    stuck: bool,
    /// How far uses of lines are ahead of time, from accesses that were made without any.
    ahead: Cycle,
    /// What it did.
    pub counters: L2Counters,
}

impl Slice {
    /// An empty slice, number `local` of its channel.
    #[must_use]
    pub fn new(config: &L2Config, map: AddressMap, burst_bytes: u32, local: u32) -> Self {
        let mshrs = config.mshr_entries.max(1);
        Self {
            map,
            burst_bytes,
            local: fit(local),
            inbox: VecDeque::with_capacity(config.inbox as usize),
            served: Vec::new(),
            free: Vec::new(),
            rop: VecDeque::with_capacity(512),
            input: VecDeque::with_capacity(config.input_queue as usize + 4),
            tags: TagArray::new(config.sets, config.ways, config.line, config.sector),
            mshr: Mshr::new(mshrs, config.mshr_merges.max(1)),
            filling: vec![(0, 0); mshrs as usize],
            miss_queue: VecDeque::with_capacity(config.miss_queue as usize + 2),
            to_dram: VecDeque::with_capacity(config.to_dram_queue as usize),
            from_dram: VecDeque::with_capacity(config.from_dram_queue as usize),
            output: VecDeque::with_capacity(config.output_queue as usize),
            port_at: 0,
            stuck: false,
            ahead: 0,
            counters: L2Counters::default(),
            config: config.clone(),
        }
    }

    /// Puts a request into the inbox; it is looked at from core cycle `at` on.
    pub fn deliver(&mut self, at: Cycle, request: Request) {
        debug_assert!(self.inbox.back().is_none_or(|last| last.0 <= at), "requests come in order of time");
        self.inbox.push_back((at, request));
    }

    /// Requests the inbox can still take.
    #[must_use]
    pub fn inbox_room(&self) -> u32 {
        self.config.inbox.saturating_sub(fit(self.inbox.len()))
    }

    /// Requests in it that are not fully answered.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.inbox.len() + self.served.len() - self.free.len()
    }

    /// Nothing is in it that could move; what lies in the cache does not count.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.in_flight() == 0 && self.output.is_empty() && self.miss_queue.is_empty() && self.to_dram.is_empty()
    }

    /// Drops everything the cache holds; nothing is written back. The slice must be idle.
    pub fn invalidate(&mut self) {
        debug_assert!(self.is_idle());
        self.tags.clear();
    }

    /// The next reply and whether it carries data.
    #[must_use]
    pub fn peek_reply(&self) -> Option<bool> {
        self.output.front().map(|reply| !reply.purpose.is_write())
    }

    /// Takes the next reply.
    pub fn pop_reply(&mut self) -> Option<Reply> {
        self.output.pop_front()
    }

    /// Room for a reply of DRAM.
    #[must_use]
    pub fn can_fill(&self) -> bool {
        self.from_dram.len() < self.config.from_dram_queue as usize
    }

    /// A reply of DRAM.
    pub fn push_fill(&mut self, tag: u64) {
        self.from_dram.push_back(tag);
    }

    /// Something waits for the channel.
    #[must_use]
    pub fn wants_dram(&self) -> bool {
        !self.to_dram.is_empty()
    }

    /// Takes what waits for the channel longest.
    ///
    /// # Panics
    /// When nothing does.
    pub fn pop_to_dram(&mut self) -> Access {
        let item = self.to_dram.pop_front().expect("something waits for the channel");
        let place = self.map.place(item.address);
        Access {
            tag: item.tag,
            row: place.row,
            bank: fit(place.bank),
            slice: self.local,
            bursts: fit(item.bytes.div_ceil(self.burst_bytes)),
            write: item.write,
            reply: item.reply,
        }
    }

    /// One L2 cycle; whether anything moved.
    pub fn tick(&mut self, tick: u64, now: Cycle, memory: &mut Global<'_>) -> bool {
        let mut moved = self.accept(now);
        moved |= self.serve_fill(memory);
        moved |= self.take_fill(memory);
        moved |= self.send_miss();
        moved |= self.access(tick, now, memory);
        moved | self.leave_rop(now)
    }

    /// L2 cycles in which nothing moved.
    pub fn skip(&mut self, ticks: u64) {
        if self.stuck && self.may_access() {
            self.counters.reservation_failures += ticks;
        }
    }

    /// After a cycle without movement: the first core cycle at which something can move, and the first L2 tick.
    #[must_use]
    pub fn next(&self) -> (Option<Cycle>, Option<u64>) {
        let inbox = self.inbox.front().filter(|_| self.has_input_room()).map(|entry| entry.0);
        let rop = self.rop.front().filter(|_| !self.input_full()).map(|entry| entry.0);
        let cycle = match (inbox, rop) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        (cycle, (self.may_access() && !self.stuck).then_some(self.port_at))
    }

    fn has_input_room(&self) -> bool {
        let sectors = (self.config.line / self.config.sector).min(self.config.input_queue);
        self.input.len() + sectors as usize <= self.config.input_queue as usize
    }

    fn input_full(&self) -> bool {
        self.input.len() >= self.config.input_queue as usize
    }

    fn output_full(&self) -> bool {
        self.output.len() >= self.config.output_queue as usize
    }

    fn may_access(&self) -> bool {
        !self.input.is_empty() && self.to_dram.len() < self.config.to_dram_queue as usize && !self.output_full()
    }

    /// Takes one request from the inbox and cuts it into sectors.
    fn accept(&mut self, now: Cycle) -> bool {
        if self.inbox.front().is_none_or(|entry| entry.0 > now) || !self.has_input_room() {
            return false;
        }
        let Some((_, request)) = self.inbox.pop_front() else { return false };
        let line = request.address & !u64::from(self.config.line - 1);
        let first = fit::<u32, _>(request.address - line) / self.config.sector;
        let left = request.bytes / self.config.sector;
        debug_assert!(left > 0 && first + left <= self.config.line / self.config.sector);
        let past_rop = request.purpose == Purpose::Texture && !self.config.rop_for_textures;
        let set = set_of(SetIndex::Linear, self.config.sets.max(1), self.config.line, self.map.local(line));
        let served = Some(Served { request, line, set, left });
        let index = self.free.pop().unwrap_or_else(|| fit(self.served.len()));
        match self.served.get_mut(index as usize) {
            Some(slot) => *slot = served,
            None => self.served.push(served),
        }
        self.counters.requests += 1;
        for number in first..first + left {
            let sector = Sector { request: index, number: fit(number) };
            if past_rop {
                self.input.push_back(sector);
            } else {
                self.rop.push_back((now + Cycle::from(self.config.rop_latency), sector));
            }
        }
        true
    }

    /// Answers one waiter of a sector that came.
    fn serve_fill(&mut self, memory: &mut Global<'_>) -> bool {
        if self.output_full() {
            return false;
        }
        let Some(sector) = self.mshr.pop_ready() else { return false };
        self.stuck = false;
        self.respond(sector, memory);
        true
    }

    fn take_fill(&mut self, memory: &mut Global<'_>) -> bool {
        let Some(&tag) = self.from_dram.front() else { return false };
        if self.config.sets == 0 {
            if self.output_full() {
                return false;
            }
            self.respond(Sector::from_tag(tag), memory);
        } else {
            let entry: u32 = fit(tag);
            let (line, sector) = self.filling[entry as usize];
            self.tags.fill(line, sector);
            self.mshr.fill(entry);
            self.stuck = false;
        }
        self.from_dram.pop_front();
        true
    }

    fn send_miss(&mut self) -> bool {
        if self.to_dram.len() >= self.config.to_dram_queue as usize {
            return false;
        }
        let Some(item) = self.miss_queue.pop_front() else { return false };
        self.to_dram.push_back(item);
        self.stuck = false;
        true
    }

    fn leave_rop(&mut self, now: Cycle) -> bool {
        if self.rop.front().is_none_or(|entry| entry.0 > now) || self.input_full() {
            return false;
        }
        let Some((_, sector)) = self.rop.pop_front() else { return false };
        self.input.push_back(sector);
        true
    }

    /// Tries the access at the head of the input queue.
    fn access(&mut self, tick: u64, now: Cycle, memory: &mut Global<'_>) -> bool {
        if !self.may_access() || tick < self.port_at {
            return false;
        }
        if self.stuck {
            self.counters.reservation_failures += 1;
            return false;
        }
        let sector = self.input[0];
        if self.config.sets == 0 {
            self.bypass(sector);
        } else if !self.try_access(sector, tick, now, memory) {
            self.counters.reservation_failures += 1;
            self.stuck = true;
            return false;
        }
        self.input.pop_front();
        true
    }

    fn served(&self, sector: Sector) -> &Served {
        self.served[sector.request as usize].as_ref().expect("the request of a sector is there until its last reply")
    }

    /// A sector is served. With the last one an atomic is done to memory: the only place where the memory side
    /// touches data.
    fn respond(&mut self, sector: Sector, memory: &mut Global<'_>) {
        let slot = &mut self.served[sector.request as usize];
        let served = slot.as_mut().expect("the request of a sector is there until its last reply");
        let Request { sm, token, purpose, posted, .. } = served.request;
        served.left -= 1;
        let mut atomic = None;
        if served.left == 0 {
            atomic = served.request.atomic.take();
            *slot = None;
            self.free.push(sector.request);
            if let Some(work) = &mut atomic {
                work.perform(memory);
            }
        }
        if !posted {
            self.counters.replies += 1;
            self.output.push_back(Reply { sm, token, purpose, atomic });
        }
    }
}
