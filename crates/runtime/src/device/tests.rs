use super::*;
use crate::EngineOptions;
use crate::outcome::Stop;
use crate::timing::TimingOptions;
use raddle_sim::config::{Machine, Source};

const PTX: &str = ".version 6.0\n.target sm_50\n.address_size 64\n\
    .const .align 4 .b8 scale[8];\n.global .align 4 .u32 total;\n\
    .visible .entry k(.param .u64 p, .param .u32 n) {\n\
    .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %d<5>;\n\
    ld.param.u64 %d1, [p]; ld.param.u32 %r7, [n]; mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, %r7; @%p1 ret;\n\
    mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; ld.global.u32 %r2, [%d3]; ld.const.u32 %r3, [scale+4];\n\
    mul.lo.u32 %r4, %r2, %r3; st.global.u32 [%d3], %r4; atom.global.add.u32 %r5, [total], %r4; ret;\n}\n";

fn ptx() -> PtxFile {
    PtxFile::parse("k.ptx", PTX.to_owned()).unwrap()
}

fn setup(engine: Engine) -> Setup {
    let machine = Machine::load(Source::Preset("gtx480"), &[] as &[&str]).unwrap().config;
    let timing = Some(Box::new(TimingOptions::new(machine)));
    let engine = EngineOptions { engine, ..EngineOptions::default() };
    Setup::new(RunOptions { engine, timing, check: true, ..RunOptions::default() })
}

#[test]
fn every_engine_runs_a_program_with_variables() {
    let ptx = ptx();
    for engine in Engine::ALL {
        let setup = setup(engine);
        let mut device = Device::new(&setup, &ptx).unwrap();
        let data = device.upload("data", &[1u32, 2, 3]).unwrap();
        for scale in [10u32, 2] {
            device.set_variable("scale", &[0, scale]).unwrap();
            device.launch("k", [1; 3], [32, 1, 1], 0, &[data.into(), 3u32.into()]).unwrap();
        }
        assert_eq!(device.download(data), [20, 40, 60], "{engine}");
        assert_eq!(device.variable_values::<u32>("total").unwrap(), [180], "{engine}");
        assert_eq!(device.launches().len(), 2);
        assert!(device.check().unwrap().is_equal(), "{engine}");
        assert!(device.launches().iter().all(|l| l.timed.is_some() == (engine == Engine::Timing)));
    }
}

#[test]
fn a_launch_that_stops_is_an_error() {
    let ptx = ptx();
    for engine in Engine::ALL {
        let setup = setup(engine);
        let mut device = Device::new(&setup, &ptx).unwrap();
        let data = device.alloc::<u32>("data", 3).unwrap();
        let error = device.launch("k", [1; 3], [32, 1, 1], 0, &[data.into(), 4u32.into()]).unwrap_err();
        assert_eq!(error.to_string(), "kernel `k` did not complete: fault", "{engine}");
        assert!(matches!(device.launches(), [Launched { stop: Some(Stop::Fault(_)), .. }]), "{engine}");
    }
}

#[test]
fn mistakes_are_named() {
    let (ptx, setup) = (ptx(), Setup::default());
    let mut device = Device::new(&setup, &ptx).unwrap();
    let data = device.alloc::<u32>("data", 1).unwrap();
    let mut launch =
        |kernel: &str, args: &[Arg]| device.launch(kernel, [1; 3], [1; 3], 0, args).unwrap_err().to_string();
    assert_eq!(launch("kk", &[]), "k.ptx has no kernel `kk`");
    assert!(launch("k", &[data.into()]).starts_with("too few arguments for kernel `k`: 1 given"));
    assert!(launch("k", &[data.into(), 1.5f32.into()]).ends_with("a value of type f32 (4 bytes) was given"));
    let wrong = |r: Result<(), Error>| r.unwrap_err().to_string();
    assert_eq!(wrong(device.set_variable("scales", &[1u32])), "k.ptx has no variable `scales`");
    assert_eq!(wrong(device.set_variable("scale", &[1u64, 2])), "variable `scale` has 8 bytes, not 16");
}

const READS_CONSTANT: &str = ".version 6.0\n.target sm_50\n.address_size 64\n.const .u32 k;\n\
    .visible .entry get(.param .u64 p) {\n.reg .b32 %r<2>; .reg .b64 %d<2>;\n\
    ld.param.u64 %d1, [p]; ld.const.u32 %r1, [k]; st.global.u32 [%d1], %r1; ret;\n}\n";

#[test]
fn modules_have_constants_of_their_own_and_kernels_see_them_change() {
    let files = [1, 2].map(|n| PtxFile::parse(&format!("{n}.ptx"), READS_CONSTANT.to_owned()).unwrap());
    let setup = Setup::default();
    let mut device = Device::open(&setup, true).unwrap();
    let modules = files.each_ref().map(|file| device.add_module(file).unwrap());
    let at = device.memory_mut().unwrap().alloc("p", 4).unwrap();
    let shape = Shape { grid: [1; 3], block: [1; 3], shared: 0 };
    for (round, value) in [7u32, 9].into_iter().enumerate() {
        let place = device.place(modules[1], "k").unwrap();
        device.write_constants(modules[1], place.at, &value.to_le_bytes());
        let mut got = [0; 2];
        for (got, module) in got.iter_mut().zip(modules) {
            device.launch_bytes(module, "get", shape, at.to_le_bytes().to_vec(), true).unwrap();
            let mut word = [0; 4];
            device.memory().read(at, &mut word).unwrap();
            *got = u32::from_le_bytes(word);
        }
        assert_eq!(got, [0, value]);
        assert_eq!(device.take_launches().len(), 2, "round {round}");
    }
}

