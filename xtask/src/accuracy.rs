//! The page that compares the timing model with the reference simulator.

use std::fs;
use std::process::Stdio;

use raddle_testkit::accuracy::{PAGE, V100_PAGE};

/// The pages, each with what the program that writes it is told.
const PAGES: [(&str, &[&str]); 2] = [(PAGE, &[]), (V100_PAGE, &["v100"])];

use crate::Result;
use crate::files::{cargo, root, run_cargo};

/// Runs every point and writes the page or, with `check`, runs a sample and compares its cycles with the page's.
pub fn run(check: bool) -> Result {
    if check {
        return run_cargo(&["test", "-p", "raddle-testkit", "--test", "accuracy"]);
    }
    for (path, words) in PAGES {
        fs::write(root().join(path), page(words)?)?;
        println!("accuracy: wrote {path}");
    }
    Ok(())
}

/// Runs every point and fails if a page is another.
pub fn check_all() -> Result {
    for (path, words) in PAGES {
        if fs::read_to_string(root().join(path))? != page(words)? {
            return Err(format!("{path} is out of date: run `cargo xtask accuracy` and commit the result").into());
        }
        println!("accuracy: {path} is up to date");
    }
    Ok(())
}

/// A page as the model is now, from an optimised build.
fn page(words: &[&str]) -> Result<String> {
    let mut command = cargo(&["run", "--release", "-p", "raddle-testkit", "--example", "accuracy", "--"]);
    command.args(words);
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("the runs ended with {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
