//! `raddle` as one file: with the library inside that CUDA programs call.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::Result;
use crate::files::{cargo, root, run_cargo, run_command, target};
use crate::pages::{What, lines_match, shell, steps};

/// What a first result may take after the installation.
const FIRST_RESULT: Duration = Duration::from_secs(60);

/// The program of the first result.
const PROGRAM: &str = "examples/cuda/mandelbrot.cu";

/// The library that goes into one file with the program, quickly compiled.
pub fn embedded_library() -> Result<PathBuf> {
    run_cargo(&["build", "--quiet", "--locked", "-p", "raddle-cudart"])?;
    // Compiling the program again builds the library again, too: another file stays as it is.
    let library = target().join("install/libcudart.so");
    replace_if_different(&target().join("debug/libcudart.so"), &library)?;
    Ok(library)
}

/// Installs the program as README says, but for a quick compilation.
fn install(folder: &Path) -> Result {
    let library = embedded_library()?;
    let mut install = cargo(&["install", "--quiet", "--locked", "--debug", "--path", "crates/cli", "--root"]);
    // The workspace's build folder: what has been compiled is not compiled again.
    install.arg(folder).env("RADDLE_EMBED_CUDART", &library).env("CARGO_TARGET_DIR", target());
    run_command(&mut install)
}

/// Installs to an empty folder, goes away from the clone and follows README's first result there.
pub fn check() -> Result {
    let empty = target().join("first-steps");
    if empty.exists() {
        fs::remove_dir_all(&empty)?;
    }
    let (program, here) = (empty.join("root"), empty.join("here"));
    let copy = here.join(PROGRAM);
    copy.parent().map_or(Ok(()), fs::create_dir_all)?;
    install(&program)?;
    fs::copy(root().join(PROGRAM), copy)?;
    let readme = fs::read_to_string(root().join("README.md"))?;
    let (_, section) = readme.split_once("\n## A first result\n").ok_or("README has no first result")?;
    let section = section.split("\n## ").next().unwrap_or_default();
    let start = Instant::now();
    for step in steps(section).map_err(|(_, what)| what)? {
        let What::Command(command) = &step.what else {
            return Err("README's first result is more than commands".into());
        };
        let printed = follow(command, &here, &program.join("bin"))?;
        let shown: Vec<&str> = step.output.iter().map(String::as_str).collect();
        let printed: Vec<&str> = printed.lines().collect();
        if !lines_match(&shown, &printed) {
            let (shown, printed) = (shown.join("\n"), printed.join("\n"));
            return Err(
                format!("`{command}` prints something else\n--- README\n{shown}\n--- printed\n{printed}").into()
            );
        }
    }
    let took = start.elapsed();
    let size = fs::metadata(program.join("bin/raddle"))?.len() >> 20;
    println!(
        "install: the first result came {:.1} s after the installation; the program has {size} MB",
        took.as_secs_f64()
    );
    if took > FIRST_RESULT {
        return Err(format!("the first result took {} s", took.as_secs()).into());
    }
    Ok(())
}

/// Does a step in a folder, with the installed program first in the path. What it prints.
fn follow(step: &str, here: &Path, bin: &Path) -> Result<String> {
    let output = shell(step, here, bin).env("XDG_CACHE_HOME", here.join("cache")).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.success() {
        true => Ok(text),
        false => Err(format!("`{step}` failed\n{text}").into()),
    }
}

/// Copies a file, unless the copy is the same: cargo goes by times.
fn replace_if_different(from: &Path, to: &Path) -> Result {
    let new = fs::read(from)?;
    if fs::read(to).is_ok_and(|old| old == new) {
        return Ok(());
    }
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    Ok(fs::write(to, new)?)
}
