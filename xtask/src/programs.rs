//! CUDA programs with a `main`: ours, compiled and run as a user would, under every engine they are for.

mod advice;
mod process;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use raddle_sim::seam::Seam;

use crate::Result;
use crate::files::{root, run_cargo, target};

/// Where the programs are.
const EXAMPLES: &str = "examples/cuda";
/// Programs of the tests: two ask for errors, one hands over addresses, one captures whatever takes a stream, one builds
/// graphs.
const TESTS: [&str; 5] = [
    "crates/cudart/tests/errors.cu",
    "crates/cudart/tests/sizes.cu",
    "crates/cudart/tests/pointers.cu",
    "crates/cudart/tests/capture.cu",
    "crates/cudart/tests/graphs.cu",
];
/// One that reads outside of memory, and what is said of that in the end.
const OUTSIDE: (&str, &str) =
    ("crates/cudart/tests/outside.cu", "516 reads outside of memory were answered with zero, at 3 places");
/// One with asynchronous copies, what it is compiled for, and a machine that has them.
const COPIES: (&str, &str, [&str; 2]) = ("crates/cudart/tests/copies.cu", "-arch=sm_80", ["--preset", "rtx3070"]);
/// A file of assertions about our headers.
const LAYOUTS: &str = "crates/cuda/device/tests/layouts.c";
/// Those that run under every divergence model too.
const UNDER_ALL_MODELS: [&str; 3] = ["histogram", "mandelbrot", "reduction"];
/// Those that need tensor cores, and the instruction that the refusal of a machine without them names.
const ON_TENSOR_CORES: [(&str, &str); 1] = [("wmma", "wmma")];
/// A machine that has them.
const TENSOR_CORES: [&str; 2] = ["--preset", "v100"];
/// What every program prints last when its result is right.
const PASS: &str = "PASS";

/// Compiles and runs all of them.
pub fn run() -> Result {
    run_cargo(&["build", "--quiet", "--locked", "-p", "raddle-cli", "-p", "raddle-cudart"])?;
    let tried = Tried::new()?;
    let mut sources: Vec<PathBuf> = Vec::new();
    for entry in root().join(EXAMPLES).read_dir()? {
        sources.push(entry?.path());
    }
    sources.retain(|path| path.extension().is_some_and(|e| e == "cu"));
    sources.sort();
    sources.extend(TESTS.map(|source| root().join(source)));
    tried.layouts()?;
    for source in &sources {
        tried.file(source)?;
    }
    tried.outside()?;
    tried.copies()?;
    tried.processes()?;
    tried.plugins()?;
    tried.addresses()?;
    tried.advice()?;
    tried.exercise()?;
    tried.make()?;
    tried.cmake()?;
    println!(
        "programs: {} files, a Makefile and a CMake project compile, run and are right; advice finds ten problems",
        sources.len()
    );
    Ok(())
}

/// Where programs are tried, and with what.
struct Tried {
    raddle: PathBuf,
    folder: PathBuf,
}

impl Tried {
    fn new() -> Result<Self> {
        let folder = target().join("programs");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(Self { raddle: target().join("debug/raddle"), folder })
    }

    /// `raddle` with these arguments, in the folder.
    fn raddle(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.raddle);
        command.args(args).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// Sizes and offsets of structures in our headers are those of the documentation; compiling says so.
    fn layouts(&self) -> Result {
        let mut command = Command::new("clang-19");
        command.args(["-fsyntax-only", "-I"]).arg(root().join("crates/cuda/include")).arg(root().join(LAYOUTS));
        output(&mut command).map(drop)
    }

    /// Compiles a file and runs it.
    fn file(&self, source: &Path) -> Result {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        output(self.raddle(&["cc"]).arg(source).args(["-o", &name]))?;
        let program = format!("./{name}");
        self.run(&["--engine", "fast"], &program)?;
        if let Some((_, what)) = ON_TENSOR_CORES.iter().find(|(known, _)| *known == name) {
            self.is_refused(&[], &program, what)?;
            return self.run(&TENSOR_CORES, &program);
        }
        self.run(&[], &program)?;
        if UNDER_ALL_MODELS.contains(&name.as_str()) {
            let registry = raddle_mech::registry();
            for model in registry.iter().filter(|mechanism| mechanism.info.seam == Seam::Divergence) {
                self.run(&["--divergence", model.info.name], &program)?;
            }
        }
        Ok(())
    }

    /// Runs a program, whose last line says that its result is right.
    fn run(&self, options: &[&str], program: &str) -> Result {
        let mut command = self.raddle(&["exec"]);
        let (text, errors) = output(command.args(options).arg(program))?;
        let is_right = text.lines().last() == Some(PASS) && errors.contains("kernel");
        if is_right { Ok(()) } else { Err(format!("{command:?} printed\n{text}{errors}").into()) }
    }

