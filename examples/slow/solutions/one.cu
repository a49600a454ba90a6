// Brightness of pixels: one number from the three colours of each.

#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

// Neighbouring threads have neighbouring pixels.
__global__ void one(const int *pixels, int *grey, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int pixel = pixels[at];
    grey[at] = ((pixel & 255) + (pixel >> 8 & 255) + (pixel >> 16 & 255)) / 3;
}

int main() {
    const int n = 1 << 16;
    std::vector<int> in(n);
    for (size_t k = 0; k < in.size(); k++) in[k] = (int)(k * 2654435761u >> 8);
    int *from, *to;
    cudaMalloc(&from, in.size() * sizeof(int));
    cudaMalloc(&to, n * sizeof(int));
    cudaMemcpy(from, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(to, 0, n * sizeof(int));
    one<<<n / 256, 256>>>(from, to, n);
    std::vector<int> out(n);
    cudaMemcpy(out.data(), to, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int k = 0; k < n; k++) {
        int pixel = in[k], expected = ((pixel & 255) + (pixel >> 8 & 255) + (pixel >> 16 & 255)) / 3;
        if (out[k] != expected) {
            printf("element %d is %d instead of %d\n", k, out[k], expected);
            return 1;
        }
    }
    printf("PASS\n");
    return 0;
}
