//! Compiling programs with clang, for the device to PTX and for the host to an executable.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Error;
use super::generate::Program;

/// The compiler, by the name under which Debian installs it.
pub const COMPILER: &str = "clang++-19";

const PRELUDE: &str = include_str!("prelude.hpp");
const INSTRUCTIONS: &str = include_str!("instructions.hpp");
const HOST_MAIN: &str = include_str!("host_main.hpp");

/// Options that both sides share. Without contraction the two compilers round alike.
const COMMON: [&str; 5] = ["-std=c++20", "-w", "-ffp-contract=off", "-fno-math-errno", "-fno-exceptions"];

/// Checks that the compiler is there.
pub fn find_compiler() -> Result<(), Error> {
    let status = Command::new(COMPILER).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Error::CompilerMissing { compiler: COMPILER, package: "clang-19" }),
    }
}

/// For which machine and how hard the device compiler tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Number of the architecture: 50 for `sm_50`.
    pub sm: u32,
    /// Version of PTX: 60 for 6.0.
    pub ptx: u32,
    /// Option for the optimisation level.
    pub level: &'static str,
    /// Whether the PTX carries line numbers.
    pub line_tables: bool,
}

impl Target {
    /// The target of the program of a seed. A tenth is not optimised: such code passes everything
    /// through the stack and calls every little function.
    pub fn of_seed(seed: u64) -> Self {
        const LEVELS: [&str; 10] = ["-O2", "-O1", "-O3", "-O2", "-O0", "-Os", "-O1", "-O2", "-O3", "-O2"];
        const MACHINES: [(u32, u32); 3] = [(50, 60), (70, 70), (90, 83)];
        // Seeds go through the kinds in fours; step the rest once per round.
        let round = (seed / 4 + seed % 4 * 3) as usize;
        let (sm, ptx) = MACHINES[round % MACHINES.len()];
        Self { sm, ptx, level: LEVELS[round % LEVELS.len()], line_tables: round % 7 == 3 }
    }
}

/// How to build the host executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostMode {
    /// Optimised a little, to get the expected memory quickly.
    Plain,
    /// With checks for undefined behaviour that end the run.
    Sanitized,
}

/// Compiles one program to PTX. Source and result stay in `work_dir`.
pub fn compile_device(program: &Program, target: Target, work_dir: &Path) -> Result<String, Error> {
    let source = format!("{}.cu", program.kernel);
    write_file(&work_dir.join(&source), format!("{PRELUDE}\n{INSTRUCTIONS}\n{}", program.source))?;
    let result = work_dir.join(format!("{}.ptx", program.kernel));
    let mut command = Command::new(COMPILER);
    command
        .current_dir(work_dir)
        .args(COMMON)
        .args([target.level, "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib"])
        .args(["-Xclang", "-target-sdk-version=12.3"])
        .arg(format!("--cuda-gpu-arch=sm_{}", target.sm))
        .arg(format!("--cuda-feature=+ptx{}", target.ptx))
        .args(["-fdebug-compilation-dir=.", "-S", "-o"])
        .arg(result.file_name().unwrap_or(OsStr::new("out.ptx")))
        .arg(&source);
    if target.line_tables {
        command.arg("-gline-tables-only");
    }
    run(&mut command, &source)?;
    fs::read_to_string(&result).map_err(|source| Error::Io { path: result, source })
}

/// Compiles many programs into one host executable and gives its path.
pub fn compile_host(programs: &[Program], mode: HostMode, work_dir: &Path) -> Result<PathBuf, Error> {
    let first = programs.first().map_or(0, |program| program.seed);
    let suffix = match mode {
        HostMode::Plain => "",
        HostMode::Sanitized => "_sanitized",
    };
    let executable = work_dir.join(format!("host_{first}{suffix}"));
    let source = format!("host_{first}{suffix}.cpp");
    write_file(&work_dir.join(&source), host_source(programs))?;
    let mut command = Command::new(COMPILER);
    command
        .current_dir(work_dir)
        .args(COMMON)
        .args(["-O1", "-Xclang", "-ffloat16-excess-precision=none"])
        .args(match mode {
            HostMode::Plain => &[][..],
            HostMode::Sanitized => &["-fsanitize=undefined", "-fno-sanitize-recover=all"],
        })
        .arg("-o")
        .arg(executable.file_name().unwrap_or(OsStr::new("host")))
        .args([&source, "-lm"]);
    run(&mut command, &source)?;
    Ok(executable)
}

/// Runs a host executable on the inputs of its programs and gives the output memory of each.
pub fn run_host(executable: &Path, programs: &[Program], reversed: bool) -> Result<Vec<Vec<u32>>, Error> {
    let (input, output) = (executable.with_extension("in"), executable.with_extension("out"));
    let words = programs.iter().flat_map(|p| p.input.iter().chain(&p.initial_out));
    write_file(&input, words.flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>())?;
    let mut command = Command::new(executable);
    command.arg(&input).arg(&output);
    if reversed {
        command.arg("reversed");
    }
    run(&mut command, &executable.display().to_string())?;
    let bytes = fs::read(&output).map_err(|source| Error::Io { path: output.clone(), source })?;
    let mut words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let memories: Vec<Vec<u32>> =
        programs.iter().map(|program| words.by_ref().take(program.initial_out.len()).collect()).collect();
    let complete = programs.iter().zip(&memories).all(|(p, memory)| p.initial_out.len() == memory.len());
    if complete { Ok(memories) } else { Err(Error::ShortOutput { path: output }) }
}

fn host_source(programs: &[Program]) -> String {
    let mut text = format!("{PRELUDE}\n{INSTRUCTIONS}\n");
    for program in programs {
        text.push_str(&program.source);
        text.push('\n');
    }
    text.push_str("struct HostProgram {\n");
    text.push_str("    const char* name;\n    void (*run)(const u32*, u32*, int);\n");
    text.push_str("    HostDim grid, block;\n    int n;\n    u32 in_words, out_words;\n};\n");
    text.push_str("static const HostProgram programs[] = {\n");
    for p in programs {
        let ([gx, gy, gz], [bx, by, bz]) = (p.grid, p.block);
        writeln!(
            text,
            "    {{ \"{name}\", p_{seed}::{name}, {{ {gx}, {gy}, {gz} }}, {{ {bx}, {by}, {bz} }}, {n}, {input}, {output} }},",
            name = p.kernel,
            seed = p.seed,
            n = p.n,
            input = p.input.len(),
            output = p.initial_out.len(),
        )
        .expect("writing to a string cannot fail");
    }
    text.push_str("};\n");
    text.push_str(HOST_MAIN);
    text
}

fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    fs::write(path, content).map_err(|source| Error::Io { path: path.to_owned(), source })
}

fn run(command: &mut Command, what: &str) -> Result<(), Error> {
    let output = command.output().map_err(|source| Error::Io { path: command.get_program().into(), source })?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Failed {
        what: what.to_owned(),
        status: output.status.to_string(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Maps the items on all cores; the result keeps their order.
pub(super) fn parallel_map<T: Sync, R: Send>(
    items: &[T],
    map: impl Fn(&T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((index, item)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    items.get(index).map(|item| (index, item))
                } {
                    let result = map(item);
                    results.lock().expect("no worker panics with the lock").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no worker panics with the lock");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
