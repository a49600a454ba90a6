//! Host instructions per simulated instruction, counted by callgrind: repeatable where seconds are not.
//!
//! Only what happens inside the run of a kernel counts; making inputs, decoding and checking do not. Valgrind has no
//! AVX-512, so the figures are those of the x86-64-v3 kernels.
//!
//! Of the timing model each kernel is run at two sizes, and the difference counts: what a launch costs whatever its
//! size is in neither. Those sizes are small, so that CI can count them; `--filled` counts sizes that fill the GPU, and says in
//! which part of the timing model.

mod stages;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::Result;
use crate::files::{root, run_cargo, target};
use crate::sample::Sample;

/// The expected values of the timing model.
const TABLE: &str = "benches/host-instructions.toml";

/// By how much a value may differ from the table's, in percent.
const TOLERANCE: f64 = 5.0;

/// How the benchmarks are compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Build {
    /// As for tests, with debug assertions: nothing is compiled only to be counted.
    Dev,
    Release,
}

impl Build {
    /// The key of the table that has its values.
    fn key(self) -> &'static str {
        match self {
            Self::Dev => "with_assertions",
            Self::Release => "per_warp_instruction",
        }
    }

    fn folder(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            Self::Release => "release",
        }
    }

    fn compile(self, benchmarks: &[&str]) -> Result {
        let mut args = vec!["build", "--locked"];
        args.extend(match self {
            // With the features that everything else has: then all but the benchmark is there.
            Self::Dev => &["--workspace"][..],
            Self::Release => &["--release", "-p", "raddle-benches"],
        });
        args.extend(benchmarks.iter().flat_map(|name| ["--bin", name]));
        run_cargo(&args)
    }
}

/// Prints Markdown tables, or compares the timing model with the committed one.
pub fn run(check_only: bool) -> Result {
    Build::Release.compile(if check_only { &["timing"] } else { &["timing", "functional"] })?;
    if !check_only {
        functional()?;
        gangs()?;
    }
    timing(Build::Release, check_only)
}

/// The step of CI: compares the timing model as tests have it with the committed table, and complete, as it is released.
pub fn check(sample: &Sample) -> Result {
    if let Sample::Complete = sample {
        return run(true);
    }
    Build::Dev.compile(&["timing"])?;
    timing(Build::Dev, true)
}

/// Sizes at which every SM holds all the blocks it can.
const FILLED: [(&str, u64); 6] =
    [("diverge", 24576), ("matmul", 160), ("stencil", 512), ("reduce", 262_144), ("vecadd", 262_144), ("bfs", 16384)];

/// Prints what each part of the timing model costs at sizes that fill the GPU.
pub fn filled() -> Result {
    Build::Release.compile(&["timing"])?;
    // Two at a time: each takes minutes.
    let (first, second) = FILLED.split_at(3);
    let count_all = |kernels: &[(&str, u64)]| {
        kernels.iter().map(|(kernel, size)| profile(kernel, *size).map_err(|e| e.to_string())).collect::<Vec<_>>()
    };
    let profiles: Vec<_> = std::thread::scope(|scope| {
        let other = scope.spawn(|| count_all(second));
        let mut all = count_all(first);
        all.extend(other.join().unwrap_or_default());
        all
    });
    let profiles = profiles.into_iter().collect::<std::result::Result<Vec<_>, String>>()?;
    println!("| stage | {} |", FILLED.map(|(kernel, size)| format!("{kernel} {size}")).join(" | "));
    println!("| --- |{}", " --: |".repeat(FILLED.len()));
    let row = |name: &str, values: Vec<f64>| {
        let values: Vec<String> = values.iter().map(|value| format!("{value:.0}")).collect();
        println!("| {name} | {} |", values.join(" | "));
    };
    let total = |costs: &BTreeMap<&str, u64>| costs.values().sum::<u64>();
    row("all", profiles.iter().map(|(costs, warps)| total(costs) as f64 / *warps as f64).collect());
    for name in stages::names() {
        let of = |(costs, warps): &Profile| costs.get(name).copied().unwrap_or(0) as f64 / *warps as f64;
        row(name, profiles.iter().map(of).collect());
    }
    Ok(())
}

