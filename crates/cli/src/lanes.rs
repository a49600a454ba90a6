//! `raddle lanes`: a picture of what the lanes of an SM do, instruction by instruction.

use crate::exit::{Exit, Failure};
use crate::out;
use crate::run;
use crate::sources;
use raddle_lab::lanes;
use raddle_runtime::Problem;
use raddle_runtime::issue_record::IssueRecord;
use raddle_sim::seam::Registry;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(clap::Args)]
#[group(id = "lanes")]
#[command(after_help = "\
A column is an instruction that a warp issued, in the order of time; a row is a lane. A box has the number of
the thread that is in the lane; it has no colour when the thread's guard is false, and is empty when the warp
has no thread there. Colours are those of instructions. Above them are the source lines they were compiled
from, where the PTX has them (.loc). With wide warps, only the first of threads that follow one another has
its number. The other arguments are those of `raddle run`.

Example:
  raddle lanes examples/if-else.toml --warp-width 4 --set sm.simd_width=4 --divergence tbc --output if-else.svg")]
pub struct Args {
    #[command(flatten)]
    run: Box<run::Args>,
    /// File for the picture; it ends in .svg, .png or .pdf
    #[arg(long, short, value_name = "FILE", default_value = "lanes.svg", help_heading = "Picture")]
    output: PathBuf,
    /// The SM to look at
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Picture")]
    sm: u16,
    /// The launch to look at, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Picture",
          value_parser = clap::value_parser!(u32).range(1..))]
    launch: u32,
    /// Instructions in the picture at most
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Picture",
          value_parser = clap::value_parser!(u32).range(1..=2000))]
    columns: u32,
}

/// `raddle lanes`.
pub fn run(args: &Args, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    args.run.need_timing()?;
    let picture = out::Picture::new(&args.output)?;
    let mut record = IssueRecord::new(args.sm, args.launch as usize - 1, args.columns as usize);
    let (mut width, mut labels) = (32, BTreeMap::new());
    let mut keep = |done: &run::Ran<'_>| {
        width = done.machine.map_or(32, |m| m.config.sm.warp_width);
        labels = sources::labels(done, args.launch);
        Ok(())
    };
    let exit = run::with(&args.run, registry, Some(&mut record), Some(&mut keep))?;
    if record.issued.is_empty() {
        let problem = Problem::new(format!("SM {} issued nothing in launch {}", args.sm, args.launch));
        return Err(problem.help("--sm and --launch choose what is looked at").into());
    }
    let count = out::count(record.issued.len(), "instruction");
    picture.write(&lanes::drawing(&record.issued, width, &labels), &count)?;
    Ok(exit)
}
