//! The steps of CI.
//!
//! A step is a row in [`STEPS`]. Quick checks come first, so that a slip shows early; the tests come last, so that the
//! output closes with the test runner's summary.

mod pace;

use std::env;
use std::io::{BufRead, BufReader, IsTerminal};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::builder::{PossibleValue, PossibleValuesParser};

use crate::files::{cargo, run_cargo, run_command};
use crate::{
    Result, book, codegen, deny, deps, docs, fmt, fuzz, host_instructions, install, pages, programs, python, results,
    slurm, tidy, traces, workloads,
};

/// What a step is for, and with which others it shares a budget of time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    SetUp,
    Build,
    Tests,
    Rest,
}

impl Group {
    const ALL: [Self; 4] = [Self::SetUp, Self::Build, Self::Tests, Self::Rest];

    fn name(self) -> &'static str {
        match self {
            Self::SetUp => "set-up",
            Self::Build => "build",
            Self::Tests => "tests",
            Self::Rest => "rest",
        }
    }

    /// The minutes the group may take on a fresh machine with two quiet cores.
    fn budget_minutes(self) -> f64 {
        match self {
            Self::SetUp | Self::Build => 5.0,
            Self::Tests => 4.0,
            Self::Rest => 11.0,
        }
    }
}

/// How many times the budget of all groups a run may take, on a machine as quick as the one the budget is for.
const MARGIN: f64 = 2.0;

/// One step: its name, its group, what it does in a few words, and how.
struct Step(&'static str, Group, &'static str, fn(&mut Closing) -> Result);

/// The line the output of CI closes with, if a step has left one.
type Closing = Option<String>;

/// Every step, in the order in which they run.
#[rustfmt::skip] // one row each
const STEPS: &[Step] = &[
    Step("fmt",     Group::Build, "the code is formatted",          |_| fmt::run(true)),
    Step("tidy",    Group::Rest,  "the repository rules hold",      |_| tidy::run()),
    Step("deps",    Group::Rest,  "crates depend in one direction", |_| deps::run()),
    Step("deny",    Group::Rest,  "licences of dependencies fit",   |_| deny::run()),
    Step("docs",    Group::Rest,  "links in the documents resolve", |_| docs::run()),
    Step("book",    Group::Rest,  "the book builds as a site",      |_| book::run()),
    Step("codegen", Group::Rest,  "generated files are up to date", |_| codegen::run(true)),
    Step("results", Group::Rest,  "pages of results are true",      |_| results::check_all()),
    Step("clippy",  Group::Build, "no warnings in any target",      |_| clippy()),
    Step("build",   Group::Build, "programs and tests compile",     |_| build()),
    Step("rustdoc", Group::Build, "the API documentation builds",   |_| rustdoc()),
    Step("doctest", Group::Rest,  "examples in comments work",      |_| doctest()),
    Step("example", Group::Rest,  "the examples run",               |_| example()),
    Step("suite",   Group::Rest,  "the workloads compile and run",  |_| workloads::run()),
    Step("programs", Group::Rest, "CUDA programs compile and run",  |_| programs::run()),
    Step("traces",  Group::Rest,  "timelines are what runs counted", |_| traces::run()),
    Step("pages",   Group::Rest,  "pages do what they say",         |_| pages::run(false)),
    Step("install", Group::Rest,  "an installed program works",     |_| install::check()),
    Step("python",  Group::Rest,  "the Python package works",       |_| python::check()),
    Step("fuzz",    Group::Rest,  "short fuzzing samples pass",     |_| fuzz::samples()),
    Step("slurm",   Group::Rest,  "experiments run over Slurm",     |_| slurm::run()),
    Step("cost",    Group::Rest,  "simulating costs what it did",   |_| host_instructions::run(true)),
    Step("test",    Group::Tests, "all tests pass",                 test),
];

/// The variable in which `.ci/run` says when it started, in seconds of Unix time.
const STARTED: &str = "RADDLE_CI_STARTED";

/// The options of `cargo xtask ci`.
#[derive(clap::Args)]
pub struct Args {
    /// Run only this step; may be given several times
    #[arg(long, value_name = "STEP", value_parser = step_names())]
    only: Vec<String>,
}

fn step_names() -> PossibleValuesParser {
    let value = |Step(name, _, about, _): &Step| PossibleValue::new(*name).help(*about);
    PossibleValuesParser::new(STEPS.iter().map(value))
}

