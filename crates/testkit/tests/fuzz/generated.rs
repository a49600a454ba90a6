//! What generated kernels are made of, and some of them on every engine.

use super::run;
use raddle_ptx::analysis::{BlockId, Cfg};
use raddle_ptx::isa::Opcode;
use raddle_testkit::coverage::Coverage;
use raddle_testkit::fuzz::generate::{Feature, Size, kernel, kernel_of, keyed_kernel};
use raddle_testkit::fuzz::{generated, timed};
use std::collections::BTreeSet;

/// Enough kernels for everything to occur.
const SEEDS: u64 = 1500;

#[test]
fn generated_kernels_do_the_same_on_every_engine() {
    let tally = run(&generated::Generated::default(), 700_000, 150);
    assert_eq!((tally.cases, tally.empty), (150, 0));
    assert!(tally.done.compared > 900, "{tally:?}");
}

#[test]
fn generated_kernels_do_the_same_on_the_timing_model() {
    let tally = run(&timed::Generated::default(), 700_000, 30);
    assert!(tally.done.compared > 50, "{tally:?}");
}

#[test]
fn time_does_not_depend_on_memory() {
    let tally = run(&timed::Contents::default(), 700_000, 40);
    assert!(tally.done.compared >= 76, "{tally:?}");
}

/// Whether a line is an instruction that begins so and writes a register of its own address.
fn writes_its_address(line: &str, start: &str) -> bool {
    let registers = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '%'));
        words.filter(|word| word.starts_with('%')).map(str::to_owned).collect()
    };
    let line = line.trim();
    let operands = line.split_once(' ').and_then(|(_, operands)| operands.split_once('['));
    line.starts_with(start) && operands.is_some_and(|(into, address)| !registers(into).is_disjoint(&registers(address)))
}

#[test]
fn loads_into_their_own_addresses_are_generated() {
    let all: Vec<String> = (0..SEEDS).map(keyed_kernel).collect();
    let count = |start: &str| all.iter().filter(|text| text.lines().any(|l| writes_its_address(l, start))).count();
    for start in [
        "ld.global.nc",
        "ld.global",
        "ld.shared",
        "ld.local",
        "ld.const",
        "ld.shared.v4",
        "tex",
        "tld4",
        "suld",
        "ldmatrix",
        "wmma.load.a",
        "wmma.load.b",
        "wmma.load.c",
        "atom.global",
        "atom.shared",
    ] {
        assert!(count(start) >= 5, "{start}: {}", count(start));
    }
}

/// Whether a form of the table, as the coverage names it, is one of which generated kernels have everything.
fn is_generated(missing: &str) -> bool {
    const WHOLE: &[Opcode] = &[
        Opcode::Bar,
        Opcode::Barrier,
        Opcode::Brx,
        Opcode::Tex,
        Opcode::Tld4,
        Opcode::Txq,
        Opcode::Suld,
        Opcode::Sust,
        Opcode::Suq,
        Opcode::Cp,
        Opcode::Wmma,
        Opcode::Mma,
        Opcode::Ldmatrix,
        Opcode::Stmatrix,
        Opcode::Movmatrix,
    ];
    let form = missing.split(" in `").nth(1).unwrap_or_default();
    WHOLE.iter().any(|opcode| form.split_whitespace().next() == Some(opcode.as_str()))
}

