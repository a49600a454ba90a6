//! Programs that ship with Raddle, and launch files.

use crate::error;
use crate::machine::Machine;
use crate::run::Run;
use crate::trouble::{Trouble, refuse_callbacks};
use pyo3::prelude::*;
use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::timing::{TimingOptions, Watch};
use raddle_runtime::{Engine, EngineOptions, Problem, PtxFile, input};
use raddle_workloads::{Request, Size, Workload, all, find};
use std::path::Path;
use std::sync::Arc;

/// Names of all workloads.
#[pyfunction]
pub fn workload_names() -> Vec<&'static str> {
    all().iter().map(|workload| workload.name).collect()
}

/// CUDA source, PTX and sizes of a workload.
#[pyfunction]
pub fn workload(name: &str) -> PyResult<(&'static str, &'static str, Vec<String>)> {
    let workload = find(name).map_err(error::problem)?;
    let module = workload.module().map_err(error::workload)?;
    let manifest = workload.manifest(&module).map_err(error::workload)?;
    Ok((workload.source, workload.ptx, manifest.sizes.keys().map(ToString::to_string).collect()))
}

/// The engine and its options, for launches that end with this trouble.
pub fn options(
    machine: &Machine,
    engine: &str,
    threads: usize,
    profile: bool,
    trouble: &Trouble,
) -> PyResult<RunOptions> {
    let config = machine.machine.config.clone();
    let engine = Engine::ALL.into_iter().find(|known| known.name() == engine).ok_or_else(|| {
        let problem = Problem::new(format!("there is no engine `{engine}`"));
        error::problem(problem.help("they are timing, fast and reference"))
    })?;
    let warp_width = config.sm.warp_width;
    let timing = (engine == Engine::Timing)
        .then(|| Box::new(TimingOptions { threads: threads.max(1), profile, ..TimingOptions::new(config) }));
    let engine = EngineOptions { engine, warp_width };
    Ok(RunOptions { engine, timing, interrupt: Some(trouble.interrupt()), ..RunOptions::default() })
}

/// A run with the machine, if it had one.
fn finished(machine: &Machine, ptx: PtxFile, cuda: Option<(String, String)>, ran: raddle_workloads::Ran) -> Run {
    let is_timed = ran.launches.iter().any(|launched| launched.timed.is_some());
    Run {
        launches: ran.launches,
        ptx: Arc::new(ptx),
        cuda,
        machine: is_timed.then(|| Arc::clone(&machine.machine)),
        record: None,
        checked: ran.checked,
    }
}

fn ran(workload: &Workload, size: Size, seed: u64, setup: &Setup) -> PyResult<(PtxFile, raddle_workloads::Ran)> {
    let module = workload.module().map_err(error::workload)?;
    let request = Request { seed, ..Request::new(size) };
    let ran = workload.run(&module, setup, Watch::default(), &request).map_err(error::workload)?;
    Ok((module, ran))
}

/// Raises what a run did not do well.
fn check(py: Python<'_>, ptx: &PtxFile, ran: &mut raddle_workloads::Ran) -> PyResult<()> {
    if let Some((last, stop)) = ran.launches.last().and_then(|last| Some((last, last.stop.as_ref()?))) {
        return Err(error::stopped(py, &last.kernel, stop, ptx));
    }
    match ran.wrong.take() {
        Some(wrong) => Err(error::workload(wrong)),
        None => Ok(()),
    }
}

/// Runs a workload and compares its results.
#[pyfunction]
#[pyo3(signature = (machine, name, size, seed, engine, threads, profile))]
#[allow(clippy::too_many_arguments, reason = "the arguments of the function in Python")]
pub fn run_workload(
    py: Python<'_>,
    machine: &Bound<'_, Machine>,
    name: &str,
    size: &str,
    seed: u64,
    engine: &str,
    threads: usize,
    profile: bool,
) -> PyResult<Run> {
    refuse_callbacks()?;
    let machine = machine.get();
    let workload = find(name).map_err(error::problem)?;
    let size = Size::ALL.into_iter().find(|known| known.name() == size).ok_or_else(|| {
        let problem = Problem::new(format!("there is no size `{size}`"));
        error::problem(problem.help("they are tiny, small and paper"))
    })?;
    let trouble = Trouble::default();
    let options = options(machine, engine, threads, profile, &trouble)?;
    let setup = Setup::with_registry(options, Arc::clone(&machine.registry));
    let result = py.detach(|| trouble.during(|| ran(workload, size, seed, &setup)));
    trouble.raise()?;
    let (ptx, mut ran) = result?;
    check(py, &ptx, &mut ran)?;
    let cuda = Some((format!("{}.cu", workload.name), workload.source.to_owned()));
    Ok(finished(machine, ptx, cuda, ran))
}

/// Runs a launch file and compares what it expects.
#[pyfunction]
pub fn run_launch_file(
    py: Python<'_>,
    machine: &Bound<'_, Machine>,
    path: &str,
    engine: &str,
    threads: usize,
    profile: bool,
) -> PyResult<Run> {
    refuse_callbacks()?;
    let machine = machine.get();
    let trouble = Trouble::default();
    let options = options(machine, engine, threads, profile, &trouble)?;
    let setup = Setup::with_registry(options, Arc::clone(&machine.registry));
    let result = py.detach(|| {
        let path = Path::new(path);
        let text = input::text(path)
            .map_err(|e| error::problem(Problem::new(format!("cannot read {}: {e}", path.display()))))?;
        let run = || raddle_cli::embed::launch_file(path, &text, &setup);
        let (ptx, outcome) = trouble.during(run).map_err(error::Error::new_err)?;
        Ok::<_, PyErr>((ptx, outcome))
    });
    trouble.raise()?;
    let (ptx, outcome) = result?;
    if let Some((last, stop)) = outcome.launches.last().zip(outcome.stop()) {
        return Err(error::stopped(py, &last.kernel, stop, &ptx));
    }
    if let Some(wrong) = outcome.checks.iter().find(|check| check.comparison.wrong > 0) {
        let (wrong, compared) = (wrong.comparison.wrong, wrong.comparison.compared);
        let text = format!("a buffer is not as the launch file expects: {wrong} of {compared} elements differ");
        return Err(error::Error::new_err(text));
    }
    let checked = outcome.checks.len();
    let ran =
        raddle_workloads::Ran { launches: outcome.launches, checked, wrong: None, memory: None, kept: Vec::new() };
    Ok(finished(machine, ptx, None, ran))
}
