// A stencil on a grid of points, step after step in one launch: blocks wait for each other.
#include "raddle.cuh"

// Waits until all blocks have come here for the `round`-th time, from 1. All of them must be resident.
static __device__ void grid_barrier(uint *arrived, uint round) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (*(volatile uint *)arrived < round * gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
}

// Jacobi steps for Poisson's equation. A block has a band of rows; the points at the border never change.
__global__ void __launch_bounds__(512, 2) stencil_sync(volatile float *a, volatile float *b, const float *__restrict__ source, int columns,
                             int rows, int steps, uint *arrived) {
    const int band = (rows - 2 + gridDim.x - 1) / gridDim.x;
    const int first = 1 + blockIdx.x * band;
    const int last = min(first + band, rows - 1);
    for (int step = 1; step <= steps; step++) {
        for (int y = first; y < last; y++) {
            for (int x = 1 + threadIdx.x; x < columns - 1; x += blockDim.x) {
                int at = y * columns + x;
                float around = a[at - columns] + a[at + columns] + a[at - 1] + a[at + 1];
                b[at] = 0.25f * (around + source[at]);
            }
        }
        grid_barrier(arrived, step);
        volatile float *swap = a;
        a = b;
        b = swap;
    }
}
