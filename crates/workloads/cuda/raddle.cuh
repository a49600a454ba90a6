// The part of CUDA C++ that the workloads use, on the builtins of clang and the functions of libclc.
//
// A workload includes nothing else. What is missing here is added here, not in a workload.
#pragma once

// Kernels keep their names.
#define __global__ extern "C" __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define RADDLE_FN static __device__ __forceinline__

#include <__clang_cuda_builtin_vars.h>

using size_t = decltype(sizeof(0));
using uint = unsigned int;
using uchar = unsigned char;
using ushort = unsigned short;
using ull = unsigned long long;
#define NULL 0

// ---- Vectors -------------------------------------------------------------------------------------------------------

#define RADDLE_VECTORS(T, NAME)                                                                                        \
    struct __attribute__((aligned(2 * sizeof(T)))) NAME##2 { T x, y; };                                                \
    struct NAME##3 { T x, y, z; };                                                                                     \
    struct __attribute__((aligned(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)))) NAME##4 { T x, y, z, w; };                \
    RADDLE_FN NAME##2 make_##NAME##2(T x, T y) { return NAME##2{x, y}; }                                               \
    RADDLE_FN NAME##3 make_##NAME##3(T x, T y, T z) { return NAME##3{x, y, z}; }                                       \
    RADDLE_FN NAME##4 make_##NAME##4(T x, T y, T z, T w) { return NAME##4{x, y, z, w}; }
RADDLE_VECTORS(char, char)
RADDLE_VECTORS(unsigned char, uchar)
RADDLE_VECTORS(short, short)
RADDLE_VECTORS(unsigned short, ushort)
RADDLE_VECTORS(int, int)
RADDLE_VECTORS(unsigned int, uint)
RADDLE_VECTORS(long long, longlong)
RADDLE_VECTORS(unsigned long long, ulonglong)
RADDLE_VECTORS(float, float)
RADDLE_VECTORS(double, double)
#undef RADDLE_VECTORS

// ---- Barriers and fences: clang knows __syncthreads() ------------------------------------------------------------

RADDLE_FN int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
RADDLE_FN int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
RADDLE_FN int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
RADDLE_FN void __threadfence() { __nvvm_membar_gl(); }
RADDLE_FN void __threadfence_block() { __nvvm_membar_cta(); }
RADDLE_FN void __threadfence_system() { __nvvm_membar_sys(); }

// ---- Warps: masks as in CUDA 9, for warps of 32 lanes --------------------------------------------------------------

#define warpSize 32
RADDLE_FN void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
RADDLE_FN int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p); }
RADDLE_FN int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p); }
RADDLE_FN unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }
RADDLE_FN unsigned __activemask() { return __nvvm_vote_ballot(1); }
RADDLE_FN int __shfl_sync(unsigned mask, int v, int lane, int width = 32) {
    return __nvvm_shfl_sync_idx_i32(mask, v, lane, ((32 - width) << 8) | 31);
}
RADDLE_FN int __shfl_up_sync(unsigned mask, int v, unsigned by, int width = 32) {
    return __nvvm_shfl_sync_up_i32(mask, v, by, (32 - width) << 8);
}
RADDLE_FN int __shfl_down_sync(unsigned mask, int v, unsigned by, int width = 32) {
    return __nvvm_shfl_sync_down_i32(mask, v, by, ((32 - width) << 8) | 31);
}
RADDLE_FN int __shfl_xor_sync(unsigned mask, int v, int lanes, int width = 32) {
    return __nvvm_shfl_sync_bfly_i32(mask, v, lanes, ((32 - width) << 8) | 31);
}
#define RADDLE_SHFL(T, NAME, BY)                                                                                       \
    RADDLE_FN T NAME(unsigned mask, T v, BY by, int width = 32) {                                                      \
        return __builtin_bit_cast(T, NAME(mask, __builtin_bit_cast(int, v), by, width));                               \
    }
