//! `raddle measure`: how long warps wait and how far they drift apart.

use crate::exit::{Exit, Failure};
use crate::out::{self, percent};
use crate::run;
use clap::Subcommand;
use raddle_runtime::Error;
use raddle_runtime::measure::{BlockDivergence, LaunchSummary, Recorder, THRESHOLDS};
use raddle_runtime::outcome::{Launched, Outcome};
use raddle_runtime::stats_table::write_csv;
use raddle_sim::seam::Registry;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The commands under `raddle measure`.
#[derive(Subcommand)]
pub enum Command {
    /// Measure how long warps wait at barriers and for their block to end
    #[command(after_help = "\
The life of a warp lasts from its start to the end of its block. A phase is the time between two barriers.
The RTRU of a phase is the share of its time in which warps have reached its end and wait for the slowest
one. In the RTRU of all phases, longer phases count more. The counters `barrier_wait`, `exit_wait`,
`warp_life`, `phase_wait` and `phase_time` are the same sums. `raddle phases` draws the phases of a block.
The arguments are those of `raddle run`. With --csv, a table with a row for each launch and phase is
written.

Example:
  raddle measure barriers tests/reference/gtx480/kernels/reduce.toml --issue lrr")]
    Barriers(Args),
    /// Measure how far the warps of a block drift apart, in instructions and in cycles
    #[command(after_help = "\
The divergence of a block is the difference between its warps with the most and the fewest instructions (or
cycles), relative to the fewest. DWR is the share of a block's time after its first warp has ended, averaged
over the blocks that ended while others waited to start. DWS is the share of empty issue slots in that time.
The sets are those of the VTW paper: set 1 diverges in instructions and in cycles, 2 in cycles only, 3 in
instructions only, 4 in neither. The paper measures with --issue lrr. The arguments are those of `raddle run`.
With --csv, a table with a row for each block is written.

Example:
  raddle measure warp-divergence tests/reference/gtx480/kernels/diverge.toml --issue lrr")]
    WarpDivergence(Args),
}

#[derive(clap::Args)]
#[group(id = "measure")]
pub struct Args {
    #[command(flatten)]
    run: Box<run::Args>,
    /// Write a table to a CSV file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    csv: Option<PathBuf>,
}

/// A phase of a launch, in a table.
#[derive(Serialize)]
struct PhaseRow<'a> {
    launch: usize,
    kernel: &'a str,
    barrier_share: f64,
    exit_share: f64,
    phase: usize,
    blocks: u64,
    rtru: f64,
}

/// A block of a launch, in a table.
#[derive(Serialize)]
struct BlockRow<'a> {
    launch: usize,
    kernel: &'a str,
    block: u64,
    min_insts: u64,
    max_insts: u64,
    min_cycles: u64,
    max_cycles: u64,
    instruction_divergence: f64,
    cycle_divergence: f64,
    dwr: f64,
}

type Measured<'a> = [(&'a Launched, LaunchSummary)];

/// What differs between the commands.
struct Way {
    text: fn(&Launched, &LaunchSummary) -> String,
    json: fn(&LaunchSummary) -> Value,
    csv: fn(&Measured<'_>, &Path) -> Result<(), Error>,
}

/// Runs one of them.
pub fn run(command: &Command, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    let (args, way) = match command {
        Command::Barriers(args) => (args, Way { text: barriers_text, json: barriers_json, csv: barriers_csv }),
        Command::WarpDivergence(args) => {
            (args, Way { text: divergence_text, json: divergence_json, csv: divergence_csv })
        }
    };
    args.run.need_timing()?;
    let mut recorder = Recorder::default();
    let mut ran: Option<(Outcome, u32)> = None;
    let mut keep = |done: &run::Ran<'_>| {
        ran = Some((done.outcome.clone(), done.machine.map_or(1, |m| m.config.gpu.sms)));
        Ok(())
    };
    let exit = run::with(&args.run, registry, Some(&mut recorder), Some(&mut keep))?;
    let (outcome, sms) = ran.unwrap_or_default();
    let summaries = recorder.launches.iter().map(|record| LaunchSummary::new(record, sms));
    let measured: Vec<(&Launched, LaunchSummary)> = outcome.launches.iter().zip(summaries).collect();
    if let Some(path) = &args.csv {
        (way.csv)(&measured, path)?;
    }
    if args.run.json() {
        let launches = measured.iter().map(|(launched, summary)| {
            let mut value = (way.json)(summary);
            value["kernel"] = launched.kernel.as_str().into();
            value["blocks"] = summary.blocks.into();
            value["warps"] = summary.warps.into();
            value
        });
        out::json(&json!({"launches": launches.collect::<Vec<_>>()}))?;
    } else {
        measured.iter().try_for_each(|(launched, summary)| out::data(&(way.text)(launched, summary)))?;
    }
    Ok(exit)
}

