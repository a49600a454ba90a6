// A product of 16 by 16 matrices on tensor cores: half precision in, single precision out.
#include <cmath>
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>

using namespace nvcuda;

__global__ void multiply(const half *a, const half *b, float *c, int tiles) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int t = 0; t < tiles; t++) {
        wmma::load_matrix_sync(fa, a + 16 * t, 16 * tiles);
        wmma::load_matrix_sync(fb, b + 16 * t, 16 * tiles);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

int main() {
    const int tiles = 3, k = 16 * tiles;
    std::vector<half> a(16 * k), b(16 * k);
    std::vector<float> c(256);
    for (int i = 0; i < 16 * k; i++) {
        a[i] = __float2half((i * 5 % 11 - 5) / 4.0f);
        b[i] = __float2half((i * 3 % 7 - 3) / 2.0f);
    }
    half *da, *db;
    float *dc;
    cudaMalloc(&da, a.size() * sizeof(half));
    cudaMalloc(&db, b.size() * sizeof(half));
    cudaMalloc(&dc, c.size() * sizeof(float));
    cudaMemcpy(da, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice);
    multiply<<<1, 32>>>(da, db, dc, tiles);
    cudaError_t error = cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
    double worst = error == cudaSuccess ? 0 : 1e9;
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            double want = 0;
            for (int n = 0; n < k; n++) want += double(__half2float(a[i * k + n])) * __half2float(b[j * k + n]);
            worst = std::fmax(worst, std::fabs(want - c[16 * i + j]));
        }
    printf("%s, largest difference %g\n%s\n", cudaGetErrorName(error), worst, worst < 1e-3 ? "PASS" : "FAIL");
    return !(worst < 1e-3);
}
