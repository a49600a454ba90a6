// Sums of words that are far apart.

#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define ROOM 256

// The sum of eight words far apart, through a buffer in shared memory.
__global__ void six(const int *in, int *out, int n) {
    __shared__ volatile int buffer[ROOM];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int k = 0; k < 8; k++) {
        buffer[threadIdx.x] = in[(i + k * 8192) & (n - 1)];
        sum += buffer[threadIdx.x];
    }
    out[i] = sum;
}

int main() {
    const int n = 1 << 16;
    std::vector<int> in(n);
    for (size_t k = 0; k < in.size(); k++) in[k] = (int)k % 1000;
    int *from, *to;
    cudaMalloc(&from, in.size() * sizeof(int));
    cudaMalloc(&to, n * sizeof(int));
    cudaMemcpy(from, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(to, 0, n * sizeof(int));
    six<<<n / 256, 256>>>(from, to, n);
    std::vector<int> out(n);
    cudaMemcpy(out.data(), to, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int k = 0; k < n; k++) {
        int expected = 0;
        for (int j = 0; j < 8; j++) expected += in[(k + j * 8192) & (n - 1)];
        if (out[k] != expected) {
            printf("element %d is %d instead of %d\n", k, out[k], expected);
            return 1;
        }
    }
    printf("PASS\n");
    return 0;
}
