// Exponentials, logarithms, roots and powers, hyperbolic and inverse functions, and the parts of a number.

// ---- From libclc --------------------------------------------------------------------------------------------------

#define NV1(NAME)                                                                                                      \
    float NAME(float);                                                                                      \
    double NAME(double);                                                                                    \
    NV float __nv_##NAME##f(float a) { return NAME(a); }                                                               \
    NV double __nv_##NAME(double a) { return NAME(a); }
#define NV2(NAME)                                                                                                      \
    float NAME(float, float);                                                                               \
    double NAME(double, double);                                                                            \
    NV float __nv_##NAME##f(float a, float b) { return NAME(a, b); }                                                   \
    NV double __nv_##NAME(double a, double b) { return NAME(a, b); }
NV1(asin)
NV1(acos)
NV1(asinh)
NV1(acosh)
NV1(atanh)
NV1(exp10)
NV1(log1p)
NV1(cbrt)
NV2(atan2)
NV2(nextafter)
// Two keep the sign of zero only so, and sinh reads a table at a place that NaN makes up.
#define NV1_GUARDED(NAME)                                                                                              \
    float NAME(float);                                                                                      \
    double NAME(double);                                                                                    \
    NV float __nv_##NAME##f(float a) { return NAME(a); }                                                               \
    NV double __nv_##NAME(double a) { return a == 0.0 || a != a ? a : NAME(a); }
NV1_GUARDED(atan)
NV1_GUARDED(sinh)
NV1_GUARDED(expm1)
double exp2(double);
double tanh(double);
double log2(double);
double log10(double);
double pow(double, double);
float hypot(float, float);
float cosh(float);
float pown(float, int);
double pown(double, int);
NV double __nv_exp2(double a) { return exp2(a); }
NV double __nv_tanh(double a) { return tanh(a); }
NV double __nv_log2(double a) { return log2(a); }
NV double __nv_log10(double a) { return log10(a); }
NV double __nv_pow(double a, double b) { return pow(a, b); }
NV float __nv_hypotf(float a, float b) { return hypot(a, b); }
NV float __nv_coshf(float a) { return cosh(a); }
NV float __nv_powif(float a, int b) { return pown(a, b); }
NV double __nv_powi(double a, int b) { return pown(a, b); }

// ---- One or two instructions, inexact -----------------------------------------------------------------------------

NV float __nv_fast_sinf(float a) { return __nvvm_sin_approx_f(a); }
NV float __nv_fast_cosf(float a) { return __nvvm_cos_approx_f(a); }
NV void __nv_fast_sincosf(float a, float *s, float *c) {
    *s = __nvvm_sin_approx_f(a);
    *c = __nvvm_cos_approx_f(a);
}
NV float __nv_fast_tanf(float a) { return __nvvm_div_approx_f(__nvvm_sin_approx_f(a), __nvvm_cos_approx_f(a)); }
NV float __nv_fast_expf(float a) { return __nvvm_ex2_approx_f(a * 1.44269502f); }
NV float __nv_fast_exp10f(float a) { return __nvvm_ex2_approx_f(a * 3.32192802f); }
NV float __nv_fast_logf(float a) { return __nvvm_lg2_approx_f(a) * 0.693147182f; }
NV float __nv_fast_log2f(float a) { return __nvvm_lg2_approx_f(a); }
NV float __nv_fast_log10f(float a) { return __nvvm_lg2_approx_f(a) * 0.301029995f; }
NV float __nv_fast_powf(float a, float b) { return __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a)); }
NV float __nv_fast_fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }

// ---- Exponentials -------------------------------------------------------------------------------------------------

