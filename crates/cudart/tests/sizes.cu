// Limits, and sizes that are too large: both interfaces refuse them with the documented errors.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>
#include <initializer_list>
#include <sys/mman.h>

static int checked = 0, wrong = 0;

static void expect(const char *what, long long got, long long want) {
    checked++;
    if (got == want) return;
    wrong++;
    printf("%s: %lld, expected %lld\n", what, got, want);
}
#define EXPECT(call, want) expect(#call, (long long)(call), (long long)(want))

__global__ void nothing() {}
__global__ void dynamic(int *p) {
    extern __shared__ int words[];
    words[threadIdx.x] = 1;
    *p = words[0];
}
// How many blocks of a size the heap gives. They are kept, or the compiler would leave them out.
__device__ char *kept[100];
__global__ void take(int count, size_t bytes, int *got) {
    *got = 0;
    for (int i = 0; i < count; i++) {
        kept[i] = (char *)malloc(bytes);
        if (kept[i]) {
            kept[i][0] = 1;
            *got += 1;
        }
    }
}
__global__ void say() { printf("said\n"); }

static int taken(int count, size_t bytes) {
    int *got, host = -1;
    cudaMalloc(&got, sizeof host);
    take<<<1, 1>>>(count, bytes, got);
    cudaMemcpy(&host, got, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(got);
    return host;
}

static void limits() {
    size_t value = 0;
    const size_t MB = 1 << 20;
    EXPECT(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize), cudaSuccess);
    EXPECT(value, 8 * MB);
    EXPECT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, SIZE_MAX), cudaErrorMemoryAllocation);
    EXPECT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 * MB), cudaSuccess);
    EXPECT(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize), cudaSuccess);
    EXPECT(value, 64 * MB);
    // Each block has a header.
    EXPECT(taken(100, MB), 63);
    EXPECT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 * MB), cudaErrorInvalidValue);
    EXPECT(cudaDeviceReset(), cudaSuccess);
    EXPECT(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize), cudaSuccess);
    EXPECT(value, 8 * MB);
    EXPECT(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, MB / 2), 0);
    EXPECT(taken(100, MB / 16), 7);
    EXPECT(cudaDeviceGetLimit(&value, cudaLimitPrintfFifoSize), cudaSuccess);
    EXPECT(value, MB);
    EXPECT(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 * MB), cudaSuccess);
    EXPECT(cudaDeviceGetLimit(&value, cudaLimitPrintfFifoSize), cudaSuccess);
    EXPECT(value, 2 * MB);
    EXPECT(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, SIZE_MAX), cudaErrorMemoryAllocation);
    say<<<1, 1>>>();
    EXPECT(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, MB), cudaErrorInvalidValue);
    EXPECT(cudaDeviceSetLimit(cudaLimitStackSize, 4096), cudaSuccess);
    EXPECT(cudaDeviceGetLimit(&value, cudaLimitStackSize), cudaSuccess);
    EXPECT(value, 4096);
    EXPECT(cudaDeviceSetLimit(cudaLimitStackSize, MB), cudaErrorInvalidValue);
    EXPECT(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 1), cudaErrorUnsupportedLimit);
    EXPECT(cudaDeviceReset(), cudaSuccess);
}

static void allocations() {
    void *p = nullptr;
    size_t pitch = 0;
    for (size_t size : {SIZE_MAX, SIZE_MAX - 511, SIZE_MAX / 2 + 1}) {
        EXPECT(cudaMalloc(&p, size), cudaErrorMemoryAllocation);
        EXPECT(cudaMallocHost(&p, size), cudaErrorMemoryAllocation);
        EXPECT(cudaMallocManaged(&p, size), cudaErrorMemoryAllocation);
        EXPECT(cudaMallocPitch(&p, &pitch, size, 1), cudaErrorMemoryAllocation);
        EXPECT(cudaMallocPitch(&p, &pitch, 1, size), cudaErrorMemoryAllocation);
        cudaPitchedPtr pitched;
        EXPECT(cudaMalloc3D(&pitched, make_cudaExtent(size, 1, 1)), cudaErrorMemoryAllocation);
        EXPECT(cudaMalloc3D(&pitched, make_cudaExtent(1, size, 1)), cudaErrorMemoryAllocation);
        EXPECT(cudaMalloc3D(&pitched, make_cudaExtent(1, 1, size)), cudaErrorMemoryAllocation);
        cudaChannelFormatDesc texel = cudaCreateChannelDesc<float>();
        cudaArray_t array;
        EXPECT(cudaMallocArray(&array, &texel, size, 1), cudaErrorMemoryAllocation);
        EXPECT(cudaMallocArray(&array, &texel, 1, size), cudaErrorMemoryAllocation);
        EXPECT(cudaMalloc3DArray(&array, &texel, make_cudaExtent(1, 1, size)), cudaErrorMemoryAllocation);
    }
}

