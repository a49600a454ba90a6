//! The workloads: their PTX, their results, and what they are like.

use crate::Result;
use crate::files::run_cargo;
use crate::workload_table;

/// Everything CI checks about workloads.
pub fn run() -> Result {
    raddle(&["workloads", "build"])?;
    check("tiny")?;
    workload_table::measure("small", true)?;
    workload_table::measure(workload_table::VIRTUALIZED, true)
}

/// Runs every workload at a size and compares its results.
pub fn check(size: &str) -> Result {
    raddle(&["workloads", "check", "--size", size])
}

/// Runs our program.
fn raddle(args: &[&str]) -> Result {
    let run = ["run", "--quiet", "--locked", "-p", "raddle-cli", "--"];
    run_cargo(&[&run[..], args].concat())
}
