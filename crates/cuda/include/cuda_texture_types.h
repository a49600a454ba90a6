/* Texture references: texture<T, dimensions, read mode> at file scope.
 *
 * On the host a reference is a record of settings; on the device clang makes a handle of it. */
#ifndef __CUDA_TEXTURE_TYPES_H__
#define __CUDA_TEXTURE_TYPES_H__

#if defined(__cplusplus) && defined(__CUDA__)

#include "channel_descriptor.h"
#include "texture_types.h"

template <class T, int texType = cudaTextureType1D, enum cudaTextureReadMode mode = cudaReadModeElementType>
struct __device_builtin_texture_type__ texture : public textureReference {
    __host__ texture(int norm = 0, enum cudaTextureFilterMode fMode = cudaFilterModePoint,
                     enum cudaTextureAddressMode aMode = cudaAddressModeClamp) {
        set(norm, fMode, aMode, cudaCreateChannelDesc<T>());
    }
    __host__ texture(int norm, enum cudaTextureFilterMode fMode, enum cudaTextureAddressMode aMode,
                     struct cudaChannelFormatDesc desc) {
        set(norm, fMode, aMode, desc);
    }

  private:
    __host__ void set(int norm, enum cudaTextureFilterMode fMode, enum cudaTextureAddressMode aMode,
                      struct cudaChannelFormatDesc desc) {
        normalized = norm;
        filterMode = fMode;
        addressMode[0] = addressMode[1] = addressMode[2] = aMode;
        channelDesc = desc;
        sRGB = 0;
        maxAnisotropy = 0;
        mipmapFilterMode = cudaFilterModePoint;
        mipmapLevelBias = minMipmapLevelClamp = maxMipmapLevelClamp = 0.0f;
        disableTrilinearOptimization = 0;
        for (int i = 0; i < 14; i++) __cudaReserved[i] = 0;
    }
};

#endif

#endif
