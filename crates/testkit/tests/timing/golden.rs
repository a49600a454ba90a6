//! Golden cycles: small kernels on every preset with every mechanism take exactly the cycles they took.
//!
//! `UPDATE_GOLDEN=1` rewrites the files; a commit that changes them says why. New runs come last in their file, so that
//! `epochs.txt` can say of the others that they have not changed.

use crate::common::{folder, kernel_files, presets, with_divergence, with_fetch, with_issue};
use crate::launches::{launch, two_kernels};
use crate::slices::slices;
use crate::virtual_blocks::on_virtual_blocks;
use raddle_ptx::transform::Form;
use raddle_sim::config::{MachineConfig, PRESETS};
use raddle_sim::gpu::RunOptions;
use raddle_sim::result::LaunchResult;
use raddle_sim::seam::Seam;
use raddle_testkit::kernel_file::run_timed;
use raddle_testkit::reference::{self, Case, Expected};
use raddle_testkit::timing::{machine, run};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Kernel, size, preset, issue scheduler; behind a `+` the fetch scheduler, where it is not the preset's.
const RUNS: [(&str, usize, &str, &str); 40] = [
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
    ("vecadd", 4096, "v100", "gto"),
    ("matmul", 48, "v100", "lrr"),
    ("diverge", 2048, "v100", "gto"),
    ("bfs", 2048, "v100", "two-level"),
    ("stencil", 64, "v100", "lrr"),
    ("reduce", 8192, "v100", "gto"),
    ("matmul", 48, "rtx3070", "lrr"),
    ("bfs", 2048, "rtx3070", "gto"),
    ("reduce", 8192, "rtx3070", "two-level"),
    ("matmul", 48, "v100-chip", "lrr"),
    ("bfs", 2048, "v100-chip", "gto"),
    ("reduce", 8192, "v100-chip", "two-level"),
];

/// Kernel, size, preset, issue scheduler, divergence model.
const DIVERGENCE: [(&str, usize, &str, &str, &str); 17] = [
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
    ("diverge", 2048, "fx5800", "lrr", "its"),
    ("diverge", 2048, "gtx480", "gto", "its"),
    ("leaving", 1024, "gtx480", "gto", "its"),
];

