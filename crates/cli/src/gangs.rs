//! `raddle plot gangs`: a picture of the sizes of gangs over time.

use crate::exit::{Exit, Failure};
use crate::out;
use crate::run;
use crate::source_files::SourceArgs;
use crate::sources;
use raddle_lab::drawing::Medium;
use raddle_lab::gangs;
use raddle_runtime::Problem;
use raddle_runtime::gang_record::GangRecord;
use raddle_sim::seam::Registry;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(clap::Args)]
#[group(id = "gangs")]
#[command(after_help = "\
Time goes to the right. The height shows the warps of an SM, coloured by the size of their gang. The strip
below shows the source line of most instructions at that time, if the PTX has lines (.loc). With --json, the
numbers are also printed: at each change, how many warps are in gangs of each size. The machine must have
slices and a ganging unit. The other arguments are those of `raddle run`.

Example:
  raddle plot gangs lighting --preset vws-sm --set sm.warp_width=4 --set sm.simd_width=4 --set sm.slices=8
      --set sm.fetch.warps_per_cycle=8 --ganging vws --output gangs.svg")]
pub struct Args {
    #[command(flatten)]
    run: Box<run::Args>,
    #[command(flatten)]
    sources: SourceArgs,
    /// File for the picture; it ends in .svg, .png or .pdf
    #[arg(long, short, value_name = "FILE", default_value = "gangs.svg", help_heading = "Picture")]
    output: PathBuf,
    /// The SM to draw
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Picture")]
    sm: u16,
    /// The launch to draw, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Picture",
          value_parser = clap::value_parser!(u32).range(1..))]
    launch: u32,
}

/// `raddle plot gangs`.
pub fn run(args: &Args, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    args.run.need_timing()?;
    let picture = out::Picture::new(&args.output)?;
    let mut record = GangRecord::new(args.sm, args.launch as usize - 1);
    let mut labels = BTreeMap::new();
    let mut keep = |done: &run::Ran<'_>| {
        labels = sources::labels(done, args.launch, &args.run, &args.sources)?;
        Ok(())
    };
    let exit = run::with(&args.run, registry, Some(&mut record), Some(&mut keep))?;
    if record.sizes.is_empty() {
        let problem = Problem::new(format!("SM {} had no gangs in launch {}", args.sm, args.launch));
        let help = "gangs need slices and a unit: --set sm.warp_width=4 --set sm.simd_width=4 --set sm.slices=8 \
                    --ganging vws; choose what to draw with --sm and --launch";
        return Err(problem.help(help).into());
    }
    if args.run.json() {
        let from = |(at, sizes): &(u64, [u16; 9])| json!({"from": at, "warps_by_size": sizes[1..].to_vec()});
        out::json(&json!({"sm": args.sm, "gangs": record.sizes.iter().map(from).collect::<Vec<_>>()}))?;
    }
    picture.write(&gangs::drawing(&record, &labels), Medium::Screen, &out::count(record.sizes.len(), "change"))?;
    Ok(exit)
}
