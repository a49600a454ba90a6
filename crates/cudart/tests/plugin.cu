// A library that plugin_host.cu loads and closes: its kernel uses a texture reference, managed and device variables.
#include <cstdio>
#include <cuda_runtime.h>

texture<float, 1, cudaReadModeElementType> reference;
__managed__ int managed = 5;
__device__ int calls;

__global__ void work(float *out) {
    out[threadIdx.x] = tex1Dfetch(reference, threadIdx.x) + managed;
    if (threadIdx.x == 0) calls += 1;
}

static float *device;

// Runs the kernel and says whether the result is right, which it is only if nothing is left of an earlier load.
extern "C" int plugin_run() {
    static float *texels;
    float in[4] = {1, 2, 3, 4}, out[4] = {};
    int count = -1;
    if (!device) {
        cudaMalloc(&device, sizeof out);
        cudaMalloc(&texels, sizeof in);
        cudaMemcpy(texels, in, sizeof in, cudaMemcpyHostToDevice);
        cudaBindTexture(nullptr, reference, texels, sizeof in);
    }
    work<<<1, 4>>>(device);
    int error = cudaDeviceSynchronize();
    cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&count, calls, sizeof count);
    bool is_right = !error && managed == 5 && count == 1;
    for (int i = 0; i < 4; i++) is_right &= out[i] == in[i] + 5;
    if (!is_right) printf("error %d, out %g %g %g %g, calls %d\n", error, out[0], out[1], out[2], out[3], count);
    return is_right;
}

extern "C" const void *plugin_kernel() { return (const void *)work; }

// Destructors of a library that is closed still have its kernels.
struct AtClose {
    ~AtClose() {
        if (!device) return;
        work<<<1, 4>>>(device);
        if (cudaDeviceSynchronize()) printf("no launch in the destructor\n");
    }
} at_close;
