//! `raddle` as one file: with the library inside that CUDA programs call.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;
use crate::files::{cargo, root, run_cargo, run_command, target};

/// What a first result may take after the installation.
const FIRST_RESULT: Duration = Duration::from_secs(60);

/// The program of the first result.
const PROGRAM: &str = "examples/cuda/mandelbrot.cu";

/// Installs the program as README says, but for a quick compilation.
fn install(folder: &Path) -> Result {
    run_cargo(&["build", "--quiet", "--locked", "-p", "raddle-cudart"])?;
    // Compiling the program again builds the library again, too: another file stays as it is.
    let library = target().join("install/libcudart.so");
    replace_if_different(&target().join("debug/libcudart.so"), &library)?;
    let mut install = cargo(&["install", "--quiet", "--locked", "--debug", "--path", "crates/cli", "--root"]);
    // The workspace's build folder: what has been compiled is not compiled again.
    install.arg(folder).env("RADDLE_EMBED_CUDART", &library).env("CARGO_TARGET_DIR", target());
    run_command(&mut install)
}

/// Installs to an empty folder, goes away from the clone and follows the first steps of README there.
pub fn check() -> Result {
    let empty = target().join("first-steps");
    if empty.exists() {
        fs::remove_dir_all(&empty)?;
    }
    let (root_folder, here) = (empty.join("root"), empty.join("here"));
    fs::create_dir_all(&here)?;
    install(&root_folder)?;
    // The user's own program, with a cache of nothing.
    fs::copy(root().join(PROGRAM), here.join("mandelbrot.cu"))?;
    let start = Instant::now();
    let steps = ["raddle --version", "raddle cc mandelbrot.cu -o mandelbrot", "raddle exec ./mandelbrot"];
    let mut last = String::new();
    for step in steps {
        last = follow(step, &here, &root_folder.join("bin"))?;
    }
    let took = start.elapsed();
    if !last.contains("PASS") || !last.contains("of GPU time") {
        return Err(format!("the first result is not one:\n{last}").into());
    }
    let binary = fs::metadata(root_folder.join("bin/raddle"))?.len();
    println!(
        "install: first result {:.1} s after the installation; the program has {} MB",
        took.as_secs_f64(),
        binary >> 20
    );
    if took > FIRST_RESULT {
        return Err(format!("the first result took {} s", took.as_secs()).into());
    }
    Ok(())
}

/// Does a step in a folder, with the installed program first in the path. What it prints.
fn follow(step: &str, here: &Path, bin: &Path) -> Result<String> {
    let mut path = OsString::from(bin);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{step}")])
        .env("PATH", path)
        .env("XDG_CACHE_HOME", here.join("cache"))
        .current_dir(here)
        .stdin(Stdio::null())
        .output()?;
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
