//! The compiler on this machine.

use raddle_runtime::Problem;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names under which clang is installed, the one everything was tried with first.
const NAMES: [&str; 5] = ["clang++-19", "clang++-20", "clang++-21", "clang++-18", "clang++"];
/// The oldest that knows what the headers use.
const OLDEST: u32 = 18;
/// Folders in which distributions install libclc.
const LIBCLC: [&str; 5] =
    ["/usr/lib/clc", "/usr/lib64/clc", "/usr/share/clc", "/usr/local/share/clc", "/opt/homebrew/share/clc"];
/// Its part for the GPUs of CUDA.
const LIBCLC_FILE: &str = "nvptx64--.bc";

/// A compiler that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clang {
    /// How it is called.
    pub path: PathBuf,
    /// The first number of its version.
    pub version: u32,
}

/// What to install where.
const INSTALL: &str = "\
install clang 19 and libclc, or name another clang in RADDLE_CLANG:
  Debian, Ubuntu   apt-get install clang-19 libclc-19   (older releases: from apt.llvm.org)
  Fedora           dnf install clang libclc-devel
  macOS            brew install llvm libclc   (kernels only: programs with a main need Linux)";

impl Clang {
    /// Finds it: what `RADDLE_CLANG` names, or the first of the usual names.
    ///
    /// # Errors
    /// When there is none, or it is too old.
    pub fn find() -> Result<Self, Problem> {
        if let Some(path) = std::env::var_os("RADDLE_CLANG") {
            let path = PathBuf::from(path);
            let found = Self::at(&path);
            return found.ok_or_else(|| {
                Problem::new(format!("RADDLE_CLANG is {}, which is no clang", path.display())).help(INSTALL)
            });
        }
        let found: Vec<Self> = NAMES.iter().filter_map(|name| Self::at(Path::new(name))).collect();
        if let Some(clang) = found.iter().find(|clang| clang.version >= OLDEST) {
            return Ok(clang.clone());
        }
        Err(match found.first() {
            Some(old) => Problem::new(format!("clang {} is too old to compile CUDA here", old.version)),
            None => Problem::new("there is no clang on this machine, which compiles CUDA programs"),
        }
        .help(INSTALL))
    }

    /// The clang of this name or path, if it is one.
    fn at(path: &Path) -> Option<Self> {
        let output = Command::new(path).arg("--version").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Some(Self { path: path.to_owned(), version: version(&text)? })
    }

    /// A call of it.
    #[must_use]
    pub fn command(&self) -> Command {
        Command::new(&self.path)
    }

    /// Where its own shared libraries are, if it says so.
    #[must_use]
    pub fn libraries(&self) -> Option<PathBuf> {
        let output = self.command().arg("-print-file-name=libomp.so").output().ok()?;
        let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        path.is_absolute().then(|| path.canonicalize().ok()?.parent().map(Path::to_owned)).flatten()
    }

    /// Where its own headers are, if it says so.
    #[must_use]
    pub fn resources(&self) -> Option<PathBuf> {
        let output = self.command().arg("-print-resource-dir").output().ok()?;
        let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        path.is_absolute().then_some(path)
    }

    /// Makes the device library: the functions in `source`, with those of libclc that they use.
    ///
    /// # Errors
    /// When libclc is missing, or the compiler fails.
    pub fn device_library(&self, source: &Path, output: &Path) -> Result<(), Problem> {
        let libclc = libclc()?;
        let mut command = self.command();
        command
            .args(["--target=nvptx64-nvidia-cuda", "-march=sm_50", "-nogpulib", "-O2", "-std=c++17", "-w"])
            .args(["-emit-llvm", "-c", "-Xclang", "-mlink-builtin-bitcode", "-Xclang"])
            .arg(libclc)
            .arg(source)
            .arg("-o")
            .arg(output);
        let done = command.output().map_err(|e| Problem::new(format!("cannot run {}: {e}", self.path.display())))?;
        match done.status.success() {
            true => Ok(()),
            false => {
                let text = String::from_utf8_lossy(&done.stderr);
                Err(Problem::new(format!("the device library does not compile:\n{}", text.trim_end())))
            }
        }
    }
}

/// libclc's file.
///
/// # Errors
/// When it is not installed; the help says what to install.
pub fn libclc() -> Result<PathBuf, Problem> {
    if let Some(path) = std::env::var_os("RADDLE_LIBCLC") {
        return Ok(PathBuf::from(path));
    }
    let found = LIBCLC.iter().map(|folder| Path::new(folder).join(LIBCLC_FILE)).find(|file| file.is_file());
    found.ok_or_else(|| {
        Problem::new("libclc is not installed; the mathematical functions of kernels are made from it")
            .help(format!("{INSTALL}\n  elsewhere        name its file {LIBCLC_FILE} in RADDLE_LIBCLC"))
    })
}

/// The first number behind `clang version`.
fn version(text: &str) -> Option<u32> {
    let after = text.split("clang version ").nth(1)?;
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        let known = [
            ("Debian clang version 19.1.7 (3)\nTarget: x86_64", Some(19)),
            ("clang version 20.1.0", Some(20)),
            ("Homebrew clang version 21.0", Some(21)),
            ("Apple clang version 15.0.0 (clang-1500)", Some(15)),
            ("g++ (Debian) 12", None),
        ];
        known.iter().for_each(|(text, want)| assert_eq!(version(text), *want, "{text}"));
    }
}
