//! Independent thread scheduling: lanes of a warp that wait for each other finish, and the others still meet.

use crate::common::{presets, with_divergence, with_issue};
use raddle_sim::config::MachineConfig;
use raddle_sim::gpu::RunOptions;
use raddle_sim::result::{Ending, LaunchResult};
use raddle_testkit::kernel_file::{check_text, check_timed, run_timed};
use raddle_testkit::reference::{self, KERNELS};
use raddle_testkit::timing;

/// A kernel with a buffer of words.
fn kernel(run: &str, words: usize, expect: &str, body: &str) -> String {
    format!(
        "// run: {run}\n// arg: out u32[{words}] = zero\n// expect: out = {expect}\n.version 8.0\n.target sm_80\n\
         .address_size 64\n.visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<6>;\n.reg .b32 %r<12>;\n\
         .reg .b64 %rd<4>;\nld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 31;\n\
         mad.wide.u32 %rd1, %r0, 4, %rd0;\n{body}\nret;\n}}\n"
    )
}

/// All 32 lanes of a warp take a lock in turn, count, and give it back.
fn spin_lock(grid: u32, block: u32) -> String {
    let body = "SPIN: atom.global.cas.b32 %r2, [%rd0+4], 0, 1;\nsetp.ne.u32 %p0, %r2, 0;\n@%p0 bra SPIN;\n\
                ld.volatile.global.u32 %r3, [%rd0];\nadd.u32 %r3, %r3, 1;\nst.volatile.global.u32 [%rd0], %r3;\nmembar.gl;\n\
                atom.global.exch.b32 %r4, [%rd0+4], 0;";
    kernel(&format!("grid={grid} block={block}"), 2, &format!("{} 0", grid * block), body)
}

fn machine(preset: &str) -> MachineConfig {
    with_divergence(&timing::machine(preset, &[""; 0]), "its")
}

fn ending(source: &str, config: &MachineConfig, max_cycles: u64) -> LaunchResult {
    let options = || RunOptions { max_cycles: Some(max_cycles), ..RunOptions::default() };
    run_timed(source, config, options).unwrap().remove(0).result
}

#[test]
fn lanes_of_a_warp_take_a_lock_in_turn() {
    let source = spin_lock(1, 32);
    check_text(&source).unwrap();
    for (preset, config) in presets() {
        let config = with_divergence(&config, "its");
        check_timed(&source, &config).unwrap_or_else(|e| panic!("{preset}: {e}"));
        let stack = ending(&source, &with_divergence(&config, "pdom"), 100_000).ending;
        assert!(matches!(stack, Ending::CycleLimit), "{preset}: {stack:?}");
    }
    let config = machine("gtx480");
    for policy in ["lrr", "gto", "two-level", "lowest-pc"] {
        check_timed(&spin_lock(4, 96), &with_issue(&config, policy)).unwrap_or_else(|e| panic!("{policy}: {e}"));
    }
    let result = ending(&source, &config, 1_000_000);
    let own: Vec<_> = result.own_total().iter().map(|counted| counted.value).collect();
    // The last lane to take the lock waits for nobody.
    assert!(own[0] > 31 && own[1] == 31, "switches and lanes that were let go: {own:?}");
}

#[test]
fn a_lane_that_never_was_in_the_loop_reaches_those_inside() {
    // All but lane 0 spin for a flag which it sets behind the place where they meet.
    let body = "setp.eq.u32 %p0, %r1, 0;\n@%p0 bra MEET;\nSPIN: ld.volatile.global.u32 %r2, [%rd0+128];\n\
                setp.eq.u32 %p1, %r2, 0;\n@%p1 bra SPIN;\nMEET: st.global.u32 [%rd1], 1;\n\
                @%p0 st.volatile.global.u32 [%rd0+128], 1;";
    let source = kernel("grid=1 block=32", 33, "1 ...", body);
    check_text(&source).unwrap();
    check_timed(&source, &machine("gtx480")).unwrap();
}

#[test]
fn lanes_wait_for_one_that_takes_a_lock_for_them() {
    // The first lane of each warp takes the lock; what the warp counts behind it is not atomic.
    let body = "setp.ne.u32 %p0, %r1, 0;\n@%p0 bra MEET;\nSPIN: atom.global.cas.b32 %r2, [%rd0+4], 0, 1;\n\
                setp.ne.u32 %p1, %r2, 0;\n@%p1 bra SPIN;\nMEET: ld.volatile.global.u32 %r3, [%rd0];\nadd.u32 %r3, %r3, 1;\n\
                st.volatile.global.u32 [%rd0], %r3;\nmembar.gl;\n@!%p0 st.volatile.global.u32 [%rd0+4], 0;";
    let source = kernel("grid=6 block=96", 2, "18 0", body);
    check_timed(&source, &machine("gtx480")).unwrap();
}

