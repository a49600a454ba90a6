// The errors that functions of the runtime give, as the documentation says.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

static int checked = 0, wrong = 0;

static void expect(const char *what, cudaError_t got, cudaError_t want) {
    checked++;
    if (got == want) return;
    wrong++;
    printf("%s: %s, expected %s\n", what, cudaGetErrorName(got), cudaGetErrorName(want));
}
#define EXPECT(call, want) expect(#call, call, want)

__constant__ int table[4];
__device__ int counter;

__global__ void nothing(int *p) {
    if (p) *p = 1;
}
__global__ void far_away(int *p) { p[1 << 20] = 1; }

int main() {
    int *p = nullptr, *q = nullptr, number = 0, host[8] = {};
    void *any = nullptr;
    size_t bytes = 0;

    // Memory.
    EXPECT(cudaMalloc((void **)nullptr, 16), cudaErrorInvalidValue);
    EXPECT(cudaMalloc(&p, size_t(1) << 40), cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError(), cudaSuccess);
    EXPECT(cudaMalloc(&p, 0), cudaSuccess);
    EXPECT(cudaMalloc(&p, 64), cudaSuccess);
    EXPECT(cudaFree(nullptr), cudaSuccess);
    EXPECT(cudaFree(p + 1), cudaErrorInvalidValue);
    EXPECT(cudaFree(host), cudaErrorInvalidValue);
    EXPECT(cudaMalloc(&q, 64), cudaSuccess);
    EXPECT(cudaFree(q), cudaSuccess);
    EXPECT(cudaFree(q), cudaErrorInvalidValue);
    EXPECT(cudaFreeHost(host), cudaErrorInvalidValue);
    EXPECT(cudaMallocManaged(&any, 0), cudaErrorInvalidValue);
    EXPECT(cudaHostUnregister(host), cudaErrorHostMemoryNotRegistered);
    EXPECT(cudaHostRegister(host, sizeof host, 0), cudaSuccess);
    EXPECT(cudaHostRegister(host, sizeof host, 0), cudaErrorHostMemoryAlreadyRegistered);
    EXPECT(cudaHostUnregister(host), cudaSuccess);
    EXPECT(cudaHostGetDevicePointer(&any, host, 0), cudaErrorInvalidValue);

    // Flags, and arguments of which one is wrong: nothing is written then, and nothing allocated.
    unsigned flags = 0;
    size_t before = 0, after = 0, total = 0;
    EXPECT(cudaMemGetInfo(&before, &total), cudaSuccess);
    EXPECT(cudaMemGetInfo(&after, nullptr), cudaErrorInvalidValue);
    EXPECT(after ? cudaErrorUnknown : cudaSuccess, cudaSuccess);
    EXPECT(cudaHostAlloc(&any, 16, 8), cudaErrorInvalidValue);
    EXPECT(cudaHostAlloc(&any, size_t(1) << 40, 0), cudaErrorMemoryAllocation);
    EXPECT(cudaMallocManaged(&any, 16, 0), cudaErrorInvalidValue);
    EXPECT(cudaMallocManaged(&any, 16, cudaMemAttachGlobal | cudaMemAttachHost), cudaErrorInvalidValue);
    EXPECT(cudaHostRegister(host, sizeof host, 256), cudaErrorInvalidValue);
    EXPECT(cudaHostRegister(host, sizeof host, cudaHostRegisterReadOnly), cudaErrorNotSupported);
    EXPECT(cudaHostGetDevicePointer(&any, p, 0), cudaErrorInvalidValue);
    EXPECT(cudaHostGetFlags(&flags, p), cudaErrorInvalidValue);
    EXPECT(cudaHostAlloc(&any, 16, cudaHostAllocMapped | cudaHostAllocWriteCombined), cudaSuccess);
    EXPECT(cudaHostGetFlags(&flags, any), cudaSuccess);
    EXPECT(flags == (cudaHostAllocMapped | cudaHostAllocWriteCombined) ? cudaSuccess : cudaErrorUnknown, cudaSuccess);
    EXPECT(cudaHostGetDevicePointer(&any, any, 1), cudaErrorInvalidValue);
    EXPECT(cudaFreeHost(any), cudaSuccess);
    cudaArray_t array = nullptr;
    cudaChannelFormatDesc bytes_only = cudaCreateChannelDesc<unsigned char>();
    EXPECT(cudaMallocArray(&array, &bytes_only, 8, 2, 1u << 30), cudaErrorInvalidValue);
    EXPECT(cudaMallocArray((cudaArray_t *)nullptr, &bytes_only, 8, 2), cudaErrorInvalidValue);
    EXPECT(cudaMemGetInfo(&after, &total), cudaSuccess);
    EXPECT(after == before ? cudaSuccess : cudaErrorUnknown, cudaSuccess);

    // An array is on the device, whatever the direction says of it.
    EXPECT(cudaMallocArray(&array, &bytes_only, 8, 2), cudaSuccess);
    cudaMemcpy3DParms volume = {};
    volume.srcPtr = make_cudaPitchedPtr(host, 8, 8, 2);
    volume.dstArray = array;
    volume.extent = make_cudaExtent(8, 2, 1);
    volume.kind = cudaMemcpyHostToHost;
    EXPECT(cudaMemcpy3D(&volume), cudaSuccess);
    EXPECT(cudaFreeArray(array), cudaSuccess);

    // Constants are on the device.
    cudaPointerAttributes attributes = {};
    EXPECT(cudaGetSymbolAddress(&any, table), cudaSuccess);
    EXPECT(cudaPointerGetAttributes(&attributes, any), cudaSuccess);
    EXPECT(attributes.type == cudaMemoryTypeDevice ? cudaSuccess : cudaErrorUnknown, cudaSuccess);

    // Attributes of kernels, and how many blocks an SM holds.
    int shared = 0, blocks = -1;
    const cudaFuncAttribute dynamic = cudaFuncAttributeMaxDynamicSharedMemorySize;
    EXPECT(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlock, 0), cudaSuccess);
    EXPECT(cudaFuncSetAttribute(nothing, dynamic, shared), cudaSuccess);
    EXPECT(cudaFuncSetAttribute(nothing, dynamic, shared + 1), cudaErrorInvalidValue);
    EXPECT(cudaFuncSetAttribute(nothing, dynamic, -1), cudaErrorInvalidValue);
    EXPECT(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 100), cudaSuccess);
    EXPECT(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 101), cudaErrorInvalidValue);
    EXPECT(cudaFuncSetAttribute(nothing, (cudaFuncAttribute)7, 0), cudaErrorInvalidValue);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1024, 0), cudaSuccess);
    EXPECT(blocks > 0 ? cudaSuccess : cudaErrorUnknown, cudaSuccess);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1025, 0), cudaSuccess);
    EXPECT(blocks == 0 ? cudaSuccess : cudaErrorUnknown, cudaSuccess);

    // Copies.
    EXPECT(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT(cudaMemcpy(p, host, 65, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(q, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(host, host, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(p, host, 4, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaMemcpy(p, host, 0, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT(cudaMemset(p, 0, 65), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy2D(p, 8, host, 8, 16, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);

    // Symbols.
    EXPECT(cudaMemcpyToSymbol(table, host, sizeof host), cudaErrorInvalidValue);
    EXPECT(cudaMemcpyToSymbol(table, host, 16), cudaSuccess);
    EXPECT(cudaMemcpyToSymbol((const void *)host, host, 4), cudaErrorInvalidSymbol);
    EXPECT(cudaGetSymbolSize(&bytes, counter), cudaSuccess);
    EXPECT(bytes == 4 ? cudaSuccess : cudaErrorUnknown, cudaSuccess);

    // Devices.
    EXPECT(cudaSetDevice(1), cudaErrorInvalidDevice);
    EXPECT(cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 0), cudaSuccess);
    EXPECT(cudaDeviceGetAttribute(&number, (cudaDeviceAttr)9999, 0), cudaErrorInvalidValue);
    EXPECT(cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 3), cudaErrorInvalidDevice);
    EXPECT(cudaDeviceSetLimit((cudaLimit)99, 1), cudaErrorUnsupportedLimit);
    EXPECT(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);

    // Streams and events.
    cudaStream_t stream;
    cudaEvent_t event;
    float time;
    EXPECT(cudaStreamSynchronize((cudaStream_t)host), cudaErrorInvalidResourceHandle);
    EXPECT(cudaStreamCreate(&stream), cudaSuccess);
    EXPECT(cudaStreamDestroy(stream), cudaSuccess);
    EXPECT(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventCreate(&event), cudaSuccess);
    EXPECT(cudaEventElapsedTime(&time, event, event), cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventDestroy(event), cudaSuccess);
    EXPECT(cudaEventSynchronize(event), cudaErrorInvalidResourceHandle);
    EXPECT(cudaStreamEndCapture(0, (cudaGraph_t *)&any), cudaErrorIllegalState);
    EXPECT(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);

    // Launches: wrong ones fail at once and are forgotten with the error.
    nothing<<<1, 2000>>>(nullptr);
    EXPECT(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    nothing<<<0, 32>>>(nullptr);
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    EXPECT(cudaLaunchKernel((const void *)host, dim3(1), dim3(1), nullptr, 0, 0), cudaErrorInvalidDeviceFunction);
    EXPECT(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
    nothing<<<1, 1>>>(p);
    EXPECT(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") ? cudaErrorUnknown : cudaSuccess,
           cudaSuccess);

    // A fault stays until the device is reset.
    far_away<<<1, 1>>>(p);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT(cudaMalloc(&q, 4), cudaErrorIllegalAddress);
    EXPECT(cudaDeviceReset(), cudaSuccess);
    EXPECT(cudaMalloc(&q, 4), cudaSuccess);
    nothing<<<1, 1>>>(q);
    EXPECT(cudaDeviceSynchronize(), cudaSuccess);

    printf("%d checked, %d wrong\n%s\n", checked, wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
