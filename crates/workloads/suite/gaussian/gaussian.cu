// Solves linear equations by elimination, one column of the matrix after the other.
#include "raddle.cuh"

// What each row below is to lose of the pivot's.
__global__ void factors(float *__restrict__ factor, const float *__restrict__ matrix, int size, int pivot) {
    int row = blockIdx.x * blockDim.x + threadIdx.x + pivot + 1;
    if (row < size) {
        factor[row * size + pivot] = matrix[row * size + pivot] / matrix[pivot * size + pivot];
    }
}

// Takes it away, and from the right side as well.
__global__ void eliminate(const float *__restrict__ factor, float *matrix, float *right, int size, int pivot) {
    int column = blockIdx.x * blockDim.x + threadIdx.x + pivot;
    int row = blockIdx.y * blockDim.y + threadIdx.y + pivot + 1;
    if (row >= size || column >= size) {
        return;
    }
    float part = factor[row * size + pivot];
    matrix[row * size + column] = fmaf(-part, matrix[pivot * size + column], matrix[row * size + column]);
    if (column == pivot) {
        right[row] = fmaf(-part, right[pivot], right[row]);
    }
}
