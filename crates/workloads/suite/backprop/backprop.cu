// One step of training a neural network with a hidden layer: forward through its many inputs, and new weights for them.
#include "raddle.cuh"

#define HIDDEN 16
#define INPUTS 16

// What the inputs of a block add to each hidden unit. Row 0 of the weights, that of the bias, is left to the host.
__global__ void layer_forward(const float *__restrict__ input, const float *__restrict__ weights,
                              float *__restrict__ partial) {
    __shared__ float node[INPUTS];
    __shared__ float product[INPUTS][HIDDEN];
    const int unit = threadIdx.x;
    const int local = threadIdx.y;
    const int row = blockIdx.y * INPUTS + local + 1;

    if (unit == 0) {
        node[local] = input[row];
    }
    __syncthreads();
    product[local][unit] = weights[row * HIDDEN + unit] * node[local];
    __syncthreads();
    for (int half = INPUTS / 2; half > 0; half >>= 1) {
        if (local < half) {
            product[local][unit] += product[local + half][unit];
        }
        __syncthreads();
    }
    if (local == 0) {
        partial[blockIdx.y * HIDDEN + unit] = product[0][unit];
    }
}

// Changes weights by the gradient and part of the previous change.
__global__ void adjust_weights(const float *__restrict__ delta, const float *__restrict__ input,
                               float *__restrict__ weights, float *__restrict__ changes, float rate, float momentum) {
    const int unit = threadIdx.x;
    const int row = blockIdx.y * INPUTS + threadIdx.y + 1;
    const int at = row * HIDDEN + unit;
    const float step = rate * delta[unit];

    float change = step * input[row] + momentum * changes[at];
    weights[at] += change;
    changes[at] = change;

    // The bias, an input that is always 1.
    if (row == 1) {
        change = step + momentum * changes[unit];
        weights[unit] += change;
        changes[unit] = change;
    }
}
