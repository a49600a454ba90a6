//! The worked examples of the TBC paper (HPCA 2011) and what it says of each divergence model.

use crate::common::{divergence_models, with_divergence, with_issue};
use raddle_sim::config::MachineConfig;
use raddle_sim::event::{Event, EventKind};
use raddle_sim::gpu::{Observer, RunOptions};
use raddle_sim::result::{Ending, LaunchResult};
use raddle_testkit::kernel_file::{Timed, run_functional, run_timed};
use raddle_testkit::timing::machine;

/// The paper's machine with warps of four threads, as in its figures.
fn narrow() -> MachineConfig {
    machine("fx5800", &["gpu.sms=1", "sm.warp_width=4", "sm.simd_width=4"])
}

fn run(source: &str, config: &MachineConfig, model: &str) -> Timed {
    let options = || RunOptions { max_cycles: Some(2_000_000), ..RunOptions::default() };
    let config = with_divergence(config, model);
    let timed = run_timed(source, &config, options).unwrap_or_else(|e| panic!("{model}: {e}")).remove(0);
    assert!(matches!(timed.result.ending, Ending::Completed), "{model}: {:?}", timed.result.ending);
    timed
}

/// The number of the instruction whose line ends in a comment with this name.
fn marked(source: &str, name: &str) -> usize {
    let body = source.split_once("\n{\n").expect("a body").1;
    let insts = body.lines().filter(|line| line.contains(';') && !line.starts_with('.'));
    let mark = format!("// {name}");
    insts.clone().position(|line| line.ends_with(&mark)).unwrap_or_else(|| panic!("nothing is marked {name}"))
}

/// Warps and threads that issued the marked instructions, in the order of the names.
fn issues<const N: usize>(source: &str, result: &LaunchResult, names: [&str; N]) -> [[u64; 2]; N] {
    names.map(|name| result.pcs[marked(source, name)])
}

/// Example 1, Figure 7: threads 1, 6 and 7 take the branch to C, the others run B. The paper counts from 1.
const IF_ELSE: &str = "// run: grid=1 block=8
// arg: out u32[8] = zero
.version 6.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p<2>;
.reg .b32 %r<4>;
.reg .b64 %rd<2>;
ld.param.u64 %rd0, [out];
mov.u32 %r0, %tid.x;
mad.wide.u32 %rd0, %r0, 4, %rd0;
mov.u32 %r1, 0x61;
shr.u32 %r1, %r1, %r0;
and.b32 %r1, %r1, 1;
setp.ne.u32 %p0, %r1, 0;
@%p0 bra C; // A
mov.u32 %r2, 2; // B
bra.uni D;
C:
mov.u32 %r2, 1; // C
D:
st.global.u32 [%rd0], %r2; // D
ret;
}
";

#[test]
fn compaction_saves_an_issue_in_the_example_of_figure_7() {
    let config = narrow();
    for model in divergence_models() {
        let timed = run(IF_ELSE, &config, model);
        assert_eq!(timed.words(0), [1, 2, 2, 2, 2, 1, 1, 2], "{model}");
        let [a, b, c, d] = issues(IF_ELSE, &timed.result, ["A", "B", "C", "D"]);
        assert_eq!([b[1], c[1], d[1]], [5, 3, 8], "{model}: threads");
        let warps = [a[0], b[0], c[0], d[0]];
        match model {
            // Both warps part.
            "pdom" | "pdom-lcp" | "its" => assert_eq!(warps, [2, 2, 2, 2], "{model}"),
            // Threads 1, 6 and 7 fit one warp; 4 and 8 share a lane. Behind the branch, warps are the static ones.
            "tbc" | "tbc-lcp" => assert_eq!(warps, [2, 2, 1, 2], "{model}"),
            // Warps are whole again at D.
            "dwf-wb" => assert_eq!((warps[0], warps[3]), (2, 2), "{model}: {warps:?}"),
            // Nothing makes them so.
            "dwf" => assert!(warps[0] == 2 && warps[3] >= 2, "{model}: {warps:?}"),
            other => panic!("{other} is not known here"),
        }
    }
    let off = run(IF_ELSE, &config, "tbc compactor=off");
    let warps = issues(IF_ELSE, &off.result, ["A", "B", "C", "D"]).map(|i| i[0]);
    assert_eq!(warps, [2, 2, 2, 2], "threads stay in their warps");
}

/// The order in which operations are issued.
#[derive(Default)]
struct Order(Vec<u32>);

impl Observer for Order {
    fn event(&mut self, event: &Event) {
        if let EventKind::Issue { pc, .. } = event.kind {
            self.0.push(pc);
        }
    }
}

fn order(source: &str, config: &MachineConfig) -> Vec<u32> {
    let mut order = Order::default();
    let observer = std::cell::Cell::new(Some(&mut order));
    let options = || {
        let observer = observer.take().map(|o| o as &mut dyn Observer);
        RunOptions { observer, ..RunOptions::default() }
    };
    run_timed(source, config, options).unwrap();
    order.0
}

