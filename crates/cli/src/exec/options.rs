//! The options of `raddle exec`, which the library in the program's process reads too.

use crate::config::MachineArgs;
use crate::exit::Failure;
use crate::profile::View;
use crate::run::execution::ExecutionArgs;
use crate::run::trace::TraceArgs;
use clap::Parser;
use raddle_runtime::device::RunOptions;
use raddle_runtime::sample::{Sample, Sampling};
use raddle_runtime::stats_table::Format;
use raddle_sim::config::Machine;
use raddle_sim::seam::Registry;
use std::path::{Path, PathBuf};

/// The environment variable in which a program finds its options: a JSON list of the words on the command line.
pub const OPTIONS_VARIABLE: &str = "RADDLE_EXEC";

#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub machine: MachineArgs,

    #[command(flatten)]
    pub execution: ExecutionArgs,
    /// Simulate only blocks=5% of grids or launches=5 of each kernel; estimate the rest
    #[arg(long, value_name = "PART", help_heading = "Execution")]
    pub sample: Option<Sample>,

    /// Print one JSON object on stderr instead of the table
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write every counter to a table; FILE ends in .csv, .json or .parquet
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub stats: Option<PathBuf>,
    /// Instead of the table, show which source lines take the time, and why
    #[arg(long, help_heading = "Profile")]
    pub profile: bool,
    #[command(flatten)]
    pub view: View,
    #[command(flatten)]
    pub trace: TraceArgs,
    /// Print nothing at the end
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub quiet: bool,
    /// Write what each kernel counted to a folder, for those who run programs as points
    #[arg(long, value_name = "FOLDER", hide = true)]
    pub counts: Option<PathBuf>,
    /// Bytes left free before the first allocation
    #[arg(long, value_name = "BYTES", default_value_t = 0, hide = true)]
    heap_offset: u64,
    /// A folder for what several programs write together
    #[arg(long, value_name = "FOLDER", hide = true)]
    pub session: Option<PathBuf>,
}

/// The options alone, as the library reads them.
#[derive(clap::Parser)]
#[command(name = "raddle exec", disable_help_flag = true)]
struct Alone {
    #[command(flatten)]
    options: Options,
}

impl Options {
    /// What stands on a command line.
    pub fn parse(list: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let args = ["raddle exec".to_owned()].into_iter().chain(list);
        Alone::try_parse_from(args).map(|alone| alone.options).map_err(|e| e.render().ansi().to_string())
    }

    /// The options of this process.
    pub fn from_environment() -> Result<Self, String> {
        let text = std::env::var(OPTIONS_VARIABLE).unwrap_or_default();
        let list: Vec<String> = match text.is_empty() {
            true => Vec::new(),
            false => serde_json::from_str(&text)
                .map_err(|e| format!("{OPTIONS_VARIABLE} is no JSON list of options: {e}"))?,
        };
        Self::parse(list)
    }

    /// Whether programs write files that others of the same command would overwrite.
    pub fn writes(&self) -> bool {
        self.stats.is_some() || self.view.html.is_some() || self.trace.writes()
    }

    /// Gives the files of one process other names; those that changed.
    pub fn rename(&mut self, own: impl Fn(&Path) -> PathBuf) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        for path in self.trace.files().chain(self.view.html.as_mut()) {
            let new = own(path);
            if new != *path {
                *path = new.clone();
                changed.push(new);
            }
        }
        changed
    }

    /// Refuses what cannot be run.
    pub fn check(&self, registry: &Registry) -> Result<(), Failure> {
        self.stats.as_deref().map(Format::of).transpose()?;
        self.load(registry).map(drop)
    }

    /// The machine, when the engine is one with time.
    pub fn load(&self, registry: &Registry) -> Result<Option<Machine>, Failure> {
        self.trace.check(self.sample.is_some())?;
        let only_timed = [
            ("--sample", self.sample.is_some()),
            ("--stats", self.stats.is_some()),
            (self.trace.chosen().unwrap_or("--trace"), self.trace.chosen().is_some()),
        ];
        match self.execution.takes_time(&only_timed, self.machine.given())? {
            true => self.machine.load_checked(None, registry).map(Some),
            false => Ok(None),
        }
    }

    /// How the device runs kernels.
    pub fn run_options(&self, machine: Option<&Machine>) -> RunOptions {
        let sample = match self.sample {
            Some(Sample::Blocks(share)) => Some(Sampling::Blocks(share)),
            _ => None,
        };
        let options = self.execution.options(machine, sample, self.profile);
        RunOptions { heap_offset: self.heap_offset, ..options }
    }
}
