/* Sizes and places of fields of the runtime API on 64-bit machines: compiling this file is the test.
 *
 * It is C and C++ at once, so that both languages see the same layouts. */
#include <cuda.h>
#include <cuda_runtime_api.h>

#if defined(__cplusplus)
#define CHECK(WHAT) static_assert(WHAT, #WHAT)
#else
#define CHECK(WHAT) _Static_assert(WHAT, #WHAT)
#endif
#define SIZE(T, BYTES) CHECK(sizeof(T) == BYTES)
#define AT(T, FIELD, BYTES) CHECK(offsetof(T, FIELD) == BYTES)
#define ALIGNED(T, BYTES, ALIGNMENT)                                                                                   \
    SIZE(T, BYTES);                                                                                                    \
    CHECK(__alignof__(T) == ALIGNMENT)

ALIGNED(char2, 2, 2);
ALIGNED(char3, 3, 1);
ALIGNED(uchar4, 4, 4);
ALIGNED(short2, 4, 4);
ALIGNED(ushort3, 6, 2);
ALIGNED(short4, 8, 8);
ALIGNED(int2, 8, 8);
ALIGNED(int3, 12, 4);
ALIGNED(uint4, 16, 16);
ALIGNED(long2, 16, 16);
ALIGNED(ulonglong4, 32, 16);
ALIGNED(float2, 8, 8);
ALIGNED(float3, 12, 4);
ALIGNED(float4, 16, 16);
ALIGNED(double2, 16, 16);
ALIGNED(double3, 24, 8);
ALIGNED(double4, 32, 16);
ALIGNED(dim3, 12, 4);

SIZE(struct cudaChannelFormatDesc, 20);
SIZE(struct cudaExtent, 24);
SIZE(struct cudaPos, 24);
SIZE(struct cudaPitchedPtr, 32);

SIZE(struct cudaMemcpy3DParms, 160);
AT(struct cudaMemcpy3DParms, srcPos, 8);
AT(struct cudaMemcpy3DParms, srcPtr, 32);
AT(struct cudaMemcpy3DParms, dstArray, 64);
AT(struct cudaMemcpy3DParms, dstPtr, 96);
AT(struct cudaMemcpy3DParms, extent, 128);
AT(struct cudaMemcpy3DParms, kind, 152);
SIZE(struct cudaMemcpy3DPeerParms, 168);
AT(struct cudaMemcpy3DPeerParms, dstArray, 72);
AT(struct cudaMemcpy3DPeerParms, extent, 144);
SIZE(struct cudaMemsetParams, 40);
SIZE(struct cudaPointerAttributes, 24);
AT(struct cudaPointerAttributes, devicePointer, 8);

SIZE(struct cudaResourceDesc, 64);
AT(struct cudaResourceDesc, res, 8);
AT(struct cudaResourceDesc, res.linear.desc, 16);
AT(struct cudaResourceDesc, res.linear.sizeInBytes, 40);
AT(struct cudaResourceDesc, res.pitch2D.width, 40);
AT(struct cudaResourceDesc, res.pitch2D.pitchInBytes, 56);
SIZE(struct cudaResourceViewDesc, 48);
SIZE(struct cudaTextureDesc, 72);
AT(struct cudaTextureDesc, filterMode, 12);
AT(struct cudaTextureDesc, borderColor, 24);
AT(struct cudaTextureDesc, normalizedCoords, 40);
AT(struct cudaTextureDesc, seamlessCubemap, 68);
SIZE(struct textureReference, 124);
AT(struct textureReference, addressMode, 8);
AT(struct textureReference, channelDesc, 20);
AT(struct textureReference, sRGB, 40);
SIZE(struct surfaceReference, 20);

SIZE(struct cudaFuncAttributes, 144);
AT(struct cudaFuncAttributes, maxThreadsPerBlock, 24);
AT(struct cudaFuncAttributes, maxDynamicSharedSizeBytes, 44);
AT(struct cudaFuncAttributes, reserved, 76);
SIZE(cudaLaunchAttributeValue, 64);
SIZE(cudaLaunchAttribute, 72);
SIZE(cudaLaunchConfig_t, 56);
AT(cudaLaunchConfig_t, dynamicSmemBytes, 24);
SIZE(struct cudaLaunchParams, 56);

SIZE(struct cudaMemPoolProps, 88);
SIZE(struct cudaMemAccessDesc, 12);
SIZE(struct cudaMemAllocNodeParams, 120);
AT(struct cudaMemAllocNodeParams, bytesize, 104);
SIZE(struct cudaKernelNodeParams, 56);
AT(struct cudaKernelNodeParams, sharedMemBytes, 32);
AT(struct cudaKernelNodeParams, kernelParams, 40);
SIZE(struct cudaHostNodeParams, 16);
SIZE(struct cudaMemcpyNodeParams, 176);
SIZE(struct cudaGraphNodeParams, 256);
SIZE(cudaGraphExecUpdateResultInfo, 24);
SIZE(cudaGraphInstantiateParams, 32);

SIZE(struct cudaDeviceProp, 1032);
AT(struct cudaDeviceProp, uuid, 256);
AT(struct cudaDeviceProp, totalGlobalMem, 288);
AT(struct cudaDeviceProp, warpSize, 308);
AT(struct cudaDeviceProp, maxThreadsPerBlock, 320);
AT(struct cudaDeviceProp, clockRate, 348);
AT(struct cudaDeviceProp, major, 360);
AT(struct cudaDeviceProp, multiProcessorCount, 388);
AT(struct cudaDeviceProp, maxTexture1D, 408);
AT(struct cudaDeviceProp, surfaceAlignment, 568);
AT(struct cudaDeviceProp, concurrentKernels, 576);
AT(struct cudaDeviceProp, l2CacheSize, 616);
AT(struct cudaDeviceProp, sharedMemPerMultiprocessor, 640);
AT(struct cudaDeviceProp, sharedMemPerBlockOptin, 696);
AT(struct cudaDeviceProp, reservedSharedMemPerBlock, 720);
AT(struct cudaDeviceProp, reserved, 792);

SIZE(CUDA_MEMCPY2D, 128);
SIZE(CUdevprop, 56);

CHECK(cudaErrorIllegalAddress == 700 && (int)CUDA_ERROR_ILLEGAL_ADDRESS == 700);
CHECK(cudaDevAttrMultiProcessorCount == 16 && cudaDevAttrMaxBlocksPerMultiprocessor == 106);
CHECK(cudaMemcpyDefault == 4 && cudaLimitMallocHeapSize == 2 && cudaReadModeNormalizedFloat == 1);
