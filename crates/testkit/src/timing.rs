//! The reference kernels on the timing model, beside what the reference simulator measured.

use crate::reference::{self, Case};
use raddle_sim::config::{Choice, Machine, MachineConfig, Source};
use raddle_sim::gpu::{Gpu, GpuError, RunOptions};
use raddle_sim::result::{Ending, LaunchResult};
use raddle_sim::seam::Registry;
use serde_json::Value;

/// A kernel with a launch, a scheduler and the reference's figures.
pub struct Point {
    /// The kernel.
    pub case: Case,
    /// The machine the reference has results of.
    pub preset: &'static str,
    /// Issue scheduler.
    pub scheduler: String,
    /// Registers per thread the reference used.
    pub registers: Option<u32>,
    /// What the reference measured; at least `cycles`.
    pub measured: Value,
}

impl Point {
    /// Cycles the reference took.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.measured["cycles"].as_u64().unwrap_or(0)
    }

    fn from_row(case: Case, row: &Value) -> Self {
        let scheduler = row["scheduler"].as_str().unwrap_or("gto").to_owned();
        let registers = row["ptxas"]["regs"].as_u64().map(|n| n as u32);
        Self { case, preset: "gtx480", scheduler, registers, measured: row.clone() }
    }

    /// Of a row of the V100's results.
    fn from_v100(case: Case, row: &Value) -> Self {
        let registers = row["registers"][&case.kernel].as_u64().map(|n| n as u32);
        Self { preset: "v100", registers, ..Self::from_row(case, row) }
    }
}

/// The six kernels at full size, with both schedulers.
#[must_use]
pub fn kernels() -> Vec<Point> {
    let rows = reference::rows("kernels.json");
    rows.iter().map(|r| Point::from_row(reference::full(r["kernel"].as_str().unwrap_or_default()), r)).collect()
}

/// All micro runs.
#[must_use]
pub fn micros() -> Vec<Point> {
    reference::rows("micro.json").iter().map(|r| Point::from_row(reference::micro_case(r), r)).collect()
}

/// The six kernels on the V100, at full size with both schedulers and at smaller ones.
#[must_use]
pub fn v100_kernels() -> Vec<Point> {
    let point = |row: &Value| {
        let name = row["kernel"].as_str().unwrap_or_default();
        let case = match row["size"].as_u64() {
            Some(size) => {
                let case = reference::sized(name, size as usize);
                Case { name: format!("{name} {size}"), ..case }
            }
            None => Case { thread_insts: row["thread_insts"].as_u64(), ..reference::full(name) },
        };
        Point::from_v100(case, row)
    };
    reference::rows_of("v100", "kernels.json").iter().map(point).collect()
}

/// The micro runs on the V100.
#[must_use]
pub fn v100_micros() -> Vec<Point> {
    let known = reference::rows("micro.json");
    let point = |row: &Value| {
        // What they compute is written down in the other machine's results.
        let mut row = row.clone();
        if let Some(same) = known.iter().find(|other| other["name"] == row["name"]) {
            (row["out0"], row["out_sum"]) = (same["out0"].clone(), same["out_sum"].clone());
        }
        Point::from_v100(reference::micro_case(&row), &row)
    };
    reference::rows_of("v100", "micro.json").iter().map(point).collect()
}

