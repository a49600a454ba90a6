// Speckle reducing anisotropic diffusion, with tiles of the image in shared memory.
#include "raddle.cuh"

#define TILE 16

// Differences to the four neighbours and the coefficient of diffusion. At the border a neighbour is the point itself.
__global__ void __launch_bounds__(256, 6) srad_coefficient(const float *__restrict__ image, float *__restrict__ north, float *__restrict__ south,
                                 float *__restrict__ west, float *__restrict__ east, float *__restrict__ coefficient,
                                 int columns, int rows, float q0_squared) {
    __shared__ float tile[TILE][TILE];
    __shared__ float above[TILE], below[TILE], left[TILE], right[TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE;
    const int at = (y0 + ty) * columns + x0 + tx;

    // The rows next to the tile, the columns next to it, the tile.
    if (ty == 0) {
        above[tx] = image[max(y0 - 1, 0) * columns + x0 + tx];
        below[tx] = image[min(y0 + TILE, rows - 1) * columns + x0 + tx];
    }
    __syncthreads();
    if (tx == 0) {
        left[ty] = image[(y0 + ty) * columns + max(x0 - 1, 0)];
        right[ty] = image[(y0 + ty) * columns + min(x0 + TILE, columns - 1)];
    }
    __syncthreads();
    float center = image[at];
    tile[ty][tx] = center;
    __syncthreads();

    float n = (ty == 0 ? above[tx] : tile[ty - 1][tx]) - center;
    float s = (ty == TILE - 1 ? below[tx] : tile[ty + 1][tx]) - center;
    float w = (tx == 0 ? left[ty] : tile[ty][tx - 1]) - center;
    float e = (tx == TILE - 1 ? right[ty] : tile[ty][tx + 1]) - center;

    // The coefficient of variation, as it is here and as it is in the speckle.
    float gradient = (n * n + s * s + w * w + e * e) / (center * center);
    float laplacian = (n + s + w + e) / center;
    float numerator = 0.5f * gradient - 0.0625f * laplacian * laplacian;
    float denominator = 1.0f + 0.25f * laplacian;
    float q_squared = numerator / (denominator * denominator);
    float c = 1.0f / (1.0f + (q_squared - q0_squared) / (q0_squared * (1.0f + q0_squared)));

    north[at] = n;
    south[at] = s;
    west[at] = w;
    east[at] = e;
    coefficient[at] = fminf(fmaxf(c, 0.0f), 1.0f);
}

// A step of diffusion: needs the coefficients of the point and of its neighbours to the south and east.
__global__ void __launch_bounds__(256, 6) srad_diffuse(float *__restrict__ image, const float *__restrict__ north,
                             const float *__restrict__ south, const float *__restrict__ west,
                             const float *__restrict__ east, const float *__restrict__ coefficient, int columns,
                             int rows, float lambda) {
    __shared__ float tile[TILE][TILE];
    __shared__ float below[TILE], right[TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE;
    const int at = (y0 + ty) * columns + x0 + tx;

    if (ty == 0) {
        below[tx] = coefficient[min(y0 + TILE, rows - 1) * columns + x0 + tx];
    }
    __syncthreads();
    if (tx == 0) {
        right[ty] = coefficient[(y0 + ty) * columns + min(x0 + TILE, columns - 1)];
    }
    __syncthreads();
    float here = coefficient[at];
    tile[ty][tx] = here;
    __syncthreads();

    float to_south = ty == TILE - 1 ? below[tx] : tile[ty + 1][tx];
    float to_east = tx == TILE - 1 ? right[ty] : tile[ty][tx + 1];
    float divergence = here * (north[at] + west[at]) + to_south * south[at] + to_east * east[at];
    image[at] += 0.25f * lambda * divergence;
}