/// Host instructions by stage, and warp-instructions.
type Profile = (BTreeMap<&'static str, u64>, u64);

fn profile(kernel: &str, size: u64) -> Result<Profile> {
    let file = target().join(format!("callgrind.{kernel}.{size}"));
    let (_, text) = count_to(Build::Release, "timing", LAUNCH, &["once", kernel, &size.to_string()], &file)?;
    let warps = number_after(&text, "warp_insts ").ok_or_else(|| format!("no count in: {text}"))?;
    Ok((stages::costs(&std::fs::read_to_string(file)?), warps))
}

/// What makes warps of four lanes of the machine, which go in gangs.
const GANGS: [&str; 5] = ["vws-sm", "sm.warp_width=4", "sm.simd_width=4", "sm.slices=8", "mechanism.ganging=vws"];

/// What a simulated cycle costs with warps of 32, and with gangs of narrow ones.
fn gangs() -> Result {
    println!("| kernel | size | host instructions per cycle, warps of 32 | gangs of 8 warps of 4 | times |");
    println!("| --- | --: | --: | --: | --: |");
    for (kernel, size) in [
        ("vecadd", "49152"),
        ("matmul", "96"),
        ("diverge", "6144"),
        ("bfs", "1536"),
        ("stencil", "160"),
        ("reduce", "65536"),
    ] {
        let per_cycle = |changes: &[&str]| -> Result<f64> {
            let (collected, text) =
                count(Build::Release, "timing", LAUNCH, &[&["once", kernel, size], changes].concat())?;
            let cycles = number_after(&text, "cycles ").ok_or_else(|| format!("no cycles in: {text}"))?;
            Ok(collected as f64 / cycles as f64)
        };
        let (wide, gangs) = (per_cycle(&GANGS[..1])?, per_cycle(&GANGS)?);
        println!("| {kernel} | {size} | {wide:.0} | {gangs:.0} | {:.1} |", gangs / wide);
    }
    println!();
    Ok(())
}

/// The kernels of the benchmark, run without time.
fn functional() -> Result {
    println!("| kernel | host instructions | per thread-instruction | per warp-instruction |");
    println!("| --- | --- | --- | --- |");
    for kernel in raddle_testkit::reference::KERNELS {
        let (collected, table) = count(Build::Release, "functional", "raddle_exec::run::run", &["--once", kernel])?;
        let row = table.lines().find(|l| l.starts_with(kernel)).ok_or_else(|| format!("no row in: {table}"))?;
        let counts: Vec<f64> = row.split_whitespace().skip(1).filter_map(|w| w.parse().ok()).collect();
        let [threads, warps, ..] = counts[..] else { return Err(format!("no counts in: {row}").into()) };
        println!("| {kernel} | {collected} | {:.1} | {:.0} |", collected as f64 / threads, collected as f64 / warps);
    }
    println!();
    Ok(())
}

/// The kernels of the table, with time: fails when one costs more than it says. The serial part is counted only for
/// those who want to know.
fn timing(build: Build, check_only: bool) -> Result {
    let table: Value = toml::from_str(&std::fs::read_to_string(root().join(TABLE))?)?;
    let table = table.as_object().ok_or("the table has no kernels")?;
    // Counts do not depend on what else runs. An error goes from thread to thread as text.
    let rows: Vec<std::result::Result<Row, String>> = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (kernel, row) in table {
            threads.push(scope.spawn(move || Row::count(build, kernel, row, check_only).map_err(|e| e.to_string())));
        }
        threads.into_iter().map(|t| t.join().unwrap_or_else(|_| Err("a thread panicked".to_owned()))).collect()
    });
    println!(
        "| kernel | sizes | warp-instructions | host instructions per warp-instruction | expected | serial part |"
    );
    println!("| --- | --- | --: | --: | --: | --: |");
    let mut grown = Vec::new();
    for row in rows {
        let Row { kernel, sizes: [small, large], warps, found, expected, serial } = row?;
        let serial = serial.map(|part| format!("{part:.1} %")).unwrap_or_default();
        println!("| {kernel} | {small}, {large} | {warps} | {found:.0} | {expected} | {serial} |");
        let change = 100.0 * (found / expected - 1.0);
        if change > TOLERANCE {
            grown.push(format!("{kernel} by {change:.1} %"));
        } else if change < -TOLERANCE {
            println!("{kernel} costs {:.1} % less than {TABLE} says: update it", -change);
        }
    }
    if grown.is_empty() {
        return Ok(());
    }
    Err(format!("host instructions per warp-instruction have grown: {}; see {TABLE}", grown.join(", ")).into())
}

