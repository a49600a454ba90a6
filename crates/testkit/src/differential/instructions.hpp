// Single instructions that the compiler seldom or never makes from C++. On the device they are
// inline assembly; on the host they are written out after the text of the PTX ISA manual.

#if defined(__CUDA__)

#define OP1(R, r, name, A, ka, text, ...) FN R name(A a) { R d; asm(text : "=" r(d) : ka(a)); return d; }
#define OP2(R, r, name, A, ka, B, kb, text, ...)                                                   \
    FN R name(A a, B b) { R d; asm(text : "=" r(d) : ka(a), kb(b)); return d; }
#define OP3(R, r, name, A, ka, B, kb, C, kc, text, ...)                                            \
    FN R name(A a, B b, C c) { R d; asm(text : "=" r(d) : ka(a), kb(b), kc(c)); return d; }
#define OP4(R, r, name, A, ka, B, kb, C, kc, D, kd, text, ...)                                     \
    FN R name(A a, B b, C c, D e) { R d; asm(text : "=" r(d) : ka(a), kb(b), kc(c), kd(e)); return d; }

#else

#include <fenv.h>
#include <math.h>

#define OP1(R, r, name, A, ka, text, ...) FN R name(A a) { __VA_ARGS__; }
#define OP2(R, r, name, A, ka, B, kb, text, ...) FN R name(A a, B b) { __VA_ARGS__; }
#define OP3(R, r, name, A, ka, B, kb, C, kc, text, ...) FN R name(A a, B b, C c) { __VA_ARGS__; }
#define OP4(R, r, name, A, ka, B, kb, C, kc, D, kd, text, ...) FN R name(A a, B b, C c, D e) { __VA_ARGS__; }

