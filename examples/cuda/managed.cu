// Managed memory: a linked list that the host builds, the device changes and the host reads, at the same addresses; and
// managed variables, which both sides use by name.
#include <cstdio>

struct Node {
    int value;
    Node *next;
};

__managed__ int visits = 3;
__managed__ Node pool[10];
__device__ __managed__ Node *head;

__global__ void twice(Node *list, int *count) {
    for (Node *node = list; node; node = node->next) {
        node->value *= 2;
        ++*count;
    }
    visits++;
}

__global__ void push(Node *nodes, int n) {
    for (int i = 0; i < n; i++) {
        nodes[i].value += i;
        nodes[i].next = head;
        head = &pool[i];
    }
    visits++;
}

int main() {
    const int n = 50;
    bool is_right = visits == 3 && !head;
    visits = 10;
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
    is_right &= *count == n && visits == 11;
    for (Node *node = nodes; node; node = node->next) is_right &= node->value == 2 * int(node - nodes);

    for (Node &node : pool) node.value = 100;
    push<<<1, 1>>>(pool, 10);
    cudaDeviceSynchronize();
    int length = 0;
    for (Node *node = head; node; node = node->next, length++) is_right &= node->value == 100 + int(node - pool);
    is_right &= length == 10 && visits == 12;

    cudaPointerAttributes about;
    cudaPointerGetAttributes(&about, nodes);
    is_right &= about.type == cudaMemoryTypeManaged;
    cudaPointerGetAttributes(&about, pool);
    is_right &= about.type == cudaMemoryTypeManaged;
    cudaFree(nodes);
    cudaFree(count);
    printf("%s\n", is_right ? "PASS" : "FAIL");
    return !is_right;
}
