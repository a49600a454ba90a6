//! Golden cycles: small kernels on every preset with several schedulers take exactly the cycles they took.
//!
//! `UPDATE_GOLDEN=1` rewrites the file; a commit that changes it says why.

use crate::common::{folder, presets, with_issue};
use raddle_sim::gpu::RunOptions;
use raddle_testkit::reference::{self, Case};
use raddle_testkit::timing::run;
use std::fmt::Write as _;

/// Kernel, size, preset, issue scheduler.
const RUNS: [(&str, usize, &str, &str); 20] = [
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

fn measure() -> String {
    let mut text =
        format!("{:<10}{:>6}  {:<8}{:<10}{:>8}{:>12}\n", "kernel", "size", "preset", "issue", "cycles", "warp_insts");
    let presets = presets();
    for (kernel, size, preset, scheduler) in RUNS {
        let config = &presets.iter().find(|p| p.0 == preset).expect("a preset").1;
        let result = run(&case(kernel, size), &with_issue(config, scheduler), RunOptions::default());
        let insts = result.total().sm.warp_insts;
        let cycles = result.cycles;
        let _ = writeln!(text, "{kernel:<10}{size:>6}  {preset:<8}{scheduler:<10}{cycles:>8}{insts:>12}");
    }
    text
}

#[test]
fn cycles_are_what_they_were() {
    let path = folder("golden").join("cycles.txt");
    let found = measure();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &found).unwrap();
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
