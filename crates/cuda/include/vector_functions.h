/* make_float4 and its family. */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define RADDLE_MAKE static __inline__ __host__ __device__
#define RADDLE_VECTOR(NAME, T)                                                                                         \
    RADDLE_MAKE NAME##1 make_##NAME##1(T x) {                                                                          \
        NAME##1 v;                                                                                                     \
        v.x = x;                                                                                                       \
        return v;                                                                                                      \
    }                                                                                                                  \
    RADDLE_MAKE NAME##2 make_##NAME##2(T x, T y) {                                                                     \
        NAME##2 v;                                                                                                     \
        v.x = x;                                                                                                       \
        v.y = y;                                                                                                       \
        return v;                                                                                                      \
    }                                                                                                                  \
    RADDLE_MAKE NAME##3 make_##NAME##3(T x, T y, T z) {                                                                \
        NAME##3 v;                                                                                                     \
        v.x = x;                                                                                                       \
        v.y = y;                                                                                                       \
        v.z = z;                                                                                                       \
        return v;                                                                                                      \
    }                                                                                                                  \
    RADDLE_MAKE NAME##4 make_##NAME##4(T x, T y, T z, T w) {                                                           \
        NAME##4 v;                                                                                                     \
        v.x = x;                                                                                                       \
        v.y = y;                                                                                                       \
        v.z = z;                                                                                                       \
        v.w = w;                                                                                                       \
        return v;                                                                                                      \
    }
RADDLE_VECTOR(char, signed char)
RADDLE_VECTOR(uchar, unsigned char)
RADDLE_VECTOR(short, short)
RADDLE_VECTOR(ushort, unsigned short)
RADDLE_VECTOR(int, int)
RADDLE_VECTOR(uint, unsigned int)
RADDLE_VECTOR(long, long int)
RADDLE_VECTOR(ulong, unsigned long int)
RADDLE_VECTOR(longlong, long long int)
RADDLE_VECTOR(ulonglong, unsigned long long int)
RADDLE_VECTOR(float, float)
RADDLE_VECTOR(double, double)
#undef RADDLE_VECTOR
#undef RADDLE_MAKE

#endif
