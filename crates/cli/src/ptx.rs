//! `raddle ptx`: what can be said about PTX files without running them.

mod cfg;
mod check;
mod link;
mod regs;
pub mod virtualize;

use crate::exit::{Exit, Failure};
use crate::out;
use clap::Subcommand;
use raddle_runtime::{Error, PtxFile, input};
use std::path::{Path, PathBuf};

/// The commands under `raddle ptx`.
#[derive(Subcommand)]
pub enum Command {
    /// Report every mistake in PTX files
    #[command(after_help = "\
Warnings do not fail the check. With --json every diagnostic is one line with file, line, column,
severity, code, message, label and help.

Example:
  raddle ptx check kernels/*.ptx")]
    Check(check::Args),
    /// Print a PTX file in its normal form: one statement per line, numbers in one spelling
    #[command(after_help = "Example:\n  raddle ptx print kernel.ptx")]
    Print {
        /// PTX file
        file: PathBuf,
    },
    /// Draw the control-flow graph of a kernel, with the branches on which threads may part
    #[command(after_help = "Example:\n  raddle ptx cfg kernel.ptx -o kernel.svg")]
    Cfg(cfg::Args),
    /// List what each kernel takes from the machine: registers and memory
    #[command(after_help = "\
Registers are 32-bit registers per thread, as an allocator without spills assigns them. Sizes are
in bytes: shared memory per thread block, local memory per thread. `+` behind the shared memory: the
launch adds to it. `>` before a number: a lower bound, because functions call themselves or have no
body in the file. Limits are the directives by which a kernel may get fewer registers than it needs: at
most `.maxnreg`, and so few that an SM has room for `.minnctapersm` blocks, or one, of `.maxntid` threads.

Example:
  raddle ptx regs kernel.ptx")]
    Regs(regs::Args),
    /// Make one PTX file of several that use each other's functions and variables
    #[command(after_help = "\
Every `.extern` is resolved with the `.visible`, `.weak` or `.common` definition of another file. What has
neither of these is known to its own file only, and gets another name where two files have the same.
It is an error when two files define the same `.visible` name, or a variable is defined in none. Functions
that nobody defines stay declared: vprintf, __assertfail, malloc and free need no definition.

Example:
  raddle ptx link main.ptx helper.ptx -o program.ptx")]
    Link(link::Args),
    /// Put kernels in a loop over logical thread blocks: few blocks do the work of many
    #[command(after_help = "\
The PTX goes to stdout. A table goes to stderr: instructions before, and after it those in the loop and
outside of it; registers and blocks of an SM before and after, for blocks of --block threads on the machine.
Forms are software, where each block takes every so many-th logical one, and three in which the machine
gives them out: same-lane, slowest-lane and lowest-lane.
The kernel gets parameters behind its own, the number of logical blocks along x, y and z: as many as
the dimensions of %ctaid and %nctaid that it reads, or --dims.

Example:
  raddle ptx virtualize kernel.ptx -o virtual.ptx")]
    Virtualize(Box<virtualize::Args>),
}

/// Runs one of them.
pub fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Check(args) => check::run(args),
        Command::Print { file } => print(file),
        Command::Cfg(args) => cfg::run(args),
        Command::Regs(args) => regs::run(args),
        Command::Link(args) => link::run(args),
        Command::Virtualize(args) => virtualize::run(args),
    }
}

fn print(path: &Path) -> Result<Exit, Failure> {
    let file = PtxFile::read(path)?;
    let (tree, _) = raddle_ptx::syntax::parse(&file.source);
    out::data(&raddle_ptx::syntax::print(&tree))?;
    Ok(Exit::Good)
}

/// The text of a file, whatever its encoding.
fn read_text(path: &Path) -> Result<String, Error> {
    let bytes = input::bytes(path, input::MAX_TEXT)
        .map_err(|source| Error::Read { path: path.display().to_string(), source })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
