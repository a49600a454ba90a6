// A histogram of bytes: counted in shared memory by each block, then added up.
#include <cstdio>
#include <vector>

__global__ void histogram(const unsigned char *in, int n, unsigned *bins) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

int main() {
    const int n = 20000;
    std::vector<unsigned char> in(n);
    unsigned want[256] = {}, got[256], state = 1;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        in[i] = (state >> 24) * (state >> 20 & 15) / 15;
        want[in[i]]++;
    }
    unsigned char *din;
    unsigned *bins;
    cudaMalloc(&din, n);
    cudaMalloc(&bins, sizeof got);
    cudaMemcpy(din, in.data(), n, cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, sizeof got);
    histogram<<<8, 256>>>(din, n, bins);
    cudaMemcpy(got, bins, sizeof got, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < 256; i++) wrong += got[i] != want[i];
    printf("%d bins wrong, bin 0 has %u\n%s\n", wrong, got[0], wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
