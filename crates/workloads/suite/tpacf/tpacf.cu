// How often galaxies are so far from each other: a histogram of the angles between all pairs.
#include "raddle.cuh"

#define BLOCK 256
#define BINS 20
#define COPIES 8 // of the histogram, so that threads seldom meet

// Cosines of the angles at which bins begin, from small angles to large ones.
__constant__ float limits[BINS + 1];

// A block has a stretch of the first list, one point a thread, and one of the second; `is_same` says that the lists are the
// same and that each pair counts once.
__global__ void __launch_bounds__(BLOCK, 3)
    angles(const float *__restrict__ first, const float *__restrict__ second, int count, int is_same,
           uint *__restrict__ histograms) {
    __shared__ float3 others[BLOCK];
    __shared__ uint bins[COPIES][BINS + 2];
    const int thread = threadIdx.x;
    for (int i = thread; i < COPIES * (BINS + 2); i += BLOCK) {
        bins[i / (BINS + 2)][i % (BINS + 2)] = 0;
    }
    const int own = blockIdx.x * BLOCK + thread;
    float3 me = make_float3(0.0f, 0.0f, 0.0f);
    if (own < count) {
        me = make_float3(first[own], first[count + own], first[2 * count + own]);
    }
    const int start = blockIdx.y * BLOCK;
    if (start + thread < count) {
        int at = start + thread;
        others[thread] = make_float3(second[at], second[count + at], second[2 * count + at]);
    }
    __syncthreads();
    if (own < count && !(is_same && start + BLOCK <= own)) {
        for (int i = 0; i < min(BLOCK, count - start); i++) {
            if (is_same && start + i <= own) {
                continue;
            }
            float3 other = others[i];
            float cosine = fmaf(me.x, other.x, fmaf(me.y, other.y, __fmul_rn(me.z, other.z)));
            // The bin, by halving; 0 and the last are what no bin has.
            int low = 0, high = BINS + 1;
            while (low < high) {
                int middle = (low + high) / 2;
                if (cosine >= limits[middle]) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            atomicAdd(&bins[thread % COPIES][low], 1u);
        }
    }
    __syncthreads();
    if (thread < BINS + 2) {
        uint sum = 0;
        for (int copy = 0; copy < COPIES; copy++) {
            sum += bins[copy][thread];
        }
        histograms[(blockIdx.y * gridDim.x + blockIdx.x) * (BINS + 2) + thread] = sum;
    }
}
