//! Random machines and random kernels: every launch ends, and memory is what the functional machine leaves.

use crate::common::{issue_schedulers, long, with_issue};
use raddle_sim::config::{IdealConfig, MachineConfig, random};
use raddle_sim::gpu::RunOptions;
use raddle_sim::result::{Ending, LaunchResult};
use raddle_testkit::kernel_file::{run_functional, run_timed};
use raddle_testkit::reference::{self, Case};
use raddle_testkit::timing::run;
use std::fmt::Write as _;

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A kernel whose memory does not depend on the order of its threads: each works on `%r10`; threads talk to those of
/// their block between barriers, and to all by reductions that commute.
fn kernel(seed: u64) -> String {
    let mut random = Random(seed);
    let (grid, block) = (2 + random.below(4), [32, 64, 96, 128][random.below(4) as usize]);
    let threads = grid * block;
    let mut body = String::new();
    for n in 0..6 + random.below(6) {
        step(&mut body, &mut random, n, block);
    }
    format!(
        "// run: grid={grid} block={block}\n// arg: data u32[{threads}] = iota\n// arg: sums u32[16] = zero\n\
         .version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 data, .param .u64 sums)\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n.shared .b32 box[{block}];\n.local .b32 own[8];\n\
         ld.param.u64 %rd0, [data];\nld.param.u64 %rd1, [sums];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n\
         mad.lo.u32 %r2, %r1, {block}, %r0;\nmul.wide.u32 %rd2, %r2, 4;\nadd.u64 %rd2, %rd0, %rd2;\n\
         mov.u32 %r3, box;\nmad.lo.u32 %r4, %r0, 4, %r3;\nld.global.u32 %r10, [%rd2];\n\
         mad.lo.u32 %r10, %r10, 1664525, 1013904223;\n{body}st.global.u32 [%rd2], %r10;\nret;\n}}\n"
    )
}

fn step(body: &mut String, random: &mut Random, n: u64, block: u64) {
    let (a, b) = (random.below(1 << 20), random.below(31));
    let text = match random.below(8) {
        0 => format!("mad.lo.u32 %r10, %r10, {}, {a};\nshr.u32 %r11, %r10, 7;\nxor.b32 %r10, %r10, %r11;\n", 2 * a + 1),
        1 => format!(
            "st.shared.u32 [%r4], %r10;\nbar.sync 0;\nadd.u32 %r11, %r0, {};\nrem.u32 %r11, %r11, {block};\n\
             mad.lo.u32 %r11, %r11, 4, %r3;\nld.shared.u32 %r12, [%r11];\nadd.u32 %r10, %r10, %r12;\nbar.sync 0;\n",
            1 + b
        ),
        2 => format!(
            "and.b32 %r11, %r10, 7;\nmov.u32 %r12, own;\nmad.lo.u32 %r12, %r11, 4, %r12;\nst.local.u32 [%r12], %r10;\n\
             add.u32 %r10, %r10, {a};\nld.local.u32 %r13, [%r12];\nxor.b32 %r10, %r10, %r13;\n"
        ),
        3 => format!(
            "and.b32 %r11, %r10, {};\nsetp.eq.u32 %p0, %r11, 0;\n@%p0 bra ELSE{n};\nmul.lo.u32 %r10, %r10, 5;\n\
             st.global.u32 [%rd2], %r10;\nbra.uni END{n};\nELSE{n}:\nadd.u32 %r10, %r10, {a};\nEND{n}:\n",
            1 << (b % 6)
        ),
        4 => format!(
            "and.b32 %r11, %r10, 15;\nmov.u32 %r12, 0;\nLOOP{n}:\nmad.lo.u32 %r10, %r10, 3, %r12;\n\
             add.u32 %r12, %r12, 1;\nsetp.le.u32 %p1, %r12, %r11;\n@%p1 bra LOOP{n};\n"
        ),
        5 => "and.b32 %r11, %r10, 15;\nmul.wide.u32 %rd3, %r11, 4;\nadd.u64 %rd3, %rd1, %rd3;\n\
              red.global.add.u32 [%rd3], %r10;\n"
            .to_owned(),
        6 => "st.global.u32 [%rd2], %r10;\nmembar.gl;\nld.global.u32 %r11, [%rd2];\nadd.u32 %r10, %r10, %r11;\n"
            .to_owned(),
        _ => "atom.global.add.u32 %r14, [%rd2], %r10;\nld.global.u32 %r15, [%rd2];\nxor.b32 %r10, %r10, %r15;\n\
              add.u32 %r10, %r10, %r14;\n"
            .to_owned(),
    };
    let _ = writeln!(body, "// step {n}\n{text}");
}

