// A program that ends in as many ways as programs can, for the tests of program files.
#include "own_mains.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

__global__ void scale(float *x, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] *= by;
}

__global__ void pick(const float *x, float *out, int step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 3) out[i] = x[i * step] + i;
}

__global__ void crowd(float *out) {
    __shared__ float all[100000];
    all[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = all[blockDim.x - 1 - threadIdx.x];
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "scale";
    bool is = !strcmp(what, "none");
    if (is) return puts("no launch"), 0;
    const int n = 4096;
    float *x, *out;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    scale<<<n / 128, 128>>>(x, BY);
    pick<<<n / 128, 128>>>(x, out, !strcmp(what, "fault") ? 1 << 20 : 1);
    if (!strcmp(what, "crowd")) crowd<<<1, 128>>>(out);
    if (cudaDeviceSynchronize() != cudaSuccess) fprintf(stderr, "the device says no\n");
    if (!strcmp(what, "status")) {
        for (int i = 0; i < 100; i++) fprintf(stderr, "line %d\n", i);
        return 3;
    }
    if (!strcmp(what, "abort")) abort();
    if (!strcmp(what, "sleep")) {
        FILE *file = fopen("asleep", "w");
        fprintf(file, "%d", getpid());
        fclose(file);
        sleep(100);
    }
    char word[20] = "nothing";
    if (scanf("%19s", word) != 1) strcpy(word, "nothing");
    const char *variable = getenv("OWN");
    printf("read %s, OWN is %s, PASSED\n", word, variable ? variable : "not set");
    return 0;
}
