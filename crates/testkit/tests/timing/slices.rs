//! Slices of the datapath and gangs of narrow warps: right memory, equal runs, and what must be the same as with wide warps.

use crate::common::{is_too_new, kernel_files, long};
use crate::determinism;
use crate::structured;
use raddle_sim::config::{MachineConfig, random};
use raddle_sim::gpu::RunOptions;
use raddle_sim::result::{Ending, LaunchResult};
use raddle_testkit::kernel_file::{check_timed, run_functional, run_timed};
use raddle_testkit::reference::{self, Case, KERNELS};
use raddle_testkit::timing::{machine, run};

/// What makes slices of this many lanes of a preset, with as many ports of the instruction cache.
pub fn slices(lanes: u32) -> Vec<String> {
    let count = 32 / lanes;
    let set = [
        format!("sm.warp_width={lanes}"),
        format!("sm.simd_width={lanes}"),
        format!("sm.slices={count}"),
        format!("sm.fetch.warps_per_cycle={count}"),
    ];
    set.to_vec()
}

/// A preset in slices, with changes.
pub fn sliced(preset: &str, lanes: u32, set: &[&str]) -> MachineConfig {
    let mut all = slices(lanes);
    all.extend(set.iter().map(|text| (*text).to_owned()));
    machine(preset, &all)
}

const VWS: &str = "mechanism.ganging=vws";
const JOIN: &str = "mechanism.ganging.reform=opportunistic";

/// The configurations of the paper, and what else there can be.
pub fn configurations() -> Vec<(&'static str, MachineConfig)> {
    let vws = |set: &[&str]| sliced("vws-sm", 4, &[&[VWS], set].concat());
    vec![
        ("WS4", sliced("vws-sm", 4, &[])),
        ("WS8", sliced("vws-sm", 8, &[])),
        ("WS16", sliced("vws-sm", 16, &[])),
        ("I-VWS", vws(&[])),
        ("I-VWS-GTO", vws(&["mechanism.ganging.order=gto"])),
        ("I-VWS-LRR", vws(&["mechanism.ganging.order=lrr", "mechanism.issue=lrr"])),
        ("I-VWS-LPC", vws(&["mechanism.ganging.order=lpc", "mechanism.issue=lowest-pc"])),
        ("I-VWS-LGTO", vws(&["mechanism.ganging.order=lgto", "mechanism.ganging.gangs=1"])),
        ("I-VWS-GroupMem", vws(&["mechanism.ganging.split=group"])),
        ("I-VWS-ImpatientMem", vws(&["mechanism.ganging.split=impatient"])),
        ("E-VWS", vws(&[JOIN])),
        ("E-VWS-ImpatientMem", vws(&[JOIN, "mechanism.ganging.split=impatient"])),
        ("E-VWS-Sync", vws(&["mechanism.ganging.reform=sync", "mechanism.ganging.wait=20"])),
        ("two ports, L0", vws(&["sm.fetch.warps_per_cycle=2", "sm.fetch.l0_bytes=256"])),
        ("8 lanes", sliced("vws-sm", 8, &[VWS])),
        ("gtx480", sliced("gtx480", 4, &[VWS, "gpu.sms=2"])),
        ("fx5800", sliced("fx5800", 4, &[VWS, "gpu.sms=2", "sm.simd_width=1", "sm.units.unified=false"])),
    ]
}

/// A random machine in slices.
fn random_sliced(seed: u64) -> MachineConfig {
    let mut config = random(seed);
    let sm = &mut config.sm;
    sm.slices = 32 / sm.warp_width;
    sm.units.unified = false;
    sm.issue.schedulers = 1 + (seed % 2) as u32;
    sm.fetch.l0_bytes = [0, 64][seed as usize / 2 % 2];
    let join = if seed.is_multiple_of(3) { "opportunistic" } else { "none" };
    let split = ["none", "group", "impatient"][seed as usize % 3];
    config.mechanism.ganging = machine(
        "vws-sm",
        &[VWS, &format!("mechanism.ganging.reform={join}"), &format!("mechanism.ganging.split={split}")],
    )
    .mechanism
    .ganging;
    config
}

