// Page views in a log: how many addresses have seen each URL. Map, group by sorting, reduce.
#include "raddle.cuh"

#define BLOCK 256
#define TILE (2 * BLOCK)

// A line is "URL<tab>a.b.c.d<tab>time<newline>". Its pair is the hash of the URL, above the address.
__global__ void map_lines(const uchar *__restrict__ text, const uint *__restrict__ lines, ull *__restrict__ pairs,
                          int count) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= count) {
        return;
    }
    const uchar *at = text + lines[line];
    uint hash = 2166136261u;
    for (; *at != '\t'; at++) {
        hash = (hash ^ *at) * 16777619u;
    }
    at++;
    uint address = 0, part = 0;
    for (; *at != '\t'; at++) {
        if (*at == '.') {
            address = address << 8 | part;
            part = 0;
        } else {
            part = part * 10 + (*at - '0');
        }
    }
    address = address << 8 | part;
    pairs[line] = (ull)hash << 32 | address;
}

static __device__ __forceinline__ void order(ull *a, ull *b, bool up) {
    if ((*a > *b) == up) {
        ull swap = *a;
        *a = *b;
        *b = swap;
    }
}

// Bitonic sort of tiles, every second one downwards.
__global__ void __launch_bounds__(256, 6) sort_tiles(ull *__restrict__ pairs) {
    __shared__ ull tile[TILE];
    const int thread = threadIdx.x;
    const int start = blockIdx.x * TILE;
    tile[thread] = pairs[start + thread];
    tile[thread + BLOCK] = pairs[start + thread + BLOCK];
    for (int size = 2; size <= TILE; size <<= 1) {
        bool up = ((start + 2 * thread) & size) == 0;
        for (int stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            int at = 2 * thread - (thread & (stride - 1));
            order(&tile[at], &tile[at + stride], up);
        }
    }
    __syncthreads();
    pairs[start + thread] = tile[thread];
    pairs[start + thread + BLOCK] = tile[thread + BLOCK];
}

// A step of the bitonic sort whose stride is longer than a tile.
__global__ void merge_global(ull *__restrict__ pairs, int size, int stride) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int at = 2 * thread - (thread & (stride - 1));
    order(&pairs[at], &pairs[at + stride], (at & size) == 0);
}

// All the steps that stay within a tile.
__global__ void __launch_bounds__(256, 6) merge_tiles(ull *__restrict__ pairs, int size) {
    __shared__ ull tile[TILE];
    const int thread = threadIdx.x;
    const int start = blockIdx.x * TILE;
    const bool up = (start & size) == 0;
    tile[thread] = pairs[start + thread];
    tile[thread + BLOCK] = pairs[start + thread + BLOCK];
    for (int stride = BLOCK; stride > 0; stride >>= 1) {
        __syncthreads();
        int at = 2 * thread - (thread & (stride - 1));
        order(&tile[at], &tile[at + stride], up);
    }
    __syncthreads();
    pairs[start + thread] = tile[thread];
    pairs[start + thread + BLOCK] = tile[thread + BLOCK];
}

// Two counts: pairs that are not like the one before, and above them URLs that are not.
static __device__ __forceinline__ ull heads(const ull *pairs, int at) {
    if (at == 0) {
        return 1ull << 32 | 1;
    }
    ull pair = pairs[at], before = pairs[at - 1];
    return (ull)(pair >> 32 != before >> 32) << 32 | (pair != before);
}

// The sum up to and with each thread's value.
static __device__ __forceinline__ ull scan_block(ull *sums, ull value) {
    const int thread = threadIdx.x;
    sums[thread] = value;
    __syncthreads();
    for (int stride = 1; stride < BLOCK; stride <<= 1) {
        ull other = thread >= stride ? sums[thread - stride] : 0;
        __syncthreads();
        sums[thread] += other;
        __syncthreads();
    }
    return sums[thread];
}

// Counts heads up to and with each pair, within blocks.
__global__ void __launch_bounds__(256, 6) scan_heads(const ull *__restrict__ pairs, ull *__restrict__ counts, ull *__restrict__ totals) {
    __shared__ ull sums[BLOCK];
    int at = blockIdx.x * BLOCK + threadIdx.x;
    ull count = scan_block(sums, heads(pairs, at));
    counts[at] = count;
    if (threadIdx.x == BLOCK - 1) {
        totals[blockIdx.x] = count;
    }
}

// Turns the blocks' totals into what is before each block; one block does it.
__global__ void scan_totals(ull *__restrict__ totals, int blocks) {
    __shared__ ull sums[BLOCK];
    ull before = 0;
    for (int start = 0; start < blocks; start += BLOCK) {
        int at = start + threadIdx.x;
        ull value = at < blocks ? totals[at] : 0;
        ull sum = scan_block(sums, value);
        if (at < blocks) {
            totals[at] = before + sum - value;
        }
        before += sums[BLOCK - 1];
        __syncthreads();
    }
}

// Each URL with the number of the first of its pairs, and the same for what comes after the last.
__global__ void write_urls(const ull *__restrict__ pairs, const ull *__restrict__ counts,
                           const ull *__restrict__ totals, uint *__restrict__ urls, uint *__restrict__ firsts,
                           int count) {
    int at = blockIdx.x * BLOCK + threadIdx.x;
    ull upto = counts[at] + totals[blockIdx.x];
    uint url = (uint)(upto >> 32), pair = (uint)upto;
    if (heads(pairs, at) >> 32 != 0) {
        urls[url - 1] = (uint)(pairs[at] >> 32);
        firsts[url - 1] = pair - 1;
    }
    if (at == count - 1) {
        firsts[url] = pair;
    }
}

// The pairs of each URL.
__global__ void count_views(const uint *__restrict__ firsts, uint *__restrict__ views, int urls) {
    int url = blockIdx.x * blockDim.x + threadIdx.x;
    if (url < urls) {
        views[url] = firsts[url + 1] - firsts[url];
    }
}
