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
