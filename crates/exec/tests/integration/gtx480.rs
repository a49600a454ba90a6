//! The kernels of `tests/reference/gtx480`: what they compute, and how many thread-instructions they
//! execute, under the fast path, the gather path, every warp width and the reference interpreter.

use raddle_exec::{Report, RunOptions, reference};
use raddle_testkit::reference::{Case, KERNELS, full, micro, small};

/// Runs under the fast or the gather path and checks memory and counts.
fn check(case: &Case, options: RunOptions) -> Report {
    let mut prepared = case.prepare();
    let program = prepared.program();
    let report = raddle_exec::run(&program, &prepared.launch, &mut prepared.memory, &options)
        .unwrap_or_else(|e| panic!("{} with {options:?}: {e}", case.name));
    case.check(&prepared).unwrap_or_else(|e| panic!("{options:?}: {e}"));
    if let Some(wanted) = case.thread_insts {
        assert_eq!(report.thread_insts, wanted, "{} with {options:?}: thread-instructions", case.name);
    }
    report
}

fn check_reference(case: &Case, warp_width: u32) -> Report {
    let mut p = case.prepare();
    let options = reference::Options { warp_width, ..reference::Options::default() };
    let report = reference::run(&p.image, &p.layout, &p.launch, &mut p.memory, &options)
        .unwrap_or_else(|e| panic!("{}: {}", case.name, e.kind));
    case.check(&p).unwrap_or_else(|e| panic!("reference interpreter: {e}"));
    if let Some(wanted) = case.thread_insts {
        assert_eq!(report.thread_insts, wanted, "{}: thread-instructions", case.name);
    }
    report
}

fn widths(gather: bool) -> impl Iterator<Item = RunOptions> {
    [4, 8, 16, 32].into_iter().map(move |warp_width| RunOptions { warp_width, gather, ..RunOptions::default() })
}

#[test]
fn the_six_kernels_at_full_size_on_the_fast_path() {
    for name in KERNELS {
        let case = full(name);
        for options in widths(false) {
            check(&case, options);
        }
    }
}

#[test]
fn the_six_kernels_at_full_size_on_the_gather_path() {
    for name in KERNELS {
        let case = full(name);
        for options in widths(true).filter(|o| long() || o.warp_width == 32) {
            check(&case, options);
        }
    }
}

#[test]
fn warp_instructions_are_those_of_a_reconvergence_stack() {
    // The reference simulator reconverges at immediate post-dominators too.
    for row in raddle_testkit::reference::rows("kernels.json") {
        let report = check(&full(row["kernel"].as_str().unwrap_or_default()), RunOptions::default());
        assert_eq!(Some(report.warp_insts), row["warp_insts"].as_u64(), "{}", row["kernel"]);
    }
}

#[test]
fn the_six_kernels_on_every_path_count_alike() {
    for name in KERNELS {
        let case = small(name);
        let wanted = check_reference(&case, 32).thread_insts;
        assert_eq!(check_reference(&case, 4).thread_insts, wanted, "{name}");
        for options in widths(false).chain(widths(true)) {
            assert_eq!(check(&case, options).thread_insts, wanted, "{name} with {options:?}");
        }
    }
}

/// Whether everything is to be run, not only what CI has time for.
fn long() -> bool {
    std::env::var_os("RADDLE_LONG").is_some()
}

#[test]
fn the_six_kernels_at_full_size_in_the_reference_interpreter() {
    for name in KERNELS.into_iter().filter(|k| long() || ["diverge", "bfs", "stencil"].contains(k)) {
        check_reference(&full(name), 32);
    }
}

#[test]
fn micro_kernels_on_the_fast_path() {
    let cases = micro();
    assert!(cases.len() > 40, "{}", cases.len());
    for case in &cases {
        for options in widths(false) {
            check(case, options);
        }
    }
}

#[test]
fn micro_kernels_on_the_gather_path() {
    for case in micro().iter().filter(|c| long() || c.thread_insts.is_some_and(|n| n < 6_000_000)) {
        for options in widths(true) {
            check(case, options);
        }
    }
}

#[test]
fn micro_kernels_in_the_reference_interpreter() {
    for case in micro().iter().filter(|c| long() || c.thread_insts.is_some_and(|n| n < 3_000_000)) {
        check_reference(case, 32);
    }
}
