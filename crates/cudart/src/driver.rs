//! The driver's interface, `libcuda.so`, as far as programs that use the runtime need it and as far as programs load
//! modules by themselves. Its errors have the numbers of the runtime's.

use crate::abi::{HostFunction, In, Name, Out, Pointer, Text};
use crate::context::{api, api_launch};
use crate::error::{Code, Error, describe_driver};
use crate::names::{alias, nothing};
use crate::runtime::copy::{cudaMemcpy, cudaMemcpyAsync, cudaMemset};
use crate::runtime::device::{
    cudaDeviceCanAccessPeer, cudaDeviceGetAttribute, cudaDeviceGetLimit, cudaDeviceGetPCIBusId,
};
use crate::runtime::graph::Step;
use crate::runtime::memory::{
    cudaFree, cudaFreeAsync, cudaFreeHost, cudaMalloc, cudaMallocAsync, cudaMallocHost, cudaMallocManaged,
};
use crate::runtime::memory::{
    cudaHostAlloc, cudaHostGetDevicePointer, cudaHostRegister, cudaHostUnregister, cudaMallocPitch, cudaMemGetInfo,
};
use crate::runtime::stream::{
    cudaDeviceGetStreamPriorityRange, cudaLaunchHostFunc, cudaStreamCreate, cudaStreamCreateWithPriority,
};
use crate::runtime::stream::{cudaEventCreateWithFlags, cudaEventDestroy, cudaEventElapsedTime, cudaEventRecord};
use crate::runtime::stream::{cudaStreamDestroy, cudaStreamSynchronize};
use raddle_cuda::fat_binary;
use raddle_exec::memory::MAX_DEVICE_BYTES;
use raddle_ptx::ir::Space;
use raddle_runtime::device::Shape;

/// The context of the one device.
const CONTEXT: Pointer = Pointer(0x20);
/// Directions of copies.
const DEFAULT: i32 = 4;

alias! {
    cuMemAlloc = cudaMalloc(out: Out<Pointer>, bytes: usize);
    cuMemAlloc_v2 = cudaMalloc(out: Out<Pointer>, bytes: usize);
    cuMemFree = cudaFree(at: Pointer);
    cuMemFree_v2 = cudaFree(at: Pointer);
    cuMemAllocHost = cudaMallocHost(out: Out<Pointer>, bytes: usize);
    cuMemAllocHost_v2 = cudaMallocHost(out: Out<Pointer>, bytes: usize);
    cuMemFreeHost = cudaFreeHost(at: Pointer);
    cuMemAllocManaged = cudaMallocManaged(out: Out<Pointer>, bytes: usize, flags: u32);
    cuMemGetInfo = cudaMemGetInfo(free: Out<usize>, total: Out<usize>);
    cuMemGetInfo_v2 = cudaMemGetInfo(free: Out<usize>, total: Out<usize>);
    cuStreamDestroy = cudaStreamDestroy(stream: Pointer);
    cuStreamDestroy_v2 = cudaStreamDestroy(stream: Pointer);
    cuStreamSynchronize = cudaStreamSynchronize(stream: Pointer);
    cuEventCreate = cudaEventCreateWithFlags(out: Out<Pointer>, flags: u32);
    cuEventDestroy = cudaEventDestroy(event: Pointer);
    cuEventDestroy_v2 = cudaEventDestroy(event: Pointer);
    cuEventRecord = cudaEventRecord(event: Pointer, stream: Pointer);
    cuEventElapsedTime = cudaEventElapsedTime(out: Out<f32>, start: Pointer, end: Pointer);
    cuStreamCreateWithPriority = cudaStreamCreateWithPriority(out: Out<Pointer>, flags: u32, priority: i32);
    cuLaunchHostFunc = cudaLaunchHostFunc(stream: Pointer, function: HostFunction, data: Pointer);
    cuMemAllocAsync = cudaMallocAsync(out: Out<Pointer>, bytes: usize, stream: Pointer);
    cuMemFreeAsync = cudaFreeAsync(at: Pointer, stream: Pointer);
    cuMemAllocPitch_v2 = cudaMallocPitch(out: Out<Pointer>, pitch: Out<usize>, width: usize, height: usize);
    cuMemHostAlloc = cudaHostAlloc(out: Out<Pointer>, bytes: usize, flags: u32);
    cuMemHostRegister_v2 = cudaHostRegister(at: Pointer, bytes: usize, flags: u32);
    cuMemHostUnregister = cudaHostUnregister(at: Pointer);
    cuMemHostGetDevicePointer_v2 = cudaHostGetDevicePointer(out: Out<Pointer>, at: Pointer, flags: u32);
    cuCtxGetLimit = cudaDeviceGetLimit(value: Out<usize>, limit: i32);
    cuCtxGetStreamPriorityRange = cudaDeviceGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>);
    cuDeviceCanAccessPeer = cudaDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32);
    cuDeviceGetPCIBusId = cudaDeviceGetPCIBusId(out: Out<[u8; 13]>, length: i32, device: i32);
    cuMemcpyDtoDAsync_v2 = cuMemcpyAsync(to: Pointer, from: Pointer, bytes: usize, stream: Pointer);
    cuMemcpyHtoDAsync_v2 = cuMemcpyAsync(to: Pointer, from: Pointer, bytes: usize, stream: Pointer);
    cuMemcpyDtoHAsync_v2 = cuMemcpyAsync(to: Pointer, from: Pointer, bytes: usize, stream: Pointer);
    cuMemcpyHtoD_v2 = cuMemcpy(to: Pointer, from: Pointer, bytes: usize);
    cuMemcpyDtoH_v2 = cuMemcpy(to: Pointer, from: Pointer, bytes: usize);
    cuMemcpyDtoD_v2 = cuMemcpy(to: Pointer, from: Pointer, bytes: usize);
    cuMemsetD8Async = cuMemsetD8_v2(at: Pointer, value: u8, count: usize);
    cuMemsetD32Async = cuMemsetD32_v2(at: Pointer, value: u32, count: usize);
    cuModuleLoadFatBinary = cuModuleLoadData(module: Out<Pointer>, data: Pointer);
    cuDeviceGetAttribute = cudaDeviceGetAttribute(value: Out<i32>, number: i32, device: i32);
}

