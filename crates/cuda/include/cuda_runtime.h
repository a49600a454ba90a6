/* The runtime API as C++ programs use it: typed pointers, symbols by name, kernels by name, texture references.
 *
 * Every function here calls the function of cuda_runtime_api.h of the same name. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

/* CUDA programs count on these being there. */
#if defined(__CUDA__)
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#endif

#include "crt/host_config.h"
#include "builtin_types.h"
#include "common_functions.h"
#include "library_types.h"
#include "cuda_runtime_api.h"
#include "channel_descriptor.h"
#include "driver_functions.h"
#include "vector_functions.h"
#include "device_launch_parameters.h"
#include "cuda_texture_types.h"
#include "cuda_surface_types.h"

#if defined(__cplusplus)

#define RADDLE_API static __inline__ __host__ cudaError_t

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

template <class T> RADDLE_API cudaMalloc(T **devPtr, size_t size) {
    return ::cudaMalloc((void **)(void *)devPtr, size);
}
template <class T> RADDLE_API cudaMallocHost(T **ptr, size_t size, unsigned int flags = 0) {
    return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}
RADDLE_API cudaMallocHost(void **ptr, size_t size, unsigned int flags) { return ::cudaHostAlloc(ptr, size, flags); }
template <class T> RADDLE_API cudaHostAlloc(T **ptr, size_t size, unsigned int flags) {
    return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}
template <class T> RADDLE_API cudaHostGetDevicePointer(T **pDevice, void *pHost, unsigned int flags) {
    return ::cudaHostGetDevicePointer((void **)(void *)pDevice, pHost, flags);
}
template <class T> RADDLE_API cudaMallocManaged(T **devPtr, size_t size, unsigned int flags = cudaMemAttachGlobal) {
    return ::cudaMallocManaged((void **)(void *)devPtr, size, flags);
}
template <class T> RADDLE_API cudaMallocPitch(T **devPtr, size_t *pitch, size_t width, size_t height) {
    return ::cudaMallocPitch((void **)(void *)devPtr, pitch, width, height);
}
template <class T> RADDLE_API cudaMallocAsync(T **ptr, size_t size, cudaStream_t stream) {
    return ::cudaMallocAsync((void **)(void *)ptr, size, stream);
}
template <class T> RADDLE_API cudaMallocAsync(T **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
    return ::cudaMallocFromPoolAsync((void **)(void *)ptr, size, memPool, stream);
}
RADDLE_API cudaMallocAsync(void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
    return ::cudaMallocFromPoolAsync(ptr, size, memPool, stream);
}
template <class T>
RADDLE_API cudaMallocFromPoolAsync(T **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
    return ::cudaMallocFromPoolAsync((void **)(void *)ptr, size, memPool, stream);
}
template <class T>
RADDLE_API cudaStreamAttachMemAsync(cudaStream_t stream, T *devPtr, size_t length = 0,
                                    unsigned int flags = cudaMemAttachSingle) {
    return ::cudaStreamAttachMemAsync(stream, (void *)devPtr, length, flags);
}

/* The forms of CUDA 13. */
RADDLE_API cudaMemPrefetchAsync(const void *devPtr, size_t count, struct cudaMemLocation location, unsigned int flags,
                                cudaStream_t stream = 0) {
    return ::cudaMemPrefetchAsync_v2(devPtr, count, location, flags, stream);
}
RADDLE_API cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                         struct cudaMemLocation location) {
    return ::cudaMemAdvise_v2(devPtr, count, advice, location);
}

/* ---- Symbols: the runtime knows a variable by the address of its host copy -------------------------------------- */

