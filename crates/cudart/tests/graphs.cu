// Graphs built by hand. Twenty programs of random operations, whose nodes are added in random order with the edges that
// their data needs, leave what the operations leave one after the other. Then what can be done to a graph, and to one that
// was made ready.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <set>
#include <vector>
#include <cuda_runtime.h>

const int BUFFERS = 6, N = 32, BYTES = N * sizeof(int);

int wrong = 0;
void expect(const char *what, long got, long want) {
    if (got == want) return;
    printf("%s: %ld, not %ld\n", what, got, want);
    wrong++;
}

__global__ void mix(int *to, const int *a, const int *b, int k) {
    int i = threadIdx.x;
    to[i] = a[i] * 31 + b[(i + k) % N] + k;
}
__device__ int symbol[N];

// The first half of the buffers is on the device, the others are the host's.
struct Memory {
    int *at[BUFFERS];
};

struct HostWork {
    int *to;
    const int *from;
    int k;
};
void host_work(void *data) {
    HostWork *work = (HostWork *)data;
    for (int i = 0; i < N; i++) work->to[i] = work->to[i] * 17 + work->from[i] + work->k;
}

enum Kind { MIX, COPY, SET, HOST, TO_SYMBOL, FROM_SYMBOL, KINDS };
struct Work {
    Kind kind;
    int to, a, b, k;
    // Buffers that are read and written; the variable is the last one.
    std::set<int> reads() const {
        switch (kind) {
        case MIX: return {a, b};
        case COPY: case TO_SYMBOL: return {a};
        case HOST: return {to, a};
        case FROM_SYMBOL: return {BUFFERS};
        default: return {};
        }
    }
    int writes() const { return kind == TO_SYMBOL ? BUFFERS : to; }
};

bool depends(const Work &later, const Work &earlier) {
    return later.reads().count(earlier.writes()) || later.writes() == earlier.writes() ||
           earlier.reads().count(later.writes());
}

void run(const Work &w, const Memory &m, HostWork *host) {
    switch (w.kind) {
    case MIX: mix<<<1, N>>>(m.at[w.to], m.at[w.a], m.at[w.b], w.k); break;
    case COPY: cudaMemcpy(m.at[w.to], m.at[w.a], BYTES, cudaMemcpyDefault); break;
    case SET: cudaMemset(m.at[w.to], w.k, BYTES); break;
    case HOST: host_work(host); break;
    case TO_SYMBOL: cudaMemcpyToSymbol(symbol, m.at[w.a], BYTES, 0, cudaMemcpyDefault); break;
    default: cudaMemcpyFromSymbol(m.at[w.to], symbol, BYTES, 0, cudaMemcpyDefault);
    }
}

cudaGraphNode_t add(cudaGraph_t graph, const std::vector<cudaGraphNode_t> &before, const Work &w, const Memory &m,
                    HostWork *host) {
    cudaGraphNode_t node = 0;
    int code = 0;
    const cudaGraphNode_t *list = before.data();
    size_t count = before.size();
    switch (w.kind) {
    case MIX: {
        int *to = m.at[w.to], *a = m.at[w.a], *b = m.at[w.b], k = w.k;
        void *args[] = {&to, &a, &b, &k};
        cudaKernelNodeParams parms = {};
        parms.func = (void *)mix, parms.gridDim = dim3(1), parms.blockDim = dim3(N), parms.kernelParams = args;
        code = cudaGraphAddKernelNode(&node, graph, list, count, &parms);
        break;
    }
    case COPY:
        code = cudaGraphAddMemcpyNode1D(&node, graph, list, count, m.at[w.to], m.at[w.a], BYTES, cudaMemcpyDefault);
        break;
    case SET: {
        cudaMemsetParams parms = {};
        unsigned byte = w.k & 255;
        parms.dst = m.at[w.to], parms.value = byte * 0x01010101u, parms.elementSize = 4;
        parms.width = 8, parms.height = BYTES / 32, parms.pitch = 32;
        code = cudaGraphAddMemsetNode(&node, graph, list, count, &parms);
        break;
    }
    case HOST: {
        cudaHostNodeParams parms = {host_work, host};
        code = cudaGraphAddHostNode(&node, graph, list, count, &parms);
        break;
    }
    case TO_SYMBOL:
        code = cudaGraphAddMemcpyNodeToSymbol(&node, graph, list, count, symbol, m.at[w.a], BYTES, 0,
                                              cudaMemcpyDefault);
        break;
    default:
        code = cudaGraphAddMemcpyNodeFromSymbol(&node, graph, list, count, m.at[w.to], symbol, BYTES, 0,
                                                cudaMemcpyDefault);
    }
    expect("a node is added", code, cudaSuccess);
    return node;
}

