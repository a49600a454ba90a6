/* Numbers of 16 bits with 11 of precision (IEEE binary16): __half, and __half2 for two of them.
 *
 * On the device, sums and products are instructions for half where the device has them; on the host, and for the
 * functions without one, floats are computed with and rounded. */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#if defined(__cplusplus)

#include "crt/half_primitives.hpp"
#include "vector_functions.h"
#if !defined(__CUDA__)
#include "cuda_runtime_api.h"
#endif

#define RADDLE_HD static __inline__ __host__ __device__
#define RADDLE_MEMBER __host__ __device__

typedef struct __attribute__((aligned(2))) {
    unsigned short x;
} __half_raw;
typedef struct __attribute__((aligned(4))) {
    unsigned short x, y;
} __half2_raw;

/* ---- Bits and floats -------------------------------------------------------------------------------------------- */

RADDLE_HD float raddle_half_to_float(unsigned short h) {
#if defined(__CUDA_ARCH__)
    float v;
    __asm__("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(h));
    return v;
#else
    unsigned int sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31u, m = h & 0x3ffu;
    if (exponent == 31) return __builtin_bit_cast(float, sign | 0x7f800000u | m << 13);
    if (exponent) return __builtin_bit_cast(float, sign | (exponent + 112) << 23 | m << 13);
    float v = (float)m * 5.9604644775390625e-8f;
    return sign ? -v : v;
#endif
}
RADDLE_HD unsigned short raddle_float_to_half(float a, int mode) {
#if defined(__CUDA_ARCH__)
    unsigned short h;
    if (mode == 0) {
        __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(a));
    } else if (mode == 1) {
        __asm__("cvt.rz.f16.f32 %0, %1;" : "=h"(h) : "f"(a));
    } else if (mode == 2) {
        __asm__("cvt.rm.f16.f32 %0, %1;" : "=h"(h) : "f"(a));
    } else {
        __asm__("cvt.rp.f16.f32 %0, %1;" : "=h"(h) : "f"(a));
    }
    return h;
#else
    unsigned int bits = __builtin_bit_cast(unsigned int, a), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    bool negative = sign != 0;
    if (size > 0x7f800000u) return 0x7fff;
    if (size == 0x7f800000u) return (unsigned short)(sign | 0x7c00u);
    unsigned int h;
    if (size < 0x33000000u) {
        /* Less than half of the smallest subnormal number. */
        h = size && ((mode == 2 && negative) || (mode == 3 && !negative));
    } else if (size < 0x38800000u) {
        unsigned int m = (size & 0x7fffffu) | 0x800000u;
        int drop = 126 - (int)(size >> 23);
        h = drop > 24 ? raddle_round_bits(m >> 1 | (m & 1), 24, mode, negative)
                      : raddle_round_bits(m, drop, mode, negative);
    } else {
        h = raddle_round_bits(size - 0x38000000u, 13, mode, negative);
    }
    if (h >= 0x7c00u) h = (mode == 1 || (mode == 2 && !negative) || (mode == 3 && negative)) ? 0x7bffu : 0x7c00u;
    return (unsigned short)(sign | h);
#endif
}

/* ---- Types ------------------------------------------------------------------------------------------------------ */

struct __half {
  protected:
    unsigned short __x;

  public:
#if __cplusplus >= 201103L
    __half() = default;
#else
    RADDLE_MEMBER __half() {}
#endif
    RADDLE_MEMBER __half(const __half_raw &raw) : __x(raw.x) {}
    RADDLE_MEMBER __half &operator=(const __half_raw &raw) {
        __x = raw.x;
        return *this;
    }
    RADDLE_MEMBER operator __half_raw() const {
        __half_raw raw;
        raw.x = __x;
        return raw;
    }
    RADDLE_MEMBER __half(float a) : __x(raddle_float_to_half(a, 0)) {}
    RADDLE_MEMBER __half(double a) : __x(raddle_float_to_half(raddle_odd(a), 0)) {}
    RADDLE_MEMBER operator float() const { return raddle_half_to_float(__x); }
#define RADDLE_INTEGER(T)                                                                                              \
    RADDLE_MEMBER __half(T a) : __x(raddle_float_to_half(raddle_odd(a), 0)) {}                                         \
    RADDLE_MEMBER operator T() const { return raddle_whole<T>(truncf(raddle_half_to_float(__x))); }                    \
    RADDLE_MEMBER __half &operator=(T a) {                                                                             \
        __x = raddle_float_to_half(raddle_odd(a), 0);                                                                  \
        return *this;                                                                                                  \
    }
    RADDLE_INTEGER(short)
    RADDLE_INTEGER(unsigned short)
    RADDLE_INTEGER(int)
    RADDLE_INTEGER(unsigned int)
    RADDLE_INTEGER(long)
    RADDLE_INTEGER(unsigned long)
    RADDLE_INTEGER(long long)
    RADDLE_INTEGER(unsigned long long)
#undef RADDLE_INTEGER
    RADDLE_MEMBER __half &operator=(float a) {
        __x = raddle_float_to_half(a, 0);
        return *this;
    }
    RADDLE_MEMBER __half &operator=(double a) {
        __x = raddle_float_to_half(raddle_odd(a), 0);
        return *this;
    }
    RADDLE_MEMBER operator bool() const { return (__x & 0x7fffu) != 0; }
    RADDLE_MEMBER operator signed char() const { return raddle_whole<signed char>(raddle_half_to_float(__x)); }
    RADDLE_MEMBER operator unsigned char() const { return raddle_whole<unsigned char>(raddle_half_to_float(__x)); }
    RADDLE_MEMBER operator char() const { return raddle_whole<char>(raddle_half_to_float(__x)); }
};

