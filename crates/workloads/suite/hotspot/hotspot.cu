// Temperature of a chip: heat flows between neighbouring cells, into the surroundings, and comes from the circuits.
#include "raddle.cuh"

#define TILE 16

// Several steps of time at once. A block has a tile with a border of as many cells as there are steps: each step makes
// one ring of it useless, and what is left in the end is written.
__global__ void heat(const float *__restrict__ power, const float *__restrict__ before, float *__restrict__ after,
                     int columns, int rows, int steps, float to_x, float to_y, float to_air, float per_watt,
                     float air) {
    __shared__ float now[TILE][TILE];
    __shared__ float next[TILE][TILE];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int inner = TILE - 2 * steps;
    const int x = (int)blockIdx.x * inner - steps + tx;
    const int y = (int)blockIdx.y * inner - steps + ty;
    const bool is_on_chip = x >= 0 && x < columns && y >= 0 && y < rows;

    float watts = 0.0f;
    if (is_on_chip) {
        now[ty][tx] = before[y * columns + x];
        watts = power[y * columns + x];
    }
    __syncthreads();

    // At the edge of the chip no heat flows.
    const int west = x == 0 ? tx : tx - 1;
    const int east = x == columns - 1 ? tx : tx + 1;
    const int north = y == 0 ? ty : ty - 1;
    const int south = y == rows - 1 ? ty : ty + 1;

    bool is_mine = false;
    for (int step = 1; step <= steps; step++) {
        is_mine = is_on_chip && tx >= step && tx < TILE - step && ty >= step && ty < TILE - step;
        if (is_mine) {
            float here = now[ty][tx];
            float flow = watts * per_watt + (now[south][tx] + now[north][tx] - 2.0f * here) * to_y +
                         (now[ty][east] + now[ty][west] - 2.0f * here) * to_x + (air - here) * to_air;
            next[ty][tx] = here + flow;
        }
        __syncthreads();
        if (step == steps) {
            break;
        }
        if (is_mine) {
            now[ty][tx] = next[ty][tx];
        }
        __syncthreads();
    }
    if (is_mine) {
        after[y * columns + x] = next[ty][tx];
    }
}
