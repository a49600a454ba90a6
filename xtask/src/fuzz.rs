//! Fuzzing: short samples for CI, long runs by hand.
//!
//! The targets of [`TARGETS`] take valid inputs with random changes, the same ones for a seed; they run on any compiler.
//! A sample is a number of them from a fixed seed, so that CI is deterministic. A longer run begins at a seed it prints.
//! The front end has samples of its own, which are tests, and a target in `fuzz/` for `cargo fuzz`. What is found
//! becomes a file in `tests/ptx` or `fuzz/regressions`, or a test.

mod files;
mod parse;
mod store;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use raddle_testkit::fuzz::execute::Execute;
use raddle_testkit::fuzz::generated::Generated;
use raddle_testkit::fuzz::timed::{self, Timed};
use raddle_testkit::fuzz::{self, Finding, Limits, Watch};

use crate::Result;
use crate::files::{root, run_cargo, target};

/// One sample.
struct Sample {
    /// What is fuzzed, for messages.
    name: &'static str,
    /// The arguments of `cargo`.
    cargo: &'static [&'static str],
}

/// Every sample CI runs, one row each.
#[rustfmt::skip] // one row each
const SAMPLES: &[Sample] = &[
    Sample { name: "damaged programs through the PTX front end",
             cargo: &["test", "--locked", "-p", "raddle-ptx", "--test", "robustness", "--", "--ignored", "many_damaged_programs"] },
    Sample { name: "a file of fifty megabytes through the PTX front end",
             cargo: &["test", "--locked", "-p", "raddle-ptx", "--test", "robustness", "--", "--ignored", "fifty_megabytes"] },
];

/// A target that takes changed inputs.
struct Target {
    name: &'static str,
    /// Cases of the sample.
    sample: u64,
    make: fn() -> Result<Box<dyn fuzz::Target>>,
}

/// Every target, one row each.
#[rustfmt::skip] // one row each
const TARGETS: &[Target] = &[
    Target { name: "execute", sample: 5000, make: || Ok(Box::new(Execute::new(&kernel_files())?)) },
    Target { name: "generated", sample: 500, make: || Ok(Box::new(Generated::default())) },
    Target { name: "generated-timed", sample: 100, make: || Ok(Box::new(timed::Generated::default())) },
    Target { name: "data-timed", sample: 150, make: || Ok(Box::new(timed::Contents::default())) },
    Target { name: "timed", sample: 1000, make: || Ok(Box::new(Timed::new(&kernel_files())?)) },
    Target { name: "launch-file", sample: 5000, make: || Ok(Box::new(files::launches()?)) },
    Target { name: "machine-file", sample: 4000, make: || Ok(Box::new(files::machines()?)) },
    Target { name: "experiment-file", sample: 150, make: || Ok(Box::new(files::experiments()?)) },
    Target { name: "store-file", sample: 1500, make: || Ok(Box::new(store::StoreFiles::new()?)) },
];

/// The seed of the samples.
const SAMPLE_SEED: u64 = 1;
/// A case that takes longer hangs.
const MAX_TIME: Duration = Duration::from_secs(120);
/// A process that takes more memory, in bytes, has a case that takes too much.
const MAX_MEMORY: u64 = 4 << 30;
/// How long a finding is made smaller.
const REDUCTION: Duration = Duration::from_secs(40);
/// Findings of one kind that are made small and shown.
const SHOWN: u32 = 2;

/// The options of `cargo xtask fuzz`.
#[derive(clap::Args)]
pub struct Args {
    /// Look for new inputs for this long instead; the minutes are shared by the targets
    #[arg(long, value_name = "N")]
    minutes: Option<u32>,
    /// Only this target: execute, generated, generated-timed, data-timed, timed, launch-file, machine-file, experiment-file, store-file, or parse with cargo-fuzz
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// So many cases of each target at most
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// The first seed; a case is repeated with its seed and a count of 1
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
}

