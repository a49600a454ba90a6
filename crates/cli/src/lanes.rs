//! `raddle lanes`: a picture of what the lanes of an SM do, instruction by instruction.

use crate::exit::{Exit, Failure};
use crate::out;
use crate::run;
use raddle_lab::svg::escape;
use raddle_runtime::issue_record::{IssueRecord, Issued, Thread};
use raddle_runtime::{Error, Problem};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(clap::Args)]
#[group(id = "lanes")]
#[command(after_help = "\
A column is an instruction that a warp issued, in the order of time; a row is a lane. A box has the number of the
thread that is in the lane, is pale when the thread's guard is false, and empty when the warp has no thread there.
Colours are those of instructions. The other arguments are those of `raddle run`.

Example:
  raddle lanes examples/if-else.toml --warp-width 4 --set sm.simd_width=4 --divergence tbc --output if-else.svg")]
pub struct Args {
    #[command(flatten)]
    run: Box<run::Args>,
    /// File to write the picture to
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

/// Colours of instructions, in the order they are first issued; they begin again when there are more.
const COLOURS: [&str; 10] =
    ["#9db8dd", "#f0b98d", "#9fd0ae", "#dca6c5", "#d9cd85", "#b3b3e3", "#96cfd4", "#cdb3a3", "#c7d89a", "#e3a9a0"];
const BOX: u32 = 22;
const TOP: u32 = 178;
const LEFT: u32 = 58;

/// `raddle lanes`.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    args.run.need_timing()?;
    let mut record = IssueRecord::new(args.sm, args.launch as usize - 1, args.columns as usize);
    let (mut width, mut lines) = (32, BTreeMap::new());
    let mut keep = |done: &run::Ran<'_>| {
        width = done.machine.map_or(32, |m| m.config.sm.warp_width);
        let launch = done.outcome.launches.get(args.launch as usize - 1);
        let pcs = launch.and_then(|l| l.timed.as_ref()).map_or(&[][..], |timed| &timed.pcs);
        lines.extend(pcs.iter().map(|count| (count.pc, instruction(done.source, count.ptx_line))));
        Ok(())
    };
    let exit = run::with(&args.run, Some(&mut record), Some(&mut keep))?;
    if record.issued.is_empty() {
        let problem = Problem::new(format!("SM {} issued nothing in launch {}", args.sm, args.launch));
        return Err(problem.help("--sm and --launch choose what is looked at").into());
    }
    let picture = draw(&record.issued, width, &lines);
    let path = args.output.display().to_string();
    std::fs::write(&args.output, picture).map_err(|source| Error::Write { path: path.clone(), source })?;
    out::talk(&format!("{path}: {}", out::count(record.issued.len(), "instruction")));
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

fn draw(issued: &[Issued], width: u32, lines: &BTreeMap<u32, String>) -> String {
    let mut colours: BTreeMap<u32, usize> = BTreeMap::new();
    for one in issued {
        let next = colours.len();
        colours.entry(one.pc).or_insert(next);
    }
    let (w, h) = (LEFT + BOX * issued.len() as u32 + 12, TOP + BOX * width + 34);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
         font-family=\"system-ui,sans-serif\" font-size=\"11\">\n<rect width=\"{w}\" height=\"{h}\" fill=\"#fffefa\"/>\n"
    );
    for lane in 0..width {
        let y = TOP + BOX * lane + 15;
        let _ =
            writeln!(svg, "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\" fill=\"#6b6b66\">lane {lane}</text>", LEFT - 8);
    }
    let _ =
        writeln!(svg, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#6b6b66\">cycle</text>", LEFT - 8, h - 16);
    for (n, one) in issued.iter().enumerate() {
        let x = LEFT + BOX * n as u32;
        let colour = COLOURS[colours.get(&one.pc).copied().unwrap_or(0) % COLOURS.len()];
        let text = lines.get(&one.pc).cloned().unwrap_or_else(|| format!("operation {}", one.pc));
        let middle = x + BOX / 2 + 4;
        let _ = writeln!(
            svg,
            "<text transform=\"translate({middle} {}) rotate(-90)\" font-family=\"monospace\" fill=\"#1c1c1a\">{}</text>",
            TOP - 6,
            escape(&text)
        );
        for lane in 0..width {
            let y = TOP + BOX * lane;
            let thread = one.threads.iter().find(|t| u32::from(t.lane) % width == lane);
            let fill = if thread.is_some() { colour } else { "none" };
            let opacity = if thread.is_some_and(|t| !t.is_active) { " fill-opacity=\"0.3\"" } else { "" };
            let _ = write!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{BOX}\" height=\"{BOX}\" fill=\"{fill}\"{opacity} stroke=\"#d9d8d2\"/>"
            );
            if let Some(Thread { slot, number: thread, .. }) = thread {
                let title =
                    format!("block in slot {slot}, thread {thread}, warp {}, cycle {}: {text}", one.warp, one.at);
                let _ = write!(
                    svg,
                    "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#1c1c1a\">{thread}<title>{}</title></text>",
                    x + BOX / 2,
                    y + 15,
                    escape(&title)
                );
            }
        }
        // Cycles would overlap under every column: the first, and then now and then.
        if n % 3 == 0 {
            let (y, middle) = (h - 16, x + BOX / 2);
            let _ =
                write!(svg, "<text x=\"{middle}\" y=\"{y}\" text-anchor=\"middle\" fill=\"#6b6b66\">{}</text>", one.at);
        }
        svg.push('\n');
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_threads_of_its_instruction() {
        let thread = |lane, number| Thread { lane, slot: 0, number, is_active: lane != 1 };
        let threads = vec![thread(0, 0), thread(1, 5), thread(2, 6)];
        let issued = [Issued { at: 40, warp: 0, pc: 7, threads }];
        let svg = draw(&issued, 4, &BTreeMap::from([(7, "mul.lo.u32 %r, <t>".to_owned())]));
        assert_eq!(svg.matches("<rect").count(), 5, "the ground and four lanes");
        assert!(svg.contains(">5<title>") && svg.contains(">6<title>") && !svg.contains(">3<title>"));
        assert!(svg.contains("&lt;t&gt;"));
        assert_eq!(svg.matches("fill-opacity").count(), 1, "the lane whose guard is false");
    }

    #[test]
    fn instructions_are_short() {
        let source = "a\n\tmul.lo.u32\t%result, %t, 3; // comment\nld.global.u32 %r1, [%rd1+1234567890];";
        assert_eq!(instruction(source, 2), "mul.lo.u32 %result, %t, 3");
        assert_eq!(instruction(source, 3), "ld.global.u32 %r1, [%rd1+…");
        assert_eq!(instruction(source, 99), "");
    }
}
