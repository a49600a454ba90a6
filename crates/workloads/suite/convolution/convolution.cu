// A picture smoothed along its rows and then along its columns.
#include "raddle.cuh"

#define RADIUS 8
#define ROW_BLOCK_X 16
#define ROW_BLOCK_Y 4
#define COLUMN_BLOCK_X 16
#define COLUMN_BLOCK_Y 8
#define EACH 8 // pixels of a thread

__constant__ float weights[2 * RADIUS + 1];

// A thread has every sixteenth pixel of a stretch of its row; the stretch and what is beside it go through shared memory. Outside
// of the picture it is black.
__global__ void along_rows(const float *__restrict__ from, int width, float *__restrict__ to) {
    __shared__ float tile[ROW_BLOCK_Y][(EACH + 2) * ROW_BLOCK_X];
    const int x = threadIdx.x, y = threadIdx.y;
    const int start = ((int)blockIdx.x * EACH - 1) * ROW_BLOCK_X + x;
    const float *row = from + (blockIdx.y * ROW_BLOCK_Y + y) * width;
    for (int i = 0; i < EACH + 2; i++) {
        int column = start + i * ROW_BLOCK_X;
        tile[y][x + i * ROW_BLOCK_X] = column >= 0 && column < width ? row[column] : 0.0f;
    }
    __syncthreads();
    for (int i = 1; i <= EACH; i++) {
        int column = start + i * ROW_BLOCK_X;
        if (column < width) {
            float sum = 0.0f;
            for (int by = -RADIUS; by <= RADIUS; by++) {
                sum = fmaf(weights[RADIUS - by], tile[y][x + i * ROW_BLOCK_X + by], sum);
            }
            to[(blockIdx.y * ROW_BLOCK_Y + y) * width + column] = sum;
        }
    }
}

// The same along columns.
__global__ void along_columns(const float *__restrict__ from, int width, int height, float *__restrict__ to) {
    __shared__ float tile[COLUMN_BLOCK_X][(EACH + 2) * COLUMN_BLOCK_Y + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * COLUMN_BLOCK_X + x;
    const int start = ((int)blockIdx.y * EACH - 1) * COLUMN_BLOCK_Y + y;
    for (int i = 0; i < EACH + 2; i++) {
        int row = start + i * COLUMN_BLOCK_Y;
        tile[x][y + i * COLUMN_BLOCK_Y] = row >= 0 && row < height ? from[row * width + column] : 0.0f;
    }
    __syncthreads();
    for (int i = 1; i <= EACH; i++) {
        int row = start + i * COLUMN_BLOCK_Y;
        if (row < height) {
            float sum = 0.0f;
            for (int by = -RADIUS; by <= RADIUS; by++) {
                sum = fmaf(weights[RADIUS - by], tile[x][y + i * COLUMN_BLOCK_Y + by], sum);
            }
            to[row * width + column] = sum;
        }
    }
}
