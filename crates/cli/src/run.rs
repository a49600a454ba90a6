//! `raddle run`.

pub mod checkpoint;
pub mod cuda;
mod energy;
pub mod execution;
pub mod figures;
pub mod launches;
mod once;
pub mod outside;
mod report;
mod sample;
pub mod sanitize;
mod spec;
pub mod stop;
pub mod timing_json;
pub mod trace;
mod workload;

use crate::config::MachineArgs;
use crate::exit::{Exit, Failure};
use crate::fill;
use crate::out;
use crate::progress::Line;
use crate::ptx::virtualize::forms;
use crate::render::Text;
use checkpoint::CheckpointArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use execution::ExecutionArgs;
use raddle_ptx::Diagnostic;
use raddle_ptx::diag::Severity;
use raddle_ptx::transform;
use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::sample::{Estimates, Sample, Sampling};
use raddle_runtime::stats_table::{self, Format};
use raddle_runtime::timing::{LaunchObserver, Watch};
use raddle_runtime::{Engine, EngineOptions, Error, Outcome, Plan, Problem, PtxFile, Session, input};
use raddle_sim::config::Machine;
use raddle_sim::seam::Registry;
use raddle_workloads::Size;
use spec::{Printed, Shape};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use trace::TraceArgs;

#[derive(clap::Args)]
#[command(after_help = GRAMMAR)]
pub struct Args {
    /// PTX file, CUDA file ending in .cu, launch file ending in .toml, or name of a workload
    #[arg(value_name = "FILE|WORKLOAD")]
    file: PathBuf,

    /// Size of a workload's input: tiny, small or paper [default: small]
    #[arg(long, value_parser = sizes(), value_name = "SIZE", hide_possible_values = true, help_heading = "Workload")]
    size: Option<Size>,
    /// Seed of a workload's input [default: 1]
    #[arg(long, value_name = "N", help_heading = "Workload")]
    seed: Option<u64>,

    /// Kernel; may be left out if the file has only one
    #[arg(long, short, value_name = "NAME", help_heading = "Launch (PTX or CUDA file only)")]
    kernel: Option<String>,
    /// Thread blocks
    #[arg(long, short, value_name = "X[,Y[,Z]]", help_heading = "Launch (PTX or CUDA file only)")]
    grid: Option<Shape>,
    /// Threads per block
    #[arg(long, short, value_name = "X[,Y[,Z]]", help_heading = "Launch (PTX or CUDA file only)")]
    block: Option<Shape>,
    /// Next argument of the kernel, see below
    #[arg(
        long = "arg",
        short,
        value_name = "ARG",
        allow_hyphen_values = true,
        help_heading = "Launch (PTX or CUDA file only)"
    )]
    args: Vec<String>,
    /// Dynamic shared memory
    #[arg(long, value_name = "BYTES", help_heading = "Launch (PTX or CUDA file only)")]
    shared: Option<u32>,

    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    execution: ExecutionArgs,
    /// Lanes of a warp, instead of the machine's [possible values: 4, 8, 16, 32]
    #[arg(long, value_parser = widths(), value_name = "LANES", hide_possible_values = true, help_heading = "Execution")]
    warp_width: Option<u32>,
    /// Loop over logical blocks: software, same-lane, slowest-lane or lowest-lane
    #[arg(long, value_parser = forms(), value_name = "FORM", hide_possible_values = true, help_heading = "Execution")]
    virtualize: Option<transform::Form>,
    /// Blocks of a launch with --virtualize [default: as many as are resident]
    #[arg(long, value_name = "N", requires = "virtualize", help_heading = "Execution", value_parser = clap::value_parser!(u32).range(1..))]
    virtual_blocks: Option<u32>,
    /// Simulate only a part, blocks=5% or launches=5; estimate all cycles
    #[arg(long, value_name = "PART", conflicts_with = "checkpoint", help_heading = "Execution")]
    sample: Option<Sample>,
    /// At the end, compare all memory with the result of the reference interpreter
    #[arg(long, help_heading = "Execution")]
    check: bool,

    #[command(flatten)]
    checkpoints: CheckpointArgs,

    /// Print a buffer at the end, or its first N elements
    #[arg(long, value_name = "BUF[:N]", help_heading = "Output")]
    print: Vec<Printed>,
    /// Print all results as one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Print no summary and no progress
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
    /// Print energy and power of the run; FILE overrides values of the energy table
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, help_heading = "Output")]
    energy: Option<Option<PathBuf>>,
    /// Write every counter to a table; FILE ends in .csv, .json or .parquet
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    stats: Option<PathBuf>,

    #[command(flatten)]
    trace: TraceArgs,

    /// Whether costs are charged to the operations of kernels, as `raddle profile` needs.
    #[arg(skip)]
    pub profile: bool,
}

