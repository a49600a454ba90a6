/* Products of small matrices by a warp: nvcuda::wmma, on the instructions of tensor cores.
 *
 * Fragments are registers of the instructions `wmma.load`, `wmma.mma` and `wmma.store`, element by element in the order
 * of these registers. Which thread holds which element only they know. */
#ifndef __CUDA_MMA_H__
#define __CUDA_MMA_H__

#if defined(__cplusplus) && defined(__CUDA__)

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define RADDLE_D __inline__ __device__

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
} // namespace precision

namespace details {

/* What an element is kept as. tf32 is a float with fewer bits. */
template <class T> struct storage {
    typedef T type;
};
template <> struct storage<precision::tf32> {
    typedef float type;
};

/* How many elements a thread holds. A is M by K, B is K by N, an accumulator M by N; of A and B in half precision every
 * thread holds sixteen. */
template <class Use, int M, int N, int K, class T> struct count;
template <int M, int N, int K, class T> struct count<accumulator, M, N, K, T> {
    static const int value = M * N / 32;
};
template <int M, int N, int K, class T> struct count<matrix_a, M, N, K, T> {
    static const int value = M * K / 32;
};
template <int M, int N, int K, class T> struct count<matrix_b, M, N, K, T> {
    static const int value = K * N / 32;
};
template <int M, int N, int K> struct count<matrix_a, M, N, K, __half> {
    static const int value = 16;
};
template <int M, int N, int K> struct count<matrix_b, M, N, K, __half> {
    static const int value = 16;
};

} // namespace details

template <class Use, int M, int N, int K, class T, class Layout = void> class fragment {
  public:
    typedef typename details::storage<T>::type element_type;
    typedef element_type storage_element_type;
    static const int num_elements = details::count<Use, M, N, K, T>::value;
    static const int num_storage_elements = num_elements;
    element_type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout, class V>
RADDLE_D void fill_fragment(fragment<Use, M, N, K, T, Layout> &f, const V &v) {
#pragma unroll
    for (int i = 0; i < f.num_elements; i++) f.x[i] = v;
}

/* Registers of an instruction: a list of so many in its text, and the operands it stands for. */
#define RADDLE_L1(n) "{%[" n "0]}"
#define RADDLE_L2(n) "{%[" n "0], %[" n "1]}"
#define RADDLE_L4(n) "{%[" n "0], %[" n "1], %[" n "2], %[" n "3]}"
#define RADDLE_L8(n)                                                                                                   \
    "{%[" n "0], %[" n "1], %[" n "2], %[" n "3], %[" n "4], %[" n "5], %[" n "6], %[" n "7]}"
#define RADDLE_O1(n, c, r) [n##0] c(r[0])
#define RADDLE_O2(n, c, r) RADDLE_O1(n, c, r), [n##1] c(r[1])
#define RADDLE_O4(n, c, r) RADDLE_O2(n, c, r), [n##2] c(r[2]), [n##3] c(r[3])
#define RADDLE_O8(n, c, r) RADDLE_O4(n, c, r), [n##4] c(r[4]), [n##5] c(r[5]), [n##6] c(r[6]), [n##7] c(r[7])

/* A fragment as registers, and registers as a fragment. */
#define RADDLE_REGISTERS(type, count, name, f)                                                                         \
    type name[count];                                                                                                  \
    static_assert(sizeof name == sizeof f.x, "a fragment is as large as its registers");                               \
    __builtin_memcpy(name, f.x, sizeof name)

#define RADDLE_LOAD(use, letter, m, n, k, T, P, layout, text, ptx, count, type, c)                                     \
    RADDLE_D void load_matrix_sync(fragment<use, m, n, k, T, layout> &f, const P *p, unsigned int stride) {            \
        type r[count];                                                                                                 \
        asm volatile("wmma.load." letter ".sync.aligned." text ".m" #m "n" #n "k" #k "." ptx " " RADDLE_L##count("r")  \
                     ", [%[p]], %[s];"                                                                                 \
                     : RADDLE_O##count(r, "=" c, r)                                                                    \
                     : [p] "l"(p), [s] "r"(stride)                                                                     \
                     : "memory");                                                                                      \
        __builtin_memcpy(f.x, r, sizeof r);                                                                            \
    }

#define RADDLE_ACCUMULATOR_OF(m, n, k, T, text, layout, ptx, count, type, c)                                           \
    if (layout == mem_##text##_major) {                                                                                \
        asm volatile("wmma.load.c.sync.aligned." #text ".m" #m "n" #n "k" #k "." ptx " " RADDLE_L##count("r")          \
                     ", [%[p]], %[s];"                                                                                 \
                     : RADDLE_O##count(r, "=" c, r)                                                                    \
                     : [p] "l"(p), [s] "r"(stride)                                                                     \
                     : "memory");                                                                                      \
    }
#define RADDLE_STORE_OF(m, n, k, T, text, layout, ptx, count, type, c)                                                 \
    if (layout == mem_##text##_major) {                                                                                \
        asm volatile("wmma.store.d.sync.aligned." #text ".m" #m "n" #n "k" #k "." ptx " [%[p]], "                      \
                     RADDLE_L##count("r") ", %[s];"                                                                    \
                     :                                                                                                 \
                     : [p] "l"(p), [s] "r"(stride), RADDLE_O##count(r, c, r)                                           \
                     : "memory");                                                                                      \
    }
#define RADDLE_ACCUMULATOR(m, n, k, T, ptx, count, type, c)                                                            \
    RADDLE_D void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *p, unsigned int stride,              \
                                   layout_t layout) {                                                                  \
        type r[count];                                                                                                 \
        RADDLE_ACCUMULATOR_OF(m, n, k, T, row, layout, ptx, count, type, c)                                            \
        else RADDLE_ACCUMULATOR_OF(m, n, k, T, col, layout, ptx, count, type, c)                                       \
        __builtin_memcpy(f.x, r, sizeof r);                                                                            \
    }                                                                                                                  \
    RADDLE_D void store_matrix_sync(T *p, const fragment<accumulator, m, n, k, T> &f, unsigned int stride,             \
                                    layout_t layout) {                                                                 \
        RADDLE_REGISTERS(type, count, r, f);                                                                           \
        RADDLE_STORE_OF(m, n, k, T, row, layout, ptx, count, type, c)                                                  \
        else RADDLE_STORE_OF(m, n, k, T, col, layout, ptx, count, type, c)                                             \
    }

