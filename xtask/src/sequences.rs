//! Random sequences of calls of the CUDA runtime API, compared with a model of what its documentation says.
//!
//! The program is `crates/cudart/tests/sequences`. It is compiled once and run with a thousand seeds to a process, by several
//! processes at a time, under each engine and some under valgrind. A process ends at its first difference; the next one
//! continues after it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::Result;
use crate::files::{root, run_cargo, target};

/// The program.
const SOURCE: &str = "crates/cudart/tests/sequences/main.cu";
/// Seeds of a process.
const EACH: u64 = 1000;
/// Differences after which no more are looked for.
const ENOUGH: usize = 20;
/// A process may take so long for each of its sequences, and a minute for itself.
const SECONDS_EACH: u64 = 2;
/// Such a limit under valgrind.
const VALGRIND_SECONDS_EACH: u64 = 20;

/// How sequences are run: the options of `raddle exec`, and the command that runs the program, if there is one.
struct Way {
    name: &'static str,
    options: &'static [&'static str],
    command: &'static [&'static str],
    seconds_each: u64,
}

const FAST: Way = Way { name: "fast", options: &["--engine", "fast"], command: &[], seconds_each: SECONDS_EACH };
const REFERENCE: Way =
    Way { name: "reference", options: &["--engine", "reference"], command: &[], seconds_each: SECONDS_EACH };
const TIMING: Way = Way { name: "timing", options: &["--engine", "timing"], command: &[], seconds_each: SECONDS_EACH };
const VALGRIND: Way = Way {
    name: "valgrind",
    options: &["--engine", "fast"],
    command: &["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=no"],
    seconds_each: VALGRIND_SECONDS_EACH,
};

/// The options of `cargo xtask sequences`.
#[derive(clap::Args)]
pub struct Args {
    /// How many under the fast engine; a tenth as many more under the other engines
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    count: u64,
    /// The first seed
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    first: u64,
    /// So many under valgrind
    #[arg(long, value_name = "N", default_value_t = 0)]
    valgrind: u64,
    /// Only a sample, in seconds: 300 under the fast engine, 40 under each of the others
    #[arg(long, conflicts_with_all = ["count", "first", "valgrind"])]
    sample: bool,
    /// So many processes at a time; all processors without it
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

/// Seeds that a process is to run.
struct Job {
    way: &'static Way,
    seeds: (u64, u64),
}

/// What processes have said.
#[derive(Default)]
struct Said {
    sequences: u64,
    calls: u64,
    /// Seconds of all processes.
    seconds: f64,
    differences: Vec<String>,
}

/// Runs many, or the sample.
pub fn run(args: &Args) -> Result {
    if args.sample {
        return sample();
    }
    let program = compile("-O1")?;
    let (first, end) = (args.first, args.first + args.count);
    let mut jobs = split(&FAST, first, end);
    jobs.extend(split(&REFERENCE, end, end + args.count / 20));
    jobs.extend(split(&TIMING, end + args.count / 20, end + args.count / 10));
    jobs.extend(split(&VALGRIND, first, first + args.valgrind));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    conclude(&explore(&program, &jobs, args.jobs.unwrap_or(processors)))
}

/// Runs a few. The program is compiled in the shortest time.
pub fn sample() -> Result {
    let program = compile("-O0")?;
    let jobs = [(&FAST, (0, 300)), (&REFERENCE, (300, 340)), (&TIMING, (340, 380))];
    let jobs = jobs.map(|(way, seeds)| Job { way, seeds });
    conclude(&explore(&program, &jobs, jobs.len()))
}

/// Seeds in jobs of a process each.
fn split(way: &'static Way, first: u64, end: u64) -> Vec<Job> {
    let starts = (first..end).step_by(EACH as usize);
    starts.map(|start| Job { way, seeds: (start, end.min(start + EACH)) }).collect()
}

/// Compiles the program.
fn compile(level: &str) -> Result<PathBuf> {
    run_cargo(&["build", "--quiet", "--locked", "-p", "raddle-cli", "-p", "raddle-cudart"])?;
    let folder = target().join("sequences");
    fs::create_dir_all(&folder)?;
    let program = folder.join("sequences");
    let mut command = raddle();
    command.args(["cc", level, "-std=c++17"]).arg(root().join(SOURCE)).arg("-o").arg(&program);
    let done = command.output()?;
    match done.status.success() {
        true => Ok(program),
        false => Err(format!("{SOURCE} does not compile:\n{}", String::from_utf8_lossy(&done.stderr)).into()),
    }
}

fn raddle() -> Command {
    let mut command = Command::new(target().join("debug/raddle"));
    command.stdin(Stdio::null());
    command
}

/// Runs jobs, so many at a time.
fn explore(program: &Path, jobs: &[Job], at_once: usize) -> Said {
    let (next, said) = (AtomicUsize::new(0), Mutex::new(Said::default()));
    std::thread::scope(|scope| {
        for worker in 0..at_once {
            let (next, said) = (&next, &said);
            scope.spawn(move || {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(program, job, worker, said);
                }
            });
        }
    });
    said.into_inner().unwrap_or_default()
}