struct __attribute__((aligned(4))) __half2 {
    __half x, y;
#if __cplusplus >= 201103L
    __half2() = default;
#else
    RADDLE_MEMBER __half2() {}
#endif
    RADDLE_MEMBER __half2(const __half &a, const __half &b) : x(a), y(b) {}
    RADDLE_MEMBER __half2(const __half2_raw &raw) {
        __half_raw a = {raw.x}, b = {raw.y};
        x = a;
        y = b;
    }
    RADDLE_MEMBER operator __half2_raw() const {
        __half_raw a = x, b = y;
        __half2_raw raw = {a.x, b.x};
        return raw;
    }
};
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;

/* ---- Primitives ------------------------------------------------------------------------------------------------- */

RADDLE_HD unsigned short raddle_bits(__half a) { return __half_raw(a).x; }
template <> __inline__ __host__ __device__ __half raddle_number<__half>(unsigned short bits) {
    __half_raw raw = {bits};
    return __half(raw);
}
RADDLE_HD float raddle_wide(__half a) { return raddle_half_to_float(raddle_bits(a)); }
template <> __inline__ __host__ __device__ __half raddle_narrow<__half>(float a, int mode) {
    return raddle_number<__half>(raddle_float_to_half(a, mode));
}
#if defined(__CUDA_ARCH__)
typedef _Float16 raddle_f16x2 __attribute__((ext_vector_type(2)));
#define RADDLE_ARITHMETIC(NAME, OP)                                                                                    \
    RADDLE_HD __half NAME(__half a, __half b) {                                                                        \
        _Float16 x = __builtin_bit_cast(_Float16, a), y = __builtin_bit_cast(_Float16, b);                             \
        return __builtin_bit_cast(__half, (_Float16)(x OP y));                                                         \
    }                                                                                                                  \
    RADDLE_HD __half2 NAME(__half2 a, __half2 b) {                                                                     \
        raddle_f16x2 x = __builtin_bit_cast(raddle_f16x2, a), y = __builtin_bit_cast(raddle_f16x2, b);                 \
        return __builtin_bit_cast(__half2, x OP y);                                                                    \
    }
#else
#define RADDLE_ARITHMETIC(NAME, OP)                                                                                    \
    RADDLE_HD __half NAME(__half a, __half b) {                                                                        \
        return raddle_narrow<__half>(raddle_wide(a) OP raddle_wide(b), 0);                                             \
    }                                                                                                                  \
    RADDLE_HD __half2 NAME(__half2 a, __half2 b) { return __half2(NAME(a.x, b.x), NAME(a.y, b.y)); }
#endif
RADDLE_ARITHMETIC(raddle_add, +)
RADDLE_ARITHMETIC(raddle_sub, -)
RADDLE_ARITHMETIC(raddle_mul, *)
#undef RADDLE_ARITHMETIC
RADDLE_HD __half raddle_fma(__half a, __half b, __half c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
    unsigned short v;
    __asm__("fma.rn.f16 %0, %1, %2, %3;" : "=h"(v) : "h"(raddle_bits(a)), "h"(raddle_bits(b)), "h"(raddle_bits(c)));
    return raddle_number<__half>(v);
#else
    /* A double holds the product and the sum as exactly as it takes. */
    return raddle_narrow<__half>(raddle_odd((double)raddle_wide(a) * raddle_wide(b) + raddle_wide(c)), 0);
#endif
}
RADDLE_HD __half2 raddle_fma(__half2 a, __half2 b, __half2 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
    unsigned int v;
    __asm__("fma.rn.f16x2 %0, %1, %2, %3;"
            : "=r"(v)
            : "r"(__builtin_bit_cast(unsigned int, a)), "r"(__builtin_bit_cast(unsigned int, b)),
              "r"(__builtin_bit_cast(unsigned int, c)));
    return __builtin_bit_cast(__half2, v);
#else
    return __half2(raddle_fma(a.x, b.x, c.x), raddle_fma(a.y, b.y, c.y));
#endif
}
#if defined(__CUDA__)
static __inline__ __device__ __half raddle_atomic_add(__half *p, __half v) {
    unsigned short was;
    __asm__ __volatile__("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(was) : "l"(p), "h"(raddle_bits(v)) : "memory");
    return raddle_number<__half>(was);
}
static __inline__ __device__ __half2 raddle_atomic_add(__half2 *p, __half2 v) {
    unsigned int was;
    __asm__ __volatile__("atom.add.noftz.f16x2 %0, [%1], %2;"
                         : "=r"(was)
                         : "l"(p), "r"(__builtin_bit_cast(unsigned int, v))
                         : "memory");
    return __builtin_bit_cast(__half2, was);
}
#endif
#undef RADDLE_MEMBER
#undef RADDLE_HD

#define RADDLE_H __half
#define RADDLE_H2 __half2
#define RADDLE_X half
#include "crt/half_functions.hpp"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
static __inline__ __device__ __half htanh_approx(__half a) {
    unsigned short v;
    __asm__("tanh.approx.f16 %0, %1;" : "=h"(v) : "h"(raddle_bits(a)));
    return raddle_number<__half>(v);
}
#endif

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fffu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001u)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bffu)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000u)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00u)

#endif

#endif