/// What was counted of a kernel.
struct Row {
    kernel: String,
    sizes: [u64; 2],
    warps: u64,
    /// Host instructions per warp-instruction.
    found: f64,
    expected: f64,
    /// Percent of them that one host thread does alone.
    serial: Option<f64>,
}

impl Row {
    fn count(build: Build, kernel: &str, row: &Value, check_only: bool) -> Result<Self> {
        let number = |value: &Value| value.as_u64().ok_or_else(|| format!("{TABLE}: {kernel} lacks a number"));
        let sizes = [number(&row["sizes"][0])?, number(&row["sizes"][1])?];
        let expected = number(&row[build.key()])? as f64;
        let ((base, few), (all, many)) =
            (timed(build, LAUNCH, kernel, sizes[0])?, timed(build, LAUNCH, kernel, sizes[1])?);
        let serial = if check_only { None } else { Some(timed(build, EXCHANGE, kernel, sizes[1])?.0) };
        let serial = serial.map(|count| 100.0 * count as f64 / all as f64);
        let (warps, found) = (many - few, all.saturating_sub(base) as f64 / (many - few) as f64);
        Ok(Self { kernel: kernel.to_owned(), sizes, warps, found, expected, serial })
    }
}

/// A launch.
const LAUNCH: &str = "raddle_sim::gpu::Gpu::launch";

/// What one host thread does alone at the edge of every window.
const EXCHANGE: &str = "raddle_sim::gpu::run::Run*exchange";

/// Host instructions inside a function, and warp-instructions.
fn timed(build: Build, inside: &str, kernel: &str, size: u64) -> Result<(u64, u64)> {
    let (collected, text) = count(build, "timing", inside, &["once", kernel, &size.to_string()])?;
    let warps = number_after(&text, "warp_insts ").ok_or_else(|| format!("no count in: {text}"))?;
    Ok((collected, warps))
}

/// Host instructions inside a function of a benchmark, and what it printed.
fn count(build: Build, benchmark: &str, inside: &str, args: &[&str]) -> Result<(u64, String)> {
    count_to(build, benchmark, inside, args, Path::new("/dev/null"))
}

/// The same, and a profile in a file.
fn count_to(build: Build, benchmark: &str, inside: &str, args: &[&str], profile: &Path) -> Result<(u64, String)> {
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(format!("--toggle-collect={inside}"))
        .arg(target().join(build.folder()).join(benchmark))
        .args(args)
        .output()
        .map_err(|e| format!("valgrind: {e}; install Debian's package valgrind"))?;
    let talk = String::from_utf8_lossy(&output.stderr);
    match number_after(&talk, "Collected : ") {
        Some(collected) if collected > 0 && output.status.success() => {
            Ok((collected, String::from_utf8_lossy(&output.stdout).into_owned()))
        }
        _ => Err(format!("no count of {inside} in: {talk}").into()),
    }
}

fn number_after(text: &str, key: &str) -> Option<u64> {
    let (_, rest) = text.split_once(key)?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_count_is_found() {
        assert_eq!(super::number_after("==1== Collected : 42\n==1==", "Collected : "), Some(42));
        assert_eq!(super::number_after("nothing", "Collected : "), None);
    }
}