// 2^n for a whole n, in two factors, because the product may be representable when 2^n is not.
FN float times_power_of_two(float v, int n) {
    int half = n >> 1;
    return v * bits<float>((127 + half) << 23) * bits<float>((127 + n - half) << 23);
}
// The instruction ex2 does 2^f for the fraction f; the whole part goes to the exponent.
NV float __nv_expf(float a) {
    float x = __builtin_fminf(__builtin_fmaxf(a, -105.0f), 90.0f);
    float n = __builtin_rintf(x * 1.44269502f);
    float f = __builtin_fmaf(x, 1.44269502f, -n);
    f = __builtin_fmaf(x, 1.92596303e-08f, f);
    float v = times_power_of_two(__nvvm_ex2_approx_f(f), __nvvm_f2i_rz(n));
    return a != a ? a : v;
}
NV float __nv_exp2f(float a) {
    // ex2 gives zero where the result would be subnormal.
    bool small = a < -125.0f;
    float v = __nvvm_ex2_approx_f(small ? a + 24.0f : a);
    return small ? v * 5.96046448e-08f : v;
}
// e^x as 2^n (hi + lo), good to 60 bits, for x of at most a few thousand.
struct Exponential {
    double hi, lo;
    int n;
};
FN Exponential exp_parts(double x) {
    double n = __builtin_rint(x * 1.4426950408889634);
    double a = __builtin_fma(n, -0.69314718055989033, x);
    double r = __builtin_fma(n, -5.4979230187083712e-14, a);
    double r_lo = __builtin_fma(n, -5.4979230187083712e-14, __nvvm_add_rn_d(a, -r));
    double p = 2.0914686968086876e-09;
    p = __builtin_fma(p, r, 2.5105217004720745e-08);
    p = __builtin_fma(p, r, 2.7557273643110297e-07);
    p = __builtin_fma(p, r, 2.7557255400206422e-06);
    p = __builtin_fma(p, r, 2.4801587325547743e-05);
    p = __builtin_fma(p, r, 0.00019841269874820627);
    p = __builtin_fma(p, r, 0.0013888888888883748);
    p = __builtin_fma(p, r, 0.0083333333333261358);
    p = __builtin_fma(p, r, 0.041666666666666671);
    p = __builtin_fma(p, r, 0.16666666666666671);
    p = __builtin_fma(p, r, 0.5);
    Exponential e;
    e.hi = __nvvm_add_rn_d(1.0, r);
    e.lo = __builtin_fma(r * r, p, __nvvm_add_rn_d(r, -__nvvm_add_rn_d(e.hi, -1.0))) + __builtin_fma(r, r_lo, r_lo);
    e.n = __nvvm_d2i_rz(n);
    return e;
}
FN double times_power_of_two(double v, int n) {
    int half = n >> 1;
    return v * bits<double>((u64)(1023 + half) << 52) * bits<double>((u64)(1023 + n - half) << 52);
}
NV double __nv_exp(double a) {
    Exponential e = exp_parts(__builtin_fmin(__builtin_fmax(a, -800.0), 800.0));
    return a != a ? a : times_power_of_two(e.hi + e.lo, e.n);
}
NV double __nv_cosh(double a) {
    double x = __builtin_fabs(a);
    if (!(x < 711.0)) return x * INF;
    Exponential e = exp_parts(x);
    // The other half is e^-x / 2, which matters for small x only.
    double inverse = e.n > 60 ? 0.0 : bits<double>((u64)(1023 - 2 * e.n) << 52) / (e.hi + e.lo);
    double sum = __nvvm_add_rn_d(e.hi, inverse);
    return times_power_of_two(sum + (__nvvm_add_rn_d(inverse, -__nvvm_add_rn_d(sum, -e.hi)) + e.lo), e.n - 1);
}

NV float __nv_tanhf(float a) {
    float x = __builtin_fabsf(a), t = x * x, p = -0.00661022775f;
    p = __builtin_fmaf(p, t, 0.0213093888f);
    p = __builtin_fmaf(p, t, -0.0539094284f);
    p = __builtin_fmaf(p, t, 0.133331135f);
    p = __builtin_fmaf(p, t, -0.333333313f);
    float near = __builtin_fmaf(a * t, p, a);
    // 1 - 2 / (e^2x + 1); beyond 128 the instruction gives infinity, and the quotient zero.
    float e = __nvvm_ex2_approx_f(x * 2.88539004f);
    float away = __nv_copysignf(__builtin_fmaf(-2.0f, __nvvm_rcp_rn_f(e + 1.0f), 1.0f), a);
    return x < 0.55f ? (a == 0.0f ? a : near) : a != a ? a : away;
}

// ---- Logarithms ---------------------------------------------------------------------------------------------------

