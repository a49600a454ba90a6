//! Gating schemes on whole machines: what they may change, and what they may not.

use crate::common::{self, gating_schemes, kernel_files, presets, with_gating, with_issue};
use crate::slices;
use raddle_sim::config::{MachineConfig, random};
use raddle_sim::gpu::{Gpu, RunOptions, SmOrder};
use raddle_sim::result::{LaunchResult, SmResult};
use raddle_testkit::kernel_file::{run_functional, run_timed};
use raddle_testkit::reference::{self, Case};
use raddle_testkit::timing::{gtx480, machine, run};

fn kernels() -> [Case; 4] {
    [reference::matmul(48), reference::diverge(900), reference::bfs(600), reference::reduce(3_072)]
}

fn total(case: &Case, config: &MachineConfig) -> (u64, SmResult) {
    let result = run(case, config, RunOptions::default());
    (result.cycles, result.total())
}

fn same(first: &LaunchResult, other: &LaunchResult, what: &str) {
    let (first, other) = (format!("{first:#?}"), format!("{other:#?}"));
    let differs = first.lines().zip(other.lines()).find(|(a, b)| a != b);
    assert!(differs.is_none() && first.len() == other.len(), "{what}: {differs:?}");
}

/// Skipped cycles are in the account as if they had been run, down to the last counter; the sums of the states are checked at
/// the end of every run, and memory against the reference.
#[test]
fn skipping_changes_no_account() {
    for (preset, config) in presets() {
        for (n, case) in kernels().iter().enumerate() {
            for (m, scheme) in gating_schemes().into_iter().enumerate() {
                let issue = ["two-level", "gates", "origami", "gto"][(n + m) % 4];
                let config = with_gating(&with_issue(&config, issue), scheme);
                let first = run(case, &config, RunOptions::default());
                let what = format!("{}, {preset} with {scheme} and {issue}", case.name);
                let every = RunOptions { never_skip: true, order: SmOrder::Reverse, ..RunOptions::default() };
                same(&first, &run(case, &config, every), &what);
                let threads = RunOptions { threads: 3, ..RunOptions::default() };
                same(&first, &run(case, &config, threads), &what);
            }
        }
    }
}

#[test]
fn odd_machines_keep_their_accounts() {
    for seed in 0..24 {
        let scheme = gating_schemes()[seed as usize % gating_schemes().len()];
        let mut config = with_gating(&random(seed), scheme);
        config.sm.units.sp_lanes = config.sm.units.sp_lanes.max(2);
        let case = &kernels()[seed as usize % 4];
        let every = RunOptions { never_skip: true, ..RunOptions::default() };
        same(&run(case, &config, RunOptions::default()), &run(case, &config, every), &format!("{scheme} on {seed}"));
    }
}

/// A launch that is cut off has an account too: states still sum up to its cycles, which is checked when it is collected.
#[test]
fn accounts_end_anywhere() {
    for scheme in gating_schemes() {
        let config = with_gating(&gtx480("two-level", &["gpu.sms=2"]), scheme);
        let registry = raddle_mech::registry();
        let mechanisms = registry.check(&config).unwrap_or_else(|e| panic!("{e:?}"));
        for most in [1, 2, 9, 640, 777, 1003] {
            let mut prepared = reference::matmul(32).prepare();
            let (program, launch) = (prepared.program(), prepared.launch.clone());
            let options = RunOptions { max_cycles: Some(most), ..RunOptions::default() };
            let mut gpu = Gpu::new(&config).unwrap();
            let result = gpu.launch(&mechanisms, &program, &launch, &mut prepared.memory, options).unwrap();
            let lanes = if scheme == "none" { 0 } else { most * 2 * 2 * 16 };
            assert_eq!(result.total().int.lane_cycles, lanes, "{scheme} for {most} cycles");
        }
    }
}

/// Lanes belong to slices as they do to threads, so that nothing else is to be known of slices and gangs. `run` compares memory.
#[test]
fn slices_and_gangs_keep_their_accounts() {
    let all = slices::configurations();
    for (n, (name, config)) in all.iter().enumerate().filter(|(n, _)| common::long() || n % 3 == 0) {
        for (m, scheme) in gating_schemes().into_iter().enumerate() {
            let (case, config) = (&kernels()[(n + m) % 4], with_gating(config, scheme));
            let first = run(case, &config, RunOptions::default());
            let every = RunOptions { never_skip: true, ..RunOptions::default() };
            same(&first, &run(case, &config, every), &format!("{}, {name} with {scheme}", case.name));
            let folds = scheme.starts_with("folding") && first.total().sm.int_insts > 0;
            assert_eq!(first.total().int.folded > 0, folds, "{}, {name} with {scheme}", case.name);
        }
    }
}

