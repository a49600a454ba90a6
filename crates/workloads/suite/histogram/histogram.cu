// Histogram of the bytes of an image, with 64 or 256 bins.
#include "raddle.cuh"

#define MOST_BINS 256
// Threads of a block are in groups, each with counters of its own.
#define GROUP 32
#define GROUPS 16
#define MERGERS 256

// A block counts bands of as many rows as it has groups, and leaves its own histogram. A row has `width` words; the
// upper bits of a byte are its bin.
__global__ void __launch_bounds__(512, 3) histogram_blocks(const uint *__restrict__ words, uint *__restrict__ partial, int width, int bands,
                                 int shift) {
    __shared__ uint counters[GROUPS * MOST_BINS];
    const int bins = MOST_BINS >> shift;
    for (int i = threadIdx.x; i < GROUPS * bins; i += blockDim.x) {
        counters[i] = 0;
    }
    __syncthreads();

    const int group = threadIdx.x / GROUP;
    uint *mine = counters + group * bins;
    for (int band = blockIdx.x; band < bands; band += gridDim.x) {
        const uint *row = words + (band * GROUPS + group) * width;
        for (int i = threadIdx.x % GROUP; i < width; i += GROUP) {
            uint word = row[i];
            atomicAdd(&mine[(word & 0xff) >> shift], 1u);
            atomicAdd(&mine[(word >> 8 & 0xff) >> shift], 1u);
            atomicAdd(&mine[(word >> 16 & 0xff) >> shift], 1u);
            atomicAdd(&mine[(word >> 24) >> shift], 1u);
        }
    }
    __syncthreads();

    for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        uint sum = 0;
        // Registers are dearer than branches.
#pragma unroll 1
        for (int i = 0; i < GROUPS; i++) {
            sum += counters[i * bins + bin];
        }
        partial[blockIdx.x * bins + bin] = sum;
    }
}

// Adds the blocks' counts, a block for each bin.
__global__ void histogram_merge(const uint *__restrict__ partial, uint *__restrict__ histogram, int blocks) {
    __shared__ uint sums[MERGERS];
    uint sum = 0;
    for (int i = threadIdx.x; i < blocks; i += MERGERS) {
        sum += partial[i * gridDim.x + blockIdx.x];
    }
    sums[threadIdx.x] = sum;
    for (int stride = MERGERS / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        if (threadIdx.x < stride) {
            sums[threadIdx.x] += sums[threadIdx.x + stride];
        }
    }
    if (threadIdx.x == 0) {
        histogram[blockIdx.x] = sums[0];
    }
}
