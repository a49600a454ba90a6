//! `raddle exec`: a CUDA program with host code, run unchanged.
//!
//! ```text
//!  raddle exec ──environment──► the program ──calls──► libcudart.so ──► Guest: device, launches, table at the end
//! ```
//!
//! The simulator is inside the library, in the program's own process. This command checks the options, passes them on
//! in an environment variable and returns the program's exit code. A program that is started directly also uses the
//! options of that variable, if it is set.

mod counts_writer;
mod guest;
pub(crate) mod host;
mod kernels;
pub(crate) mod library;
mod options;
mod session;

pub use guest::Guest;

use crate::exit::{Exit, Failure};
use crate::out;
use options::{OPTIONS_VARIABLE, Options};
use raddle_lab::program_file::{LIBRARIES, library_path};
use raddle_runtime::Problem;
use raddle_sim::seam::Registry;
use session::{SESSION, Session};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The command line of `raddle exec`.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    options: Options,

    /// Program compiled by `raddle cc`, or elsewhere with a shared runtime, and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

const HELP: &str = "\
The program runs unchanged; input, output and exit code are those of the program. At the end, a table on
stderr says for each kernel how often it was launched, how long a GPU would have taken, and where its issue
slots went.

Times are those of the GPU: cudaEventElapsedTime returns simulated time. Host code and copies take no time.
Launches run one after the other, whatever their streams. With --sample launches=5, the first five launches
of every kernel are simulated and the others only executed. The time of these is estimated: it is that of the
simulated launches for the same work. With --engine fast there is no simulated time; events then count one
nanosecond for each warp-instruction.

A kernel that faults is reported at once, with thread and source line; the program gets the error code that
CUDA would return. With --on-fault warn, a read outside of memory returns zero and the kernel continues. Such
reads are reported once for each instruction, and the table counts them.

PROGRAM may start others, as make does. The table of --stats has the launches of all of them. A timeline is of
one process: the second one that uses the GPU writes its own to FILE with 1 before the ending, and so on. The
same holds for --intervals and --html.

Examples:
  raddle cc saxpy.cu -o saxpy
  raddle exec ./saxpy
  raddle exec --issue lrr --set gpu.sms=4 ./saxpy 1000000
  raddle exec --engine fast make test";

/// Runs a program.
pub(crate) fn run(args: &Args, registry: &Registry) -> Result<Exit, Failure> {
    args.options.check(registry)?;
    let (program, rest) = args.program.split_first().ok_or_else(|| Problem::new("there is no program to run"))?;
    let path = place(program);
    if path.is_file() {
        refuse_static(&path)?;
    }
    let given: Vec<OsString> = std::env::args_os().collect();
    let own = given.len() - args.program.len();
    let words = given[..own].iter().skip_while(|word| *word != "exec").skip(1);
    let mut options: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    if options.last().is_some_and(|last| last == "--") {
        options.pop();
    }
    start(&path, rest, &options, &args.options)
}

/// Whether a file is a program, and not something that `raddle run` takes.
pub(crate) fn is_program(path: &Path) -> bool {
    use std::io::Read as _;
    let mut magic = [0; 4];
    let is_named = path.components().count() > 1 || path.extension().is_some();
    is_named
        && std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && magic == *b"\x7fELF"
}

/// `raddle profile PROGRAM`: what stands on the command line beside the program and its arguments are options of this
/// command.
pub(crate) fn profile(program: &Path, rest: &[OsString], registry: &Registry) -> Result<Exit, Failure> {
    refuse_static(program)?;
    let given = std::env::args_os().skip_while(|word| word != "profile").skip(1).take_while(|word| word != "--");
    let mut options: Vec<String> = given.map(|word| word.to_string_lossy().into_owned()).collect();
    let own = options.iter().rposition(|word| Path::new(word) == program);
    own.into_iter().for_each(|at| drop(options.remove(at)));
    options.push("--profile".to_owned());
    let parsed = Options::parse(options.clone()).map_err(Problem::new)?;
    parsed.check(registry)?;
    start(program, rest, &options, &parsed)
}

/// The command that starts a program with the library and these options.
fn command(path: &Path, options: &[String]) -> Result<Command, Problem> {
    let folder = library::folder()?;
    let old = std::env::var_os(LIBRARIES);
    let paths = library_path(folder.as_os_str(), old.as_deref());
    let options = serde_json::to_string(options).map_err(|e| Problem::new(e.to_string()))?;
    let mut command = Command::new(path);
    command.env(LIBRARIES, paths).env(OPTIONS_VARIABLE, options);
    Ok(command)
}

/// Starts a program with the library and these options, as words and as they were read, and gives its exit code.
fn start(path: &Path, rest: &[OsString], words: &[String], options: &Options) -> Result<Exit, Failure> {
    let session = Session::new(options)?;
    let shared = session.iter().flat_map(|session| [SESSION.to_owned(), session.folder().display().to_string()]);
    let words: Vec<String> = words.iter().cloned().chain(shared).collect();
    let status = command(path, &words)?.args(rest).status().map_err(|e| {
        Problem::new(format!("cannot run {}: {e}", path.display()))
            .help("compile a program with `raddle cc FILE.cu -o PROGRAM`")
    })?;
    session.iter().try_for_each(Session::finish)?;
    match status.code() {
        Some(code) => Ok(Exit::Program(code as u8)),
        None => Ok(ended_by_signal(path, status)),
    }
}

/// A program that a signal ended; the exit code is that of the shell for this case.
#[cfg(unix)]
fn ended_by_signal(path: &Path, status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    let signal = status.signal().unwrap_or(0);
    let hint = match signal {
        11 => ": host code used an invalid pointer, perhaps a device pointer",
        _ => "",
    };
    out::talk(&format!("{} was ended by signal {signal}{hint}", path.display()));
    Exit::Program(128 + signal as u8)
}

#[cfg(not(unix))]
fn ended_by_signal(_path: &Path, _status: std::process::ExitStatus) -> Exit {
    Exit::Bad
}

/// A name without a folder is that of a file here, if there is one, or else a command.
fn place(program: &OsString) -> PathBuf {
    let path = PathBuf::from(program);
    if path.components().count() == 1 && path.is_file() { Path::new(".").join(path) } else { path }
}

/// Refuses a program with the vendor's runtime inside.
fn refuse_static(path: &Path) -> Result<(), Problem> {
    let Ok(bytes) = std::fs::read(path) else { return Ok(()) };
    let has = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    if bytes.starts_with(b"\x7fELF") && has(b".nv_fatbin") && !has(b"libcudart.so") && !has(b"libcuda.so") {
        return Err(Problem::new(format!("{} has the CUDA runtime linked into it", path.display())).help(
            "link it again with the shared one: nvcc -cudart shared, in CMake CMAKE_CUDA_RUNTIME_LIBRARY=Shared, \
             or compile it with `raddle cc`",
        ));
    }
    Ok(())
}