    /// Reads outside of memory end a program, or are reported and counted alike by every engine.
    fn outside(&self) -> Result {
        let (source, said) = OUTSIDE;
        output(self.raddle(&["cc"]).arg(root().join(source)).args(["-o", "outside"]))?;
        for engine in ["fast", "reference", "timing"] {
            let mut command = self.raddle(&["exec", "--engine", engine]);
            if command.arg("./outside").output()?.status.success() {
                return Err(format!("{command:?} must fail").into());
            }
            let mut command = self.raddle(&["exec", "--engine", engine, "--on-fault", "warn", "./outside"]);
            let (text, errors) = output(&mut command)?;
            if text.trim_end() != PASS || errors.matches("warning[outside-read]").count() != 3 || !errors.contains(said)
            {
                return Err(format!("{command:?} printed\n{text}{errors}").into());
            }
        }
        Ok(())
    }

    /// Asynchronous copies need a machine that has them.
    fn copies(&self) -> Result {
        let (source, arch, machine) = COPIES;
        output(self.raddle(&["cc", arch]).arg(root().join(source)).args(["-o", "copies"]))?;
        for options in [&["--engine", "fast"], &["--engine", "reference"], &machine] {
            self.run(options, "./copies")?;
        }
        self.is_refused(&TENSOR_CORES, "./copies", "sm_80")
    }

    /// A machine without the units of an instruction refuses it by name.
    fn is_refused(&self, options: &[&str], program: &str, what: &str) -> Result {
        let done = self.raddle(&["exec"]).args(options).arg(program).output()?;
        let errors = String::from_utf8_lossy(&done.stderr);
        match !done.status.success() && errors.contains(what) && errors.contains("--engine fast") {
            true => Ok(()),
            false => Err(format!("{program} must be refused by name under timing, and printed\n{errors}").into()),
        }
    }

    /// A folder of the examples, copied.
    fn copy(&self, name: &str) -> Result<PathBuf> {
        let (from, to) = (root().join(EXAMPLES).join(name), self.folder.join(name));
        fs::create_dir_all(&to)?;
        for entry in from.read_dir()? {
            let entry = entry?;
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
        Ok(to)
    }

    fn toolkit(&self) -> PathBuf {
        self.folder.join("toolkit")
    }

    /// Somebody else's Makefile, with the toolkit's `nvcc`; and the same files in one command.
    fn make(&self) -> Result {
        output(&mut self.raddle(&["toolkit", "toolkit"]))?;
        let folder = self.copy("several-files")?;
        let nvcc = format!("NVCC={}", self.toolkit().join("bin/nvcc").display());
        output(Command::new("make").arg(nvcc).current_dir(&folder))?;
        self.run(&[], "several-files/particles")?;
        let files = ["several-files/main.cu", "several-files/particle.cu"];
        output(self.raddle(&["cc", "-rdc=true"]).args(files).args(["-o", "particles"]))?;
        self.run(&["--engine", "fast"], "./particles")
    }

    /// CMake's CUDA language, with `nvcc` and with clang.
    fn cmake(&self) -> Result {
        let folder = self.copy("cmake-project")?;
        let toolkit = self.toolkit();
        let root = format!("-DCUDAToolkit_ROOT={}", toolkit.display());
        let nvcc = [format!("-DCMAKE_CUDA_COMPILER={}", toolkit.join("bin/nvcc").display()), root.clone()];
        let path = format!("-DCMAKE_CUDA_FLAGS=--cuda-path={}", toolkit.display());
        let clang = ["-DCMAKE_CUDA_COMPILER=clang++-19".to_owned(), path, root];
        for (name, options) in [("nvcc", &nvcc[..]), ("clang", &clang[..])] {
            let build = folder.join(name);
            let mut configure = Command::new("cmake");
            configure.args(["-S", ".", "-B", name]).args(options).current_dir(&folder);
            output(&mut configure)?;
            output(Command::new("cmake").arg("--build").arg(&build))?;
            self.run(&[], &build.join("waves").display().to_string())?;
        }
        Ok(())
    }
}

/// Output and errors of a command that must go well.
fn output(command: &mut Command) -> Result<(String, String)> {
    let done = command.stdin(Stdio::null()).output().map_err(|e| format!("{command:?}: {e}"))?;
    let [text, errors] = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if done.status.success() {
        return Ok((text, errors));
    }
    Err(format!("{command:?} ended with {}\n{text}{errors}", done.status).into())
}
