// Running sums: within warps by shuffles, across warps in shared memory.
#include <cstdio>
#include <vector>

__global__ void scan(const int *in, int *out, int n) {
    __shared__ int sums[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int value = threadIdx.x < n ? in[threadIdx.x] : 0;
    for (int by = 1; by < 32; by *= 2) {
        int other = __shfl_up_sync(0xffffffff, value, by);
        if (lane >= by) value += other;
    }
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        int sum = lane < blockDim.x / 32 ? sums[lane] : 0;
        for (int by = 1; by < 32; by *= 2) {
            int other = __shfl_up_sync(0xffffffff, sum, by);
            if (lane >= by) sum += other;
        }
        sums[lane] = sum;
    }
    __syncthreads();
    if (warp > 0) value += sums[warp - 1];
    if (threadIdx.x < n) out[threadIdx.x] = value;
}

int main() {
    const int n = 1000;
    std::vector<int> in(n), out(n);
    for (int i = 0; i < n; i++) in[i] = i * 7 % 13 - 5;
    int *din, *dout;
    cudaMalloc(&din, n * sizeof(int));
    cudaMalloc(&dout, n * sizeof(int));
    cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    scan<<<1, 1024>>>(din, dout, n);
    cudaMemcpy(out.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost);
    int sum = 0, wrong = 0;
    for (int i = 0; i < n; i++) wrong += out[i] != (sum += in[i]);
    printf("%d wrong\n%s\n", wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
