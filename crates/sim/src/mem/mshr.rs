//! Outstanding misses and who waits for them.

use crate::mem::ring::Ring;
use raddle_ptx::num::fit;

const NONE: u32 = u32::MAX;

/// A fixed number of outstanding misses, each with a bounded list of waiters `W` in order of arrival.
///
/// Look-up is an open hash table of four times as many slots, so it hardly depends on how many are outstanding.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Mshr<W> {
    merges: u32,
    table: Vec<u32>,
    shift: u32,
    entries: Vec<Entry>,
    waiters: Vec<W>,
    free: Vec<u32>,
    ready: Ring<u32>,
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Entry {
    address: u64,
    /// Where its ring of waiters begins, and how many there are.
    first: u32,
    waiting: u32,
    ready: bool,
}

impl<W: Copy + Default> Mshr<W> {
    /// Room for `entries` misses with `merges` waiters each.
    ///
    /// # Panics
    /// When one of them is zero.
    #[must_use]
    pub fn new(entries: u32, merges: u32) -> Self {
        assert!(entries > 0 && merges > 0, "misses need an entry and a waiter");
        let slots = (entries * 4).next_power_of_two();
        Self {
            merges,
            table: vec![NONE; slots as usize],
            shift: u64::BITS - slots.ilog2(),
            entries: vec![Entry { address: 0, first: 0, waiting: 0, ready: false }; entries as usize],
            waiters: vec![W::default(); (entries * merges) as usize],
            free: (0..entries).rev().collect(),
            ready: Ring::new(entries),
        }
    }

    fn home(&self, address: u64) -> usize {
        fit(address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift)
    }

