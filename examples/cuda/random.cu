// Random numbers in kernels: pi by throwing points at a square.
#include <cmath>
#include <cstdio>
#include <curand_kernel.h>

__global__ void throw_points(unsigned seed, int points, unsigned *inside, float *sums) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, thread, 0, &state);
    unsigned own = 0;
    float sum = 0;
    for (int i = 0; i < points; i++) {
        float x = curand_uniform(&state), y = curand_uniform(&state);
        own += x * x + y * y <= 1.0f;
        sum += curand_normal(&state);
    }
    atomicAdd(inside, own);
    atomicAdd(sums, sum);
}

int main() {
    const int blocks = 4, threads = 64, points = 64;
    unsigned *inside;
    float *sums;
    cudaMallocManaged(&inside, sizeof(unsigned));
    cudaMallocManaged(&sums, sizeof(float));
    *inside = 0;
    *sums = 0;
    throw_points<<<blocks, threads>>>(42, points, inside, sums);
    cudaError_t error = cudaDeviceSynchronize();
    double all = double(blocks) * threads * points, pi = 4 * *inside / all;
    bool is_right = error == cudaSuccess && std::fabs(pi - 3.14159265) < 0.06 && std::fabs(*sums / all) < 0.05;
    printf("%s, pi is about %.3f, the mean of normal numbers %.3f\n%s\n", cudaGetErrorName(error), pi, *sums / all, is_right ? "PASS" : "FAIL");
    return !is_right;
}
