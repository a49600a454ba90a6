//! Files with random changes: bytes, words, lines and numbers.

use crate::rng::Rng;

/// Values that are at the edge of something, or of another kind than expected.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "1e308",
    "nan",
    "inf",
    "0.5",
    "-0.0",
    "true",
    "false",
    "\"\"",
    "\"x\"",
    "[]",
    "[1, 2, 3, 4]",
    "{}",
    "1979-05-27",
    "\"..\"",
    "'é'",
    "0x7fffffff",
    "\"-1\"",
    "\"0..\"",
    "\"*\"",
    "\"a=b\"",
    "\"%\"",
];

/// One of the valid files with some changes, always the same for a seed. Other files lend lines to it.
#[must_use]
pub fn damaged(seed: u64, files: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut rng = Rng::new(seed);
    let mut bytes = files.get(rng.below(u32::try_from(files.len()).ok()?.max(1)) as usize)?.clone();
    for _ in 0..rng.between(1, 4) {
        let lender = rng.pick(files);
        match rng.below(8) {
            0 => byte(&mut bytes, &mut rng),
            1 => cut(&mut bytes, &mut rng),
            2..5 => word(&mut bytes, &mut rng),
            5 => line(&mut bytes, lender, &mut rng),
            6 => lines(&mut bytes, &mut rng),
            _ => letters(&mut bytes, &mut rng),
        }
    }
    Some(bytes)
}

fn index(length: usize, rng: &mut Rng) -> usize {
    rng.below(u32::try_from(length).unwrap_or(u32::MAX).max(1)) as usize
}

/// Another byte somewhere.
fn byte(bytes: &mut [u8], rng: &mut Rng) {
    let at = index(bytes.len(), rng);
    let new = match rng.below(3) {
        0 => rng.below(256) as u8,
        1 => *rng.pick(b"\"'[]{}=.,#\n -_\\0"),
        _ => bytes.get(at).map_or(0, |old| old ^ 1 << rng.below(8)),
    };
    if let Some(old) = bytes.get_mut(at) {
        *old = new;
    }
}

/// A part taken away, or all from there on.
fn cut(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let from = index(bytes.len(), rng);
    let to = if rng.one_in(4) { bytes.len() } else { (from + rng.between(1, 20) as usize).min(bytes.len()) };
    bytes.drain(from.min(to)..to);
}

/// Another value in the place of a word or number.
fn word(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || b"_-.\"".contains(b);
    let start = index(bytes.len(), rng);
    let Some(from) = (start..bytes.len()).find(|i| is_part(&bytes[*i])) else { return };
    let from = (0..=from).rev().take_while(|i| is_part(&bytes[*i])).last().unwrap_or(from);
    let to = (from..bytes.len()).find(|i| !is_part(&bytes[*i])).unwrap_or(bytes.len());
    let new = rng.pick(VALUES).as_bytes().to_vec();
    bytes.splice(from..to, new);
}

/// A line of another file put in.
fn line(bytes: &mut Vec<u8>, lender: &[u8], rng: &mut Rng) {
    let all: Vec<&[u8]> = lender.split_inclusive(|b| *b == b'\n').collect();
    if all.is_empty() {
        return;
    }
    let ends: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i] == b'\n').collect();
    let at = if ends.is_empty() { 0 } else { *rng.pick(&ends) + 1 };
    let new = rng.pick(&all).to_vec();
    bytes.splice(at..at, new);
}

/// A line doubled, taken away or moved.
fn lines(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let mut all: Vec<Vec<u8>> = bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    if all.is_empty() {
        return;
    }
    let (from, to) = (index(all.len(), rng), index(all.len(), rng));
    match rng.below(3) {
        0 => drop(all.remove(from)),
        1 => all.insert(to, all[from].clone()),
        _ => all.swap(from, to),
    }
    *bytes = all.concat();
}

/// Some letters of several bytes put in: places in messages count them.
fn letters(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = index(bytes.len() + 1, rng);
    let new = rng.pick(&["é", "→", "\u{202e}", "𝄞", "\t", "\r\n", "\0", "\u{feff}"]).as_bytes().to_vec();
    bytes.splice(at..at, new);
}

#[cfg(test)]
mod tests {
    use super::damaged;

    #[test]
    fn a_seed_makes_one_file() {
        let files = [b"a = 1\nb = 2\n".to_vec(), b"[c]\nd = \"e\"\n".to_vec()];
        for seed in 0..2000 {
            assert_eq!(damaged(seed, &files), damaged(seed, &files));
        }
        let changed = (0..2000).filter(|seed| !files.contains(&damaged(*seed, &files).unwrap_or_default()));
        assert!(changed.count() > 1900);
        assert_eq!(damaged(1, &[]), None);
    }
}