/// Runs a job, in as many processes as there are differences.
fn work(program: &Path, job: &Job, worker: usize, said: &Mutex<Said>) {
    let (mut from, to) = job.seeds;
    while from < to {
        let start = Instant::now();
        let output =
            run_process(program, job.way, (from, to), worker).unwrap_or_else(|error| format!("not run: {error}"));
        let Ok(mut said) = said.lock() else { return };
        said.seconds += start.elapsed().as_secs_f64();
        let (sequences, calls) = counts(&output);
        said.sequences += sequences;
        said.calls += calls;
        if is_pass(&output) {
            return;
        }
        let what = format!("{}: {}", job.way.name, difference(&output, from));
        println!("sequences: {what}");
        from = seed(&what).map_or(to, |seed| seed + 1);
        said.differences.push(what);
        if said.differences.len() >= ENOUGH {
            return;
        }
    }
}

/// What a process prints. One that takes too long is ended.
fn run_process(program: &Path, way: &Way, (from, to): (u64, u64), worker: usize) -> Result<String> {
    let path = program.with_extension(format!("{worker}.txt"));
    let mut command = raddle();
    command.arg("exec").args(way.options).args(way.command).arg(program).args([from.to_string(), to.to_string()]);
    command.stdout(fs::File::create(&path)?).stderr(fs::File::create(path.with_extension("errors"))?);
    let end = Instant::now() + Duration::from_secs(60 + way.seconds_each * (to - from));
    let mut child = command.spawn()?;
    let mut status = child.try_wait()?;
    while status.is_none() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(50));
        status = child.try_wait()?;
    }
    if status.is_none() {
        child.kill()?;
    }
    let status = status.map_or_else(|| child.wait(), Ok)?;
    let mut text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
    // Valgrind says what it has found by the status.
    if !status.success() && is_pass(&text) {
        let errors = fs::read(path.with_extension("errors"))?;
        text = format!("seed {from}: ended with {status}\n{}", String::from_utf8_lossy(&errors));
    }
    Ok(text)
}

fn is_pass(output: &str) -> bool {
    output.lines().last() == Some("PASS")
}

/// Sequences and calls: `12 sequences, 345 calls`.
fn counts(output: &str) -> (u64, u64) {
    let line = output.lines().rev().find_map(|line| line.strip_suffix(" calls")?.split_once(" sequences, "));
    line.map_or((0, 0), |(sequences, calls)| (sequences.parse().unwrap_or(0), calls.parse().unwrap_or(0)))
}

/// The difference that a process has found, or what it printed last.
fn difference(output: &str, from: u64) -> String {
    match output.lines().find_map(|line| line.strip_prefix("DIFFERENCE ")) {
        Some(line) => line.to_owned(),
        None => format!("from seed {from}: the process ended early: {}", output.lines().last().unwrap_or_default()),
    }
}

/// The seed that a difference begins with.
fn seed(what: &str) -> Option<u64> {
    what.split_once(": seed ")?.1.split(' ').next()?.parse().ok()
}

fn conclude(said: &Said) -> Result {
    let Said { sequences, calls, seconds, differences } = said;
    println!(
        "sequences: {sequences} sequences, {calls} calls in {seconds:.0} s of processes, {} differences",
        differences.len()
    );
    if differences.is_empty() {
        return Ok(());
    }
    println!(
        "to repeat one: target/debug/raddle exec --engine fast target/sequences/sequences SEED SEED+1 --calls N --show"
    );
    Err(format!("sequences: {} differences from the model", differences.len()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_processes_print_is_understood() {
        let passed = "12 sequences, 345 calls\nPASS\n";
        assert!(is_pass(passed) && counts(passed) == (12, 345));
        let failed = "DIFFERENCE seed 7 call 3: cudaFree(null): got 1, expected 0\n6 sequences, 90 calls\nFAIL\n";
        assert!(!is_pass(failed) && counts(failed) == (6, 90));
        let what = format!("fast: {}", difference(failed, 1));
        assert_eq!(what, "fast: seed 7 call 3: cudaFree(null): got 1, expected 0");
        assert_eq!(seed(&what), Some(7));
        assert_eq!(seed(&format!("fast: {}", difference("", 5))), None);
    }

    #[test]
    fn jobs_have_every_seed_once() {
        let jobs = split(&FAST, 500, 2600);
        assert_eq!(jobs.iter().map(|job| job.seeds).collect::<Vec<_>>(), [(500, 1500), (1500, 2500), (2500, 2600)]);
        assert!(split(&FAST, 5, 5).is_empty());
    }
}
