/* Copies to shared memory that a thread starts and waits for later. They are done at once, so waiting is free. */
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_

#if defined(__cplusplus) && defined(__CUDA__)

#include <cuda_runtime.h>

/* The last `zfill` of the bytes are zeros and are not read. Sizes are 4, 8 and 16. */
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
