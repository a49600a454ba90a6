//! Every workload sampled, at its smallest size, on a machine so small that its grids have many waves.
#![allow(missing_docs, reason = "tests")]

use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::sample::{Choice, Estimates, LaunchSample, Profiled, Sampling};
use raddle_runtime::timing::{TimingOptions, Watch};
use raddle_runtime::{Engine, EngineOptions};
use raddle_sim::config::{Machine, MachineConfig, Source};
use raddle_workloads::{Ran, Request, Size, Workload, all};
use std::sync::Arc;

/// Workloads whose blocks wait for each other: all of them must be resident.
const TOGETHER: [&str; 1] = ["stencil-sync"];

/// Workloads whose memory depends on the order of blocks or warps: these take places in lists with atomics. Their
/// results do not depend on it, or not by more than their tolerance.
const ORDERED: [&str; 4] = ["face-detection", "hybrid-sort", "lighting", "octree"];

fn machine() -> MachineConfig {
    Machine::load(Source::Preset("gtx480"), &["gpu.sms=1", "sm.ctas=1"]).unwrap().config
}

fn run(workload: &Workload, engine: Engine, sample: Option<Sampling>) -> Ran {
    let timing = Box::new(TimingOptions { sample, ..TimingOptions::new(machine()) });
    let timing = (engine == Engine::Timing).then_some(timing);
    let engine = EngineOptions { engine, warp_width: 32 };
    let setup = Setup::new(RunOptions { engine, timing, ..RunOptions::default() });
    let request = Request { keep: true, ..Request::new(Size::Tiny) };
    workload.run(&workload.module().unwrap(), &setup, Watch::default(), &request).unwrap()
}

/// Runs every workload sampled; gives how many of them had a launch of this kind.
fn check(sampling: impl Fn(&Ran) -> Sampling, kind: impl Fn(&LaunchSample) -> bool) -> usize {
    let mut count = 0;
    for workload in all().iter().filter(|w| !TOGETHER.contains(&w.name)) {
        let name = workload.name;
        let fast = run(workload, Engine::Fast, None);
        let sampled = run(workload, Engine::Timing, Some(sampling(&fast)));
        assert!(sampled.is_good(), "{name}: {:?}", sampled.wrong);
        for (fast, sampled) in fast.kept.iter().zip(&sampled.kept) {
            assert!(fast == sampled || ORDERED.contains(&name), "{name}: buffer {}", fast.0);
        }
        let total = Estimates::new(&sampled.launches).unwrap().total(&sampled.launches, |_| true);
        assert_eq!(total.thread_insts[0], sampled.thread_insts(), "{name}");
        assert!(total.is_whole() || total.estimate.half() > 0.0, "{name}: {total:?}");
        assert!(total.is_whole() || total.share() < 1.0, "{name}: {total:?}");
        count += usize::from(sampled.launches.iter().any(|l| l.sample.as_ref().is_some_and(&kind)));
    }
    count
}

#[test]
fn memory_is_the_same_when_blocks_are_sampled() {
    let parts = check(|_| Sampling::Blocks(0.05), |sample| matches!(sample, LaunchSample::Part(_)));
    assert!(parts >= 9, "{parts}: tiny grids have few waves even here");
}

#[test]
fn memory_is_the_same_when_launches_are_sampled() {
    let choose = |fast: &Ran| {
        let profile = fast.launches.iter().map(|l| Profiled::new(l, &machine())).collect();
        Sampling::Launches(Arc::new(Choice::new(3, profile)))
    };
    let executed = check(choose, |sample| matches!(sample, LaunchSample::Executed { .. }));
    assert!(executed >= 5, "{executed}");
}

#[test]
fn all_of_it_is_the_run_itself() {
    for name in ["reduction", "gaussian"] {
        let workload = raddle_workloads::find(name).unwrap();
        let [alone, all] = [None, Some(Sampling::Blocks(1.0))].map(|sample| run(workload, Engine::Timing, sample));
        let text = |ran: &Ran| -> String { ran.launches.iter().map(|l| format!("{:#?}", l.timed)).collect() };
        assert!(text(&alone) == text(&all), "{name}");
        assert!(all.launches.iter().all(|l| matches!(l.sample, Some(LaunchSample::Whole { why: None, .. }))));
        let total = Estimates::new(&all.launches).unwrap().total(&all.launches, |_| true);
        assert_eq!((total.is_whole(), total.estimate.half()), (true, 0.0));
        assert!(Estimates::new(&alone.launches).is_none());
    }
}

/// A launch that is not as in the profile, and all after it, are simulated.
#[test]
fn another_way_than_the_profile() {
    let workload = raddle_workloads::find("gaussian").unwrap();
    let fast = run(workload, Engine::Fast, None);
    let mut profile: Vec<Profiled> = fast.launches.iter().map(|l| Profiled::new(l, &machine())).collect();
    let half = profile.len() / 2;
    profile[half].grid[0] += 1;
    let sampled = run(workload, Engine::Timing, Some(Sampling::Launches(Arc::new(Choice::new(3, profile)))));
    assert!(sampled.is_good());
    let is_executed = |n: usize| matches!(sampled.launches[n].sample, Some(LaunchSample::Executed { .. }));
    assert!((0..half).any(is_executed) && !(half..fast.launches.len()).any(is_executed));
    let Some(LaunchSample::Whole { why: Some(why), .. }) = &sampled.launches[half].sample else { panic!() };
    assert_eq!(why, "it was not so in the profile");
}