// x = 2^n (1 + f) with f from -1/3 to 1/3. ln(1 + f) is f + rest.
struct LogarithmF {
    float n, f, rest;
};
FN LogarithmF log_parts(float a) {
    LogarithmF l = {0.0f, 0.0f, 0.0f};
    if (a < 1.17549435e-38f) {
        a *= 8388608.0f;
        l.n = -23.0f;
    }
    int exponent = (bits<int>(a) - 0x3f2aaaab) & (int)0xff800000;
    l.f = bits<float>(bits<int>(a) - exponent) - 1.0f;
    l.n = __builtin_fmaf((float)exponent, 1.1920929e-07f, l.n);
    float f = l.f, p = -0.121255808f;
    p = __builtin_fmaf(p, f, 0.134257495f);
    p = __builtin_fmaf(p, f, -0.123461902f);
    p = __builtin_fmaf(p, f, 0.141183093f);
    p = __builtin_fmaf(p, f, -0.166701406f);
    p = __builtin_fmaf(p, f, 0.200037807f);
    p = __builtin_fmaf(p, f, -0.249999881f);
    p = __builtin_fmaf(p, f, 0.333333194f);
    p = __builtin_fmaf(p, f, -0.5f);
    l.rest = f * f * p;
    return l;
}
FN float log_special(float a, float v) {
    if (!(a > 0.0f && a < __builtin_inff())) v = a == 0.0f ? -__builtin_inff() : a < 0.0f ? __builtin_nanf("") : a;
    return v;
}
NV float __nv_logf(float a) {
    LogarithmF l = log_parts(a);
    return log_special(a, __builtin_fmaf(l.n, 0.693147182f, l.f + l.rest));
}
// The same in units of another base: `whole` is the logarithm of 2^n, hi + lo the factor.
FN float other_base(LogarithmF l, float whole, float whole_lo, float hi, float lo) {
    float t = __nvvm_mul_rn_f(l.f, hi), t_lo = __builtin_fmaf(l.f, hi, -t) + l.f * lo;
    float sum = __nvvm_add_rn_f(whole, t);
    float lost = l.n == 0.0f ? 0.0f : __nvvm_add_rn_f(t, -__nvvm_add_rn_f(sum, -whole));
    return sum + __builtin_fmaf(l.rest, hi, t_lo + (lost + whole_lo));
}
NV float __nv_log10f(float a) {
    LogarithmF l = log_parts(a);
    return log_special(a, other_base(l, l.n * 0.301025391f, l.n * 4.60503907e-06f, 0.434294492f, -1.010305e-08f));
}
// log2(x) as hi + lo, good to 30 bits.
FN void log2_parts(float x, float &hi, float &lo) {
    float n = 0.0f;
    if (x < 1.17549435e-38f) {
        x *= 8388608.0f;
        n = -23.0f;
    }
    int exponent = (bits<int>(x) - 0x3f2aaaab) & (int)0xff800000;
    float f = bits<float>(bits<int>(x) - exponent) - 1.0f;
    n = __builtin_fmaf((float)exponent, 1.1920929e-07f, n);
    // ln(1 + f) = 2 atanh(s) with s = f / (2 + f).
    float d = __nvvm_add_rn_f(2.0f, f), inverse = __nvvm_rcp_rn_f(d), s = __nvvm_mul_rn_f(f, inverse);
    float s_lo = (__builtin_fmaf(-s, d, f) - s * __nvvm_add_rn_f(f, -__nvvm_add_rn_f(d, -2.0f))) * inverse;
    float z = s * s, p = __builtin_fmaf(0.237489432f, z, 0.28532666f);
    p = __builtin_fmaf(__builtin_fmaf(p, z, 0.400003135f), z, 0.666666687f);
    float ln_lo = __builtin_fmaf(s * z, p, s_lo + s_lo), twice = s + s;
    float h = __nvvm_mul_rn_f(twice, 1.44269502f);
    float l = __builtin_fmaf(twice, 1.44269502f, -h) + __builtin_fmaf(twice, 1.92596303e-08f, ln_lo * 1.44269502f);
    float sum = __nvvm_add_rn_f(n, h);
    l += n == 0.0f ? 0.0f : __nvvm_add_rn_f(h, -__nvvm_add_rn_f(sum, -n));
    hi = __nvvm_add_rn_f(sum, l);
    lo = __nvvm_add_rn_f(l, -__nvvm_add_rn_f(hi, -sum));
}
NV float __nv_log2f(float a) {
    float hi, lo;
    log2_parts(a, hi, lo);
    return log_special(a, hi);
}
// x = 2^n (1 + f) with f from -0.3 to 0.41, and ln(1 + f) = 2 atanh(s) with s = f / (2 + f), kept to more than 53
// bits.
NV double __nv_log(double a) {
    if (!(a > 0.0 && a < INF)) return a == 0.0 ? -INF : a < 0.0 ? NAN : a;
    double x = a, n = 0.0;
    if (a < 2.2250738585072014e-308) {
        x = a * 0x1p54;
        n = -54.0;
    }
    long long raw = bits<long long>(x), exponent = (raw - 0x3fe6a09e667f3bcd) >> 52;
    double f = bits<double>(raw - (exponent << 52)) - 1.0;
    n += (double)exponent;
    double d = __nvvm_add_rn_d(2.0, f), inverse = __nvvm_rcp_rn_d(d);
    double s = __nvvm_mul_rn_d(f, inverse);
    double s_lo = (__builtin_fma(-s, d, f) - s * __nvvm_add_rn_d(f, -__nvvm_add_rn_d(d, -2.0))) * inverse;
    double z = s * s, p = 0.13088034850927555;
    p = __builtin_fma(p, z, 0.13268638369266825);
    p = __builtin_fma(p, z, 0.15386244737621665);
    p = __builtin_fma(p, z, 0.18181795547521137);
    p = __builtin_fma(p, z, 0.22222222392581045);
    p = __builtin_fma(p, z, 0.28571428570799784);
    p = __builtin_fma(p, z, 0.40000000000000885);
    p = __builtin_fma(p, z, 0.66666666666666663);
    double big = n * 0.69314718055989033, twice = s + s;
    double sum = __nvvm_add_rn_d(big, twice);
    double rest = __nvvm_add_rn_d(twice, -__nvvm_add_rn_d(sum, -big));
    if (n == 0.0) rest = 0.0;
    return sum + __builtin_fma(s * z, p, __builtin_fma(n, 5.4979230187083712e-14, rest + (s_lo + s_lo)));
}

