//! The driver's interface, `libcuda.so`, as far as programs that use the runtime need it and as far as programs load
//! modules by themselves. Its errors have the numbers of the runtime's.

use crate::abi::{HostFunction, In, Name, Out, Pointer, Size, Text};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result, describe_driver};
use crate::mappings::all_accessible;
use crate::names::{alias, nothing};
use crate::runtime::copy::{BY_ADDRESS, line};
use crate::runtime::device::{
    cudaDeviceCanAccessPeer, cudaDeviceGetAttribute, cudaDeviceGetLimit, cudaDeviceGetPCIBusId, cudaDeviceSetLimit,
};
use crate::runtime::memory::{
    cudaFree, cudaFreeAsync, cudaFreeHost, cudaMalloc, cudaMallocAsync, cudaMallocHost, cudaMallocManaged,
};
use crate::runtime::memory::{
    cudaHostAlloc, cudaHostGetDevicePointer, cudaHostRegister, cudaHostUnregister, cudaMallocPitch, cudaMemGetInfo,
};
use crate::runtime::stream::api::{
    cudaDeviceGetStreamPriorityRange, cudaLaunchHostFunc, cudaStreamCreateWithFlags, cudaStreamCreateWithPriority,
    cudaStreamDestroy, cudaStreamQuery, cudaStreamSynchronize,
};
use crate::runtime::stream::copy::{Fill, Rows};
use crate::runtime::stream::event::{
    cudaEventCreateWithFlags, cudaEventDestroy, cudaEventElapsedTime, cudaEventQuery, cudaEventRecord,
    cudaEventSynchronize, cudaStreamWaitEvent,
};
use crate::runtime::stream::{DEFAULT, Operation, enqueued};
use raddle_cuda::fat_binary;
use raddle_exec::memory::MAX_DEVICE_BYTES;
use raddle_runtime::device::Shape;

/// The context of the one device.
const CONTEXT: Pointer = Pointer(0x20);

alias! {
    cuMemAlloc = cudaMalloc(out: Out<Pointer>, bytes: Size);
    cuMemAlloc_v2 = cudaMalloc(out: Out<Pointer>, bytes: Size);
    cuMemFree = cudaFree(at: Pointer);
    cuMemFree_v2 = cudaFree(at: Pointer);
    cuMemAllocHost = cudaMallocHost(out: Out<Pointer>, bytes: Size);
    cuMemAllocHost_v2 = cudaMallocHost(out: Out<Pointer>, bytes: Size);
    cuMemFreeHost = cudaFreeHost(at: Pointer);
    cuMemAllocManaged = cudaMallocManaged(out: Out<Pointer>, bytes: Size, flags: u32);
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
    cuMemAllocAsync = cudaMallocAsync(out: Out<Pointer>, bytes: Size, stream: Pointer);
    cuMemFreeAsync = cudaFreeAsync(at: Pointer, stream: Pointer);
    cuMemAllocPitch_v2 = cudaMallocPitch(out: Out<Pointer>, pitch: Out<Size>, width: Size, height: Size);
    cuMemHostAlloc = cudaHostAlloc(out: Out<Pointer>, bytes: Size, flags: u32);
    cuMemHostRegister_v2 = cudaHostRegister(at: Pointer, bytes: Size, flags: u32);
    cuMemHostUnregister = cudaHostUnregister(at: Pointer);
    cuMemHostGetDevicePointer_v2 = cudaHostGetDevicePointer(out: Out<Pointer>, at: Pointer, flags: u32);
    cuCtxGetLimit = cudaDeviceGetLimit(value: Out<Size>, limit: i32);
    cuCtxSetLimit = cudaDeviceSetLimit(limit: i32, value: Size);
    cuCtxGetStreamPriorityRange = cudaDeviceGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>);
    cuDeviceCanAccessPeer = cudaDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32);
    cuDeviceGetPCIBusId = cudaDeviceGetPCIBusId(out: Out<[u8; 13]>, length: i32, device: i32);
    cuStreamCreate = cudaStreamCreateWithFlags(out: Out<Pointer>, flags: u32);
    cuStreamQuery = cudaStreamQuery(stream: Pointer);
    cuStreamWaitEvent = cudaStreamWaitEvent(stream: Pointer, event: Pointer, flags: u32);
    cuEventQuery = cudaEventQuery(event: Pointer);
    cuEventSynchronize = cudaEventSynchronize(event: Pointer);
    cuModuleLoadFatBinary = cuModuleLoadData(module: Out<Pointer>, data: Pointer);
    cuDeviceGetAttribute = cudaDeviceGetAttribute(value: Out<i32>, number: i32, device: i32);
}

