//! Random structured kernels: whatever the divergence model, memory is what the functional machine leaves.
//!
//! Each thread works on `%r10`. Threads talk to those of their block between barriers at places the whole block comes to,
//! and to all by reductions that commute, so memory does not depend on the order of threads.

use crate::common::{divergence_models, long, with_divergence, with_issue};
use raddle_sim::config::{MachineConfig, random};
use raddle_sim::gpu::RunOptions;
use raddle_sim::result::Ending;
use raddle_testkit::kernel_file::{run_functional, run_timed};
use raddle_testkit::timing::machine;
use std::fmt::Write as _;

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Place {
    /// Statements around it.
    depth: u32,
    /// The whole block comes here together, but for threads that have ended.
    uniform: bool,
    /// Functions that may be called.
    functions: u64,
    /// It is in the kernel, not in a function.
    kernel: bool,
}

/// Writes the statements of a kernel or a function.
struct Writer<'r> {
    random: &'r mut Random,
    text: String,
    /// Numbers labels and registers.
    next: u32,
    /// The loops around that can be left, the innermost last.
    loops: Vec<u32>,
    /// All loops around.
    loop_depth: u32,
    block: u64,
    /// Statements that may hold others.
    left: u32,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// Sets predicate `n` for some of the threads.
    fn condition(&mut self, n: u32) {
        let (shift, mask) = (self.random.below(20), [1, 1, 3, 7, 15][self.random.below(5) as usize]);
        let (compare, with) = (["eq", "ne", "lt"][self.random.below(3) as usize], self.random.below(mask + 1));
        self.line(&format!(
            "shr.u32 %r{n}, %r10, {shift};\nand.b32 %r{n}, %r{n}, {mask};\nsetp.{compare}.u32 %p{n}, %r{n}, {with};"
        ));
    }

    fn mix(&mut self) {
        let (a, b) = (self.random.below(1 << 20), self.random.below(1 << 20));
        self.line(&format!(
            "mad.lo.u32 %r10, %r10, {}, {b};\nshr.u32 %r11, %r10, 9;\nxor.b32 %r10, %r10, %r11;",
            2 * a + 1
        ));
    }

    fn statements(&mut self, place: Place) {
        let most = if place.depth == 0 { 5 } else { 3 };
        for _ in 0..1 + self.random.below(most) {
            self.statement(place);
        }
    }

    fn statement(&mut self, place: Place) {
        let inside = Place { depth: place.depth + 1, uniform: false, ..place };
        let can_nest = place.depth < 4 && self.left > 0;
        self.left = self.left.saturating_sub(1);
        let n = self.number();
        match self.random.below(20) {
            0..=3 if can_nest => self.choice(n, inside),
            4..=6 if can_nest && self.loop_depth < 2 => self.repeat(n, inside),
            7 if can_nest && self.loop_depth < 2 => self.rounds(n, place),
            8 if can_nest => self.table(n, inside),
            9 if can_nest => self.uniform_choice(n, place),
            10 | 11 if !self.loops.is_empty() => self.jump(n),
            12 | 13 if place.functions > 0 && self.loop_depth < 2 => self.call(n, place),
            14 if place.kernel => self.end(n),
            15 if place.kernel => self.memory(n),
            16 if place.uniform => self.exchange(n),
            18 if place.uniform => self.meet(n),
            17 => {
                self.condition(n);
                let by = 1 + self.random.below(999);
                self.line(&format!("@!%p{n} add.u32 %r10, %r10, {by};"));
            }
            _ => self.mix(),
        }
    }

    /// `if`, with or without `else`.
    fn choice(&mut self, n: u32, inside: Place) {
        self.condition(n);
        let not = if self.random.below(2) == 0 { "!" } else { "" };
        if self.random.below(3) == 0 {
            self.line(&format!("@{not}%p{n} bra END{n};"));
            self.statements(inside);
        } else {
            self.line(&format!("@{not}%p{n} bra ELSE{n};"));
            self.statements(inside);
            let bra = if self.random.below(2) == 0 { "bra" } else { "bra.uni" };
            self.line(&format!("{bra} END{n};\nELSE{n}:"));
            self.statements(inside);
        }
        self.line(&format!("END{n}:"));
    }

    /// A loop whose trips depend on the thread.
    fn repeat(&mut self, n: u32, inside: Place) {
        let (most, shift, counter) = (if self.loop_depth == 0 { 7 } else { 3 }, self.random.below(20), self.number());
        self.line(&format!("shr.u32 %r{n}, %r10, {shift};\nand.b32 %r{n}, %r{n}, {most};\nmov.u32 %r{counter}, 0;"));
        let tests_first = self.random.below(2) == 0;
        self.line(&format!("LOOP{n}:"));
        if tests_first {
            self.line(&format!("setp.ge.u32 %p{n}, %r{counter}, %r{n};\n@%p{n} bra DONE{n};"));
        }
        self.loops.push(n);
        self.loop_depth += 1;
        self.statements(inside);
        self.loop_depth -= 1;
        self.loops.pop();
        self.line(&format!("NEXT{n}:\nadd.u32 %r{counter}, %r{counter}, 1;"));
        if tests_first {
            self.line(&format!("bra LOOP{n};"));
        } else {
            self.line(&format!("setp.le.u32 %p{n}, %r{counter}, %r{n};\n@%p{n} bra LOOP{n};"));
        }
        self.line(&format!("DONE{n}:"));
    }

    /// A loop of the same trips for all: what is uniform stays so.
    fn rounds(&mut self, n: u32, place: Place) {
        let (trips, uni) = (1 + self.random.below(3), if self.random.below(2) == 0 { ".uni" } else { "" });
        self.line(&format!("mov.u32 %r{n}, 0;\nROUND{n}:"));
        // A `break` of an outer loop would make the trips differ.
        let outer = std::mem::take(&mut self.loops);
        self.loop_depth += 1;
        self.statements(Place { depth: place.depth + 1, ..place });
        self.loop_depth -= 1;
        self.loops = outer;
        self.line(&format!("add.u32 %r{n}, %r{n}, 1;\nsetp.lt.u32 %p{n}, %r{n}, {trips};\n@%p{n} bra{uni} ROUND{n};"));
    }

    /// A branch all threads of a block take alike.
    fn uniform_choice(&mut self, n: u32, place: Place) {
        let uni = if self.random.below(2) == 0 { ".uni" } else { "" };
        self.line(&format!("and.b32 %r{n}, %r1, 1;\nsetp.eq.u32 %p{n}, %r{n}, 0;\n@%p{n} bra{uni} END{n};"));
        self.statements(Place { depth: place.depth + 1, ..place });
        self.line(&format!("END{n}:"));
    }

    fn table(&mut self, n: u32, inside: Place) {
        let shift = self.random.below(20);
        self.line(&format!(
            "shr.u32 %r{n}, %r10, {shift};\nand.b32 %r{n}, %r{n}, 3;\n\
             TABLE{n}: .branchtargets A{n}, B{n}, C{n}, A{n};\nbrx.idx %r{n}, TABLE{n};"
        ));
        for (label, next) in [("A", true), ("B", false), ("C", true)] {
            self.line(&format!("{label}{n}:"));
            self.statements(inside);
            // One of them falls into the next.
            if next {
                self.line(&format!("bra END{n};"));
            }
        }
        self.line(&format!("END{n}:"));
    }

    /// `break` or `continue` of a loop around.
    fn jump(&mut self, n: u32) {
        self.condition(n);
        let label = ["DONE", "NEXT"][self.random.below(2) as usize];
        let around = self.loops[self.random.below(self.loops.len() as u64) as usize];
        self.line(&format!("@%p{n} bra {label}{around};"));
    }

    fn call(&mut self, n: u32, place: Place) {
        let function = self.random.below(place.functions);
        let guard = if self.random.below(2) == 0 { format!("@%p{n} ") } else { String::new() };
        self.condition(n);
        self.line(&format!(
            "mov.u32 %r{n}, 0;\n{{\n.param .b32 in;\n.param .b32 block;\n.param .b32 out;\nst.param.b32 [in], %r10;\n\
             st.param.b32 [block], %r1;\n{guard}call (out), f{function}, (in, block);\n\
             {guard}ld.param.b32 %r{n}, [out];\n}}\nxor.b32 %r10, %r10, %r{n};"
        ));
        self.mix();
    }

    /// Some threads end.
    fn end(&mut self, n: u32) {
        self.condition(n);
        let how = ["exit", "ret"][self.random.below(2) as usize];
        self.line(&format!(
            "shr.u32 %r11, %r10, 17;\nand.b32 %r11, %r11, 3;\nsetp.eq.and.u32 %p{n}, %r11, 3, %p{n};\n\
             @%p{n} st.global.u32 [%rd2], %r10;\n@%p{n} {how};"
        ));
    }

    fn memory(&mut self, n: u32) {
        let text = match self.random.below(4) {
            0 => format!(
                "and.b32 %r{n}, %r10, 7;\nmov.u32 %r12, own;\nmad.lo.u32 %r12, %r{n}, 4, %r12;\n\
                 st.local.u32 [%r12], %r10;\nadd.u32 %r10, %r10, 77;\nld.local.u32 %r13, [%r12];\n\
                 xor.b32 %r10, %r10, %r13;"
            ),
            1 => format!(
                "and.b32 %r{n}, %r10, 15;\nmul.wide.u32 %rd3, %r{n}, 4;\nadd.u64 %rd3, %rd1, %rd3;\n\
                 red.global.add.u32 [%rd3], %r10;"
            ),
            2 => "atom.global.add.u32 %r14, [%rd2], %r10;\nld.global.u32 %r15, [%rd2];\nxor.b32 %r10, %r10, %r15;\n\
                  add.u32 %r10, %r10, %r14;"
                .to_owned(),
            _ => "st.global.u32 [%rd2], %r10;\nmembar.gl;\nld.global.u32 %r11, [%rd2];\nadd.u32 %r10, %r10, %r11;"
                .to_owned(),
        };
        self.line(&text);
    }

    /// Threads of a block come to a barrier by several ways, and read what others have written.
    fn meet(&mut self, n: u32) {
        let (by, block) = (1 + self.random.below(self.block - 1), self.block);
        self.condition(n);
        self.line(&format!("@%p{n} bra ELSE{n};"));
        self.mix();
        self.line(&format!("st.shared.u32 [%r4], %r10;\nbarrier.sync 0;\nbra END{n};\nELSE{n}:"));
        self.mix();
        self.line(&format!(
            "st.shared.u32 [%r4], %r10;\nbarrier.sync 0;\nadd.u32 %r10, %r10, 1;\nEND{n}:\nadd.u32 %r{n}, %r0, {by};\n\
             rem.u32 %r{n}, %r{n}, {block};\nmad.lo.u32 %r{n}, %r{n}, 4, %r3;\nld.shared.u32 %r12, [%r{n}];\n\
             add.u32 %r10, %r10, %r12;\nbarrier.sync 0;"
        ));
    }

    /// Threads of a block read what others have written.
    fn exchange(&mut self, n: u32) {
        let (by, block) = (1 + self.random.below(self.block - 1), self.block);
        self.line(&format!(
            "st.shared.u32 [%r4], %r10;\nbar.sync 0;\nadd.u32 %r{n}, %r0, {by};\nrem.u32 %r{n}, %r{n}, {block};\n\
             mad.lo.u32 %r{n}, %r{n}, 4, %r3;\nld.shared.u32 %r12, [%r{n}];\nadd.u32 %r10, %r10, %r12;\nbar.sync 0;"
        ));
    }
}