// ---- Powers -------------------------------------------------------------------------------------------------------

// 2^(y log2 |x|), with the logarithm in two parts: an error in it grows with y log2 |x|.
FN float power_of_magnitude(float x, float y) {
    float hi, lo;
    log2_parts(x, hi, lo);
    float e = __nvvm_mul_rn_f(y, hi), e_lo = __builtin_fmaf(y, hi, -e) + y * lo;
    if (!(__builtin_fabsf(e) < 200.0f)) {
        e = e > 0.0f ? 200.0f : -200.0f;
        e_lo = 0.0f;
    }
    float k = __builtin_rintf(e);
    return times_power_of_two(__nvvm_ex2_approx_f((e - k) + e_lo), __nvvm_f2i_rz(k));
}
NV float __nv_powf(float x, float y) {
    float size = __builtin_fabsf(x), inf = __builtin_inff();
    bool is_whole = __builtin_truncf(y) == y;
    bool odd = is_whole && __builtin_fabsf(y) < 16777216.0f && (__nvvm_f2i_rz(y) & 1);
    if (x == 1.0f || y == 0.0f) return 1.0f;
    if (x != x || y != y) return x + y;
    if (__builtin_fabsf(y) == inf) return size == 1.0f ? 1.0f : (size > 1.0f) == (y > 0.0f) ? inf : 0.0f;
    float v;
    if (size == 0.0f || size == inf) {
        v = (size == 0.0f) == (y > 0.0f) ? 0.0f : inf;
    } else {
        if (x < 0.0f && !is_whole) return __builtin_nanf("");
        v = power_of_magnitude(size, y);
    }
    return odd && bits<int>(x) < 0 ? -v : v;
}

// ---- Roots and lengths --------------------------------------------------------------------------------------------

