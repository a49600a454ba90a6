/* The runtime API as C functions. cuda_runtime.h adds the forms with templates.
 *
 * Graphics interoperation and external memory are left out: there is nobody to share memory with. */
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#define CUDART_VERSION 12030
#ifndef __CUDART_API_VERSION
#define __CUDART_API_VERSION CUDART_VERSION
#endif

#include "crt/host_defines.h"
#include "builtin_types.h"
#include "cuda_device_runtime_api.h"

/* Default arguments and references exist in C++ only. */
#if defined(__cplusplus)
#define __dv(v) = v
extern "C" {
#else
#define __dv(v)
#endif
#define RADDLE_API extern __host__ cudaError_t CUDARTAPI

/* ---- Errors and versions ---------------------------------------------------------------------------------------- */

RADDLE_API cudaGetLastError(void);
RADDLE_API cudaPeekAtLastError(void);
extern __host__ const char *CUDARTAPI cudaGetErrorName(cudaError_t error);
extern __host__ const char *CUDARTAPI cudaGetErrorString(cudaError_t error);
RADDLE_API cudaDriverGetVersion(int *driverVersion);
RADDLE_API cudaRuntimeGetVersion(int *runtimeVersion);

/* ---- Devices ---------------------------------------------------------------------------------------------------- */

#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
RADDLE_API cudaGetDeviceCount(int *count);
RADDLE_API cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);
RADDLE_API cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device);
RADDLE_API cudaChooseDevice(int *device, const struct cudaDeviceProp *prop);
RADDLE_API cudaSetDevice(int device);
RADDLE_API cudaGetDevice(int *device);
RADDLE_API cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags);
RADDLE_API cudaSetValidDevices(int *device_arr, int len);
RADDLE_API cudaSetDeviceFlags(unsigned int flags);
RADDLE_API cudaGetDeviceFlags(unsigned int *flags);
RADDLE_API cudaDeviceReset(void);
RADDLE_API cudaDeviceSynchronize(void);
RADDLE_API cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
RADDLE_API cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
RADDLE_API cudaDeviceGetCacheConfig(enum cudaFuncCache *cacheConfig);
RADDLE_API cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig);
RADDLE_API cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config);
RADDLE_API cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
RADDLE_API cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority);
RADDLE_API cudaDeviceGetByPCIBusId(int *device, const char *pciBusId);
RADDLE_API cudaDeviceGetPCIBusId(char *pciBusId, int len, int device);
RADDLE_API cudaDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements, const struct cudaChannelFormatDesc *desc,
                                                int device);
RADDLE_API cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device);
RADDLE_API cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device);
RADDLE_API cudaDeviceSetMemPool(int device, cudaMemPool_t memPool);
RADDLE_API cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void *value);
RADDLE_API cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void *value);
RADDLE_API cudaDeviceGraphMemTrim(int device);
RADDLE_API cudaCtxResetPersistingL2Cache(void);
/* The names before CUDA 4. */
RADDLE_API cudaThreadExit(void);
RADDLE_API cudaThreadSynchronize(void);
RADDLE_API cudaThreadSetLimit(enum cudaLimit limit, size_t value);
RADDLE_API cudaThreadGetLimit(size_t *value, enum cudaLimit limit);
RADDLE_API cudaThreadGetCacheConfig(enum cudaFuncCache *cacheConfig);
RADDLE_API cudaThreadSetCacheConfig(enum cudaFuncCache cacheConfig);

/* ---- Peers ------------------------------------------------------------------------------------------------------ */

RADDLE_API cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice);
RADDLE_API cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags);
RADDLE_API cudaDeviceDisablePeerAccess(int peerDevice);
RADDLE_API cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice, int dstDevice);
RADDLE_API cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count);
RADDLE_API cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice, size_t count,
                               cudaStream_t stream __dv(0));
