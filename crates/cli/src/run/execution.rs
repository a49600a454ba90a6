//! The options about execution that `raddle run` and `raddle exec` have in common.

use super::outside::on_fault;
use super::sanitize::{self, Check, checks};
use super::{cores, engines};
use raddle_runtime::device::RunOptions;
use raddle_runtime::sample::Sampling;
use raddle_runtime::timing::TimingOptions;
use raddle_runtime::{Engine, EngineOptions, Problem};
use raddle_sim::config::Machine;

/// How kernels are executed, and what is looked for meanwhile.
#[derive(clap::Args)]
pub struct ExecutionArgs {
    /// Engine: timing, or one without time (fast, reference)
    #[arg(
        long,
        default_value = "timing",
        value_name = "NAME",
        value_parser = engines(),
        hide_possible_values = true,
        help_heading = "Execution"
    )]
    pub engine: Engine,
    /// Registers per thread, instead of the number computed from the PTX
    #[arg(long, value_name = "N", help_heading = "Execution")]
    registers: Option<u32>,
    /// End a launch after this many cycles
    #[arg(long, value_name = "N", help_heading = "Execution")]
    pub max_cycles: Option<u64>,
    /// End a launch soon after this many thread-instructions
    #[arg(long, value_name = "N", help_heading = "Execution")]
    max_insts: Option<u64>,
    /// Simulate every cycle, even idle ones: slower, with the same results
    #[arg(long, help_heading = "Execution")]
    no_skip: bool,
    /// Host threads, by default one for each core; results do not depend on it
    #[arg(long, value_name = "N", help_heading = "Execution", value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: Option<u32>,
    /// Stop when a register or memory is read that was never written
    #[arg(long, help_heading = "Execution")]
    pub report_uninitialised: bool,
    /// On a read outside of memory: stop, or warn and return zero
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
    /// Kinds of errors to look for: races, sync, init, memory or all
    #[arg(
        long,
        value_name = "CHECKS",
        value_parser = checks(),
        hide_possible_values = true,
        value_delimiter = ',',
        help_heading = "Execution"
    )]
    pub sanitize: Vec<Check>,
}

impl ExecutionArgs {
    /// Whether kernels take time; refuses options the engine does not have. `more` are those of the command itself that need
    /// the timing model, and whether they are given.
    pub fn takes_time(&self, more: &[(&'static str, bool)], machine: Option<&'static str>) -> Result<bool, Problem> {
        sanitize::refuse(&self.sanitize, self.engine)?;
        if self.engine == Engine::Timing {
            return Ok(true);
        }
        let own = [
            ("--registers", self.registers.is_some()),
            ("--max-cycles", self.max_cycles.is_some()),
            ("--no-skip", self.no_skip),
            ("--threads", self.threads.is_some()),
        ];
        let given = own.iter().chain(more).find(|(_, is_given)| *is_given).map(|(name, _)| *name);
        match given.or(machine) {
            Some(name) => Err(Problem::new(format!("{name} needs the engine `timing`"))),
            None => Ok(false),
        }
    }

    /// How a device runs kernels.
    pub fn options(&self, machine: Option<&Machine>, sample: Option<Sampling>, profile: bool) -> RunOptions {
        let timing = machine.map(|machine| {
            Box::new(TimingOptions {
                machine: machine.config.clone(),
                registers: self.registers,
                max_cycles: self.max_cycles,
                never_skip: self.no_skip,
                threads: self.threads.map_or_else(cores, |n| n as usize),
                sample,
                profile,
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
