// Ranks pages by their views: lines are read, their pairs sorted, the most seen page first.
#include "raddle.cuh"

#define BLOCK 256
#define TILE (2 * BLOCK)

// A line is "URL<tab>views<newline>". Its key is the number of views above the number of the line, so that no two are the
// same. What comes after the last line is seen by nobody.
__global__ void __launch_bounds__(BLOCK, 6) map_views(const uchar *__restrict__ text, const uint *__restrict__ lines,
                                                      int count, ull *__restrict__ keys) {
    int line = blockIdx.x * BLOCK + threadIdx.x;
    ull key = ~line & 0xffffffffu;
    if (line < count) {
        const uchar *at = text + lines[line];
        while (*at != '\t') {
            at++;
        }
        uint views = 0;
        for (at++; *at != '\n'; at++) {
            views = views * 10 + (*at - '0');
        }
        key |= (ull)views << 32;
    }
    keys[line] = key;
}

// Odd-even merging of a tile, downwards.
__global__ void __launch_bounds__(BLOCK, 6) sort_tiles(ull *__restrict__ keys) {
    __shared__ ull tile[TILE];
    const int thread = threadIdx.x;
    ull *own = keys + blockIdx.x * TILE;
    tile[thread] = own[thread];
    tile[thread + BLOCK] = own[thread + BLOCK];
    for (int size = 1; size < TILE; size *= 2) {
        for (int stride = size; stride > 0; stride /= 2) {
            __syncthreads();
            // Of the first stride, the partners are `stride` apart everywhere; of the others, not at a merge's ends.
            int low = 2 * thread - (thread & (stride - 1));
            if (stride != size) {
                low += stride;
            }
            if (low + stride < TILE && (stride == size || low / (2 * size) == (low + stride) / (2 * size))) {
                ull a = tile[low], b = tile[low + stride];
                if (a < b) {
                    tile[low] = b;
                    tile[low + stride] = a;
                }
            }
        }
    }
    __syncthreads();
    own[thread] = tile[thread];
    own[thread + BLOCK] = tile[thread + BLOCK];
}

// How many of the first `diagonal` keys of two sorted runs come from the first run.
static __device__ __forceinline__ int split(const ull *a, int length_a, const ull *b, int length_b, int diagonal) {
    int low = max(0, diagonal - length_b);
    int high = min(diagonal, length_a);
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] > b[diagonal - 1 - middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Merges pairs of sorted runs. A block makes a tile: two threads look for its ends in the runs, then all merge from shared
// memory, two keys each.
__global__ void __launch_bounds__(BLOCK, 6) merge_runs(const ull *__restrict__ from, ull *__restrict__ to, int run) {
    __shared__ ull keys[TILE];
    __shared__ int ends[2];
    const int thread = threadIdx.x;
    const int start = blockIdx.x * TILE;
    const ull *a = from + start / (2 * run) * (2 * run);
    const ull *b = a + run;
    const int diagonal = start % (2 * run);
    if (thread < 2) {
        ends[thread] = split(a, run, b, run, diagonal + thread * TILE);
    }
    __syncthreads();
    const int from_a = ends[1] - ends[0];
    const int from_b = TILE - from_a;
    for (int i = thread; i < TILE; i += BLOCK) {
        keys[i] = i < from_a ? a[ends[0] + i] : b[diagonal - ends[0] + i - from_a];
    }
    __syncthreads();
    int taken = split(keys, from_a, keys + from_a, from_b, 2 * thread);
    int other = 2 * thread - taken;
    for (int i = 0; i < 2; i++) {
        bool is_a = other >= from_b || (taken < from_a && keys[taken] > keys[from_a + other]);
        to[start + 2 * thread + i] = is_a ? keys[taken++] : keys[from_a + other++];
    }
}

// The line and the views of each rank.
__global__ void __launch_bounds__(BLOCK, 6) write_ranks(const ull *__restrict__ keys, int count, uint *__restrict__ lines,
                                                        uint *__restrict__ views) {
    int rank = blockIdx.x * BLOCK + threadIdx.x;
    if (rank < count) {
        lines[rank] = ~(uint)keys[rank];
        views[rank] = keys[rank] >> 32;
    }
}
