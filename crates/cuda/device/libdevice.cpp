// The device library: every __nv_ function that clang's CUDA headers call.
//
// Programs are compiled with clang against a toolkit directory, and clang links nvvm/libdevice/libdevice.10.bc of it
// into their device code, taking the functions that are called. This file becomes that module:
//
//   clang++-19 --target=nvptx64-nvidia-cuda -march=sm_50 -nogpulib -O2 -emit-llvm -c libdevice.cpp \
//     -Xclang -mlink-builtin-bitcode -Xclang /usr/lib/clc/nvptx64--.bc -o libdevice.10.bc
//
// It is C++ and not CUDA, because a module of CUDA says how it treats subnormal numbers, and clang refuses to link it
// into programs that treat them otherwise (-fgpu-flush-denormals-to-zero). Plain arithmetic here does what the
// program asks for.
//
// One instruction stands behind most functions. Elementary functions come from libclc where it is as accurate as the
// CUDA C++ Programming Guide promises, and are written here where it is not. README.md has what was measured.
//
// The compiler fuses products and sums of device code into fma wherever it can, in the module too. Where that would
// lose the error of an operation, the code says __nvvm_add_rn_d and the like.

// A function of the library, and a function that only the library calls.
#define NV extern "C"
#define FN static inline

#define INF __builtin_inf()
#define NAN __builtin_nan("")

#include "integers.inl"
#include "rounding.inl"
#include "trigonometric.inl"
#include "elementary.inl"
#include "gamma.inl"
#include "errors.inl"
#include "bessel.inl"

// What a call of a function that a class leaves open ends in.
NV void __cxa_pure_virtual() { __builtin_trap(); }
