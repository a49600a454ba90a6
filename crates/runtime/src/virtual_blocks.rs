//! Launches of virtualised kernels: few blocks that loop over many logical ones.

use crate::error::{Error, Problem};
use crate::plan::ArgValue;
use crate::ptx_file::PtxFile;
use crate::timing::TimingOptions;
use crate::value::Value;
use raddle_exec::{DeviceMemory, Image, Launch, Program};
use raddle_ptx::transform::Virtualized;
use raddle_sim::residency::Residency;

/// The most logical blocks: the index of a block and the step to the next must fit 32 bits together.
pub const MAX_LOGICAL: u64 = 1 << 31;

/// The logical blocks of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logical {
    /// How many.
    pub blocks: u64,
    /// The arguments that tell the kernel, for the parameters behind its own.
    pub args: Vec<ArgValue>,
}

/// The logical blocks of a launch as it would be made of the kernel before.
///
/// # Errors
/// When there are too many, or the grid or the block has a dimension the kernel was not made for.
pub fn logical(kernel: &Virtualized, launch: &Launch) -> Result<Logical, Problem> {
    let name = &kernel.kernel;
    let shapes = [("grid", launch.grid, Some(kernel.grid_dims)), ("block", launch.block, kernel.block_dims)];
    for (what, shape, dims) in shapes {
        let dims = usize::from(dims.unwrap_or(3));
        if shape[dims..].iter().any(|n| *n > 1) {
            let message = format!("kernel `{name}` was virtualised for a {what} of {dims} dimensions, not {shape:?}");
            return Err(Problem::new(message).help("virtualise it with --dims 3"));
        }
    }
    let blocks = launch.grid.iter().map(|n| u64::from(*n)).product();
    if blocks > MAX_LOGICAL {
        let message = format!("a virtualised kernel can have {MAX_LOGICAL} logical blocks at most, not {blocks}");
        return Err(Problem::new(message));
    }
    let args = launch.grid[..usize::from(kernel.grid_dims)].iter();
    Ok(Logical { blocks, args: args.map(|n| ArgValue::Scalar(u32::ELEMENT, u64::from(*n))).collect() })
}

/// Blocks of a launch that all SMs of a machine hold at once.
///
/// # Errors
/// When not even one fits.
pub fn resident(timing: &TimingOptions, program: &Program, launch: &Launch) -> Result<u64, Error> {
    Ok(u64::from(timing.residency(program, launch)?.ctas) * u64::from(timing.machine.gpu.sms))
}

/// Blocks of a kernel that an SM holds at once, of a shape and with so much dynamic shared memory.
///
/// # Errors
/// When there is no such kernel, or not even one block fits.
pub fn residency(
    ptx: &PtxFile,
    kernel: &str,
    timing: &TimingOptions,
    block: [u32; 3],
    dynamic_shared: u32,
) -> Result<Residency, Error> {
    let launch = Launch { grid: [1, 1, 1], block, dynamic_shared, ..Launch::default() };
    let image = Image::load(ptx.module.clone(), &mut DeviceMemory::new())?;
    let program = Program::new(&image, &image.kernel(kernel)?)?;
    timing.residency(&program, &launch)
}

#[cfg(test)]
mod tests {
    use crate::device::{Device, RunOptions, Setup};
    use crate::timing::TimingOptions;
    use crate::{Engine, EngineOptions, PtxFile};
    use raddle_ptx::transform::{Form, Options};
    use raddle_sim::config::{Machine, Source};

    /// Counts how often each thread of each logical block runs, by all six indices.
    const COUNT: &str = "\
.version 6.0
.target sm_50
.address_size 64
.visible .entry count(.param .u64 out)
{
    .reg .b32 %r<20>;
    .reg .b64 %d<4>;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z;
    mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y;
    mov.u32 %r6, %tid.x; mov.u32 %r7, %tid.y; mov.u32 %r8, %tid.z;
    mov.u32 %r9, %ntid.x; mov.u32 %r10, %ntid.y; mov.u32 %r11, %ntid.z;
    mad.lo.u32 %r12, %r3, %r5, %r2;
    mad.lo.u32 %r12, %r12, %r4, %r1;
    mad.lo.u32 %r12, %r12, %r11, %r8;
    mad.lo.u32 %r12, %r12, %r10, %r7;
    mad.lo.u32 %r12, %r12, %r9, %r6;
    ld.param.u64 %d1, [out];
    mad.wide.u32 %d2, %r12, 4, %d1;
    red.global.add.u32 [%d2], 1;
    ret;
}
";

    fn forms() -> Vec<Options> {
        Form::ALL
            .into_iter()
            .flat_map(|form| [true, false].map(|hoist| Options { form, hoist, ..Options::default() }))
            .collect()
    }

