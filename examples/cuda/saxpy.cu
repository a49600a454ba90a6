// y = a x + y over a vector.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1 << 14;
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; i++) {
        x[i] = i % 100;
        y[i] = 1;
    }
    float *dx, *dy;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);

    saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, dx, dy);

    cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(dx);
    cudaFree(dy);
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += std::fabs(y[i] - (2 * (i % 100) + 1)) > 1e-6f;
    printf("%d elements, %d wrong\n%s\n", n, wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