#[test]
fn splits_meet_at_barriers_and_warp_wide_operations() {
    // Both sides have a barrier of the block and a shuffle of all lanes of their own.
    let body = "mul.lo.u32 %r9, %r0, 3;\nsetp.lt.u32 %p0, %r1, 10;\n@%p0 bra LOW;\nbar.sync 0;\n\
                shfl.sync.bfly.b32 %r5, %r9, 1, 31, 0xfffffc00;\nbar.warp.sync 0xffffffff;\nadd.u32 %r5, %r5, 1000;\nbra.uni MEET;\n\
                LOW: bar.sync 0;\nshfl.sync.bfly.b32 %r5, %r9, 1, 31, 0x3ff;\nbar.warp.sync 0xffffffff;\n\
                MEET: shfl.sync.idx.b32 %r6, %r5, 31, 31, 0xffffffff;\nadd.u32 %r6, %r6, %r5;\nst.global.u32 [%rd1], %r6;";
    let value = |thread: u32| 3 * (thread ^ 1) + if thread % 32 < 10 { 0 } else { 1000 };
    let wanted: Vec<_> = (0..96).map(|t: u32| (value(t | 31) + value(t)).to_string()).collect();
    let source = kernel("grid=1 block=96", 96, &wanted.join(" "), body);
    for (preset, config) in presets() {
        check_timed(&source, &with_divergence(&config, "its")).unwrap_or_else(|e| panic!("{preset}: {e}"));
    }
}

#[test]
fn a_lane_that_waits_for_others_which_wait_to_meet_it_finishes() {
    // Odd lanes wait inside the branch for all lanes; the even ones come to such an operation behind it.
    let body = "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p0, %r2, 0;\n@%p0 bra MEET;\nbar.warp.sync 0xffffffff;\nadd.u32 %r2, %r2, 6;\n\
                MEET: @%p0 bar.warp.sync 0xffffffff;\nst.global.u32 [%rd1], %r2;";
    let wanted: Vec<_> = (0..32).map(|t| if t % 2 == 0 { "0" } else { "7" }).collect();
    let source = kernel("grid=1 block=32", 32, &wanted.join(" "), body);
    check_text(&source).unwrap();
    check_timed(&source, &machine("gtx480")).unwrap();
}

#[test]
fn loops_with_breaks_and_early_exits_inside_nested_branches_leave_the_right_memory() {
    // Lanes end at once, break out of the loop, or count in it as often as their number says.
    let body = "setp.eq.u32 %p0, %r1, 13;\n@%p0 exit;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\nand.b32 %r4, %r1, 3;\n\
                LOOP: setp.ge.u32 %p1, %r2, %r1;\n@%p1 bra END;\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra FOURTH;\n\
                add.u32 %r3, %r3, 2;\nsetp.eq.u32 %p3, %r2, 17;\n@%p3 bra BREAK;\nbra.uni NEXT;\nFOURTH: add.u32 %r3, %r3, 5;\n\
                setp.eq.u32 %p4, %r2, 20;\n@%p4 exit;\nNEXT: add.u32 %r2, %r2, 1;\nbra.uni LOOP;\n\
                BREAK: add.u32 %r3, %r3, 100;\nEND: st.global.u32 [%rd1], %r3;";
    let value = |lane: u32| match lane {
        13 => 0,
        _ if lane.is_multiple_of(4) => {
            if lane > 20 {
                0
            } else {
                5 * lane
            }
        }
        _ => {
            if lane > 17 {
                136
            } else {
                2 * lane
            }
        }
    };
    let wanted: Vec<_> = (0..64).map(|t| value(t % 32).to_string()).collect();
    let source = kernel("grid=1 block=64", 64, &wanted.join(" "), body);
    check_text(&source).unwrap();
    for (preset, config) in presets() {
        check_timed(&source, &with_divergence(&config, "its")).unwrap_or_else(|e| panic!("{preset}: {e}"));
    }
}

#[test]
fn where_nobody_waits_in_a_loop_nobody_is_let_go_and_as_many_instructions_issue_as_from_a_stack() {
    for kernel in KERNELS {
        let case = reference::small(kernel);
        let run = |model: &str| {
            let config = with_divergence(&timing::machine("gtx480", &["gpu.sms=2"]), model);
            timing::run(&case, &config, RunOptions::default())
        };
        let (its, stack) = (run("its"), run("pdom"));
        let let_go = its.own_total().iter().find(|c| c.info.name == "let_go").map(|c| c.value);
        assert_eq!(let_go, Some(0), "{kernel}");
        assert_eq!(its.total().sm.warp_insts, stack.total().sm.warp_insts, "{kernel}");
    }
}