RADDLE_API cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p);
RADDLE_API cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream __dv(0));
RADDLE_API cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event);
RADDLE_API cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle);
RADDLE_API cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr);
RADDLE_API cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags);
RADDLE_API cudaIpcCloseMemHandle(void *devPtr);

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

RADDLE_API cudaMalloc(void **devPtr, size_t size);
RADDLE_API cudaMallocHost(void **ptr, size_t size);
RADDLE_API cudaMallocManaged(void **devPtr, size_t size, unsigned int flags);
RADDLE_API cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height);
RADDLE_API cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent);
RADDLE_API cudaHostAlloc(void **pHost, size_t size, unsigned int flags);
RADDLE_API cudaHostRegister(void *ptr, size_t size, unsigned int flags);
RADDLE_API cudaHostUnregister(void *ptr);
RADDLE_API cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags);
RADDLE_API cudaHostGetFlags(unsigned int *pFlags, void *pHost);
RADDLE_API cudaFree(void *devPtr);
RADDLE_API cudaFreeHost(void *ptr);
RADDLE_API cudaMemGetInfo(size_t *free, size_t *total);
RADDLE_API cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr);
RADDLE_API cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice, cudaStream_t stream __dv(0));
RADDLE_API cudaMemPrefetchAsync_v2(const void *devPtr, size_t count, struct cudaMemLocation location,
                                   unsigned int flags, cudaStream_t stream __dv(0));
RADDLE_API cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice, int device);
RADDLE_API cudaMemAdvise_v2(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                            struct cudaMemLocation location);
RADDLE_API cudaMemRangeGetAttribute(void *data, size_t dataSize, enum cudaMemRangeAttribute attribute,
                                    const void *devPtr, size_t count);
RADDLE_API cudaMemRangeGetAttributes(void **data, size_t *dataSizes, enum cudaMemRangeAttribute *attributes,
                                     size_t numAttributes, const void *devPtr, size_t count);

RADDLE_API cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);
RADDLE_API cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                           cudaStream_t stream __dv(0));
RADDLE_API cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                        enum cudaMemcpyKind kind);
RADDLE_API cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                             enum cudaMemcpyKind kind, cudaStream_t stream __dv(0));
RADDLE_API cudaMemcpy3D(const struct cudaMemcpy3DParms *p);
RADDLE_API cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream __dv(0));
RADDLE_API cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset __dv(0),
                              enum cudaMemcpyKind kind __dv(cudaMemcpyHostToDevice));
RADDLE_API cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset __dv(0),
                                enum cudaMemcpyKind kind __dv(cudaMemcpyDeviceToHost));
RADDLE_API cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
                                   enum cudaMemcpyKind kind, cudaStream_t stream __dv(0));
RADDLE_API cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                     enum cudaMemcpyKind kind, cudaStream_t stream __dv(0));
RADDLE_API cudaGetSymbolAddress(void **devPtr, const void *symbol);
RADDLE_API cudaGetSymbolSize(size_t *size, const void *symbol);

RADDLE_API cudaMemset(void *devPtr, int value, size_t count);
RADDLE_API cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream __dv(0));
RADDLE_API cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height);
RADDLE_API cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                             cudaStream_t stream __dv(0));
RADDLE_API cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent);
RADDLE_API cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
                             cudaStream_t stream __dv(0));

/* ---- Memory in stream order, pools ------------------------------------------------------------------------------ */

RADDLE_API cudaMallocAsync(void **devPtr, size_t size, cudaStream_t stream);
RADDLE_API cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream);
RADDLE_API cudaFreeAsync(void *devPtr, cudaStream_t stream);
RADDLE_API cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps);
RADDLE_API cudaMemPoolDestroy(cudaMemPool_t memPool);
RADDLE_API cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep);
RADDLE_API cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value);
RADDLE_API cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value);
RADDLE_API cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList, size_t count);
RADDLE_API cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                                struct cudaMemLocation *location);
RADDLE_API cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool,
                                              enum cudaMemAllocationHandleType handleType, unsigned int flags);
