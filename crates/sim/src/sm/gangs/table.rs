//! The gang table: which warps of an original gang go together. A set for each original gang, four gangs in each: a gang has
//! at least two of its eight warps.

use crate::seam::{Gang, MemorySplit};
use raddle_ptx::num::fit;

/// Warps of an original gang at most: one in each slice.
pub const MAX_SLICES: usize = 8;

/// Gangs of an original gang at most.
pub const MAX_GANGS: usize = MAX_SLICES / 2;

/// The warps of an original gang, as masks of slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Set {
    gangs: [u8; MAX_GANGS],
    count: u8,
    /// Warps that go by themselves.
    alone: u8,
}

impl Set {
    fn gangs(&self) -> &[u8] {
        &self.gangs[..usize::from(self.count)]
    }

    /// Adds a part: a gang, or a warp that goes by itself.
    fn add(&mut self, part: u8) {
        match part.count_ones() {
            0 => {}
            1 => self.alone |= part,
            _ => {
                self.gangs[usize::from(self.count)] = part;
                self.count += 1;
            }
        }
    }

    /// Removes the `n`th gang.
    fn remove(&mut self, n: usize) -> u8 {
        let gang = self.gangs[n];
        self.gangs.copy_within(n + 1..usize::from(self.count), n);
        self.count -= 1;
        gang
    }
}

/// All original gangs of an SM.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct GangTable {
    sets: Vec<Set>,
}

impl GangTable {
    /// For this many original gangs.
    #[must_use]
    pub fn new(sets: usize) -> Self {
        Self { sets: vec![Set::default(); sets] }
    }

    /// Original gangs it has room for.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// An original gang begins, with warps in these slices.
    pub fn start(&mut self, set: usize, mask: u8) {
        self.sets[set] = Set::default();
        self.sets[set].add(mask);
    }

    /// The gangs of an original gang, as masks of slices.
    #[inline]
    #[must_use]
    pub fn gangs(&self, set: usize) -> &[u8] {
        self.sets[set].gangs()
    }

    /// Its warps that go by themselves.
    #[must_use]
    pub fn alone(&self, set: usize) -> u8 {
        self.sets[set].alone
    }

    /// The gang a warp is in.
    #[must_use]
    pub fn gang_of(&self, set: usize, slice: usize) -> Option<Gang> {
        let mask = *self.gangs(set).iter().find(|gang| *gang >> slice & 1 != 0)?;
        Some(Gang { set: fit(set), mask })
    }

    /// A warp has ended.
    pub fn end(&mut self, set: usize, slice: usize) {
        let (own, bit) = (&mut self.sets[set], 1 << slice);
        own.alone &= !bit;
        if let Some(n) = own.gangs().iter().position(|gang| gang & bit != 0) {
            let rest = own.remove(n) & !bit;
            own.add(rest);
        }
    }

    /// Looks at where the warps of each gang are now: those at the same place stay together. `at` gives the place of the
    /// warp in a slice. Returns how many gangs fell apart.
    pub fn split<P: PartialEq>(&mut self, set: usize, at: impl Fn(usize) -> P) -> u64 {
        let old = self.sets[set];
        let mut new = Set { alone: old.alone, ..Set::default() };
        let mut splits = 0;
        for gang in old.gangs() {
            let mut left = *gang;
            while left != 0 {
                let first = at(left.trailing_zeros() as usize);
                let same = slices(left).filter(|slice| at(*slice) == first).fold(0, |mask, slice| mask | 1 << slice);
                splits += u64::from(same != *gang && left == *gang);
                new.add(same);
                left &= !same;
            }
        }
        self.sets[set] = new;
        splits
    }

    /// Looks at who of each gang has what it waited for from memory, and who still waits: the gang may fall apart. Returns
    /// how many did.
    pub fn data_came(&mut self, set: usize, ready: u8, waiting: u8, how: MemorySplit) -> u64 {
        let parted = |gang: &&u8| **gang & ready != 0 && **gang & waiting != 0;
        let mut splits = 0;
        while how != MemorySplit::None
            && let Some(gang) = self.gangs(set).iter().find(parted).copied()
        {
            match how {
                MemorySplit::Impatient => self.dissolve(set, gang),
                _ => self.part(set, gang, ready),
            }
            splits += 1;
        }
        splits
    }

    /// The warps of `ready` leave their gang and go on together; the others stay.
    fn part(&mut self, set: usize, gang: u8, ready: u8) {
        let own = &mut self.sets[set];
        if let Some(n) = own.gangs().iter().position(|g| *g == gang) {
            own.remove(n);
            own.add(gang & ready);
            own.add(gang & !ready);
        }
    }

    /// Every warp of a gang goes on by itself.
    fn dissolve(&mut self, set: usize, gang: u8) {
        let own = &mut self.sets[set];
        if let Some(n) = own.gangs().iter().position(|g| *g == gang) {
            own.remove(n);
            own.alone |= gang;
        }
    }

    /// Two parts, gangs or warps that go by themselves, that `at` says are at the same place. It gives none for warps that
    /// must not be joined.
    #[must_use]
    pub fn alike<P: PartialEq>(&self, set: usize, at: impl Fn(usize) -> Option<P>) -> Option<(u8, u8)> {
        let own = &self.sets[set];
        let singles = slices(own.alone).map(|slice| 1u8 << slice);
        let mut parts = [0; MAX_SLICES];
        let mut count = 0;
        for part in own.gangs().iter().copied().chain(singles) {
            parts[count] = part;
            count += 1;
        }
        let place = |part: u8| at(part.trailing_zeros() as usize);
        for (n, a) in parts[..count].iter().enumerate() {
            let Some(here) = place(*a) else { continue };
            if let Some(b) = parts[n + 1..count].iter().find(|b| place(**b).as_ref() == Some(&here)) {
                return Some((*a, *b));
            }
        }
        None
    }

