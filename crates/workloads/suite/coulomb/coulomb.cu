// The electric potential of point charges on a slice of a grid, summed over all of them.
#include "raddle.cuh"

#define CHUNK 1024
#define POINTS 4

// x, y, the square of the distance in z, and the charge of each atom.
__constant__ float4 atoms[CHUNK];

// Adds what a chunk of the atoms contributes. A thread has four points in a row, a block's width apart.
// An SM holds 8 blocks: Table 1 of the TBC paper.
__global__ void __launch_bounds__(16 * 8, 8) potential(int count, float spacing, float *energy, int width) {
    int column = blockIdx.x * blockDim.x * POINTS + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float x = spacing * column;
    float y = spacing * row;
    float step = spacing * blockDim.x;
    float sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
    for (int i = 0; i < count; i++) {
        float4 atom = atoms[i];
        float dy = y - atom.y;
        float rest = dy * dy + atom.z;
        float dx0 = x - atom.x;
        float dx1 = dx0 + step;
        float dx2 = dx1 + step;
        float dx3 = dx2 + step;
        sum0 += atom.w * rsqrtf(dx0 * dx0 + rest);
        sum1 += atom.w * rsqrtf(dx1 * dx1 + rest);
        sum2 += atom.w * rsqrtf(dx2 * dx2 + rest);
        sum3 += atom.w * rsqrtf(dx3 * dx3 + rest);
    }
    float *out = energy + row * width + column;
    out[0] += sum0;
    out[blockDim.x] += sum1;
    out[2 * blockDim.x] += sum2;
    out[3 * blockDim.x] += sum3;
}
