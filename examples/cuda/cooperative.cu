// Cooperative groups: sums in tiles of a warp, and a barrier across the grid.
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

__global__ void normalise(float *data, float *sums, int n) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    float sum = 0;
    for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) sum += data[i];
    for (int by = tile.size() / 2; by > 0; by /= 2) sum += tile.shfl_down(sum, by);
    if (tile.thread_rank() == 0) atomicAdd(sums, sum);
    grid.sync();
    float all = *(volatile float *)sums;
    for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) data[i] /= all;
}

int main() {
    int n = 2048;
    float *data, *sums;
    cudaMallocManaged(&data, n * sizeof(float));
    cudaMallocManaged(&sums, sizeof(float));
    for (int i = 0; i < n; i++) data[i] = i % 4;
    *sums = 0;
    void *args[] = {&data, &sums, &n};
    cudaError_t error = cudaLaunchCooperativeKernel((void *)normalise, dim3(8), dim3(128), args, 0, 0);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    float sum = 0;
    for (int i = 0; i < n; i++) sum += data[i];
    bool is_right = error == cudaSuccess && *sums == 1.5f * n && sum > 0.999f && sum < 1.001f;
    printf("%s, sum %g, then %g\n%s\n", cudaGetErrorName(error), *sums, sum, is_right ? "PASS" : "FAIL");
    return !is_right;
}
