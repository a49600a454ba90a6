// Breadth-first search, one level of the graph at a time, one thread for each node.
#include "raddle.cuh"

// Every node of the frontier tells its neighbours their distance.
__global__ void expand(const unsigned *__restrict__ first_edge, const unsigned *__restrict__ edges,
                       unsigned char *frontier, unsigned char *next, const unsigned char *__restrict__ visited,
                       int *distance, int nodes) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || !frontier[node]) {
        return;
    }
    frontier[node] = 0;
    int further = distance[node] + 1;
    unsigned end = first_edge[node + 1];
    for (unsigned edge = first_edge[node]; edge < end; edge++) {
        unsigned neighbour = edges[edge];
        if (!visited[neighbour]) {
            // Others may write it too, but they write the same.
            distance[neighbour] = further;
            next[neighbour] = 1;
        }
    }
}

// What was found becomes the frontier.
__global__ void advance(unsigned char *frontier, unsigned char *next, unsigned char *visited, int *again, int nodes) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes && next[node]) {
        frontier[node] = 1;
        visited[node] = 1;
        next[node] = 0;
        *again = 1;
    }
}
