//! A memory partition: one DRAM channel and its L2 slices, in three clock domains.
//!
//! In each core cycle the interconnect's ticks come first (replies leave), then DRAM's, then the L2's: the order of
//! the reference simulator. A partition runs a window of core cycles on its own; requests come with the cycle at
//! which they arrive, replies leave with the cycle at which they left.
//!
//! # Latency without load
//! From the arrival of a one-sector request at core cycle `t` (in the inbox, stamped `t`) to the stamp of its reply,
//! with all clocks equal:
//!
//! * L2 hit: `rop_latency` (ROP delay) + 1 (input queue) + 1 (output queue).
//!   It is taken in cycle `t`, reaches the input queue in `t + rop_latency` after that cycle's access, is looked up in
//!   the next, and leaves in the one after that. Texture fetches without `rop_for_textures`: 1 (output queue).
//! * L2 miss, closed row: the same look-up, `rop_latency` + 1. Then 1 (miss queue) + 1 (to-DRAM queue) + `dram.latency`
//!   (latency queue) + 1 (scheduler, activate) + `rcd` + `cl`. Then 1 (return queue) + 0 (the L2 accepts the fill in
//!   the same cycle) + 1 (response to the output queue) + 1 (output queue).
//! * Row conflict: `rp` more, and `ras` or `rc` if the row was opened just before.
//!
//! Where the command clock is not the core clock, the stages from the scheduler to the return queue are in its ticks.

use crate::saved;
use raddle_exec::memory::{DeviceMemory, Global, StoreLog};
use raddle_ptx::num::fit;

use crate::config::MachineConfig;
use crate::mem::address::AddressMap;
use crate::mem::clock::{Clock, Ticker};
use crate::mem::dram::{Channel, DramCounters};
use crate::mem::l2::{L2Counters, ReplyFlits, Slice, Warm};
use crate::mem::profile::MemoryProfile;
use crate::packet::{Cycle, Reply, Request};
use crate::stats::Counters;

/// One DRAM channel and its slices.
#[derive(Debug)]
pub struct Partition {
    l2_ticks: Ticker,
    dram_ticks: Ticker,
    interconnect_ticks: Ticker,
    /// The core cycle these stand at; in lockstep only that of DRAM is followed.
    at: Cycle,
    /// Interconnect and L2 have the core's clock, and DRAM's is no slower: each has a tick in every cycle.
    lockstep: bool,
    slices: Vec<Slice>,
    log: StoreLog,
    channel: Channel,
    /// Nothing moved in the last tick of this part, and nothing that it sees has changed since.
    l2_quiet: bool,
    dram_quiet: bool,
    outbox_quiet: bool,
    skipping: bool,
}

saved!(Partition {
    values: at, log, l2_quiet, dram_quiet, outbox_quiet;
    parts: l2_ticks, dram_ticks, interconnect_ticks, slices, channel;
    fixed: lockstep, skipping;
});

impl Partition {
    /// An empty partition; `index` is its channel.
    ///
    /// # Panics
    /// When the machine's address map does not fit its banks and slices.
    #[must_use]
    pub fn new(config: &MachineConfig, index: u32) -> Self {
        assert!(index < config.dram.channels, "channel {index} of {}", config.dram.channels);
        let map = AddressMap::new(&config.dram, &config.l2).expect("the address map was checked with the machine");
        let clock = |frequency| Clock::new(frequency, config.clock.core);
        // A packet larger than the port's buffer goes when the buffer is empty.
        let network = &config.interconnect;
        let flits = |bytes: u32| bytes.div_ceil(network.flit_bytes).min(network.injection_buffer);
        let (data, header) = (network.reply_header_bytes + config.l2.sector, network.reply_header_bytes.max(1));
        let replies = ReplyFlits { data: flits(data), header: flits(header) };
        let slice = |local| Slice::new(config, map.clone(), local, replies, network.injection_buffer);
        Self {
            l2_ticks: Ticker::new(clock(config.clock.l2)),
            dram_ticks: Ticker::new(clock(config.clock.dram)),
            interconnect_ticks: Ticker::new(clock(config.clock.interconnect)),
            at: 0,
            lockstep: [config.clock.interconnect, config.clock.l2] == [config.clock.core; 2]
                && config.clock.dram >= config.clock.core,
            slices: (0..config.l2.slices).map(slice).collect(),
            log: StoreLog::default(),
            channel: Channel::new(&config.dram, clock(config.clock.dram), config.l2.slices),
            l2_quiet: true,
            dram_quiet: true,
            outbox_quiet: true,
            skipping: true,
        }
    }

