//! The check of the energy model's fit.
//!
//! Every workload is run on the reference machine with the base scheduler of the Origami paper. The mean of each component's
//! share is compared with what the paper gives for a GTX 480. With `--fit` the factors are found that would make them equal.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use raddle_energy::{Activity, Breakdown, Component, Table};
use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::timing::{TimingOptions, Watch};
use raddle_runtime::{Engine, EngineOptions};
use raddle_sim::config::{Machine, Source};
use raddle_workloads::{Request, Size, Workload};

use crate::Result;

/// Shares of all energy, in percent: the Origami paper, 2.2, after GPUWattch.
const TARGETS: [(Component, f64); 3] =
    [(Component::Execution, 20.1), (Component::Dram, 17.8), (Component::Registers, 13.4)];

/// Leakage in percent of the execution units' energy: the Origami paper, 4.2.
const LEAKAGE: f64 = 50.0;

/// How far the means may be away, in percent of the whole.
const TOLERANCE: f64 = 1.0;

/// Runs the workloads and prints their shares; fails when the means are not what they were fitted to.
pub fn run(size: &str, fit: bool) -> Result {
    let size = Size::ALL.into_iter().find(|s| s.name() == size).ok_or("sizes are tiny, small and paper")?;
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(&str, std::result::Result<Breakdown, String>)>> = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(workload) = raddle_workloads::all().get(next.fetch_add(1, Ordering::Relaxed)) {
                    let energy = energy(workload, size).map_err(|e| e.to_string());
                    found.lock().unwrap_or_else(PoisonError::into_inner).push((workload.name, energy));
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(name, _)| *name);
    let mut energies = Vec::new();
    for (name, energy) in found {
        let energy = energy.map_err(|e| format!("{name}: {e}"))?;
        println!("{}", line(name, &energy));
        energies.push(energy);
    }
    let means = Component::ALL.map(|c| (c.name(), mean(&energies, |e| 100.0 * e.share(c))));
    println!("{}", means.map(|(name, share)| format!("{name} {share:.1} %")).join("  "));
    if fit {
        let factors = factors(&energies);
        for (name, factor) in FITTED.into_iter().zip(factors) {
            println!("{name}: times {factor:.4}");
        }
        return check(&energies.iter().map(|e| scaled(e, factors)).collect::<Vec<_>>());
    }
    check(&energies)
}

/// What factors are fitted for: the entries of the table to multiply.
const FITTED: [&str; 4] = [
    "execution.int, fp, sfu, address",
    "execution.lane_leakage, sfu_leakage",
    "registers.read, write, leakage",
    "rest.sm, gpu",
];

/// A workload's energy with other factors.
fn scaled(energy: &Breakdown, [dynamic, leakage, registers, rest]: [f64; 4]) -> Breakdown {
    let mut energy = energy.clone();
    for part in &mut energy.parts {
        let (d, l) = match part.component {
            Component::Execution => (dynamic, leakage),
            Component::Registers => (registers, registers),
            Component::Rest => (rest, rest),
            _ => (1.0, 1.0),
        };
        part.dynamic *= d;
        part.leakage *= l;
    }
    energy
}

/// The factors with which the means are what they are fitted to. Each step moves every factor towards its own target; the
/// share of DRAM, which is not scaled, is reached through the rest.
fn factors(energies: &[Breakdown]) -> [f64; 4] {
    let mut factors = [1.0; 4];
    for _ in 0..2000 {
        let now: Vec<Breakdown> = energies.iter().map(|e| scaled(e, factors)).collect();
        let [execution, dram, registers] = TARGETS.map(|(c, target)| target / mean(&now, |e| 100.0 * e.share(c)));
        let leaks = mean(&now, leakage_share);
        let steps =
            [execution * (100.0 - LEAKAGE) / (100.0 - leaks), execution * LEAKAGE / leaks, registers, 1.0 / dram];
        factors.iter_mut().zip(steps).for_each(|(factor, step)| *factor *= step.powf(0.3));
    }
    factors
}