    fn slot(&self, address: u64) -> (usize, bool) {
        let mask = self.table.len() - 1;
        let mut slot = self.home(address);
        loop {
            match self.table[slot] {
                NONE => return (slot, false),
                entry if self.entries[entry as usize].address == address => return (slot, true),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    /// The entry of an address, if it is outstanding or not yet served.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<u32> {
        let (slot, found) = self.slot(address);
        found.then(|| self.table[slot])
    }

    /// No entry is free.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Entries in use.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Nothing is outstanding.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One more can wait: the list has room.
    #[inline]
    #[must_use]
    pub fn has_room(&self, entry: u32) -> bool {
        self.entries[entry as usize].waiting < self.merges
    }

    /// Its data have come, and not all who waited have been served.
    #[inline]
    #[must_use]
    pub fn is_ready(&self, entry: u32) -> bool {
        self.entries[entry as usize].ready
    }

    /// The address an entry is for.
    #[inline]
    #[must_use]
    pub fn address(&self, entry: u32) -> u64 {
        self.entries[entry as usize].address
    }

    /// Opens an entry for an address that has none.
    ///
    /// # Panics
    /// When it is full.
    pub fn open(&mut self, address: u64, waiter: W) -> u32 {
        let (slot, found) = self.slot(address);
        debug_assert!(!found, "{address:#x} is already outstanding");
        let entry = self.free.pop().expect("an MSHR entry is free");
        self.entries[entry as usize] = Entry { address, first: 0, waiting: 0, ready: false };
        self.table[slot] = entry;
        self.merge(entry, waiter);
        entry
    }

    /// Adds a waiter.
    pub fn merge(&mut self, entry: u32, waiter: W) {
        let state = &mut self.entries[entry as usize];
        debug_assert!(state.waiting < self.merges);
        let place = state.first + state.waiting;
        let place = if place < self.merges { place } else { place - self.merges };
        self.waiters[(entry * self.merges + place) as usize] = waiter;
        state.waiting += 1;
    }

    /// The data have come: its waiters can be taken, after those of entries that were ready before.
    pub fn fill(&mut self, entry: u32) {
        self.entries[entry as usize].ready = true;
        self.ready.push(entry);
    }

    /// Whether somebody's data have come.
    #[inline]
    #[must_use]
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The entry whose waiters are taken next.
    #[must_use]
    pub fn next_ready(&self) -> Option<u32> {
        self.ready.front().copied()
    }

    /// Takes the next waiter whose data have come; the last one frees the entry.
    pub fn pop_ready(&mut self) -> Option<W> {
        let &entry = self.ready.front()?;
        let state = &mut self.entries[entry as usize];
        let waiter = self.waiters[(entry * self.merges + state.first) as usize];
        state.first = if state.first + 1 == self.merges { 0 } else { state.first + 1 };
        state.waiting -= 1;
        if state.waiting == 0 {
            let address = state.address;
            self.ready.drop_front();
            self.close(address);
        }
        Some(waiter)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.table.fill(NONE);
        self.ready.clear();
        self.free.clear();
        self.free.extend((0..fit(self.entries.len())).rev());
    }

    fn close(&mut self, address: u64) {
        let mask = self.table.len() - 1;
        let (mut hole, _) = self.slot(address);
        self.free.push(self.table[hole]);
        let mut slot = hole;
        // Entries after the hole that would no longer be found move into it.
        loop {
            slot = (slot + 1) & mask;
            let entry = self.table[slot];
            if entry == NONE {
                break;
            }
            let home = self.home(self.entries[entry as usize].address);
            if (slot.wrapping_sub(home) & mask) >= (slot.wrapping_sub(hole) & mask) {
                self.table[hole] = entry;
                hole = slot;
            }
        }
        self.table[hole] = NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::Mshr;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn waiters_come_back_in_order() {
        let mut mshr = Mshr::<u32>::new(2, 2);
        let first = mshr.open(0x80, 1);
        let second = mshr.open(0x100, 2);
        assert!(mshr.is_full() && mshr.has_room(first));
        mshr.merge(first, 3);
        assert!(!mshr.has_room(first));
        mshr.fill(second);
        mshr.fill(first);
        assert!(mshr.is_ready(second) && mshr.has_room(second));
        assert_eq!(
            [mshr.pop_ready(), mshr.pop_ready(), mshr.pop_ready(), mshr.pop_ready()],
            [Some(2), Some(1), Some(3), None]
        );
        assert!(mshr.is_empty() && mshr.find(0x80).is_none());
        mshr.open(0x80, 4);
        mshr.clear();
        assert!(mshr.is_empty() && mshr.find(0x80).is_none() && !mshr.has_ready());
    }

    #[test]
    fn who_comes_while_others_are_served_is_served_behind_them() {
        let mut mshr = Mshr::<u32>::new(1, 2);
        let entry = mshr.open(0x80, 1);
        mshr.merge(entry, 2);
        mshr.fill(entry);
        assert_eq!(mshr.pop_ready(), Some(1));
        mshr.merge(entry, 3);
        assert!(!mshr.has_room(entry));
        assert_eq!([mshr.pop_ready(), mshr.pop_ready(), mshr.pop_ready()], [Some(2), Some(3), None]);
        assert!(mshr.is_empty());
    }

    proptest! {
        #[test]
        fn finds_what_a_map_finds(steps in prop::collection::vec((0u64..24, any::<bool>()), 1..200)) {
            let mut mshr = Mshr::<u64>::new(8, 1);
            let mut model = BTreeMap::new();
            for (line, close) in steps {
                let address = line * 128;
                prop_assert_eq!(mshr.find(address), model.get(&address).copied());
                match (model.get(&address).copied(), close) {
                    (None, false) if !mshr.is_full() => {
                        model.insert(address, mshr.open(address, address));
                    }
                    (Some(entry), true) => {
                        mshr.fill(entry);
                        prop_assert_eq!(mshr.pop_ready(), Some(address));
                        model.remove(&address);
                    }
                    _ => {}
                }
                prop_assert_eq!(mshr.len(), model.len());
            }
        }
    }
}
