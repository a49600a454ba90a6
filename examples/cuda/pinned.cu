// Memory of the host that kernels use in place: pinned, mapped and registered.
#include <cstdio>
#include <cstdlib>

__global__ void add(const int *a, const int *b, int *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main() {
    const int n = 2000;
    int *a, *b, *c = (int *)malloc(n * sizeof(int)), *da, *db, *dc;
    cudaHostAlloc(&a, n * sizeof(int), cudaHostAllocMapped);
    cudaMallocHost(&b, n * sizeof(int));
    cudaHostRegister(c, n * sizeof(int), cudaHostRegisterMapped);
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 3 * i;
    }
    cudaHostGetDevicePointer((void **)&da, a, 0);
    cudaHostGetDevicePointer((void **)&db, b, 0);
    cudaHostGetDevicePointer((void **)&dc, c, 0);
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    bool is_right = cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < n; i++) is_right &= c[i] == 4 * i;
    is_right &= cudaHostUnregister(c) == cudaSuccess && cudaFreeHost(a) == cudaSuccess && cudaFreeHost(b) == cudaSuccess;
    free(c);
    printf("%s\n", is_right ? "PASS" : "FAIL");
    return !is_right;
}
