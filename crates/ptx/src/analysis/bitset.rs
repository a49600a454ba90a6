//! Sets of small integers.

/// A set of numbers below a fixed bound, one bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// The empty set of numbers below `bound`.
    #[must_use]
    pub fn new(bound: usize) -> Self {
        Self { words: vec![0; bound.div_ceil(64)] }
    }

    /// Adds `n`, which must be below the bound; true when it was not there.
    pub fn insert(&mut self, n: usize) -> bool {
        let before = self.words[n / 64];
        self.words[n / 64] |= 1 << (n % 64);
        before != self.words[n / 64]
    }

    /// Takes `n` out; true when it was there.
    pub fn remove(&mut self, n: usize) -> bool {
        let was_there = self.contains(n);
        if was_there {
            self.words[n / 64] &= !(1 << (n % 64));
        }
        was_there
    }

    /// Whether `n` is in the set.
    #[must_use]
    pub fn contains(&self, n: usize) -> bool {
        self.words.get(n / 64).is_some_and(|w| w >> (n % 64) & 1 == 1)
    }

    /// Adds all of `other`, a set with the same bound; true when something was new.
    pub fn union_with(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (word, add) in self.words.iter_mut().zip(&other.words) {
            changed |= add & !*word != 0;
            *word |= add;
        }
        changed
    }

    /// Takes all of `other` out.
    pub fn subtract(&mut self, other: &Self) {
        for (word, gone) in self.words.iter_mut().zip(&other.words) {
            *word &= !gone;
        }
    }

    /// Keeps what is in `other` too.
    pub fn intersect_with(&mut self, other: &Self) {
        for (word, keep) in self.words.iter_mut().zip(&other.words) {
            *word &= keep;
        }
    }

    /// Whether nothing is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    /// How many numbers are in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The numbers in the set, in rising order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(i, word)| {
            let next = |w: &u64| (w & (w - 1) != 0).then(|| w & (w - 1));
            std::iter::successors((*word != 0).then_some(*word), next)
                .map(move |w| i * 64 + w.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_back_in_order() {
        let mut set = BitSet::new(200);
        for n in [199, 0, 64, 63, 7, 7] {
            set.insert(n);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 7, 63, 64, 199]);
        assert!(set.remove(63) && !set.remove(63) && !set.contains(1_000_000));
        assert_eq!(set.len(), 4);
    }
}