RADDLE_API cudaMemPoolImportFromShareableHandle(cudaMemPool_t *memPool, void *shareableHandle,
                                                enum cudaMemAllocationHandleType handleType, unsigned int flags);
RADDLE_API cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *exportData, void *ptr);
RADDLE_API cudaMemPoolImportPointer(void **ptr, cudaMemPool_t memPool, struct cudaMemPoolPtrExportData *exportData);

/* ---- Arrays ----------------------------------------------------------------------------------------------------- */

RADDLE_API cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
                           size_t height __dv(0), unsigned int flags __dv(0));
RADDLE_API cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                             unsigned int flags __dv(0));
RADDLE_API cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray, const struct cudaChannelFormatDesc *desc,
                                    struct cudaExtent extent, unsigned int numLevels, unsigned int flags __dv(0));
RADDLE_API cudaGetMipmappedArrayLevel(cudaArray_t *levelArray, cudaMipmappedArray_const_t mipmappedArray,
                                      unsigned int level);
RADDLE_API cudaFreeArray(cudaArray_t array);
RADDLE_API cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray);
RADDLE_API cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned int *flags,
                            cudaArray_t array);
RADDLE_API cudaArrayGetPlane(cudaArray_t *pPlaneArray, cudaArray_t hArray, unsigned int planeIdx);
RADDLE_API cudaArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *memoryRequirements, cudaArray_t array,
                                          int device);
RADDLE_API cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array);
extern __host__ struct cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                             enum cudaChannelFormatKind f);
RADDLE_API cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
                               size_t width, size_t height, enum cudaMemcpyKind kind);
RADDLE_API cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
                                    size_t width, size_t height, enum cudaMemcpyKind kind,
                                    cudaStream_t stream __dv(0));
RADDLE_API cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                 size_t width, size_t height, enum cudaMemcpyKind kind);
RADDLE_API cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                      size_t hOffset, size_t width, size_t height, enum cudaMemcpyKind kind,
                                      cudaStream_t stream __dv(0));
RADDLE_API cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                    size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
                                    enum cudaMemcpyKind kind __dv(cudaMemcpyDeviceToDevice));
RADDLE_API cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                             enum cudaMemcpyKind kind);
RADDLE_API cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                                  enum cudaMemcpyKind kind, cudaStream_t stream __dv(0));
RADDLE_API cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                               enum cudaMemcpyKind kind);
RADDLE_API cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                    enum cudaMemcpyKind kind, cudaStream_t stream __dv(0));
RADDLE_API cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                  size_t wOffsetSrc, size_t hOffsetSrc, size_t count,
                                  enum cudaMemcpyKind kind __dv(cudaMemcpyDeviceToDevice));

/* ---- Textures and surfaces -------------------------------------------------------------------------------------- */

RADDLE_API cudaCreateTextureObject(cudaTextureObject_t *pTexObject, const struct cudaResourceDesc *pResDesc,
                                   const struct cudaTextureDesc *pTexDesc,
                                   const struct cudaResourceViewDesc *pResViewDesc);
RADDLE_API cudaDestroyTextureObject(cudaTextureObject_t texObject);
RADDLE_API cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc, cudaTextureObject_t texObject);
RADDLE_API cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc, cudaTextureObject_t texObject);
RADDLE_API cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *pResViewDesc,
                                                cudaTextureObject_t texObject);
RADDLE_API cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject, const struct cudaResourceDesc *pResDesc);
RADDLE_API cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject);
RADDLE_API cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc, cudaSurfaceObject_t surfObject);
/* References, which CUDA 12 no longer has and older programs still use. */
RADDLE_API cudaBindTexture(size_t *offset, const struct textureReference *texref, const void *devPtr,
                           const struct cudaChannelFormatDesc *desc, size_t size __dv(UINT_MAX));
