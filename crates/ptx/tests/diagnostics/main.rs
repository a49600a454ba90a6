//! Error messages are part of the product. Each `.txt` file here holds mistakes by kind: a title after `##`, the PTX text,
//! and behind `=>` what must be said about it, one line per diagnostic.
//!
//! Texts that do not begin with `.version` are put into a module; those without `.entry` and `.func` also into the
//! body of a kernel whose declarations are in [`KERNEL`]. Lines are counted from the text as it stands in the file.
//! `UPDATE_EXPECT=1` writes what is said now; read the difference before you commit it.

use raddle_ptx::load;
use raddle_ptx::source::LineIndex;
use std::fmt::Write;
use std::path::Path;

const MODULE: &str = ".version 7.0 .target sm_50 .address_size 64 ";
const KERNEL: &str = ".global .u32 glob; .const .f32 table[4]; .shared .b32 tile[64]; .global .texref image; \
                      .func (.param .b32 out) helper(.param .b32 in); .entry other() { ret; } \
                      .entry k(.param .u64 arg) { .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; \
                      .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .f64 %e<4>; .reg .v2 .b32 %v; .reg .b32 %count; \
                      .param .b32 a0; .param .b32 r0; START: ";

/// What is said about `text`.
fn diagnose(text: &str) -> String {
    let (before, after) = if text.starts_with(".version") {
        (String::new(), "")
    } else if text.starts_with(".entry") || text.starts_with(".func") || text.starts_with(".global") {
        (MODULE.to_owned(), "")
    } else {
        (MODULE.to_owned() + KERNEL, " ret; }")
    };
    let whole = format!("{before}{text}{after}");
    let lines = LineIndex::new(&whole);
    let mut said = String::new();
    for mut diagnostic in load(&whole).1 {
        // What is put before stands on the first line: move its columns out of the way.
        let line = lines.line_col(&whole, diagnostic.span.start).line;
        let mut shown = diagnostic.one_line(&whole, &lines);
        if line == 1 && diagnostic.span.start as usize >= before.len() {
            diagnostic.span.start -= before.len() as u32;
            shown = diagnostic.one_line(text, &LineIndex::new(text));
        } else if line == 1 {
            shown = format!("before: {diagnostic}");
        }
        writeln!(said, "=> {shown}").expect("a string grows");
    }
    said
}

/// Checks every mistake of a file; gives how many there are.
#[track_caller]
fn check(file: &str) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics").join(file);
    let expected = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut actual = String::new();
    let mut count = 0;
    for case in format!("\n{expected}").split("\n## ").skip(1) {
        let (title, rest) = case.split_once('\n').expect("a title and a text");
        let input: Vec<&str> = rest.lines().filter(|l| !l.starts_with("=>") && !l.is_empty()).collect();
        let said = diagnose(&input.join("\n"));
        assert!(!said.is_empty(), "nothing is said about {title}");
        writeln!(actual, "## {title}\n{}\n{said}", input.join("\n")).expect("a string grows");
        count += 1;
    }
    let actual = actual.trim_end().to_owned() + "\n";
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, actual).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    } else {
        assert_eq!(actual, expected, "{file}: if the new text is better, run with UPDATE_EXPECT=1");
    }
    count
}

#[test]
fn every_mistake_is_explained() {
    let files = ["lexical.txt", "syntax.txt", "module.txt", "names.txt", "operands.txt", "unsupported.txt"];
    let count: usize = files.into_iter().map(check).sum();
    assert!(count >= 100, "{count} mistakes");
}
