// How much parts of a picture differ from another one around the same place, for a video encoder that looks for movement.
#include "raddle.cuh"

#define SIDE 4   // of the smallest parts
#define PARTS 16 // of a macroblock of 16 by 16 pixels
#define THREADS 61

// The differences of a part at all places up to `reach` away. A block has a part; a thread has `each` places one after the
// other. At the rim, the other picture goes on with its last pixels.
__global__ void __launch_bounds__(THREADS)
    part_differences(const uchar *__restrict__ picture, const uchar *__restrict__ other, int width, int height,
                     int reach, int each, ushort *__restrict__ differences) {
    __shared__ uchar own[SIDE * SIDE];
    const int across = 2 * reach + 1;
    const int places = across * across;
    const int macro = blockIdx.y * gridDim.x + blockIdx.x;
    const int part = blockIdx.z;
    const int left = blockIdx.x * 16 + part % 4 * SIDE;
    const int top = blockIdx.y * 16 + part / 4 * SIDE;
    if (threadIdx.x < SIDE * SIDE) {
        own[threadIdx.x] = picture[(top + threadIdx.x / SIDE) * width + left + threadIdx.x % SIDE];
    }
    __syncthreads();
    const int first = threadIdx.x * each;
    for (int place = first; place < min(first + each, places); place++) {
        int from_x = left + place % across - reach;
        int from_y = top + place / across - reach;
        int sum = 0;
        for (int y = 0; y < SIDE; y++) {
            const uchar *row = other + min(max(from_y + y, 0), height - 1) * width;
            for (int x = 0; x < SIDE; x++) {
                sum += abs(own[y * SIDE + x] - row[min(max(from_x + x, 0), width - 1)]);
            }
        }
        differences[(macro * PARTS + part) * places + place] = sum;
    }
}

// From parts of 4 by 4 to those of 8 by 4, 4 by 8 and 8 by 8. A block has a macroblock.
__global__ void larger_parts_8(const ushort *__restrict__ differences, int places, ushort *__restrict__ wide,
                               ushort *__restrict__ high, ushort *__restrict__ both) {
    const int macro = blockIdx.y * gridDim.x + blockIdx.x;
    const ushort *from = differences + macro * PARTS * places;
    for (int place = threadIdx.x; place < places; place += blockDim.x) {
        for (int quarter = 0; quarter < 4; quarter++) {
            int part = quarter / 2 * 8 + quarter % 2 * 2;
            int a = from[part * places + place], b = from[(part + 1) * places + place];
            int c = from[(part + 4) * places + place], d = from[(part + 5) * places + place];
            int at = macro * 4 + quarter;
            wide[2 * at * places + place] = a + b;
            wide[(2 * at + 1) * places + place] = c + d;
            high[2 * at * places + place] = a + c;
            high[(2 * at + 1) * places + place] = b + d;
            both[at * places + place] = a + b + c + d;
        }
    }
}

// From parts of 8 by 8 to the whole, and the place where that differs least: above the difference, below the place.
__global__ void larger_parts_16(const ushort *__restrict__ both, int places, uint *__restrict__ whole,
                                uint *__restrict__ best) {
    __shared__ uint least;
    const int macro = blockIdx.y * gridDim.x + blockIdx.x;
    if (threadIdx.x == 0) {
        least = 0xffffffffu;
    }
    __syncthreads();
    for (int place = threadIdx.x; place < places; place += blockDim.x) {
        uint sum = 0;
        for (int quarter = 0; quarter < 4; quarter++) {
            sum += both[(macro * 4 + quarter) * places + place];
        }
        whole[macro * places + place] = sum;
        atomicMin(&least, sum << 12 | place);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        best[macro] = least;
    }
}
