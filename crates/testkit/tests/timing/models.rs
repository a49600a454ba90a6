//! Every divergence model: right memory, known ends, equal runs.

use crate::common::{divergence_models, is_too_new, kernel_files, litmus, long, presets, with_divergence, with_issue};
use raddle_sim::config::{MachineConfig, random};
use raddle_sim::gpu::{RunOptions, SmOrder};
use raddle_sim::result::Ending;
use raddle_testkit::kernel_file::{check_timed, run_timed};
use raddle_testkit::reference::{self, KERNELS};
use raddle_testkit::timing;

/// The models beside `pdom`, which all other tests run.
fn models() -> Vec<&'static str> {
    divergence_models().into_iter().filter(|m| *m != "pdom").collect()
}

/// What models say of kernels with warp-wide operations they cannot do.
const REFUSALS: [(&str, &str); 3] = [
    ("dwf", "a warp-wide operation needs a whole static warp, and this model keeps no static warps"),
    ("dwf-wb", "a warp-wide operation needs a whole static warp, and this model keeps no static warps"),
    ("dwf-wb", "`bar.warp.sync` is supported only for all threads of a warp, with a constant mask"),
];

/// Kernels that never end under some models, and why.
const ENDLESS: [(&str, &[&str], &str); 1] = [(
    "atomic/spin_lock_between_warps.ptx",
    &["tbc", "tbc-lcp"],
    "warps of a block wait for each other at branches: the one with the lock waits for those that want it",
)];

fn is_endless(file: &str, model: &str) -> bool {
    ENDLESS.iter().any(|(name, models, _)| *name == file && models.contains(&model))
}

#[test]
fn some_kernels_never_end_by_the_nature_of_the_model() {
    for (file, models, why) in ENDLESS {
        let (_, text) = kernel_files("ptx").into_iter().find(|(name, _)| name == file).unwrap();
        for model in models {
            for (preset, config) in presets() {
                let options = || RunOptions { max_cycles: Some(30_000), ..RunOptions::default() };
                let timed = run_timed(&text, &with_divergence(&config, model), options).unwrap().remove(0);
                let ending = timed.result.ending;
                assert!(matches!(ending, Ending::CycleLimit), "{file} on {preset} under {model}, {why}: {ending:?}");
            }
        }
    }
}

#[test]
fn threads_that_left_early_are_not_waited_for_at_barriers() {
    check_everywhere("barrier/branch_to_the_end.ptx");
}

/// Runs a kernel file on every preset under every model.
fn check_everywhere(file: &str) {
    let (_, text) = kernel_files("ptx").into_iter().find(|(name, _)| name == file).unwrap();
    for (preset, config) in presets() {
        for model in divergence_models() {
            let check = check_timed(&text, &with_divergence(&config, model));
            assert!(check.is_ok(), "{file} on {preset} under {model}: {check:?}");
        }
    }
}

#[test]
fn lanes_that_run_while_others_of_their_warp_leave_a_barrier_repeat_nothing() {
    check_everywhere("barrier/opens_beside_running_lanes.ptx");
}

