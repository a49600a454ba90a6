//! Pieces of DNA against a reference: the host sorts its suffixes, threads look for their queries among them.

use crate::dna::{Search, SuffixArray};
use crate::prelude::*;

const BLOCK: usize = 192;
/// Letters that say in which part of the sorted suffixes to look.
const KEY: u32 = 6;

/// Sixteen letters in a word, the first on top, and a word more than they need.
fn pack(letters: &[u8]) -> Vec<u32> {
    let word =
        |part: &[u8]| part.iter().zip(0..).fold(0, |word, (letter, i)| word | u32::from(*letter) << (30 - 2 * i));
    letters.chunks(16).map(word).chain([0; 2]).collect()
}

pub fn run(run: &mut Run<'_>) -> Result {
    let search = Search::new(run)?;
    let Search { reference, queries, first, shortest } = &search;
    let (letters, count) = (reference.len(), first.len() - 1);

    let array = SuffixArray::new(reference);
    let order: Vec<i32> = array.order.iter().map(|from| *from as i32).collect();
    let key = |key: u32| (0..KEY).rev().map(|i| (key >> (2 * i) & 3) as u8).collect::<Vec<_>>();
    let bucket = |k: u32| if k < 1 << (2 * KEY) { array.before(&key(k)) } else { letters };
    let buckets: Vec<i32> = (0..=1 << (2 * KEY)).map(|k| bucket(k) as i32).collect();

    run.bind_texture("reference", &pack(reference))?;
    run.bind_texture("order", &order)?;
    run.bind_texture("buckets", &buckets)?;
    let query_buffer = run.upload("queries", &pack(queries))?;
    let first_buffer = run.upload("first", first)?;
    let lengths = run.zeros::<i32>("lengths", queries.len())?;
    let places = run.zeros::<i32>("places", queries.len())?;
    let args = [
        (letters as i32).into(),
        query_buffer.into(),
        first_buffer.into(),
        (count as i32).into(),
        (*shortest as i32).into(),
        lengths.into(),
        places.into(),
    ];
    run.launch("match_sorted", count.div_ceil(BLOCK), BLOCK, &args)?;

    // The neighbours of where the query would stand; of equal ones the first.
    search.check(run, [lengths, places], |query| {
        let after = array.before(query);
        let [before, behind] = [after.wrapping_sub(1), after].map(|index| (array.common(index, query), index));
        let (length, index) = if behind.0 > before.0 { behind } else { before };
        (length, array.order.get(index).copied().unwrap_or(0))
    })
}
