// Two kinds of numbers, each with work of its own.

#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

// Numbers of two kinds, each with its own work: what is even is multiplied, what is odd is divided.
__device__ int even(int x) {
    for (int k = 0; k < 32; k++) x = x * 5 + (x >> 7);
    return x;
}

__device__ int odd(int x) {
    for (int k = 0; k < 32; k++) x = (x ^ (x << 3)) - k;
    return x;
}

// Of 64 numbers, even ones stand at even places: one warp takes those, the next one the others.
__global__ void three(const int *in, int *out, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int i = t / 64 * 64 + t % 32 * 2 + t % 64 / 32;
    out[i] = in[i] % 2 == 0 ? even(in[i]) : odd(in[i]);
}

static int host(int x) {
    int y = x;
    if (x % 2 == 0)
        for (int k = 0; k < 32; k++) y = (int)((unsigned)y * 5 + (unsigned)(y >> 7));
    else
        for (int k = 0; k < 32; k++) y = (int)(((unsigned)y ^ ((unsigned)y << 3)) - (unsigned)k);
    return y;
}

int main() {
    const int n = 1 << 16;
    std::vector<int> in(n);
    for (size_t k = 0; k < in.size(); k++) in[k] = (int)k;
    int *from, *to;
    cudaMalloc(&from, in.size() * sizeof(int));
    cudaMalloc(&to, n * sizeof(int));
    cudaMemcpy(from, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(to, 0, n * sizeof(int));
    three<<<n / 256, 256>>>(from, to, n);
    std::vector<int> out(n);
    cudaMemcpy(out.data(), to, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int k = 0; k < n; k++) {
        int expected = host(in[k]);
        if (out[k] != expected) {
            printf("element %d is %d instead of %d\n", k, out[k], expected);
            return 1;
        }
    }
    printf("PASS\n");
    return 0;
}
