/* Random numbers in kernels: Philox, XORWOW and MRG32k3a, and uniform, normal, log-normal and Poisson distributions.
 *
 * Philox4x32-10 (Salmon and others, Parallel random numbers: as easy as 1, 2, 3, SC 2011) counts: the seed is its key,
 * the offset the lower and the subsequence the upper half of its counter. XORWOW (Marsaglia, Xorshift RNGs, JSS 2003)
 * and MRG32k3a (L'Ecuyer, Operations Research 1999) run; here, a hash of seed and subsequence gives their first state.
 * So Philox gives the numbers of other implementations, the others give numbers of our own. */
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#if defined(__cplusplus)

#include <cuda_runtime.h>

/* ---- States ----------------------------------------------------------------------------------------------------- */

/* A normal number comes with a second one, kept for the next call. */
struct raddle_spare_normals {
    int has_float, has_double;
    float spare_float;
    double spare_double;
};

struct curandStateXORWOW {
    unsigned int d, v[5];
    raddle_spare_normals spare;
};
struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned int used;
    raddle_spare_normals spare;
};
struct curandStateMRG32k3a {
    unsigned int s1[3], s2[3];
    raddle_spare_normals spare;
};
typedef struct curandStateXORWOW curandStateXORWOW_t, curandState, curandState_t;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

#if defined(__CUDA__)

#define QUALIFIERS static __forceinline__ __device__
#define RADDLE_D static __inline__ __device__

RADDLE_D void raddle_no_spares(raddle_spare_normals &s) {
    s.has_float = s.has_double = 0;
    s.spare_float = 0.0f;
    s.spare_double = 0.0;
}
/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
RADDLE_D unsigned long long raddle_mix(unsigned long long &x) {
    unsigned long long z = (x += 0x9e3779b97f4a7c15ull);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
RADDLE_D unsigned long long raddle_first_mix(unsigned long long seed, unsigned long long subsequence) {
    unsigned long long x = seed, y = subsequence ^ raddle_mix(x);
    return raddle_mix(y);
}

/* ---- XORWOW ----------------------------------------------------------------------------------------------------- */

RADDLE_D unsigned int curand(curandStateXORWOW_t *s) {
    unsigned int t = s->v[0] ^ s->v[0] >> 2, last = s->v[4];
    s->v[0] = s->v[1];
    s->v[1] = s->v[2];
    s->v[2] = s->v[3];
    s->v[3] = last;
    s->v[4] = (last ^ last << 4) ^ (t ^ t << 1);
    s->d += 362437u;
    return s->v[4] + s->d;
}
RADDLE_D void skipahead(unsigned long long n, curandStateXORWOW_t *s) {
    for (; n > 0; n--) curand(s);
}
RADDLE_D void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                          curandStateXORWOW_t *s) {
    unsigned long long x = raddle_first_mix(seed, subsequence), a = raddle_mix(x), b = raddle_mix(x), c = raddle_mix(x);
    s->v[0] = 123456789u ^ (unsigned int)a;
    s->v[1] = 362436069u ^ (unsigned int)(a >> 32);
    s->v[2] = 521288629u ^ (unsigned int)b;
    s->v[3] = 88675123u ^ (unsigned int)(b >> 32);
    /* Not all of them may be zero. */
    s->v[4] = (5783321u ^ (unsigned int)c) | 1u;
    s->d = 6615241u + (unsigned int)(c >> 32);
    raddle_no_spares(s->spare);
    skipahead(offset, s);
}

/* ---- Philox4x32-10 ---------------------------------------------------------------------------------------------- */

