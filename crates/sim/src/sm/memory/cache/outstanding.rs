//! Lines a first-level cache has sent for, and who waits for them.

use crate::mem::cache::NO_LINE;
use crate::mem::ring::Ring;
use crate::saved;
use raddle_ptx::num::fit;

/// Hashes of lines that are told apart.
const FILTER: usize = 512;

/// The hash of a line.
#[inline]
fn hash(line: u64) -> usize {
    fit(line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - FILTER.ilog2()))
}

/// An outstanding line.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Entry {
    line: u64,
    /// Line of the tag array that is reserved for it.
    slot: usize,
    /// Replies still to come.
    left: u32,
    waiters: Ring<u32>,
}

/// Outstanding lines, by number.
pub(super) struct Outstanding {
    merges: u32,
    entries: Vec<Entry>,
    /// The line each entry is for, [`NO_LINE`] when it is free: searched without touching the entries.
    wanted: Vec<u64>,
    /// How many entries are for lines of this hash: most lines are found not to be outstanding here.
    filter: Box<[u16; FILTER]>,
    free: Vec<u32>,
    /// Entries whose line has come, in order.
    ready: Ring<u32>,
}

saved!(Outstanding { values: entries, wanted, free, ready; parts: filter; fixed: merges });

impl Outstanding {
    /// Room for `entries` lines, for each of which `merges` can wait.
    pub(super) fn new(entries: u32, merges: u32) -> Self {
        let entry = Entry { line: 0, slot: 0, left: 0, waiters: Ring::new(merges) };
        Self {
            merges,
            entries: vec![entry; entries as usize],
            wanted: vec![NO_LINE; entries as usize],
            filter: Box::new([0; FILTER]),
            free: (0..entries).rev().collect(),
            ready: Ring::new(entries),
        }
    }

    /// The entry for a line.
    #[inline]
    pub(super) fn find(&self, line: u64) -> Option<u32> {
        if self.filter[hash(line)] == 0 {
            return None;
        }
        self.wanted.iter().position(|wanted| *wanted == line).map(fit)
    }

    /// One more waits for a line; false when too many do.
    #[inline]
    pub(super) fn join(&mut self, entry: u32, waiter: u32) -> bool {
        let waiters = &mut self.entries[entry as usize].waiters;
        let has_room = waiters.len() < self.merges;
        if has_room {
            waiters.push(waiter);
        }
        has_room
    }

    /// A line is sent for, which comes in `left` replies; `None` when no entry is free.
    pub(super) fn open(&mut self, line: u64, slot: usize, left: u32, waiter: u32) -> Option<u32> {
        let number = self.free.pop()?;
        let entry = &mut self.entries[number as usize];
        (entry.line, entry.slot, entry.left) = (line, slot, left);
        entry.waiters.push(waiter);
        self.wanted[number as usize] = line;
        self.filter[hash(line)] += 1;
        Some(number)
    }

    /// A reply that is not the last of its line counts as come. False when it is the last.
    #[inline]
    pub(super) fn absorb(&mut self, entry: u32) -> bool {
        let left = &mut self.entries[entry as usize].left;
        let more = *left > 1;
        *left -= u32::from(more);
        more
    }

    /// The line an entry is for.
    pub(super) fn line_of(&self, entry: u32) -> u64 {
        self.entries[entry as usize].line
    }

    /// A reply has come; with the last one, what was reserved for the line.
    pub(super) fn fill(&mut self, entry: u32) -> Option<usize> {
        let state = &mut self.entries[entry as usize];
        state.left -= 1;
        if state.left > 0 {
            return None;
        }
        self.ready.push(entry);
        Some(state.slot)
    }

    /// Whether somebody's line has come.
    #[inline]
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Takes one whose line has come; the last one frees the entry.
    pub(super) fn next_ready(&mut self) -> Option<u32> {
        let &number = self.ready.front()?;
        let entry = &mut self.entries[number as usize];
        let waiter = entry.waiters.pop();
        if entry.waiters.is_empty() {
            self.wanted[number as usize] = NO_LINE;
            self.filter[hash(entry.line)] -= 1;
            self.free.push(number);
            self.ready.drop_front();
        }
        waiter
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> u32 {
        fit(self.entries.len() - self.free.len())
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.ready.clear();
        self.wanted.fill(NO_LINE);
        self.filter.fill(0);
        self.free.clear();
        self.free.extend((0..fit(self.entries.len())).rev());
        self.entries.iter_mut().for_each(|entry| entry.waiters.clear());
    }
}
