//! Sets of ports of the interconnect.

/// Words of a set.
const WORDS: u32 = 16;

/// How many ports a side can have.
pub const MAX_PORTS: u32 = 64 * WORDS;

/// A set of port numbers below [`MAX_PORTS`]: a bit for each, and one for each word that has any.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Ports {
    used: u32,
    words: [u64; WORDS as usize],
}

impl Ports {
    /// Takes all ports out.
    #[inline]
    pub fn clear(&mut self) {
        for word in bits(self.used.into()) {
            self.words[word as usize] = 0;
        }
        self.used = 0;
    }

    /// Adds a port.
    #[inline]
    pub fn insert(&mut self, port: u32) {
        let word = port as usize / 64;
        self.words[word] |= 1 << (port % 64);
        self.used |= 1 << word;
    }

    /// Takes a port out.
    #[inline]
    pub fn remove(&mut self, port: u32) {
        let word = port as usize / 64;
        self.words[word] &= !(1 << (port % 64));
        if self.words[word] == 0 {
            self.used &= !(1 << word);
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Whether a port is in it.
    #[inline]
    #[must_use]
    pub fn contains(&self, port: u32) -> bool {
        self.words[port as usize / 64] >> (port % 64) & 1 != 0
    }

    /// How many there are.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u32 {
        bits(self.used.into()).map(|word| self.words[word as usize].count_ones()).sum()
    }

    /// The lowest port at or after `from`.
    #[inline]
    #[must_use]
    pub fn next(&self, from: u32) -> Option<u32> {
        let word = from / 64;
        if word >= WORDS {
            return None;
        }
        let here = self.words[word as usize] >> (from % 64);
        if here != 0 {
            return Some(from + here.trailing_zeros());
        }
        let later = self.used >> word >> 1;
        (later != 0).then(|| {
            let word = word + 1 + later.trailing_zeros();
            64 * word + self.words[word as usize].trailing_zeros()
        })
    }

    /// All ports, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        bits(self.used.into()).flat_map(|word| bits(self.words[word as usize]).map(move |bit| 64 * word + bit))
    }

    /// The first port at or after `from`, going round, that is in this set and not in the other.
    #[inline]
    #[must_use]
    pub fn first_without(&self, other: &Self, from: u32) -> Option<u32> {
        let left = |word: u32| self.words[word as usize] & !other.words[word as usize];
        let lowest = |word: u32, bits: u64| (bits != 0).then(|| 64 * word + bits.trailing_zeros());
        let (start, ahead) = (from / 64 % WORDS, u64::MAX << (from % 64));
        lowest(start, left(start) & ahead).or_else(|| {
            // Words behind it, then those from the first one on, and what lies before it in its own.
            let behind = self.used & !(u32::MAX >> (u32::BITS - 1 - start));
            let later = bits(behind.into()).chain(bits((self.used & !behind).into()));
            later.map(|word| (word, left(word))).find_map(|(word, bits)| lowest(word, bits))
        })
    }
}

/// Numbers of the bits that are set, lowest first.
fn bits(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_come_and_go() {
        let mut set = Ports::default();
        let all = [0, 63, 64, 130, 1023];
        all.iter().for_each(|port| set.insert(*port));
        assert!(set.iter().eq(all));
        assert_eq!((set.len(), set.next(65), set.next(131), set.next(1024)), (5, Some(130), Some(1023), None));
        assert!(set.contains(64) && !set.contains(65));
        all.iter().for_each(|port| set.remove(*port));
        assert!(set.is_empty() && set.next(0).is_none());
        assert_eq!(set, Ports::default());
    }

    #[test]
    fn the_first_one_is_sought_going_round() {
        let (mut set, mut other) = (Ports::default(), Ports::default());
        [3, 70, 200].iter().for_each(|port| set.insert(*port));
        assert_eq!(set.first_without(&other, 70), Some(70));
        other.insert(70);
        assert_eq!(set.first_without(&other, 4), Some(200));
        assert_eq!(set.first_without(&other, 201), Some(3));
        other.insert(3);
        other.insert(200);
        assert_eq!(set.first_without(&other, 4), None);
    }
}