RADDLE_D uint4 curand_Philox4x32_10(uint4 c, uint2 k) {
#pragma unroll
    for (int round = 0; round < 10; round++) {
        unsigned int hi0 = __umulhi(0xd2511f53u, c.x), lo0 = 0xd2511f53u * c.x;
        unsigned int hi1 = __umulhi(0xcd9e8d57u, c.z), lo1 = 0xcd9e8d57u * c.z;
        c = make_uint4(hi1 ^ c.y ^ k.x, lo1, hi0 ^ c.w ^ k.y, lo0);
        k.x += 0x9e3779b9u;
        k.y += 0xbb67ae85u;
    }
    return c;
}
/* The counter is one number of 128 bits, or two of 64. */
RADDLE_D void raddle_count(uint4 &c, unsigned long long n) {
    unsigned long long low = (unsigned long long)c.y << 32 | c.x, high = (unsigned long long)c.w << 32 | c.z;
    low += n;
    if (low < n) high++;
    c = make_uint4((unsigned int)low, (unsigned int)(low >> 32), (unsigned int)high, (unsigned int)(high >> 32));
}
RADDLE_D void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *s) {
    unsigned long long high = ((unsigned long long)s->ctr.w << 32 | s->ctr.z) + n;
    s->ctr.z = (unsigned int)high;
    s->ctr.w = (unsigned int)(high >> 32);
    s->output = curand_Philox4x32_10(s->ctr, s->key);
}
RADDLE_D void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *s) {
    unsigned long long at = s->used + (n & 3);
    raddle_count(s->ctr, (n >> 2) + (at >> 2));
    s->used = (unsigned int)(at & 3);
    s->output = curand_Philox4x32_10(s->ctr, s->key);
}
RADDLE_D void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                          curandStatePhilox4_32_10_t *s) {
    s->ctr = make_uint4(0, 0, (unsigned int)subsequence, (unsigned int)(subsequence >> 32));
    s->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
    s->used = 0;
    raddle_no_spares(s->spare);
    skipahead(offset, s);
}
RADDLE_D unsigned int curand(curandStatePhilox4_32_10_t *s) {
    unsigned int at = s->used++;
    unsigned int v = at == 0 ? s->output.x : at == 1 ? s->output.y : at == 2 ? s->output.z : s->output.w;
    if (s->used == 4) {
        raddle_count(s->ctr, 1);
        s->output = curand_Philox4x32_10(s->ctr, s->key);
        s->used = 0;
    }
    return v;
}
RADDLE_D uint4 curand4(curandStatePhilox4_32_10_t *s) {
    uint4 v;
    v.x = curand(s);
    v.y = curand(s);
    v.z = curand(s);
    v.w = curand(s);
    return v;
}

/* ---- MRG32k3a --------------------------------------------------------------------------------------------------- */

RADDLE_D unsigned int curand(curandStateMRG32k3a_t *s) {
    const unsigned long long m1 = 4294967087ull, m2 = 4294944443ull;
    unsigned long long a = (1403580ull * s->s1[1] + (m1 - 810728ull) * s->s1[0]) % m1;
    unsigned long long b = (527612ull * s->s2[2] + (m2 - 1370589ull) * s->s2[0] % m2) % m2;
    s->s1[0] = s->s1[1];
    s->s1[1] = s->s1[2];
    s->s1[2] = (unsigned int)a;
    s->s2[0] = s->s2[1];
    s->s2[1] = s->s2[2];
    s->s2[2] = (unsigned int)b;
    return (unsigned int)(a > b ? a - b : a + m1 - b);
}
RADDLE_D void skipahead(unsigned long long n, curandStateMRG32k3a_t *s) {
    for (; n > 0; n--) curand(s);
}
RADDLE_D void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                          curandStateMRG32k3a_t *s) {
    unsigned long long x = raddle_first_mix(seed, subsequence);
    for (int i = 0; i < 3; i++) {
        s->s1[i] = (unsigned int)(raddle_mix(x) % 4294967086ull) + 1u;
        s->s2[i] = (unsigned int)(raddle_mix(x) % 4294944442ull) + 1u;
    }
    raddle_no_spares(s->spare);
    skipahead(offset, s);
}

/* ---- Distributions ---------------------------------------------------------------------------------------------- */

/* From 32 or 53 random bits to (0, 1]. */
RADDLE_D float raddle_unit(unsigned int x) { return (float)x * 2.3283064e-10f + 1.1641532e-10f; }
RADDLE_D double raddle_unit(unsigned int x, unsigned int y) {
    unsigned long long z = (unsigned long long)x ^ (unsigned long long)y << 21;
    return (double)z * 1.1102230246251565e-16 + 5.5511151231257827e-17;
}
/* Two uniform numbers make two normal ones (Box and Muller). */
RADDLE_D float2 raddle_box_muller(float u, float v) {
    float s, c, r = sqrtf(-2.0f * logf(u));
    sincospif(2.0f * v, &s, &c);
    return make_float2(r * s, r * c);
}
RADDLE_D double2 raddle_box_muller(double u, double v) {
    double s, c, r = sqrt(-2.0 * log(u));
    sincospi(2.0 * v, &s, &c);
    return make_double2(r * s, r * c);
}

