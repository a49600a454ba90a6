// The records of hurricanes nearest to a place. Records are text of one length, blocks have half a warp.
#include "raddle.cuh"

#define BLOCK 16
#define RECORD 49
#define LATITUDE 28
#define LONGITUDE 34

// A number of five characters such as " 12.3".
static __device__ __forceinline__ float number(const uchar *__restrict__ text) {
    float value = 0.0f;
    for (int i = 0; i < 3; i++) {
        if (text[i] != ' ') {
            value = value * 10.0f + (float)(text[i] - '0');
        }
    }
    return value + (float)(text[4] - '0') * 0.1f;
}

// How far each record is from a place.
__global__ void distances(const uchar *__restrict__ records, int count, float latitude, float longitude,
                          float *__restrict__ distance) {
    int record = blockIdx.x * blockDim.x + threadIdx.x;
    if (record >= count) {
        return;
    }
    const uchar *text = records + record * RECORD;
    float up = number(text + LATITUDE) - latitude;
    float along = number(text + LONGITUDE) - longitude;
    distance[record] = sqrtf(fmaf(up, up, along * along));
}

static __device__ __forceinline__ bool is_nearer(float a, int place_a, float b, int place_b) {
    return a < b || (a == b && place_a < place_b);
}

// The nearest of what a block looks at: `each` records a thread.
__global__ void nearest_of_block(const float *__restrict__ distance, int count, int each,
                                 float *__restrict__ block_distance, int *__restrict__ block_place) {
    __shared__ float best[BLOCK];
    __shared__ int place[BLOCK];
    const int thread = threadIdx.x;
    float least = 1e30f;
    int where = count;
    for (int i = 0; i < each; i++) {
        int record = (blockIdx.x * each + i) * BLOCK + thread;
        if (record < count && distance[record] < least) {
            least = distance[record];
            where = record;
        }
    }
    best[thread] = least;
    place[thread] = where;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half >>= 1) {
        if (thread < half && is_nearer(best[thread + half], place[thread + half], best[thread], place[thread])) {
            best[thread] = best[thread + half];
            place[thread] = place[thread + half];
        }
        __syncthreads();
    }
    if (thread == 0) {
        block_distance[blockIdx.x] = best[0];
        block_place[blockIdx.x] = place[0];
    }
}

// The nearest of all blocks; it is found, so that the next search leaves it out.
__global__ void nearest(const float *__restrict__ block_distance, const int *__restrict__ block_place, int blocks,
                        float *__restrict__ distance, int *__restrict__ found) {
    __shared__ float best[BLOCK];
    __shared__ int place[BLOCK];
    const int thread = threadIdx.x;
    float least = 1e30f;
    int where = 0x7fffffff;
    for (int block = thread; block < blocks; block += BLOCK) {
        if (is_nearer(block_distance[block], block_place[block], least, where)) {
            least = block_distance[block];
            where = block_place[block];
        }
    }
    best[thread] = least;
    place[thread] = where;
    __syncthreads();
    if (thread == 0) {
        for (int i = 1; i < BLOCK; i++) {
            if (is_nearer(best[i], place[i], least, where)) {
                least = best[i];
                where = place[i];
            }
        }
        *found = where;
        distance[where] = 1e30f;
    }
}
