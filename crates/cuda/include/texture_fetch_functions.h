/* Reads through texture references: tex1Dfetch(reference, i).
 *
 * A reference is a handle on the device, so these are the reads through objects with the type of the texels known. With
 * cudaReadModeNormalizedFloat a texel of integers is read as floats. */
#ifndef __TEXTURE_FETCH_FUNCTIONS_H__
#define __TEXTURE_FETCH_FUNCTIONS_H__

#if defined(__cplusplus) && defined(__CUDA__)

#include "cuda_texture_types.h"

template <class T, int mode> struct raddle_texel {
    typedef T type;
};
#define RADDLE_NORMALIZED(T, FLOAT)                                                                                    \
    template <> struct raddle_texel<T, cudaReadModeNormalizedFloat> {                                                  \
        typedef FLOAT type;                                                                                            \
    };
#define RADDLE_NORMALIZED_VECTOR(NAME, T)                                                                              \
    RADDLE_NORMALIZED(T, float)                                                                                        \
    RADDLE_NORMALIZED(NAME##1, float1)                                                                                 \
    RADDLE_NORMALIZED(NAME##2, float2)                                                                                 \
    RADDLE_NORMALIZED(NAME##4, float4)
RADDLE_NORMALIZED(char, float)
RADDLE_NORMALIZED_VECTOR(char, signed char)
RADDLE_NORMALIZED_VECTOR(uchar, unsigned char)
RADDLE_NORMALIZED_VECTOR(short, short)
RADDLE_NORMALIZED_VECTOR(ushort, unsigned short)
#undef RADDLE_NORMALIZED_VECTOR
#undef RADDLE_NORMALIZED

#define RADDLE_FN static __inline__ __attribute__((device, always_inline, nodebug))
#define RADDLE_LIST(...) __VA_ARGS__
#define RADDLE_TEX(NAME, KIND, OP, PARAMETERS, ...)                                                                    \
    template <class T, enum cudaTextureReadMode mode>                                                                  \
    RADDLE_FN typename raddle_texel<T, mode>::type NAME(texture<T, cudaTextureType##KIND, mode> reference,             \
                                                        RADDLE_LIST PARAMETERS) {                                      \
        typename raddle_texel<T, mode>::type texel;                                                                    \
        cudaTextureObject_t object;                                                                                    \
        __asm__("mov.b64 %0, %1;" : "=l"(object) : "l"(reference));                                                    \
        __nv_tex_surf_handler(OP, &texel, object, __VA_ARGS__);                                                        \
        return texel;                                                                                                  \
    }
RADDLE_TEX(tex1Dfetch, 1D, "__tex1Dfetch_v2", (int x), x)
RADDLE_TEX(tex1D, 1D, "__tex1D_v2", (float x), x)
RADDLE_TEX(tex2D, 2D, "__tex2D_v2", (float x, float y), x, y)
RADDLE_TEX(tex3D, 3D, "__tex3D_v2", (float x, float y, float z), x, y, z)
RADDLE_TEX(tex1DLayered, 1DLayered, "__tex1DLayered_v2", (float x, int layer), x, layer)
RADDLE_TEX(tex2DLayered, 2DLayered, "__tex2DLayered_v2", (float x, float y, int layer), x, y, layer)
RADDLE_TEX(texCubemap, Cubemap, "__texCubemap_v2", (float x, float y, float z), x, y, z)
RADDLE_TEX(texCubemapLayered, CubemapLayered, "__texCubemapLayered_v2", (float x, float y, float z, int layer), x, y,
           z, layer)
RADDLE_TEX(tex2Dgather, 2D, "__tex2Dgather_v2", (float x, float y, int component = 0), x, y, component)
RADDLE_TEX(tex1DLod, 1D, "__tex1DLod_v2", (float x, float level), x, level)
RADDLE_TEX(tex2DLod, 2D, "__tex2DLod_v2", (float x, float y, float level), x, y, level)
RADDLE_TEX(tex3DLod, 3D, "__tex3DLod_v2", (float x, float y, float z, float level), x, y, z, level)
RADDLE_TEX(tex2DGrad, 2D, "__tex2DGrad_v2", (float x, float y, float2 dx, float2 dy), x, y, &dx, &dy)
#undef RADDLE_TEX
#undef RADDLE_LIST
#undef RADDLE_FN

#endif

#endif