    /// Joins two parts.
    pub fn join(&mut self, set: usize, a: u8, b: u8) {
        let own = &mut self.sets[set];
        own.alone &= !(a | b);
        while let Some(n) = own.gangs().iter().position(|gang| gang & (a | b) != 0) {
            own.remove(n);
        }
        own.add(a | b);
    }
}

/// The slices of a mask.
pub fn slices(mask: u8) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let slice = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        (slice < MAX_SLICES).then_some(slice)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole() -> GangTable {
        let mut table = GangTable::new(1);
        table.start(0, 0xff);
        table
    }

    #[test]
    fn control_flow_splits_by_place() {
        let mut table = whole();
        let pcs = ['a', 'a', 'a', 'b', 'b', 'c', 'a', 'd'];
        assert_eq!(table.split(0, |slice| pcs[slice]), 1);
        assert_eq!(table.gangs(0), [0b0100_0111, 0b0001_1000]);
        assert_eq!(table.alone(0), 0b1010_0000);
    }

    /// A load comes back at cycle 10 for warps 0 to 3, at 12 for 4 and 5, at 15 for 6 and 7.
    fn load(how: MemorySplit) -> Vec<(Vec<u8>, u8)> {
        let mut table = whole();
        let after = |ready: u8| {
            table.data_came(0, ready, !ready, how);
            (table.gangs(0).to_vec(), table.alone(0))
        };
        [0b1111, 0b11_1111, 0xff].map(after).to_vec()
    }

    #[test]
    fn data_that_come_at_different_times() {
        let none = load(MemorySplit::None);
        assert!(none.iter().all(|state| *state == (vec![0xff], 0)), "one gang, which goes on at 15: {none:?}");
        let group = load(MemorySplit::Group);
        assert_eq!(group[0], (vec![0b1111, 0b1111_0000], 0));
        assert_eq!(group[1], (vec![0b1111, 0b11_0000, 0b1100_0000], 0));
        assert_eq!(group[2], group[1], "gangs of 4, 2 and 2");
        assert!(load(MemorySplit::Impatient).iter().all(|state| *state == (vec![], 0xff)), "eight warps from 10 on");
    }

    #[test]
    fn a_lone_warp_is_no_gang() {
        let mut table = GangTable::new(1);
        table.start(0, 0b1);
        assert_eq!((table.gangs(0).len(), table.alone(0)), (0, 1));
        let mut table = whole();
        for slice in 0..7 {
            table.end(0, slice);
        }
        assert_eq!((table.gangs(0).len(), table.alone(0)), (0, 0x80));
        table.end(0, 7);
        assert_eq!((table.gangs(0).len(), table.alone(0)), (0, 0));
    }

    #[test]
    fn parts_at_one_place_join() {
        let mut table = whole();
        table.split(0, |slice| slice / 3);
        assert_eq!(table.gangs(0), [0b111, 0b11_1000, 0b1100_0000]);
        assert_eq!(table.alike(0, |slice| Some(slice == 0)), Some((0b11_1000, 0b1100_0000)));
        assert_eq!(table.alike(0, |slice| (slice > 5).then_some(0)), None, "who must not be joined is not");
        table.join(0, 0b111, 0b1100_0000);
        assert_eq!(table.gangs(0), [0b11_1000, 0b1100_0111]);
    }

    #[derive(Clone, Debug)]
    enum Change {
        Branch(Vec<u8>),
        Data(u8, bool),
        Join(Vec<u8>),
        End(usize),
    }

    fn change() -> impl Strategy<Value = Change> {
        let places = || proptest::collection::vec(0..4u8, 8);
        prop_oneof![
            4 => places().prop_map(Change::Branch),
            2 => any::<(u8, bool)>().prop_map(|(ready, group)| Change::Data(ready, group)),
            4 => places().prop_map(Change::Join),
            1 => (0..8usize).prop_map(Change::End),
        ]
    }

    proptest! {
        /// Whatever happens: at most four gangs, none of one warp, every warp that has not ended in one place.
        #[test]
        fn every_warp_is_in_one_place(start in 1..=255u8, changes in proptest::collection::vec(change(), 0..60)) {
            let mut table = GangTable::new(2);
            table.start(1, start);
            let mut alive = start;
            for change in changes {
                match change {
                    Change::Branch(places) => drop(table.split(1, |slice| places[slice])),
                    Change::Data(ready, group) => {
                        let how = if group { MemorySplit::Group } else { MemorySplit::Impatient };
                        table.data_came(1, ready, !ready, how);
                    }
                    Change::Join(places) => {
                        if let Some((a, b)) = table.alike(1, |slice| Some(places[slice])) {
                            prop_assert_eq!(places[a.trailing_zeros() as usize], places[b.trailing_zeros() as usize]);
                            table.join(1, a, b);
                        }
                    }
                    Change::End(slice) => {
                        table.end(1, slice);
                        alive &= !(1 << slice);
                    }
                }
                let gangs = table.gangs(1);
                prop_assert!(gangs.len() <= MAX_GANGS);
                prop_assert!(gangs.iter().all(|gang| gang.count_ones() >= 2));
                let parts = gangs.iter().copied().chain([table.alone(1)]);
                prop_assert_eq!(parts.clone().map(u8::count_ones).sum::<u32>(), alive.count_ones());
                prop_assert_eq!(parts.fold(0, |all, part| all | part), alive);
                prop_assert!(table.gangs(0).is_empty());
            }
        }
    }
}