#[test]
fn the_side_that_jumps_is_on_top() {
    let [b, c, d] = ["B", "C", "D"].map(|name| marked(IF_ELSE, name) as u32);
    for model in ["tbc", "tbc-lcp", "tbc compactor=off", "pdom first=taken"] {
        let mut order = order(IF_ELSE, &with_divergence(&narrow(), model));
        order.retain(|pc| [b, c, d].contains(pc));
        if model.starts_with("pdom") {
            // Each warp for itself.
            order = order.into_iter().step_by(2).collect();
            assert_eq!(order, [c, b, d], "{model}");
        } else {
            assert_eq!((order[0], order.last()), (c, Some(&d)), "{model}: {order:?}");
            assert!(order.is_sorted_by_key(|pc| [c, b, d].iter().position(|p| p == pc)), "{model}: {order:?}");
        }
    }
}

/// Example 2, Figure 10: a loop with a `break`, one warp of four. Thread 1 goes to B, the others to C; there thread 2
/// goes on and 3 and 4 leave the loop through D. B and what thread 2 does meet at E, where the loop goes round.
const BREAK: &str = "// run: grid=1 block=4
// arg: data u32[4] = 0 2 1 1
// arg: out u32[4] = zero
.version 6.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 out)
{
.reg .pred %p<4>;
.reg .b32 %r<8>;
.reg .b64 %rd<4>;
ld.param.u64 %rd0, [data];
ld.param.u64 %rd1, [out];
mov.u32 %r0, %tid.x;
mad.wide.u32 %rd0, %r0, 4, %rd0;
mad.wide.u32 %rd1, %r0, 4, %rd1;
mov.u32 %r2, 0;
mov.u32 %r3, 0;
A:
ld.global.u32 %r1, [%rd0];
setp.ne.u32 %p0, %r1, 0;
@%p0 bra C; // A
add.u32 %r3, %r3, 100; // B
bra.uni E;
C:
setp.eq.u32 %p1, %r1, 1;
@%p1 bra D; // C
add.u32 %r3, %r3, 20;
E:
add.u32 %r2, %r2, 1; // E
setp.lt.u32 %p2, %r2, 1;
@%p2 bra A;
bra.uni F;
D:
add.u32 %r3, %r3, 3; // D
F:
st.global.u32 [%rd1], %r3; // F
ret;
}
";

#[test]
fn likely_convergence_runs_the_end_of_a_loop_once() {
    // As in the figure, what jumps is on top: C runs before B.
    let models = divergence_models().into_iter().map(|model| match model {
        "pdom" => "pdom first=taken",
        "pdom-lcp" => "pdom-lcp first=taken",
        other => other,
    });
    for model in models {
        let timed = run(BREAK, &narrow(), model);
        assert_eq!(timed.words(1), [100, 20, 3, 3], "{model}");
        let [a, b, c, d, e, f] = issues(BREAK, &timed.result, ["A", "B", "C", "D", "E", "F"]);
        assert_eq!([b[1], d[1], e[1], f[1]], [1, 2, 2, 4], "{model}: threads");
        let depth = timed.result.total().sm.stack_depth;
        let warps = [a, b, c, d, e, f].map(|i| i[0]);
        match model {
            // One entry at the start. A leaves it at F and pushes two. Both sides of C meet where C's own entry does,
            // so they take its place: 1 + 2 - 1 + 2.
            "pdom first=taken" | "tbc" => assert_eq!((warps, depth), ([1, 1, 1, 1, 2, 1], 4), "{model}"),
            // A pushes three, one of them at E; C finds that one there and pushes two: 1 + 3 - 1 + 2.
            "pdom-lcp first=taken" | "tbc-lcp" => assert_eq!((warps, depth), ([1, 1, 1, 1, 1, 1], 5), "{model}"),
            // B runs first, as the machine has it, and waits at F: both sides of C and one convergence barrier.
            "its" => assert_eq!((warps, depth), ([1, 1, 1, 1, 2, 1], 3), "{model}"),
            // Under `dwf`, threads at E meet if they come at the same time. There is no stack.
            "dwf" | "dwf-wb" => assert_eq!((depth, warps[0]), (0, 1), "{model}"),
            other => panic!("{other} is not known here"),
        }
    }
}

