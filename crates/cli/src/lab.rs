//! `raddle lab`: experiments, their results and reports.

mod keep;
mod look;
mod run;
mod slurm;
mod watching;

pub use run::{Jobs, ReproduceArgs, reproduce};
pub use watching::Watching;

use crate::exit::{Exit, Failure};
use clap::Subcommand;
use raddle_lab::Store;
use raddle_sim::seam::Registry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The store used when none is named.
const DEFAULT_STORE: &str = "raddle-store";

/// The commands under `raddle lab`.
#[derive(Subcommand)]
pub enum Command {
    /// Run the missing points of an experiment, and keep the results
    #[command(after_help = "\
FILE is an experiment file, or the name of an experiment that comes with Raddle, see `raddle list
experiments`. Each core runs one point at a time. Points with a result in the store are not run again, so you
can stop the command at any time and run it again to continue. Points write checkpoints to the store every ten
minutes, and when you stop the command. A point that fails does not stop the others; `raddle lab ls --failures`
says what went wrong. A workload that a machine cannot run by design is refused, which is not a failure. That
happens when a block does not fit on an SM, or when a mechanism does not support what the workload needs.

With --slurm, points are run by job arrays on a Slurm cluster. Each task runs --jobs points at once, 1 by
default, and requests that many cores. The program and the store must be on a file system that all nodes see.
Tasks that are killed are submitted again. Ctrl-C does not end the jobs: the same command takes them over. A
task writes checkpoints a minute before its time is up, so a point may take longer than one task.

Examples:
  raddle lab run matrix --size tiny
  raddle lab run mine.toml --store results --jobs 8
  raddle lab run mine.toml --slurm --partition long --time 2:00:00 --sbatch=--mem-per-cpu=2G")]
    Run(run::RunArgs),
    /// Run the missing points of one share of an experiment, for several machines with one store
    #[command(after_help = "\
Shares are counted from 0: four workers with --shard 0/4, 1/4, 2/4 and 3/4 run all points. The store must be
on a file system that all workers see.

Example:
  raddle lab worker matrix --shard 0/4 --store results")]
    Worker(run::WorkerArgs),
    /// Make the report of an experiment from the results in the store
    #[command(after_help = "\
Writes a folder with index.html, which is self-contained, and with drawings and a table for each figure. With
--width the files of drawings are for a paper: columns are 88.9 mm (ieee), 181.9 mm (ieee-two), 84.7 mm (acm)
and 177.8 mm (acm-two) wide.

Examples:
  raddle lab report matrix --size tiny --output report
  raddle lab report matrix --size tiny --output report --width ieee --data numbers")]
    Report(run::ReportArgs),
    /// List results or failures
    #[command(after_help = "\
Each parameter whose value differs between results has a column, named by its key, such as sm.l1d.sets or
mechanism.issue.active.

Example:
  raddle lab ls --failures")]
    Ls(look::LsArgs),
    /// Print a result: what determines it and every counter
    #[command(after_help = "Example:\n  raddle lab show 3f2a9c")]
    Show(look::ShowArgs),
    /// Show which counters differ between two results, or between two stores
    #[command(after_help = "\
Name a result by the first digits of its key, and a store by its folder. Between two stores, results of the
same workload, input and machine are compared, whichever version of Raddle made them.

Examples:
  raddle lab diff 3f2a9c 77b01d
  raddle lab diff old-store raddle-store")]
    Diff(look::DiffArgs),
    /// Delete results of older versions of the model, copies and failures
    #[command(after_help = "\
The remaining results are written to a new file before anything is deleted, so they need their size again in
free space. Data that cannot be read are not deleted but moved to the folder `damaged` of the store.

Example:
  raddle lab gc --dry-run")]
    Gc(look::GcArgs),
    /// Write all results to one table; FILE ends in .csv, .json or .parquet
    #[command(after_help = "\
The table has a row for each point and kernel, a column for each counter, and a column for each parameter whose
value differs between results, such as machine_sm_l1d_sets or mechanism_issue_active. A .json file has a
record on each line instead.

Example:
  raddle lab export points.parquet")]
    Export(look::ExportArgs),
}

/// The option that chooses a store.
#[derive(clap::Args)]
pub struct StoreArgs {
    /// Folder with the results
    #[arg(long, value_name = "FOLDER", default_value = DEFAULT_STORE)]
    store: PathBuf,
}

impl StoreArgs {
    fn open(&self) -> Result<Store, Failure> {
        open(&self.store)
    }

    fn create(&self) -> Result<Store, Failure> {
        Ok(warned(Store::create(&self.store)?))
    }
}

fn open(folder: &Path) -> Result<Store, Failure> {
    Ok(warned(Store::open(folder)?))
}

/// Says where a store has been damaged.
fn warned(store: Store) -> Store {
    for (segment, piece) in store.damaged() {
        let (bytes, at) = (piece.end - piece.start, piece.start);
        crate::out::talk(&format!(
            "warning: {bytes} bytes of segment {segment}, from byte {at} on, are not a record and are ignored"
        ));
    }
    store
}

/// Runs one of them.
pub fn run(command: &Command, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => run::run(args, registry),
        Command::Worker(args) => run::worker(args, registry),
        Command::Report(args) => run::report(args, registry),
        Command::Ls(args) => look::ls(args),
        Command::Show(args) => look::show(args),
        Command::Diff(args) => look::diff(args),
        Command::Gc(args) => look::gc(args),
        Command::Export(args) => look::export(args),
    }
}
