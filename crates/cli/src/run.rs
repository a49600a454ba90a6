//! `raddle run`.

mod report;
mod spec;

use crate::exit::{Exit, Failure};
use crate::out;
use crate::render::Text;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use raddle_runtime::session::RunOptions;
use raddle_runtime::{Engine, EngineOptions, Plan, PtxFile, Session};
use spec::{Printed, Shape};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = GRAMMAR)]
pub struct Args {
    /// PTX file, or launch file ending in .toml
    file: PathBuf,

    /// Kernel; may be left out when the file has one
    #[arg(long, short, value_name = "NAME", help_heading = "Launch (PTX file only)")]
    kernel: Option<String>,
    /// Thread blocks
    #[arg(long, short, value_name = "X[,Y[,Z]]", help_heading = "Launch (PTX file only)")]
    grid: Option<Shape>,
    /// Threads per block
    #[arg(long, short, value_name = "X[,Y[,Z]]", help_heading = "Launch (PTX file only)")]
    block: Option<Shape>,
    /// Next argument of the kernel, see below
    #[arg(
        long = "arg",
        short,
        value_name = "ARG",
        allow_hyphen_values = true,
        help_heading = "Launch (PTX file only)"
    )]
    args: Vec<String>,
    /// Dynamic shared memory
    #[arg(long, value_name = "BYTES", help_heading = "Launch (PTX file only)")]
    shared: Option<u32>,

    /// What executes the kernel: fast, gather or reference, see below
    #[arg(
        long,
        default_value = "fast",
        value_parser = engines(),
        hide_possible_values = true,
        help_heading = "Execution"
    )]
    engine: Engine,
    /// Lanes of a warp
    #[arg(long, default_value = "32", value_parser = widths(), value_name = "LANES", help_heading = "Execution")]
    warp_width: u32,
    /// End a launch soon after this many thread-instructions
    #[arg(long, value_name = "N", help_heading = "Execution")]
    max_insts: Option<u64>,
    /// Stop where a register or memory is read that was never written
    #[arg(long, help_heading = "Execution")]
    report_uninitialised: bool,

    /// Print a buffer in the end, or its first N elements
    #[arg(long, value_name = "BUF[:N]", help_heading = "Output")]
    print: Vec<Printed>,
    /// Print one JSON object with everything there is to say
    #[arg(long, help_heading = "Output")]
    json: bool,
}

const GRAMMAR: &str = "\
Kernel arguments (ARG):
  5  1.5                     a number, in the type of the parameter
  u32:5  f32:1.5  b32:0xff   a number of a stated type
  bytes:00ff80               bytes of a parameter passed by value
  buf:f32:1024               a buffer; it counts as never written
  buf:f32:1024=FILL          a buffer with contents
  buf:f32:@in.npy            the same, as long as the file; other endings than .npy are raw bytes
  buf:f32:[1,2,3]            the same, as long as the list
  a=buf:...                  a buffer with a name; without one it is arg0, arg1 ... by position
  a                          the buffer of that name again
 FILL is zero, iota, const:V, lcg:SEED:MASK[:SKIP[:STRIDE]], @FILE or [V,V,...]; lcg numbers are
 x -> x*1664525+1013904223 mod 2^32 from SEED, of which (x >> 8) & MASK is taken.
 Behind a buffer: ,out=FILE writes it in the end, ,expect=FILE compares it; ,ulp=N or ,tolerance=X
 say how close floating-point elements must be.
Types: u8 u16 u32 u64 s8 s16 s32 s64 b8 b16 b32 b64 f16 bf16 f32 f64

Engines: fast runs the lanes of a warp together; gather does the same with each lane fetched from its
thread's registers; reference runs one thread at a time and is there to check the others.

What the kernel prints, and what --print asks for, goes to stdout; the summary goes to stderr.

Examples:
  raddle run examples/saxpy.toml
  raddle run examples/saxpy.ptx --grid 4 --block 256 --arg 1024 --arg 2 \\
      --arg buf:f32:1024=iota --arg y=buf:f32:1024=const:1,out=y.npy --print y:8";

fn engines() -> impl TypedValueParser<Value = Engine> {
    PossibleValuesParser::new(Engine::ALL.map(Engine::name)).map(|name| {
        let found = Engine::ALL.into_iter().find(|e| e.name() == name);
        found.unwrap_or_default()
    })
}

fn widths() -> impl TypedValueParser<Value = u32> {
    PossibleValuesParser::new(["4", "8", "16", "32"]).map(|n| n.parse().unwrap_or(32))
}

impl Args {
    fn options(&self) -> RunOptions {
        RunOptions {
            engine: EngineOptions { engine: self.engine, warp_width: self.warp_width },
            max_thread_insts: self.max_insts,
            report_uninitialised: self.report_uninitialised,
        }
    }
}

pub fn run(args: &Args) -> Result<Exit, Failure> {
    if args.file.extension().is_some_and(|e| e == "toml") {
        return run_file(args);
    }
    let ptx = PtxFile::read(&args.file)?;
    let plan = spec::plan(args, &ptx)?;
    execute(args, &plan, &ptx)
}

fn run_file(args: &Args) -> Result<Exit, Failure> {
    spec::refuse_launch_options(args)?;
    let path = args.file.display().to_string();
    let (plan, text) = match Plan::from_file(&args.file) {
        Ok(read) => read,
        Err(error) => {
            let text = std::fs::read_to_string(&args.file).unwrap_or_default();
            return Err(Failure::Runtime { error, file: Some(Box::new((path, text))) });
        }
    };
    let ptx = PtxFile::read(&plan.module)?;
    execute(args, &plan, &ptx).map_err(|failure| match failure {
        Failure::Runtime { error, .. } => Failure::Runtime { error, file: Some(Box::new((path, text))) },
        other => other,
    })
}

fn execute(args: &Args, plan: &Plan, ptx: &PtxFile) -> Result<Exit, Failure> {
    let text = Text::new(&ptx.path, &ptx.source);
    for warning in &ptx.warnings {
        out::talk(&(text.diagnostic(warning) + "\n"));
    }
    let printed = spec::resolve_prints(&args.print, plan)?;
    let mut session = Session::new(plan, ptx, args.options())?;
    let outcome = session.run()?;
    let report = report::Report { plan, ptx, session: &session, outcome: &outcome, printed: &printed };
    if args.json {
        out::json(&report.json())?;
    } else {
        out::data(&report.data())?;
        out::talk(&report.summary());
    }
    if let Some(fault) = outcome.fault() {
        out::talk(&text.fault(fault, &ptx.module));
    }
    Ok(Exit::good_if(outcome.is_good()))
}