const FUNCTIONS: u64 = 3;

/// A function that takes and returns a number; it may call those before it.
fn function(random: &mut Random, number: u64) -> String {
    let mut writer =
        Writer { random, text: String::new(), next: 20, loops: Vec::new(), loop_depth: 1, block: 2, left: 4 };
    writer.statements(Place { depth: 2, uniform: false, functions: number, kernel: false });
    let (body, next) = (writer.text, writer.next + 1);
    format!(
        ".func (.param .b32 out) f{number}(.param .b32 in, .param .b32 block)\n{{\n.reg .pred %p<{next}>;\n\
         .reg .b32 %r<{next}>;\nld.param.b32 %r10, [in];\nld.param.b32 %r1, [block];\n{body}st.param.b32 [out], %r10;\n\
         ret;\n}}\n"
    )
}

pub fn kernel(seed: u64) -> String {
    let random = &mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (grid, block) = (1 + random.below(4), [32, 40, 64, 96, 100, 128][random.below(6) as usize]);
    let threads = grid * block;
    let mut functions = String::new();
    for n in 0..FUNCTIONS {
        let _ = writeln!(functions, "{}", function(random, n));
    }
    let mut writer =
        Writer { random, text: String::new(), next: 20, loops: Vec::new(), loop_depth: 0, block, left: 20 };
    let place = Place { depth: 0, uniform: true, functions: FUNCTIONS, kernel: true };
    for _ in 0..3 {
        writer.statements(place);
    }
    let (body, next) = (writer.text, writer.next + 1);
    format!(
        "// run: grid={grid} block={block}\n// arg: data u32[{threads}] = iota\n// arg: sums u32[16] = zero\n\
         .version 6.4\n.target sm_70\n.address_size 64\n{functions}\
         .visible .entry k(.param .u64 data, .param .u64 sums)\n{{\n\
         .reg .pred %p<{next}>;\n.reg .b32 %r<{next}>;\n.reg .b64 %rd<8>;\n.shared .b32 box[{block}];\n\
         .local .b32 own[8];\nld.param.u64 %rd0, [data];\nld.param.u64 %rd1, [sums];\nmov.u32 %r0, %tid.x;\n\
         mov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r2, %r1, {block}, %r0;\nmul.wide.u32 %rd2, %r2, 4;\n\
         add.u64 %rd2, %rd0, %rd2;\nmov.u32 %r3, box;\nmad.lo.u32 %r4, %r0, 4, %r3;\nld.global.u32 %r10, [%rd2];\n\
         mad.lo.u32 %r10, %r10, 1664525, 1013904223;\nshr.u32 %r11, %r10, 11;\nxor.b32 %r10, %r10, %r11;\n\
         {body}st.global.u32 [%rd2], %r10;\nret;\n}}\n"
    )
}

