// Scalar products of pairs of vectors, one pair after the other for each block.
#include "raddle.cuh"

#define SUMS 1024

__global__ void __launch_bounds__(512, 3) scalar_prod(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ products,
                            int pairs, int elements) {
    __shared__ float sums[SUMS];
    for (int pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
        int start = elements * pair;
        int end = start + elements;

        // Each partial sum takes every 1024th element.
        for (int i = threadIdx.x; i < SUMS; i += blockDim.x) {
            float sum = 0.0f;
            for (int at = start + i; at < end; at += SUMS) {
                sum += a[at] * b[at];
            }
            sums[i] = sum;
        }

        // Halve them until one is left.
        for (int stride = SUMS / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            for (int i = threadIdx.x; i < stride; i += blockDim.x) {
                sums[i] += sums[i + stride];
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            products[pair] = sums[0];
        }
    }
}
