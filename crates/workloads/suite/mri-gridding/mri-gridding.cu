// Gridding of samples: puts them in bins, sorts by bin, and adds each to the points of the grid around it.
#include "raddle.cuh"

#define BLOCK 512
#define BIN 4
#define RADIX 16
#define TILE_X 32
#define TILE_Y 16
#define WINDOW 128

// The window over the distance from 0 up to its half width, with one more value at the end.
__constant__ float window[WINDOW + 1];

struct Sample {
    float x, y, real, imaginary;
};

// The bin of each sample; `side` bins in a row.
__global__ void bin_samples(const Sample *__restrict__ samples, uint *__restrict__ bins, uint *__restrict__ indices,
                            int count, int side) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        Sample sample = samples[i];
        bins[i] = (int)sample.y / BIN * side + (int)sample.x / BIN;
        indices[i] = i;
    }
}

// The sum up to and with each thread's value; `sums` can be used again after a barrier.
static __device__ __forceinline__ uint scan_block(uint *sums, uint value) {
    const int thread = threadIdx.x;
    sums[thread] = value;
    __syncthreads();
    for (int stride = 1; stride < BLOCK; stride <<= 1) {
        uint other = thread >= stride ? sums[thread - stride] : 0;
        __syncthreads();
        sums[thread] += other;
        __syncthreads();
    }
    return sums[thread];
}

// Sorts tiles by up to four bits: one bit after the other, zeros before ones. Also counts the keys of each digit.
__global__ void __launch_bounds__(512, 3) split_sort(uint *__restrict__ keys, uint *__restrict__ values, uint *__restrict__ counts, int shift,
                           int bits, int count) {
    __shared__ uint sums[BLOCK];
    __shared__ uint key_tile[BLOCK];
    __shared__ uint value_tile[BLOCK];
    __shared__ uint digits[RADIX];
    const int thread = threadIdx.x;
    const int at = blockIdx.x * BLOCK + thread;
    // What is past the end is sorted to the end.
    uint key = at < count ? keys[at] : 0xffffffffu;
    uint value = at < count ? values[at] : 0;
    if (thread < RADIX) {
        digits[thread] = 0;
    }
    for (int bit = shift; bit < shift + bits; bit++) {
        uint is_one = key >> bit & 1;
        uint zeros = scan_block(sums, 1 - is_one);
        uint all_zeros = sums[BLOCK - 1];
        uint to = is_one ? all_zeros + thread - zeros : zeros - 1;
        key_tile[to] = key;
        value_tile[to] = value;
        __syncthreads();
        key = key_tile[thread];
        value = value_tile[thread];
    }
    if (at < count) {
        keys[at] = key;
        values[at] = value;
        atomicAdd(&digits[key >> shift & (RADIX - 1)], 1u);
    }
    __syncthreads();
    if (thread < RADIX) {
        counts[thread * gridDim.x + blockIdx.x] = digits[thread];
    }
}

// Sums before each element, within blocks, and the blocks' totals.
__global__ void __launch_bounds__(512, 3) scan_blocks(uint *__restrict__ data, uint *__restrict__ totals, int count) {
    __shared__ uint sums[BLOCK];
    int at = blockIdx.x * BLOCK + threadIdx.x;
    uint value = at < count ? data[at] : 0;
    uint sum = scan_block(sums, value);
    if (at < count) {
        data[at] = sum - value;
    }
    if (threadIdx.x == BLOCK - 1) {
        totals[blockIdx.x] = sum;
    }
}

// The same for the totals; one block does it.
__global__ void scan_totals(uint *__restrict__ totals, int count) {
    __shared__ uint sums[BLOCK];
    uint before = 0;
    for (int start = 0; start < count; start += BLOCK) {
        int at = start + threadIdx.x;
        uint value = at < count ? totals[at] : 0;
        uint sum = scan_block(sums, value);
        if (at < count) {
            totals[at] = before + sum - value;
        }
        before += sums[BLOCK - 1];
        __syncthreads();
    }
}

__global__ void add_totals(uint *__restrict__ data, const uint *__restrict__ totals, int count) {
    int at = blockIdx.x * BLOCK + threadIdx.x;
    if (at < count) {
        data[at] += totals[blockIdx.x];
    }
}

