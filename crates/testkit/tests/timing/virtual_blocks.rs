//! Virtual blocks: warps take logical blocks by themselves.

use crate::common::{long, presets, with_issue};
use crate::determinism::check_case;
use raddle_ptx::syntax::print;
use raddle_ptx::transform::{Form, Options, ThreadOrder, virtualize};
use raddle_sim::config::MachineConfig;
use raddle_sim::event::{Event, EventKind};
use raddle_sim::gpu::{Observer, RunOptions};
use raddle_sim::result::{Ending, LaunchResult};
use raddle_testkit::kernel_file::run_timed;
use raddle_testkit::reference::{Case, Expected};
use raddle_testkit::timing::{machine, run};
use std::cell::Cell;

pub const ORDERS: [ThreadOrder; 3] = [ThreadOrder::SameLane, ThreadOrder::SlowestLane, ThreadOrder::LowestLane];

/// A case with its kernel in a loop over logical blocks, on so many virtual ones.
pub fn on_virtual_blocks(case: Case, form: Form, blocks: u32) -> Case {
    let options = Options { form, ..Options::default() };
    let done = virtualize(&case.source, &options, |_| true).unwrap();
    assert!(done.refused.is_empty(), "{:?}", done.refused);
    let scalars = [&case.scalars[..], &case.grid[..usize::from(done.kernels[0].grid_dims)]].concat();
    Case { source: print(&done.tree), scalars, grid: [blocks, 1, 1], ..case }
}

/// Every warp spins for as long as a table says for its block and its number, and then says that it has run.
pub fn spinning(times: &[[u32; 3]], unit: u32) -> Case {
    let source = "\
.version 6.0
.target sm_60
.address_size 64
.visible .entry spin(.param .u64 times, .param .u64 out, .param .u32 unit)
{
    .reg .pred %p<2>;
    .reg .b32 %r<12>;
    .reg .b64 %d<12>;
    mov.u64 %d1, %clock64;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    shr.u32 %r3, %r2, 5;
    mad.lo.u32 %r4, %r1, 3, %r3;
    ld.param.u64 %d2, [times];
    mad.wide.u32 %d3, %r4, 4, %d2;
    ld.global.u32 %r5, [%d3];
    ld.param.u32 %r6, [unit];
    mul.wide.u32 %d4, %r5, %r6;
Spin:
    mov.u64 %d5, %clock64;
    sub.u64 %d6, %d5, %d1;
    setp.lt.u64 %p1, %d6, %d4;
    @%p1 bra Spin;
    mad.lo.u32 %r7, %r1, 96, %r2;
    ld.param.u64 %d7, [out];
    mad.wide.u32 %d8, %r7, 4, %d7;
    add.u32 %r8, %r7, 1;
    st.global.u32 [%d8], %r8;
    ret;
}
";
    let threads = 96 * times.len() as u32;
    Case {
        name: "spin".to_owned(),
        source: source.to_owned(),
        kernel: "spin".to_owned(),
        grid: [times.len() as u32, 1, 1],
        block: [96, 1, 1],
        buffers: vec![times.concat(), vec![0; threads as usize]],
        scalars: vec![unit],
        expected: Expected::Words((1..=threads).collect()),
        thread_insts: None,
    }
}

#[test]
fn figure_1_of_the_paper_takes_145_and_120_units() {
    let times = [[40, 50, 30], [50, 30, 40], [25, 40, 45]];
    let config = with_issue(&machine("gtx480", &["gpu.sms=1", "sm.ctas=1"]), "lrr");
    let units = |case: &Case| {
        let result = run(case, &config, RunOptions::default());
        assert!(matches!(result.ending, Ending::Completed), "{:?}", result.ending);
        result.cycles as f64 / f64::from(600)
    };
    let baseline = units(&spinning(&times, 600));
    assert!((baseline / 145.0 - 1.0).abs() < 0.02, "{baseline}");
    let case = on_virtual_blocks(spinning(&times, 600), Form::Hardware(ThreadOrder::SameLane), 1);
    let virtualised = units(&case);
    assert!((virtualised / 120.0 - 1.0).abs() < 0.02, "{virtualised}");
}