fn head(launched: &Launched, summary: &LaunchSummary) -> String {
    let (blocks, warps) = (out::count(summary.blocks as usize, "block"), out::count(summary.warps as usize, "warp"));
    format!("{}: {blocks}, {warps}\n", launched.kernel)
}

/// Phases printed at most.
const MOST: usize = 20;

fn barriers_text(launched: &Launched, summary: &LaunchSummary) -> String {
    let mut text = head(launched, summary);
    text += &format!("  waiting at barriers  {:>7} of warps' lives\n", percent(summary.barrier_share()));
    text += &format!("  ended before block   {:>7}\n", percent(summary.exit_share()));
    text += &format!("  visits to barriers   {:>7}\n", out::grouped(summary.barriers));
    text += &format!("  RTRU of all phases   {:>7}\n", percent(summary.rtru()));
    let mut rows = vec![["  phase", "blocks", "mean RTRU"].map(str::to_owned).to_vec()];
    for (n, (blocks, rtru)) in summary.phases.iter().enumerate().take(MOST) {
        rows.push(vec![format!("  {n}"), blocks.to_string(), percent(*rtru)]);
    }
    text += &out::table(&rows);
    if summary.phases.len() > MOST {
        text += &format!("  and {} more phases; --json and --csv have them\n", summary.phases.len() - MOST);
    }
    text
}

fn barriers_json(summary: &LaunchSummary) -> Value {
    json!({
        "barrier_share": summary.barrier_share(),
        "exit_share": summary.exit_share(),
        "life": summary.life,
        "barrier_wait": summary.barrier_wait,
        "exit_wait": summary.exit_wait,
        "barriers": summary.barriers,
        "phase_wait": summary.phase_wait,
        "phase_time": summary.phase_time,
        "rtru": summary.rtru(),
        "phases": summary.phases.iter().map(|(n, rtru)| json!({"blocks": n, "rtru": rtru})).collect::<Vec<_>>(),
    })
}

fn barriers_csv(measured: &Measured<'_>, path: &Path) -> Result<(), Error> {
    let mut rows = Vec::new();
    for (launch, (launched, summary)) in measured.iter().enumerate() {
        let (barrier_share, exit_share) = (summary.barrier_share(), summary.exit_share());
        rows.extend(summary.phases.iter().enumerate().map(|(phase, (blocks, rtru))| PhaseRow {
            launch,
            kernel: &launched.kernel,
            barrier_share,
            exit_share,
            phase,
            blocks: *blocks,
            rtru: *rtru,
        }));
    }
    to_file(path, &rows)
}

fn divergence_text(launched: &Launched, summary: &LaunchSummary) -> String {
    let mut text = head(launched, summary);
    let title = THRESHOLDS.map(|t| format!("{t} %+"));
    let mut rows = vec![[vec!["  blocks with a divergence of".to_owned()], title.to_vec()].concat()];
    for (name, counts) in [("  in instructions", summary.insts_over), ("  in cycles", summary.cycles_over)] {
        rows.push([vec![name.to_owned()], counts.map(|n| n.to_string()).to_vec()].concat());
    }
    text += &out::table(&rows);
    let dwr = summary.dwr.map_or_else(|| "none: no block waited to start".to_owned(), percent);
    let set = summary.set();
    text += &format!("  DWR {dwr}, DWS {}\n", percent(summary.dws));
    text + &format!("  set {}: blocks diverge {}\n", set.number(), set.name())
}

fn divergence_json(summary: &LaunchSummary) -> Value {
    let block = |d: &BlockDivergence| {
        json!({
            "block": d.cta,
            "insts": d.insts,
            "cycles": d.cycles,
            "instruction_divergence": d.insts(),
            "cycle_divergence": d.cycles(),
            "dwr": d.dwr(),
        })
    };
    json!({
        "thresholds": THRESHOLDS,
        "instruction_divergence": summary.insts_over,
        "cycle_divergence": summary.cycles_over,
        "dwr": summary.dwr,
        "dws": summary.dws,
        "set": summary.set().number(),
        "divergences": summary.divergences.iter().map(block).collect::<Vec<_>>(),
    })
}

fn divergence_csv(measured: &Measured<'_>, path: &Path) -> Result<(), Error> {
    let mut rows = Vec::new();
    for (launch, (launched, summary)) in measured.iter().enumerate() {
        rows.extend(summary.divergences.iter().map(|d| BlockRow {
            launch,
            kernel: &launched.kernel,
            block: d.cta,
            min_insts: d.insts[0],
            max_insts: d.insts[1],
            min_cycles: d.cycles[0],
            max_cycles: d.cycles[1],
            instruction_divergence: d.insts(),
            cycle_divergence: d.cycles(),
            dwr: d.dwr(),
        }));
    }
    to_file(path, &rows)
}

fn to_file<R: Serialize>(path: &Path, rows: &[R]) -> Result<(), Error> {
    let written = std::fs::File::create(path).and_then(|file| write_csv(file, rows));
    written.map_err(|source| Error::Write { path: path.display().to_string(), source })
}
