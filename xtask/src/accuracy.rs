//! The page that compares the timing model with the reference simulator.

use std::fs;
use std::process::Stdio;

use raddle_testkit::accuracy::PAGE;

use crate::Result;
use crate::files::{cargo, root, run_cargo};

/// Runs every point and writes the page or, with `check`, runs a sample and compares its cycles with the page's.
pub fn run(check: bool) -> Result {
    if check {
        return run_cargo(&["test", "-p", "raddle-testkit", "--test", "accuracy"]);
    }
    fs::write(root().join(PAGE), page()?)?;
    println!("accuracy: wrote {PAGE}");
    Ok(())
}

/// Runs every point and fails if the page is another.
pub fn check_all() -> Result {
    if fs::read_to_string(root().join(PAGE))? == page()? {
        println!("accuracy: {PAGE} is up to date");
        return Ok(());
    }
    Err(format!("{PAGE} is out of date: run `cargo xtask accuracy` and commit the result").into())
}

/// The page as the model is now, from an optimised build.
fn page() -> Result<String> {
    let mut command = cargo(&["run", "--release", "-p", "raddle-testkit", "--example", "accuracy"]);
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("the runs ended with {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
