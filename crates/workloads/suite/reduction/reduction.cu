// The sum of many numbers.
#include "raddle.cuh"

#define BLOCK 256

// What a block's numbers add up to: each thread adds two, then half of the threads add the other half's sums.
__global__ void __launch_bounds__(BLOCK) reduce(const int *__restrict__ numbers, int count, int *__restrict__ sums) {
    __shared__ int shared[BLOCK];
    const int thread = threadIdx.x;
    int at = blockIdx.x * 2 * BLOCK + thread;
    int sum = at < count ? numbers[at] : 0;
    if (at + BLOCK < count) {
        sum += numbers[at + BLOCK];
    }
    shared[thread] = sum;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half >>= 1) {
        if (thread < half) {
            shared[thread] += shared[thread + half];
        }
        __syncthreads();
    }
    if (thread == 0) {
        sums[blockIdx.x] = shared[0];
    }
}
