// A convolution with its weights in constant memory, changed between two launches.
#include <cmath>
#include <cstdio>
#include <vector>

const int RADIUS = 3;
__constant__ float weights[2 * RADIUS + 1];
__device__ int edges = 0;

__global__ void convolve(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i < RADIUS || i >= n - RADIUS) {
        out[i] = 0;
        atomicAdd(&edges, 1);
        return;
    }
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++) sum += weights[k + RADIUS] * in[i + k];
    out[i] = sum;
}

int main() {
    const int n = 3000;
    std::vector<float> in(n), out(n);
    for (int i = 0; i < n; i++) in[i] = std::sin(i * 0.1f);
    float *din, *dout, own[2 * RADIUS + 1];
    cudaMalloc(&din, n * sizeof(float));
    cudaMalloc(&dout, n * sizeof(float));
    cudaMemcpy(din, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    double worst = 0;
    for (int round = 1; round <= 2; round++) {
        for (int k = 0; k < 2 * RADIUS + 1; k++) own[k] = round * (k + 1) / 10.0f;
        cudaMemcpyToSymbol(weights, own, sizeof own);
        convolve<<<(n + 127) / 128, 128>>>(din, dout, n);
        cudaMemcpy(out.data(), dout, n * sizeof(float), cudaMemcpyDeviceToHost);
        for (int i = RADIUS; i < n - RADIUS; i++) {
            double want = 0;
            for (int k = -RADIUS; k <= RADIUS; k++) want += own[k + RADIUS] * double(in[i + k]);
            worst = std::fmax(worst, std::fabs(want - out[i]));
        }
    }
    int seen = 0;
    float back[2 * RADIUS + 1];
    cudaMemcpyFromSymbol(&seen, edges, sizeof seen);
    cudaMemcpyFromSymbol(back, weights, sizeof back);
    bool is_right = worst < 1e-5 && seen == 4 * RADIUS && back[0] == own[0];
    printf("largest difference %g, %d edges\n%s\n", worst, seen, is_right ? "PASS" : "FAIL");
    return !is_right;
}
