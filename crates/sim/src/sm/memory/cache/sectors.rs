//! A data cache that fetches sectors of its lines, and keeps what stores write: they go through, and their bytes stay.

use super::refusal::Why;
use super::{Answer, Cache, Sent};
use crate::config::DataCacheConfig;
use crate::mem::cache::{Probe, TagArray};
use crate::packet::{Cycle, Purpose, Request, Token};

impl Cache {
    /// The same with what only data caches have; empty.
    #[must_use]
    pub fn with_sectors(mut self, data: &DataCacheConfig) -> Self {
        if data.sector > 0 && data.sector < self.config.line {
            let super::CacheConfig { sets, ways, line, .. } = self.config;
            self.unit = data.sector;
            self.tags = TagArray::new(sets, ways, line, data.sector);
            self.tags.keep_modified(data.modified_percent);
        }
        self
    }

    /// Whether a miss fetches less than a line.
    #[inline]
    pub(super) fn is_sectored(&self) -> bool {
        self.unit < self.config.line
    }

    /// The sector of an address in its line, as a bit.
    fn sector(&self, address: u64) -> u8 {
        1 << ((address & u64::from(self.config.line - 1)) / u64::from(self.unit))
    }

    /// Reads a sector.
    pub(super) fn read_sector(&mut self, address: u64, purpose: Purpose, waiter: Token, now: Cycle) -> Answer {
        let (line, sector) = (self.line_of(address), self.sector(address));
        let set = self.set_of(line);
        let (number, is_new) = match self.tags.probe(set, line, sector, false) {
            Probe::Hit(number) => {
                self.tags.touch(number, now);
                self.counters.accesses += 1;
                self.counters.hits += 1;
                return Answer::Hit;
            }
            Probe::Full => return self.fail(Why::Lines, set),
            Probe::Pending(number) | Probe::SectorMiss(number) => (number, false),
            Probe::Miss(number) => (number, true),
        };
        if self.queue_full(1) {
            return self.fail(Why::Queue, set);
        }
        let start = address & !u64::from(self.unit - 1);
        let outstanding = self.mshr.find(start);
        if outstanding.map_or(self.mshr.is_full(), |entry| !self.mshr.has_room(entry)) {
            return self.fail(Why::Entries, set);
        }
        if is_new {
            // What stores wrote has gone through: nothing is written back.
            self.tags.replace(number, line, now);
        }
        self.counters.accesses += 1;
        if let Some(entry) = outstanding {
            self.mshr.merge(entry, waiter);
            if self.mshr.is_ready(entry) {
                self.tags.touch(number, now);
            } else {
                self.tags.reserve(number, sector, now);
            }
            self.counters.pending_hits += 1;
            return Answer::Pending;
        }
        self.tags.reserve(number, sector, now);
        let entry = self.mshr.open(start, waiter);
        self.sent[entry as usize] = Sent { line: number, left: 1 };
        let request = Request { token: Token(entry), purpose, ..self.request(start, self.unit) };
        self.queue.push_back(request);
        self.counters.misses += 1;
        Answer::Miss
    }

    /// Writes bytes of a sector. They go through in any case.
    pub(super) fn write_sector(&mut self, request: Request, now: Cycle) -> Answer {
        let (line, sector) = (self.line_of(request.address), self.sector(request.address));
        let set = self.set_of(line);
        if self.queue_full(0) {
            return self.fail(Why::Queue, set);
        }
        let bytes = request.byte_mask << (request.address - line);
        let probe = self.tags.probe(set, line, sector, true);
        let (number, counter) = match probe {
            Probe::Full => return self.fail(Why::Lines, set),
            Probe::Hit(number) => (number, &mut self.counters.hits),
            Probe::Pending(number) => (number, &mut self.counters.pending_hits),
            Probe::SectorMiss(number) | Probe::Miss(number) => (number, &mut self.counters.misses),
        };
        *counter += 1;
        self.counters.accesses += 1;
        if matches!(probe, Probe::Miss(_)) {
            self.tags.replace(number, line, now);
        }
        self.tags.write(number, sector, bytes, now);
        self.queue.push_back(request);
        Answer::Miss
    }

    /// A sector has come.
    pub(super) fn fill_sector(&mut self, entry: u32) {
        let address = self.mshr.address(entry);
        let line = self.line_of(address);
        let set = self.set_of(line);
        self.changes.line_came(set);
        let sector = self.sector(address);
        // Its line is gone when the cache was emptied in between.
        if let Some(number) = self.tags.find(set, line).filter(|number| self.tags.is_coming(*number, sector)) {
            self.tags.fill(number, sector);
        }
        self.mshr.fill(entry);
    }
}
