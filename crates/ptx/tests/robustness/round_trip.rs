//! Every PTX file of the repository, printed and read back.

use crate::exercise::{exercise, reads_back};
use crate::sources::{files_of, sources};
use raddle_ptx::syntax::parse;

#[test]
fn every_file_reads_back_as_printed() {
    for (path, text) in sources() {
        let (_, diagnostics) = parse(&text);
        assert!(diagnostics.is_empty(), "{}: {diagnostics:?}", path.display());
        reads_back(&text);
    }
}

/// What fuzzing has found, as files.
#[test]
fn regressions_stay_fixed() {
    let files = files_of("fuzz/regressions");
    assert!(!files.is_empty());
    for (_, text) in files {
        exercise(&text);
    }
}

/// Texts that once printed as something else, or went wrong in another way.
#[test]
fn once_misread() {
    let head = ".version 7.0\n.target sm_50\n.address_size 64\n";
    for text in [
        // A constant expression around a name is that name with an offset.
        ".global .u32 x;\n.entry k() { .reg .u64 %r; mov.u64 %r, 5+x; mov.u64 %r, +x; mov.u64 %r, 1?x:x; }",
        ".global .u32 x;\n.entry k() { .reg .u64 %r; mov.u64 %r, 5+generic(x); }",
        // Attributes keep their order.
        ".entry k(.param .u64 .ptr .global .align 8 .attribute(.managed) p, .param .attribute(.managed) .u64 q) { }",
        // Extents whose product does not fit 64 bits, with a zero among them.
        ".global .u8 x[0][0x7fffffffffffffff][0x7fffffffffffffff] = {{1}};",
        ".global .u8 x[][0][0x7fffffffffffffff][0x7fffffffffffffff] = {{{{1}}}};",
    ] {
        exercise(&format!("{head}{text}"));
    }
}
