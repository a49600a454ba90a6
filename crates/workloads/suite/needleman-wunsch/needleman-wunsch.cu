// The best alignment of two sequences: tiles of the table of scores, along its diagonals.
#include "raddle.cuh"

#define TILE 16

// A block has a tile of a diagonal: blockIdx.x more to the right than the first, and as much higher. A thread has a column of it, and
// takes its rows one after the other behind its left neighbour. Row and column 0 of the table are there already.
__global__ void align_tiles(const uchar *__restrict__ down, const uchar *__restrict__ across,
                            const int *__restrict__ likeness, int kinds, int width, int first_x, int first_y,
                            int penalty, int *__restrict__ scores) {
    __shared__ int tile[TILE + 1][TILE + 1];
    __shared__ int like[TILE][TILE];
    const int thread = threadIdx.x;
    const int left = (first_x + (int)blockIdx.x) * TILE;
    const int top = (first_y - (int)blockIdx.x) * TILE;
    int *corner = scores + top * width + left;
    const int letter = across[left + thread];
    for (int row = 0; row < TILE; row++) {
        like[row][thread] = likeness[down[top + row] * kinds + letter];
    }
    tile[0][thread + 1] = corner[thread + 1];
    tile[thread + 1][0] = corner[(thread + 1) * width];
    if (thread == 0) {
        tile[0][0] = corner[0];
    }
    __syncthreads();
    for (int step = 0; step < 2 * TILE - 1; step++) {
        int row = step - thread;
        if (row >= 0 && row < TILE) {
            int best = tile[row][thread] + like[row][thread];
            best = max(best, tile[row + 1][thread] - penalty);
            tile[row + 1][thread + 1] = max(best, tile[row][thread + 1] - penalty);
        }
        __syncthreads();
    }
    for (int row = 0; row < TILE; row++) {
        corner[(row + 1) * width + thread + 1] = tile[row + 1][thread + 1];
    }
}
