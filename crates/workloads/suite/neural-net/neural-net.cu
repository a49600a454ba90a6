// A convolutional network that recognises digits: two layers of feature maps, two fully connected ones.
#include "raddle.cuh"

#define IMAGE 29
#define KERNEL 5
#define MAP1 13
#define MAP2 5
#define MAP1_SIZE (MAP1 * MAP1)
#define MAP2_SIZE (MAP2 * MAP2)
#define KERNEL_SIZE (KERNEL * KERNEL)

// 1.7159 tanh(2/3 x).
static __device__ __forceinline__ float squash(float x) {
    return 1.7159f - __fdividef(3.4318f, 1.0f + __expf(1.33333333f * x));
}

// Adds the products of a convolution's kernel with the input from `corner` on.
static __device__ __forceinline__ float convolve(float sum, const float *corner, int width, const float *kernel) {
#pragma unroll
    for (int y = 0; y < KERNEL; y++) {
#pragma unroll
        for (int x = 0; x < KERNEL; x++) {
            sum += corner[y * width + x] * kernel[y * KERNEL + x];
        }
    }
    return sum;
}

// A block computes a feature map of an image, a thread one of its elements. Weights begin with the bias.
__global__ void first_layer(const float *__restrict__ images, const float *__restrict__ weights,
                            float *__restrict__ maps) {
    __shared__ float kernel[1 + KERNEL_SIZE];
    const int map = blockIdx.x;
    const int image = blockIdx.y;
    const int element = threadIdx.y * MAP1 + threadIdx.x;
    if (element < 1 + KERNEL_SIZE) {
        kernel[element] = weights[map * (1 + KERNEL_SIZE) + element];
    }
    __syncthreads();
    const float *corner = images + (image * IMAGE + 2 * threadIdx.y) * IMAGE + 2 * threadIdx.x;
    float sum = convolve(kernel[0], corner, IMAGE, kernel + 1);
    maps[(image * gridDim.x + map) * MAP1_SIZE + element] = squash(sum);
}

// The same from all maps of the first layer.
__global__ void second_layer(const float *__restrict__ inputs, const float *__restrict__ weights,
                             float *__restrict__ maps, int input_maps) {
    const int map = blockIdx.x;
    const int image = blockIdx.y;
    const int element = threadIdx.y * MAP2 + threadIdx.x;
    const float *kernel = weights + map * (1 + input_maps * KERNEL_SIZE);
    const float *corner = inputs + (image * input_maps * MAP1 + 2 * threadIdx.y) * MAP1 + 2 * threadIdx.x;
    float sum = kernel[0];
    for (int from = 0; from < input_maps; from++) {
        sum = convolve(sum, corner + from * MAP1_SIZE, MAP1, kernel + 1 + from * KERNEL_SIZE);
    }
    maps[(image * gridDim.x + map) * MAP2_SIZE + element] = squash(sum);
}

// A block computes one unit for one image: a dot product of weights and inputs, summed in shared memory.
template <int THREADS>
static __device__ __forceinline__ void connected(const float *inputs, const float *weights, float *units, int count) {
    __shared__ float sums[THREADS];
    const int unit = blockIdx.x;
    const int image = blockIdx.y;
    const float *input = inputs + image * count;
    const float *weight = weights + unit * (1 + count);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += THREADS) {
        sum += input[i] * weight[1 + i];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        units[image * gridDim.x + unit] = squash(weight[0] + sums[0]);
    }
}

__global__ void third_layer(const float *__restrict__ inputs, const float *__restrict__ weights,
                            float *__restrict__ units, int count) {
    connected<128>(inputs, weights, units, count);
}

__global__ void fourth_layer(const float *__restrict__ inputs, const float *__restrict__ weights,
                             float *__restrict__ units, int count) {
    connected<128>(inputs, weights, units, count);
}