/// Threads of several blocks read `from` elements before their own, in two ways, and store the sum.
const READS_BEFORE: &str = ".version 6.0\n.target sm_50\n.address_size 64\n\
    .visible .entry k(.param .u64 in, .param .u64 out) {\n.shared .align 4 .b8 s[64];\n\
    .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %d<9>;\n\
    ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, 32, %tid.x;\n\
    mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;\n\
    ld.global.u32 %r2, [%d4+-256];\n\
    cvta.shared.u64 %d6, s; mul.wide.u32 %d7, %tid.x, 4; add.s64 %d6, %d6, %d7; ld.u32 %r3, [%d6];\n\
    add.u32 %r4, %r2, %r3; st.global.u32 [%d5], %r4; ret;\n}\n\
    .visible .entry w(.param .u64 in, .param .u64 out) {\n.reg .b32 %r<3>; .reg .b64 %d<3>;\n\
    ld.param.u64 %d1, [in]; atom.global.add.u32 %r1, [%d1+-256], 1; ret;\n}\n";

#[test]
fn reads_outside_are_noted_alike_on_every_engine() {
    let ptx = PtxFile::parse("k.ptx", READS_BEFORE.to_owned()).unwrap();
    let mut all = Vec::new();
    for engine in Engine::ALL {
        let mut setup = setup(engine);
        setup.options.warn_of_reads = true;
        let mut device = Device::load(&setup, &ptx, true).unwrap();
        let input = device.upload("in", &(1..=128).collect::<Vec<u32>>()).unwrap();
        let output = device.upload("out", &[7u32; 128]).unwrap();
        device.launch("k", [4, 1, 1], [32, 1, 1], 0, &[input.into(), output.into()]).unwrap();
        let want: Vec<u32> = std::iter::repeat_n(0, 64).chain(1..=64).collect();
        assert_eq!(device.download(output), want, "{engine}");
        assert!(device.check().unwrap().is_equal(), "{engine}");
        let reads = device.launches()[0].outside_reads.clone();
        let first: Vec<_> =
            reads.iter().map(|r| (r.count, r.first.thread.unwrap().cta, r.first.thread.unwrap().thread)).collect();
        assert_eq!(first, [(64, [0, 0, 0], [0, 0, 0]), (64, [0, 0, 0], [16, 0, 0])], "{engine}");
        assert!(reads[0].first.kind.to_string().contains("256 bytes before `in`"), "{:?}", reads[0]);
        all.push(reads.iter().map(|read| (read.first.at, read.count)).collect::<Vec<_>>());
        let stopped = device.launch("w", [1; 3], [1; 3], 0, &[input.into(), output.into()]);
        assert_eq!(stopped.unwrap_err().to_string(), "kernel `w` did not complete: fault", "{engine}");
        assert!(device.launches()[1].outside_reads.is_empty(), "{engine}");
    }
    assert!(all.iter().all(|reads| *reads == all[0]), "{all:?}");
}

#[test]
fn a_module_that_is_removed_leaves_nothing_behind() {
    let text = PTX.replace(".u32 total;", ".b8 total[4000];");
    for engine in [Engine::Fast, Engine::Timing] {
        let setup = setup(engine);
        let setup = Setup::new(RunOptions { check: false, ..setup.options });
        let mut device = Device::open(&setup, true).unwrap();
        let data = device.upload("data", &[1u32, 2, 3]).unwrap();
        let (empty, mut last) = (device.memory().taken(), None);
        for _ in 0..3 {
            let file = PtxFile::parse("k.ptx", text.clone()).unwrap();
            let module = device.keep_module(file, &BTreeMap::new()).unwrap();
            assert!(last < Some(module) && device.memory().taken() > empty, "{engine}");
            let shape = Shape { grid: [1; 3], block: [32, 1, 1], shared: 0 };
            device.launch_in(module, "k", shape, &[data.into(), 3u32.into()], None).unwrap();
            let total = device.place(module, "total").unwrap().at;
            device.remove_module(module).unwrap();
            assert_eq!(device.memory().taken(), empty, "{engine}");
            assert!(device.memory().holder(total).is_none() && !device.has_module(module));
            for error in [
                device.launch_in(module, "k", shape, &[data.into(), 3u32.into()], None).unwrap_err(),
                device.launch_bytes(module, "k", shape, vec![0; 12], true).unwrap_err(),
                device.layout(module, "k").unwrap_err(),
                device.place(module, "total").unwrap_err(),
                device.module_file(module).unwrap_err(),
            ] {
                assert_eq!(error.to_string(), "its module has been unloaded", "{engine}");
            }
            device.remove_module(module).unwrap();
            last = Some(module);
        }
    }
}
