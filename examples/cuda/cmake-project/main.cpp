// A program whose host code is compiled by the host's compiler, and whose kernels by CMake's CUDA compiler.
#include "wave.h"
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

int main() {
    const int n = 512, steps = 20;
    std::vector<float> now(n), got(n);
    for (int i = 0; i < n; i++) now[i] = std::exp(-0.01f * (i - n / 2) * (i - n / 2));
    std::vector<std::vector<float>> host(3, now);
    float *device[3];
    for (float *&buffer : device) {
        if (cudaMalloc((void **)&buffer, n * sizeof(float)) != cudaSuccess) return 1;
        cudaMemcpy(buffer, now.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    }
    for (int s = 0; s < steps; s++) {
        step(device[s % 3], device[(s + 1) % 3], device[(s + 2) % 3], n);
        const std::vector<float> &a = host[s % 3], &b = host[(s + 1) % 3];
        for (int i = 1; i < n - 1; i++)
            host[(s + 2) % 3][i] = 2 * b[i] - a[i] + 0.25f * (b[i - 1] - 2 * b[i] + b[i + 1]);
    }
    cudaError_t error = cudaMemcpy(got.data(), device[(steps + 1) % 3], n * sizeof(float), cudaMemcpyDeviceToHost);
    double worst = error == cudaSuccess ? 0 : 1e9;
    for (int i = 0; i < n; i++) worst = std::fmax(worst, std::fabs(got[i] - host[(steps + 1) % 3][i]));
    std::printf("%s, largest difference %g\n%s\n", cudaGetErrorName(error), worst, worst < 1e-4 ? "PASS" : "FAIL");
    return !(worst < 1e-4);
}
