//! `raddle profile`: which source lines take the time, and why.

mod advice;
mod data;
mod html;
mod text;

use crate::exec;
use crate::exit::{Exit, Failure};
use crate::out;
use crate::run::{self, Ran};
use crate::source_files::SourceArgs;
use crate::sources::Sources;
use advice::Slowdown;
use raddle_runtime::Problem;
use raddle_runtime::profile::{self, KernelProfile, Line};
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::Registry;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(clap::Args)]
#[group(id = "profile")]
#[command(after_help = "\
A slot is one cycle of one scheduler. A slot with an instruction belongs to the line of that instruction. An
empty slot has one main cause. It belongs to the next instruction of a warp that this cause held up: the first
such warp in the scheduler's order. Slots with no warp resident have a row of their own.

  slots      share of all slots of the kernel, and how many of them were empty
  mostly     the cause of most of the empty slots
  issued     warp-instructions
  lanes      mean number of lanes that executed an instruction
  sectors    mean number of sectors a memory instruction asked for, and how few could have held the bytes
  conflicts  cycles that accesses to shared memory took because of bank conflicts

The problems of a kernel are listed below its lines, each with the line to look at, the most it can cost, and
what usually helps. With --what-if, the run is repeated for each problem on a machine without that problem;
the cost is the number of cycles saved. Divergence, barriers and idle SMs have only an upper bound.

Line numbers are those of the source if the PTX has them (.loc), otherwise those of the PTX. With --json,
all lines are printed, with all instructions and counters. The other arguments are those of `raddle run`.
For a program compiled by `raddle cc`, they are those of `raddle exec`; put the arguments of the program
itself after --. The profile of such a program goes to stderr.

Examples:
  raddle profile bfs --size tiny
  raddle profile examples/saxpy.toml --ptx
  raddle profile matmul --top 5 --issue lrr
  raddle profile bfs --size tiny --html bfs.html
  raddle profile bfs --size tiny --what-if
  raddle profile ./saxpy -- 1000000")]
pub struct Args {
    #[command(flatten)]
    run: Box<run::Args>,
    #[command(flatten)]
    view: View,
    /// Measure what each problem costs, by running again on a machine without it
    #[arg(long, help_heading = "Profile")]
    what_if: bool,
    /// Arguments of a program
    #[arg(last = true, value_name = "ARGS")]
    program_args: Vec<OsString>,
}

/// What is shown of a profile.
#[derive(clap::Args)]
pub struct View {
    /// Lines to show of each kernel
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Profile",
          value_parser = clap::value_parser!(u32).range(1..))]
    top: u32,
    /// Show the instructions of each line below it
    #[arg(long, help_heading = "Profile")]
    ptx: bool,
    /// Write a self-contained page with sources, instructions and all counters
    #[arg(long, value_name = "FILE", help_heading = "Profile")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub sources: SourceArgs,
}

/// A kernel of a profile.
struct Kernel {
    profile: KernelProfile,
    /// What slows it down.
    slowdowns: Vec<Slowdown>,
    /// What it was compiled from.
    sources: Arc<Sources>,
}

/// The profile of a run.
pub struct Profiled {
    kernels: Vec<Kernel>,
    /// What was run.
    about: String,
    warp_width: u32,
}

impl Profiled {
    /// Of something with this name, on a machine; `sources` are those of each kernel.
    pub fn new(
        about: &str,
        machine: &MachineConfig,
        kernels: Vec<KernelProfile>,
        sources: impl Fn(&str) -> Arc<Sources>,
    ) -> Self {
        let kernel = |profile: KernelProfile| Kernel {
            slowdowns: advice::of(&profile, machine),
            sources: sources(&profile.kernel),
            profile,
        };
        Self {
            kernels: kernels.into_iter().map(kernel).collect(),
            about: format!("{about}, profiled by Raddle {}", env!("CARGO_PKG_VERSION")),
            warp_width: machine.sm.warp_width,
        }
    }
}

/// `raddle profile`.
pub fn run(args: Args, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    let Args { mut run, view, what_if, program_args } = args;
    if exec::is_program(run.file()) {
        if what_if {
            let help = "run it with what would be ideal, as in `raddle exec --set sm.ideal.banks=true PROGRAM`";
            return Err(Problem::new("--what-if cannot run a program again").help(help).into());
        }
        return exec::profile(run.file(), &program_args, registry);
    }
    if !program_args.is_empty() {
        return Err(Problem::new(format!("{} is not a program and takes no arguments", run.file().display())).into());
    }
    run.need_timing()?;
    run.profile = true;
    let (mut profiled, named) = (None, &run);
    let mut look = |done: &Ran<'_>| {
        let Some(machine) = done.machine else { return Ok(()) };
        let sources = Arc::new(Sources::of(done, named, &view.sources)?);
        let kernels = profile::kernels(&done.outcome.launches);
        profiled = Some(Profiled::new(&done.ptx.path, &machine.config, kernels, |_| Arc::clone(&sources)));
        Ok(())
    };
    let exit = run::with(&run, registry, None, Some(&mut look))?;
    let Some(mut profiled) = profiled else { return Ok(exit) };
    if what_if {
        advice::measure(&mut profiled.kernels, &mut run, registry);
    }
    view.page(&profiled)?;
    match run.json() {
        true => out::json(&profiled.json())?,
        false => out::data(&view.text(&profiled, what_if))?,
    }
    profiled.kernels.iter().for_each(|kernel| kernel.sources.tell());
    Ok(exit)
}

impl Profiled {
    /// Everything, as data.
    pub fn json(&self) -> Value {
        json!({"warp_width": self.warp_width, "kernels": data::kernels(self)})
    }

    /// For people, so many lines of each kernel.
    pub fn top(&self, lines: u32) -> String {
        View { top: lines, ptx: false, html: None, sources: SourceArgs::default() }.text(self, false)
    }
}

impl View {
    /// Writes the page, if it is asked for.
    pub fn page(&self, profiled: &Profiled) -> Result<(), Failure> {
        match &self.html {
            Some(path) => Ok(out::file(path, html::page(profiled))?),
            None => Ok(()),
        }
    }

    /// For people; `measured` says that the cost of problems was.
    pub fn text(&self, profiled: &Profiled, measured: bool) -> String {
        let one = |kernel: &Kernel| text::lines(kernel, self) + &advice::text(kernel, measured);
        profiled.kernels.iter().map(one).collect::<Vec<_>>().join("\n")
    }
}

/// A line as people write it.
fn name(line: &Line) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let near = |file: &str| Path::new(file).strip_prefix(&here).unwrap_or(Path::new(file)).display().to_string();
    let Some(file) = &line.file else { return format!("PTX line {}", line.line) };
    let call = line.inlined_at.as_ref().map(|(file, line)| format!(" (inlined at {}:{line})", near(file)));
    format!("{}:{}{}", near(file), line.line, call.unwrap_or_default())
}
