//! The gangs of an SM: a table that ganging units fill and the SM issues from.

use super::{WarpId, WarpSet};
use crate::saved;
use raddle_exec::core::lanes_in;
use raddle_ptx::num::{fit, low8};

/// The most warps of an original gang: one in each slice.
pub const MAX_SLICES: usize = 8;

/// The most gangs of an original gang: each has two warps or more.
const MAX_GANGS: usize = MAX_SLICES / 2;

/// Warps by the size of the gang they are in; those of size 1 issue on their own.
pub(crate) type Sizes = [u16; MAX_SLICES + 1];

/// The slices of a mask.
#[inline]
pub fn slices_in(mask: u8) -> impl Iterator<Item = usize> {
    lanes_in(mask.into())
}

/// The parts of an original gang, as masks of slices: gangs of two warps or more, in some order, and warps that issue
/// on their own. Every warp that has not ended is in one of these parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Parts {
    gangs: [u8; MAX_GANGS],
    count: u8,
    alone: u8,
}

impl Parts {
    /// All of these warps together.
    #[must_use]
    pub fn whole(mask: u8) -> Self {
        let mut parts = Self::default();
        parts.add(mask);
        parts
    }

    /// All of these warps on their own.
    #[must_use]
    pub fn apart(mask: u8) -> Self {
        Self { alone: mask, ..Self::default() }
    }

    /// The gangs.
    #[inline]
    #[must_use]
    pub fn gangs(&self) -> &[u8] {
        &self.gangs[..usize::from(self.count)]
    }

    /// Warps that issue on their own.
    #[inline]
    #[must_use]
    pub fn alone(&self) -> u8 {
        self.alone
    }

    /// All warps.
    #[must_use]
    pub fn all(&self) -> u8 {
        self.gangs().iter().fold(self.alone, |all, gang| all | gang)
    }

    /// The gangs, then the warps that issue on their own.
    pub fn iter(&self) -> impl Iterator<Item = u8> {
        self.gangs().iter().copied().chain(slices_in(self.alone).map(|slice| 1 << slice))
    }

    /// How many parts there are.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.count) + self.alone.count_ones() as usize
    }

    /// Whether all warps have ended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The gang of the warp in a slice.
    #[must_use]
    pub fn gang_of(&self, slice: usize) -> Option<u8> {
        self.gangs().iter().copied().find(|gang| gang >> slice & 1 != 0)
    }

    /// Adds a part, of warps that are in none: a gang, after the other gangs, or a warp that issues on its own.
    pub fn add(&mut self, part: u8) {
        debug_assert_eq!(self.all() & part, 0, "a warp in two gangs");
        match part.count_ones() {
            0 => {}
            1 => self.alone |= part,
            _ => {
                self.gangs[usize::from(self.count)] = part;
                self.count += 1;
            }
        }
    }

    /// Takes warps out of the parts they are in. What is left of a gang comes after the others.
    pub fn remove(&mut self, warps: u8) {
        self.alone &= !warps;
        while let Some(n) = self.gangs().iter().position(|gang| gang & warps != 0) {
            let rest = self.gangs[n] & !warps;
            self.gangs.copy_within(n + 1..usize::from(self.count), n);
            self.count -= 1;
            self.add(rest);
        }
    }

    /// Whether one part has all of these warps.
    fn keeps(&self, warps: u8) -> bool {
        self.iter().any(|part| part & warps == warps)
    }

    /// The number of gangs that split to give these parts; warps that ended have left theirs.
    fn splits_to(&self, new: &Self) -> usize {
        let left = self.gangs().iter().map(|gang| gang & new.all());
        left.filter(|left| *left != 0 && !new.keeps(*left)).count()
    }

    /// The number of times that two parts merged to give these parts.
    fn joins_to(&self, new: &Self) -> usize {
        let joins = |gang: &u8| self.iter().filter(|part| part & gang != 0).count().saturating_sub(1);
        new.gangs().iter().map(joins).sum()
    }

    /// Its warps by the size of the part they are in.
    fn sizes(&self) -> Sizes {
        let mut sizes = [0; MAX_SLICES + 1];
        for part in self.iter() {
            sizes[part.count_ones() as usize] += fit::<u16, _>(part.count_ones());
        }
        sizes
    }
}

