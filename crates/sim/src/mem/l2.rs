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
mod replies;
mod steps;
mod warm;

pub use warm::Warm;

use crate::saved;
pub use replies::ReplyFlits;

use raddle_exec::memory::Global;
use raddle_ptx::num::{fit, low8, low32};

use crate::config::{L2Config, MachineConfig};
use crate::counters;
use crate::mem::address::AddressMap;
use crate::mem::cache::{TagArray, set_of};
use crate::mem::clock::Clock;
use crate::mem::dram_bank::Access;
use crate::mem::mshr::Mshr;
use crate::mem::profile::MemoryProfile;
use crate::mem::ring::Ring;
use crate::packet::{Cycle, Reply, Request};
use replies::Replies;

counters! {
    /// What an L2 slice did. Accesses are sectors.
    pub struct L2Counters {
        requests: Events, "requests accepted from the interconnect";
        accesses: Events, "sectors served or accepted as a miss";
        reads: Events, "accesses that read, including atomics";
        writes: Events, "accesses that wrote";
        hits: Events, "accesses whose sector was present";
        pending_hits: Events, "accesses whose sector was outstanding for an earlier miss";
        misses: Events, "accesses whose line was not present";
        sector_misses: Events, "accesses whose line was present, but not the sector";
        reservation_fails: Cycles, "L2 cycles in which an access was refused and had to be tried again";
        write_backs: Events, "replaced lines that were written to DRAM";
        replies: Events, "replies sent to the interconnect";
    }
}

/// One sector of a request.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
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

/// A request in the slice.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Served {
    request: Request,
    line: u64,
    set: u32,
    left: u32,
}

/// A request in the ROP delay: its sectors leave it one by one.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Delayed {
    at: Cycle,
    next: Sector,
    /// Number of its last sector.
    last: u8,
}

/// An L2 slice.
#[derive(Debug)]
pub struct Slice {
    config: L2Config,
    clock: Clock,
    map: AddressMap,
    burst_bytes: u32,
    local: u8,
    /// Requests that have arrived, or will at the given time, by their numbers.
    inbox: Ring<(Cycle, u32)>,
    served: Vec<Served>,
    free: Vec<u32>,
    rop: Ring<Delayed>,
    input: Ring<Sector>,
    /// Sectors in the input queue with which a request can still be taken.
    input_limit: u32,
    tags: TagArray,
    mshr: Mshr<Sector>,
    /// Line and sector an MSHR entry fills.
    filling: Vec<(u32, u8)>,
    miss_queue: Ring<Access>,
    to_dram: Ring<Access>,
    from_dram: Ring<u64>,
    output: Replies,
    /// First L2 tick at which the data port is free.
    port_at: u64,
    /// The access at the head failed and nothing it waits for has changed.
    stuck: bool,
    /// When it is stuck: L2 ticks before this one are counted.
    counted: u64,
    /// Replies of DRAM that wait, misses that wait to be sent there, and one if a waiter can be answered.
    dram_side: u32,
    /// The core cycle before which nothing moves in it, unless it is told something.
    wake: Cycle,
    /// It has sent something to the channel, or made room for a reply of it, since that was last asked.
    dram_news: bool,
    /// How far uses of lines are ahead of time, from accesses that were made without any.
    ahead: Cycle,
    /// What it charges to operations, in launches with a profile.
    pub(super) profile: Option<Box<MemoryProfile>>,
    /// What it did.
    pub counters: L2Counters,
}

saved!(Slice {
    values: inbox, served, free, rop, input, mshr, filling, miss_queue, to_dram, from_dram, port_at, stuck,
        counted, dram_side, wake, dram_news, ahead;
    parts: tags, output, counters;
    fixed: config, clock, map, burst_bytes, local, input_limit, profile;
});

impl Slice {
    /// An empty slice, number `local` of its channel. `credit` flits of replies may leave at first.
    #[must_use]
    pub fn new(machine: &MachineConfig, map: AddressMap, local: u32, flits: ReplyFlits, credit: u32) -> Self {
        let config = &machine.l2;
        let output = Replies::new(config.output_queue, flits, credit);
        let mshrs = config.mshr_entries.max(1);
        let sectors = (config.line / config.sector).min(config.input_queue);
        Self {
            clock: Clock::new(machine.clock.l2, machine.clock.core),
            map,
            burst_bytes: machine.dram.burst_bytes,
            local: fit(local),
            inbox: Ring::new(config.inbox),
            served: Vec::new(),
            free: Vec::new(),
            rop: Ring::new(128),
            input: Ring::new(config.input_queue + 4),
            input_limit: config.input_queue - sectors,
            tags: TagArray::new(config.sets, config.ways, config.line, config.sector),
            mshr: Mshr::new(mshrs, config.mshr_merges.max(1)),
            filling: vec![(0, 0); mshrs as usize],
            miss_queue: Ring::new(config.miss_queue + 2),
            to_dram: Ring::new(config.to_dram_queue),
            from_dram: Ring::new(config.from_dram_queue),
            output,
            port_at: 0,
            stuck: false,
            counted: 0,
            dram_side: 0,
            wake: Cycle::MAX,
            dram_news: false,
            ahead: 0,
            profile: None,
            counters: L2Counters::default(),
            config: config.clone(),
        }
    }

