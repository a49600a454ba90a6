// Looks for faces: a cascade of boosted stages decides about every window of a picture, and most windows leave it early.
#include "raddle.cuh"

#define SIDE 24
#define MOST_STUMPS 256
#define MOST_STAGES 32

// A weighted sum of up to three rectangles, and what it adds to the stage when it is below its threshold and when not.
struct Stump {
    uint rectangle[3]; // x, y, width and height, a byte each
    int weight[3];     // none for a rectangle that is not there
    float threshold;
    int below, above;
};

__constant__ Stump stumps[MOST_STUMPS];
// Where the stumps of a stage end, and the least sum that passes.
__constant__ int2 stages[MOST_STAGES];

// The pixels of a rectangle, from sums of all that is above and to the left.
static __device__ __forceinline__ uint area(const uint *__restrict__ sums, int pitch, uint x, uint y, uint w, uint h) {
    const uint *top = sums + y * pitch + x;
    const uint *bottom = top + h * pitch;
    return bottom[w] - bottom[0] - top[w] + top[0];
}

// The standard deviation of a window's pixels, times their number.
static __device__ __forceinline__ float contrast(const uint *__restrict__ sums, const uint *__restrict__ squares,
                                                 int pitch, int x, int y) {
    ull sum = area(sums, pitch, x, y, SIDE, SIDE);
    ull square = area(squares, pitch, x, y, SIDE, SIDE);
    return sqrtf((float)(square * (SIDE * SIDE) - sum * sum));
}

// The first stage that a window does not pass, from `stage` up to `end`.
static __device__ __forceinline__ int cascade(const uint *__restrict__ sums, int pitch, int x, int y, float scale,
                                              int stage, int end) {
    int stump = stage == 0 ? 0 : stages[stage - 1].x;
    for (; stage < end; stage++) {
        int2 limit = stages[stage];
        int total = 0;
        for (; stump < limit.x; stump++) {
            const Stump &s = stumps[stump];
            int value = 0;
            for (int i = 0; i < 3; i++) {
                uint r = s.rectangle[i];
                if (s.weight[i] != 0) {
                    uint sum = area(sums, pitch, x + (r & 255), y + (r >> 8 & 255), r >> 16 & 255, r >> 24);
                    value += s.weight[i] * (int)sum;
                }
            }
            total += (float)value < s.threshold * scale ? s.below : s.above;
        }
        if (total < limit.y) {
            break;
        }
    }
    return stage;
}

// The first stages, for every window: a thread has one. Those that pass go to a list.
__global__ void __launch_bounds__(192, 5)
    first_stages(const uint *__restrict__ sums, const uint *__restrict__ squares, int width, int columns, int rows,
                 int end, uint *__restrict__ passed, uint *__restrict__ list, uint *__restrict__ count) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows) {
        return;
    }
    float scale = contrast(sums, squares, width + 1, x, y);
    int stage = cascade(sums, width + 1, x, y, scale, 0, end);
    passed[y * columns + x] = stage;
    if (stage == end) {
        list[atomicAdd(count, 1u)] = y * columns + x;
    }
}

// The other stages, for the windows of the list.
__global__ void __launch_bounds__(192, 4)
    other_stages(const uint *__restrict__ sums, const uint *__restrict__ squares, int width, int columns, int begin,
                 int end, const uint *__restrict__ list, int count, uint *__restrict__ passed) {
    int thread = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (thread >= count) {
        return;
    }
    uint window = list[thread];
    int x = window % columns;
    int y = window / columns;
    float scale = contrast(sums, squares, width + 1, x, y);
    passed[window] = cascade(sums, width + 1, x, y, scale, begin, end);
}
