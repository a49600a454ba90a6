//! Every workload with its kernels in a loop over logical blocks, at its smallest size.
#![allow(missing_docs, reason = "tests")]

use raddle_ptx::syntax::{parse, print};
use raddle_ptx::transform::{Form, Options, ThreadOrder};
use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::timing::{TimingOptions, Watch};
use raddle_runtime::{Engine, EngineOptions, PtxFile};
use raddle_sim::config::{Machine, Source};
use raddle_workloads::{Ran, Request, Size, Workload, all};

fn forms() -> Vec<Options> {
    Form::ALL
        .into_iter()
        .flat_map(|form| [true, false].map(|hoist| Options { form, hoist, ..Options::default() }))
        .collect()
}

/// No kernel of a workload is refused, in any form.
fn virtualized(workload: &Workload, options: &Options) -> PtxFile {
    let (file, refused) = workload.module().unwrap().virtualize(options).unwrap();
    assert!(refused.is_empty(), "{}: {refused:?}", workload.name);
    file
}

/// Runs on at most so many blocks, with the time of a preset or without time.
fn run(workload: &Workload, module: &PtxFile, preset: Option<&str>, virtual_blocks: Option<u32>) -> Ran {
    let machine = preset.map(|preset| Machine::load(Source::Preset(preset), &[] as &[&str]).unwrap());
    let timing = machine.map(|m| Box::new(TimingOptions::new(m.config)));
    let engine = if preset.is_some() { Engine::Timing } else { Engine::Fast };
    let engine = EngineOptions { engine, warp_width: 32 };
    let setup = Setup::new(RunOptions { engine, timing, virtual_blocks, ..RunOptions::default() });
    let request = Request { keep: true, ..Request::new(Size::Tiny) };
    workload.run(module, &setup, Watch::default(), &request).unwrap()
}

#[test]
fn what_comes_out_is_read_again() {
    for (workload, options) in all().iter().flat_map(|w| forms().into_iter().map(move |o| (w, o))) {
        let file = virtualized(workload, &options);
        assert_eq!(file.virtualized.len(), file.module.kernels().count(), "{}", workload.name);
        assert_eq!(print(&parse(&file.source).0), file.source, "{}", workload.name);
        let hoisted: u32 = file.virtualized.iter().map(|k| k.hoisted).sum();
        assert_eq!(hoisted > 0, options.hoist, "{}", workload.name);
    }
}

/// Workloads whose blocks wait for each other: all of them must run at once.
const TOGETHER: [&str; 1] = ["stencil-sync"];

/// Workloads whose memory depends on the order of blocks or warps: these take places in lists with atomics. Their
/// results do not depend on it, or not by more than their tolerance.
const ORDERED: [&str; 4] = ["face-detection", "hybrid-sort", "lighting", "octree"];

/// Runs workloads in a form on one and on three blocks and compares all of memory.
fn check<'w>(workloads: impl IntoIterator<Item = &'w Workload>, options: &Options, preset: Option<&str>) {
    for workload in workloads {
        let before = run(workload, &workload.module().unwrap(), None, None);
        assert!(before.is_good(), "{}", workload.name);
        let module = virtualized(workload, options);
        let most: &[Option<u32>] = if TOGETHER.contains(&workload.name) { &[None] } else { &[Some(1), Some(3)] };
        for blocks in most {
            let after = run(workload, &module, preset, *blocks);
            let what = format!("{} with {options:?} on {blocks:?} blocks", workload.name);
            assert!(after.is_good(), "{what}: {:?}", after.wrong);
            assert!(after.launches.iter().all(|l| blocks.is_none_or(|most| l.grid[0] <= most && l.grid[1] == 1)));
            for (before, after) in before.kept.iter().zip(&after.kept) {
                assert!(before == after || ORDERED.contains(&workload.name), "{what}: buffer {}", before.0);
            }
        }
    }
}

#[test]
fn memory_is_the_same_in_the_software_form() {
    forms().iter().filter(|o| o.form == Form::Software).for_each(|options| check(all(), options, None));
}

#[test]
fn memory_is_the_same_in_the_hardware_form() {
    let forms = forms().into_iter().filter(|o| o.form != Form::Software && o.hoist);
    forms.for_each(|options| check(all(), &options, None));
}

/// Here warps run ahead of each other, and their indices change.
#[test]
fn memory_is_the_same_in_the_timing_model() {
    let is_long = std::env::var_os("RADDLE_LONG").is_some();
    let hardware: Vec<Options> = forms().into_iter().filter(|o| o.form != Form::Software && o.hoist).collect();
    for (m, options) in hardware.iter().enumerate() {
        for (p, preset) in ["gtx480", "v100"].into_iter().enumerate() {
            // A sample has every eighteenth workload, others in each form and on each machine.
            let is_taken = |n: usize| is_long || n % 18 == 6 * m + 3 * p;
            let sample = all().iter().enumerate().filter(|(n, _)| is_taken(*n)).map(|(_, workload)| workload);
            check(sample, options, Some(preset));
        }
    }
}

#[test]
fn as_many_blocks_run_as_the_machine_holds() {
    let workload = raddle_workloads::find("kmeans").unwrap();
    for form in [Form::Software, Form::Hardware(ThreadOrder::SameLane)] {
        let module = virtualized(workload, &Options { form, ..Options::default() });
        let ran = run(workload, &module, Some("gtx480"), None);
        assert!(ran.is_good(), "{:?}", ran.wrong);
        for launched in &ran.launches {
            let residency = &launched.timed.as_ref().unwrap().residency;
            assert!(launched.grid[0] <= residency.ctas * 15, "{launched:?}");
        }
    }
}
