// Kernels and device functions in several files, linked together: nvcc -rdc=true.
#include "particle.cuh"
#include <cmath>
#include <cstdio>
#include <vector>

__global__ void fly(Particle *particles, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int s = 0; s < steps; s++) move(particles[i], 0.125f);
}

int main() {
    const int n = 300, steps = 8;
    int wrong = moves != 5;
    moves = 0;
    std::vector<Particle> particles(n);
    for (int i = 0; i < n; i++) particles[i] = {0, float(i)};
    Particle *device;
    cudaMalloc(&device, n * sizeof(Particle));
    cudaMemcpy(device, particles.data(), n * sizeof(Particle), cudaMemcpyHostToDevice);
    fly<<<(n + 127) / 128, 128>>>(device, n, steps);
    cudaError_t error = cudaMemcpy(particles.data(), device, n * sizeof(Particle), cudaMemcpyDeviceToHost);
    wrong += error != cudaSuccess || moves != n * steps;
    for (int i = 0; i < n; i++) wrong += std::fabs(particles[i].speed - (i - 10)) > 1e-3f;
    printf("%s, %d wrong\n%s\n", cudaGetErrorName(error), wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