RADDLE_API cudaBindTexture2D(size_t *offset, const struct textureReference *texref, const void *devPtr,
                             const struct cudaChannelFormatDesc *desc, size_t width, size_t height, size_t pitch);
RADDLE_API cudaBindTextureToArray(const struct textureReference *texref, cudaArray_const_t array,
                                  const struct cudaChannelFormatDesc *desc);
RADDLE_API cudaBindTextureToMipmappedArray(const struct textureReference *texref,
                                           cudaMipmappedArray_const_t mipmappedArray,
                                           const struct cudaChannelFormatDesc *desc);
RADDLE_API cudaUnbindTexture(const struct textureReference *texref);
RADDLE_API cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *texref);
RADDLE_API cudaGetTextureReference(const struct textureReference **texref, const void *symbol);
RADDLE_API cudaBindSurfaceToArray(const struct surfaceReference *surfref, cudaArray_const_t array,
                                  const struct cudaChannelFormatDesc *desc);
RADDLE_API cudaGetSurfaceReference(const struct surfaceReference **surfref, const void *symbol);

/* ---- Streams ---------------------------------------------------------------------------------------------------- */

RADDLE_API cudaStreamCreate(cudaStream_t *pStream);
RADDLE_API cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags);
RADDLE_API cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority);
RADDLE_API cudaStreamDestroy(cudaStream_t stream);
RADDLE_API cudaStreamSynchronize(cudaStream_t stream);
RADDLE_API cudaStreamQuery(cudaStream_t stream);
RADDLE_API cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags __dv(0));
RADDLE_API cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *userData,
                                 unsigned int flags);
RADDLE_API cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length __dv(0),
                                    unsigned int flags __dv(cudaMemAttachSingle));
RADDLE_API cudaStreamGetPriority(cudaStream_t stream, int *priority);
RADDLE_API cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags);
RADDLE_API cudaStreamGetId(cudaStream_t stream, unsigned long long *streamId);
RADDLE_API cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src);
RADDLE_API cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attr, cudaLaunchAttributeValue *value);
RADDLE_API cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attr,
                                  const cudaLaunchAttributeValue *value);
RADDLE_API cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData);

/* ---- Events ----------------------------------------------------------------------------------------------------- */

RADDLE_API cudaEventCreate(cudaEvent_t *event);
RADDLE_API cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
RADDLE_API cudaEventRecord(cudaEvent_t event, cudaStream_t stream __dv(0));
RADDLE_API cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream __dv(0), unsigned int flags __dv(0));
RADDLE_API cudaEventQuery(cudaEvent_t event);
RADDLE_API cudaEventSynchronize(cudaEvent_t event);
RADDLE_API cudaEventDestroy(cudaEvent_t event);
RADDLE_API cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);

/* ---- Kernels ---------------------------------------------------------------------------------------------------- */

RADDLE_API cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                            cudaStream_t stream);
RADDLE_API cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args);
RADDLE_API cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                       cudaStream_t stream);
RADDLE_API cudaLaunchCooperativeKernelMultiDevice(struct cudaLaunchParams *launchParamsList, unsigned int numDevices,
                                                  unsigned int flags __dv(0));
RADDLE_API cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func);
RADDLE_API cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value);
RADDLE_API cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig);
RADDLE_API cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config);
RADDLE_API cudaFuncGetName(const char **name, const void *func);
RADDLE_API cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr);
RADDLE_API cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr);
RADDLE_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func, int blockSize,
                                                         size_t dynamicSMemSize);
RADDLE_API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func, int blockSize,
                                                                  size_t dynamicSMemSize, unsigned int flags);
RADDLE_API cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func, int numBlocks,
                                                     int blockSize);
