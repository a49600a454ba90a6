//! Profiles of operations: sums are checked at the end of every launch with one, known kernels have known lines, and a profile
//! changes nothing and does not depend on how it was made.

use crate::common::{
    divergence_models, gating_schemes, is_too_new, issue_schedulers, kernel_files, long, with_divergence, with_gating,
    with_issue,
};
use crate::determinism::{same, tiny};
use raddle_sim::config::{MachineConfig, random};
use raddle_sim::gpu::{RunOptions, SmOrder};
use raddle_sim::job::Job;
use raddle_sim::profile::{LaunchProfile, PcCounters};
use raddle_sim::result::LaunchResult;
use raddle_testkit::kernel_file::run_timed;
use raddle_testkit::reference::KERNELS;
use raddle_testkit::timing::{gtx480, machine, run};

/// Lines with a known answer. The first operation of each of interest is marked by the opcode and its place.
const KNOWN: &str = ".version 3.2\n.target sm_20\n.address_size 64\n\
    .visible .entry k(.param .u64 in, .param .u64 out)\n{\n\
    .reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.shared .align 4 .b8 tile[32768];\n\
    mov.u32 %r1, %tid.x;\n\
    and.b32 %r2, %r1, 31;\n\
    ld.param.u64 %rd1, [in];\n\
    ld.param.u64 %rd2, [out];\n\
    mul.wide.u32 %rd3, %r1, 128;\n\
    mul.wide.u32 %rd4, %r1, 4;\n\
    add.u64 %rd5, %rd1, %rd3;\n\
    add.u64 %rd6, %rd1, %rd4;\n\
    ld.global.u32 %r3, [%rd5];\n\
    ld.global.u32 %r4, [%rd6];\n\
    ld.global.u32 %r5, [%rd1];\n\
    mov.u32 %r7, tile;\n\
    shl.b32 %r6, %r2, 7;\n\
    add.u32 %r6, %r6, %r7;\n\
    st.shared.u32 [%r6], %r3;\n\
    shl.b32 %r6, %r1, 2;\n\
    add.u32 %r6, %r6, %r7;\n\
    st.shared.u32 [%r6], %r4;\n\
    bar.sync 0;\n\
    setp.lt.u32 %p1, %r2, 16;\n\
    setp.lt.u32 %p2, %r1, 4096;\n\
    @%p1 bra SMALL;\n\
    add.u32 %r5, %r5, 3;\n\
    SMALL:\n\
    @%p2 bra NEAR;\n\
    add.u32 %r5, %r5, 5;\n\
    NEAR:\n\
    @%p1 add.u32 %r5, %r5, %r4;\n\
    add.u64 %rd7, %rd2, %rd4;\n\
    st.global.u32 [%rd7], %r5;\n\
    ret;\n}\n";

/// Threads of a block: three warps and half of one.
const THREADS: u32 = 112;

/// Warps that run it.
const WARPS: u64 = 4;

fn known(options: RunOptions<'_>) -> (LaunchResult, LaunchProfile) {
    let job = Job::new(KNOWN, "k").and_then(|j| j.buffer(&[7; 4096])?.buffer(&[0; 4096]));
    let mut job = job.unwrap_or_else(|e| panic!("{e}"));
    let options = RunOptions { profile: true, ..options };
    let result = job.run_with(&raddle_mech::registry(), &gtx480("gto", &[""; 0]), 1, THREADS, options);
    let mut result = result.unwrap_or_else(|e| panic!("{e}"));
    let profile = result.profile.take().expect("a profile was asked for");
    (result, profile)
}

/// What is charged to an instruction, by its line of the text below the declarations.
fn at(profile: &LaunchProfile, text: &str) -> PcCounters {
    let body = KNOWN.split("tile[32768];\n").nth(1).unwrap_or_default();
    let lines = body.lines().filter(|line| !line.ends_with(':'));
    let pc = lines.clone().position(|line| line == text).unwrap_or_else(|| panic!("no line `{text}`"));
    profile.pcs[pc].clone()
}

