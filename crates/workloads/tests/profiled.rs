//! Every workload at its smallest size with a profile: that its sums are the counters of the launch is checked at the end of each.
#![allow(missing_docs, reason = "tests")]

mod common;

use common::models;
use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::profile::{KernelProfile, kernels};
use raddle_runtime::timing::{TimingOptions, Watch};
use raddle_runtime::{Engine, EngineOptions};
use raddle_sim::config::{Machine, Source};
use raddle_workloads::{Request, Size, Workload, all};

/// The profile of a workload, and the cycles of its launches; none where the model refuses it.
fn profile(workload: &Workload, model: &str, issue: &str, profile: bool) -> Option<(Vec<KernelProfile>, Vec<u64>)> {
    let set = [format!("mechanism.divergence={model}"), format!("mechanism.issue={issue}")];
    let machine = Machine::load(Source::Preset("gtx480"), &set).unwrap().config;
    let engine = EngineOptions { engine: Engine::Timing, warp_width: machine.sm.warp_width };
    let timing = Some(Box::new(TimingOptions { profile, ..TimingOptions::new(machine) }));
    let setup = Setup::new(RunOptions { engine, timing, ..RunOptions::default() });
    let ran = workload.run(&workload.module().unwrap(), &setup, Watch::default(), &Request::new(Size::Tiny)).unwrap();
    if ran.wrong.is_some() {
        assert_eq!((workload.name, model), ("ray-bvh", "dwf"), "{:?}", ran.wrong);
        return None;
    }
    let cycles = ran.launches.iter().filter_map(|l| l.timed.as_ref()).map(|timed| timed.result.cycles);
    Some((kernels(&ran.launches), cycles.collect()))
}

/// Workloads with each model in turn, or all with all.
fn check(half: usize) {
    let is_long = std::env::var_os("RADDLE_LONG").is_some();
    let models = models();
    for (w, workload) in all().iter().enumerate().filter(|(w, _)| w % 2 == half) {
        for (m, (model, issue)) in models.iter().enumerate() {
            if !is_long && (w % 4 > 1 || w / 4 % models.len() != m) {
                continue;
            }
            let what = format!("{} under {model}", workload.name);
            let Some((kernels, cycles)) = profile(workload, model, issue, true) else { continue };
            assert_eq!(kernels.iter().map(|k| k.cycles).sum::<u64>(), cycles.iter().sum::<u64>(), "{what}");
            for kernel in &kernels {
                let total = kernel.total();
                assert_eq!(total.slots() + kernel.no_warp, kernel.slots, "{what}, {}", kernel.kernel);
                let insts: u64 = kernel.lines.iter().flat_map(|l| &l.insts).map(|i| i.counters.warp_insts).sum();
                assert_eq!((insts, total.issued > 0), (total.warp_insts, true), "{what}, {}", kernel.kernel);
                assert!(kernel.lines.is_sorted_by_key(|l| std::cmp::Reverse(l.counters.slots())), "{what}");
                let files = kernel.lines.iter().filter(|l| l.line.file.is_some()).count();
                assert!(files > 0, "{what}: the PTX says what it was compiled from");
            }
        }
    }
}

#[test]
fn sums_are_those_of_the_launch() {
    check(0);
}

#[test]
fn sums_are_those_of_the_launch_in_the_other_half() {
    check(1);
}

#[test]
fn a_profile_takes_no_cycles() {
    for workload in all().iter().filter(|w| ["bfs", "reduction", "matmul"].contains(&w.name)) {
        let with = profile(workload, "pdom", "gto", true).unwrap();
        let without = profile(workload, "pdom", "gto", false).unwrap();
        assert_eq!(with.1, without.1, "{}", workload.name);
        assert!(without.0.is_empty() && !with.0.is_empty());
    }
}
