// Kernels that allocate, print and check: device malloc and free, printf, assert.
#include <cassert>
#include <cstdio>

__global__ void lists(int **out, int n) {
    int *own = (int *)malloc((threadIdx.x + 1) * sizeof(int));
    assert(own != nullptr);
    for (int i = 0; i <= threadIdx.x; i++) own[i] = i * n;
    out[threadIdx.x] = own;
}

__global__ void add_up(int **lists, int *sum) {
    int own = 0;
    for (int i = 0; i <= threadIdx.x; i++) own += lists[threadIdx.x][i];
    free(lists[threadIdx.x]);
    atomicAdd(sum, own);
    if (threadIdx.x == 31) printf("the last thread has %d\n", own);
}

int main() {
    const int n = 32;
    int **pointers, *sum, want = 0, got = 0;
    cudaMalloc(&pointers, n * sizeof(int *));
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    lists<<<1, n>>>(pointers, 3);
    add_up<<<1, n>>>(pointers, sum);
    cudaError_t error = cudaMemcpy(&got, sum, sizeof(int), cudaMemcpyDeviceToHost);
    for (int t = 0; t < n; t++)
        for (int i = 0; i <= t; i++) want += 3 * i;
    bool is_right = error == cudaSuccess && got == want;
    printf("%s, sum %d, expected %d\n%s\n", cudaGetErrorName(error), got, want, is_right ? "PASS" : "FAIL");
    return !is_right;
}
