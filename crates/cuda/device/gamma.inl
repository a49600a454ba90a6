// The gamma function and its logarithm.

float lgamma(float);
double lgamma(double);
NV float __nv_lgammaf(float a) { return a == -__builtin_inff() ? -a : lgamma(a); }
NV double __nv_lgamma(double a) { return a == -INF ? -a : lgamma(a); }

template <int N> FN double polynomial(const double (&c)[N], double x) {
    double v = c[N - 1];
#pragma unroll
    for (int i = N - 2; i >= 0; i--) v = __builtin_fma(v, x, c[i]);
    return v;
}

// Gamma from 1 to 2, in powers of x - 1.5.
static const double gamma_middle[] = {
    0.88622692545275805, 0.032338397448884865, 0.41481345368830125, -0.107294804564719, 0.14464535904458606,
    -0.07752305230537157, 0.05861030382085454, -0.038001935291348342, 0.02583760628007813, -0.017222450088851329,
    0.011522520042662803, -0.0076900989210571518, 0.0051315685396957616, -0.0034239612838414227, 0.0022833622890860634,
    -0.0015142364392563075, 0.0010096053142759128, -0.00071017102374146084, 0.00047346567646026991,
    -0.0002116366966022488, 0.000141093980175924, -0.00026048686591686527, 0.00017365850291006381,
};
// Gamma over Stirling's formula from 12 on, in powers of 1/x.
static const double gamma_far[] = {
    1.0, 0.083333333333333162, 0.0034722222222632378, -0.0026813271653099947, -0.00022947177819326883,
    0.00078402682116561495, 7.003011307869748e-05, -0.0005966921385922849, -1.252636008896574e-05,
    0.00068363630448990209,
};

// For 12 and more, as two factors, because gamma of 1 - x overflows where gamma of x is not yet zero. `extra` is how
// much larger the argument is than x; the logarithm of gamma grows like that of x there.
struct Factors {
    double a, b;
};
FN Factors gamma_large(double x, double extra) {
    double root = pow(x, 0.5 * x - 0.25);
    double b = root * __nv_exp(-x) * 2.5066282746310002 * polynomial(gamma_far, 1.0 / x);
    return Factors{root, __builtin_fma(b * extra, __nv_log(x) - 0.5 / x, b)};
}
NV double __nv_tgamma(double x) {
    if (!(__builtin_fabs(x) < INF)) return x > 0.0 ? x : NAN;
    if (x == 0.0) return 1.0 / x;
    if (x < 0.0 && x == __builtin_trunc(x)) return NAN;
    if (x > 172.0) return INF;
    if (x >= 12.0) {
        Factors g = gamma_large(x, 0.0);
        return g.a * g.b;
    }
    if (x < -20.0) {
        // Reflection, with the rounding error of 1 - x.
        double s = __nv_sinpi(x);
        if (x < -185.0) return s * 0.0;
        double y = __nvvm_add_rn_d(1.0, -x), extra = __nvvm_add_rn_d(__nvvm_add_rn_d(1.0, -y), -x);
        Factors g = gamma_large(y, extra);
        return 3.1415926535897931 / (s * g.b) / g.a;
    }
    // Steps of one to the interval from 1 to 2. The factors are exact.
    double up = 1.0, down = 1.0;
    while (x >= 2.0) {
        x -= 1.0;
        up *= x;
    }
    while (x < 1.0) {
        down *= x;
        x += 1.0;
    }
    return polynomial(gamma_middle, x - 1.5) * up / down;
}
NV float __nv_tgammaf(float x) { return (float)__nv_tgamma((double)x); }