/// What has changed since the SM last looked.
#[derive(Default)]
pub(crate) struct Changes {
    /// The parts of some original gang have changed.
    pub(crate) any: bool,
    /// Gangs that split.
    pub(crate) splits: u64,
    /// Times two parts merged.
    pub(crate) joins: u64,
    /// The sizes after each change of them.
    pub(crate) sizes: Vec<Sizes>,
}

/// The gangs of an SM. Its warps form sets of consecutive warps, one warp for each slice. A set is an original gang,
/// the warps of 32 neighbouring threads.
pub struct GangTable {
    slices: usize,
    sets: Vec<Parts>,
    ganged: WarpSet,
    held: WarpSet,
    /// In no gang, and not held.
    free: WarpSet,
    sizes: Sizes,
    /// The SM takes them after every call, so none are left when a cycle ends.
    changes: Changes,
}

saved!(GangTable { values: sets, ganged, held, free, sizes; fixed: slices, changes });

impl GangTable {
    /// A table for this many warps and slices, without gangs.
    #[must_use]
    pub fn new(warps: usize, slices: usize) -> Self {
        let mut free = WarpSet::new(warps);
        free.words_mut().fill(u64::MAX);
        Self {
            slices,
            sets: vec![Parts::default(); warps / slices],
            ganged: WarpSet::new(warps),
            held: WarpSet::new(warps),
            free,
            sizes: [0; MAX_SLICES + 1],
            changes: Changes::default(),
        }
    }

    /// Slices.
    #[inline]
    #[must_use]
    pub fn slices(&self) -> usize {
        self.slices
    }

    /// Sets.
    #[inline]
    #[must_use]
    pub fn sets(&self) -> usize {
        self.sets.len()
    }

    /// The warp of a set in a slice.
    #[inline]
    #[must_use]
    pub fn warp(&self, set: usize, slice: usize) -> WarpId {
        WarpId::at(set * self.slices + slice)
    }

    /// The bits of a set of warps for the slices of an original gang; `word` gives its words.
    #[inline]
    pub(crate) fn bits(&self, set: usize, word: impl Fn(usize) -> u64) -> u8 {
        let first = set * self.slices;
        low8(word(first / 64) >> (first % 64)) & (u8::MAX >> (MAX_SLICES - self.slices))
    }

    /// The parts of a set.
    #[inline]
    #[must_use]
    pub fn parts(&self, set: usize) -> &Parts {
        &self.sets[set]
    }

    /// Sets the parts of a set from now on.
    pub fn set_parts(&mut self, set: usize, parts: Parts) {
        let old = std::mem::replace(&mut self.sets[set], parts);
        if old == parts {
            return;
        }
        let (before, old_sizes, new_sizes) = (self.sizes, old.sizes(), parts.sizes());
        for (size, (old, new)) in self.sizes.iter_mut().zip(old_sizes.into_iter().zip(new_sizes)) {
            *size = *size - old + new;
        }
        for slice in 0..self.slices {
            let warp = self.warp(set, slice);
            self.ganged.set(warp, parts.gang_of(slice).is_some());
            self.set_free(warp);
        }
        self.changes.any = true;
        self.changes.splits += old.splits_to(&parts) as u64;
        self.changes.joins += old.joins_to(&parts) as u64;
        if self.sizes != before {
            self.changes.sizes.push(self.sizes);
        }
    }

    /// Holds a warp back, alone or with its gang, or stops holding it.
    pub fn hold(&mut self, warp: WarpId, held: bool) {
        self.held.set(warp, held);
        self.set_free(warp);
    }

    fn set_free(&mut self, warp: WarpId) {
        self.free.set(warp, !self.ganged.contains(warp) && !self.held.contains(warp));
    }

