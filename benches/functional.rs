//! Speed of functional execution on the six reference kernels, one core.
//!
//! `cargo run --release -p raddle-benches --bin functional [KERNEL...] [--once] [--level base|v3|v4]`
//! prints thread-instructions per second for each kernel (best of several runs, decoding and input
//! set-up left out) and the geometric mean. `--once` runs each kernel a single time, for counting
//! host instructions under callgrind.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)] // A benchmark prints its result.

use raddle_exec::{Level, Program, RunOptions};
use raddle_testkit::reference::{KERNELS, full};
use std::time::{Duration, Instant};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let once = args.iter().any(|a| a == "--once");
    let level = match args.iter().position(|a| a == "--level").and_then(|i| args.get(i + 1)).map(String::as_str) {
        Some("base") => Level::Base,
        Some("v3") => Level::V3,
        _ => Level::detect(),
    };
    let chosen: Vec<&str> = KERNELS.into_iter().filter(|k| args.iter().any(|a| a == k)).collect();
    let kernels = if chosen.is_empty() { KERNELS.to_vec() } else { chosen };
    println!("{:<10} {:>14} {:>14} {:>10} {:>14}", "kernel", "thread-insts", "warp-insts", "ms", "M insts/s");
    let mut log_sum = 0.0;
    for name in &kernels {
        let case = full(name);
        let mut best = Duration::MAX;
        let mut counts = (0, 0);
        let started = Instant::now();
        while best == Duration::MAX || (!once && started.elapsed() < Duration::from_secs(2)) {
            let mut prepared = case.prepare();
            let program = Program::for_level(&prepared.image, &prepared.layout, level).expect("kernel decodes");
            let start = Instant::now();
            let report = raddle_exec::run(&program, &prepared.launch, &mut prepared.memory, &RunOptions::default())
                .expect("kernel runs");
            best = best.min(start.elapsed());
            counts = (report.thread_insts, report.warp_insts);
            case.check(&prepared).expect("kernel is right");
        }
        let rate = counts.0 as f64 / best.as_secs_f64() / 1e6;
        log_sum += rate.ln();
        let ms = best.as_secs_f64() * 1e3;
        println!("{name:<10} {:>14} {:>14} {ms:>10.2} {rate:>14.1}", counts.0, counts.1);
    }
    println!(
        "geometric mean {:.1} million thread-instructions per second ({level:?})",
        (log_sum / kernels.len() as f64).exp()
    );
}
