//! Sets of ports of the interconnect.

/// Words of a large set.
const WORDS: u32 = 16;

/// How many ports a side can have.
pub const MAX_PORTS: u32 = 64 * WORDS;

/// A set of port numbers.
pub trait PortSet: Default + serde::Serialize + serde::de::DeserializeOwned {
    /// The ports of a set, lowest first.
    type Members: Iterator<Item = u32>;

    /// Adds a port.
    fn insert(&mut self, port: u32);

    /// Takes a port out.
    fn remove(&mut self, port: u32);

    /// Whether there is none.
    fn is_empty(&self) -> bool;

    /// Whether a port is in it.
    fn contains(&self, port: u32) -> bool;

    /// How many there are.
    fn len(&self) -> u32;

    /// The ports as they are now; the set may change meanwhile.
    fn members(&self) -> Self::Members;

    /// The first port at or after `from`, going round.
    fn first_from(&self, from: u32) -> Option<u32>;
}

/// A set of ports below 64: a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FewPorts(u64);

impl PortSet for FewPorts {
    type Members = Bits;

    #[inline]
    fn insert(&mut self, port: u32) {
        self.0 |= 1 << (port % 64);
    }

    #[inline]
    fn remove(&mut self, port: u32) {
        self.0 &= !(1 << (port % 64));
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.0 == 0
    }

    #[inline]
    fn contains(&self, port: u32) -> bool {
        self.0 >> (port % 64) & 1 != 0
    }

    #[inline]
    fn len(&self) -> u32 {
        self.0.count_ones()
    }

    #[inline]
    fn members(&self) -> Bits {
        Bits(self.0)
    }

    #[inline]
    fn first_from(&self, from: u32) -> Option<u32> {
        let ahead = self.0 & u64::MAX << (from % 64);
        let first = if ahead != 0 { ahead } else { self.0 };
        (first != 0).then(|| first.trailing_zeros())
    }
}

/// Numbers of the bits of a word that are set, lowest first.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Bits(u64);

impl Iterator for Bits {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let bit = (self.0 != 0).then(|| self.0.trailing_zeros())?;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

/// A set of ports below [`MAX_PORTS`]: a bit for each, and one for each word that has any.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ManyPorts {
    used: u32,
    words: [u64; WORDS as usize],
}

/// The ports of a large set.
#[derive(Clone, Debug)]
pub struct Members {
    words: [u64; WORDS as usize],
    used: Bits,
    word: u32,
    bits: Bits,
}

impl Iterator for Members {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            if let Some(bit) = self.bits.next() {
                return Some(64 * self.word + bit);
            }
            self.word = self.used.next()?;
            self.bits = Bits(self.words[self.word as usize]);
        }
    }
}

impl PortSet for ManyPorts {
    type Members = Members;

    #[inline]
    fn insert(&mut self, port: u32) {
        let word = port as usize / 64;
        self.words[word] |= 1 << (port % 64);
        self.used |= 1 << word;
    }

    #[inline]
    fn remove(&mut self, port: u32) {
        let word = port as usize / 64;
        self.words[word] &= !(1 << (port % 64));
        if self.words[word] == 0 {
            self.used &= !(1 << word);
        }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.used == 0
    }

    #[inline]
    fn contains(&self, port: u32) -> bool {
        self.words[port as usize / 64] >> (port % 64) & 1 != 0
    }

    #[inline]
    fn len(&self) -> u32 {
        Bits(self.used.into()).map(|word| self.words[word as usize].count_ones()).sum()
    }

    #[inline]
    fn members(&self) -> Members {
        Members { words: self.words, used: Bits(self.used.into()), word: 0, bits: Bits(0) }
    }

    #[inline]
    fn first_from(&self, from: u32) -> Option<u32> {
        let lowest = |word: u32, bits: u64| 64 * word + bits.trailing_zeros();
        let (start, ahead) = (from / 64 % WORDS, u64::MAX << (from % 64));
        let here = self.words[start as usize] & ahead;
        if here != 0 {
            return Some(lowest(start, here));
        }
        // Words after it, then those from the first one on, and what lies before it in its own.
        let behind = self.used & !(u32::MAX >> (u32::BITS - 1 - start));
        let words = if behind != 0 { behind } else { self.used };
        (words != 0).then(|| lowest(words.trailing_zeros(), self.words[words.trailing_zeros() as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn come_and_go(mut set: impl PortSet, all: &[u32]) {
        all.iter().for_each(|port| set.insert(*port));
        assert!(set.members().eq(all.iter().copied()));
        assert_eq!(set.len() as usize, all.len());
        assert!(set.contains(63) && !set.contains(62));
        all.iter().for_each(|port| set.remove(*port));
        assert!(set.is_empty() && set.first_from(7).is_none() && set.members().next().is_none());
    }

    #[test]
    fn ports_come_and_go() {
        come_and_go(FewPorts::default(), &[0, 7, 63]);
        come_and_go(ManyPorts::default(), &[0, 63, 64, 130, 1023]);
    }

    #[test]
    fn the_first_one_is_sought_going_round() {
        let mut many = ManyPorts::default();
        [3, 70, 200].iter().for_each(|port| many.insert(*port));
        for (from, first) in [(0, 3), (4, 70), (70, 70), (71, 200), (201, 3), (1023, 3)] {
            assert_eq!(many.first_from(from), Some(first));
        }
        many.remove(3);
        assert_eq!(many.first_from(201), Some(70));
        let mut few = FewPorts::default();
        [3, 40].iter().for_each(|port| few.insert(*port));
        for (from, first) in [(0, 3), (4, 40), (40, 40), (41, 3)] {
            assert_eq!(few.first_from(from), Some(first));
        }
    }
}
