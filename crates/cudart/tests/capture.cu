// Every function that takes a stream, in a stream that is captured: nothing is done at once, and what was captured is done
// by each launch of the graph, with what its sources hold then. A test of the library knows the names that have to be here.
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

const int N = 32, BYTES = N * sizeof(int);

int wrong = 0;
void expect(const char *name, const char *what, long got, long want) {
    if (got == want) return;
    printf("%s: %s: %ld, not %ld\n", name, what, got, want);
    wrong++;
}

__global__ void copy(const int *from, int *to) { to[threadIdx.x] = from[threadIdx.x]; }
__device__ int symbol[N];
__constant__ int constant[N];
__global__ void copy_constant(int *to) { to[threadIdx.x] = constant[threadIdx.x]; }

const char *module_text = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to) {
    .reg .u64 %a<4>; .reg .u32 %r<3>;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %a1, %r1, 4;
    ld.param.u64 %a2, [from];
    ld.param.u64 %a3, [to];
    add.u64 %a2, %a2, %a1;
    add.u64 %a3, %a3, %a1;
    ld.global.u32 %r2, [%a2];
    st.global.u32 [%a3], %r2;
    ret;
})";

// Where things come from and go to: memory of the host and of the device, an array, and memory that both see.
int host[N], *from, *to, *shared_memory, calls;
int out[N];
cudaArray_t array;
cudaEvent_t event;
cudaStream_t other;
CUfunction function;
cudaGraphExec_t inner;

void fill(int value) {
    for (int i = 0; i < N; i++) host[i] = shared_memory[i] = value;
    cudaMemcpy(from, host, BYTES, cudaMemcpyHostToDevice);
}

void count(void *) { calls++; }
void count_status(cudaStream_t, cudaError_t, void *) { calls++; }

// What a call changes: the first number there, after it has been made a number of its own.
enum Place { DEVICE, HOST, SYMBOL, CONSTANT, ARRAY, CALLS, NOTHING };

int look(Place place) {
    int value[N] = {};
    switch (place) {
    case DEVICE: cudaMemcpy(value, to, BYTES, cudaMemcpyDeviceToHost); break;
    case HOST: return out[N - 1] == out[0] ? out[0] : -1;
    case SYMBOL: cudaMemcpyFromSymbol(value, symbol, BYTES, 0, cudaMemcpyDeviceToHost); break;
    case CONSTANT:
        copy_constant<<<1, N>>>(to);
        return look(DEVICE);
    case ARRAY: cudaMemcpyFromArray(value, array, 0, 0, BYTES, cudaMemcpyDeviceToHost); break;
    case CALLS: return calls;
    case NOTHING: return 0;
    }
    return value[N - 1] == value[0] ? value[0] : -1;
}

void clear(Place place) {
    int zeros[N] = {};
    switch (place) {
    case DEVICE: cudaMemset(to, 0, BYTES); break;
    case HOST: memset(out, 0, BYTES); break;
    case SYMBOL: cudaMemcpyToSymbol(symbol, zeros, BYTES, 0, cudaMemcpyHostToDevice); break;
    case CONSTANT: cudaMemcpyToSymbol(constant, zeros, BYTES, 0, cudaMemcpyHostToDevice); break;
    case ARRAY: cudaMemcpyToArray(array, 0, 0, zeros, BYTES, cudaMemcpyHostToDevice); break;
    case CALLS: calls = 0; break;
    case NOTHING: break;
    }
}