NV float __nv_rcbrtf(float a) { return __nvvm_rcp_rn_f(__nv_cbrtf(a)); }
NV double __nv_rcbrt(double a) {
    double r = cbrt(a), y = __nvvm_rcp_rn_d(r);
    if (!(__builtin_fabs(a) > 0.0 && __builtin_fabs(a) < INF)) return y;
    // One step more, with the error of the root: a = r^3 (1 + 3e).
    double square = r * r, e = __builtin_fma(-square, r, a) / (3.0 * a);
    return y + y * (__builtin_fma(-r, y, 1.0) - e);
}
// Squares of floats neither overflow nor vanish as doubles.
NV float __nv_rhypotf(float a, float b) { return (float)__nv_rsqrt((double)a * a + (double)b * b); }
NV float __nv_norm3df(float a, float b, float c) {
    return (float)__nvvm_sqrt_rn_d((double)a * a + (double)b * b + (double)c * c);
}
NV float __nv_rnorm3df(float a, float b, float c) {
    return (float)__nv_rsqrt((double)a * a + (double)b * b + (double)c * c);
}
NV float __nv_norm4df(float a, float b, float c, float d) {
    return (float)__nvvm_sqrt_rn_d((double)a * a + (double)b * b + (double)c * c + (double)d * d);
}
NV float __nv_rnorm4df(float a, float b, float c, float d) {
    return (float)__nv_rsqrt((double)a * a + (double)b * b + (double)c * c + (double)d * d);
}
FN double sum_of_squares(int n, const float *t) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum = __builtin_fma((double)t[i], (double)t[i], sum);
    return sum;
}
NV float __nv_normf(int n, const float *t) { return (float)__nvvm_sqrt_rn_d(sum_of_squares(n, t)); }
NV float __nv_rnormf(int n, const float *t) { return (float)__nv_rsqrt(sum_of_squares(n, t)); }

// For doubles, a sum of squares in two parts, of numbers scaled so that the largest is between 1 and 2.
struct Squares {
    double hi, lo;
    double scale, unscale;
    bool infinite, nan;
};
FN Squares squares_of(double largest) {
    Squares s = {0.0, 0.0, 1.0, 1.0, false, false};
    s.infinite = largest == INF;
    int e = (int)(bits<u64>(largest) >> 52) - 1023;
    if (e > 1000) e = 1000;
    if (e < -1000) e = -1000;
    s.scale = bits<double>((u64)(1023 - e) << 52);
    s.unscale = bits<double>((u64)(1023 + e) << 52);
    return s;
}
FN void add_square(Squares &s, double a) {
    a *= s.scale;
    if (__builtin_fabs(a) == INF) s.infinite = true;
    if (a != a) s.nan = true;
    double p = __nvvm_mul_rn_d(a, a), p_lo = __builtin_fma(a, a, -p);
    double big = __builtin_fmax(s.hi, p), small = __builtin_fmin(s.hi, p);
    double sum = __nvvm_add_rn_d(big, small);
    s.lo += p_lo + __nvvm_add_rn_d(small, -__nvvm_add_rn_d(sum, -big));
    s.hi = sum;
}
FN double root_of(const Squares &s) {
    if (s.infinite || s.nan) return s.infinite ? INF : NAN;
    double sum = s.hi + s.lo;
    return __nvvm_sqrt_rn_d(sum) * s.unscale;
}
FN double inverse_root_of(const Squares &s) {
    if (s.infinite || s.nan) return s.infinite ? 0.0 : NAN;
    if (s.hi == 0.0) return INF;
    double y = __nv_rsqrt(s.hi);
    double e = __builtin_fma(-y * s.hi, y, 1.0), w = __nvvm_mul_rn_d(y, s.hi);
    e = __builtin_fma(-w, y, 1.0) - __builtin_fma(y, s.hi, -w) * y - s.lo * y * y;
    return __builtin_fma(0.5 * y, e, y) * s.scale;
}
FN Squares squares(double a, double b, double c, double d) {
    double ab = __builtin_fmax(__builtin_fabs(a), __builtin_fabs(b));
    double cd = __builtin_fmax(__builtin_fabs(c), __builtin_fabs(d));
    Squares s = squares_of(__builtin_fmax(ab, cd));
    add_square(s, a);
    add_square(s, b);
    add_square(s, c);
    add_square(s, d);
    return s;
}
FN Squares squares(int n, const double *t) {
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = __builtin_fmax(largest, __builtin_fabs(t[i]));
    Squares s = squares_of(largest);
    for (int i = 0; i < n; i++) add_square(s, t[i]);
    return s;
}
NV double __nv_hypot(double a, double b) { return root_of(squares(a, b, 0.0, 0.0)); }
NV double __nv_rhypot(double a, double b) { return inverse_root_of(squares(a, b, 0.0, 0.0)); }
NV double __nv_norm3d(double a, double b, double c) { return root_of(squares(a, b, c, 0.0)); }
NV double __nv_rnorm3d(double a, double b, double c) { return inverse_root_of(squares(a, b, c, 0.0)); }
NV double __nv_norm4d(double a, double b, double c, double d) { return root_of(squares(a, b, c, d)); }
NV double __nv_rnorm4d(double a, double b, double c, double d) { return inverse_root_of(squares(a, b, c, d)); }
NV double __nv_norm(int n, const double *t) { return root_of(squares(n, t)); }
NV double __nv_rnorm(int n, const double *t) { return inverse_root_of(squares(n, t)); }

