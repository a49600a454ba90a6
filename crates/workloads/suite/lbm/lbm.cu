// A fluid as particles that fly along nineteen directions and meet at the points of a grid.
#include "raddle.cuh"

#define DIRECTIONS 19
#define RELAX 1.2f

// Direction 0 stays; after it, each odd one and the next are opposite. Parts of the density at rest, times 36.
static __device__ constexpr int X[DIRECTIONS] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
static __device__ constexpr int Y[DIRECTIONS] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
static __device__ constexpr int Z[DIRECTIONS] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
static __device__ constexpr float PART[DIRECTIONS] = {12, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

// A step: what comes to a cell from its neighbours, and how it goes on. A thread has a cell, a block a row; each direction
// has a plane of its own. Walls send everything back. The world repeats itself.
__global__ void __launch_bounds__(120)
    stream_and_collide(const float *__restrict__ from, const uchar *__restrict__ is_wall, float *__restrict__ to) {
    const int width = blockDim.x, height = gridDim.x, depth = gridDim.y;
    const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    const int cells = width * height * depth;
    const int cell = (z * height + y) * width + x;
    float f[DIRECTIONS];
#pragma unroll
    for (int i = 0; i < DIRECTIONS; i++) {
        int at_x = x - X[i], at_y = y - Y[i], at_z = z - Z[i];
        at_x = at_x < 0 ? width - 1 : at_x == width ? 0 : at_x;
        at_y = at_y < 0 ? height - 1 : at_y == height ? 0 : at_y;
        at_z = at_z < 0 ? depth - 1 : at_z == depth ? 0 : at_z;
        f[i] = from[i * cells + (at_z * height + at_y) * width + at_x];
    }
    if (is_wall[cell]) {
        to[cell] = f[0];
#pragma unroll
        for (int i = 1; i < DIRECTIONS; i++) {
            to[(((i - 1) ^ 1) + 1) * cells + cell] = f[i];
        }
        return;
    }
    float density = 0.0f, u = 0.0f, v = 0.0f, w = 0.0f;
#pragma unroll
    for (int i = 0; i < DIRECTIONS; i++) {
        density += f[i];
        u += (float)X[i] * f[i];
        v += (float)Y[i] * f[i];
        w += (float)Z[i] * f[i];
    }
    float per_density = 1.0f / density;
    u *= per_density;
    v *= per_density;
    w *= per_density;
    float still = 1.0f - 1.5f * (u * u + v * v + w * w);
#pragma unroll
    for (int i = 0; i < DIRECTIONS; i++) {
        float along = (float)X[i] * u + (float)Y[i] * v + (float)Z[i] * w;
        float rest = PART[i] * (1.0f / 36.0f) * density * (still + along * (3.0f + 4.5f * along));
        to[i * cells + cell] = f[i] + RELAX * (rest - f[i]);
    }
}
