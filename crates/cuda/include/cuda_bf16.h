/* Numbers of 16 bits with 8 of precision, the upper half of a float: __nv_bfloat16, and __nv_bfloat162 for two of them.
 *
 * From compute capability 8.0 on, the device has instructions; elsewhere floats are computed with and rounded. */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

#if defined(__cplusplus)

#include "cuda_fp16.h"

#define RADDLE_HD static __inline__ __host__ __device__
#define RADDLE_MEMBER __host__ __device__

typedef struct __attribute__((aligned(2))) {
    unsigned short x;
} __nv_bfloat16_raw;
typedef struct __attribute__((aligned(4))) {
    unsigned short x, y;
} __nv_bfloat162_raw;

/* ---- Bits and floats -------------------------------------------------------------------------------------------- */

RADDLE_HD float raddle_bfloat16_to_float(unsigned short b) { return __builtin_bit_cast(float, (unsigned int)b << 16); }
RADDLE_HD unsigned short raddle_float_to_bfloat16(float a, int mode) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned short b;
    if (mode == 0) {
        __asm__("cvt.rn.bf16.f32 %0, %1;" : "=h"(b) : "f"(a));
        return b;
    }
    if (mode == 1) {
        __asm__("cvt.rz.bf16.f32 %0, %1;" : "=h"(b) : "f"(a));
        return b;
    }
#endif
    unsigned int bits = __builtin_bit_cast(unsigned int, a), size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return 0x7fff;
    bool negative = bits >> 31;
    unsigned int b2 = size == 0x7f800000u ? 0x7f80u : raddle_round_bits(size, 16, mode, negative);
    return (unsigned short)(bits >> 16 & 0x8000u) | (unsigned short)b2;
}

/* ---- Types ------------------------------------------------------------------------------------------------------ */

struct __nv_bfloat16 {
  protected:
    unsigned short __x;

  public:
#if __cplusplus >= 201103L
    __nv_bfloat16() = default;
#else
    RADDLE_MEMBER __nv_bfloat16() {}
#endif
    RADDLE_MEMBER __nv_bfloat16(const __nv_bfloat16_raw &raw) : __x(raw.x) {}
    RADDLE_MEMBER __nv_bfloat16 &operator=(const __nv_bfloat16_raw &raw) {
        __x = raw.x;
        return *this;
    }
    RADDLE_MEMBER operator __nv_bfloat16_raw() const {
        __nv_bfloat16_raw raw;
        raw.x = __x;
        return raw;
    }
    RADDLE_MEMBER __nv_bfloat16(float a) : __x(raddle_float_to_bfloat16(a, 0)) {}
    RADDLE_MEMBER __nv_bfloat16(double a) : __x(raddle_float_to_bfloat16(raddle_odd(a), 0)) {}
    RADDLE_MEMBER operator float() const { return raddle_bfloat16_to_float(__x); }
#define RADDLE_INTEGER(T)                                                                                              \
    RADDLE_MEMBER __nv_bfloat16(T a) : __x(raddle_float_to_bfloat16(raddle_odd(a), 0)) {}                              \
    RADDLE_MEMBER operator T() const { return raddle_whole<T>(truncf(raddle_bfloat16_to_float(__x))); }                \
    RADDLE_MEMBER __nv_bfloat16 &operator=(T a) {                                                                      \
        __x = raddle_float_to_bfloat16(raddle_odd(a), 0);                                                              \
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
    RADDLE_MEMBER __nv_bfloat16 &operator=(float a) {
        __x = raddle_float_to_bfloat16(a, 0);
        return *this;
    }
    RADDLE_MEMBER __nv_bfloat16 &operator=(double a) {
        __x = raddle_float_to_bfloat16(raddle_odd(a), 0);
        return *this;
    }
    RADDLE_MEMBER operator bool() const { return (__x & 0x7fffu) != 0; }
};

struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
#if __cplusplus >= 201103L
    __nv_bfloat162() = default;
#else
    RADDLE_MEMBER __nv_bfloat162() {}
#endif
    RADDLE_MEMBER __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b) : x(a), y(b) {}
    RADDLE_MEMBER __nv_bfloat162(const __nv_bfloat162_raw &raw) {
        __nv_bfloat16_raw a = {raw.x}, b = {raw.y};
        x = a;
        y = b;
    }
    RADDLE_MEMBER operator __nv_bfloat162_raw() const {
        __nv_bfloat16_raw a = x, b = y;
        __nv_bfloat162_raw raw = {a.x, b.x};
        return raw;
    }
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

