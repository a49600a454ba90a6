//! Repository rules that no compiler checks.
//!
//! A rule is a function from a file to findings, listed in [`RULES`]; it looks at the path first and leaves files that
//! are not its own alone.

use crate::Result;
use crate::docs;
use crate::files::{Finding, TextFile, report, text_files};
use crate::unsafe_page;
use crate::wording;

/// Every rule for single files.
const RULES: &[fn(&TextFile) -> Vec<Finding>] =
    &[crate_root, length, whitespace, words, wording::check, final_newline, mechanisms];

/// The crate that is an interface of C: every function it exports and every pointer it takes is `unsafe`, each with its reason.
const C_INTERFACE: &str = "cudart";

/// Crates that may contain `unsafe` in places that say so; all others forbid it.
const MAY_ALLOW_UNSAFE: &[&str] = &["exec"];

/// The most lines a source file may have.
const MAX_LINES: usize = 800;

/// The first line of a source file that is a table or generated, and so may be long.
const TABLE_MARK: &str = "// tidy: table";

/// Left-overs that do not belong in committed Rust code. Split, so that this file does not contain them.
const LEFT_OVERS: &[&str] = &[concat!("dbg", "!("), concat!("todo", "!(")];

/// Starts of paths that exist on one machine only. Split for the same reason.
const MACHINE_PATHS: &[&str] = &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/")];

/// Where the timing model may call mechanisms by name: tests, random machines for them, and the table of imported options.
const MAY_NAME_MECHANISMS: &[&str] = &["/test", "/config/import/", "/config/random.rs"];

/// Checks every rule on every text file, and that the book lists all its pages.
pub fn run() -> Result {
    let files = text_files()?;
    let mut findings: Vec<_> = files.iter().flat_map(check).collect();
    findings.extend(docs::unlisted_pages(&files));
    findings.extend(wording::glossary(&files));
    findings.extend(unsafe_page::check(&files));
    report("tidy", files.len(), &findings)
}

fn check(file: &TextFile) -> Vec<Finding> {
    RULES.iter().flat_map(|rule| rule(file)).collect()
}

/// The timing model knows mechanisms by what they say of themselves, not by name.
fn mechanisms(file: &TextFile) -> Vec<Finding> {
    let path = &file.path;
    if !path.starts_with("crates/sim/src/") || MAY_NAME_MECHANISMS.iter().any(|part| path.contains(part)) {
        return Vec::new();
    }
    let registry = raddle_mech::registry();
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(file.text.lines()).filter(|(_, line)| !line.trim_start().starts_with("//")) {
        if line == "#[cfg(test)]" {
            break;
        }
        let named = registry.iter().find(|m| line.contains(&format!("\"{}\"", m.info.name)));
        if let Some(found) = named {
            let message = format!("names the mechanism `{}`: ask it what matters, through its seam", found.info.name);
            findings.push(Finding::new(path, number, message));
        }
    }
    findings
}

/// A crate begins with a comment that says what it is for, and settles the question of `unsafe`.
fn crate_root(file: &TextFile) -> Vec<Finding> {
    let Some(name) = crate_of_root(&file.path) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    let doc = file.text.lines().find_map(|line| line.strip_prefix("//!"));
    match doc.map(str::trim) {
        None => findings.push(Finding::new(&file.path, 1, "the crate has no doc comment (//!)")),
        Some("" | "TODO") => {
            findings.push(Finding::new(&file.path, 1, "the crate's doc comment does not say what the crate is for"))
        }
        Some(_) => {}
    }
    if name == C_INTERFACE {
        return findings;
    }
    let forbids = file.text.contains("#![forbid(unsafe_code)]");
    let may_deny = MAY_ALLOW_UNSAFE.contains(&name);
    let denies = may_deny && file.text.contains("#![deny(unsafe_code)]");
    if !forbids && !denies {
        let wanted = if may_deny { "forbid or deny" } else { "forbid" };
        let message = format!("the crate must {wanted} unsafe_code with an attribute here");
        findings.push(Finding::new(&file.path, 1, message));
    }
    findings
}

/// The crate's folder name, if `path` is the root file of a library or program.
fn crate_of_root(path: &str) -> Option<&str> {
    let (name, rest) = match path.strip_prefix("crates/") {
        Some(path) => path.split_once("/src/")?,
        None => path.split_once("/src/").filter(|(name, _)| *name == "xtask")?,
    };
    let is_program = |rest: &str| rest.strip_prefix("bin/").is_some_and(|bin| !bin.contains('/'));
    (matches!(rest, "lib.rs" | "main.rs") || is_program(rest)).then_some(name)
}

/// Source files stay short enough to hold one idea.
fn length(file: &TextFile) -> Vec<Finding> {
    let is_source = file.path.starts_with("crates/") && file.path.contains("/src/");
    let lines = file.text.lines().count();
    if !is_source || !file.has_extension("rs") || lines <= MAX_LINES || file.text.starts_with(TABLE_MARK) {
        return Vec::new();
    }
    let message = format!(
        "the file has {lines} lines, more than {MAX_LINES}: split it, or start it with `{TABLE_MARK}` if it is one"
    );
    vec![Finding::new(&file.path, MAX_LINES + 1, message)]
}

