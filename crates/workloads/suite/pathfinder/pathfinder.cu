// The cheapest way through a grid from its first row to its last, a step down or diagonally down at a time.
#include "raddle.cuh"

#define BLOCK 256
#define FAR 0x3fffffff

// Some rows at once: a block computes its columns and, less of them with every row, columns beside it, so that it needs
// nothing of its neighbours.
__global__ void __launch_bounds__(BLOCK) rows(const int *__restrict__ costs, const int *__restrict__ before, int columns,
                                              int row, int steps, int *__restrict__ after) {
    __shared__ int now[BLOCK];
    const int thread = threadIdx.x;
    const int column = (int)blockIdx.x * (BLOCK - 2 * steps) - steps + thread;
    const bool is_inside = column >= 0 && column < columns;
    now[thread] = is_inside ? before[column] : FAR;
    for (int step = 0; step < steps; step++) {
        __syncthreads();
        int best = now[thread];
        bool is_known = thread > step && thread < BLOCK - 1 - step;
        if (is_known && is_inside) {
            best = min(best, min(now[thread - 1], now[thread + 1]));
            best += costs[(row + step) * columns + column];
        }
        __syncthreads();
        if (is_known) {
            now[thread] = best;
        }
    }
    if (thread >= steps && thread < BLOCK - steps && is_inside) {
        after[column] = now[thread];
    }
}