nothing! {
    cuInit cuCtxSynchronize cuCtxDestroy cuCtxDestroy_v2 cuCtxSetCurrent cuCtxPushCurrent cuCtxPushCurrent_v2
    cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset cuCtxSetCacheConfig cuFuncSetCacheConfig cuFuncSetAttribute
    cuProfilerStart cuProfilerStop cuCtxSetSharedMemConfig cuFuncSetSharedMemConfig
    cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxSetFlags_v2
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
fn image(data: Pointer) -> Result<String> {
    let header = is_fat_binary(data).then(|| there(data, Size::new(fat_binary::HEADER_BYTES)));
    let Some(header) = header else { return Name::at(data).text() };
    let length = fat_binary::length(&header?).map_err(|_| Error::INVALID_IMAGE)?;
    fat_binary::ptx(&there(data, Size::new(length))?).map_err(|_| Error::NO_IMAGE)
}

/// Whether an image begins like a fat binary. A text may end before.
fn is_fat_binary(data: Pointer) -> bool {
    let magic = 0xBA55_ED50u32.to_le_bytes();
    // SAFETY: what is not null has at least a header, or is a text that ends in a zero: no byte after one is read.
    data != Pointer::NULL && (0..4).all(|at| unsafe { data.add(at).bytes().read() } == magic[at as usize])
}

/// Bytes of the program that may not be there.
fn there(at: Pointer, bytes: Size) -> Result<Vec<u8>> {
    match all_accessible(&at.range(bytes).or(Err(Error::INVALID_IMAGE))?, false) {
        // SAFETY: all of these bytes can be read.
        true => unsafe { at.read(bytes.get()) },
        false => Err(Error::INVALID_IMAGE),
    }
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleLoadData(module: Out<Pointer>, data: Pointer) -> Code {
    api(|context| {
        module.check()?;
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
        module.check()?;
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
extern "C" fn cuModuleUnload(module: Pointer) -> Code {
    api(|context| context.unload(module))
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
        let variable = context.named_variable(module, &name.text()?)?;
        context.tell_address(variable, at, bytes);
        Ok(())
    })
}

/// Copies whose direction is in the name all do what the addresses say.
fn copied(call: &'static str, to: Pointer, from: Pointer, bytes: Size) -> Result<Operation> {
    line(call, to, from, bytes, BY_ADDRESS)
}

/// Sets so many elements.
fn filled(call: &'static str, at: Pointer, value: u32, element: usize, count: Size) -> Result<Operation> {
    let rows = Rows::new(at, Size::ZERO);
    Fill::elements(call, rows, [count, Size::ONE], value, element).map(Operation::Fill)
}

enqueued! {
    fn cuMemcpy / cuMemcpy_ptds(to: Pointer, from: Pointer, bytes: Size) on DEFAULT =>
        |_| copied("cuMemcpy", to, from, bytes);
    fn cuMemcpyDtoD_v2 / cuMemcpyDtoD_v2_ptds(to: Pointer, from: Pointer, bytes: Size) on DEFAULT =>
        |_| copied("cuMemcpyDtoD", to, from, bytes);
    fn cuMemcpyHtoD_v2 / cuMemcpyHtoD_v2_ptds(to: Pointer, from: Pointer, bytes: Size) on DEFAULT =>
        |_| copied("cuMemcpyHtoD", to, from, bytes);
    fn cuMemcpyDtoH_v2 / cuMemcpyDtoH_v2_ptds(to: Pointer, from: Pointer, bytes: Size) on DEFAULT =>
        |_| copied("cuMemcpyDtoH", to, from, bytes);
    fn cuMemcpyAsync / cuMemcpyAsync_ptsz(to: Pointer, from: Pointer, bytes: Size, stream: Pointer) on stream =>
        |_| copied("cuMemcpyAsync", to, from, bytes);
    fn cuMemcpyDtoDAsync_v2 / cuMemcpyDtoDAsync_v2_ptsz(
        to: Pointer, from: Pointer, bytes: Size, stream: Pointer,
    ) on stream => |_| copied("cuMemcpyDtoDAsync", to, from, bytes);
    fn cuMemcpyHtoDAsync_v2 / cuMemcpyHtoDAsync_v2_ptsz(
        to: Pointer, from: Pointer, bytes: Size, stream: Pointer,
    ) on stream => |_| copied("cuMemcpyHtoDAsync", to, from, bytes);
    fn cuMemcpyDtoHAsync_v2 / cuMemcpyDtoHAsync_v2_ptsz(
        to: Pointer, from: Pointer, bytes: Size, stream: Pointer,
    ) on stream => |_| copied("cuMemcpyDtoHAsync", to, from, bytes);

    fn cuMemsetD8_v2 / cuMemsetD8_v2_ptds(at: Pointer, value: u8, count: Size) on DEFAULT =>
        |_| filled("cuMemsetD8", at, value.into(), 1, count);
    fn cuMemsetD16_v2 / cuMemsetD16_v2_ptds(at: Pointer, value: u16, count: Size) on DEFAULT =>
        |_| filled("cuMemsetD16", at, value.into(), 2, count);
    fn cuMemsetD32_v2 / cuMemsetD32_v2_ptds(at: Pointer, value: u32, count: Size) on DEFAULT =>
        |_| filled("cuMemsetD32", at, value, 4, count);
    fn cuMemsetD8Async / cuMemsetD8Async_ptsz(at: Pointer, value: u8, count: Size, stream: Pointer) on stream =>
        |_| filled("cuMemsetD8Async", at, value.into(), 1, count);
    fn cuMemsetD16Async / cuMemsetD16Async_ptsz(at: Pointer, value: u16, count: Size, stream: Pointer) on stream =>
        |_| filled("cuMemsetD16Async", at, value.into(), 2, count);
    fn cuMemsetD32Async / cuMemsetD32Async_ptsz(at: Pointer, value: u32, count: Size, stream: Pointer) on stream =>
        |_| filled("cuMemsetD32Async", at, value, 4, count);
}

/// Words of the list in which parameters can be handed over as one block of bytes.
const BUFFER_POINTER: u64 = 1;
const BUFFER_SIZE: u64 = 2;

/// The parameters in such a list; what is missing of them is zero.
fn packed(extra: In<Pointer>, wanted: usize) -> Result<Vec<u8>> {
    let (mut at, mut size) = (Pointer::NULL, Size::ZERO);
    for number in (0..6).step_by(2) {
        match extra.at(number)?.0 {
            0 => break,
            BUFFER_POINTER => at = extra.at(number + 1)?,
            BUFFER_SIZE => {
                size = In::from(extra.at(number + 1)?).get()?;
            }
            _ => return Err(Error::INVALID_VALUE),
        }
    }
    // SAFETY: the program says that so many bytes are there, or has not said where.
    let mut params = unsafe { at.read(size.get().min(wanted)) }?;
    params.resize(wanted, 0);
    Ok(params)
}

/// A launch whose parameters are listed, or are one block of bytes.
fn launched(
    context: &mut Context,
    function: Pointer,
    shape: Shape,
    args: In<Pointer>,
    extra: In<Pointer>,
) -> Result<Operation> {
    if !args.is_null() || extra.is_null() {
        return context.kernel_operation(function, shape, args);
    }
    let (module, kernel) = context.kernel(function)?;
    let layout = context.device.layout(module, &kernel).map_err(|_| Error::INVALID_FUNCTION)?;
    let params = packed(extra, layout.param_bytes as usize)?;
    Ok(Operation::Kernel { module, kernel, shape, params })
}

enqueued! {
    fn cuLaunchKernel / cuLaunchKernel_ptsz(
        function: Pointer, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32,
        stream: Pointer, args: In<Pointer>, extra: In<Pointer>,
    ) on stream => |context| {
        let shape = Shape { grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], shared };
        launched(context, function, shape, args, extra)
    };
}