#[test]
fn uncoalesced_loads_are_told_from_others() {
    let (_, profile) = known(RunOptions::default());
    // The last warp has 16 threads.
    let apart = at(&profile, "ld.global.u32 %r3, [%rd5];");
    assert_eq!((apart.accesses, apart.requests, apart.sectors), (WARPS, 112, 112));
    assert_eq!(apart.least_sectors, 3 * 4 + 2);
    let together = at(&profile, "ld.global.u32 %r4, [%rd6];");
    assert_eq!((together.requests, together.sectors, together.least_sectors), (WARPS, 3 * 4 + 2, 3 * 4 + 2));
    let same = at(&profile, "ld.global.u32 %r5, [%rd1];");
    assert_eq!((same.requests, same.sectors, same.least_sectors), (WARPS, WARPS, WARPS));
    assert!(apart.l1d_misses >= 112 - 16 && apart.lines_done == apart.l1d_misses, "{apart:?}");
    assert!(apart.read_latency > together.read_latency, "{apart:?} {together:?}");
    assert!(apart.dram_read >= 112 * 32, "{apart:?}");
    let stored = at(&profile, "st.global.u32 [%rd7], %r5;");
    assert_eq!((stored.requests, stored.least_sectors), (WARPS, 3 * 4 + 2));
}

#[test]
fn bank_conflicts_belong_to_their_line() {
    let (result, profile) = known(RunOptions::default());
    let conflict = at(&profile, "st.shared.u32 [%r6], %r3;");
    assert_eq!((conflict.shared_accesses, conflict.shared_bank_conflicts), (WARPS, 3 * 31 + 15));
    let none = at(&profile, "st.shared.u32 [%r6], %r4;");
    assert_eq!((none.shared_accesses, none.shared_bank_conflicts), (WARPS, 0));
    assert_eq!(result.total().sm.shared_bank_conflicts, 3 * 31 + 15);
}

/// Accesses to shared memory, cycles lost to conflicts, and cycles of a kernel with this matrix load.
fn matrix_load(load: &str, set: &[&str]) -> (u64, u64, u64) {
    let source = format!(
        "// run: grid=1 block=32\n.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n\
         .shared .align 32 .b8 tile[4096];\n.reg .b32 %l, %a, %x<8>;\nmov.u32 %l, %laneid;\nmov.u32 %a, tile;\n\
         {load}\nret;\n}}\n"
    );
    let runs = run_timed(&source, &machine("rtx3070", set), RunOptions::default).unwrap();
    let sm = runs[0].result.total().sm;
    (sm.shared_accesses, sm.shared_bank_conflicts, runs[0].result.cycles)
}

#[test]
fn steps_of_matrix_loads_are_accesses_and_not_conflicts() {
    let rows = |count: usize, stride: u32| {
        let registers = ["%x0", "%x1", "%x2", "%x3"][..count].join(", ");
        let load = format!("ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {{{registers}}}, [%a];");
        format!("mad.lo.u32 %a, %l, {stride}, %a;\n{load}")
    };
    let fragment = |stride: u32| {
        format!(
            "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {{%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7}}, [%a], {stride};"
        )
    };
    let [none, ideal] = [&[][..], &["sm.ideal.banks=true"]];
    // Rows of a matrix side by side fill all banks; every second of them is in the banks of the first four.
    for (load, accesses, conflicts) in [
        (rows(1, 16), 1, 0),
        (rows(2, 16), 2, 0),
        (rows(4, 16), 4, 0),
        (rows(4, 32), 4, 4),
        (rows(4, 128), 4, 4 * 7),
        (fragment(24), 8, 0),
        (fragment(16), 8, 8),
        (fragment(64), 8, 8 * 7),
    ] {
        let (found, lost, cycles) = matrix_load(&load, none);
        assert_eq!((found, lost), (accesses, conflicts), "{load}");
        let (found, lost, without) = matrix_load(&load, ideal);
        assert_eq!((found, lost, without), (accesses, 0, cycles - conflicts), "{load}");
    }
}

