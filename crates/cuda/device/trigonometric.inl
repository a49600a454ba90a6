// Sine, cosine and tangent.
//
// The argument is brought to [-pi/4, pi/4] and the number of the quarter turn: for arguments of usual size by
// subtracting multiples of pi/2 in three parts, for large ones by multiplying with as many bits of 2/pi as matter.
// libclc's functions do the latter with products whose rounding errors must not be fused away, and so fail when a
// program is compiled.

// An angle hi + lo within an eighth of a turn, after `quarter` quarters.
template <class T> struct Angle {
    T hi, lo;
    int quarter;
};

// The bits of 2/pi behind the binary point, after two words of zeros.
static const u32 two_over_pi_32[] = {0,          0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                           0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};
static const u64 two_over_pi_64[] = {
    0,
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
};

// x = m * 2^(e - 32). Of 2/pi, 96 bits are taken: those before would give whole turns, those after vanish. The
// product is then in units of 2^-62 of a quarter, and what does not fit into 64 bits are whole turns again.
static __attribute__((noinline)) Angle<float> reduce_large(float x) {
    u32 raw = bits<u32>(x);
    int e = (int)(raw >> 23 & 255) - 126;
    u32 m = raw << 8 | 1u << 31;
    int at = (e + 30) >> 5, skip = (e + 30) & 31;
    u32 w[4];
    for (int i = 0; i < 4; i++) w[i] = two_over_pi_32[at + i];
    u32 q2 = skip ? w[0] << skip | w[1] >> (32 - skip) : w[0];
    u32 q1 = skip ? w[1] << skip | w[2] >> (32 - skip) : w[1];
    u32 q0 = skip ? w[2] << skip | w[3] >> (32 - skip) : w[2];
    u64 turns = ((u64)m * q0 >> 32) + (u64)m * q1 + ((u64)(m * q2) << 32);
    int quarter = (int)(turns >> 62);
    long long part = (long long)(turns << 2);
    if (part < 0) quarter++;
    Angle<float> a;
    a.hi = (float)((double)part * 8.5153039502163873e-20);
    a.lo = 0.0f;
    a.quarter = quarter;
    if ((int)raw < 0) {
        a.hi = -a.hi;
        a.quarter = -quarter;
    }
    return a;
}

FN Angle<float> reduce(float x) {
    if (__builtin_expect(!(__builtin_fabsf(x) < 105615.0f), 0)) {
        if (!(__builtin_fabsf(x) < __builtin_inff())) return Angle<float>{__builtin_nanf(""), 0.0f, 0};
        return reduce_large(x);
    }
    float j = __builtin_rintf(x * 0.636619772f);
    float r = __builtin_fmaf(j, -1.57079637f, x);
    r = __builtin_fmaf(j, 4.37113883e-08f, r);
    r = __builtin_fmaf(j, 1.71512451e-15f, r);
    return Angle<float>{r, 0.0f, __nvvm_f2i_rz(j)};
}

// The same for double: x = m * 2^(e - 64), 192 bits of 2/pi, units of 2^-126.
static __attribute__((noinline)) Angle<double> reduce_large(double x) {
    u64 raw = bits<u64>(x);
    int e = (int)(raw >> 52 & 2047) - 1022;
    u64 m = raw << 11 | 1ull << 63;
    int at = (e + 62) >> 6, skip = (e + 62) & 63;
    u64 w[4];
    for (int i = 0; i < 4; i++) w[i] = two_over_pi_64[at + i];
    u64 q2 = skip ? w[0] << skip | w[1] >> (64 - skip) : w[0];
    u64 q1 = skip ? w[1] << skip | w[2] >> (64 - skip) : w[1];
    u64 q0 = skip ? w[2] << skip | w[3] >> (64 - skip) : w[2];
    u64 low = __nvvm_mulhi_ull(m, q0), more = m * q1;
    u64 high = __nvvm_mulhi_ull(m, q1) + m * q2;
    low += more;
    if (low < more) high++;
    int quarter = (int)(high >> 62);
    high = high << 2 | low >> 62;
    low <<= 2;
    bool negative = (long long)high < 0;
    if (negative) {
        quarter++;
        high = ~high + (low == 0);
        low = 0 - low;
    }
    // The leading 106 bits as two numbers, times pi/2.
    int zeros = high ? __builtin_clzll(high) : 64;
    if (zeros == 64) {
        high = low;
        low = 0;
    } else if (zeros) {
        high = high << zeros | low >> (64 - zeros);
        low <<= zeros;
    }
    double hi = (double)(high >> 11), lo = (double)((high & 2047) << 42 | low >> 22) * 0x1p-53;
    double scale = bits<double>((u64)(1023 - 53 - zeros) << 52);
    hi *= scale;
    lo *= scale;
    Angle<double> a;
    a.hi = __nvvm_mul_rn_d(hi, 1.5707963267948966);
    a.lo = __builtin_fma(hi, 1.5707963267948966, -a.hi) + hi * 6.123233995736766e-17 + lo * 1.5707963267948966;
    a.quarter = quarter;
    if (negative != (long long)raw < 0) {
        a.hi = -a.hi;
        a.lo = -a.lo;
    }
    if ((long long)raw < 0) a.quarter = -quarter;
    return a;
}

