//! CUDA C++ to PTX, with clang and libclc and nothing of the vendor's.

use crate::error::Error;
use raddle_runtime::Problem;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler, by the name under which Debian installs it.
pub const COMPILER: &str = "clang++-19";
/// Functions on the device, from the Debian package `libclc-19`.
const LIBCLC: &str = "/usr/lib/clc/nvptx64--.bc";
/// Where the folders of workloads are, from the top folder of the repository.
const SUITE: &str = "crates/workloads/suite";

/// The folder of the suite in the repository that holds the folder `from`.
///
/// # Errors
/// When it is in none.
pub fn suite_folder(from: &Path) -> Result<PathBuf, Problem> {
    let found = from.ancestors().map(|folder| folder.join(SUITE)).find(|suite| suite.is_dir());
    found.ok_or_else(|| {
        Problem::new(format!("there is no {SUITE} here")).help("run this in a clone of the repository of Raddle")
    })
}

/// The workloads in a suite's folder, by name: every folder with a `.cu` file of its own name.
///
/// # Errors
/// When it cannot be read.
pub fn names(suite: &Path) -> Result<Vec<String>, Error> {
    let wrong = |e: std::io::Error| Error::Compile(format!("cannot read {}: {e}", suite.display()));
    let mut names = Vec::new();
    for entry in suite.read_dir().map_err(wrong)? {
        let name = entry.map_err(wrong)?.file_name().to_string_lossy().into_owned();
        if source(suite, &name).is_file() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn source(suite: &Path, name: &str) -> PathBuf {
    suite.join(name).join(format!("{name}.cu"))
}

/// Where the PTX of a workload is.
#[must_use]
pub fn ptx_path(suite: &Path, name: &str) -> PathBuf {
    source(suite, name).with_extension("ptx")
}

/// Compiles the workload `name`. The result is the same wherever the repository is.
///
/// # Errors
/// When the compiler is missing or finds mistakes.
pub fn compile(suite: &Path, name: &str) -> Result<String, Error> {
    let mut command = Command::new(COMPILER);
    command
        .current_dir(suite.join(name))
        .args(["-O2", "-std=c++17", "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_50"])
        .args(["-nocudainc", "-nocudalib", "-Xclang", "-target-sdk-version=11.8", "--cuda-feature=+ptx60"])
        .args(["-Wall", "-Werror", "-Wno-linker-warnings", "-gline-tables-only", "-fdebug-compilation-dir=."])
        .args(["-Xclang", "-mlink-builtin-bitcode", "-Xclang", LIBCLC, "-I", "../../cuda", "-S"])
        .args([&format!("{name}.cu"), "-o", "-"]);
    let missing =
        |e| Error::Compile(format!("cannot run {COMPILER}: {e}; install the packages clang-19 and libclc-19"));
    let output = command.output().map_err(missing)?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(Error::Compile(format!("{name}.cu does not compile:\n{}", message.trim_end())));
    }
    Ok(without_folders(&String::from_utf8_lossy(&output.stdout)))
}

/// Takes the folders out of `.file` lines.
fn without_folders(ptx: &str) -> String {
    let line = |line: &str| {
        let is_file = line.trim_start().starts_with(".file");
        let ends = line.find('"').zip(line.rfind('/')).filter(|_| is_file);
        ends.map_or_else(|| line.to_owned(), |(quote, slash)| format!("{}{}", &line[..=quote], &line[slash + 1..]))
    };
    ptx.lines().map(|l| line(l) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lose_their_folders() {
        let ptx = "\t.file\t1 \"./a.cu\"\n\t.file\t2 \"/usr/lib/x/vars.h\"\n// a/b \"c\"\n\t.file\t3 \"b.cu\"\n";
        let want = "\t.file\t1 \"a.cu\"\n\t.file\t2 \"vars.h\"\n// a/b \"c\"\n\t.file\t3 \"b.cu\"\n";
        assert_eq!(without_folders(ptx), want);
    }
}
