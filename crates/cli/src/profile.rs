//! `raddle profile`: which source lines take the time, and why.

mod advice;
mod data;
mod html;
mod text;

use crate::exec;
use crate::exit::{Exit, Failure};
use crate::out;
use crate::run::{self, Ran};
use crate::sources::Sources;
use advice::Slowdown;
use raddle_runtime::Problem;
use raddle_runtime::profile::{self, KernelProfile, Line};
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::Registry;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

#[derive(clap::Args)]
#[group(id = "profile")]
#[command(after_help = "\
A slot is a cycle of a scheduler. One with an instruction belongs to the line of that instruction, an
empty one to the line the scheduler waited for: of the warps held up by its main cause, the first in the
scheduler's order, and of that warp the next instruction. Slots without any warp are a row of their own.

  slots      share of all slots of the kernel, and how many of them were empty
  mostly     the cause that took most of the empty ones
  issued     instructions by warp
  lanes      lanes that executed an instruction, in the mean
  sectors    sectors a memory instruction asked for in the mean, and those the bytes would have fitted in
  conflicts  cycles that accesses to shared memory took because of bank conflicts

Below the lines of a kernel is what slows it down: each problem with the line to look at, what it can cost
at most, and what usually helps. With --what-if everything is run again for each problem, on a machine that
does not have it: the cycles saved are what it costs. Divergence, barriers and idle SMs have only a bound.

Lines are those the PTX has from its compiler (.loc), else its own. With --json all lines, with all
instructions and counters. The other arguments are those of `raddle run`; of a program compiled by `raddle
cc` those of `raddle exec`, with what the program itself takes after --. What the profile says then goes to
stderr.

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
    /// Measure what each problem costs: run again on a machine that does not have it
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
    /// Write a page with sources, instructions and all counters; it needs no network
    #[arg(long, value_name = "FILE", help_heading = "Profile")]
    html: Option<PathBuf>,
}

/// A kernel of a profile.
struct Kernel {
    profile: KernelProfile,
    /// What slows it down.
    slowdowns: Vec<Slowdown>,
    /// What it was compiled from.
    sources: Rc<Sources>,
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
        sources: impl Fn(&str) -> Rc<Sources>,
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
        return Err(Problem::new(format!("{} is no program: it takes no arguments", run.file().display())).into());
    }
    run.need_timing()?;
    run.profile = true;
    let mut profiled = None;
    let mut look = |done: &Ran<'_>| {
        let Some(machine) = done.machine else { return Ok(()) };
        let sources = Rc::new(Sources::of(done));
        let kernels = profile::kernels(&done.outcome.launches);
        profiled = Some(Profiled::new(&done.ptx.path, &machine.config, kernels, |_| Rc::clone(&sources)));
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
    Ok(exit)
}

impl Profiled {
    /// Everything, as data.
    pub fn json(&self) -> Value {
        json!({"warp_width": self.warp_width, "kernels": data::kernels(self)})
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
