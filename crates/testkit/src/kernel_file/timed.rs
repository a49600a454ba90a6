//! Kernel files on the timing model.

use super::{Ready, Run, Test, read};
use crate::engine::Engine;
use raddle_exec::{Level, Program, Report, RunError};
use raddle_sim::config::MachineConfig;
use raddle_sim::gpu::{Gpu, RunOptions};
use raddle_sim::result::{Ending, LaunchResult};

/// A test on the timing model that takes more cycles than this hangs.
const MAX_CYCLES: u64 = 2_000_000;

/// A launch of a kernel file on the timing model.
#[derive(Debug)]
pub struct Timed {
    /// How it ended, and every counter.
    pub result: LaunchResult,
    /// Buffers afterwards, in the order of the parameters.
    pub buffers: Vec<Vec<u8>>,
}

impl Timed {
    /// Everything there is to compare, as text.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        format!("{self:?}")
    }

    /// The words of a buffer.
    #[must_use]
    pub fn words(&self, buffer: usize) -> Vec<u32> {
        self.buffers[buffer].chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }
}

/// Runs a kernel file on a machine and compares what it leaves behind with what it must leave. Runs the machine's warp
/// width makes no sense for, and those a block of which does not fit an SM, are left out.
///
/// # Errors
/// A text that says which run differs, where, and how.
pub fn check_timed(source: &str, config: &MachineConfig) -> Result<(), String> {
    let (module, runs) = read(source)?;
    for (number, run) in runs.iter().enumerate().filter(|(_, run)| fits(run, config)) {
        let test = Test { module: &module, source, run, width: config.sm.warp_width };
        let ready = test.prepare()?;
        let (timed, ready) = launch(ready, source, config, RunOptions::default())?;
        let outcome = match &timed.result.ending {
            Ending::Completed => Ok(Report { output: timed.result.output.clone(), ..Report::default() }),
            Ending::Fault(_, fault) => Err(RunError::Fault(fault.clone())),
            other => return Err(format!("run {}: {other:?}", number + 1)),
        };
        let compared = test.compare(outcome, &ready.memory, &ready.addresses);
        compared.map_err(|e| format!("run {} on the timing model: {e}", number + 1))?;
    }
    Ok(())
}

/// Runs every launch of a kernel file on a machine, whatever it leaves behind.
///
/// # Errors
/// What keeps it from starting.
pub fn run_timed<'o>(
    source: &'o str,
    config: &MachineConfig,
    options: impl Fn() -> RunOptions<'o>,
) -> Result<Vec<Timed>, String> {
    let (module, runs) = read(source)?;
    let start = |run: &Run| {
        let test = Test { module: &module, source, run, width: config.sm.warp_width };
        Ok(launch(test.prepare()?, source, config, options())?.0)
    };
    runs.iter().filter(|run| fits(run, config)).map(start).collect()
}

/// Runs every launch of a kernel file on the functional machine; the buffers of each afterwards.
///
/// # Errors
/// When a launch faults.
pub fn run_functional(source: &str, width: u32) -> Result<Vec<Vec<Vec<u8>>>, String> {
    let (module, runs) = read(source)?;
    let run = |run: &Run| {
        let test = Test { module: &module, source, run, width };
        let mut ready = test.prepare()?;
        let level = Level::available().into_iter().next_back().ok_or("no level")?;
        let Ready { image, layout, launch, memory, .. } = &mut ready;
        Engine::Fast(level).run(image, layout, launch, memory, width).map_err(|e| e.to_string())?;
        ready.buffers()
    };
    runs.iter().map(run).collect()
}

fn fits(run: &Run, config: &MachineConfig) -> bool {
    let threads: u32 = run.block.iter().product();
    run.widths.contains(&config.sm.warp_width) && threads <= config.sm.threads
}

fn launch<'t, 'o>(
    mut ready: Ready<'t>,
    source: &'o str,
    config: &MachineConfig,
    mut options: RunOptions<'o>,
) -> Result<(Timed, Ready<'t>), String> {
    let registry = raddle_mech::registry();
    let mechanisms = registry.check(config).map_err(|e| format!("{e:?}"))?;
    let program = Program::new(&ready.image, &ready.layout).map_err(|e| e.to_string())?;
    options.max_cycles = options.max_cycles.or(Some(MAX_CYCLES));
    let options = RunOptions { source: Some(source), ..options };
    let mut gpu = Gpu::new(config).map_err(|e| e.to_string())?;
    let result = gpu.launch(&mechanisms, &program, &ready.launch, &mut ready.memory, options);
    let result = result.map_err(|e| e.to_string())?;
    let buffers = ready.buffers()?;
    Ok((Timed { result, buffers }, ready))
}

impl Ready<'_> {
    pub(super) fn buffers(&self) -> Result<Vec<Vec<u8>>, String> {
        let bytes = |(_, address): &(&str, u64)| Ok(self.memory.bytes(self.memory.find(*address, 1)?.0).to_vec());
        self.addresses
            .iter()
            .map(bytes)
            .collect::<Result<_, raddle_exec::memory::AccessError>>()
            .map_err(|e| e.to_string())
    }
}
