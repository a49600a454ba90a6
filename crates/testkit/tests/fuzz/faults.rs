//! Engines that misread an instruction or a mode are found, and what shows it is made small.

use raddle_testkit::fuzz::generate::{Size, kernel, keyed_kernel};
use raddle_testkit::fuzz::generated::{Change, Generated};
use raddle_testkit::fuzz::{self, Finding, Limits, Target, Watch, timed};
use std::time::Duration;

/// Kernels that have what is misread, of which one must show it.
const TRIES: usize = 40;

/// What is misread as what, and how.
type Misreading = (&'static str, Change);

/// The lines that contain a word, changed.
fn lines(text: &str, word: &str, mut change: impl FnMut(&str) -> String) -> String {
    let changed = |line: &str| if line.contains(word) { change(line) } else { line.to_owned() };
    text.lines().map(changed).collect::<Vec<_>>().join("\n") + "\n"
}

/// Without what stands behind the first comma.
fn without_count(line: &str) -> String {
    line.split(',').next().unwrap_or_default().trim_end_matches(';').to_owned() + ";"
}

/// The words in braces the other way round.
fn reversed(line: &str) -> String {
    let Some((head, rest)) = line.split_once('{') else { return line.to_owned() };
    let Some((inside, tail)) = rest.split_once('}') else { return line.to_owned() };
    let inside: Vec<&str> = inside.rsplit(", ").collect();
    format!("{head}{{{}}}{tail}", inside.join(", "))
}

/// The choice of an address that makes a thread fault, without it.
fn no_fault(line: &str) -> String {
    let (head, p) = (line.split(',').next().unwrap_or_default(), line.rsplit(", ").next().unwrap_or_default());
    format!("{head}, 0, 0, {p}")
}

/// The targets of a table the other way round.
fn other_targets(line: &str) -> String {
    let (head, targets) = line.trim_end_matches(';').split_once(".branchtargets ").unwrap_or_default();
    let targets: Vec<&str> = targets.rsplit(", ").collect();
    format!("{head}.branchtargets {};", targets.join(", "))
}

const BARRIERS: &[Misreading] = &[
    ("and for or", |t| t.replace("red.and", "red.or")),
    ("a count of threads with a true predicate is one of all", |t| lines(t, ".popc", |l| l.replace("!%p", "%p"))),
    ("an arrival waits", |t| t.replace(".arrive", ".sync")),
    ("a count is not read", |t| lines(t, "bar.sync", without_count)),
];
const FLOW: &[Misreading] = &[
    ("a negated guard", |t| lines(t, "BLOCK", |l| l.replace("@!%p", "@%p"))),
    ("the targets of a table", |t| lines(t, ".branchtargets", other_targets)),
    ("threads that end go on", |t| lines(t, "exit", |l| l.replace("exit", "pmevent 1"))),
];
const TEXTURES: &[Misreading] = &[
    ("wrap is clamp", |t| t.replace("address=wrap", "address=clamp")),
    ("mirror is wrap", |t| t.replace("address=mirror", "address=wrap")),
    ("border is clamp", |t| t.replace("address=border", "address=clamp")),
    ("a point for linear", |t| t.replace("filter=linear", "filter=point")),
    ("not normalised", |t| t.replace("normalized=1", "normalized=0")),
    ("no sign", |t| lines(t, "texture", |l| l.replace(" s8x", " u8x"))),
    ("another component", |t| t.replace("tld4.g", "tld4.b")),
];
const SURFACES: &[Misreading] = &[
    ("clamp for zero", |t| lines(t, "suld", |l| l.replace(".zero", ".clamp"))),
    ("elements are exchanged", |t| {
        lines(t, "sust", |l| if l.contains(".v2") { stored_reversed(l) } else { l.to_owned() })
    }),
];
const COPIES: &[Misreading] = &[
    ("a copy is too short", |t| lines(t, "cp.async.ca", |l| l.replace("], 16", "], 8"))),
    ("a negated predicate", |t| lines(t, "cp.async", |l| l.replace(", !%p", ", %p"))),
];
const VECTORS: &[Misreading] = &[
    ("elements are exchanged", |t| lines(t, ".v2.", |l| if l.contains(" ld") { reversed(l) } else { l.to_owned() })),
    ("misaligned addresses are not found", |t| {
        if t.contains("// faults") { lines(t, ", 0, %p", no_fault) } else { t.to_owned() }
    }),
];
const MATRICES: &[Misreading] = &[
    ("columns for rows", |t| t.replace("wmma.load.c.sync.aligned.row", "wmma.load.c.sync.aligned.col")),
    ("and for xor", |t| t.replace("xor.popc", "and.popc")),
    ("not transposed", |t| lines(t, "ldmatrix", |l| l.replace(".trans", ""))),
    ("another sign", |t| lines(t, "mma.sync", |l| l.replace(".s32.u8.s8.s32", ".s32.s8.s8.s32"))),
];

/// The values of a surface store the other way round.
fn stored_reversed(line: &str) -> String {
    let (head, values) = line.rsplit_once('{').unwrap_or_default();
    format!("{head}{}", reversed(&format!("{{{values}")))
}

/// The first line with a word, changed.
fn first_line(text: &str, word: &str, change: impl Fn(&str) -> String) -> String {
    let mut is_first = true;
    lines(text, word, |line| if std::mem::take(&mut is_first) { change(line) } else { line.to_owned() })
}

/// The first register of 32 bits of an instruction.
fn register(line: &str) -> &str {
    line.split([' ', ',', ';', '[', ']']).find(|word| word.starts_with("%r")).unwrap_or_default()
}

/// What makes the time of a kernel depend on what is in memory.
const DEPENDENCES: &[Misreading] = &[
    ("numbers from the state", |t| lines(t, "shr.u32", |l| l.replace(", %k, ", ", %h, "))),
    ("the first number from the state", |t| first_line(t, ", %k, ", |l| l.replace(", %k, ", ", %h, "))),
    ("indices of tables from the state", |t| lines(t, "brx", |l| format!("and.b32 {}, %h, 1;\n{l}", register(l)))),
    ("constants from the state", |t| lines(t, "ld.const", |l| format!("and.b32 {}, %h, 60;\n{l}", register(l)))),
];

/// The first finding of a target that misreads kernels, among those that have what it misreads.
fn finding(target: &dyn Target, change: Change, size: Size) -> Option<Finding> {
    finding_among(target, change, |seed| kernel(seed, size))
}

fn finding_among(target: &dyn Target, change: Change, kernel: impl Fn(u64) -> String) -> Option<Finding> {
    let mut found = None;
    let has = |seed: &u64| {
        let text = kernel(*seed);
        change(&text) != text
    };
    for seed in (0..20_000).filter(has).take(TRIES) {
        fuzz::run(target, Limits { seed, count: 1, end: None }, &Watch::new(), |f| found = Some(f.clone()));
        if found.is_some() {
            return found;
        }
    }
    None
}

fn check(misreadings: &[Misreading]) {
    for (what, change) in misreadings {
        let found = finding(&Generated::with_fault(Size::Full, *change), *change, Size::Full);
        assert!(found.is_some_and(|f| !f.what.contains("does not load")), "{what}: not found");
    }
}

#[test]
fn faults_in_barriers_are_found() {
    check(BARRIERS);
}

#[test]
fn faults_in_flow_are_found() {
    check(FLOW);
}

#[test]
fn faults_in_textures_are_found() {
    check(TEXTURES);
}

#[test]
fn faults_in_surfaces_are_found() {
    check(SURFACES);
}

#[test]
fn faults_in_copies_are_found() {
    check(COPIES);
}

#[test]
fn faults_in_vectors_are_found() {
    check(VECTORS);
}

#[test]
fn faults_in_matrices_are_found() {
    check(MATRICES);
}

#[test]
fn faults_in_the_timing_model_are_found() {
    for misreadings in [BARRIERS, TEXTURES, MATRICES] {
        let (what, change) = misreadings[0];
        assert!(finding(&timed::Generated::with_fault(change), change, Size::Small).is_some(), "{what}: not found");
    }
}

#[test]
fn time_that_depends_on_memory_is_found() {
    for (what, change) in DEPENDENCES {
        let found = finding_among(&timed::Contents::with_fault(*change), *change, keyed_kernel);
        assert!(found.is_some_and(|f| f.what.starts_with("time depends")), "{what}: not found");
    }
}

/// A feature's first fault, made small: what matters is left, and not much else.
fn check_small(misreadings: &[Misreading], word: &str) {
    let (what, change) = misreadings[0];
    let target = Generated::with_fault(Size::Small, change);
    let found = finding(&target, change, Size::Small).unwrap_or_else(|| panic!("{what}: not found"));
    let small = fuzz::reduce(&target, &found, Duration::from_secs(60));
    let text = String::from_utf8(small.input).expect("kernels are text");
    assert!(text.contains(word) && text.lines().count() <= 60, "{what}:\n{text}");
}

#[test]
fn findings_of_features_are_made_small() {
    check_small(BARRIERS, "red.and");
    check_small(SURFACES, "suld");
    check_small(COPIES, "cp.async");
    // The others take longer.
    if std::env::var_os("RADDLE_LONG").is_some() {
        check_small(FLOW, "@!%p");
        check_small(TEXTURES, "address=wrap");
        check_small(VECTORS, ".v2.");
        check_small(MATRICES, "wmma.load.c");
    }
}
