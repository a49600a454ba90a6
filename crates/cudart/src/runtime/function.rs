//! Kernels: launches, attributes and occupancy.

use super::graph::Step;
use crate::abi::{Dim3, In, Out, Pointer};
use crate::context::{Context, api, api_launch};
use crate::error::{Code, Error, Result};
use raddle_runtime::device::Shape;
use std::cell::RefCell;

/// The most threads of a block, and the most blocks of a grid in y and z.
const MAX_THREADS: u64 = 1024;
const MAX_GRID_YZ: u32 = 65535;
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];

/// What stands between `<<<` and `>>>`.
#[derive(Clone, Copy)]
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Pointer,
}

thread_local! {
    static CONFIGURATIONS: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared: usize, stream: Pointer) -> u32 {
    CONFIGURATIONS.with_borrow_mut(|list| list.push(Configuration { grid, block, shared, stream }));
    0
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPopCallConfiguration(
    grid: Out<Dim3>,
    block: Out<Dim3>,
    shared: Out<usize>,
    stream: Out<Pointer>,
) -> Code {
    let Some(found) = CONFIGURATIONS.with_borrow_mut(Vec::pop) else { return Error::MISSING_CONFIGURATION.0 };
    grid.put_if_wanted(found.grid);
    block.put_if_wanted(found.block);
    shared.put_if_wanted(found.shared);
    stream.put_if_wanted(found.stream);
    0
}

impl Context {
    /// A launch written down, its arguments read.
    pub(crate) fn kernel_step(&mut self, function: Pointer, shape: Shape, args: In<Pointer>) -> Result<Step> {
        let (module, kernel) = self.kernel(function)?;
        self.check_shape(&kernel, shape)?;
        let layout = match self.device.layout(module, &kernel) {
            Ok(layout) => layout.clone(),
            Err(error) => {
                let name = raddle_cuda::names::short(&kernel);
                self.guest.refused(&format!("kernel {name} cannot be launched"), error);
                return Err(Error::INVALID_IMAGE);
            }
        };
        let file = self.device.module_file(module);
        let mut params = vec![0; layout.param_bytes as usize];
        for (number, param) in layout.params.iter().enumerate() {
            let size = file.module.var(param.var).size as usize;
            // SAFETY: the program hands over the address of every parameter, which has this size.
            let bytes = unsafe { args.at(number)?.host(size) };
            params[param.offset as usize..][..size].copy_from_slice(bytes);
        }
        Ok(Step::Kernel { module, kernel, shape, params })
    }

    fn check_shape(&mut self, kernel: &str, shape: Shape) -> Result {
        let Shape { grid, block, shared } = shape;
        let threads: u64 = block.iter().map(|n| u64::from(*n)).product();
        let is_block = (1..=MAX_THREADS).contains(&threads) && block.iter().zip(MAX_BLOCK).all(|(n, most)| *n <= most);
        let is_grid = grid.iter().all(|n| *n > 0) && grid[1..].iter().all(|n| *n <= MAX_GRID_YZ);
        let most = self.guest.properties().sm.shared_bytes;
        let wrong = if !is_block {
            Some((Error::INVALID_CONFIGURATION, format!("a block of {block:?} threads")))
        } else if !is_grid {
            Some((Error::INVALID_CONFIGURATION, format!("a grid of {grid:?} blocks")))
        } else if shared > most {
            Some((Error::INVALID_VALUE, format!("{shared} bytes of shared memory, and an SM has {most}")))
        } else {
            None
        };
        match wrong {
            None => Ok(()),
            Some((error, what)) => {
                self.guest.note(&format!("kernel {} is launched with {what}", raddle_cuda::names::short(kernel)));
                Err(error)
            }
        }
    }

    /// Registers per thread, and blocks of this shape an SM holds; none when not one fits.
    fn residency(&mut self, function: Pointer, shape: Shape) -> Result<(u32, u32)> {
        let (module, kernel) = self.kernel(function)?;
        let machine = self.guest.properties();
        match self.device.residency(module, &kernel, shape, machine) {
            Ok(found) => Ok((found.registers, found.ctas)),
            Err(_) => Ok((0, 0)),
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaLaunchKernel(
    function: Pointer,
    grid: Dim3,
    block: Dim3,
    args: In<Pointer>,
    shared: usize,
    stream: Pointer,
) -> Code {
    api_launch(|context| {
        let shared = u32::try_from(shared).map_err(|_| Error::INVALID_VALUE)?;
        let step = context.kernel_step(function, Shape { grid: grid.list(), block: block.list(), shared }, args)?;
        context.submit(stream, step)
    })
}

/// All blocks of a cooperative launch are on the device at once.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaLaunchCooperativeKernel(
    function: Pointer,
    grid: Dim3,
    block: Dim3,
    args: In<Pointer>,
    shared: usize,
    stream: Pointer,
) -> Code {
    let code = api(|context| {
        let shape = Shape { grid: grid.list(), block: block.list(), shared: shared as u32 };
        let (_, blocks) = context.residency(function, shape)?;
        let room = u64::from(blocks) * u64::from(context.guest.properties().gpu.sms);
        let wanted: u64 = grid.list().iter().map(|n| u64::from(*n)).product();
        if wanted > room {
            context.guest.note(&format!(
                "a cooperative launch of {wanted} blocks: the machine holds {room} at once (more with --set gpu.sms=N)"
            ));
            return Err(Error::COOPERATIVE_TOO_LARGE);
        }
        Ok(())
    });
    if code != 0 {
        return code;
    }
    cudaLaunchKernel(function, grid, block, args, shared, stream)
}

/// How a launch is made, with attributes that change nothing here.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct LaunchConfig {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Pointer,
    attributes: Pointer,
    count: u32,
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaLaunchKernelExC(config: In<LaunchConfig>, function: Pointer, args: In<Pointer>) -> Code {
    match config.get() {
        Ok(c) => cudaLaunchKernel(function, c.grid, c.block, args, c.shared, c.stream),
        Err(error) => crate::context::remember(Err(error)),
    }
}

/// What a kernel takes.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct FunctionAttributes {
    shared: usize,
    constants: usize,
    local: usize,
    max_threads: i32,
    registers: i32,
    ptx_version: i32,
    binary_version: i32,
    cache_mode: i32,
    max_dynamic_shared: i32,
    carve_out: i32,
    cluster: [i32; 6],
    reserved: [i32; 16],
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaFuncGetAttributes(out: Out<FunctionAttributes>, function: Pointer) -> Code {
    api(|context| {
        let (module, kernel) = context.kernel(function)?;
        let (registers, _) = context.residency(function, Shape { grid: [1; 3], block: [1; 3], shared: 0 })?;
        let most = context.guest.properties().sm.shared_bytes;
        let constants = context.device.constants(module).len();
        let layout = context.device.layout(module, &kernel).map_err(|_| Error::INVALID_FUNCTION)?;
        out.put(FunctionAttributes {
            shared: layout.static_shared as usize,
            constants,
            local: layout.local_bytes as usize,
            max_threads: MAX_THREADS as i32,
            registers: registers as i32,
            ptx_version: 70,
            binary_version: 70,
            max_dynamic_shared: most.saturating_sub(layout.static_shared) as i32,
            ..FunctionAttributes::default()
        })
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaFuncSetAttribute(function: Pointer, attribute: i32, value: i32) -> Code {
    /// The most dynamic shared memory.
    const DYNAMIC_SHARED: i32 = 8;
    api(|context| {
        context.kernel(function)?;
        let most = context.guest.properties().sm.shared_bytes;
        if attribute == DYNAMIC_SHARED && value > most as i32 {
            context.guest.note(&format!(
                "cudaFuncSetAttribute: {value} bytes of shared memory, and an SM has {most} (more with --set sm.shared_bytes=N)"
            ));
            return Err(Error::INVALID_VALUE);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaFuncSetCacheConfig(_function: Pointer, _config: i32) -> Code {
    api(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaFuncSetSharedMemConfig(_function: Pointer, _config: i32) -> Code {
    api(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: Out<i32>,
    function: Pointer,
    threads: i32,
    shared: usize,
) -> Code {
    api(|context| {
        let threads = u32::try_from(threads).ok().filter(|n| *n > 0).ok_or(Error::INVALID_VALUE)?;
        let shape = Shape { grid: [1; 3], block: [threads, 1, 1], shared: shared as u32 };
        blocks.put(context.residency(function, shape)?.1 as i32)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: Out<i32>,
    function: Pointer,
    threads: i32,
    shared: usize,
    _flags: u32,
) -> Code {
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaOccupancyAvailableDynamicSMemPerBlock(
    bytes: Out<usize>,
    function: Pointer,
    blocks: i32,
    _threads: i32,
) -> Code {
    api(|context| {
        let (module, kernel) = context.kernel(function)?;
        let most = context.guest.properties().sm.shared_bytes;
        let layout = context.device.layout(module, &kernel).map_err(|_| Error::INVALID_FUNCTION)?;
        let each = most / u32::try_from(blocks).ok().filter(|n| *n > 0).ok_or(Error::INVALID_VALUE)?;
        bytes.put(each.saturating_sub(layout.static_shared) as usize)
    })
}
