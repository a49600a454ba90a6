// Speckle reducing anisotropic diffusion of an ultrasonic image; columns one after the other, a thread for each pixel.
#include "raddle.cuh"

#define THREADS 512

// Undoes the compression of the image.
__global__ void extract(float *__restrict__ image, int count) {
    int pixel = blockIdx.x * THREADS + threadIdx.x;
    if (pixel < count) {
        image[pixel] = expf(image[pixel] / 255.0f);
    }
}

// Values and squares, for the sums of both.
__global__ void prepare(const float *__restrict__ image, float *__restrict__ values, float *__restrict__ squares,
                        int count) {
    int pixel = blockIdx.x * THREADS + threadIdx.x;
    if (pixel < count) {
        float value = image[pixel];
        values[pixel] = value;
        squares[pixel] = value * value;
    }
}

// The sums of what each block has; launched again until one is left.
__global__ void reduce(const float *__restrict__ values, const float *__restrict__ squares,
                       float *__restrict__ value_sums, float *__restrict__ square_sums, int count) {
    __shared__ float value_sum[THREADS], square_sum[THREADS];
    const int thread = threadIdx.x;
    const int at = blockIdx.x * THREADS + thread;
    value_sum[thread] = at < count ? values[at] : 0.0f;
    square_sum[thread] = at < count ? squares[at] : 0.0f;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half >>= 1) {
        if (thread < half) {
            value_sum[thread] += value_sum[thread + half];
            square_sum[thread] += square_sum[thread + half];
        }
        __syncthreads();
    }
    if (thread == 0) {
        value_sums[blockIdx.x] = value_sum[0];
        square_sums[blockIdx.x] = square_sum[0];
    }
}

// The differences to the four neighbours, and from them how much diffuses.
__global__ void srad(const float *__restrict__ image, const int *__restrict__ row_above,
                     const int *__restrict__ row_below, const int *__restrict__ column_left,
                     const int *__restrict__ column_right, float *__restrict__ north, float *__restrict__ south,
                     float *__restrict__ west, float *__restrict__ east, float *__restrict__ coefficient, int rows,
                     int count, float speckle) {
    int pixel = blockIdx.x * THREADS + threadIdx.x;
    if (pixel < count) {
        int column = pixel / rows;
        int row = pixel - column * rows;
        float own = image[pixel];
        float n = image[row_above[row] + rows * column] - own;
        float s = image[row_below[row] + rows * column] - own;
        float w = image[row + rows * column_left[column]] - own;
        float e = image[row + rows * column_right[column]] - own;

        // The instantaneous coefficient of variation, by gradient and Laplacian.
        float gradient = (n * n + s * s + w * w + e * e) / (own * own);
        float laplacian = (n + s + w + e) / own;
        float numerator = 0.5f * gradient - 0.0625f * laplacian * laplacian;
        float root = 1.0f + 0.25f * laplacian;
        float variation = numerator / (root * root);

        float excess = (variation - speckle) / (speckle * (1.0f + speckle));
        north[pixel] = n;
        south[pixel] = s;
        west[pixel] = w;
        east[pixel] = e;
        coefficient[pixel] = fminf(fmaxf(1.0f / (1.0f + excess), 0.0f), 1.0f);
    }
}

// Diffuses.
__global__ void srad2(float *__restrict__ image, const int *__restrict__ row_below,
                      const int *__restrict__ column_right, const float *__restrict__ north,
                      const float *__restrict__ south, const float *__restrict__ west, const float *__restrict__ east,
                      const float *__restrict__ coefficient, int rows, int count, float lambda) {
    int pixel = blockIdx.x * THREADS + threadIdx.x;
    if (pixel < count) {
        int column = pixel / rows;
        int row = pixel - column * rows;
        float own = coefficient[pixel];
        float below = coefficient[row_below[row] + rows * column];
        float right = coefficient[row + rows * column_right[column]];
        float divergence = own * north[pixel] + below * south[pixel] + own * west[pixel] + right * east[pixel];
        image[pixel] += 0.25f * lambda * divergence;
    }
}

// Compresses the image again.
__global__ void compress(float *__restrict__ image, int count) {
    int pixel = blockIdx.x * THREADS + threadIdx.x;
    if (pixel < count) {
        image[pixel] = logf(image[pixel]) * 255.0f;
    }
}