/// Kernel, size, preset, and words: `sms=1` is a machine with so many SMs, `slices=4` are slices of so many lanes,
/// `blocks=software` puts the kernel in a loop over logical blocks, and all others change the machine, below `mechanism`.
const MECHANISMS: [(&str, usize, &str, &str); 59] = [
    ("diverge", 512, "gtx480", "divergence=pdom divergence.first=taken"),
    ("leaving", 1024, "gtx480", "divergence=pdom"),
    ("leaving", 1024, "gtx480", "divergence=pdom divergence.first=taken"),
    ("leaving", 1024, "gtx480", "divergence=pdom-lcp"),
    ("leaving", 1024, "gtx480", "divergence=pdom-lcp divergence.first=taken"),
    ("leaving", 1024, "fx5800", "divergence=tbc issue=by-block"),
    ("leaving", 1024, "fx5800", "divergence=tbc-lcp issue=by-block"),
    ("leaving", 1024, "fx5800", "divergence=dwf issue=majority"),
    ("leaving", 1024, "fx5800", "divergence=dwf-wb issue=majority"),
    ("diverge", 512, "fx5800", "divergence=tbc divergence.compactor=off issue=by-block"),
    ("diverge", 512, "fx5800", "divergence=tbc issue=by-block issue.blocks=rrb"),
    ("diverge", 512, "fx5800", "divergence=tbc-lcp issue=by-block issue.blocks=srr issue.inside=gto"),
    ("diverge", 512, "fx5800-deep", "divergence=dwf issue=pdom-priority"),
    ("bfs", 1024, "fx5800", "divergence=dwf issue=lowest-pc"),
    ("matmul", 48, "gtx480", "issue=two-level issue.active=3"),
    ("stencil", 64, "gtx480", "sms=1 issue=two-level"),
    ("stencil", 64, "gtx480", "sms=1 issue=gates"),
    ("stencil", 64, "gtx480", "sms=1 issue=gates issue.active=3"),
    ("stencil", 64, "gtx480", "sms=1 issue=origami"),
    ("stencil", 64, "gtx480", "sms=1 issue=origami issue.phase=100 issue.most_phases=1"),
    ("reduce", 8192, "gtx480", "issue=pro"),
    ("stencil", 64, "gtx480-v3", "issue=pro"),
    ("reduce", 8192, "gtx480", "issue=saws issue.inside=lrr"),
    ("stencil", 64, "gtx480-v3", "issue=mwf-lrr fetch=cff"),
    ("stencil", 64, "gtx480-v3", "issue=mwf-gto fetch=fef"),
    ("reduce", 8192, "gtx480", "issue=mwf-gto fetch=fef"),
    ("bfs", 1024, "gtx480", "dispatch=fill-first"),
    ("reduce", 8192, "fx5800", "dispatch=fill-first"),
    ("bfs", 1024, "gtx480", "dispatch=round-robin dispatch.first=5"),
    ("diverge", 256, "vws-sm", "slices=16"),
    ("diverge", 256, "vws-sm", "slices=8"),
    ("diverge", 256, "vws-sm", "slices=4"),
    ("diverge", 256, "vws-sm", "slices=4 ganging=vws"),
    ("diverge", 256, "vws-sm", "slices=8 ganging=vws"),
    ("diverge", 256, "vws-sm", "slices=4 ganging=vws ganging.gangs=1"),
    ("diverge", 256, "vws-sm", "slices=4 ganging=vws ganging.order=gto"),
    ("diverge", 256, "vws-sm", "slices=4 ganging=vws ganging.order=lrr issue=lrr"),
    ("diverge", 256, "vws-sm", "slices=4 ganging=vws ganging.order=lpc issue=lowest-pc"),
    ("diverge", 256, "vws-sm", "slices=4 ganging=vws ganging.order=lgto"),
    ("diverge", 256, "vws-sm", "slices=4 ganging=vws ganging.reform=opportunistic"),
    ("diverge", 256, "vws-sm", "slices=4 ganging=vws ganging.reform=sync ganging.wait=20"),
    ("matmul", 32, "vws-sm", "slices=4 ganging=vws ganging.split=group"),
    ("matmul", 32, "vws-sm", "slices=4 ganging=vws ganging.split=impatient"),
    ("bfs", 512, "vws-sm", "slices=4 ganging=vws ganging.reform=opportunistic ganging.split=impatient"),
    ("reduce", 4096, "vws-sm", "slices=4 ganging=vws"),
    ("matmul", 48, "gtx480", "gating=watch"),
    ("matmul", 48, "gtx480", "gating=conventional"),
    ("matmul", 48, "gtx480", "gating=blackout issue=gates"),
    ("matmul", 48, "gtx480", "gating=folding issue=origami"),
    ("matmul", 48, "gtx480", "gating=folding gating.shift=true"),
    ("matmul", 48, "gtx480", "gating=folding gating.wake=issue"),
    ("diverge", 512, "gtx480", "gating=folding gating.adaptive=false"),
    ("stencil", 64, "gtx480", "gating=conventional gating.break_even=20 gating.wake_up=6"),
    ("stencil", 64, "gtx480", "blocks=software"),
    ("stencil", 64, "gtx480", "blocks=same-lane"),
    ("diverge", 1024, "gtx480", "blocks=same-lane issue=vtw"),
    ("diverge", 1024, "gtx480", "blocks=slowest-lane issue=vtw issue.since=start"),
    ("diverge", 1024, "gtx480", "blocks=lowest-lane issue=vtw issue.every=100"),
    ("diverge", 1024, "fx5800", "blocks=slowest-lane issue=gto"),
];

/// Virtual blocks of a kernel in a loop over logical ones.
const VIRTUAL_BLOCKS: u32 = 3;

fn case(kernel: &str, size: usize) -> Case {
    match kernel {
        "vecadd" => reference::vecadd(size),
        "matmul" => reference::matmul(size),
        "diverge" => reference::diverge(size),
        "bfs" => reference::bfs(size),
        "stencil" => reference::stencil(size),
        "reduce" => reference::reduce(size),
        "leaving" => leaving(size),
        other => panic!("there is no kernel {other}"),
    }
}

