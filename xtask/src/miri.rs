//! Unit tests under Miri, which finds undefined behaviour that the host does not show.

use std::process::{Command, Stdio};

use crate::Result;
use crate::files::{root, run_command};

/// The compiler that has Miri.
const TOOLCHAIN: &str = "+nightly";

/// What is missing, and how to get it.
const INSTALL: &str = "Miri is part of the nightly compiler and is not installed:\n\
                       rustup toolchain install nightly --profile minimal -c miri -c rust-src";

/// Crates, and which of their tests: those of modules with `unsafe`. Others would take hours.
const TESTS: [(&str, &[&str]); 2] = [
    ("raddle-cudart", &["abi::", "host_memory::", "mappings::", "copy::", "graph::"]),
    ("raddle-exec", &["memory::host", "tests::memory_of_the_host", "tests::what_was_freed", "tests::overlaps"]),
];

/// Addresses come from C as numbers, tests read `/proc`, and one keeps its memory until the end.
const FLAGS: &str = "-Zmiri-permissive-provenance -Zmiri-disable-isolation -Zmiri-ignore-leaks";

/// Runs them, in a folder of their own.
pub fn run() -> Result {
    let found = Command::new("cargo").args([TOOLCHAIN, "miri", "--version"]).stderr(Stdio::null()).output();
    if !found.is_ok_and(|done| done.status.success()) {
        return Err(INSTALL.into());
    }
    for (package, filters) in TESTS {
        let mut tests = Command::new("cargo");
        tests.args([TOOLCHAIN, "miri", "test", "--quiet", "-p", package, "--lib", "--"]).args(filters);
        // Set for this command by the toolchain that runs it.
        tests.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env_remove("RUSTC");
        tests.env("MIRIFLAGS", FLAGS).env("CARGO_TARGET_DIR", root().join("target/miri"));
        run_command(tests.current_dir(root()).stdin(Stdio::null()))?;
    }
    Ok(())
}
