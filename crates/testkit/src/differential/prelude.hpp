// What a generated program may use. The same program text is compiled for the device and for the
// host; everything that differs between the two is hidden behind the macros below.

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef __int128 i128;
typedef unsigned __int128 u128;
typedef _Float16 f16;
typedef float f32;
typedef double f64;
typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));

#if defined(__CUDA__)

#define FN static __attribute__((device))
#define NOINLINE __attribute__((device, noinline))
#define CONSTANT __attribute__((constant))
#define TABLE static __attribute__((device))
#define SHARED static __attribute__((shared))

#define TID_X ((u32)__nvvm_read_ptx_sreg_tid_x())
#define TID_Y ((u32)__nvvm_read_ptx_sreg_tid_y())
#define TID_Z ((u32)__nvvm_read_ptx_sreg_tid_z())
#define CTA_X ((u32)__nvvm_read_ptx_sreg_ctaid_x())
#define CTA_Y ((u32)__nvvm_read_ptx_sreg_ctaid_y())
#define CTA_Z ((u32)__nvvm_read_ptx_sreg_ctaid_z())
#define NTID_X ((u32)__nvvm_read_ptx_sreg_ntid_x())
#define NTID_Y ((u32)__nvvm_read_ptx_sreg_ntid_y())
#define NTID_Z ((u32)__nvvm_read_ptx_sreg_ntid_z())
#define NCTA_X ((u32)__nvvm_read_ptx_sreg_nctaid_x())
#define NCTA_Y ((u32)__nvvm_read_ptx_sreg_nctaid_y())
#define NCTA_Z ((u32)__nvvm_read_ptx_sreg_nctaid_z())

