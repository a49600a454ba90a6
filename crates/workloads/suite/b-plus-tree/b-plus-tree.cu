// Searches in a B+ tree: a block for each query, a thread for each key of a node.
#include "raddle.cuh"

#define ORDER 256

// A node's keys are sorted; those it does not use are the largest number. In an inner node, a key is the smallest of the
// child's; in a leaf, links are places of records.
struct Node {
    int keys[ORDER];
    int links[ORDER];
};

// The thread of the last key that is not larger than `wanted` says so.
static __device__ __forceinline__ bool is_last_not_above(const Node *node, int thread, int wanted) {
    return node->keys[thread] <= wanted && (thread + 1 == ORDER || wanted < node->keys[thread + 1]);
}

// The record of each key, or -1.
__global__ void __launch_bounds__(256, 5) find_k(const Node *__restrict__ nodes, const int *__restrict__ records, const int *__restrict__ wanted,
                       int *__restrict__ answers, int height) {
    __shared__ int current;
    const int thread = threadIdx.x;
    const int key = wanted[blockIdx.x];
    if (thread == 0) {
        current = 0;
    }
    __syncthreads();

    for (int level = 1; level < height; level++) {
        const Node *node = nodes + current;
        bool is_next = is_last_not_above(node, thread, key);
        // All threads have read it before one changes it.
        __syncthreads();
        if (is_next) {
            current = node->links[thread];
        }
        __syncthreads();
    }

    const Node *leaf = nodes + current;
    if (leaf->keys[thread] == key) {
        answers[blockIdx.x] = records[leaf->links[thread]];
    }
}

// Where the records of the keys from `starts` up to `ends` begin, and how many there are. Both keys are in the tree.
__global__ void __launch_bounds__(256, 5) find_range_k(const Node *__restrict__ nodes, const int *__restrict__ starts,
                             const int *__restrict__ ends, int *__restrict__ firsts, int *__restrict__ lengths,
                             int height) {
    __shared__ int current, last, first_link, last_link;
    const int thread = threadIdx.x;
    const int start = starts[blockIdx.x];
    const int end = ends[blockIdx.x];
    if (thread == 0) {
        current = 0;
        last = 0;
    }
    __syncthreads();

    for (int level = 1; level < height; level++) {
        const Node *node = nodes + current;
        const Node *last_node = nodes + last;
        bool is_next = is_last_not_above(node, thread, start);
        bool is_last_next = is_last_not_above(last_node, thread, end);
        __syncthreads();
        if (is_next) {
            current = node->links[thread];
        }
        if (is_last_next) {
            last = last_node->links[thread];
        }
        __syncthreads();
    }

    if (nodes[current].keys[thread] == start) {
        first_link = nodes[current].links[thread];
    }
    if (nodes[last].keys[thread] == end) {
        last_link = nodes[last].links[thread];
    }
    __syncthreads();
    if (thread == 0) {
        firsts[blockIdx.x] = first_link;
        lengths[blockIdx.x] = last_link - first_link + 1;
    }
}