/// Blocks of 80 threads that hand numbers to each other through shared memory, after times that depend on block and warp.
pub fn exchanging(blocks: u32) -> Case {
    let source = "\
.version 6.0
.target sm_60
.address_size 64
.visible .entry exchange(.param .u64 out)
{
    .reg .pred %p<3>;
    .reg .b32 %r<20>;
    .reg .b64 %d<4>;
    .shared .b32 hands[80];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    shr.u32 %r3, %r2, 5;
    mad.lo.u32 %r4, %r1, 7, %r3;
    mul.lo.u32 %r4, %r4, 2654435761;
    shr.u32 %r4, %r4, 26;
    mov.u32 %r5, 0;
Work:
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, %r4;
    @%p1 bra Work;
    mov.u32 %r6, hands;
    mad.lo.u32 %r7, %r2, 4, %r6;
    mad.lo.u32 %r8, %r1, 80, %r2;
    st.shared.u32 [%r7], %r8;
    bar.sync 0;
    mov.u32 %r9, 79;
    sub.u32 %r9, %r9, %r2;
    mad.lo.u32 %r10, %r9, 4, %r6;
    ld.shared.u32 %r11, [%r10];
    mul.lo.u32 %r12, %r4, 3;
Rest:
    sub.u32 %r12, %r12, 1;
    setp.gt.s32 %p2, %r12, 0;
    @%p2 bra Rest;
    ld.param.u64 %d1, [out];
    mad.wide.u32 %d2, %r8, 4, %d1;
    red.global.add.u32 [%d2], %r11;
    ret;
}
";
    let expected = (0..blocks).flat_map(|block| (0..80).map(move |t| block * 80 + 79 - t)).collect();
    Case {
        name: "exchange".to_owned(),
        source: source.to_owned(),
        kernel: "exchange".to_owned(),
        grid: [blocks, 1, 1],
        block: [80, 1, 1],
        buffers: vec![vec![0; 80 * blocks as usize]],
        scalars: Vec::new(),
        expected: Expected::Words(expected),
        thread_insts: None,
    }
}

#[test]
fn virtual_blocks_run_alike_whatever_the_host_does() {
    for (n, (preset, config)) in presets().into_iter().enumerate() {
        for (m, order) in ORDERS.into_iter().enumerate() {
            if !long() && n % 3 != m {
                continue;
            }
            let case = on_virtual_blocks(exchanging(14), Form::Hardware(order), 4);
            check_case(&case, &with_issue(&config, "vtw"), &format!("{preset}, {order:?}"));
        }
    }
}

#[test]
fn every_order_gives_the_right_memory() {
    let config = machine("gtx480", &["gpu.sms=2"]);
    for order in ORDERS {
        for blocks in [1, 2, 5, 16] {
            let case = on_virtual_blocks(exchanging(33), Form::Hardware(order), blocks);
            let result = run(&case, &config, RunOptions::default());
            assert!(matches!(result.ending, Ending::Completed), "{order:?}: {:?}", result.ending);
        }
    }
}

