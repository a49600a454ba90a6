// Two streams with copies and kernels of their own, events between them, and the time they say.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error = call;                                                                                      \
        if (error != cudaSuccess) {                                                                                    \
            printf("%s: %s\nFAIL\n", #call, cudaGetErrorString(error));                                                \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

__global__ void scale(int *data, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= by;
}

static void note(void *data) { ++*(int *)data; }

int main() {
    const int n = 4096;
    cudaStream_t streams[2];
    cudaEvent_t start, half, end;
    int *host[2], *device[2], notes = 0;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreateWithFlags(&half, cudaEventDisableTiming));
    CHECK(cudaEventCreate(&end));
    for (int s = 0; s < 2; s++) {
        CHECK(cudaStreamCreate(&streams[s]));
        CHECK(cudaMallocHost(&host[s], n * sizeof(int)));
        CHECK(cudaMallocAsync(&device[s], n * sizeof(int), streams[s]));
        for (int i = 0; i < n; i++) host[s][i] = i + s;
    }
    CHECK(cudaEventRecord(start, streams[0]));
    for (int s = 0; s < 2; s++) {
        CHECK(cudaMemcpyAsync(device[s], host[s], n * sizeof(int), cudaMemcpyHostToDevice, streams[s]));
        scale<<<n / 256, 256, 0, streams[s]>>>(device[s], n, s + 2);
        CHECK(cudaGetLastError());
        CHECK(cudaLaunchHostFunc(streams[s], note, &notes));
    }
    // The second stream also scales what the first has made.
    CHECK(cudaEventRecord(half, streams[0]));
    CHECK(cudaStreamWaitEvent(streams[1], half, 0));
    scale<<<n / 256, 256, 0, streams[1]>>>(device[0], n, 5);
    CHECK(cudaEventRecord(end, streams[1]));
    for (int s = 0; s < 2; s++)
        CHECK(cudaMemcpyAsync(host[s], device[s], n * sizeof(int), cudaMemcpyDeviceToHost, streams[1]));
    CHECK(cudaStreamSynchronize(streams[1]));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, start, end));
    bool is_right = notes == 2 && milliseconds > 0 && cudaStreamQuery(streams[0]) == cudaSuccess;
    for (int i = 0; i < n; i++) is_right &= host[0][i] == i * 10 && host[1][i] == (i + 1) * 3;
    for (int s = 0; s < 2; s++) {
        CHECK(cudaFreeAsync(device[s], streams[s]));
        CHECK(cudaFreeHost(host[s]));
        CHECK(cudaStreamDestroy(streams[s]));
    }
    printf("three kernels took %s time\n%s\n", milliseconds > 0 ? "some" : "no", is_right ? "PASS" : "FAIL");
    return !is_right;
}
