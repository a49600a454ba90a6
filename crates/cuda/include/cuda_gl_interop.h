/* Sharing memory with OpenGL, without anybody to share it with: programs that include this compile and run. Each call says that
 * it is not supported and returns cudaErrorNotSupported. */
#ifndef __CUDA_GL_INTEROP_H__
#define __CUDA_GL_INTEROP_H__

#include "cuda_runtime_api.h"

enum cudaGraphicsRegisterFlags {
    cudaGraphicsRegisterFlagsNone = 0,
    cudaGraphicsRegisterFlagsReadOnly = 1,
    cudaGraphicsRegisterFlagsWriteDiscard = 2,
    cudaGraphicsRegisterFlagsSurfaceLoadStore = 4,
    cudaGraphicsRegisterFlagsTextureGather = 8
};
enum cudaGraphicsMapFlags {
    cudaGraphicsMapFlagsNone = 0,
    cudaGraphicsMapFlagsReadOnly = 1,
    cudaGraphicsMapFlagsWriteDiscard = 2
};

#if defined(__cplusplus)
extern "C" {
#endif

extern __host__ cudaError_t CUDARTAPI cudaGLSetGLDevice(int device);
extern __host__ cudaError_t CUDARTAPI cudaGLRegisterBufferObject(unsigned int buffer);
extern __host__ cudaError_t CUDARTAPI cudaGLUnregisterBufferObject(unsigned int buffer);
extern __host__ cudaError_t CUDARTAPI cudaGLMapBufferObject(void **pointer, unsigned int buffer);
extern __host__ cudaError_t CUDARTAPI cudaGLUnmapBufferObject(unsigned int buffer);
extern __host__ cudaError_t CUDARTAPI cudaGraphicsGLRegisterBuffer(struct cudaGraphicsResource **resource,
                                                                   unsigned int buffer, unsigned int flags);
extern __host__ cudaError_t CUDARTAPI cudaGraphicsGLRegisterImage(struct cudaGraphicsResource **resource,
                                                                  unsigned int image, unsigned int target,
                                                                  unsigned int flags);
extern __host__ cudaError_t CUDARTAPI cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource);
extern __host__ cudaError_t CUDARTAPI cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t resource,
                                                                      unsigned int flags);
extern __host__ cudaError_t CUDARTAPI cudaGraphicsMapResources(int count, cudaGraphicsResource_t *resources,
                                                               cudaStream_t stream __dv(0));
extern __host__ cudaError_t CUDARTAPI cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t *resources,
                                                                 cudaStream_t stream __dv(0));
extern __host__ cudaError_t CUDARTAPI cudaGraphicsResourceGetMappedPointer(void **pointer, size_t *bytes,
                                                                           cudaGraphicsResource_t resource);
extern __host__ cudaError_t CUDARTAPI cudaGraphicsSubResourceGetMappedArray(cudaArray_t *array,
                                                                            cudaGraphicsResource_t resource,
                                                                            unsigned int index, unsigned int level);

#if defined(__cplusplus)
}
#endif

#endif
