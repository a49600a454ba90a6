//! Tags of a set-associative cache with sectors, replaced by least recent use.
//!
//! A line is named by its number (set times ways plus way). A sector is one of
//! * *absent*,
//! * *reserved*: room is kept for data that are outstanding,
//! * *clean*,
//! * *dirty*: written here; *readable* when all its bytes are known, otherwise a read has to fetch the rest.
//!
//! A cache without sectors has one sector per line. No data are kept here.

use crate::config::SetIndex;
use crate::packet::Cycle;
use crate::saved;
use raddle_ptx::num::{fit, low32};

/// The most sectors of a line: they are bits of a byte.
pub const MAX_SECTORS: u32 = u8::BITS;
/// The longest line: its bytes are bits of a `u128`.
pub const MAX_LINE: u32 = u128::BITS;

/// What a look-up found, with the number of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The sector is here.
    Hit(u32),
    /// The sector is outstanding.
    Pending(u32),
    /// The line is here, the sector (or part of it) is not.
    SectorMiss(u32),
    /// The line is not here; this line would be replaced.
    Miss(u32),
    /// The line is not here and every line of the set waits for data.
    Full,
}

/// A replaced line that has to be written back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// Address of the line.
    pub line: u64,
    /// Its dirty sectors, one bit each.
    pub dirty: u8,
}

#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Line {
    used: Cycle,
    /// Sectors whose room is kept and whose data readers wait for.
    reserved: u8,
    /// Sectors for which a fill will come, reserved or written since.
    coming: u8,
    clean: u8,
    dirty: u8,
    readable: u8,
    dirty_on_fill: u8,
}

impl Line {
    fn is_empty(&self) -> bool {
        self.reserved | self.clean | self.dirty == 0
    }
}

/// The tags.
#[derive(Clone, Debug)]
pub struct TagArray {
    sets: u32,
    ways: u32,
    sector_bytes: u32,
    /// Address of each line, [`NO_LINE`] where there is none: searched without touching the lines.
    addresses: Vec<u64>,
    lines: Vec<Line>,
    /// Bytes written, for each line.
    bytes: Vec<u128>,
    /// Lines with written bytes are not replaced while they are fewer than this many in a hundred.
    modified_percent: u32,
    /// Lines with written bytes; counted where that matters.
    modified: u32,
    /// The line that was found or replaced last: sectors of a line are looked for one after the other.
    last: u32,
}

saved!(TagArray { values: addresses, lines, bytes, modified, last; fixed: sets, ways, sector_bytes, modified_percent });

/// No line has this address: lines are aligned.
pub const NO_LINE: u64 = u64::MAX;

/// The set of an address: `address` is what the cache indexes with, which for the L2 is not the whole address.
#[must_use]
pub fn set_of(index: SetIndex, sets: u32, line_bytes: u32, address: u64) -> u32 {
    let line = address >> line_bytes.trailing_zeros();
    let hashed = match index {
        SetIndex::Linear => line,
        SetIndex::Fermi => {
            let high =
                [13, 14, 15, 17, 19].iter().enumerate().fold(0, |sum, (to, from)| sum | (address >> from & 1) << to);
            line & 31 ^ high
        }
        SetIndex::Polynomial => {
            let degree = sets.ilog2();
            remainder(line & ((1 << (degree + hashed_bits(degree))) - 1), degree)
        }
    };
    if sets.is_power_of_two() { low32(hashed) & (sets - 1) } else { fit(hashed % u64::from(sets)) }
}

/// How many bits above those of a number of this many bits take part when it is hashed.
#[must_use]
pub fn hashed_bits(bits: u32) -> u32 {
    // As GPGPU-Sim has it.
    if bits == 5 { 15 } else { 19 }
}

/// The remainder of a polynomial over the field of two elements, its coefficients the bits of `value`, by a primitive
/// one of a degree up to 10.
#[must_use]
pub fn remainder(value: u64, degree: u32) -> u64 {
    /// By degree: the coefficients below the highest.
    const PRIMITIVE: [u64; 11] = [0, 1, 3, 3, 3, 5, 3, 3, 29, 17, 9];
    let by = 1 << degree | PRIMITIVE[degree as usize];
    let mut left = value;
    while left >> degree != 0 {
        left ^= by << (left.ilog2() - degree);
    }
    left
}

