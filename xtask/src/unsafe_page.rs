//! The page about `unsafe` names every file that has some, with the number of its blocks.

use std::collections::BTreeMap;

use crate::files::{Finding, TextFile};

/// The page, whose rows begin with a file and a number.
const PAGE: &str = "docs/src/internals/unsafe.md";

/// What counts: blocks, implementations of unsafe traits, and declarations of what other libraries have.
const KINDS: [&str; 3] = ["unsafe {", "unsafe impl ", "unsafe extern \"C\" {"];

/// Files that are missing on the page or have another number, and rows without such a file.
pub fn check(files: &[TextFile]) -> Vec<Finding> {
    let page = files.iter().find(|file| file.path == PAGE);
    let mut rows: BTreeMap<&str, (usize, usize)> = page.map(|page| listed(&page.text)).unwrap_or_default();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.starts_with("crates/") && file.has_extension("rs")) {
        let count = blocks(&file.text);
        let row = rows.remove(file.path.as_str());
        if row.map_or(0, |(_, said)| said) != count {
            let said = row.map_or("does not name it".to_owned(), |(_, said)| format!("says {said}"));
            let message = format!("{count} unsafe blocks, and {PAGE} {said}: review them, then write the number there");
            findings.push(Finding::new(&file.path, 1, message));
        }
    }
    findings.extend(rows.into_iter().map(|(path, (line, _))| Finding::new(PAGE, line, format!("there is no {path}"))));
    findings
}

/// How many there are outside of comments.
fn blocks(text: &str) -> usize {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.map(|code| KINDS.iter().map(|kind| code.matches(kind).count()).sum::<usize>()).sum()
}

/// Files in the rows of tables, with the line and the number.
fn listed(page: &str) -> BTreeMap<&str, (usize, usize)> {
    let lines = (1..).zip(page.lines());
    lines.filter_map(|(number, line)| row(line).map(|(path, count)| (path, (number, count)))).collect()
}

fn row(line: &str) -> Option<(&str, usize)> {
    let (path, rest) = line.strip_prefix("| `")?.split_once("` | ")?;
    Some((path, rest.split(' ').next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str, page: &str) -> Vec<String> {
        let file = |path: &str, text: &str| TextFile { path: path.into(), text: text.into() };
        let files = [file("crates/exec/src/a.rs", source), file(PAGE, page), file("xtask/src/a.rs", "unsafe {")];
        check(&files).iter().map(ToString::to_string).collect()
    }

    const TWO: &str = "// unsafe { x }\nlet a = unsafe { b() };\nunsafe impl Send for A {}\nunsafe fn c() {}\n";

    #[test]
    fn numbers_of_blocks_are_those_of_the_page() {
        assert!(found(TWO, "| `crates/exec/src/a.rs` | 2 | text |\n").is_empty());
        assert!(found("fn a() {}\n", "").is_empty());
        for (source, page, wanted) in [
            (TWO, "", "crates/exec/src/a.rs:1: 2 unsafe blocks, and docs/src/internals/unsafe.md does not name it"),
            (TWO, "| `crates/exec/src/a.rs` | 3 | text |\n", "says 3"),
            ("", "| `crates/exec/src/a.rs` | 1 | text |\n", "0 unsafe blocks"),
            ("", "\n| `crates/exec/src/b.rs` | 1 | text |\n", "unsafe.md:2: there is no crates/exec/src/b.rs"),
        ] {
            let found = found(source, page);
            assert!(found.len() == 1 && found[0].contains(wanted), "{found:?}");
        }
    }
}
