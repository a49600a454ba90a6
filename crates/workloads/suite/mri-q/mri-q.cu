// The matrix Q of non-Cartesian MRI reconstruction: for every voxel a sum over all samples in k-space.
#include "raddle.cuh"

#define CHUNK 1024
#define TWO_PI 6.2831853071795864f

// Position of a sample in k-space, and the square of the magnitude of phi there.
__constant__ float4 samples[CHUNK];

__global__ void phi_mag(const float *__restrict__ real, const float *__restrict__ imaginary,
                        float *__restrict__ magnitude, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        magnitude[i] = real[i] * real[i] + imaginary[i] * imaginary[i];
    }
}

// Adds what a chunk of the samples contributes.
__global__ void compute_q(int count, const float *__restrict__ x, const float *__restrict__ y,
                          const float *__restrict__ z, float *__restrict__ real, float *__restrict__ imaginary) {
    int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    float vx = x[voxel];
    float vy = y[voxel];
    float vz = z[voxel];
    float sum_real = real[voxel];
    float sum_imaginary = imaginary[voxel];
    for (int i = 0; i < count; i++) {
        float4 sample = samples[i];
        float angle = TWO_PI * (sample.x * vx + sample.y * vy + sample.z * vz);
        sum_real += sample.w * __cosf(angle);
        sum_imaginary += sample.w * __sinf(angle);
    }
    real[voxel] = sum_real;
    imaginary[voxel] = sum_imaginary;
}
