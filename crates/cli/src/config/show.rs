//! `raddle config show`.

use super::MachineArgs;
use crate::exit::{Exit, Failure};
use crate::out;
use raddle_sim::config::MachineConfig;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    machine: MachineArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Record<'a> {
    config: &'a MachineConfig,
    origins: BTreeMap<&'a str, String>,
}

pub fn run(args: &Args) -> Result<Exit, Failure> {
    let machine = args.machine.load()?;
    if args.json {
        let origins = machine.values().map(|(path, _, origin)| (path, origin.to_string())).collect();
        out::json(&Record { config: &machine.config, origins })?;
    } else {
        out::data(&machine.to_toml())?;
    }
    Ok(Exit::Good)
}
