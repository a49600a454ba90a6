//! How the cost of the timing model grows, on the preset `gtx480`.
//!
//! `scaling sms|length|threads|functional|memory [--long]`; each is best run in a process of its own. `--long` adds
//! 10^9 thread-instructions to `length`. Times are those of the launch alone: no PTX is read, no input made. They are
//! processor times of the one thread; `threads` compares wall-clock times, so it needs an idle machine.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)] // A benchmark prints its result.

use raddle_sim::config::MachineConfig;
use raddle_sim::gpu::{Gpu, RunOptions};
use raddle_sim::result::{Ending, LaunchResult};
use raddle_testkit::reference::{Case, Expected, KERNELS, Prepared, full, sized};
use raddle_testkit::timing::{gtx480, machine};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| args.iter().any(|a| a == word);
    match args.first().map_or("", String::as_str) {
        "sms" => sms(),
        "length" => length(has("--long")),
        "threads" => threads(),
        "functional" => functional(),
        "memory" => memory(),
        _ => println!("scaling sms|length|threads|functional|memory [--long]"),
    }
}

/// Measures the time of the calling thread on a processor, or where that is not known or `wall` is asked for, all time.
struct Clock(Instant, Option<f64>);

impl Clock {
    fn start(wall: bool) -> Self {
        Self(Instant::now(), if wall { None } else { Self::on_processor() })
    }

    fn seconds(&self) -> f64 {
        match self.1.zip(Self::on_processor()) {
            Some((start, end)) => end - start,
            None => self.0.elapsed().as_secs_f64(),
        }
    }

    fn on_processor() -> Option<f64> {
        std::thread::yield_now(); // Brings the kernel's figure up to date.
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
    }
}

/// Runs a prepared kernel: seconds of the launch, and its result. With `threads` 0, one thread and its processor time.
fn launch(prepared: &mut Prepared, config: &MachineConfig, threads: usize) -> (f64, LaunchResult) {
    let registry = raddle_mech::registry();
    let mechanisms = registry.check(config).expect("the mechanisms exist");
    let program = prepared.program();
    let mut gpu = Gpu::new(config).expect("the machine is sound");
    let options = RunOptions { threads, ..RunOptions::default() };
    let clock = Clock::start(threads > 0);
    let result = gpu.launch(&mechanisms, &program, &prepared.launch, &mut prepared.memory, options);
    let seconds = clock.seconds();
    let result = result.expect("the launch fits");
    assert!(matches!(result.ending, Ending::Completed), "{:?}", result.ending);
    (seconds, result)
}

/// The reference machine as most runs have it.
fn gto() -> MachineConfig {
    gtx480("gto", &[""; 0])
}

/// The best of several runs of a case, checked.
fn best(case: &Case, config: &MachineConfig, threads: usize, runs: usize) -> (f64, LaunchResult) {
    let run = || {
        let mut prepared = case.prepare();
        let run = launch(&mut prepared, config, threads);
        case.check(&prepared).expect("the kernel is right");
        run
    };
    (0..runs).map(|_| run()).min_by(|a, b| a.0.total_cmp(&b.0)).expect("at least one run")
}

/// Peak resident memory so far, in MB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
}

/// Kernel, preset, threads for each SM: as many as it holds.
const PER_SM: [(&str, &str, usize); 4] = [
    ("diverge", "gtx480", 6 * 256),
    ("vecadd", "gtx480", 24 * 256),
    ("diverge", "v100", 8 * 256),
    ("vecadd", "v100", 32 * 256),
];

/// From one SM to many, with the same work for each, and the memory each takes.
fn sms() {
    let mut memory = Vec::new();
    println!(
        "{:8} {:7} {:>5} {:>9} {:>11} {:>10} {:>13} {:>12}",
        "kernel", "preset", "SMs", "cycles", "warp-insts", "us/cycle", "us/SM-cycle", "us/warp-inst"
    );
    for (kernel, preset, per_sm) in PER_SM {
        for sms in [1, 4, 15, 30, 80, 144] {
            let case = sized(kernel, per_sm * sms);
            memory.push((sms, peak()));
            let config = machine(preset, &[format!("gpu.sms={sms}"), "mechanism.issue=gto".to_owned()]);
            let (seconds, result) = best(&case, &config, 0, 2);
            let (us, cycles) = (seconds * 1e6, result.cycles as f64);
            let warps = result.total().sm.warp_insts;
            println!(
                "{kernel:8} {preset:7} {sms:>5} {cycles:>9} {warps:>11} {:>10.3} {:>13.4} {:>12.4}",
                us / cycles,
                us / cycles / sms as f64,
                us / warps as f64
            );
            memory.push((sms, peak()));
        }
        // Memory grows with the largest machine only, so the first kernel says what an SM takes.
        let is_first = (kernel, preset) == (PER_SM[0].0, PER_SM[0].1);
        if let (true, [.., (80, before), (_, _), (144, after)]) = (is_first, memory.as_slice()) {
            println!("memory: {:.0} KB for each SM", (after - before) * 1024.0 / (144.0 - 80.0));
        }
    }
}

