//! Every workload under every divergence model, in slices with and without gangs, and folded, at its smallest size.
#![allow(missing_docs, reason = "tests")]

mod common;

use common::models;
use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::timing::{TimingOptions, Watch};
use raddle_runtime::{Engine, EngineOptions};
use raddle_sim::config::{Machine, Source};
use raddle_workloads::{Ran, Request, Size, Workload, all};

fn run(workload: &Workload, preset: &str, model: &str, issue: &str) -> Result<Ran, String> {
    run_on(workload, preset, &[format!("mechanism.divergence={model}"), format!("mechanism.issue={issue}")])
}

fn run_on(workload: &Workload, preset: &str, set: &[String]) -> Result<Ran, String> {
    let machine = Machine::load(Source::Preset(preset), set).map_err(|e| format!("{e:?}"))?;
    let warp_width = machine.config.sm.warp_width;
    let timing = Some(Box::new(TimingOptions::new(machine.config)));
    let engine = EngineOptions { engine: Engine::Timing, warp_width };
    let setup = Setup::new(RunOptions { engine, timing, ..RunOptions::default() });
    let module = workload.module().map_err(|e| e.to_string())?;
    workload.run(&module, &setup, Watch::default(), &Request::new(Size::Tiny)).map_err(|e| e.to_string())
}

/// Workload, preset and divergence model (any when empty) of runs that cannot be, and what is said.
const REFUSED: [(&str, &str, &str, &str); 2] = [
    ("nqueens", "fx5800", "", "shared memory"),
    ("ray-bvh", "", "dwf", "a warp-wide operation needs a whole static warp, and this model keeps no static warps"),
];

/// Runs every workload under every model, on one preset in turn or on all.
fn check(half: usize) {
    let is_long = std::env::var_os("RADDLE_LONG").is_some();
    let fits = |wanted: &str, is: &str| wanted.is_empty() || wanted == is;
    for (w, workload) in all().iter().enumerate().filter(|(w, _)| w % 2 == half) {
        for (m, (model, issue)) in models().into_iter().enumerate() {
            for (p, preset) in ["gtx480", "fx5800", "v100", "rtx3070"].into_iter().enumerate() {
                if !is_long && (w / 2 + m) % 4 != p {
                    continue;
                }
                let what = format!("{} under {model} on {preset}", workload.name);
                let refusal =
                    REFUSED.iter().find(|(w, p, m, _)| *w == workload.name && fits(p, preset) && fits(m, model));
                let wrong = match run(workload, preset, model, issue) {
                    Ok(ran) => ran.wrong.map(|wrong| wrong.to_string()),
                    Err(error) => Some(error),
                };
                match (wrong, refusal) {
                    (None, None) => {}
                    (Some(text), Some((.., why))) => assert!(text.contains(why), "{what}: {text}"),
                    (Some(text), None) => panic!("{what}: {text}"),
                    (None, Some((.., why))) => panic!("{what} ran, though: {why}"),
                }
            }
        }
    }
}

#[test]
fn tiny_is_right_under_every_model() {
    check(0);
}

#[test]
fn the_other_half_is_right_under_every_model() {
    check(1);
}

/// The configurations of variable warp sizing: lanes of a slice, preset, and what else is set.
const SLICED: [(u32, &str, &str); 17] = [
    (4, "vws-sm", ""),
    (8, "vws-sm", ""),
    (16, "vws-sm", ""),
    (4, "vws-sm", "ganging=vws"),
    (4, "vws-sm", "ganging=vws ganging.order=gto"),
    (4, "vws-sm", "ganging=vws ganging.order=lrr issue=lrr"),
    (4, "vws-sm", "ganging=vws ganging.order=lpc issue=lowest-pc"),
    (4, "vws-sm", "ganging=vws ganging.order=lgto ganging.gangs=1"),
    (4, "vws-sm", "ganging=vws ganging.split=group"),
    (4, "vws-sm", "ganging=vws ganging.split=impatient"),
    (4, "vws-sm", "ganging=vws ganging.reform=opportunistic"),
    (4, "vws-sm", "ganging=vws ganging.reform=opportunistic ganging.split=impatient"),
    (4, "vws-sm", "ganging=vws ganging.reform=sync ganging.wait=50"),
    (8, "vws-sm", "ganging=vws"),
    (4, "gtx480", "ganging=vws"),
    (4, "fx5800", "ganging=vws"),
    (4, "v100", "ganging=vws"),
];

#[test]
fn tiny_is_right_in_slices() {
    let is_long = std::env::var_os("RADDLE_LONG").is_some();
    let mut wide = Vec::new();
    for (w, workload) in all().iter().enumerate() {
        let module = workload.module().unwrap();
        if workload.manifest(&module).unwrap().warp_width.is_some() {
            wide.push(workload.name);
            continue;
        }
        for (c, (lanes, preset, mechanisms)) in SLICED.into_iter().enumerate() {
            let cannot = REFUSED.iter().any(|(name, p, ..)| *name == workload.name && *p == preset);
            if cannot || !is_long && (w + c) % 8 != 0 {
                continue;
            }
            let simd = if preset == "fx5800" { lanes / 4 } else { lanes };
            let mut set = vec![format!("sm.warp_width={lanes}"), format!("sm.simd_width={simd}")];
            set.push(format!("sm.slices={}", 32 / lanes));
            // Slices have pipelines of their own, and are no sub-cores.
            set.extend(["sm.units.unified=false", "sm.subcores=1"].map(str::to_owned));
            if workload.name == "stencil-sync" && preset == "vws-sm" {
                // Its blocks wait for each other, and one SM holds half of them.
                set.push("gpu.sms=2".to_owned());
            }
            set.extend(mechanisms.split_whitespace().map(|text| format!("mechanism.{text}")));
            let what = format!("{} with {lanes} lanes on {preset}, {mechanisms}", workload.name);
            let ran = run_on(workload, preset, &set).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(ran.wrong.is_none(), "{what}: {:?}", ran.wrong);
        }
    }
    assert_eq!(wide, ["ray-bvh"], "workloads that are written for one width");
}

/// What a warp computes does not depend on the lanes it is folded onto. That the states of lanes sum up to all cycles is
/// checked at the end of every launch.
#[test]
fn tiny_is_right_when_folded() {
    let is_long = std::env::var_os("RADDLE_LONG").is_some();
    let pairs = [
        ("two-level", "pdom", false, "gtx480"),
        ("origami", "pdom", true, "gtx480"),
        ("origami", "tbc-lcp", true, "gtx480"),
        ("origami", "pdom", true, "v100"),
    ];
    for (w, workload) in all().iter().enumerate() {
        for (n, (issue, model, shift, preset)) in pairs.into_iter().enumerate() {
            if !is_long && w % 8 != 2 * n {
                continue;
            }
            let set = [
                format!("mechanism.issue={issue}"),
                format!("mechanism.divergence={model}"),
                "mechanism.gating=folding".to_owned(),
                format!("mechanism.gating.shift={shift}"),
            ];
            let what = format!("{} folded on {preset}, {issue} and {model}", workload.name);
            let ran = run_on(workload, preset, &set).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(ran.wrong.is_none(), "{what}: {}", ran.wrong.map(|w| w.to_string()).unwrap_or_default());
            let totals = ran.launches.iter().filter_map(|l| l.timed.as_ref()).map(|timed| timed.result.total());
            let (entries, folded) = totals
                .fold((0, 0), |sum, t| (sum.0 + t.int.entries + t.fp.entries, sum.1 + t.int.folded + t.fp.folded));
            assert!(folded > 0 && folded < entries, "{what}: {folded} of {entries}");
        }
    }
}
