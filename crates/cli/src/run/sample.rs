//! `--sample`: what is refused with it, and what is said of the whole run.

use super::Args;
use super::launches::time_text;
use crate::exit::Failure;
use crate::out::{grouped, percent};
use raddle_runtime::Problem;
use raddle_runtime::outcome::Launched;
use raddle_runtime::sample::estimate::CONFIDENCE;
use raddle_runtime::sample::{Choice, Estimate, Estimates, LaunchSample, Profiled, Sample, Sampling, Total};
use raddle_sim::config::Machine;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Refuses options that make no sense when only a part is simulated.
pub fn refuse(args: &Args) -> Result<(), Problem> {
    let Some(sample) = args.sample else { return Ok(()) };
    let with = [
        ("--energy", args.energy.is_some(), "energy is summed up from counters of the whole run"),
        (
            "--max-cycles",
            args.execution.max_cycles.is_some(),
            "the cycles of the whole run are known only at the end; --max-insts works",
        ),
        ("--virtualize", args.virtualize.is_some(), "virtual blocks are all resident at once"),
        (
            "--report-uninitialised",
            args.execution.report_uninitialised,
            "it needs the reference interpreter or a run without --sample",
        ),
    ];
    match with.into_iter().find(|(_, is_given, _)| *is_given) {
        None => Ok(()),
        Some((name, _, why)) => Err(Problem::new(format!("{name} cannot be given with --sample: {why}"))
            .help(format!("leave out {name}, or --sample {sample}"))),
    }
}

/// How the timing model is to sample; `profile` executes everything without time.
pub fn sampling(
    args: &Args,
    machine: Option<&Machine>,
    profile: impl FnOnce() -> Result<Vec<Launched>, Failure>,
) -> Result<Option<Sampling>, Failure> {
    let (Some(sample), Some(machine)) = (args.sample, machine) else { return Ok(None) };
    Ok(Some(match sample {
        Sample::Blocks(share) => Sampling::Blocks(share),
        Sample::Launches(each) => {
            let profile = profile()?;
            let done = profile.iter().filter(|launched| launched.stop.is_none());
            let done = done.map(|launched| Profiled::new(launched, &machine.config)).collect();
            Sampling::Launches(Arc::new(Choice::new(each, done)))
        }
    }))
}

/// The lines before those of the part that was simulated.
pub fn lines(total: &Total, launches: &[&Launched], wall: Duration) -> Vec<String> {
    let [low, high] = total.estimate.interval().map(grouped);
    let cycles = grouped(total.estimate.cycles.round() as u64);
    let near = percent(total.estimate.relative());
    let [warp_ipc, thread_ipc] = total.ipc();
    let [launched, timed] = total.launches;
    let [blocks, timed_blocks] = total.blocks.map(grouped);
    let what = match launched == timed {
        true => format!("{timed_blocks} of {blocks} blocks"),
        false => format!("{timed} of {launched} launches"),
    };
    let share = percent(total.share());
    let rows = [
        ("cycles", format!("{cycles} ± {near}, an estimate  ({:.0} % interval {low} to {high})", 100.0 * CONFIDENCE)),
        ("simulated in time", format!("{share} of the warp-instructions, {what}  (all in {})", time_text(wall))),
        ("warp-instructions", format!("{}  (IPC {warp_ipc:.3}, an estimate)", grouped(total.warp_insts[0]))),
        ("thread-instructions", format!("{}  (IPC {thread_ipc:.2}, an estimate)", grouped(total.thread_insts[0]))),
    ];
    let mut lines: Vec<String> = rows.iter().map(|(name, value)| format!("  {name:<19}  {value}")).collect();
    if launches.iter().any(|l| matches!(&l.sample, Some(LaunchSample::Part(part)) if part.has_waited)) {
        lines.push("  blocks waited for each other: nothing was left out after that".to_owned());
    }
    lines.push("  the simulated part alone:".to_owned());
    lines
}

/// Why launches were simulated as a whole, where a part was asked for.
pub fn whole_line(launches: &[&Launched]) -> Option<String> {
    let why = |l: &&Launched| match &l.sample {
        Some(LaunchSample::Whole { why, .. }) => why.clone(),
        _ => None,
    };
    launches.iter().find_map(why).map(|why| format!("  simulated as a whole: {why}"))
}

/// A line for all launches together.
pub fn total_line(total: &Total) -> String {
    let cycles = grouped(total.estimate.cycles.round() as u64);
    if total.is_whole() {
        return format!("all launches: {cycles} cycles, not sampled: nothing was left out");
    }
    let [low, high] = total.estimate.interval().map(grouped);
    let (near, share) = (percent(total.estimate.relative()), percent(total.share()));
    format!(
        "all launches: {cycles} cycles ± {near}, an estimate from {share} of the warp-instructions ({low} to {high})"
    )
}

/// An estimate for machines.
pub fn estimate(estimate: &Estimate) -> Value {
    let [low, high] = estimate.interval();
    json!({"cycles": estimate.cycles, "low": low, "high": high, "confidence": CONFIDENCE})
}

/// All launches together, for machines.
pub fn total_json(asked: Sample, total: &Total, profile: Duration) -> Value {
    let pair = |pair: [u64; 2]| json!({"all": pair[0], "simulated": pair[1]});
    let [warp_ipc, thread_ipc] = total.ipc();
    let mut estimate = estimate(&total.estimate);
    (estimate["warp_ipc"], estimate["thread_ipc"]) = (warp_ipc.into(), thread_ipc.into());
    json!({
        "asked": asked.to_string(),
        "is_whole": total.is_whole(),
        "estimate": estimate,
        "share_simulated": total.share(),
        "launches": pair(total.launches),
        "blocks": pair(total.blocks),
        "warp_insts": pair(total.warp_insts),
        "thread_insts": pair(total.thread_insts),
        "profile_seconds": profile.as_secs_f64(),
    })
}

/// How one launch was made, for machines.
pub fn launch_json(launched: &Launched, estimates: &Estimates, number: usize) -> Value {
    let mut value = json!({"estimate": estimate(&estimates.launch(number))});
    let (kind, why) = match &launched.sample {
        Some(LaunchSample::Part(part)) => {
            (value["units"], value["blocks_waited"]) = (part.units.into(), part.has_waited.into());
            ("part", None)
        }
        Some(LaunchSample::Executed { .. }) => ("executed", None),
        Some(LaunchSample::Whole { why, .. }) => ("whole", why.clone()),
        None => ("whole", None),
    };
    (value["kind"], value["why"]) = (kind.into(), why.into());
    value
}