/// How warps of the models are scheduled.
const POLICIES: [&str; 6] = ["lrr", "gto", "by-block", "by-block blocks=rrb", "by-block blocks=srr", "majority"];

/// The machine for a number: presets with few SMs, narrow warps, and odd ones.
fn numbered_machine(n: u64) -> (String, MachineConfig) {
    let preset = |name: &str, set: &[&str]| (format!("{name} {set:?}"), machine(name, set));
    match n % 6 {
        0 => preset("fx5800", &["gpu.sms=2"]),
        1 => preset("gtx480", &["gpu.sms=2"]),
        2 => preset("fx5800", &["gpu.sms=1", "sm.warp_width=8"]),
        3 => preset("gtx480", &["gpu.sms=1", "sm.warp_width=4", "sm.simd_width=4"]),
        4 => preset("fx5800", &["gpu.sms=1", "sm.warp_width=16"]),
        _ => (format!("random({n})"), random(n)),
    }
}

/// Compares a kernel under every model with the functional machine.
fn check(seed: u64, policies: &[&str], machines: &[u64]) {
    let source = kernel(seed);
    let wanted = run_functional(&source, 32).unwrap_or_else(|e| panic!("kernel {seed}: {e}\n{source}"));
    for machine in machines {
        let (name, config) = numbered_machine(*machine);
        for model in divergence_models() {
            for policy in policies {
                let what = format!("kernel {seed} under {model} with {policy} on {name}");
                let config = with_issue(&with_divergence(&config, model), policy);
                let options = || RunOptions { max_cycles: Some(3_000_000), ..RunOptions::default() };
                let found = run_timed(&source, &config, options).unwrap_or_else(|e| panic!("{what}: {e}"));
                let result = &found[0].result;
                assert!(matches!(result.ending, Ending::Completed), "{what}: {:?}\n{source}", result.ending);
                let sm = &result.total().sm;
                assert_eq!(sm.warp_insts, result.pcs.iter().map(|p| p[0]).sum::<u64>(), "{what}");
                assert!(found[0].buffers == wanted[0], "{what}: memory differs\n{source}");
            }
        }
    }
}

fn check_part(part: u64) {
    let kernels = if long() { 250 } else { 25 };
    for seed in part * kernels..(part + 1) * kernels {
        let policy = POLICIES[(seed / 6 + seed) as usize % POLICIES.len()];
        check(seed, &[policy], &[seed]);
    }
}

#[test]
fn structured_kernels_compute_the_same_under_every_model() {
    check_part(0);
}

#[test]
fn more_structured_kernels_compute_the_same_under_every_model() {
    check_part(1);
}

#[test]
fn structured_kernels_with_other_schedulers_compute_the_same_under_every_model() {
    check_part(2);
    check_part(3);
}

#[test]
fn generated_kernels_use_what_they_should() {
    let all: String = (0..100).map(kernel).collect();
    for word in
        ["bar.sync", "barrier.sync", "brx.idx", "call", "bra.uni", "exit", "@%p", "red.global", "NEXT", "ROUND", "ELSE"]
    {
        assert!(all.contains(word), "no kernel has {word}");
    }
}