impl TagArray {
    /// An empty cache.
    ///
    /// # Panics
    /// When it has more than eight sectors per line or more than 128 bytes per line.
    #[must_use]
    pub fn new(sets: u32, ways: u32, line_bytes: u32, sector_bytes: u32) -> Self {
        let fits = line_bytes.is_multiple_of(sector_bytes) && line_bytes / sector_bytes <= MAX_SECTORS;
        assert!(fits && line_bytes <= MAX_LINE, "{line_bytes} bytes in sectors of {sector_bytes}");
        let lines = (sets * ways) as usize;
        let addresses = vec![NO_LINE; lines.max(1)];
        let (lines, bytes) = (vec![Line::default(); lines.max(1)], vec![0; lines]);
        Self { sets, ways, sector_bytes, addresses, lines, bytes, modified_percent: 0, modified: 0, last: 0 }
    }

    /// Lines with written bytes are not replaced while they are fewer than this many in a hundred.
    pub fn keep_modified(&mut self, percent: u32) {
        self.modified_percent = percent;
    }

    /// Whether lines with written bytes are kept.
    fn keeps_modified(&self) -> bool {
        self.modified_percent > 0
            && u64::from(self.modified) * 100 < u64::from(self.modified_percent) * u64::from(self.sets * self.ways)
    }

    /// Sets.
    #[must_use]
    pub fn sets(&self) -> u32 {
        self.sets
    }

    /// Looks for a sector (one bit) of the line at an address, and for a line to replace when it is not there.
    #[inline]
    #[must_use]
    pub fn probe(&mut self, set: u32, line: u64, sector: u8, write: bool) -> Probe {
        match self.find(set, line) {
            Some(number) => self.found(number, sector, write),
            None => self.victim(set).map_or(Probe::Full, Probe::Miss),
        }
    }

    /// Looks for the line at an address.
    #[inline]
    #[must_use]
    pub fn find(&mut self, set: u32, line: u64) -> Option<u32> {
        self.find_in(line, || set)
    }

    /// The same where it takes time to find the set: most accesses are to the line of the one before.
    #[inline]
    #[must_use]
    pub fn find_in(&mut self, line: u64, set: impl Fn() -> u32) -> Option<u32> {
        if self.addresses[self.last as usize] != line {
            let first = set() * self.ways;
            let ways = first as usize..(first + self.ways) as usize;
            let way = self.addresses[ways].iter().position(|address| *address == line)?;
            self.last = first + fit::<u32, _>(way);
        }
        Some(self.last)
    }

    /// Looks for the line at an address whose data are not outstanding, all of them, and counts it as used.
    #[inline]
    pub fn hit(&mut self, line: u64, set: impl Fn() -> u32, now: Cycle) -> bool {
        let Some(number) = self.find_in(line, set) else { return false };
        let entry = &mut self.lines[number as usize];
        let is_there = entry.coming == 0;
        if is_there {
            entry.used = now;
        }
        is_there
    }

    /// What a look-up finds whose line is there.
    #[inline]
    fn found(&self, number: u32, sector: u8, write: bool) -> Probe {
        let entry = &self.lines[number as usize];
        if entry.reserved & sector != 0 {
            Probe::Pending(number)
        } else if entry.clean & sector != 0 || entry.dirty & sector != 0 && (write || entry.readable & sector != 0) {
            Probe::Hit(number)
        } else {
            Probe::SectorMiss(number)
        }
    }

    /// The line of a set to replace: the last empty one, or that used longest ago. `None` when all wait for data.
    #[inline(never)]
    #[must_use]
    pub fn victim(&self, set: u32) -> Option<u32> {
        let first = set * self.ways;
        let mut empty = None;
        let mut oldest: Option<(Cycle, u32)> = None;
        let keeps_modified = self.keeps_modified();
        for (number, entry) in (first..).zip(&self.lines[first as usize..(first + self.ways) as usize]) {
            if entry.reserved | entry.coming != 0 || keeps_modified && entry.dirty != 0 {
                continue;
            }
            if entry.is_empty() {
                empty = Some(number);
            } else if oldest.is_none_or(|(used, _)| entry.used < used) {
                oldest = Some((entry.used, number));
            }
        }
        empty.or(oldest.map(|(_, number)| number))
    }

    /// Whether a fill of a sector will come.
    #[must_use]
    pub fn is_coming(&self, number: u32, sector: u8) -> bool {
        self.lines[number as usize].coming & sector != 0
    }

    /// Marks a line as used.
    pub fn touch(&mut self, number: u32, now: Cycle) {
        self.lines[number as usize].used = now;
    }

