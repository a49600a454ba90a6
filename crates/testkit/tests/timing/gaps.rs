//! Part of a launch without time: right memory, equal runs, the L2 as if it had run.

use crate::determinism::tiny;
use raddle_exec::{DeviceMemory, Image, Launch, Program};
use raddle_sim::config::MachineConfig;
use raddle_sim::gpu::{Gpu, RunOptions, SmOrder};
use raddle_sim::result::{Ending, LaunchResult};
use raddle_testkit::reference::{Case, KERNELS};
use raddle_testkit::timing::{machine, run};
use std::ops::Range;
use std::sync::Arc;

/// A machine with four places.
fn small() -> MachineConfig {
    machine("gtx480", &["gpu.sms=2", "sm.ctas=2"])
}

/// The middle of a grid in two gaps, with a mark between them.
fn gaps(case: &Case) -> Vec<Range<u64>> {
    let blocks = case.prepare().launch.ctas();
    let at = |part: u64| blocks * part / 8;
    vec![at(1)..at(3), at(4)..at(4), at(5)..at(7)]
}

#[test]
fn memory_is_right_and_nothing_is_executed_twice() {
    for name in KERNELS {
        let case = tiny(name);
        let whole = run(&case, &small(), RunOptions::default());
        assert_eq!(whole.skipped, None);
        let gaps = gaps(&case);
        let part = run(&case, &small(), RunOptions { gaps: &gaps, ..RunOptions::default() });
        let skipped = part.skipped.as_ref().unwrap();
        let left: Vec<Range<u64>> = skipped.gaps.iter().map(|gap| gap.blocks.clone()).collect();
        assert_eq!((left, skipped.has_waited), (gaps.clone(), false), "{name}");
        assert_eq!(part.ctas + skipped.ctas(), whole.ctas, "{name}");
        let [warp_insts, thread_insts] = skipped.insts();
        let (sm, all) = (part.total().sm, whole.total().sm);
        assert_eq!(sm.warp_insts + warp_insts, all.warp_insts, "{name}");
        assert_eq!(sm.thread_insts + thread_insts, all.thread_insts, "{name}");
        assert!(part.cycles < whole.cycles, "{name}: {} of {}", part.cycles, whole.cycles);
        assert!(skipped.gaps.is_sorted_by_key(|gap| gap.before.cycles));
        assert!(skipped.gaps.iter().all(|gap| gap.before == gap.after), "{name}: the machine stands still");
        let last = skipped.last_start;
        assert!(last.cycles > 0 && last.cycles <= part.cycles && last.warp_insts <= sm.warp_insts, "{name}: {last:?}");
        assert_eq!(skipped.ends.iter().max(), Some(&part.cycles), "{name}");
    }
}

#[test]
fn equal_runs() {
    for name in KERNELS {
        let case = tiny(name);
        let gaps = gaps(&case);
        let text = |never_skip, order, threads| {
            format!(
                "{:#?}",
                run(&case, &small(), RunOptions { gaps: &gaps, never_skip, order, threads, ..RunOptions::default() })
            )
        };
        let first = text(false, SmOrder::Forward, 1);
        for (never_skip, order, threads) in [
            (true, SmOrder::Reverse, 1),
            (false, SmOrder::Shuffled(3), 1),
            (false, SmOrder::Forward, 2),
            (false, SmOrder::Forward, 3),
        ] {
            assert!(text(never_skip, order, threads) == first, "{name}: {never_skip} {order:?} {threads}");
        }
    }
}

const HEAD: &str = ".version 6.0\n.target sm_50\n.address_size 64\n";

/// Reads and writes its part of a buffer; each thread has eight words.
const SWEEP: &str = ".visible .entry sweep(.param .u64 buffer)\n{\n.reg .b32 %r<5>;\n.reg .b64 %d<4>;\n\
    ld.param.u64 %d1, [buffer];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r3, %r1, 32, %r2;\n\
    mad.wide.u32 %d2, %r3, 32, %d1;\nld.global.u32 %r4, [%d2];\nadd.u32 %r4, %r4, 1;\nst.global.u32 [%d2+4], %r4;\nret;\n}\n";

/// Each block waits for the one before it.
const CHAIN: &str = ".visible .entry chain(.param .u64 buffer)\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n.reg .pred %p;\n\
    ld.param.u64 %d1, [buffer];\nmov.u32 %r1, %ctaid.x;\nmul.wide.u32 %d2, %r1, 4;\nadd.s64 %d3, %d1, %d2;\n\
    setp.eq.u32 %p, %r1, 0;\n@%p bra GO;\n\
    AGAIN:\nld.volatile.global.u32 %r2, [%d3];\nsetp.eq.u32 %p, %r2, 0;\n@%p bra AGAIN;\n\
    GO:\nmov.u32 %r2, 1;\nst.volatile.global.u32 [%d3+4], %r2;\nret;\n}\n";