const GRAMMAR: &str = "\
Kernel arguments (ARG):
  5  1.5                     a number, in the type of the parameter
  u32:5  f32:1.5  b32:0xff   a number of a stated type
  bytes:00ff80               bytes of a parameter passed by value
  buf:f32:1024               a buffer whose elements count as never written
  buf:f32:1024=FILL          a buffer with contents
  buf:f32:@in.npy            a buffer with the contents of a file; without the ending .npy it is raw bytes
  buf:f32:[1,2,3]            a buffer with the elements of a list
  a=buf:...                  a buffer with a name; by default buffers are arg0, arg1 ... by position
  a                          the buffer of that name again
 FILL is zero, iota, const:V, lcg:SEED:MASK[:SKIP[:STRIDE]], @FILE or [V,V,...]. The numbers of lcg are
 x -> x*1664525+1013904223 mod 2^32, starting from SEED; an element is (x >> 8) & MASK.
 Options after a buffer: ,out=FILE writes it at the end; ,expect=FILE compares it with a file; ,ulp=N or
 ,tolerance=X say how close floating-point elements must be.
Types: u8 u16 u32 u64 s8 s16 s32 s64 b8 b16 b32 b64 f16 bf16 f32 f64

Engines: timing simulates the kernel on a machine, cycle by cycle. The other engines do not model time. fast
runs the lanes of a warp together; gather does the same, but fetches each lane from its thread's registers;
reference runs one thread at a time and serves to check the others.

Sampling: blocks=5% simulates at least this share of every grid that is large enough, in units spread over
the grid. launches=5 simulates at least five launches of every kernel and block size. The rest is executed
without time: memory has the right contents, and the L2 is filled as if the rest had been simulated. The
cycles are then an estimate with an interval, and counters are those of the simulated part.

For a CUDA file, Raddle compiles the kernels with clang and launches one of them as the options say. To run
the whole program, with its main, use `raddle cc` and `raddle exec`.

A workload is a program that comes with Raddle, see `raddle list workloads`. A name without an extension and
without a slash is a workload; everything else is a file. For a file named bfs, write ./bfs. The summary
adds up the launches of each kernel.

With --checkpoint, the state of the run is saved to a folder every ten minutes, and when the run is told to
stop (SIGTERM, Ctrl-C). The same command with --resume continues from there, with any number of threads, and
gives the same results. A run that reaches its end deletes its checkpoints.

What the kernel prints comes first on stdout, then what --print asks for, then the summary.

Examples:
  raddle run examples/saxpy.toml
  raddle run bfs --size tiny --issue lrr
  raddle run examples/saxpy.toml --issue lrr --set gpu.sms=1 --stats saxpy.csv --check
  raddle run bfs --size paper --checkpoint bfs-state --resume
  raddle run examples/saxpy.ptx --grid 4 --block 256 --arg 1024 --arg 2 \\
      --arg buf:f32:1024=iota --arg y=buf:f32:1024=const:1,out=y.npy --print y:8";

/// The names of engines.
pub fn engines() -> impl TypedValueParser<Value = Engine> {
    PossibleValuesParser::new(Engine::ALL.map(Engine::name)).map(|name| {
        let found = Engine::ALL.into_iter().find(|e| e.name() == name);
        found.unwrap_or_default()
    })
}

/// The names of sizes.
pub fn sizes() -> impl TypedValueParser<Value = Size> {
    PossibleValuesParser::new(Size::ALL.map(Size::name)).map(|name| {
        let found = Size::ALL.into_iter().find(|s| s.name() == name);
        found.unwrap_or(Size::Small)
    })
}

/// Cores there are.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn widths() -> impl TypedValueParser<Value = u32> {
    PossibleValuesParser::new(["4", "8", "16", "32"]).map(|n| n.parse().unwrap_or(32))
}

impl Args {
    /// What `--set` changes of the machine.
    pub fn machine_changes(&mut self) -> &mut Vec<String> {
        self.machine.changes()
    }

    /// What is to run.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Prints the summary, unless it is not wanted.
    fn summarise(&self, lines: &[String]) -> Result<(), Failure> {
        if !self.quiet && !lines.is_empty() {
            out::data(&(lines.join("\n") + "\n"))?;
        }
        Ok(())
    }

    /// Whether data for machines is asked for.
    pub fn json(&self) -> bool {
        self.json
    }

