// Sorts short lists, a block each, by bitonic merging in shared memory.
#include "raddle.cuh"

#define BLOCK 512

// A thread has a number, and of each pair the lower thread exchanges.
__global__ void __launch_bounds__(BLOCK) sort_lists(const uint *__restrict__ keys, uint *__restrict__ sorted) {
    __shared__ uint list[BLOCK];
    const int thread = threadIdx.x;
    list[thread] = keys[blockIdx.x * BLOCK + thread];
    __syncthreads();
    for (int size = 2; size <= BLOCK; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            int other = thread ^ stride;
            if (other > thread) {
                uint a = list[thread];
                uint b = list[other];
                if ((a > b) == ((thread & size) == 0)) {
                    list[thread] = b;
                    list[other] = a;
                }
            }
            __syncthreads();
        }
    }
    sorted[blockIdx.x * BLOCK + thread] = list[thread];
}
