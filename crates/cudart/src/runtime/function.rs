//! Kernels: launches, attributes and occupancy.

use super::memory::check_flags;
use super::stream::{Operation, enqueued, on_stream, per_thread};
use crate::abi::{Dim3, In, Out, Pointer, Size};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result};
use raddle_exec::memory::DeviceMemory;
use raddle_exec::{Image, Launch, Program};
use raddle_runtime::device::{ModuleId, Shape};
use raddle_sim::residency::Residency;
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::ops::RangeInclusive;

/// The most threads of a block, and the most blocks of a grid in each direction.
const MAX_THREADS: u32 = 1024;
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];

/// What stands between `<<<` and `>>>`.
#[derive(Clone, Copy)]
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared: Size,
    stream: Pointer,
}

thread_local! {
    /// Those of launches that have begun. It has no destructor, so that destructors of the program can launch kernels; an
    /// empty list has no memory.
    static CONFIGURATIONS: ManuallyDrop<RefCell<Vec<Configuration>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

fn configurations<T>(use_them: impl FnOnce(&mut Vec<Configuration>) -> T) -> T {
    CONFIGURATIONS.with(|list| use_them(&mut list.borrow_mut()))
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared: Size, stream: Pointer) -> u32 {
    configurations(|list| list.push(Configuration { grid, block, shared, stream }));
    0
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPopCallConfiguration(
    grid: Out<Dim3>,
    block: Out<Dim3>,
    shared: Out<Size>,
    stream: Out<Pointer>,
) -> Code {
    let found = configurations(|list| {
        let found = list.pop();
        if list.is_empty() {
            *list = Vec::new();
        }
        found
    });
    let Some(found) = found else { return Error::MISSING_CONFIGURATION.0 };
    grid.put_if_wanted(found.grid);
    block.put_if_wanted(found.block);
    shared.put_if_wanted(found.shared);
    stream.put_if_wanted(found.stream);
    0
}

impl Context {
    /// A launch written down, its arguments read.
    pub(crate) fn kernel_operation(&mut self, function: Pointer, shape: Shape, args: In<Pointer>) -> Result<Operation> {
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
        let file = self.device.module_file(module).map_err(|_| Error::INVALID_HANDLE)?;
        let mut params = vec![0; layout.param_bytes as usize];
        for (number, param) in layout.params.iter().enumerate() {
            let size = file.module.var(param.var).size as usize;
            // SAFETY: the program hands over the address of every parameter, which has this size, or null.
            let bytes = unsafe { args.at(number)?.read(size) }?;
            params[param.offset as usize..][..size].copy_from_slice(&bytes);
        }
        Ok(Operation::Kernel { module, kernel, shape, params })
    }

    fn check_shape(&mut self, kernel: &str, shape: Shape) -> Result {
        let Shape { grid, block, shared } = shape;
        let is_in = |size: [u32; 3], most| size.iter().zip(most).all(|(n, most)| (1..=most).contains(n));
        let is_block = is_in(block, MAX_BLOCK) && block.iter().product::<u32>() <= MAX_THREADS;
        let is_grid = is_in(grid, MAX_GRID);
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
        // An SM may have room for more threads than a block may have.
        if shape.block.iter().try_fold(1u32, |all, n| all.checked_mul(*n)).is_none_or(|all| all > MAX_THREADS) {
            return Ok((0, 0));
        }
        let found = self.device.residency(module, &kernel, shape, self.guest.properties()).ok();
        let found = found.or_else(|| self.decoded_residency(module, &kernel, shape));
        Ok(found.map_or((0, 0), |found| (found.registers, found.ctas)))
    }

    /// Blocks that an SM holds, under the reference interpreter: it keeps no decoded kernels, so one is decoded here.
    fn decoded_residency(&self, module: ModuleId, kernel: &str, shape: Shape) -> Option<Residency> {
        let file = self.device.module_file(module).ok()?;
        let image = Image::load(file.module.clone(), &mut DeviceMemory::new()).ok()?;
        let program = Program::new(&image, &image.kernel(kernel).ok()?).ok()?;
        let Shape { grid, block, shared } = shape;
        let launch = Launch { grid, block, dynamic_shared: shared, ..Launch::default() };
        Residency::new(self.guest.properties(), &program, &launch, None).ok()
    }
}

impl Context {
    /// Bytes of shared memory that are left for a kernel at most.
    fn most_dynamic_shared(&mut self, function: Pointer) -> Result<i32> {
        let (module, kernel) = self.kernel(function)?;
        let most = self.guest.properties().sm.shared_bytes;
        let layout = self.device.layout(module, &kernel).map_err(|_| Error::INVALID_FUNCTION)?;
        Ok(most.saturating_sub(layout.static_shared) as i32)
    }

    /// A launch of as many blocks as there are.
    fn launched(&mut self, function: Pointer, size: [Dim3; 2], args: In<Pointer>, shared: Size) -> Result<Operation> {
        let [grid, block] = size.map(Dim3::list);
        self.kernel_operation(function, Shape { grid, block, shared: shared.narrow()? }, args)
    }

    /// A cooperative launch, all of whose blocks have to be on the device at once.
    fn launched_together(
        &mut self,
        function: Pointer,
        size: [Dim3; 2],
        args: In<Pointer>,
        shared: Size,
    ) -> Result<Operation> {
        let [grid, block] = size.map(Dim3::list);
        let shape = Shape { grid, block, shared: shared.narrow()? };
        let (_, kernel) = self.kernel(function)?;
        self.check_shape(&kernel, shape)?;
        let (_, blocks) = self.residency(function, shape)?;
        let room = u64::from(blocks) * u64::from(self.guest.properties().gpu.sms);
        let wanted: u64 = grid.iter().map(|n| u64::from(*n)).product();
        if wanted > room {
            self.guest.note(&format!(
                "a cooperative launch of {wanted} blocks: the machine holds {room} at once (more with --set gpu.sms=N)"
            ));
            return Err(Error::COOPERATIVE_TOO_LARGE);
        }
        self.launched(function, size, args, shared)
    }
}

enqueued! {
    fn cudaLaunchKernel / cudaLaunchKernel_ptsz(
        function: Pointer, grid: Dim3, block: Dim3, args: In<Pointer>, shared: Size, stream: Pointer,
    ) on stream => |context| context.launched(function, [grid, block], args, shared);

    fn cudaLaunchCooperativeKernel / cudaLaunchCooperativeKernel_ptsz(
        function: Pointer, grid: Dim3, block: Dim3, args: In<Pointer>, shared: Size, stream: Pointer,
    ) on stream => |context| context.launched_together(function, [grid, block], args, shared);
}

/// How a launch is made, with attributes that change nothing here.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct LaunchConfig {
    grid: Dim3,
    block: Dim3,
    shared: Size,
    stream: Pointer,
    attributes: Pointer,
    count: u32,
}

fn launch_with(
    config: In<LaunchConfig>,
    function: Pointer,
    args: In<Pointer>,
    stream: impl FnOnce(Pointer) -> Pointer,
) -> Code {
    match config.get() {
        Ok(LaunchConfig { grid, block, shared, stream: own, .. }) => {
            on_stream(stream(own), |context| context.launched(function, [grid, block], args, shared))
        }
        Err(error) => crate::context::remember(Err(error)),
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaLaunchKernelExC(config: In<LaunchConfig>, function: Pointer, args: In<Pointer>) -> Code {
    launch_with(config, function, args, |stream| stream)
}

#[unsafe(no_mangle)]
extern "C" fn cudaLaunchKernelExC_ptsz(config: In<LaunchConfig>, function: Pointer, args: In<Pointer>) -> Code {
    launch_with(config, function, args, per_thread)
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
        let max_dynamic_shared = context.most_dynamic_shared(function)?;
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
            max_dynamic_shared,
            ..FunctionAttributes::default()
        })
    })
}

