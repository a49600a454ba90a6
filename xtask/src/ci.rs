//! The steps of CI.
//!
//! A step is a row in [`STEPS`]. Quick checks come first, so that a slip shows early; the tests come last, so that the
//! output closes with the test runner's summary.

mod pace;
mod test_times;

use std::env;
use std::io::{BufRead, BufReader, IsTerminal};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::builder::{PossibleValue, PossibleValuesParser};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::files::{cargo, run_cargo, run_command};
use crate::sample::Sample;
use crate::{
    Result, codegen, deny, deps, docs, fmt, fuzz, host_instructions, install, pages, programs, python, results,
    sequences, slurm, tidy, traces, workloads,
};
use test_times::TestTimes;

/// How many times its budget a run may take of processor time, on a machine as quick as the one budgets are for.
const MARGIN: f64 = 1.25;

/// One step: its name, the seconds of processor time it may take on a fresh machine, what it does in a few words, and how.
struct Step(&'static str, u32, &'static str, fn(&mut Run) -> Result);

/// What steps share.
struct Run {
    /// What is taken of sets that are too large for every commit.
    sample: Sample,
    /// The line the output closes with, if a step has left one.
    closing: Option<String>,
}

/// What is done before the first step: its name, and its budget as in [`Step`].
const SET_UP: (&str, u32) = ("set-up", 180);

/// Every step, in the order in which they run.
#[rustfmt::skip] // one row each
const STEPS: &[Step] = &[
    Step("fmt",       5, "the code is formatted",           |_| fmt::run(true)),
    Step("tidy",      5, "the repository rules hold",       |_| tidy::run()),
    Step("deps",      5, "crates depend in one direction",  |_| deps::run()),
    Step("deny",      5, "licences of dependencies fit",    |_| deny::run()),
    Step("docs",      5, "links in the documents resolve",  |_| docs::run()),
    Step("codegen",   60, "generated files are up to date",  |_| codegen::run(true)),
    Step("results",   90, "pages of results are true",       |_| results::check_all()),
    Step("clippy",   120, "no warnings in any target",       |_| clippy()),
    Step("build",    300, "programs and tests compile",      |_| build()),
    Step("rustdoc",   40, "the API documentation builds",    |_| rustdoc()),
    Step("doctest",   10, "examples in comments work",       |_| doctest()),
    Step("example",   20, "the examples run",                |_| example()),
    Step("suite",     60, "the workloads compile and run",   |_| workloads::run()),
    Step("programs",  60, "CUDA programs compile and run",   |_| programs::run().and_then(|()| sequences::sample())),
    Step("traces",    20, "timelines are what runs counted", |_| traces::run()),
    Step("pages",     80, "pages do what they say",          |run| pages::run(&run.sample, false)),
    Step("install",   40, "an installed program works",      |_| install::check()),
    Step("python",   120, "the Python package works",        |run| python::check(&run.sample)),
    Step("fuzz",     100, "short fuzzing samples pass",      |_| fuzz::samples()),
    Step("slurm",     40, "experiments run over Slurm",      |_| slurm::run()),
    Step("cost",      60, "simulating costs what it did",    |run| host_instructions::check(&run.sample)),
    Step("test",     420, "all tests pass",                  test),
];

/// The variable in which `.ci/run` says when it started, in seconds of Unix time.
const STARTED: &str = "RADDLE_CI_STARTED";

/// The options of `cargo xtask ci`.
#[derive(clap::Args)]
pub struct Args {
    /// Run only this step; may be given several times
    #[arg(long, value_name = "STEP", value_parser = step_names())]
    only: Vec<String>,
    /// Take everything of which a commit takes a sample
    #[arg(long)]
    complete: bool,
}

fn step_names() -> PossibleValuesParser {
    let value = |Step(name, _, about, _): &Step| PossibleValue::new(*name).help(*about);
    PossibleValuesParser::new(STEPS.iter().map(value))
}

