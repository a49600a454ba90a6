//! Equal runs: twice the same, without skipping, with the SMs in another order, on several host threads.

use crate::common::{issue_schedulers, kernel_files, long, presets, with_issue};
use raddle_sim::config::{MachineConfig, random};
use raddle_sim::gpu::{RunOptions, SmOrder};
use raddle_testkit::kernel_file::run_timed;
use raddle_testkit::reference::{self, Case, KERNELS};
use raddle_testkit::timing::run;

/// What must not make a difference.
const VARIANTS: [(&str, bool, SmOrder, usize); 8] = [
    ("the same again", false, SmOrder::Forward, 1),
    ("without skipping", true, SmOrder::Forward, 1),
    ("backwards", false, SmOrder::Reverse, 1),
    ("shuffled", false, SmOrder::Shuffled(1), 1),
    ("shuffled another way, without skipping", true, SmOrder::Shuffled(77), 1),
    ("on two threads", false, SmOrder::Forward, 2),
    ("on three threads", false, SmOrder::Forward, 3),
    ("on eight threads", false, SmOrder::Forward, 8),
];

/// These kernels are done long before this, or never.
const MAX_CYCLES: u64 = 3_000_000;

/// Smaller still: these run often.
pub fn tiny(name: &str) -> Case {
    match name {
        "vecadd" => reference::vecadd(1_500),
        "matmul" => reference::matmul(32),
        "diverge" => reference::diverge(700),
        "bfs" => reference::bfs(600),
        "stencil" => reference::stencil(48),
        _ => reference::reduce(3_072),
    }
}

/// Compares line by line, so that the message shows the counter that differs.
pub fn same(first: &str, other: &str, what: &str) {
    let differs = first.lines().zip(other.lines()).find(|(a, b)| a != b);
    assert!(differs.is_none() && first.len() == other.len(), "{what}: {differs:?}");
}

pub fn check_case(case: &Case, config: &MachineConfig, what: &str) {
    let text = |never_skip, order, threads| {
        format!(
            "{:#?}",
            run(
                case,
                config,
                RunOptions { never_skip, order, threads, max_cycles: Some(MAX_CYCLES), ..RunOptions::default() }
            )
        )
    };
    let first = text(false, SmOrder::Forward, 1);
    for (variant, never_skip, order, threads) in VARIANTS {
        same(&first, &text(never_skip, order, threads), &format!("{}, {what}, {variant}", case.name));
    }
}

#[test]
fn reference_kernels_run_alike_on_every_preset() {
    for (preset, config) in presets() {
        for (n, name) in KERNELS.into_iter().enumerate() {
            let schedulers = issue_schedulers();
            let all = schedulers.len();
            for (m, scheduler) in schedulers.into_iter().enumerate() {
                // A sample pairs every kernel with two schedulers, every scheduler with three kernels.
                if long() || (n + m) % all < 2 {
                    let config = with_issue(&config, scheduler);
                    check_case(&tiny(name), &config, &format!("{preset} with {scheduler}"));
                }
            }
        }
    }
}

#[test]
fn reference_kernels_run_alike_on_odd_machines() {
    for seed in 0..if long() { 60 } else { 16 } {
        let name = KERNELS[seed as usize % KERNELS.len()];
        check_case(&tiny(name), &random(seed), &format!("random({seed})"));
    }
}

#[test]
fn litmus_kernels_run_alike() {
    let mut machines: Vec<_> = presets().into_iter().map(|(name, config)| (name.to_owned(), config)).collect();
    machines.extend((0..6).map(|seed| (format!("random({seed})"), random(seed))));
    machines.retain(|(_, config)| config.gpu.sms * config.sm.ctas >= 2);
    for (name, source) in kernel_files("litmus") {
        for (machine, config) in &machines {
            let text = |never_skip, order, threads| {
                let options =
                    || RunOptions { never_skip, order, threads, max_cycles: Some(MAX_CYCLES), ..RunOptions::default() };
                format!("{:#?}", run_timed(&source, config, options).unwrap())
            };
            let first = text(false, SmOrder::Forward, 1);
            for (variant, never_skip, order, threads) in VARIANTS {
                same(&first, &text(never_skip, order, threads), &format!("{name}, {machine}, {variant}"));
            }
        }
    }
}

/// Eight requests wait for a port that takes four in a window; the network has passed them on before the next window.
#[test]
fn a_port_that_was_full_is_tried_again_in_the_next_window() {
    let source = "// run: grid=1 block=8\n// arg: data u32[1024] = zero\n.version 6.0\n.target sm_60\n\
        .address_size 64\n.visible .entry k(.param .u64 data)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n\
        ld.param.u64 %rd0, [data];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %rd1, %r0, 512;\nadd.u64 %rd0, %rd0, %rd1;\n\
        ld.global.u32 %r1, [%rd0];\nst.global.u32 [%rd0], %r1;\nret;\n}\n";
    // Other latencies move the requests through the window.
    for latency in 30..46 {
        let mut set = vec!["interconnect.latency=16".to_owned(), "gpu.window=16".to_owned()];
        set.extend(["interconnect.injection_buffer=4".to_owned(), format!("sm.l1d.latency={latency}")]);
        let config = raddle_testkit::timing::machine("gtx480", &set);
        let text = |never_skip| {
            let options = || RunOptions { never_skip, ..RunOptions::default() };
            format!("{:#?}", run_timed(source, &config, options).unwrap())
        };
        same(&text(false), &text(true), &format!("a full port at {latency}, without skipping"));
    }
}
