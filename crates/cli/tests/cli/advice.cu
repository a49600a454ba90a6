// A kernel for each problem that advice knows, and one of the same kind without it. All take a buffer to read, with as many
// words as a power of two says, and one to write.

#include <cuda_runtime.h>

// Work that a compiler must leave as it is.
#define STEP(value) asm volatile("mad.lo.s32 %0, %0, 3, 1;\n\txor.b32 %0, %0, 5;\n\tadd.s32 %0, %0, 7;" : "+r"(value))
#define OTHER(value) asm volatile("shr.s32 %0, %0, 1;\n\txor.b32 %0, %0, 9;\n\tsub.s32 %0, %0, 3;" : "+r"(value))

__device__ int number() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" {

// Lanes read words that are 128 bytes apart.
__global__ void coalescing(const int *in, int *out, int n) {
    int i = number();
    out[i] = in[(i * 32) & (n - 1)]; // here: coalescing
}

__global__ void coalescing_not(const int *in, int *out, int n) {
    int i = number();
    out[i] = in[i & (n - 1)];
}

// Lanes read words of one bank.
__global__ void banks(const int *in, int *out, int n) {
    __shared__ int tile[1024];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) tile[k] = in[k & (n - 1)];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 64; k++) sum += tile[((threadIdx.x & 31) * 32 + k) & 1023]; // here: banks
    out[number()] = sum;
}

__global__ void banks_not(const int *in, int *out, int n) {
    __shared__ int tile[1024];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) tile[k] = in[k & (n - 1)];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 64; k++) sum += tile[(threadIdx.x + 32 * k) & 1023];
    out[number()] = sum;
}

// Every other lane takes the other way.
__global__ void divergence(const int *in, int *out, int n) {
    int i = number(), value = in[i & (n - 1)];
    if (i & 1) { // here: divergence
        for (int k = 0; k < 40; k++) STEP(value);
    } else {
        for (int k = 0; k < 40; k++) OTHER(value);
    }
    out[i] = value;
}

__global__ void divergence_not(const int *in, int *out, int n) {
    int i = number(), value = in[i & (n - 1)];
    if (i & 32) {
        for (int k = 0; k < 40; k++) STEP(value);
    } else {
        for (int k = 0; k < 40; k++) OTHER(value);
    }
    out[i] = value;
}

// A block takes most of the shared memory.
__global__ void residency(const int *in, int *out, int n) {
    __shared__ volatile int tile[8192];
    int i = number();
    tile[threadIdx.x] = in[i & (n - 1)];
    int sum = tile[threadIdx.x];
    for (int k = 1; k < 8; k++) sum += in[(i + (sum & 1) + k * 4096) & (n - 1)]; // here: residency
    out[i] = sum;
}

__global__ void residency_not(const int *in, int *out, int n) {
    __shared__ volatile int tile[256];
    int i = number();
    tile[threadIdx.x] = in[i & (n - 1)];
    int sum = tile[threadIdx.x];
    for (int k = 1; k < 8; k++) sum += in[(i + (sum & 1) + k * 4096) & (n - 1)];
    out[i] = sum;
}

// There are fewer blocks than SMs: it is the grid that does it.
__global__ void tail(const int *in, int *out, int n) {
    int i = number(), value = in[i & (n - 1)];
    for (int k = 0; k < 200; k++) STEP(value);
    out[i] = value;
}

// One warp has all the work, the others wait for it.
__global__ void barriers(const int *in, int *out, int n) {
    int i = number(), value = in[i & (n - 1)];
    for (int round = 0; round < 8; round++) {
        if (threadIdx.x < 32)
            for (int k = 0; k < 60; k++) STEP(value);
        __syncthreads(); // here: barriers
    }
    out[i] = value;
}

__global__ void barriers_not(const int *in, int *out, int n) {
    int i = number(), value = in[i & (n - 1)];
    for (int round = 0; round < 8; round++) {
        for (int k = 0; k < 60; k++) STEP(value);
        __syncthreads();
    }
    out[i] = value;
}

// Each load needs the one before.
__global__ void latency(const int *in, int *out, int n) {
    int i = number(), at = i & (n - 1);
    for (int k = 0; k < 16; k++) at = in[at ^ (32 << (k & 3))]; // here: latency
    out[i] = at;
}

// Four sums of which none waits for another.
__global__ void latency_not(const int *in, int *out, int n) {
    int i = number(), a = in[i & (n - 1)], b = a, c = a, d = a;
    for (int k = 0; k < 400; k++)
        asm volatile("mad.lo.s32 %0, %0, 3, 1;\n\tmad.lo.s32 %1, %1, 3, 2;\n\t"
                     "mad.lo.s32 %2, %2, 3, 3;\n\tmad.lo.s32 %3, %3, 3, 4;"
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    out[i] = a + b + c + d;
}

// All threads add to one word.
__global__ void atomics(const int *in, int *out, int n) {
    atomicAdd(out, in[number() & (n - 1)]); // here: atomics
}

__global__ void atomics_not(const int *in, int *out, int n) {
    int i = number();
    atomicAdd(out + i, in[i & (n - 1)]);
}

// An array that is indexed by what is read does not fit in registers.
__global__ void local(const int *in, int *out, int n) {
    int own[64], i = number();
    for (int k = 0; k < 64; k++) own[k] = k;
    for (int k = 0; k < 64; k++) own[in[(i + k) & (n - 1)] & 63] += k; // here: local
    int sum = 0;
    for (int k = 0; k < 64; k++) sum += own[k];
    out[i] = sum;
}

__global__ void local_not(const int *in, int *out, int n) {
    int i = number(), sum = 0;
    for (int k = 0; k < 64; k++) sum += in[(i + k) & (n - 1)] & 63;
    out[i] = sum;
}

#define FOUR(x) x x x x
#define MANY(x) FOUR(FOUR(FOUR(FOUR(x))))

// A loop that is longer than the instruction cache.
__global__ void front_end(const int *in, int *out, int n) {
    int i = number(), value = in[i & (n - 1)];
    for (int k = 0; k < 4; k++) {
        MANY(STEP(value);) // here: front_end
    }
    out[i] = value;
}

__global__ void front_end_not(const int *in, int *out, int n) {
    int i = number(), value = in[i & (n - 1)];
    for (int k = 0; k < 400; k++) {
        FOUR(STEP(value);)
    }
    out[i] = value;
}

}