// A call that is captured. It leaves in its place what the sources hold, or always the same.
template <typename Call> void captured(const char *name, Place place, bool is_fixed, Call call) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCreate(&stream);
    fill(0x01010101);
    clear(place);
    expect(name, "begins", cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
    expect(name, "is captured", call(stream), cudaSuccess);
    expect(name, "ends", cudaStreamEndCapture(stream, &graph), cudaSuccess);
    expect(name, "is not done at once", look(place), 0);
    expect(name, "is instantiated", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    for (int launch = 1; launch <= 2; launch++) {
        int value = place == NOTHING ? 0 : place == CALLS ? launch : is_fixed ? 0x07070707 : launch * 0x02020202;
        if (place != CALLS) clear(place);
        fill(launch * 0x02020202);
        expect(name, "is launched", cudaGraphLaunch(exec, stream), cudaSuccess);
        expect(name, "is done by a launch", look(place), value);
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    // The same without a capture.
    if (place == CALLS) calls = 0;
    fill(0x05050505);
    expect(name, "is done", call(stream), cudaSuccess);
    int value = place == NOTHING ? 0 : place == CALLS ? 1 : is_fixed ? 0x07070707 : 0x05050505;
    expect(name, "is done at once without a capture", look(place), value);
    cudaStreamDestroy(stream);
}

// A call that a captured stream refuses; `is_harmless` where the capture goes on.
template <typename Call> void refused(const char *name, int code, bool is_harmless, Call call) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    expect(name, "is refused", call(stream), code);
    int end = cudaStreamEndCapture(stream, &graph);
    expect(name, "leaves the capture", end, is_harmless ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
    cudaStreamDestroy(stream);
    cudaGetLastError();
}

// A call that only asks, in a captured stream as elsewhere.
template <typename Call> void asked(const char *name, Call call) {
    refused(name, cudaSuccess, true, call);
}

// Both names of a function: the second is that of programs with a default stream per thread.
#define CAPTURED(name, place, ...)                                                                                     \
    captured(#name, place, false, [](cudaStream_t s) { return int(name(__VA_ARGS__)); });                  \
    captured(#name "_ptsz", place, false, [](cudaStream_t s) { return int(name##_ptsz(__VA_ARGS__)); })
#define FIXED(name, place, ...)                                                                                        \
    captured(#name, place, true, [](cudaStream_t s) { return int(name(__VA_ARGS__)); });                   \
    captured(#name "_ptsz", place, true, [](cudaStream_t s) { return int(name##_ptsz(__VA_ARGS__)); })
#define REFUSED(name, code, is_harmless, ...)                                                                          \
    refused(#name, code, is_harmless, [](cudaStream_t s) { return int(name(__VA_ARGS__)); })
#define ASKED(name, ...) asked(#name, [](cudaStream_t s) { return int(name(__VA_ARGS__)); })

#define SECOND(name) extern "C" decltype(name) name##_ptsz;
SECOND(cudaMemcpyAsync) SECOND(cudaMemcpyPeerAsync) SECOND(cudaMemcpy2DAsync) SECOND(cudaMemcpy3DAsync)
SECOND(cudaMemcpy2DToArrayAsync) SECOND(cudaMemcpy2DFromArrayAsync) SECOND(cudaMemcpyToArrayAsync) SECOND(cudaMemcpyFromArrayAsync)
SECOND(cudaMemsetAsync) SECOND(cudaMemset2DAsync) SECOND(cudaMemset3DAsync) 
SECOND(cudaMemPrefetchAsync_v2) SECOND(cudaLaunchHostFunc)
SECOND(cudaLaunchKernelExC) SECOND(cudaGraphLaunch)
SECOND(cudaEventRecord) SECOND(cudaEventRecordWithFlags) SECOND(cudaStreamWaitEvent)
SECOND(cudaFreeAsync) SECOND(cudaStreamAddCallback)
SECOND(cudaStreamSynchronize) SECOND(cudaStreamQuery) SECOND(cudaStreamIsCapturing) SECOND(cudaStreamBeginCapture)
SECOND(cudaStreamEndCapture)
// These have forms in C++ beside the function.
extern "C" cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void *, const void *, size_t, size_t, cudaMemcpyKind,
                                                    cudaStream_t);
extern "C" cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void *, const void *, size_t, size_t, cudaMemcpyKind,
                                                      cudaStream_t);
extern "C" cudaError_t cudaMemPrefetchAsync_ptsz(const void *, size_t, int, cudaStream_t);
extern "C" cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t, void *, size_t, unsigned);
extern "C" cudaError_t cudaMallocAsync_ptsz(void **, size_t, cudaStream_t);
extern "C" cudaError_t cudaMallocFromPoolAsync_ptsz(void **, size_t, cudaMemPool_t, cudaStream_t);
typedef cudaError_t Launch(const void *, dim3, dim3, void **, size_t, cudaStream_t);
extern "C" Launch cudaLaunchKernel_ptsz, cudaLaunchCooperativeKernel_ptsz, __cudaLaunchKernel, __cudaLaunchKernel_ptsz;
#define DRIVER(name) extern "C" decltype(name) name##_ptsz;
extern "C" decltype(cuMemcpyHtoDAsync) cuMemcpyHtoDAsync_v2_ptsz;
extern "C" decltype(cuMemcpyDtoHAsync) cuMemcpyDtoHAsync_v2_ptsz;
extern "C" decltype(cuMemcpyDtoDAsync) cuMemcpyDtoDAsync_v2_ptsz;
DRIVER(cuMemcpyAsync) DRIVER(cuMemsetD8Async) DRIVER(cuMemsetD16Async) DRIVER(cuMemsetD32Async) DRIVER(cuLaunchKernel)

void copies() {
    CAPTURED(cudaMemcpyAsync, DEVICE, to, host, BYTES, cudaMemcpyHostToDevice, s);
    CAPTURED(cudaMemcpyAsync, HOST, out, from, BYTES, cudaMemcpyDeviceToHost, s);
    CAPTURED(cudaMemcpyAsync, HOST, out, host, BYTES, cudaMemcpyHostToHost, s);
    CAPTURED(cudaMemcpyAsync, DEVICE, to, shared_memory, BYTES, cudaMemcpyDefault, s);
    CAPTURED(cudaMemcpyPeerAsync, DEVICE, to, 0, from, 0, BYTES, s);
    CAPTURED(cudaMemcpy2DAsync, DEVICE, to, 16, host, 16, 16, BYTES / 16, cudaMemcpyHostToDevice, s);
    static cudaMemcpy3DParms parms = {};
    parms.srcPtr = make_cudaPitchedPtr(host, 16, 16, BYTES / 32);
    parms.dstPtr = make_cudaPitchedPtr(to, 16, 16, BYTES / 32);
    parms.extent = make_cudaExtent(16, BYTES / 32, 2);
    parms.kind = cudaMemcpyHostToDevice;
    CAPTURED(cudaMemcpy3DAsync, DEVICE, &parms, s);
    CAPTURED(cudaMemcpyToSymbolAsync, SYMBOL, symbol, host, BYTES, 0, cudaMemcpyHostToDevice, s);
    CAPTURED(cudaMemcpyToSymbolAsync, CONSTANT, constant, host, BYTES, 0, cudaMemcpyHostToDevice, s);
    captured("cudaMemcpyFromSymbolAsync", HOST, false, [](cudaStream_t s) {
        int first = cudaMemcpyToSymbolAsync(symbol, host, BYTES, 0, cudaMemcpyHostToDevice, s);
        return first ? first : cudaMemcpyFromSymbolAsync(out, symbol, BYTES, 0, cudaMemcpyDeviceToHost, s);
    });
    captured("cudaMemcpyFromSymbolAsync_ptsz", HOST, false, [](cudaStream_t s) {
        int first = cudaMemcpyToSymbolAsync(constant, host, BYTES, 0, cudaMemcpyHostToDevice, s);
        return first ? first : cudaMemcpyFromSymbolAsync_ptsz(out, constant, BYTES, 0, cudaMemcpyDeviceToHost, s);
    });
    CAPTURED(cudaMemcpy2DToArrayAsync, ARRAY, array, 0, 0, host, 16, 16, BYTES / 16, cudaMemcpyHostToDevice, s);
    CAPTURED(cudaMemcpyToArrayAsync, ARRAY, array, 0, 0, host, BYTES, cudaMemcpyHostToDevice, s);
    captured("cudaMemcpy2DFromArrayAsync", HOST, false, [](cudaStream_t s) {
        cudaMemcpyToArrayAsync(array, 0, 0, host, BYTES, cudaMemcpyHostToDevice, s);
        return cudaMemcpy2DFromArrayAsync(out, 16, array, 0, 0, 16, BYTES / 16, cudaMemcpyDeviceToHost, s);
    });
    captured("cudaMemcpy2DFromArrayAsync_ptsz", HOST, false, [](cudaStream_t s) {
        cudaMemcpyToArrayAsync(array, 0, 0, host, BYTES, cudaMemcpyHostToDevice, s);
        return cudaMemcpy2DFromArrayAsync_ptsz(out, 16, array, 0, 0, 16, BYTES / 16, cudaMemcpyDeviceToHost, s);
    });
    captured("cudaMemcpyFromArrayAsync", HOST, false, [](cudaStream_t s) {
        cudaMemcpyToArrayAsync(array, 0, 0, host, BYTES, cudaMemcpyHostToDevice, s);
        return cudaMemcpyFromArrayAsync(out, array, 0, 0, BYTES, cudaMemcpyDeviceToHost, s);
    });
    captured("cudaMemcpyFromArrayAsync_ptsz", HOST, false, [](cudaStream_t s) {
        cudaMemcpyToArrayAsync(array, 0, 0, host, BYTES, cudaMemcpyHostToDevice, s);
        return cudaMemcpyFromArrayAsync_ptsz(out, array, 0, 0, BYTES, cudaMemcpyDeviceToHost, s);
    });
    REFUSED(cudaMemcpy3DPeerAsync, cudaErrorNotSupported, true, 0, s);
}

void fills() {
    FIXED(cudaMemsetAsync, DEVICE, to, 7, BYTES, s);
    FIXED(cudaMemset2DAsync, DEVICE, to, 16, 7, 16, BYTES / 16, s);
    FIXED(cudaMemset3DAsync, DEVICE, make_cudaPitchedPtr(to, 16, 16, 2), 7, make_cudaExtent(16, 2, BYTES / 32), s);
    FIXED(cuMemsetD8Async, DEVICE, CUdeviceptr(to), 7, BYTES, s);
    FIXED(cuMemsetD16Async, DEVICE, CUdeviceptr(to), 0x0707, BYTES / 2, s);
    FIXED(cuMemsetD32Async, DEVICE, CUdeviceptr(to), 0x07070707, N, s);
}

void launches() {
    static void *args[] = {&from, &to};
    CAPTURED(cudaLaunchKernel, DEVICE, (void *)copy, dim3(1), dim3(N), args, 0, s);
    CAPTURED(__cudaLaunchKernel, DEVICE, (void *)copy, dim3(1), dim3(N), args, 0, s);
    CAPTURED(cudaLaunchCooperativeKernel, DEVICE, (void *)copy, dim3(1), dim3(N), args, 0, s);
    static cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1), config.blockDim = dim3(N);
    CAPTURED(cudaLaunchKernelExC, DEVICE, (config.stream = s, &config), (void *)copy, args);
    CAPTURED(cuLaunchKernel, DEVICE, function, 1, 1, 1, N, 1, 1, 0, s, args, 0);
    CAPTURED(cudaGraphLaunch, DEVICE, inner, s);
    CAPTURED(cudaLaunchHostFunc, CALLS, s, count, 0);
    captured("cuLaunchHostFunc", CALLS, false, [](cudaStream_t s) { return int(cuLaunchHostFunc(s, count, 0)); });
    REFUSED(cudaStreamAddCallback, cudaErrorStreamCaptureUnsupported, true, s, count_status, 0, 0);
    REFUSED(cudaStreamAddCallback_ptsz, cudaErrorStreamCaptureUnsupported, true, s, count_status, 0, 0);
    REFUSED(cuLaunchCooperativeKernel, cudaErrorNotSupported, true, function, 1, 1, 1, N, 1, 1, 0, s, args);
}

void driver() {
    CAPTURED(cuMemcpyAsync, DEVICE, CUdeviceptr(to), CUdeviceptr(from), BYTES, s);
    captured("cuMemcpyHtoDAsync", DEVICE, false, [](cudaStream_t s) {
        return int(cuMemcpyHtoDAsync(CUdeviceptr(to), host, BYTES, s));
    });
    captured("cuMemcpyHtoDAsync_v2_ptsz", DEVICE, false, [](cudaStream_t s) {
        return int(cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr(to), host, BYTES, s));
    });
    captured("cuMemcpyDtoHAsync", HOST, false, [](cudaStream_t s) {
        return int(cuMemcpyDtoHAsync(out, CUdeviceptr(from), BYTES, s));
    });
    captured("cuMemcpyDtoHAsync_v2_ptsz", HOST, false, [](cudaStream_t s) {
        return int(cuMemcpyDtoHAsync_v2_ptsz(out, CUdeviceptr(from), BYTES, s));
    });
    captured("cuMemcpyDtoDAsync", DEVICE, false, [](cudaStream_t s) {
        return int(cuMemcpyDtoDAsync(CUdeviceptr(to), CUdeviceptr(from), BYTES, s));
    });
    captured("cuMemcpyDtoDAsync_v2_ptsz", DEVICE, false, [](cudaStream_t s) {
        return int(cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr(to), CUdeviceptr(from), BYTES, s));
    });
    REFUSED(cuMemcpy2DAsync, cudaErrorNotSupported, true, 0, s);
    static CUdeviceptr block;
    REFUSED(cuMemAllocAsync, cudaErrorNotSupported, true, &block, 64, s);
    REFUSED(cuMemFreeAsync, cudaErrorNotSupported, true, CUdeviceptr(to), s);
    REFUSED(cuStreamSynchronize, cudaErrorStreamCaptureUnsupported, false, s);
    REFUSED(cuStreamQuery, cudaErrorStreamCaptureUnsupported, false, s);
    REFUSED(cuStreamDestroy, cudaErrorStreamCaptureUnsupported, false, s);
}

// Work that goes to another stream and comes back by events.
template <typename Record, typename Wait> void forked(const char *name, Record record, Wait wait) {
    static Record r = record;
    static Wait w = wait;
    captured(name, DEVICE, false, [](cudaStream_t s) {
        int code = r(event, s);
        code = code ? code : w(other, event);
        code = code ? code : int(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDeviceToDevice, other));
        code = code ? code : r(event, other);
        return code ? code : w(s, event);
    });
}

