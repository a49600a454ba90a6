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
//! * L2 miss, closed row: the same look-up, `rop_latency` + 1, then 1 (miss queue) + 1 (to-DRAM queue) + `dram.latency`
//!   (latency queue) + 1 (scheduler, activate) + `rcd` + `cl` + 1 (return queue) + 0 (the L2 takes the fill in the
//!   same cycle) + 1 (response to the output queue) + 1 (output queue).
//! * Row conflict: `rp` more, and `ras` or `rc` if the row was opened just before.
//!
//! Where the command clock is not the core clock, the stages from the scheduler to the return queue are in its ticks.

use std::collections::VecDeque;

use raddle_exec::memory::{DeviceMemory, Global, StoreLog};
use raddle_ptx::num::fit;

use crate::config::MachineConfig;
use crate::mem::address::AddressMap;
use crate::mem::clock::{Clock, Ticker};
use crate::mem::dram::{Channel, DramCounters};
use crate::mem::l2::{L2Counters, Slice, Warm};
use crate::packet::{Cycle, Reply, Request};
use crate::stats::Counters;

/// Replies of a slice that have not reached the interconnect.
#[derive(Debug, Default)]
struct Outbox {
    replies: VecDeque<(Cycle, Reply)>,
    /// Flits the slice may still send before it is told of more room.
    credit: u32,
}

/// One DRAM channel and its slices.
#[derive(Debug)]
pub struct Partition {
    l2_clock: Clock,
    dram_clock: Clock,
    l2_ticks: Ticker,
    dram_ticks: Ticker,
    interconnect_ticks: Ticker,
    /// The core cycle the three stand at. Nothing has moved since then.
    at: Cycle,
    data_flits: u32,
    header_flits: u32,
    slices: Vec<Slice>,
    log: StoreLog,
    outboxes: Vec<Outbox>,
    channel: Channel,
    /// Nothing moved in the last tick of this part, and nothing that it sees has changed since.
    l2_quiet: bool,
    dram_quiet: bool,
    outbox_quiet: bool,
    skipping: bool,
}

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
        let slice = |local| Slice::new(&config.l2, map.clone(), config.dram.burst_bytes, local);
        let outbox = |_| Outbox { replies: VecDeque::new(), credit: network.injection_buffer };
        Self {
            l2_clock: clock(config.clock.l2),
            dram_clock: clock(config.clock.dram),
            l2_ticks: Ticker::new(clock(config.clock.l2)),
            dram_ticks: Ticker::new(clock(config.clock.dram)),
            interconnect_ticks: Ticker::new(clock(config.clock.interconnect)),
            at: 0,
            data_flits: flits(network.reply_header_bytes + config.l2.sector),
            header_flits: flits(network.reply_header_bytes.max(1)),
            slices: (0..config.l2.slices).map(slice).collect(),
            log: StoreLog::default(),
            outboxes: (0..config.l2.slices).map(outbox).collect(),
            channel: Channel::new(&config.dram, config.l2.slices),
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
        let credit = &mut self.outboxes[slice as usize].credit;
        if *credit != flits {
            *credit = flits;
            self.outbox_quiet &= self.slices[slice as usize].peek_reply().is_none();
        }
    }

    /// Whether it can be left alone until [`Partition::next_event`]: a reply that waits for room moves when there is some.
    #[must_use]
    pub fn can_be_left(&self) -> bool {
        self.skipping && self.slices.iter().all(|slice| slice.peek_reply().is_none())
    }

    /// A request to a slice without time: it changes what lies in the L2 and nothing else.
    pub fn warm(&mut self, slice: u32, now: Cycle, address: u64, bytes: u32, what: Warm) {
        self.slices[slice as usize].warm(now, address, bytes, what);
    }

    /// Takes a slice's next reply, with the core cycle at which it left.
    pub fn pop_reply(&mut self, slice: u32) -> Option<(Cycle, Reply)> {
        self.outboxes[slice as usize].replies.pop_front()
    }

    /// Requests inside that are not fully answered, and replies not yet taken.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        let outside: usize = self.outboxes.iter().map(|outbox| outbox.replies.len()).sum();
        self.slices.iter().map(Slice::in_flight).sum::<usize>() + outside
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
        if !(self.l2_quiet && self.dram_quiet && self.outbox_quiet) {
            return Some(now);
        }
        let (tick, cycle) = self.channel.next();
        let mut first = tick.map_or(Cycle::MAX, |tick| self.dram_clock.cycle_of(tick));
        first = first.min(cycle.unwrap_or(Cycle::MAX));
        for slice in &self.slices {
            let (cycle, tick) = slice.next();
            first = first.min(cycle.unwrap_or(Cycle::MAX));
            first = first.min(tick.map_or(Cycle::MAX, |tick| self.l2_clock.cycle_of(tick)));
        }
        Some(first.max(now))
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
            if self.skipping && self.l2_quiet && self.dram_quiet && self.outbox_quiet {
                let next = self.next_event(now).unwrap_or(to);
                if next >= to {
                    return;
                }
                now = next;
            }
            self.make_up(now);
            self.cycle(now, memory);
            now += 1;
            self.at = now;
        }
    }

    /// Counts the cycles before `now` in which nothing moved.
    pub fn make_up(&mut self, now: Cycle) {
        if self.at < now {
            self.skip(now);
            self.at = now;
        }
    }

    fn seek(&mut self, cycle: Cycle) {
        self.l2_ticks.seek(cycle);
        self.dram_ticks.seek(cycle);
        self.interconnect_ticks.seek(cycle);
    }

    /// Goes to a later cycle; nothing moves before it.
    fn skip(&mut self, to: Cycle) {
        let (l2, dram) = (self.l2_ticks.tick(), self.dram_ticks.tick());
        self.seek(to);
        self.channel.skip(self.dram_ticks.tick() - dram);
        let ticks = self.l2_ticks.tick() - l2;
        self.slices.iter_mut().for_each(|slice| slice.skip(ticks));
    }

    fn cycle(&mut self, now: Cycle, memory: &mut Global<'_>) {
        for _ in self.interconnect_ticks.advance() {
            let moved = self.send_replies(now);
            self.outbox_quiet = !moved;
            self.l2_quiet &= !moved;
        }
        for tick in self.dram_ticks.advance() {
            let moved = self.channel.tick(tick, now, &mut self.slices);
            self.dram_quiet = !moved;
            self.l2_quiet &= !moved;
        }
        for tick in self.l2_ticks.advance() {
            let mut moved = false;
            for slice in &mut self.slices {
                moved |= slice.tick(tick, now, memory);
            }
            self.l2_quiet = !moved;
            self.dram_quiet &= !moved;
            self.outbox_quiet &= !moved;
        }
        if let Global::Logged(_, log) = memory {
            log.end_group(now);
        }
    }

    /// One reply of each slice goes to the interconnect if its port has room for it.
    fn send_replies(&mut self, now: Cycle) -> bool {
        let mut moved = false;
        for (slice, outbox) in self.slices.iter_mut().zip(&mut self.outboxes) {
            let Some(data) = slice.peek_reply() else { continue };
            let flits = if data { self.data_flits } else { self.header_flits };
            if outbox.credit >= flits {
                outbox.credit -= flits;
                if let Some(reply) = slice.pop_reply() {
                    outbox.replies.push_back((now, reply));
                }
                moved = true;
            }
        }
        moved
    }
}
