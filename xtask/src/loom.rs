//! The tests that loom runs in every order of their threads; see `crates/sim/src/parallel/models.rs`.

use crate::Result;
use crate::files::{cargo, root, run_command};

/// Runs them. With `--cfg loom` everything is another build, which has a folder of its own.
pub fn run() -> Result {
    let mut tests = cargo(&["test", "--quiet", "-p", "raddle-sim", "--lib", "parallel::models"]);
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    // Failures that are part of a test need no backtrace, and there are thousands.
    tests.env("RUSTFLAGS", format!("{flags} --cfg loom")).env("RUST_BACKTRACE", "0");
    run_command(tests.env("CARGO_TARGET_DIR", root().join("target/loom")))
}
