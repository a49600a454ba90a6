//! Fuzzing: short samples for CI, long runs by hand.
//!
//! A sample is a `cargo` command that feeds generated or mutated inputs to a part of the product for a fixed number of
//! cases and a fixed seed, so that CI is deterministic. A long run gives the targets of `fuzz/` to `cargo fuzz`, which
//! looks for inputs that reach new code. What it finds becomes a file in `fuzz/regressions` or a test.

use std::fs;
use std::path::Path;

use raddle_ptx::isa::{Opcode, Special, Word};

use crate::Result;
use crate::files::{cargo, root, run_cargo, run_command, text_files};

/// One sample.
struct Sample {
    /// What is fuzzed, for messages.
    name: &'static str,
    /// The arguments of `cargo`.
    cargo: &'static [&'static str],
}

/// Every sample CI runs, one row each.
#[rustfmt::skip] // one row each
const SAMPLES: &[Sample] = &[
    Sample { name: "damaged programs through the PTX front end",
             cargo: &["test", "--locked", "-p", "raddle-ptx", "--test", "robustness", "--", "--ignored", "many_damaged_programs"] },
    Sample { name: "a file of fifty megabytes through the PTX front end",
             cargo: &["test", "--locked", "-p", "raddle-ptx", "--test", "robustness", "--", "--ignored", "fifty_megabytes"] },
];

/// A target of `fuzz/`.
struct Target {
    name: &'static str,
    /// Writes the inputs to begin with into a folder.
    write_corpus: fn(&Path) -> Result,
}

/// Every target, one row each.
const TARGETS: &[Target] = &[Target { name: "parse", write_corpus: write_ptx_corpus }];

/// The longest input, in bytes. Almost all files of the corpus are shorter.
const MAX_LEN: u32 = 8192;
/// An input that takes longer, in seconds, is a finding.
const TIMEOUT: u32 = 10;
/// An input that takes more memory, in MiB, is a finding.
const MEMORY: u32 = 2048;

/// The options of `cargo xtask fuzz`.
#[derive(clap::Args)]
pub struct Args {
    /// Look for new inputs for this long instead, with cargo-fuzz; the minutes are shared by the targets
    #[arg(long, value_name = "N")]
    minutes: Option<u32>,
}

/// Runs the samples, or the targets for a while; stops at the first that fails.
pub fn run(args: &Args) -> Result {
    match args.minutes {
        None => samples(),
        Some(minutes) => explore(minutes),
    }
}

/// Runs every sample; stops at the first that fails.
pub fn samples() -> Result {
    for sample in SAMPLES {
        println!("fuzz: {}", sample.name);
        run_cargo(sample.cargo)?;
    }
    println!("fuzz: {} samples", SAMPLES.len());
    Ok(())
}

/// Runs every target for its share of the time, from the files of the repository and what earlier runs found.
fn explore(minutes: u32) -> Result {
    if !cargo(&["fuzz", "--version"]).output()?.status.success() {
        return Err("cargo-fuzz is not there: install it with `cargo install cargo-fuzz`".into());
    }
    let folder = root().join("fuzz");
    fs::create_dir_all(folder.join("dictionaries"))?;
    let dictionary = folder.join("dictionaries/ptx.txt");
    fs::write(&dictionary, ptx_dictionary())?;
    let seconds = u64::from(minutes) * 60 / TARGETS.len() as u64;
    for Target { name, write_corpus } in TARGETS {
        let corpus = folder.join("corpus").join(name);
        fs::create_dir_all(&corpus)?;
        write_corpus(&corpus)?;
        let limits = [
            format!("-max_total_time={seconds}"),
            format!("-max_len={MAX_LEN}"),
            format!("-timeout={TIMEOUT}"),
            format!("-rss_limit_mb={MEMORY}"),
            format!("-dict={}", dictionary.display()),
            "-print_final_stats=1".to_owned(),
        ];
        // Without a sanitizer: the code is safe Rust, and the stable compiler has none.
        let mut command = cargo(&["fuzz", "run", "--sanitizer", "none", name]);
        command.arg(&corpus).arg(folder.join("regressions")).arg("--").args(limits);
        run_command(&mut command)?;
    }
    Ok(())
}

/// Copies the PTX files of the repository; their names are their places, so that none hides another.
fn write_ptx_corpus(corpus: &Path) -> Result {
    let files = text_files()?;
    let ptx = files.iter().filter(|f| f.has_extension("ptx") && f.path.starts_with("tests/"));
    for file in ptx.filter(|f| f.text.len() <= MAX_LEN as usize) {
        fs::write(corpus.join(file.path.replace('/', "-")), &file.text)?;
    }
    Ok(())
}

/// The words of PTX in the form libFuzzer reads: one quoted word a line.
fn ptx_dictionary() -> String {
    const DIRECTIVES: &[&str] = &[
        ".version 7.0",
        ".target sm_50",
        ".address_size 64",
        ".entry",
        ".func",
        ".visible",
        ".extern",
        ".weak",
        ".common",
        ".align",
        ".file",
        ".loc",
        ".section",
        ".pragma",
        ".alias",
        ".branchtargets",
        ".calltargets",
        ".callprototype",
        ".noreturn",
        ".maxntid",
        ".reqntid",
        ".maxnreg",
        ".minnctapersm",
        ".attribute(.managed)",
        ".ptr",
        "function_name",
        "inlined_at",
        "generic(",
        "<4>",
        "[4]",
        "/*",
        "*/",
        "//",
        "0f3F800000",
        "0d3FF0000000000000",
    ];
    let words = Opcode::ALL.iter().map(|o| o.as_str().to_owned());
    let words = words.chain(Word::ALL.iter().map(|w| format!(".{}", w.as_str())));
    let words = words.chain(Special::ALL.iter().map(|s| s.as_str().to_owned()));
    let words = words.chain(DIRECTIVES.iter().map(|d| (*d).to_owned()));
    words.map(|word| format!("\"{word}\"\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dictionary_needs_no_escapes() {
        let text = ptx_dictionary();
        assert!(text.lines().count() > 300);
        for line in text.lines() {
            assert!(line.len() > 2 && !line[1..line.len() - 1].contains(['"', '\\']), "{line}");
        }
    }
}