/* d = a b + c. `types` is what the instruction's name ends in. */
#define RADDLE_MMA_OF(m, n, k, T, LA, ta, LB, tb, TD, TC, types, ra, rb, ri, ci, rd, td, cd, rc, tc, cc)               \
    RADDLE_D void mma_sync(fragment<accumulator, m, n, k, TD> &d, const fragment<matrix_a, m, n, k, T, LA> &a,         \
                           const fragment<matrix_b, m, n, k, T, LB> &b, const fragment<accumulator, m, n, k, TC> &c) { \
        RADDLE_REGISTERS(ri, ra, x, a);                                                                                \
        RADDLE_REGISTERS(ri, rb, y, b);                                                                                \
        RADDLE_REGISTERS(tc, rc, z, c);                                                                                \
        td w[rd];                                                                                                      \
        asm volatile("wmma.mma.sync.aligned." ta "." tb ".m" #m "n" #n "k" #k types " " RADDLE_L##rd("d")              \
                     ", " RADDLE_L##ra("a") ", " RADDLE_L##rb("b") ", " RADDLE_L##rc("c") ";"                          \
                     : RADDLE_O##rd(d, "=" cd, w)                                                                      \
                     : RADDLE_O##ra(a, ci, x), RADDLE_O##rb(b, ci, y), RADDLE_O##rc(c, cc, z));                        \
        __builtin_memcpy(d.x, w, sizeof w);                                                                            \
    }
#define RADDLE_MMA(m, n, k, T, TD, TC, types, ra, rb, ri, ci, rd, td, cd, rc, tc, cc)                                  \
    RADDLE_MMA_OF(m, n, k, T, row_major, "row", row_major, "row", TD, TC, types, ra, rb, ri, ci, rd, td, cd, rc, tc,   \
                  cc)                                                                                                  \
    RADDLE_MMA_OF(m, n, k, T, row_major, "row", col_major, "col", TD, TC, types, ra, rb, ri, ci, rd, td, cd, rc, tc,   \
                  cc)                                                                                                  \
    RADDLE_MMA_OF(m, n, k, T, col_major, "col", row_major, "row", TD, TC, types, ra, rb, ri, ci, rd, td, cd, rc, tc,   \
                  cc)                                                                                                  \
    RADDLE_MMA_OF(m, n, k, T, col_major, "col", col_major, "col", TD, TC, types, ra, rb, ri, ci, rd, td, cd, rc, tc,   \
                  cc)
#define RADDLE_INPUTS(m, n, k, T, P, ptx, ra, rb, type, c)                                                             \
    RADDLE_LOAD(matrix_a, "a", m, n, k, T, P, row_major, "row", ptx, ra, type, c)                                      \
    RADDLE_LOAD(matrix_a, "a", m, n, k, T, P, col_major, "col", ptx, ra, type, c)                                      \
    RADDLE_LOAD(matrix_b, "b", m, n, k, T, P, row_major, "row", ptx, rb, type, c)                                      \
    RADDLE_LOAD(matrix_b, "b", m, n, k, T, P, col_major, "col", ptx, rb, type, c)

/* Half precision, sm_70. */
#define RADDLE_HALF(m, n, k)                                                                                           \
    RADDLE_INPUTS(m, n, k, __half, __half, "f16", 8, 8, unsigned int, "r")                                             \
    RADDLE_ACCUMULATOR(m, n, k, __half, "f16", 4, unsigned int, "r")                                                   \
    RADDLE_ACCUMULATOR(m, n, k, float, "f32", 8, float, "f")                                                           \
    RADDLE_MMA(m, n, k, __half, float, float, ".f32.f32", 8, 8, unsigned int, "r", 8, float, "f", 8, float, "f")       \
    RADDLE_MMA(m, n, k, __half, __half, __half, ".f16.f16", 8, 8, unsigned int, "r", 4, unsigned int, "r", 4,          \
               unsigned int, "r")                                                                                      \
    RADDLE_MMA(m, n, k, __half, float, __half, ".f32.f16", 8, 8, unsigned int, "r", 8, float, "f", 4, unsigned int,    \
               "r")                                                                                                    \
    RADDLE_MMA(m, n, k, __half, __half, float, ".f16.f32", 8, 8, unsigned int, "r", 4, unsigned int, "r", 8, float,    \
               "f")
RADDLE_HALF(16, 16, 16)
RADDLE_HALF(32, 8, 16)
RADDLE_HALF(8, 32, 16)

/* Bytes, sm_72: registers of a and b. */
#define RADDLE_BYTE(m, n, k, T, ptx, ra, rb)                                                                           \
    RADDLE_INPUTS(m, n, k, T, T, ptx, ra, rb, unsigned int, "r")                                                       \
    RADDLE_MMA(m, n, k, T, int, int, ".s32." ptx "." ptx ".s32", ra, rb, unsigned int, "r", 8, int, "r", 8, int, "r")
#define RADDLE_BYTES(m, n, k, ra, rb)                                                                                  \
    RADDLE_ACCUMULATOR(m, n, k, int, "s32", 8, int, "r")                                                               \
    RADDLE_BYTE(m, n, k, signed char, "s8", ra, rb)                                                                    \
    RADDLE_BYTE(m, n, k, unsigned char, "u8", ra, rb)
RADDLE_BYTES(16, 16, 16, 2, 2)
RADDLE_BYTES(32, 8, 16, 4, 1)
RADDLE_BYTES(8, 32, 16, 1, 4)

/* bfloat16, tf32 and double precision, sm_80. */
#define RADDLE_BF16(m, n, k, ra, rb)                                                                                   \
    RADDLE_INPUTS(m, n, k, __nv_bfloat16, __nv_bfloat16, "bf16", ra, rb, unsigned int, "r")                            \
    RADDLE_MMA(m, n, k, __nv_bfloat16, float, float, ".f32.bf16.bf16.f32", ra, rb, unsigned int, "r", 8, float, "f",   \
               8, float, "f")
RADDLE_BF16(16, 16, 16, 4, 4)
RADDLE_BF16(32, 8, 16, 8, 2)
RADDLE_BF16(8, 32, 16, 2, 8)
RADDLE_INPUTS(16, 16, 8, precision::tf32, float, "tf32", 4, 4, unsigned int, "r")
RADDLE_ACCUMULATOR(16, 16, 8, float, "f32", 8, float, "f")
RADDLE_MMA(16, 16, 8, precision::tf32, float, float, ".f32.tf32.tf32.f32", 4, 4, unsigned int, "r", 8, float, "f", 8,
           float, "f")
RADDLE_INPUTS(8, 8, 4, double, double, "f64", 1, 1, double, "d")
RADDLE_ACCUMULATOR(8, 8, 4, double, "f64", 2, double, "d")
RADDLE_MMA(8, 8, 4, double, double, double, ".f64.f64.f64.f64", 1, 1, double, "d", 2, double, "d", 2, double, "d")

/* A float with the ten bits after the point that tf32 has, rounded to nearest, halves away from zero. */
RADDLE_D float __float_to_tf32(float v) {
    return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u);
}

} // namespace wmma
} // namespace nvcuda

#undef RADDLE_L1
#undef RADDLE_L2
#undef RADDLE_L4
#undef RADDLE_L8
#undef RADDLE_O1
#undef RADDLE_O2
#undef RADDLE_O4
#undef RADDLE_O8
#undef RADDLE_REGISTERS
#undef RADDLE_LOAD
#undef RADDLE_ACCUMULATOR_OF
#undef RADDLE_STORE_OF
#undef RADDLE_ACCUMULATOR
#undef RADDLE_MMA_OF
#undef RADDLE_MMA
#undef RADDLE_INPUTS
#undef RADDLE_HALF
#undef RADDLE_BYTE
#undef RADDLE_BYTES
#undef RADDLE_BF16
#undef RADDLE_D

#endif

#endif
