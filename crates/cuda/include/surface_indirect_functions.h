/* Reads and writes through surface objects and references. x counts bytes, the other coordinates texels or layers.
 *
 * A texel moves as its bytes: 1, 2, 4, 8 or 16 of them. An access outside faults, goes to the nearest texel, or reads
 * zeros and writes nothing, as its boundary mode says; the mode is part of the instruction. */
#ifndef __SURFACE_INDIRECT_FUNCTIONS_H__
#define __SURFACE_INDIRECT_FUNCTIONS_H__

#if defined(__cplusplus) && defined(__CUDA__)

#include "cuda_surface_types.h"
#include "surface_types.h"

#define RADDLE_FN static __inline__ __attribute__((device, always_inline, nodebug))
#define RADDLE_LIST(...) __VA_ARGS__

/* What a texel of so many bytes travels as. */
template <int bytes> struct raddle_word;
#define RADDLE_WORD(BYTES, T)                                                                                          \
    template <> struct raddle_word<BYTES> {                                                                            \
        typedef T type;                                                                                                \
    };
RADDLE_WORD(1, unsigned char)
RADDLE_WORD(2, unsigned short)
RADDLE_WORD(4, unsigned int)
RADDLE_WORD(8, unsigned long long)
RADDLE_WORD(16, uint4)
#undef RADDLE_WORD

/* One instruction for each boundary mode; the mode is known when a program is compiled, so one of them stays. The
 * operands have names: o the surface, v the value, or a to d for four of them, then the coordinates. */
#define RADDLE_MODES(MODE, BEFORE, AFTER, ...)                                                                         \
    if (MODE == cudaBoundaryModeTrap) {                                                                                \
        __asm__ __volatile__(BEFORE "trap" AFTER __VA_ARGS__);                                                         \
    } else if (MODE == cudaBoundaryModeClamp) {                                                                        \
        __asm__ __volatile__(BEFORE "clamp" AFTER __VA_ARGS__);                                                        \
    } else {                                                                                                           \
        __asm__ __volatile__(BEFORE "zero" AFTER __VA_ARGS__);                                                         \
    }
#define RADDLE_ONE(SHAPE, GEOMETRY, AT, WORD, R, C, PTX, PARAMETERS, ...)                                              \
    RADDLE_FN void raddle_load_##SHAPE(WORD &texel, cudaSurfaceObject_t object, int mode, RADDLE_LIST PARAMETERS) {    \
        R v;                                                                                                           \
        RADDLE_MODES(mode, "suld.b." GEOMETRY "." PTX ".", " %[v], [%[o], " AT "];",                                   \
                     : [v] "=" C(v) : [o] "l"(object), __VA_ARGS__ : "memory")                                         \
        texel = (WORD)v;                                                                                               \
    }                                                                                                                  \
    RADDLE_FN void raddle_store_##SHAPE(WORD texel, cudaSurfaceObject_t object, int mode, RADDLE_LIST PARAMETERS) {    \
        R v = texel;                                                                                                   \
        RADDLE_MODES(mode, "sust.b." GEOMETRY "." PTX ".", " [%[o], " AT "], %[v];",                                   \
                     : : [v] C(v), [o] "l"(object), __VA_ARGS__ : "memory")                                            \
    }
#define RADDLE_FOUR(SHAPE, GEOMETRY, AT, PARAMETERS, ...)                                                              \
    RADDLE_FN void raddle_load_##SHAPE(uint4 &v, cudaSurfaceObject_t object, int mode, RADDLE_LIST PARAMETERS) {       \
        RADDLE_MODES(mode, "suld.b." GEOMETRY ".v4.b32.", " {%[a], %[b], %[c], %[d]}, [%[o], " AT "];",                \
                     : [a] "=r"(v.x), [b] "=r"(v.y), [c] "=r"(v.z), [d] "=r"(v.w)                                      \
                     : [o] "l"(object), __VA_ARGS__ : "memory")                                                        \
    }                                                                                                                  \
    RADDLE_FN void raddle_store_##SHAPE(uint4 v, cudaSurfaceObject_t object, int mode, RADDLE_LIST PARAMETERS) {       \
        RADDLE_MODES(mode, "sust.b." GEOMETRY ".v4.b32.", " [%[o], " AT "], {%[a], %[b], %[c], %[d]};",                \
                     : : [a] "r"(v.x), [b] "r"(v.y), [c] "r"(v.z), [d] "r"(v.w), [o] "l"(object), __VA_ARGS__          \
                     : "memory")                                                                                       \
    }
