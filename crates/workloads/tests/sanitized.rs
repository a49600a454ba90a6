//! Every workload at its smallest size under the sanitizer, with and without time: clean, or its manifest says why its threads race.
#![allow(missing_docs, reason = "tests")]

use raddle_exec::sanitize::{Checks, Kind};
use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::timing::{TimingOptions, Watch};
use raddle_runtime::{Engine, EngineOptions};
use raddle_sim::config::{Machine, Source};
use raddle_workloads::{Request, Size, all};

#[test]
fn workloads_are_clean_or_say_why_not() {
    check(Engine::Fast, None);
}

#[test]
fn they_are_where_time_is_simulated() {
    let machine = Machine::load(Source::Preset("gtx480"), &[] as &[&str]).unwrap().config;
    check(Engine::Timing, Some(Box::new(TimingOptions::new(machine))));
}

fn check(engine: Engine, timing: Option<Box<TimingOptions>>) {
    let engine = EngineOptions { engine, warp_width: 32 };
    let checks = Checks { races: true, sync: true, init: true };
    let mut wrong = Vec::new();
    for workload in all() {
        let setup = Setup::new(RunOptions { engine, checks, timing: timing.clone(), ..RunOptions::default() });
        let module = workload.module().unwrap();
        let ran = workload.run(&module, &setup, Watch::default(), &Request::new(Size::Tiny)).unwrap();
        assert!(ran.wrong.is_none(), "{}: {:?}", workload.name, ran.wrong);
        let findings: Vec<_> = ran.launches.iter().flat_map(|launch| &launch.report.findings).collect();
        let races = findings.iter().filter(|finding| matches!(finding.kind, Kind::Race { .. })).count();
        let says = workload.manifest(&module).unwrap().races.is_some();
        if races < findings.len() || (races > 0) != says {
            let first = findings.first().map(|finding| finding.describe(&module.module, Some(&module.source)));
            wrong.push(format!("{}: says {says}, {races} of {} are races: {first:?}", workload.name, findings.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
