/* Groups of threads that wait, vote and exchange values together: blocks, tiles of a block, the threads that happen to
 * be together, and the whole grid.
 *
 * A tile of at most a warp is a mask of lanes; larger ones have a barrier of their own. The grid waits with a counter
 * in global memory, for which all its blocks must be resident: launch with cudaLaunchCooperativeKernel. */
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#if defined(__cplusplus) && defined(__CUDA__)

#include <cuda_runtime.h>

#define RADDLE_D __inline__ __device__
#define _CG_QUALIFIER static __inline__ __device__
#define _CG_HAS_CLUSTER_GROUP_RADDLE 1

namespace cooperative_groups {

/* ---- Helpers ---------------------------------------------------------------------------------------------------- */

namespace details {

RADDLE_D unsigned int lane() { return __nvvm_read_ptx_sreg_laneid(); }
RADDLE_D unsigned int lanes_before() { return (1u << lane()) - 1u; }
RADDLE_D unsigned int rank_in_block() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
RADDLE_D unsigned int block_size() { return blockDim.x * blockDim.y * blockDim.z; }
RADDLE_D unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
RADDLE_D unsigned long long blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
/* The lane of the nth thread of a mask, from 0. */
RADDLE_D unsigned int nth_lane(unsigned int mask, unsigned int n) {
    for (; n > 0; n--) mask &= mask - 1;
    return __ffs((int)mask) - 1;
}

/* Values of any size travel word by word. */
template <class T> struct words {
    static const int count = (sizeof(T) + 3) / 4;
    unsigned int w[count];
    RADDLE_D explicit words(const T &v) {
        w[count - 1] = 0;
        memcpy(w, &v, sizeof(T));
    }
    RADDLE_D T value() const {
        T v;
        memcpy(&v, w, sizeof(T));
        return v;
    }
};
template <class T> RADDLE_D T from_lane(unsigned int mask, const T &v, unsigned int source) {
    words<T> t(v);
#pragma unroll
    for (int i = 0; i < words<T>::count; i++) t.w[i] = __shfl_sync(mask, t.w[i], (int)source);
    return t.value();
}

/* Who says yes, and who has the same value, of the lanes in a mask. */
RADDLE_D unsigned int votes(unsigned int mask, int predicate) { return __ballot_sync(mask, predicate) & mask; }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
template <class T> RADDLE_D unsigned int equals(unsigned int mask, T v) { return __match_any_sync(mask, v) & mask; }
#endif

/* One counter for all grids of a program that wait. The first block adds what the others lack to flip the top bit. */
RADDLE_D void wait_for_grid() {
    static unsigned int arrived;
    __syncthreads();
    if (rank_in_block() == 0) {
        unsigned int others = (unsigned int)blocks() - 1u;
        unsigned int step = block_rank() == 0 ? 0x80000000u - others : 1u;
        __threadfence();
        unsigned int was = atomicAdd(&arrived, step);
        while (((was ^ *(volatile unsigned int *)&arrived) & 0x80000000u) == 0) {
        }
        __threadfence();
    }
    __syncthreads();
}

} // namespace details

/* ---- Any group -------------------------------------------------------------------------------------------------- */

class thread_group {
  protected:
    enum kind_t { is_block, is_lanes, is_grid, is_large_tile };
    unsigned int kind, mask, count;
    RADDLE_D thread_group(unsigned int k, unsigned int m, unsigned int n) : kind(k), mask(m), count(n) {}

