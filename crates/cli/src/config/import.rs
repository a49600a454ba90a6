//! `raddle config import`.

use super::read;
use crate::exit::{Exit, Failure};
use crate::out;
use raddle_runtime::Problem;
use raddle_sim::config::{Left, import};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// Configuration file of GPGPU-Sim
    file: PathBuf,
    /// Write the machine to this file instead of stdout
    #[arg(long, short, value_name = "OUT.toml")]
    output: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Exit, Failure> {
    let name = args.file.display().to_string();
    let text = read(&args.file)?;
    let imported = import(&text).map_err(|problems| Failure::Machine { problems, file: None })?;
    let toml = imported.machine.to_toml();
    match &args.output {
        None => out::data(&toml)?,
        Some(path) => {
            std::fs::write(path, toml)
                .map_err(|error| Problem::new(format!("cannot write {}: {error}", path.display())))?;
            out::talk(&format!("wrote {}", path.display()));
        }
    }
    report(&name, "options without counterpart", &imported.without_counterpart);
    report(&name, "options changed or not used", &imported.not_taken);
    if !imported.assumed.is_empty() {
        out::talk(&format!("not in the file, taken from the preset {}:", imported.base));
        let is_assumed = |path: &str| imported.assumed.iter().any(|assumed| assumed == path);
        for (path, value, _) in imported.machine.values().filter(|(path, ..)| is_assumed(path)) {
            out::talk(&format!("  {path} = {value}"));
        }
    }
    Ok(Exit::Good)
}

/// Lists options on stderr.
fn report(file: &str, what: &str, options: &[Left]) {
    if options.is_empty() {
        return;
    }
    out::talk(&format!("{what}:"));
    for Left { line, option, value, reason } in options {
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        let option = format!("{option} {value}");
        out::talk(&format!("  {file}:{line}: {}{reason}", option.trim_end()));
    }
}
