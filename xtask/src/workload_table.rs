//! What the kernels of the workloads are like: measured tables, and the page that shows them.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use raddle_runtime::measure::DivergenceSet;
use raddle_runtime::numbers::{grouped, percent};
use raddle_workloads::manifest::{Paper, Printed};
use raddle_workloads::{Class, Manifest, Measured, Size, Workload};
use serde::de::DeserializeOwned;

use crate::Result;
use crate::files::{root, run_cargo, target};

/// The size the page shows.
const SHOWN: Size = Size::Paper;

/// The table of what a loop over logical blocks costs.
pub const VIRTUALIZED: &str = "virtualized";

/// A measured table: at a size, or [`VIRTUALIZED`].
fn path(table: &str) -> PathBuf {
    root().join(format!("crates/workloads/measured/{table}.csv"))
}

/// The rows of a measured table.
pub fn read<T: DeserializeOwned>(table: &str) -> Result<Vec<T>> {
    let mut reader = csv::Reader::from_path(path(table))?;
    Ok(reader.deserialize().collect::<std::result::Result<_, _>>()?)
}

/// Measures all workloads for a table and writes it or, with `check`, compares it.
pub fn measure(table: &str, check: bool) -> Result {
    let size = Size::ALL.into_iter().find(|s| s.name() == table);
    let args = match size {
        Some(size) => vec!["workloads", "measure", "--issue", "lrr", "--size", size.name()],
        None if table == VIRTUALIZED => vec!["workloads", "virtualize"],
        None => return Err("tables are tiny, small, paper and virtualized".into()),
    };
    // Only at the largest size does a release build save more time than it takes.
    let (release, folder): (&[&str], _) =
        if size == Some(Size::Paper) { (&["--release"], "release") } else { (&[], "debug") };
    run_cargo(&[&["build", "--locked", "-p", "raddle-cli"], release].concat())?;
    let mut command = Command::new(target().join(folder).join("raddle"));
    let output = command.args(args).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let rows = String::from_utf8(output.stdout)?;
    let path = path(table);
    if !check {
        fs::create_dir_all(path.parent().ok_or("no folder")?)?;
        fs::write(&path, rows)?;
        println!("wrote {}; now `cargo xtask codegen`", path.display());
        return Ok(());
    }
    let committed = fs::read_to_string(&path)?;
    let different = committed.lines().zip(rows.lines()).find(|(a, b)| a != b);
    match different {
        None if committed.lines().count() == rows.lines().count() => Ok(()),
        None => Err(format!("workloads came or went: cargo xtask measure-workloads {table}").into()),
        Some((old, new)) => {
            let help = format!("if that is meant: cargo xtask measure-workloads {table}, then cargo xtask codegen");
            Err(format!("a workload measures differently\n  was {old}\n  is  {new}\n{help}").into())
        }
    }
}

/// A workload with what was measured of its kernels.
struct Row {
    workload: &'static Workload,
    manifest: Manifest,
    kernels: Vec<Measured>,
}

impl Row {
    /// The kernels that make its class.
    fn main(&self) -> Vec<&Measured> {
        self.kernels.iter().filter(|k| k.class == self.manifest.class).collect()
    }

    fn is_as_said(&self) -> bool {
        Measured::are(&self.main(), self.manifest.class)
    }
}

fn rows(size: Size) -> Result<Vec<Row>> {
    let all: Vec<Measured> = read(size.name())?;
    let mut rows = Vec::new();
    for workload in raddle_workloads::all() {
        let manifest = workload.manifest(&workload.module()?)?;
        let kernels: Vec<Measured> = all.iter().filter(|c| c.workload == workload.name).cloned().collect();
        if kernels.is_empty() {
            let help = format!("cargo xtask measure-workloads {size}");
            return Err(format!("workload {} was not measured at size {size}: {help}", workload.name).into());
        }
        rows.push(Row { workload, manifest, kernels });
    }
    Ok(rows)
}