    /// Refuses engines without time, and what only a report of the run would show.
    pub fn need_timing(&self) -> Result<(), Failure> {
        if self.energy.is_some() {
            return Err(Problem::new("--energy is for `raddle run`").into());
        }
        if self.checkpoints.is_chosen() {
            return Err(Problem::new("--checkpoint is for `raddle run`").into());
        }
        if self.sample.is_some() {
            return Err(Problem::new("--sample is for `raddle run`").into());
        }
        if let Some(option) = self.trace.chosen() {
            return Err(Problem::new(format!("{option} is for `raddle run`")).into());
        }
        match self.execution.engine {
            Engine::Timing => Ok(()),
            other => Err(Problem::new(format!("there is nothing to measure on the engine `{other}`")).into()),
        }
    }

    /// The machine, when the engine is one with time.
    fn machine(&self, registry: &Registry) -> Result<Option<Machine>, Failure> {
        sample::refuse(self)?;
        self.trace.check(self.sample.is_some())?;
        let only_timed = [
            (self.trace.chosen().unwrap_or("--trace"), self.trace.chosen().is_some()),
            ("--sample", self.sample.is_some()),
            ("--energy", self.energy.is_some()),
            ("--stats", self.stats.is_some()),
            ("--checkpoint", self.checkpoints.is_chosen()),
        ];
        match self.execution.takes_time(&only_timed, self.machine.given())? {
            true => self.machine.load_checked(self.warp_width, registry).map(Some),
            false => Ok(None),
        }
    }

    /// The file as it is to run; says which kernels could not be virtualised.
    fn virtualized(&self, ptx: PtxFile) -> Result<PtxFile, Failure> {
        let Some(form) = self.virtualize else { return Ok(ptx) };
        let options = transform::Options { form, ..transform::Options::default() };
        let (file, refused) = ptx.virtualize(&options)?;
        let text = Text::new(&ptx.path, &ptx.source);
        for refusal in &refused {
            let diagnostic = Diagnostic { severity: Severity::Warning, ..refusal.diagnostic.clone() };
            out::talk(&(text.diagnostic(&diagnostic) + "\n"));
            out::talk(&format!("kernel `{}` runs unchanged", refusal.kernel));
        }
        Ok(file)
    }

    /// What is said while the run goes on. With checkpoints Ctrl-C writes one, without it ends the run.
    fn line(&self) -> Line {
        let is_quiet = self.json || self.quiet;
        if self.checkpoints.is_chosen() { Line::new(is_quiet) } else { Line::stoppable(is_quiet) }
    }

    fn options(&self, machine: Option<&Machine>, sample: Option<Sampling>) -> RunOptions {
        let common = self.execution.options(machine, sample, self.profile);
        let engine = EngineOptions { warp_width: self.warp_width.unwrap_or(32), ..common.engine };
        RunOptions { engine, check: self.check, virtual_blocks: self.virtual_blocks, ..common }
    }

    /// As [`Args::options`], without time: what a profile is made with.
    fn profile_options(&self, machine: Option<&Machine>) -> RunOptions {
        let width = machine.map(|machine| machine.config.sm.warp_width);
        let engine = EngineOptions { engine: Engine::Fast, warp_width: width.unwrap_or(32) };
        RunOptions { engine, timing: None, check: false, ..self.options(None, None) }
    }
}

