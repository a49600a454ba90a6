//! Generated kernels whose time must not depend on what is in memory: with every contents, a launch takes the same
//! cycles, counts the same and ends in the same way.

use super::{independent, machine};
use crate::fuzz::generate;
use crate::fuzz::generated::Change;
use crate::fuzz::{Done, Target};
use crate::kernel_file::{self, Ready, Test};
use crate::rng::Rng;
use raddle_exec::Program;
use raddle_ptx::ir::Space;
use raddle_sim::config::MachineConfig;
use raddle_sim::gpu::{Gpu, RunOptions};

/// Cycles of a launch. One that is stopped there must have done the same until then.
const MAX_CYCLES: u64 = 300_000;
/// Machines that are tried for a launch: some have no tensor cores, or too few registers.
const MACHINES: u32 = 6;

/// The target.
#[derive(Default)]
pub struct Contents {
    change: Option<Change>,
}

impl Contents {
    /// With kernels that are changed, so that their time depends on memory.
    #[must_use]
    pub fn with_fault(change: Change) -> Self {
        Self { change: Some(change) }
    }
}

impl Target for Contents {
    fn name(&self) -> &'static str {
        "data-timed"
    }

    fn input(&self, seed: u64) -> Option<Vec<u8>> {
        Some(generate::keyed_kernel(seed).into_bytes())
    }

    fn check(&self, seed: u64, input: &[u8]) -> Result<Done, String> {
        let source = String::from_utf8_lossy(input);
        let text = self.change.map_or_else(|| source.to_string(), |change| change(&source));
        let (module, runs) = kernel_file::read(&text).map_err(|e| format!("does not load: {e}"))?;
        // Taking lines away may have made time depend on memory.
        if self.change.is_none()
            && self.input(seed).as_deref() != Some(input)
            && independent::first_dependent(&module).is_some()
        {
            return Ok(Done::default());
        }
        let mut rng = Rng::new(!seed);
        let mut done = Done::default();
        for run in &runs {
            let test = |width| Test { module: &module, source: &text, run, width };
            for _ in 0..MACHINES {
                let config = machine_for(&run.widths, &mut rng);
                let profile = rng.one_in(4);
                let executions = compare(&test(config.sm.warp_width), &config, profile, rng.next_u64())?;
                done.executions += executions;
                done.compared += u64::from(executions > 0);
                if executions > 0 {
                    break;
                }
            }
        }
        Ok(done)
    }
}

/// A random machine, or a preset with random mechanisms; with tensor cores if the kernel needs them.
fn machine_for(widths: &[u32], rng: &mut Rng) -> MachineConfig {
    loop {
        let mut config = if rng.one_in(2) { machine::preset(rng) } else { machine::random(rng) };
        if widths == [32] && config.sm.units.tensor == 0 {
            config.sm.units.tensor = rng.between(1, 2);
            config.sm.units.sfu_issue = config.sm.units.sfu_issue.max(1);
        }
        if widths.contains(&config.sm.warp_width) && machine::is_valid(&config) {
            return config;
        }
    }
}

/// Runs a launch with every filling; how often, which is zero where the machine does not run the kernel.
fn compare(test: &Test<'_>, config: &MachineConfig, profile: bool, seed: u64) -> Result<u64, String> {
    let mut first: Option<String> = None;
    for filling in Filling::ALL {
        let mut ready = test.prepare()?;
        filling.fill(&mut ready, seed)?;
        let Some(found) = run(ready, config, profile)? else { return Ok(0) };
        let first = first.get_or_insert_with(|| found.clone());
        if *first != found {
            let block = test.run.block;
            return Err(format!(
                "time depends on what is in memory\n{filling:?}, block {block:?}, warp width {}, {:?}\n{}",
                test.width,
                config.mechanism,
                difference(first, &found)
            ));
        }
    }
    Ok(Filling::ALL.len() as u64)
}

/// How a launch ends and what it counts, as text; none where the machine does not run it.
fn run(mut ready: Ready<'_>, config: &MachineConfig, profile: bool) -> Result<Option<String>, String> {
    let registry = raddle_mech::registry();
    let mechanisms = registry.check(config).map_err(|e| format!("{e:?}"))?;
    let program = Program::new(&ready.image, &ready.layout).map_err(|e| e.to_string())?;
    let options = RunOptions { max_cycles: Some(MAX_CYCLES), profile, ..RunOptions::default() };
    let mut gpu = Gpu::new(config).map_err(|e| e.to_string())?;
    let result = gpu.launch(&mechanisms, &program, &ready.launch, &mut ready.memory, options);
    Ok(result.ok().map(|result| format!("{result:?}")))
}

/// The places where two results begin to differ.
fn difference(first: &str, found: &str) -> String {
    let at = first.bytes().zip(found.bytes()).position(|(a, b)| a != b).unwrap_or(first.len().min(found.len()));
    let near = |text: &str| {
        let bytes = &text.as_bytes()[at.saturating_sub(150)..text.len().min(at + 150)];
        String::from_utf8_lossy(bytes).into_owned()
    };
    format!("{}\nand not\n{}", near(found), near(first))
}

/// What is in buffers, textures, surfaces and constant memory.
#[derive(Clone, Copy, Debug)]
enum Filling {
    /// What the kernel file says.
    Own,
    Zeros,
    Ones,
    /// Any bits, many of them special.
    Bits,
}

/// Words that are special as numbers, or as parts of some.
const SPECIAL: &[u32] = &[0, 1, u32::MAX, 0x7fc0_0001, 0x7f80_0001, 0xff80_0000, 0x8000_0000, 0x7e00_7c01, 0x0000_0001];

impl Filling {
    const ALL: [Self; 4] = [Self::Own, Self::Zeros, Self::Ones, Self::Bits];

    fn fill(self, ready: &mut Ready<'_>, seed: u64) -> Result<(), String> {
        if let Self::Own = self {
            return Ok(());
        }
        let mut rng = Rng::new(seed);
        // Variables are references to textures and surfaces.
        let variables = ready.image.module.vars.iter().filter(|var| matches!(var.space, Space::Global | Space::Tex));
        let names: Vec<&str> = variables.map(|var| var.name.as_str()).collect();
        let buffers = ready.memory.allocations().iter().filter(|a| !names.contains(&a.name.as_str()));
        let places: Vec<(u64, usize)> = buffers.map(|a| (a.base, a.data().len())).collect();
        for (address, bytes) in places {
            ready.memory.write(address, &self.bytes(bytes, &mut rng)).map_err(|e| e.to_string())?;
        }
        ready.image.const_bank = self.bytes(ready.image.const_bank.len(), &mut rng);
        Ok(())
    }

    fn bytes(self, count: usize, rng: &mut Rng) -> Vec<u8> {
        let word = |_| match self {
            Self::Zeros => 0,
            Self::Ones => u32::MAX,
            _ if rng.one_in(2) => *rng.pick(SPECIAL),
            _ => rng.next_u32(),
        };
        let mut bytes: Vec<u8> = (0..count.div_ceil(4)).map(word).flat_map(u32::to_le_bytes).collect();
        bytes.truncate(count);
        bytes
    }
}
