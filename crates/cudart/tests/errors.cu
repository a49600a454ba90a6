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
