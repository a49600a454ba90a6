//! Builds differential cases by hand and says how long it took: `FIRST LAST DIRECTORY [check]`.
//!
//! With `check` the programs are run under the sanitizer instead.

use std::path::Path;
use std::time::Instant;

use raddle_testkit::differential::{build_cases, self_check};

#[expect(clippy::print_stdout, reason = "a tool to be run by hand")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [first, last, directory, mode @ ..] = arguments.as_slice() else {
        return Err("usage: FIRST LAST DIRECTORY [check]".into());
    };
    let seeds = first.parse()?..last.parse()?;
    let start = Instant::now();
    if mode.is_empty() {
        let cases = build_cases(seeds, Path::new(directory))?;
        for case in &cases {
            println!("{}", case.name);
        }
    } else {
        self_check(seeds, Path::new(directory))?;
    }
    println!("{:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}