/// Something to do with what a run left behind.
pub type Then<'t> = &'t mut dyn FnMut(&Ran<'_>) -> Result<(), Failure>;

/// What a run left behind.
pub struct Ran<'r> {
    pub machine: Option<&'r Machine>,
    pub outcome: &'r Outcome,
    /// The PTX.
    pub ptx: &'r PtxFile,
    /// The name and text of what that was compiled from, where it is at hand.
    pub cuda: Option<(String, &'r str)>,
}

/// `raddle run`.
pub fn run(args: &Args, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    let mut tracer = match args.trace.chosen() {
        Some(_) => args.trace.start(args.machine(registry)?.as_ref())?,
        None => None,
    };
    let observer = tracer.as_mut().map(|tracer| tracer as &mut dyn LaunchObserver);
    let exit = args.checkpoints.ended(with(args, registry, observer, None))?;
    tracer.iter_mut().try_for_each(|tracer| args.trace.finish(tracer))?;
    Ok(exit)
}

/// Runs what the options say, with somebody who listens; `then` is done instead of reporting the run.
pub fn with(
    args: &Args,
    registry: &Arc<Registry>,
    observer: Option<&mut dyn LaunchObserver>,
    then: Option<Then<'_>>,
) -> Result<Exit, Failure> {
    if args.file.extension().is_none() && args.file.components().count() == 1 {
        return workload::run(args, registry, observer, then);
    }
    spec::refuse_workload_options(args)?;
    if args.file.extension().is_some_and(|e| e == "toml") {
        return run_file(args, registry, observer, then);
    }
    let ptx = match args.file.extension().is_some_and(|e| e == "cu") {
        true => cuda::compile(&args.file)?,
        false => PtxFile::read(&args.file)?,
    };
    let plan = spec::plan(args, &ptx)?;
    let ptx = args.virtualized(ptx)?;
    execute(args, registry, &plan, &ptx, observer, then)
}

fn run_file(
    args: &Args,
    registry: &Arc<Registry>,
    observer: Option<&mut dyn LaunchObserver>,
    then: Option<Then<'_>>,
) -> Result<Exit, Failure> {
    spec::refuse_launch_options(args)?;
    let path = args.file.display().to_string();
    let (mut plan, text) = match Plan::from_file(&args.file) {
        Ok(read) => read,
        Err(error) => {
            let text = input::text(&args.file).unwrap_or_default();
            return Err(Failure::Runtime { error, file: Some(Box::new((path, text))) });
        }
    };
    let ptx = args.virtualized(cuda::module(&mut plan)?)?;
    execute(args, registry, &plan, &ptx, observer, then).map_err(|failure| match failure {
        Failure::Runtime { error, file: None } => Failure::Runtime { error, file: Some(Box::new((path, text))) },
        other => other,
    })
}

fn execute(
    args: &Args,
    registry: &Arc<Registry>,
    plan: &Plan,
    ptx: &PtxFile,
    observer: Option<&mut dyn LaunchObserver>,
    then: Option<Then<'_>>,
) -> Result<Exit, Failure> {
    let text = Text::new(&ptx.path, &ptx.source);
    for warning in &ptx.warnings {
        out::talk(&(text.diagnostic(warning) + "\n"));
    }
    let printed = spec::resolve_prints(&args.print, plan)?;
    let stats = args.stats.as_deref().map(|path| Ok::<_, Error>((path, Format::of(path)?))).transpose()?;
    let machine = args.machine(registry)?;
    let energies = energy::energies(args.energy.as_ref())?;
    let start = Instant::now();
    let sampling = sample::sampling(args, machine.as_ref(), || {
        let setup = Setup::with_registry(args.profile_options(machine.as_ref()), Arc::clone(registry));
        Ok(Session::new(plan, ptx, &setup)?.profile()?)
    })?;
    let profile = start.elapsed();
    let setup = Setup::with_registry(args.options(machine.as_ref(), sampling), Arc::clone(registry));
    let setup = setup.with_checkpoints(args.checkpoints.start());
    let line = Mutex::new(args.line());
    let mut progress = |number, progress| line.lock().unwrap_or_else(PoisonError::into_inner).show(number, progress);
    let mut session = Session::new(plan, ptx, &setup)?;
    let observer = observer.map(|o| o as &mut dyn LaunchObserver);
    let outcome = session.run(Watch { observer, progress: Some(&mut progress) });
    line.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let outcome = outcome?;
    if let Some((path, format)) = stats {
        stats_table::write(path, format, &stats_table::rows(&outcome))?;
    }
    if let Some(then) = then {
        then(&Ran { machine: machine.as_ref(), outcome: &outcome, ptx, cuda: None })?;
    } else {
        let machine = machine.as_ref();
        let energy =
            energies.zip(machine).map(|(table, machine)| energy::breakdown(&table, machine, &outcome.launches));
        let full = machine.and_then(|machine| fill::fullness(&machine.config, &outcome.launches));
        let estimates = Estimates::new(&outcome.launches);
        let sampled = estimates.as_ref();
        let total = sampled.map(|estimates| estimates.total(&outcome.launches, |_| true));
        let report =
            report::Report { plan, ptx, session: &session, outcome: &outcome, printed: &printed, machine, sampled };
        if args.json {
            let mut value = report.json();
            value["fill"] = full.as_ref().map(fill::json).into();
            if let (Some(asked), Some(total)) = (args.sample, &total) {
                value["sample"] = sample::total_json(asked, total, profile);
            }
            if let Some(energy) = &energy {
                value["energy"] = energy::json(energy);
            }
            out::json(&value)?;
        } else {
            out::data(&report.data())?;
            let mut lines = report.summary();
            lines.extend(total.as_ref().map(sample::total_line));
            lines.extend(energy.as_ref().map(energy::text));
            if let (Some(full), Some(machine), None) = (&full, machine, outcome.stop()) {
                lines.extend(fill::lines(full, &machine.config, Some("a larger grid"), false));
            }
            args.summarise(&lines)?;
        }
    }
    outside::lines(&outcome.launches, ptx).iter().for_each(|line| out::talk(line));
    sanitize::lines(&args.execution.sanitize, &outcome.launches, ptx).iter().for_each(|line| out::talk(line));
    if let Some(stop) = outcome.stop() {
        out::talk(&stop::text(stop, &text, ptx));
    }
    Ok(Exit::of_run(&outcome))
}
