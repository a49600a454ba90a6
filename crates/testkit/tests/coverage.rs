//! The instruction table promises only what the kernel files check.

use raddle_testkit::coverage::Coverage;
use std::path::Path;

/// What no kernel file can use and compare results, and why.
const EXCEPTIONS: &[(&str, &str)] =
    &[("trap in `trap :`", "every launch that executes it ends in a fault, which tests/ptx/trap checks")];

#[test]
fn every_form_variant_and_optional_word_is_in_a_kernel_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx");
    let missing = Coverage::of_folder(&folder).unwrap().missing();
    let unexplained: Vec<_> = missing.iter().filter(|m| !EXCEPTIONS.iter().any(|(what, _)| what == m)).collect();
    assert!(unexplained.is_empty(), "no kernel file uses these:\n{unexplained:#?}");
    for (what, _) in EXCEPTIONS {
        assert!(missing.iter().any(|m| m == what), "`{what}` is used now: it is no exception any more");
    }
}
