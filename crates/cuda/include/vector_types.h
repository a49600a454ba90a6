/* Vectors of one to four numbers and the sizes of grids and blocks.
 *
 * Pairs and quadruples are aligned so that one instruction moves them, to at most 16 bytes; the others as their
 * elements are. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "crt/host_defines.h"

#define RADDLE_VECTOR(NAME, T, A2, A4)                                                                                 \
    struct NAME##1 {                                                                                                   \
        T x;                                                                                                           \
    };                                                                                                                 \
    struct __attribute__((aligned(A2))) NAME##2 {                                                                      \
        T x, y;                                                                                                        \
    };                                                                                                                 \
    struct NAME##3 {                                                                                                   \
        T x, y, z;                                                                                                     \
    };                                                                                                                 \
    struct __attribute__((aligned(A4))) NAME##4 {                                                                      \
        T x, y, z, w;                                                                                                  \
    };                                                                                                                 \
    typedef struct NAME##1 NAME##1;                                                                                    \
    typedef struct NAME##2 NAME##2;                                                                                    \
    typedef struct NAME##3 NAME##3;                                                                                    \
    typedef struct NAME##4 NAME##4;
RADDLE_VECTOR(char, signed char, 2, 4)
RADDLE_VECTOR(uchar, unsigned char, 2, 4)
RADDLE_VECTOR(short, short, 4, 8)
RADDLE_VECTOR(ushort, unsigned short, 4, 8)
RADDLE_VECTOR(int, int, 8, 16)
RADDLE_VECTOR(uint, unsigned int, 8, 16)
RADDLE_VECTOR(long, long int, 16, 16)
RADDLE_VECTOR(ulong, unsigned long int, 16, 16)
RADDLE_VECTOR(longlong, long long int, 16, 16)
RADDLE_VECTOR(ulonglong, unsigned long long int, 16, 16)
RADDLE_VECTOR(float, float, 8, 16)
RADDLE_VECTOR(double, double, 16, 16)
#undef RADDLE_VECTOR

struct dim3 {
    unsigned int x, y, z;
#if defined(__cplusplus)
#if __cplusplus >= 201103L
    __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
        : x(vx), y(vy), z(vz) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#else
    __host__ __device__ dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
    __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ operator uint3() const {
        uint3 v = {x, y, z};
        return v;
    }
#endif
#endif
};
typedef struct dim3 dim3;

#endif
