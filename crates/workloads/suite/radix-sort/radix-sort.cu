// Radix sort of 32-bit keys, four bits in each pass: blocks sort their keys by the digit and count them, a scan of all
// counts gives every block a place for each digit, and the keys go there.
#include "raddle.cuh"

#define THREADS 256
#define KEYS 4
#define BLOCK_KEYS (THREADS * KEYS)
#define DIGIT_BITS 4
#define DIGITS (1 << DIGIT_BITS)

// The sum of `value` over the threads before this one; `total` is that over all.
static __device__ __forceinline__ uint scan_block(uint value, uint *total) {
    __shared__ uint sums[2][THREADS];
    const int thread = threadIdx.x;
    int now = 0;
    sums[now][thread] = value;
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance <<= 1) {
        uint sum = sums[now][thread];
        if (thread >= distance) {
            sum += sums[now][thread - distance];
        }
        now ^= 1;
        sums[now][thread] = sum;
        __syncthreads();
    }
    *total = sums[now][THREADS - 1];
    uint before = sums[now][thread] - value;
    __syncthreads();
    return before;
}

// Sorts the keys of each block by one digit, bit after bit: keys without the bit go to the front.
__global__ void sort_blocks(const uint4 *__restrict__ keys, uint4 *__restrict__ sorted, int shift) {
    __shared__ uint local[BLOCK_KEYS];
    const int at = blockIdx.x * THREADS + threadIdx.x;
    uint4 own = keys[at];
    for (int bit = shift; bit < shift + DIGIT_BITS; bit++) {
        uint one0 = own.x >> bit & 1;
        uint one1 = own.y >> bit & 1;
        uint one2 = own.z >> bit & 1;
        uint one3 = own.w >> bit & 1;
        uint total;
        uint zeros = scan_block(KEYS - (one0 + one1 + one2 + one3), &total);
        uint ones = total + KEYS * threadIdx.x - zeros;
        local[one0 ? ones : zeros] = own.x;
        ones += one0;
        zeros += 1 - one0;
        local[one1 ? ones : zeros] = own.y;
        ones += one1;
        zeros += 1 - one1;
        local[one2 ? ones : zeros] = own.z;
        ones += one2;
        zeros += 1 - one2;
        local[one3 ? ones : zeros] = own.w;
        __syncthreads();
        own = ((const uint4 *)local)[threadIdx.x];
        __syncthreads();
    }
    sorted[at] = own;
}

// Where each digit begins in each block, and how often it is there: a table with the same digits side by side.
__global__ void count_digits(const uint *__restrict__ sorted, uint *__restrict__ starts, uint *__restrict__ counts,
                             int shift) {
    __shared__ uint digits[BLOCK_KEYS];
    __shared__ uint first[DIGITS], end[DIGITS];
    const uint *keys = sorted + blockIdx.x * BLOCK_KEYS;
    if (threadIdx.x < DIGITS) {
        first[threadIdx.x] = 0;
        end[threadIdx.x] = 0;
    }
    for (int i = threadIdx.x; i < BLOCK_KEYS; i += THREADS) {
        digits[i] = keys[i] >> shift & (DIGITS - 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BLOCK_KEYS; i += THREADS) {
        uint digit = digits[i];
        if (i == 0 || digits[i - 1] != digit) {
            first[digit] = i;
        }
        if (i == BLOCK_KEYS - 1 || digits[i + 1] != digit) {
            end[digit] = i + 1;
        }
    }
    __syncthreads();
    if (threadIdx.x < DIGITS) {
        starts[blockIdx.x * DIGITS + threadIdx.x] = first[threadIdx.x];
        counts[threadIdx.x * gridDim.x + blockIdx.x] = end[threadIdx.x] - first[threadIdx.x];
    }
}

// Replaces each count by the sum of those before it in its block, and writes the sums of blocks.
__global__ void scan_counts(uint *__restrict__ counts, uint *__restrict__ sums, int count) {
    const int at = blockIdx.x * THREADS + threadIdx.x;
    uint total;
    uint before = scan_block(at < count ? counts[at] : 0, &total);
    if (at < count) {
        counts[at] = before;
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = total;
    }
}

// Adds the sums of the blocks before.
__global__ void add_sums(uint *__restrict__ counts, const uint *__restrict__ sums, int count) {
    const int at = blockIdx.x * THREADS + threadIdx.x;
    if (at < count) {
        counts[at] += sums[blockIdx.x];
    }
}

// Moves keys to their places; those with the same digit stay together.
__global__ void scatter(const uint *__restrict__ sorted, const uint *__restrict__ starts,
                        const uint *__restrict__ offsets, uint *__restrict__ keys, int shift) {
    __shared__ uint to[DIGITS];
    if (threadIdx.x < DIGITS) {
        to[threadIdx.x] = offsets[threadIdx.x * gridDim.x + blockIdx.x] - starts[blockIdx.x * DIGITS + threadIdx.x];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BLOCK_KEYS; i += THREADS) {
        uint key = sorted[blockIdx.x * BLOCK_KEYS + i];
        keys[to[key >> shift & (DIGITS - 1)] + i] = key;
    }
}
