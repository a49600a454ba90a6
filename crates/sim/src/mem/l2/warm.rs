//! Accesses without time: they change what lies in the cache and nothing else.
//!
//! Blocks that are executed without time leave the L2 as if their requests had come one after another, before the next
//! that has a time. Nothing is counted, DRAM moves nothing, and a dirty line that is replaced is dropped. What is outstanding
//! stays so.

use super::Slice;
use crate::config::SetIndex;
use crate::mem::cache::{Probe, set_of};
use crate::packet::Cycle;
use raddle_ptx::num::fit;

/// What an access without time does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warm {
    /// Reads.
    Read,
    /// Writes these bytes; bit n is byte n of the request.
    Write(u128),
    /// Reads and writes whole words: an atomic.
    Update,
}

impl Slice {
    /// Makes the accesses of a request: whole sectors inside one line.
    pub fn warm(&mut self, now: Cycle, address: u64, bytes: u32, what: Warm) {
        if self.config.sets == 0 {
            return;
        }
        // Each is used after the one before, though no time passes.
        self.ahead += 1;
        let used = now + self.ahead;
        let line = address & !u64::from(self.config.line - 1);
        let set = set_of(SetIndex::Linear, self.config.sets, self.config.line, self.map.local(line));
        let first = fit::<u32, _>(address - line) / self.config.sector;
        for number in first..first + bytes.div_ceil(self.config.sector) {
            self.warm_sector(set, line, number, what, used, address - line);
        }
    }

    fn warm_sector(&mut self, set: u32, line: u64, number: u32, what: Warm, used: Cycle, shift: u64) {
        let bit = 1u8 << number;
        let is_write = matches!(what, Warm::Write(_));
        let (way, is_new) = match self.tags.probe(set, line, bit, is_write) {
            Probe::Full | Probe::Pending(_) => return,
            Probe::Hit(way) => {
                self.tags.touch(way, used);
                if what == Warm::Update {
                    self.tags.mark_dirty(way, bit);
                }
                (way, false)
            }
            Probe::SectorMiss(way) => (way, !self.tags.is_coming(way, bit)),
            Probe::Miss(way) => {
                let _dropped = self.tags.replace(way, line, used);
                (way, true)
            }
        };
        match what {
            Warm::Write(mask) => {
                let width = self.config.sector;
                let whole = if width == 128 { u128::MAX } else { (1 << width) - 1 };
                self.tags.write(way, bit, (mask << shift) & (whole << (width * number)), used);
            }
            Warm::Read | Warm::Update if is_new => {
                self.tags.reserve(way, bit, used);
                if what == Warm::Update {
                    self.tags.dirty_on_fill(way, bit);
                }
                self.tags.fill(way, bit);
            }
            Warm::Read | Warm::Update => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::address::AddressMap;
    use crate::mem::l2::ReplyFlits;
    use crate::mem::test_machine::gtx480;

    fn slice() -> Slice {
        let machine = gtx480();
        let map = AddressMap::new(&machine.dram, &machine.l2).unwrap();
        Slice::new(&machine, map, 0, ReplyFlits { data: 2, header: 1 }, 8)
    }

    fn probe(slice: &mut Slice, line: u64, bit: u8) -> Probe {
        let set = set_of(SetIndex::Linear, slice.config.sets, slice.config.line, slice.map.local(line));
        slice.tags.probe(set, line, bit, false)
    }

    #[test]
    fn what_was_accessed_is_there() {
        let mut slice = slice();
        slice.warm(5, 0x20, 32, Warm::Read);
        assert!(matches!(probe(&mut slice, 0, 2), Probe::Hit(_)));
        assert!(matches!(probe(&mut slice, 0, 1), Probe::SectorMiss(_)), "another sector of the line is not");
        slice.warm(5, 0x40, 32, Warm::Write(0xffff_ffff));
        slice.warm(5, 0x60, 32, Warm::Write(1));
        assert!(matches!(probe(&mut slice, 0, 4), Probe::Hit(_)), "written as a whole");
        assert!(matches!(probe(&mut slice, 0, 8), Probe::SectorMiss(_)), "written in part");
        let Probe::Hit(way) = probe(&mut slice, 0, 2) else { panic!() };
        assert_eq!(slice.counters, L2Counters::default(), "nothing is counted");
        assert!(slice.tags.is_dirty(way) && slice.is_idle());
    }

    #[test]
    fn the_last_used_stay() {
        let mut slice = slice();
        let (ways, sets) = (u64::from(slice.config.ways), u64::from(slice.config.sets));
        let mut same_set = (0..).map(|n: u64| n * 128).filter(|line| {
            slice.map.slice(*line) == 0 && set_of(SetIndex::Linear, fit(sets), 128, slice.map.local(*line)) == 0
        });
        let lines: Vec<u64> = same_set.by_ref().take(fit(ways + 2)).collect();
        for line in &lines {
            slice.warm(7, *line, 32, Warm::Read);
        }
        let there: Vec<bool> = lines.iter().map(|line| matches!(probe(&mut slice, *line, 1), Probe::Hit(_))).collect();
        assert_eq!(there.iter().filter(|there| **there).count() as u64, ways);
        assert_eq!(there[..3], [false, false, true]);
    }

    #[test]
    fn atomics_make_lines_dirty() {
        let mut slice = slice();
        slice.warm(0, 0, 32, Warm::Read);
        slice.warm(0, 0, 32, Warm::Update);
        slice.warm(0, 32, 32, Warm::Update);
        let Probe::Hit(way) = probe(&mut slice, 0, 2) else { panic!() };
        assert_eq!(slice.tags.replace(way, 128, 9).map(|evicted| evicted.dirty), Some(3));
    }

    use crate::mem::l2::L2Counters;
}
