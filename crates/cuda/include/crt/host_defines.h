/* The words CUDA C++ adds to the language, as attributes of clang.
 *
 * clang defines __CUDA__ where it compiles CUDA. Other compilers, and clang for plain C and C++, get empty words, so
 * that headers with functions for both sides can be read by them. */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#define CUDARTAPI
#define CUDART_CB

#define __annotate__(a) __attribute__((a))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __no_return__ __attribute__((noreturn))
#define __inline_hint__
#define __grid_constant__
#define __maxnreg__(n)
#define __block_size__(...)
#define __cluster_dims__(...)
#define __nv_pure__
#define __cudart_builtin__
#define __device_builtin__
#define CUDA_DEPRECATED
#define __CUDA_DEPRECATED

#if defined(__CUDA__)
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 3
#define __CUDACC_VER_BUILD__ 107
#define __location__(a) __annotate__(a)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __device_builtin_texture_type__ __attribute__((device_builtin_texture_type))
#define __device_builtin_surface_type__ __attribute__((device_builtin_surface_type))
/* A managed variable is a device variable whose host copy lies in a section of its own: the runtime finds it there. */
#define __managed__ __attribute__((device)) __attribute__((section("raddle_managed")))
#else
#define __location__(a)
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#endif

#endif
