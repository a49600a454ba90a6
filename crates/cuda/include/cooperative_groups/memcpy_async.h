/* Copies that a group does together, and waiting for them. The copy is done at once; waiting is a barrier. */
#ifndef _CG_MEMCPY_ASYNC_H
#define _CG_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"
#include "../cuda/aligned_size_raddle.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace cooperative_groups {

namespace details {

template <class Group, class Word>
__device__ __inline__ void copy_words(const Group &g, void *dst, const void *src, size_t bytes) {
    for (size_t i = g.thread_rank(); i < bytes / sizeof(Word); i += g.size()) ((Word *)dst)[i] = ((const Word *)src)[i];
}
/* The largest word that both addresses and the length allow. */
template <class Group> __device__ __inline__ void copy(const Group &g, void *dst, const void *src, size_t bytes) {
    size_t at = (size_t)dst | (size_t)src | bytes;
    if (at % 16 == 0) {
        copy_words<Group, uint4>(g, dst, src, bytes);
    } else if (at % 4 == 0) {
        copy_words<Group, unsigned int>(g, dst, src, bytes);
    } else {
        copy_words<Group, unsigned char>(g, dst, src, bytes);
    }
}

} // namespace details

template <class Group, class T, class U>
__device__ __inline__ void memcpy_async(const Group &g, T *dst, const U *src, size_t bytes) {
    details::copy(g, dst, src, bytes);
}
template <class Group, class T, class U, size_t A>
__device__ __inline__ void memcpy_async(const Group &g, T *dst, const U *src, const cuda::aligned_size_t<A> &bytes) {
    details::copy(g, dst, src, (size_t)bytes);
}
/* Lengths in elements; the shorter one counts. */
template <class Group, class T, class U>
__device__ __inline__ void memcpy_async(const Group &g, T *dst, size_t dstCount, const U *src, size_t srcCount) {
    size_t a = dstCount * sizeof(T), b = srcCount * sizeof(U);
    details::copy(g, dst, src, a < b ? a : b);
}
template <class Group> __device__ __inline__ void wait(const Group &g) { g.sync(); }
template <unsigned int Stages, class Group> __device__ __inline__ void wait_prior(const Group &g) { g.sync(); }

} // namespace cooperative_groups

#endif

#endif
