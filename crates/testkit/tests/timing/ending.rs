//! How launches end when they do not end well: deadlock, livelock, limits.

use crate::common::{issue_schedulers, presets, with_issue};
use raddle_sim::config::{MachineConfig, random};
use raddle_sim::gpu::RunOptions;
use raddle_sim::result::{Ending, LaunchResult};
use raddle_sim::sm::BlockedWarp;
use raddle_testkit::kernel_file::run_timed;

fn kernel(block: u32, body: &str) -> String {
    format!(
        "// run: grid=1 block={block}\n// arg: out u32[4] = zero\n.version 6.0\n.target sm_60\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n{body}\n\
         ret;\n}}\n"
    )
}

fn run(source: &str, config: &MachineConfig, limits: [Option<u64>; 2]) -> LaunchResult {
    let [max_cycles, max_thread_insts] = limits;
    let options = || RunOptions { max_cycles, max_thread_insts, ..RunOptions::default() };
    run_timed(source, config, options).unwrap().remove(0).result
}

fn deadlock(source: &str, config: &MachineConfig) -> Vec<BlockedWarp> {
    match run(source, config, [Some(500_000), None]).ending {
        Ending::Deadlock(warps) => warps,
        other => panic!("not a deadlock: {other:?}"),
    }
}

fn gtx480() -> MachineConfig {
    presets().remove(0).1
}

/// The line of the first occurrence of a text.
fn line_of(source: &str, text: &str) -> usize {
    1 + source.lines().position(|line| line.contains(text)).unwrap()
}

#[test]
fn a_barrier_nobody_completes_is_a_deadlock() {
    let source = kernel(32, "bar.sync 0, 64;");
    for (preset, config) in presets() {
        for scheduler in issue_schedulers() {
            let config = with_issue(&config, scheduler);
            let warps = deadlock(&source, &config);
            assert_eq!(warps.len() as u32, 32 / config.sm.warp_width, "{preset} with {scheduler}: {warps:?}");
            for (n, warp) in warps.iter().enumerate() {
                assert_eq!((usize::from(warp.warp), warp.cta), (n, [0; 3]));
                assert_eq!(warp.waits, "waits at barrier 0: 32 of 64 threads have arrived");
                let place = format!("line {}", line_of(&source, "bar.sync"));
                assert!(warp.place.contains(&place), "`{}` does not name {place}", warp.place);
            }
        }
    }
}

#[test]
fn barriers_in_crossed_order_are_a_deadlock_with_both_sides() {
    let body = "mov.u32 %r0, %tid.x;\nsetp.ge.u32 %p0, %r0, 32;\n@%p0 bra B;\nbar.sync 1, 64;\nbar.sync 2, 64;\n\
                bra.uni E;\nB:\nbar.sync 2, 64;\nbar.sync 1, 64;\nE:";
    let source = kernel(64, body);
    let warps = deadlock(&source, &gtx480());
    let told: Vec<_> = warps.iter().map(|w| (w.warp, w.waits.as_str())).collect();
    let text = |n| format!("waits at barrier {n}: 32 of 64 threads have arrived");
    assert_eq!(told, [(0, text(1).as_str()), (1, text(2).as_str())]);
    let lines = [line_of(&source, "bar.sync 1"), line_of(&source, "bar.sync 2")];
    assert_ne!(warps[0].pc, warps[1].pc);
    // The second half waits at its own `bar.sync 2`, three lines further down.
    assert!(warps[0].place.contains(&format!("line {}", lines[0])), "{}", warps[0].place);
    assert!(warps[1].place.contains(&format!("line {}", lines[1] + 3)), "{}", warps[1].place);
}

#[test]
fn odd_machines_find_the_deadlock_too() {
    let source = kernel(32, "bar.sync 0, 64;");
    for seed in 0..20 {
        let warps = deadlock(&source, &random(seed));
        assert!(warps.iter().all(|w| w.waits.starts_with("waits at barrier 0")), "random({seed}): {warps:?}");
    }
}

