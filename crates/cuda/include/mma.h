/* Products of small matrices by a warp: nvcuda::wmma.
 *
 * Which thread holds which element of a fragment is not specified, so this is written with shuffles and ordinary
 * arithmetic: a thread holds neighbouring elements of a row, and collects the rows and columns it needs from others.
 * The result is what tensor cores compute, up to the order of additions; the time is not that of tensor cores. */
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

/* Numbers are multiplied and added as these. */
RADDLE_D float wide(__half v) { return __half2float(v); }
RADDLE_D float wide(__nv_bfloat16 v) { return __bfloat162float(v); }
RADDLE_D float wide(float v) { return v; }
RADDLE_D double wide(double v) { return v; }
RADDLE_D int wide(signed char v) { return v; }
RADDLE_D int wide(unsigned char v) { return v; }
RADDLE_D int wide(int v) { return v; }
template <class T, class V> struct narrow {
    static RADDLE_D T of(V v) { return (T)v; }
};
template <> struct narrow<__half, float> {
    static RADDLE_D __half of(float v) { return __float2half(v); }
};

/* How many elements a thread holds, and where the element (row, column) is. The place in a thread depends on the
 * column within the thread's own share of a row, or on the row that is being worked on, so it is known when a program
 * is compiled. A is M by K, B is K by N, an accumulator M by N. */
template <class Use, int M, int N, int K> struct shape;
template <int M, int N, int K> struct shape<accumulator, M, N, K> {
    static const int rows = M, columns = N, count = M * N / 32;
    static RADDLE_D int row(int lane, int) { return lane / (N / count); }
    static RADDLE_D int column(int lane, int i) { return lane % (N / count) * count + i; }
};
template <int M, int N, int K> struct shape<matrix_a, M, N, K> {
    static const int rows = M, columns = K, count = M * K / 32;
    static RADDLE_D int row(int lane, int) { return lane / (K / count); }
    static RADDLE_D int column(int lane, int i) { return lane % (K / count) * count + i; }
};
template <int M, int N, int K> struct shape<matrix_b, M, N, K> {
    static const int rows = K, columns = N, count = K * N / 32, share = M * N / 32;
    /* Rows of B in one thread, and threads for one share of a row: one of them is 1. */
    static const int deep = count > share ? count / share : 1, wide = count < share ? share / count : 1;
    static const int part = share / wide;
    static RADDLE_D int row(int lane, int i) { return lane / (N / part) * deep + i / part; }
    static RADDLE_D int column(int lane, int i) { return lane % (N / part) * part + i % part; }
};

} // namespace details

template <class Use, int M, int N, int K, class T, class Layout = void> class fragment {
  public:
    typedef typename details::storage<T>::type element_type;
    typedef element_type storage_element_type;
    static const int num_elements = details::shape<Use, M, N, K>::count;
    static const int num_storage_elements = num_elements;
    element_type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout, class V>
RADDLE_D void fill_fragment(fragment<Use, M, N, K, T, Layout> &f, const V &v) {
#pragma unroll
    for (int i = 0; i < f.num_elements; i++) f.x[i] = v;
}

namespace details {

RADDLE_D int lane() { return (int)__nvvm_read_ptx_sreg_laneid(); }
template <class Use, int M, int N, int K, class T, class Layout, class P>
RADDLE_D void load(fragment<Use, M, N, K, T, Layout> &f, const P *p, unsigned int stride, bool by_rows) {
    typedef shape<Use, M, N, K> S;
#pragma unroll
    for (int i = 0; i < f.num_elements; i++) {
        int r = S::row(lane(), i), c = S::column(lane(), i);
        f.x[i] = by_rows ? p[(size_t)r * stride + c] : p[(size_t)c * stride + r];
    }
}
template <class T> RADDLE_D T from_lane(T v, int source) { return __shfl_sync(0xffffffffu, v, source); }
RADDLE_D signed char from_lane(signed char v, int source) { return (signed char)from_lane((int)v, source); }
RADDLE_D unsigned char from_lane(unsigned char v, int source) { return (unsigned char)from_lane((int)v, source); }

} // namespace details

template <class Use, int M, int N, int K, class T, class P>
RADDLE_D void load_matrix_sync(fragment<Use, M, N, K, T, row_major> &f, const P *p, unsigned int stride) {
    details::load(f, p, stride, true);
    __syncwarp();
}
template <class Use, int M, int N, int K, class T, class P>
RADDLE_D void load_matrix_sync(fragment<Use, M, N, K, T, col_major> &f, const P *p, unsigned int stride) {
    details::load(f, p, stride, false);
    __syncwarp();
}
template <int M, int N, int K, class T, class P>
RADDLE_D void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const P *p, unsigned int stride, layout_t layout) {
    details::load(f, p, stride, layout == mem_row_major);
    __syncwarp();
}
template <int M, int N, int K, class T, class P>
RADDLE_D void store_matrix_sync(P *p, const fragment<accumulator, M, N, K, T> &f, unsigned int stride,
                                layout_t layout) {
    typedef details::shape<accumulator, M, N, K> S;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < f.num_elements; i++) {
        int r = S::row(details::lane(), i), c = S::column(details::lane(), i);
        p[layout == mem_row_major ? (size_t)r * stride + c : (size_t)c * stride + r] = f.x[i];
    }
    __syncwarp();
}

/* d = a b + c. Row by row of b: its element and the element of a come from the threads that hold them. */
template <int M, int N, int K, class TA, class LA, class TB, class LB, class TC, class TD>
RADDLE_D void mma_sync(fragment<accumulator, M, N, K, TD> &d, const fragment<matrix_a, M, N, K, TA, LA> &a,
                       const fragment<matrix_b, M, N, K, TB, LB> &b, const fragment<accumulator, M, N, K, TC> &c,
                       bool saturate = false) {
    typedef details::shape<matrix_a, M, N, K> A;
    typedef details::shape<matrix_b, M, N, K> B;
    typedef details::shape<accumulator, M, N, K> C;
    typedef decltype(details::wide(c.x[0])) sum_t;
    typedef decltype(details::wide(a.x[0])) number_t;
    int row = C::row(details::lane(), 0), share = C::column(details::lane(), 0) / C::count;
    sum_t sum[C::count];
#pragma unroll
    for (int j = 0; j < C::count; j++) sum[j] = details::wide(c.x[j]);
#pragma unroll
    for (int k = 0; k < K; k++) {
        number_t left = details::wide(details::from_lane(a.x[k % A::count], row * (K / A::count) + k / A::count));
#pragma unroll
        for (int j = 0; j < C::count; j++) {
            int lane = k / B::deep * (N / B::part) + share * B::wide + j / B::part;
            sum[j] += left * details::wide(details::from_lane(b.x[k % B::deep * B::part + j % B::part], lane));
        }
    }
    (void)saturate;
#pragma unroll
    for (int j = 0; j < C::count; j++) d.x[j] = details::narrow<TD, sum_t>::of(sum[j]);
}

/* A float with the ten bits after the point that tf32 has, rounded to nearest, halves away from zero. */
RADDLE_D float __float_to_tf32(float v) {
    return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u);
}

} // namespace wmma
} // namespace nvcuda

#undef RADDLE_D

#endif

#endif