    /// Whether cycles in which nothing can move are jumped over (they are, unless told otherwise). Results are the
    /// same.
    pub fn set_skipping(&mut self, skipping: bool) {
        self.skipping = skipping;
    }

    /// Puts a request into a slice's inbox (`slice` counts within the channel); it arrives at core cycle `at`, not
    /// before the ones put there earlier.
    pub fn deliver(&mut self, slice: u32, at: Cycle, request: Request) {
        self.slices[slice as usize].deliver(at, request);
    }

    /// Requests a slice's inbox can still take.
    #[must_use]
    pub fn inbox_room(&self, slice: u32) -> u32 {
        self.slices[slice as usize].inbox_room()
    }

    /// Says how many flits of replies a slice may send from now on.
    pub fn set_reply_credit(&mut self, slice: u32, flits: u32) {
        let slice = &mut self.slices[slice as usize];
        if slice.set_reply_credit(flits) {
            self.outbox_quiet &= !slice.has_reply();
        }
    }

    /// Whether it can be skipped until [`Partition::next_event`]: a reply that waits for room moves when there is some.
    #[must_use]
    pub fn can_be_left(&self) -> bool {
        self.skipping && !self.slices.iter().any(Slice::has_reply)
    }

    /// A request to a slice without time: it changes what lies in the L2 and nothing else.
    pub fn warm(&mut self, slice: u32, now: Cycle, address: u64, bytes: u32, what: Warm) {
        self.slices[slice as usize].warm(now, address, bytes, what);
    }

    /// Takes a slice's next reply, with the core cycle at which it left.
    pub fn pop_reply(&mut self, slice: u32) -> Option<(Cycle, Reply)> {
        self.slices[slice as usize].take_reply()
    }