void events() {
    auto wait = [](cudaStream_t s, cudaEvent_t e) { return int(cudaStreamWaitEvent(s, e, 0)); };
    forked("cudaEventRecord", [](cudaEvent_t e, cudaStream_t s) { return int(cudaEventRecord(e, s)); }, wait);
    forked("cudaEventRecord_ptsz", [](cudaEvent_t e, cudaStream_t s) { return int(cudaEventRecord_ptsz(e, s)); }, wait);
    forked("cudaEventRecordWithFlags",
           [](cudaEvent_t e, cudaStream_t s) { return int(cudaEventRecordWithFlags(e, s, 0)); }, wait);
    forked("cudaEventRecordWithFlags_ptsz",
           [](cudaEvent_t e, cudaStream_t s) { return int(cudaEventRecordWithFlags_ptsz(e, s, 0)); }, wait);
    forked("cudaStreamWaitEvent_ptsz", [](cudaEvent_t e, cudaStream_t s) { return int(cudaEventRecord(e, s)); },
           [](cudaStream_t s, cudaEvent_t e) { return int(cudaStreamWaitEvent_ptsz(s, e, 0)); });
    forked("cuEventRecord cuStreamWaitEvent", [](cudaEvent_t e, cudaStream_t s) { return int(cuEventRecord(e, s)); },
           [](cudaStream_t s, cudaEvent_t e) { return int(cuStreamWaitEvent(s, e, 0)); });
}