/// Runs the steps up to the first that fails, says how long each took and closes with the summary of the tests.
pub fn run(args: &Args) -> ExitCode {
    let mut times: Vec<Time> = set_up_time().into_iter().collect();
    let mut closing = None;
    let result = run_steps(args, &mut times, &mut closing).and_then(|()| in_time(&times));

    println!("\n{}", table(&times));
    println!("times slower than the machine the budget is for: {:.1}\n", mean_pace(&times));
    if let Err(error) = &result {
        println!("{error}\n");
    }
    if let Some(line) = closing {
        println!("{line}");
    }
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_steps(args: &Args, times: &mut Vec<Time>, closing: &mut Closing) -> Result {
    for &Step(name, group, about, run) in STEPS {
        if !args.only.is_empty() && !args.only.iter().any(|only| only == name) {
            continue;
        }
        println!("\n=== {name}: {about}");
        let pace = pace::now();
        let start = Instant::now();
        let result = run(closing);
        let time = Time { name, group, took: start.elapsed(), pace };
        println!("=== {name}: {:.2} min", minutes(time.took));
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
fn test(closing: &mut Closing) -> Result {
    let mut args = words("nextest run --locked --workspace --no-fail-fast");
    if std::io::stderr().is_terminal() {
        args.extend(["--color", "always"]);
    }
    let mut child = cargo(&args).env(raddle_testkit::CI, "1").stderr(Stdio::piped()).spawn()?;
    if let Some(stderr) = child.stderr.take() {
        // A test may print anything, also what is not UTF-8.
        for line in BufReader::new(stderr).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            eprintln!("{line}");
            if is_summary(&line) {
                *closing = Some(line);
            }
        }
    }
    let status = child.wait()?;
    if status.success() { Ok(()) } else { Err(format!("the test runner ended with {status}").into()) }
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
    group: Group,
    took: Duration,
    /// How many times slower than the machine the budget is for this one was when it began.
    pace: f64,
}

fn minutes(took: Duration) -> f64 {
    took.as_secs_f64() / 60.0
}

/// The time from the start of `.ci/run` to the start of this program, if that is how it was started.
fn set_up_time() -> Option<Time> {
    let started: u64 = env::var(STARTED).ok()?.parse().ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let took = now.saturating_sub(Duration::from_secs(started));
    Some(Time { name: "set-up", group: Group::SetUp, took, pace: pace::now() })
}

/// How many times slower the machine was, over all steps.
fn mean_pace(times: &[Time]) -> f64 {
    let total: f64 = times.iter().map(|time| minutes(time.took)).sum();
    if total == 0.0 { 1.0 } else { total / quick_minutes(times) }
}

/// The minutes the steps would have taken on the machine the budget is for. That one is not slower than this one: a quick
/// machine does not make the budget smaller.
fn quick_minutes(times: &[Time]) -> f64 {
    times.iter().map(|time| minutes(time.took) / time.pace.max(1.0)).sum()
}

/// Fails when a run would have taken more than [`MARGIN`] times what it may on the machine the budget is for.
fn in_time(times: &[Time]) -> Result {
    let total = quick_minutes(times);
    let budget: f64 = Group::ALL.iter().map(|group| group.budget_minutes()).sum();
    if total <= MARGIN * budget {
        return Ok(());
    }
    Err(format!("all steps passed, but would take {total:.0} minutes on two quiet cores, more than {MARGIN} times their budget of {budget:.0}: make a step faster, or take a smaller sample in it").into())
}

/// The minutes of every step, and of every group beside its budget.
fn table(times: &[Time]) -> String {
    let mut table = format!("{:<10}{:<8}{:>8}{:>8}\n", "step", "group", "minutes", "budget");
    for time in times {
        table += &format!("{:<10}{:<8}{:>8.2}\n", time.name, time.group.name(), minutes(time.took));
    }
    for group in Group::ALL {
        let of_group = times.iter().filter(|time| time.group == group);
        let minutes = minutes(of_group.map(|time| time.took).sum());
        let budget = group.budget_minutes();
        let verdict = if minutes > budget { "  over" } else { "" };
        table += &format!("{:<10}{:<8}{minutes:>8.2}{budget:>8.2}{verdict}\n", "all", group.name());
    }
    let total = minutes(times.iter().map(|time| time.took).sum());
    table + &format!("{:<10}{:<8}{total:>8.2}\n", "all", "all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_sums_up_groups() {
        let time = |name, group, seconds| Time { name, group, took: Duration::from_secs(seconds), pace: 1.0 };
        let times = [time("fmt", Group::Build, 6), time("clippy", Group::Build, 60), time("test", Group::Tests, 600)];
        let expected = "\
step      group    minutes  budget
fmt       build       0.10
clippy    build       1.00
test      tests      10.00
all       set-up      0.00    5.00
all       build       1.10    5.00
all       tests      10.00    4.00  over
all       rest        0.00   11.00
all       all        11.10
";
        assert_eq!(table(&times), expected);
    }

    #[test]
    fn only_twice_the_budget_of_a_quick_machine_is_too_long() {
        let took = |minutes: u64, pace: f64| {
            [Time { name: "test", group: Group::Tests, took: Duration::from_secs(minutes * 60), pace }]
        };
        assert!(in_time(&took(50, 1.0)).is_ok());
        let error = in_time(&took(51, 1.0)).unwrap_err().to_string();
        assert!(error.contains("would take 51 minutes"), "{error}");
        assert!(in_time(&took(99, 2.0)).is_ok());
        assert!(in_time(&took(102, 2.0)).is_err());
        assert!(in_time(&took(49, 0.5)).is_ok(), "a quick machine has the same budget");
        assert!((mean_pace(&took(10, 2.5)) - 2.5).abs() < 1e-9);
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
