//! What outlives a launch, and what memory instructions with a cache operator do in the caches.

use raddle_exec::{DeviceMemory, Image, Launch, Program};
use raddle_sim::config::MachineConfig;
use raddle_sim::gpu::{Gpu, RunOptions};
use raddle_sim::result::{Ending, LaunchResult};
use raddle_testkit::timing::machine;
use std::sync::Arc;

/// A module in memory, with a buffer of 64 KiB.
pub fn load(source: &str) -> (DeviceMemory, Image, u64) {
    let (module, problems) = raddle_ptx::load(source);
    assert!(problems.is_empty(), "{problems:?}");
    let mut memory = DeviceMemory::new();
    let image = Image::load(Arc::new(module), &mut memory).unwrap();
    let buffer = memory.alloc("buffer", 1 << 16).unwrap();
    (memory, image, buffer)
}

/// Launches kernels of a module one after the other on one GPU; each gets a buffer of 64 KiB.
pub fn launch(source: &str, kernels: &[&str], grid: u32, config: &MachineConfig) -> Vec<LaunchResult> {
    let (mut memory, image, buffer) = load(source);
    let registry = raddle_mech::registry();
    let mechanisms = registry.check(config).unwrap();
    let mut gpu = Gpu::new(config).unwrap();
    let run = |kernel: &&str| {
        let program = Program::new(&image, &image.kernel(kernel).unwrap()).unwrap();
        let params = buffer.to_le_bytes().to_vec();
        let launch = Launch { grid: [grid, 1, 1], block: [32, 1, 1], params, ..Launch::default() };
        let result = gpu.launch(&mechanisms, &program, &launch, &mut memory, RunOptions::default()).unwrap();
        assert!(matches!(result.ending, Ending::Completed), "{:?}", result.ending);
        result
    };
    kernels.iter().map(run).collect()
}

/// A kernel that reads a parameter, a constant and a word, and is `length` instructions longer than that.
fn kernel(name: &str, length: usize) -> String {
    let more = "add.u32 %r1, %r1, 1;\n".repeat(length);
    format!(
        ".visible .entry {name}(.param .u64 buffer)\n{{\n.reg .b32 %r<4>;\n.reg .b64 %d<3>;\nld.param.u64 %d1, [buffer];\n\
         ld.const.u32 %r1, [table];\nmov.u32 %r3, %tid.x;\nmad.wide.u32 %d2, %r3, 4, %d1;\nld.global.u32 %r2, [%d2];\n{more}\
         add.u32 %r1, %r1, %r2;\nst.global.u32 [%d2+4096], %r1;\nret;\n}}\n"
    )
}

/// Two kernels of 48 instructions that read the same constant.
pub fn two_kernels() -> String {
    let head = ".version 6.0\n.target sm_50\n.address_size 64\n.const .align 4 .u32 table[2] = {3, 4};\n";
    format!("{head}{}{}", kernel("first", 40), kernel("second", 40))
}

#[test]
fn code_and_constants_are_warm_in_the_second_launch_and_data_are_not() {
    let config = machine("gtx480", &["gpu.sms=1"]);
    let runs = launch(&two_kernels(), &["first", "first"], 1, &config);
    let [cold, warm] = [&runs[0].sms[0], &runs[1].sms[0]];
    // 48 instructions of 8 bytes in lines of 128.
    assert_eq!((cold.l1i.misses, warm.l1i.misses), (3, 0), "instructions");
    assert!(cold.l1c.misses > 0 && warm.l1c.misses == 0, "constants: {:?} then {:?}", cold.l1c, warm.l1c);
    assert_eq!((cold.l1d.misses, warm.l1d.misses), (2, 2), "a load and a store each time");
    let misses = |run: &LaunchResult| run.l2_total().misses;
    assert!(misses(&runs[0]) > 0 && misses(&runs[1]) == misses(&runs[0]), "counts of the L2 go on, and it has all");
    assert!(runs[1].cycles + 800 < runs[0].cycles, "{} then {}", runs[0].cycles, runs[1].cycles);
}

