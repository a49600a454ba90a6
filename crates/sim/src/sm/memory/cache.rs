//! A first-level cache of the SM: tags, outstanding lines, requests waiting for the interconnect.
//!
//! Tags and outstanding misses are those of all caches (`mem/cache.rs`, `mem/mshr.rs`). There are no data in it: values
//! come from the functional memory. A read hits, joins a line that is outstanding, requests one, or is refused and
//! tried again in the next cycle.

mod refusal;
mod sectors;

use crate::config::{CacheConfig, WritePolicy};
use crate::counters;
use crate::mem::cache::{TagArray, set_of};
use crate::mem::mshr::Mshr;
use crate::packet::{Cycle, NO_ORIGIN, Purpose, Request, Token};
use crate::saved;
use raddle_ptx::num::fit;
use refusal::{Changes, Why};
use std::collections::VecDeque;

counters! {
    /// What a first-level cache counts.
    pub struct CacheCounters {
        accesses: Events, "reads and writes that were accepted";
        hits: Events, "reads and writes that found their line";
        pending_hits: Events, "reads that joined an outstanding miss, and writes to an outstanding line";
        misses: Events, "reads that requested their line, and writes that did not find theirs";
        reservation_fails: Events, "accesses that were refused (no free line, no free entry, or queue full) and tried again";
        write_backs: Events, "modified lines that were written back when they were replaced";
    }
}

/// How a cache answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The data are there.
    Hit,
    /// The access waits for an outstanding line.
    Pending,
    /// The line has been requested, or the write went through.
    Miss,
    /// Refused: try again.
    Fail,
}

/// A line of the tags is one sector: it comes as a whole.
const WHOLE: u8 = 1;

/// A line that has been requested.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Sent {
    /// The line of the tags that is kept for it, if that is chosen when it is requested.
    line: u32,
    /// Replies still to come.
    left: u32,
}

/// A first-level cache.
pub struct Cache {
    config: CacheConfig,
    sector: u32,
    /// Bytes a miss fetches.
    unit: u32,
    tags: TagArray,
    /// Who waits for outstanding lines.
    mshr: Mshr<Token>,
    /// Outstanding lines, by entry of `mshr`, which is the token of the request.
    sent: Vec<Sent>,
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
    values: mshr, sent, queue, changes, refusal;
    parts: tags, counters;
    fixed: config, sector, unit, sm;
});