    #[test]
    fn every_thread_of_every_logical_block_runs_once() {
        let before = PtxFile::parse("count.ptx", COUNT.to_owned()).unwrap();
        let grids = [[7, 1, 1], [3, 4, 1], [2, 3, 5], [1, 1, 6]];
        let blocks = [[33, 1, 1], [8, 5, 1], [4, 3, 3]];
        for options in forms() {
            let (after, refused) = before.virtualize(&options).unwrap();
            assert!(refused.is_empty());
            for (engine, most) in [
                (Engine::Fast, 1),
                (Engine::Fast, 2),
                (Engine::Gather, 5),
                (Engine::Reference, 3),
                (Engine::Fast, 1000),
            ] {
                let engine = EngineOptions { engine, warp_width: 32 };
                let setup = Setup::new(RunOptions { engine, virtual_blocks: Some(most), ..RunOptions::default() });
                for (grid, block) in grids.iter().flat_map(|g| blocks.map(|b| (*g, b))) {
                    let mut device = Device::new(&setup, &after).unwrap();
                    let threads: u32 = grid.iter().chain(&block).product();
                    let out = device.alloc::<u32>("out", threads as usize).unwrap();
                    device.launch("count", grid, block, 0, &[out.into()]).unwrap();
                    let what = format!("{options:?}, {engine:?}, {most} blocks for {grid:?} of {block:?}");
                    assert!(device.download(out).iter().all(|n| *n == 1), "{what}");
                    assert_eq!(device.launches()[0].grid, [most.min(grid.iter().product()), 1, 1], "{what}");
                }
            }
        }
    }

    /// Every thread adds one to a word of shared memory that nobody has set; the block writes it.
    const TALLY: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry tally(.param .u64 out)\n{\n\
        .shared .align 4 .u32 n;\n.reg .b32 %r<3>;\n.reg .b64 %rd<2>;\natom.shared.add.u32 %r0, [n], 1;\nbar.sync 0;\n\
        ld.shared.u32 %r1, [n];\nld.param.u64 %rd0, [out];\nmov.u32 %r2, %ctaid.x;\nmad.wide.u32 %rd0, %r2, 4, %rd0;\n\
        st.global.u32 [%rd0], %r1;\nret;\n}\n";

    fn timing() -> Box<TimingOptions> {
        Box::new(TimingOptions::new(Machine::load(Source::Preset("gtx480"), &[] as &[&str]).unwrap().config))
    }

    #[test]
    fn a_logical_block_finds_nothing_in_shared_memory() {
        let before = PtxFile::parse("tally.ptx", TALLY.to_owned()).unwrap();
        for options in forms() {
            let (after, refused) = before.virtualize(&options).unwrap();
            assert!(refused.is_empty());
            for engine in [Engine::Fast, Engine::Gather, Engine::Reference, Engine::Timing] {
                let timing = (engine == Engine::Timing).then(timing);
                let engine = EngineOptions { engine, warp_width: 32 };
                let options =
                    RunOptions { engine, timing, virtual_blocks: Some(2), check: true, ..RunOptions::default() };
                let setup = Setup::new(options);
                let mut device = Device::new(&setup, &after).unwrap();
                let out = device.alloc::<u32>("out", 9).unwrap();
                device.launch("tally", [9, 1, 1], [96, 1, 1], 0, &[out.into()]).unwrap();
                assert_eq!(device.download(out), [96; 9], "{engine:?}, {:?}", after.virtualized[0].form);
                assert_eq!(device.check().map(|check| check.wrong), Some(0));
            }
        }
    }

    #[test]
    fn a_virtual_kernel_is_checked_against_the_original() {
        let before = PtxFile::parse("tally.ptx", TALLY.to_owned()).unwrap();
        let (mut after, _) = before.virtualize(&Options::default()).unwrap();
        let other = PtxFile::parse("tally.ptx", TALLY.replace("[n], 1;", "[n], 2;")).unwrap();
        after.original = Some(other.module);
        let setup = Setup::new(RunOptions { check: true, ..RunOptions::default() });
        let mut device = Device::new(&setup, &after).unwrap();
        let out = device.alloc::<u32>("out", 3).unwrap();
        device.launch("tally", [3, 1, 1], [32, 1, 1], 0, &[out.into()]).unwrap();
        let check = device.check().unwrap();
        assert_eq!((check.wrong, check.first.map(|first| (first.got, first.want))), (3, Some((32, 64))));
    }

    #[test]
    fn a_grid_of_more_dimensions_than_the_kernel_looks_at_is_refused() {
        let line =
            COUNT.replace("%ctaid.y", "%ctaid.x").replace("%ctaid.z", "%ctaid.x").replace("%nctaid.y", "%nctaid.x");
        let before = PtxFile::parse("count.ptx", line).unwrap();
        let setup = Setup::default();
        let launch = |dims: u8| {
            let (after, _) = before.virtualize(&Options { dims, ..Options::default() }).unwrap();
            let mut device = Device::new(&setup, &after).unwrap();
            let out = device.alloc::<u32>("out", 1000).unwrap();
            device.launch("count", [2, 2, 1], [1, 1, 1], 0, &[out.into()]).map_err(|e| e.to_string())
        };
        assert_eq!(launch(3), Ok(()));
        let want = "kernel `count` was virtualised for a grid of 1 dimensions, not [2, 2, 1]";
        assert_eq!(launch(1), Err(want.to_owned()));
    }
}