// Brings the keys of sorted tiles to their places. `offsets` are the scanned counts.
__global__ void __launch_bounds__(512, 3) split_rearrange(const uint *__restrict__ keys, const uint *__restrict__ values,
                                const uint *__restrict__ offsets, uint *__restrict__ keys_out,
                                uint *__restrict__ values_out, int shift, int count) {
    __shared__ uint digits[BLOCK];
    __shared__ uint starts[RADIX];
    const int thread = threadIdx.x;
    const int at = blockIdx.x * BLOCK + thread;
    uint key = at < count ? keys[at] : 0xffffffffu;
    uint digit = key >> shift & (RADIX - 1);
    digits[thread] = digit;
    __syncthreads();
    if (thread == 0 || digits[thread - 1] != digit) {
        starts[digit] = thread;
    }
    __syncthreads();
    if (at < count) {
        uint to = offsets[digit * gridDim.x + blockIdx.x] + thread - starts[digit];
        keys_out[to] = key;
        values_out[to] = values[at];
    }
}

// Puts samples in the order of their bins and finds where each bin begins, also an empty one.
__global__ void reorder(const Sample *__restrict__ samples, const uint *__restrict__ bins,
                        const uint *__restrict__ indices, Sample *__restrict__ sorted, uint *__restrict__ starts,
                        int count, int all_bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    sorted[i] = samples[indices[i]];
    int bin = bins[i];
    for (int b = i == 0 ? 0 : bins[i - 1] + 1; b <= bin; b++) {
        starts[b] = i;
    }
    if (i == count - 1) {
        for (int b = bin + 1; b <= all_bins; b++) {
            starts[b] = count;
        }
    }
}

static __device__ __forceinline__ float weight(const float *table, float distance, float scale) {
    float place = fabsf(distance) * scale;
    if (place >= (float)WINDOW) {
        return 0.0f;
    }
    int step = (int)place;
    float rest = place - (float)step;
    return table[step] + rest * (table[step + 1] - table[step]);
}

// A block has a tile of the grid. It looks at the rows of bins that can reach the tile, a batch of samples at a time.
__global__ void __launch_bounds__(512, 3) grid_samples(const Sample *__restrict__ sorted, const uint *__restrict__ starts,
                             float2 *__restrict__ grid, int side, float half_width) {
    __shared__ float table[WINDOW + 1];
    __shared__ Sample batch[BLOCK];
    const int thread = threadIdx.y * TILE_X + threadIdx.x;
    for (int i = thread; i <= WINDOW; i += BLOCK) {
        table[i] = window[i];
    }
    const int x = blockIdx.x * TILE_X + threadIdx.x;
    const int y = blockIdx.y * TILE_Y + threadIdx.y;
    const int bins = side / BIN;
    const int reach = (int)ceilf(half_width);
    const int left = max((int)blockIdx.x * TILE_X - reach, 0) / BIN;
    const int right = min((int)(blockIdx.x + 1) * TILE_X + reach, side - 1) / BIN;
    const int top = max((int)blockIdx.y * TILE_Y - reach, 0) / BIN;
    const int bottom = min((int)(blockIdx.y + 1) * TILE_Y + reach, side - 1) / BIN;
    const float scale = (float)WINDOW / half_width;

    float real = 0.0f, imaginary = 0.0f;
    for (int row = top; row <= bottom; row++) {
        int first = starts[row * bins + left];
        int end = starts[row * bins + right + 1];
        for (int from = first; from < end; from += BLOCK) {
            int count = min(end - from, BLOCK);
            __syncthreads();
            if (thread < count) {
                batch[thread] = sorted[from + thread];
            }
            __syncthreads();
            for (int i = 0; i < count; i++) {
                float dy = batch[i].y - (float)y;
                if (fabsf(dy) < half_width) {
                    float w = weight(table, dy, scale) * weight(table, batch[i].x - (float)x, scale);
                    real += w * batch[i].real;
                    imaginary += w * batch[i].imaginary;
                }
            }
        }
    }
    grid[y * side + x] = make_float2(real, imaginary);
}
