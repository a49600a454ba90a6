// The sum of a vector: a tree in shared memory, then one atomic per block.
#include <cstdio>
#include <vector>

__global__ void sum(const int *in, int n, int *out) {
    extern __shared__ int part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

int main() {
    const int n = 10000, block = 128;
    std::vector<int> in(n);
    int want = 0;
    for (int i = 0; i < n; i++) want += in[i] = (i * 7919) % 1000 - 500;
    int *din, *dout, got;
    cudaMalloc(&din, n * sizeof(int));
    cudaMalloc(&dout, sizeof(int));
    cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(dout, 0, sizeof(int));
    sum<<<(n + block - 1) / block, block, block * sizeof(int)>>>(din, n, dout);
    cudaMemcpy(&got, dout, sizeof(int), cudaMemcpyDeviceToHost);
    printf("sum %d, expected %d\n%s\n", got, want, got == want ? "PASS" : "FAIL");
    return got != want;
}
