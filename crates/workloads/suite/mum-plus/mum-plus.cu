// Finds where pieces of DNA match a reference, in its sorted suffixes. Texts have sixteen letters in a word.
#include "raddle.cuh"

#define KEY_LETTERS 6

// Sixteen letters from any place, the first on top.
static __device__ __forceinline__ uint letters_at(const uint *__restrict__ words, int place) {
    const uint *at = words + (place >> 4);
    ull two = (ull)at[0] << 32 | at[1];
    return (uint)(two << 2 * (place & 15) >> 32);
}

// How many letters are the same, at most `limit`.
static __device__ __forceinline__ int common(const uint *__restrict__ reference, int place,
                                             const uint *__restrict__ queries, int query, int limit) {
    int same = 0;
    while (same < limit) {
        uint differ = letters_at(reference, place + same) ^ letters_at(queries, query + same);
        if (differ != 0) {
            same += __clz(differ) >> 1;
            break;
        }
        same += 16;
    }
    return min(same, limit);
}

// For every place in a query, the longest match that begins there, if it is long enough. One thread has one query. The
// suffixes that begin with the letters of key k are those from buckets[k] on, in their order.
__global__ void __launch_bounds__(192, 3)
    match_sorted(const uint *__restrict__ reference, int letters, const int *__restrict__ order,
                 const int *__restrict__ buckets, const uint *__restrict__ queries, const int *__restrict__ first,
                 int count, int shortest, int *__restrict__ lengths, int *__restrict__ places) {
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= count) {
        return;
    }
    int end = first[query + 1];
    for (int begin = first[query]; begin <= end - shortest; begin++) {
        uint key = letters_at(queries, begin) >> (32 - 2 * KEY_LETTERS);
        int low = buckets[key];
        int high = buckets[key + 1];
        // Suffixes before `low` come before the query, those from `high` on do not.
        while (low < high) {
            int middle = (low + high) >> 1;
            int place = order[middle];
            int limit = min(end - begin, letters - place);
            int same = common(reference, place, queries, begin, limit);
            bool is_before;
            if (same < limit) {
                is_before = letters_at(reference, place + same) >> 30 < letters_at(queries, begin + same) >> 30;
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
            int place = order[near];
            int same = common(reference, place, queries, begin, min(end - begin, letters - place));
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
