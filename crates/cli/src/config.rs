//! `raddle config`: the parameters of a machine.

mod import;
mod show;

use crate::exit::{Exit, Failure};
use crate::out;
use clap::Subcommand;
use raddle_runtime::{Error, input};
use raddle_sim::config::{DEFAULT_PRESET, Machine, Origin, Problem, Source, file_schema};
use raddle_sim::seam::Registry;
use std::path::{Path, PathBuf};

/// The commands under `raddle config`.
#[derive(Subcommand)]
pub enum Command {
    /// Print every parameter of a machine, and where its value comes from
    #[command(after_help = "\
The output is a machine file: write it to a file, edit it and pass it to --config. With --json, the output is
one object: `config` has the values, `origins` says where each value comes from.

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
Values that the configuration does not set come from the preset gtx480. Options without a counterpart, and
values that cannot be used, are listed on stderr.

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
    /// A machine that comes with Raddle, see `raddle list presets`
    #[arg(long, value_name = "NAME", default_value = DEFAULT_PRESET, help_heading = "Machine")]
    preset: String,
    /// A machine file
    #[arg(long, value_name = "FILE", conflicts_with = "preset", help_heading = "Machine")]
    config: Option<PathBuf>,
    /// Change one value, such as sm.l1d.sets=64; may be given several times
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Machine")]
    set: Vec<String>,
    /// Issue scheduler; `raddle list mechanisms` has the names for this and the next
    #[arg(long, value_name = "NAME", help_heading = "Machine")]
    issue: Option<String>,
    /// Divergence model
    #[arg(long, value_name = "NAME", help_heading = "Machine")]
    divergence: Option<String>,
    /// Fetch scheduler
    #[arg(long, value_name = "NAME", help_heading = "Machine")]
    fetch: Option<String>,
    /// Dispatcher of thread blocks
    #[arg(long, value_name = "NAME", help_heading = "Machine")]
    dispatch: Option<String>,
    /// Ganging of narrow warps
    #[arg(long, value_name = "NAME", help_heading = "Machine")]
    ganging: Option<String>,
    /// Power gating
    #[arg(long, value_name = "NAME", help_heading = "Machine")]
    gating: Option<String>,
    /// How warps take logical blocks
    #[arg(long, value_name = "NAME", help_heading = "Machine")]
    logical_blocks: Option<String>,
}

impl MachineArgs {
    /// What `--set` changes.
    pub fn changes(&mut self) -> &mut Vec<String> {
        &mut self.set
    }

    /// The machine they choose.
    pub fn load(&self) -> Result<Machine, Failure> {
        self.load_with(None)
    }

    /// The same, with warps of this many lanes and with its mechanisms checked.
    pub fn load_checked(&self, warp_width: Option<u32>, registry: &Registry) -> Result<Machine, Failure> {
        let machine = self.load_with(warp_width)?;
        let checked = registry.check(&machine.config).map(drop);
        match checked {
            Ok(()) => Ok(machine),
            Err(list) => {
                let problem = |(key, text): (String, String)| {
                    let origin = machine.origin(&key).cloned();
                    let problem = Problem::new(key.clone(), format!("`{key}`: {text}"));
                    Problem { origin, ..problem }.help("`raddle list mechanisms` says what there is")
                };
                let mut problems: Vec<Problem> = list.into_iter().map(problem).collect();
                self.name_shortcuts(&mut problems);
                let file = self.file()?.map(Box::new);
                Err(Failure::Machine { problems, file })
            }
        }
    }

    fn load_with(&self, warp_width: Option<u32>) -> Result<Machine, Failure> {
        let file = self.file()?;
        let source = match &file {
            Some((name, text)) => Source::File { name, text },
            None => Source::Preset(&self.preset),
        };
        // Mechanisms come first: --set may go on to set their parameters.
        let mut set: Vec<String> = self.shortcuts().map(|(seam, name)| format!("mechanism.{seam}={name}")).collect();
        set.extend(warp_width.map(|width| format!("sm.warp_width={width}")));
        set.extend(self.set.iter().cloned());
        Machine::load(source, &set).map_err(|mut problems| {
            self.name_shortcuts(&mut problems);
            for problem in problems.iter_mut().filter(|p| p.path == "sm.simd_width" && p.help.is_none()) {
                problem.help =
                    warp_width.map(|n| format!("--set sm.simd_width={n} makes the pipelines as wide as warps"));
            }
            Failure::Machine { problems, file: file.map(Box::new) }
        })
    }

    /// An option that was given though it means nothing without a machine.
    pub fn given(&self) -> Option<&'static str> {
        let shortcut = self.shortcuts().next().map(|(seam, _)| match seam {
            "issue" => "--issue",
            "divergence" => "--divergence",
            "fetch" => "--fetch",
            "dispatch" => "--dispatch",
            "ganging" => "--ganging",
            "gating" => "--gating",
            _ => "--logical-blocks",
        });
        let file = self.config.is_some().then_some("--config");
        file.or((!self.set.is_empty()).then_some("--set")).or(shortcut)
    }

    fn file(&self) -> Result<Option<(String, String)>, Failure> {
        let read = |path: &PathBuf| {
            let name = path.display().to_string();
            if raddle_sim::config::preset(&name).is_some() && !path.exists() {
                let problem = raddle_runtime::Problem::new(format!("there is no machine file `{name}`"));
                return Err(problem.help(format!("a machine of that name comes with Raddle: --preset {name}")).into());
            }
            Ok::<_, Failure>((name, read(path)?))
        };
        self.config.as_ref().map(read).transpose()
    }

    /// The mechanisms chosen by options of their own.
    fn shortcuts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("issue", &self.issue),
            ("divergence", &self.divergence),
            ("fetch", &self.fetch),
            ("dispatch", &self.dispatch),
            ("ganging", &self.ganging),
            ("gating", &self.gating),
            ("logical_blocks", &self.logical_blocks),
        ];
        all.into_iter().filter_map(|(seam, name)| Some((seam, name.as_deref()?)))
    }

    /// What was given as `--issue gto` is called that, not by the override it means.
    fn name_shortcuts(&self, problems: &mut [Problem]) {
        for problem in problems {
            let Some(Origin::Set(text)) = &problem.origin else { continue };
            let found = self.shortcuts().find(|(seam, name)| *text == format!("mechanism.{seam}={name}"));
            if let Some((seam, name)) = found {
                problem.origin = Some(Origin::Option(format!("--{} {name}", seam.replace('_', "-"))));
            } else if let Some(width) = text.strip_prefix("sm.warp_width=").filter(|_| !self.set.contains(text)) {
                problem.origin = Some(Origin::Option(format!("--warp-width {width}")));
            }
        }
    }
}

/// The text of a file.
fn read(path: &Path) -> Result<String, Error> {
    input::text(path).map_err(|source| Error::Read { path: path.display().to_string(), source })
}