  public:
    RADDLE_D unsigned long long size() const {
        return kind == is_block  ? details::block_size()
               : kind == is_grid ? details::blocks() * details::block_size()
                                 : count;
    }
    RADDLE_D unsigned long long num_threads() const { return size(); }
    RADDLE_D unsigned long long thread_rank() const {
        if (kind == is_lanes) return __popc(mask & details::lanes_before());
        if (kind == is_large_tile) return details::rank_in_block() % count;
        if (kind == is_grid) return details::block_rank() * details::block_size() + details::rank_in_block();
        return details::rank_in_block();
    }
    RADDLE_D void sync() const {
        if (kind == is_lanes) {
            __syncwarp(mask);
        } else if (kind == is_large_tile) {
            __barrier_sync_count(1u + details::rank_in_block() / count, count);
        } else if (kind == is_grid) {
            details::wait_for_grid();
        } else {
            __syncthreads();
        }
    }
    RADDLE_D unsigned int raddle_mask() const { return mask; }
    static RADDLE_D thread_group raddle_lanes(unsigned int mask) {
        return thread_group(is_lanes, mask, (unsigned int)__popc(mask));
    }
};

/* ---- The block -------------------------------------------------------------------------------------------------- */

class thread_block : public thread_group {
    RADDLE_D thread_block() : thread_group(is_block, 0xffffffffu, 0) {}
    friend RADDLE_D thread_block this_thread_block();

  public:
    struct arrival_token {};
    static RADDLE_D void sync() { __syncthreads(); }
    static RADDLE_D unsigned int size() { return details::block_size(); }
    static RADDLE_D unsigned int num_threads() { return details::block_size(); }
    static RADDLE_D unsigned int thread_rank() { return details::rank_in_block(); }
    static RADDLE_D dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static RADDLE_D dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static RADDLE_D dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static RADDLE_D dim3 dim_threads() { return group_dim(); }
    RADDLE_D arrival_token barrier_arrive() const { return arrival_token(); }
    RADDLE_D void barrier_wait(arrival_token) const { __syncthreads(); }
};
RADDLE_D thread_block this_thread_block() { return thread_block(); }

/* Room in shared memory that other implementations need for tiles larger than a warp. */
template <unsigned int MaxBlockSize = 1024> struct block_tile_memory {
    char none;
};
template <unsigned int N> RADDLE_D thread_block this_thread_block(block_tile_memory<N> &) {
    return this_thread_block();
}

/* ---- The grid --------------------------------------------------------------------------------------------------- */

class grid_group : public thread_group {
    RADDLE_D grid_group() : thread_group(is_grid, 0xffffffffu, 0) {}
    friend RADDLE_D grid_group this_grid();

  public:
    struct arrival_token {};
    RADDLE_D bool is_valid() const { return true; }
    RADDLE_D void sync() const { details::wait_for_grid(); }
    RADDLE_D arrival_token barrier_arrive() const { return arrival_token(); }
    RADDLE_D void barrier_wait(arrival_token) const { sync(); }
    static RADDLE_D unsigned long long size() { return details::blocks() * details::block_size(); }
    static RADDLE_D unsigned long long num_threads() { return size(); }
    static RADDLE_D unsigned long long thread_rank() {
        return details::block_rank() * details::block_size() + details::rank_in_block();
    }
    static RADDLE_D dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static RADDLE_D dim3 dim_blocks() { return group_dim(); }
    static RADDLE_D unsigned long long num_blocks() { return details::blocks(); }
    static RADDLE_D dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static RADDLE_D unsigned long long block_rank() { return details::block_rank(); }
};
RADDLE_D grid_group this_grid() { return grid_group(); }

/* There is one device, so the grid is all of it. */
class multi_grid_group {
  public:
    RADDLE_D bool is_valid() const { return true; }
    RADDLE_D void sync() const { details::wait_for_grid(); }
    RADDLE_D unsigned long long size() const { return grid_group::size(); }
    RADDLE_D unsigned long long thread_rank() const { return grid_group::thread_rank(); }
    RADDLE_D unsigned int grid_rank() const { return 0; }
    RADDLE_D unsigned int num_grids() const { return 1; }
};
RADDLE_D multi_grid_group this_multi_grid() { return multi_grid_group(); }

/* ---- Lanes of a warp -------------------------------------------------------------------------------------------- */

/* Threads that are together now, or a part of them. */
class coalesced_group : public thread_group {
  public:
    RADDLE_D explicit coalesced_group(unsigned int mask) : thread_group(raddle_lanes(mask)) {}
    RADDLE_D unsigned int size() const { return count; }
    RADDLE_D unsigned int num_threads() const { return count; }
    RADDLE_D unsigned int thread_rank() const { return (unsigned int)__popc(mask & details::lanes_before()); }
    RADDLE_D void sync() const { __syncwarp(mask); }
    RADDLE_D unsigned int meta_group_size() const { return 1; }
    RADDLE_D unsigned int meta_group_rank() const { return 0; }

