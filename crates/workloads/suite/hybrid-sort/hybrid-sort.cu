// Sorts numbers: into buckets of about the same size first, then every bucket by merging.
#include "raddle.cuh"

#define BINS 1024
#define MOST_BUCKETS 1024

// How many numbers, which are from 0 to 1, are in each of the bins.
__global__ void histogram(const float *__restrict__ numbers, int count, uint *__restrict__ bins) {
    __shared__ uint own[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        own[bin] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[min((int)(numbers[i] * BINS), BINS - 1)], 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        if (own[bin] != 0) {
            atomicAdd(&bins[bin], own[bin]);
        }
    }
}

// The bucket of each number, by looking for it among the limits, and its place among the block's numbers of that bucket.
__global__ void bucket_count(const float *__restrict__ numbers, int count, const float *__restrict__ limits,
                             int buckets, int each, uint *__restrict__ places, uint *__restrict__ counts) {
    __shared__ uint own[MOST_BUCKETS];
    for (int bucket = threadIdx.x; bucket < buckets; bucket += blockDim.x) {
        own[bucket] = 0;
    }
    __syncthreads();
    const int start = blockIdx.x * each;
    for (int i = start + threadIdx.x; i < min(start + each, count); i += blockDim.x) {
        float number = numbers[i];
        int low = 0, high = buckets - 1;
        while (low < high) {
            int middle = (low + high) / 2;
            if (number < limits[middle]) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        places[i] = atomicAdd(&own[low], 1u) << 10 | low;
    }
    __syncthreads();
    for (int bucket = threadIdx.x; bucket < buckets; bucket += blockDim.x) {
        counts[blockIdx.x * buckets + bucket] = own[bucket];
    }
}

// For each bucket, where every block's numbers begin in it, and how many there are.
__global__ void bucket_offsets(uint *__restrict__ counts, int blocks, int buckets, uint *__restrict__ sizes) {
    int bucket = blockIdx.x * blockDim.x + threadIdx.x;
    if (bucket >= buckets) {
        return;
    }
    uint before = 0;
    for (int block = 0; block < blocks; block++) {
        uint size = counts[block * buckets + bucket];
        counts[block * buckets + bucket] = before;
        before += size;
    }
    sizes[bucket] = before;
}

// Numbers to their buckets, which begin where `begins` says.
__global__ void bucket_sort(const float *__restrict__ numbers, int count, const uint *__restrict__ places,
                            const uint *__restrict__ counts, const uint *__restrict__ begins, int buckets, int each,
                            float *__restrict__ sorted) {
    const int start = blockIdx.x * each;
    for (int i = start + threadIdx.x; i < min(start + each, count); i += blockDim.x) {
        uint bucket = places[i] & 1023;
        sorted[begins[bucket] + counts[blockIdx.x * buckets + bucket] + (places[i] >> 10)] = numbers[i];
    }
}

static __device__ __forceinline__ void order(float *a, float *b) {
    float low = fminf(*a, *b);
    *b = fmaxf(*a, *b);
    *a = low;
}

// Every four numbers.
__global__ void sort_fours(float4 *__restrict__ numbers, int fours) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= fours) {
        return;
    }
    float4 four = numbers[i];
    order(&four.x, &four.y);
    order(&four.z, &four.w);
    order(&four.x, &four.z);
    order(&four.y, &four.w);
    order(&four.y, &four.z);
    numbers[i] = four;
}

// A thread merges two lists of `length` numbers of its bucket into one. Threads of a bucket come after those of the one
// before, from lists[bucket] on.
__global__ void merge_lists(const float *__restrict__ from, float *__restrict__ to, const uint *__restrict__ begins,
                            const uint *__restrict__ lists, int buckets, int length) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= lists[buckets]) {
        return;
    }
    int bucket = 0, above = buckets;
    while (above - bucket > 1) {
        int middle = (bucket + above) / 2;
        if (lists[middle] <= thread) {
            bucket = middle;
        } else {
            above = middle;
        }
    }
    uint a = begins[bucket] + (thread - lists[bucket]) * 2 * length;
    uint end = min(a + 2 * length, begins[bucket + 1]);
    uint b = min(a + length, end);
    uint end_a = b;
    for (uint at = a; at < end; at++) {
        if (b >= end || (a < end_a && from[a] <= from[b])) {
            to[at] = from[a++];
        } else {
            to[at] = from[b++];
        }
    }
}

// What is in the buckets, without the room that is left in them. A row of blocks has a bucket.
__global__ void merge_pack(const float *__restrict__ from, const uint *__restrict__ begins,
                           const uint *__restrict__ sizes, const uint *__restrict__ final_begins, float *__restrict__ to) {
    int bucket = blockIdx.y;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < sizes[bucket]) {
        to[final_begins[bucket] + i] = from[begins[bucket] + i];
    }
}
