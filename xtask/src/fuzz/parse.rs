//! The front end with `cargo-fuzz`, which looks for inputs that reach new code.

use std::fs;
use std::path::Path;

use raddle_ptx::isa::{Opcode, Special, Word};

use crate::Result;
use crate::files::{cargo, root, run_command, text_files};

/// The name of the target in `fuzz/`.
pub const NAME: &str = "parse";

/// The longest input, in bytes. Almost all files of the corpus are shorter.
const MAX_LEN: u32 = 8192;
/// An input that takes longer, in seconds, is a finding.
const TIMEOUT: u32 = 10;
/// An input that takes more memory, in MiB, is a finding.
const MEMORY: u32 = 2048;

/// Whether `cargo-fuzz` is there.
pub fn is_installed() -> bool {
    cargo(&["fuzz", "--version"]).output().is_ok_and(|output| output.status.success())
}

/// Runs the target for a while, from the files of the repository and what earlier runs found.
pub fn explore(seconds: u64) -> Result {
    if !is_installed() {
        return Err("cargo-fuzz is not there: install it with `cargo install cargo-fuzz`".into());
    }
    let folder = root().join("fuzz");
    fs::create_dir_all(folder.join("dictionaries"))?;
    let dictionary = folder.join("dictionaries/ptx.txt");
    fs::write(&dictionary, ptx_dictionary())?;
    let corpus = folder.join("corpus").join(NAME);
    fs::create_dir_all(&corpus)?;
    write_ptx_corpus(&corpus)?;
    let limits = [
        format!("-max_total_time={seconds}"),
        format!("-max_len={MAX_LEN}"),
        format!("-timeout={TIMEOUT}"),
        format!("-rss_limit_mb={MEMORY}"),
        format!("-dict={}", dictionary.display()),
        "-print_final_stats=1".to_owned(),
    ];
    // Without a sanitizer: the code is safe Rust, and the stable compiler has none.
    let mut command = cargo(&["fuzz", "run", "--sanitizer", "none", NAME]);
    command.arg(&corpus).arg(folder.join("regressions")).arg("--").args(limits);
    run_command(&mut command)
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
