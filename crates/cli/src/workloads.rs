//! `raddle workloads`: checking and compiling them.

use crate::config::MachineArgs;
use crate::exit::{Exit, Failure};
use crate::out::{self, grouped};
use crate::ptx::virtualize::FormArgs;
use crate::run;
use clap::Subcommand;
use raddle_ptx::transform::{self, Form, ThreadOrder};
use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::stats_table::write_csv;
use raddle_runtime::timing::{TimingOptions, Watch};
use raddle_runtime::{Engine, EngineOptions, Problem, input};
use raddle_sim::config::{Machine, Source};
use raddle_sim::seam::Registry;
use raddle_workloads::{Error, Request, Size, Workload, compile};
use serde::Serialize;
use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The commands under `raddle workloads`.
#[derive(Subcommand)]
pub enum Command {
    /// Run workloads in several ways, and check their results
    #[command(after_help = "\
Each workload runs without the timing model with warps of 4, 8, 16 and 32 lanes, and on the timing model of
the preset gtx480 with warps of 32 and of 8 lanes. A workload written for only one width runs only with that
width. The timing model also runs each workload with its kernels in a loop over logical blocks, on two SMs.

Examples:
  raddle workloads check
  raddle workloads check bfs spmv --size small --engine fast")]
    Check(CheckArgs),
    /// Measure how the kernels of workloads behave on a machine, as CSV
    #[command(after_help = "\
The output has a row for each kernel, with all its launches together: instructions, SIMD efficiency, the share
of warps' lives spent at barriers, and the share of blocks whose warps are 50, 25, 10 and 5 % apart in
instructions and in cycles. Results are checked too.

Examples:
  raddle workloads measure --issue lrr
  raddle workloads measure bfs spmv --size paper --set gpu.sms=30 > rows.csv")]
    Measure(MeasureArgs),
    /// Measure what a loop over logical blocks costs the kernels of workloads, as CSV
    #[command(after_help = "\
The output has a row for each kernel, with all its launches together: blocks, registers, blocks of an SM and
thread-instructions, before and after `raddle ptx virtualize`. Workloads run without the timing model, with as
many blocks as the machine holds at once. Results are checked too. Kernels that cannot be virtualised are
named.

Examples:
  raddle workloads virtualize
  raddle workloads virtualize kmeans --size tiny --no-hoist")]
    Virtualize(VirtualizeArgs),
    /// Compile CUDA C++ to PTX, and check that the committed PTX is the same
    #[command(after_help = "\
This needs clang-19, libclc-19 and a clone of the repository. The workloads are the folders in
crates/workloads/suite.

Examples:
  raddle workloads build
  raddle workloads build bfs --write")]
    Build(BuildArgs),
}

#[derive(clap::Args)]
pub struct CheckArgs {
    /// Workloads; by default all
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Size of the input: tiny, small or paper
    #[arg(long, default_value = "tiny", value_parser = run::sizes(), value_name = "SIZE", hide_possible_values = true)]
    size: Size,
    /// Only this engine: timing, fast, gather or reference; may be given several times
    #[arg(long, value_parser = run::engines(), value_name = "NAME", hide_possible_values = true)]
    engine: Vec<Engine>,
}

#[derive(clap::Args)]
pub struct MeasureArgs {
    /// Workloads; by default all
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Size of the input: tiny, small or paper
    #[arg(long, default_value = "small", value_parser = run::sizes(), value_name = "SIZE", hide_possible_values = true)]
    size: Size,
    #[command(flatten)]
    machine: MachineArgs,
}

