//! A DRAM channel: arbitration between its slices, scheduling, data and return queues.
//!
//! Each tick of the command clock, in this order: one reply goes to its slice; one burst's data come; one waiting
//! request is given to a bank; commands are issued; one request of a slice enters the latency queue; one that has
//! passed it reaches the scheduler.

use crate::saved;
mod queue;

use crate::config::{DramConfig, DramScheduler};
use crate::counters;
use crate::mem::clock::Clock;
use crate::mem::dram_bank::{Access, Banks, Command};
use crate::mem::l2::Slice;
use crate::mem::profile::MemoryProfile;
use crate::mem::ring::Ring;
use crate::packet::Cycle;
use queue::RowQueues;

counters! {
    /// What a DRAM channel did.
    pub struct DramCounters {
        reads: Events, "column commands that read";
        writes: Events, "column commands that wrote";
        activates: Events, "rows opened";
        precharges: Events, "rows closed";
        requests: Events, "requests given to a bank";
        row_hits: Events, "requests given to a bank whose row was open or about to be opened";
        busy_cycles: Cycles, "command cycles in which a request was waiting or in a bank";
        queue_occupancy: Events, "requests waiting for a bank, summed over command cycles";
    }
}

/// The most banks of a channel: sets of them are bits of a `u64`.
pub const MAX_BANKS: u32 = u64::BITS;

/// Requests the channel takes from each slice: one at least, the rest from a common pool.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Credits {
    own: Vec<u32>,
    shared: u32,
    limit: u32,
    last: usize,
}

impl Credits {
    fn new(config: &DramConfig, slices: u32) -> Self {
        let limit = (config.queue + config.return_queue).saturating_sub(slices - 1);
        Self { own: vec![0; slices as usize], shared: 0, limit, last: slices as usize - 1 }
    }

    fn has(&self, slice: usize) -> bool {
        self.own[slice] == 0 || self.shared < self.limit
    }

    fn borrow(&mut self, slice: usize) {
        if self.own[slice] == 0 {
            self.own[slice] = 1;
        } else {
            self.shared += 1;
        }
        self.last = slice;
    }

    fn give_back(&mut self, slice: usize) {
        if self.own[slice] > 0 {
            self.own[slice] = 0;
        } else {
            self.shared -= 1;
        }
    }
}

/// A DRAM channel.
#[derive(Clone, Debug)]
pub struct Channel {
    config: DramConfig,
    clock: Clock,
    credits: Credits,
    /// Requests that have not reached the scheduler, with the core cycle at which they do.
    latency: Ring<(Cycle, Access)>,
    /// Reached the scheduler in the last tick (or, in order of arrival, all that wait).
    arrived: Ring<Access>,
    /// Waiting requests, by bank and row.
    queues: RowQueues,
    banks: Banks,
    first_bank: u32,
    /// Before this tick no command can be given; it may be later.
    command_at: u64,
    /// Bursts on the bus, with the tick at which their data are there.
    data: Ring<(u64, Access)>,
    returns: Ring<Access>,
    in_flight: usize,
    /// Ticks before this one are counted.
    counted: u64,
    /// The core cycle before which nothing moves in it, unless it is told something; it may be later.
    wake: Cycle,
    /// What it charges to operations, in launches with a profile.
    pub(super) profile: Option<Box<MemoryProfile>>,
    /// What it did.
    pub counters: DramCounters,
}

saved!(Channel {
    values: credits, latency, arrived, queues, first_bank, command_at, data, returns, in_flight, counted, wake;
    parts: banks, counters;
    fixed: config, clock, profile;
});

impl Channel {
    /// A channel for `slices` slices.
    ///
    /// # Panics
    /// When the number of banks is not a power of two up to 64.
    #[must_use]
    pub fn new(config: &DramConfig, clock: Clock, slices: u32) -> Self {
        assert!(config.banks.is_power_of_two() && config.banks <= MAX_BANKS, "banks are selected by address bits");
        Self {
            clock,
            credits: Credits::new(config, slices),
            latency: Ring::new(128),
            arrived: Ring::new(4),
            queues: RowQueues::new(config.banks),
            banks: Banks::new(&config.timing, config.banks, config.bank_groups),
            first_bank: 0,
            command_at: 0,
            data: Ring::new(config.timing.cl + 2),
            returns: Ring::new(config.return_queue),
            in_flight: 0,
            counted: 0,
            wake: Cycle::MAX,
            profile: None,
            counters: DramCounters::default(),
            config: config.clone(),
        }
    }

