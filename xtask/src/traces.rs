//! Timelines of runs, read with the classes of Perfetto's schema and compared with what the runs counted.
//!
//! The classes are those of the package `perfetto` for Python. `trace_processor`, which opens traces, is not part of it, and
//! is not fetched.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::files::{root, run_cargo, run_command, target};
use crate::venv;

/// Where the programs in Python are, and what they need.
const SCRIPTS: &str = "tests/trace";
const NEEDS: &str = "tests/trace/requirements.txt";

/// Runs, with the SMs that are compared.
const RUNS: [(&[&str], &str); 4] = [
    (&["run", "examples/saxpy.toml"], "0"),
    (&["run", "bfs", "--size", "tiny", "--trace-sms", "0,3-4", "--interval", "777"], "0,3,4"),
    (&["run", "matmul", "--size", "tiny", "--divergence", "tbc"], "0"),
    (&["run", "matmul", "--size", "tiny", "--no-skip", "--set", "sm.issue.schedulers=1"], "0"),
];

/// A program, how many copies it makes, and how.
const PROGRAM: (&str, &str) = ("examples/cuda/saxpy.cu", "3");

/// Checks all of them.
pub fn run() -> Result {
    run_cargo(&["build", "--quiet", "--locked", "-p", "raddle-cli", "-p", "raddle-cudart"])?;
    let folder = target().join("traces");
    fs::create_dir_all(&folder)?;
    let python = python(&folder)?;
    let [trace, stats, program] = ["run.pftrace", "run.csv", "program"].map(|name| folder.join(name));
    let write = ["--trace".as_ref(), trace.as_os_str(), "--stats".as_ref(), stats.as_os_str()];
    for (args, sms) in RUNS {
        run_command(raddle().args(args).args(write).arg("--json").stdout(std::process::Stdio::null()))?;
        check(&python, [&trace, &stats], &[sms])?;
    }
    run_command(raddle().arg("cc").arg(root().join(PROGRAM.0)).arg("-o").arg(&program))?;
    run_command(raddle().arg("exec").arg("--quiet").args(write).arg(&program))?;
    check(&python, [&trace, &stats], &["0", PROGRAM.1])
}

fn raddle() -> Command {
    let mut command = Command::new(target().join("debug/raddle"));
    command.current_dir(root());
    command
}

fn check(python: &Path, files: [&Path; 2], more: &[&str]) -> Result {
    run_command(Command::new(python).arg(root().join(SCRIPTS).join("check.py")).args(files).args(more))
}

/// Draws tracks of a timeline from one cycle to another.
pub fn draw(folder: &Path, trace: &Path, [from, to]: [&str; 2], page: &Path, tracks: &[&str]) -> Result {
    let mut command = Command::new(python(folder)?);
    command.arg(root().join(SCRIPTS).join("draw.py")).arg(trace).args([from, to]).arg(page).args(tracks);
    run_command(&mut command)
}

/// Python with the package.
fn python(folder: &Path) -> Result<PathBuf> {
    venv::with(&folder.join("python"), &root().join(NEEDS))
}