FN Angle<double> reduce(double x) {
    if (__builtin_expect(!(__builtin_fabs(x) < 1e9), 0)) {
        if (!(__builtin_fabs(x) < INF)) return Angle<double>{NAN, 0.0, 0};
        return reduce_large(x);
    }
    double j = __builtin_rint(x * 0.63661977236758134);
    double r = __builtin_fma(j, -1.5707963267948966, x);
    double hi = __builtin_fma(j, -6.123233995736766e-17, r);
    double lo = __builtin_fma(j, -6.123233995736766e-17, __nvvm_add_rn_d(r, -hi)) + j * 1.4973849048591698e-33;
    return Angle<double>{hi, lo, __nvvm_d2i_rz(j)};
}

FN float sin_near(float r, float) {
    float t = r * r;
    float p = __builtin_fmaf(__builtin_fmaf(-0.00019587866f, t, 0.00833274797f), t, -0.166666642f);
    return __builtin_fmaf(r * t, p, r);
}
FN float cos_near(float r, float) {
    float t = r * r;
    float p = __builtin_fmaf(__builtin_fmaf(2.45479168e-05f, t, -0.00138883025f), t, 0.0416666642f);
    return __builtin_fmaf(__builtin_fmaf(p, t, -0.5f), t, 1.0f);
}
FN double sin_near(double r, double lo) {
    double t = r * r, p = 1.5918115263265974e-10;
    p = __builtin_fma(p, t, -2.5051131650235181e-08);
    p = __builtin_fma(p, t, 2.7557316101617874e-06);
    p = __builtin_fma(p, t, -0.00019841269836756774);
    p = __builtin_fma(p, t, 0.008333333333330948);
    p = __builtin_fma(p, t, -0.16666666666666666);
    return r + __builtin_fma(r * t, p, __builtin_fma(-0.5 * t, lo, lo));
}
FN double cos_near(double r, double lo) {
    double t = r * r, p = -1.1382623647474604e-11;
    p = __builtin_fma(p, t, 2.087614614655861e-09);
    p = __builtin_fma(p, t, -2.7557317271145144e-07);
    p = __builtin_fma(p, t, 2.4801587298764561e-05);
    p = __builtin_fma(p, t, -0.0013888888888887398);
    p = __builtin_fma(p, t, 0.041666666666666664);
    double half = 0.5 * t, one = __nvvm_add_rn_d(1.0, -half);
    double lost = __nvvm_add_rn_d(__nvvm_add_rn_d(1.0, -one), -half);
    return one + __builtin_fma(t * t, p, __builtin_fma(-r, lo, lost));
}

// sin is sin, cos, -sin, -cos in the four quarters; cos is one quarter ahead.
template <class T> FN T quarters(Angle<T> a, int quarter) {
    T v = quarter & 1 ? cos_near(a.hi, a.lo) : sin_near(a.hi, a.lo);
    return quarter & 2 ? -v : v;
}
// Zero keeps its sign.
NV float __nv_sinf(float x) {
    Angle<float> a = reduce(x);
    return x == 0.0f ? x : quarters(a, a.quarter);
}
NV float __nv_cosf(float x) {
    Angle<float> a = reduce(x);
    return quarters(a, a.quarter + 1);
}
NV void __nv_sincosf(float x, float *s, float *c) {
    Angle<float> a = reduce(x);
    *s = x == 0.0f ? x : quarters(a, a.quarter);
    *c = quarters(a, a.quarter + 1);
}
NV double __nv_sin(double x) {
    Angle<double> a = reduce(x);
    return x == 0.0 ? x : quarters(a, a.quarter);
}
NV double __nv_cos(double x) {
    Angle<double> a = reduce(x);
    return quarters(a, a.quarter + 1);
}
NV void __nv_sincos(double x, double *s, double *c) {
    Angle<double> a = reduce(x);
    *s = x == 0.0 ? x : quarters(a, a.quarter);
    *c = quarters(a, a.quarter + 1);
}

