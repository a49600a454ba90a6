/* Copies to shared memory that a thread starts and waits for later. From compute capability 8.0 on they are the device's
 * asynchronous copies; before, they are done at once, so waiting is free. */
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_

#if defined(__cplusplus) && defined(__CUDA__)

#include <cuda_runtime.h>

/* The last `zfill` of the bytes are zeros and are not read. Sizes are 4, 8 and 16. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

#define __raddle_copy_async(cache, bytes)                                                                              \
    asm volatile("{ .reg .u64 to; cvta.to.shared.u64 to, %0; cp.async." cache ".shared.global [to], [%1], " bytes        \
                 ", %2; }" ::"l"(dst_shared),                                                                          \
                 "l"(src_global), "r"((unsigned int)(size - zfill))                                                    \
                 : "memory")

static __inline__ __device__ void __pipeline_memcpy_async(void *dst_shared, const void *src_global, size_t size,
                                                          size_t zfill = 0) {
    if (size == 16)
        __raddle_copy_async("cg", "16");
    else if (size == 8)
        __raddle_copy_async("ca", "8");
    else
        __raddle_copy_async("ca", "4");
}
#undef __raddle_copy_async

static __inline__ __device__ void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/* Waits until at most the newest `groups` are not done yet. The instruction takes a constant; waiting for more is right too. */
static __inline__ __device__ void __pipeline_wait_prior(size_t groups) {
    switch (groups) {
    case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
    case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
    case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 7;" ::: "memory"); break;
    }
}

#else

static __inline__ __device__ void __pipeline_memcpy_async(void *dst_shared, const void *src_global, size_t size,
                                                          size_t zfill = 0) {
    if (zfill == 0 && size == 16) {
        *(uint4 *)dst_shared = *(const uint4 *)src_global;
    } else if (zfill == 0 && size == 8) {
        *(uint2 *)dst_shared = *(const uint2 *)src_global;
    } else if (zfill == 0 && size == 4) {
        *(unsigned int *)dst_shared = *(const unsigned int *)src_global;
    } else {
        for (size_t i = 0; i < size; i++)
            ((char *)dst_shared)[i] = i + zfill < size ? ((const char *)src_global)[i] : (char)0;
    }
}
static __inline__ __device__ void __pipeline_commit() {}
static __inline__ __device__ void __pipeline_wait_prior(size_t) {}

#endif

#endif

#endif