/// Runs the steps up to the first that fails, says how long each took and closes with the summary of the tests.
pub fn run(args: &Args) -> ExitCode {
    let mut times: Vec<Time> = set_up_time().into_iter().collect();
    let mut run = Run { sample: Sample::Complete, closing: None };
    let result = run_steps(args, &mut times, &mut run);
    // Of everything, there is no budget.
    let result = result.and_then(|()| if args.complete { Ok(()) } else { in_budget(&times) });

    println!("\n{}", table(&times));
    if let Err(error) = &result {
        println!("{error}\n");
    }
    if let Some(line) = run.closing {
        println!("{line}");
    }
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_steps(args: &Args, times: &mut Vec<Time>, run: &mut Run) -> Result {
    if !args.complete {
        run.sample = Sample::of_commit()?;
    }
    for &Step(name, budget, about, step) in STEPS {
        if !args.only.is_empty() && !args.only.iter().any(|only| only == name) {
            continue;
        }
        println!("\n=== {name}: {about}");
        let (start, before) = (Instant::now(), processor_time());
        let result = step(run);
        let time =
            Time { name, budget, took: start.elapsed(), processor: processor_time() - before, pace: pace::now() };
        println!("=== {name}: {}", time.row());
        times.push(time);
        result.map_err(|error| format!("step `{name}` failed: {error}\nto repeat it: cargo xtask ci --only {name}"))?;
    }
    Ok(())
}

fn clippy() -> Result {
    let args = "clippy --locked --workspace --all-targets -- -D warnings";
    run_cargo(&words(args))
}

/// Compiles the tests too, so that the time of the test step is that of the tests.
fn build() -> Result {
    run_cargo(&words("build --locked --workspace"))?;
    run_cargo(&words("nextest run --locked --workspace --no-run"))
}

fn rustdoc() -> Result {
    let mut command = cargo(&words("doc --locked --workspace --no-deps"));
    run_command(command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn doctest() -> Result {
    run_cargo(&words("test --locked --workspace --doc"))
}

fn example() -> Result {
    // Without `-p`: dependencies then have the features they have been compiled with.
    run_cargo(&words("run --locked --example custom_scheduler"))?;
    run_cargo(&words("run --locked --example my_raddle -- run examples/saxpy.toml --issue youngest"))
}

/// Runs all tests, letting their output through, and keeps the runner's summary for the end.
fn test(run: &mut Run) -> Result {
    let mut args = words("nextest run --locked --workspace --no-fail-fast");
    if std::io::stderr().is_terminal() {
        args.extend(["--color", "always"]);
    }
    let mut child = cargo(&args).env(raddle_testkit::CI, "1").stderr(Stdio::piped()).spawn()?;
    let mut times = TestTimes::default();
    if let Some(stderr) = child.stderr.take() {
        // A test may print anything, also what is not UTF-8.
        for line in BufReader::new(stderr).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            eprintln!("{line}");
            times.read(&line);
            if is_summary(&line) {
                run.closing = Some(line);
            }
        }
    }
    let status = child.wait()?;
    println!("{}", times.table());
    if status.success() { times.in_budget() } else { Err(format!("the test runner ended with {status}").into()) }
}

/// Whether this is the test runner's summary, which may be coloured.
fn is_summary(line: &str) -> bool {
    line.split_once("Summary")
        .is_some_and(|(before, after)| before.chars().all(|c| !c.is_alphabetic() || c == 'm') && after.contains('['))
}

fn words(args: &'static str) -> Vec<&'static str> {
    args.split(' ').collect()
}

/// How long a step took.
struct Time {
    name: &'static str,
    /// Seconds of processor time.
    budget: u32,
    took: Duration,
    /// Of this program and all it has run.
    processor: Duration,
    /// How many times slower than the machine budgets are for this one was.
    pace: f64,
}

impl Time {
    /// The processor seconds it would have taken on the machine that budgets are for. A quick machine has the same budget.
    fn quiet_seconds(&self) -> f64 {
        self.processor.as_secs_f64() / self.pace.max(1.0)
    }

    fn row(&self) -> String {
        let (took, processor) = (minutes(self.took), minutes(self.processor));
        let (quiet, budget) = (self.quiet_seconds(), self.budget);
        let over = if quiet > f64::from(budget) { "  over" } else { "" };
        format!("{took:>8.2}{processor:>11.2}{:>7.1}{quiet:>9.0}{budget:>8}{over}", self.pace)
    }
}

fn minutes(took: Duration) -> f64 {
    took.as_secs_f64() / 60.0
}

/// The time from the start of `.ci/run` to the start of this program, if that is how it was started. This program then
/// has the process of `.ci/run`, whose children count as its own.
fn set_up_time() -> Option<Time> {
    let started: u64 = env::var(STARTED).ok()?.parse().ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let took = now.saturating_sub(Duration::from_secs(started));
    let (name, budget) = SET_UP;
    Some(Time { name, budget, took, processor: processor_time(), pace: pace::now() })
}

/// The processor time of this program and of all it has run and waited for.
fn processor_time() -> Duration {
    let of = |who| getrusage(who).map_or(Duration::ZERO, |usage| time(usage.user_time()) + time(usage.system_time()));
    of(UsageWho::RUSAGE_SELF) + of(UsageWho::RUSAGE_CHILDREN)
}

fn time(value: TimeVal) -> Duration {
    Duration::from_micros(u64::try_from(value.num_microseconds()).unwrap_or_default())
}

/// Fails when a run would have taken more than [`MARGIN`] times its budget of processor time on the machine budgets are for.
fn in_budget(times: &[Time]) -> Result {
    let quiet: f64 = times.iter().map(Time::quiet_seconds).sum();
    let budget: u32 = times.iter().map(|time| time.budget).sum();
    if quiet <= MARGIN * f64::from(budget) {
        return Ok(());
    }
    Err(format!("all steps passed, but would take {quiet:.0} s of processor time on a quiet machine, more than {MARGIN} times their budget of {budget} s: make a step cheaper, or take a smaller sample in it").into())
}

/// What every step took, beside its budget.
fn table(times: &[Time]) -> String {
    let head = format!("{:>8}{:>11}{:>7}{:>9}{:>8}", "minutes", "processor", "pace", "seconds", "budget");
    let mut table = format!("{:<10}{head}\n", "step");
    for time in times {
        table += &format!("{:<10}{}\n", time.name, time.row());
    }
    let sum = |of: fn(&Time) -> f64| times.iter().map(of).sum::<f64>();
    let (took, processor) = (sum(|time| minutes(time.took)), sum(|time| minutes(time.processor)));
    let (quiet, budget) = (sum(Time::quiet_seconds), sum(|time| f64::from(time.budget)));
    let pace = if quiet == 0.0 { 1.0 } else { processor * 60.0 / quiet };
    table + &format!("{:<10}{took:>8.2}{processor:>11.2}{pace:>7.1}{quiet:>9.0}{budget:>8.0}\n", "all")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn took(name: &'static str, seconds: u64, pace: f64) -> Time {
        let (took, processor) = (Duration::from_secs(seconds), Duration::from_secs(2 * seconds));
        Time { name, budget: 100, took, processor, pace }
    }

    #[test]
    fn the_table_has_every_step_and_their_sum() {
        let expected = "\
step       minutes  processor   pace  seconds  budget
fmt           0.10       0.20    1.0       12     100
test         10.00      20.00    3.0      400     100  over
all          10.10      20.20    2.9      412     200
";
        assert_eq!(table(&[took("fmt", 6, 1.0), took("test", 600, 3.0)]), expected);
    }

    #[test]
    fn a_budget_is_for_a_quiet_machine() {
        assert!(in_budget(&[took("test", 62, 1.0)]).is_ok());
        let error = in_budget(&[took("test", 63, 1.0)]).unwrap_err().to_string();
        assert!(error.contains("would take 126 s"), "{error}");
        assert!(in_budget(&[took("test", 62, 0.5)]).is_ok(), "a quick machine has the same budget");
        assert!(in_budget(&[took("test", 63, 0.5)]).is_err(), "and not a larger one");
        assert!(in_budget(&[took("test", 124, 2.0)]).is_ok());
        assert!(in_budget(&[took("test", 126, 2.0)]).is_err());
    }

    #[test]
    fn programs_that_were_waited_for_are_counted() {
        let before = processor_time();
        let loops = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        assert!(std::process::Command::new("sh").args(["-c", loops]).status().unwrap().success());
        assert!(processor_time() > before + Duration::from_millis(1));
    }

    #[test]
    fn the_summary_is_recognised() {
        assert!(is_summary("     Summary [   0.016s] 14 tests run: 14 passed, 0 skipped"));
        assert!(is_summary("\u{1b}[32;1m     Summary\u{1b}[0m [   0.016s] 14 tests run"));
        assert!(!is_summary("        PASS [   0.016s] xtask ci::tests::Summary"));
        assert!(!is_summary("Summary of a test"));
    }

    #[test]
    fn the_tests_come_last() {
        assert_eq!(STEPS.last().map(|step| step.0), Some("test"));
    }
}