RADDLE_SHFL(float, __shfl_sync, int)
RADDLE_SHFL(float, __shfl_up_sync, unsigned)
RADDLE_SHFL(float, __shfl_down_sync, unsigned)
RADDLE_SHFL(float, __shfl_xor_sync, int)
RADDLE_SHFL(unsigned, __shfl_sync, int)
RADDLE_SHFL(unsigned, __shfl_up_sync, unsigned)
RADDLE_SHFL(unsigned, __shfl_down_sync, unsigned)
RADDLE_SHFL(unsigned, __shfl_xor_sync, int)
#undef RADDLE_SHFL

// ---- Atomics: each gives the old value ---------------------------------------------------------------------------

RADDLE_FN int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
RADDLE_FN unsigned atomicAdd(unsigned *p, unsigned v) { return __nvvm_atom_add_gen_i((int *)p, (int)v); }
RADDLE_FN ull atomicAdd(ull *p, ull v) { return __nvvm_atom_add_gen_ll((long long *)p, (long long)v); }
RADDLE_FN float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
RADDLE_FN int atomicSub(int *p, int v) { return atomicAdd(p, -v); }
RADDLE_FN unsigned atomicSub(unsigned *p, unsigned v) { return atomicAdd(p, 0u - v); }
RADDLE_FN unsigned atomicInc(unsigned *p, unsigned v) { return __nvvm_atom_inc_gen_ui(p, v); }
RADDLE_FN unsigned atomicDec(unsigned *p, unsigned v) { return __nvvm_atom_dec_gen_ui(p, v); }
#define RADDLE_ATOMICS(NAME, S32, U32, S64, U64)                                                                       \
    RADDLE_FN int NAME(int *p, int v) { return __nvvm_atom_##S32(p, v); }                                              \
    RADDLE_FN unsigned NAME(unsigned *p, unsigned v) { return __nvvm_atom_##U32(p, v); }                               \
    RADDLE_FN long long NAME(long long *p, long long v) { return __nvvm_atom_##S64(p, v); }                            \
    RADDLE_FN ull NAME(ull *p, ull v) { return __nvvm_atom_##U64(p, v); }
RADDLE_ATOMICS(atomicMin, min_gen_i, min_gen_ui, min_gen_ll, min_gen_ull)
RADDLE_ATOMICS(atomicMax, max_gen_i, max_gen_ui, max_gen_ll, max_gen_ull)
#undef RADDLE_ATOMICS
#define RADDLE_ATOMICS(NAME, OP)                                                                                       \
    RADDLE_FN int NAME(int *p, int v) { return __nvvm_atom_##OP##_gen_i(p, v); }                                       \
    RADDLE_FN unsigned NAME(unsigned *p, unsigned v) { return __nvvm_atom_##OP##_gen_i((int *)p, (int)v); }            \
    RADDLE_FN ull NAME(ull *p, ull v) { return __nvvm_atom_##OP##_gen_ll((long long *)p, (long long)v); }
RADDLE_ATOMICS(atomicAnd, and)
RADDLE_ATOMICS(atomicOr, or)
RADDLE_ATOMICS(atomicXor, xor)
RADDLE_ATOMICS(atomicExch, xchg)
#undef RADDLE_ATOMICS
RADDLE_FN float atomicExch(float *p, float v) {
    return __builtin_bit_cast(float, __nvvm_atom_xchg_gen_i((int *)p, __builtin_bit_cast(int, v)));
}
RADDLE_FN int atomicCAS(int *p, int old, int v) { return __nvvm_atom_cas_gen_i(p, old, v); }
RADDLE_FN unsigned atomicCAS(unsigned *p, unsigned old, unsigned v) {
    return __nvvm_atom_cas_gen_i((int *)p, (int)old, (int)v);
}
RADDLE_FN ull atomicCAS(ull *p, ull old, ull v) {
    return __nvvm_atom_cas_gen_ll((long long *)p, (long long)old, (long long)v);
}

// ---- Bits ------------------------------------------------------------------------------------------------------------

RADDLE_FN int __popc(unsigned v) { return __builtin_popcount(v); }
RADDLE_FN int __popcll(ull v) { return __builtin_popcountll(v); }
RADDLE_FN int __clz(int v) { return v == 0 ? 32 : __builtin_clz(v); }
RADDLE_FN int __ffs(int v) { return __builtin_ffs(v); }
RADDLE_FN unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
RADDLE_FN int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
RADDLE_FN unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
RADDLE_FN float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
RADDLE_FN float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
RADDLE_FN int __float2int_rn(float v) { return __nvvm_f2i_rn(v); }
RADDLE_FN int __float2int_rz(float v) { return __nvvm_f2i_rz(v); }
RADDLE_FN int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
RADDLE_FN unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
RADDLE_FN int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
RADDLE_FN unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((ull)a * b) >> 32); }

// ---- Arithmetic ------------------------------------------------------------------------------------------------------

#define RADDLE_MIN_MAX(T)                                                                                              \
    RADDLE_FN T min(T a, T b) { return b < a ? b : a; }                                                                \
    RADDLE_FN T max(T a, T b) { return a < b ? b : a; }
RADDLE_MIN_MAX(int)
RADDLE_MIN_MAX(unsigned)
RADDLE_MIN_MAX(long long)
RADDLE_MIN_MAX(ull)
#undef RADDLE_MIN_MAX
RADDLE_FN float fminf(float a, float b) { return __builtin_fminf(a, b); }
RADDLE_FN float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
RADDLE_FN float min(float a, float b) { return fminf(a, b); }
RADDLE_FN float max(float a, float b) { return fmaxf(a, b); }
RADDLE_FN double min(double a, double b) { return __builtin_fmin(a, b); }
RADDLE_FN double max(double a, double b) { return __builtin_fmax(a, b); }
RADDLE_FN int abs(int v) { return v < 0 ? -v : v; }
RADDLE_FN float fabsf(float v) { return __builtin_fabsf(v); }
RADDLE_FN double fabs(double v) { return __builtin_fabs(v); }
RADDLE_FN float floorf(float v) { return __builtin_floorf(v); }
RADDLE_FN float ceilf(float v) { return __builtin_ceilf(v); }
RADDLE_FN float truncf(float v) { return __builtin_truncf(v); }
RADDLE_FN float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
RADDLE_FN float sqrtf(float v) { return __nvvm_sqrt_rn_f(v); }
RADDLE_FN double sqrt(double v) { return __nvvm_sqrt_rn_d(v); }
RADDLE_FN float rsqrtf(float v) { return __nvvm_rsqrt_approx_f(v); }

// ---- Fast and inexact: one or two instructions -----------------------------------------------------------------

RADDLE_FN float __expf(float v) { return __nvvm_ex2_approx_f(v * 1.4426950408889634f); }
RADDLE_FN float exp2f(float v) { return __nvvm_ex2_approx_f(v); }
RADDLE_FN float __logf(float v) { return __nvvm_lg2_approx_f(v) * 0.6931471805599453f; }
RADDLE_FN float __log2f(float v) { return __nvvm_lg2_approx_f(v); }
RADDLE_FN float __powf(float a, float b) { return __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a)); }
RADDLE_FN float __sinf(float v) { return __nvvm_sin_approx_f(v); }
RADDLE_FN float __cosf(float v) { return __nvvm_cos_approx_f(v); }
RADDLE_FN float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }

// ---- From libclc, by its own names -----------------------------------------------------------------------------

__device__ float sin(float);
__device__ float cos(float);
__device__ float tan(float);
__device__ float atan(float);
__device__ float acos(float);
__device__ float asin(float);
__device__ float atan2(float, float);
__device__ float exp(float);
__device__ float log(float);
__device__ float pow(float, float);
__device__ double exp(double);
__device__ double log(double);
__device__ double sin(double);
__device__ double cos(double);
RADDLE_FN float sinf(float v) { return sin(v); }
RADDLE_FN float cosf(float v) { return cos(v); }
RADDLE_FN float tanf(float v) { return tan(v); }
RADDLE_FN float atanf(float v) { return atan(v); }
RADDLE_FN float acosf(float v) { return acos(v); }
RADDLE_FN float asinf(float v) { return asin(v); }
RADDLE_FN float atan2f(float a, float b) { return atan2(a, b); }
RADDLE_FN float expf(float v) { return exp(v); }
RADDLE_FN float logf(float v) { return log(v); }
RADDLE_FN float powf(float a, float b) { return pow(a, b); }
RADDLE_FN void sincosf(float v, float *s, float *c) {
    *s = sin(v);
    *c = cos(v);
}

// ---- Rounded by themselves, never fused ---------------------------------------------------------------------------

RADDLE_FN float __fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }

// ---- Textures: texels in a row, read by their numbers. Outside they are zeros --------------------------------------

// A texture reference with the texels of a type, to be written at file scope: RADDLE_TEXTURE(int4, nodes) gives the
// function nodes_at(i), which is tex1Dfetch(nodes, i) of CUDA. The host binds texels to it by its name. Instructions
// name the reference, so it takes no register.
#define RADDLE_TEXTURE(T, NAME)                                                                                        \
    extern "C" {                                                                                                       \
    __device__ __attribute__((used)) texture<T, 1, 0> NAME;                                                            \
    }                                                                                                                  \
    static __device__ __forceinline__ T NAME##_at(int at) {                                                            \
        raddle_texel<T>::Channel x, y, z, w;                                                                           \
        RADDLE_FETCH_##T(NAME) return raddle_texel<T>::make(x, y, z, w);                                               \
    }
