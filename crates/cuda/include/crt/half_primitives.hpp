/* What __half and __nv_bfloat16 share: rounding a float to fewer bits, and numbers of other types to a float first. */
#ifndef RADDLE_HALF_PRIMITIVES_HPP
#define RADDLE_HALF_PRIMITIVES_HPP

#include <math.h>

#include "vector_types.h"

/* Each type brings its own of these. */
template <class H> static __inline__ __host__ __device__ H raddle_narrow(float a, int mode);
template <class H> static __inline__ __host__ __device__ H raddle_number(unsigned short bits);
template <class T> __inline__ __host__ __device__ T raddle_one();

/* The float next towards zero, with its last bit set if that is not exact: rounding it to fewer bits, in any mode, then
 * gives what rounding the number at once would give. */
static __inline__ __host__ __device__ float raddle_odd(double a) {
    float v = (float)a;
    unsigned int bits = __builtin_bit_cast(unsigned int, v);
    if ((double)v == a || a != a) return v;
    double size = a < 0 ? -a : a, rounded = v < 0 ? -v : v;
    if (rounded > size) bits--;
    return __builtin_bit_cast(float, bits | 1u);
}
static __inline__ __host__ __device__ float raddle_odd(unsigned long long a) {
    int drop = 0;
    unsigned long long m = a;
    while (m >> 24) {
        m >>= 1;
        drop++;
    }
    if (m << drop != a) m |= 1;
    float v = (float)m;
    for (; drop > 0; drop--) v *= 2.0f;
    return v;
}
static __inline__ __host__ __device__ float raddle_odd(long long a) {
    return a < 0 ? -raddle_odd(0 - (unsigned long long)a) : raddle_odd((unsigned long long)a);
}
static __inline__ __host__ __device__ float raddle_odd(int a) { return raddle_odd((double)a); }
static __inline__ __host__ __device__ float raddle_odd(unsigned int a) { return raddle_odd((double)a); }
static __inline__ __host__ __device__ float raddle_odd(short a) { return (float)a; }
static __inline__ __host__ __device__ float raddle_odd(unsigned short a) { return (float)a; }
static __inline__ __host__ __device__ float raddle_odd(long a) { return raddle_odd((long long)a); }
static __inline__ __host__ __device__ float raddle_odd(unsigned long a) { return raddle_odd((unsigned long long)a); }

/* A whole number, as near as the type can come; NaN is zero. */
template <class T> static __inline__ __host__ __device__ T raddle_whole(float a) {
    const bool has_sign = (T)-1 < (T)0;
    const T top = has_sign ? (T)(((unsigned long long)1 << (8 * sizeof(T) - 1)) - 1) : (T)-1;
    const T bottom = has_sign ? (T)(-top - 1) : (T)0;
    if (a != a) return 0;
    if (a >= (float)top) return top;
    if (a <= (float)bottom) return bottom;
    return (T)a;
}

/* Rounds the bits of a float below `drop` away: to nearest even, towards zero, down, up. */
static __inline__ __host__ __device__ unsigned int raddle_round_bits(unsigned int m, int drop, int mode,
                                                                     bool negative) {
    unsigned int unit = 1u << drop, below = m & (unit - 1), kept = m >> drop;
    if (mode == 0) return kept + (below > unit / 2 || (below == unit / 2 && (kept & 1)));
    if (mode == 2) return kept + (below && negative);
    if (mode == 3) return kept + (below && !negative);
    return kept;
}

#endif