    /// Warps in a gang.
    #[inline]
    #[must_use]
    pub fn ganged(&self) -> &WarpSet {
        &self.ganged
    }

    /// Warps that are held back.
    #[inline]
    #[must_use]
    pub fn held(&self) -> &WarpSet {
        &self.held
    }

    /// Warps that may issue on their own: in no gang, and not held back.
    #[inline]
    #[must_use]
    pub fn free(&self) -> &WarpSet {
        &self.free
    }

    /// Takes what has changed.
    #[inline]
    pub(crate) fn changes(&mut self) -> &mut Changes {
        &mut self.changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(all: &[u8]) -> Parts {
        let mut parts = Parts::default();
        all.iter().for_each(|part| parts.add(*part));
        parts
    }

    #[test]
    fn a_lone_warp_is_no_gang() {
        assert_eq!(Parts::whole(0b1), parts(&[0b1]));
        let mut parts = Parts::whole(0xff);
        for slice in 0..7 {
            parts.remove(1 << slice);
        }
        assert_eq!((parts.gangs().len(), parts.alone()), (0, 0x80));
        parts.remove(0x80);
        assert!(parts.is_empty());
    }

    #[test]
    fn what_is_left_of_a_gang_is_behind_the_others() {
        let mut parts = parts(&[0b111, 0b11_1000, 0b1100_0000]);
        parts.remove(0b1);
        assert_eq!(parts.gangs(), [0b11_1000, 0b1100_0000, 0b110]);
        assert_eq!((parts.gang_of(2), parts.gang_of(0), parts.len()), (Some(0b110), None, 3));
    }

    /// Splits, joins and the sizes that are told when parts become others.
    fn change(old: &[u8], new: &[u8]) -> (u64, u64, Vec<Sizes>) {
        let mut table = GangTable::new(16, 8);
        table.set_parts(1, parts(old));
        *table.changes() = Changes::default();
        table.set_parts(1, parts(new));
        let Changes { splits, joins, sizes, .. } = std::mem::take(table.changes());
        (splits, joins, sizes)
    }

    #[test]
    fn changes_are_counted() {
        assert_eq!(change(&[], &[0xff]), (0, 0, vec![[0, 0, 0, 0, 0, 0, 0, 0, 8]]));
        assert_eq!(change(&[0xff], &[0xf, 0x30, 0x40, 0x80]), (1, 0, vec![[0, 2, 2, 0, 4, 0, 0, 0, 0]]));
        assert_eq!(change(&[0xf, 0xf0], &[0x3, 0xc, 0x30, 0xc0]).0, 2);
        assert_eq!(change(&[0xf, 0x30, 0x40, 0x80], &[0x3f, 0xc0]).1, 2);
        assert_eq!(change(&[0x3, 0xc], &[0x5, 0xa]), (2, 2, vec![]), "others, of the same sizes");
        assert_eq!(change(&[0xf, 0xf0], &[0x7, 0x10]), (0, 0, vec![[0, 1, 0, 3, 0, 0, 0, 0, 0]]), "warps that end");
        assert_eq!(change(&[0xf], &[]).0, 0);
        assert_eq!(change(&[0xf], &[0xf]), (0, 0, vec![]));
    }

    #[test]
    fn a_warp_is_free_in_no_gang_and_not_held() {
        let mut table = GangTable::new(16, 8);
        table.set_parts(1, parts(&[0b11, 0b100]));
        table.hold(WarpId(10), true);
        table.hold(WarpId(8), true);
        assert_eq!(table.ganged().iter().map(|w| w.0).collect::<Vec<_>>(), [8, 9]);
        assert!([8, 9, 10].iter().all(|w| !table.free().contains(WarpId(*w))) && table.free().contains(WarpId(11)));
        table.hold(WarpId(10), false);
        table.set_parts(1, parts(&[0b1, 0b10, 0b100]));
        assert_eq!([8, 9, 10].map(|w| table.free().contains(WarpId(w))), [false, true, true]);
    }
}
