/* cuda::aligned_size_t: a number of bytes that is known to be a multiple of an alignment. */
#ifndef RADDLE_ALIGNED_SIZE_H
#define RADDLE_ALIGNED_SIZE_H

#include <stddef.h>

#include "../crt/host_defines.h"

namespace cuda {

template <size_t Alignment> struct aligned_size_t {
    static const size_t align = Alignment;
    size_t value;
    __host__ __device__ explicit aligned_size_t(size_t bytes) : value(bytes) {}
    __host__ __device__ operator size_t() const { return value; }
};

} // namespace cuda

#endif