/// Persistent threads: the first thread of each warp takes the next tasks for all 32, and tells them through shared
/// memory. Nothing but the warp itself makes the others wait for it. Each task must be done once.
const MANAGER: &str = "// run: grid=2 block=96
// arg: done u32[1024] = zero
// arg: next u32[1] = zero
.version 6.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 done, .param .u64 next)
{
.reg .pred %p<4>;
.reg .b32 %r<12>;
.reg .b64 %rd<4>;
.shared .b32 first[3];
ld.param.u64 %rd0, [done];
ld.param.u64 %rd1, [next];
mov.u32 %r0, %tid.x;
and.b32 %r1, %r0, 31;
shr.u32 %r2, %r0, 5;
mov.u32 %r3, first;
mad.lo.u32 %r3, %r2, 4, %r3;
setp.ne.u32 %p0, %r1, 0;
AGAIN:
@%p0 bra WORK;
atom.global.add.u32 %r4, [%rd1], 32;
st.volatile.shared.u32 [%r3], %r4;
WORK:
ld.volatile.shared.u32 %r5, [%r3];
setp.ge.u32 %p1, %r5, 1024;
@%p1 bra END;
add.u32 %r6, %r5, %r1;
mad.wide.u32 %rd2, %r6, 4, %rd0;
red.global.add.u32 [%rd2], 1;
bra.uni AGAIN;
END:
ret;
}
";

#[test]
fn a_warp_waits_for_its_manager_under_every_model_but_dwf() {
    let config = machine("fx5800", &["gpu.sms=1"]);
    let models = ["tbc compactor=off", "tbc-lcp compactor=off"];
    let keep = divergence_models().into_iter().filter(|m| *m != "dwf").chain(models);
    for model in keep {
        for policy in ["lrr", "gto", "by-block", "majority"] {
            let done = run(MANAGER, &with_issue(&config, policy), model).words(0);
            assert!(done.iter().all(|n| *n == 1), "{model} with {policy}: {done:?}");
        }
    }
    for policy in ["lrr", "majority"] {
        let config = with_issue(&with_divergence(&config, "dwf"), policy);
        let options = || RunOptions { max_cycles: Some(500_000), ..RunOptions::default() };
        let timed = run_timed(MANAGER, &config, options).unwrap().remove(0);
        let often = timed.words(0).iter().filter(|n| **n != 1).count();
        assert!(often > 0, "under dwf nothing keeps workers from running ahead with old tasks");
    }
}

/// Figure 1a: in every round, a few threads of each warp do more than the others. Those that have fallen behind are
/// alone from then on.
const EDDY: &str = "// run: grid=4 block=256
// arg: out u32[1024] = zero
.version 6.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p<4>;
.reg .b32 %r<12>;
.reg .b64 %rd<4>;
ld.param.u64 %rd0, [out];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
mad.lo.u32 %r0, %r1, 256, %r0;
mad.wide.u32 %rd0, %r0, 4, %rd0;
mad.lo.u32 %r2, %r0, 1664525, 1013904223;
mov.u32 %r3, 0;
ROUND:
mad.lo.u32 %r2, %r2, 1664525, 1013904223;
shr.u32 %r4, %r2, 13;
and.b32 %r4, %r4, 7;
setp.ne.u32 %p0, %r4, 0;
@%p0 bra NEXT;
xor.b32 %r2, %r2, 0x5a5a;
mul.lo.u32 %r2, %r2, 5;
xor.b32 %r2, %r2, 0x3333;
add.u32 %r2, %r2, 77;
xor.b32 %r2, %r2, 0x1234;
add.u32 %r2, %r2, 99;
NEXT:
shr.u32 %r5, %r2, 3;
xor.b32 %r2, %r2, %r5;
shl.b32 %r5, %r2, 5;
xor.b32 %r2, %r2, %r5;
add.u32 %r2, %r2, 12345;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, 40;
@%p1 bra ROUND;
st.global.u32 [%rd0], %r2;
ret;
}
";

#[test]
fn threads_that_fall_behind_cost_dwf_its_gain() {
    // In a deep pipeline few warps are ready, and majority leaves more threads behind.
    let config = machine("fx5800-deep", &["gpu.sms=1"]);
    let wanted = run_functional(EDDY, 32).unwrap().remove(0);
    let work = |model: &str, policy: &str| {
        let timed = run(EDDY, &with_issue(&config, policy), model);
        assert!(timed.buffers == wanted, "{model}: memory differs");
        let sm = timed.result.total().sm;
        (sm.thread_insts, sm.warp_insts)
    };
    let (pdom, dwf, wb, tbc) =
        (work("pdom", "lrr"), work("dwf", "majority"), work("dwf-wb", "majority"), work("tbc", "by-block"));
    // All do the same for their threads: fewer instructions of warps are a higher SIMD efficiency.
    assert_eq!([dwf.0, wb.0, tbc.0], [pdom.0; 3]);
    assert!(dwf.1 > pdom.1 * 49 / 50, "dwf issues {}, pdom {}", dwf.1, pdom.1);
    assert!(tbc.1 < pdom.1 * 9 / 10, "tbc issues {}, pdom {}", tbc.1, pdom.1);
    assert!(wb.1 < dwf.1, "warp barriers end the eddy: dwf-wb issues {}, dwf {}", wb.1, dwf.1);
}