    /// Puts a request into the inbox; it is looked at from core cycle `at` on.
    pub fn deliver(&mut self, at: Cycle, request: Request) {
        debug_assert!(self.inbox.back().is_none_or(|last| last.0 <= at), "requests come in order of time");
        let line = request.address & !u64::from(self.config.line - 1);
        let left = request.bytes / self.config.sector;
        let set = set_of(self.config.index, self.config.sets.max(1), self.config.line, self.map.local(line));
        let served = Served { request, line, set, left };
        let index = self.free.pop().unwrap_or_else(|| fit(self.served.len()));
        match self.served.get_mut(index as usize) {
            Some(slot) => *slot = served,
            None => self.served.push(served),
        }
        if self.inbox.is_empty() && self.input.len() <= self.input_limit {
            self.wake = self.wake.min(at);
        }
        self.inbox.push((at, index));
    }

    /// Requests the inbox can still take.
    #[must_use]
    pub fn inbox_room(&self) -> u32 {
        self.config.inbox.saturating_sub(self.inbox.len())
    }

    /// Requests in it that are not fully answered.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.served.len() - self.free.len()
    }

    /// Nothing is in it that could move; what lies in the cache does not count.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.in_flight() == 0 && !self.has_reply() && self.miss_queue.is_empty() && self.to_dram.is_empty()
    }

    /// Drops everything the cache holds; nothing is written back. The slice must be idle.
    pub fn invalidate(&mut self) {
        debug_assert!(self.is_idle());
        self.tags.clear();
    }

    /// The core cycle before which nothing moves in it, unless it is told something.
    #[inline]
    #[must_use]
    pub fn wake(&self) -> Cycle {
        self.wake
    }

    /// Whether the channel has to look at it again.
    #[inline]
    pub fn take_dram_news(&mut self) -> bool {
        std::mem::take(&mut self.dram_news)
    }

    /// Counts the L2 ticks before `tick`, in which it was skipped.
    #[inline]
    pub fn settle(&mut self, tick: u64) {
        if self.stuck {
            if self.may_access() {
                self.counters.reservation_fails += tick - self.counted;
            }
            self.counted = tick;
        }
    }

    /// Whether a reply waits for the interconnect.
    #[inline]
    #[must_use]
    pub fn has_reply(&self) -> bool {
        self.output.waiting() > 0
    }

    /// Replies that have left and have not been taken.
    #[must_use]
    pub fn replies_left(&self) -> u32 {
        self.output.left()
    }

    /// Says how many flits of replies may leave from now on; returns whether that has changed.
    pub fn set_reply_credit(&mut self, flits: u32) -> bool {
        self.output.set_credit(flits)
    }

    /// The next reply leaves in core cycle `now`, before L2 tick `tick`, if there is room for it; whether it does.
    #[inline]
    pub fn send_reply(&mut self, now: Cycle, tick: u64) -> bool {
        if !self.output.can_leave() {
            return false;
        }
        if self.output_full() {
            self.settle(tick);
            self.wake = 0;
        }
        self.output.leave(now);
        true
    }

    /// Takes a reply that has left, with the core cycle at which it did.
    #[inline]
    pub fn take_reply(&mut self) -> Option<(Cycle, Reply)> {
        self.output.take()
    }

    /// Room for a reply of DRAM.
    #[inline]
    #[must_use]
    pub fn can_fill(&self) -> bool {
        self.from_dram.len() < self.config.from_dram_queue
    }

    /// A reply of DRAM.
    #[inline]
    pub fn push_fill(&mut self, tag: u64) {
        self.from_dram.push(tag);
        self.dram_side += 1;
        self.wake = 0;
    }

    /// Something waits for the channel.
    #[inline]
    #[must_use]
    pub fn wants_dram(&self) -> bool {
        !self.to_dram.is_empty()
    }

    /// Takes what waits for the channel longest, before L2 tick `tick`.
    ///
    /// # Panics
    /// When nothing does.
    #[inline]
    pub fn pop_to_dram(&mut self, tick: u64) -> Access {
        if self.to_dram_full() {
            self.settle(tick);
            self.wake = 0;
        }
        let access = *self.to_dram.front().expect("something waits for the channel");
        self.to_dram.drop_front();
        access
    }

    /// One L2 tick in core cycle `now`; whether anything moved.
    pub fn tick(&mut self, tick: u64, now: Cycle, memory: &mut Global<'_>) -> bool {
        self.settle(tick);
        let mut moved = false;
        if let Some(&(at, request)) = self.inbox.front()
            && at <= now
            && self.input.len() <= self.input_limit
        {
            self.inbox.drop_front();
            self.accept(request, now);
            moved = true;
        }
        if self.dram_side > 0 {
            moved |= self.serve_dram(memory);
        }
        if self.may_access() && tick >= self.port_at {
            moved |= self.access(tick, now, memory);
        }
        if let Some(delayed) = self.rop.front()
            && delayed.at <= now
            && self.input.len() < self.config.input_queue
        {
            self.leave_rop();
            moved = true;
        }
        self.wake = if moved { 0 } else { self.next() };
        moved
    }

    /// After a tick without movement: the first core cycle at which something can move.
    fn next(&self) -> Cycle {
        let inbox = self.inbox.front().filter(|_| self.input.len() <= self.input_limit);
        let rop = self.rop.front().filter(|_| self.input.len() < self.config.input_queue);
        let access = self.may_access() && !self.stuck;
        inbox.map_or(Cycle::MAX, |entry| entry.0).min(rop.map_or(Cycle::MAX, |entry| entry.at)).min(if access {
            self.clock.cycle_of(self.port_at)
        } else {
            Cycle::MAX
        })
    }

    #[inline]
    fn output_full(&self) -> bool {
        self.output.waiting() >= self.config.output_queue
    }

    #[inline]
    fn to_dram_full(&self) -> bool {
        self.to_dram.len() >= self.config.to_dram_queue
    }

    #[inline]
    fn may_access(&self) -> bool {
        !self.input.is_empty() && !self.to_dram_full() && !self.output_full()
    }
}
