//! Host instructions per simulated instruction, counted by callgrind: repeatable where seconds are not.
//!
//! Only what happens inside the run of a kernel counts; making inputs, decoding and checking do not. Valgrind has no
//! AVX-512, so the figures are those of the x86-64-v3 kernels.

use std::process::Command;

use crate::Result;
use crate::files::{root, run_cargo};

/// The kernels of the benchmark.
const KERNELS: [&str; 6] = ["vecadd", "matmul", "diverge", "bfs", "stencil", "reduce"];

/// Prints a Markdown table.
pub fn run() -> Result {
    run_cargo(&["build", "--release", "-p", "raddle-benches"])?;
    println!("| kernel | host instructions | per thread-instruction | per warp-instruction |");
    println!("| --- | --- | --- | --- |");
    for kernel in KERNELS {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=raddle_exec::run::run"])
            .arg(root().join("target/release/functional"))
            .args(["--once", kernel])
            .output()
            .map_err(|e| format!("valgrind: {e}; install Debian's package valgrind"))?;
        let (table, talk) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let collected = number_after(&talk, "Collected : ").ok_or_else(|| format!("no count in: {talk}"))?;
        let row = table.lines().find(|l| l.starts_with(kernel)).ok_or_else(|| format!("no row in: {table}"))?;
        let counts: Vec<f64> = row.split_whitespace().skip(1).filter_map(|w| w.parse().ok()).collect();
        let [threads, warps, ..] = counts[..] else { return Err(format!("no counts in: {row}").into()) };
        println!("| {kernel} | {collected} | {:.1} | {:.0} |", collected as f64 / threads, collected as f64 / warps);
    }
    Ok(())
}

fn number_after(text: &str, key: &str) -> Option<u64> {
    let (_, rest) = text.split_once(key)?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_count_is_found() {
        assert_eq!(super::number_after("==1== Collected : 42\n==1==", "Collected : "), Some(42));
        assert_eq!(super::number_after("nothing", "Collected : "), None);
    }
}
