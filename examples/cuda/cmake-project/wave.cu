#include "wave.h"

__global__ void wave(const float *before, const float *now, float *after, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) after[i] = 2 * now[i] - before[i] + 0.25f * (now[i - 1] - 2 * now[i] + now[i + 1]);
}

void step(const float *before, const float *now, float *after, int n) {
    wave<<<(n + 127) / 128, 128>>>(before, now, after, n);
}