#[test]
fn kernel_files_leave_the_memory_they_must_in_every_configuration() {
    let configurations = configurations();
    let mut wrong = Vec::new();
    for (n, (name, text)) in kernel_files("ptx").iter().enumerate() {
        let control = ["control", "call", "barrier", "warp", "atomic", "memory"].iter().any(|f| name.starts_with(f));
        for (c, (what, config)) in configurations.iter().enumerate() {
            let sample = n % configurations.len() == c || control && (n + 1) % configurations.len() == c;
            if (long() || sample)
                && let Err(e) = check_timed(text, config)
                && !is_too_new(name, &e)
            {
                wrong.push(format!("{name}, {what}: {e}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn structured_kernels_compute_the_same_in_every_configuration() {
    let configurations = configurations();
    let kernels = if long() { 1000 } else { 100 };
    for seed in 0..kernels {
        let source = structured::kernel(seed);
        let wanted = run_functional(&source, 32).unwrap_or_else(|e| panic!("kernel {seed}: {e}\n{source}"));
        let (what, config) = &configurations[seed as usize % configurations.len()];
        for (what, config) in [(*what, config.clone()), ("random", random_sliced(seed))] {
            let options = || RunOptions { max_cycles: Some(3_000_000), ..RunOptions::default() };
            let found = run_timed(&source, &config, options).unwrap_or_else(|e| panic!("kernel {seed}, {what}: {e}"));
            let ending = &found[0].result.ending;
            assert!(matches!(ending, Ending::Completed), "kernel {seed}, {what}: {ending:?}\n{source}");
            assert!(found[0].buffers == wanted[0], "kernel {seed}, {what}: memory differs\n{source}");
        }
    }
}

#[test]
fn runs_do_not_depend_on_the_host_or_on_skipping() {
    for (n, (what, config)) in configurations().into_iter().enumerate() {
        let kernel = KERNELS[n % KERNELS.len()];
        determinism::check_case(&determinism::tiny(kernel), &config, what);
        determinism::check_case(&determinism::tiny("bfs"), &config, what);
    }
    for seed in 0..if long() { 40 } else { 8 } {
        let kernel = KERNELS[seed as usize % KERNELS.len()];
        determinism::check_case(&determinism::tiny(kernel), &random_sliced(seed), &format!("random({seed})"));
    }
}

fn result(case: &Case, config: &MachineConfig) -> LaunchResult {
    run(case, config, RunOptions::default())
}

#[test]
fn gangs_that_never_part_are_as_fast_as_wide_warps() {
    let wide = machine("vws-sm", &[""; 0]);
    let ganged = sliced("vws-sm", 4, &[VWS, "sm.fetch.warps_per_cycle=1"]);
    let many_ports = sliced("vws-sm", 4, &[VWS]);
    for case in [reference::matmul(64), reference::vecadd(4096)] {
        let [wide, ganged, many] = [&wide, &ganged, &many_ports].map(|config| result(&case, config));
        assert_eq!(wide.cycles, ganged.cycles, "{}", case.name);
        let [wide, ganged, many] = [wide, ganged, many].map(|result| result.total().sm);
        let fetches = [&wide, &ganged, &many].map(|sm| sm.fetches + sm.fetch_misses);
        assert!(fetches.iter().all(|n| *n == fetches[0]), "{}, whatever the ports: {fetches:?}", case.name);
        assert_eq!(ganged.gang_splits, 0, "{}", case.name);
        assert_eq!(ganged.gang_insts, ganged.warp_insts, "{}", case.name);
        assert_eq!(
            (wide.global_loads, wide.global_stores),
            (ganged.global_loads, ganged.global_stores),
            "{}",
            case.name
        );
    }
}

#[test]
fn threads_that_part_go_on_by_themselves() {
    let case = reference::small("diverge");
    let [wide, narrow, ganged, joined] = [
        machine("vws-sm", &[""; 0]),
        sliced("vws-sm", 4, &[]),
        sliced("vws-sm", 4, &[VWS]),
        sliced("vws-sm", 4, &[VWS, JOIN]),
    ]
    .map(|config| result(&case, &config));
    let cycles = [&wide, &narrow, &ganged, &joined].map(|r| r.cycles);
    assert!(narrow.cycles < wide.cycles && ganged.cycles < wide.cycles, "{cycles:?}");
    let [narrow, ganged, joined] = [narrow, ganged, joined].map(|result| result.total().sm);
    assert!(ganged.gang_splits > 0 && ganged.gang_joins == 0 && joined.gang_joins > 0);
    assert!(ganged.fetches < narrow.fetches && joined.fetches < ganged.fetches);
    assert!(joined.gang_time > ganged.gang_time / 2);
}

#[test]
fn one_gang_a_cycle_is_not_faster_than_two() {
    let case = reference::small("bfs");
    let cycles = |gangs: &str| result(&case, &sliced("vws-sm", 4, &[VWS, gangs])).cycles;
    let [one, two] = ["mechanism.ganging.gangs=1", "mechanism.ganging.gangs=2"].map(cycles);
    assert!(two <= one, "{two} {one}");
}

#[test]
fn the_cache_of_a_slice_saves_ports() {
    let case = reference::small("diverge");
    let run = |set: &[&str]| result(&case, &sliced("vws-sm", 4, set));
    let [ports, few, cached] =
        [run(&[]), run(&["sm.fetch.warps_per_cycle=1"]), run(&["sm.fetch.warps_per_cycle=1", "sm.fetch.l0_bytes=256"])];
    assert!(ports.cycles < cached.cycles && cached.cycles < few.cycles);
    let sm = cached.total().sm;
    assert!(sm.fetches_l0 > 0 && sm.fetches_l0 < sm.fetches);
    assert_eq!(few.total().sm.fetches_l0, 0);
}

#[test]
fn gangs_that_memory_splits_fall_apart_while_their_sm_sleeps() {
    for split in ["group", "impatient"] {
        let config = sliced("vws-sm", 4, &[VWS, &format!("mechanism.ganging.split={split}")]);
        for case in [reference::stencil(96), reference::matmul(48), reference::bfs(512)] {
            let result = run(&case, &config, RunOptions::default());
            let slow = run(&case, &config, RunOptions { never_skip: true, ..RunOptions::default() });
            assert!(slow.total().sm.gang_splits > 0);
            assert_eq!((slow.cycles, slow.total()), (result.cycles, result.total()), "{}, {split}", case.name);
        }
    }
}
