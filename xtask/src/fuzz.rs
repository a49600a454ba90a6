//! Short fuzzing samples for CI.
//!
//! A sample is a `cargo` command that feeds generated or mutated inputs to a part of the product for a fixed number of
//! cases and a fixed seed, so that CI is deterministic. Long runs use the same commands with other numbers.

use crate::Result;
use crate::files::run_cargo;

/// One sample.
struct Sample {
    /// What is fuzzed, for messages.
    name: &'static str,
    /// The arguments of `cargo`.
    cargo: &'static [&'static str],
}

/// Every sample CI runs, one row each.
const SAMPLES: &[Sample] = &[];

/// Runs every sample; stops at the first that fails.
pub fn run() -> Result {
    for sample in SAMPLES {
        println!("fuzz: {}", sample.name);
        run_cargo(sample.cargo)?;
    }
    println!("fuzz: {} samples", SAMPLES.len());
    Ok(())
}