#define RADDLE_SHAPE(SHAPE, KIND, GEOMETRY, AT, PARAMETERS, ARGUMENTS, ...)                                            \
    RADDLE_ONE(SHAPE, GEOMETRY, AT, unsigned char, unsigned short, "h", "b8", PARAMETERS, __VA_ARGS__)                 \
    RADDLE_ONE(SHAPE, GEOMETRY, AT, unsigned short, unsigned short, "h", "b16", PARAMETERS, __VA_ARGS__)               \
    RADDLE_ONE(SHAPE, GEOMETRY, AT, unsigned int, unsigned int, "r", "b32", PARAMETERS, __VA_ARGS__)                   \
    RADDLE_ONE(SHAPE, GEOMETRY, AT, unsigned long long, unsigned long long, "l", "b64", PARAMETERS, __VA_ARGS__)       \
    RADDLE_FOUR(SHAPE, GEOMETRY, AT, PARAMETERS, __VA_ARGS__)                                                          \
    template <class T>                                                                                                 \
    RADDLE_FN T surf##SHAPE##read(cudaSurfaceObject_t object, RADDLE_LIST PARAMETERS,                                  \
                                  enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                          \
        typename raddle_word<sizeof(T)>::type word;                                                                    \
        raddle_load_##SHAPE(word, object, mode, RADDLE_LIST ARGUMENTS);                                                \
        return __builtin_bit_cast(T, word);                                                                            \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    RADDLE_FN void surf##SHAPE##read(T *texel, cudaSurfaceObject_t object, RADDLE_LIST PARAMETERS,                     \
                                     enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                       \
        *texel = surf##SHAPE##read<T>(object, RADDLE_LIST ARGUMENTS, mode);                                            \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    RADDLE_FN void surf##SHAPE##write(T texel, cudaSurfaceObject_t object, RADDLE_LIST PARAMETERS,                     \
                                      enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                      \
        typedef typename raddle_word<sizeof(T)>::type word;                                                            \
        raddle_store_##SHAPE(__builtin_bit_cast(word, texel), object, mode, RADDLE_LIST ARGUMENTS);                    \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    RADDLE_FN T surf##SHAPE##read(surface<void, cudaSurfaceType##KIND> reference, RADDLE_LIST PARAMETERS,              \
                                  enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                          \
        return surf##SHAPE##read<T>(raddle_surface(reference), RADDLE_LIST ARGUMENTS, mode);                           \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    RADDLE_FN void surf##SHAPE##read(T *texel, surface<void, cudaSurfaceType##KIND> reference, RADDLE_LIST PARAMETERS, \
                                     enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                       \
        *texel = surf##SHAPE##read<T>(raddle_surface(reference), RADDLE_LIST ARGUMENTS, mode);                         \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    RADDLE_FN void surf##SHAPE##write(T texel, surface<void, cudaSurfaceType##KIND> reference, RADDLE_LIST PARAMETERS, \
                                      enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                      \
        surf##SHAPE##write(texel, raddle_surface(reference), RADDLE_LIST ARGUMENTS, mode);                             \
    }

template <int dim> RADDLE_FN cudaSurfaceObject_t raddle_surface(surface<void, dim> reference) {
    cudaSurfaceObject_t object;
    __asm__("mov.b64 %0, %1;" : "=l"(object) : "l"(reference));
    return object;
}

RADDLE_SHAPE(1D, 1D, "1d", "{%[x]}", (int x), (x), [x] "r"(x))
RADDLE_SHAPE(2D, 2D, "2d", "{%[x], %[y]}", (int x, int y), (x, y), [x] "r"(x), [y] "r"(y))
RADDLE_SHAPE(3D, 3D, "3d", "{%[x], %[y], %[z], %[z]}", (int x, int y, int z), (x, y, z), [x] "r"(x), [y] "r"(y),
             [z] "r"(z))
RADDLE_SHAPE(1DLayered, 1DLayered, "a1d", "{%[l], %[x]}", (int x, int layer), (x, layer), [x] "r"(x), [l] "r"(layer))
RADDLE_SHAPE(2DLayered, 2DLayered, "a2d", "{%[l], %[x], %[y], %[y]}", (int x, int y, int layer), (x, y, layer),
             [x] "r"(x), [y] "r"(y), [l] "r"(layer))
RADDLE_SHAPE(Cubemap, Cubemap, "a2d", "{%[l], %[x], %[y], %[y]}", (int x, int y, int face), (x, y, face), [x] "r"(x),
             [y] "r"(y), [l] "r"(face))
RADDLE_SHAPE(CubemapLayered, CubemapLayered, "a2d", "{%[l], %[x], %[y], %[y]}", (int x, int y, int layerFace),
             (x, y, layerFace), [x] "r"(x), [y] "r"(y), [l] "r"(layerFace))
#undef RADDLE_SHAPE
#undef RADDLE_FOUR
#undef RADDLE_ONE
#undef RADDLE_MODES
#undef RADDLE_LIST
#undef RADDLE_FN

#endif

#endif
