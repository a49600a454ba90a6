//! `raddle doctor`: which optional programs are there, and what they are for.

use crate::exec::library;
use crate::exit::{Exit, Failure};
use crate::out;
use raddle_cuda::clang::{Clang, libclc};
use serde_json::json;
use std::process::{Command, Stdio};

#[derive(clap::Args)]
#[command(after_help = "\
Nothing of this is needed to run PTX, launch files or workloads.

Example:
  raddle doctor")]
pub struct Args {
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// What was looked for.
struct Finding {
    name: &'static str,
    /// What it is, when it was found.
    found: Option<String>,
    needed_for: &'static str,
    /// How to get it.
    install: &'static str,
}

/// Looks for everything.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let findings = findings();
    if args.json {
        for Finding { name, found, needed_for, install } in &findings {
            out::json(&json!({"name": name, "found": found, "needed_for": needed_for, "install": install}))?;
        }
        return Ok(Exit::Good);
    }
    let mut rows = vec![["", "found", "needed for"].map(str::to_owned).to_vec()];
    for finding in &findings {
        let found = finding.found.as_deref().unwrap_or("missing");
        rows.push([finding.name, found, finding.needed_for].map(str::to_owned).to_vec());
    }
    let mut text = out::columns(&rows);
    for Finding { name, install, .. } in findings.iter().filter(|finding| finding.found.is_none()) {
        text += &format!("to get {name}: {install}\n");
    }
    out::data(&text)?;
    Ok(Exit::Good)
}

fn findings() -> Vec<Finding> {
    let clang = Clang::find().ok();
    let library = library::file().ok().map(|file| file.display().to_string());
    let libclc = libclc().ok().map(|file| file.display().to_string());
    vec![
        Finding {
            name: "clang",
            found: clang.as_ref().map(|clang| format!("{} {}", clang.path.display(), clang.version)),
            needed_for: "CUDA files: raddle cc, run FILE.cu, profile FILE.cu",
            install: "apt-get install clang-19, dnf install clang, brew install llvm",
        },
        Finding {
            name: "libclc",
            found: libclc,
            needed_for: "CUDA files that use math functions",
            install: "apt-get install libclc-19, dnf install libclc, brew install libclc",
        },
        Finding {
            name: "libcudart.so of Raddle",
            found: library,
            needed_for: "CUDA programs: raddle exec",
            install: "cargo build --release",
        },
        Finding {
            name: "dot",
            found: version("dot", "-V"),
            needed_for: "pictures of control flow: raddle ptx cfg -o FILE.svg",
            install: "apt-get install graphviz, dnf install graphviz, brew install graphviz",
        },
        Finding {
            name: "Slurm",
            found: version("sbatch", "--version"),
            needed_for: "experiments on a cluster: raddle lab run --slurm",
            install: "it comes with the cluster",
        },
    ]
}

/// The first line with which a program says its version; nothing when it does not start.
fn version(program: &str, option: &str) -> Option<String> {
    let output = Command::new(program).arg(option).stdin(Stdio::null()).output().ok()?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let line = said.lines().next().filter(|_| output.status.success());
    Some(line.map_or_else(|| format!("{program}, which fails here"), |line| line.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_has_no_version() {
        assert_eq!(version("no-program-has-this-name", "--version"), None);
        assert!(version("rustc", "--version").is_some_and(|line| line.starts_with("rustc")));
    }

    #[test]
    fn every_finding_says_what_it_is_for_and_how_to_get_it() {
        for finding in findings() {
            assert!(!finding.needed_for.is_empty() && !finding.install.is_empty(), "{}", finding.name);
        }
    }
}
