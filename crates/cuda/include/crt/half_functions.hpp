/* Functions of 16-bit floating-point numbers, included once for __half and once for __nv_bfloat16.
 *
 * The includer defines RADDLE_H and RADDLE_H2, the types of one number and of two; RADDLE_X, the word for them in
 * names (half, bfloat16); and the primitives raddle_wide(number), raddle_narrow<number>(float), raddle_add, raddle_mul,
 * raddle_fma and so on, for one number and for two. All else is written on these, for the host and the device. */

#define RADDLE_HD static __inline__ __host__ __device__
#define RADDLE_PASTE(A, B, C) A##B##C
#define RADDLE_EXPAND(A, B, C) RADDLE_PASTE(A, B, C)
/* A name with the word in it: RADDLE_NAME(__float2, _rn) is __float2half_rn. */
#define RADDLE_NAME(A, B) RADDLE_EXPAND(A, RADDLE_X, B)

/* ---- Conversions ------------------------------------------------------------------------------------------------ */

RADDLE_HD float RADDLE_NAME(__, 2float)(RADDLE_H a) { return raddle_wide(a); }
RADDLE_HD RADDLE_H RADDLE_NAME(__float2, )(float a) { return raddle_narrow<RADDLE_H>(a, 0); }
RADDLE_HD RADDLE_H RADDLE_NAME(__float2, _rn)(float a) { return raddle_narrow<RADDLE_H>(a, 0); }
RADDLE_HD RADDLE_H RADDLE_NAME(__float2, _rz)(float a) { return raddle_narrow<RADDLE_H>(a, 1); }
RADDLE_HD RADDLE_H RADDLE_NAME(__float2, _rd)(float a) { return raddle_narrow<RADDLE_H>(a, 2); }
RADDLE_HD RADDLE_H RADDLE_NAME(__float2, _ru)(float a) { return raddle_narrow<RADDLE_H>(a, 3); }
RADDLE_HD RADDLE_H RADDLE_NAME(__double2, )(double a) { return raddle_narrow<RADDLE_H>(raddle_odd(a), 0); }

RADDLE_HD short RADDLE_NAME(__, _as_short)(RADDLE_H a) { return (short)raddle_bits(a); }
RADDLE_HD unsigned short RADDLE_NAME(__, _as_ushort)(RADDLE_H a) { return raddle_bits(a); }
RADDLE_HD RADDLE_H RADDLE_NAME(__short_as_, )(short a) { return raddle_number<RADDLE_H>((unsigned short)a); }
RADDLE_HD RADDLE_H RADDLE_NAME(__ushort_as_, )(unsigned short a) { return raddle_number<RADDLE_H>(a); }

/* From integers: a 16-bit number has fewer bits than a float, and a float that is not exact gets its last bit set, so
 * that rounding once more does no harm. To integers: to the nearest, towards zero, down and up. */