#[test]
fn every_form_and_mode_is_generated() {
    let mut coverage = Coverage::default();
    let (mut mnemonics, mut words) = (BTreeSet::new(), BTreeSet::new());
    let is_mnemonic = |w: &&str| w.contains('.') && w.starts_with(|c: char| c.is_ascii_lowercase());
    // Matrices have most of the forms and are in few of the kernels.
    let matrices = (0..SEEDS).map(|seed| kernel_of(Feature::Matrices, seed));
    for text in (0..SEEDS).map(|seed| kernel(seed, Size::Full)).chain(matrices) {
        let before = mnemonics.len();
        mnemonics.extend(text.lines().flat_map(str::split_whitespace).filter(|w| is_mnemonic(w)).map(str::to_owned));
        // Only those with something new are read.
        if mnemonics.len() > before {
            coverage.add(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        }
        words.extend(text.lines().filter(|l| l.starts_with("//")).flat_map(|l| l.split([' ', ','])).map(str::to_owned));
    }
    let missing: Vec<String> = coverage.missing().into_iter().filter(|text| is_generated(text)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let modes = ["clamp", "wrap", "mirror", "border"].map(|mode| format!("address={mode}"));
    let formats =
        ["u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32"].map(|ty| [1, 2, 4].map(|n| format!("{ty}x{n}")));
    let settings = ["filter=point", "filter=linear", "normalized=0", "normalized=1"].map(str::to_owned);
    let wanted = modes.into_iter().chain(formats.into_iter().flatten()).chain(settings);
    let missing: Vec<String> = wanted.filter(|word| !words.contains(word)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn vectors_of_every_type_in_every_space_are_generated() {
    let all: String = (0..SEEDS).map(|seed| kernel(seed, Size::Full)).collect();
    let mnemonics: BTreeSet<&str> = all.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for opcode in ["ld", "st"] {
        for space in ["global", "shared", "local"] {
            for ty in ["b8", "s8", "u8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"] {
                for count in [".", ".v2.", ".v4."].iter().take(if ty.ends_with("64") { 2 } else { 3 }) {
                    let fits = |word: &&str| {
                        word.starts_with(opcode) && word.contains(space) && word.ends_with(&format!("{count}{ty}"))
                    };
                    assert!(mnemonics.iter().any(fits), "no {opcode}.{space}{count}{ty}");
                }
            }
        }
    }
}

#[test]
fn barriers_of_every_number_are_generated() {
    let all: String = (0..SEEDS).map(|seed| kernel(seed, Size::Full)).collect();
    for number in 0..16 {
        let fits = |line: &str| line.contains(&format!(".sync {number}")) || line.contains(&format!(", {number}, "));
        assert!(all.lines().any(fits), "no barrier {number}");
    }
    for words in ["// faults: one", "// faults: some", "WARP_SZ", "APART", "arrive"] {
        assert!(all.contains(words), "no kernel has {words}");
    }
}

/// Whether the blocks of a function cannot all be merged into their only predecessors: some loop has two entries.
fn is_irreducible(cfg: &Cfg) -> bool {
    let count = cfg.blocks.len();
    let mut reached = BTreeSet::from([0]);
    let mut left = vec![0];
    let edges = |n: usize| cfg.blocks[n].succs.iter().map(|b: &BlockId| b.0 as usize);
    while let Some(n) = left.pop() {
        left.extend(edges(n).filter(|m| *m < count && reached.insert(*m)));
    }
    let mut follow: Vec<BTreeSet<usize>> =
        (0..count).map(|n| edges(n).filter(|m| *m < count && *m != n).collect()).collect();
    loop {
        let before = |n: usize| reached.iter().copied().filter(|m| follow[*m].contains(&n)).collect::<Vec<_>>();
        let single = reached.iter().copied().filter(|n| *n != 0).find_map(|n| match before(n)[..] {
            [only] => Some((n, only)),
            _ => None,
        });
        let Some((n, into)) = single else { return reached.len() > 1 };
        let more = std::mem::take(&mut follow[n]);
        follow[into].remove(&n);
        follow[into].extend(more.into_iter().filter(|m| *m != into));
        reached.remove(&n);
    }
}

#[test]
fn loops_with_two_entries_are_generated() {
    let irreducible = |seed: &u64| {
        let (module, _) = raddle_ptx::load(&kernel(*seed, Size::Full));
        module.functions.iter().any(|function| is_irreducible(&Cfg::new(function)))
    };
    let count = (0..200).filter(irreducible).count();
    assert!(count > 50, "{count} of 200");
}