RADDLE_API cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                                const cudaLaunchConfig_t *launchConfig);
RADDLE_API cudaOccupancyMaxActiveClusters(int *numClusters, const void *func, const cudaLaunchConfig_t *launchConfig);
RADDLE_API cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                   enum cudaDriverEntryPointQueryResult *driverStatus __dv(0));
RADDLE_API cudaGetExportTable(const void **ppExportTable, const cudaUUID_t *pExportTableId);
RADDLE_API cudaSetDoubleForDevice(double *d);
RADDLE_API cudaSetDoubleForHost(double *d);
RADDLE_API cudaProfilerStart(void);
RADDLE_API cudaProfilerStop(void);

/* ---- Capture ---------------------------------------------------------------------------------------------------- */

RADDLE_API cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
RADDLE_API cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                         const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                         enum cudaStreamCaptureMode mode);
RADDLE_API cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);
RADDLE_API cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph);
RADDLE_API cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus);
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v2
RADDLE_API cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                    unsigned long long *id_out __dv(0), cudaGraph_t *graph_out __dv(0),
                                    const cudaGraphNode_t **dependencies_out __dv(0),
                                    size_t *numDependencies_out __dv(0));
RADDLE_API cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                               size_t numDependencies, unsigned int flags __dv(0));

/* ---- Graphs ----------------------------------------------------------------------------------------------------- */

/* A node that is added gets the nodes it has to wait for. */
#define RADDLE_NODE                                                                                                    \
    cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies, size_t numDependencies
RADDLE_API cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags);
RADDLE_API cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph);
RADDLE_API cudaGraphDestroy(cudaGraph_t graph);
RADDLE_API cudaGraphDestroyNode(cudaGraphNode_t node);
RADDLE_API cudaGraphAddNode(RADDLE_NODE, struct cudaGraphNodeParams *nodeParams);
RADDLE_API cudaGraphAddKernelNode(RADDLE_NODE, const struct cudaKernelNodeParams *pNodeParams);
RADDLE_API cudaGraphAddMemcpyNode(RADDLE_NODE, const struct cudaMemcpy3DParms *pCopyParams);
RADDLE_API cudaGraphAddMemcpyNode1D(RADDLE_NODE, void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);
RADDLE_API cudaGraphAddMemcpyNodeToSymbol(RADDLE_NODE, const void *symbol, const void *src, size_t count,
                                          size_t offset, enum cudaMemcpyKind kind);
RADDLE_API cudaGraphAddMemcpyNodeFromSymbol(RADDLE_NODE, void *dst, const void *symbol, size_t count, size_t offset,
                                            enum cudaMemcpyKind kind);
RADDLE_API cudaGraphAddMemsetNode(RADDLE_NODE, const struct cudaMemsetParams *pMemsetParams);
RADDLE_API cudaGraphAddHostNode(RADDLE_NODE, const struct cudaHostNodeParams *pNodeParams);
RADDLE_API cudaGraphAddChildGraphNode(RADDLE_NODE, cudaGraph_t childGraph);
RADDLE_API cudaGraphAddEmptyNode(RADDLE_NODE);
RADDLE_API cudaGraphAddEventRecordNode(RADDLE_NODE, cudaEvent_t event);
RADDLE_API cudaGraphAddEventWaitNode(RADDLE_NODE, cudaEvent_t event);
RADDLE_API cudaGraphAddMemAllocNode(RADDLE_NODE, struct cudaMemAllocNodeParams *nodeParams);
RADDLE_API cudaGraphAddMemFreeNode(RADDLE_NODE, void *dptr);
#undef RADDLE_NODE
RADDLE_API cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                    size_t numDependencies);
RADDLE_API cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                       size_t numDependencies);
RADDLE_API cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes);
RADDLE_API cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes, size_t *pNumRootNodes);
RADDLE_API cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *numEdges);
RADDLE_API cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType);
RADDLE_API cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
                                        size_t *pNumDependencies);
RADDLE_API cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes,
                                          size_t *pNumDependentNodes);