impl Cache {
    /// An empty cache of SM number `sm`; replies come in sectors of `sector` bytes.
    #[must_use]
    pub fn new(config: &CacheConfig, sm: u16, sector: u32) -> Self {
        let entries = config.mshr_entries.max(1);
        Self {
            config: config.clone(),
            sector,
            unit: config.line,
            tags: TagArray::new(config.sets, config.ways, config.line, config.line),
            mshr: Mshr::new(entries, config.mshr_merges.max(1)),
            sent: vec![Sent::default(); entries as usize],
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

    /// The requests it has just made are of an operation.
    pub(super) fn name_origin(&mut self, origin: u32) {
        self.queue.iter_mut().rev().take_while(|r| r.origin == NO_ORIGIN).for_each(|r| r.origin = origin);
    }

    /// Takes the next request for the interconnect.
    pub fn pop_request(&mut self) -> Option<Request> {
        self.changes.sent += 1;
        self.queue.pop_front()
    }

    /// A sector that is not the last of its line is outstanding and counts as come: nobody can tell. False when it is
    /// the last.
    pub fn absorb(&mut self, token: Token) -> bool {
        let left = &mut self.sent[token.0 as usize].left;
        let more = *left > 1;
        *left -= u32::from(more);
        more
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

    /// The line of an address.
    #[inline]
    pub(super) fn line_of(&self, address: u64) -> u64 {
        address & !(u64::from(self.config.line) - 1)
    }

    #[inline]
    fn set_of(&self, line: u64) -> u32 {
        let CacheConfig { index, sets, line: bytes, .. } = self.config;
        set_of(index, sets, bytes, line)
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
    #[inline]
    pub fn read(&mut self, address: u64, purpose: Purpose, waiter: Token, now: Cycle) -> Answer {
        if self.is_sectored() {
            return self.read_sector(address, purpose, waiter, now);
        }
        let line = self.line_of(address);
        let CacheConfig { index, sets, line: bytes, .. } = self.config;
        if self.tags.hit(line, || set_of(index, sets, bytes, line), now) {
            self.counters.accesses += 1;
            self.counters.hits += 1;
            return Answer::Hit;
        }
        self.miss(line, purpose, waiter, now)
    }

    /// Reads a line that is not there.
    fn miss(&mut self, line: u64, purpose: Purpose, waiter: Token, now: Cycle) -> Answer {
        let set = self.set_of(line);
        let found = self.tags.find(set, line);
        let on_miss = self.config.allocate_on_miss;
        if self.queue_full(usize::from(on_miss && self.config.miss_queue > 1)) {
            return self.fail(Why::Queue, set);
        }
        let room = if found.is_none() { self.tags.victim(set) } else { found };
        let Some(room) = room else { return self.fail(Why::Lines, set) };
        if let Some(entry) = self.mshr.find(line) {
            if !self.mshr.has_room(entry) {
                return self.fail(Why::Entries, set);
            }
            self.mshr.merge(entry, waiter);
            if let Some(number) = found {
                self.tags.touch(number, now);
            }
            self.counters.accesses += 1;
            self.counters.pending_hits += 1;
            return Answer::Pending;
        }
        if self.mshr.is_full() {
            return self.fail(Why::Entries, set);
        }
        let bytes = self.config.line;
        let entry = self.mshr.open(line, waiter);
        self.sent[entry as usize] = Sent { line: room, left: bytes.div_ceil(self.sector) };
        if on_miss {
            self.replace(room, line, now);
        }
        let request = Request { token: Token(entry), purpose, ..self.request(line, bytes) };
        self.queue.push_back(request);
        self.counters.accesses += 1;
        self.counters.misses += 1;
        Answer::Miss
    }

    fn request(&self, address: u64, bytes: u32) -> Request {
        let purpose = Purpose::GlobalRead;
        let byte_mask = u128::MAX;
        Request {
            sm: self.sm,
            token: Token::default(),
            purpose,
            address,
            bytes,
            posted: false,
            byte_mask,
            atomic: None,
            origin: NO_ORIGIN,
        }
    }

    /// Keeps the place of another line for a line that will come; a changed one is written back.
    fn replace(&mut self, number: u32, line: u64, now: Cycle) {
        if let Some(evicted) = self.tags.replace(number, line, now) {
            let request = self.request(evicted.line, self.config.line);
            self.queue.push_back(Request { purpose: Purpose::LocalWrite, posted: true, ..request });
            self.counters.write_backs += 1;
        }
        self.tags.reserve(number, WHOLE, now);
    }

    /// Writes: `request` goes through, or the line takes it and no request is needed (a hit).
    pub fn write(&mut self, request: Request, now: Cycle) -> Answer {
        if self.is_sectored() {
            return self.write_sector(request, now);
        }
        let line = self.line_of(request.address);
        let set = self.set_of(line);
        let there = self.tags.find(set, line);
        let found = there.filter(|number| !self.tags.is_coming(*number, WHOLE));
        let stays = request.purpose == Purpose::LocalWrite && self.config.write == WritePolicy::GlobalThroughLocalBack
            || self.config.write == WritePolicy::Back;
        if let Some(number) = found
            && stays
        {
            self.tags.mark_dirty(number, WHOLE);
            self.tags.touch(number, now);
            self.counters.accesses += 1;
            self.counters.hits += 1;
            return Answer::Hit;
        }
        if self.queue_full(0) {
            return self.fail(Why::Queue, set);
        }
        self.counters.accesses += 1;
        if let Some(number) = found {
            self.tags.invalidate(number);
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
    pub fn fill(&mut self, token: Token, now: Cycle) {
        let entry = token.0;
        if self.is_sectored() {
            return self.fill_sector(entry);
        }
        let line = self.mshr.address(entry);
        let set = self.set_of(line);
        self.changes.line_came(set);
        let Sent { line: number, left } = &mut self.sent[entry as usize];
        *left -= 1;
        if *left > 0 {
            return;
        }
        self.mshr.fill(entry);
        if self.config.allocate_on_miss {
            // Only an access counts as a use of the line.
            self.tags.fill(*number, WHOLE);
        } else if self.tags.find(set, line).is_none()
            && let Some(room) = self.tags.victim(set)
        {
            self.replace(room, line, now);
            self.tags.fill(room, WHOLE);
        }
    }

    /// Invalidates all lines, modified ones too. Outstanding lines still arrive.
    pub fn invalidate(&mut self) {
        self.changes.lines_gone();
        self.tags.drop_lines(false);
    }

    /// A launch begins: what the one before asked for has come, and nobody waits for it any more.
    pub fn start_launch(&mut self) {
        self.counters = CacheCounters::default();
        self.queue.clear();
        self.mshr.clear();
        self.tags.drop_lines(true);
    }

    /// Whether nothing in it moves on its own: no request to send, no line that has come.
    #[inline]
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.queue.is_empty() && !self.has_ready()
    }

    /// Whether some access waits to be taken.
    #[inline]
    #[must_use]
    pub fn has_ready(&self) -> bool {
        self.mshr.has_ready()
    }

    /// The line that the next access that can be taken waited for.
    pub(super) fn ready_line(&self) -> Option<u64> {
        self.mshr.next_ready().map(|entry| self.mshr.address(entry))
    }

    /// Takes an access whose line has come.
    #[inline]
    pub fn next_ready(&mut self) -> Option<Token> {
        if !self.has_ready() {
            return None;
        }
        self.changes.taken += 1;
        self.mshr.pop_ready()
    }

    /// Outstanding lines.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        fit(self.mshr.len())
    }
}

#[cfg(test)]
mod tests;
