//! `raddle phases`: a picture of how the warps of a block run and wait, from barrier to barrier.

use crate::exit::{Exit, Failure};
use crate::out;
use crate::run;
use crate::source_files::SourceArgs;
use crate::sources;
use raddle_lab::drawing::Medium;
use raddle_lab::phases;
use raddle_runtime::Problem;
use raddle_runtime::measure::{BlockRecord, Recorder, Wait, WarpRecord, rtru};
use raddle_sim::seam::Registry;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(clap::Args)]
#[group(id = "phases")]
#[command(after_help = "\
Each line is a warp; time goes to the right. A full colour shows a phase in which the warp runs. The same
colour, but pale, shows its wait at the barrier that ends the phase. Grey shows that the warp has ended
but its block has not. The RTRU of a phase is the share of its time in which warps wait for the slowest
one. Above a barrier is its source line, if the PTX has it (.loc). With --json, the times are also
printed. The other arguments are those of `raddle run`. For numbers of all blocks, see `raddle measure
barriers`.

Example:
  raddle phases b-plus-tree --issue gto --blocks 0,1 --output phases.svg")]
pub struct Args {
    #[command(flatten)]
    run: Box<run::Args>,
    #[command(flatten)]
    sources: SourceArgs,
    /// File for the picture; it ends in .svg, .png or .pdf
    #[arg(long, short, value_name = "FILE", default_value = "phases.svg", help_heading = "Picture")]
    output: PathBuf,
    /// Blocks to draw, by their numbers in the grid
    #[arg(long, value_name = "N,...", default_value = "0", value_delimiter = ',', help_heading = "Picture")]
    blocks: Vec<u64>,
    /// The launch to draw, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Picture",
          value_parser = clap::value_parser!(u32).range(1..))]
    launch: u32,
}

/// `raddle phases`.
pub fn run(args: &Args, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    args.run.need_timing()?;
    let picture = out::Picture::new(&args.output)?;
    let mut recorder = Recorder::without_stalls();
    let mut labels = BTreeMap::new();
    let mut keep = |done: &run::Ran<'_>| {
        labels = sources::labels(done, args.launch, &args.run, &args.sources)?;
        Ok(())
    };
    let exit = run::with(&args.run, registry, Some(&mut recorder), Some(&mut keep))?;
    let Some(launch) = recorder.launches.get(args.launch as usize - 1) else {
        let problem = Problem::new(format!("there is no launch {}", args.launch));
        let help = format!("launches are counted from 1; the last one was {}", recorder.launches.len());
        return Err(problem.help(help).into());
    };
    let find = |number: &u64| {
        launch.blocks.iter().find(|block| block.cta == *number).ok_or_else(|| {
            let problem = Problem::new(format!("block {number} did not run in launch {}", args.launch));
            problem.help(format!("{} ran, counted from 0", out::count(launch.blocks.len(), "block")))
        })
    };
    let blocks = args.blocks.iter().map(find).collect::<Result<Vec<&BlockRecord>, _>>()?;
    if args.run.json() {
        out::json(&json!({"blocks": blocks.iter().map(|block| times(block)).collect::<Vec<_>>()}))?;
    }
    let warps = blocks.iter().map(|block| block.warps.len()).sum();
    let count = format!("{}, {}", out::count(blocks.len(), "block"), out::count(warps, "warp"));
    picture.write(&phases::drawing(&blocks, &labels), Medium::Screen, &count)?;
    Ok(exit)
}

/// When the warps of a block did what.
fn times(block: &BlockRecord) -> Value {
    let warp = |warp: &WarpRecord| {
        let wait = |w: &Wait| json!({"barrier": w.number, "arrive": w.arrive, "leave": w.leave});
        json!({"start": warp.start, "exit": warp.exit, "waits": warp.waits.iter().map(wait).collect::<Vec<_>>()})
    };
    let phases = block.phases();
    let phases = phases.iter().map(|p| json!({"end": p.end, "warps": p.times.len(), "rtru": rtru(&p.times)}));
    json!({
        "block": block.cta,
        "sm": block.sm,
        "start": block.start,
        "end": block.end,
        "phases": phases.collect::<Vec<_>>(),
        "warps": block.warps.iter().map(warp).collect::<Vec<_>>(),
    })
}
