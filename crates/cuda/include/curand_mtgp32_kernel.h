/* clang reads this file last in every CUDA compilation, because the toolkit of others needs it so. The generator MTGP32
 * is not provided; instead, here is what has to come after clang's own intrinsics. */
#ifndef CURAND_MTGP32_KERNEL_H
#define CURAND_MTGP32_KERNEL_H

#if defined(__CUDA__)

#include "crt/simd_functions.hpp"

/* Shuffles of before CUDA 9. Later devices have only the forms with a mask; the lanes that are together now
 * are what the old forms meant. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define __shfl(...) __shfl_sync(__activemask(), __VA_ARGS__)
#define __shfl_up(...) __shfl_up_sync(__activemask(), __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(__activemask(), __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(__activemask(), __VA_ARGS__)
#endif

#endif

#endif