// Memory is given back in the way in which it was got.
static void freeing() {
    const size_t size = 3 * 4096;
    char *device, *pinned, *managed;
    char *host = (char *)mmap(nullptr, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(host + size, 4096);
    EXPECT(cudaMalloc(&device, size), cudaSuccess);
    EXPECT(cudaMallocHost(&pinned, size), cudaSuccess);
    EXPECT(cudaMallocManaged(&managed, size), cudaSuccess);
    EXPECT(cudaHostRegister(host, SIZE_MAX, 0), cudaErrorInvalidValue);
    EXPECT(cudaHostRegister(host, size + 1, 0), cudaErrorInvalidValue);
    EXPECT(cudaHostRegister((void *)limits, 16, 0), cudaErrorInvalidValue);
    EXPECT(cudaHostRegister(host + 4096, 4096, 0), cudaSuccess);
    EXPECT(cudaHostRegister(host, 4096 + 1, 0), cudaErrorHostMemoryAlreadyRegistered);
    EXPECT(cudaHostRegister(host, size, 0), cudaErrorHostMemoryAlreadyRegistered);
    EXPECT(cudaHostRegister(host + 2 * 4096, 4096, 0), cudaSuccess);
    EXPECT(cudaHostRegister(pinned, size, 0), cudaErrorHostMemoryAlreadyRegistered);
    EXPECT(cudaHostUnregister(device), cudaErrorHostMemoryNotRegistered);
    EXPECT(cudaHostUnregister(pinned), cudaErrorHostMemoryNotRegistered);
    EXPECT(cudaHostUnregister(host), cudaErrorHostMemoryNotRegistered);
    EXPECT(cudaFree(pinned), cudaErrorInvalidValue);
    EXPECT(cudaFree(host + 4096), cudaErrorInvalidValue);
    EXPECT(cudaFreeHost(device), cudaErrorInvalidValue);
    EXPECT(cudaFreeHost(host + 4096), cudaErrorInvalidValue);
    EXPECT(cudaMemset(device, 1, size), cudaSuccess);
    EXPECT(cudaHostUnregister(host + 4096), cudaSuccess);
    EXPECT(cudaHostUnregister(host + 2 * 4096), cudaSuccess);
    EXPECT(cudaFree(device), cudaSuccess);
    EXPECT(cudaFreeHost(pinned), cudaSuccess);
    EXPECT(cudaFree(managed), cudaSuccess);
}

static void launches() {
    int blocks = -1, *p;
    cudaMalloc(&p, sizeof *p);
    const size_t large = (size_t(1) << 32) + 64;
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic, 64, large), cudaSuccess);
    EXPECT(blocks, 0);
    void *args[] = {&p};
    EXPECT(cudaLaunchKernel((const void *)dynamic, dim3(1), dim3(64), args, large, 0), cudaErrorInvalidValue);
    EXPECT(cudaLaunchCooperativeKernel((const void *)dynamic, dim3(1), dim3(64), args, large, 0), cudaErrorInvalidValue);
    cudaGetLastError();
}

static void driver() {
    const char *text = ".version 6.0\n.target sm_50\n.address_size 64\n.global .b8 data[1000000];\n"
                       ".visible .entry k(.param .u32 a){ ret; }\n";
    CUdeviceptr at;
    CUmodule module;
    CUfunction function;
    EXPECT(cuMemAlloc(&at, 64), 0);
    EXPECT(cuMemsetD32(at, 5, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemsetD32(at, 5, SIZE_MAX / 4 + 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemsetD32(at, 5, size_t(1) << 40), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemsetD32(at, 5, 17), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemsetD32(at + 2, 5, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemsetD32(at, 0x01020304, 16), 0);
    unsigned word = 0;
    EXPECT(cuMemcpyDtoH(&word, at + 60, 4), 0);
    EXPECT(word, 0x01020304);
    // A header with a length that is not there.
    unsigned *header = (unsigned *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    header[0] = 0xBA55ED50, header[1] = 0x00100001;
    for (unsigned long long length : {~0ull, 1ull << 40, 0x100000ull, 4096ull}) {
        header[2] = unsigned(length), header[3] = unsigned(length >> 32);
        int code = cuModuleLoadData(&module, header);
        EXPECT(code == CUDA_ERROR_INVALID_IMAGE || code == CUDA_ERROR_NO_BINARY_FOR_GPU, true);
    }
    EXPECT(cuModuleLoadData(&module, text), 0);
    EXPECT(cuModuleGetFunction(&function, module, "k"), 0);
    size_t size = SIZE_MAX;
    int argument = 0;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &argument, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    EXPECT(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, nullptr, extra), 0);
    EXPECT(cuModuleUnload(module), 0);
    EXPECT(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, nullptr, extra) != 0, true);
    EXPECT(cuModuleGetFunction(&function, module, "k"), CUDA_ERROR_INVALID_HANDLE);
    cudaGetLastError();
    // Modules that are unloaded leave nothing behind.
    size_t before = 0, after = 0, all = 0;
    EXPECT(cuMemGetInfo(&before, &all), 0);
    for (int i = 0; i < 3000 && !wrong; i++) {
        EXPECT(cuModuleLoadData(&module, text), 0);
        EXPECT(cuModuleUnload(module), 0);
    }
    EXPECT(cuMemGetInfo(&after, &all), 0);
    EXPECT(after, before);
    cuMemFree(at);
}

int main() {
    limits();
    allocations();
    freeing();
    launches();
    driver();
    nothing<<<1, 1>>>();
    EXPECT(cudaDeviceSynchronize(), cudaSuccess);
    printf("%d checked, %d wrong\n%s\n", checked, wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
