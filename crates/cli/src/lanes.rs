//! `raddle lanes`: a picture of what the lanes of an SM do, instruction by instruction.

use crate::exit::{Exit, Failure};
use crate::out;
use crate::run;
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
A column is an instruction that a warp issued, in the order of time; a row is a lane. A box has the number of the
thread that is in the lane; it has no colour when the thread's guard is false, and is empty when the warp has no
thread there. Colours are those of instructions. The other arguments are those of `raddle run`.

Example:
  raddle lanes examples/if-else.toml --warp-width 4 --set sm.simd_width=4 --divergence tbc --output if-else.svg")]
pub struct Args {
    #[command(flatten)]
    run: Box<run::Args>,
    /// File to write the picture to; it is a PNG if it ends in .png, else an SVG
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
    let mut record = IssueRecord::new(args.sm, args.launch as usize - 1, args.columns as usize);
    let (mut width, mut lines) = (32, BTreeMap::new());
    let mut keep = |done: &run::Ran<'_>| {
        width = done.machine.map_or(32, |m| m.config.sm.warp_width);
        let launch = done.outcome.launches.get(args.launch as usize - 1);
        let pcs = launch.and_then(|l| l.timed.as_ref()).map_or(&[][..], |timed| &timed.pcs);
        lines.extend(pcs.iter().map(|count| (count.pc, instruction(done.source(), count.ptx_line))));
        Ok(())
    };
    let exit = run::with(&args.run, registry, Some(&mut record), Some(&mut keep))?;
    if record.issued.is_empty() {
        let problem = Problem::new(format!("SM {} issued nothing in launch {}", args.sm, args.launch));
        return Err(problem.help("--sm and --launch choose what is looked at").into());
    }
    out::picture(&args.output, &lanes::drawing(&record.issued, width, &lines))?;
    let count = out::count(record.issued.len(), "instruction");
    out::talk(&format!("{}: {count}", args.output.display()));
    Ok(exit)
}

/// An instruction as the file has it, in few words.
fn instruction(source: &str, line: u32) -> String {
    let text = source.lines().nth((line as usize).saturating_sub(1)).unwrap_or_default();
    let text = text.split("//").next().unwrap_or_default().trim().trim_end_matches(';');
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    if text.chars().count() > 26 { text.chars().take(25).chain(['…']).collect() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_short() {
        let source = "a\n\tmul.lo.u32\t%result, %t, 3; // comment\nld.global.u32 %r1, [%rd1+1234567890];";
        assert_eq!(instruction(source, 2), "mul.lo.u32 %result, %t, 3");
        assert_eq!(instruction(source, 3), "ld.global.u32 %r1, [%rd1+…");
        assert_eq!(instruction(source, 99), "");
    }
}
