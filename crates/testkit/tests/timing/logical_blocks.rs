//! The seam of logical blocks: mechanisms of our own decide who begins, when, and as which warp.

use crate::virtual_blocks::{ORDERS, exchanging, on_virtual_blocks, spinning};
use raddle_mech::NoConfig;
use raddle_ptx::transform::{Form, ThreadOrder};
use raddle_sim::gpu::RunOptions;
use raddle_sim::result::LaunchResult;
use raddle_sim::seam::{LogicalBlocks, LogicalLaunch, LogicalView, MechanismInfo, Registry, Seam};
use raddle_sim::stats::{CounterInfo, Unit};
use raddle_testkit::reference::{self, Case, Expected};
use raddle_testkit::timing::{machine, try_run_with};

/// One that differs from `vtw` in one decision, and counts iterations that warps begin.
#[derive(Default)]
struct Own {
    /// Nobody begins an iteration before all have left the one before.
    stays_together: bool,
    /// In each iteration every warp becomes the one after the one it was.
    turns: bool,
    /// Asks for the next logical block as soon as all have begun one.
    asks_early: bool,
    launch: LogicalLaunch,
    begun: u64,
}

impl LogicalBlocks for Own {
    fn start_launch(&mut self, launch: &LogicalLaunch) {
        self.launch = *launch;
    }

    fn begins(&mut self, view: &LogicalView<'_>, warp: u16) -> Option<u16> {
        let iteration = view.block.warp(warp).iteration;
        if view.block.lowest() < iteration || self.stays_together && !view.block.all_have_left(iteration) {
            return None;
        }
        self.begun += 1;
        let full = self.launch.warps - u16::from(self.launch.is_last_partial);
        let turn = if self.turns { iteration as u16 } else { 0 };
        Some(if self.launch.stays(warp) { warp } else { (warp + turn) % full })
    }

    fn asks(&mut self, view: &LogicalView<'_>) -> bool {
        let waits = |w: &u16| view.block.warp(*w).iteration == view.block.asked();
        view.block.lowest() == view.block.asked() && (self.asks_early || view.block.waiting().iter().any(waits))
    }

    fn counters(&self) -> Vec<u64> {
        vec![self.begun]
    }
}

fn registry() -> Registry {
    let counters = &[CounterInfo { name: "begun", unit: Unit::Events, doc: "iterations that warps began" }];
    let info = |name| {
        let (summary, source) = ("differs in one decision", "this test");
        MechanismInfo { seam: Seam::LogicalBlocks, name, summary, source, counters, refuses: &[] }
    };
    let mut registry = raddle_mech::registry();
    registry.logical_blocks(info("together"), |_: NoConfig, _| Own { stays_together: true, ..Own::default() });
    registry.logical_blocks(info("turning"), |_: NoConfig, _| Own { turns: true, ..Own::default() });
    registry.logical_blocks(info("early"), |_: NoConfig, _| Own { asks_early: true, ..Own::default() });
    registry
}

/// Runs a case on one SM, and checks what it computed.
fn run(case: &Case, mechanism: &str, set: &[&str]) -> LaunchResult {
    let chosen = format!("mechanism.logical_blocks={mechanism}");
    let set = [&["gpu.sms=1", chosen.as_str()], set].concat();
    let result = try_run_with(&registry(), case, &machine("gtx480", &set), RunOptions::default());
    result.unwrap_or_else(|error| panic!("{mechanism}: {error}"))
}

/// What one of ours counted.
fn begun(result: &LaunchResult) -> u64 {
    let own = result.own_total();
    own.iter().find(|counted| counted.seam == Seam::LogicalBlocks).unwrap_or_else(|| panic!("{own:?}")).value
}

