//! Changed kernels on the timing model, on random machines with random mechanisms: every launch ends, and leaves what
//! the reference interpreter leaves.

mod contents;
mod generated;
mod independent;
mod machine;

pub use contents::Contents;
pub use generated::Generated;

use super::kernel::Corpus;
use super::orders::{Ending, Kernel, Outcome, contents};
use super::{Done, Target};
use crate::rng::Rng;
use raddle_exec::Program;
use raddle_sim::config::MachineConfig;
use raddle_sim::gpu::{Gpu, RunOptions};
use raddle_sim::result;
use std::path::Path;

/// Thread-instructions of the interpreter.
const LIMIT: u64 = 20_000;
/// Thread-instructions of the timing model, whose threads may wait longer for each other.
const TIMED_LIMIT: u64 = 200_000;
/// Cycles of the timing model; a launch that takes more hangs.
const MAX_CYCLES: u64 = 4_000_000;
/// Words whose value is a matter of the machine.
const PLACES: &[&str] = &["%smid", "%nsmid", "%warpid", "%nwarpid", "%gridid"];

/// Lanes that wait to reconverge are not let go: those at a barrier may wait for them without end.
const WAITS: &[&str] = &["bar.", "barrier."];

/// The target.
pub struct Timed(Corpus);

impl Timed {
    /// With the kernel files in a folder.
    ///
    /// # Errors
    /// When there are none.
    pub fn new(folder: &Path) -> Result<Self, String> {
        Corpus::of_folder(folder).map(Self)
    }
}

impl Target for Timed {
    fn name(&self) -> &'static str {
        "timed"
    }

    fn input(&self, seed: u64) -> Option<Vec<u8>> {
        self.0.mutant(seed).map(String::into_bytes)
    }

    fn check(&self, seed: u64, input: &[u8]) -> Result<Done, String> {
        let source = String::from_utf8_lossy(input);
        let Ok(kernel) = Kernel::new(&source, seed) else { return Ok(Done::default()) };
        let config = machine::random(&mut Rng::new(!seed));
        let Ok((expected, executions)) = kernel.expected(config.sm.warp_width, LIMIT) else {
            return Ok(Done::default());
        };
        let expected = expected.filter(|_| !PLACES.iter().any(|word| source.contains(word)));
        let mut done = Done { executions, compared: 0 };
        let found = run(&kernel, &config)?;
        done.executions += 1;
        let is_stuck = found.is_deadlock() && WAITS.iter().any(|word| source.contains(word));
        if let Some(expected) = expected.filter(|_| !is_stuck) {
            done.compared += 1;
            if let Some(what) = kernel.difference(&expected, &found)
                && !kernel.has_race(&expected, config.sm.warp_width, LIMIT)
            {
                let mechanisms = &config.mechanism;
                return Err(format!("{what}\nwarp width {}, {mechanisms:?}", config.sm.warp_width));
            }
        }
        Ok(done)
    }
}

fn run(kernel: &Kernel<'_>, config: &MachineConfig) -> Result<Outcome, String> {
    let mut ready = kernel.test(config.sm.warp_width).prepare()?;
    let refused = |text: String| Ok(Outcome::ended(Ending::Refused, text));
    let registry = raddle_mech::registry();
    let mechanisms = registry.check(config).map_err(|e| format!("{e:?}"))?;
    let program = match Program::new(&ready.image, &ready.layout) {
        Ok(program) => program,
        Err(error) => return refused(error.to_string()),
    };
    let options =
        RunOptions { max_cycles: Some(MAX_CYCLES), max_thread_insts: Some(TIMED_LIMIT), ..RunOptions::default() };
    let mut gpu = Gpu::new(config).map_err(|e| e.to_string())?;
    let result = match gpu.launch(&mechanisms, &program, &ready.launch, &mut ready.memory, options) {
        Ok(result) => result,
        Err(error) => return refused(error.to_string()),
    };
    Ok(match result.ending {
        result::Ending::Completed => {
            Outcome { ending: Ending::Completed, memory: contents(&ready.memory), text: String::new() }
        }
        result::Ending::Fault(_, fault) => Outcome::fault(&fault.kind),
        result::Ending::Deadlock(warps) => Outcome::ended(Ending::Fault("deadlock"), format!("{warps:?}")),
        result::Ending::CycleLimit => Outcome::ended(Ending::Limit, "cycles".to_owned()),
        result::Ending::InstructionLimit(_) => Outcome::ended(Ending::Limit, "instructions".to_owned()),
    })
}
