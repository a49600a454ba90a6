//! What is remembered of every word of memory: its last write, and the reads since.

use super::clock::{Clocks, Me, Stamp};
use super::facts::Fact;
use std::collections::BTreeMap;

/// Bytes of a word.
pub(super) const WORD: u64 = 4;
pub(super) const BYTES: usize = 4;
/// Words of a page.
const PAGE: usize = 1024;
/// Reads remembered of one word that are not ordered among themselves. A write that is ordered after all of them is not
/// compared with others.
const MOST_READS: usize = 64;

/// One word, or one byte of a word that is not always accessed as a whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    write: Stamp,
    read: Stamp,
    more: Vec<Stamp>,
    /// The four bytes each for themselves.
    bytes: Option<Box<[Cell; BYTES]>>,
}

/// How an access touches a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    Read,
    Write,
    /// It reads and then writes, as atomics do.
    Update,
}

impl Touch {
    pub(super) fn reads(self) -> bool {
        self != Self::Write
    }

    pub(super) fn writes(self) -> bool {
        self != Self::Read
    }
}

/// An access.
pub(super) struct Access<'a> {
    pub(super) me: Me,
    pub(super) clocks: &'a Clocks,
    pub(super) pc: u32,
    pub(super) touch: Touch,
    /// Of the program: atomic and volatile accesses of one word do not race with each other.
    pub(super) facts: &'a [Fact],
}

/// An earlier access that is not ordered before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clash {
    pub(super) earlier: Stamp,
    pub(super) earlier_writes: bool,
}

impl Access<'_> {
    fn stamp(&self) -> Stamp {
        Stamp { row: self.me.row, lanes: self.me.bit, epoch: self.clocks.now, pc: self.pc }
    }

    fn is_strong(&self, pc: u32) -> bool {
        self.facts[pc as usize].is_strong
    }

    /// Compares with an earlier one.
    fn clash(&self, earlier: &Stamp, earlier_writes: bool) -> Option<Clash> {
        if earlier.epoch == 0 || (self.is_strong(self.pc) && self.is_strong(earlier.pc)) {
            return None;
        }
        let lanes = self.clocks.unknown(&self.me, earlier);
        (lanes != 0).then_some(Clash { earlier: Stamp { lanes, ..*earlier }, earlier_writes })
    }
}

impl Cell {
    /// Whether somebody has written it.
    pub(super) fn is_written(&self, mask: u8) -> bool {
        match &self.bytes {
            Some(bytes) => (0..BYTES).all(|n| mask >> n & 1 == 0 || bytes[n].write.epoch != 0),
            None => self.write.epoch != 0,
        }
    }

    /// An access to the bytes of `mask`; the first earlier one it clashes with.
    pub(super) fn visit(&mut self, access: &Access<'_>, mask: u8) -> Option<Clash> {
        if mask != 0xf && self.bytes.is_none() {
            let whole = Self { bytes: None, ..std::mem::take(self) };
            self.bytes = Some(Box::new(std::array::from_fn(|_| whole.clone())));
        }
        match &mut self.bytes {
            Some(bytes) => {
                let mut found = None;
                for (_, byte) in bytes.iter_mut().enumerate().filter(|(n, _)| mask >> n & 1 != 0) {
                    found = byte.one(access).or(found);
                }
                found
            }
            None => self.one(access),
        }
    }

    fn one(&mut self, access: &Access<'_>) -> Option<Clash> {
        let mut found = access.clash(&self.write, true);
        match access.touch {
            Touch::Read => self.remember(access),
            Touch::Write | Touch::Update => {
                let reads = std::iter::once(&self.read).chain(&self.more);
                for read in reads {
                    found = found.or_else(|| access.clash(read, false));
                }
                self.write = access.stamp();
                self.read = Stamp::default();
                self.more.clear();
            }
        }
        found
    }

    /// Remembers a read. Those that are ordered before it need not be: a write that is ordered after it is so after them.
    fn remember(&mut self, access: &Access<'_>) {
        let stamp = access.stamp();
        let is_same = |old: &Stamp| old.row == stamp.row && old.epoch == stamp.epoch && old.pc == stamp.pc;
        if is_same(&self.read) {
            self.read.lanes |= stamp.lanes;
        } else if self.read.epoch == 0 || access.clocks.unknown(&access.me, &self.read) == 0 {
            self.read = stamp;
        } else {
            let more = &mut self.more;
            if let Some(old) = more.iter_mut().find(|old| is_same(old)) {
                old.lanes |= stamp.lanes;
                return;
            }
            more.retain(|old| access.clocks.unknown(&access.me, old) != 0);
            if more.len() < MOST_READS {
                more.push(stamp);
            }
        }
    }
}

/// The words of global memory that were accessed.
#[derive(Debug, Default)]
pub(super) struct Pages(BTreeMap<u64, Vec<Cell>>);

impl Pages {
    /// The word an address is in.
    pub(super) fn cell(&mut self, address: u64) -> &mut Cell {
        let word = address / WORD;
        let page = self.0.entry(word / PAGE as u64).or_insert_with(|| vec![Cell::default(); PAGE]);
        &mut page[word as usize % PAGE]
    }
}
