// White blood cells in a picture: where edges are round, the best place nearby, and how edges pull from further away.
#include "raddle.cuh"

#define BLOCK 175
#define POINTS 30  // on a circle
#define CIRCLES 5
#define MARGIN 8  // of the picture, where circles would leave it
#define REACH 3    // of the disk in which the best is looked for
#define HEIGHT 41  // of the part of a picture around a cell
#define WIDTH 81
#define PIXELS (HEIGHT * WIDTH)

// Sine and cosine of the points, and for each circle how far away they are.
__constant__ float sines[POINTS];
__constant__ float cosines[POINTS];
__constant__ int2 offsets[CIRCLES * POINTS];

// How much the edge of the best circle around a pixel looks outwards everywhere: the square of the mean slope over its
// variance. A thread has a pixel; columns are next to each other in memory.
__global__ void __launch_bounds__(BLOCK, 5)
    roundness(const float *__restrict__ slope_x, const float *__restrict__ slope_y, int columns, int rows,
              float *__restrict__ score) {
    int thread = blockIdx.x * BLOCK + threadIdx.x;
    int row = thread % (rows - 2 * MARGIN) + MARGIN;
    int column = thread / (rows - 2 * MARGIN) + MARGIN;
    if (column >= columns - MARGIN) {
        return;
    }
    float best = 0.0f;
    for (int circle = 0; circle < CIRCLES; circle++) {
        float sum = 0.0f, squares = 0.0f;
        for (int point = 0; point < POINTS; point++) {
            int2 by = offsets[circle * POINTS + point];
            int at = (column + by.x) * rows + row + by.y;
            float outwards = fmaf(slope_x[at], cosines[point], slope_y[at] * sines[point]);
            sum += outwards;
            squares = fmaf(outwards, outwards, squares);
        }
        float mean = sum * (1.0f / POINTS);
        float variance = fmaf(-mean, sum, squares) * (1.0f / (POINTS - 1));
        float value = mean * mean / fmaxf(variance, 1e-3f);
        if (value > best) {
            best = value;
        }
    }
    score[column * rows + row] = best;
}

// The best score in a disk around each pixel.
__global__ void __launch_bounds__(BLOCK, 5)
    dilate(const float *__restrict__ score, int columns, int rows, float *__restrict__ best_near) {
    int thread = blockIdx.x * BLOCK + threadIdx.x;
    int row = thread % rows;
    int column = thread / rows;
    if (column >= columns) {
        return;
    }
    float best = 0.0f;
    for (int x = -REACH; x <= REACH; x++) {
        for (int y = -REACH; y <= REACH; y++) {
            int at_x = column + x;
            int at_y = row + y;
            if (x * x + y * y <= REACH * REACH + 1 && at_x >= 0 && at_x < columns && at_y >= 0 && at_y < rows) {
                best = fmaxf(best, score[at_x * rows + at_y]);
            }
        }
    }
    best_near[thread] = best;
}

static __device__ __forceinline__ float step_up(float v) {
    float step = 0.0f;
    if (v > -0.0001f) {
        step = 0.5f;
    }
    if (v > 0.0001f) {
        step = 1.0f;
    }
    return step;
}

// Spreads the edges around a cell, until they hardly change: every pixel goes towards those neighbours that are higher, and
// towards the picture itself where that has an edge. A block has a cell, whose field is in shared memory.
__global__ void __launch_bounds__(BLOCK, 1)
    spread_edges(const float *__restrict__ edges, float *__restrict__ fields, int most_steps, float enough,
                 int *__restrict__ steps_taken) {
    __shared__ float field[PIXELS];
    __shared__ float changes[256];
    const int thread = threadIdx.x;
    const float *edge = edges + blockIdx.x * PIXELS;
    for (int pixel = thread; pixel < PIXELS; pixel += BLOCK) {
        field[pixel] = edge[pixel];
    }
    if (thread + BLOCK < 256) {
        changes[thread + BLOCK] = 0.0f;
    }
    __syncthreads();

    int step = 0;
    while (step < most_steps) {
        step++;
        // New values wait in registers until all have been computed.
        float fresh[(PIXELS + BLOCK - 1) / BLOCK];
        float changed = 0.0f;
#pragma unroll
        for (int i = 0; i < (PIXELS + BLOCK - 1) / BLOCK; i++) {
            int pixel = thread + i * BLOCK;
            if (pixel < PIXELS) {
                int x = pixel % WIDTH;
                int y = pixel / WIDTH;
                int left = x == 0 ? pixel : pixel - 1;
                int right = x == WIDTH - 1 ? pixel : pixel + 1;
                int up = y == 0 ? pixel : pixel - WIDTH;
                int down = y == HEIGHT - 1 ? pixel : pixel + WIDTH;
                float old = field[pixel];
                float sum = 0.0f;
                float d = field[left] - old;
                sum = fmaf(step_up(d), d, sum);
                d = field[right] - old;
                sum = fmaf(step_up(d), d, sum);
                d = field[up] - old;
                sum = fmaf(step_up(d), d, sum);
                d = field[down] - old;
                sum = fmaf(step_up(d), d, sum);
                float value = fmaf(0.2f, sum, old);
                float own = edge[pixel];
                value = fmaf(__fmul_rn(-0.2f, own), value - own, value);
                fresh[i] = value;
                changed += fabsf(value - old);
            }
        }
        changes[thread] = changed;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < (PIXELS + BLOCK - 1) / BLOCK; i++) {
            int pixel = thread + i * BLOCK;
            if (pixel < PIXELS) {
                field[pixel] = fresh[i];
            }
        }
        for (int half = 128; half > 0; half >>= 1) {
            if (thread < half) {
                changes[thread] += changes[thread + half];
            }
            __syncthreads();
        }
        if (changes[0] < enough) {
            break;
        }
        __syncthreads();
    }
    for (int pixel = thread; pixel < PIXELS; pixel += BLOCK) {
        fields[blockIdx.x * PIXELS + pixel] = field[pixel];
    }
    if (thread == 0) {
        steps_taken[blockIdx.x] = step;
    }
}
