// The error function and its relatives.

float erf(float);
double erf(double);
double erfc(double);
NV float __nv_erff(float a) { return erf(a); }
NV double __nv_erf(double a) { return a == 0.0 ? a : erf(a); }
NV double __nv_erfc(double a) { return erfc(a); }
NV float __nv_erfcf(float a) { return (float)erfc((double)a); }

// (1 + 2x) e^(x^2) erfc(x) for x from 0 on, in powers of (x - 4) / (x + 4).
static const double erfcx_scaled[] = {
    1.2329951186255526, -0.13962111684056228, 0.015379652102619974, 0.068097054254668388, -0.10103906603631811,
    0.093732834999112641, -0.066330365811860581, 0.037167515526338041, -0.016197734062934732, 0.0050319700691019735,
    -0.00075777324359454503, -0.0001992571524713568, 0.00015062142608783779, -2.4397731146810393e-05,
    -1.1221135669821299e-05, 5.7065783064535425e-06, 2.9173426307376189e-07, -8.2106480223345316e-07,
    7.7719423346596414e-08, 1.0631818280210142e-07, -2.0725795500490798e-08, -1.233873440484995e-08,
    3.2323942893412914e-09, 9.297630942021953e-10, -2.7641144530301157e-10,
};
NV double __nv_erfcx(double a) {
    if (a != a) return a;
    double x = __builtin_fabs(a);
    if (a < 0.0) {
        // 2 e^(x^2) - erfcx(-x), with both parts of the square.
        if (x > 26.7) return INF;
        double square = __nvvm_mul_rn_d(x, x), rest = __builtin_fma(x, x, -square);
        double e = __nv_exp(square);
        return __builtin_fma(2.0 * e, rest, 2.0 * e - __nv_erfcx(x));
    }
    if (x < 0.5) return __nv_exp(x * x) * erfc(x);
    if (x > 1e15) return 0.56418958354775628 / x;
    double t = __nvvm_rcp_rn_d(x + 4.0), u = (x - 4.0) * t;
    u = __builtin_fma(t, __builtin_fma(-u, x + 4.0, x - 4.0), u);
    return polynomial(erfcx_scaled, u) / __builtin_fma(2.0, x, 1.0);
}
NV float __nv_erfcxf(float a) { return (float)__nv_erfcx((double)a); }

// A start that is right to two digits.
FN double erfinv_start(double w) {
    // w is -ln(1 - x^2).
    double a = 0.5 * w, b = 4.3307467508834506 - a;
    return __nvvm_sqrt_rn_d(__nvvm_sqrt_rn_d(__builtin_fma(b, b, w * 6.8026995)) - b);
}
// For |x| up to 1/2: Halley's method on erf.
FN double erfinv_middle(double x) {
    double v = x * 0.88622692545275805;
    v = __builtin_fma(v * 0.2617993877991494, x * x, v);
#pragma unroll 1
    for (int i = 0; i < 3; i++) {
        double step = (erf(v) - x) * 0.88622692545275805 * __nv_exp(v * v);
        v -= step / __builtin_fma(v, step, 1.0);
    }
    return v;
}
// For y from 0 to 1/2: Newton's method on the logarithm of erfc, which is nearly a parabola.
FN double erfcinv_small(double y) {
    double v = erfinv_start(-__nv_log(y * (2.0 - y)));
#pragma unroll 1
    for (int i = 0; i < 3; i++) v += __nv_log(erfc(v) / y) * __nv_erfcx(v) * 0.88622692545275805;
    return v;
}
NV double __nv_erfinv(double x) {
    double a = __builtin_fabs(x);
    if (!(a < 1.0)) return a == 1.0 ? x * INF : NAN;
    if (a <= 0.5) return x == 0.0 ? x : erfinv_middle(x);
    return __nv_copysign(erfcinv_small(1.0 - a), x);
}
NV double __nv_erfcinv(double y) {
    if (!(y > 0.0 && y < 2.0)) return y == 0.0 ? INF : y == 2.0 ? -INF : NAN;
    if (y < 0.5) return erfcinv_small(y);
    return y > 1.5 ? -erfcinv_small(2.0 - y) : erfinv_middle(1.0 - y);
}
NV float __nv_erfinvf(float x) { return (float)__nv_erfinv((double)x); }
NV float __nv_erfcinvf(float y) { return (float)__nv_erfcinv((double)y); }

// Half of erfc at -x / sqrt(2), with what the division loses: erfc is steep.
NV double __nv_normcdf(double x) {
    if (x > 40.0) return 1.0;
    if (x < -40.0) return 0.0;
    double v = __nvvm_mul_rn_d(x, -0.70710678118654757);
    double rest = __builtin_fma(x, -0.70710678118654757, -v) + x * 4.8336466567264567e-17;
    return 0.5 * __builtin_fma(-1.1283791670955126 * __nv_exp(-v * v), rest, erfc(v));
}
NV float __nv_normcdff(float x) { return (float)__nv_normcdf((double)x); }
NV double __nv_normcdfinv(double p) {
    if (!(p > 0.0 && p < 1.0)) return p == 0.0 ? -INF : p == 1.0 ? INF : NAN;
    double v;
    if (p < 0.25) {
        // Twice p is exact but for the tiniest.
        v = -erfcinv_small(2.0 * p);
    } else {
        v = p > 0.75 ? erfcinv_small(2.0 - 2.0 * p) : erfinv_middle(2.0 * p - 1.0);
    }
    return v * 1.4142135623730951;
}
NV float __nv_normcdfinvf(float p) { return (float)__nv_normcdfinv((double)p); }
