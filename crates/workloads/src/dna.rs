//! Texts of four letters, for workloads that look for pieces in them.

use crate::prelude::*;
use raddle_runtime::device::Buffer;
use std::ops::RangeInclusive;

/// What to look for, and where.
pub(crate) struct Search {
    pub(crate) reference: Vec<u8>,
    /// All queries, one after the other.
    pub(crate) queries: Vec<u8>,
    /// Where each begins; the last place is the end.
    pub(crate) first: Vec<i32>,
    /// Letters of a match that counts.
    pub(crate) shortest: usize,
}

impl Search {
    /// As large as the manifest says.
    pub(crate) fn new(run: &mut Run<'_>) -> Result<Self> {
        let (letters, count) = (run.size("reference")?, run.size("queries")?);
        let lengths = run.size("shortest_query")?..=run.size("longest_query")?;
        let shortest = run.size("shortest_match")?;
        let reference = genome(letters, &mut run.rng);
        let (queries, first) = queries(&reference, count, lengths, &mut run.rng);
        Ok(Self { reference, queries, first, shortest })
    }

    /// Compares what was found for every place in a query with the longest match that begins there: its letters and where
    /// the reference has it, as `longest` says; 0 where it is too short.
    pub(crate) fn check(
        &self,
        run: &mut Run<'_>,
        [lengths, places]: [Buffer<i32>; 2],
        longest: impl Fn(&[u8]) -> (usize, usize),
    ) -> Result {
        let mut want = [(); 2].map(|()| vec![0; self.queries.len()]);
        for ends in self.first.windows(2) {
            let (from, to) = (ends[0] as usize, ends[1] as usize);
            let found = (from..=to - self.shortest).map(|begin| (begin, longest(&self.queries[begin..to])));
            for (begin, (length, place)) in found.filter(|(_, (length, _))| *length >= self.shortest) {
                want[0][begin] = length as i32;
                want[1][begin] = place as i32;
            }
        }
        run.check("lengths", lengths, &want[0])?;
        run.check("places", places, &want[1])
    }
}

/// A text in which some stretches repeat others with a few changes. Letters are 0 to 3.
fn genome(letters: usize, rng: &mut Rng) -> Vec<u8> {
    let mut text: Vec<u8> = Vec::with_capacity(letters);
    while text.len() < letters {
        let length = 50 + rng.index(250);
        let from = rng.index(text.len().max(1));
        let is_repeat = text.len() > 1000 && rng.below(5) == 0;
        for i in 0..length.min(letters - text.len()) {
            let old = text.get(from + i).copied().filter(|_| is_repeat && rng.below(50) > 0);
            text.push(old.unwrap_or_else(|| rng.below(4) as u8));
        }
    }
    text
}

/// Pieces from anywhere in a text, one after the other, and where each begins; the last place is the end. One letter in
/// fifty is wrong, and one piece in ten is foreign.
fn queries(text: &[u8], count: usize, lengths: RangeInclusive<usize>, rng: &mut Rng) -> (Vec<u8>, Vec<i32>) {
    let (mut queries, mut first) = (Vec::new(), vec![0i32]);
    for _ in 0..count {
        let length = lengths.start() + rng.index(lengths.end() - lengths.start() + 1);
        let from = rng.index(text.len() - length);
        let wrong_of_fifty = if rng.below(10) == 0 { 50 } else { 1 };
        for &letter in &text[from..from + length] {
            let is_wrong = rng.below(50) < wrong_of_fifty;
            queries.push(if is_wrong { rng.below(4) as u8 } else { letter });
        }
        first.push(queries.len() as i32);
    }
    (queries, first)
}

/// The suffixes of a text in order.
pub(crate) struct SuffixArray<'t> {
    text: &'t [u8],
    /// Where each begins.
    pub(crate) order: Vec<usize>,
}

impl<'t> SuffixArray<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        let mut order: Vec<usize> = (0..text.len()).collect();
        order.sort_unstable_by_key(|from| &text[*from..]);
        Self { text, order }
    }

    /// The number of suffixes that come before these letters.
    pub(crate) fn before(&self, letters: &[u8]) -> usize {
        self.order.partition_point(|from| &self.text[*from..] < letters)
    }

    /// How many letters a suffix has in common with these.
    pub(crate) fn common(&self, index: usize, letters: &[u8]) -> usize {
        let suffix = self.order.get(index).map_or(&[][..], |from| &self.text[*from..]);
        suffix.iter().zip(letters).take_while(|(a, b)| a == b).count()
    }

    /// The length of the longest beginning of these letters that the text has, and where it has it first.
    pub(crate) fn longest(&self, letters: &[u8]) -> (usize, usize) {
        let after = self.before(letters);
        let length = self.common(after, letters).max(self.common(after.wrapping_sub(1), letters));
        let low = (0..after).rev().take_while(|index| self.common(*index, letters) >= length);
        let high = (after..self.order.len()).take_while(|index| self.common(*index, letters) >= length);
        (length, low.chain(high).map(|index| self.order[index]).min().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_match_is_the_first_of_its_length() {
        let text = [0, 1, 2, 0, 1, 3, 0, 1, 2, 3];
        let array = SuffixArray::new(&text);
        assert_eq!(array.longest(&[0, 1]), (2, 0));
        assert_eq!(array.longest(&[0, 1, 3, 3]), (3, 3));
        assert_eq!(array.longest(&[2, 3, 0]), (2, 8));
        assert_eq!(array.before(&[0]), 0);
        assert_eq!(array.common(0, &[0, 1, 2, 2]), 3);
    }
}
