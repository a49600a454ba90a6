//! `raddle list`: what can be chosen by name.

use crate::exit::{Exit, Failure};
use crate::out;
use clap::Subcommand;
use raddle_sim::config::PRESETS;
use serde::Serialize;

/// The commands under `raddle list`.
#[derive(Subcommand)]
pub enum Command {
    /// List the machines that come with Raddle
    #[command(after_help = "Example:\n  raddle list presets")]
    Presets {
        /// Print one JSON object per preset
        #[arg(long)]
        json: bool,
    },
}

/// Something with a name.
#[derive(Serialize)]
struct Record {
    name: &'static str,
    about: &'static str,
}

/// Runs one of them.
pub fn run(command: &Command) -> Result<Exit, Failure> {
    let Command::Presets { json } = command;
    let records: Vec<Record> = PRESETS.iter().map(|preset| Record { name: preset.name, about: preset.about }).collect();
    print(&records, *json)
}

fn print(records: &[Record], json: bool) -> Result<Exit, Failure> {
    let width = records.iter().map(|record| record.name.len()).max().unwrap_or(0);
    for record in records {
        if json {
            out::json(record)?;
        } else {
            out::data(&format!("{:<width$}  {}\n", record.name, record.about))?;
        }
    }
    Ok(Exit::Good)
}
