// Sparse matrix times vector: rows one after the other (CSR), one thread for each row.
#include "raddle.cuh"

__global__ void spmv_csr(const unsigned *__restrict__ first, const unsigned *__restrict__ column,
                         const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y,
                         int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        unsigned end = first[row + 1];
        for (unsigned i = first[row]; i < end; i++) {
            sum += value[i] * x[column[i]];
        }
        y[row] = sum;
    }
}
