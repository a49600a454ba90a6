//! Pages of a web, for workloads that count who sees them.

use crate::rng::Rng;
use std::collections::BTreeSet;

/// FNV-1a.
pub(crate) fn hash(url: &str) -> u32 {
    url.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// So many URLs, no two with the same hash.
pub(crate) fn pages(rng: &mut Rng, count: usize) -> Vec<String> {
    const WORDS: [&str; 8] = ["news", "sport", "weather", "archive", "people", "city", "science", "index"];
    let mut pages = Vec::new();
    let mut hashes = BTreeSet::new();
    while pages.len() < count {
        let mut url = format!("http://www.{}.org", WORDS[rng.index(WORDS.len())]);
        for _ in 0..=rng.index(4) {
            url += "/";
            url += WORDS[rng.index(WORDS.len())];
        }
        url += &format!("/{}.html", rng.below(10_000));
        if hashes.insert(hash(&url)) {
            pages.push(url);
        }
    }
    pages
}
