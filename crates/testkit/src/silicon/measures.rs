//! Everything that is measured.

use super::kernel::{Kernel, values};
use super::run::{Ring, Run};
use raddle_sim::config::MachineConfig;

/// Something that published figures and machines of ours have in common.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Its name, by which figures speak of it.
    pub name: &'static str,
    /// What it is, for the page.
    pub what: &'static str,
    /// Unit of its value.
    pub unit: &'static str,
    /// How it is found.
    pub kind: Kind,
}

/// How a value is found.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// By running a kernel.
    Run(fn(&MachineConfig) -> Run),
    /// It is in the description of the machine.
    Size(fn(&MachineConfig) -> f64),
}

/// Unit of latencies.
const CYCLES: &str = "cycles";
/// Unit of throughputs.
const RESULTS: &str = "results/clk/SM";
/// The largest block.
const BLOCK: u32 = 1024;
/// Chains of a throughput: as many as keep every unit busy with eight warps on a scheduler.
const WAYS: u32 = 4;

/// Rows of latencies and throughputs of one instruction: name, words, kind of registers, the step.
macro_rules! latencies {
    ($($name:literal, $what:literal, $class:literal, $step:literal;)*) => {
        [$(Measure { name: $name, what: $what, unit: CYCLES, kind: Kind::Run(|_| latency($class, $step)) }),*]
    };
}
macro_rules! throughputs {
    ($($name:literal, $what:literal, $class:literal, $results:literal, $step:literal;)*) => {
        [$(Measure {
            name: $name,
            what: $what,
            unit: RESULTS,
            kind: Kind::Run(|_| throughput($class, $results, $step)),
        }),*]
    };
}
macro_rules! runs {
    ($($name:literal, $what:literal, $unit:expr, $run:expr;)*) => {
        [$(Measure { name: $name, what: $what, unit: $unit, kind: Kind::Run($run) }),*]
    };
}
macro_rules! sizes {
    ($($name:literal, $what:literal, $unit:literal, $size:expr;)*) => {
        [$(Measure { name: $name, what: $what, unit: $unit, kind: Kind::Size($size) }),*]
    };
}

