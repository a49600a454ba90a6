//! Files that users write, damaged: reading them never panics.

use raddle_lab::{Experiment, Grid};
use raddle_runtime::{Plan, PtxFile, Session, Setup};
use raddle_sim::config::{Machine, PRESETS, Source};
use raddle_sim::gpu::Gpu;
use raddle_testkit::fuzz::damage::damaged;
use raddle_testkit::fuzz::{Done, Target};

use crate::Result;
use crate::files::{root, text_files};

/// Valid files, and what reads them.
pub struct Files {
    name: &'static str,
    valid: Vec<Vec<u8>>,
    read: fn(&[u8]),
}

impl Target for Files {
    fn name(&self) -> &'static str {
        self.name
    }

    fn input(&self, seed: u64) -> Option<Vec<u8>> {
        damaged(seed, &self.valid)
    }

    fn check(&self, _: u64, input: &[u8]) -> std::result::Result<Done, String> {
        (self.read)(input);
        Ok(Done { executions: 1, compared: 0 })
    }
}

/// The text of the TOML files of the repository that have these words.
fn toml_files(words: &str) -> Result<Vec<Vec<u8>>> {
    let files = text_files()?.into_iter().filter(|f| f.has_extension("toml") && f.text.contains(words));
    Ok(files.map(|f| f.text.into_bytes()).collect())
}

/// Launch files.
pub fn launches() -> Result<Files> {
    Ok(Files { name: "launch-file", valid: toml_files("[[launch]]")?, read: read_launches })
}

/// The most bytes of all buffers of a launch file that are allocated here.
const MAX_BUFFERS: u64 = 1 << 26;

fn read_launches(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(plan) = Plan::from_toml(text, &root().join("examples")) else { return };
    let bytes = plan.buffers.iter().map(|b| b.len.unwrap_or(0).saturating_mul(b.ty.bytes() as u64));
    if bytes.fold(0, u64::saturating_add) > MAX_BUFFERS {
        return;
    }
    let module = ["saxpy.ptx", "if-else.ptx"].map(|name| root().join("examples").join(name));
    let module = if plan.module.is_file() { &plan.module } else { &module[text.len() % 2] };
    let Ok(ptx) = PtxFile::read(module) else { return };
    let setup = Setup::default();
    let _ = Session::new(&plan, &ptx, &setup);
}

/// Machine files, and settings of the command line.
pub fn machines() -> Result<Files> {
    let mut valid: Vec<Vec<u8>> = PRESETS.iter().map(|p| p.text.as_bytes().to_vec()).collect();
    let short =
        PRESETS.iter().map(|p| format!("base = \"{}\"\nsm.warp_width = 16\ngpu.sms = 2\n", p.name).into_bytes());
    valid.extend(short);
    Ok(Files { name: "machine-file", valid, read: read_machine })
}

fn read_machine(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let loaded = Machine::load(Source::File { name: "machine.toml", text }, &[""; 0]);
    use_machine(loaded);
    // Its lines as settings of the command line: some of them, and always one that was changed.
    let lines: Vec<&str> = text.lines().filter(|line| line.contains('=')).collect();
    if !lines.is_empty() {
        use_machine(Machine::load(Source::default(), &[lines[text.len() % lines.len()]]));
    }
}

fn use_machine(loaded: std::result::Result<Machine, Vec<raddle_sim::config::Problem>>) {
    match loaded {
        Ok(machine) => {
            let _ = machine.to_toml();
            let registry = raddle_mech::registry();
            if registry.check(&machine.config).is_ok() {
                let _ = Gpu::new(&machine.config);
            }
        }
        Err(problems) => problems.iter().for_each(|p| drop(p.to_string())),
    }
}

/// Experiment files.
pub fn experiments() -> Result<Files> {
    let files =
        text_files()?.into_iter().filter(|f| f.path.starts_with("crates/lab/experiments/") && f.has_extension("toml"));
    Ok(Files { name: "experiment-file", valid: files.map(|f| f.text.into_bytes()).collect(), read: read_experiment })
}

/// The most points of an experiment that are laid out here.
const MAX_POINTS: usize = 2000;

fn read_experiment(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(experiment) = Experiment::parse_in(&root().join("crates/lab/experiments"), "fuzz", text) else { return };
    let points = experiment.variants().saturating_mul(experiment.workloads.len());
    if points.saturating_mul(experiment.repeats.count as usize) <= MAX_POINTS {
        let _ = Grid::new(&experiment);
    }
}