/// Every thread walks through a buffer: a load, arithmetic and a store each time.
const WALK: &str = "
.version 3.2
.target sm_20
.address_size 64
.visible .entry walk(.param .u64 buffer, .param .u32 mask, .param .u32 trips)
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [buffer];
    ld.param.u32 %r5, [mask];
    ld.param.u32 %r1, [trips];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r2, %r3, %r4, %r2;
LOOP:
    and.b32 %r3, %r2, %r5;
    mul.wide.u32 %d2, %r3, 4;
    add.u64 %d2, %d1, %d2;
    ld.global.f32 %f1, [%d2];
    fma.rn.f32 %f2, %f1, %f1, %f1;
    fma.rn.f32 %f2, %f2, %f1, %f1;
    fma.rn.f32 %f2, %f2, %f1, %f1;
    st.global.f32 [%d2], %f2;
    add.u32 %r2, %r2, 23040;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra LOOP;
    ret;
}
";

/// Threads of `walk`: six blocks of 256 for each of 15 SMs.
const THREADS: u64 = 90 * 256;

/// `walk` over a buffer of a power of two words.
fn walk(words: usize, trips: u64) -> Case {
    Case {
        name: "walk".to_owned(),
        source: WALK.to_owned(),
        kernel: "walk".to_owned(),
        grid: [90, 1, 1],
        block: [256, 1, 1],
        buffers: vec![vec![0; words]],
        scalars: vec![words as u32 - 1, trips as u32],
        expected: Expected::Digest { first: None, sum: None },
        thread_insts: None,
    }
}

/// The same kernel, ten times as long each time.
fn length(long: bool) {
    println!("{:>13} {:>11} {:>9} {:>10} {:>9}", "thread-insts", "cycles", "seconds", "M inst/s", "peak MB");
    for power in 5..=if long { 9 } else { 8 } {
        let trips = (10u64.pow(power) / THREADS).saturating_sub(8).div_ceil(12).max(1);
        let mut prepared = walk(1 << 20, trips).prepare();
        let (seconds, result) = launch(&mut prepared, &gto(), 0);
        let insts = result.total().sm.thread_insts;
        let rate = insts as f64 / seconds / 1e6;
        println!("{insts:>13} {:>11} {seconds:>9.3} {rate:>10.2} {:>9.1}", result.cycles, peak());
    }
}

/// One host thread and two: the kernels at full size, and at sizes at which all SMs are busy most of the time.
fn threads() {
    println!("Serial share by Amdahl's law from the two times; negative when noise makes two threads look better.");
    println!("{:16} {:>9} {:>9} {:>9} {:>7}", "kernel", "1: s", "2: s", "speed-up", "serial");
    let larger = [("matmul", 384), ("diverge", 262_144), ("stencil", 1024), ("reduce", 4_194_304)];
    let full = KERNELS.map(|kernel| (kernel.to_owned(), full(kernel)));
    let larger = larger.map(|(kernel, size)| (format!("{kernel} {size}"), sized(kernel, size)));
    for (kernel, case) in full.into_iter().chain(larger) {
        let (one, first) = best(&case, &gto(), 1, 3);
        let (two, second) = best(&case, &gto(), 2, 3);
        assert_eq!(first.cycles, second.cycles, "results do not depend on threads");
        let serial = 100.0 * (2.0 * two / one - 1.0);
        println!("{kernel:16} {one:>9.3} {two:>9.3} {:>9.2} {serial:>6.0}%", one / two);
    }
}

/// The same kernels without time and with it.
fn functional() {
    println!("{:10} {:>15} {:>11} {:>7}", "kernel", "functional ms", "timing ms", "ratio");
    let mut logs = 0.0;
    for kernel in KERNELS {
        let case = full(kernel);
        let without = || {
            let mut prepared = case.prepare();
            let program = prepared.program();
            let clock = Clock::start(false);
            raddle_exec::run(&program, &prepared.launch, &mut prepared.memory, &raddle_exec::RunOptions::default())
                .expect("the kernel runs");
            clock.seconds()
        };
        let fast = (0..5).map(|_| without()).fold(f64::INFINITY, f64::min);
        let (slow, _) = best(&case, &gto(), 0, 2);
        logs += (slow / fast).ln();
        println!("{kernel:10} {:>15.2} {:>11.1} {:>7.1}", fast * 1e3, slow * 1e3, slow / fast);
    }
    println!("geometric mean of the ratios: {:.1}", (logs / KERNELS.len() as f64).exp());
}

/// What the model itself takes beside a device image of 256 MB.
fn memory() {
    let mut prepared = walk(1 << 10, 64).prepare();
    let before = peak();
    let address = prepared.memory.alloc("image", 256 << 20).unwrap();
    let chunk = vec![1u8; 1 << 20];
    for at in 0..256u64 {
        prepared.memory.write(address + (at << 20), &chunk).expect("the image was allocated");
    }
    let image = peak();
    prepared.launch.params[..8].copy_from_slice(&address.to_le_bytes());
    prepared.launch.params[8..12].copy_from_slice(&((64u32 << 20) - 1).to_le_bytes());
    let (seconds, result) = launch(&mut prepared, &gto(), 0);
    println!("peak before the image {before:.1} MB, with it {image:.1} MB, after the run {:.1} MB", peak());
    println!("{} thread-instructions in {seconds:.2} s", result.total().sm.thread_insts);
}
