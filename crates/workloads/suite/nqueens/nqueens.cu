// In how many ways queens can stand on a chess board so that none attacks another.
#include "raddle.cuh"

#define BLOCK 96
#define MAX_DEPTH 12

// The first rows of a board are filled; a thread counts the ways to fill the rest. A bit for each column of a row says
// where no queen can stand because of one straight above, or on one of the diagonals.
__global__ void __launch_bounds__(BLOCK) count_ways(const uint4 *__restrict__ boards, int count, int size, int filled,
                                                    unsigned *__restrict__ ways, ull *total) {
    // What is left to try in each row, and the three reasons why a column is taken there.
    __shared__ unsigned open[MAX_DEPTH][BLOCK];
    __shared__ unsigned straight[MAX_DEPTH][BLOCK];
    __shared__ unsigned left[MAX_DEPTH][BLOCK];
    __shared__ unsigned right[MAX_DEPTH][BLOCK];
    __shared__ unsigned sums[BLOCK];
    const int me = threadIdx.x;
    const int board = blockIdx.x * BLOCK + me;
    const unsigned all = (1u << size) - 1;
    const int last = size - filled - 1;

    unsigned found = 0;
    if (board < count) {
        uint4 taken = boards[board];
        int row = 0;
        straight[0][me] = taken.x;
        left[0][me] = taken.y;
        right[0][me] = taken.z;
        open[0][me] = all & ~(taken.x | taken.y | taken.z);
        while (row >= 0) {
            unsigned choices = open[row][me];
            if (choices == 0) {
                row--;
                continue;
            }
            unsigned queen = choices & (0u - choices);
            open[row][me] = choices ^ queen;
            if (row == last) {
                found++;
                row--;
                continue;
            }
            unsigned s = straight[row][me] | queen;
            unsigned l = (left[row][me] | queen) << 1;
            unsigned r = (right[row][me] | queen) >> 1;
            row++;
            straight[row][me] = s;
            left[row][me] = l;
            right[row][me] = r;
            open[row][me] = all & ~(s | l | r);
        }
        // Boards mirrored are not among them.
        found *= taken.w;
        ways[board] = found;
    }

    sums[me] = found;
    __syncthreads();
    for (int half = BLOCK / 2; half >= 3; half /= 2) {
        if (me < half) {
            sums[me] += sums[me + half];
        }
        __syncthreads();
    }
    if (me == 0) {
        atomicAdd(total, (ull)(sums[0] + sums[1] + sums[2]));
    }
}
