// Half precision: a dot product with pairs of 16-bit numbers, and bfloat16 beside it.
#include <cmath>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

__global__ void dot(const __half2 *a, const __half2 *b, int n, float *out) {
    __half2 sum = __float2half2_rn(0.0f);
    for (int i = threadIdx.x; i < n; i += 32) sum = __hfma2(a[i], b[i], sum);
    float own = __low2float(sum) + __high2float(sum);
    for (int by = 16; by > 0; by /= 2) own += __shfl_down_sync(0xffffffff, own, by);
    if (threadIdx.x == 0) *out = own;
}

__global__ void scale(const __nv_bfloat16 *in, float *out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = __bfloat162float(in[i]) * 2.0f;
}

int main() {
    const int n = 256;
    std::vector<__half> a(n), b(n);
    std::vector<__nv_bfloat16> c(n);
    double want = 0;
    for (int i = 0; i < n; i++) {
        a[i] = __float2half((i % 8) / 4.0f);
        b[i] = __float2half(i % 3 - 1.0f);
        c[i] = __float2bfloat16(float(i));
        want += (i % 8) / 4.0 * (i % 3 - 1.0);
    }
    __half2 *da, *db;
    __nv_bfloat16 *dc;
    float *out, *scaled;
    cudaMalloc(&da, n * sizeof(__half));
    cudaMalloc(&db, n * sizeof(__half));
    cudaMalloc(&dc, n * sizeof(__nv_bfloat16));
    cudaMallocManaged(&out, sizeof(float));
    cudaMallocManaged(&scaled, n * sizeof(float));
    cudaMemcpy(da, a.data(), n * sizeof(__half), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), n * sizeof(__half), cudaMemcpyHostToDevice);
    cudaMemcpy(dc, c.data(), n * sizeof(__nv_bfloat16), cudaMemcpyHostToDevice);
    dot<<<1, 32>>>(da, db, n / 2, out);
    scale<<<1, n>>>(dc, scaled, n);
    bool is_right = cudaDeviceSynchronize() == cudaSuccess && std::fabs(*out - want) < 0.05;
    for (int i = 0; i < n; i++) is_right &= scaled[i] == 2.0f * i;
    printf("dot product %g, expected %g\n%s\n", *out, want, is_right ? "PASS" : "FAIL");
    return !is_right;
}
