//! Damaged programs: the files of the repository with bytes, tokens, numbers and nesting changed at random.

use crate::exercise::exercise;
use crate::sources::sources;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Inputs of one test; there are four, so that they can run side by side.
const INPUTS: u64 = 2_500;
/// Files larger than this are damaged rarely: small ones give more inputs in the same time.
const SMALL: usize = 2_000;
/// No damaged file is larger.
const LARGEST: usize = 40_000;
/// No input may take longer, on a busy machine too. They take milliseconds.
const TOO_LONG: Duration = Duration::from_secs(5);

/// A splitmix64 generator: small, and the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// A number below `bound`; 0 when the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

/// Numbers at which something tends to break.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "16",
    "255",
    "4096",
    "65536",
    "2147483647",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999",
    "0x8000000000000000",
    "0b11",
    "0777777777777777777777",
    "1e400",
    "1e-400",
    "0f7FC00000",
    "0dFFF0000000000000",
    "0fFF",
];

/// Pieces put between tokens.
const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ",",
    ";",
    ":",
    "@",
    "!",
    "|",
    "=",
    "+",
    "-",
    "~",
    "?",
    "<<",
    "&&",
    "_",
    "%",
    "$",
    ".",
    "\"",
    "/*",
    "*/",
    "//",
    "\\",
    "\n",
    "\0",
    "é",
    "\u{FEFF}",
    ".v4",
    ".pred",
    ".f64",
    ".param",
    ".global",
    ".reg",
    ".align",
    ".loc 1 2 3",
    ".func",
    ".entry",
    "ret",
    "bra",
    "call",
    "brx.idx",
    "generic",
    "%r<4000000000>",
    "L: .branchtargets L;",
    ".section .x { ",
    ".alias a, b;",
    ".maxntid 0",
    "@%p bra L;",
    "mov.b64 {a,b}, c;",
];

fn damage(text: &str, others: &[&str], random: &mut Random) -> String {
    match random.below(10) {
        0 => flip_bytes(text, random),
        1..=4 => edit_tokens(text, random),
        5 => splice(text, random.pick(others), random),
        6 => change_numbers(text, random),
        7 => nest(text, random),
        8 => cut(text, random),
        _ => repeat(text, random),
    }
}

fn flip_bytes(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << random.below(8);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Words, numbers, single marks and white space.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
    let mut list = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        list.push(&rest[..len]);
        rest = &rest[len..];
    }
    list
}

fn edit_tokens(text: &str, random: &mut Random) -> String {
    let mut list = tokens(text);
    for _ in 0..=random.below(5) {
        let (at, other) = (random.below(list.len()), random.below(list.len()));
        match random.below(5) {
            _ if list.is_empty() => {}
            0 => drop(list.remove(at)),
            1 => list.insert(at, list[other]),
            2 => list.swap(at, other),
            3 => list[at] = list[other],
            _ => list.insert(at, random.pick(PIECES)),
        }
    }
    list.concat()
}

/// The start of one file and the end of another.
fn splice(text: &str, other: &str, random: &mut Random) -> String {
    let (head, tail) = (tokens(text), tokens(other));
    let (upto, from) = (random.below(head.len()), random.below(tail.len()));
    head[..upto].concat() + &tail[from..].concat()
}

fn change_numbers(text: &str, random: &mut Random) -> String {
    let mut list = tokens(text);
    let numbers: Vec<usize> = (0..list.len()).filter(|i| list[*i].starts_with(|c: char| c.is_ascii_digit())).collect();
    for _ in 0..=random.below(4) {
        if !numbers.is_empty() {
            list[numbers[random.below(numbers.len())]] = random.pick(NUMBERS);
        }
    }
    list.concat()
}

/// Many brackets of one kind at one place, closed or not.
fn nest(text: &str, random: &mut Random) -> String {
    let mut list = tokens(text);
    let (open, close) =
        [("{", "}"), ("(", ")"), ("[", "]"), ("(-", ")"), ("1?", ":0"), ("!", ""), ("1+(", ")")][random.below(7)];
    let depth = [3, 63, 64, 65, 2_000][random.below(5)];
    let inside = ["", "1", "a", "a,b", ";"][random.below(5)];
    let closed = if random.below(2) == 0 { depth } else { 0 };
    let bomb = open.repeat(depth) + inside + &close.repeat(closed);
    list.insert(random.below(list.len()), &bomb);
    list.concat()
}

fn cut(text: &str, random: &mut Random) -> String {
    let list = tokens(text);
    let (a, b) = (random.below(list.len()), random.below(list.len()));
    if random.below(2) == 0 { list[..a].concat() } else { list[a.min(b)..a.max(b)].concat() }
}

/// A run of tokens, many times.
fn repeat(text: &str, random: &mut Random) -> String {
    let list = tokens(text);
    let at = random.below(list.len());
    let end = (at + 1 + random.below(12)).min(list.len());
    let times = 1 + random.below(300);
    list[..at].concat() + &list[at..end].concat().repeat(times) + &list[end..].concat()
}

fn run(seed: u64, inputs: u64) {
    let files = sources();
    let of_size = |range: std::ops::Range<usize>| -> Vec<&str> {
        files.iter().map(|(_, text)| text.as_str()).filter(|t| range.contains(&t.len())).collect()
    };
    let (small, large) = (of_size(1..SMALL), of_size(SMALL..LARGEST));
    for input in 0..inputs {
        let mut random = Random(seed << 32 | input);
        let pool = if random.below(12) == 0 { &large } else { &small };
        let text = damage(random.pick(pool), &small, &mut random);
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| exercise(&text)));
        let took = start.elapsed();
        assert!(result.is_ok(), "input {input} of seed {seed} breaks the front end:\n{text}");
        assert!(took < TOO_LONG, "input {input} of seed {seed} takes {took:?}:\n{text}");
    }
}

#[test]
fn damaged_programs_1() {
    run(1, INPUTS);
}

#[test]
fn damaged_programs_2() {
    run(2, INPUTS);
}

#[test]
fn damaged_programs_3() {
    run(3, INPUTS);
}

#[test]
fn damaged_programs_4() {
    run(4, INPUTS);
}

/// Ten times as many, for `cargo xtask fuzz`.
#[test]
#[ignore = "takes longer; `cargo xtask fuzz` runs it"]
fn many_damaged_programs() {
    run(5, 40 * INPUTS);
}
