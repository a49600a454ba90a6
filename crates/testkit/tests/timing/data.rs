//! Time does not depend on values: each class of instruction, on every preset that has it and with every mechanism,
//! takes the same cycles and counts the same, whatever is in memory. Results go to the registers of their own addresses
//! wherever an instruction can do that.

use crate::common;
use raddle_sim::config::MachineConfig;
use raddle_sim::gpu::RunOptions;
use raddle_testkit::kernel_file::run_timed;

/// What is in memory.
const CONTENTS: [&str; 4] = ["zero", "iota", "fill 0xffffffff", "fill 0x7fc00001"];

/// A class of instruction: its name, registers and variables beside those that all have, and what is executed.
type Kernel = (&'static str, &'static str, &'static str);

/// All of them have `%in` and `%out`, where the thread's own 16 bytes are, `%s` with its 16 bytes of shared memory, and
/// its data in `%x0` to `%x3`. What is in `%x0` to `%x3` at the end is stored.
#[rustfmt::skip] // one each
const KERNELS: [Kernel; 26] = [
    ("load over its address", "", "ld.global.u64 %in, [%in]; cvt.u32.u64 %x0, %in;"),
    ("load of two over its address", "", "ld.global.v2.u64 {%in, %b}, [%in]; cvt.u32.u64 %x0, %in;"),
    ("generic load over its address", "", "ld.u64 %in, [%in]; cvt.u32.u64 %x0, %in;"),
    ("cached load of four", "", "ld.global.cg.v4.u32 {%x0, %x1, %x2, %x3}, [%in+16];"),
    ("load from shared memory over its address", "", "st.shared.u32 [%s], %x0; ld.shared.u32 %s, [%s]; mov.u32 %x0, %s;"),
    ("load of four from shared memory over its address", "",
     "st.shared.v4.u32 [%s], {%x0, %x1, %x2, %x3}; ld.shared.v4.u32 {%x0, %s, %x1, %x2}, [%s];"),
    ("local memory over its address", ".local .b32 own[8]; .reg .b32 %l;",
     "mov.u32 %l, own; st.local.u32 [%l+4], %x0; ld.local.u32 %l, [%l+4]; mov.u32 %x0, %l;"),
    ("a constant over its address", ".reg .b32 %l;", "mov.u32 %l, table; ld.const.u32 %l, [%l+4]; xor.b32 %x0, %x0, %l;"),
    ("stores of data", "", "st.global.v4.u32 [%out], {%x1, %x2, %x3, %x0}; membar.gl; st.global.u8 [%out+3], %x0;"),
    ("atomics over their address", "", "atom.global.add.u64 %in, [%in], %in; cvt.u32.u64 %x0, %in;"),
    ("atomics on one place", "", "atom.global.max.u32 %x0, [%all], %x0; atom.global.cas.b32 %x1, [%all+4], %x1, %x2;"),
    ("reductions", "", "red.global.add.f32 [%all], %f; red.shared.add.u32 [%s], %x0; ld.shared.u32 %x0, [%s];"),
    ("atomics on shared memory over their address", "",
     "atom.shared.exch.b32 %s, [%s], %x0; mov.u32 %x0, %s;"),
    ("generic atomics", ".reg .b64 %g;",
     "cvt.u64.u32 %g, %s; cvta.shared.u64 %g, %g; atom.exch.b64 %g, [%g], %in; cvt.u32.u64 %x0, %g;"),
    ("texture over its coordinates", "", "tex.1d.v4.u32.s32 {%i, %x1, %x2, %x3}, [t, {%i}]; mov.u32 %x0, %i;"),
    ("surface over its coordinates", "",
     "shl.b32 %i, %i, 2; suld.b.1d.b32.clamp %i, [f, {%i}]; mov.u32 %x0, %i;"),
    ("store of data to a surface", "", "shl.b32 %i, %i, 2; sust.b.1d.b32.clamp [f, {%i}], %x0;"),
    ("values of other lanes", ".reg .pred %q;",
     "shfl.sync.idx.b32 %x1, %x0, %x2, 31, -1; setp.lt.u32 %q, %x0, 99; vote.sync.ballot.b32 %x2, %q, -1; \
      selp.b32 %x3, %x1, %x2, %q;"),
    ("a reduction at a barrier", ".reg .pred %q;", "setp.lt.u32 %q, %x0, 9; bar.red.popc.u32 %x0, 0, %q;"),
    ("division and roots", ".reg .f64 %d;",
     "div.u32 %x1, %x0, %x2; rem.s32 %x2, %x0, %x3; div.rn.f32 %f, %f, 0f3F000001; sqrt.rn.f32 %f, %f; sin.approx.f32 %f, %f; \
      cvt.f64.f32 %d, %f; div.rn.f64 %d, 0d3FF0000000000000, %d; sqrt.rn.f64 %d, %d; cvt.rn.f32.f64 %f, %d; mov.b32 %x0, %f;"),
    ("a call", ".reg .b32 %c;", "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %x0; call (r), twice, (a); ld.param.b32 %x0, [r]; }"),
    ("an asynchronous copy", "", "cp.async.ca.shared.global [%s], [%in], 16; cp.async.wait_all; ld.shared.u32 %s, [%s]; mov.u32 %x0, %s;"),
    ("ldmatrix over its address", "",
     "st.shared.v4.u32 [%s], {%x0, %x1, %x2, %x3}; bar.sync 0; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%x0, %s, %x1, %x2}, [%s]; \
      mov.u32 %x3, %s;"),
    ("wmma.load from shared memory over address and stride", ".reg .b32 %w<8>;",
     "st.shared.v4.u32 [%s], {%x0, %x1, %x2, %x3}; bar.sync 0; mov.u32 %w0, tile; mov.u32 %w1, 16; \
      wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7}, [%w0], %w1; mov.u32 %x0, %w0;"),
    ("wmma.load over its stride, and wmma.store", ".reg .b32 %w<8>;",
     "mov.u32 %w1, 16; wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%w0, %w1, %w2, %w3}, [%all], %w1; mov.u32 %w4, 24; \
      wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%all+1024], {%w0, %w1, %w2, %w3}, %w4;"),
    ("wmma.load over a wide address", ".reg .f64 %d; .reg .b64 %at;",
     "mov.b64 %at, %all; wmma.load.a.sync.aligned.row.m8n8k4.global.f64 {%d}, [%at]; mov.b64 %at, %d; cvt.u32.u64 %x0, %at;"),
];

/// The kernel file of a class, with these contents of memory.
fn source((_, declarations, body): Kernel, contents: &str) -> String {
    format!(
        "// run: grid=2 block=64\n// texture: t 64x1 u32 address=clamp filter=point normalized=0 = 1\n\
         // arg: in b32[4096] = {contents}\n// arg: out b32[4096] = {contents}\n\
         // bind: f in 64x1x1 f32 pitch=256\n\
         .version 8.0\n.target sm_80\n.address_size 64\n.global .texref t;\n.global .surfref f;\n\
         .const .b32 table[2] = {{1, 2}};\n\
         .func (.param .b32 r) twice(.param .b32 a) {{ .reg .b32 %v; ld.param.b32 %v, [a]; add.u32 %v, %v, %v; \
         st.param.b32 [r], %v; ret; }}\n\
         .visible .entry k(.param .u64 in, .param .u64 out)\n{{\n.shared .align 16 .b8 tile[1024];\n\
         .reg .b32 %i, %o, %s, %x<4>; .reg .f32 %f; .reg .b64 %in, %out, %all, %b; {declarations}\n\
         mov.u32 %i, %tid.x; ld.param.u64 %all, [in]; mad.wide.u32 %in, %i, 16, %all; ld.param.u64 %out, [out];\n\
         mad.wide.u32 %out, %i, 16, %out; mov.u32 %s, tile; mad.lo.u32 %s, %i, 16, %s;\n\
         ld.global.v4.u32 {{%x0, %x1, %x2, %x3}}, [%in]; mov.b32 %f, %x0;\n{body}\n\
         st.global.v4.u32 [%out], {{%x0, %x1, %x2, %x3}};\nret;\n}}\n"
    )
}

/// Runs a class with all contents; false when the machine does not have it.
fn check(kernel: Kernel, machine: &str, config: &MachineConfig, profile: bool) -> bool {
    let mut first = None;
    for contents in CONTENTS {
        let source = source(kernel, contents);
        let runs = run_timed(&source, config, || RunOptions { profile, ..RunOptions::default() });
        let runs = match runs {
            Ok(runs) => runs,
            Err(error) if common::is_too_new("matrix/", &error) || error.starts_with("divergence model") => {
                return false;
            }
            Err(error) => panic!("{} on {machine}: {error}", kernel.0),
        };
        // All but what it computed.
        let [run] = &runs[..] else { return false };
        let found = format!("{:?}", run.result);
        let first = first.get_or_insert_with(|| found.clone());
        assert!(*first == found, "{} on {machine} with {contents} in memory: {found}\nand not {first}", kernel.0);
        assert!(found.contains("ending: Completed"), "{} on {machine}: {found}", kernel.0);
    }
    true
}

/// The machine with one SM.
fn small(config: &MachineConfig) -> MachineConfig {
    let mut config = config.clone();
    config.gpu.sms = 1;
    config
}

#[test]
fn no_instruction_is_timed_by_values_on_any_preset() {
    for kernel in KERNELS {
        let taken: Vec<_> =
            common::presets().into_iter().filter(|(name, config)| check(kernel, name, &small(config), false)).collect();
        let least = if kernel.0.contains("matrix") || kernel.0.contains("wmma") { 1 } else { 6 };
        assert!(taken.len() >= least, "{} ran on {} presets", kernel.0, taken.len());
    }
}

#[test]
fn no_instruction_is_timed_by_values_with_any_mechanism() {
    let presets = common::presets();
    let of = |name: &str| small(&presets.iter().find(|(known, _)| *known == name).unwrap().1);
    let (plain, tensor) = (of("gtx480"), of("rtx3070"));
    let issue = common::issue_policies().into_iter().map(|name| (name, common::with_issue(&plain, name)));
    let fetch = common::fetch_schedulers().into_iter().map(|name| (name, common::with_fetch(&plain, name)));
    let gating = common::gating_schemes().into_iter().map(|name| (name, common::with_gating(&plain, name)));
    let flow = common::divergence_models().into_iter();
    let flow = flow.flat_map(|name| [&plain, &tensor].map(|on| (name, common::with_divergence(on, name))));
    let registry = raddle_mech::registry();
    let machines: Vec<_> = issue.chain(fetch).chain(gating).chain(flow).collect();
    for (number, (name, config)) in machines.iter().filter(|(_, config)| registry.check(config).is_ok()).enumerate() {
        // Every third class on each machine, all of them on three.
        for kernel in KERNELS.into_iter().skip(number % 3).step_by(3) {
            check(kernel, name, config, number % 2 == 1);
        }
    }
}
