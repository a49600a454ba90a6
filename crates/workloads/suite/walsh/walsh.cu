// Fast Walsh-Hadamard transforms, and the product of two of them.
#include "raddle.cuh"

// The four outputs of two levels of the butterfly on four numbers.
static __device__ __forceinline__ void butterfly(float *a, float *b, float *c, float *d) {
    float sum0 = *a + *c, sum1 = *b + *d;
    float difference0 = *a - *c, difference1 = *b - *d;
    *a = sum0 + sum1;
    *b = sum0 - sum1;
    *c = difference0 + difference1;
    *d = difference0 - difference1;
}

// Transforms stretches of 2^levels numbers in shared memory, one for each block; a thread has four numbers.
__global__ void __launch_bounds__(512, 3) transform_shared(const float *__restrict__ input, float *__restrict__ output, int levels) {
    extern __shared__ float data[];
    const int length = 1 << levels;
    const int base = blockIdx.x << levels;
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
        data[i] = input[base + i];
    }

    // Two levels at a time.
    for (int stride = length >> 2; stride > 0; stride >>= 2) {
        int low = threadIdx.x & (stride - 1);
        int at = ((threadIdx.x - low) << 2) + low;
        __syncthreads();
        butterfly(&data[at], &data[at + stride], &data[at + 2 * stride], &data[at + 3 * stride]);
    }

    // One is left if their number is odd.
    if (levels & 1) {
        __syncthreads();
        for (int i = threadIdx.x; i < length / 2; i += blockDim.x) {
            float even = data[2 * i];
            float odd = data[2 * i + 1];
            data[2 * i] = even + odd;
            data[2 * i + 1] = even - odd;
        }
    }

    __syncthreads();
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
        output[base + i] = data[i];
    }
}

// Two levels of a long transform, in global memory.
__global__ void transform_global(const float *input, float *output, int stride) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int low = thread & (stride - 1);
    int at = ((thread - low) << 2) + low;
    float a = input[at];
    float b = input[at + stride];
    float c = input[at + 2 * stride];
    float d = input[at + 3 * stride];
    butterfly(&a, &b, &c, &d);
    output[at] = a;
    output[at + stride] = b;
    output[at + 2 * stride] = c;
    output[at + 3 * stride] = d;
}

// Multiplies two transforms, and takes care of the factor that transforming back needs.
__global__ void modulate(float *a, const float *__restrict__ b, int length) {
    float factor = 1.0f / (float)length;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += blockDim.x * gridDim.x) {
        a[i] *= b[i] * factor;
    }
}
