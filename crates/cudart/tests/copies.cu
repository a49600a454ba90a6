// Tiles that are copied to shared memory while the one before is summed. Needs compute capability 8.0: -arch=sm_80.
#include <cstdio>
#include <cuda_pipeline.h>
#include <vector>

const int BLOCK = 64, TILES = 9;

__global__ void sums(const float4 *in, float *out) {
    __shared__ float4 tile[2][BLOCK];
    const float4 *mine = in + blockIdx.x * TILES * BLOCK + threadIdx.x;
    __pipeline_memcpy_async(&tile[0][threadIdx.x], mine, sizeof(float4));
    __pipeline_commit();
    float sum = 0;
    for (int t = 0; t < TILES; t++) {
        if (t + 1 < TILES) {
            // The last tile is three quarters full.
            int missing = t + 2 == TILES ? sizeof(float) : 0;
            __pipeline_memcpy_async(&tile[(t + 1) % 2][threadIdx.x], mine + (t + 1) * BLOCK, sizeof(float4), missing);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 other = tile[t % 2][BLOCK - 1 - threadIdx.x];
        sum += other.x + other.y + other.z + other.w;
        __syncthreads();
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

int main() {
    const int blocks = 5, n = blocks * TILES * BLOCK;
    std::vector<float> in(4 * n), got(blocks * BLOCK);
    for (int i = 0; i < 4 * n; i++) in[i] = float(i % 97 - 40);
    float4 *din;
    float *dout;
    cudaMalloc(&din, n * sizeof(float4));
    cudaMalloc(&dout, got.size() * sizeof(float));
    cudaMemcpy(din, in.data(), n * sizeof(float4), cudaMemcpyHostToDevice);
    sums<<<blocks, BLOCK>>>(din, dout);
    cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(got.data(), dout, got.size() * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = error != cudaSuccess;
    if (wrong) fprintf(stderr, "%s\n", cudaGetErrorString(error));
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < BLOCK; i++) {
            float want = 0;
            for (int t = 0; t < TILES; t++)
                for (int k = 0; k < (t + 1 == TILES ? 3 : 4); k++)
                    want += in[4 * ((b * TILES + t) * BLOCK + BLOCK - 1 - i) + k];
            wrong += got[b * BLOCK + i] != want;
        }
    printf("%d wrong\n%s\n", wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