/// Models of divergence that move threads between warps keep them on their lanes: folding sees a mask, as ever.
#[test]
fn regrouped_warps_are_folded() {
    for model in ["dwf", "dwf-wb", "tbc", "tbc-lcp"] {
        let set = [format!("mechanism.divergence={model}"), "mechanism.issue=origami".to_owned()];
        let config = with_gating(&machine("gtx480", &set), "folding shift=true");
        let case = reference::diverge(900);
        let first = run(&case, &config, RunOptions::default());
        same(&first, &run(&case, &config, RunOptions { never_skip: true, ..RunOptions::default() }), model);
        assert!(first.total().int.folded > 0, "{model}");
    }
}

#[test]
fn watching_changes_no_cycle() {
    for (preset, config) in presets() {
        for case in kernels() {
            let (plain, watched) = (total(&case, &config), total(&case, &with_gating(&config, "watch")));
            assert_eq!(plain.0, watched.0, "{} on {preset}", case.name);
            assert_eq!(plain.1.sm, watched.1.sm, "{} on {preset}", case.name);
            let (sm, int, fp) = (&watched.1.sm, &watched.1.int, &watched.1.fp);
            assert_eq!(sm.sp_insts, sm.int_insts + sm.fp_insts, "{}", case.name);
            assert_eq!((int.entries, fp.entries), (sm.int_insts, sm.fp_insts), "{} on {preset}", case.name);
            let by_thread = sm.int_threads + sm.fp_threads + sm.sfu_threads + sm.mem_threads;
            assert_eq!(by_thread, sm.thread_insts, "{}", case.name);
        }
    }
}

#[test]
fn gating_costs_time_and_saves_leakage() {
    let config = gtx480("two-level", &[""; 0]);
    let case = reference::matmul(64);
    let (plain, _) = total(&case, &with_gating(&config, "watch"));
    for scheme in gating_schemes().into_iter().filter(|s| !["none", "watch"].contains(s)) {
        let (cycles, sums) = total(&case, &with_gating(&config, scheme));
        assert!(cycles > plain, "{scheme}: {cycles} against {plain}");
        // Folding waits at the entry to the SPs, unless it is told to wait at issue.
        let at_issue = !scheme.starts_with("folding") || scheme.ends_with("wake=issue");
        assert_eq!(sums.sm.stall_gated > 0, at_issue, "{scheme}");
        assert!(sums.int.gatings > 0 && sums.fp.saved() > 0, "{scheme}: {sums:?}");
        if scheme == "blackout" {
            assert_eq!((sums.int.early_wakes, sums.fp.early_wakes), (0, 0));
        }
        let folds = scheme.starts_with("folding");
        assert_eq!(sums.int.folded > 0, folds, "{scheme}");
    }
}

#[test]
fn longer_wakes_cost_more() {
    let config = gtx480("two-level", &[""; 0]);
    let cycles = |scheme: &str| total(&reference::matmul(64), &with_gating(&config, scheme)).0;
    let by_wake = [0, 3, 9].map(|wake| cycles(&format!("conventional wake_up={wake}")));
    assert!(by_wake.is_sorted() && by_wake[0] < by_wake[2], "{by_wake:?}");
}

#[test]
fn waking_while_operands_are_collected_costs_less() {
    let config = gtx480("two-level", &[""; 0]);
    for case in kernels() {
        let cycles = |wake: &str| total(&case, &with_gating(&config, &format!("folding wake_up=9 wake={wake}"))).0;
        let (issue, execute) = (cycles("issue"), cycles("execute"));
        assert!(execute < issue, "{}: {execute} against {issue}", case.name);
    }
}

/// Folding moves threads to other lanes and later cycles; what they compute is the same.
#[test]
fn every_scheme_computes_the_same() {
    for (name, source) in ["ptx/control", "ptx/barrier", "ptx/call"].into_iter().flat_map(kernel_files) {
        let wanted = run_functional(&source, 32).unwrap_or_else(|e| panic!("{name}: {e}"));
        for scheme in ["conventional", "blackout", "folding", "folding shift=true"] {
            let config = with_gating(&machine("gtx480", &["mechanism.issue=origami"]), scheme);
            let found = run_timed(&source, &config, RunOptions::default).unwrap_or_else(|e| panic!("{name}: {e}"));
            let same = found.iter().zip(&wanted).all(|(found, wanted)| found.buffers == *wanted);
            assert!(found.len() == wanted.len() && same, "{name} with {scheme}");
        }
    }
}
