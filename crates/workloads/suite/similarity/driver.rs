//! Every document against every other.

use crate::prelude::*;

const BLOCK: usize = 256;
/// Documents that a block compares its own with.
const EACH: usize = 16;

/// How often each word is in a document: one kind of documents has some words, another others, and a few are in all.
fn document(rng: &mut Rng, words: usize) -> Vec<u8> {
    let kind = rng.index(4);
    let mut counts = vec![0u8; words];
    counts[0] = 1;
    for _ in 0..words / 3 {
        let word = (words as f64).powf(rng.unit()) as usize - 1;
        let word = if word < words / 20 { word } else { (word + kind * words / 4) % words };
        counts[word] = (counts[word] + 1).min(200);
    }
    counts
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (count, words) = (run.size("documents")?, run.size("words")?);
    let documents: Vec<Vec<u8>> = (0..count).map(|_| document(&mut run.rng, words)).collect();
    let document_buffer = run.upload("documents", &documents.concat())?;
    let squares = run.zeros::<i32>("squares", count)?;
    let scores = run.zeros::<f32>("scores", count * count)?;
    run.launch("lengths", count, BLOCK, &[document_buffer.into(), (words as i32).into(), squares.into()])?;
    let numbers = [count, words, EACH].map(|n| (n as i32).into());
    let args = [&[document_buffer.into(), squares.into()][..], &numbers, &[scores.into()]].concat();
    run.launch("similarity", (count, count.div_ceil(EACH)), BLOCK, &args)?;

    let product = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>();
    let want_squares: Vec<i32> = documents.iter().map(|d| product(d, d)).collect();
    let score = |a: usize, b: usize| {
        let lengths = (want_squares[a] as f32).sqrt() * (want_squares[b] as f32).sqrt();
        product(&documents[a], &documents[b]) as f32 / lengths
    };
    run.check("squares", squares, &want_squares)?;
    run.check("scores", scores, &(0..count * count).map(|i| score(i / count, i % count)).collect::<Vec<_>>())
}
