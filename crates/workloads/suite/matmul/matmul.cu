// Product of two matrices, tile by tile in shared memory.
#include "raddle.cuh"

#define TILE 16

// A block computes a tile of c = a * b; all sizes are multiples of the tile's.
__global__ void __launch_bounds__(256, 6) matmul(float *__restrict__ c, const float *__restrict__ a, const float *__restrict__ b, int inner,
                       int columns) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y;
    const int column = blockIdx.x * TILE + x;

    float sum = 0.0f;
    for (int start = 0; start < inner; start += TILE) {
        a_tile[y][x] = a[row * inner + start + x];
        b_tile[y][x] = b[(start + y) * columns + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++) {
            sum += a_tile[y][k] * b_tile[k][x];
        }
        __syncthreads();
    }
    c[row * columns + column] = sum;
}