// ---- Parts of a number --------------------------------------------------------------------------------------------

// A number is brought to normal range first: its exponent and fraction are then in known bits.
NV int __nv_ilogbf(float a) {
    float x = __builtin_fabsf(a);
    if (!(x < __builtin_inff())) return x == __builtin_inff() ? 0x7fffffff : -0x7fffffff - 1;
    if (x == 0.0f) return -0x7fffffff - 1;
    int extra = x < 1.17549435e-38f ? 24 : 0;
    if (extra) x *= 16777216.0f;
    return (bits<int>(x) >> 23) - 127 - extra;
}
NV int __nv_ilogb(double a) {
    double x = __builtin_fabs(a);
    if (!(x < INF)) return x == INF ? 0x7fffffff : -0x7fffffff - 1;
    if (x == 0.0) return -0x7fffffff - 1;
    int extra = x < 2.2250738585072014e-308 ? 54 : 0;
    if (extra) x *= 0x1p54;
    return (int)(bits<long long>(x) >> 52) - 1023 - extra;
}
NV float __nv_logbf(float a) {
    float x = __builtin_fabsf(a);
    return x == 0.0f ? -__builtin_inff() : x < __builtin_inff() ? (float)__nv_ilogbf(x) : x;
}
NV double __nv_logb(double a) {
    double x = __builtin_fabs(a);
    return x == 0.0 ? -INF : x < INF ? (double)__nv_ilogb(x) : x;
}
NV float __nv_frexpf(float a, int *e) {
    float x = __builtin_fabsf(a);
    if (!(x > 0.0f && x < __builtin_inff())) return *e = 0, a + a;
    int n = __nv_ilogbf(a) + 1;
    *e = n;
    if (x < 1.17549435e-38f) a *= 16777216.0f;
    return bits<float>((bits<u32>(a) & 0x807fffffu) | 0x3f000000u);
}
NV double __nv_frexp(double a, int *e) {
    double x = __builtin_fabs(a);
    if (!(x > 0.0 && x < INF)) return *e = 0, a + a;
    int n = __nv_ilogb(a) + 1;
    *e = n;
    if (x < 2.2250738585072014e-308) a *= 0x1p54;
    return bits<double>((bits<u64>(a) & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
}
// The first factor is exact, so that only the last one rounds, and rounds once.
NV float __nv_ldexpf(float a, int n) {
    n = n > 300 ? 300 : n < -300 ? -300 : n;
    if (n < -126) {
        a *= 0x1p-102f;
        n += 102;
        if (n < -126) {
            a *= 0x1p-102f;
            n += 102;
        }
        if (n < -126) n = -126;
    } else if (n > 127) {
        a *= 0x1p127f;
        n -= 127;
        if (n > 127) {
            a *= 0x1p127f;
            n -= 127;
        }
    }
    return a * bits<float>((127 + n) << 23);
}
NV double __nv_ldexp(double a, int n) {
    n = n > 2200 ? 2200 : n < -2200 ? -2200 : n;
    if (n < -1022) {
        a *= 0x1p-969;
        n += 969;
        if (n < -1022) {
            a *= 0x1p-969;
            n += 969;
        }
        if (n < -1022) n = -1022;
    } else if (n > 1023) {
        a *= 0x1p1023;
        n -= 1023;
        if (n > 1023) {
            a *= 0x1p1023;
            n -= 1023;
        }
    }
    return a * bits<double>((u64)(1023 + n) << 52);
}
NV float __nv_scalbnf(float a, int n) { return __nv_ldexpf(a, n); }
NV double __nv_scalbn(double a, int n) { return __nv_ldexp(a, n); }
NV float __nv_modff(float a, float *whole) {
    float t = __builtin_truncf(a);
    *whole = t;
    return __nv_copysignf(__builtin_fabsf(a) == __builtin_inff() ? 0.0f : a - t, a);
}
NV double __nv_modf(double a, double *whole) {
    double t = __builtin_trunc(a);
    *whole = t;
    return __nv_copysign(__builtin_fabs(a) == INF ? 0.0 : a - t, a);
}

// ---- Remainders ---------------------------------------------------------------------------------------------------

// |a| = m * 2^e with a whole m.
FN void whole(float a, u64 &m, int &e) {
    u32 raw = bits<u32>(a);
    int exponent = (int)(raw >> 23 & 255);
    m = (raw & 0x7fffffu) | (exponent ? 1u << 23 : 0u);
    e = (exponent ? exponent : 1) - 150;
}
FN void whole(double a, u64 &m, int &e) {
    u64 raw = bits<u64>(a);
    int exponent = (int)(raw >> 52 & 2047);
    m = (raw & 0xfffffffffffffull) | (exponent ? 1ull << 52 : 0ull);
    e = (exponent ? exponent : 1) - 1075;
}
FN float from_whole(long long m, int e, float) { return __nv_ldexpf((float)m, e); }
FN double from_whole(long long m, int e, double) { return __nv_ldexp((double)m, e); }

// Long division in steps of as many bits as fit beside the divisor in 64. With `nearest` the quotient is rounded to
// the nearest whole number, to an even one between two; without, towards zero.
template <class T, int STEP> FN T divide(T a, T b, bool nearest, u32 &quotient) {
    u64 ma, mb;
    int ea, eb;
    quotient = 0;
    T inf = (T)INF;
    T x = a < 0 ? -a : a, y = b < 0 ? -b : b;
    if (!(x < inf) || !(y > 0)) return (T)NAN;
    if (y == inf) return a;
    whole(a, ma, ea);
    whole(b, mb, eb);
    u32 q = 0;
    if (ea < eb - 1) return a;
    if (ea < eb) {
        // Only rounding to nearest can take anything off; then a is more than half of b.
        mb <<= 1;
        eb = ea;
    }
    u64 r = ma % mb;
    q = (u32)(ma / mb);
    for (int left = ea - eb; left > 0; left -= STEP) {
        int step = left < STEP ? left : STEP;
        r <<= step;
        q = (q << step) + (u32)(r / mb);
        r %= mb;
    }
    long long rest = (long long)r;
    if (nearest && (2 * r > mb || (2 * r == mb && (q & 1)))) {
        rest -= (long long)mb;
        q++;
    }
    quotient = q;
    T v = from_whole(rest, eb, a);
    if (v == 0) return a * 0;
    return a < 0 ? -v : v;
}
NV float __nv_fmodf(float a, float b) {
    u32 q;
    return divide<float, 31>(a, b, false, q);
}
NV double __nv_fmod(double a, double b) {
    u32 q;
    return divide<double, 10>(a, b, false, q);
}
NV float __nv_remainderf(float a, float b) {
    u32 q;
    return divide<float, 31>(a, b, true, q);
}
NV double __nv_remainder(double a, double b) {
    u32 q;
    return divide<double, 10>(a, b, true, q);
}
// The low bits of the quotient, with its sign.
NV float __nv_remquof(float a, float b, int *quotient) {
    u32 q;
    float v = divide<float, 31>(a, b, true, q);
    *quotient = (bits<int>(a) ^ bits<int>(b)) < 0 ? -(int)(q & 0x7fffffff) : (int)(q & 0x7fffffff);
    return v;
}
NV double __nv_remquo(double a, double b, int *quotient) {
    u32 q;
    double v = divide<double, 10>(a, b, true, q);
    *quotient = (bits<long long>(a) ^ bits<long long>(b)) < 0 ? -(int)(q & 0x7fffffff) : (int)(q & 0x7fffffff);
    return v;
}