/// Launches a kernel on one GPU as each step says, on a buffer of 64 KiB; gives the results and the buffer.
fn steps(
    source: &str,
    kernel: &str,
    config: &MachineConfig,
    steps: &[Option<&[Range<u64>]>],
) -> (Vec<LaunchResult>, Vec<u8>) {
    let (mut memory, image, buffer) = crate::launches::load(&format!("{HEAD}{source}"));
    let registry = raddle_mech::registry();
    let mechanisms = registry.check(config).unwrap();
    let mut gpu = Gpu::new(config).unwrap();
    let program = Program::new(&image, &image.kernel(kernel).unwrap()).unwrap();
    let params = buffer.to_le_bytes().to_vec();
    let launch = Launch { grid: [64, 1, 1], block: [32, 1, 1], params, ..Launch::default() };
    let mut results = Vec::new();
    for step in steps {
        match step {
            Some(gaps) => {
                let options = RunOptions { gaps, ..RunOptions::default() };
                let result = gpu.launch(&mechanisms, &program, &launch, &mut memory, options).unwrap();
                assert!(matches!(result.ending, Ending::Completed), "{:?}", result.ending);
                results.push(result);
            }
            None => assert!(gpu.execute(&program, &launch, &mut memory).unwrap().unwrap().warp_insts > 0),
        }
    }
    let mut bytes = vec![0; 1 << 16];
    memory.read(buffer, &mut bytes).unwrap();
    (results, bytes)
}

#[test]
fn what_is_executed_is_in_the_l2() {
    let (cold, memory) = steps(SWEEP, "sweep", &small(), &[Some(&[])]);
    let (warm, after) = steps(SWEEP, "sweep", &small(), &[None, Some(&[])]);
    let (again, _) = steps(SWEEP, "sweep", &small(), &[Some(&[]), Some(&[])]);
    assert_eq!(memory, after);
    let hits = |result: &LaunchResult, before: u64| result.l2_total().hits - before;
    let [cold_hits, warm_hits] = [hits(&cold[0], 0), hits(&warm[0], 0)];
    // Code and parameters are not brought there, so it misses these as a cold one does.
    assert!(warm_hits > cold_hits + 1500, "{cold_hits} cold, {warm_hits} warm");
    assert!(warm[0].cycles < cold[0].cycles && again[1].cycles < warm[0].cycles);
    // In the midst of a launch the gap's lines are there too: nobody accesses them, so nothing is counted.
    let (part, memory) = steps(SWEEP, "sweep", &small(), &[Some(&[8..56, 60..60])]);
    assert_eq!(memory, after);
    assert!(part[0].l2_total().accesses * 3 < cold[0].l2_total().accesses);
}

#[test]
fn blocks_that_wait_across_a_gap_get_time() {
    let (results, memory) = steps(CHAIN, "chain", &small(), &[Some(&[8..20, 24..30])]);
    let skipped = results[0].skipped.as_ref().unwrap();
    assert!(skipped.has_waited);
    assert_eq!(skipped.gaps.len(), 1, "nothing is left out after it: {skipped:?}");
    assert!(skipped.gaps[0].after.cycles > skipped.gaps[0].before.cycles);
    assert!(memory[4..4 * 65].chunks(4).all(|flag| flag == [1, 0, 0, 0]));
}

#[test]
fn a_fault_in_a_gap_ends_the_launch() {
    const FAULT: &str = ".visible .entry f(.param .u64 buffer)\n{\n.reg .b32 %r<3>;\n.reg .pred %p;\nmov.u32 %r1, %ctaid.x;\n\
        setp.ne.u32 %p, %r1, 20;\n@%p bra END;\ntrap;\nEND:\nret;\n}\n";
    let (module, _) = raddle_ptx::load(&format!("{HEAD}{FAULT}"));
    let mut memory = DeviceMemory::new();
    let image = Image::load(Arc::new(module), &mut memory).unwrap();
    let program = Program::new(&image, &image.kernel("f").unwrap()).unwrap();
    let launch = Launch { grid: [64, 1, 1], block: [32, 1, 1], params: vec![0; 8], ..Launch::default() };
    let (config, registry) = (small(), raddle_mech::registry());
    let mechanisms = registry.check(&config).unwrap();
    let mut gpu = Gpu::new(&config).unwrap();
    let options = RunOptions { gaps: &[16..32, 40..40], ..RunOptions::default() };
    let result = gpu.launch(&mechanisms, &program, &launch, &mut memory, options).unwrap();
    let Ending::Fault(_, fault) = &result.ending else { panic!("{:?}", result.ending) };
    assert_eq!(fault.thread.map(|thread| thread.cta), Some([20, 0, 0]));
    assert!(gpu.execute(&program, &launch, &mut memory).unwrap().is_err());
}
