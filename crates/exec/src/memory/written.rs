//! Which bytes of an allocation have been written.

use crate::saved;
use crate::saved::{Pass, Saved};

/// One bit for every byte.
#[derive(Clone, Debug)]
pub struct Written(Vec<u64>);

impl Saved for Written {
    fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), saved::Error> {
        self.0.visit(pass)
    }
}

const BITS: usize = 64;

/// The words that some bytes have their bits in, each with these bits.
fn words(offset: usize, bytes: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = offset + bytes;
    let last = if bytes == 0 { 0 } else { end.div_ceil(BITS) };
    (offset / BITS..last).map(move |word| {
        let (low, high) = (offset.max(word * BITS) % BITS, (end - word * BITS).min(BITS));
        (word, u64::MAX >> (BITS - (high - low)) << low)
    })
}

impl Written {
    /// Of so many bytes, none written; nothing when the host has no memory.
    pub(super) fn none_of(bytes: u64) -> Option<Self> {
        zeroes(bytes.div_ceil(BITS as u64)).map(Self)
    }

    /// Bytes have been written. Bytes past the end are nobody's.
    #[inline]
    pub fn mark(&mut self, offset: usize, bytes: usize) {
        for (word, bits) in words(offset, bytes) {
            if let Some(word) = self.0.get_mut(word) {
                *word |= bits;
            }
        }
    }

    /// The first of these bytes that has not been written.
    #[must_use]
    #[inline]
    pub fn first_missing(&self, offset: usize, bytes: usize) -> Option<usize> {
        words(offset, bytes).find_map(|(word, bits)| {
            let missing = bits & !*self.0.get(word)?;
            (missing != 0).then(|| word * BITS + missing.trailing_zeros() as usize)
        })
    }
}

/// Zeroes that take memory when they are first touched; none when the host has no room. Nothing both asks and leaves the
/// pages alone, so that room is asked for and given back before.
pub(super) fn zeroes<T: Clone + Default>(count: u64) -> Option<Vec<T>> {
    let count = usize::try_from(count).ok()?;
    Vec::<T>::new().try_reserve_exact(count).ok()?;
    Some(vec![T::default(); count])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_bytes() {
        let mut written = Written::none_of(200).unwrap();
        assert_eq!(written.first_missing(3, 1), Some(3));
        written.mark(60, 72);
        assert_eq!(written.first_missing(60, 72), None);
        assert_eq!(written.first_missing(59, 2), Some(59));
        assert_eq!(written.first_missing(64, 69), Some(132));
        assert_eq!(written.first_missing(3, 0), None);
        written.mark(190, 1000);
        assert_eq!(written.first_missing(190, 10), None);
    }
}
