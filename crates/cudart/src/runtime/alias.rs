//! The same functions under other names: old ones, and those that newer compilers call.

use super::device::{cudaDeviceGetCacheConfig, cudaDeviceGetLimit, cudaDeviceSetLimit};
use super::function::{cudaLaunchKernel, cudaLaunchKernel_ptsz};
use crate::abi::{Dim3, In, Out, Pointer, Size};
use crate::error::Code;
use crate::names::{alias, nothing};

alias! {
    cudaThreadSetLimit = cudaDeviceSetLimit(limit: i32, value: Size);
    cudaThreadGetLimit = cudaDeviceGetLimit(value: Out<Size>, limit: i32);
    cudaThreadGetCacheConfig = cudaDeviceGetCacheConfig(config: Out<i32>);
    __cudaLaunchKernel = cudaLaunchKernel(function: Pointer, grid: Dim3, block: Dim3, args: In<Pointer>, shared: Size, stream: Pointer);
    __cudaLaunchKernel_ptsz = cudaLaunchKernel_ptsz(function: Pointer, grid: Dim3, block: Dim3, args: In<Pointer>, shared: Size, stream: Pointer);
}

nothing! {
    cudaMemAdvise_v2 cudaCtxResetPersistingL2Cache
    cudaInitDevice cudaDeviceGraphMemTrim cudaThreadSetCacheConfig cudaSetDoubleForDevice
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