/// The whole page.
pub fn page() -> Result<String> {
    let rows = rows(SHOWN)?;
    let mut text = INTRODUCTION.to_owned();
    summary(&mut text, &rows)?;
    text += "\n## Kernels\n\n| workload | kernel | class | thread-instructions | launches | blocks | threads per block | \
             blocks per SM | registers | shared bytes | barriers per warp | SIMD efficiency | | at barriers | and at the end |\n\
             | --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --- | --: | --: |\n";
    for k in rows.iter().flat_map(|r| &r.kernels) {
        let divergent = if k.is_divergent() { "DIVG" } else { "COHE" };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} | {} | {divergent} | {} | {} |",
            k.workload,
            k.kernel,
            k.class,
            grouped(k.thread_insts),
            k.launches,
            grouped(k.blocks),
            k.threads_per_block,
            k.blocks_per_sm,
            k.registers,
            k.shared_bytes,
            k.barriers_per_warp,
            percent(k.simd_efficiency),
            percent(k.barrier_share),
            percent(k.barrier_time()),
        );
    }
    text += APART;
    for k in rows.iter().flat_map(|r| &r.kernels) {
        let insts = [k.insts_apart_50, k.insts_apart_25, k.insts_apart_10, k.insts_apart_5].map(percent).join(" | ");
        let cycles = [k.cycles_apart_50, k.cycles_apart_25, k.cycles_apart_10, k.cycles_apart_5].map(percent);
        let _ = writeln!(
            text,
            "| {} | {} | {insts} | {} | {} | {} |",
            k.workload,
            k.kernel,
            cycles.join(" | "),
            percent(k.dwr),
            k.set().number()
        );
    }
    sets(&mut text, &rows);
    text += PRINTED;
    for row in &rows {
        for printed in &row.manifest.printed {
            let kernel = printed.kernel.as_deref().unwrap_or("");
            let (theirs, ours) = beside(row, printed);
            let (paper, metric) = (printed.paper.name(), &printed.metric);
            let place = printed.place.as_deref().unwrap_or("");
            let _ = writeln!(
                text,
                "| {} | {paper}, {place} | {kernel} | {metric} | {theirs} | {ours} |",
                row.workload.name
            );
        }
    }
    Ok(text)
}

/// The benchmarks of a paper that these workloads stand for, with what it prints of them beside ours.
pub fn benchmarks(paper: Paper, among: &[&str]) -> Result<String> {
    let mut text = BENCHMARKS.to_owned();
    let rows = rows(SHOWN)?;
    for workload in among {
        let Some(row) = rows.iter().find(|row| row.workload.name == *workload) else { continue };
        let Some(benchmark) = row.manifest.stands_for.iter().find(|b| b.paper == paper) else { continue };
        let printed = |metric: &str| {
            let found = row.manifest.printed.iter().find(|p| p.paper == paper && p.metric == metric);
            found.map_or(String::new(), |p| p.value.to_string())
        };
        let share = printed("barrier-intensity");
        let share = if share.is_empty() { share } else { format!("{share} %") };
        let ours = |of: fn(&Measured) -> u64| {
            let mut values: Vec<u64> = row.kernels.iter().filter(|k| k.barriers_per_warp > 0.0).map(of).collect();
            values.sort_unstable();
            values.dedup();
            values.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
        };
        let lives: u64 = row.kernels.iter().map(|k| k.warp_cycles).sum();
        let waits: f64 = row.kernels.iter().map(|k| k.barrier_time() * k.warp_cycles as f64).sum();
        let _ = writeln!(
            text,
            "| {} | `{workload}` | {} | {} | {} | {} | {share} | {} |",
            benchmark.benchmark,
            printed("blocks-per-sm"),
            ours(|k| u64::from(k.blocks_per_sm)),
            printed("warps-per-block"),
            ours(|k| k.threads_per_block.div_ceil(32)),
            percent(waits / lives.max(1) as f64),
        );
    }
    Ok(text)
}

/// The sets of the VTW paper: whether warps are apart in instructions and in cycles, and how many kernels it has of each.
const SETS: [(DivergenceSet, [bool; 2], u32); 4] = [
    (DivergenceSet::Both, [true, true], 16),
    (DivergenceSet::Cycles, [false, true], 20),
    (DivergenceSet::Instructions, [true, false], 3),
    (DivergenceSet::Neither, [false, false], 12),
];

