//! What one access does to the cache of a slice.

use raddle_exec::memory::Global;

use super::{Sector, Served, Slice};
use crate::mem::cache::{Evicted, Probe};
use crate::mem::dram_bank::Access;
use crate::packet::Cycle;
use raddle_ptx::num::fit;

impl Slice {
    pub(super) fn bypass(&mut self, sector: Sector) {
        let served = self.served(sector);
        let write = served.request.purpose.is_write();
        let address = served.line + u64::from(sector.number) * u64::from(self.config.sector);
        let origin = served.request.origin;
        self.count(write);
        self.charge(origin, None);
        let access = Access { write, ..self.read(address, sector.tag(), origin) };
        self.send(access);
    }

    /// What DRAM does to read a sector.
    fn read(&self, address: u64, tag: u64, origin: u32) -> Access {
        let (bank, row) = self.map.bank_and_row(address);
        let (bank, slice, bursts) = (fit(bank), self.local, fit(self.config.sector.div_ceil(self.burst_bytes)));
        Access { tag, row, bank, slice, bursts, write: false, reply: true, origin }
    }

    /// Charges an access to the operation that made it, if somebody asks.
    #[inline]
    fn charge(&mut self, origin: u32, probe: Option<Probe>) {
        if let Some(profile) = &mut self.profile {
            profile.access(origin, probe);
        }
    }

    fn count(&mut self, write: bool) {
        self.counters.accesses += 1;
        if write {
            self.counters.writes += 1;
        } else {
            self.counters.reads += 1;
        }
    }

    /// Does an access, or says that it has to wait.
    pub(super) fn try_access(&mut self, sector: Sector, tick: u64, now: Cycle, memory: &mut Global<'_>) -> bool {
        let now = now + self.ahead;
        let served = self.served(sector);
        let (line, set, write) = (served.line, served.set, served.request.purpose.is_write());
        let (is_atomic, origin) = (served.request.atomic.is_some(), served.request.origin);
        let probe = self.tags.probe(set, line, sector.bit(), write);
        self.port_at = tick + 1;
        let done = match probe {
            Probe::Full => false,
            Probe::Hit(number) => {
                self.hit(number, sector, write, is_atomic, now);
                self.respond(sector, memory);
                true
            }
            Probe::Pending(number) | Probe::SectorMiss(number) | Probe::Miss(number) => {
                let replace = matches!(probe, Probe::Miss(_));
                if write {
                    self.write_miss(number, replace, sector, tick, now) && {
                        self.respond(sector, memory);
                        true
                    }
                } else {
                    self.read_miss(number, replace, sector, tick, now)
                }
            }
        };
        if done {
            self.count(write);
            self.charge(origin, Some(probe));
            match probe {
                Probe::Hit(_) => self.counters.hits += 1,
                Probe::Pending(_) => self.counters.pending_hits += 1,
                Probe::SectorMiss(_) => self.counters.sector_misses += 1,
                Probe::Miss(_) | Probe::Full => self.counters.misses += 1,
            }
        }
        done
    }

    /// Bytes of the line that a sector of a write brings.
    fn bytes(&self, sector: Sector) -> u128 {
        let served = self.served(sector);
        let width = self.config.sector;
        let whole = if width == 128 { u128::MAX } else { (1 << width) - 1 };
        let shift = served.request.address - served.line;
        (served.request.byte_mask << shift) & (whole << (width * u32::from(sector.number)))
    }

    fn hit(&mut self, number: u32, sector: Sector, write: bool, is_atomic: bool, now: Cycle) {
        if write {
            self.tags.write(number, sector.bit(), self.bytes(sector), now);
            return;
        }
        self.tags.touch(number, now);
        if is_atomic {
            self.tags.mark_dirty(number, sector.bit());
        }
    }

    fn write_miss(&mut self, number: u32, replace: bool, sector: Sector, tick: u64, now: Cycle) -> bool {
        if self.miss_queue.len() >= self.config.miss_queue {
            return false;
        }
        if replace {
            let Served { line, request, .. } = self.served(sector);
            let (line, origin) = (*line, request.origin);
            let evicted = self.tags.replace(number, line, now);
            self.write_back(evicted, origin, tick);
        }
        self.tags.write(number, sector.bit(), self.bytes(sector), now);
        true
    }

    fn read_miss(&mut self, number: u32, replace: bool, sector: Sector, tick: u64, now: Cycle) -> bool {
        // A read can queue two requests, its own and the write-back of the line it replaces.
        if !self.miss_queue.is_empty() && self.miss_queue.len() + 2 > self.config.miss_queue {
            return false;
        }
        let Served { line, request, .. } = self.served(sector);
        let (line, origin) = (*line, request.origin);
        let address = line + u64::from(sector.number) * u64::from(self.config.sector);
        let outstanding = self.mshr.find(address);
        if outstanding.map_or(self.mshr.is_full(), |entry| self.mshr.is_ready(entry) || !self.mshr.has_room(entry)) {
            return false;
        }
        let evicted = if replace { self.tags.replace(number, line, now) } else { None };
        self.tags.reserve(number, sector.bit(), now);
        if self.served(sector).request.atomic.is_some() {
            self.tags.dirty_on_fill(number, sector.bit());
        }
        if let Some(entry) = outstanding {
            self.mshr.merge(entry, sector);
        } else {
            let entry = self.mshr.open(address, sector);
            self.filling[entry as usize] = (number, sector.bit());
            self.queue_miss(self.read(address, entry.into(), origin));
        }
        self.write_back(evicted, origin, tick);
        true
    }

    fn queue_miss(&mut self, access: Access) {
        self.miss_queue.push(access);
        self.dram_side += 1;
    }

    /// Sends a replaced line to DRAM; reading it out holds the data port for a cycle per sector.
    fn write_back(&mut self, evicted: Option<Evicted>, origin: u32, tick: u64) {
        let Some(evicted) = evicted else { return };
        let sectors = evicted.dirty.count_ones();
        let bursts = fit((sectors * self.config.sector).div_ceil(self.burst_bytes));
        let access = Access { bursts, write: true, reply: false, ..self.read(evicted.line, 0, origin) };
        self.queue_miss(access);
        self.port_at = tick + u64::from(sectors);
        self.counters.write_backs += 1;
    }
}
