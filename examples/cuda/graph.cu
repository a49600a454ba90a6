// A graph captured from a stream and launched several times.
#include <cstdio>

__global__ void add(int *data, int by) { data[threadIdx.x] += by; }

int main() {
    const int n = 64, rounds = 5;
    int *data, host[n];
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaMalloc(&data, n * sizeof(int));
    cudaStreamCreate(&stream);
    cudaMemset(data, 0, n * sizeof(int));

    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int k = 1; k <= 3; k++) add<<<1, n, 0, stream>>>(data, k);
    cudaMemcpyAsync(host, data, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&ready, graph, 0);

    for (int round = 0; round < rounds; round++) cudaGraphLaunch(ready, stream);
    cudaError_t error = cudaStreamSynchronize(stream);
    bool is_right = error == cudaSuccess;
    for (int i = 0; i < n; i++) is_right &= host[i] == 6 * rounds;
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    printf("%s after %d rounds: %d\n%s\n", cudaGetErrorName(error), rounds, host[0], is_right ? "PASS" : "FAIL");
    return !is_right;
}
