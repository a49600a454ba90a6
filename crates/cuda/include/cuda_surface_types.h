/* Surface references: surface<void, dimensions> at file scope. */
#ifndef __CUDA_SURFACE_TYPES_H__
#define __CUDA_SURFACE_TYPES_H__

#if defined(__cplusplus) && defined(__CUDA__)

#include "channel_descriptor.h"
#include "surface_types.h"

template <class T, int dim = 1> struct __device_builtin_surface_type__ surface : public surfaceReference {
    __host__ surface(void) { channelDesc = cudaCreateChannelDesc<T>(); }
    __host__ surface(struct cudaChannelFormatDesc desc) { channelDesc = desc; }
};

template <int dim> struct __device_builtin_surface_type__ surface<void, dim> : public surfaceReference {
    __host__ surface(void) { channelDesc = cudaCreateChannelDesc<void>(); }
};

#endif

#endif
