// Bessel functions.
//
// Below 8, polynomials around the zeros, so that the functions are accurate there too, and between them; for the
// second kind, near 0, the logarithm is taken out. From 8 on, amplitude and phase.

#include "bessel_tables.inl"

template <int ROWS, int N> FN double pieces(const double (&rows)[ROWS][N], double x) {
    int i = 0;
    while (i < ROWS - 1 && x > rows[i][0]) i++;
    double d = (x - rows[i][1]) - rows[i][2], v = rows[i][N - 1];
#pragma unroll
    for (int k = N - 2; k >= 3; k--) v = __builtin_fma(v, d, rows[i][k]);
    return v;
}
template <int N> FN double even(const double (&c)[N], double x) { return polynomial(c, x * x); }

// What order n is beyond 8: (p (c + s) - q (s - c)) / sqrt(pi x) and the like. A is the factor of p.
FN double far(double x, int order, bool second) {
    if (x == INF) return 0.0;
    double s, c, z = 8.0 / x;
    __nv_sincos(x, &s, &c);
    double p = order ? even(far_p1, z) : even(far_p0, z), q = z * (order ? even(far_q1, z) : even(far_q0, z));
    double sum = s + c, difference = s - c;
    double v = order ? second ? q * difference - p * sum : p * difference + q * sum
                     : second ? p * difference + q * sum : p * sum - q * difference;
    return v * 0.56418958354775628 * __nv_rsqrt(x);
}

FN double j0_near_zero(double x) { return __builtin_fma(x * x, even(j0_small, x), 1.0); }
FN double j1_near_zero(double x) { return x * __builtin_fma(x * x, even(j1_small, x), 0.5); }
NV double __nv_j0(double a) {
    double x = __builtin_fabs(a);
    if (x < 1.5) return j0_near_zero(x);
    if (x < 8.0) return pieces(j0_pieces, x);
    return x != x ? x : far(x, 0, false);
}
NV double __nv_j1(double a) {
    double x = __builtin_fabs(a);
    if (x < 2.0) return j1_near_zero(a);
    double v = x < 8.0 ? pieces(j1_pieces, x) : x != x ? x : far(x, 1, false);
    return a < 0.0 ? -v : v;
}
NV double __nv_y0(double x) {
    if (!(x > 0.0)) return x == 0.0 ? -INF : NAN;
    if (x < 2.2) {
        // ln(x / z) for the zero z, plus what vanishes there too.
        double d = (x - 0.89357696627916749) - 2.6596231539720385e-17;
        double l = x < 0.45 ? __nv_log(x) + 0.11252280788079413 : log1p(d * 1.1190977808704889);
        double rest = d * (x + 0.89357696627916749) * even(y0_small, x);
        return __builtin_fma(0.63661977236758134 * l, j0_near_zero(x), rest);
    }
    return x < 8.0 ? pieces(y0_pieces, x) : far(x, 0, true);
}
NV double __nv_y1(double x) {
    if (!(x > 0.0)) return x == 0.0 ? -INF : NAN;
    if (x < 1e-15) return -0.63661977236758134 / x;
    if (x < 1.3)
        return __builtin_fma(x, even(y1_small, x), 0.63661977236758134 * (__nv_log(x) * j1_near_zero(x) - 1.0 / x));
    return x < 8.0 ? pieces(y1_pieces, x) : far(x, 1, true);
}
NV float __nv_j0f(float a) { return (float)__nv_j0((double)a); }
NV float __nv_j1f(float a) { return (float)__nv_j1((double)a); }
NV float __nv_y0f(float a) { return (float)__nv_y0((double)a); }
NV float __nv_y1f(float a) { return (float)__nv_y1((double)a); }

// Higher orders by recurrence: upwards where that is stable, that is for the second kind and for x above n; else
// downwards from an order where the value is as good as zero, scaled so that J0 + 2 (J2 + J4 + ...) is 1.
NV double __nv_jn(int n, double a) {
    if (n < 0) return NAN;
    if (n == 0) return __nv_j0(a);
    if (n == 1) return __nv_j1(a);
    double x = __builtin_fabs(a), v;
    if (x != x) return x;
    if (x == 0.0 || x == INF) return 0.0;
    double twice = 2.0 / x;
    if (x > (double)n) {
        double before = __nv_j0(x);
        v = __nv_j1(x);
        for (int k = 1; k < n; k++) {
            double next = __builtin_fma((double)k * twice, v, -before);
            before = v;
            v = next;
        }
    } else {
        int top = 2 * ((n + 20 + (int)__nvvm_sqrt_rn_d(200.0 * n)) / 2);
        double after = 0.0, now = 1.0, sum = 0.0;
        v = 0.0;
        for (int k = top; k > 0; k--) {
            double next = __builtin_fma((double)k * twice, now, -after);
            after = now;
            now = next;
            if (__builtin_fabs(now) > 1e200) {
                now *= 1e-200;
                after *= 1e-200;
                v *= 1e-200;
                sum *= 1e-200;
            }
            if (k & 1) sum += now;
            if (k == n) v = after;
        }
        v /= 2.0 * sum - now;
    }
    return a < 0.0 && (n & 1) ? -v : v;
}
NV double __nv_yn(int n, double x) {
    if (n < 0) return NAN;
    if (n == 0) return __nv_y0(x);
    if (n == 1) return __nv_y1(x);
    if (!(x > 0.0)) return x == 0.0 ? -INF : NAN;
    double twice = 2.0 / x, before = __nv_y0(x), v = __nv_y1(x);
    for (int k = 1; k < n && v > -INF; k++) {
        double next = __builtin_fma((double)k * twice, v, -before);
        before = v;
        v = next;
    }
    return v;
}
NV float __nv_jnf(int n, float a) { return (float)__nv_jn(n, (double)a); }
NV float __nv_ynf(int n, float a) { return (float)__nv_yn(n, (double)a); }

// Modified functions: power series economised below 8, e^x / sqrt(x) times a smooth function beyond.
template <int N> FN double modified_far(const double (&c)[N], double x) {
    if (!(x < 720.0)) return x * INF;
    Exponential e = exp_parts(x);
    double v = polynomial(c, 8.0 / x - 0.5) * __nv_rsqrt(x);
    return times_power_of_two(v * (e.hi + e.lo), e.n);
}
NV double __nv_cyl_bessel_i0(double a) {
    double x = __builtin_fabs(a);
    return x < 8.0 ? even(i0_small, x) : modified_far(i0_far, x);
}
NV double __nv_cyl_bessel_i1(double a) {
    double x = __builtin_fabs(a);
    double v = x < 8.0 ? x * even(i1_small, x) : modified_far(i1_far, x);
    return __nv_copysign(v, a);
}
NV float __nv_cyl_bessel_i0f(float a) { return (float)__nv_cyl_bessel_i0((double)a); }
NV float __nv_cyl_bessel_i1f(float a) { return (float)__nv_cyl_bessel_i1((double)a); }