    template <class T> RADDLE_D T shfl(const T &v, unsigned int rank) const {
        return details::from_lane(mask, v, details::nth_lane(mask, rank % count));
    }
    template <class T> RADDLE_D T shfl_up(const T &v, unsigned int by) const {
        unsigned int rank = thread_rank();
        return details::from_lane(mask, v, details::nth_lane(mask, by > rank ? rank : rank - by));
    }
    template <class T> RADDLE_D T shfl_down(const T &v, unsigned int by) const {
        unsigned int rank = thread_rank();
        return details::from_lane(mask, v, details::nth_lane(mask, rank + by < count ? rank + by : rank));
    }
    RADDLE_D int any(int predicate) const { return details::votes(mask, predicate) != 0; }
    RADDLE_D int all(int predicate) const { return details::votes(mask, predicate) == mask; }
    /* Bit i of the answers is the ith thread of the group. */
    RADDLE_D unsigned int ballot(int predicate) const { return pack(details::votes(mask, predicate)); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    template <class T> RADDLE_D unsigned int match_any(T v) const { return pack(details::equals(mask, v)); }
    template <class T> RADDLE_D unsigned int match_all(T v, int &predicate) const {
        predicate = details::equals(mask, v) == mask;
        return predicate ? pack(mask) : 0u;
    }
#endif

  private:
    RADDLE_D unsigned int pack(unsigned int lanes) const {
        if (mask == 0xffffffffu) return lanes;
        unsigned int packed = 0, bit = 1;
        for (unsigned int left = mask; left; left &= left - 1, bit <<= 1)
            if (lanes & left & (0u - left)) packed |= bit;
        return packed;
    }
};
RADDLE_D coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/* Tiles of N threads in a row. For N of at most 32 all is known when a program is compiled. */
template <unsigned int N, class Parent = void> class thread_block_tile : public thread_group {
    static const bool in_warp = N <= 32;
    static RADDLE_D unsigned int first() { return details::lane() & ~(N - 1u); }
    static RADDLE_D unsigned int tile_mask() { return N >= 32 ? 0xffffffffu : ((1u << (N & 31)) - 1u) << first(); }

  public:
    RADDLE_D thread_block_tile()
        : thread_group(in_warp ? is_lanes : is_large_tile, in_warp ? tile_mask() : 0xffffffffu, N) {}
    template <class Other> RADDLE_D thread_block_tile(const thread_block_tile<N, Other> &other) : thread_group(other) {}

    static constexpr RADDLE_D unsigned int size() { return N; }
    static constexpr RADDLE_D unsigned int num_threads() { return N; }
    static RADDLE_D unsigned int thread_rank() {
        return in_warp ? details::lane() & (N - 1u) : details::rank_in_block() % N;
    }
    RADDLE_D void sync() const {
        if (in_warp) {
            __syncwarp(tile_mask());
        } else {
            thread_group::sync();
        }
    }
    static RADDLE_D unsigned int meta_group_rank() { return details::rank_in_block() / N; }
    static RADDLE_D unsigned int meta_group_size() { return (details::block_size() + N - 1) / N; }

    template <class T> RADDLE_D T shfl(const T &v, int rank) const {
        return details::from_lane(tile_mask(), v, first() + ((unsigned int)rank & (N - 1u)));
    }
    template <class T> RADDLE_D T shfl_up(const T &v, unsigned int by) const {
        unsigned int rank = thread_rank();
        return details::from_lane(tile_mask(), v, first() + (by > rank ? rank : rank - by));
    }
    template <class T> RADDLE_D T shfl_down(const T &v, unsigned int by) const {
        unsigned int rank = thread_rank();
        return details::from_lane(tile_mask(), v, first() + (rank + by < N ? rank + by : rank));
    }
    template <class T> RADDLE_D T shfl_xor(const T &v, unsigned int lanes) const {
        unsigned int rank = thread_rank() ^ lanes;
        return details::from_lane(tile_mask(), v, first() + (rank < N ? rank : thread_rank()));
    }
    RADDLE_D int any(int predicate) const { return details::votes(tile_mask(), predicate) != 0; }
    RADDLE_D int all(int predicate) const { return details::votes(tile_mask(), predicate) == tile_mask(); }
    RADDLE_D unsigned int ballot(int predicate) const { return details::votes(tile_mask(), predicate) >> first(); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    template <class T> RADDLE_D unsigned int match_any(T v) const { return details::equals(tile_mask(), v) >> first(); }
    template <class T> RADDLE_D unsigned int match_all(T v, int &predicate) const {
        predicate = details::equals(tile_mask(), v) == tile_mask();
        return predicate ? tile_mask() >> first() : 0u;
    }
#endif
};

/* ---- Partitions ------------------------------------------------------------------------------------------------- */

template <unsigned int N, class Parent> RADDLE_D thread_block_tile<N, Parent> tiled_partition(const Parent &) {
    return thread_block_tile<N, Parent>();
}
/* Tiles of a size known only when the kernel runs. */
RADDLE_D thread_group tiled_partition(const thread_group &, unsigned int n) {
    unsigned int first = details::lane() / n * n;
    return thread_group::raddle_lanes(n >= 32 ? 0xffffffffu : ((1u << n) - 1u) << first);
}
RADDLE_D coalesced_group tiled_partition(const coalesced_group &parent, unsigned int n) {
    unsigned int first = parent.thread_rank() / n * n, mask = 0;
    for (unsigned int i = first; i < first + n && i < parent.size(); i++)
        mask |= 1u << details::nth_lane(parent.raddle_mask(), i);
    return coalesced_group(mask);
}
template <class Group> RADDLE_D coalesced_group binary_partition(const Group &parent, bool predicate) {
    unsigned int mask = parent.raddle_mask(), yes = details::votes(mask, predicate);
    return coalesced_group(predicate ? yes : mask & ~yes);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
template <class Group, class T> RADDLE_D coalesced_group labeled_partition(const Group &parent, T label) {
    return coalesced_group(details::equals(parent.raddle_mask(), label));
}
#endif

/* ---- Clusters of blocks ----------------------------------------------------------------------------------------- */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
class cluster_group {
  public:
    static RADDLE_D void sync() {
        __cluster_barrier_arrive();
        __cluster_barrier_wait();
    }
    static RADDLE_D unsigned int num_blocks() { return __clusterSizeInBlocks(); }
    static RADDLE_D unsigned int block_rank() { return __clusterRelativeBlockRank(); }
    static RADDLE_D dim3 dim_blocks() { return __clusterDim(); }
    static RADDLE_D dim3 block_index() { return __clusterRelativeBlockIdx(); }
    static RADDLE_D unsigned int num_threads() { return num_blocks() * details::block_size(); }
    static RADDLE_D unsigned int thread_rank() {
        return block_rank() * details::block_size() + details::rank_in_block();
    }
    template <class T> static RADDLE_D T *map_shared_rank(T *p, unsigned int rank) {
        return (T *)__cluster_map_shared_rank(p, rank);
    }
};
RADDLE_D cluster_group this_cluster() { return cluster_group(); }
#endif

/* ---- Functions of groups ---------------------------------------------------------------------------------------- */

template <class Group> RADDLE_D void sync(const Group &g) { g.sync(); }
template <class Group> RADDLE_D unsigned long long thread_rank(const Group &g) { return g.thread_rank(); }
template <class Group> RADDLE_D unsigned long long group_size(const Group &g) { return g.size(); }
template <class Group, class F> RADDLE_D void invoke_one(const Group &g, F f) {
    if (g.thread_rank() == 0) f();
}

namespace experimental {
using cooperative_groups::block_tile_memory;
using cooperative_groups::this_thread_block;
using cooperative_groups::tiled_partition;
} // namespace experimental

} // namespace cooperative_groups

#undef RADDLE_D

#endif

#endif