template <class T>
RADDLE_API cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count, size_t offset = 0,
                              enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return ::cudaMemcpyToSymbol((const void *)&symbol, src, count, offset, kind);
}
template <class T>
RADDLE_API cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t count, size_t offset = 0,
                                   enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) {
    return ::cudaMemcpyToSymbolAsync((const void *)&symbol, src, count, offset, kind, stream);
}
template <class T>
RADDLE_API cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return ::cudaMemcpyFromSymbol(dst, (const void *)&symbol, count, offset, kind);
}
template <class T>
RADDLE_API cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                     enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0) {
    return ::cudaMemcpyFromSymbolAsync(dst, (const void *)&symbol, count, offset, kind, stream);
}
template <class T> RADDLE_API cudaGetSymbolAddress(void **devPtr, const T &symbol) {
    return ::cudaGetSymbolAddress(devPtr, (const void *)&symbol);
}
template <class T, class S> RADDLE_API cudaGetSymbolAddress(T **devPtr, const S &symbol) {
    return ::cudaGetSymbolAddress((void **)(void *)devPtr, (const void *)&symbol);
}
template <class T> RADDLE_API cudaGetSymbolSize(size_t *size, const T &symbol) {
    return ::cudaGetSymbolSize(size, (const void *)&symbol);
}
template <class T>
RADDLE_API cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                          const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                          const T &symbol, const void *src, size_t count, size_t offset,
                                          enum cudaMemcpyKind kind) {
    return ::cudaGraphAddMemcpyNodeToSymbol(pGraphNode, graph, pDependencies, numDependencies, (const void *)&symbol,
                                            src, count, offset, kind);
}
template <class T>
RADDLE_API cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                            const cudaGraphNode_t *pDependencies, size_t numDependencies, void *dst,
                                            const T &symbol, size_t count, size_t offset, enum cudaMemcpyKind kind) {
    return ::cudaGraphAddMemcpyNodeFromSymbol(pGraphNode, graph, pDependencies, numDependencies, dst,
                                              (const void *)&symbol, count, offset, kind);
}

/* ---- Events and graphs ------------------------------------------------------------------------------------------ */

RADDLE_API cudaEventCreate(cudaEvent_t *event, unsigned int flags) { return ::cudaEventCreateWithFlags(event, flags); }

/* The form of CUDA 11. */
RADDLE_API cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, cudaGraphNode_t *pErrorNode,
                                char *pLogBuffer, size_t bufferSize) {
    if (pErrorNode) *pErrorNode = 0;
    if (pLogBuffer && bufferSize) *pLogBuffer = 0;
    return ::cudaGraphInstantiate(pGraphExec, graph, 0);
}
RADDLE_API cudaGraphExecUpdate(cudaGraphExec_t graphExec, cudaGraph_t graph, cudaGraphNode_t *errorNode,
                               enum cudaGraphExecUpdateResult *updateResult) {
    cudaGraphExecUpdateResultInfo info;
    cudaError_t status = ::cudaGraphExecUpdate(graphExec, graph, &info);
    if (errorNode) *errorNode = info.errorNode;
    if (updateResult) *updateResult = info.result;
    return status;
}

/* ---- Kernels ---------------------------------------------------------------------------------------------------- */

template <class T>
RADDLE_API cudaLaunchKernel(T *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem = 0,
                            cudaStream_t stream = 0) {
    return ::cudaLaunchKernel((const void *)func, gridDim, blockDim, args, sharedMem, stream);
}
template <class T>
RADDLE_API cudaLaunchCooperativeKernel(T *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem = 0,
                                       cudaStream_t stream = 0) {
    return ::cudaLaunchCooperativeKernel((const void *)func, gridDim, blockDim, args, sharedMem, stream);
}
template <class T> RADDLE_API cudaFuncGetAttributes(struct cudaFuncAttributes *attr, T *entry) {
    return ::cudaFuncGetAttributes(attr, (const void *)entry);
}
template <class T> RADDLE_API cudaFuncSetAttribute(T *func, enum cudaFuncAttribute attr, int value) {
    return ::cudaFuncSetAttribute((const void *)func, attr, value);
}
template <class T> RADDLE_API cudaFuncSetCacheConfig(T *func, enum cudaFuncCache cacheConfig) {
    return ::cudaFuncSetCacheConfig((const void *)func, cacheConfig);
}
template <class T> RADDLE_API cudaFuncSetSharedMemConfig(T *func, enum cudaSharedMemConfig config) {
    return ::cudaFuncSetSharedMemConfig((const void *)func, config);
}
template <class T> RADDLE_API cudaFuncGetName(const char **name, T *func) {
    return ::cudaFuncGetName(name, (const void *)func);
}
template <class T> RADDLE_API cudaGetFuncBySymbol(cudaFunction_t *functionPtr, T *symbol) {
    return ::cudaGetFuncBySymbol(functionPtr, (const void *)symbol);
}
template <class T> RADDLE_API cudaGetKernel(cudaKernel_t *kernelPtr, T *func) {
    return ::cudaGetKernel(kernelPtr, (const void *)func);
}