#[test]
fn kernels_of_a_module_have_code_of_their_own_and_share_its_constants() {
    let config = machine("gtx480", &["gpu.sms=1"]);
    let runs = launch(&two_kernels(), &["first", "second", "first"], 1, &config);
    let misses = |n: usize| runs[n].sms[0].l1i.misses;
    // 48 instructions end at the edge of a line.
    assert_eq!([misses(0), misses(1), misses(2)], [3, 3, 0]);
    assert_eq!(runs[1].sms[0].l1c.misses, 0);
}

#[test]
fn code_lies_in_the_order_of_the_module() {
    let config = machine("gtx480", &["gpu.sms=1"]);
    let head = ".version 6.0\n.target sm_50\n.address_size 64\n.const .align 4 .u32 table[2] = {3, 4};\n";
    // Eight and eight instructions are one line.
    let source = format!("{head}{}{}", kernel("first", 0), kernel("second", 0));
    let runs = launch(&source, &["first", "second"], 1, &config);
    assert_eq!([runs[0].sms[0].l1i.misses, runs[1].sms[0].l1i.misses], [1, 0]);
}

#[test]
fn blocks_of_the_next_launch_go_to_the_next_sm() {
    let config = machine("gtx480", &["gpu.sms=4"]);
    let runs = launch(&two_kernels(), &["first", "second", "first"], 3, &config);
    let blocks = |n: usize| runs[n].sms.iter().map(|sm| sm.sm.ctas).collect::<Vec<_>>();
    assert_eq!(blocks(0), [1, 1, 1, 0]);
    assert_eq!(blocks(1), [1, 1, 0, 1]);
    assert_eq!(blocks(2), [1, 0, 1, 1]);
}

/// Accesses of the L1D by an instruction in the body of a kernel.
fn l1d(body: &str, set: &[&str]) -> [u64; 3] {
    let head = ".version 6.0\n.target sm_50\n.address_size 64\n";
    let source = format!(
        "{head}.visible .entry k(.param .u64 buffer)\n{{\n.reg .b32 %r<4>;\n.reg .b64 %d<3>;\nld.param.u64 %d1, [buffer];\n\
         mov.u32 %r3, %tid.x;\nmad.wide.u32 %d2, %r3, 4, %d1;\nld.global.u32 %r1, [%d2];\nadd.u32 %r1, %r1, 1;\n{body}\nret;\n}}\n"
    );
    let config = machine("gtx480", &[&["gpu.sms=1"], set].concat());
    let run = launch(&source, &["k"], 1, &config).remove(0);
    let l1d = &run.sms[0].l1d;
    [l1d.accesses - 1, l1d.hits, l1d.misses - 1]
}

/// The rows of the table in `docs/src/timing-model.md`: accesses, hits and misses of a line that was loaded before.
#[test]
fn cache_operators_do_what_the_table_says() {
    for load in [
        "ld.global",
        "ld.global.ca",
        "ld.global.cs",
        "ld.global.lu",
        "ld.global.cv",
        "ld.volatile.global",
        "ld.global.nc",
    ] {
        assert_eq!(l1d(&format!("{load}.u32 %r2, [%d2];"), &[]), [1, 1, 0], "{load} goes to the L1D");
    }
    assert_eq!(l1d("ld.global.cg.u32 %r2, [%d2];", &[]), [0, 0, 0], "ld.cg goes past it");
    assert_eq!(l1d("atom.global.add.u32 %r2, [%d2], 1;", &[]), [0, 0, 0], "atomics go past it");
    for store in ["st.global", "st.global.wb", "st.global.cs", "st.global.wt", "st.volatile.global"] {
        let again = format!("{store}.u32 [%d2], %r1;\nld.global.u32 %r2, [%d2];");
        assert_eq!(l1d(&again, &[]), [2, 1, 1], "{store} finds the line and throws it out");
    }
    let again = "st.global.cg.u32 [%d2], %r1;\nld.global.u32 %r2, [%d2];";
    assert_eq!(l1d(again, &[]), [1, 1, 0], "st.cg goes past it and leaves the line");
}

#[test]
fn a_fence_empties_the_l1d_where_the_machine_does() {
    let body = "membar.gl;\nld.global.u32 %r2, [%d2];";
    assert_eq!(l1d(body, &[]), [1, 0, 1]);
    assert_eq!(l1d(body, &["sm.fence_empties_l1d=false"]), [1, 1, 0]);
}
