//! Every workload under every divergence model, at its smallest size.
#![allow(missing_docs, reason = "tests")]

use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::timing::{TimingOptions, Watch};
use raddle_runtime::{Engine, EngineOptions};
use raddle_sim::config::{Machine, Source};
use raddle_sim::seam::Seam;
use raddle_workloads::{Ran, Request, Size, Workload, all};

/// Every divergence model, each with the scheduler its paper has it with.
fn models() -> Vec<(&'static str, &'static str)> {
    let registry = raddle_mech::registry();
    let names = registry.iter().filter(|m| m.info.seam == Seam::Divergence).map(|m| m.info.name);
    let scheduler = |name: &str| match name {
        "dwf" | "dwf-wb" => "majority",
        "tbc" | "tbc-lcp" => "by-block",
        _ => "lrr",
    };
    names.map(|name| (name, scheduler(name))).collect()
}

fn run(workload: &Workload, preset: &str, model: &str, issue: &str) -> Result<Ran, String> {
    let set = [format!("mechanism.divergence={model}"), format!("mechanism.issue={issue}")];
    let machine = Machine::load(Source::Preset(preset), &set).map_err(|e| format!("{e:?}"))?;
    let timing = Some(Box::new(TimingOptions::new(machine.config)));
    let engine = EngineOptions { engine: Engine::Timing, warp_width: 32 };
    let setup = Setup::new(RunOptions { engine, timing, ..RunOptions::default() });
    let module = workload.module().map_err(|e| e.to_string())?;
    workload.run(&module, &setup, Watch::default(), &Request::new(Size::Tiny)).map_err(|e| e.to_string())
}

/// Workload, preset and divergence model (any when empty) of runs that cannot be, and what is said.
const REFUSED: [(&str, &str, &str, &str); 2] = [
    ("nqueens", "fx5800", "", "shared memory"),
    ("ray-bvh", "", "dwf", "a warp-wide operation needs the threads of a static warp together, which are not kept"),
];

/// Runs every workload under every model, on one preset in turn or on both.
fn check(half: usize) {
    let is_long = std::env::var_os("RADDLE_LONG").is_some();
    let fits = |wanted: &str, is: &str| wanted.is_empty() || wanted == is;
    for (w, workload) in all().iter().enumerate().filter(|(w, _)| w % 2 == half) {
        for (m, (model, issue)) in models().into_iter().enumerate() {
            for (p, preset) in ["gtx480", "fx5800"].into_iter().enumerate() {
                if !is_long && (w / 2 + m) % 2 != p {
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