#[test]
fn without_skipping_a_deadlock_is_found_as_well() {
    let source = kernel(32, "bar.sync 0, 64;");
    let run = |never_skip| {
        let options = || RunOptions { never_skip, max_cycles: Some(500_000), ..RunOptions::default() };
        run_timed(&source, &gtx480(), options).unwrap().remove(0).result
    };
    assert!(matches!(run(true).ending, Ending::Deadlock(_)), "{:?}", run(true).ending);
    assert_eq!(format!("{:#?}", run(true)), format!("{:#?}", run(false)));
}

/// Every thread waits for a flag nobody sets.
fn spin() -> String {
    let body = "ld.param.u64 %rd0, [out];\nSPIN:\nld.volatile.global.u32 %r0, [%rd0];\nsetp.eq.u32 %p0, %r0, 0;\n\
                @%p0 bra SPIN;";
    kernel(64, body)
}

#[test]
fn a_livelock_ends_at_the_limit_of_instructions() {
    let source = spin();
    let loop_lines = line_of(&source, "ld.volatile")..=line_of(&source, "bra SPIN");
    for (preset, config) in presets() {
        let result = run(&source, &config, [Some(2_000_000), Some(20_000)]);
        let Ending::InstructionLimit(warps) = &result.ending else { panic!("{preset}: {:?}", result.ending) };
        assert!(result.total().sm.thread_insts >= 20_000, "{preset}");
        assert_eq!(warps.len() as u32, 64 / config.sm.warp_width, "{preset}: every warp spins");
        for warp in warps {
            let named = loop_lines.clone().any(|line| warp.place.contains(&format!("line {line}")));
            assert!(named, "{preset}: `{}` is not in the loop, lines {loop_lines:?}", warp.place);
        }
    }
}

#[test]
fn the_limit_of_cycles_is_exact() {
    let source = spin();
    for (preset, config) in presets() {
        for limit in [1, 2, 7, 1000, 1003, 4999] {
            for never_skip in [false, true] {
                let options = || RunOptions { never_skip, max_cycles: Some(limit), ..RunOptions::default() };
                let result = run_timed(&source, &config, options).unwrap().remove(0).result;
                assert!(matches!(result.ending, Ending::CycleLimit), "{preset}: {:?}", result.ending);
                assert_eq!(result.cycles, limit, "{preset}");
                assert!(result.sms.iter().all(|sm| sm.sm.cycles == limit), "{preset}: SMs ran for other cycles");
            }
        }
    }
}

#[test]
fn a_limit_beyond_the_end_changes_nothing() {
    let source = kernel(32, "ld.param.u64 %rd0, [out];\nst.global.u32 [%rd0], 7;");
    for (preset, config) in presets() {
        let free = run(&source, &config, [None, None]);
        let most = Some(free.cycles);
        let limited = run(&source, &config, [most, None]);
        assert!(matches!(limited.ending, Ending::Completed), "{preset}: {:?}", limited.ending);
        assert_eq!(limited.cycles, free.cycles, "{preset}");
        let less = run(&source, &config, [most.map(|most| most - 1), None]);
        assert!(matches!(less.ending, Ending::CycleLimit), "{preset}: {:?}", less.ending);
    }
}

#[test]
fn a_lane_outside_its_own_member_mask_is_a_fault() {
    let body = "mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 1;\n@%p0 vote.sync.ballot.b32 %r1, %p0, 0xd;";
    for (preset, config) in presets() {
        match run(&kernel(32, body), &config, [Some(500_000), None]).ending {
            Ending::Fault(_, fault) => {
                let text = fault.kind.to_string();
                assert!(text.contains("member mask 0x0000000d leaves out lane 1 itself"), "{preset}: {text}");
            }
            other => panic!("{preset}: not a fault: {other:?}"),
        }
    }
}
