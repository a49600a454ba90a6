// A matrix transposed.

#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define SIDE 256

// A matrix with rows and columns swapped, by tiles in shared memory.
__global__ void two(const int *in, int *out, int n) {
    __shared__ int tile[32][33];
    int x = threadIdx.x, left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int y = threadIdx.y; y < 32; y += blockDim.y) tile[y][x] = in[(top + y) * SIDE + left + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += blockDim.y) out[(left + y) * SIDE + top + x] = tile[x][y];
}

int main() {
    const int n = SIDE * SIDE;
    std::vector<int> in(n);
    for (size_t k = 0; k < in.size(); k++) in[k] = (int)k * 7;
    int *from, *to;
    cudaMalloc(&from, in.size() * sizeof(int));
    cudaMalloc(&to, n * sizeof(int));
    cudaMemcpy(from, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(to, 0, n * sizeof(int));
    two<<<dim3(SIDE / 32, SIDE / 32), dim3(32, 8)>>>(from, to, n);
    std::vector<int> out(n);
    cudaMemcpy(out.data(), to, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int k = 0; k < n; k++) {
        int expected = in[k % SIDE * SIDE + k / SIDE];
        if (out[k] != expected) {
            printf("element %d is %d instead of %d\n", k, out[k], expected);
            return 1;
        }
    }
    printf("PASS\n");
    return 0;
}
