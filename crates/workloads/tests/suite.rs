//! Every workload, at its smallest size.
#![allow(missing_docs, reason = "tests")]

use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::timing::{TimingOptions, Watch};
use raddle_runtime::{Engine, EngineOptions, virtual_blocks};
use raddle_sim::config::{Machine, Source};
use raddle_workloads::{Error, Ran, Request, Size, Workload, all};

fn run(workload: &Workload, engine: Engine, warp_width: u32, request: &Request) -> Result<Ran, Error> {
    let engine = EngineOptions { engine, warp_width };
    let setup = Setup::new(RunOptions { engine, ..RunOptions::default() });
    workload.run(&workload.module()?, &setup, Watch::default(), request)
}

/// The width to run a workload at.
fn width(workload: &Workload) -> u32 {
    let manifest = workload.manifest(&workload.module().unwrap()).unwrap();
    manifest.warp_width.unwrap_or(32)
}

#[test]
fn tiny_is_tiny_and_right() {
    for workload in all() {
        let request = Request::new(Size::Tiny);
        let ran = run(workload, Engine::Fast, width(workload), &request).unwrap();
        assert!(ran.is_good(), "{}: {:?}", workload.name, ran.wrong);
        let [least, most] = Size::Tiny.limits();
        let insts = ran.thread_insts();
        assert!((least..=most).contains(&insts), "{}: {insts} thread-instructions", workload.name);
    }
}

#[test]
fn another_seed_is_another_input() {
    for workload in all() {
        let request = Request { seed: 7, ..Request::new(Size::Tiny) };
        let ran = run(workload, Engine::Fast, width(workload), &request).unwrap();
        assert!(ran.is_good(), "{}: {:?}", workload.name, ran.wrong);
    }
}

#[test]
fn every_comparison_finds_a_wrong_element() {
    for workload in all() {
        let request = Request::new(Size::Tiny);
        let checked = run(workload, Engine::Fast, width(workload), &request).unwrap().checked;
        for spoil in 0..checked {
            let request = Request { spoil: Some(spoil), ..request };
            let ran = run(workload, Engine::Fast, width(workload), &request).unwrap();
            assert!(matches!(ran.wrong, Some(Error::Wrong(_))), "{}, output {spoil}", workload.name);
            assert_eq!(ran.checked, spoil, "{}", workload.name);
        }
    }
}

#[test]
fn a_workload_for_one_width_refuses_others() {
    let mut workload = all()[0];
    let text = format!("warp_width = 32\n{}", workload.manifest);
    workload.manifest = text.leak();
    let request = Request::new(Size::Tiny);
    assert!(run(&workload, Engine::Fast, 32, &request).unwrap().is_good());
    for narrow in [4, 8, 16] {
        let error = run(&workload, Engine::Fast, narrow, &request).unwrap_err();
        let want = format!("workload `{}` is written for warps of 32 lanes, not {narrow}", workload.name);
        assert_eq!(error.to_string(), want);
    }
}

#[test]
fn sources_and_folders_belong_together() {
    for workload in all() {
        assert!(workload.ptx.contains(&format!("\"{}.cu\"", workload.name)), "{}", workload.name);
        assert!(workload.source.contains("#include \"raddle.cuh\""), "{}", workload.name);
    }
}

/// `__launch_bounds__` ask for the blocks of a paper's table: an SM of that paper's machine holds them.
#[test]
fn the_papers_machines_hold_the_blocks_that_launch_bounds_ask_for() {
    let machine = |preset| TimingOptions::new(Machine::load(Source::Preset(preset), &[] as &[&str]).unwrap().config);
    let (fx5800, gtx480) = (machine("fx5800"), machine("gtx480"));
    for workload in all() {
        let module = workload.module().unwrap();
        for kernel in workload.manifest(&module).unwrap().kernels {
            let Some(bounds) = kernel.launch_bounds else { continue };
            let timing = if bounds.source.starts_with("TBC") { &fx5800 } else { &gtx480 };
            let block = [bounds.threads, 1, 1];
            let residency = virtual_blocks::residency(&module, &kernel.name, timing, block, 0).unwrap();
            let what = format!("{}/{}: {residency:?}", workload.name, kernel.name);
            assert!(residency.ctas >= bounds.blocks, "{what}, not {}", bounds.blocks);
        }
    }
}