/// The kernels in each set of the VTW paper.
fn sets(text: &mut String, rows: &[Row]) {
    text.push_str(SETS_ABOUT);
    for (set, apart, printed) in SETS {
        let (mut ours, mut names) = (0, Vec::new());
        for row in rows {
            let kernels: Vec<&str> = row.kernels.iter().filter(|k| k.set() == set).map(|k| k.kernel.as_str()).collect();
            ours += kernels.len();
            if !kernels.is_empty() {
                names.push(format!("{} ({})", row.workload.name, kernels.join(", ")));
            }
        }
        let [insts, cycles] = apart.map(|is| if is { "yes" } else { "no" });
        let _ = writeln!(text, "| {} | {insts} | {cycles} | {printed} | {ours} | {} |", set.number(), names.join("; "));
    }
}

/// How many measure as said, and why others do not.
fn summary(text: &mut String, rows: &[Row]) -> Result {
    let kernels: Vec<&Measured> = rows.iter().flat_map(|r| &r.kernels).collect();
    let count = |is: &dyn Fn(&Measured) -> bool| kernels.iter().filter(|k| is(k)).count();
    let as_said = rows.iter().filter(|r| r.is_as_said()).count();
    let _ = writeln!(
        text,
        "{} workloads have {} kernels; {} kernels are divergent, {} are barrier-intensive. {as_said} of {} workloads ({}) \
         measure as the class that papers give them.\n",
        rows.len(),
        kernels.len(),
        count(&Measured::is_divergent),
        count(&Measured::is_barrier_intensive),
        rows.len(),
        percent(as_said as f64 / rows.len() as f64),
    );
    text.push_str("| class | workloads | measure as said |\n| --- | --: | --: |\n");
    for class in [Class::Divergent, Class::Coherent, Class::Barrier] {
        let of: Vec<&Row> = rows.iter().filter(|r| r.manifest.class == class).collect();
        let _ = writeln!(text, "| {class} | {} | {} |", of.len(), of.iter().filter(|r| r.is_as_said()).count());
    }
    text.push('\n');
    for row in rows {
        let name = row.workload.name;
        match (&row.manifest.unlike, row.is_as_said()) {
            (None, true) => {}
            (Some(why), false) => {
                let class = match row.manifest.class {
                    Class::Barrier => "barrier-intensive".to_owned(),
                    other => other.to_string(),
                };
                let _ = writeln!(text, "- `{name}` should be {class}, but does not measure as such. {}", why.trim());
            }
            (None, false) => {
                return Err(
                    format!("workload {name} does not measure as its class says: explain it in `unlike`").into()
                );
            }
            (Some(_), true) => return Err(format!("workload {name} measures as its class says: drop `unlike`").into()),
        }
    }
    Ok(())
}

/// A figure of a paper, and ours where there is the same.
fn beside(row: &Row, printed: &Printed) -> (String, String) {
    let named =
        row.manifest.kernels.iter().find(|k| k.stands_for.as_deref().is_some_and(|theirs| printed.is_about(theirs)));
    let kernels: Vec<&Measured> = match (named, &printed.kernel) {
        (Some(info), _) => row.kernels.iter().filter(|k| k.kernel == info.name).collect(),
        // A kernel of the paper that is none of ours alone.
        (None, Some(_)) if row.kernels.len() > 1 => Vec::new(),
        _ => row.kernels.iter().collect(),
    };
    let number = if printed.value.fract() == 0.0 { grouped(printed.value as u64) } else { printed.value.to_string() };
    let metric = printed.metric.as_str();
    let (group, apart) = metric.rsplit_once('-').unwrap_or((metric, ""));
    let theirs = match group {
        "cycle-divergence" | "instruction-divergence" => {
            let blocks = row.manifest.printed.iter().find(|p| p.metric == "blocks" && p.kernel == printed.kernel);
            blocks.map_or(number.clone(), |b| format!("{number} of {} ({})", b.value, percent(printed.value / b.value)))
        }
        _ => number,
    };
    let [first, ..] = kernels[..] else { return (theirs, String::new()) };
    let one = kernels.len() == 1;
    let ours = match (metric, group) {
        ("instructions", _) => grouped(kernels.iter().map(|k| k.thread_insts).sum()),
        ("blocks", _) if one => grouped(first.blocks / first.launches.max(1)),
        ("blocks-resident", _) if one => format!("{} on each SM", first.blocks_per_sm),
        ("blocks-per-sm", _) if one => first.blocks_per_sm.to_string(),
        ("warps-per-block", _) if one => (first.threads_per_block.div_ceil(32)).to_string(),
        ("dwr", _) if one && first.dwr > 0.0 => format!("{:.2}", first.dwr),
        (_, "instruction-divergence") if one => percent(match apart {
            "50" => first.insts_apart_50,
            "25" => first.insts_apart_25,
            "10" => first.insts_apart_10,
            _ => first.insts_apart_5,
        }),
        (_, "cycle-divergence") if one => percent(match apart {
            "50" => first.cycles_apart_50,
            "25" => first.cycles_apart_25,
            "10" => first.cycles_apart_10,
            _ => first.cycles_apart_5,
        }),
        _ => String::new(),
    };
    (theirs, ours)
}

