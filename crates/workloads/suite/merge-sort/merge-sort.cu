// Sorting pairs of key and value: tiles in shared memory, then longer and longer runs are merged.
#include "raddle.cuh"

#define BLOCK 256
#define TILE (2 * BLOCK)
// Every so many keys of a run, one is a splitter.
#define STRIDE BLOCK

// How many keys of a sorted run are below `key`.
static __device__ __forceinline__ int count_below(const uint *run, int length, uint key) {
    int low = 0, high = length;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (run[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// How many are not above it.
static __device__ __forceinline__ int count_not_above(const uint *run, int length, uint key) {
    int low = 0, high = length;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (run[middle] <= key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Sorts tiles. In each step a thread moves one key of a run and one of the run next to it, to their ranks.
__global__ void __launch_bounds__(256, 6) sort_tiles(const uint *__restrict__ keys_in, const uint *__restrict__ values_in,
                           uint *__restrict__ keys_out, uint *__restrict__ values_out) {
    __shared__ uint keys[TILE];
    __shared__ uint values[TILE];
    const int thread = threadIdx.x;
    const int start = blockIdx.x * TILE;
    keys[thread] = keys_in[start + thread];
    keys[thread + BLOCK] = keys_in[start + thread + BLOCK];
    values[thread] = values_in[start + thread];
    values[thread + BLOCK] = values_in[start + thread + BLOCK];

    for (int length = 1; length < TILE; length <<= 1) {
        int within = thread & (length - 1);
        int first = 2 * (thread - within);
        int second = first + length;
        __syncthreads();
        uint key0 = keys[first + within], value0 = values[first + within];
        uint key1 = keys[second + within], value1 = values[second + within];
        int rank0 = within + count_below(keys + second, length, key0);
        int rank1 = within + count_not_above(keys + first, length, key1);
        __syncthreads();
        keys[first + rank0] = key0;
        values[first + rank0] = value0;
        keys[first + rank1] = key1;
        values[first + rank1] = value1;
    }

    __syncthreads();
    keys_out[start + thread] = keys[thread];
    keys_out[start + thread + BLOCK] = keys[thread + BLOCK];
    values_out[start + thread] = values[thread];
    values_out[start + thread + BLOCK] = values[thread + BLOCK];
}

// Ranks the splitters of pairs of runs. Splitters in the order of their keys are the limits of the pieces that are merged
// on their own: each has what is before it in the first run and in the second.
__global__ void rank_splitters(const uint *__restrict__ keys, int2 *__restrict__ limits, int length, int count) {
    int splitter = blockIdx.x * blockDim.x + threadIdx.x;
    if (splitter >= count) {
        return;
    }
    const int each = length / STRIDE;
    const int pair = splitter / (2 * each);
    const int within = splitter % each;
    const bool is_first = splitter % (2 * each) < each;
    const uint *first = keys + pair * 2 * length;
    const uint *second = first + length;
    int place = within * STRIDE;
    int other = is_first ? count_below(second, length, first[place]) : count_not_above(first, length, second[place]);
    // Splitters of the other run that come before.
    int rank = within + (other + STRIDE - 1) / STRIDE;
    limits[pair * 2 * each + rank] = is_first ? make_int2(place, other) : make_int2(other, place);
}

// Merges the pieces, at most as many keys from each run as there are threads.
__global__ void __launch_bounds__(256, 6) merge_pieces(const uint *__restrict__ keys_in, const uint *__restrict__ values_in,
                             uint *__restrict__ keys_out, uint *__restrict__ values_out,
                             const int2 *__restrict__ limits, int length) {
    __shared__ uint keys0[STRIDE], keys1[STRIDE];
    __shared__ uint keys[2 * STRIDE], values[2 * STRIDE];
    const int thread = threadIdx.x;
    const int pieces = 2 * length / STRIDE;
    const int start = blockIdx.x / pieces * 2 * length;
    const int2 from = limits[blockIdx.x];
    const int2 to = (blockIdx.x + 1) % pieces == 0 ? make_int2(length, length) : limits[blockIdx.x + 1];
    const int count0 = to.x - from.x, count1 = to.y - from.y;
    const int at0 = start + from.x + thread, at1 = start + length + from.y + thread;

    if (thread < count0) {
        keys0[thread] = keys_in[at0];
    }
    if (thread < count1) {
        keys1[thread] = keys_in[at1];
    }
    __syncthreads();

    if (thread < count0) {
        int rank = thread + count_below(keys1, count1, keys0[thread]);
        keys[rank] = keys0[thread];
        values[rank] = values_in[at0];
    }
    if (thread < count1) {
        int rank = thread + count_not_above(keys0, count0, keys1[thread]);
        keys[rank] = keys1[thread];
        values[rank] = values_in[at1];
    }
    __syncthreads();

    for (int i = thread; i < count0 + count1; i += BLOCK) {
        keys_out[start + from.x + from.y + i] = keys[i];
        values_out[start + from.x + from.y + i] = values[i];
    }
}
