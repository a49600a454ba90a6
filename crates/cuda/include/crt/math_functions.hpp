/* Mathematical functions that clang's own headers leave to the toolkit: functions of CUDA that the host's library does
 * not have, overloads for float on the device, and min and max for all pairs of types on both sides.
 *
 * clang reads this file twice with __host__ redefined, so it has a guard of its own and says host and device in plain
 * attributes. */
#ifndef RADDLE_CRT_MATH_FUNCTIONS_HPP
#define RADDLE_CRT_MATH_FUNCTIONS_HPP

#if defined(__CUDA__)

#include <math.h>

#define RADDLE_HOST static __inline__ __attribute__((host))
#define RADDLE_DEVICE static __inline__ __attribute__((device, always_inline, nodebug))

/* ---- min and max ------------------------------------------------------------------------------------------------ */

#define RADDLE_MIN_MAX(SIDE, R, A, B)                                                                                  \
    SIDE R min(A a, B b) { return (R)b < (R)a ? (R)b : (R)a; }                                                         \
    SIDE R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
#define RADDLE_MIN_MAX_FLOAT(SIDE, R, A, B, MIN, MAX)                                                                  \
    SIDE R min(A a, B b) { return MIN((R)a, (R)b); }                                                                   \
    SIDE R max(A a, B b) { return MAX((R)a, (R)b); }
#define RADDLE_SIDE(SIDE)                                                                                              \
    RADDLE_MIN_MAX(SIDE, unsigned int, unsigned int, unsigned int)                                                     \
    RADDLE_MIN_MAX(SIDE, unsigned int, int, unsigned int)                                                              \
    RADDLE_MIN_MAX(SIDE, unsigned int, unsigned int, int)                                                              \
    RADDLE_MIN_MAX(SIDE, long, long, long)                                                                             \
    RADDLE_MIN_MAX(SIDE, unsigned long, unsigned long, unsigned long)                                                  \
    RADDLE_MIN_MAX(SIDE, unsigned long, long, unsigned long)                                                           \
    RADDLE_MIN_MAX(SIDE, unsigned long, unsigned long, long)                                                           \
    RADDLE_MIN_MAX(SIDE, long long, long long, long long)                                                              \
    RADDLE_MIN_MAX(SIDE, unsigned long long, unsigned long long, unsigned long long)                                   \
    RADDLE_MIN_MAX(SIDE, unsigned long long, long long, unsigned long long)                                            \
    RADDLE_MIN_MAX(SIDE, unsigned long long, unsigned long long, long long)                                            \
    RADDLE_MIN_MAX_FLOAT(SIDE, float, float, float, fminf, fmaxf)                                                      \
    RADDLE_MIN_MAX_FLOAT(SIDE, double, double, double, fmin, fmax)                                                     \
    RADDLE_MIN_MAX_FLOAT(SIDE, double, float, double, fmin, fmax)                                                      \
    RADDLE_MIN_MAX_FLOAT(SIDE, double, double, float, fmin, fmax)
RADDLE_MIN_MAX(RADDLE_HOST, int, int, int)
RADDLE_SIDE(RADDLE_HOST)
RADDLE_SIDE(RADDLE_DEVICE)
#undef RADDLE_SIDE
#undef RADDLE_MIN_MAX_FLOAT
#undef RADDLE_MIN_MAX
RADDLE_HOST unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
RADDLE_HOST unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
RADDLE_HOST long long llmin(long long a, long long b) { return min(a, b); }
RADDLE_HOST long long llmax(long long a, long long b) { return max(a, b); }
RADDLE_HOST unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
RADDLE_HOST unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

/* ---- On the host: plain definitions, good to a few units in the last place -------------------------------------- */

#define RADDLE_FLOAT1(NAME)                                                                                            \
    RADDLE_HOST float NAME##f(float a) { return (float)NAME((double)a); }