/// Rust code has no tabs and no trailing blanks, also where rustfmt does not look.
fn whitespace(file: &TextFile) -> Vec<Finding> {
    if !file.has_extension("rs") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (line, text) in numbered_lines(file) {
        if text.contains('\t') {
            findings.push(Finding::new(&file.path, line, "tab (write \\t in strings)"));
        }
        if text.ends_with([' ', '\t', '\r']) {
            findings.push(Finding::new(&file.path, line, "trailing white space"));
        }
    }
    findings
}

/// No debugging left-overs in code, no paths of one machine in any file.
fn words(file: &TextFile) -> Vec<Finding> {
    let left_overs = if file.has_extension("rs") { LEFT_OVERS } else { &[] };
    let mut findings = Vec::new();
    for (line, text) in numbered_lines(file) {
        for word in left_overs.iter().filter(|word| text.contains(**word)) {
            findings.push(Finding::new(&file.path, line, format!("left-over `{word}`")));
        }
        for word in MACHINE_PATHS.iter().filter(|word| has_path_start(text, word)) {
            let message = format!("path of one machine (`{word}`)");
            findings.push(Finding::new(&file.path, line, message));
        }
    }
    findings
}

/// Whether `word` starts a path in `text`, and is not the middle of a longer one or of a link.
fn has_path_start(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~$}".contains(c))
    })
}

/// Text files end with a newline.
fn final_newline(file: &TextFile) -> Vec<Finding> {
    if file.text.is_empty() || file.text.ends_with('\n') {
        return Vec::new();
    }
    let last = file.text.lines().count();
    vec![Finding::new(&file.path, last, "no newline at the end of the file")]
}

fn numbered_lines(file: &TextFile) -> impl Iterator<Item = (usize, &str)> {
    file.text.split('\n').enumerate().map(|(i, text)| (i + 1, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timing_model_names_no_mechanism() {
        let text = "/// As `\"gto\"` does.\nif name == \"gto\" {}\n#[cfg(test)]\nconst X: &str = \"lrr\";\n";
        let file = |path: &str| TextFile { path: path.into(), text: text.into() };
        let found = mechanisms(&file("crates/sim/src/sm/mod.rs"));
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(found.len() == 1 && found[0].contains(":2:"), "{found:?}");
        assert!(mechanisms(&file("crates/sim/src/config/import/map.rs")).is_empty());
        assert!(mechanisms(&file("crates/mech/src/lib.rs")).is_empty());
    }
    use crate::files::render;

    #[track_caller]
    fn expect(path: &str, text: &str, findings: &str) {
        let file = TextFile { path: path.to_owned(), text: text.to_owned() };
        assert_eq!(render(&check(&file)), findings);
    }

    #[test]
    fn a_good_crate_root_passes() {
        let good = "//! Reads PTX.\n#![forbid(unsafe_code)]\n";
        expect("crates/ptx/src/lib.rs", good, "");
        expect("xtask/src/main.rs", good, "");
        expect("crates/exec/src/lib.rs", "//! Runs.\n#![deny(unsafe_code)]\n", "");
        expect("crates/ptx/src/ir/lib_names.rs", "fn f() {}\n", "");
    }

    #[test]
    fn a_crate_root_needs_a_doc_comment_and_an_attribute() {
        expect(
            "crates/ptx/src/lib.rs",
            "mod ir;\n",
            "crates/ptx/src/lib.rs:1: the crate has no doc comment (//!)\n\
             crates/ptx/src/lib.rs:1: the crate must forbid unsafe_code with an attribute here",
        );
        expect(
            "crates/cli/src/main.rs",
            "//! TODO\n#![deny(unsafe_code)]\n",
            "crates/cli/src/main.rs:1: the crate's doc comment does not say what the crate is for\n\
             crates/cli/src/main.rs:1: the crate must forbid unsafe_code with an attribute here",
        );
    }

    #[test]
    fn long_files_must_be_tables() {
        let long = "\n".repeat(MAX_LINES + 1);
        expect("crates/ptx/src/isa.rs", &format!("{TABLE_MARK}{long}"), "");
        expect("crates/ptx/tests/big.rs", &long, "");
        expect(
            "crates/ptx/src/isa.rs",
            &long,
            "crates/ptx/src/isa.rs:801: the file has 801 lines, more than 800: \
             split it, or start it with `// tidy: table` if it is one",
        );
    }

    #[test]
    fn white_space_is_clean() {
        expect("a.ptx", "\tret; \n", "");
        expect("a.rs", "x\n\ty\nz \n", "a.rs:2: tab (write \\t in strings)\na.rs:3: trailing white space");
    }

    #[test]
    fn left_overs_and_machine_paths_are_found() {
        let text = format!("fn f() {{\n    {}x);\n}}\n", LEFT_OVERS[0]);
        let finding = format!("a.rs:2: left-over `{}`", LEFT_OVERS[0]);
        expect("a.rs", &text, &finding);
        expect("a.md", &text, "");
        for path in MACHINE_PATHS {
            let finding = format!("a.ptx:1: path of one machine (`{path}`)");
            expect("a.ptx", &format!(".file 1 \"{path}k.cu\"\n"), &finding);
            expect("a.md", &format!("see https://example.org{path}k and a{path}\n"), "");
        }
    }

    #[test]
    fn text_ends_with_a_newline() {
        expect("empty.txt", "", "");
        expect("a.json", "{\n}", "a.json:2: no newline at the end of the file");
    }
}