template <class T> static T ref_bfe(T a, u32 b, u32 c)
{
    const u32 pos = b & 255, len = c & 255, width = sizeof(T) * 8;
    const bool is_signed = T(-1) < T(0);
    const u64 bits = (u64)a;
    const u32 top = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
    const u64 fill = is_signed && len > 0 ? bits >> top & 1 : 0;
    u64 d = 0;
    for (u32 i = 0; i < width; ++i) d |= (i < len && pos + i < width ? bits >> (pos + i) & 1 : fill) << i;
    return (T)d;
}
template <class T> static T ref_bfi(T a, T b, u32 c, u32 e)
{
    const u32 pos = c & 255, len = e & 255, width = sizeof(T) * 8;
    for (u32 i = 0; i < len && pos + i < width; ++i)
        b = (T)((b & ~((T)1 << (pos + i))) | ((a >> i & 1) << (pos + i)));
    return b;
}
template <class T> static u32 ref_bfind(T a, bool amount)
{
    const u32 width = sizeof(T) * 8;
    u64 bits = T(-1) < T(0) && a < 0 ? ~(u64)a : (u64)a;
    for (u32 i = width; i-- > 0;)
        if (bits >> i & 1) return amount ? width - 1 - i : i;
    return 0xffffffffu;
}
static u32 ref_byte(u32 a, u32 b, u32 at) { return (u32)(((u64)b << 32 | a) >> (at & 7) * 8) & 255; }
static u32 ref_prmt(u32 a, u32 b, u32 c)
{
    u32 d = 0;
    for (u32 i = 0; i < 4; ++i) {
        const u32 sel = c >> 4 * i & 15;
        u32 v = ref_byte(a, b, sel);
        if (sel & 8) v = v & 128 ? 255 : 0;
        d |= v << 8 * i;
    }
    return d;
}
static u32 ref_prmt_mode(u32 a, u32 b, u32 c, int mode)
{
    const u32 k = c & 3;
    u32 d = 0;
    for (u32 i = 0; i < 4; ++i) {
        u32 at = 0;
        if (mode == 0) at = k + i;                       // f4e
        if (mode == 1) at = (8 + k - i) & 7;             // b4e
        if (mode == 2) at = k;                           // rc8
        if (mode == 3) at = i > k ? i : k;               // ecl
        if (mode == 4) at = i < k ? i : k;               // ecr
        if (mode == 5) at = (k & 1) * 2 + (i & 1);       // rc16
        d |= ref_byte(a, b, at) << 8 * i;
    }
    return d;
}
static u32 ref_lop3(u32 a, u32 b, u32 c, u32 lut)
{
    u32 d = 0;
    for (u32 i = 0; i < 32; ++i) d |= (lut >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
    return d;
}
template <class T> static T ref_clamp(i128 v)
{
    const i128 lo = T(-1) < T(0) ? -((i128)1 << (sizeof(T) * 8 - 1)) : 0;
    const i128 hi = ((i128)1 << (sizeof(T) * 8 - (T(-1) < T(0) ? 1 : 0))) - 1;
    return (T)(v < lo ? lo : v > hi ? hi : v);
}
static i32 ref_s24(u32 v) { return (i32)(v << 8) >> 8; }
static u32 ref_u24(u32 v) { return v & 0xffffffu; }
template <class T, class F> static T ref_to_int(F v, F (*round)(F))
{
    if (v != v) return sizeof(F) < 8 && sizeof(T) < 8 ? T(0) : T((u64)1 << (sizeof(T) * 8 - 1));
    const F r = round(v);
    const bool is_signed = T(-1) < T(0);
    const F limit = (F)ldexp(1.0, (int)sizeof(T) * 8 - (is_signed ? 1 : 0));
    if (r >= limit) return ref_clamp<T>((i128)1 << 100);
    if (is_signed ? r < -limit : r < 0) return ref_clamp<T>(-((i128)1 << 100));
    return (T)r;
}
static f32 ref_flush(f32 v) { return (raw_bits(v) & 0x7f800000u) == 0 ? make_f32(raw_bits(v) & 0x80000000u) : v; }
static f32 ref_sat(f32 v) { return v != v ? 0.0f : v <= 0.0f ? 0.0f : v > 1.0f ? 1.0f : v; }
// Volatile operands keep the operation between the two changes of the rounding mode.
#define REF_ROUND2(F, mode, expression)                                                            \
    fesetround(mode); volatile F x = a, y = b; volatile F d = expression; fesetround(FE_TONEAREST); return d
#define REF_ROUND1(R, F, mode, expression)                                                         \
    fesetround(mode); volatile F x = a; volatile R d = expression; fesetround(FE_TONEAREST); return d
#define REF_ROUND3(F, mode, expression)                                                            \
    fesetround(mode); volatile F x = a, y = b, z = c; volatile F d = expression; fesetround(FE_TONEAREST); return d

#endif

// Bit fields. Positions and lengths past the end are part of the definition.
OP3(u32, "r", x_bfe_u32, u32, "r", u32, "r", u32, "r", "bfe.u32 %0, %1, %2, %3;", return ref_bfe<u32>(a, b, c))
OP3(i32, "r", x_bfe_s32, i32, "r", u32, "r", u32, "r", "bfe.s32 %0, %1, %2, %3;", return ref_bfe<i32>(a, b, c))
OP3(u64, "l", x_bfe_u64, u64, "l", u32, "r", u32, "r", "bfe.u64 %0, %1, %2, %3;", return ref_bfe<u64>(a, b, c))
OP3(i64, "l", x_bfe_s64, i64, "l", u32, "r", u32, "r", "bfe.s64 %0, %1, %2, %3;", return ref_bfe<i64>(a, b, c))
OP4(u32, "r", x_bfi_b32, u32, "r", u32, "r", u32, "r", u32, "r", "bfi.b32 %0, %1, %2, %3, %4;", return ref_bfi<u32>(a, b, c, e))
OP4(u64, "l", x_bfi_b64, u64, "l", u64, "l", u32, "r", u32, "r", "bfi.b64 %0, %1, %2, %3, %4;", return ref_bfi<u64>(a, b, c, e))
OP1(u32, "r", x_bfind_u32, u32, "r", "bfind.u32 %0, %1;", return ref_bfind<u32>(a, false))
OP1(u32, "r", x_bfind_s32, i32, "r", "bfind.s32 %0, %1;", return ref_bfind<i32>(a, false))
OP1(u32, "r", x_bfind_u64, u64, "l", "bfind.u64 %0, %1;", return ref_bfind<u64>(a, false))
OP1(u32, "r", x_bfind_s64, i64, "l", "bfind.s64 %0, %1;", return ref_bfind<i64>(a, false))
OP1(u32, "r", x_bfind_amount, u32, "r", "bfind.shiftamt.u32 %0, %1;", return ref_bfind<u32>(a, true))
OP1(u32, "r", x_bfind_amount64, i64, "l", "bfind.shiftamt.s64 %0, %1;", return ref_bfind<i64>(a, true))
OP1(u32, "r", x_clz_b32, u32, "r", "clz.b32 %0, %1;", return a ? __builtin_clz(a) : 32)
OP1(u32, "r", x_clz_b64, u64, "l", "clz.b64 %0, %1;", return a ? __builtin_clzll(a) : 64)
OP1(u32, "r", x_cnot_b32, u32, "r", "cnot.b32 %0, %1;", return a == 0)
OP1(u64, "l", x_cnot_b64, u64, "l", "cnot.b64 %0, %1;", return a == 0)
OP3(u32, "r", x_prmt, u32, "r", u32, "r", u32, "r", "prmt.b32 %0, %1, %2, %3;", return ref_prmt(a, b, c))
OP3(u32, "r", x_prmt_f4e, u32, "r", u32, "r", u32, "r", "prmt.b32.f4e %0, %1, %2, %3;", return ref_prmt_mode(a, b, c, 0))
OP3(u32, "r", x_prmt_b4e, u32, "r", u32, "r", u32, "r", "prmt.b32.b4e %0, %1, %2, %3;", return ref_prmt_mode(a, b, c, 1))
OP3(u32, "r", x_prmt_rc8, u32, "r", u32, "r", u32, "r", "prmt.b32.rc8 %0, %1, %2, %3;", return ref_prmt_mode(a, b, c, 2))
OP3(u32, "r", x_prmt_ecl, u32, "r", u32, "r", u32, "r", "prmt.b32.ecl %0, %1, %2, %3;", return ref_prmt_mode(a, b, c, 3))
OP3(u32, "r", x_prmt_ecr, u32, "r", u32, "r", u32, "r", "prmt.b32.ecr %0, %1, %2, %3;", return ref_prmt_mode(a, b, c, 4))
OP3(u32, "r", x_prmt_rc16, u32, "r", u32, "r", u32, "r", "prmt.b32.rc16 %0, %1, %2, %3;", return ref_prmt_mode(a, b, c, 5))
OP3(u32, "r", x_lop3_96, u32, "r", u32, "r", u32, "r", "lop3.b32 %0, %1, %2, %3, 0x96;", return ref_lop3(a, b, c, 0x96))
OP3(u32, "r", x_lop3_ca, u32, "r", u32, "r", u32, "r", "lop3.b32 %0, %1, %2, %3, 0xca;", return ref_lop3(a, b, c, 0xca))
OP3(u32, "r", x_lop3_1b, u32, "r", u32, "r", u32, "r", "lop3.b32 %0, %1, %2, %3, 0x1b;", return ref_lop3(a, b, c, 0x1b))

// Shifts by more than the width.
OP2(u32, "r", x_shl_b32, u32, "r", u32, "r", "shl.b32 %0, %1, %2;", return b > 31 ? 0 : a << b)
OP2(u32, "r", x_shr_u32, u32, "r", u32, "r", "shr.u32 %0, %1, %2;", return b > 31 ? 0 : a >> b)
OP2(i32, "r", x_shr_s32, i32, "r", u32, "r", "shr.s32 %0, %1, %2;", return a >> (b > 31 ? 31 : b))
OP2(u64, "l", x_shl_b64, u64, "l", u32, "r", "shl.b64 %0, %1, %2;", return b > 63 ? 0 : a << b)
OP2(i64, "l", x_shr_s64, i64, "l", u32, "r", "shr.s64 %0, %1, %2;", return a >> (b > 63 ? 63 : b))
OP2(u16, "h", x_shl_b16, u16, "h", u32, "r", "shl.b16 %0, %1, %2;", return b > 15 ? 0 : (u16)((u32)a << b))
OP2(i16, "h", x_shr_s16, i16, "h", u32, "r", "shr.s16 %0, %1, %2;", return (i16)(a >> (b > 15 ? 15 : b)))
OP3(u32, "r", x_shf_l_clamp, u32, "r", u32, "r", u32, "r", "shf.l.clamp.b32 %0, %1, %2, %3;",
    const u32 k = c > 32 ? 32 : c; return (u32)((((u64)b << 32 | a) << k) >> 32))
OP3(u32, "r", x_shf_r_clamp, u32, "r", u32, "r", u32, "r", "shf.r.clamp.b32 %0, %1, %2, %3;",
    const u32 k = c > 32 ? 32 : c; return (u32)(((u64)b << 32 | a) >> k))
OP3(u32, "r", x_shf_r_wrap, u32, "r", u32, "r", u32, "r", "shf.r.wrap.b32 %0, %1, %2, %3;",
    return (u32)(((u64)b << 32 | a) >> (c & 31)))

// Products. The factors of mul24 are made fit: the manual does not say what the bits above do.
OP2(u32, "r", x_mul24_lo_u32, u32, "r", u32, "r",
    "{ .reg .u32 x, y; and.b32 x, %1, 0xffffff; and.b32 y, %2, 0xffffff; mul24.lo.u32 %0, x, y; }", return ref_u24(a) * ref_u24(b))
OP2(u32, "r", x_mul24_hi_u32, u32, "r", u32, "r",
    "{ .reg .u32 x, y; and.b32 x, %1, 0xffffff; and.b32 y, %2, 0xffffff; mul24.hi.u32 %0, x, y; }", return (u32)((u64)ref_u24(a) * ref_u24(b) >> 16))
OP2(i32, "r", x_mul24_lo_s32, i32, "r", i32, "r",
    "{ .reg .s32 x, y; shl.b32 x, %1, 8; shr.s32 x, x, 8; shl.b32 y, %2, 8; shr.s32 y, y, 8; mul24.lo.s32 %0, x, y; }", return (i32)((i64)ref_s24((u32)a) * ref_s24((u32)b)))
OP3(u32, "r", x_mad24_lo_u32, u32, "r", u32, "r", u32, "r",
    "{ .reg .u32 x, y; and.b32 x, %1, 0xffffff; and.b32 y, %2, 0xffffff; mad24.lo.u32 %0, x, y, %3; }", return ref_u24(a) * ref_u24(b) + c)
OP3(u32, "r", x_mad_hi_u32, u32, "r", u32, "r", u32, "r", "mad.hi.u32 %0, %1, %2, %3;", return mulhi(a, b) + c)
OP3(i32, "r", x_mad_hi_s32, i32, "r", i32, "r", i32, "r", "mad.hi.s32 %0, %1, %2, %3;", return (i32)((u32)mulhi(a, b) + (u32)c))
OP3(i32, "r", x_mad_hi_sat, i32, "r", i32, "r", i32, "r", "mad.hi.sat.s32 %0, %1, %2, %3;", return ref_clamp<i32>((i128)mulhi(a, b) + c))
OP3(u64, "l", x_mad_wide_u32, u32, "r", u32, "r", u64, "l", "mad.wide.u32 %0, %1, %2, %3;", return (u64)a * b + c)
OP3(i64, "l", x_mad_wide_s32, i32, "r", i32, "r", i64, "l", "mad.wide.s32 %0, %1, %2, %3;", return (i64)((u64)((i64)a * b) + (u64)c))
OP3(i32, "r", x_mad_wide_s16, i16, "h", i16, "h", i32, "r", "mad.wide.s16 %0, %1, %2, %3;", return (i32)((u32)((i32)a * b) + (u32)c))
OP3(u32, "r", x_sad_u32, u32, "r", u32, "r", u32, "r", "sad.u32 %0, %1, %2, %3;", return c + (a < b ? b - a : a - b))
OP3(i32, "r", x_sad_s32, i32, "r", i32, "r", i32, "r", "sad.s32 %0, %1, %2, %3;",
    return (i32)((u32)c + (a < b ? (u32)b - (u32)a : (u32)a - (u32)b)))
OP3(u64, "l", x_sad_u64, u64, "l", u64, "l", u64, "l", "sad.u64 %0, %1, %2, %3;", return c + (a < b ? b - a : a - b))

// Saturation and carries.
OP2(i32, "r", x_add_sat, i32, "r", i32, "r", "add.sat.s32 %0, %1, %2;", return ref_clamp<i32>((i128)a + b))
OP2(i32, "r", x_sub_sat, i32, "r", i32, "r", "sub.sat.s32 %0, %1, %2;", return ref_clamp<i32>((i128)a - b))
OP4(u32, "r", x_add_carry, u32, "r", u32, "r", u32, "r", u32, "r",
    "{ .reg .u32 low; add.cc.u32 low, %1, %3; addc.u32 %0, %2, %4; }",
    return (u32)((((u64)b << 32 | a) + ((u64)e << 32 | c)) >> 32))
OP4(u32, "r", x_sub_borrow, u32, "r", u32, "r", u32, "r", u32, "r",
    "{ .reg .u32 low; sub.cc.u32 low, %1, %3; subc.u32 %0, %2, %4; }",
    return (u32)((((u64)b << 32 | a) - ((u64)e << 32 | c)) >> 32))
OP4(u32, "r", x_mad_carry, u32, "r", u32, "r", u32, "r", u32, "r",
    "{ .reg .u32 low; mad.lo.cc.u32 low, %1, %2, %3; madc.hi.u32 %0, %1, %2, %4; }",
    return (u32)(((u64)a * b + ((u64)e << 32 | c)) >> 32))
OP1(u16, "h", x_cvt_sat_u16_s32, i32, "r", "cvt.sat.u16.s32 %0, %1;", return ref_clamp<u16>(a))
OP1(i16, "h", x_cvt_sat_s16_u32, u32, "r", "cvt.sat.s16.u32 %0, %1;", return ref_clamp<i16>(a))
OP1(i32, "r", x_cvt_sat_s8_s32, i32, "r", "cvt.sat.s8.s32 %0, %1;", return ref_clamp<i8>(a))
OP1(u32, "r", x_cvt_sat_u8_s64, i64, "l", "cvt.sat.u8.s64 %0, %1;", return ref_clamp<u8>(a))
OP1(i32, "r", x_cvt_sat_s32_u64, u64, "l", "cvt.sat.s32.u64 %0, %1;", return ref_clamp<i32>((i128)a))
OP1(u64, "l", x_cvt_sat_u64_s32, i32, "r", "cvt.sat.u64.s32 %0, %1;", return ref_clamp<u64>(a))

// Predicates and choices.
OP2(u32, "r", x_set_lt_u32, i32, "r", i32, "r", "set.lt.u32.s32 %0, %1, %2;", return a < b ? 0xffffffffu : 0)
OP2(i32, "r", x_set_hs_s32, u32, "r", u32, "r", "set.hs.s32.u32 %0, %1, %2;", return a >= b ? -1 : 0)
OP3(u32, "r", x_slct_u32, u32, "r", u32, "r", i32, "r", "slct.u32.s32 %0, %1, %2, %3;", return c >= 0 ? a : b)
OP3(u64, "l", x_slct_u64, u64, "l", u64, "l", i32, "r", "slct.u64.s32 %0, %1, %2, %3;", return c >= 0 ? a : b)
OP4(u32, "r", x_setp_pair, u32, "r", u32, "r", i32, "r", i32, "r",
    "{ .reg .pred p, q, r; setp.gt.s32 r, %3, %4; setp.lo.and.u32 p|q, %1, %2, r; selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }",
    const bool r = c > e; return (a < b && r ? 1 : 0) + (a >= b && r ? 2 : 0))

// Dot products need a machine after sm_61.
#if defined(__CUDA__) && __CUDA_ARCH__ < 610
FN i32 x_dp4a_s32(u32 a, u32 b, i32 c)
{
    for (u32 i = 0; i < 4; ++i) c = (i32)((u32)c + (u32)((i32)(i8)(a >> 8 * i) * (i8)(b >> 8 * i)));
    return c;
}
FN u32 x_dp4a_u32(u32 a, u32 b, u32 c)
{
    for (u32 i = 0; i < 4; ++i) c += (u32)(u8)(a >> 8 * i) * (u8)(b >> 8 * i);
    return c;
}
#else
OP3(i32, "r", x_dp4a_s32, u32, "r", u32, "r", i32, "r", "dp4a.s32.s32 %0, %1, %2, %3;",
    for (u32 i = 0; i < 4; ++i) c = (i32)((u32)c + (u32)((i32)(i8)(a >> 8 * i) * (i8)(b >> 8 * i))); return c)
OP3(u32, "r", x_dp4a_u32, u32, "r", u32, "r", u32, "r", "dp4a.u32.u32 %0, %1, %2, %3;",
    for (u32 i = 0; i < 4; ++i) c += (u32)(u8)(a >> 8 * i) * (u8)(b >> 8 * i); return c)
#endif

// Directed rounding.
OP2(f32, "f", x_add_rz_f32, f32, "f", f32, "f", "add.rz.f32 %0, %1, %2;", REF_ROUND2(f32, FE_TOWARDZERO, x + y))
OP2(f32, "f", x_add_rm_f32, f32, "f", f32, "f", "add.rm.f32 %0, %1, %2;", REF_ROUND2(f32, FE_DOWNWARD, x + y))
OP2(f32, "f", x_sub_rp_f32, f32, "f", f32, "f", "sub.rp.f32 %0, %1, %2;", REF_ROUND2(f32, FE_UPWARD, x - y))
OP2(f32, "f", x_mul_rz_f32, f32, "f", f32, "f", "mul.rz.f32 %0, %1, %2;", REF_ROUND2(f32, FE_TOWARDZERO, x * y))
OP2(f32, "f", x_mul_rp_f32, f32, "f", f32, "f", "mul.rp.f32 %0, %1, %2;", REF_ROUND2(f32, FE_UPWARD, x * y))
OP2(f32, "f", x_div_rm_f32, f32, "f", f32, "f", "div.rm.f32 %0, %1, %2;", REF_ROUND2(f32, FE_DOWNWARD, x / y))
OP2(f64, "d", x_add_rm_f64, f64, "d", f64, "d", "add.rm.f64 %0, %1, %2;", REF_ROUND2(f64, FE_DOWNWARD, x + y))
OP2(f64, "d", x_mul_rz_f64, f64, "d", f64, "d", "mul.rz.f64 %0, %1, %2;", REF_ROUND2(f64, FE_TOWARDZERO, x * y))
OP2(f64, "d", x_div_rp_f64, f64, "d", f64, "d", "div.rp.f64 %0, %1, %2;", REF_ROUND2(f64, FE_UPWARD, x / y))
OP1(f32, "f", x_sqrt_rz_f32, f32, "f", "sqrt.rz.f32 %0, %1;", REF_ROUND1(f32, f32, FE_TOWARDZERO, __builtin_sqrtf(x)))
OP1(f64, "d", x_sqrt_rp_f64, f64, "d", "sqrt.rp.f64 %0, %1;", REF_ROUND1(f64, f64, FE_UPWARD, __builtin_sqrt(x)))
OP1(f32, "f", x_rcp_rn_f32, f32, "f", "rcp.rn.f32 %0, %1;", return 1.0f / a)
OP1(f64, "d", x_rcp_rm_f64, f64, "d", "rcp.rm.f64 %0, %1;", REF_ROUND1(f64, f64, FE_DOWNWARD, 1.0 / x))
OP3(f32, "f", x_fma_rz_f32, f32, "f", f32, "f", f32, "f", "fma.rz.f32 %0, %1, %2, %3;", REF_ROUND3(f32, FE_TOWARDZERO, __builtin_fmaf(x, y, z)))
OP3(f32, "f", x_fma_rp_f32, f32, "f", f32, "f", f32, "f", "fma.rp.f32 %0, %1, %2, %3;", REF_ROUND3(f32, FE_UPWARD, __builtin_fmaf(x, y, z)))
OP3(f64, "d", x_fma_rm_f64, f64, "d", f64, "d", f64, "d", "fma.rm.f64 %0, %1, %2, %3;", REF_ROUND3(f64, FE_DOWNWARD, __builtin_fma(x, y, z)))
OP1(f32, "f", x_cvt_rz_f32_f64, f64, "d", "cvt.rz.f32.f64 %0, %1;", REF_ROUND1(f32, f64, FE_TOWARDZERO, (f32)x))
OP1(f32, "f", x_cvt_rp_f32_f64, f64, "d", "cvt.rp.f32.f64 %0, %1;", REF_ROUND1(f32, f64, FE_UPWARD, (f32)x))

// Flushing of subnormal numbers, and saturation to [0, 1]. The manual does not say which zero
// saturation makes of -0; adding +0 makes it one.
OP2(f32, "f", x_add_ftz, f32, "f", f32, "f", "add.rn.ftz.f32 %0, %1, %2;", return ref_flush(ref_flush(a) + ref_flush(b)))
OP2(f32, "f", x_mul_ftz, f32, "f", f32, "f", "mul.rn.ftz.f32 %0, %1, %2;", return ref_flush(ref_flush(a) * ref_flush(b)))
OP3(f32, "f", x_fma_ftz, f32, "f", f32, "f", f32, "f", "fma.rn.ftz.f32 %0, %1, %2, %3;",
    return ref_flush(__builtin_fmaf(ref_flush(a), ref_flush(b), ref_flush(c))))
OP2(f32, "f", x_add_sat_f32, f32, "f", f32, "f", "add.rn.sat.f32 %0, %1, %2; add.rn.f32 %0, %0, 0f00000000;", return ref_sat(a + b))
OP2(f32, "f", x_mul_ftz_sat, f32, "f", f32, "f", "mul.rn.ftz.sat.f32 %0, %1, %2; add.rn.f32 %0, %0, 0f00000000;", return ref_sat(ref_flush(ref_flush(a) * ref_flush(b))))
OP1(f32, "f", x_cvt_sat_f32, f32, "f", "cvt.sat.f32.f32 %0, %1; add.rn.f32 %0, %0, 0f00000000;", return ref_sat(a))
OP1(f32, "f", x_cvt_rni_ftz, f32, "f", "cvt.rni.ftz.f32.f32 %0, %1;", return __builtin_rintf(ref_flush(a)))
OP2(f32, "f", x_set_lt_f32, f32, "f", f32, "f", "set.lt.f32.f32 %0, %1, %2;", return a < b ? 1.0f : 0.0f)
OP2(f32, "f", x_set_geu_ftz, f32, "f", f32, "f", "set.geu.ftz.f32.f32 %0, %1, %2;", return !(ref_flush(a) < ref_flush(b)) ? 1.0f : 0.0f)
OP3(f32, "f", x_slct_f32, f32, "f", f32, "f", f32, "f", "slct.f32.f32 %0, %1, %2, %3;", return c >= 0.0f ? a : b)

// Conversions to integers out of range, which C++ leaves undefined.
OP1(i32, "r", x_cvt_rzi_s32_f32, f32, "f", "cvt.rzi.s32.f32 %0, %1;", return ref_to_int<i32, f32>(a, truncf))
OP1(u32, "r", x_cvt_rni_u32_f32, f32, "f", "cvt.rni.u32.f32 %0, %1;", return ref_to_int<u32, f32>(a, rintf))
OP1(i64, "l", x_cvt_rmi_s64_f32, f32, "f", "cvt.rmi.s64.f32 %0, %1;", return ref_to_int<i64, f32>(a, floorf))
OP1(i32, "r", x_cvt_rpi_s32_f64, f64, "d", "cvt.rpi.s32.f64 %0, %1;", return ref_to_int<i32, f64>(a, ceil))
OP1(u64, "l", x_cvt_rzi_u64_f64, f64, "d", "cvt.rzi.u64.f64 %0, %1;", return ref_to_int<u64, f64>(a, trunc))
OP1(u16, "h", x_cvt_rni_u16_f32, f32, "f", "cvt.rni.u16.f32 %0, %1;", return ref_to_int<u16, f32>(a, rintf))
OP1(i16, "h", x_cvt_rzi_s16_f32, f32, "f", "cvt.rzi.s16.f32 %0, %1;", return ref_to_int<i16, f32>(a, truncf))

// Classes of numbers.
#define TESTP(which, F, k, suffix, ...)                                                            \
    OP1(u32, "r", x_testp_##which##_##suffix, F, k,                                                \
        "{ .reg .pred p; testp." #which "." #suffix " p, %1; selp.u32 %0, 1, 0, p; }", return __VA_ARGS__)
TESTP(finite, f32, "f", f32, __builtin_isfinite(a))
TESTP(infinite, f64, "d", f64, __builtin_isinf(a))
TESTP(number, f64, "d", f64, !__builtin_isnan(a))
TESTP(notanumber, f32, "f", f32, __builtin_isnan(a))
// Zero counts as normal.
TESTP(normal, f32, "f", f32, a == 0 || __builtin_isnormal(a))
TESTP(subnormal, f64, "d", f64, a != 0 && __builtin_fabs(a) < 0x1p-1022)
