//! The speed of the timing model on the reference kernels, and its cycles beside the reference's.
//!
//! `timing [kernels|micro|small] [FILTER] [KEY=VALUE]...`, or `timing once KERNEL SIZE [PRESET] [KEY=VALUE]...`: that kernel a single time,
//! to count host instructions under callgrind.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)] // A benchmark prints its result.

use raddle_sim::gpu::RunOptions;
use raddle_testkit::timing;
use std::time::Instant;

fn main() {
    let mut args = std::env::args().skip(1);
    let set = args.next().unwrap_or_else(|| "kernels".to_owned());
    let filter = args.next().unwrap_or_default();
    let changes: Vec<String> = args.collect();
    if set == "once" {
        let size = changes.first().and_then(|n| n.parse().ok()).expect("once KERNEL SIZE");
        let point = timing::sized(&filter, size);
        let config = match changes.get(1) {
            Some(preset) if !preset.contains('=') => timing::machine(preset, &changes[2..]),
            _ => timing::gtx480(&point.scheduler, &changes[1..]),
        };
        let options = RunOptions { registers: point.registers, ..RunOptions::default() };
        let result = timing::run(&point.case, &config, options);
        let total = result.total();
        let (warps, threads) = (total.sm.warp_insts, total.sm.thread_insts);
        println!("warp_insts {warps} thread_insts {threads} cycles {}", result.cycles);
        return;
    }
    let points = match set.as_str() {
        "micro" => timing::micros(),
        "small" => timing::small(),
        _ => timing::kernels(),
    };
    println!(
        "{:24} {:5} {:>10} {:>10} {:>7} {:>9} {:>10}",
        "kernel", "issue", "cycles", "reference", "error", "M inst/s", "k cycles/s"
    );
    let (mut logs, mut count) = (0.0, 0);
    for point in points.iter().filter(|p| p.case.name.contains(&filter)) {
        let start = Instant::now();
        let result = timing::run_point(point, &changes);
        let seconds = start.elapsed().as_secs_f64();
        let error = 100.0 * (result.cycles as f64 / point.cycles() as f64 - 1.0);
        let total = result.total();
        let rate = total.sm.thread_insts as f64 / seconds / 1e6;
        logs += rate.ln();
        count += 1;
        println!(
            "{:24} {:5} {:>10} {:>10} {:>6.1}% {:>9.2} {:>10.1}",
            point.case.name,
            point.scheduler,
            result.cycles,
            point.cycles(),
            error,
            rate,
            result.cycles as f64 / seconds / 1e3
        );
    }
    println!("geometric mean: {:.2} million thread-instructions per second", (logs / f64::from(count)).exp());
}
