/* Prefix sums, and the like with other operations, over a tile or the threads that are together. */
#ifndef _CG_SCAN_H
#define _CG_SCAN_H

#include "reduce.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace cooperative_groups {

template <class Group, class T, class Op> __device__ __inline__ T inclusive_scan(const Group &g, T v, Op op) {
    unsigned int rank = g.thread_rank(), n = g.num_threads();
    for (unsigned int by = 1; by < n; by *= 2) {
        T before = g.shfl_up(v, by);
        if (rank >= by) v = op(before, v);
    }
    return v;
}
template <class Group, class T> __device__ __inline__ T inclusive_scan(const Group &g, T v) {
    return inclusive_scan(g, v, plus<T>());
}
/* The first thread gets the value of T(). */
template <class Group, class T, class Op> __device__ __inline__ T exclusive_scan(const Group &g, T v, Op op) {
    T before = g.shfl_up(inclusive_scan(g, v, op), 1);
    return g.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> __device__ __inline__ T exclusive_scan(const Group &g, T v) {
    return exclusive_scan(g, v, plus<T>());
}

} // namespace cooperative_groups

#endif

#endif