nothing! {
    cuInit cuCtxSynchronize cuCtxDestroy cuCtxDestroy_v2 cuCtxSetCurrent cuCtxPushCurrent cuCtxPushCurrent_v2
    cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset cuModuleUnload cuCtxSetLimit
    cuCtxSetCacheConfig cuFuncSetCacheConfig cuFuncSetAttribute cuEventSynchronize cuEventQuery cuStreamWaitEvent
    cuStreamQuery cuProfilerStart cuProfilerStop cuCtxSetSharedMemConfig cuFuncSetSharedMemConfig
    cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxSetFlags_v2
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamCreate(out: Out<Pointer>, _flags: u32) -> Code {
    cudaStreamCreate(out)
}

#[unsafe(no_mangle)]
extern "C" fn cuDriverGetVersion(version: Out<i32>) -> Code {
    api(|_| version.put(12030))
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGet(device: Out<i32>, number: i32) -> Code {
    api(|_| if number == 0 { device.put(0) } else { Err(Error::INVALID_DEVICE) })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetCount(count: Out<i32>) -> Code {
    api(|_| count.put(1))
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetName(name: Out<[u8; 7]>, length: i32, _device: i32) -> Code {
    api(|_| if length < 7 { Err(Error::INVALID_VALUE) } else { name.put(*b"Raddle\0") })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceTotalMem_v2(bytes: Out<usize>, _device: i32) -> Code {
    api(|_| bytes.put(MAX_DEVICE_BYTES as usize))
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceTotalMem(bytes: Out<usize>, device: i32) -> Code {
    cuDeviceTotalMem_v2(bytes, device)
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, _device: i32) -> Code {
    api(|_| {
        major.put(7)?;
        minor.put(0)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxCreate_v2(context: Out<Pointer>, _flags: u32, _device: i32) -> Code {
    api(|_| context.put(CONTEXT))
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxCreate(context: Out<Pointer>, flags: u32, device: i32) -> Code {
    cuCtxCreate_v2(context, flags, device)
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRetain(context: Out<Pointer>, _device: i32) -> Code {
    api(|_| context.put(CONTEXT))
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxGetCurrent(context: Out<Pointer>) -> Code {
    api(|_| context.put(CONTEXT))
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxPopCurrent_v2(context: Out<Pointer>) -> Code {
    api(|_| {
        context.put_if_wanted(CONTEXT);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxGetDevice(device: Out<i32>) -> Code {
    api(|_| device.put(0))
}

#[unsafe(no_mangle)]
extern "C" fn cuGetErrorString(code: Code, text: Out<Text>) -> Code {
    described(code, text, |error| error.1)
}

#[unsafe(no_mangle)]
extern "C" fn cuGetErrorName(code: Code, text: Out<Text>) -> Code {
    described(code, text, |error| error.0)
}

/// These two work after a fault too.
fn described(code: Code, text: Out<Text>, part: fn((&'static str, &'static str)) -> &'static str) -> Code {
    let found = describe_driver(code).ok_or(Error::INVALID_VALUE);
    found.and_then(|error| text.put(part(error).into())).map_or_else(|error| error.0, |()| 0)
}

/// The text of a module in memory: PTX, or a fat binary.
fn image(data: Pointer) -> Result<String, Error> {
    // SAFETY: an image has at least a header, or is a text that ends in a zero.
    let start = unsafe { data.host(4) };
    if start == 0xBA55_ED50u32.to_le_bytes() {
        // SAFETY: a fat binary has a header, which says how long it is.
        let length =
            fat_binary::length(unsafe { data.host(fat_binary::HEADER_BYTES) }).map_err(|_| Error::INVALID_IMAGE)?;
        // SAFETY: as above.
        return fat_binary::ptx(unsafe { data.host(length) }).map_err(|_| Error::NO_IMAGE);
    }
    Name::at(data).text()
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleLoadData(module: Out<Pointer>, data: Pointer) -> Code {
    api(|context| {
        let text = image(data)?;
        let loaded = context.load(text)?;
        module.put(context.keep_module(loaded))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleLoadDataEx(module: Out<Pointer>, data: Pointer) -> Code {
    cuModuleLoadData(module, data)
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleLoad(module: Out<Pointer>, path: Name) -> Code {
    api(|context| {
        let path = path.text()?;
        let bytes = std::fs::read(&path).map_err(|_| Error(301))?;
        let text = match fat_binary::ptx(&bytes) {
            Ok(text) => text,
            Err(_) => String::from_utf8_lossy(&bytes).into_owned(),
        };
        let loaded = context.load(text)?;
        module.put(context.keep_module(loaded))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleGetFunction(function: Out<Pointer>, module: Pointer, name: Name) -> Code {
    api(|context| {
        let name = name.text()?;
        let module = context.kept_module(module)?;
        context.device.layout(module, &name).map_err(|_| Error::NOT_FOUND)?;
        function.put(context.keep_function(module, name))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleGetGlobal_v2(at: Out<Pointer>, bytes: Out<usize>, module: Pointer, name: Name) -> Code {
    api(|context| {
        let module = context.kept_module(module)?;
        let place = context.device.place(module, &name.text()?).map_err(|_| Error::NOT_FOUND)?;
        let window = if place.space == Space::Const { raddle_exec::memory::CONST_WINDOW } else { 0 };
        at.put_if_wanted(Pointer(window + place.at));
        bytes.put_if_wanted(place.size as usize);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpy(to: Pointer, from: Pointer, bytes: usize) -> Code {
    cudaMemcpy(to, from, bytes, DEFAULT)
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyAsync(to: Pointer, from: Pointer, bytes: usize, stream: Pointer) -> Code {
    cudaMemcpyAsync(to, from, bytes, DEFAULT, stream)
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD8_v2(at: Pointer, value: u8, count: usize) -> Code {
    cudaMemset(at, i32::from(value), count)
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD32_v2(at: Pointer, value: u32, count: usize) -> Code {
    api(|context| {
        let bytes: Vec<u8> = std::iter::repeat_n(value.to_le_bytes(), count).flatten().collect();
        let memory = context.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
        memory.write(at.0, &bytes).map_err(|_| Error::INVALID_VALUE)
    })
}

/// Words of the list in which parameters can be handed over as one block of bytes.
const BUFFER_POINTER: u64 = 1;
const BUFFER_SIZE: u64 = 2;

/// The parameters in such a list.
fn packed(extra: In<Pointer>) -> Result<Vec<u8>, Error> {
    let (mut at, mut size) = (Pointer::NULL, 0);
    for number in (0..6).step_by(2) {
        match extra.at(number)?.0 {
            0 => break,
            BUFFER_POINTER => at = extra.at(number + 1)?,
            BUFFER_SIZE => {
                // SAFETY: behind this word is the address of a size.
                let bytes = unsafe { extra.at(number + 1)?.host(size_of::<usize>()) };
                size = bytes.iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte));
            }
            _ => return Err(Error::INVALID_VALUE),
        }
    }
    // SAFETY: the program says that so many bytes are there.
    Ok(unsafe { at.host(size) }.to_vec())
}

#[unsafe(no_mangle)]
extern "C" fn cuLaunchKernel(
    function: Pointer,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared: u32,
    stream: Pointer,
    args: In<Pointer>,
    extra: In<Pointer>,
) -> Code {
    api_launch(|context| {
        let shape = Shape { grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], shared };
        let step = if args.is_null() && !extra.is_null() {
            let (module, kernel) = context.kernel(function)?;
            let mut params = packed(extra)?;
            let bytes = context.device.layout(module, &kernel).map_err(|_| Error::INVALID_FUNCTION)?.param_bytes;
            params.resize(bytes as usize, 0);
            Step::Kernel { module, kernel, shape, params }
        } else {
            context.kernel_step(function, shape, args)?
        };
        context.submit(stream, step)
    })
}