const INTRODUCTION: &str = "\
<!-- Generated by `cargo xtask codegen` from crates/workloads; do not edit. -->

# Workloads

This page describes the kernels of the workloads as measured on the preset `gtx480` with the issue scheduler `lrr`, at size `paper`. Each
kernel has one row for all its launches together. `raddle workloads measure --issue lrr --size paper` measures them. The tables are in
`crates/workloads/measured`; CI measures size `small` again and compares.

A kernel is divergent (DIVG) when its SIMD efficiency is below 76 %, as in the VWS paper, and coherent (COHE) otherwise. SIMD efficiency is
the share of a warp's lanes that are active, with guards counted. A kernel is barrier-intensive when it has barriers and its warps spend
more than 15 % of their lives waiting at them or for the end of their block, as the BAWS paper counts. A warp's life lasts from its start
to the end of its block.

The class is the one that papers give the benchmark. A workload measures as its class says when its kernels of that class do, taken
together.

";

const APART: &str = "
## How far warps are apart

The columns give the share of blocks whose warps differ by at least 50, 25, 10 and 5 % in instructions and in cycles. The difference is
relative to the warp with the least. DWR is the share of a block's time after its first warp has ended; it is 0 where no block waited to
start. The set is defined by the VTW paper: warps of set 1 drift apart in instructions and in cycles, of set 2 in cycles only, of set 3 in
instructions only, and of set 4 in neither.

| workload | kernel | instructions 50 %+ | 25 %+ | 10 %+ | 5 %+ | cycles 50 %+ | 25 %+ | 10 %+ | 5 %+ | DWR | set |
| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
";

const BENCHMARKS: &str = "\
| benchmark | workload | blocks per SM | ours | warps per block | ours | at barriers | ours |
| --- | --- | --: | --: | --: | --: | --: | --: |
";

const SETS_ABOUT: &str = "
### In sets

The VTW paper sorts kernels by whether the warps of a block drift apart in instructions and in cycles, but gives no thresholds. Here they
are apart in instructions when more than 4 % of the blocks differ by 10 %, or more than 24 % by 5 %. They are apart in cycles when more
than 4 % of the blocks differ by 5 %. With these thresholds 50 of the paper's 51 kernels are in the paper's set.

| set | instructions | cycles | paper's kernels | ours | |
| --: | --- | --- | --: | --: | --- |
";

const PRINTED: &str = "
## What papers print

The last column gives our value where we measure the same quantity. Blocks are those of one launch. Machines, compilers and inputs differ,
so these are not results to reproduce. They show how close a workload is to the benchmark that it represents.

| workload | paper | its kernel | figure | paper's | ours |
| --- | --- | --- | --- | --: | --: |
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enough_measure_as_said() {
        let rows = rows(SHOWN).unwrap();
        let as_said = rows.iter().filter(|r| r.is_as_said()).count();
        assert!(as_said as f64 >= 0.85 * rows.len() as f64, "{as_said} of {}", rows.len());
        let kernels = || rows.iter().flat_map(|r| &r.kernels);
        assert!(kernels().filter(|k| k.is_divergent()).count() >= 10);
        assert!(kernels().filter(|k| k.is_barrier_intensive()).count() >= 8);
        for (set, ..) in SETS {
            let in_set = kernels().filter(|k| k.set() == set).count();
            assert!(in_set >= 5, "{in_set} in {set:?}");
        }
    }
}
