// Follows points of a heart from picture to picture: where what was around a point before is most alike now.
#include "raddle.cuh"

#define BLOCK 512
#define MOST_SIDE 17
#define MOST_AREA 49

// The sum of a square, from sums of all that is above and to the left, both with the place itself.
static __device__ __forceinline__ int square_sum(const int *sums, int area, int x, int y, int side) {
    int right = x + side - 1;
    int bottom = y + side - 1;
    int sum = sums[bottom * area + right];
    if (x > 0) {
        sum -= sums[bottom * area + x - 1];
    }
    if (y > 0) {
        sum -= sums[(y - 1) * area + right];
        if (x > 0) {
            sum += sums[(y - 1) * area + x - 1];
        }
    }
    return sum;
}

// A block has a point. It is compared at every place up to `reach` from where it was; `sums` is room for the block's work.
// Templates are squares, and become a little more like what is found when that is alike.
__global__ void __launch_bounds__(BLOCK, 1)
    follow(const uchar *__restrict__ picture, int width, int height, int side, int reach, int2 *__restrict__ places,
           uchar *__restrict__ templates, int *__restrict__ sums_of_all, float *__restrict__ scores) {
    __shared__ uchar own[MOST_SIDE * MOST_SIDE];
    __shared__ uchar window[MOST_AREA * MOST_AREA];
    __shared__ float best_score[BLOCK];
    __shared__ int best_place[BLOCK];
    __shared__ int template_sums[2];
    const int thread = threadIdx.x;
    const int area = side + 2 * reach;
    const int pixels = side * side;
    uchar *pattern = templates + blockIdx.x * pixels;
    int *sums = sums_of_all + blockIdx.x * 2 * area * area;
    int *squares = sums + area * area;
    const int2 place = places[blockIdx.x];

    // What is around the point; outside of the picture it is black.
    if (thread < 2) {
        template_sums[thread] = 0;
    }
    for (int i = thread; i < area * area; i += BLOCK) {
        int x = place.x - reach + i % area;
        int y = place.y - reach + i / area;
        window[i] = x >= 0 && x < width && y >= 0 && y < height ? picture[y * width + x] : 0;
    }
    __syncthreads();
    for (int i = thread; i < pixels; i += BLOCK) {
        int pixel = pattern[i];
        own[i] = pixel;
        atomicAdd(&template_sums[0], pixel);
        atomicAdd(&template_sums[1], pixel * pixel);
    }

    // Sums down the columns, then along the rows.
    if (thread < area) {
        int sum = 0, square = 0;
        for (int y = 0; y < area; y++) {
            int pixel = window[y * area + thread];
            sum += pixel;
            square += pixel * pixel;
            sums[y * area + thread] = sum;
            squares[y * area + thread] = square;
        }
    }
    __syncthreads();
    if (thread < area) {
        int sum = 0, square = 0;
        for (int x = 0; x < area; x++) {
            sum += sums[thread * area + x];
            square += squares[thread * area + x];
            sums[thread * area + x] = sum;
            squares[thread * area + x] = square;
        }
    }
    __syncthreads();

    // The correlation at every place.
    const int across = 2 * reach + 1;
    const long long template_sum = template_sums[0];
    const long long spread = pixels * (long long)template_sums[1] - template_sum * template_sum;
    float best = -2.0f;
    int where = across * across;
    for (int offset = thread; offset < across * across; offset += BLOCK) {
        int x = offset % across;
        int y = offset / across;
        int both = 0;
        for (int row = 0; row < side; row++) {
            for (int column = 0; column < side; column++) {
                both += own[row * side + column] * window[(y + row) * area + x + column];
            }
        }
        long long sum = square_sum(sums, area, x, y, side);
        long long square = square_sum(squares, area, x, y, side);
        long long spread_here = pixels * square - sum * sum;
        float score = -1.0f;
        if (spread_here > 0 && spread > 0) {
            score = (float)(pixels * (long long)both - template_sum * sum) /
                    (sqrtf((float)spread) * sqrtf((float)spread_here));
        }
        if (score > best) {
            best = score;
            where = offset;
        }
    }
    best_score[thread] = best;
    best_place[thread] = where;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half >>= 1) {
        if (thread < half) {
            float other = best_score[thread + half];
            if (other > best_score[thread] ||
                (other == best_score[thread] && best_place[thread + half] < best_place[thread])) {
                best_score[thread] = other;
                best_place[thread] = best_place[thread + half];
            }
        }
        __syncthreads();
    }

    // There the point is now.
    int x = best_place[0] % across;
    int y = best_place[0] / across;
    if (thread == 0) {
        places[blockIdx.x] = make_int2(place.x + x - reach, place.y + y - reach);
        scores[blockIdx.x] = best_score[0];
    }
    if (best_score[0] > 0.8f) {
        for (int i = thread; i < pixels; i += BLOCK) {
            int here = window[(y + i / side) * area + x + i % side];
            pattern[i] = (own[i] * 7 + here) >> 3;
        }
    }
}
