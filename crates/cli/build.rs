//! Puts `libcudart.so` into the program, if it is named: releases are one file. Tells it the commit it is built from.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    commit();
    println!("cargo:rerun-if-env-changed=RADDLE_EMBED_CUDART");
    let text = match std::env::var("RADDLE_EMBED_CUDART") {
        Ok(path) => {
            println!("cargo:rerun-if-changed={path}");
            format!("Some(include_bytes!({path:?}))\n")
        }
        Err(_) => "None\n".to_owned(),
    };
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets it")).join("embedded.rs");
    std::fs::write(out, text).expect("the folder of the build can be written");
}

/// The commit, where there is a repository.
fn commit() {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    println!("cargo:rerun-if-changed=build.rs");
    // A line is added to this file whenever another commit is checked out.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).is_file());
    log.iter().for_each(|log| println!("cargo:rerun-if-changed={log}"));
    git(&["rev-parse", "--short=10", "HEAD"])
        .iter()
        .for_each(|commit| println!("cargo:rustc-env=RADDLE_COMMIT={commit}"));
}