/// Threads that leave a loop early: what likely-convergence points are for.
fn leaving(threads: usize) -> Case {
    let walk = |thread: u32| {
        let mut x = thread.wrapping_mul(2_654_435_761);
        for round in 0..24 {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let high = x >> 16;
            if high & 1 == 0 {
                x = x.wrapping_add(round);
                x ^= x << 3;
            } else {
                x ^= high;
                if high & 15 == 15 {
                    break;
                }
                x = x.wrapping_mul(3);
            }
        }
        x
    };
    Case {
        name: "leaving".to_owned(),
        source: include_str!("kernels/leaving.ptx").to_owned(),
        kernel: "leaving".to_owned(),
        grid: [threads.div_ceil(128) as u32, 1, 1],
        block: [128, 1, 1],
        buffers: vec![vec![0; threads]],
        scalars: Vec::new(),
        expected: Expected::Words((0..threads as u32).map(walk).collect()),
        thread_insts: None,
    }
}

/// A preset with a scheduler, which may have a fetch scheduler behind a `+`, and a divergence model.
fn simple(preset: &str, scheduler: &str, model: &str) -> MachineConfig {
    let presets = presets();
    let config = &presets.iter().find(|p| p.0 == preset).expect("a preset").1;
    let (scheduler, fetch) = scheduler.split_once('+').unwrap_or((scheduler, config.mechanism.fetch.name()));
    with_divergence(&with_fetch(&with_issue(config, scheduler), fetch), model)
}

/// Cycles and instructions of a kernel on a machine.
fn measure(kernel: &str, size: usize, config: &MachineConfig) -> (u64, u64) {
    let result = run(&case(kernel, size), config, RunOptions::default());
    (result.cycles, result.total().sm.warp_insts)
}

/// A machine by words, and the form its kernel is put in.
fn by_words(preset: &str, words: &str) -> (MachineConfig, Option<Form>) {
    let (mut set, mut form) = (Vec::new(), None);
    for (key, value) in words.split(' ').filter_map(|word| word.split_once('=')) {
        match key {
            "sms" => set.push(format!("gpu.sms={value}")),
            "slices" => set.extend(slices(value.parse().expect("lanes"))),
            "blocks" => form = Some(Form::named(value).expect("a form")),
            _ => set.push(format!("mechanism.{key}={value}")),
        }
    }
    (machine(preset, &set), form)
}

/// A kernel in the form and on the machine that words say.
fn by_mechanisms(kernel: &str, size: usize, preset: &str, words: &str) -> (Case, MachineConfig) {
    let (config, form) = by_words(preset, words);
    let case = case(kernel, size);
    (if let Some(form) = form { on_virtual_blocks(case, form, VIRTUAL_BLOCKS) } else { case }, config)
}

