// Fourier transforms of many short signals.
#include "raddle.cuh"

#define POINTS 512
#define BLOCK 64
#define EACH (POINTS / BLOCK)

// A block has a signal in shared memory, and doubles the length of its transforms nine times. `turns` has the powers of the
// root of one.
__global__ void __launch_bounds__(BLOCK)
    transform(const float2 *__restrict__ signals, const float2 *__restrict__ turns, float2 *__restrict__ spectra) {
    __shared__ float2 points[POINTS];
    const int thread = threadIdx.x;
    const float2 *signal = signals + blockIdx.x * POINTS;
    for (int i = 0; i < EACH; i++) {
        int at = thread + i * BLOCK;
        points[__brev(at) >> 23] = signal[at];
    }
    for (int half = 1; half < POINTS; half *= 2) {
        __syncthreads();
        for (int i = 0; i < EACH / 2; i++) {
            int pair = thread + i * BLOCK;
            int inside = pair & (half - 1);
            int low = 2 * pair - inside;
            float2 turn = turns[inside * (POINTS / 2 / half)];
            float2 a = points[low], b = points[low + half];
            float2 turned = make_float2(b.x * turn.x - b.y * turn.y, b.x * turn.y + b.y * turn.x);
            points[low] = make_float2(a.x + turned.x, a.y + turned.y);
            points[low + half] = make_float2(a.x - turned.x, a.y - turned.y);
        }
    }
    __syncthreads();
    for (int i = 0; i < EACH; i++) {
        spectra[blockIdx.x * POINTS + thread + i * BLOCK] = points[thread + i * BLOCK];
    }
}