template <class S> RADDLE_D float curand_uniform(S *s) { return raddle_unit(curand(s)); }
template <class S> RADDLE_D float2 curand_uniform2(S *s) {
    float x = curand_uniform(s);
    return make_float2(x, curand_uniform(s));
}
template <class S> RADDLE_D float4 curand_uniform4(S *s) {
    float2 a = curand_uniform2(s), b = curand_uniform2(s);
    return make_float4(a.x, a.y, b.x, b.y);
}
template <class S> RADDLE_D double curand_uniform_double(S *s) {
    unsigned int x = curand(s);
    return raddle_unit(x, curand(s));
}
template <class S> RADDLE_D double2 curand_uniform2_double(S *s) {
    double x = curand_uniform_double(s);
    return make_double2(x, curand_uniform_double(s));
}
template <class S> RADDLE_D float2 curand_normal2(S *s) {
    float u = curand_uniform(s);
    return raddle_box_muller(u, curand_uniform(s));
}
template <class S> RADDLE_D float4 curand_normal4(S *s) {
    float2 a = curand_normal2(s), b = curand_normal2(s);
    return make_float4(a.x, a.y, b.x, b.y);
}
template <class S> RADDLE_D double2 curand_normal2_double(S *s) {
    double u = curand_uniform_double(s);
    return raddle_box_muller(u, curand_uniform_double(s));
}
template <class S> RADDLE_D float curand_normal(S *s) {
    if (s->spare.has_float) return s->spare.has_float = 0, s->spare.spare_float;
    float2 v = curand_normal2(s);
    s->spare.spare_float = v.y;
    s->spare.has_float = 1;
    return v.x;
}
template <class S> RADDLE_D double curand_normal_double(S *s) {
    if (s->spare.has_double) return s->spare.has_double = 0, s->spare.spare_double;
    double2 v = curand_normal2_double(s);
    s->spare.spare_double = v.y;
    s->spare.has_double = 1;
    return v.x;
}
template <class S> RADDLE_D float curand_log_normal(S *s, float mean, float stddev) {
    return expf(mean + stddev * curand_normal(s));
}
template <class S> RADDLE_D double curand_log_normal_double(S *s, double mean, double stddev) {
    return exp(mean + stddev * curand_normal_double(s));
}
template <class S> RADDLE_D float2 curand_log_normal2(S *s, float mean, float stddev) {
    float2 v = curand_normal2(s);
    return make_float2(expf(mean + stddev * v.x), expf(mean + stddev * v.y));
}
template <class S> RADDLE_D double2 curand_log_normal2_double(S *s, double mean, double stddev) {
    double2 v = curand_normal2_double(s);
    return make_double2(exp(mean + stddev * v.x), exp(mean + stddev * v.y));
}
template <class S> RADDLE_D float4 curand_log_normal4(S *s, float mean, float stddev) {
    float2 a = curand_log_normal2(s, mean, stddev), b = curand_log_normal2(s, mean, stddev);
    return make_float4(a.x, a.y, b.x, b.y);
}
/* A small mean: how many uniform numbers it takes for their product to fall below e^-mean. A large one: transformed
 * rejection (Hormann, The transformed rejection method for generating Poisson random variables, 1993). */
template <class S> RADDLE_D unsigned int curand_poisson(S *s, double lambda) {
    if (lambda < 10.0) {
        double limit = exp(-lambda), product = curand_uniform_double(s);
        unsigned int n = 0;
        for (; product > limit; n++) product *= curand_uniform_double(s);
        return n;
    }
    double root = sqrt(lambda), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2.0), log_lambda = log(lambda);
    for (;;) {
        double u = curand_uniform_double(s) - 0.5, v = curand_uniform_double(s);
        double us = 0.5 - fabs(u), k = floor((2.0 * a / us + b) * u + lambda + 0.43);
        if (us >= 0.07 && v <= v_r) return (unsigned int)k;
        if (k < 0.0 || (us < 0.013 && v > us)) continue;
        if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <= -lambda + k * log_lambda - lgamma(k + 1.0))
            return (unsigned int)k;
    }
}
template <class S> RADDLE_D uint4 curand_poisson4(S *s, double lambda) {
    uint4 v;
    v.x = curand_poisson(s, lambda);
    v.y = curand_poisson(s, lambda);
    v.z = curand_poisson(s, lambda);
    v.w = curand_poisson(s, lambda);
    return v;
}

#undef RADDLE_D

#endif

#endif

#endif