#[test]
fn kernel_files_leave_the_memory_they_must_under_every_model() {
    let machines = presets();
    let step = if long() { 1 } else { 7 };
    let (mut wrong, mut refused) = (Vec::new(), 0);
    for (n, (name, text)) in kernel_files("ptx").iter().enumerate() {
        // What models differ in is always run.
        let control = ["control", "call", "barrier", "warp", "atomic"].iter().any(|folder| name.starts_with(folder));
        for (m, model) in models().into_iter().enumerate() {
            for (p, (preset, config)) in machines.iter().enumerate() {
                let sample = (n + m) % machines.len() == p && (control || n % step == m);
                if !(long() || sample) || is_endless(name, model) {
                    continue;
                }
                match check_timed(text, &with_divergence(config, model)) {
                    Ok(()) => {}
                    Err(e) if is_too_new(name, &e) => {}
                    Err(e) if REFUSALS.iter().any(|(m, why)| *m == model && e.contains(why)) => refused += 1,
                    Err(e) => wrong.push(format!("{name} on {preset} under {model}: {e}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused > 0, "kernels with warp-wide operations are among them");
}

#[test]
fn reference_kernels_compute_the_same_under_every_model() {
    for (m, model) in models().into_iter().enumerate() {
        for (p, (preset, config)) in presets().iter().enumerate() {
            for (n, kernel) in KERNELS.into_iter().enumerate() {
                if long() || (m + p + n) % 3 == 0 {
                    let policy = ["lrr", "gto", "by-block", "majority"][(m + n) % 4];
                    let config = with_issue(&with_divergence(config, model), policy);
                    let case = reference::small(kernel);
                    let result = timing::run(&case, &config, RunOptions::default());
                    let blocks: u32 = case.grid.iter().product();
                    assert_eq!(result.ctas, u64::from(blocks), "{kernel} on {preset} under {model}");
                }
            }
        }
    }
}

fn litmus_machines() -> Vec<(String, MachineConfig)> {
    let mut machines: Vec<_> = presets().into_iter().map(|(name, config)| (name.to_owned(), config)).collect();
    machines.extend((0..if long() { 10 } else { 4 }).map(|seed| (format!("random({seed})"), random(seed))));
    machines
}

#[test]
fn litmus_kernels_have_their_one_answer_under_every_model() {
    let policies = ["lrr", "gto", "by-block", "by-block blocks=rrb", "majority"];
    for (f, (name, text)) in kernel_files("litmus").iter().enumerate().filter(|(_, (name, _))| name != "race.ptx") {
        for (c, (machine, config)) in litmus_machines().iter().enumerate() {
            let holds = config.gpu.sms * config.sm.ctas.min(config.sm.threads / 32) >= 2;
            if name == "global-barrier.ptx" && !holds {
                continue;
            }
            for (m, model) in models().into_iter().enumerate() {
                for (p, policy) in policies.into_iter().enumerate() {
                    if long() || (f + c + m) % policies.len() == p {
                        let config = with_issue(&with_divergence(config, model), policy);
                        check_timed(text, &config)
                            .unwrap_or_else(|e| panic!("{name} on {machine} under {model} with {policy}: {e}"));
                    }
                }
            }
        }
    }
}

/// What must not make a difference.
const VARIANTS: [(&str, bool, SmOrder, usize); 5] = [
    ("without skipping", true, SmOrder::Forward, 1),
    ("shuffled", false, SmOrder::Shuffled(1), 1),
    ("shuffled another way, without skipping", true, SmOrder::Shuffled(77), 1),
    ("on two threads", false, SmOrder::Forward, 2),
    ("on three threads", false, SmOrder::Forward, 3),
];

fn runs_alike(source: &str, config: &MachineConfig, what: &str) {
    let text = |never_skip, order, threads| {
        let options =
            || RunOptions { never_skip, order, threads, max_cycles: Some(3_000_000), ..RunOptions::default() };
        format!("{:#?}", run_timed(source, config, options).unwrap_or_else(|e| panic!("{what}: {e}")))
    };
    let first = text(false, SmOrder::Forward, 1);
    for (variant, never_skip, order, threads) in VARIANTS {
        let other = text(never_skip, order, threads);
        let differs = first.lines().zip(other.lines()).find(|(a, b)| a != b);
        assert!(differs.is_none() && first.len() == other.len(), "{what}, {variant}: {differs:?}");
    }
}

#[test]
fn kernels_run_alike_under_every_model() {
    let machines = litmus_machines();
    let policies =
        ["lrr", "gto", "by-block", "by-block blocks=rrb", "majority", "two-level", "lowest-pc", "pdom-priority"];
    let sources: Vec<_> = (0..if long() { 40 } else { 4 }).map(crate::structured::kernel).collect();
    for (m, model) in models().into_iter().enumerate() {
        for (n, source) in sources.iter().enumerate() {
            let (machine, config) = &machines[(m + n) % machines.len()];
            let policy = policies[(2 * m + n) % policies.len()];
            let config = with_issue(&with_divergence(config, model), policy);
            runs_alike(source, &config, &format!("kernel {n} on {machine} under {model} with {policy}"));
        }
        let (machine, config) = &machines[m % machines.len()];
        let config = with_divergence(config, model);
        for name in ["lock-hand-over", "last-block-done", "race"] {
            runs_alike(&litmus(name), &config, &format!("{name} on {machine} under {model}"));
        }
    }
}

fn kernel(block: u32, body: &str) -> String {
    format!(
        "// run: grid=1 block={block}\n// arg: out u32[4] = zero\n.version 6.0\n.target sm_60\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n{body}\n\
         ret;\n}}\n"
    )
}

#[test]
fn a_deadlock_names_the_blocked_warps_under_every_model() {
    // Threads of both static warps go to either side; barriers 1 and 2 each want all 64.
    let body = "mov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra B;\nbar.sync 1, 64;\n\
                bra.uni E;\nB:\nbar.sync 2, 64;\nE:";
    let source = kernel(64, body);
    for model in divergence_models() {
        for (preset, config) in presets() {
            let config = with_divergence(&config, model);
            let run = |never_skip| {
                let options = || RunOptions { never_skip, max_cycles: Some(500_000), ..RunOptions::default() };
                run_timed(&source, &config, options).unwrap().remove(0).result
            };
            let result = run(false);
            let Ending::Deadlock(warps) = &result.ending else { panic!("{model} on {preset}: {:?}", result.ending) };
            assert!(!warps.is_empty(), "{model} on {preset}");
            for warp in warps {
                let what = format!("{model} on {preset}: {warp:?}");
                assert_eq!(warp.cta, [0; 3], "{what}");
                let told = warp.waits.strip_prefix("waits at barrier ").expect(&what);
                let number = &told[..1];
                assert!(told == format!("{number}: 32 of 64 threads have arrived"), "{what}");
                assert!(warp.place.contains(&format!("bar.sync {number}")), "{what}");
            }
            assert_eq!(format!("{result:#?}"), format!("{:#?}", run(true)), "{model} on {preset}");
        }
    }
}

#[test]
fn threads_inside_a_branch_go_before_those_behind_it() {
    // Odd threads have much to do inside, all threads behind.
    let inside = "add.u32 %r0, %r0, %r1;\n".repeat(24);
    let body = format!(
        "mov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra I;\nbra E;\nI:\n{inside}E:\n{inside}"
    );
    let source = kernel(512, &body);
    let issued = |policy: &str| {
        let config = with_issue(&with_divergence(&timing::machine("fx5800", &["gpu.sms=1"]), "dwf"), policy);
        run_timed(&source, &config, RunOptions::default).unwrap().remove(0).result.total().sm.warp_insts
    };
    // The more threads meet at E, the fewer warps go on from there. Without branches it would be `oldest`.
    let counts = ["pdom-priority", "oldest", "lrr"].map(issued);
    assert!(counts[0] < counts[1] && counts[0] < counts[2], "warp-instructions: {counts:?}");
}

/// A kernel in which every thread of an SM is at an operation of its own.
fn scattered(threads: u32) -> String {
    let block = threads / 3;
    let labels: Vec<_> = (0..threads).map(|n| format!("L{n}")).collect();
    let bodies: String =
        (0..threads).map(|n| format!("L{n}:\nmad.lo.u32 %r2, %r2, {}, {n};\nbra END;\n", n | 1)).collect();
    format!(
        "// run: grid=3 block={block}\n// arg: out u32[{threads}] = zero\n.version 6.4\n.target sm_70\n\
         .address_size 64\n.visible .entry k(.param .u64 out)\n{{\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n\
         ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r2, %r1, {block}, %r0;\n\
         mad.wide.u32 %rd0, %r2, 4, %rd0;\nTABLE: .branchtargets {};\nbrx.idx %r2, TABLE;\n{bodies}END:\n\
         st.global.u32 [%rd0], %r2;\nret;\n}}\n",
        labels.join(", ")
    )
}

#[test]
fn threads_that_find_no_slot_wait_their_turn() {
    // 1536 threads of an SM that are all apart, and 1024 slots for warps.
    let source = scattered(1536);
    for model in divergence_models() {
        let config = timing::machine("gtx480", &["gpu.sms=1"]);
        let config = with_issue(&with_divergence(&config, model), "lowest-pc");
        let timed = run_timed(&source, &config, RunOptions::default).unwrap().remove(0);
        assert!(matches!(timed.result.ending, Ending::Completed), "{model}: {:?}", timed.result.ending);
        let wanted: Vec<u32> = (0..1536).map(|n: u32| n * (n | 1) + n).collect();
        assert!(timed.words(0) == wanted, "{model}: memory differs");
    }
}