    /// Gives a line to another address and forgets what it held; returns the part that must be written back. A sector
    /// of it must then be reserved or written.
    pub fn replace(&mut self, number: u32, line: u64, now: Cycle) -> Option<Evicted> {
        let entry = &mut self.lines[number as usize];
        let old = std::mem::replace(&mut self.addresses[number as usize], line);
        let evicted = (entry.dirty != 0).then_some(Evicted { line: old, dirty: entry.dirty });
        self.modified -= u32::from(self.modified_percent > 0 && entry.dirty != 0);
        *entry = Line { used: now, ..Line::default() };
        self.bytes[number as usize] = 0;
        self.last = number;
        evicted
    }

    /// Whether replacing a line makes a write-back.
    #[must_use]
    pub fn is_dirty(&self, number: u32) -> bool {
        self.lines[number as usize].dirty != 0
    }

    /// Keeps room for a sector that is fetched. What was written to it stays dirty.
    pub fn reserve(&mut self, number: u32, sector: u8, now: Cycle) {
        let entry = &mut self.lines[number as usize];
        entry.used = now;
        entry.reserved |= sector;
        entry.coming |= sector;
        if entry.dirty & sector != 0 {
            entry.dirty_on_fill |= sector;
        }
    }

    /// The sector will have been written when its data come (an atomic).
    pub fn dirty_on_fill(&mut self, number: u32, sector: u8) {
        self.lines[number as usize].dirty_on_fill |= sector;
    }

    /// The data of a sector came.
    pub fn fill(&mut self, number: u32, sector: u8) {
        let entry = &mut self.lines[number as usize];
        debug_assert!(entry.coming & sector != 0, "a fill nobody asked for");
        entry.reserved &= !sector;
        entry.coming &= !sector;
        entry.readable |= sector;
        if entry.dirty_on_fill & sector != 0 {
            entry.dirty_on_fill &= !sector;
            entry.dirty |= sector;
        }
        if entry.dirty & sector == 0 {
            entry.clean |= sector;
        }
    }

    /// Writes bytes (bit n is byte n of the line) of a sector that need not be here.
    pub fn write(&mut self, number: u32, sector: u8, bytes: u128, now: Cycle) {
        let width = self.sector_bytes;
        let entry = &mut self.lines[number as usize];
        entry.used = now;
        let known = &mut self.bytes[number as usize];
        *known |= bytes;
        let whole = (if width == 128 { u128::MAX } else { (1 << width) - 1 }) << (width * sector.trailing_zeros());
        if entry.clean & sector != 0 || *known & whole == whole {
            entry.readable |= sector;
        } else if entry.dirty & sector == 0 {
            entry.readable &= !sector;
        }
        entry.clean &= !sector;
        entry.reserved &= !sector;
        self.modified += u32::from(self.modified_percent > 0 && entry.dirty == 0);
        entry.dirty |= sector;
        if entry.coming & sector != 0 {
            entry.dirty_on_fill |= sector;
        }
    }

    /// Marks a sector that is here as written, all of it known (an atomic).
    pub fn mark_dirty(&mut self, number: u32, sector: u8) {
        let entry = &mut self.lines[number as usize];
        entry.clean &= !sector;
        entry.dirty |= sector;
        entry.readable |= sector;
    }

    /// Drops a line; what was written to it is lost. It must not wait for data.
    pub fn invalidate(&mut self, number: u32) {
        let entry = &mut self.lines[number as usize];
        debug_assert_eq!(entry.coming, 0);
        *entry = Line::default();
        self.addresses[number as usize] = NO_LINE;
    }

    /// Drops the lines that wait for data, or all others.
    pub fn drop_lines(&mut self, waiting: bool) {
        self.modified = 0;
        for (entry, address) in self.lines.iter_mut().zip(&mut self.addresses) {
            if (entry.coming != 0) == waiting {
                (*entry, *address) = (Line::default(), NO_LINE);
            }
            self.modified += u32::from(self.modified_percent > 0 && entry.dirty != 0);
        }
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.modified = 0;
        self.lines.fill(Line::default());
        self.addresses.fill(NO_LINE);
    }
}

#[cfg(test)]
mod tests {
    use super::{Evicted, Probe, TagArray, set_of};
    use crate::config::SetIndex;

