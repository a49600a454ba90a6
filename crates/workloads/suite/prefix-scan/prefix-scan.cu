// Sums of all numbers before each.
#include "raddle.cuh"

#define BLOCK 256
#define TILE (2 * BLOCK)
// A gap after every 32 words, so that threads use different banks.
#define PLACE(i) ((i) + ((i) >> 5))

// Up and down a tree over the block's tile; also what the tile adds up to.
__global__ void __launch_bounds__(BLOCK) scan_tiles(const uint *__restrict__ numbers, uint *__restrict__ before,
                                                    uint *__restrict__ totals, int count) {
    __shared__ uint tree[PLACE(TILE)];
    const int thread = threadIdx.x;
    const int start = blockIdx.x * TILE;
    int a = start + thread, b = a + BLOCK;
    tree[PLACE(thread)] = a < count ? numbers[a] : 0;
    tree[PLACE(thread + BLOCK)] = b < count ? numbers[b] : 0;
    int step = 1;
    for (int nodes = BLOCK; nodes > 0; nodes >>= 1) {
        __syncthreads();
        if (thread < nodes) {
            int left = step * (2 * thread + 1) - 1;
            tree[PLACE(left + step)] += tree[PLACE(left)];
        }
        step *= 2;
    }
    if (thread == 0) {
        totals[blockIdx.x] = tree[PLACE(TILE - 1)];
        tree[PLACE(TILE - 1)] = 0;
    }
    for (int nodes = 1; nodes <= BLOCK; nodes *= 2) {
        step >>= 1;
        __syncthreads();
        if (thread < nodes) {
            int left = step * (2 * thread + 1) - 1;
            uint sum = tree[PLACE(left)];
            tree[PLACE(left)] = tree[PLACE(left + step)];
            tree[PLACE(left + step)] += sum;
        }
    }
    __syncthreads();
    if (a < count) {
        before[a] = tree[PLACE(thread)];
    }
    if (b < count) {
        before[b] = tree[PLACE(thread + BLOCK)];
    }
}

// Adds what is before a tile to all of it.
__global__ void __launch_bounds__(BLOCK) add_totals(uint *__restrict__ before, const uint *__restrict__ totals, int count) {
    __shared__ uint total;
    if (threadIdx.x == 0) {
        total = totals[blockIdx.x];
    }
    __syncthreads();
    for (int at = blockIdx.x * TILE + threadIdx.x; at < min((int)(blockIdx.x + 1) * TILE, count); at += BLOCK) {
        before[at] += total;
    }
}
