// How soon points leave the Mandelbrot set's circle.
#include "raddle.cuh"

// The steps a pixel's point takes to leave, or `most`. Coordinates come as multiples of 2^-24.
__global__ void escape(int width, int height, int left, int top, int step, int most, int *__restrict__ steps) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) {
        return;
    }
    float real = (float)(left + column * step) * (1.0f / 16777216.0f);
    float imaginary = (float)(top + row * step) * (1.0f / 16777216.0f);
    float x = 0.0f, y = 0.0f;
    int n = 0;
    while (n < most) {
        float xx = __fmul_rn(x, x);
        float yy = __fmul_rn(y, y);
        if (xx + yy > 4.0f) {
            break;
        }
        y = fmaf(x + x, y, imaginary);
        x = xx - yy + real;
        n++;
    }
    steps[row * width + column] = n;
}
