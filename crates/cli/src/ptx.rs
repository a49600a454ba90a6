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
    /// Report all errors in PTX files
    #[command(after_help = "\
Warnings do not fail the check. With --json, every diagnostic is one line with file, line, column, severity,
code, message, label and help.

Example:
  raddle ptx check kernels/*.ptx")]
    Check(check::Args),
    /// Print a PTX file in its normal form: one statement per line, numbers in one spelling
    #[command(after_help = "Example:\n  raddle ptx print kernel.ptx")]
    Print {
        /// PTX file
        file: PathBuf,
    },
    /// Draw the control-flow graph of a kernel, with the branches at which threads may diverge
    #[command(after_help = "Example:\n  raddle ptx cfg kernel.ptx -o kernel.svg")]
    Cfg(cfg::Args),
    /// List what each kernel needs from the machine: registers and memory
    #[command(after_help = "\
Registers are 32-bit registers per thread, as an allocator without spills assigns them. Sizes are in
bytes: shared memory per thread block, local memory per thread. `+` after the shared memory means that the
launch adds to it. `>` before a number means a lower bound, because functions call themselves or have no
body in the file. The column `limits` has the directives that may give a kernel fewer registers than it
needs. A kernel gets at most `.maxnreg`, and so few that `.minnctapersm` blocks (or one) of `.maxntid`
threads fit on an SM.

Example:
  raddle ptx regs kernel.ptx")]
    Regs(regs::Args),
    /// Link several PTX files that use each other's functions and variables into one
    #[command(after_help = "\
Every `.extern` is resolved with the `.visible`, `.weak` or `.common` definition of another file. A name
with none of these directives is local to its file, and is renamed if two files have the same one. It is
an error if two files define the same `.visible` name, or if no file defines a variable. Functions without
a definition stay declared; vprintf, __assertfail, malloc and free need none.

Example:
  raddle ptx link main.ptx helper.ptx -o program.ptx")]
    Link(link::Args),
    /// Put kernels in a loop over logical thread blocks, so that few blocks do the work of many
    #[command(after_help = "\
The PTX goes to stdout. A table goes to stderr. It has the instructions before, and those in the loop and
outside of it after; and registers and blocks of an SM before and after, for blocks of --block threads on
the machine. In the form software, each block takes logical blocks by a fixed stride. In the other forms,
same-lane, slowest-lane and lowest-lane, the machine distributes them.
The kernel gets additional parameters after its own: the number of logical blocks along x, y and z, for as
many dimensions of %ctaid and %nctaid as it reads, or for --dims.

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
