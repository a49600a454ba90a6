//! Every workload at its smallest size under the sanitizer: clean, or its manifest says why its threads race.
#![allow(missing_docs, reason = "tests")]

use raddle_exec::sanitize::{Checks, Kind};
use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::timing::Watch;
use raddle_runtime::{Engine, EngineOptions};
use raddle_workloads::{Request, Size, all};

#[test]
fn workloads_are_clean_or_say_why_not() {
    let engine = EngineOptions { engine: Engine::Fast, warp_width: 32 };
    let checks = Checks { races: true, sync: true, init: true };
    let mut wrong = Vec::new();
    for workload in all() {
        let setup = Setup::new(RunOptions { engine, checks, ..RunOptions::default() });
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
