//! The page that holds our register counts against those of a real assembler.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use raddle_ptx::analysis::{Allocation, Cfg, Liveness, RegisterNeed, Resources};
use serde_json::Value;

use crate::files::root;

/// Where the reference results are, from the top folder.
const REFERENCE: &str = "tests/reference/gtx480";

const INTRODUCTION: &str = "\
<!-- Written by `cargo xtask codegen`; edit xtask/src/registers.rs instead. -->

# Registers

The number of 32-bit registers per thread decides how many warps fit on an SM. Raddle counts registers in two ways. This
page compares both counts with those of NVIDIA's assembler `ptxas` in the reference results (sm_20).

- **As written**: a register allocation for the PTX as it is. Live ranges are coloured and copies are merged. The result
  can be executed. Nothing is reordered, recomputed or left out. This is the count in a kernel's resources.
- **Estimate**: the same colouring, after the changes that an assembler makes to every program. Unused results are
  dropped, and so are the unused upper halves of 64-bit values. Constants and kernel parameters are named in place and
  take no register. Register 1 is the stack pointer. No number in the estimate was fitted to these kernels.

A difference is our count minus that of `ptxas`.

";

const OCCUPANCY: &str = "
## Thread blocks per SM

The table shows how many thread blocks of 256 threads of the six applications fit on an SM of the reference machine,
with each of the counts.

| kernel | as written | estimate | ptxas |
| --- | --- | --- | --- |
";

const CLOSING: &str = "
## Where the differences come from

- The estimate is meant for code that is not transformed further, and is close for such code. Short loops of loads,
  stores and atomics (`ld_*`, `st_stream`, `atomic_*`, `bfs`) need about twice as many registers in the reference, and
  `matmul` even more. Unrolling and early loads would cost that much. We do neither, because the simulator runs the PTX
  that it is given.
- `shared_conflict_*` loads one word eight times. The reference needs fewer registers than the eight values, so it must
  load the word less often.
- Vector loads and stores do not need neighbouring registers here.

If occupancy must match a real device, use the count of its assembler instead of either.
";

/// One kernel.
struct Row {
    kernel: String,
    shared_bytes: u64,
    written: i64,
    estimate: i64,
    ptxas: i64,
}

/// The whole page.
pub fn page() -> String {
    let folder = root().join(REFERENCE);
    let applications = rows(&folder, "kernels");
    let micro = rows(&folder, "micro");
    let mut text = INTRODUCTION.to_owned();
    text +=
        "| kernels | as written: mean error | bias | estimate: mean error | bias |\n| --- | --- | --- | --- | --- |\n";
    let all: Vec<&Row> = applications.iter().chain(&micro).collect();
    summary(&mut text, "six applications", &applications.iter().collect::<Vec<_>>());
    summary(&mut text, "microbenchmarks", &micro.iter().collect::<Vec<_>>());
    summary(&mut text, "all", &all);
    text += "\nThe mean error is the mean of the absolute differences; the bias is the mean of the signed ones.\n\n";
    text +=
        "| kernel | as written | difference | estimate | difference | ptxas |\n| --- | --- | --- | --- | --- | --- |\n";
    for Row { kernel, written, estimate, ptxas, .. } in all {
        let (a, b) = (signed(written - ptxas), signed(estimate - ptxas));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {kernel} | {written} | {a} | {estimate} | {b} | {ptxas} |");
    }
    text += OCCUPANCY;
    for row in &applications {
        let fit = |registers| blocks_per_sm(registers, row.shared_bytes);
        let [written, estimate, ptxas] = [row.written, row.estimate, row.ptxas].map(fit);
        let _ = writeln!(text, "| {} | {written} | {estimate} | {ptxas} |", row.kernel);
    }
    text + CLOSING
}

/// Thread blocks of 256 threads that fit on an SM of the reference machine (its `machine.md`).
fn blocks_per_sm(registers: i64, shared_bytes: u64) -> u64 {
    const THREADS: u64 = 256;
    let registers = registers.unsigned_abs().next_multiple_of(4).max(4) * THREADS;
    let by_shared = 49_152_u64.checked_div(shared_bytes).unwrap_or(u64::MAX);
    (32_768 / registers).min(1536 / THREADS).min(by_shared).min(8)
}

fn signed(n: i64) -> String {
    if n == 0 { "0".to_owned() } else { format!("{n:+}") }
}

fn summary(text: &mut String, name: &str, rows: &[&Row]) {
    let mean = |f: &dyn Fn(&Row) -> i64| rows.iter().map(|r| f(r)).sum::<i64>() as f64 / rows.len().max(1) as f64;
    let written = |r: &Row| r.written - r.ptxas;
    let estimate = |r: &Row| r.estimate - r.ptxas;
    let _ = writeln!(
        text,
        "| {name} ({}) | {:.1} | {:+.1} | {:.1} | {:+.1} |",
        rows.len(),
        mean(&|r| written(r).abs()),
        mean(&written),
        mean(&|r| estimate(r).abs()),
        mean(&estimate),
    );
}

/// The kernels of `NAME.json` and the folder `NAME`, in the order of their names.
fn rows(folder: &Path, name: &str) -> Vec<Row> {
    let path = folder.join(format!("{name}.json"));
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let results: Value = serde_json::from_str(&read(&path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut counts = BTreeMap::new();
    for result in results.as_array().into_iter().flatten() {
        if let (Some(kernel), Some(regs)) = (result["kernel"].as_str(), result["ptxas"]["regs"].as_i64()) {
            counts.insert(kernel.to_owned(), regs);
        }
    }
    let rows = counts.into_iter().map(|(kernel, ptxas)| {
        let (module, _) = raddle_ptx::load(&read(&folder.join(name).join(format!("{kernel}.ptx"))));
        let id = module.function(&kernel).unwrap_or_else(|| panic!("{kernel}.ptx has no kernel of that name"));
        let function = module.func(id);
        let cfg = Cfg::new(function);
        let written = Allocation::new(&module, function, &cfg, &Liveness::new(function, &cfg)).registers.into();
        let estimate = RegisterNeed::estimate(function, &cfg).registers.into();
        let shared_bytes = Resources::new(&module, id).shared_bytes;
        Row { kernel, shared_bytes, written, estimate, ptxas }
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_counts_has_every_kernel_once() {
        let page = page();
        let (counts, _) = page.split_once("## Thread blocks per SM").expect("two tables");
        for kernel in ["vecadd", "matmul", "alu_chain", "ld_chain"] {
            assert_eq!(counts.matches(&format!("\n| {kernel} |")).count(), 1, "{kernel}");
        }
    }
}
