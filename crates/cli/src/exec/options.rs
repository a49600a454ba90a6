//! The options of `raddle exec`, which the library in the program's process reads too.

use crate::config::MachineArgs;
use crate::exit::Failure;
use crate::run::outside::on_fault;
use crate::run::sanitize::{self, Check, checks};
use crate::run::{cores, engines};
use clap::Parser;
use raddle_runtime::device::RunOptions;
use raddle_runtime::sample::{Sample, Sampling};
use raddle_runtime::stats_table::Format;
use raddle_runtime::timing::TimingOptions;
use raddle_runtime::{Engine, EngineOptions, Problem};
use raddle_sim::config::Machine;
use raddle_sim::seam::Registry;
use std::path::PathBuf;

/// Under which name a program finds its options: a JSON list of what stood on the command line.
pub const OPTIONS_VARIABLE: &str = "RADDLE_EXEC";

#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub machine: MachineArgs,

    /// What executes kernels: timing runs them on a machine; fast knows no time
    #[arg(
        long,
        default_value = "timing",
        value_name = "NAME",
        value_parser = engines(),
        hide_possible_values = true,
        help_heading = "Execution"
    )]
    pub engine: Engine,
    /// Registers per thread, instead of what the PTX suggests
    #[arg(long, value_name = "N", help_heading = "Execution")]
    registers: Option<u32>,
    /// End a launch after this many cycles
    #[arg(long, value_name = "N", help_heading = "Execution")]
    max_cycles: Option<u64>,
    /// End a launch soon after this many thread-instructions
    #[arg(long, value_name = "N", help_heading = "Execution")]
    max_insts: Option<u64>,
    /// Run every cycle, idle ones too: the same figures, slower
    #[arg(long, help_heading = "Execution")]
    no_skip: bool,
    /// Host threads; all cores when left out. Results do not depend on it
    #[arg(long, value_name = "N", help_heading = "Execution", value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: Option<u32>,
    /// Simulate blocks=5% of every grid, or the first launches=5 of every kernel, and estimate the rest
    #[arg(long, value_name = "PART", help_heading = "Execution")]
    pub sample: Option<Sample>,
    /// Stop where a register or memory is read that was never written
    #[arg(long, help_heading = "Execution")]
    report_uninitialised: bool,
    /// Reads outside of memory: stop, or warn and give zero
    #[arg(
        long = "on-fault",
        default_value = "stop",
        value_name = "WHAT",
        value_parser = on_fault(),
        hide_possible_values = true,
        action = clap::ArgAction::Set,
        help_heading = "Execution"
    )]
    warn_of_reads: bool,
    /// Look for races, sync, init, memory or all of these, with --engine fast
    #[arg(
        long,
        value_name = "CHECKS",
        value_parser = checks(),
        hide_possible_values = true,
        value_delimiter = ',',
        help_heading = "Execution"
    )]
    pub sanitize: Vec<Check>,

    /// Print one JSON object on stderr instead of the table
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write every counter to a table; FILE ends in .csv, .json or .parquet
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub stats: Option<PathBuf>,
    /// Print nothing in the end
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub quiet: bool,
}

/// The options alone, as the library reads them.
#[derive(clap::Parser)]
#[command(name = "raddle exec", disable_help_flag = true)]
struct Alone {
    #[command(flatten)]
    options: Options,
}

impl Options {
    /// The options of this process.
    pub fn from_environment() -> Result<Self, String> {
        let text = std::env::var(OPTIONS_VARIABLE).unwrap_or_default();
        let list: Vec<String> = match text.is_empty() {
            true => Vec::new(),
            false => serde_json::from_str(&text)
                .map_err(|e| format!("{OPTIONS_VARIABLE} is no JSON list of options: {e}"))?,
        };
        let args = ["raddle exec".to_owned()].into_iter().chain(list);
        Alone::try_parse_from(args).map(|alone| alone.options).map_err(|e| e.render().ansi().to_string())
    }

    /// Refuses what cannot be run.
    pub fn check(&self, registry: &Registry) -> Result<(), Failure> {
        self.stats.as_deref().map(Format::of).transpose()?;
        sanitize::refuse(&self.sanitize, self.engine)?;
        self.load(registry).map(drop)
    }

    /// The machine, when the engine is one with time.
    pub fn load(&self, registry: &Registry) -> Result<Option<Machine>, Failure> {
        if self.engine == Engine::Timing {
            return self.machine.load_checked(None, registry).map(Some);
        }
        let only_timed = [
            ("--registers", self.registers.is_some()),
            ("--max-cycles", self.max_cycles.is_some()),
            ("--no-skip", self.no_skip),
            ("--threads", self.threads.is_some()),
            ("--sample", self.sample.is_some()),
            ("--stats", self.stats.is_some()),
        ];
        let given = only_timed.iter().find(|(_, given)| *given).map(|(name, _)| *name);
        match given.or(self.machine.given()) {
            Some(name) => Err(Problem::new(format!("{name} needs the engine `timing`")).into()),
            None => Ok(None),
        }
    }

    /// How the device runs kernels.
    pub fn run_options(&self, machine: Option<&Machine>) -> RunOptions {
        let sample = match self.sample {
            Some(Sample::Blocks(share)) => Some(Sampling::Blocks(share)),
            _ => None,
        };
        let timing = machine.map(|machine| {
            Box::new(TimingOptions {
                machine: machine.config.clone(),
                registers: self.registers,
                max_cycles: self.max_cycles,
                never_skip: self.no_skip,
                threads: self.threads.map_or_else(cores, |n| n as usize),
                sample,
                profile: false,
            })
        });
        RunOptions {
            engine: EngineOptions { engine: self.engine, ..EngineOptions::default() },
            max_thread_insts: self.max_insts,
            report_uninitialised: self.report_uninitialised,
            checks: sanitize::wanted(&self.sanitize),
            warn_of_reads: self.warn_of_reads || sanitize::warns_of_reads(&self.sanitize),
            timing,
            ..RunOptions::default()
        }
    }
}