NV float __nv_tanf(float x) {
    Angle<float> a = reduce(x);
    float r = a.hi, t = r * r, p = 0.00825546216f;
    p = __builtin_fmaf(p, t, 0.00509087276f);
    p = __builtin_fmaf(p, t, 0.0231653564f);
    p = __builtin_fmaf(p, t, 0.053773731f);
    p = __builtin_fmaf(p, t, 0.133343801f);
    p = __builtin_fmaf(p, t, 0.333333254f);
    float v = __builtin_fmaf(r * t, p, r);
    return a.quarter & 1 ? -__nvvm_rcp_rn_f(v) : x == 0.0f ? x : v;
}
NV double __nv_tan(double x) {
    Angle<double> a = reduce(x);
    double r = a.hi, t = r * r, p = 8.4853160727013227e-06;
    p = __builtin_fma(p, t, -1.8323519064364184e-05);
    p = __builtin_fma(p, t, 3.6531316641087258e-05);
    p = __builtin_fma(p, t, -1.1030080532725273e-05);
    p = __builtin_fma(p, t, 5.5599541083010842e-05);
    p = __builtin_fma(p, t, 8.9979512590282788e-05);
    p = __builtin_fma(p, t, 0.00024122829183882111);
    p = __builtin_fma(p, t, 0.00058957514227422837);
    p = __builtin_fma(p, t, 0.0014559028161905394);
    p = __builtin_fma(p, t, 0.0035921209718821146);
    p = __builtin_fma(p, t, 0.008863236004116282);
    p = __builtin_fma(p, t, 0.02186948851704705);
    p = __builtin_fma(p, t, 0.05396825396865608);
    p = __builtin_fma(p, t, 0.13333333333333);
    p = __builtin_fma(p, t, 0.33333333333333331);
    // v + w is the tangent to more than 53 bits, and so its reciprocal comes out right.
    double w = r * t * p, v = __nvvm_add_rn_d(r, w);
    w = __nvvm_add_rn_d(w, -__nvvm_add_rn_d(v, -r)) + __builtin_fma(v * v, a.lo, a.lo);
    if (!(a.quarter & 1)) return x == 0.0 ? x : v + w;
    double q = -__nvvm_rcp_rn_d(v);
    return q + q * __builtin_fma(q, w, __builtin_fma(q, v, 1.0));
}

// sin(pi x) and cos(pi x): halves are taken off exactly, and pi comes in two parts.
FN Angle<float> reduce_turns(float x) {
    float n = __builtin_rintf(x + x), r = __builtin_fmaf(n, -0.5f, x);
    float q = n - 4.0f * __builtin_truncf(n * 0.25f);
    return Angle<float>{__builtin_fmaf(r, 3.14159274f, r * -8.74227766e-08f), 0.0f, __nvvm_f2i_rz(q)};
}
FN Angle<double> reduce_turns(double x) {
    double n = __builtin_rint(x + x), r = __builtin_fma(n, -0.5, x);
    double q = n - 4.0 * __builtin_trunc(n * 0.25);
    double hi = __nvvm_mul_rn_d(r, 3.1415926535897931);
    double lo = __builtin_fma(r, 3.1415926535897931, -hi) + r * 1.2246467991473532e-16;
    return Angle<double>{hi, lo, __nvvm_d2i_rz(q)};
}
// Whole numbers give zeros: with the sign of x for the sine, positive for the cosine.
template <class T> FN T sin_turns(T x, Angle<T> a) {
    T v = quarters(a, a.quarter);
    return v == 0 ? x * T(0) : v;
}
template <class T> FN T cos_turns(Angle<T> a) { return quarters(a, a.quarter + 1) + T(0); }
NV float __nv_sinpif(float x) { return sin_turns(x, reduce_turns(x)); }
NV double __nv_sinpi(double x) { return sin_turns(x, reduce_turns(x)); }
NV float __nv_cospif(float x) { return cos_turns(reduce_turns(x)); }
NV double __nv_cospi(double x) { return cos_turns(reduce_turns(x)); }
NV void __nv_sincospif(float x, float *s, float *c) {
    Angle<float> a = reduce_turns(x);
    *s = sin_turns(x, a);
    *c = cos_turns(a);
}
NV void __nv_sincospi(double x, double *s, double *c) {
    Angle<double> a = reduce_turns(x);
    *s = sin_turns(x, a);
    *c = cos_turns(a);
}
