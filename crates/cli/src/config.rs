//! `raddle config`: the parameters of a machine.

mod import;
mod show;

use crate::exit::{Exit, Failure};
use crate::out;
use clap::Subcommand;
use raddle_runtime::Error;
use raddle_sim::config::{DEFAULT_PRESET, Machine, Source, file_schema};
use std::path::{Path, PathBuf};

/// The commands under `raddle config`.
#[derive(Subcommand)]
pub enum Command {
    /// Print every parameter of a machine, and where its value comes from
    #[command(after_help = "\
What is printed is a machine file: redirected, it can be changed and given to --config. With --json
one object: `config` has the values, `origins` where each comes from.

Examples:
  raddle config show
  raddle config show --preset vws-sm --set sm.l1d.sets=128
  raddle config show --config mine.toml --json")]
    Show(show::Args),
    /// Print the JSON schema of machine files, for editors
    #[command(after_help = "Example:\n  raddle config schema > machine.schema.json")]
    Schema,
    /// Make a machine file from a gpgpusim.config of GPGPU-Sim
    #[command(after_help = "\
What the configuration does not say is taken from the preset gtx480. Options without counterpart, and
values that are not taken, are listed on stderr.

Example:
  raddle config import gpgpusim.config --output mine.toml")]
    Import(import::Args),
}

/// Runs one of them.
pub fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Show(args) => show::run(args),
        Command::Schema => {
            let schema = serde_json::to_string_pretty(&file_schema()).map_err(std::io::Error::from)?;
            out::data(&(schema + "\n"))?;
            Ok(Exit::Good)
        }
        Command::Import(args) => import::run(args),
    }
}

/// The options that choose a machine.
#[derive(clap::Args)]
pub struct MachineArgs {
    /// A machine that comes with Raddle; `raddle list presets` lists them
    #[arg(long, value_name = "NAME", default_value = DEFAULT_PRESET, help_heading = "Machine")]
    preset: String,
    /// A machine file
    #[arg(long, value_name = "FILE", conflicts_with = "preset", help_heading = "Machine")]
    config: Option<PathBuf>,
    /// Change one value, as in sm.l1d.sets=64; may be given several times
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Machine")]
    set: Vec<String>,
}

impl MachineArgs {
    /// The machine they choose.
    pub fn load(&self) -> Result<Machine, Failure> {
        let file = self.config.as_deref().map(|path| Ok::<_, Failure>((path.display().to_string(), read(path)?)));
        let file = file.transpose()?;
        let source = match &file {
            Some((name, text)) => Source::File { name, text },
            None => Source::Preset(&self.preset),
        };
        Machine::load(source, &self.set).map_err(|problems| Failure::Machine { problems, file: file.map(Box::new) })
    }
}

/// The text of a file.
fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.display().to_string(), source })
}
