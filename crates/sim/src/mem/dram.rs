//! A DRAM channel: arbitration between its slices, scheduling, data and return queues.
//!
//! Each tick of the command clock, in this order: one reply goes to its slice; one burst's data come; one waiting
//! request is given to a bank; commands are issued; one request of a slice enters the latency queue; one that has
//! passed it reaches the scheduler.

use crate::saved;
use std::collections::VecDeque;

use crate::config::{DramConfig, DramScheduler};
use crate::counters;
use crate::mem::dram_bank::{Access, Banks, Command};
use crate::mem::l2::Slice;
use crate::packet::Cycle;

counters! {
    /// What a DRAM channel did.
    pub struct DramCounters {
        reads: Events, "column commands that read";
        writes: Events, "column commands that wrote";
        activates: Events, "rows opened";
        precharges: Events, "rows closed";
        requests: Events, "requests given to a bank";
        row_hits: Events, "requests given to a bank whose row was open or about to be";
        busy_cycles: Cycles, "command cycles with a request waiting or in a bank";
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
    credits: Credits,
    /// Requests that have not reached the scheduler, with the core cycle at which they do.
    latency: VecDeque<(Cycle, Access)>,
    /// Reached the scheduler in the last tick (or, in order of arrival, all that wait).
    arrived: VecDeque<Access>,
    /// Waiting requests of each bank, oldest first.
    queues: Vec<Vec<Access>>,
    /// The row whose requests a bank is taking until none is left.
    serving: Vec<Option<u32>>,
    waiting: u32,
    waiting_banks: u64,
    banks: Banks,
    first_bank: u32,
    /// Before this tick no command can be given.
    command_at: u64,
    /// Bursts on the bus, with the tick at which their data are there.
    data: VecDeque<(u64, Access)>,
    returns: VecDeque<Access>,
    in_flight: usize,
    /// What it did.
    pub counters: DramCounters,
}

saved!(Channel {
    values: credits, latency, arrived, queues, serving, waiting, waiting_banks, first_bank, command_at, data, returns,
        in_flight;
    parts: banks, counters;
    fixed: config;
});

impl Channel {
    /// A channel for `slices` slices.
    ///
    /// # Panics
    /// When the number of banks is not a power of two up to 64.
    #[must_use]
    pub fn new(config: &DramConfig, slices: u32) -> Self {
        assert!(config.banks.is_power_of_two() && config.banks <= MAX_BANKS, "banks are selected by address bits");
        let banks = config.banks as usize;
        Self {
            credits: Credits::new(config, slices),
            latency: VecDeque::new(),
            arrived: VecDeque::with_capacity(4),
            queues: vec![Vec::with_capacity(config.queue as usize); banks],
            serving: vec![None; banks],
            waiting: 0,
            waiting_banks: 0,
            banks: Banks::new(&config.timing, config.banks, config.bank_groups),
            first_bank: 0,
            command_at: 0,
            data: VecDeque::with_capacity(config.timing.cl as usize + 2),
            returns: VecDeque::with_capacity(config.return_queue as usize),
            in_flight: 0,
            counters: DramCounters::default(),
            config: config.clone(),
        }
    }

    /// Requests anywhere in it.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn is_full(&self) -> bool {
        let waiting = match self.config.scheduler {
            DramScheduler::FrFcfs => self.waiting as usize,
            DramScheduler::Fifo => self.arrived.len(),
        };
        waiting >= self.config.queue as usize
    }

    /// One tick of the command clock in core cycle `now`; whether anything moved.
    pub fn tick(&mut self, tick: u64, now: Cycle, slices: &mut [Slice]) -> bool {
        let mut moved = self.reply(slices);
        if self.in_flight > 0 {
            moved |= self.receive(tick);
            moved |= match self.config.scheduler {
                DramScheduler::FrFcfs => self.schedule_first_ready(),
                DramScheduler::Fifo => self.schedule_in_order(),
            };
            self.count(1);
            moved |= tick >= self.command_at && self.banks.busy() != 0 && self.issue(tick);
        }
        moved |= self.arbitrate(now, slices);
        moved | self.enter(now)
    }

    /// Ticks in which nothing moved.
    pub fn skip(&mut self, ticks: u64) {
        if self.in_flight > 0 {
            self.count(ticks);
        }
    }

    fn count(&mut self, ticks: u64) {
        let waiting = match self.config.scheduler {
            DramScheduler::FrFcfs => u64::from(self.waiting),
            DramScheduler::Fifo => self.arrived.len() as u64,
        };
        self.counters.queue_occupancy += waiting * ticks;
        if waiting > 0 || self.banks.busy() != 0 {
            self.counters.busy_cycles += ticks;
        }
    }

    /// The first tick and the first core cycle at which something can move after a tick without movement.
    #[must_use]
    pub fn next(&self) -> (Option<u64>, Option<Cycle>) {
        let data = self.data.front().filter(|_| self.returns.len() < self.config.return_queue as usize);
        let command = (self.banks.busy() != 0).then_some(self.command_at);
        let tick = match (data.map(|burst| burst.0), command) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        (tick, self.latency.front().filter(|_| !self.is_full()).map(|entry| entry.0))
    }

    fn reply(&mut self, slices: &mut [Slice]) -> bool {
        let Some(access) = self.returns.front() else { return false };
        let slice = &mut slices[usize::from(access.slice)];
        if !slice.can_fill() {
            return false;
        }
        slice.push_fill(access.tag);
        self.credits.give_back(usize::from(access.slice));
        self.returns.pop_front();
        self.in_flight -= 1;
        true
    }

    fn receive(&mut self, tick: u64) -> bool {
        if self.returns.len() >= self.config.return_queue as usize {
            return false;
        }
        let Some(&(_, access)) = self.data.front().filter(|burst| burst.0 <= tick) else { return false };
        self.data.pop_front();
        if access.bursts > 0 {
            return true;
        }
        if access.reply {
            self.returns.push_back(access);
        } else {
            self.credits.give_back(usize::from(access.slice));
            self.in_flight -= 1;
        }
        true
    }

    fn schedule_first_ready(&mut self) -> bool {
        let mut moved = false;
        while let Some(access) = self.arrived.pop_front() {
            self.queues[usize::from(access.bank)].push(access);
            self.waiting_banks |= 1 << access.bank;
            self.waiting += 1;
            moved = true;
        }
        let Some(bank) = first(self.waiting_banks & !self.banks.busy(), self.first_bank) else { return moved };
        let open = self.banks.row(bank);
        let queue = &mut self.queues[bank as usize];
        let serving = &mut self.serving[bank as usize];
        let mut hit = true;
        let row = serving.unwrap_or_else(|| {
            hit = queue.iter().any(|access| access.row == open);
            if hit { open } else { queue[0].row }
        });
        let index = queue.iter().position(|access| access.row == row).expect("the row being served has a request");
        let access = queue.remove(index);
        *serving = queue[index..].iter().any(|access| access.row == row).then_some(row);
        if queue.is_empty() {
            self.waiting_banks &= !(1 << bank);
        }
        self.waiting -= 1;
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
        self.arrived.pop_front();
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
        let data_full = self.data.len() > self.config.timing.cl as usize;
        let mut row_given = false;
        let mut step = 0;
        let mut soonest = u64::MAX;
        while let Some(next) = first_from(self.banks.busy(), self.first_bank, banks, step) {
            let bank = (self.first_bank + next) & (banks - 1);
            step = next + 1;
            match self.banks.need(bank) {
                Some((_, at)) if at > tick => soonest = soonest.min(at),
                Some((Command::Column, _)) if !data_full => {
                    self.column(bank, tick);
                    return true;
                }
                Some((command @ (Command::Activate | Command::Precharge), _)) if !row_given => {
                    row_given = true;
                    if command == Command::Activate {
                        self.banks.activate(bank, tick);
                        self.counters.activates += 1;
                    } else {
                        self.banks.precharge(bank, tick);
                        self.counters.precharges += 1;
                    }
                    self.first_bank = (bank + 1) & (banks - 1);
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
        self.data.push_back((tick + u64::from(delay), access));
        self.command_at = 0;
    }

    fn arbitrate(&mut self, now: Cycle, slices: &mut [Slice]) -> bool {
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
            let access = slices[slice].pop_to_dram();
            self.latency.push_back((now + u64::from(self.config.latency), access));
            self.credits.borrow(slice);
            self.in_flight += 1;
            return true;
        }
        false
    }

    fn enter(&mut self, now: Cycle) -> bool {
        if self.latency.front().is_none_or(|entry| entry.0 > now) || self.is_full() {
            return false;
        }
        let Some((_, access)) = self.latency.pop_front() else { return false };
        self.arrived.push_back(access);
        true
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