/// What holds for every finished launch.
fn balances(result: &LaunchResult, config: &MachineConfig, what: &str) {
    assert!(matches!(result.ending, Ending::Completed), "{what}: {:?}", result.ending);
    let total = result.total();
    for (name, cache) in [("l1i", &total.l1i), ("l1d", &total.l1d), ("l1c", &total.l1c), ("l1t", &total.l1t)] {
        assert_eq!(cache.accesses, cache.hits + cache.pending_hits + cache.misses, "{what}: {name}");
    }
    let sm = &total.sm;
    assert_eq!(sm.warp_insts, sm.sp_insts + sm.sfu_insts + sm.mem_insts, "{what}");
    assert_eq!(sm.warp_insts, result.pcs.iter().map(|p| p[0]).sum::<u64>(), "{what}");
    assert_eq!(sm.ctas, result.ctas, "{what}");
    assert!(sm.lines_done <= sm.reads_done, "{what}");
    let l2 = result.l2_total();
    let found = l2.hits + l2.pending_hits + l2.misses + l2.sector_misses;
    assert_eq!(found, if config.l2.sets == 0 { 0 } else { l2.accesses }, "{what}: L2");
    assert_eq!(l2.replies, result.down.packets, "{what}: a reply is lost in the network");
    // Written-back lines nobody waits for may still be on their way.
    assert!(l2.requests <= result.up.packets && l2.requests + 100 > result.up.packets, "{what}: a request is lost");
}

fn check_generated(config: &MachineConfig, seeds: std::ops::Range<u64>, what: &str) {
    for seed in seeds {
        let (source, what) = (kernel(seed), format!("kernel {seed} on {what}"));
        let wanted = run_functional(&source, 32).unwrap_or_else(|e| panic!("{what}: {e}\n{source}"));
        let found = run_timed(&source, config, RunOptions::default).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(found.len(), 1, "{what}");
        balances(&found[0].result, config, &what);
        assert!(found[0].buffers == wanted[0], "{what}: memory differs\n{source}");
    }
}

pub fn references() -> [Case; 6] {
    [
        reference::vecadd(700),
        reference::matmul(16),
        reference::diverge(300),
        reference::bfs(300),
        reference::stencil(32),
        reference::reduce(1024),
    ]
}

/// Nothing, or one or two things, of every other machine.
fn ideal(seed: u64) -> IdealConfig {
    let is = |n: u64| seed % 2 == 1 && (seed / 2 % 5 == n || seed / 10 % 5 == n);
    IdealConfig { coalescing: is(0), banks: is(1), memory: is(2), local: is(3), atomics: is(4) }
}

#[test]
fn random_machines_compute_what_they_must() {
    let schedulers = issue_schedulers();
    let cases = references();
    for seed in 0..if long() { 100 } else { 25 } {
        // Every scheduler meets machines of every kind.
        let scheduler = schedulers[seed as usize % schedulers.len()];
        let (mut config, what) = (with_issue(&random(seed), scheduler), format!("random({seed}) with {scheduler}"));
        config.sm.ideal = ideal(seed);
        check_generated(&config, 3 * seed..3 * seed + 3, &what);
        for case in cases.iter().enumerate().filter(|(n, _)| long() || seed as usize % 3 == n % 3).map(|(_, case)| case)
        {
            let options = RunOptions { max_cycles: Some(3_000_000), ..RunOptions::default() };
            balances(&run(case, &config, options), &config, &format!("{} on {what}", case.name));
        }
    }
}

#[test]
fn generated_kernels_use_what_they_should() {
    let all: String = (0..40).map(kernel).collect();
    for word in ["bar.sync", "st.local", "ld.shared", "red.global", "atom.global", "membar", "LOOP", "ELSE"] {
        assert!(all.contains(word), "no kernel has {word}");
    }
}
