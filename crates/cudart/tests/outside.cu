// Reads outside of memory, which give zero under `--on-fault warn`: the neighbours of the first and the last element, and a
// buffer that was freed.
#include <cstdio>

__global__ void sums(const int *in, const int *freed, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i - 1] + in[i] + in[i + 1] + freed[i];
}

int main() {
    const int n = 256;
    int *in, *freed, *out, host[n];
    for (int i = 0; i < n; i++) host[i] = i + 1;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&freed, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(freed, host, sizeof host, cudaMemcpyHostToDevice);
    cudaFree(freed);
    for (int again = 0; again < 2; again++) sums<<<n / 64, 64>>>(in, freed, out);
    bool is_right = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess;
    for (int i = 0; i < n; i++) is_right &= host[i] == i + (i + 1) + (i + 1 < n ? i + 2 : 0);
    printf("%s\n", is_right ? "PASS" : "FAIL");
    return !is_right;
}
