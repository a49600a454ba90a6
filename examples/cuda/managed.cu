// Managed memory: a linked list that the host builds, the device changes and the host reads, at the same addresses.
#include <cstdio>

struct Node {
    int value;
    Node *next;
};

__global__ void twice(Node *list, int *count) {
    for (Node *node = list; node; node = node->next) {
        node->value *= 2;
        ++*count;
    }
}

int main() {
    const int n = 50;
    Node *nodes;
    int *count;
    cudaMallocManaged(&nodes, n * sizeof(Node));
    cudaMallocManaged(&count, sizeof(int));
    for (int i = 0; i < n; i++) {
        nodes[i].value = i;
        nodes[i].next = i + 1 < n ? &nodes[i + 1] : nullptr;
    }
    *count = 0;
    twice<<<1, 1>>>(nodes, count);
    cudaDeviceSynchronize();
    bool is_right = *count == n;
    for (Node *node = nodes; node; node = node->next) is_right &= node->value == 2 * int(node - nodes);
    cudaPointerAttributes about;
    cudaPointerGetAttributes(&about, nodes);
    is_right &= about.type == cudaMemoryTypeManaged;
    cudaFree(nodes);
    cudaFree(count);
    printf("%s\n", is_right ? "PASS" : "FAIL");
    return !is_right;
}
