// The program's own memory is never at addresses that mean something else. Linked with -no-pie, its heap grows towards
// them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <unistd.h>
#include <vector>

__global__ void add_one(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 1;
}

// Heap before the first call, as constructors of programs have.
static const uintptr_t WINDOWS = 0x10000000, WINDOWS_END = 0x70000000, DEVICE = 0xC0000000, FAR = DEVICE + (64ull << 30);
static int wrong = 0, in_windows = 0;

static bool is_in_window(const void *p) { return (uintptr_t)p >= WINDOWS && (uintptr_t)p < WINDOWS_END; }
static bool is_in_device(const void *p) { return (uintptr_t)p >= DEVICE && (uintptr_t)p < FAR; }

// Blocks just below the size from which malloc maps them, so that they come from the heap; none of them is touched.
static void grow(size_t bytes) {
    for (size_t done = 0; done < bytes; done += 100000) {
        void *p = malloc(100000);
        in_windows += is_in_window(p);
        wrong += is_in_device(p) || is_in_device((char *)p + 99999);
    }
}
struct Early {
    Early() { grow(300 << 20); }
} early;

int main() {
    int *device;
    const int n = 1000;
    cudaMalloc(&device, n * sizeof(int));
    if ((uintptr_t)device != DEVICE) wrong++, printf("device memory starts at %p\n", device);
    grow(size_t(4) << 30);
    // Copies go where they say, and registered memory is seen at its own address.
    std::vector<int> host(n), back(n);
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMemcpy(device, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    // The system may let the heap begin in a window, and such memory is refused; what follows is elsewhere.
    wrong += in_windows > 2;
    int *own = (int *)malloc(n * sizeof(int));
    while (is_in_window(own)) {
        wrong += cudaHostRegister(own, n * sizeof(int), 0) != cudaErrorInvalidValue;
        own = (int *)malloc(n * sizeof(int));
    }
    for (int i = 0; i < n; i++) own[i] = 7 * i;
    wrong += cudaHostRegister(own, n * sizeof(int), 0) != cudaSuccess;
    add_one<<<8, 128>>>(device, n);
    add_one<<<8, 128>>>(own, n);
    wrong += cudaMemcpy(back.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess;
    for (int i = 0; i < n; i++) wrong += back[i] != i + 1 || own[i] != 7 * i + 1;
    cudaHostUnregister(own);
    // Addresses are not used twice, so that they run out and more are taken.
    for (int i = 0; i < 12; i++) {
        char *p;
        wrong += cudaMalloc(&p, size_t(4) << 30) != cudaSuccess || cudaMemset(p, 1, 16) != cudaSuccess;
        wrong += cudaFree(p) != cudaSuccess;
    }
    grow(64 << 20);
    // More pinned allocations than a process may have mappings.
    std::vector<int *> pinned(70000);
    for (auto &p : pinned) {
        wrong += cudaMallocHost(&p, sizeof(int)) != cudaSuccess;
        if (wrong) break;
        *p = 3;
    }
    if (!wrong) add_one<<<1, 1>>>(pinned[69999], 1);
    wrong += cudaDeviceSynchronize() != cudaSuccess || wrong || *pinned[69999] != 4 || *pinned[0] != 3;
    for (auto p : pinned) wrong += cudaFreeHost(p) != cudaSuccess;
    printf("%d wrong\n%s\n", wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