/* ---- Primitives ------------------------------------------------------------------------------------------------- */

RADDLE_HD unsigned short raddle_bits(__nv_bfloat16 a) { return __nv_bfloat16_raw(a).x; }
template <> __inline__ __host__ __device__ __nv_bfloat16 raddle_number<__nv_bfloat16>(unsigned short bits) {
    __nv_bfloat16_raw raw = {bits};
    return __nv_bfloat16(raw);
}
RADDLE_HD float raddle_wide(__nv_bfloat16 a) { return raddle_bfloat16_to_float(raddle_bits(a)); }
template <> __inline__ __host__ __device__ __nv_bfloat16 raddle_narrow<__nv_bfloat16>(float a, int mode) {
    return raddle_number<__nv_bfloat16>(raddle_float_to_bfloat16(a, mode));
}
RADDLE_HD __nv_bfloat16 raddle_fma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned short v;
    __asm__("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(v) : "h"(raddle_bits(a)), "h"(raddle_bits(b)), "h"(raddle_bits(c)));
    return raddle_number<__nv_bfloat16>(v);
#else
    /* The product is exact in a double; the sum is rounded there to odd. */
    double p = (double)raddle_wide(a) * raddle_wide(b), q = raddle_wide(c), sum = p + q;
    double part = sum - p, lost = (p - (sum - part)) + (q - part);
    unsigned long long bits = __builtin_bit_cast(unsigned long long, sum);
    if (lost != 0 && sum - sum == 0) {
        if ((lost < 0) != (sum < 0)) bits--;
        sum = __builtin_bit_cast(double, bits | 1u);
    }
    return raddle_narrow<__nv_bfloat16>(raddle_odd(sum), 0);
#endif
}
RADDLE_HD __nv_bfloat162 raddle_fma(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned int v;
    __asm__("fma.rn.bf16x2 %0, %1, %2, %3;"
            : "=r"(v)
            : "r"(__builtin_bit_cast(unsigned int, a)), "r"(__builtin_bit_cast(unsigned int, b)),
              "r"(__builtin_bit_cast(unsigned int, c)));
    return __builtin_bit_cast(__nv_bfloat162, v);
#else
    return __nv_bfloat162(raddle_fma(a.x, b.x, c.x), raddle_fma(a.y, b.y, c.y));
#endif
}
/* Before 9.0 the only instruction is fma: a sum is a * 1 + b, a product a * b - 0. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define RADDLE_ARITHMETIC(NAME, OP, ONE, TWO, A, B, C)                                                                 \
    RADDLE_HD __nv_bfloat16 NAME(__nv_bfloat16 a, __nv_bfloat16 b) {                                                   \
        unsigned short v;                                                                                              \
        __asm__(ONE " %0, %1, %2;" : "=h"(v) : "h"(raddle_bits(a)), "h"(raddle_bits(b)));                              \
        return raddle_number<__nv_bfloat16>(v);                                                                        \
    }                                                                                                                  \
    RADDLE_HD __nv_bfloat162 NAME(__nv_bfloat162 a, __nv_bfloat162 b) {                                                \
        unsigned int v;                                                                                                \
        __asm__(TWO " %0, %1, %2;"                                                                                     \
                : "=r"(v)                                                                                              \
                : "r"(__builtin_bit_cast(unsigned int, a)), "r"(__builtin_bit_cast(unsigned int, b)));                 \
        return __builtin_bit_cast(__nv_bfloat162, v);                                                                  \
    }
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define RADDLE_ARITHMETIC(NAME, OP, ONE, TWO, A, B, C)                                                                 \
    RADDLE_HD __nv_bfloat16 NAME(__nv_bfloat16 a, __nv_bfloat16 b) {                                                   \
        const __nv_bfloat16 one = raddle_number<__nv_bfloat16>(0x3f80), less = raddle_number<__nv_bfloat16>(0xbf80),   \
                            zero = raddle_number<__nv_bfloat16>(0x8000);                                               \
        (void)one, (void)less, (void)zero;                                                                             \
        return raddle_fma(A, B, C);                                                                                    \
    }                                                                                                                  \
    RADDLE_HD __nv_bfloat162 NAME(__nv_bfloat162 a, __nv_bfloat162 b) {                                                \
        const __nv_bfloat16 o = raddle_number<__nv_bfloat16>(0x3f80), l = raddle_number<__nv_bfloat16>(0xbf80),        \
                            z = raddle_number<__nv_bfloat16>(0x8000);                                                  \
        const __nv_bfloat162 one(o, o), less(l, l), zero(z, z);                                                        \
        (void)one, (void)less, (void)zero;                                                                             \
        return raddle_fma(A, B, C);                                                                                    \
    }
#else
#define RADDLE_ARITHMETIC(NAME, OP, ONE, TWO, A, B, C)                                                                 \
    RADDLE_HD __nv_bfloat16 NAME(__nv_bfloat16 a, __nv_bfloat16 b) {                                                   \
        return raddle_narrow<__nv_bfloat16>(raddle_wide(a) OP raddle_wide(b), 0);                                      \
    }                                                                                                                  \
    RADDLE_HD __nv_bfloat162 NAME(__nv_bfloat162 a, __nv_bfloat162 b) {                                                \
        return __nv_bfloat162(NAME(a.x, b.x), NAME(a.y, b.y));                                                         \
    }
#endif
RADDLE_ARITHMETIC(raddle_add, +, "add.rn.bf16", "add.rn.bf16x2", a, one, b)
RADDLE_ARITHMETIC(raddle_sub, -, "sub.rn.bf16", "sub.rn.bf16x2", b, less, a)
RADDLE_ARITHMETIC(raddle_mul, *, "mul.rn.bf16", "mul.rn.bf16x2", a, b, zero)
#undef RADDLE_ARITHMETIC
#if defined(__CUDA__)
/* Compare-and-swap on the word around a number, because devices before 9.0 have no such sum. */
static __inline__ __device__ __nv_bfloat162 raddle_atomic_add(__nv_bfloat162 *p, __nv_bfloat162 v) {
    unsigned int *word = (unsigned int *)p, was = *word, seen;
    do {
        seen = was;
        __nv_bfloat162 sum = raddle_add(__builtin_bit_cast(__nv_bfloat162, seen), v);
        was = atomicCAS(word, seen, __builtin_bit_cast(unsigned int, sum));
    } while (was != seen);
    return __builtin_bit_cast(__nv_bfloat162, was);
}
static __inline__ __device__ __nv_bfloat16 raddle_atomic_add(__nv_bfloat16 *p, __nv_bfloat16 v) {
    bool upper = (size_t)p & 2;
    unsigned int *word = (unsigned int *)((size_t)p & ~(size_t)3), was = *word, seen;
    unsigned short old;
    do {
        seen = was;
        old = (unsigned short)(upper ? seen >> 16 : seen);
        unsigned int sum = raddle_bits(raddle_add(raddle_number<__nv_bfloat16>(old), v));
        was = atomicCAS(word, seen, upper ? (seen & 0xffffu) | sum << 16 : (seen & 0xffff0000u) | sum);
    } while (was != seen);
    return raddle_number<__nv_bfloat16>(old);
}
#endif
#undef RADDLE_MEMBER
#undef RADDLE_HD

#define RADDLE_H __nv_bfloat16
#define RADDLE_H2 __nv_bfloat162
#define RADDLE_X bfloat16
#include "crt/half_functions.hpp"

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fffu)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7fu)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80u)

#endif

#endif