    #[test]
    fn least_recently_used_goes_first() {
        let mut tags = TagArray::new(1, 2, 128, 32);
        for (line, now) in [(0x000, 1), (0x080, 2)] {
            let Probe::Miss(number) = tags.probe(0, line, 1, false) else { panic!() };
            assert_eq!(tags.replace(number, line, now), None);
            tags.reserve(number, 1, now);
            assert_eq!(tags.probe(0, line, 1, false), Probe::Pending(number));
        }
        assert_eq!(tags.probe(0, 0x100, 1, false), Probe::Full);
        let Probe::Pending(a) = tags.probe(0, 0, 1, false) else { panic!() };
        let Probe::Pending(b) = tags.probe(0, 0x80, 1, false) else { panic!() };
        tags.fill(a, 1);
        tags.fill(b, 1);
        assert_eq!(tags.probe(0, 0, 1, false), Probe::Hit(a));
        assert_eq!(tags.probe(0, 0, 2, false), Probe::SectorMiss(a));
        assert_eq!(tags.probe(0, 0x100, 1, false), Probe::Miss(a));
        tags.touch(a, 3);
        assert_eq!(tags.probe(0, 0x100, 1, false), Probe::Miss(b));
        tags.invalidate(a);
        assert_eq!(tags.probe(0, 0x100, 1, false), Probe::Miss(a));
        tags.clear();
        assert_eq!(tags.probe(0, 0x80, 1, false), Probe::Miss(1));
    }

    #[test]
    fn partly_written_sectors_are_not_readable() {
        let mut tags = TagArray::new(1, 1, 128, 32);
        tags.replace(0, 0, 1);
        tags.write(0, 2, 0xFFFF << 32, 1);
        assert_eq!(tags.probe(0, 0, 2, true), Probe::Hit(0));
        assert_eq!(tags.probe(0, 0, 2, false), Probe::SectorMiss(0));
        // The other half makes it whole.
        tags.write(0, 2, 0xFFFF << 48, 2);
        assert_eq!(tags.probe(0, 0, 2, false), Probe::Hit(0));
        tags.write(0, 8, 1 << 96, 3);
        tags.reserve(0, 8, 4);
        assert_eq!(tags.probe(0, 0, 8, false), Probe::Pending(0));
        tags.fill(0, 8);
        assert_eq!(tags.probe(0, 0, 8, false), Probe::Hit(0));
        assert!(tags.is_dirty(0));
        assert_eq!(tags.replace(0, 0x80, 5), Some(Evicted { line: 0, dirty: 10 }));
    }

    #[test]
    fn written_while_outstanding() {
        let mut tags = TagArray::new(1, 1, 128, 32);
        tags.replace(0, 0, 1);
        tags.reserve(0, 1, 1);
        tags.write(0, 1, 0xF, 2);
        // It cannot be read yet, and the line cannot be replaced before the data come.
        assert_eq!(tags.probe(0, 0, 1, false), Probe::SectorMiss(0));
        assert_eq!(tags.probe(0, 0x80, 1, false), Probe::Full);
        tags.fill(0, 1);
        assert_eq!(tags.probe(0, 0, 1, false), Probe::Hit(0));
        assert_eq!(tags.replace(0, 0x80, 5), Some(Evicted { line: 0, dirty: 1 }));
        tags.reserve(0, 1, 6);
        tags.dirty_on_fill(0, 1);
        tags.fill(0, 1);
        assert_eq!(tags.replace(0, 0, 7), Some(Evicted { line: 0x80, dirty: 1 }));
        tags.reserve(0, 1, 8);
        tags.fill(0, 1);
        tags.mark_dirty(0, 1);
        assert!(tags.is_dirty(0));
    }

    #[test]
    fn set_functions() {
        assert_eq!(set_of(SetIndex::Linear, 64, 128, 0x2080), 1);
        assert_eq!(set_of(SetIndex::Linear, 6, 64, 64 * 7), 1);
        assert_eq!(set_of(SetIndex::Fermi, 32, 128, 0x80 | 1 << 13), 0);
        assert_eq!(set_of(SetIndex::Fermi, 32, 128, 1 << 19 | 1 << 17), 0b11000);
        // x^5 = x^2 + 1, x^6 = x^3 + x.
        assert_eq!(set_of(SetIndex::Polynomial, 32, 128, 1 << 12), 0b00101);
        assert_eq!(set_of(SetIndex::Polynomial, 32, 128, 1 << 13 | 1 << 7), 0b01011);
        let sets: std::collections::BTreeSet<u32> =
            (0..32u64).map(|n| set_of(SetIndex::Polynomial, 32, 128, 0xABC_D000 | n << 7)).collect();
        assert_eq!(sets.len(), 32, "neighbours are in different sets");
        // With 64 sets x^6 = x + 1; of the bits above, 19 count.
        assert_eq!(set_of(SetIndex::Polynomial, 64, 128, 1 << 13), 0b00011);
        assert_eq!(set_of(SetIndex::Polynomial, 64, 128, 1 << 32 | 1 << 7), 1);
    }
}
