//! Golden cycles: small kernels on every preset with several schedulers take exactly the cycles they took.
//!
//! `UPDATE_GOLDEN=1` rewrites the file; a commit that changes it says why.

use crate::common::{folder, presets, with_divergence, with_fetch, with_issue};
use raddle_sim::gpu::RunOptions;
use raddle_testkit::reference::{self, Case};
use raddle_testkit::timing::run;
use std::fmt::Write as _;

/// Kernel, size, preset, issue scheduler; behind a `+` the fetch scheduler, where it is not the preset's.
const RUNS: [(&str, usize, &str, &str); 28] = [
    ("vecadd", 4096, "gtx480", "gto"),
    ("vecadd", 4096, "gtx480", "lrr"),
    ("vecadd", 4096, "fx5800", "lrr"),
    ("vecadd", 4096, "vws-sm", "gto"),
    ("matmul", 64, "gtx480", "gto"),
    ("matmul", 64, "gtx480", "two-level"),
    ("matmul", 48, "fx5800", "oldest"),
    ("matmul", 48, "vws-sm", "lrr"),
    ("diverge", 4096, "gtx480", "gto"),
    ("diverge", 4096, "gtx480", "oldest"),
    ("diverge", 2048, "fx5800", "two-level"),
    ("diverge", 1024, "vws-sm", "gto"),
    ("bfs", 4096, "gtx480", "gto"),
    ("bfs", 2048, "fx5800", "gto"),
    ("bfs", 1024, "vws-sm", "two-level"),
    ("stencil", 128, "gtx480", "lrr"),
    ("stencil", 64, "fx5800", "lrr"),
    ("stencil", 64, "vws-sm", "oldest"),
    ("reduce", 16384, "gtx480", "two-level"),
    ("reduce", 8192, "vws-sm", "gto"),
    ("reduce", 16384, "gtx480", "mwf-lrr"),
    ("reduce", 16384, "gtx480", "saws"),
    ("stencil", 128, "gtx480", "mwf-gto+cff"),
    ("matmul", 64, "gtx480-v3", "gto"),
    ("bfs", 4096, "gtx480-v3", "lrr"),
    ("reduce", 16384, "gtx480-v3", "mwf-gto+cff"),
    ("diverge", 2048, "fx5800-deep", "lrr"),
    ("bfs", 2048, "fx5800-deep", "lrr"),
];

/// Kernel, size, preset, issue scheduler, divergence model.
const DIVERGENCE: [(&str, usize, &str, &str, &str); 14] = [
    ("diverge", 2048, "fx5800", "lrr", "pdom"),
    ("diverge", 2048, "fx5800", "lrr", "pdom-lcp"),
    ("diverge", 2048, "fx5800", "majority", "dwf"),
    ("diverge", 2048, "fx5800", "majority", "dwf-wb"),
    ("diverge", 2048, "fx5800", "by-block", "tbc"),
    ("diverge", 2048, "fx5800", "by-block", "tbc-lcp"),
    ("diverge", 2048, "gtx480", "by-block", "tbc-lcp"),
    ("diverge", 1024, "vws-sm", "gto", "tbc"),
    ("bfs", 1024, "fx5800", "majority", "dwf"),
    ("bfs", 1024, "gtx480", "lowest-pc", "dwf-wb"),
    ("bfs", 1024, "fx5800", "by-block", "tbc"),
    ("stencil", 64, "gtx480", "gto", "tbc-lcp"),
    ("reduce", 4096, "fx5800", "majority", "dwf-wb"),
    ("reduce", 4096, "fx5800", "by-block", "tbc"),
];

fn case(kernel: &str, size: usize) -> Case {
    match kernel {
        "vecadd" => reference::vecadd(size),
        "matmul" => reference::matmul(size),
        "diverge" => reference::diverge(size),
        "bfs" => reference::bfs(size),
        "stencil" => reference::stencil(size),
        "reduce" => reference::reduce(size),
        other => panic!("there is no kernel {other}"),
    }
}

/// Cycles and instructions of a kernel on a machine.
fn measure(kernel: &str, size: usize, preset: &str, scheduler: &str, model: &str) -> (u64, u64) {
    let presets = presets();
    let config = &presets.iter().find(|p| p.0 == preset).expect("a preset").1;
    let (scheduler, fetch) = scheduler.split_once('+').unwrap_or((scheduler, config.mechanism.fetch.name()));
    let config = with_divergence(&with_fetch(&with_issue(config, scheduler), fetch), model);
    let result = run(&case(kernel, size), &config, RunOptions::default());
    (result.cycles, result.total().sm.warp_insts)
}

/// Compares lines, the first of which is a head, with those of a file.
fn compare(file: &str, found: &str) {
    let path = folder("golden").join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap();
    let wanted: Vec<_> = wanted.lines().collect();
    let found: Vec<_> = found.lines().collect();
    assert_eq!(found.len(), wanted.len(), "the list of runs has changed: UPDATE_GOLDEN=1 writes it");
    let differ = found.iter().zip(&wanted).filter(|(f, w)| f != w);
    let differ: Vec<_> = differ.map(|(f, w)| format!("was {w}\nis  {f}")).collect();
    assert!(
        differ.is_empty(),
        "cycles have changed; if they should, UPDATE_GOLDEN=1\n{}\n{}",
        found[0],
        differ.join("\n")
    );
}

#[test]
fn cycles_are_what_they_were() {
    let mut text =
        format!("{:<10}{:>6}  {:<13}{:<12}{:>8}{:>12}\n", "kernel", "size", "preset", "issue", "cycles", "warp_insts");
    for (kernel, size, preset, scheduler) in RUNS {
        let (cycles, insts) = measure(kernel, size, preset, scheduler, "pdom");
        let _ = writeln!(text, "{kernel:<10}{size:>6}  {preset:<13}{scheduler:<12}{cycles:>8}{insts:>12}");
    }
    compare("cycles.txt", &text);
}

#[test]
fn cycles_under_divergence_models_are_what_they_were() {
    let mut text = format!(
        "{:<10}{:>6}  {:<13}{:<11}{:<10}{:>8}{:>12}\n",
        "kernel", "size", "preset", "issue", "divergence", "cycles", "warp_insts"
    );
    for (kernel, size, preset, scheduler, model) in DIVERGENCE {
        let (cycles, insts) = measure(kernel, size, preset, scheduler, model);
        let _ = writeln!(text, "{kernel:<10}{size:>6}  {preset:<13}{scheduler:<11}{model:<10}{cycles:>8}{insts:>12}");
    }
    compare("divergence.txt", &text);
}