#[test]
fn branches_and_lanes_are_told_apart() {
    let (_, profile) = known(RunOptions::default());
    let parts = at(&profile, "@%p1 bra SMALL;");
    // All threads of the last warp are below 16.
    assert_eq!((parts.taken, parts.not_taken, parts.diverged), (1, 0, 3));
    let all = at(&profile, "@%p2 bra NEAR;");
    assert_eq!((all.taken, all.not_taken, all.diverged), (WARPS, 0, 0));
    assert_eq!((all.lanes_active, all.lanes_guard, all.lanes_diverged, all.lanes_ended), (112, 0, 0, 16));
    let one_side = at(&profile, "add.u32 %r5, %r5, 3;");
    assert_eq!((one_side.warp_insts, one_side.lanes_active), (3, 48));
    assert_eq!((one_side.lanes_guard, one_side.lanes_diverged, one_side.lanes_ended), (0, 48, 0));
    let guarded = at(&profile, "@%p1 add.u32 %r5, %r5, %r4;");
    assert_eq!((guarded.lanes_active, guarded.lanes_guard, guarded.lanes_ended), (64, 48, 16));
    assert_eq!(at(&profile, "add.u32 %r5, %r5, 5;"), PcCounters::default(), "nobody came here");
}

#[test]
fn slots_belong_to_what_was_waited_for() {
    let (result, profile) = known(RunOptions::default());
    let sm = result.total().sm;
    // The store is the first to need what the load brings.
    let waits = at(&profile, "st.shared.u32 [%r6], %r3;");
    assert!(waits.stall_memory_dependence > sm.stall_memory_dependence / 2, "{waits:?}");
    let barrier = at(&profile, "bar.sync 0;");
    assert_eq!(barrier.stall_barrier, sm.stall_barrier);
    let others: u64 = profile.pcs.iter().map(PcCounters::slots).sum();
    assert_eq!(others + profile.no_warp, sm.slots());
    assert_eq!(profile.no_warp, sm.stall_no_warp_resident);
    assert_eq!(profile.other.slots(), 0, "traffic has no slots");
    assert!(profile.other.l2_accesses > 0, "instructions are fetched");
}

/// A launch with a profile, and what is the same without one.
fn check(config: &MachineConfig, name: &str, what: &str) {
    let case = tiny(name);
    let text = |profile, options: RunOptions<'_>| {
        let mut result = run(&case, config, RunOptions { profile, max_cycles: Some(3_000_000), ..options });
        let rows = result.profile.take();
        assert_eq!(rows.is_some(), profile, "{name}, {what}");
        (format!("{result:#?}"), format!("{rows:#?}"))
    };
    let plain = text(false, RunOptions::default());
    let first = text(true, RunOptions::default());
    same(&plain.0, &first.0, &format!("{name}, {what}, with a profile"));
    let variants = [
        ("without skipping", RunOptions { never_skip: true, ..RunOptions::default() }),
        ("on three threads", RunOptions { threads: 3, ..RunOptions::default() }),
        ("backwards", RunOptions { order: SmOrder::Reverse, ..RunOptions::default() }),
    ];
    for (variant, options) in variants {
        let other = text(true, options);
        same(&first.0, &other.0, &format!("{name}, {what}, {variant}"));
        same(&first.1, &other.1, &format!("{name}, {what}, the profile {variant}"));
    }
}

#[test]
fn sums_hold_under_every_mechanism() {
    let base = gtx480("gto", &["gpu.sms=4"]);
    let mut machines: Vec<(&str, MachineConfig)> = Vec::new();
    machines.extend(divergence_models().into_iter().map(|model| (model, with_divergence(&base, model))));
    machines.extend(issue_schedulers().into_iter().map(|issue| (issue, with_issue(&base, issue))));
    machines.extend(gating_schemes().into_iter().map(|scheme| (scheme, with_gating(&base, scheme))));
    for (n, (what, config)) in machines.iter().enumerate() {
        for (m, name) in KERNELS.into_iter().enumerate() {
            if long() || n % KERNELS.len() == m {
                check(config, name, what);
            }
        }
    }
}

#[test]
fn sums_hold_on_odd_machines() {
    for seed in 0..if long() { 60 } else { 8 } {
        check(&random(seed), KERNELS[seed as usize % KERNELS.len()], &format!("machine {seed}"));
    }
}

#[test]
fn kernel_files_have_profiles() {
    let config = gtx480("lrr", &["gpu.sms=2"]);
    for (n, (name, text)) in kernel_files("ptx").into_iter().enumerate() {
        if long() || n % 16 == 0 {
            let options = || RunOptions { profile: true, max_cycles: Some(3_000_000), ..RunOptions::default() };
            if let Err(error) = run_timed(&text, &config, options) {
                assert!(is_too_new(&name, &error), "{name}: {error}");
            }
        }
    }
}
