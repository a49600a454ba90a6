// Each block makes a table of 256 values in eight steps; after each step all threads need all of it.

#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__device__ int next(int x) {
    asm volatile("mad.lo.s32 %0, %0, 3, 1;" : "+r"(x));
    return x;
}

// In each step, every thread makes one value.
__global__ void five(const int *in, int *out, int n) {
    __shared__ int table[256];
    table[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int step = 0; step < 8; step++) {
        int x = table[threadIdx.x];
        for (int round = 0; round < 8; round++) x = next(x);
        table[threadIdx.x] = x;
        __syncthreads();
    }
    out[blockIdx.x * 256 + threadIdx.x] = table[threadIdx.x];
}

static int host(int x, int rounds) {
    for (int k = 0; k < rounds; k++) x = (int)((unsigned)x * 3 + 1);
    return x;
}

int main() {
    const int n = 1 << 15;
    std::vector<int> in(n);
    for (size_t k = 0; k < in.size(); k++) in[k] = (int)k;
    int *from, *to;
    cudaMalloc(&from, in.size() * sizeof(int));
    cudaMalloc(&to, n * sizeof(int));
    cudaMemcpy(from, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(to, 0, n * sizeof(int));
    five<<<n / 256, 256>>>(from, to, n);
    std::vector<int> out(n);
    cudaMemcpy(out.data(), to, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int k = 0; k < n; k++) {
        int expected = host(in[k], 64);
        if (out[k] != expected) {
            printf("element %d is %d instead of %d\n", k, out[k], expected);
            return 1;
        }
    }
    printf("PASS\n");
    return 0;
}