/// Blocks of 768 threads whose first deed in a logical block is to put a number into shared memory.
fn handing_over(blocks: u32) -> Case {
    let source = "\
.version 6.0
.target sm_60
.address_size 64
.visible .entry hand(.param .u64 out)
{
    .reg .b32 %r<12>;
    .reg .b64 %d<4>;
    .shared .b32 hands[768];
    mov.u32 %r2, %tid.x;
    mov.u32 %r6, hands;
    mad.lo.u32 %r7, %r2, 4, %r6;
    mov.u32 %r1, %ctaid.x;
    mad.lo.u32 %r8, %r1, 768, %r2;
    st.shared.u32 [%r7], %r8;
    bar.sync 0;
    mov.u32 %r9, 767;
    sub.u32 %r9, %r9, %r2;
    mad.lo.u32 %r10, %r9, 4, %r6;
    ld.shared.u32 %r11, [%r10];
    ld.param.u64 %d1, [out];
    mad.wide.u32 %d2, %r8, 4, %d1;
    red.global.add.u32 [%d2], %r11;
    ret;
}
";
    let expected = (0..blocks).flat_map(|block| (0..768).map(move |t| block * 768 + 767 - t)).collect();
    Case {
        name: "hand".to_owned(),
        source: source.to_owned(),
        kernel: "hand".to_owned(),
        grid: [blocks, 1, 1],
        block: [768, 1, 1],
        buffers: vec![vec![0; blocks as usize * 768]],
        scalars: Vec::new(),
        expected: Expected::Words(expected),
        thread_insts: None,
    }
}

/// A warp may begin its first logical block before the last warp has come to it.
#[test]
fn nobody_clears_what_the_first_logical_block_has_put_into_shared_memory() {
    for issue in ["gto", "lrr", "vtw"] {
        let config = with_issue(&machine("gtx480", &["gpu.sms=1"]), issue);
        for order in ORDERS {
            let case = on_virtual_blocks(handing_over(5), Form::Hardware(order), 2);
            let result = run(&case, &config, RunOptions::default());
            assert!(matches!(result.ending, Ending::Completed), "{:?}", result.ending);
        }
    }
}

/// A kernel that takes three logical blocks; each body begins with `%r1` the block, `%r2` the thread, `%r3` the warp.
fn by_hand(threads: u32, body: &str) -> String {
    format!(
        "// run: grid=1 block={threads}\n// arg: out u32[300] = zero\n.version 6.0\n.target sm_60\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<6>;\n.reg .b32 %r<12>;\n.reg .b64 %d<6>;\n\
         .shared .b32 box[4];\nmov.u32 %r2, %tid.x;\nshr.u32 %r3, %r2, 5;\nTop:\nraddle.next_tbid.u32 %r1, 3;\n\
         setp.ge.u32 %p1, %r1, 3;\n@%p1 bra End;\nraddle.next_tidx.same_lane.u32 %r2, %r2;\n{body}\nStep:\nbra.uni Top;\n\
         End:\nret;\n}}\n"
    )
}

fn one_sm() -> MachineConfig {
    machine("gtx480", &["gpu.sms=1"])
}

/// A warp never leaves the first logical block, and another one would be two ahead.
fn one_stays() -> String {
    by_hand(64, "setp.ne.u32 %p2, %r3, 1;\n@%p2 bra Step;\nbar.sync 5, 96;")
}

/// A run in which warps wait for their next logical block.
pub fn waiting() -> LaunchResult {
    stuck(&one_stays())
}

fn stuck(source: &str) -> LaunchResult {
    let options = || RunOptions { max_cycles: Some(500_000), ..RunOptions::default() };
    run_timed(source, &one_sm(), options).unwrap().remove(0).result
}

/// Who waits for what in a deadlock, by warp.
fn waits(source: &str) -> Vec<String> {
    let result = stuck(source);
    let Ending::Deadlock(warps) = &result.ending else { panic!("not a deadlock: {:?}", result.ending) };
    assert!(result.total().sm.stall_sibling > 0, "slots are charged to it");
    warps.iter().map(|warp| warp.waits.clone()).collect()
}

#[test]
fn a_warp_that_would_be_two_ahead_waits_and_the_report_says_so() {
    let told = waits(&one_stays());
    assert_eq!(told[0], "waits for its next logical block: iteration 3 would be two ahead of warp 1");
    assert_eq!(told[1], "waits at barrier 5 of logical block 0: 32 threads have arrived");
}

