// The sum of an array.

#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void four(const int *in, int *sum, int n) {
    atomicAdd(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

int main() {
    const int n = 1 << 15;
    std::vector<int> in(n);
    for (size_t k = 0; k < in.size(); k++) in[k] = (int)k % 10;
    int *from, *to;
    cudaMalloc(&from, in.size() * sizeof(int));
    cudaMalloc(&to, sizeof(int));
    cudaMemcpy(from, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(to, 0, sizeof(int));
    four<<<n / 256, 256>>>(from, to, n);
    std::vector<int> out(1);
    cudaMemcpy(out.data(), to, sizeof(int), cudaMemcpyDeviceToHost);
    for (int k = 0; k < 1; k++) {
        int expected = 0;
        for (int value : in) expected += value;
        if (out[k] != expected) {
            printf("element %d is %d instead of %d\n", k, out[k], expected);
            return 1;
        }
    }
    printf("PASS\n");
    return 0;
}
