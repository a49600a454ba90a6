//! Generated kernels on the timing model.

use super::{MAX_CYCLES, machine};
use crate::fuzz::generate::{self, Size};
use crate::fuzz::generated::{Case, Change, End, LIMIT};
use crate::fuzz::orders::contents;
use crate::fuzz::{Done, Target};
use crate::kernel_file::Ready;
use crate::rng::Rng;
use raddle_exec::Program;
use raddle_sim::config::MachineConfig;
use raddle_sim::gpu::{Gpu, RunOptions};
use raddle_sim::result::Ending;

/// The target.
#[derive(Default)]
pub struct Generated {
    change: Option<Change>,
}

impl Generated {
    /// With a timing model that misreads kernels, as [`crate::fuzz::generated::Generated::with_fault`].
    #[must_use]
    pub fn with_fault(change: Change) -> Self {
        Self { change: Some(change) }
    }
}

impl Target for Generated {
    fn name(&self) -> &'static str {
        "generated-timed"
    }

    fn input(&self, seed: u64) -> Option<Vec<u8>> {
        Some(generate::kernel(seed, Size::Small).into_bytes())
    }

    fn check(&self, seed: u64, input: &[u8]) -> Result<Done, String> {
        let source = String::from_utf8_lossy(input);
        let case = Case::new(&source, self.change)?;
        let mut rng = Rng::new(!seed);
        let mut done = Done::default();
        for n in 0..case.runs.len() {
            let config = machine_for(&case.runs[n].widths, &mut rng);
            let width = config.sm.warp_width;
            let ready = case.ready(n, false)?;
            let expected = case.interpret(&ready, &case.order(&mut rng, width));
            if let End::Limit | End::Deadlock(_) = &expected {
                return Err(format!("ends in a {}", expected.kind()));
            }
            let found = run(case.ready(n, true)?, &config)?;
            done.executions += 2;
            // Lanes that wait to reconverge are not let go: those at a barrier may wait for them without end.
            let is_stuck = matches!(found, End::Deadlock(_)) && source.contains("APART");
            if matches!(found, End::Refused(_)) || is_stuck {
                continue;
            }
            done.compared += 1;
            if let Some(what) = case.difference(&expected, &found)
                && (self.input(seed).as_deref() == Some(input) || case.is_sound(n, width))
            {
                return Err(format!("{what}\nlaunch {n} at warp width {width}, {:?}", config.mechanism));
            }
        }
        Ok(done)
    }
}

/// A random machine with warps of one of these widths; with tensor cores if they are to have 32 lanes.
fn machine_for(widths: &[u32], rng: &mut Rng) -> MachineConfig {
    loop {
        let mut config = machine::random(rng);
        if widths == [32] {
            config.sm.units.tensor = rng.between(1, 2);
            config.sm.units.sfu_issue = config.sm.units.sfu_issue.max(1);
        }
        if widths.contains(&config.sm.warp_width) && machine::is_valid(&config) {
            return config;
        }
    }
}

fn run(mut ready: Ready<'_>, config: &MachineConfig) -> Result<End, String> {
    let registry = raddle_mech::registry();
    let mechanisms = registry.check(config).map_err(|e| format!("{e:?}"))?;
    let program = match Program::new(&ready.image, &ready.layout) {
        Ok(program) => program,
        Err(error) => return Ok(End::Refused(error.to_string())),
    };
    let options = RunOptions { max_cycles: Some(MAX_CYCLES), max_thread_insts: Some(LIMIT), ..RunOptions::default() };
    let mut gpu = Gpu::new(config).map_err(|e| e.to_string())?;
    let result = match gpu.launch(&mechanisms, &program, &ready.launch, &mut ready.memory, options) {
        Ok(result) => result,
        Err(error) => return Ok(End::Refused(error.to_string())),
    };
    Ok(match result.ending {
        Ending::Completed => End::Completed(contents(&ready.memory)),
        Ending::Fault(_, fault) => End::fault(*fault),
        Ending::Deadlock(warps) => End::Deadlock(format!("{warps:?}")),
        Ending::CycleLimit | Ending::InstructionLimit(_) => End::Limit,
    })
}
