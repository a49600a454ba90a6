//! A first-level cache of the SM: tags, outstanding lines, requests waiting for the interconnect.
//!
//! There are no data in it: values come from the functional memory. A read hits, joins a line that is outstanding,
//! sends for one, or is refused and tried again in the next cycle.

mod outstanding;
mod refusal;

use crate::config::{CacheConfig, WritePolicy};
use crate::counters;
use crate::mem::cache::{NO_LINE, set_of};
use crate::packet::{Cycle, Purpose, Request};
use crate::saved;
use outstanding::Outstanding;
use refusal::{Changes, Why};
use std::collections::VecDeque;
use std::ops::Range;

counters! {
    /// What a first-level cache counts.
    pub struct CacheCounters {
        accesses: Events, "reads and writes that were accepted";
        hits: Events, "reads and writes that found their line";
        pending_hits: Events, "reads that joined an outstanding miss, and writes to a line that was outstanding";
        misses: Events, "reads that sent for their line, and writes that did not find theirs";
        reservation_fails: Events, "accesses that were refused (no free line, no free entry, queue full) and tried again";
        writebacks: Events, "changed lines written back when they were replaced";
    }
}

/// How a cache answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The data are there.
    Hit,
    /// The access waits for an outstanding line.
    Pending,
    /// The line has been sent for, or the write went through.
    Miss,
    /// Refused: try again.
    Fail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum State {
    Invalid,
    Reserved,
    Valid,
    Modified,
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Line {
    state: State,
    /// The entry that has reserved it.
    entry: u32,
    last: Cycle,
}

/// A first-level cache.
pub struct Cache {
    config: CacheConfig,
    sector: u32,
    lines: Vec<Line>,
    /// Address of each line, [`NO_LINE`] of those that are invalid: searched without touching the lines.
    addresses: Vec<u64>,
    /// The line that was hit last: most accesses are to it again.
    last: usize,
    outstanding: Outstanding,
    /// Requests waiting for the interconnect.
    pub queue: VecDeque<Request>,
    sm: u16,
    /// Changes that could turn a refusal into something else.
    changes: Changes,
    /// Why it refused last, in which set, and the changes there had been that matter for it.
    refusal: (Why, u32, u64),
    /// Counters.
    pub counters: CacheCounters,
}

saved!(Cache {
    values: lines, addresses, last, queue, changes, refusal;
    parts: outstanding, counters;
    fixed: config, sector, sm;
});

impl Cache {
    /// An empty cache of SM number `sm`; replies come in sectors of `sector` bytes.
    #[must_use]
    pub fn new(config: &CacheConfig, sm: u16, sector: u32) -> Self {
        let lines = (config.sets * config.ways).max(1) as usize;
        Self {
            config: config.clone(),
            sector,
            lines: vec![Line { state: State::Invalid, entry: 0, last: 0 }; lines],
            addresses: vec![NO_LINE; lines],
            last: 0,
            outstanding: Outstanding::new(config.mshr_entries, config.mshr_merges),
            queue: VecDeque::with_capacity(config.miss_queue as usize + 2),
            sm,
            changes: Changes::new(config.sets),
            refusal: (Why::Queue, 0, 0),
            counters: CacheCounters::default(),
        }
    }

    /// Grows with every change that could turn a refusal into something else.
    #[inline]
    #[must_use]
    pub fn version(&self) -> u64 {
        self.changes.all()
    }

    /// Whether the access it refused last would be refused again.
    #[inline]
    #[must_use]
    pub fn still_refuses(&self) -> bool {
        let (why, set, changes) = self.refusal;
        self.changes.that_matter(why, set) == changes
    }

    /// Counts an access that is refused again.
    #[inline]
    pub fn refuse_again(&mut self) {
        self.counters.reservation_fails += 1;
    }

    /// Takes the next request for the interconnect.
    pub fn pop_request(&mut self) -> Option<Request> {
        self.changes.sent += 1;
        self.queue.pop_front()
    }

    /// A sector that is not the last of its line is outstanding and counts as come: nobody can tell. False when it is
    /// the last.
    pub fn absorb(&mut self, token: u32) -> bool {
        self.outstanding.absorb(token)
    }

    /// Whether there is a cache at all.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.config.sets > 0
    }

    /// Cycles from access to tag look-up.
    #[must_use]
    pub fn latency(&self) -> u32 {
        self.config.latency
    }

    fn line_of(&self, address: u64) -> u64 {
        address & !(u64::from(self.config.line) - 1)
    }

    #[inline]
    fn set_of(&self, line: u64) -> u32 {
        let CacheConfig { index, sets, line: bytes, .. } = self.config;
        set_of(index, sets, bytes, line)
    }

    /// The lines of a set.
    #[inline]
    fn lines_of(&self, set: u32) -> Range<usize> {
        let first = (set * self.config.ways) as usize;
        first..first + self.config.ways as usize
    }

    /// Whether a line is there, for an access like the last one.
    #[inline]
    fn is_last(&self, line: u64) -> bool {
        self.addresses[self.last] == line && self.lines[self.last].state != State::Reserved
    }

    /// A line in the tag array, in its set.
    #[inline]
    fn find(&self, set: u32, line: u64) -> Option<usize> {
        let lines = self.lines_of(set);
        let first = lines.start;
        self.addresses[lines].iter().position(|address| *address == line).map(|way| first + way)
    }

    /// Where another line of a set could go: to the last place that is free, or to that used longest ago. `None` when every line
    /// is reserved.
    fn room(&self, set: u32) -> Option<usize> {
        let lines = self.lines_of(set);
        let (mut free, mut oldest) = (None, None);
        let mut since = Cycle::MAX;
        for (place, entry) in (lines.start..).zip(&self.lines[lines]) {
            match entry.state {
                State::Invalid => free = Some(place),
                State::Reserved => {}
                State::Valid | State::Modified if entry.last < since => (oldest, since) = (Some(place), entry.last),
                State::Valid | State::Modified => {}
            }
        }
        free.or(oldest)
    }

    fn queue_full(&self, more: usize) -> bool {
        self.queue.len() + more >= self.config.miss_queue as usize
    }

    fn fail(&mut self, why: Why, set: u32) -> Answer {
        self.refusal = (why, set, self.changes.that_matter(why, set));
        self.counters.reservation_fails += 1;
        Answer::Fail
    }

    /// Reads. `waiter` is handed back by [`Cache::next_ready`] when the answer is not a hit.
    pub fn read(&mut self, address: u64, purpose: Purpose, waiter: u32, now: Cycle) -> Answer {
        let line = self.line_of(address);
        if self.is_last(line) {
            self.lines[self.last].last = now;
            self.counters.accesses += 1;
            self.counters.hits += 1;
            return Answer::Hit;
        }
        let set = self.set_of(line);
        let found = self.find(set, line);
        if let Some(index) = found
            && self.lines[index].state != State::Reserved
        {
            self.last = index;
            self.lines[index].last = now;
            self.counters.accesses += 1;
            self.counters.hits += 1;
            return Answer::Hit;
        }
        let on_miss = self.config.allocate_on_miss;
        if self.queue_full(usize::from(on_miss && self.config.miss_queue > 1)) {
            return self.fail(Why::Queue, set);
        }
        let (room, entry) = match found {
            Some(index) => (None, Some(self.lines[index].entry)),
            None => (self.room(set), self.outstanding.find(line)),
        };
        if found.is_none() && room.is_none() {
            return self.fail(Why::Lines, set);
        }
        if let Some(entry) = entry {
            if !self.outstanding.join(entry, waiter) {
                return self.fail(Why::Entries, set);
            }
            if let Some(index) = found {
                self.lines[index].last = now;
            }
            self.counters.accesses += 1;
            self.counters.pending_hits += 1;
            return Answer::Pending;
        }
        let bytes = self.config.line;
        let slot = room.unwrap_or(0);
        let Some(token) = self.outstanding.open(line, slot, bytes.div_ceil(self.sector), waiter) else {
            return self.fail(Why::Entries, set);
        };
        if on_miss {
            self.replace(slot, line, State::Reserved, now);
            self.lines[slot].entry = token;
        }
        let request = Request { token, purpose, address: line, bytes, ..self.request(line, bytes) };
        self.queue.push_back(request);
        self.counters.accesses += 1;
        self.counters.misses += 1;
        Answer::Miss
    }

    fn request(&self, address: u64, bytes: u32) -> Request {
        let purpose = Purpose::GlobalRead;
        let byte_mask = u128::MAX;
        Request { sm: self.sm, token: 0, purpose, address, bytes, posted: false, byte_mask, atomic: None }
    }

    /// Puts a line in the place of another; a changed one is written back.
    fn replace(&mut self, slot: usize, line: u64, state: State, now: Cycle) {
        if self.lines[slot].state == State::Modified {
            let bytes = self.config.line;
            let request = self.request(self.addresses[slot], bytes);
            self.queue.push_back(Request { purpose: Purpose::LocalWrite, posted: true, ..request });
            self.counters.writebacks += 1;
        }
        self.lines[slot] = Line { state, entry: 0, last: now };
        self.addresses[slot] = line;
    }

    /// Forgets lines.
    fn drop_lines(&mut self, which: impl Fn(State) -> bool) {
        for (line, address) in self.lines.iter_mut().zip(&mut self.addresses).filter(|(line, _)| which(line.state)) {
            (line.state, *address) = (State::Invalid, NO_LINE);
        }
    }

    /// Writes: `request` goes through, or the line takes it and no request is needed (a hit).
    pub fn write(&mut self, request: Request, now: Cycle) -> Answer {
        let line = self.line_of(request.address);
        let set = self.set_of(line);
        let there = self.find(set, line);
        let found = there.filter(|i| self.lines[*i].state != State::Reserved);
        let stays = request.purpose == Purpose::LocalWrite && self.config.write == WritePolicy::GlobalThroughLocalBack
            || self.config.write == WritePolicy::Back;
        if let Some(index) = found
            && stays
        {
            self.lines[index].state = State::Modified;
            self.lines[index].last = now;
            self.counters.accesses += 1;
            self.counters.hits += 1;
            return Answer::Hit;
        }
        if self.queue_full(0) {
            return self.fail(Why::Queue, set);
        }
        self.counters.accesses += 1;
        if let Some(index) = found {
            self.lines[index].state = State::Invalid;
            self.addresses[index] = NO_LINE;
            self.counters.hits += 1;
        } else if there.is_some() {
            self.counters.pending_hits += 1;
        } else {
            self.counters.misses += 1;
        }
        self.queue.push_back(request);
        Answer::Miss
    }

    /// A sector of a line has come.
    pub fn fill(&mut self, token: u32, now: Cycle) {
        let line = self.outstanding.line_of(token);
        let set = self.set_of(line);
        self.changes.line_came(set);
        let Some(slot) = self.outstanding.fill(token) else { return };
        if self.config.allocate_on_miss {
            // Only an access counts as a use of the line.
            self.lines[slot].state = State::Valid;
        } else if self.find(set, line).is_none()
            && let Some(room) = self.room(set)
        {
            self.replace(room, line, State::Valid, now);
        }
    }

    /// Invalidates all lines, modified ones too. Outstanding lines still arrive.
    pub fn invalidate(&mut self) {
        self.changes.lines_gone();
        self.drop_lines(|state| state != State::Reserved);
    }

    /// A launch begins: what the one before asked for has come, and nobody waits for it any more.
    pub fn start_launch(&mut self) {
        self.counters = CacheCounters::default();
        self.queue.clear();
        self.outstanding.clear();
        self.drop_lines(|state| state == State::Reserved);
    }

    /// Whether nothing in it moves by itself: no request to send, no line that has come.
    #[inline]
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.queue.is_empty() && !self.has_ready()
    }

    /// Whether some access waits to be taken.
    #[inline]
    #[must_use]
    pub fn has_ready(&self) -> bool {
        self.outstanding.has_ready()
    }

    /// Takes an access whose line has come.
    #[inline]
    pub fn next_ready(&mut self) -> Option<u32> {
        if !self.has_ready() {
            return None;
        }
        self.changes.taken += 1;
        self.outstanding.next_ready()
    }

    /// Outstanding lines.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.outstanding.len()
    }
}

#[cfg(test)]
mod tests;