#[test]
fn warps_wait_as_long_as_the_mechanism_says() {
    const TIMES: [[u32; 3]; 3] = [[40, 50, 30], [50, 30, 40], [25, 40, 45]];
    let case = on_virtual_blocks(spinning(&TIMES, 600), Form::Hardware(ThreadOrder::SameLane), 1);
    for (mechanism, units) in [("vtw", 120.0), ("early", 120.0), ("turning", 120.0), ("together", 145.0)] {
        let result = run(&case, mechanism, &["sm.ctas=1", "mechanism.issue=lrr"]);
        let taken = result.cycles as f64 / 600.0;
        assert!((taken / units - 1.0).abs() < 0.02, "{mechanism}: {taken}");
        if mechanism != "vtw" {
            assert_eq!(begun(&result), 3 * 4, "three warps began three logical blocks and one that is not there");
        }
    }
}

#[test]
fn logical_blocks_are_there_sooner_when_they_are_asked_for_early() {
    // Nobody waits for another warp, so nothing hides the long window that an answer takes.
    let set = ["gpu.window=60", "interconnect.latency=60"];
    let case = on_virtual_blocks(spinning(&[[10; 3]; 8], 10), Form::Hardware(ThreadOrder::SameLane), 1);
    let [asked, early] = ["turning", "early"].map(|mechanism| run(&case, mechanism, &set).cycles);
    assert!(early + 7 * 30 < asked, "{early} and {asked}");
}

/// With barriers, shared memory and a last warp that is not full.
#[test]
fn memory_is_right_whatever_the_mechanism_decides() {
    for order in ORDERS {
        for blocks in [1, 5, 16] {
            let case = on_virtual_blocks(exchanging(33), Form::Hardware(order), blocks);
            let cycles = ["vtw", "together", "turning", "early"].map(|mechanism| run(&case, mechanism, &[]).cycles);
            assert_ne!(cycles[0], cycles[1], "{order:?}, {blocks} blocks: it matters who waits");
        }
    }
}

/// Every thread of a logical block says which warp it is of, in a kernel that asks for any order of warps.
fn telling(blocks: u32, expected: impl Fn(u32, u32) -> u32) -> Case {
    let source = format!(
        ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry tell(.param .u64 out)\n{{\n.reg .pred %p<2>;\n\
         .reg .b32 %r<7>;\n.reg .b64 %d<3>;\nmov.u32 %r2, %tid.x;\nshr.u32 %r3, %r2, 5;\nTop:\n\
         raddle.next_tbid.u32 %r1, {blocks};\nsetp.ge.u32 %p1, %r1, {blocks};\n@%p1 bra End;\n\
         raddle.next_tidx.lowest_lane.u32 %r4, %r2;\nmad.lo.u32 %r5, %r1, 96, %r4;\nld.param.u64 %d1, [out];\n\
         mad.wide.u32 %d2, %r5, 4, %d1;\nadd.u32 %r6, %r3, 1;\nst.global.u32 [%d2], %r6;\nbra.uni Top;\nEnd:\nret;\n}}\n"
    );
    let warp_of = |thread: u32| 1 + expected(thread / 96, thread % 96 / 32);
    Case {
        name: "tell".to_owned(),
        source,
        kernel: "tell".to_owned(),
        grid: [1, 1, 1],
        block: [96, 1, 1],
        buffers: vec![vec![0; 96 * blocks as usize]],
        scalars: Vec::new(),
        expected: Expected::Words((0..96 * blocks).map(warp_of).collect()),
        thread_insts: None,
    }
}

#[test]
fn warps_become_what_the_mechanism_says() {
    run(&telling(5, |_, role| role), "together", &[]);
    run(&telling(5, |block, role| (role + 2 * block) % 3), "turning", &[]);
}

#[test]
fn nobody_is_asked_where_blocks_are_not_virtual() {
    let case = reference::vecadd(500);
    let [own, vtw] = ["together", "vtw"].map(|mechanism| run(&case, mechanism, &[]));
    assert_eq!((begun(&own), own.cycles), (0, vtw.cycles));
    // Nor where a block takes its logical blocks as a whole.
    let case = on_virtual_blocks(exchanging(7), Form::Hardware(ThreadOrder::SameLane), 2);
    assert_eq!(begun(&run(&case, "together", &["mechanism.divergence=tbc"])), 0);
}