/// Attributes that programs set: the most dynamic shared memory, and the preferred part of it in percent.
const DYNAMIC_SHARED: i32 = 8;
const CARVE_OUT: i32 = 9;

/// The values that an attribute can have, where `most` bytes are left for dynamic shared memory. Others, such as those of
/// clusters, the device does not have.
fn settable(attribute: i32, most: i32) -> Option<RangeInclusive<i32>> {
    match attribute {
        DYNAMIC_SHARED => Some(0..=most),
        // -1 leaves it to the driver.
        CARVE_OUT => Some(-1..=100),
        _ => None,
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaFuncSetAttribute(function: Pointer, attribute: i32, value: i32) -> Code {
    api(|context| {
        let most = context.most_dynamic_shared(function)?;
        let allowed = settable(attribute, most).ok_or(Error::INVALID_VALUE)?;
        if allowed.contains(&value) {
            return Ok(());
        }
        if attribute == DYNAMIC_SHARED && value > most {
            context.guest.note(&format!(
                "cudaFuncSetAttribute: {value} bytes of shared memory, and {most} are left for the kernel (more with \
                 --set sm.shared_bytes=N)"
            ));
        }
        Err(Error::INVALID_VALUE)
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
    shared: Size,
) -> Code {
    api(|context| {
        let threads = u32::try_from(threads).ok().filter(|n| *n > 0).ok_or(Error::INVALID_VALUE)?;
        // No block has room for more than can be said.
        let shared = shared.narrow().unwrap_or(u32::MAX);
        let shape = Shape { grid: [1; 3], block: [threads, 1, 1], shared };
        blocks.put(context.residency(function, shape)?.1 as i32)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: Out<i32>,
    function: Pointer,
    threads: i32,
    shared: Size,
    flags: u32,
) -> Code {
    /// No caching of global loads in L1 where that would take occupancy, which it does not here.
    const DISABLE_CACHING_OVERRIDE: u32 = 1;
    if let Err(error) = check_flags(flags, DISABLE_CACHING_OVERRIDE) {
        return crate::context::remember(Err(error));
    }
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
