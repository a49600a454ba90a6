//! A sample of the differential test: generated C++ programs, compiled for the device and for the
//! host, must leave the same memory. The whole of it is `cargo xtask differential`.

use raddle_testkit::differential::{build_cases, find_compiler};
use raddle_testkit::missing;

#[test]
fn forty_programs_leave_the_memory_the_host_leaves() {
    if let Err(error) = find_compiler() {
        return missing(error);
    }
    let directory = std::env::temp_dir().join(format!("raddle-differential-{}", std::process::id()));
    let cases = build_cases(1000..1040, &directory).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(cases.len(), 40);
    let failures: Vec<String> = cases.iter().filter_map(|c| c.execute().err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // What failed stays for a look.
    let _ = std::fs::remove_dir_all(&directory);
}
