// Arithmetic and conversions with a rounding mode in their name: one instruction each.

// CUDA calls the modes rn, rz, rd and ru; PTX and clang call the last two rm and rp.
#define MODES(FAMILY)                                                                                                  \
    FAMILY(rn, rn)                                                                                                     \
    FAMILY(rz, rz)                                                                                                     \
    FAMILY(rd, rm)                                                                                                     \
    FAMILY(ru, rp)

#define ARITHMETIC(MODE, PTX)                                                                                          \
    NV float __nv_fadd_##MODE(float a, float b) { return __nvvm_add_##PTX##_f(a, b); }                                 \
    NV float __nv_fsub_##MODE(float a, float b) { return __nvvm_add_##PTX##_f(a, -b); }                                \
    NV float __nv_fmul_##MODE(float a, float b) { return __nvvm_mul_##PTX##_f(a, b); }                                 \
    NV float __nv_fdiv_##MODE(float a, float b) { return __nvvm_div_##PTX##_f(a, b); }                                 \
    NV float __nv_fmaf_##MODE(float a, float b, float c) { return __nvvm_fma_##PTX##_f(a, b, c); }                     \
    NV float __nv_fmaf_ieee_##MODE(float a, float b, float c) { return __nvvm_fma_##PTX##_f(a, b, c); }                \
    NV float __nv_frcp_##MODE(float a) { return __nvvm_rcp_##PTX##_f(a); }                                             \
    NV float __nv_fsqrt_##MODE(float a) { return __nvvm_sqrt_##PTX##_f(a); }                                           \
    NV double __nv_dadd_##MODE(double a, double b) { return __nvvm_add_##PTX##_d(a, b); }                              \
    NV double __nv_dsub_##MODE(double a, double b) { return __nvvm_add_##PTX##_d(a, -b); }                             \
    NV double __nv_dmul_##MODE(double a, double b) { return __nvvm_mul_##PTX##_d(a, b); }                              \
    NV double __nv_ddiv_##MODE(double a, double b) { return __nvvm_div_##PTX##_d(a, b); }                              \
    NV double __nv_fma_##MODE(double a, double b, double c) { return __nvvm_fma_##PTX##_d(a, b, c); }                  \
    NV double __nv_drcp_##MODE(double a) { return __nvvm_rcp_##PTX##_d(a); }                                           \
    NV double __nv_dsqrt_##MODE(double a) { return __nvvm_sqrt_##PTX##_d(a); }
MODES(ARITHMETIC)

#define CONVERSIONS(MODE, PTX)                                                                                         \
    NV float __nv_double2float_##MODE(double a) { return __nvvm_d2f_##PTX(a); }                                        \
    NV int __nv_float2int_##MODE(float a) { return __nvvm_f2i_##PTX(a); }                                              \
    NV u32 __nv_float2uint_##MODE(float a) { return __nvvm_f2ui_##PTX(a); }                                            \
    NV long long __nv_float2ll_##MODE(float a) { return __nvvm_f2ll_##PTX(a); }                                        \
    NV u64 __nv_float2ull_##MODE(float a) { return __nvvm_f2ull_##PTX(a); }                                            \
    NV int __nv_double2int_##MODE(double a) { return __nvvm_d2i_##PTX(a); }                                            \
    NV u32 __nv_double2uint_##MODE(double a) { return __nvvm_d2ui_##PTX(a); }                                          \
    NV long long __nv_double2ll_##MODE(double a) { return __nvvm_d2ll_##PTX(a); }                                      \
    NV u64 __nv_double2ull_##MODE(double a) { return __nvvm_d2ull_##PTX(a); }
MODES(CONVERSIONS)
#define FROM_INTEGERS(MODE, PTX)                                                                                       \
    NV float __nv_int2float_##MODE(int a) { return __nvvm_i2f_##PTX(a); }                                              \
    NV float __nv_uint2float_##MODE(u32 a) { return __nvvm_ui2f_##PTX(a); }                                            \
    NV float __nv_ll2float_##MODE(long long a) { return __nvvm_ll2f_##PTX(a); }                                        \
    NV float __nv_ull2float_##MODE(u64 a) { return __nvvm_ull2f_##PTX(a); }                                            \
    NV double __nv_ll2double_##MODE(long long a) { return __nvvm_ll2d_##PTX(a); }                                      \
    NV double __nv_ull2double_##MODE(u64 a) { return __nvvm_ull2d_##PTX(a); }
FROM_INTEGERS(rn, rn)
FROM_INTEGERS(rd, rm)
FROM_INTEGERS(ru, rp)
// clang 19 rounds these to nearest when it simplifies its builtins.
#define FROM_INTEGER_RZ(NAME, R, A, TYPES, OUT, IN)                                                                    \
    NV R NAME(A a) {                                                                                                   \
        R r;                                                                                                           \
        __asm__("cvt.rz." TYPES " %0, %1;" : "=" OUT(r) : IN(a));                                                      \
        return r;                                                                                                      \
    }
