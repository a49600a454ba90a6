/* Reads through texture objects: tex2D<float4>(object, x, y), and the older form that stores through a pointer.
 *
 * clang's __clang_cuda_texture_intrinsics.h turns an operation's name into its instruction. It needs C++11. */
#ifndef __TEXTURE_INDIRECT_FUNCTIONS_H__
#define __TEXTURE_INDIRECT_FUNCTIONS_H__

#if defined(__cplusplus) && defined(__CUDA__)

#include "texture_types.h"

#define RADDLE_FN static __inline__ __attribute__((device, always_inline, nodebug))
#define RADDLE_LIST(...) __VA_ARGS__
#define RADDLE_TEX(NAME, OP, PARAMETERS, ...)                                                                          \
    template <class T> RADDLE_FN T NAME(cudaTextureObject_t object, RADDLE_LIST PARAMETERS) {                          \
        T texel;                                                                                                       \
        __nv_tex_surf_handler(OP, &texel, object, __VA_ARGS__);                                                        \
        return texel;                                                                                                  \
    }                                                                                                                  \
    template <class T> RADDLE_FN void NAME(T *texel, cudaTextureObject_t object, RADDLE_LIST PARAMETERS) {             \
        __nv_tex_surf_handler(OP, texel, object, __VA_ARGS__);                                                         \
    }
RADDLE_TEX(tex1Dfetch, "__itex1Dfetch", (int x), x)
RADDLE_TEX(tex1D, "__itex1D", (float x), x)
RADDLE_TEX(tex2D, "__itex2D", (float x, float y), x, y)
RADDLE_TEX(tex3D, "__itex3D", (float x, float y, float z), x, y, z)
RADDLE_TEX(tex1DLayered, "__itex1DLayered", (float x, int layer), x, layer)
RADDLE_TEX(tex2DLayered, "__itex2DLayered", (float x, float y, int layer), x, y, layer)
RADDLE_TEX(texCubemap, "__itexCubemap", (float x, float y, float z), x, y, z)
RADDLE_TEX(texCubemapLayered, "__itexCubemapLayered", (float x, float y, float z, int layer), x, y, z, layer)
RADDLE_TEX(tex2Dgather, "__itex2Dgather", (float x, float y, int component = 0), x, y, component)
RADDLE_TEX(tex1DLod, "__itex1DLod", (float x, float level), x, level)
RADDLE_TEX(tex2DLod, "__itex2DLod", (float x, float y, float level), x, y, level)
RADDLE_TEX(tex3DLod, "__itex3DLod", (float x, float y, float z, float level), x, y, z, level)
RADDLE_TEX(tex1DLayeredLod, "__itex1DLayeredLod", (float x, int layer, float level), x, layer, level)
RADDLE_TEX(tex2DLayeredLod, "__itex2DLayeredLod", (float x, float y, int layer, float level), x, y, layer, level)
RADDLE_TEX(texCubemapLod, "__itexCubemapLod", (float x, float y, float z, float level), x, y, z, level)
RADDLE_TEX(texCubemapLayeredLod, "__itexCubemapLayeredLod", (float x, float y, float z, int layer, float level), x, y,
           z, layer, level)
RADDLE_TEX(tex1DGrad, "__itex1DGrad", (float x, float dx, float dy), x, dx, dy)
RADDLE_TEX(tex2DGrad, "__itex2DGrad_v2", (float x, float y, float2 dx, float2 dy), x, y, &dx, &dy)
RADDLE_TEX(tex3DGrad, "__itex3DGrad_v2", (float x, float y, float z, float4 dx, float4 dy), x, y, z, &dx, &dy)
RADDLE_TEX(tex1DLayeredGrad, "__itex1DLayeredGrad", (float x, int layer, float dx, float dy), x, layer, dx, dy)
RADDLE_TEX(tex2DLayeredGrad, "__itex2DLayeredGrad_v2", (float x, float y, int layer, float2 dx, float2 dy), x, y, layer,
           &dx, &dy)
#undef RADDLE_TEX
#undef RADDLE_LIST
#undef RADDLE_FN

#include "surface_indirect_functions.h"

/* clang reads its own intrinsics next, and writes the shuffles of before CUDA 9 with builtins that devices from 7.0
 * on do not have. They have those with a mask, and the lanes that are together now are what the old shuffles meant.
 * The names are free again after curand_mtgp32_kernel.h. */
#if __CUDA_ARCH__ >= 700
#define __nvvm_shfl_idx_i32(...) __nvvm_shfl_sync_idx_i32(__nvvm_activemask(), __VA_ARGS__)
#define __nvvm_shfl_idx_f32(...) __nvvm_shfl_sync_idx_f32(__nvvm_activemask(), __VA_ARGS__)
#define __nvvm_shfl_up_i32(...) __nvvm_shfl_sync_up_i32(__nvvm_activemask(), __VA_ARGS__)
#define __nvvm_shfl_up_f32(...) __nvvm_shfl_sync_up_f32(__nvvm_activemask(), __VA_ARGS__)
#define __nvvm_shfl_down_i32(...) __nvvm_shfl_sync_down_i32(__nvvm_activemask(), __VA_ARGS__)
#define __nvvm_shfl_down_f32(...) __nvvm_shfl_sync_down_f32(__nvvm_activemask(), __VA_ARGS__)
#define __nvvm_shfl_bfly_i32(...) __nvvm_shfl_sync_bfly_i32(__nvvm_activemask(), __VA_ARGS__)
#define __nvvm_shfl_bfly_f32(...) __nvvm_shfl_sync_bfly_f32(__nvvm_activemask(), __VA_ARGS__)
#endif

#endif

#endif
