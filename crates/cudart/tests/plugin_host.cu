// Loads and closes plugin.cu many times: nothing of it is left, and nothing else is disturbed.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <sys/mman.h>

__global__ void add_one(int *p) { *p += 1; }

static size_t resident() {
    size_t pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (fscanf(file, "%zu %zu", &all, &pages) != 2) pages = 0;
    fclose(file);
    return pages * 4096;
}

int main(int, char **args) {
    int wrong = 0, *sum;
    size_t before = 0, free = 0, all = 0, first_free = 0;
    cudaMallocManaged(&sum, sizeof *sum);
    *sum = 0;
    const int rounds = atoi(args[2]);
    for (int round = 0; round < rounds; round++) {
        void *library = dlopen(args[1], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            puts(dlerror());
            return 1;
        }
        auto run = (int (*)())dlsym(library, "plugin_run");
        auto kernel = (const void *(*)())dlsym(library, "plugin_kernel");
        const void *work = kernel();
        if (!run()) {
            printf("round %d\n", round);
            wrong++;
        }
        dlclose(library);
        bool is_gone = !dlopen(args[1], RTLD_NOLOAD | RTLD_NOW);
        add_one<<<1, 1>>>(sum);
        wrong += cudaDeviceSynchronize() != cudaSuccess;
        if (is_gone && cudaLaunchKernel(work, dim3(1), dim3(1), nullptr, 0, 0) != cudaErrorInvalidDeviceFunction) {
            printf("a kernel of a closed library was launched\n");
            wrong++;
        }
        wrong += !is_gone;
        cudaGetLastError();
        // Every other load is elsewhere.
        if (round % 2 && is_gone) mmap((void *)((size_t)work & ~4095ul), 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        cudaMemGetInfo(&free, &all);
        if (round == rounds / 10) before = resident(), first_free = free;
    }
    // The library leaves its own two buffers of 16 bytes behind in each round.
    size_t lost = first_free - free, grown = resident() - before;
    if (lost > size_t(rounds) * 64) printf("%zu bytes of the device are lost\n", lost), wrong++;
    if (grown > (8u << 20)) printf("%zu bytes are held\n", grown), wrong++;
    wrong += *sum != rounds;
    printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