// A kernel is a list of phases over the state of a thread, with barriers between them.
#define ENTRY_BEGIN(name, attributes)                                                              \
    extern "C" __attribute__((global)) attributes void name(const u32* in, u32* out, int n)        \
    {                                                                                              \
        State s = {};
#define PHASE(f) f(s, in, out, n);
#define PHASE_STEP(f, step) f(s, in, out, n, step);
#define STEPS_BEGIN(count) for (u32 step = 0; step < count; ++step) {
#define STEPS_END }
#define SYNC __syncthreads();
#define ENTRY_END }
#define MAX_THREADS(count) __attribute__((launch_bounds(count)))

// Collectives: every thread of the block takes part.
#define FULL 0xffffffffu
#define SHFL_IDX(dst, src, sel) s.dst = (u32)__nvvm_shfl_sync_idx_i32(FULL, (i32)s.src, (i32)s.sel, 31);
#define SHFL_UP(dst, src, sel) s.dst = (u32)__nvvm_shfl_sync_up_i32(FULL, (i32)s.src, (i32)s.sel, 0);
#define SHFL_DOWN(dst, src, sel) s.dst = (u32)__nvvm_shfl_sync_down_i32(FULL, (i32)s.src, (i32)s.sel, 31);
#define SHFL_XOR(dst, src, sel) s.dst = (u32)__nvvm_shfl_sync_bfly_i32(FULL, (i32)s.src, (i32)s.sel, 31);
#define VOTE_BALLOT(dst, src) s.dst = (u32)__nvvm_vote_ballot_sync(FULL, (s.src & 1u) != 0);
#define VOTE_ANY(dst, src) s.dst = __nvvm_vote_any_sync(FULL, (s.src & 1u) != 0) ? 1u : 0u;
#define VOTE_ALL(dst, src) s.dst = __nvvm_vote_all_sync(FULL, (s.src & 1u) != 0) ? 1u : 0u;
#define BAR_COUNT(dst, src) s.dst = (u32)__nvvm_bar0_popc((i32)(s.src & 1u));
#define BAR_AND(dst, src) s.dst = __nvvm_bar0_and((i32)(s.src & 1u)) ? 1u : 0u;
#define BAR_OR(dst, src) s.dst = __nvvm_bar0_or((i32)(s.src & 1u)) ? 1u : 0u;

FN u32 atomic_inc(u32* p, u32 bound) { return __nvvm_atom_inc_gen_ui(p, bound); }
FN u32 atomic_dec(u32* p, u32 bound) { return __nvvm_atom_dec_gen_ui(p, bound); }
FN void atomic_add_f32(f32* p, f32 v) { __nvvm_atom_add_gen_f(p, v); }
FN void fence_block() { __nvvm_membar_cta(); }
FN void fence_device() { __nvvm_membar_gl(); }

#else

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FN static
#define NOINLINE __attribute__((noinline))
#define CONSTANT static const
#define TABLE static
#define SHARED static

struct HostDim { u32 x, y, z; };
static HostDim host_tid, host_cta, host_ntid, host_ncta;
// Runs blocks and threads last to first: a program without races gives the same memory.
static bool host_reversed;

#define TID_X host_tid.x
#define TID_Y host_tid.y
#define TID_Z host_tid.z
#define CTA_X host_cta.x
#define CTA_Y host_cta.y
#define CTA_Z host_cta.z
#define NTID_X host_ntid.x
#define NTID_Y host_ntid.y
#define NTID_Z host_ntid.z
#define NCTA_X host_ncta.x
#define NCTA_Y host_ncta.y
#define NCTA_Z host_ncta.z

static HostDim host_coordinates(u32 index, u32 count, HostDim extent)
{
    const u32 i = host_reversed ? count - 1 - index : index;
    return HostDim{i % extent.x, i / extent.x % extent.y, i / extent.x / extent.y};
}

#define ENTRY_BEGIN(name, attributes)                                                              \
    static void name(const u32* in, u32* out, int n)                                               \
    {                                                                                              \
        const u32 threads = NTID_X * NTID_Y * NTID_Z;                                              \
        const u32 blocks = NCTA_X * NCTA_Y * NCTA_Z;                                               \
        State* all = (State*)aligned_alloc(64, (threads * sizeof(State) + 63) / 64 * 64);          \
        for (u32 block = 0; block < blocks; ++block) {                                             \
            host_cta = host_coordinates(block, blocks, host_ncta);                                 \
            for (u32 t = 0; t < threads; ++t) all[t] = State{};
#define PHASE(f)                                                                                   \
    for (u32 t = 0; t < threads; ++t) {                                                            \
        host_tid = host_coordinates(t, threads, host_ntid);                                        \
        f(all[t_lin()], in, out, n);                                                               \
    }
#define PHASE_STEP(f, step)                                                                        \
    for (u32 t = 0; t < threads; ++t) {                                                            \
        host_tid = host_coordinates(t, threads, host_ntid);                                        \
        f(all[t_lin()], in, out, n, step);                                                         \
    }
#define STEPS_BEGIN(count) for (u32 step = 0; step < count; ++step) {
#define STEPS_END }
#define SYNC
#define ENTRY_END                                                                                  \
        }                                                                                          \
        free(all);                                                                                 \
    }
#define MAX_THREADS(count)

// `result` computes `host_new[t]` from the sources of the warp, whose first thread is `base`.
#define HOST_WARPWISE(dst, result)                                                                 \
    {                                                                                              \
        u32* host_new = (u32*)malloc(threads * sizeof(u32));                                       \
        for (u32 t = 0; t < threads; ++t) {                                                        \
            const u32 lane = t % 32, base = t - lane;                                              \
            (void)lane;                                                                            \
            (void)base;                                                                            \
            result                                                                                 \
        }                                                                                          \
        for (u32 t = 0; t < threads; ++t) all[t].dst = host_new[t];                                \
        free(host_new);                                                                            \
    }
#define SHFL_IDX(dst, src, sel) HOST_WARPWISE(dst, host_new[t] = all[base + (all[t].sel & 31u)].src;)
#define SHFL_UP(dst, src, sel)                                                                     \
    HOST_WARPWISE(dst, host_new[t] = lane >= (all[t].sel & 31u) ? all[t - (all[t].sel & 31u)].src : all[t].src;)
#define SHFL_DOWN(dst, src, sel)                                                                   \
    HOST_WARPWISE(dst, host_new[t] = lane + (all[t].sel & 31u) < 32 ? all[t + (all[t].sel & 31u)].src : all[t].src;)
#define SHFL_XOR(dst, src, sel) HOST_WARPWISE(dst, host_new[t] = all[base + (lane ^ (all[t].sel & 31u))].src;)
#define HOST_COUNT(from, count, src) u32 set = 0; for (u32 i = 0; i < (count); ++i) set += all[(from) + i].src & 1u;
#define VOTE_BALLOT(dst, src)                                                                      \
    HOST_WARPWISE(dst, u32 set = 0; for (u32 i = 0; i < 32; ++i) set |= (all[base + i].src & 1u) << i; host_new[t] = set;)
#define VOTE_ANY(dst, src) HOST_WARPWISE(dst, HOST_COUNT(base, 32, src) host_new[t] = set > 0;)
#define VOTE_ALL(dst, src) HOST_WARPWISE(dst, HOST_COUNT(base, 32, src) host_new[t] = set == 32;)
#define BAR_COUNT(dst, src) HOST_WARPWISE(dst, HOST_COUNT(0, threads, src) host_new[t] = set;)
#define BAR_AND(dst, src) HOST_WARPWISE(dst, HOST_COUNT(0, threads, src) host_new[t] = set == threads;)
#define BAR_OR(dst, src) HOST_WARPWISE(dst, HOST_COUNT(0, threads, src) host_new[t] = set > 0;)

FN u32 atomic_inc(u32* p, u32 bound) { const u32 old = *p; *p = old >= bound ? 0 : old + 1; return old; }
FN u32 atomic_dec(u32* p, u32 bound) { const u32 old = *p; *p = old == 0 || old > bound ? bound : old - 1; return old; }
FN void atomic_add_f32(f32* p, f32 v) { *p += v; }
FN void fence_block() {}
FN void fence_device() {}

#endif

// Identity of a thread.
FN u32 t_count() { return NTID_X * NTID_Y * NTID_Z; }
FN u32 t_lin() { return TID_X + NTID_X * (TID_Y + NTID_Y * TID_Z); }
FN u32 cta_lin() { return CTA_X + NCTA_X * (CTA_Y + NCTA_Y * CTA_Z); }
FN u32 gid() { return cta_lin() * t_count() + t_lin(); }

// Atomics whose old value is dropped, or used in a way that does not depend on the order.
template <class T> FN T atomic_add(T* p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
template <class T> FN T atomic_sub(T* p, T v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }
template <class T> FN T atomic_min(T* p, T v) { return __atomic_fetch_min(p, v, __ATOMIC_RELAXED); }
template <class T> FN T atomic_max(T* p, T v) { return __atomic_fetch_max(p, v, __ATOMIC_RELAXED); }
template <class T> FN T atomic_and(T* p, T v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }
template <class T> FN T atomic_or(T* p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }
template <class T> FN T atomic_xor(T* p, T v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }
template <class T> FN T atomic_exch(T* p, T v) { return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); }
// Multiplies by an odd number in a compare-and-swap loop; products commute.
template <class T> FN void atomic_mul(T* p, T v)
{
    T seen = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &seen, (T)(seen * (v | 1)), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

// Memory access of any width, without breaking the aliasing rules.
template <class T> FN T load_as(const void* base, u32 byte)
{
    T v;
    __builtin_memcpy(&v, __builtin_assume_aligned((const u8*)base + byte, sizeof(T)), sizeof(T));
    return v;
}
template <class T> FN void store_as(void* base, u32 byte, T v)
{
    __builtin_memcpy(__builtin_assume_aligned((u8*)base + byte, sizeof(T)), &v, sizeof(T));
}

// Division without the two undefined cases.
template <class T> FN T safe_divisor(T b)
{
    return b == T(0) || (T(-1) < T(0) && b == T(-1)) ? T(3) : b;
}
template <class T> FN T div_(T a, T b) { return T(a / safe_divisor<T>(b)); }
template <class T> FN T rem_(T a, T b) { return T(a % safe_divisor<T>(b)); }
template <class T> FN T min_(T a, T b) { return a < b ? a : b; }
template <class T> FN T max_(T a, T b) { return a > b ? a : b; }

FN u8 mulhi(u8 a, u8 b) { return u8((u32)a * b >> 8); }
FN i8 mulhi(i8 a, i8 b) { return i8((i32)a * b >> 8); }
FN u16 mulhi(u16 a, u16 b) { return u16((u32)a * b >> 16); }
FN i16 mulhi(i16 a, i16 b) { return i16((i32)a * b >> 16); }
FN u32 mulhi(u32 a, u32 b) { return u32((u64)a * b >> 32); }
FN i32 mulhi(i32 a, i32 b) { return i32((i64)a * b >> 32); }
FN u64 mulhi(u64 a, u64 b) { return u64((u128)a * b >> 64); }
FN i64 mulhi(i64 a, i64 b) { return i64((i128)a * b >> 64); }

// Wraps and folds the overflow flag in.
template <class T> FN T add_flag(T a, T b) { T r; const bool o = __builtin_add_overflow(a, b, &r); return T(r ^ T(o)); }
template <class T> FN T sub_flag(T a, T b) { T r; const bool o = __builtin_sub_overflow(a, b, &r); return T(r ^ T(o)); }
template <class T> FN T mul_flag(T a, T b) { T r; const bool o = __builtin_mul_overflow(a, b, &r); return T(r ^ T(o)); }
template <class T> FN T add_sat(T a, T b) { return __builtin_elementwise_add_sat(a, b); }
template <class T> FN T sub_sat(T a, T b) { return __builtin_elementwise_sub_sat(a, b); }

FN u128 wide(u64 hi, u64 lo) { return (u128)hi << 64 | lo; }
FN u64 fold128(u128 v) { return (u64)(v >> 64) ^ __builtin_rotateleft64((u64)v, 17); }
FN u64 add128(u64 a, u64 b, u64 c, u64 d) { return fold128(wide(a, b) + wide(c, d)); }
FN u64 sub128(u64 a, u64 b, u64 c, u64 d) { return fold128(wide(a, b) - wide(c, d)); }
FN u64 mul128(u64 a, u64 b, u64 c, u64 d) { return fold128(wide(a, b) * wide(c, d)); }
FN u64 shl128(u64 a, u64 b, u32 k) { return fold128(wide(a, b) << (k & 127)); }
FN u64 shr128(u64 a, u64 b, u32 k) { return fold128(wide(a, b) >> (k & 127)); }
FN u64 sar128(u64 a, u64 b, u32 k) { return fold128((u128)((i128)wide(a, b) >> (k & 127))); }
FN u64 funnel(u64 a, u64 b, u32 k) { return (u64)(wide(a, b) >> (k & 63)); }
FN u32 funnel32(u32 a, u32 b, u32 k) { return (u32)(((u64)a << 32 | b) >> (k & 31)); }

// Bits of floating point values. The two machines make different NaNs, so a NaN never gets into
// an integer, nor its sign anywhere, before it is replaced by the one below.
FN u16 raw_bits(f16 v) { return __builtin_bit_cast(u16, v); }
FN u32 raw_bits(f32 v) { return __builtin_bit_cast(u32, v); }
FN u64 raw_bits(f64 v) { return __builtin_bit_cast(u64, v); }
FN u16 bits(f16 v) { const u16 b = raw_bits(v); return (b & 0x7fff) > 0x7c00 ? (u16)0x7e00 : b; }
FN u32 bits(f32 v) { return v != v ? 0x7fc00000u : raw_bits(v); }
FN u64 bits(f64 v) { return v != v ? 0x7ff8000000000000ull : raw_bits(v); }
FN f16 make_f16(u16 b) { return __builtin_bit_cast(f16, (b & 0x7fff) > 0x7c00 ? (u16)0x7e00 : b); }
FN f32 make_f32(u32 b) { return __builtin_bit_cast(f32, (b & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : b); }
FN f64 make_f64(u64 b)
{
    return __builtin_bit_cast(f64, (b & 0x7fffffffffffffffull) > 0x7ff0000000000000ull ? 0x7ff8000000000000ull : b);
}
FN f32 plain(f32 v) { return make_f32(bits(v)); }
FN f64 plain(f64 v) { return make_f64(bits(v)); }

// Which zero comes out of min(+0, -0) is not the same everywhere; equal operands give the first.
FN f32 fmin_(f32 a, f32 b) { return a == b ? a : __builtin_fminf(a, b); }
FN f32 fmax_(f32 a, f32 b) { return a == b ? a : __builtin_fmaxf(a, b); }
FN f64 fmin_(f64 a, f64 b) { return a == b ? a : __builtin_fmin(a, b); }
FN f64 fmax_(f64 a, f64 b) { return a == b ? a : __builtin_fmax(a, b); }
FN f32 copysign_(f32 a, f32 b) { return __builtin_copysignf(a, plain(b)); }
FN f64 copysign_(f64 a, f64 b) { return __builtin_copysign(a, plain(b)); }
FN f32 fma_(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
FN f64 fma_(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
FN f32 sqrt_(f32 a) { return __builtin_sqrtf(a); }
FN f64 sqrt_(f64 a) { return __builtin_sqrt(a); }
FN f32 abs_(f32 a) { return __builtin_fabsf(a); }
FN f64 abs_(f64 a) { return __builtin_fabs(a); }
FN f32 floor_(f32 a) { return __builtin_floorf(a); }
FN f64 floor_(f64 a) { return __builtin_floor(a); }
FN f32 ceil_(f32 a) { return __builtin_ceilf(a); }
FN f64 ceil_(f64 a) { return __builtin_ceil(a); }
FN f32 trunc_(f32 a) { return __builtin_truncf(a); }
FN f64 trunc_(f64 a) { return __builtin_trunc(a); }
FN f32 rint_(f32 a) { return __builtin_rintf(a); }
FN f64 rint_(f64 a) { return __builtin_rint(a); }
FN f32 round_(f32 a) { return __builtin_roundf(a); }
FN f64 round_(f64 a) { return __builtin_round(a); }

// Conversions to integers are undefined out of range: clamp first. A NaN becomes the lower bound.
template <class T, class F> FN T clamp_to(F v, F lo, F hi) { return (T)(v > lo ? (v < hi ? v : hi) : lo); }
FN i32 to_i32(f32 v) { return clamp_to<i32, f32>(v, -2147483648.0f, 2147483520.0f); }
FN i32 to_i32(f64 v) { return clamp_to<i32, f64>(v, -2147483648.0, 2147483647.0); }
FN u32 to_u32(f32 v) { return clamp_to<u32, f32>(v, 0.0f, 4294967040.0f); }
FN u32 to_u32(f64 v) { return clamp_to<u32, f64>(v, 0.0, 4294967295.0); }
FN i64 to_i64(f32 v) { return clamp_to<i64, f32>(v, -0x1p63f, 0x1.fffffep62f); }
FN i64 to_i64(f64 v) { return clamp_to<i64, f64>(v, -0x1p63, 0x1.fffffffffffffp62); }
FN u64 to_u64(f32 v) { return clamp_to<u64, f32>(v, 0.0f, 0x1.fffffep63f); }
FN u64 to_u64(f64 v) { return clamp_to<u64, f64>(v, 0.0, 0x1.fffffffffffffp63); }
FN i16 to_i16(f32 v) { return clamp_to<i16, f32>(v, -32768.0f, 32767.0f); }
FN i16 to_i16(f64 v) { return clamp_to<i16, f64>(v, -32768.0, 32767.0); }
FN u16 to_u16(f32 v) { return clamp_to<u16, f32>(v, 0.0f, 65535.0f); }
FN u16 to_u16(f64 v) { return clamp_to<u16, f64>(v, 0.0, 65535.0); }
FN i8 to_i8(f32 v) { return clamp_to<i8, f32>(v, -128.0f, 127.0f); }
FN i8 to_i8(f64 v) { return clamp_to<i8, f64>(v, -128.0, 127.0); }
FN u8 to_u8(f32 v) { return clamp_to<u8, f32>(v, 0.0f, 255.0f); }
FN u8 to_u8(f64 v) { return clamp_to<u8, f64>(v, 0.0, 255.0); }
FN i32 to_i32(f16 v) { return to_i32((f32)v); }

// Reads through a generic pointer, whatever memory it points to.
static NOINLINE u32 digest_words(const u32* p, u32 count)
{
    u32 h = 0x811c9dc5u;
    for (u32 i = 0; i < count; ++i) h = (h ^ p[i]) * 0x01000193u;
    return h;
}