#if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 42)
RADDLE_HOST double rsqrt(double a) { return 1.0 / sqrt(a); }
RADDLE_FLOAT1(rsqrt)
#endif
#if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 41)
/* The argument is brought to [-1/4, 1/4] exactly, and only then multiplied by pi. */
RADDLE_HOST double sinpi(double a) {
    double n = rint(2.0 * a), r = (a - 0.5 * n) * 3.14159265358979323846;
    int quarter = (int)fmod(n, 4.0) & 3;
    double v = quarter & 1 ? cos(r) : sin(r);
    return quarter & 2 ? -v : v;
}
RADDLE_HOST double cospi(double a) { return sinpi(fabs(fmod(a, 2.0)) + 0.5); }
RADDLE_FLOAT1(sinpi)
RADDLE_FLOAT1(cospi)
#endif
RADDLE_HOST void sincospi(double a, double *s, double *c) {
    *s = sinpi(a);
    *c = cospi(a);
}
RADDLE_HOST void sincospif(float a, float *s, float *c) {
    *s = sinpif(a);
    *c = cospif(a);
}
RADDLE_HOST double rcbrt(double a) { return 1.0 / cbrt(a); }
RADDLE_HOST double normcdf(double a) { return 0.5 * erfc(-a * 0.70710678118654752440); }
RADDLE_HOST double erfcx(double a) {
    if (a < 25.0) return exp(a * a) * erfc(a);
    double s = 1.0 / (a * a);
    return 0.56418958354775628695 / a * (1.0 - 0.5 * s * (1.0 - 1.5 * s * (1.0 - 2.5 * s)));
}
/* Newton's method on the logarithm of erfc, which is nearly a parabola. */
RADDLE_HOST double erfcinv(double y) {
    if (!(y > 0.0 && y < 2.0)) return y == 0.0 ? HUGE_VAL : y == 2.0 ? -HUGE_VAL : NAN;
    if (y > 1.0) return -erfcinv(2.0 - y);
    double x = y > 0.5 ? (1.0 - y) * 0.88622692545275801365 : sqrt(-log(y * sqrt(-log(0.5 * y)) * 1.7724538509055159));
    for (int i = 0; i < 8; i++) {
        double e = erfc(x);
        x += (log(e) - log(y)) * e * exp(x * x) * 0.88622692545275801365;
    }
    return x;
}
RADDLE_HOST double erfinv(double x) {
    if (fabs(x) > 0.5) return x < 0.0 ? -erfcinv(1.0 + x) : erfcinv(1.0 - x);
    double v = 0.88622692545275801365 * x;
    for (int i = 0; i < 5; i++) v -= (erf(v) - x) * exp(v * v) * 0.88622692545275801365;
    return v;
}
RADDLE_HOST double normcdfinv(double p) { return -1.41421356237309504880 * erfcinv(2.0 * p); }
RADDLE_HOST double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
RADDLE_HOST float rhypotf(float a, float b) { return (float)rhypot(a, b); }
RADDLE_HOST double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
RADDLE_HOST float norm3df(float a, float b, float c) { return (float)norm3d(a, b, c); }
RADDLE_HOST double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
RADDLE_HOST float rnorm3df(float a, float b, float c) { return (float)rnorm3d(a, b, c); }
RADDLE_HOST double norm4d(double a, double b, double c, double d) { return hypot(hypot(a, b), hypot(c, d)); }
RADDLE_HOST float norm4df(float a, float b, float c, float d) { return (float)norm4d(a, b, c, d); }
RADDLE_HOST double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
RADDLE_HOST float rnorm4df(float a, float b, float c, float d) { return (float)rnorm4d(a, b, c, d); }
RADDLE_HOST double norm(int n, const double *t) {
    double v = 0.0;
    for (int i = 0; i < n; i++) v = hypot(v, t[i]);
    return v;
}
RADDLE_HOST double rnorm(int n, const double *t) { return 1.0 / norm(n, t); }
RADDLE_HOST float normf(int n, const float *t) {
    double v = 0.0;
    for (int i = 0; i < n; i++) v = hypot(v, t[i]);
    return (float)v;
}
RADDLE_HOST float rnormf(int n, const float *t) { return 1.0f / normf(n, t); }
/* Power series; all terms have one sign, so they add up without loss. */
RADDLE_HOST double cyl_bessel_i0(double a) {
    double q = 0.25 * a * a, term = 1.0, sum = 1.0;
    for (int k = 1; term > sum * 1e-18 && k < 2000; k++) sum += term *= q / ((double)k * k);
    return sum;
}
RADDLE_HOST double cyl_bessel_i1(double a) {
    double q = 0.25 * a * a, term = 0.5 * a, sum = term;
    for (int k = 1; fabs(term) > fabs(sum) * 1e-18 && k < 2000; k++) sum += term *= q / ((double)k * (k + 1));
    return sum;
}
RADDLE_HOST double fdivide(double a, double b) { return a / b; }
RADDLE_HOST float fdividef(float a, float b) { return a / b; }
RADDLE_FLOAT1(rcbrt)
RADDLE_FLOAT1(normcdf)
RADDLE_FLOAT1(normcdfinv)
RADDLE_FLOAT1(erfcx)
RADDLE_FLOAT1(erfinv)
RADDLE_FLOAT1(erfcinv)
RADDLE_FLOAT1(cyl_bessel_i0)
RADDLE_FLOAT1(cyl_bessel_i1)
#undef RADDLE_FLOAT1
/* clang itself has the float overloads of the others on the host. */
RADDLE_HOST float erfinv(float a) { return erfinvf(a); }
RADDLE_HOST float rhypot(float a, float b) { return rhypotf(a, b); }
RADDLE_HOST float cyl_bessel_i0(float a) { return cyl_bessel_i0f(a); }
RADDLE_HOST float cyl_bessel_i1(float a) { return cyl_bessel_i1f(a); }