/// Runs the samples, or the targets for a while.
pub fn run(args: &Args) -> Result {
    let Args { minutes, target, count, seed } = args;
    if minutes.is_none() && target.is_none() && count.is_none() && seed.is_none() {
        return samples();
    }
    let chosen = |name: &str| target.as_ref().is_none_or(|wanted| wanted == name);
    let targets: Vec<&Target> = TARGETS.iter().filter(|t| chosen(t.name)).collect();
    let parses =
        minutes.is_some() && (target.as_deref() == Some(parse::NAME) || target.is_none() && parse::is_installed());
    if targets.is_empty() && target.as_deref() != Some(parse::NAME) {
        let names: Vec<&str> = TARGETS.iter().map(|t| t.name).chain([parse::NAME]).collect();
        return Err(format!("there is no such target; known are {}", names.join(", ")).into());
    }
    if targets.is_empty() && !parses {
        return Err("`parse` runs with cargo-fuzz for some time: give --minutes".into());
    }
    let share = minutes.map(|m| u64::from(m) * 60 / (targets.len() + usize::from(parses)) as u64);
    let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |t| t.as_millis() as u64);
    let seed = seed.unwrap_or_else(|| if minutes.is_some() { clock() << 16 } else { SAMPLE_SEED });
    let mut findings = 0;
    for target in targets {
        let end = share.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        let count = count.unwrap_or(if minutes.is_some() { u64::MAX } else { target.sample });
        findings += explore(target, Limits { seed, count, end })?;
    }
    if parses {
        parse::explore(share.unwrap_or(0))?;
    }
    conclude(findings)
}

/// Runs every sample; stops at the first of `cargo` that fails.
pub fn samples() -> Result {
    for sample in SAMPLES {
        println!("fuzz: {}", sample.name);
        run_cargo(sample.cargo)?;
    }
    let mut findings = 0;
    for target in TARGETS {
        findings += explore(target, Limits { seed: SAMPLE_SEED, count: target.sample, end: None })?;
    }
    conclude(findings)
}

fn conclude(findings: u64) -> Result {
    if findings == 0 { Ok(()) } else { Err(format!("fuzz: {findings} findings, see {}", folder().display()).into()) }
}

fn kernel_files() -> PathBuf {
    root().join("tests/ptx")
}

/// Where inputs that show something wrong are written.
fn folder() -> PathBuf {
    target().join("fuzz")
}

/// Runs a target; how many findings there were.
fn explore(row: &Target, limits: Limits) -> Result<u64> {
    static WATCH: Watch = Watch::new();
    println!("fuzz: {} from seed {}", row.name, limits.seed);
    let target = (row.make)()?;
    let start = Instant::now();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
    let tally = std::thread::scope(|scope| {
        scope.spawn(move || {
            while stopped.recv_timeout(Duration::from_secs(1)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                look_after(row.name, &WATCH);
            }
        });
        let tally = fuzz::run(&*target, limits, &WATCH, |finding| {
            let seen = kinds.entry(finding.kind()).or_default();
            *seen += 1;
            if *seen <= SHOWN {
                show(&*target, finding);
            }
        });
        drop(stop);
        tally
    });
    let seconds = start.elapsed().as_secs_f64();
    let done = tally.done;
    println!(
        "fuzz: {}: {} cases, {} executions ({:.0} a second), {} compared, {} findings",
        row.name,
        tally.cases,
        done.executions,
        done.executions as f64 / seconds,
        done.compared,
        tally.findings
    );
    Ok(tally.findings)
}

/// Ends the process, with the seed, when a case takes too long or too much memory.
fn look_after(name: &str, watch: &Watch) {
    let Some((seed, time)) = watch.case() else { return };
    let pages = fs::read_to_string("/proc/self/statm").ok().and_then(|t| t.split(' ').nth(1)?.parse::<u64>().ok());
    let is_large = pages.is_some_and(|pages| pages * 4096 > MAX_MEMORY);
    if time > MAX_TIME || is_large {
        let what = if is_large { "takes too much memory" } else { "hangs" };
        eprintln!("fuzz: {name} with seed {seed} {what}: cargo xtask fuzz --target {name} --seed {seed} --count 1");
        std::process::exit(1);
    }
}

/// Shows a finding, made small, and keeps it.
fn show(target: &dyn fuzz::Target, finding: &Finding) {
    let (name, seed) = (target.name(), finding.seed);
    let small = fuzz::reduce(target, finding, REDUCTION);
    println!("fuzz: finding: {}", finding.what);
    println!("repeat with: cargo xtask fuzz --target {name} --seed {seed} --count 1");
    let path = folder().join(format!("{name}-{seed}"));
    for (ending, input) in [("input", &finding.input), ("small", &small.input)] {
        let path = path.with_extension(ending);
        let written = fs::create_dir_all(folder()).and_then(|()| fs::write(&path, input));
        match written {
            Ok(()) => println!("{ending}: {}", path.display()),
            Err(error) => println!("{ending}: cannot be written to {}: {error}", path.display()),
        }
    }
    println!("{}", String::from_utf8_lossy(&small.input));
}