/// A matrix product of a warp, 16 by 16 by 16, onto eight registers of single precision.
const WMMA: &str = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 \
    {%f10, %f11, %f12, %f13, %f14, %f15, %f16, %f17}, {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, \
    {%r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25}, {%f10, %f11, %f12, %f13, %f14, %f15, %f16, %f17};";

/// All measures, in the order of the page.
#[must_use]
pub fn measures() -> Vec<Measure> {
    let latencies = latencies! {
        "lat_iadd", "integer add", 'r', "add.u32 %r{k}, %r{k}, %r7;";
        "lat_imul", "integer multiply", 'r', "mul.lo.u32 %r{k}, %r{k}, %r7;";
        "lat_imad", "integer multiply-add", 'r', "mad.lo.u32 %r{k}, %r{k}, %r7, %r8;";
        "lat_lop", "bitwise logic", 'r', "and.b32 %r{k}, %r{k}, %r7;";
        "lat_fadd", "f32 add", 'f', "add.f32 %f{k}, %f{k}, %f7;";
        "lat_fmul", "f32 multiply", 'f', "mul.f32 %f{k}, %f{k}, %f7;";
        "lat_ffma", "f32 fused multiply-add", 'f', "fma.rn.f32 %f{k}, %f{k}, %f7, %f8;";
        "lat_hadd", "f16 add", 'h', "add.f16 %h{k}, %h{k}, %h7;";
        "lat_hfma", "f16 fused multiply-add", 'h', "fma.rn.f16 %h{k}, %h{k}, %h7, %h8;";
        "lat_dadd", "f64 add", 'd', "add.f64 %d{k}, %d{k}, %d7;";
        "lat_dmul", "f64 multiply", 'd', "mul.f64 %d{k}, %d{k}, %d7;";
        "lat_dfma", "f64 fused multiply-add", 'd', "fma.rn.f64 %d{k}, %d{k}, %d7, %d8;";
        "lat_rsqrt", "rsqrt.approx.f32", 'f', "rsqrt.approx.f32 %f{k}, %f{k};";
        "lat_sqrt", "sqrt.approx.f32", 'f', "sqrt.approx.f32 %f{k}, %f{k};";
        "lat_rcp", "rcp.approx.f32", 'f', "rcp.approx.f32 %f{k}, %f{k};";
        "lat_sin", "sin.approx.f32", 'f', "sin.approx.f32 %f{k}, %f{k};";
        "lat_ex2", "ex2.approx.f32", 'f', "ex2.approx.f32 %f{k}, %f{k};";
        "lat_idiv", "integer division", 'r', "div.s32 %r{k}, %r{k}, %r7;";
        "lat_ddiv", "f64 division", 'd', "div.rn.f64 %d{k}, %d{k}, %d7;";
        "lat_dsqrt", "f64 square root", 'd', "sqrt.rn.f64 %d{k}, %d{k};";
        "lat_shfl", "warp shuffle", 'r', "shfl.sync.bfly.b32 %r{k}, %r{k}, 1, 31, 0xffffffff;";
        "lat_bar", "barrier of a block of one warp", 'r', "bar.sync 0;";
    };
    let throughputs = throughputs! {
        "thr_iadd", "integer add", 'r', 1, "add.u32 %r{k}, %r{k}, %r7;";
        "thr_imad", "integer multiply-add", 'r', 1, "mad.lo.u32 %r{k}, %r{k}, %r7, %r8;";
        "thr_lop", "bitwise logic", 'r', 1, "and.b32 %r{k}, %r{k}, %r7;";
        "thr_shift", "shift", 'r', 1, "shl.b32 %r{k}, %r{k}, 1;";
        "thr_min", "minimum", 'r', 1, "min.s32 %r{k}, %r{k}, %r7;";
        "thr_popc", "population count", 'r', 1, "popc.b32 %r{k}, %r{k};";
        "thr_ffma", "f32 fused multiply-add", 'f', 1, "fma.rn.f32 %f{k}, %f{k}, %f7, %f8;";
        "thr_hfma2", "f16 fused multiply-add, in pairs", 'r', 2, "fma.rn.f16x2 %r{k}, %r{k}, %r7, %r8;";
        "thr_dfma", "f64 fused multiply-add", 'd', 1, "fma.rn.f64 %d{k}, %d{k}, %d7, %d8;";
        "thr_rsqrt", "rsqrt.approx.f32", 'f', 1, "rsqrt.approx.f32 %f{k}, %f{k};";
        "thr_sqrt", "sqrt.approx.f32", 'f', 1, "sqrt.approx.f32 %f{k}, %f{k};";
        "thr_shfl", "warp shuffle", 'r', 1, "shfl.sync.bfly.b32 %r{k}, %r{k}, 1, 31, 0xffffffff;";
        "thr_bar", "barrier of a block of 1,024", 'r', 1, "bar.sync 0;";
    };
    let memory = runs! {
        "lat_shared", "shared memory", CYCLES, |_| chase_shared("ld.shared.u32 %r10, [%r10];");
        "lat_l1", "L1 hit", CYCLES, |_| chase("ld.global.u64", near(32), [8, 40]);
        "lat_l2", "L2 hit", CYCLES, |_| chase("ld.global.u64", near(2048), [128, 256]);
        "lat_l2_cg", "L2 hit, past the L1", CYCLES, |_| chase("ld.global.cg.u64", near(512), [64, 128]);
        "lat_dram", "DRAM", CYCLES, |_| chase("ld.global.u64", FAR, [8, 72]);
        "lat_atom_shared", "atomic add in shared memory", CYCLES, |_| chase_shared("atom.shared.add.u32 %r10, [%r10], 0;");
        "lat_atom_global", "atomic add in global memory", CYCLES, |_| chase_atomics();
        "lat_wmma", "matrix product 16x16x16", CYCLES, |_| matrices(32, None);
        "thr_wmma", "matrix product 16x16x16", "FMA/clk/SM", |_| matrices(BLOCK / 2, Some(4096.0 / 32.0));
        "bw_shared", "shared memory", "B/clk/SM", |_| read_shared();
        "bw_l1", "L1 hits", "B/clk/SM", |_| read_l1();
        "bw_l2", "L2 hits", "B/clk", read_l2;
        "bw_dram_read", "DRAM, reading", "GB/s", |m| stream(m, READ, 8.0);
        "bw_dram_write", "DRAM, writing", "GB/s", |m| stream(m, WRITE, 8.0);
        "bw_dram_copy", "DRAM, reading and writing", "GB/s", |m| stream(m, COPY, 16.0);
    };
    let sizes = sizes! {
        "size_sms", "SMs", "SMs", |m| f64::from(m.gpu.sms);
        "size_threads", "threads", "threads/SM", |m| f64::from(m.sm.threads);
        "size_registers", "registers", "registers/SM", |m| f64::from(m.sm.registers);
        "size_shared", "shared memory", "KiB/SM", |m| f64::from(m.sm.shared_bytes) / 1024.0;
        "size_l1", "L1", "KiB/SM", |m| kib(m.sm.l1d.sets, m.sm.l1d.ways, m.sm.l1d.line);
        "size_l2", "L2", "KiB", |m| kib(m.l2.sets, m.l2.ways, m.l2.line) * f64::from(m.l2.slices * m.dram.channels);
    };
    [&latencies[..], &throughputs, &memory, &sizes].concat()
}

fn kib(sets: u32, ways: u32, line: u32) -> f64 {
    f64::from(sets) * f64::from(ways) * f64::from(line) / 1024.0
}

/// One thread or warp, and the loop's own cost taken out.
fn alone(kernel: Kernel, threads: u32) -> Run {
    let (trips, unroll) = ([8, 40], [16, 48]);
    Run { kernel, blocks: [1, 1], threads, bytes: 4096, ring: None, trips, unroll, per_step: None }
}

/// A chain in one warp.
fn latency(class: char, step: &str) -> Run {
    alone(Kernel::chain(&values(class, 1), step), 32)
}

/// One SM full of warps with independent instructions.
fn throughput(class: char, results: u32, step: &str) -> Run {
    let kernel = Kernel { ways: WAYS, ..Kernel::chain(&values(class, WAYS), step) };
    Run { per_step: Some(f64::from(results)), ..alone(kernel, BLOCK) }
}

/// A word in shared memory that points at itself, followed by one thread.
fn chase_shared(step: &str) -> Run {
    let setup = "mov.u32 %r10, box;\nst.shared.u32 [%r10], %r10;";
    alone(Kernel { shared: true, ..Kernel::chain(setup, step) }, 1)
}

/// A ring of neighbouring lines.
fn near(lines: u64) -> Ring {
    Ring { places: lines, stride: 128, shuffled: false }
}

/// A ring of 32 MiB without pattern, of which no place is met twice.
const FAR: Ring = Ring { places: 1 << 17, stride: 256, shuffled: true };

/// One thread that follows pointers. The shorter run has met every place of a ring it goes round.
fn chase_step(step: &str, ring: Ring, trips: [u32; 2]) -> Run {
    let kernel = Kernel::chain("mov.u64 %rd10, %rd1;", step);
    Run { bytes: ring.bytes(), ring: Some(ring), trips, unroll: [16, 16], ..alone(kernel, 1) }
}

fn chase(load: &str, ring: Ring, trips: [u32; 2]) -> Run {
    chase_step(&format!("{load} %rd10, [%rd10];"), ring, trips)
}

fn chase_atomics() -> Run {
    chase_step("atom.global.add.u64 %rd10, [%rd10], 0;", near(512), [64, 128])
}

/// Products of matrices; of registers that are not set, as their values do not matter.
fn matrices(threads: u32, per_step: Option<f64>) -> Run {
    let zero = |class: char, range: std::ops::Range<u32>, value: &str| -> String {
        let mov = if class == 'f' { "mov.f32" } else { "mov.b32" };
        range.map(|k| format!("{mov} %{class}{k}, {value};\n")).collect()
    };
    let setup = zero('f', 10..18, "0f00000000") + &zero('r', 10..26, "0");
    Run { per_step, ..alone(Kernel::chain(&setup, WMMA), threads) }
}

/// All threads of an SM that read shared memory, every lane from a bank of its own.
fn read_shared() -> Run {
    let setup = "mov.u32 %r9, box;\nshl.b32 %r8, %r2, 2;\nadd.u32 %r9, %r9, %r8;";
    let kernel = Kernel { shared: true, ways: 8, ..Kernel::chain(setup, "ld.shared.u32 %r{k}, [%r9];") };
    Run { per_step: Some(4.0), ..alone(kernel, BLOCK) }
}

/// The address of a thread's word, in `%rd10`, by its number in a register.
fn own_word(thread: &str) -> String {
    format!("mul.wide.u32 %rd9, {thread}, 4;\nadd.u64 %rd10, %rd1, %rd9;")
}

/// All threads of an SM that read 8 KiB again and again.
fn read_l1() -> Run {
    let step = "ld.global.u32 %r{k}, [%rd10+{o}];";
    let kernel = Kernel { ways: 8, stride: 4096, span: 8192, ..Kernel::chain(&own_word("%r2"), step) };
    Run { per_step: Some(4.0), bytes: 8192, ..alone(kernel, BLOCK) }
}

/// As many blocks as the GPU holds at once, by threads.
fn filled(machine: &MachineConfig) -> u32 {
    machine.gpu.sms * (machine.sm.threads / BLOCK).max(1)
}

/// All SMs that read 512 KiB again and again, past the L1. Blocks begin in different places, so that slices are asked evenly.
fn read_l2(machine: &MachineConfig) -> Run {
    let (blocks, span) = (filled(machine), 1 << 18);
    let setup = format!("and.b32 %r9, %r5, {};\n{}", span / 4 - 1, own_word("%r9"));
    let step = "ld.global.cg.u32 %r{k}, [%rd10+{o}];";
    let kernel = Kernel { ways: 8, stride: span / 8, span, ..Kernel::chain(&setup, step) };
    let (trips, unroll) = ([4, 12], [8; 2]);
    Run { blocks: [blocks; 2], bytes: 2 * span, per_step: Some(4.0), trips, unroll, ..alone(kernel, BLOCK) }
}

const READ: &str = "ld.global.f64 %d{k}, [%rd10];\nsetp.eq.f64 %p0, %d{k}, %d8;";
const WRITE: &str = "st.global.f64 [%rd10], %d8;";
const COPY: &str = "ld.global.f64 %d{k}, [%rd10];\nmul.f64 %d{k}, %d{k}, %d8;\nst.global.f64 [%rd11], %d{k};";

/// A grid with a thread for each 8 bytes, as streams are written, with more blocks for the longer run. The shorter run
/// has been through more than the L2 holds.
fn stream(machine: &MachineConfig, step: &str, per_step: f64) -> Run {
    let blocks = [12, 24].map(|times| times * filled(machine));
    let half = u64::from(blocks[1] * BLOCK) * 8;
    let setup = format!(
        "mul.wide.u32 %rd9, %r5, 8;\nadd.u64 %rd10, %rd1, %rd9;\nadd.u64 %rd11, %rd10, {half};\n\
         mov.f64 %d8, 0d3FE0000000000000;"
    );
    let bytes = if step == COPY { 2 * half } else { half };
    let kernel = Kernel::chain(&setup, step);
    Run { blocks, bytes, per_step: Some(per_step), trips: [1; 2], unroll: [1; 2], ..alone(kernel, BLOCK) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::silicon::{NotRun, value};
    use crate::timing::machine;

    fn of(name: &str, set: &[&str]) -> Result<f64, NotRun> {
        let measure = measures().into_iter().find(|m| m.name == name).unwrap_or_else(|| panic!("no measure {name}"));
        value(&measure, &machine("gtx480", set))
    }

    #[test]
    fn every_kernel_loads() {
        let machine = machine("gtx480", &[""; 0]);
        for measure in measures() {
            if let Kind::Run(run) = measure.kind {
                let run = run(&machine);
                for unroll in run.unroll {
                    let (_, diagnostics) = raddle_ptx::load(&run.kernel.text(unroll));
                    assert!(diagnostics.is_empty(), "{}: {diagnostics:?}", measure.name);
                }
            }
        }
    }

    /// A chain shows every cycle of a latency, and nothing else moves it.
    #[test]
    fn latencies_follow_the_machine() {
        let cases = [
            ("lat_iadd", "sm.latency.int_add.latency=9", 5.0),
            ("lat_dfma", "sm.latency.f64_fma.latency=20", 12.0),
            ("lat_shfl", "sm.latency.shuffle.latency=40", 8.0),
            ("lat_shared", "sm.shared.latency=36", 10.0),
            ("lat_l1", "sm.l1d.latency=45", 10.0),
            ("lat_l1", "l2.rop_latency=160", 0.0),
            ("lat_l2_cg", "l2.rop_latency=160", 40.0),
            ("lat_iadd", "sm.l1d.latency=45", 0.0),
        ];
        for (name, change, more) in cases {
            let (plain, changed) = (of(name, &[]).expect("timed"), of(name, &[change]).expect("timed"));
            assert!((changed - plain - more).abs() < 0.01, "{name}, {change}: {plain} and {changed}");
        }
    }

    #[test]
    fn throughputs_are_those_of_the_units() {
        // One unit that takes a warp every eighth cycle.
        for name in ["thr_dfma", "thr_rsqrt"] {
            let found = of(name, &[]).expect("timed");
            assert!((found - 4.0).abs() < 0.1, "{name}: {found}");
        }
        // 32 banks of four bytes.
        let shared = of("bw_shared", &[]).expect("timed");
        assert!((110.0..=128.0).contains(&shared), "{shared}");
        let halved = of("bw_shared", &["sm.shared.banks=16"]).expect("timed");
        assert!((60.0..=66.0).contains(&halved), "{halved}");
    }

    #[test]
    fn matrices_are_refused_and_sizes_are_read() {
        assert!(of("thr_wmma", &[]).is_err(), "the machine has no tensor cores");
        assert_eq!(of("size_l2", &[]), Ok(768.0));
    }
}
