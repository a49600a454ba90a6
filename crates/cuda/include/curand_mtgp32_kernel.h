/* clang reads this file last in every CUDA compilation, because the toolkit of others needs it so. The generator MTGP32
 * is not provided; instead, here is what has to come after clang's own intrinsics. */
#ifndef CURAND_MTGP32_KERNEL_H
#define CURAND_MTGP32_KERNEL_H

#if defined(__CUDA__)

#include "crt/simd_functions.hpp"

/* From texture_indirect_functions.h. */
#undef __nvvm_shfl_idx_i32
#undef __nvvm_shfl_idx_f32
#undef __nvvm_shfl_up_i32
#undef __nvvm_shfl_up_f32
#undef __nvvm_shfl_down_i32
#undef __nvvm_shfl_down_f32
#undef __nvvm_shfl_bfly_i32
#undef __nvvm_shfl_bfly_f32

#endif

#endif