RADDLE_API cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode, cudaGraph_t clonedGraph);
RADDLE_API cudaGraphNodeSetEnabled(cudaGraphExec_t graphExec, cudaGraphNode_t node, unsigned int isEnabled);
RADDLE_API cudaGraphNodeGetEnabled(cudaGraphExec_t graphExec, cudaGraphNode_t node, unsigned int *isEnabled);
RADDLE_API cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams);
RADDLE_API cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *pNodeParams);
RADDLE_API cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *pNodeParams);
RADDLE_API cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t src, cudaGraphNode_t dst);
RADDLE_API cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attr,
                                           cudaLaunchAttributeValue *value);
RADDLE_API cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attr,
                                           const cudaLaunchAttributeValue *value);
RADDLE_API cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *pNodeParams);
RADDLE_API cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *pNodeParams);
RADDLE_API cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, size_t count,
                                          enum cudaMemcpyKind kind);
RADDLE_API cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *src,
                                                size_t count, size_t offset, enum cudaMemcpyKind kind);
RADDLE_API cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst, const void *symbol, size_t count,
                                                  size_t offset, enum cudaMemcpyKind kind);
RADDLE_API cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *pNodeParams);
RADDLE_API cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *pNodeParams);
RADDLE_API cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *pNodeParams);
RADDLE_API cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *pNodeParams);
RADDLE_API cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph);
RADDLE_API cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out);
RADDLE_API cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
RADDLE_API cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out);
RADDLE_API cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
RADDLE_API cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *params_out);
RADDLE_API cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *dptr_out);
RADDLE_API cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned long long flags __dv(0));
RADDLE_API cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                         unsigned long long flags __dv(0));
RADDLE_API cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                          cudaGraphInstantiateParams *instantiateParams);
RADDLE_API cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags);
RADDLE_API cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream);
RADDLE_API cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream);
RADDLE_API cudaGraphExecDestroy(cudaGraphExec_t graphExec);
RADDLE_API cudaGraphExecUpdate(cudaGraphExec_t graphExec, cudaGraph_t graph,
                               cudaGraphExecUpdateResultInfo *resultInfo);
RADDLE_API cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                      struct cudaGraphNodeParams *nodeParams);
RADDLE_API cudaGraphExecKernelNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                            const struct cudaKernelNodeParams *pNodeParams);
RADDLE_API cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                            const struct cudaMemcpy3DParms *pNodeParams);
RADDLE_API cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t graphExec, cudaGraphNode_t node, void *dst,
                                              const void *src, size_t count, enum cudaMemcpyKind kind);
RADDLE_API cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                                    const void *symbol, const void *src, size_t count, size_t offset,
                                                    enum cudaMemcpyKind kind);
RADDLE_API cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t graphExec, cudaGraphNode_t node, void *dst,
                                                      const void *symbol, size_t count, size_t offset,
                                                      enum cudaMemcpyKind kind);
RADDLE_API cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                            const struct cudaMemsetParams *pNodeParams);
RADDLE_API cudaGraphExecHostNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                          const struct cudaHostNodeParams *pNodeParams);
RADDLE_API cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                                cudaGraph_t childGraph);
RADDLE_API cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t graphExec, cudaGraphNode_t node, cudaEvent_t event);
RADDLE_API cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t graphExec, cudaGraphNode_t node, cudaEvent_t event);
RADDLE_API cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags);
RADDLE_API cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *pHandle_out, cudaGraph_t graph,
                                            unsigned int defaultLaunchValue __dv(0), unsigned int flags __dv(0));
RADDLE_API cudaUserObjectCreate(cudaUserObject_t *object_out, void *ptr, cudaHostFn_t destroy,
                                unsigned int initialRefcount, unsigned int flags);
RADDLE_API cudaUserObjectRetain(cudaUserObject_t object, unsigned int count __dv(1));
RADDLE_API cudaUserObjectRelease(cudaUserObject_t object, unsigned int count __dv(1));
RADDLE_API cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count __dv(1),
                                     unsigned int flags __dv(0));
RADDLE_API cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count __dv(1));

#if defined(__cplusplus)
}
#endif
#undef RADDLE_API

#endif