#[derive(clap::Args)]
pub struct VirtualizeArgs {
    /// Workloads; by default all
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Size of the input: tiny, small or paper
    #[arg(long, default_value = "small", value_parser = run::sizes(), value_name = "SIZE", hide_possible_values = true)]
    size: Size,
    #[command(flatten)]
    form: FormArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

#[derive(clap::Args)]
pub struct BuildArgs {
    /// Workloads; by default all
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Write the PTX if it differs
    #[arg(long)]
    write: bool,
}

/// Runs one of them.
pub fn run(command: &Command, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    match command {
        Command::Check(args) => check(args),
        Command::Measure(args) => measure(args, registry),
        Command::Virtualize(args) => virtualize(args, registry),
        Command::Build(args) => build(args),
    }
}

/// A way in which workloads are checked.
#[derive(Clone, Copy)]
struct Way {
    engine: Engine,
    width: u32,
    /// Kernels loop over logical blocks. On two SMs, so that they do; one does not hold all blocks of `stencil-sync`, which wait
    /// for each other.
    is_virtual: bool,
}

impl Way {
    const fn new(engine: Engine, width: u32) -> Self {
        Self { engine, width, is_virtual: false }
    }
}

/// The ways in which workloads are checked.
const WAYS: [Way; 7] = [
    Way::new(Engine::Fast, 4),
    Way::new(Engine::Fast, 8),
    Way::new(Engine::Fast, 16),
    Way::new(Engine::Fast, 32),
    Way::new(Engine::Timing, 32),
    Way::new(Engine::Timing, 8),
    Way { engine: Engine::Timing, width: 32, is_virtual: true },
];

/// The workloads of these names; all when there are none.
fn named(names: &[String]) -> Result<Vec<&'static Workload>, Problem> {
    match names {
        [] => Ok(raddle_workloads::all().iter().collect()),
        names => names.iter().map(|name| raddle_workloads::find(name)).collect(),
    }
}

/// Does something with each workload, one on each core; results in their order.
fn for_each<T: Send>(workloads: &[&Workload], job: impl Fn(&Workload) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(workload) = workloads.get(place) else { return };
            let result = job(workload);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
        }
    };
    let threads = run::cores().min(workloads.len());
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let mut ways = WAYS.to_vec();
    if !args.engine.is_empty() {
        ways.extend([Engine::Gather, Engine::Reference].map(|engine| Way::new(engine, 32)));
        ways.retain(|way| args.engine.contains(&way.engine));
    }
    let mut is_good = true;
    for lines in for_each(&named(&args.names)?, |workload| check_one(workload, &ways, args.size)) {
        is_good &= lines.is_good;
        out::data(&lines.text)?;
    }
    Ok(Exit::good_if(is_good))
}

fn measure(args: &MeasureArgs, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    let timing = TimingOptions::new(args.machine.load_checked(None, registry)?.config);
    let workloads = named(&args.names)?;
    let found = for_each(&workloads, |w| w.measure(&timing, registry, args.size));
    print_rows(&workloads, found, |_, kernels| kernels)
}

/// Prints what was found of each workload as one table; `rows` are those of one.
fn print_rows<T, R: Serialize, E: Display>(
    workloads: &[&Workload],
    found: Vec<Result<T, E>>,
    rows: impl Fn(&Workload, T) -> Vec<R>,
) -> Result<Exit, Failure> {
    let mut all = Vec::new();
    let mut is_good = true;
    for (workload, found) in workloads.iter().zip(found) {
        match found {
            Ok(found) => all.extend(rows(workload, found)),
            Err(error) => {
                is_good = false;
                out::talk(&format!("{}: {error}\n", workload.name));
            }
        }
    }
    let mut csv = Vec::new();
    write_csv(&mut csv, &all)?;
    out::data(&String::from_utf8_lossy(&csv))?;
    Ok(Exit::good_if(is_good))
}

fn virtualize(args: &VirtualizeArgs, registry: &Registry) -> Result<Exit, Failure> {
    let timing = TimingOptions::new(args.machine.load_checked(None, registry)?.config);
    let workloads = named(&args.names)?;
    let options = args.form.options();
    let found = for_each(&workloads, |w| w.virtualize(&options, &timing, args.size));
    print_rows(&workloads, found, |workload, (kernels, refused)| {
        for refusal in refused {
            out::talk(&format!("{}, {}: {}", workload.name, refusal.kernel, refusal.diagnostic.message));
        }
        kernels
    })
}

/// What is said about a workload.
#[derive(Default)]
struct Lines {
    text: String,
    is_good: bool,
}