#if __cplusplus >= 201103L
/* Arguments are converted to the types of the parameters, as a launch with <<<>>> does. */
template <class... Params, class... Args>
RADDLE_API cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Params...), Args &&...args) {
    return [&](Params... params) {
        void *list[sizeof...(Params) ? sizeof...(Params) : 1] = {(void *)&params...};
        return ::cudaLaunchKernelExC(config, (const void *)kernel, list);
    }(static_cast<Args &&>(args)...);
}
#endif

/* ---- Occupancy -------------------------------------------------------------------------------------------------- */

template <class T>
RADDLE_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, T func, int blockSize,
                                                         size_t dynamicSMemSize) {
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, (const void *)func, blockSize, dynamicSMemSize);
}
template <class T>
RADDLE_API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, T func, int blockSize,
                                                                  size_t dynamicSMemSize, unsigned int flags) {
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, (const void *)func, blockSize,
                                                                    dynamicSMemSize, flags);
}
template <class T>
RADDLE_API cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, T *func, int numBlocks, int blockSize) {
    return ::cudaOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, (const void *)func, numBlocks, blockSize);
}
template <class T>
RADDLE_API cudaOccupancyMaxActiveClusters(int *numClusters, T *func, const cudaLaunchConfig_t *launchConfig) {
    return ::cudaOccupancyMaxActiveClusters(numClusters, (const void *)func, launchConfig);
}

/* The block size with the most resident threads, the largest of those that have as many; a minimal grid fills all
 * multiprocessors with it. Sizes are tried in steps of a warp, from the largest down. */
template <class SharedMem, class T>
RADDLE_API cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *minGridSize, int *blockSize, T func,
                                                                   SharedMem blockSizeToDynamicSMemSize,
                                                                   int blockSizeLimit = 0, unsigned int flags = 0) {
    int device, processors, threads, warp;
    struct cudaFuncAttributes attr;
    cudaError_t status;
    if (!minGridSize || !blockSize || !func) return cudaErrorInvalidValue;
    if ((status = ::cudaGetDevice(&device)) != cudaSuccess) return status;
    if ((status = ::cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device)) != cudaSuccess ||
        (status = ::cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, device)) != cudaSuccess ||
        (status = ::cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device)) != cudaSuccess ||
        (status = ::cudaFuncGetAttributes(&attr, (const void *)func)) != cudaSuccess)
        return status;
    int limit = attr.maxThreadsPerBlock < threads ? attr.maxThreadsPerBlock : threads;
    if (blockSizeLimit > 0 && blockSizeLimit < limit) limit = blockSizeLimit;
    int best = 0, bestBlocks = 0, bestSize = 0;
    for (int size = limit; size > 0; size = (size - 1) / warp * warp) {
        int blocks;
        status = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void *)func, size,
                                                                          blockSizeToDynamicSMemSize(size), flags);
        if (status != cudaSuccess) return status;
        if (blocks * size > best) {
            best = blocks * size;
            bestBlocks = blocks;
            bestSize = size;
        }
    }
    *minGridSize = bestBlocks * processors;
    *blockSize = bestSize;
    return cudaSuccess;
}
template <class SharedMem, class T>
RADDLE_API cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *minGridSize, int *blockSize, T func,
                                                          SharedMem blockSizeToDynamicSMemSize,
                                                          int blockSizeLimit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func,
                                                                   blockSizeToDynamicSMemSize, blockSizeLimit, 0);
}
struct raddle_same_shared_memory {
    size_t bytes;
    __host__ size_t operator()(int) const { return bytes; }
};
template <class T>
RADDLE_API cudaOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, T func,
                                                       size_t dynamicSMemSize = 0, int blockSizeLimit = 0,
                                                       unsigned int flags = 0) {
    raddle_same_shared_memory same = {dynamicSMemSize};
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func, same, blockSizeLimit,
                                                                   flags);
}
template <class T>
RADDLE_API cudaOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, T func, size_t dynamicSMemSize = 0,
                                              int blockSizeLimit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, dynamicSMemSize, blockSizeLimit,
                                                       0);
}

