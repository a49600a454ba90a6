/* Reductions over a tile or the threads that are together: every thread gets the result. */
#ifndef _CG_REDUCE_H
#define _CG_REDUCE_H

#include "../cooperative_groups.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace cooperative_groups {

#define RADDLE_OPERATION(NAME, VALUE)                                                                                  \
    template <class T> struct NAME {                                                                                   \
        __device__ __inline__ T operator()(T a, T b) const { return VALUE; }                                           \
    };
RADDLE_OPERATION(plus, a + b)
RADDLE_OPERATION(less, b < a ? b : a)
RADDLE_OPERATION(greater, a < b ? b : a)
RADDLE_OPERATION(bit_and, a & b)
RADDLE_OPERATION(bit_or, a | b)
RADDLE_OPERATION(bit_xor, a ^ b)
#undef RADDLE_OPERATION

namespace details {

/* Halving, with partners at the distance of a power of two; a tile has that many threads. */
template <class Group, class T, class Op> __device__ __inline__ T reduce_tile(const Group &g, T v, Op op) {
#pragma unroll
    for (unsigned int by = Group::num_threads() / 2; by > 0; by /= 2) v = op(v, g.shfl_xor(v, by));
    return v;
}
/* Any number of threads: the first collects, and tells the others. */
template <class Group, class T, class Op> __device__ __inline__ T reduce_any(const Group &g, T v, Op op) {
    unsigned int n = g.num_threads(), rank = g.thread_rank();
    for (unsigned int by = 1; by < n; by *= 2) {
        T other = g.shfl_down(v, by);
        if (rank % (2 * by) == 0 && rank + by < n) v = op(v, other);
    }
    return g.shfl(v, 0);
}

} // namespace details

template <unsigned int N, class Parent, class T, class Op>
__device__ __inline__ T reduce(const thread_block_tile<N, Parent> &g, T v, Op op) {
    return details::reduce_tile(g, v, op);
}
template <class T, class Op> __device__ __inline__ T reduce(const coalesced_group &g, T v, Op op) {
    return details::reduce_any(g, v, op);
}
/* Adds the result to, or stores it in, memory; one thread does it. */
template <class Group, class T, class V, class Op>
__device__ __inline__ void reduce_update_async(const Group &g, T &atomic, V v, Op op) {
    V total = reduce(g, v, op);
    if (g.thread_rank() == 0) atomic.fetch_add(total);
}
template <class Group, class T, class V, class Op>
__device__ __inline__ void reduce_store_async(const Group &g, T *p, V v, Op op) {
    V total = reduce(g, v, op);
    if (g.thread_rank() == 0) *p = total;
}

} // namespace cooperative_groups

#endif

#endif
