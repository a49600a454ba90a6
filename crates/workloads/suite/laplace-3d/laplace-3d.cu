// Laplace's equation in a box, by Jacobi's method.
#include "raddle.cuh"

#define WIDTH 32
#define HEIGHT 4
#define SIDES (2 * (WIDTH + HEIGHT))

// One iteration. A block walks along z with a column of the box: the plane it is at is in shared memory with the cells
// around it, those before and after it are in registers. The surface of the box keeps its values. An SM holds 6
// blocks: Table 1 of the TBC paper.
__global__ void __launch_bounds__(WIDTH *HEIGHT, 6)
    laplace(const float *__restrict__ before, float *__restrict__ after, int nx, int ny, int nz) {
    __shared__ float plane[HEIGHT + 2][WIDTH + 2];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int x = blockIdx.x * WIDTH + tx;
    const int y = blockIdx.y * HEIGHT + ty;
    const int layer = nx * ny;
    const bool is_inside = x < nx && y < ny;
    const bool is_on_side = x == 0 || x == nx - 1 || y == 0 || y == ny - 1;

    // Some threads also fetch a cell next to the tile: first the rows above and below it, then the columns beside it.
    const int thread = ty * WIDTH + tx;
    int halo_x = 0;
    int halo_y = 0;
    if (thread < 2 * WIDTH) {
        halo_x = tx + 1;
        halo_y = thread < WIDTH ? 0 : HEIGHT + 1;
    } else if (thread < SIDES) {
        halo_x = thread & 1 ? WIDTH + 1 : 0;
        halo_y = (thread - 2 * WIDTH) / 2 + 1;
    }
    const int from_x = blockIdx.x * WIDTH + halo_x - 1;
    const int from_y = blockIdx.y * HEIGHT + halo_y - 1;
    const bool has_halo = thread < SIDES && from_x >= 0 && from_x < nx && from_y >= 0 && from_y < ny;

    int at = y * nx + x;
    int halo_at = from_y * nx + from_x;
    float below = 0.0f;
    float here = 0.0f;
    float above = 0.0f;
    if (is_inside) {
        here = before[at];
        above = before[at + layer];
        after[at] = here;
    }
    for (int z = 1; z < nz - 1; z++) {
        at += layer;
        halo_at += layer;
        if (is_inside) {
            below = here;
            here = above;
            above = before[at + layer];
            plane[ty + 1][tx + 1] = here;
        }
        if (has_halo) {
            plane[halo_y][halo_x] = before[halo_at];
        }
        __syncthreads();
        if (is_inside) {
            float value = here;
            if (!is_on_side) {
                value = (plane[ty + 1][tx] + plane[ty + 1][tx + 2] + plane[ty][tx + 1] + plane[ty + 2][tx + 1] + below +
                         above) *
                        (1.0f / 6.0f);
            }
            after[at] = value;
        }
        __syncthreads();
    }
    if (is_inside) {
        after[at + layer] = above;
    }
}
