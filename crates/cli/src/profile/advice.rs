//! What slows a kernel down, what that costs, and what usually helps.

use super::{Kernel, name};
use crate::out::{grouped, percent, ratio};
use crate::run::{self, Ran};
use raddle_cuda::names;
use raddle_runtime::advice::{Advice, advice};
use raddle_runtime::profile::KernelProfile;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::Registry;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The share of the cycles that must be saved for a measured problem to be told of.
const LEAST: f64 = 0.01;

/// A problem of a kernel, and what it costs where that was measured.
pub struct Slowdown {
    pub advice: Advice,
    /// Cycles of the kernel on a machine without the problem, or why there are none.
    measured: Option<Result<u64, String>>,
}

/// The problems of a kernel.
pub fn of(kernel: &KernelProfile, machine: &MachineConfig) -> Vec<Slowdown> {
    advice(kernel, machine).into_iter().map(|advice| Slowdown { advice, measured: None }).collect()
}

/// Runs everything again for each problem, on a machine that does not have it.
pub fn measure(kernels: &mut [Kernel], args: &mut run::Args, registry: &Arc<Registry>) {
    let mut runs: BTreeMap<Vec<String>, Result<BTreeMap<String, u64>, String>> = BTreeMap::new();
    args.profile = false;
    for Kernel { slowdowns, profile: kernel, .. } in kernels.iter_mut() {
        for slowdown in slowdowns {
            let Some(ideal) = slowdown.advice.ideal.clone() else { continue };
            if !runs.contains_key(&ideal) {
                let cycles = cycles(args, &ideal, registry);
                runs.insert(ideal.clone(), cycles);
            }
            let cycles = |found: &BTreeMap<String, u64>| {
                found.get(&kernel.kernel).copied().ok_or_else(|| "it was not launched then".to_owned())
            };
            slowdown.measured = runs.get(&ideal).map(|run| run.as_ref().map_err(Clone::clone).and_then(cycles));
        }
    }
    // What saves most comes first, what saves next to nothing is left out; what could not be measured has its bound.
    for Kernel { slowdowns, profile: kernel, .. } in kernels {
        slowdowns
            .retain(|slowdown| slowdown.saved(kernel).is_none_or(|saved| saved as f64 >= LEAST * kernel.cycles as f64));
        slowdowns.sort_by_key(|slowdown| {
            std::cmp::Reverse(slowdown.saved(kernel).unwrap_or(slowdown.advice.at_most.cast_signed()))
        });
    }
}

/// Cycles of each kernel on a machine with these changes, or why it does not run there.
fn cycles(args: &mut run::Args, changes: &[String], registry: &Arc<Registry>) -> Result<BTreeMap<String, u64>, String> {
    let mut found = BTreeMap::new();
    let mut stopped = None;
    let mut sum = |done: &Ran<'_>| {
        for launch in &done.outcome.launches {
            let timed = launch.timed.as_ref().map_or(0, |timed| timed.result.cycles);
            *found.entry(launch.kernel.clone()).or_insert(0) += timed;
        }
        stopped = done.outcome.stop().map(|_| "a launch did not complete".to_owned());
        Ok(())
    };
    let own = args.machine_changes().len();
    args.machine_changes().extend_from_slice(changes);
    let ended = run::with(args, registry, None, Some(&mut sum));
    args.machine_changes().truncate(own);
    match (ended, stopped) {
        (Err(failure), _) => Err(failure.in_short()),
        (Ok(_), Some(why)) => Err(why),
        (Ok(_), None) => Ok(found),
    }
}

impl Slowdown {
    /// Cycles a machine without the problem saves, where that was measured.
    fn saved(&self, kernel: &KernelProfile) -> Option<i64> {
        let cycles = *self.measured.as_ref()?.as_ref().ok()?;
        Some(kernel.cycles.cast_signed() - cycles.cast_signed())
    }

    /// What it costs, for people.
    fn cost(&self, kernel: &KernelProfile) -> String {
        let share = |cycles: u64| percent(ratio(cycles, kernel.cycles));
        let bound = format!("at most {} of the cycles", share(self.advice.at_most));
        match &self.measured {
            None => bound,
            Some(Err(why)) => format!("{bound}, not measured: {why}"),
            Some(Ok(cycles)) => {
                let change = 100.0 * (*cycles as f64 / kernel.cycles.max(1) as f64 - 1.0);
                format!("{change:+.1} % cycles without it, {} instead of {}", grouped(*cycles), grouped(kernel.cycles))
            }
        }
    }
}

/// For people, below the lines of a kernel; empty where nothing is worth telling.
pub fn text(kernel: &Kernel, asked: bool) -> String {
    let Kernel { slowdowns: all, profile: kernel, .. } = kernel;
    if all.is_empty() {
        return String::new();
    }
    let hint = if asked { "" } else { ", by counters; --what-if measures it" };
    let mut text = format!("\nWhat slows {} down{hint}:\n", names::short(&kernel.kernel));
    for slowdown in all {
        let Advice { problem, line, because, .. } = &slowdown.advice;
        let place = line.as_ref().map(|line| format!("{}: ", name(line))).unwrap_or_default();
        text += &format!("  {}: {}\n", problem.title(), slowdown.cost(kernel));
        text += &format!("    {place}{because}\n    what helps: {}\n", problem.helps());
    }
    text
}

/// For machines.
pub fn json(all: &[Slowdown], kernel: &KernelProfile) -> Vec<Value> {
    let one = |slowdown: &Slowdown| {
        let Advice { problem, line, at_most, because, ideal } = &slowdown.advice;
        json!({
            "problem": problem.name(),
            "title": problem.title(),
            "file": line.as_ref().and_then(|line| line.file.as_ref()),
            "line": line.as_ref().map(|line| line.line),
            "at_most_cycles": at_most,
            "because": because,
            "helps": problem.helps(),
            "ideal": ideal,
            "ideal_cycles": slowdown.measured.as_ref().and_then(|cycles| cycles.as_ref().ok()),
            "saved_cycles": slowdown.saved(kernel),
            "not_measured": slowdown.measured.as_ref().and_then(|cycles| cycles.as_ref().err()),
        })
    };
    all.iter().map(one).collect()
}
