//! `raddle lanes`: a picture of what the lanes of an SM do, instruction by instruction.

use crate::exit::{Exit, Failure};
use crate::out;
use crate::run;
use crate::source_files::SourceArgs;
use crate::sources;
use raddle_lab::drawing::Medium;
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
Each column is an instruction that a warp issued, in order of time; each row is a lane. A box shows the number
of the thread in the lane. It has no colour if the thread's guard is false, and is empty if the warp has no
thread there. Each instruction has its own colour. Above the columns are the source lines of the instructions,
if the PTX has them (.loc). With wide warps, of consecutive threads only the first one shows its number. The
other arguments are those of `raddle run`.

Example:
  raddle lanes examples/if-else.toml --warp-width 4 --set sm.simd_width=4 --divergence tbc --output if-else.svg")]
pub struct Args {
    #[command(flatten)]
    run: Box<run::Args>,
    #[command(flatten)]
    sources: SourceArgs,
    /// File for the picture; it ends in .svg, .png or .pdf
    #[arg(long, short, value_name = "FILE", default_value = "lanes.svg", help_heading = "Picture")]
    output: PathBuf,
    /// The SM to draw
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Picture")]
    sm: u16,
    /// The launch to draw, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Picture",
          value_parser = clap::value_parser!(u32).range(1..))]
    launch: u32,
    /// Most instructions in the picture
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Picture",
          value_parser = clap::value_parser!(u32).range(1..=2000))]
    columns: u32,
}

/// `raddle lanes`.
pub fn run(args: &Args, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    args.run.need_timing()?;
    let picture = out::Picture::new(&args.output)?;
    let mut record = IssueRecord::new(Some(args.sm), args.launch as usize - 1, args.columns as usize);
    let (mut width, mut labels) = (32, BTreeMap::new());
    let mut keep = |done: &run::Ran<'_>| {
        width = done.machine.map_or(32, |m| m.config.sm.warp_width);
        labels = sources::labels(done, args.launch, &args.run, &args.sources)?;
        Ok(())
    };
    let exit = run::with(&args.run, registry, Some(&mut record), Some(&mut keep))?;
    if record.issued.is_empty() {
        let problem = Problem::new(format!("SM {} issued nothing in launch {}", args.sm, args.launch));
        return Err(problem.help("choose what to draw with --sm and --launch").into());
    }
    let count = out::count(record.issued.len(), "instruction");
    picture.write(&lanes::drawing(&record.issued, width, &labels), Medium::Screen, &count)?;
    Ok(exit)
}
