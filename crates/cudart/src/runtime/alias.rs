//! The same functions under other names: those of programs compiled for a default stream per thread (`_ptds`, `_ptsz`),
//! and those that newer compilers call.

use super::copy::{
    Copy3D, cudaMemcpy, cudaMemcpy2D, cudaMemcpy2DAsync, cudaMemcpy3D, cudaMemcpy3DAsync, cudaMemcpyAsync,
};
use super::copy::{cudaMemcpy2DFromArray, cudaMemcpy2DToArray, cudaMemcpyFromArray, cudaMemcpyToArray};
use super::copy::{cudaMemset, cudaMemset2D, cudaMemset2DAsync, cudaMemsetAsync};
use super::device::{cudaDeviceGetCacheConfig, cudaDeviceGetLimit};
use super::function::{cudaLaunchCooperativeKernel, cudaLaunchKernel};
use super::graph::{cudaGraphLaunch, cudaStreamBeginCapture, cudaStreamEndCapture, cudaStreamIsCapturing};
use super::memory::{cudaFreeAsync, cudaMallocAsync, cudaMemPrefetchAsync};
use super::stream::{cudaEventRecord, cudaLaunchHostFunc, cudaStreamQuery, cudaStreamSynchronize, cudaStreamWaitEvent};
use super::symbol::{cudaMemcpyFromSymbol, cudaMemcpyFromSymbolAsync, cudaMemcpyToSymbol, cudaMemcpyToSymbolAsync};
use crate::abi::{Dim3, HostFunction, In, Out, Pointer};
use crate::error::Code;
use crate::names::{alias, nothing};