#[test]
fn shared_memory_waits_until_all_have_left_the_block_before() {
    let body = "setp.ne.u32 %p2, %r3, 1;\n@%p2 bra Other;\nbar.sync 5, 96;\nOther:\nsetp.eq.u32 %p3, %r1, 0;\n\
                @%p3 bra Step;\nst.shared.u32 [box], %r1;";
    let told = waits(&by_hand(64, body));
    assert_eq!(told[0], "waits with shared memory until all warps have left the logical block before");
}

/// Half of a warp asks for its next logical block, the others wait for them behind it.
#[test]
fn a_warp_of_which_only_some_lanes_want_a_block_is_reported() {
    let source = "// run: grid=1 block=32\n// arg: out u32[1] = zero\n.version 6.0\n.target sm_60\n.address_size 64\n\
                  .visible .entry k(.param .u64 out)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<3>;\nmov.u32 %r1, %laneid;\n\
                  setp.ge.u32 %p1, %r1, 16;\n@%p1 bra Behind;\nraddle.next_tbid.u32 %r2, 3;\nBehind:\nmov.u32 %r1, 0;\nret;\n}\n";
    let result = stuck(source);
    let Ending::Deadlock(warps) = &result.ending else { panic!("not a deadlock: {:?}", result.ending) };
    assert_eq!(warps[0].waits, "some of its lanes wait for its next logical block, the others are elsewhere");
}

/// Barriers as they are come to and left: time, warp, whether it comes.
#[derive(Default)]
struct Barriers(Vec<(u16, bool)>);

impl Observer for Barriers {
    fn event(&mut self, event: &Event) {
        match event.kind {
            EventKind::BarrierArrive { warp, .. } => self.0.push((warp, true)),
            EventKind::BarrierLeave { warp, .. } => self.0.push((warp, false)),
            _ => {}
        }
    }
}

#[test]
fn two_iterations_wait_at_one_barrier_without_mixing() {
    // Of each logical block two warps meet, and the third goes on: of block 0 it is warp 2, which then waits for warp 1 of
    // block 1 while warp 0 of block 0 still waits for that, too.
    let body = "setp.eq.u32 %p2, %r1, 0;\nselp.u32 %r4, 2, 0, %p2;\nsetp.eq.u32 %p3, %r3, %r4;\n@%p3 bra Step;\n\
                setp.ne.u32 %p4, %r3, 1;\n@%p4 bra Meet;\nmov.u32 %r5, 0;\nWork:\nadd.u32 %r5, %r5, 1;\n\
                setp.lt.u32 %p4, %r5, 200;\n@%p4 bra Work;\nMeet:\nsetp.lt.u32 %p5, %r2, 1000;\n\
                bar.red.popc.u32 %r6, 0, %p5;\nld.param.u64 %d1, [out];\nmad.lo.u32 %r7, %r1, 96, %r2;\n\
                mad.wide.u32 %d2, %r7, 4, %d1;\nst.global.u32 [%d2], %r6;";
    let source = by_hand(96, body);
    let plain = run_timed(&source, &one_sm(), RunOptions::default).unwrap().remove(0);
    assert!(matches!(plain.result.ending, Ending::Completed), "{:?}", plain.result.ending);
    let out = plain.words(0);
    for (n, found) in out.iter().enumerate() {
        let (block, warp) = (n / 96, n % 96 / 32);
        let meets = block < 3 && warp != if block == 0 { 2 } else { 0 };
        assert_eq!(*found, if meets { 64 } else { 0 }, "block {block}, warp {warp}");
    }
    let mut seen = Barriers::default();
    let observer = Cell::new(Some(&mut seen));
    let options =
        || RunOptions { observer: observer.take().map(|seen| seen as &mut dyn Observer), ..RunOptions::default() };
    run_timed(&source, &one_sm(), options).unwrap();
    let before: Vec<u16> = seen.0.iter().take_while(|(_, comes)| *comes).map(|(warp, _)| *warp).collect();
    assert_eq!(before, [0, 2, 1], "warp 2 of the second block waits beside warp 0 of the first");
}
