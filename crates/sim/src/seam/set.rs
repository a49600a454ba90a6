//! Sets of warps as bits.

use raddle_ptx::num::fit;

/// A warp of an SM: the number of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct WarpId(pub u16);

impl WarpId {
    /// The number as an index.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The warp of this number, below [`MAX_WARPS`].
    #[inline]
    #[must_use]
    pub fn at(index: usize) -> Self {
        Self(fit(index))
    }

    /// The warps that are bits of a word whose lowest is warp `first`.
    #[inline]
    pub fn in_word(mut word: u64, first: u16) -> impl Iterator<Item = Self> {
        std::iter::from_fn(move || {
            let bit = word.trailing_zeros();
            word &= word.wrapping_sub(1);
            (bit < 64).then(|| Self(first + fit::<u16, _>(bit)))
        })
    }

    /// The first `count` warps.
    #[inline]
    pub fn first(count: usize) -> impl Iterator<Item = Self> {
        (0..fit(count)).map(Self)
    }
}

/// Warps an SM can have at most.
pub const MAX_WARPS: usize = 1024;

/// Words of a set.
const WORDS: usize = MAX_WARPS / 64;

/// A set of warps. Only the words a machine needs are ever looked at.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WarpSet {
    words: [u64; WORDS],
    used: u8,
}

impl WarpSet {
    /// An empty set for `warps` warps.
    #[must_use]
    pub fn new(warps: usize) -> Self {
        Self { words: [0; WORDS], used: fit(warps.div_ceil(64).clamp(1, WORDS)) }
    }

    /// Its words, lowest warps first.
    #[inline]
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words[..usize::from(self.used)]
    }

    /// Its words, to be changed.
    #[inline]
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words[..usize::from(self.used)]
    }

    /// How many words it has.
    #[inline]
    #[must_use]
    pub fn word_count(&self) -> usize {
        usize::from(self.used)
    }

    /// Word number `n`; 0 after the last.
    #[inline]
    #[must_use]
    pub fn word(&self, n: usize) -> u64 {
        self.words[n % WORDS]
    }

    /// Changes word number `n`.
    #[inline]
    pub fn set_word(&mut self, n: usize, bits: u64) {
        self.words[n % WORDS] = bits;
    }

    /// Whether it has members in common with another.
    #[inline]
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        if self.used == 1 {
            return self.words[0] & other.words[0] != 0;
        }
        self.words().iter().zip(other.words()).any(|(a, b)| a & b != 0)
    }

    /// Adds or removes a warp.
    #[inline]
    pub fn set(&mut self, warp: WarpId, member: bool) {
        let word = &mut self.words[warp.index() / 64 % WORDS];
        let bit = warp.0 % 64;
        *word = *word & !(1 << bit) | u64::from(member) << bit;
    }

    /// Adds a warp.
    #[inline]
    pub fn insert(&mut self, warp: WarpId) {
        self.words[warp.index() / 64 % WORDS] |= 1 << (warp.0 % 64);
    }

    /// Removes a warp.
    #[inline]
    pub fn remove(&mut self, warp: WarpId) {
        self.words[warp.index() / 64 % WORDS] &= !(1 << (warp.0 % 64));
    }

    /// Whether a warp is in it.
    #[inline]
    #[must_use]
    pub fn contains(&self, warp: WarpId) -> bool {
        self.words[warp.index() / 64 % WORDS] >> (warp.0 % 64) & 1 != 0
    }

    /// Whether it has no members.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        if self.used == 1 {
            return self.words[0] == 0;
        }
        self.words().iter().all(|w| *w == 0)
    }

    /// How many members it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words().iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// The members, lowest first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = WarpId> + '_ {
        self.words().iter().zip((0..).step_by(64)).flat_map(|(word, first)| WarpId::in_word(*word, first))
    }

    /// The first member at or after `from`, going around once.
    #[inline]
    #[must_use]
    pub fn next_from(&self, from: WarpId) -> Option<WarpId> {
        let count = usize::from(self.used);
        let (start, low) = (from.index() / 64 % count, from.0 % 64);
        if count == 1 {
            let word = self.words[0];
            let ahead = word & u64::MAX << low;
            let found = if ahead == 0 { word } else { ahead };
            return (found != 0).then(|| WarpId(fit(found.trailing_zeros())));
        }
        let found = |n: usize, word: u64| (word != 0).then(|| WarpId::at(n * 64 + word.trailing_zeros() as usize));
        let words = self.words();
        found(start, words[start] & u64::MAX << low)
            .or_else(|| (start + 1..count).find_map(|n| found(n, words[n])))
            .or_else(|| (0..=start).find_map(|n| found(n, words[n])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_around_once() {
        let mut set = WarpSet::new(130);
        for w in [3, 64, 129] {
            set.set(WarpId(w), true);
        }
        let from = |w| set.next_from(WarpId(w)).map(|w| w.0);
        assert_eq!(
            [from(0), from(3), from(4), from(65), from(129)],
            [Some(3), Some(3), Some(64), Some(129), Some(129)]
        );
        assert_eq!(set.iter().map(|w| w.0).collect::<Vec<_>>(), [3, 64, 129]);
        set.set(WarpId(129), false);
        assert_eq!(set.next_from(WarpId(100)), Some(WarpId(3)));
        set.clear();
        assert_eq!((set.next_from(WarpId(5)), set.len()), (None, 0));
    }
}