#define RADDLE_FETCH(TYPE, REGISTER, NAME)                                                                             \
    asm("tex.1d.v4." TYPE ".s32 {%0, %1, %2, %3}, [" #NAME ", {%4}];"                                                  \
        : "=" REGISTER(x), "=" REGISTER(y), "=" REGISTER(z), "=" REGISTER(w)                                           \
        : "r"(at));
#define RADDLE_FETCH_uchar(NAME) RADDLE_FETCH("u32", "r", NAME)
#define RADDLE_FETCH_int(NAME) RADDLE_FETCH("s32", "r", NAME)
#define RADDLE_FETCH_uint(NAME) RADDLE_FETCH("u32", "r", NAME)
#define RADDLE_FETCH_int4(NAME) RADDLE_FETCH("s32", "r", NAME)
#define RADDLE_FETCH_float(NAME) RADDLE_FETCH("f32", "f", NAME)
#define RADDLE_FETCH_float4(NAME) RADDLE_FETCH("f32", "f", NAME)

// What makes clang declare a variable as .texref.
template <class T, int, int> struct __attribute__((device_builtin_texture_type)) texture {};
template <class T> struct raddle_texel;
#define RADDLE_TEXEL(T, CHANNEL, VALUE)                                                                                \
    template <> struct raddle_texel<T> {                                                                               \
        using Channel = CHANNEL;                                                                                       \
        static __device__ T make(Channel x, Channel y, Channel z, Channel w) { return VALUE; }                         \
    };
RADDLE_TEXEL(uchar, unsigned, (uchar)x)
RADDLE_TEXEL(int, int, x)
RADDLE_TEXEL(uint, unsigned, x)
RADDLE_TEXEL(int4, int, (int4{x, y, z, w}))
RADDLE_TEXEL(float, float, x)
RADDLE_TEXEL(float4, float, (float4{x, y, z, w}))
#undef RADDLE_TEXEL

#undef RADDLE_FN
