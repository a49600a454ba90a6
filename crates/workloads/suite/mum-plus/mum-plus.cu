// Finds where pieces of DNA match a reference, in its sorted suffixes. Texts have sixteen letters in a word.
#include "raddle.cuh"

#define KEY_LETTERS 6

RADDLE_TEXTURE(uint, reference)
// Where the suffixes of the reference begin, in their order; those that begin with the letters of key k are the ones from
// buckets_at(k) on.
RADDLE_TEXTURE(int, order)
RADDLE_TEXTURE(int, buckets)

// Sixteen letters from any place in two words, the first on top.
static __device__ __forceinline__ uint letters_of(uint first, uint second, int place) {
    ull two = (ull)first << 32 | second;
    return (uint)(two << 2 * (place & 15) >> 32);
}

static __device__ __forceinline__ uint letters_at(const uint *__restrict__ words, int place) {
    const uint *at = words + (place >> 4);
    return letters_of(at[0], at[1], place);
}

static __device__ __forceinline__ uint reference_letters(int place) {
    int at = place >> 4;
    return letters_of(reference_at(at), reference_at(at + 1), place);
}

// How many letters are the same, at most `limit`.
static __device__ __forceinline__ int common(int place, const uint *__restrict__ queries, int query, int limit) {
    int same = 0;
    while (same < limit) {
        uint differ = reference_letters(place + same) ^ letters_at(queries, query + same);
        if (differ != 0) {
            same += __clz(differ) >> 1;
            break;
        }
        same += 16;
    }
    return min(same, limit);
}

// For every place in a query, the longest match that begins there, if it is long enough. One thread has one query. An SM
// holds 3 blocks: Table 1 of the TBC paper.
__global__ void __launch_bounds__(192, 3)
    match_sorted(int letters, const uint *__restrict__ queries, const int *__restrict__ first, int count, int shortest,
                 int *__restrict__ lengths, int *__restrict__ places) {
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= count) {
        return;
    }
    int end = first[query + 1];
    for (int begin = first[query]; begin <= end - shortest; begin++) {
        uint key = letters_at(queries, begin) >> (32 - 2 * KEY_LETTERS);
        int low = buckets_at(key);
        int high = buckets_at(key + 1);
        // Suffixes before `low` come before the query, those from `high` on do not.
        while (low < high) {
            int middle = (low + high) >> 1;
            int place = order_at(middle);
            int limit = min(end - begin, letters - place);
            int same = common(place, queries, begin, limit);
            bool is_before;
            if (same < limit) {
                is_before = reference_letters(place + same) >> 30 < letters_at(queries, begin + same) >> 30;
            } else {
                is_before = limit < end - begin;
            }
            if (is_before) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // The longest match is with the suffix before or the one after.
        int longest = 0;
        int where = 0;
        for (int near = max(low - 1, 0); near <= min(low, letters - 1); near++) {
            int place = order_at(near);
            int same = common(place, queries, begin, min(end - begin, letters - place));
            if (same > longest) {
                longest = same;
                where = place;
            }
        }
        if (longest >= shortest) {
            lengths[begin] = longest;
            places[begin] = where;
        }
    }
}
