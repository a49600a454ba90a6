// Kernels, and what they do in the model. The results do not depend on the number of threads.
#pragma once
#include "blocks.h"

const int TABLE = 64;
__constant__ uint8_t table[TABLE];
__device__ uint8_t variable[256];

struct List {
    uint8_t values[16];
};

#define EACH_THREAD(i, n)                                                                                              \
    for (int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z),                                   \
             size = blockDim.x * blockDim.y * blockDim.z,                                                              \
             i = block * size + threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);                   \
         i < (n); i += size * gridDim.x * gridDim.y * gridDim.z)

__global__ void nothing() {}
__global__ void set(uint8_t *to, int n, int value) {
    EACH_THREAD(i, n) to[i] = value;
}
__global__ void add(uint8_t *to, const uint8_t *from, int n) {
    EACH_THREAD(i, n) to[i] += from[i];
}
// One block, with as many bytes of shared memory.
__global__ void reverse(uint8_t *to, int n) {
    extern __shared__ uint8_t dynamic[];
    EACH_THREAD(i, n) dynamic[i] = to[i];
    __syncthreads();
    EACH_THREAD(i, n) to[i] = dynamic[n - 1 - i];
}
__global__ void mix(uint8_t *to, int n) {
    EACH_THREAD(i, n) to[i] = table[i % TABLE] ^ variable[i % 256];
}
__global__ void spread(uint8_t *to, List list, int n) {
    EACH_THREAD(i, n) to[i] = list.values[i % 16];
}
__global__ void texels(uint8_t *to, cudaTextureObject_t texture, int width, int n) {
    EACH_THREAD(i, n) to[i] = tex2D<uchar1>(texture, i % width + 0.5f, i / width + 0.5f).x;
}
__global__ void roomy(uint8_t *to) {
    __shared__ uint8_t room[8192];
    room[threadIdx.x % 8192] = threadIdx.x;
    __syncthreads();
    if (to) *to = room[0];
}
enum Fault { Outside, Misaligned, Trap, Assert, Faults };
__global__ void fault(int kind, uint8_t *to) {
    if (kind == Outside) *(int *)(uintptr_t)0x40 = 1;
    if (kind == Misaligned) *(int *)(to + 1) = 1;
    if (kind == Trap) __trap();
}

// In the order of their numbers in the model.
enum { KNothing, KSet, KAdd, KReverse, KMix, KSpread, KTexels, Kernels };
inline const void *kernel_address(int which) {
    const void *all[] = {(const void *)nothing, (const void *)set,    (const void *)add,   (const void *)reverse,
                         (const void *)mix,     (const void *)spread, (const void *)texels};
    return all[which];
}
inline const char *kernel_name(int which) {
    const char *names[] = {"nothing", "set", "add", "reverse", "mix", "spread", "texels"};
    return names[which];
}

// The variables, which are blocks too.
inline BlockRef table_block, variable_block;

inline void do_kernel(const KernelWork &k) {
    Block *to = k.to.block.get(), *from = k.from.block.get();
    size_t start = k.to.offset;
    switch (k.which) {
    case KSet:
        for (size_t i = 0; i < k.count; i++) to->write(start + i, k.value);
        break;
    case KAdd: {
        size_t other = k.from.offset;
        bool overlaps = to == from && start != other && start < other + k.count && other < start + k.count;
        for (size_t i = 0; i < k.count; i++)
            to->write(start + i, to->bytes[start + i] + from->bytes[other + i],
                      to->known[start + i] && from->known[other + i] && !overlaps);
        break;
    }
    case KReverse: {
        vector<uint8_t> bytes(to->bytes.begin() + start, to->bytes.begin() + start + k.count);
        vector<uint8_t> known(to->known.begin() + start, to->known.begin() + start + k.count);
        for (size_t i = 0; i < k.count; i++) to->write(start + i, bytes[k.count - 1 - i], known[k.count - 1 - i]);
        break;
    }
    case KMix: {
        bool overlaps = to == variable_block.get() || to == table_block.get();
        vector<std::pair<uint8_t, bool>> mixed;
        for (size_t i = 0; i < k.count; i++)
            mixed.push_back({table_block->bytes[i % TABLE] ^ variable_block->bytes[i % 256],
                             table_block->known[i % TABLE] && variable_block->known[i % 256]});
        for (size_t i = 0; i < k.count; i++) to->write(start + i, mixed[i].first, mixed[i].second && !overlaps);
        break;
    }
    case KSpread:
        for (size_t i = 0; i < k.count; i++) to->write(start + i, k.list[i % 16]);
        break;
    case KTexels:
        // Coordinates beyond the last row give the last row.
        for (size_t i = 0; i < k.count; i++) {
            size_t width = from->width, y = i / width, last = (from->rows ? from->rows : 1) - 1;
            size_t at = (y < last ? y : last) * from->row() + i % width;
            to->write(start + i, from->bytes[at], from->known[at]);
        }
        break;
    default: break;
    }
}

inline void kernel_accesses(const KernelWork &k, vector<Access> &list) {
    if (k.which == KNothing) return;
    list.push_back({k.to.block.get(), k.to.offset, k.to.offset + k.count, true});
    if (k.which == KAdd) list.push_back({k.from.block.get(), k.from.offset, k.from.offset + k.count, false});
    if (k.which == KTexels) list.push_back({k.from.block.get(), 0, k.from.block->size, false});
    if (k.which == KMix) {
        list.push_back({table_block.get(), 0, table_block->size, false});
        list.push_back({variable_block.get(), 0, variable_block->size, false});
    }
}
