// A matrix as the product of a lower and an upper triangle: tiles on the diagonal, along the rim, and inside.
#include "raddle.cuh"

#define TILE 16

// The tile on the diagonal. A thread has a column, then a row.
__global__ void diagonal(float *matrix, int size, int offset) {
    __shared__ float tile[TILE][TILE];
    const int thread = threadIdx.x;
    float *corner = matrix + offset * size + offset;
    for (int row = 0; row < TILE; row++) {
        tile[row][thread] = corner[row * size + thread];
    }
    __syncthreads();
    for (int i = 0; i < TILE - 1; i++) {
        if (thread > i) {
            for (int k = 0; k < i; k++) {
                tile[thread][i] -= tile[thread][k] * tile[k][i];
            }
            tile[thread][i] /= tile[i][i];
        }
        __syncthreads();
        if (thread > i) {
            for (int k = 0; k < i + 1; k++) {
                tile[i + 1][thread] -= tile[i + 1][k] * tile[k][thread];
            }
        }
        __syncthreads();
    }
    for (int row = 1; row < TILE; row++) {
        corner[row * size + thread] = tile[row][thread];
    }
}

// The tiles to the right of it and below. Half of a block's threads have one to the right, the others one below.
__global__ void perimeter(float *matrix, int size, int offset) {
    __shared__ float pivot[TILE][TILE], right[TILE][TILE], below[TILE][TILE];
    const int lane = threadIdx.x % TILE;
    const int by = (blockIdx.x + 1) * TILE;
    float *corner = matrix + offset * size + offset;
    if (threadIdx.x < TILE) {
        for (int row = 0; row < TILE; row++) {
            right[row][lane] = corner[row * size + by + lane];
            if (row < TILE / 2) {
                pivot[row][lane] = corner[row * size + lane];
            }
        }
    } else {
        for (int row = 0; row < TILE; row++) {
            below[row][lane] = corner[(by + row) * size + lane];
            if (row >= TILE / 2) {
                pivot[row][lane] = corner[row * size + lane];
            }
        }
    }
    __syncthreads();
    if (threadIdx.x < TILE) {
        for (int row = 1; row < TILE; row++) {
            for (int k = 0; k < row; k++) {
                right[row][lane] -= pivot[row][k] * right[k][lane];
            }
        }
    } else {
        for (int column = 0; column < TILE; column++) {
            for (int k = 0; k < column; k++) {
                below[lane][column] -= below[lane][k] * pivot[k][column];
            }
            below[lane][column] /= pivot[column][column];
        }
    }
    __syncthreads();
    if (threadIdx.x < TILE) {
        for (int row = 1; row < TILE; row++) {
            corner[row * size + by + lane] = right[row][lane];
        }
    } else {
        for (int row = 0; row < TILE; row++) {
            corner[(by + row) * size + lane] = below[row][lane];
        }
    }
}

// All other tiles, less the product of those at the rim.
__global__ void internal(float *matrix, int size, int offset) {
    __shared__ float right[TILE][TILE], below[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int by_x = (blockIdx.x + 1) * TILE, by_y = (blockIdx.y + 1) * TILE;
    float *corner = matrix + offset * size + offset;
    right[y][x] = corner[y * size + by_x + x];
    below[y][x] = corner[(by_y + y) * size + x];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < TILE; k++) {
        sum += below[y][k] * right[k][x];
    }
    corner[(by_y + y) * size + by_x + x] -= sum;
}
