/* Copies to shared memory that run beside a kernel's own work, as functions and as a class. */
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_

#include "cuda_pipeline_primitives.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace nvcuda {
namespace experimental {

class pipeline {
  public:
    __device__ __inline__ size_t commit() { return ++batches; }
    __device__ __inline__ void commit_and_wait() {}
    __device__ __inline__ void wait(size_t) {}
    template <unsigned int N> __device__ __inline__ void wait_prior() {}

  private:
    size_t batches = 0;
};
template <class T> __device__ __inline__ void memcpy_async(T &dst, const T &src, pipeline &) { dst = src; }

} // namespace experimental
} // namespace nvcuda

#endif

#endif