    /// Requests anywhere in it.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Requests that wait for a bank.
    #[inline]
    fn waiting(&self) -> u32 {
        match self.config.scheduler {
            DramScheduler::FrFcfs => self.queues.len(),
            DramScheduler::Fifo => self.arrived.len(),
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.waiting() >= self.config.queue
    }

    /// A core cycle before which nothing moves in it, unless it is told something.
    #[inline]
    #[must_use]
    pub fn wake(&self) -> Cycle {
        self.wake
    }

    /// The core cycle in which something next moves, unless it is told something; nothing moved in its last tick.
    #[must_use]
    pub fn next_move(&self) -> Cycle {
        // What can be given now waits for room in the data queue.
        self.next(self.banks.next_command().max(self.counted))
    }

    /// A slice has something for it, or room for what it has.
    #[inline]
    pub fn call(&mut self) {
        self.wake = 0;
    }

    /// One tick of the command clock in core cycle `now`, before L2 tick `l2_tick`; whether anything moved.
    pub fn tick(&mut self, tick: u64, now: Cycle, slices: &mut [Slice], l2_tick: u64) -> bool {
        self.settle(tick);
        let mut moved = false;
        if let Some(&access) = self.returns.front() {
            moved |= self.reply(access, slices);
        }
        if let Some(&(at, access)) = self.data.front()
            && at <= tick
            && self.returns.len() < self.config.return_queue
        {
            self.receive(access);
            moved = true;
        }
        moved |= match self.config.scheduler {
            DramScheduler::FrFcfs => self.schedule_first_ready(),
            DramScheduler::Fifo => self.schedule_in_order(),
        };
        self.settle(tick + 1);
        moved |= tick >= self.command_at && self.banks.busy() != 0 && self.issue(tick);
        moved |= self.arbitrate(now, slices, l2_tick);
        if let Some(&(at, access)) = self.latency.front()
            && at <= now
            && !self.is_full()
        {
            self.latency.drop_front();
            self.arrived.push(access);
            moved = true;
        }
        self.wake = if moved { 0 } else { self.next(self.command_at) };
        moved
    }

    /// Counts the ticks before `tick` since it last did: nothing has moved in them.
    #[inline]
    pub fn settle(&mut self, tick: u64) {
        let waiting = self.waiting();
        if waiting > 0 || self.banks.busy() != 0 {
            let ticks = tick - self.counted;
            self.counters.queue_occupancy += u64::from(waiting) * ticks;
            self.counters.busy_cycles += ticks;
        }
        self.counted = tick;
    }

    /// The first core cycle at which something can move after a tick without movement, if no bank can get a command before
    /// the given tick.
    fn next(&self, command_at: u64) -> Cycle {
        let data = self.data.front().filter(|_| self.returns.len() < self.config.return_queue);
        let command = if self.banks.busy() != 0 { command_at } else { u64::MAX };
        let tick = command.min(data.map_or(u64::MAX, |burst| burst.0));
        let latency = self.latency.front().filter(|_| !self.is_full()).map_or(Cycle::MAX, |entry| entry.0);
        if tick == u64::MAX { latency } else { latency.min(self.clock.cycle_of(tick)) }
    }

    fn reply(&mut self, access: Access, slices: &mut [Slice]) -> bool {
        let slice = &mut slices[usize::from(access.slice)];
        if !slice.can_fill() {
            return false;
        }
        slice.push_fill(access.tag);
        self.credits.give_back(usize::from(access.slice));
        self.returns.drop_front();
        self.in_flight -= 1;
        true
    }

    fn receive(&mut self, access: Access) {
        self.data.drop_front();
        if access.bursts > 0 {
            return;
        }
        if access.reply {
            self.returns.push(access);
        } else {
            self.credits.give_back(usize::from(access.slice));
            self.in_flight -= 1;
        }
    }

    fn schedule_first_ready(&mut self) -> bool {
        let mut moved = false;
        while let Some(&access) = self.arrived.front() {
            self.arrived.drop_front();
            self.queues.push(access);
            moved = true;
        }
        let Some(bank) = first(self.queues.banks() & !self.banks.busy(), self.first_bank) else { return moved };
        let (access, hit) = self.queues.pop(bank, self.banks.row(bank));
        self.counters.row_hits += u64::from(hit);
        self.first_bank = (self.first_bank + 1) & (self.config.banks - 1);
        self.assign(access);
        true
    }

    fn schedule_in_order(&mut self) -> bool {
        let Some(&access) = self.arrived.front() else { return false };
        if self.banks.busy() >> access.bank & 1 != 0 {
            return false;
        }
        self.arrived.drop_front();
        self.counters.row_hits += u64::from(self.banks.row(u32::from(access.bank)) == access.row);
        self.assign(access);
        true
    }

    fn assign(&mut self, access: Access) {
        self.counters.requests += 1;
        self.banks.assign(access);
        self.command_at = 0;
    }

    /// Goes over the banks from the first in turn. A column command ends the tick; a row command leaves room for a
    /// column command of the banks that follow, counted from the bank after it.
    fn issue(&mut self, tick: u64) -> bool {
        let banks = self.config.banks;
        let data_full = self.data.len() > self.config.timing.cl;
        let mut row_given = false;
        let mut step = 0;
        let (mut candidates, mut soonest) = self.banks.candidates(tick);
        while let Some(next) = first_from(candidates, self.first_bank, banks, step) {
            let bank = (self.first_bank + next) & (banks - 1);
            step = next + 1;
            match self.banks.need(bank) {
                (_, at) if at > tick => soonest = soonest.min(at),
                (Command::Column, _) if !data_full => {
                    self.column(bank, tick);
                    return true;
                }
                (command @ (Command::Activate | Command::Precharge), _) if !row_given => {
                    row_given = true;
                    if command == Command::Activate {
                        self.banks.activate(bank, tick);
                        self.counters.activates += 1;
                    } else {
                        self.banks.precharge(bank, tick);
                        self.counters.precharges += 1;
                    }
                    self.first_bank = (bank + 1) & (banks - 1);
                    (candidates, _) = self.banks.candidates(tick);
                }
                _ => soonest = tick + 1,
            }
        }
        self.command_at = if row_given { 0 } else { soonest };
        row_given
    }

    fn column(&mut self, bank: u32, tick: u64) {
        let access = self.banks.column(bank, tick);
        let (delay, counter) = if access.write {
            (self.config.timing.wl, &mut self.counters.writes)
        } else {
            (self.config.timing.cl, &mut self.counters.reads)
        };
        *counter += 1;
        if let Some(profile) = &mut self.profile {
            profile.burst(access.origin, access.write);
        }
        self.data.push((tick + u64::from(delay), access));
        self.command_at = 0;
    }

    /// One request of a slice enters the latency queue.
    fn arbitrate(&mut self, now: Cycle, slices: &mut [Slice], l2_tick: u64) -> bool {
        let count = slices.len();
        let mut slice = self.credits.last;
        for _ in 0..count {
            slice = if slice + 1 == count { 0 } else { slice + 1 };
            if !slices[slice].wants_dram() || !slices[slice].can_fill() || !self.credits.has(slice) {
                continue;
            }
            if self.is_full() {
                return false;
            }
            let access = slices[slice].pop_to_dram(l2_tick);
            self.latency.push((now + u64::from(self.config.latency), access));
            self.credits.borrow(slice);
            self.in_flight += 1;
            return true;
        }
        false
    }
}

/// The first set bit at or after `from`, going round.
fn first(bits: u64, from: u32) -> Option<u32> {
    let ahead = bits >> from << from;
    match (ahead, bits) {
        (0, 0) => None,
        (0, bits) => Some(bits.trailing_zeros()),
        (ahead, _) => Some(ahead.trailing_zeros()),
    }
}

/// The first step at or after `step` (below `banks`) whose bank, counted from `start`, is in `busy`.
fn first_from(busy: u64, start: u32, banks: u32, step: u32) -> Option<u32> {
    if step >= banks {
        return None;
    }
    let turned = if start == 0 { busy } else { busy >> start | busy << (banks - start) };
    let steps = turned & (u64::MAX >> (64 - banks)) & (u64::MAX << step);
    (steps != 0).then(|| steps.trailing_zeros())
}