/* ---- On the device: float where clang has double only ----------------------------------------------------------- */

#define RADDLE_FLOAT1(NAME)                                                                                            \
    RADDLE_DEVICE float NAME(float a) { return NAME##f(a); }
#define RADDLE_FLOAT2(NAME)                                                                                            \
    RADDLE_DEVICE float NAME(float a, float b) { return NAME##f(a, b); }
RADDLE_FLOAT1(acosh)
RADDLE_FLOAT1(asinh)
RADDLE_FLOAT1(atanh)
RADDLE_FLOAT1(cbrt)
RADDLE_FLOAT1(erf)
RADDLE_FLOAT1(erfc)
RADDLE_FLOAT1(exp2)
RADDLE_FLOAT1(expm1)
RADDLE_FLOAT1(lgamma)
RADDLE_FLOAT1(log1p)
RADDLE_FLOAT1(log2)
RADDLE_FLOAT1(logb)
RADDLE_FLOAT1(nearbyint)
RADDLE_FLOAT1(rint)
RADDLE_FLOAT1(round)
RADDLE_FLOAT1(tgamma)
RADDLE_FLOAT1(trunc)
RADDLE_FLOAT1(rsqrt)
RADDLE_FLOAT1(rcbrt)
RADDLE_FLOAT1(exp10)
RADDLE_FLOAT1(sinpi)
RADDLE_FLOAT1(cospi)
RADDLE_FLOAT1(normcdf)
RADDLE_FLOAT1(normcdfinv)
RADDLE_FLOAT1(erfcx)
RADDLE_FLOAT1(erfinv)
RADDLE_FLOAT1(erfcinv)
RADDLE_FLOAT1(cyl_bessel_i0)
RADDLE_FLOAT1(cyl_bessel_i1)
RADDLE_FLOAT1(j0)
RADDLE_FLOAT1(j1)
RADDLE_FLOAT1(y0)
RADDLE_FLOAT1(y1)
RADDLE_FLOAT2(copysign)
RADDLE_FLOAT2(fdim)
RADDLE_FLOAT2(fmax)
RADDLE_FLOAT2(fmin)
RADDLE_FLOAT2(hypot)
RADDLE_FLOAT2(nextafter)
RADDLE_FLOAT2(remainder)
RADDLE_FLOAT2(rhypot)
RADDLE_FLOAT2(fdivide)
#undef RADDLE_FLOAT2
#undef RADDLE_FLOAT1
RADDLE_DEVICE float fma(float a, float b, float c) { return fmaf(a, b, c); }
RADDLE_DEVICE int ilogb(float a) { return ilogbf(a); }
RADDLE_DEVICE long lrint(float a) { return lrintf(a); }
RADDLE_DEVICE long lround(float a) { return lroundf(a); }
RADDLE_DEVICE long long llrint(float a) { return llrintf(a); }
RADDLE_DEVICE long long llround(float a) { return llroundf(a); }
RADDLE_DEVICE float remquo(float a, float b, int *q) { return remquof(a, b, q); }
RADDLE_DEVICE float scalbn(float a, int n) { return scalbnf(a, n); }
RADDLE_DEVICE float scalbln(float a, long n) { return scalblnf(a, n); }
RADDLE_DEVICE double nan(const char *) { return __builtin_nan(""); }
RADDLE_DEVICE float nanf(const char *) { return __builtin_nanf(""); }
RADDLE_DEVICE float jn(int n, float a) { return jnf(n, a); }
RADDLE_DEVICE float yn(int n, float a) { return ynf(n, a); }
RADDLE_DEVICE float norm3d(float a, float b, float c) { return norm3df(a, b, c); }
RADDLE_DEVICE float rnorm3d(float a, float b, float c) { return rnorm3df(a, b, c); }
RADDLE_DEVICE float norm4d(float a, float b, float c, float d) { return norm4df(a, b, c, d); }
RADDLE_DEVICE float rnorm4d(float a, float b, float c, float d) { return rnorm4df(a, b, c, d); }
RADDLE_DEVICE float norm(int n, const float *t) { return normf(n, t); }
RADDLE_DEVICE float rnorm(int n, const float *t) { return rnormf(n, t); }
RADDLE_DEVICE void sincos(float a, float *s, float *c) { sincosf(a, s, c); }
RADDLE_DEVICE void sincospi(float a, float *s, float *c) { sincospif(a, s, c); }
RADDLE_HOST void sincos(float a, float *s, float *c) { sincosf(a, s, c); }

#undef RADDLE_DEVICE
#undef RADDLE_HOST

#endif

#endif
