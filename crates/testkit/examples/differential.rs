//! The differential test by hand: `FIRST LAST DIRECTORY [check]`.
//!
//! Generates the programs of these seeds, compiles each for the device and for the host, runs both
//! and compares memory. Sources and PTX stay in the directory. With `check` the programs are run
//! on the host under the sanitizer instead, to show that they have no undefined behaviour.

use raddle_testkit::differential::{build_cases, self_check};
use std::path::Path;
use std::time::Instant;

#[expect(clippy::print_stdout, reason = "a tool to be run by hand")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [first, last, directory, mode @ ..] = arguments.as_slice() else {
        return Err("usage: FIRST LAST DIRECTORY [check]".into());
    };
    let seeds = first.parse()?..last.parse()?;
    let start = Instant::now();
    if !mode.is_empty() {
        self_check(seeds, Path::new(directory))?;
        println!("no undefined behaviour, {:.1} s", start.elapsed().as_secs_f64());
        return Ok(());
    }
    let cases = build_cases(seeds, Path::new(directory))?;
    println!("compiled {} programs twice in {:.1} s", cases.len(), start.elapsed().as_secs_f64());
    let failures: Vec<String> = cases.iter().filter_map(|c| c.execute().err()).collect();
    for failure in &failures {
        println!("{failure}");
    }
    let agree = cases.len() - failures.len();
    println!("{agree} of {} programs agree, {:.1} s", cases.len(), start.elapsed().as_secs_f64());
    if failures.is_empty() { Ok(()) } else { Err("memory differs".into()) }
}