FROM_INTEGER_RZ(__nv_int2float_rz, float, int, "f32.s32", "f", "r")
FROM_INTEGER_RZ(__nv_uint2float_rz, float, u32, "f32.u32", "f", "r")
FROM_INTEGER_RZ(__nv_ll2float_rz, float, long long, "f32.s64", "f", "l")
FROM_INTEGER_RZ(__nv_ull2float_rz, float, u64, "f32.u64", "f", "l")
FROM_INTEGER_RZ(__nv_ll2double_rz, double, long long, "f64.s64", "d", "l")
FROM_INTEGER_RZ(__nv_ull2double_rz, double, u64, "f64.u64", "d", "l")
NV double __nv_int2double_rn(int a) { return (double)a; }
NV double __nv_uint2double_rn(u32 a) { return (double)a; }
NV unsigned short __nv_float2half_rn(float a) {
    unsigned short h;
    __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(a));
    return h;
}
NV float __nv_half2float(unsigned short h) {
    float a;
    __asm__("cvt.f32.f16 %0, %1;" : "=f"(a) : "h"(h));
    return a;
}

// To whole numbers that stay floating-point numbers.
NV float __nv_ceilf(float a) { return __builtin_ceilf(a); }
NV double __nv_ceil(double a) { return __builtin_ceil(a); }
NV float __nv_floorf(float a) { return __builtin_floorf(a); }
NV double __nv_floor(double a) { return __builtin_floor(a); }
NV float __nv_truncf(float a) { return __builtin_truncf(a); }
NV double __nv_trunc(double a) { return __builtin_trunc(a); }
NV float __nv_rintf(float a) { return __builtin_rintf(a); }
NV double __nv_rint(double a) { return __builtin_rint(a); }
NV float __nv_nearbyintf(float a) { return __builtin_rintf(a); }
NV double __nv_nearbyint(double a) { return __builtin_rint(a); }
// Halves go away from zero. A number just below a half must not become one, hence no a + 0.5.
NV float __nv_roundf(float a) {
    float t = __builtin_truncf(a);
    return __builtin_fabsf(a - t) >= 0.5f ? t + __builtin_copysignf(1.0f, a) : t;
}
NV double __nv_round(double a) {
    double t = __builtin_trunc(a);
    return __builtin_fabs(a - t) >= 0.5 ? t + __builtin_copysign(1.0, a) : t;
}
NV long long __nv_llrintf(float a) { return __nv_float2ll_rn(a); }
NV long long __nv_llrint(double a) { return __nv_double2ll_rn(a); }
NV long long __nv_llroundf(float a) { return __nv_float2ll_rz(__nv_roundf(a)); }
NV long long __nv_llround(double a) { return __nv_double2ll_rz(__nv_round(a)); }

// The nearest representable result without a mode, and what is exact.
NV float __nv_fabsf(float a) { return __builtin_fabsf(a); }
NV double __nv_fabs(double a) { return __builtin_fabs(a); }
NV float __nv_copysignf(float a, float b) { return bits<float>((bits<u32>(a) & ~0u >> 1) | (bits<u32>(b) & 1u << 31)); }
NV double __nv_copysign(double a, double b) {
    return bits<double>((bits<u64>(a) & ~0ull >> 1) | (bits<u64>(b) & 1ull << 63));
}
NV float __nv_fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
NV double __nv_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
NV float __nv_sqrtf(float a) { return __builtin_elementwise_sqrt(a); }
NV double __nv_sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
NV float __nv_rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
// The instruction gives a start and zero for subnormal numbers; two steps of Newton's method in one make it good.
NV double __nv_rsqrt(double a) {
    if (!(a >= 2.2250738585072014e-308 && a < INF)) return __nvvm_rcp_rn_d(__nvvm_sqrt_rn_d(a));
    double y = __nvvm_rsqrt_approx_d(a), w = __nvvm_mul_rn_d(y, a);
    double e = __builtin_fma(-w, y, 1.0) - __builtin_fma(y, a, -w) * y;
    return __builtin_fma(__builtin_fma(0.375, e, 0.5) * e, y, y);
}
NV float __nv_frsqrt_rn(float a) { return (float)__nv_rsqrt((double)a); }
NV double __nv_rcp64h(double a) { return __nvvm_rcp_approx_ftz_d(a); }
NV float __nv_saturatef(float a) { return __nvvm_saturate_f(a); }
NV float __nv_fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
NV double __nv_fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
NV float __nv_fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
NV double __nv_fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
NV float __nv_fdimf(float a, float b) { return a <= b ? 0.0f : a - b; }
NV double __nv_fdim(double a, double b) { return a <= b ? 0.0 : a - b; }