/// Leakage in percent of the execution units' energy.
fn leakage_share(energy: &Breakdown) -> f64 {
    energy.part(Component::Execution).map_or(0.0, |p| 100.0 * p.leakage / p.total())
}

/// The parts of a workload's energy, in joules: dynamic and leakage of every component.
fn line(name: &str, energy: &Breakdown) -> String {
    let parts = energy.parts.iter().map(|p| format!("{} {:.4e} {:.4e}", p.component.name(), p.dynamic, p.leakage));
    format!("{name} {:.4e} s  {}", energy.seconds, parts.collect::<Vec<_>>().join("  "))
}

fn mean(energies: &[Breakdown], value: impl Fn(&Breakdown) -> f64) -> f64 {
    energies.iter().map(value).sum::<f64>() / energies.len().max(1) as f64
}

/// Whether the means are close to what they were fitted to.
fn check(energies: &[Breakdown]) -> Result {
    let shares = TARGETS.map(|(c, target)| (c.title(), target, mean(energies, |e| 100.0 * e.share(c)), TOLERANCE));
    // Half of a fifth: five times the tolerance is the same in percent of the whole.
    let leakage = ("leakage of the execution units", LEAKAGE, mean(energies, leakage_share), 5.0 * TOLERANCE);
    let mut far = Vec::new();
    for (name, target, found, tolerance) in shares.into_iter().chain([leakage]) {
        println!("{name}: {found:.1} %, fitted to {target:.1} %");
        if (found - target).abs() > tolerance {
            far.push(name);
        }
    }
    if far.is_empty() { Ok(()) } else { Err(format!("too far from what it was fitted to: {}", far.join(", ")).into()) }
}

/// What a workload takes without gating.
fn energy(workload: &Workload, size: Size) -> Result<Breakdown> {
    let machine = Machine::load(Source::Preset("gtx480"), &["mechanism.issue=two-level"]);
    let machine = machine.map_err(|e| format!("{e:?}"))?.config;
    let engine = EngineOptions { engine: Engine::Timing, warp_width: machine.sm.warp_width };
    let timing = Some(Box::new(TimingOptions::new(machine.clone())));
    let setup = Setup::new(RunOptions { engine, timing, ..RunOptions::default() });
    let module = workload.module()?;
    let ran = workload.run(&module, &setup, Watch::default(), &Request::new(size))?;
    if let Some(wrong) = ran.wrong {
        return Err(wrong.into());
    }
    let mut activity = Activity::default();
    ran.launches.iter().filter_map(|l| l.timed.as_ref()).for_each(|timed| activity.add(&timed.result));
    Ok(Breakdown::new(&Table::gtx480(), &machine, &activity))
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_energy::Part;

    fn energy(execution: f64) -> Breakdown {
        let shares = [execution, 13.4, 2.0, 3.0, 3.0, 4.0, 17.8, 5.0, 51.8 - execution];
        let part =
            |(component, share): (Component, f64)| Part { component, dynamic: share / 2.0, leakage: share / 2.0 };
        Breakdown { seconds: 1.0, parts: Component::ALL.into_iter().zip(shares).map(part).collect(), saved: 0.0 }
    }

    #[test]
    fn a_fit_undoes_a_change() {
        let off = [0.1, 3.0, 7.0, 0.5];
        let right = [energy(18.1), energy(22.1)];
        let all = right.each_ref().map(|e| scaled(e, off));
        assert!(check(&all).is_err());
        let found = factors(&all);
        // What was right before is off by a little: means of shares are not shares of means.
        assert!(found.iter().zip(off).all(|(f, o)| (f * o - 1.0).abs() < 0.05), "{found:?}");
        assert!(check(&all.each_ref().map(|e| scaled(e, found))).is_ok());
    }

    #[test]
    fn means_that_are_off_are_refused() {
        assert!(check(&[energy(20.1)]).is_ok() && check(&[energy(18.1), energy(22.1)]).is_ok());
        let error = check(&[energy(22.0)]).unwrap_err().to_string();
        assert_eq!(error, "too far from what it was fitted to: execution units");
    }
}
