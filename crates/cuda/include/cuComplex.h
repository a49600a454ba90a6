/* Complex numbers in C and C++, on the host and on the device. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include <math.h>

#include "vector_types.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define RADDLE_FN __host__ __device__ static __inline__

/* Quotients and absolute values scale first, so that squares neither overflow nor vanish. */
#define RADDLE_COMPLEX(COMPLEX, T, SUFFIX, MAX, ABS, SQRT)                                                             \
    RADDLE_FN COMPLEX make_##COMPLEX(T r, T i) {                                                                       \
        COMPLEX v;                                                                                                     \
        v.x = r;                                                                                                       \
        v.y = i;                                                                                                       \
        return v;                                                                                                      \
    }                                                                                                                  \
    RADDLE_FN T cuCreal##SUFFIX(COMPLEX v) { return v.x; }                                                             \
    RADDLE_FN T cuCimag##SUFFIX(COMPLEX v) { return v.y; }                                                             \
    RADDLE_FN COMPLEX cuConj##SUFFIX(COMPLEX v) { return make_##COMPLEX(v.x, -v.y); }                                  \
    RADDLE_FN COMPLEX cuCadd##SUFFIX(COMPLEX a, COMPLEX b) { return make_##COMPLEX(a.x + b.x, a.y + b.y); }            \
    RADDLE_FN COMPLEX cuCsub##SUFFIX(COMPLEX a, COMPLEX b) { return make_##COMPLEX(a.x - b.x, a.y - b.y); }            \
    RADDLE_FN COMPLEX cuCmul##SUFFIX(COMPLEX a, COMPLEX b) {                                                           \
        return make_##COMPLEX(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                           \
    }                                                                                                                  \
    RADDLE_FN COMPLEX cuCdiv##SUFFIX(COMPLEX a, COMPLEX b) {                                                           \
        T s = 1 / (ABS(b.x) + ABS(b.y));                                                                               \
        T ar = a.x * s, ai = a.y * s, br = b.x * s, bi = b.y * s;                                                      \
        T d = 1 / (br * br + bi * bi);                                                                                 \
        return make_##COMPLEX((ar * br + ai * bi) * d, (ai * br - ar * bi) * d);                                       \
    }                                                                                                                  \
    RADDLE_FN COMPLEX cuCfma##SUFFIX(COMPLEX a, COMPLEX b, COMPLEX c) {                                                \
        return make_##COMPLEX(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x);                               \
    }                                                                                                                  \
    RADDLE_FN T cuCabs##SUFFIX(COMPLEX v) {                                                                            \
        T a = ABS(v.x), b = ABS(v.y);                                                                                  \
        T big = a > b ? a : b, small = a > b ? b : a, q;                                                               \
        if (big == 0 || !(big <= MAX)) return a + b;                                                                   \
        q = small / big;                                                                                               \
        return big * SQRT(1 + q * q);                                                                                  \
    }
RADDLE_COMPLEX(cuFloatComplex, float, f, 3.40282347e+38f, fabsf, sqrtf)
RADDLE_COMPLEX(cuDoubleComplex, double, , 1.79769313486231570e+308, fabs, sqrt)
#undef RADDLE_COMPLEX

RADDLE_FN cuComplex make_cuComplex(float r, float i) { return make_cuFloatComplex(r, i); }
RADDLE_FN cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex v) { return make_cuDoubleComplex(v.x, v.y); }
RADDLE_FN cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex v) {
    return make_cuFloatComplex((float)v.x, (float)v.y);
}
#undef RADDLE_FN

#endif