/* ---- Texture and surface references ----------------------------------------------------------------------------- */

#if defined(__CUDA__)
#define RADDLE_TEXTURE template <class T, int dim, enum cudaTextureReadMode mode>
#define RADDLE_TEXREF const struct texture<T, dim, mode> &tex
RADDLE_TEXTURE RADDLE_API cudaBindTexture(size_t *offset, RADDLE_TEXREF, const void *devPtr,
                                          const struct cudaChannelFormatDesc &desc, size_t size = UINT_MAX) {
    return ::cudaBindTexture(offset, &tex, devPtr, &desc, size);
}
RADDLE_TEXTURE RADDLE_API cudaBindTexture(size_t *offset, RADDLE_TEXREF, const void *devPtr, size_t size = UINT_MAX) {
    return ::cudaBindTexture(offset, &tex, devPtr, &tex.channelDesc, size);
}
RADDLE_TEXTURE RADDLE_API cudaBindTexture2D(size_t *offset, RADDLE_TEXREF, const void *devPtr,
                                            const struct cudaChannelFormatDesc &desc, size_t width, size_t height,
                                            size_t pitch) {
    return ::cudaBindTexture2D(offset, &tex, devPtr, &desc, width, height, pitch);
}
RADDLE_TEXTURE RADDLE_API cudaBindTexture2D(size_t *offset, RADDLE_TEXREF, const void *devPtr, size_t width,
                                            size_t height, size_t pitch) {
    return ::cudaBindTexture2D(offset, &tex, devPtr, &tex.channelDesc, width, height, pitch);
}
RADDLE_TEXTURE RADDLE_API cudaBindTextureToArray(RADDLE_TEXREF, cudaArray_const_t array,
                                                 const struct cudaChannelFormatDesc &desc) {
    return ::cudaBindTextureToArray(&tex, array, &desc);
}
RADDLE_TEXTURE RADDLE_API cudaBindTextureToArray(RADDLE_TEXREF, cudaArray_const_t array) {
    struct cudaChannelFormatDesc desc;
    cudaError_t status = ::cudaGetChannelDesc(&desc, array);
    return status == cudaSuccess ? ::cudaBindTextureToArray(&tex, array, &desc) : status;
}
RADDLE_TEXTURE RADDLE_API cudaBindTextureToMipmappedArray(RADDLE_TEXREF, cudaMipmappedArray_const_t mipmappedArray,
                                                          const struct cudaChannelFormatDesc &desc) {
    return ::cudaBindTextureToMipmappedArray(&tex, mipmappedArray, &desc);
}
RADDLE_TEXTURE RADDLE_API cudaUnbindTexture(RADDLE_TEXREF) { return ::cudaUnbindTexture(&tex); }
RADDLE_TEXTURE RADDLE_API cudaGetTextureAlignmentOffset(size_t *offset, RADDLE_TEXREF) {
    return ::cudaGetTextureAlignmentOffset(offset, &tex);
}
#undef RADDLE_TEXREF
#undef RADDLE_TEXTURE
template <class T, int dim>
RADDLE_API cudaBindSurfaceToArray(const struct surface<T, dim> &surf, cudaArray_const_t array,
                                  const struct cudaChannelFormatDesc &desc) {
    return ::cudaBindSurfaceToArray(&surf, array, &desc);
}
template <class T, int dim>
RADDLE_API cudaBindSurfaceToArray(const struct surface<T, dim> &surf, cudaArray_const_t array) {
    struct cudaChannelFormatDesc desc;
    cudaError_t status = ::cudaGetChannelDesc(&desc, array);
    return status == cudaSuccess ? ::cudaBindSurfaceToArray(&surf, array, &desc) : status;
}
#endif

#undef RADDLE_API

#endif

#endif