/// The smaller sizes of the six kernels.
#[must_use]
pub fn small() -> Vec<Point> {
    /// A kernel by size, a scheduler, sizes with their cycles.
    type Sizes = (fn(usize) -> Case, &'static str, &'static [(usize, u64)]);
    let table: [Sizes; 7] = [
        (reference::vecadd, "gto", &[(32, 1356), (256, 1442), (4096, 1691), (65536, 5673)]),
        (reference::matmul, "gto", &[(16, 3843), (64, 7830), (128, 24646)]),
        (reference::matmul, "lrr", &[(16, 3887), (64, 7871), (128, 26860)]),
        (reference::diverge, "gto", &[(256, 8555), (4096, 15030)]),
        (reference::bfs, "gto", &[(256, 4817), (4096, 21020)]),
        (reference::stencil, "gto", &[(16, 2360), (64, 2825), (128, 3792)]),
        (reference::reduce, "gto", &[(512, 2568), (8192, 2634), (65536, 6663)]),
    ];
    let rows = reference::rows("kernels.json");
    let mut points = Vec::new();
    for (make, scheduler, sizes) in table {
        for &(size, cycles) in sizes {
            let mut case = make(size);
            let row = rows.iter().find(|r| r["kernel"] == case.kernel.as_str());
            let registers = row.and_then(|r| r["ptxas"]["regs"].as_u64()).map(|n| n as u32);
            case.name = format!("{} {size}", case.name);
            let measured = serde_json::json!({ "cycles": cycles });
            points.push(Point { case, preset: "gtx480", scheduler: scheduler.to_owned(), registers, measured });
        }
    }
    points
}

/// One of the six kernels at any size, with the registers the reference used.
#[must_use]
pub fn sized(kernel: &str, size: usize) -> Point {
    let row = reference::rows("kernels.json").into_iter().find(|r| r["kernel"] == kernel).unwrap_or_default();
    let mut point = Point::from_row(reference::sized(kernel, size), &row);
    "gto".clone_into(&mut point.scheduler);
    point.measured = Value::Null;
    point
}

/// A preset with changes.
///
/// # Panics
/// When the preset or a change is wrong: tests name them.
#[must_use]
pub fn machine(preset: &str, set: &[impl AsRef<str>]) -> MachineConfig {
    Machine::load(Source::Preset(preset), set).unwrap_or_else(|e| panic!("{preset}: {e:?}")).config
}

/// The reference machine with an issue scheduler and changes.
#[must_use]
pub fn gtx480(scheduler: &str, set: &[impl AsRef<str>]) -> MachineConfig {
    let mut config = machine("gtx480", set);
    config.mechanism.issue = Choice::Name(scheduler.to_owned());
    config
}

/// Runs a kernel on a machine and checks what it computed.
///
/// # Panics
/// When it does not end, or computes something else: that is what is tested.
#[must_use]
pub fn run(case: &Case, config: &MachineConfig, options: RunOptions<'_>) -> LaunchResult {
    try_run(case, config, options).unwrap_or_else(|e| panic!("{}: {e}", case.name))
}

/// The same where it may not come to its end.
///
/// # Errors
/// When the machine does not run it, or it is stopped.
///
/// # Panics
/// When it ends in another way, or computes something else.
pub fn try_run(case: &Case, config: &MachineConfig, options: RunOptions<'_>) -> Result<LaunchResult, GpuError> {
    try_run_with(&raddle_mech::registry(), case, config, options)
}

/// The same with mechanisms of a test among others.
///
/// # Errors
/// As [`try_run`].
///
/// # Panics
/// As [`try_run`].
pub fn try_run_with(
    registry: &Registry,
    case: &Case,
    config: &MachineConfig,
    options: RunOptions<'_>,
) -> Result<LaunchResult, GpuError> {
    let mechanisms = registry.check(config).unwrap_or_else(|e| panic!("{}: {e:?}", case.name));
    let mut prepared = case.prepare();
    let program = prepared.program();
    let mut gpu = Gpu::new(config)?;
    let launch = prepared.launch.clone();
    let result = gpu.launch(&mechanisms, &program, &launch, &mut prepared.memory, options)?;
    assert!(matches!(result.ending, Ending::Completed), "{}: {:?}", case.name, result.ending);
    case.check(&prepared).unwrap_or_else(|e| panic!("{e}"));
    Ok(result)
}

/// Runs a point on the reference machine, with changes to it.
#[must_use]
pub fn run_point(point: &Point, set: &[impl AsRef<str>]) -> LaunchResult {
    let mut config = machine(point.preset, set);
    config.mechanism.issue = Choice::Name(point.scheduler.clone());
    run(&point.case, &config, RunOptions { registers: point.registers, ..RunOptions::default() })
}
