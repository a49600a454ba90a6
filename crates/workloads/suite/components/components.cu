// Connected components of a graph: every vertex gets the least number among those it is connected with.
#include "raddle.cuh"

// Each vertex hooks its root under the least one of its neighbours, if that is less. `changed` says that there may be more
// to do.
__global__ void hook(const int *__restrict__ first, const int *__restrict__ neighbours, int count, int *label,
                     int *changed) {
    int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= count) {
        return;
    }
    int own = label[vertex];
    int least = own;
    for (int i = first[vertex]; i < first[vertex + 1]; i++) {
        least = min(least, label[neighbours[i]]);
    }
    if (least < own) {
        atomicMin(&label[own], least);
        *changed = 1;
    }
}

// Each vertex goes up to its root.
__global__ void shorten(int *label, int count) {
    int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= count) {
        return;
    }
    int at = label[vertex];
    while (at != label[at]) {
        at = label[at];
    }
    label[vertex] = at;
}

// The vertices of each component.
__global__ void count_members(const int *__restrict__ label, int count, int *__restrict__ members) {
    int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex < count) {
        atomicAdd(&members[label[vertex]], 1);
    }
}