alias! {
    cudaMemcpy_ptds = cudaMemcpy(to: Pointer, from: Pointer, bytes: usize, direction: i32);
    cudaMemcpyAsync_ptsz = cudaMemcpyAsync(to: Pointer, from: Pointer, bytes: usize, direction: i32, stream: Pointer);
    cudaMemcpy2D_ptds = cudaMemcpy2D(to: Pointer, a: usize, from: Pointer, b: usize, w: usize, h: usize, direction: i32);
    cudaMemcpy2DAsync_ptsz = cudaMemcpy2DAsync(to: Pointer, a: usize, from: Pointer, b: usize, w: usize, h: usize, direction: i32, stream: Pointer);
    cudaMemcpy3D_ptds = cudaMemcpy3D(what: In<Copy3D>);
    cudaMemcpy3DAsync_ptsz = cudaMemcpy3DAsync(what: In<Copy3D>, stream: Pointer);
    cudaMemset_ptds = cudaMemset(at: Pointer, value: i32, bytes: usize);
    cudaMemsetAsync_ptsz = cudaMemsetAsync(at: Pointer, value: i32, bytes: usize, stream: Pointer);
    cudaMemset2D_ptds = cudaMemset2D(at: Pointer, pitch: usize, value: i32, width: usize, height: usize);
    cudaMemset2DAsync_ptsz = cudaMemset2DAsync(at: Pointer, pitch: usize, value: i32, width: usize, height: usize, stream: Pointer);
    cudaMemcpyToSymbol_ptds = cudaMemcpyToSymbol(symbol: Pointer, from: Pointer, bytes: usize, offset: usize, direction: i32);
    cudaMemcpyToSymbolAsync_ptsz = cudaMemcpyToSymbolAsync(symbol: Pointer, from: Pointer, bytes: usize, offset: usize, direction: i32, stream: Pointer);
    cudaMemcpyFromSymbol_ptds = cudaMemcpyFromSymbol(to: Pointer, symbol: Pointer, bytes: usize, offset: usize, direction: i32);
    cudaMemcpyFromSymbolAsync_ptsz = cudaMemcpyFromSymbolAsync(to: Pointer, symbol: Pointer, bytes: usize, offset: usize, direction: i32, stream: Pointer);
    cudaMallocAsync_ptsz = cudaMallocAsync(out: Out<Pointer>, bytes: usize, stream: Pointer);
    cudaFreeAsync_ptsz = cudaFreeAsync(at: Pointer, stream: Pointer);
    cudaMemPrefetchAsync_ptsz = cudaMemPrefetchAsync(at: Pointer, bytes: usize, device: i32, stream: Pointer);
    cudaStreamSynchronize_ptsz = cudaStreamSynchronize(stream: Pointer);
    cudaStreamQuery_ptsz = cudaStreamQuery(stream: Pointer);
    cudaStreamWaitEvent_ptsz = cudaStreamWaitEvent(stream: Pointer, event: Pointer, flags: u32);
    cudaEventRecord_ptsz = cudaEventRecord(event: Pointer, stream: Pointer);
    cudaLaunchHostFunc_ptsz = cudaLaunchHostFunc(stream: Pointer, function: HostFunction, data: Pointer);
    cudaStreamBeginCapture_ptsz = cudaStreamBeginCapture(stream: Pointer, mode: i32);
    cudaStreamEndCapture_ptsz = cudaStreamEndCapture(stream: Pointer, graph: Out<Pointer>);
    cudaStreamIsCapturing_ptsz = cudaStreamIsCapturing(stream: Pointer, status: Out<i32>);
    cudaGraphLaunch_ptsz = cudaGraphLaunch(exec: Pointer, stream: Pointer);
    cudaLaunchKernel_ptsz = cudaLaunchKernel(function: Pointer, grid: Dim3, block: Dim3, args: In<Pointer>, shared: usize, stream: Pointer);
    cudaLaunchCooperativeKernel_ptsz = cudaLaunchCooperativeKernel(function: Pointer, grid: Dim3, block: Dim3, args: In<Pointer>, shared: usize, stream: Pointer);
    cudaMemcpy2DToArrayAsync = cudaMemcpy2DToArray(array: Pointer, x: usize, y: usize, from: Pointer, pitch: usize, width: usize, height: usize, direction: i32);
    cudaMemcpy2DFromArrayAsync = cudaMemcpy2DFromArray(to: Pointer, pitch: usize, array: Pointer, x: usize, y: usize, width: usize, height: usize, direction: i32);
    cudaMemcpyToArrayAsync = cudaMemcpyToArray(array: Pointer, x: usize, y: usize, from: Pointer, bytes: usize, direction: i32);
    cudaMemcpyFromArrayAsync = cudaMemcpyFromArray(to: Pointer, array: Pointer, x: usize, y: usize, bytes: usize, direction: i32);
    cudaThreadGetLimit = cudaDeviceGetLimit(value: Out<usize>, limit: i32);
    cudaThreadGetCacheConfig = cudaDeviceGetCacheConfig(config: Out<i32>);
    __cudaLaunchKernel = cudaLaunchKernel(function: Pointer, grid: Dim3, block: Dim3, args: In<Pointer>, shared: usize, stream: Pointer);
    __cudaLaunchKernel_ptsz = cudaLaunchKernel(function: Pointer, grid: Dim3, block: Dim3, args: In<Pointer>, shared: usize, stream: Pointer);
}

nothing! {
    cudaMemPrefetchAsync_v2 cudaMemAdvise_v2 cudaStreamSetAttribute cudaStreamCopyAttributes cudaCtxResetPersistingL2Cache
    cudaInitDevice cudaDeviceGraphMemTrim cudaThreadSetCacheConfig cudaThreadSetLimit cudaSetDoubleForDevice
    cudaSetDoubleForHost
}

/// A kernel's handle is the address that stands for it.
#[unsafe(no_mangle)]
extern "C" fn __cudaGetKernel(kernel: Out<Pointer>, host: Pointer) -> Code {
    crate::context::remember(kernel.put(host))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetFuncBySymbol(function: Out<Pointer>, host: Pointer) -> Code {
    __cudaGetKernel(function, host)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetKernel(kernel: Out<Pointer>, host: Pointer) -> Code {
    __cudaGetKernel(kernel, host)
}

/// Modules are loaded at first use.
#[unsafe(no_mangle)]
extern "C" fn __cudaInitModule(_handle: Pointer) -> i8 {
    1
}