void program(unsigned seed) {
    std::mt19937 random(seed);
    auto pick = [&](int n) { return int(random() % n); };
    std::vector<Work> works(12 + pick(20));
    std::vector<HostWork> host[2];
    Memory memory[2];
    std::vector<int> bytes[2];
    for (int side = 0; side < 2; side++) {
        bytes[side].resize(BUFFERS * N);
        for (int b = 0; b < BUFFERS; b++)
            if (b < BUFFERS / 2) cudaMalloc(&memory[side].at[b], BYTES);
            else memory[side].at[b] = bytes[side].data() + b * N;
        host[side].resize(works.size());
    }
    const int half = BUFFERS / 2;
    for (size_t i = 0; i < works.size(); i++) {
        Work &w = works[i];
        w.kind = Kind(pick(KINDS));
        w.to = pick(BUFFERS), w.a = pick(BUFFERS), w.b = pick(half), w.k = pick(100);
        if (w.kind == MIX) w.to %= half, w.a %= half;
        if (w.kind == SET) w.to %= half;
        if (w.kind == HOST) w.to = half + w.to % half, w.a = half + w.a % half;
        for (int side = 0; side < 2; side++) host[side][i] = {memory[side].at[w.to], memory[side].at[w.a], w.k};
    }
    auto start = [&](int side) {
        std::vector<int> values(N);
        for (int b = 0; b < BUFFERS; b++) {
            for (int i = 0; i < N; i++) values[i] = b * 1000 + i;
            cudaMemcpy(memory[side].at[b], values.data(), BYTES, cudaMemcpyDefault);
        }
        cudaMemcpyToSymbol(symbol, values.data(), BYTES, 0, cudaMemcpyDefault);
    };
    const int LAUNCHES = 2;
    start(0);
    for (int launch = 0; launch < LAUNCHES; launch++)
        for (size_t i = 0; i < works.size(); i++) run(works[i], memory[0], &host[0][i]);

    // Nodes in random order: edges to nodes that are there come with the node, the others later.
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    std::vector<size_t> order(works.size());
    for (size_t i = 0; i < order.size(); i++) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<cudaGraphNode_t> nodes(works.size());
    for (size_t i : order) {
        std::vector<cudaGraphNode_t> before, from, to;
        for (size_t j = 0; j < works.size(); j++) {
            if (!nodes[j]) continue;
            if (j < i && depends(works[i], works[j])) before.push_back(nodes[j]);
            if (j > i && depends(works[j], works[i])) to.push_back(nodes[j]);
        }
        nodes[i] = add(graph, before, works[i], memory[1], &host[1][i]);
        from.assign(to.size(), nodes[i]);
        expect("edges are added", cudaGraphAddDependencies(graph, from.data(), to.data(), to.size()), cudaSuccess);
    }
    if (seed % 3 == 1) {
        cudaGraph_t copy;
        expect("a graph is cloned", cudaGraphClone(&copy, graph), cudaSuccess);
        cudaGraphDestroy(graph);
        graph = copy;
    }
    if (seed % 3 == 2) {
        cudaGraph_t parent;
        cudaGraphNode_t node;
        cudaGraphCreate(&parent, 0);
        expect("a child is added", cudaGraphAddChildGraphNode(&node, parent, 0, 0, graph), cudaSuccess);
        cudaGraphDestroy(graph);
        graph = parent;
    }
    cudaGraphExec_t exec;
    expect("is made ready", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    cudaGraphDestroy(graph);
    start(1);
    for (int launch = 0; launch < LAUNCHES; launch++) expect("is launched", cudaGraphLaunch(exec, 0), cudaSuccess);
    cudaGraphExecDestroy(exec);
    // Both sides used the variable, one after the other: it is compared through the buffers.
    for (int b = 0; b < BUFFERS; b++) {
        int values[2][N];
        for (int side = 0; side < 2; side++) {
            cudaMemcpy(values[side], memory[side].at[b], BYTES, cudaMemcpyDefault);
            if (b < half) cudaFree(memory[side].at[b]);
        }
        if (memcmp(values[0], values[1], BYTES)) printf("program %u, buffer %d differs\n", seed, b), wrong++;
    }
}

cudaGraphNode_t set_node(cudaGraph_t graph, int *at, int value, cudaGraphNode_t after = 0) {
    cudaMemsetParams parms = {};
    parms.dst = at, parms.value = value, parms.elementSize = 4, parms.width = N, parms.height = 1;
    cudaGraphNode_t node;
    expect("a fill is added", cudaGraphAddMemsetNode(&node, graph, &after, after ? 1 : 0, &parms), cudaSuccess);
    return node;
}

int first(int *at) {
    int value[N];
    cudaMemcpy(value, at, BYTES, cudaMemcpyDeviceToHost);
    return value[N - 1] == value[0] ? value[0] : -1;
}

int launched(cudaGraph_t graph, int *at) {
    cudaGraphExec_t exec;
    expect("is made ready", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect("is launched", cudaGraphLaunch(exec, 0), cudaSuccess);
    cudaGraphExecDestroy(exec);
    return first(at);
}

void changes() {
    int *at;
    cudaMalloc(&at, BYTES);
    cudaGraph_t graph, copy;
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t one = set_node(graph, at, 1), two = set_node(graph, at, 2), three = set_node(graph, at, 3, two);
    expect("in the order of adding", launched(graph, at), 3);
    expect("an edge", cudaGraphAddDependencies(graph, &three, &one, 1), cudaSuccess);
    expect("three before one", launched(graph, at), 1);
    expect("an edge is there once", cudaGraphAddDependencies(graph, &three, &one, 1), cudaErrorInvalidValue);
    expect("no edge to itself", cudaGraphAddDependencies(graph, &one, &one, 1), cudaErrorInvalidValue);
    size_t count = 0;
    expect("edges", cudaGraphGetEdges(graph, 0, 0, &count), cudaSuccess);
    expect("number of edges", count, 2);
    count = 4;
    cudaGraphNode_t list[4], other[4];
    expect("list of edges", cudaGraphGetEdges(graph, list, other, &count), cudaSuccess);
    expect("the second edge", count == 2 && list[1] == two && other[1] == three && !list[2], 1);
    count = 4;
    expect("roots", cudaGraphGetRootNodes(graph, list, &count), cudaSuccess);
    expect("the one root", count == 1 && list[0] == two, 1);
    count = 4;
    expect("dependences", cudaGraphNodeGetDependencies(one, list, &count), cudaSuccess);
    expect("of one", count == 1 && list[0] == three, 1);
    count = 4;
    expect("dependents", cudaGraphNodeGetDependentNodes(two, list, &count), cudaSuccess);
    expect("of two", count == 1 && list[0] == three, 1);
    cudaGraphNodeType type;
    expect("type", cudaGraphNodeGetType(one, &type), cudaSuccess);
    expect("a fill", type, cudaGraphNodeTypeMemset);

    // A circle is found when the graph is made ready.
    cudaGraphExec_t exec;
    expect("a circle", cudaGraphAddDependencies(graph, &one, &two, 1), cudaSuccess);
    expect("is refused", cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
    expect("the edge goes", cudaGraphRemoveDependencies(graph, &one, &two, 1), cudaSuccess);
    expect("and is not there", cudaGraphRemoveDependencies(graph, &one, &two, 1), cudaErrorInvalidValue);

    // A copy has nodes of its own.
    cudaGraphNode_t found;
    expect("is cloned", cudaGraphClone(&copy, graph), cudaSuccess);
    expect("is found", cudaGraphNodeFindInClone(&found, one, copy), cudaSuccess);
    expect("is another", found != one, 1);
    expect("is removed", cudaGraphDestroyNode(found), cudaSuccess);
    expect("is gone", cudaGraphDestroyNode(found), cudaErrorInvalidValue);
    expect("the copy", launched(copy, at), 3);
    expect("the original", launched(graph, at), 1);

    // What was made ready has the nodes it had, and is changed by their names.
    expect("is made ready", cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    cudaMemsetParams parms = {};
    parms.dst = at, parms.value = 9, parms.elementSize = 4, parms.width = N, parms.height = 1;
    expect("is changed", cudaGraphMemsetNodeSetParams(one, &parms), cudaSuccess);
    expect("the graph", launched(graph, at), 9);
    cudaGraphLaunch(exec, 0);
    expect("not what was made ready", first(at), 1);
    parms.value = 8;
    expect("is changed", cudaGraphExecMemsetNodeSetParams(exec, one, &parms), cudaSuccess);
    cudaGraphLaunch(exec, 0);
    expect("what was made ready", first(at), 8);
    expect("is left out", cudaGraphNodeSetEnabled(exec, one, 0), cudaSuccess);
    unsigned enabled = 1;
    expect("is asked", cudaGraphNodeGetEnabled(exec, one, &enabled), cudaSuccess);
    expect("is left out", enabled, 0);
    cudaGraphLaunch(exec, 0);
    expect("without it", first(at), 3);
    cudaGraphNodeSetEnabled(exec, one, 1);

    // An update needs the same shape and the same kinds.
    cudaGraphExecUpdateResultInfo result;
    expect("is updated", cudaGraphExecUpdate(exec, graph, &result), cudaSuccess);
    cudaGraphLaunch(exec, 0);
    expect("the graph's", first(at), 9);
    expect("another shape", cudaGraphExecUpdate(exec, copy, &result), cudaErrorGraphExecUpdateFailure);
    expect("and why", result.result, cudaGraphExecUpdateErrorTopologyChanged);
    cudaGraphLaunch(exec, 0);
    expect("is as it was", first(at), 9);
    cudaHostNodeParams host = {host_work, 0};
    expect("another kind", cudaGraphHostNodeSetParams(one, &host), cudaErrorInvalidValue);
    cudaGraphDestroy(graph);
    cudaGraphDestroy(copy);
    expect("is launched without its graph", cudaGraphLaunch(exec, 0), cudaSuccess);
    expect("its node is gone", cudaGraphNodeGetType(one, &type), cudaErrorInvalidValue);
    cudaGraphExecDestroy(exec);
    expect("is gone", cudaGraphLaunch(exec, 0), cudaErrorInvalidValue);

    // Nodes of one graph are not another's.
    cudaGraph_t a, b;
    cudaGraphCreate(&a, 0);
    cudaGraphCreate(&b, 0);
    cudaGraphNode_t in_a = set_node(a, at, 1), in_b = set_node(b, at, 2);
    expect("across graphs", cudaGraphAddDependencies(a, &in_a, &in_b, 1), cudaErrorInvalidValue);
    expect("after another's", cudaGraphAddEmptyNode(&found, a, &in_b, 1), cudaErrorInvalidValue);
    cudaGraphDestroy(a);
    cudaGraphDestroy(b);
    cudaFree(at);
    cudaGetLastError();
}

// What breaks a capture, and how the interface says so.
void captures() {
    int *at, value = 0;
    cudaMalloc(&at, BYTES);
    cudaStream_t a, b, free;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking);
    cudaEvent_t event, outside;
    cudaEventCreate(&event);
    cudaEventCreate(&outside);
    cudaGraph_t graph;
    cudaStreamCaptureStatus status;
    auto begin = [&](cudaStream_t s) {
        expect("begins", cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
    };
    expect("not the default stream", cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal),
           cudaErrorStreamCaptureUnsupported);
    expect("nothing to end", cudaStreamEndCapture(a, &graph), cudaErrorIllegalState);

    begin(a);
    expect("work in the default stream", cudaMemcpy(at, &value, 4, cudaMemcpyHostToDevice),
           cudaErrorStreamCaptureImplicit);
    cudaStreamIsCapturing(a, &status);
    expect("is worth nothing", status, cudaStreamCaptureStatusInvalidated);
    expect("more work", cudaMemsetAsync(at, 0, 4, a), cudaErrorStreamCaptureInvalidated);
    expect("ends", cudaStreamEndCapture(a, &graph), cudaErrorStreamCaptureInvalidated);
    expect("no graph", graph == 0, 1);

    begin(free);
    expect("work beside one that does not wait", cudaMemcpy(at, &value, 4, cudaMemcpyHostToDevice), cudaSuccess);
    expect("ends", cudaStreamEndCapture(free, &graph), cudaSuccess);
    cudaGraphDestroy(graph);

    begin(a);
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event, 0);
    cudaMemsetAsync(at, 0, 4, b);
    expect("not where it began", cudaStreamEndCapture(b, &graph), cudaErrorStreamCaptureUnmatched);
    expect("ends", cudaStreamEndCapture(a, &graph), cudaErrorStreamCaptureInvalidated);

    begin(a);
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event, 0);
    cudaMemsetAsync(at, 0, 4, b);
    expect("not joined", cudaStreamEndCapture(a, &graph), cudaErrorStreamCaptureUnjoined);

    begin(a);
    begin(b);
    cudaEventRecord(event, a);
    expect("two captures", cudaStreamWaitEvent(b, event, 0), cudaErrorStreamCaptureMerge);
    cudaStreamEndCapture(a, &graph);
    cudaStreamEndCapture(b, &graph);

    cudaEventRecord(outside, 0);
    begin(a);
    expect("what was before", cudaStreamWaitEvent(a, outside, 0), cudaErrorStreamCaptureIsolation);
    cudaStreamEndCapture(a, &graph);

    begin(a);
    cudaEventRecord(event, a);
    expect("an event in it", cudaEventQuery(event), cudaErrorCapturedEvent);
    cudaStreamEndCapture(a, &graph);

    begin(a);
    expect("waiting for everything", cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    cudaStreamEndCapture(a, &graph);
    begin(a);
    void *block;
    expect("an allocation", cudaMalloc(&block, 64), cudaErrorStreamCaptureUnsupported);
    cudaStreamEndCapture(a, &graph);
    expect("relaxed", cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed), cudaSuccess);
    expect("an allocation", cudaMalloc(&block, 64), cudaSuccess);
    expect("ends", cudaStreamEndCapture(a, &graph), cudaSuccess);
    cudaFree(block);
    cudaFree(at);
    cudaGetLastError();
}

int main() {
    for (unsigned seed = 1; seed <= 20; seed++) program(seed);
    changes();
    captures();
    expect("last error", cudaGetLastError(), cudaSuccess);
    printf("%d wrong\n%s\n", wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