    /// Requests inside that are not fully answered, and replies not yet taken.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.slices.iter().map(|slice| slice.in_flight() + slice.replies_left() as usize).sum()
    }

    /// Nothing can move: no request, no reply that has not left, no write-back.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.channel.in_flight() == 0 && self.slices.iter().all(Slice::is_idle)
    }

    /// Drops everything the L2 holds, without writing it back. The partition must be idle.
    pub fn invalidate_l2(&mut self) {
        self.slices.iter_mut().for_each(Slice::invalidate);
    }

    /// How many slices it has.
    #[must_use]
    pub fn slices(&self) -> u32 {
        fit(self.slices.len())
    }

    /// Charges what it does to operations from now on, which count from `first`.
    pub fn start_profile(&mut self, first: u32, operations: usize) {
        let new = || Some(Box::new(MemoryProfile::new(first, operations)));
        self.slices.iter_mut().for_each(|slice| slice.profile = new());
        self.channel.profile = new();
    }

    /// What was charged since [`Partition::start_profile`], by part of it.
    pub fn end_profile(&mut self) -> Vec<Box<MemoryProfile>> {
        let slices = self.slices.iter_mut().map(|slice| slice.profile.take());
        slices.chain([self.channel.profile.take()]).flatten().collect()
    }

    /// Counters of a slice.
    #[must_use]
    pub fn slice_counters(&self, slice: u32) -> &L2Counters {
        &self.slices[slice as usize].counters
    }

    /// Counters of all slices together.
    #[must_use]
    pub fn l2_counters(&self) -> L2Counters {
        let mut sum = L2Counters::default();
        self.slices.iter().for_each(|slice| sum.add(&slice.counters));
        sum
    }

    /// Counters of the channel.
    #[must_use]
    pub fn dram_counters(&self) -> &DramCounters {
        &self.channel.counters
    }

    /// The first core cycle, `now` or later, at which anything can happen; `None` when nothing is inside.
    #[must_use]
    pub fn next_event(&self, now: Cycle) -> Option<Cycle> {
        if self.is_idle() {
            return None;
        }
        if !self.is_quiet() {
            return Some(now);
        }
        let slices = self.slices.iter().map(Slice::wake).fold(Cycle::MAX, Cycle::min);
        Some(slices.min(self.channel.next_move()).max(now))
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.l2_quiet && self.dram_quiet && self.outbox_quiet
    }

    /// A core cycle before which nothing happens, when all is quiet.
    #[inline]
    fn wake(&self) -> Cycle {
        self.slices.iter().map(Slice::wake).fold(self.channel.wake(), Cycle::min)
    }

    /// As [`Partition::run`], with what atomics write in a log of its own.
    pub fn run_logged(&mut self, from: Cycle, to: Cycle, memory: &DeviceMemory) {
        let mut log = std::mem::take(&mut self.log);
        self.run(from, to, &mut Global::Logged(memory, &mut log));
        self.log = log;
    }

    /// What atomics wrote since the log was last merged.
    pub fn log(&mut self) -> &mut StoreLog {
        &mut self.log
    }

    /// Simulates the core cycles from `from` to before `to`.
    pub fn run(&mut self, from: Cycle, to: Cycle, memory: &mut Global<'_>) {
        if self.skipping && self.is_idle() {
            return;
        }
        let mut now = from;
        while now < to {
            if self.skipping && self.is_quiet() {
                now = now.max(self.wake());
                if now >= to {
                    return;
                }
            }
            if self.lockstep {
                self.lockstep_cycle(now, memory);
            } else {
                self.cycle(now, memory);
            }
            if let Global::Logged(_, log) = memory {
                log.end_group(now);
            }
            now += 1;
        }
    }

    /// Counts the cycles before `now` in which nothing moved.
    pub fn make_up(&mut self, now: Cycle) {
        self.seek(now);
        self.channel.settle(self.dram_ticks.tick());
        let tick = self.l2_ticks.tick();
        self.slices.iter_mut().for_each(|slice| slice.settle(tick));
    }

    /// Goes to another cycle.
    fn seek(&mut self, cycle: Cycle) {
        self.l2_ticks.seek(cycle);
        self.dram_ticks.seek(cycle);
        self.interconnect_ticks.seek(cycle);
        self.at = cycle;
    }

    fn cycle(&mut self, now: Cycle, memory: &mut Global<'_>) {
        if self.at != now {
            self.seek(now);
        }
        let l2_tick = self.l2_ticks.tick();
        for _ in self.interconnect_ticks.advance() {
            self.interconnect_tick(now, l2_tick);
        }
        for tick in self.dram_ticks.advance() {
            self.dram_tick(tick, now, l2_tick);
        }
        for tick in self.l2_ticks.advance() {
            self.l2_tick(tick, now, memory);
        }
        self.at = now + 1;
    }

    /// As [`Partition::cycle`], when the number of an L2 tick is that of the core cycle.
    #[inline]
    fn lockstep_cycle(&mut self, now: Cycle, memory: &mut Global<'_>) {
        self.interconnect_tick(now, now);
        if self.channel.wake() <= now || !self.skipping {
            if self.at != now {
                self.dram_ticks.seek(now);
            }
            for tick in self.dram_ticks.advance() {
                self.dram_tick(tick, now, now);
            }
            self.at = now + 1;
        } else {
            self.dram_quiet = true;
        }
        self.l2_tick(now, now, memory);
    }

    /// One reply of each slice goes to the interconnect if its port has room for it.
    #[inline]
    fn interconnect_tick(&mut self, now: Cycle, l2_tick: u64) {
        let mut moved = false;
        for slice in &mut self.slices {
            moved |= slice.send_reply(now, l2_tick);
        }
        self.outbox_quiet = !moved;
        self.l2_quiet &= !moved;
    }

    #[inline]
    fn dram_tick(&mut self, tick: u64, now: Cycle, l2_tick: u64) {
        let runs = self.channel.wake() <= now || !self.skipping;
        let moved = runs && self.channel.tick(tick, now, &mut self.slices, l2_tick);
        self.dram_quiet = !moved;
        self.l2_quiet &= !moved;
    }

    #[inline]
    fn l2_tick(&mut self, tick: u64, now: Cycle, memory: &mut Global<'_>) {
        let mut moved = false;
        for slice in &mut self.slices {
            if slice.wake() <= now || !self.skipping {
                moved |= slice.tick(tick, now, memory);
                if slice.take_dram_news() {
                    self.channel.call();
                }
            }
        }
        self.l2_quiet = !moved;
        self.dram_quiet &= !moved;
        self.outbox_quiet &= !moved;
    }
}
