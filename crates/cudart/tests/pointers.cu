// What is done with the addresses that a program hands over: nothing is written past a result, nothing is read from null,
// and what the program is given stays as long as the documentation says.
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <initializer_list>

static int checked = 0, wrong = 0;

static void expect(const char *what, long long got, long long want) {
    checked++;
    if (got == want) return;
    wrong++;
    printf("%s: %lld, expected %lld\n", what, got, want);
}
#define EXPECT(call, want) expect(#call, (long long)(call), (long long)(want))

__global__ void take(int number, int *p) {
    if (p) *p = number;
}

// Settings of a pool that the documentation has as `int` are no larger.
static void results() {
    cudaMemPool_t pool;
    EXPECT(cudaDeviceGetDefaultMemPool(&pool, 0), 0);
    for (cudaMemPoolAttr attribute : {cudaMemPoolReuseFollowEventDependencies, cudaMemPoolReuseAllowOpportunistic,
                                      cudaMemPoolReuseAllowInternalDependencies}) {
        int room[2] = {-1, -1};
        EXPECT(cudaMemPoolGetAttribute(pool, attribute, room), 0);
        EXPECT(room[0] != -1, true);
        EXPECT(room[1], -1);
    }
    unsigned long long bytes = ~0ull;
    EXPECT(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes), 0);
    EXPECT(bytes, 0);
    // What is asked of a range has the size that the program says.
    int *shared, room[2] = {7, 7};
    EXPECT(cudaMallocManaged(&shared, 64), 0);
    for (size_t size : {size_t(0), size_t(2)})
        EXPECT(cudaMemRangeGetAttribute(room, size, cudaMemRangeAttributePreferredLocation, shared, 64), 1);
    EXPECT(room[0], 7);
    EXPECT(cudaMemRangeGetAttribute(room, 4, cudaMemRangeAttributePreferredLocation, shared, 64), 0);
    EXPECT(room[1], 7);
    cudaFree(shared);
}

// Null where something must be.
static void nulls() {
    CUmodule module;
    CUfunction function;
    EXPECT(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
    const char *text = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k(.param .u32 a){ ret; }\n";
    EXPECT(cuModuleLoadData(&module, text), 0);
    EXPECT(cuModuleGetFunction(&function, module, "k"), 0);
    size_t size = 4;
    void *no_block[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    EXPECT(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, nullptr, no_block), CUDA_ERROR_INVALID_VALUE);
    void *no_argument[] = {nullptr};
    EXPECT(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, no_argument, nullptr), CUDA_ERROR_INVALID_VALUE);
    void *arguments[] = {&size, nullptr};
    EXPECT(cudaLaunchKernel((const void *)take, dim3(1), dim3(1), arguments, 0, 0), cudaErrorInvalidValue);
    EXPECT(cuModuleUnload(module), 0);
    cudaGetLastError();
}

// Lists of a capture: that of one stream stays when another is asked.
static void lists() {
    cudaStream_t first, second;
    cudaEvent_t event;
    cudaStreamCreate(&first), cudaStreamCreate(&second), cudaEventCreate(&event);
    EXPECT(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed), 0);
    take<<<1, 1, 0, first>>>(1, nullptr);
    EXPECT(cudaEventRecord(event, first), 0);
    EXPECT(cudaStreamWaitEvent(second, event, 0), 0);
    take<<<1, 1, 0, first>>>(2, nullptr);
    take<<<1, 1, 0, second>>>(3, nullptr);
    cudaStreamCaptureStatus status;
    unsigned long long id;
    cudaGraph_t graph;
    const cudaGraphNode_t *of_first, *of_second, *again;
    size_t count;
    EXPECT(cudaStreamGetCaptureInfo_v2(first, &status, &id, &graph, &of_first, &count), 0);
    EXPECT(count, 1);
    cudaGraphNode_t node = of_first[0];
    EXPECT(cudaStreamGetCaptureInfo_v2(second, &status, &id, &graph, &of_second, &count), 0);
    EXPECT(of_first != of_second, true);
    EXPECT(of_first[0] == node && of_second[0] != node, true);
    EXPECT(cudaEventRecord(event, second), 0);
    EXPECT(cudaStreamWaitEvent(first, event, 0), 0);
    EXPECT(cudaStreamGetCaptureInfo_v2(first, &status, &id, &graph, &again, &count), 0);
    EXPECT(count, 2);
    EXPECT(cudaStreamEndCapture(first, &graph), 0);
    cudaGraphDestroy(graph);
    cudaEventDestroy(event), cudaStreamDestroy(first), cudaStreamDestroy(second);
}

// Constants of a module that is gone: by the address that the program was told, and in a graph.
static void constants() {
    const char *text = ".version 6.0\n.target sm_50\n.address_size 64\n.const .u32 c[4] = {1, 2, 3, 4};\n"
                       ".visible .entry k(){ ret; }\n";
    CUmodule module;
    CUdeviceptr at;
    size_t bytes;
    unsigned words[4] = {};
    EXPECT(cuModuleLoadData(&module, text), 0);
    EXPECT(cuModuleGetGlobal(&at, &bytes, module, "c"), 0);
    EXPECT(cuMemcpyDtoH(words, at, sizeof words), 0);
    EXPECT(words[3], 4);
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, words, (void *)at, sizeof words, cudaMemcpyDefault), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    EXPECT(cuModuleUnload(module), 0);
    EXPECT(cuMemcpyDtoH(words, at, sizeof words), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemsetD32(at, 0, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cudaGraphLaunch(exec, 0), cudaErrorInvalidValue);
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
    cudaGetLastError();
}

int main(int, char **args) {
    const char *only = args[1];
    struct {
        const char *name;
        void (*run)();
    } parts[] = {{"results", results}, {"nulls", nulls}, {"lists", lists}, {"constants", constants}};
    for (auto &part : parts)
        if (!only || !strcmp(only, part.name)) part.run();
    // After all of that, a kernel still runs.
    take<<<1, 1>>>(4, nullptr);
    EXPECT(cudaDeviceSynchronize(), 0);
    printf("%d checked, %d wrong\n%s\n", checked, wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