#define RADDLE_INTEGER(NAME, T)                                                                                        \
    RADDLE_HD RADDLE_H RADDLE_NAME(__##NAME##2, _rn)(T a) { return raddle_narrow<RADDLE_H>(raddle_odd(a), 0); }        \
    RADDLE_HD RADDLE_H RADDLE_NAME(__##NAME##2, _rz)(T a) { return raddle_narrow<RADDLE_H>(raddle_odd(a), 1); }        \
    RADDLE_HD RADDLE_H RADDLE_NAME(__##NAME##2, _rd)(T a) { return raddle_narrow<RADDLE_H>(raddle_odd(a), 2); }        \
    RADDLE_HD RADDLE_H RADDLE_NAME(__##NAME##2, _ru)(T a) { return raddle_narrow<RADDLE_H>(raddle_odd(a), 3); }        \
    RADDLE_HD T RADDLE_NAME(__, 2##NAME##_rn)(RADDLE_H a) { return raddle_whole<T>(rintf(raddle_wide(a))); }           \
    RADDLE_HD T RADDLE_NAME(__, 2##NAME##_rz)(RADDLE_H a) { return raddle_whole<T>(truncf(raddle_wide(a))); }          \
    RADDLE_HD T RADDLE_NAME(__, 2##NAME##_rd)(RADDLE_H a) { return raddle_whole<T>(floorf(raddle_wide(a))); }          \
    RADDLE_HD T RADDLE_NAME(__, 2##NAME##_ru)(RADDLE_H a) { return raddle_whole<T>(ceilf(raddle_wide(a))); }
RADDLE_INTEGER(int, int)
RADDLE_INTEGER(uint, unsigned int)
RADDLE_INTEGER(short, short)
RADDLE_INTEGER(ushort, unsigned short)
RADDLE_INTEGER(ll, long long)
RADDLE_INTEGER(ull, unsigned long long)
#undef RADDLE_INTEGER
RADDLE_HD signed char RADDLE_NAME(__, 2char_rz)(RADDLE_H a) { return raddle_whole<signed char>(raddle_wide(a)); }
RADDLE_HD unsigned char RADDLE_NAME(__, 2uchar_rz)(RADDLE_H a) { return raddle_whole<unsigned char>(raddle_wide(a)); }

RADDLE_HD RADDLE_H2 RADDLE_NAME(make_, 2)(RADDLE_H x, RADDLE_H y) { return RADDLE_H2(x, y); }
RADDLE_HD RADDLE_H2 RADDLE_NAME(__halves2, 2)(RADDLE_H a, RADDLE_H b) { return RADDLE_H2(a, b); }
RADDLE_HD RADDLE_H2 RADDLE_EXPAND(RADDLE_NAME(__, 2), RADDLE_X, 2)(RADDLE_H a) { return RADDLE_H2(a, a); }
RADDLE_HD RADDLE_H2 RADDLE_NAME(__float2, 2_rn)(float a) {
    RADDLE_H v = raddle_narrow<RADDLE_H>(a, 0);
    return RADDLE_H2(v, v);
}
RADDLE_HD RADDLE_H2 RADDLE_NAME(__floats2, 2_rn)(float a, float b) {
    return RADDLE_H2(raddle_narrow<RADDLE_H>(a, 0), raddle_narrow<RADDLE_H>(b, 0));
}
RADDLE_HD RADDLE_H2 RADDLE_NAME(__float22, 2_rn)(float2 a) {
    return RADDLE_H2(raddle_narrow<RADDLE_H>(a.x, 0), raddle_narrow<RADDLE_H>(a.y, 0));
}
RADDLE_HD float2 RADDLE_NAME(__, 22float2)(RADDLE_H2 a) {
    float2 v;
    v.x = raddle_wide(a.x);
    v.y = raddle_wide(a.y);
    return v;
}
RADDLE_HD float __low2float(RADDLE_H2 a) { return raddle_wide(a.x); }
RADDLE_HD float __high2float(RADDLE_H2 a) { return raddle_wide(a.y); }
RADDLE_HD RADDLE_H RADDLE_NAME(__low2, )(RADDLE_H2 a) { return a.x; }
RADDLE_HD RADDLE_H RADDLE_NAME(__high2, )(RADDLE_H2 a) { return a.y; }
RADDLE_HD RADDLE_H2 RADDLE_NAME(__low2, 2)(RADDLE_H2 a) { return RADDLE_H2(a.x, a.x); }
RADDLE_HD RADDLE_H2 RADDLE_NAME(__high2, 2)(RADDLE_H2 a) { return RADDLE_H2(a.y, a.y); }
RADDLE_HD RADDLE_H2 RADDLE_NAME(__lows2, 2)(RADDLE_H2 a, RADDLE_H2 b) { return RADDLE_H2(a.x, b.x); }
RADDLE_HD RADDLE_H2 RADDLE_NAME(__highs2, 2)(RADDLE_H2 a, RADDLE_H2 b) { return RADDLE_H2(a.y, b.y); }
RADDLE_HD RADDLE_H2 __lowhigh2highlow(RADDLE_H2 a) { return RADDLE_H2(a.y, a.x); }

/* ---- Arithmetic ------------------------------------------------------------------------------------------------- */

RADDLE_HD RADDLE_H __hadd(RADDLE_H a, RADDLE_H b) { return raddle_add(a, b); }
RADDLE_HD RADDLE_H __hsub(RADDLE_H a, RADDLE_H b) { return raddle_sub(a, b); }
RADDLE_HD RADDLE_H __hmul(RADDLE_H a, RADDLE_H b) { return raddle_mul(a, b); }
RADDLE_HD RADDLE_H __hadd_rn(RADDLE_H a, RADDLE_H b) { return raddle_add(a, b); }
RADDLE_HD RADDLE_H __hsub_rn(RADDLE_H a, RADDLE_H b) { return raddle_sub(a, b); }
RADDLE_HD RADDLE_H __hmul_rn(RADDLE_H a, RADDLE_H b) { return raddle_mul(a, b); }
RADDLE_HD RADDLE_H __hfma(RADDLE_H a, RADDLE_H b, RADDLE_H c) { return raddle_fma(a, b, c); }
RADDLE_HD RADDLE_H __hdiv(RADDLE_H a, RADDLE_H b) {
    return raddle_narrow<RADDLE_H>(raddle_wide(a) / raddle_wide(b), 0);
}
RADDLE_HD RADDLE_H __hneg(RADDLE_H a) { return raddle_number<RADDLE_H>(raddle_bits(a) ^ 0x8000u); }
RADDLE_HD RADDLE_H __habs(RADDLE_H a) { return raddle_number<RADDLE_H>(raddle_bits(a) & 0x7fffu); }
/* Clamped to [0, 1], NaN to zero; or to nothing below zero. */
RADDLE_HD RADDLE_H raddle_saturate(RADDLE_H a) {
    float v = raddle_wide(a);
    return v > 0.0f ? (v < 1.0f ? a : raddle_narrow<RADDLE_H>(1.0f, 0)) : raddle_number<RADDLE_H>(0);
}
RADDLE_HD RADDLE_H __hadd_sat(RADDLE_H a, RADDLE_H b) { return raddle_saturate(raddle_add(a, b)); }
RADDLE_HD RADDLE_H __hsub_sat(RADDLE_H a, RADDLE_H b) { return raddle_saturate(raddle_sub(a, b)); }
RADDLE_HD RADDLE_H __hmul_sat(RADDLE_H a, RADDLE_H b) { return raddle_saturate(raddle_mul(a, b)); }
RADDLE_HD RADDLE_H __hfma_sat(RADDLE_H a, RADDLE_H b, RADDLE_H c) { return raddle_saturate(raddle_fma(a, b, c)); }
RADDLE_HD RADDLE_H __hfma_relu(RADDLE_H a, RADDLE_H b, RADDLE_H c) {
    RADDLE_H v = raddle_fma(a, b, c);
    return raddle_wide(v) < 0.0f ? raddle_number<RADDLE_H>(0) : v;
}

RADDLE_HD RADDLE_H2 __hadd2(RADDLE_H2 a, RADDLE_H2 b) { return raddle_add(a, b); }
RADDLE_HD RADDLE_H2 __hsub2(RADDLE_H2 a, RADDLE_H2 b) { return raddle_sub(a, b); }
RADDLE_HD RADDLE_H2 __hmul2(RADDLE_H2 a, RADDLE_H2 b) { return raddle_mul(a, b); }
RADDLE_HD RADDLE_H2 __hadd2_rn(RADDLE_H2 a, RADDLE_H2 b) { return raddle_add(a, b); }
RADDLE_HD RADDLE_H2 __hsub2_rn(RADDLE_H2 a, RADDLE_H2 b) { return raddle_sub(a, b); }
RADDLE_HD RADDLE_H2 __hmul2_rn(RADDLE_H2 a, RADDLE_H2 b) { return raddle_mul(a, b); }
RADDLE_HD RADDLE_H2 __hfma2(RADDLE_H2 a, RADDLE_H2 b, RADDLE_H2 c) { return raddle_fma(a, b, c); }
#define RADDLE_PAIR1(NAME, ONE)                                                                                        \
    RADDLE_HD RADDLE_H2 NAME(RADDLE_H2 a) { return RADDLE_H2(ONE(a.x), ONE(a.y)); }
#define RADDLE_PAIR2(NAME, ONE)                                                                                        \
    RADDLE_HD RADDLE_H2 NAME(RADDLE_H2 a, RADDLE_H2 b) { return RADDLE_H2(ONE(a.x, b.x), ONE(a.y, b.y)); }
#define RADDLE_PAIR3(NAME, ONE)                                                                                        \
    RADDLE_HD RADDLE_H2 NAME(RADDLE_H2 a, RADDLE_H2 b, RADDLE_H2 c) {                                                  \
        return RADDLE_H2(ONE(a.x, b.x, c.x), ONE(a.y, b.y, c.y));                                                      \
    }
RADDLE_PAIR2(__h2div, __hdiv)
RADDLE_PAIR1(__hneg2, __hneg)
RADDLE_PAIR1(__habs2, __habs)
RADDLE_PAIR2(__hadd2_sat, __hadd_sat)
RADDLE_PAIR2(__hsub2_sat, __hsub_sat)
RADDLE_PAIR2(__hmul2_sat, __hmul_sat)
RADDLE_PAIR3(__hfma2_sat, __hfma_sat)
RADDLE_PAIR3(__hfma2_relu, __hfma_relu)
/* The product of two complex numbers plus a third; a pair is the real and the imaginary part. */
RADDLE_HD RADDLE_H2 __hcmadd(RADDLE_H2 a, RADDLE_H2 b, RADDLE_H2 c) {
    RADDLE_H x = raddle_fma(a.x, b.x, c.x), y = raddle_fma(a.x, b.y, c.y);
    return RADDLE_H2(raddle_fma(__hneg(a.y), b.y, x), raddle_fma(a.y, b.x, y));
}

/* ---- Comparisons: plain ones are false with NaN, those with a u are true ---------------------------------------- */

RADDLE_HD bool __hisnan(RADDLE_H a) { return raddle_wide(a) != raddle_wide(a); }
RADDLE_HD int __hisinf(RADDLE_H a) {
    float v = raddle_wide(a);
    return v == __builtin_inff() ? 1 : v == -__builtin_inff() ? -1 : 0;
}
#define RADDLE_COMPARE(WORD, OP, NOT_OP)                                                                               \
    RADDLE_HD bool __h##WORD(RADDLE_H a, RADDLE_H b) { return raddle_wide(a) OP raddle_wide(b); }                      \
    RADDLE_HD bool __h##WORD##u(RADDLE_H a, RADDLE_H b) { return !(raddle_wide(a) NOT_OP raddle_wide(b)); }            \
    RADDLE_COMPARE_PAIR(WORD, __h##WORD)                                                                               \
    RADDLE_COMPARE_PAIR(WORD##u, __h##WORD##u)
#define RADDLE_COMPARE_PAIR(WORD, ONE)                                                                                 \
    RADDLE_HD RADDLE_H2 __h##WORD##2(RADDLE_H2 a, RADDLE_H2 b) {                                                       \
        return RADDLE_H2(raddle_narrow<RADDLE_H>(ONE(a.x, b.x) ? 1.0f : 0.0f, 0),                                      \
                         raddle_narrow<RADDLE_H>(ONE(a.y, b.y) ? 1.0f : 0.0f, 0));                                     \
    }                                                                                                                  \
    RADDLE_HD bool __hb##WORD##2(RADDLE_H2 a, RADDLE_H2 b) { return ONE(a.x, b.x) && ONE(a.y, b.y); }                  \
    RADDLE_HD unsigned int __h##WORD##2_mask(RADDLE_H2 a, RADDLE_H2 b) {                                               \
        return (ONE(a.x, b.x) ? 0xffffu : 0u) | (ONE(a.y, b.y) ? 0xffff0000u : 0u);                                    \
    }
RADDLE_COMPARE(lt, <, >=)
RADDLE_COMPARE(le, <=, >)
RADDLE_COMPARE(gt, >, <=)
RADDLE_COMPARE(ge, >=, <)
#undef RADDLE_COMPARE
RADDLE_HD bool __heq(RADDLE_H a, RADDLE_H b) { return raddle_wide(a) == raddle_wide(b); }
RADDLE_HD bool __hne(RADDLE_H a, RADDLE_H b) {
    return raddle_wide(a) < raddle_wide(b) || raddle_wide(a) > raddle_wide(b);
}
RADDLE_HD bool __hequ(RADDLE_H a, RADDLE_H b) { return !__hne(a, b); }
RADDLE_HD bool __hneu(RADDLE_H a, RADDLE_H b) { return raddle_wide(a) != raddle_wide(b); }
RADDLE_COMPARE_PAIR(eq, __heq)
RADDLE_COMPARE_PAIR(ne, __hne)
RADDLE_COMPARE_PAIR(equ, __hequ)
RADDLE_COMPARE_PAIR(neu, __hneu)
#undef RADDLE_COMPARE_PAIR
RADDLE_HD RADDLE_H2 __hisnan2(RADDLE_H2 a) { return __hneu2(a, a); }

/* A NaN loses against a number, or wins. Minus zero is less than zero. */
RADDLE_HD RADDLE_H __hmax(RADDLE_H a, RADDLE_H b) {
    float x = raddle_wide(a), y = raddle_wide(b);
    if (x == y) return (raddle_bits(a) & 0x8000u) ? b : a;
    return x > y || y != y ? a : b;
}
RADDLE_HD RADDLE_H __hmin(RADDLE_H a, RADDLE_H b) {
    float x = raddle_wide(a), y = raddle_wide(b);
    if (x == y) return (raddle_bits(a) & 0x8000u) ? a : b;
    return x < y || y != y ? a : b;
}
RADDLE_HD RADDLE_H __hmax_nan(RADDLE_H a, RADDLE_H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
RADDLE_HD RADDLE_H __hmin_nan(RADDLE_H a, RADDLE_H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }
RADDLE_PAIR2(__hmax2, __hmax)
RADDLE_PAIR2(__hmin2, __hmin)
RADDLE_PAIR2(__hmax2_nan, __hmax_nan)
RADDLE_PAIR2(__hmin2_nan, __hmin_nan)

/* ---- Mathematical functions: those of float, rounded ------------------------------------------------------------ */

#define RADDLE_MATH(NAME, VALUE)                                                                                       \
    RADDLE_HD RADDLE_H h##NAME(RADDLE_H h) {                                                                           \
        float a = raddle_wide(h);                                                                                      \
        return raddle_narrow<RADDLE_H>(VALUE, 0);                                                                      \
    }                                                                                                                  \
    RADDLE_PAIR1(h2##NAME, h##NAME)
RADDLE_MATH(ceil, ceilf(a))
RADDLE_MATH(floor, floorf(a))
RADDLE_MATH(trunc, truncf(a))
RADDLE_MATH(rint, rintf(a))
RADDLE_MATH(sqrt, sqrtf(a))
RADDLE_MATH(rsqrt, 1.0f / sqrtf(a))
RADDLE_MATH(rcp, 1.0f / a)
RADDLE_MATH(log, logf(a))
RADDLE_MATH(log2, log2f(a))
RADDLE_MATH(log10, log10f(a))
RADDLE_MATH(exp, expf(a))
RADDLE_MATH(exp2, exp2f(a))
RADDLE_MATH(exp10, exp2f(a * 3.32192802f))
RADDLE_MATH(sin, sinf(a))
RADDLE_MATH(cos, cosf(a))
RADDLE_MATH(tanh, tanhf(a))
#undef RADDLE_MATH
#undef RADDLE_PAIR3
#undef RADDLE_PAIR2
#undef RADDLE_PAIR1

/* ---- Operators -------------------------------------------------------------------------------------------------- */

#define RADDLE_OPERATORS(T, ADD, SUB, MUL, DIV, NEG, EQ, NE, LT, LE, GT, GE)                                           \
    RADDLE_HD T operator+(const T &a, const T &b) { return ADD(a, b); }                                                \
    RADDLE_HD T operator-(const T &a, const T &b) { return SUB(a, b); }                                                \
    RADDLE_HD T operator*(const T &a, const T &b) { return MUL(a, b); }                                                \
    RADDLE_HD T operator/(const T &a, const T &b) { return DIV(a, b); }                                                \
    RADDLE_HD T &operator+=(T &a, const T &b) { return a = ADD(a, b); }                                                \
    RADDLE_HD T &operator-=(T &a, const T &b) { return a = SUB(a, b); }                                                \
    RADDLE_HD T &operator*=(T &a, const T &b) { return a = MUL(a, b); }                                                \
    RADDLE_HD T &operator/=(T &a, const T &b) { return a = DIV(a, b); }                                                \
    RADDLE_HD T operator+(const T &a) { return a; }                                                                    \
    RADDLE_HD T operator-(const T &a) { return NEG(a); }                                                               \
    RADDLE_HD bool operator==(const T &a, const T &b) { return EQ(a, b); }                                             \
    RADDLE_HD bool operator!=(const T &a, const T &b) { return NE(a, b); }                                             \
    RADDLE_HD bool operator<(const T &a, const T &b) { return LT(a, b); }                                              \
    RADDLE_HD bool operator<=(const T &a, const T &b) { return LE(a, b); }                                             \
    RADDLE_HD bool operator>(const T &a, const T &b) { return GT(a, b); }                                              \
    RADDLE_HD bool operator>=(const T &a, const T &b) { return GE(a, b); }                                             \
    RADDLE_HD T &operator++(T &a) { return a = ADD(a, raddle_one<T>()); }                                              \
    RADDLE_HD T &operator--(T &a) { return a = SUB(a, raddle_one<T>()); }                                              \
    RADDLE_HD T operator++(T &a, int) {                                                                                \
        T before = a;                                                                                                  \
        a = ADD(a, raddle_one<T>());                                                                                   \
        return before;                                                                                                 \
    }                                                                                                                  \
    RADDLE_HD T operator--(T &a, int) {                                                                                \
        T before = a;                                                                                                  \
        a = SUB(a, raddle_one<T>());                                                                                   \
        return before;                                                                                                 \
    }
template <> __inline__ __host__ __device__ RADDLE_H raddle_one<RADDLE_H>() { return raddle_narrow<RADDLE_H>(1.0f, 0); }
template <> __inline__ __host__ __device__ RADDLE_H2 raddle_one<RADDLE_H2>() {
    return RADDLE_H2(raddle_one<RADDLE_H>(), raddle_one<RADDLE_H>());
}
RADDLE_OPERATORS(RADDLE_H, __hadd, __hsub, __hmul, __hdiv, __hneg, __heq, __hneu, __hlt, __hle, __hgt, __hge)
RADDLE_OPERATORS(RADDLE_H2, __hadd2, __hsub2, __hmul2, __h2div, __hneg2, __hbeq2, __hbneu2, __hblt2, __hble2, __hbgt2,
                 __hbge2)
#undef RADDLE_OPERATORS

/* ---- On the device only: shuffles, loads and stores with hints, atomic sums ------------------------------------- */

#if defined(__CUDA__)
#define RADDLE_D static __inline__ __device__
#define RADDLE_SHUFFLE(NAME, BY)                                                                                       \
    RADDLE_D RADDLE_H NAME##_sync(unsigned int mask, RADDLE_H v, BY by, int width = warpSize) {                        \
        return raddle_number<RADDLE_H>((unsigned short)NAME##_sync(mask, (int)raddle_bits(v), by, width));             \
    }                                                                                                                  \
    RADDLE_D RADDLE_H2 NAME##_sync(unsigned int mask, RADDLE_H2 v, BY by, int width = warpSize) {                      \
        return __builtin_bit_cast(RADDLE_H2, NAME##_sync(mask, __builtin_bit_cast(int, v), by, width));                \
    }
RADDLE_SHUFFLE(__shfl, int)
RADDLE_SHUFFLE(__shfl_up, unsigned int)
RADDLE_SHUFFLE(__shfl_down, unsigned int)
RADDLE_SHUFFLE(__shfl_xor, int)
#undef RADDLE_SHUFFLE
#define RADDLE_LOAD(NAME)                                                                                              \
    RADDLE_D RADDLE_H NAME(const RADDLE_H *p) { return raddle_number<RADDLE_H>(NAME((const unsigned short *)p)); }     \
    RADDLE_D RADDLE_H2 NAME(const RADDLE_H2 *p) {                                                                      \
        return __builtin_bit_cast(RADDLE_H2, NAME((const unsigned int *)p));                                           \
    }
RADDLE_LOAD(__ldg)
RADDLE_LOAD(__ldcg)
RADDLE_LOAD(__ldca)
RADDLE_LOAD(__ldcs)
RADDLE_LOAD(__ldlu)
RADDLE_LOAD(__ldcv)
#undef RADDLE_LOAD
#define RADDLE_STORE(NAME)                                                                                             \
    RADDLE_D void NAME(RADDLE_H *p, RADDLE_H v) { NAME((unsigned short *)p, raddle_bits(v)); }                         \
    RADDLE_D void NAME(RADDLE_H2 *p, RADDLE_H2 v) { NAME((unsigned int *)p, __builtin_bit_cast(unsigned int, v)); }
RADDLE_STORE(__stwb)
RADDLE_STORE(__stcg)
RADDLE_STORE(__stcs)
RADDLE_STORE(__stwt)
#undef RADDLE_STORE
/* A pair is two sums, each atomic by itself. */
RADDLE_D RADDLE_H atomicAdd(RADDLE_H *p, RADDLE_H v) { return raddle_atomic_add(p, v); }
RADDLE_D RADDLE_H2 atomicAdd(RADDLE_H2 *p, RADDLE_H2 v) { return raddle_atomic_add(p, v); }
#undef RADDLE_D
#endif

#undef RADDLE_NAME
#undef RADDLE_EXPAND
#undef RADDLE_PASTE
#undef RADDLE_HD
#undef RADDLE_X
#undef RADDLE_H2
#undef RADDLE_H