void others() {
    static void *block;
    CAPTURED(cudaMemPrefetchAsync, NOTHING, shared_memory, BYTES, 0, s);
    CAPTURED(cudaMemPrefetchAsync_v2, NOTHING, shared_memory, BYTES, cudaMemLocation(), 0, s);
    CAPTURED(cudaStreamAttachMemAsync, NOTHING, s, shared_memory, 0, cudaMemAttachGlobal);
    REFUSED(cudaMallocAsync, cudaErrorNotSupported, true, &block, 64, s);
    REFUSED(cudaMallocAsync_ptsz, cudaErrorNotSupported, true, &block, 64, s);
    REFUSED(cudaMallocFromPoolAsync, cudaErrorNotSupported, true, &block, 64, 0, s);
    REFUSED(cudaMallocFromPoolAsync_ptsz, cudaErrorNotSupported, true, &block, 64, 0, s);
    REFUSED(cudaFreeAsync, cudaErrorNotSupported, true, to, s);
    REFUSED(cudaFreeAsync_ptsz, cudaErrorNotSupported, true, to, s);
    REFUSED(cudaStreamSynchronize, cudaErrorStreamCaptureUnsupported, false, s);
    REFUSED(cudaStreamSynchronize_ptsz, cudaErrorStreamCaptureUnsupported, false, s);
    REFUSED(cudaStreamQuery, cudaErrorStreamCaptureUnsupported, false, s);
    REFUSED(cudaStreamQuery_ptsz, cudaErrorStreamCaptureUnsupported, false, s);
    REFUSED(cudaStreamDestroy, cudaErrorStreamCaptureUnsupported, false, s);
    REFUSED(cudaStreamBeginCapture, cudaErrorIllegalState, true, s, cudaStreamCaptureModeRelaxed);
    REFUSED(cudaStreamBeginCapture_ptsz, cudaErrorIllegalState, true, s, cudaStreamCaptureModeRelaxed);
    static cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    REFUSED(cudaStreamBeginCaptureToGraph, cudaErrorIllegalState, true, s, graph, 0, 0, 0, cudaStreamCaptureModeRelaxed);
    cudaGraphDestroy(graph);
    // What only asks.
    static int number;
    static unsigned flags;
    static cudaStreamCaptureStatus status;
    static cudaLaunchAttributeValue value;
    ASKED(cudaStreamGetPriority, s, &number);
    ASKED(cudaStreamGetFlags, s, &flags);
    ASKED(cudaStreamIsCapturing, s, &status);
    expect("cudaStreamIsCapturing", "status", status, cudaStreamCaptureStatusActive);
    ASKED(cudaStreamIsCapturing_ptsz, s, &status);
    ASKED(cudaStreamGetCaptureInfo, s, &status);
    ASKED(cudaStreamUpdateCaptureDependencies, s, 0, 0);
    ASKED(cudaStreamSetAttribute, s, cudaLaunchAttributeIgnore, &value);
    ASKED(cudaStreamCopyAttributes, s, s);
    ASKED(cudaGraphUpload, inner, s);
    REFUSED(cudaStreamGetId, cudaErrorNotSupported, true, s, 0);
    REFUSED(cudaStreamGetAttribute, cudaErrorNotSupported, true, s, cudaLaunchAttributeIgnore, &value);
    // Its end by either name.
    cudaStream_t stream;
    cudaGraph_t ended;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    expect("cudaStreamEndCapture_ptsz", "ends", cudaStreamEndCapture_ptsz(stream, &ended), cudaSuccess);
    expect("cudaStreamEndCapture", "ends once", cudaStreamEndCapture(stream, &ended), cudaErrorIllegalState);
    cudaGetLastError();
}

int main() {
    cudaMalloc(&from, BYTES);
    cudaMalloc(&to, BYTES);
    cudaMallocManaged(&shared_memory, BYTES);
    cudaChannelFormatDesc texel = cudaCreateChannelDesc<int>();
    cudaMallocArray(&array, &texel, 4, N / 4);
    cudaEventCreate(&event);
    cudaStreamCreate(&other);
    CUmodule module;
    expect("cuModuleLoadData", "loads", cuModuleLoadData(&module, module_text), CUDA_SUCCESS);
    expect("cuModuleGetFunction", "finds", cuModuleGetFunction(&function, module, "copy"), CUDA_SUCCESS);
    cudaGraph_t graph;
    cudaStreamBeginCapture(other, cudaStreamCaptureModeRelaxed);
    copy<<<1, N, 0, other>>>(from, to);
    cudaStreamEndCapture(other, &graph);
    cudaGraphInstantiate(&inner, graph, 0);
    copies();
    fills();
    launches();
    driver();
    events();
    others();
    expect("everything", "last error", cudaGetLastError(), cudaSuccess);
    printf("%d wrong\n%s\n", wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