/// Compares lines, the first of which is a head, with those of a file.
pub fn compare(file: &str, found: &str) {
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

/// All runs that are one kernel on one machine: a name, the kernel, the machine.
pub fn runs() -> Vec<(String, Case, MachineConfig)> {
    let mut runs = Vec::new();
    for (kernel, size, preset, scheduler) in RUNS {
        let name = format!("{kernel} {size} {preset} {scheduler}");
        runs.push((name, case(kernel, size), simple(preset, scheduler, "pdom")));
    }
    for (kernel, size, preset, scheduler, model) in DIVERGENCE {
        let name = format!("{kernel} {size} {preset} {scheduler} {model}");
        runs.push((name, case(kernel, size), simple(preset, scheduler, model)));
    }
    for (kernel, size, preset, words) in MECHANISMS {
        let (case, config) = by_mechanisms(kernel, size, preset, words);
        runs.push((format!("{kernel} {size} {preset} {words}"), case, config));
    }
    runs
}

#[test]
fn cycles_are_what_they_were() {
    let mut text =
        format!("{:<10}{:>6}  {:<13}{:<12}{:>8}{:>12}\n", "kernel", "size", "preset", "issue", "cycles", "warp_insts");
    for (kernel, size, preset, scheduler) in RUNS {
        let (cycles, insts) = measure(kernel, size, &simple(preset, scheduler, "pdom"));
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
        let (cycles, insts) = measure(kernel, size, &simple(preset, scheduler, model));
        let _ = writeln!(text, "{kernel:<10}{size:>6}  {preset:<13}{scheduler:<11}{model:<10}{cycles:>8}{insts:>12}");
    }
    compare("divergence.txt", &text);
}

#[test]
fn what_mechanisms_do_is_what_it_was() {
    let mut text = format!(
        "{:<9}{:>5}  {:<12}{:<76}{:>7}{:>11}{:>8}{:>11}{:>6}{:>9}{:>8}\n",
        "kernel",
        "size",
        "preset",
        "mechanisms",
        "cycles",
        "warp_insts",
        "fetches",
        "l1d_misses",
        "dram",
        "dark",
        "gatings"
    );
    for (kernel, size, preset, words) in MECHANISMS {
        let (case, config) = by_mechanisms(kernel, size, preset, words);
        let result = run(&case, &config, RunOptions::default());
        let (total, dram) = (result.total(), result.dram_total());
        let dark: u64 = [&total.int, &total.fp].iter().map(|lanes| lanes.uncompensated + lanes.compensated).sum();
        let _ = writeln!(
            text,
            "{kernel:<9}{size:>5}  {preset:<12}{words:<76}{:>7}{:>11}{:>8}{:>11}{:>6}{dark:>9}{:>8}",
            result.cycles,
            total.sm.warp_insts,
            total.l1i.accesses,
            total.l1d.misses,
            dram.reads + dram.writes,
            total.int.gatings + total.fp.gatings
        );
    }
    compare("mechanisms.txt", &text);
}

/// Kernel files that read through textures.
const TEXTURES: [&str; 3] = ["fetch_2d_f32.ptx", "bytes_normalised.ptx", "coordinates_per_lane.ptx"];

#[test]
fn launches_behind_each_other_and_textures_are_what_they_were() {
    let mut text = format!(
        "{:<22}{:<13}{:>24}{:>12}{:>12}{:>12}{:>12}\n",
        "run", "preset", "cycles", "l1i_misses", "l1c_misses", "l1t", "l1t_misses"
    );
    let mut line = |name: &str, preset: &str, results: &[LaunchResult]| {
        let each = |of: fn(&LaunchResult) -> u64| {
            results.iter().map(|result| of(result).to_string()).collect::<Vec<_>>().join(",")
        };
        let _ = writeln!(
            text,
            "{name:<22}{preset:<13}{:>24}{:>12}{:>12}{:>12}{:>12}",
            each(|r| r.cycles),
            each(|r| r.total().l1i.misses),
            each(|r| r.total().l1c.misses),
            each(|r| r.total().l1t.accesses),
            each(|r| r.total().l1t.misses)
        );
    };
    for (preset, config) in presets() {
        line("first,first,second", preset, &launch(&two_kernels(), &["first", "first", "second"], 20, &config));
        for name in TEXTURES {
            let files = kernel_files("ptx/texture");
            let (_, source) = files.iter().find(|(file, _)| file == name).expect("a kernel file");
            let runs = run_timed(source, &config, RunOptions::default).unwrap_or_else(|e| panic!("{name}: {e}"));
            let results: Vec<LaunchResult> = runs.into_iter().map(|run| run.result).collect();
            line(name.trim_end_matches(".ptx"), preset, &results);
        }
    }
    compare("launches.txt", &text);
}

#[test]
fn every_mechanism_preset_and_form_of_virtual_blocks_has_a_golden_run() {
    let mut runs: Vec<(&str, MachineConfig)> = RUNS.map(|(_, _, p, issue)| (p, simple(p, issue, "pdom"))).to_vec();
    runs.extend(DIVERGENCE.map(|(_, _, p, issue, model)| (p, simple(p, issue, model))));
    let by_words = MECHANISMS.map(|(_, _, p, words)| (p, by_words(p, words)));
    runs.extend(by_words.iter().map(|(p, (config, _))| (*p, config.clone())));
    let chosen =
        |seam: Seam| runs.iter().map(|(_, c)| seam.choice(&c.mechanism).name().to_owned()).collect::<BTreeSet<_>>();
    for mechanism in raddle_mech::registry().iter() {
        let (seam, name) = (mechanism.info.seam, mechanism.info.name);
        assert!(chosen(seam).contains(name), "no golden run has mechanism.{}={name}", seam.key());
    }
    for preset in PRESETS {
        assert!(runs.iter().any(|(name, _)| *name == preset.name), "no golden run is on {}", preset.name);
    }
    for form in Form::ALL {
        let has = |(_, (_, of)): &(&str, (MachineConfig, Option<Form>))| *of == Some(form);
        assert!(by_words.iter().any(has), "no golden run has virtual blocks of the form {}", form.name());
    }
}