fn check_one(workload: &Workload, ways: &[Way], size: Size) -> Lines {
    let mut lines = Lines { is_good: true, ..Lines::default() };
    let only = workload.module().and_then(|module| workload.manifest(&module)).map(|m| m.warp_width);
    let only = only.unwrap_or_default();
    for &way in ways.iter().filter(|way| only.is_none_or(|only| only == way.width)) {
        let start = Instant::now();
        let result = check_way(workload, way, size);
        let (name, seconds) = (workload.name, start.elapsed().as_secs_f64());
        let kind = if way.is_virtual { "virtual" } else { "" };
        let head = format!("{name:<16}  {:<9}  {:>2} lanes  {kind:<7}  ", way.engine.name(), way.width);
        lines.text += &match result {
            Ok(insts) => format!("{head}{:>14} thread-instructions  {seconds:>7.2} s\n", grouped(insts)),
            Err(error) => {
                lines.is_good = false;
                format!("{head}FAILED: {error}\n")
            }
        };
    }
    lines
}

/// Runs a workload in one way and gives the thread-instructions, or what is wrong.
fn check_way(workload: &Workload, way: Way, size: Size) -> Result<u64, Error> {
    let timing = match way.engine {
        Engine::Timing => Some(Box::new(TimingOptions::new(machine(way)?.config))),
        _ => None,
    };
    let engine = EngineOptions { engine: way.engine, warp_width: way.width };
    let setup = Setup::new(RunOptions { engine, timing, ..RunOptions::default() });
    let mut module = workload.module()?;
    if way.is_virtual {
        let form = Form::Hardware(ThreadOrder::SameLane);
        module = module.virtualize(&transform::Options { form, ..transform::Options::default() })?.0;
    }
    let ran = workload.run(&module, &setup, Watch::default(), &Request::new(size))?;
    let insts = ran.thread_insts();
    let [least, most] = size.limits();
    match ran.wrong {
        Some(wrong) => Err(wrong),
        None if !way.is_virtual && !(least..=most).contains(&insts) => {
            let limits = format!("size {size} has {} to {}", grouped(least), grouped(most));
            Err(Error::Wrong(format!("{} thread-instructions; {limits}", grouped(insts))))
        }
        None => Ok(insts),
    }
}

/// The machine of the timing runs.
fn machine(way: Way) -> Result<Machine, Problem> {
    let widths = ["sm.warp_width", "sm.simd_width"].map(|key| format!("{key}={}", way.width));
    let mut set = [&widths[..], &["mechanism.divergence=pdom".to_owned()]].concat();
    set.extend(way.is_virtual.then(|| "gpu.sms=2".to_owned()));
    Machine::load(Source::Preset("gtx480"), &set).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(|p| p.message.clone()).collect();
        Problem::new(problems.join("; "))
    })
}

fn build(args: &BuildArgs) -> Result<Exit, Failure> {
    let suite = compile::suite_folder(&std::env::current_dir()?)?;
    let known = compile::names(&suite)?;
    let names = if args.names.is_empty() { &known } else { &args.names };
    let mut is_good = true;
    for name in names {
        if !known.contains(name) {
            let close = raddle_ptx::diag::closest(name, known.iter().map(String::as_str));
            let help = close.map_or_else(
                || format!("the source of a workload is crates/workloads/suite/{name}/{name}.cu"),
                |c| format!("did you mean `{c}`?"),
            );
            return Err(Problem::new(format!("there is no source of a workload `{name}`")).help(help).into());
        }
        let ptx = compile::compile(&suite, name)?;
        let path = compile::ptx_path(&suite, name);
        let is_same = input::text(&path).is_ok_and(|committed| committed == ptx);
        let state = match (is_same, args.write) {
            (true, _) => "the same",
            (false, true) => "written",
            (false, false) => "differs: write it with --write",
        };
        if !is_same && args.write {
            std::fs::write(&path, ptx)
                .map_err(|source| raddle_runtime::Error::Write { path: path.display().to_string(), source })?;
        }
        is_good &= is_same || args.write;
        out::data(&format!("{name:<16}  {state}\n"))?;
    }
    Ok(Exit::good_if(is_good))
}
