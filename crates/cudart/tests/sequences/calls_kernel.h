// Launches, attributes of kernels, occupancy, and kernels that fault.
#pragma once
#include "calls_capture.h"

// A launch with what its arguments point to.
struct Launch {
    KernelWork work;
    const void *function;
    dim3 grid, block;
    size_t shared = 0;
    string text;
    // What the arguments are.
    uint8_t *to = nullptr, *from = nullptr;
    int count = 0, value = 0, width = 1;
    List list;
    cudaTextureObject_t texture = 0;
    vector<void *> arguments;

    void set_arguments() {
        switch (work.which) {
        case KSet: arguments = {&to, &count, &value}; break;
        case KAdd: arguments = {&to, &from, &count}; break;
        case KReverse:
        case KMix: arguments = {&to, &count}; break;
        case KSpread: arguments = {&to, &list, &count}; break;
        case KTexels: arguments = {&to, &texture, &width, &count}; break;
        default: arguments = {nullptr};
        }
    }
};

// Memory that kernels can use, not constant if it is written.
inline uint8_t *kernel_memory(World &w, bool is_written, Shape &shape, size_t &most) {
    vector<std::pair<BlockRef, std::pair<size_t, size_t>>> list;
    for (BlockRef &b : w.blocks) {
        if (b->kind == Block::Array || !b->size || b == table_block) continue;
        if (b->kind == Block::Host)
            for (auto &range : b->registered) list.push_back({b, range});
        else list.push_back({b, {0, b->size}});
    }
    auto &found = w.r.of(list);
    size_t skip = w.r.chance(60) ? 0 : w.r.below(found.second.second);
    shape.block = found.first;
    shape.offset = found.second.first + skip;
    most = found.second.second - skip;
    (void)is_written;
    return shape.block->at + shape.offset;
}

// A launch whose arguments are right.
inline void a_launch(World &w, Launch &l) {
    KernelWork &k = l.work;
    TextureRef texture;
    for (int tries = 0; tries < 3 && !texture && !w.textures.empty(); tries++) {
        texture = w.r.of(w.textures);
        if (texture->is_surface || !texture->block) texture = nullptr;
    }
    k.which = w.r.of<int>({KNothing, KSet, KSet, KAdd, KAdd, KReverse, KMix, KSpread, texture ? KTexels : KSet});
    l.function = kernel_address(k.which);
    l.grid = dim3(w.r.in(1, 3), w.r.chance(80) ? 1 : 2, w.r.chance(90) ? 1 : 2);
    l.block = dim3(w.r.in(1, 24), w.r.chance(80) ? 1 : 3, w.r.chance(90) ? 1 : 2);
    if (w.r.chance(2)) l.block = dim3(1024);
    size_t most = 0, other = 0;
    l.to = kernel_memory(w, true, k.to, most);
    if (k.which == KAdd) {
        l.from = kernel_memory(w, false, k.from, other);
        if (other < most) most = other;
    }
    k.count = w.r.in(1, most < 400 ? most : 400);
    if (k.which == KReverse) {
        l.grid = dim3(1);
        l.shared = k.count + (w.r.chance(80) ? 0 : w.r.below(2000));
    }
    k.value = l.value = w.r.below(256);
    for (int i = 0; i < 16; i++) l.list.values[i] = k.list[i] = w.r.next();
    if (k.which == KTexels) {
        k.from.block = texture->block;
        l.texture = texture->handle;
        l.width = texture->block->width;
    }
    l.count = k.count;
    string to = say(w, l.to);
    if (l.from) to += " from " + say(w, l.from);
    l.text = format("%s(%s, %zu)", kernel_name(k.which), to.c_str(), k.count);
}

// Makes a launch wrong, sometimes.
inline void spoil(World &w, Call &c, Launch &l) {
    int which = w.r.below(100);
    if (which < 80) return;
    if (which < 84) {
        unsigned &n = w.r.of<std::reference_wrapper<unsigned>>({l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z});
        n = 0;
        c.no({cudaErrorInvalidConfiguration});
    } else if (which < 88) {
        if (w.r.chance(50)) l.block = w.r.of({dim3(1025), dim3(32, 33), dim3(1, 1, 65), dim3(1u << 31), dim3(65536, 65536)});
        else l.grid = w.r.of({dim3(1, 65536), dim3(1, 1, 65536), dim3(1u << 31), dim3(~0u, ~0u, ~0u)});
        c.no({cudaErrorInvalidConfiguration});
    } else if (which < 92) {
        l.shared = w.r.of<size_t>({w.shared_limit + 1, MOST, (size_t)1 << 32, ((size_t)1 << 32) + 16, (size_t)1 << 31});
        // InvalidConfiguration by its text, InvalidValue in practice.
        c.no({cudaErrorInvalidConfiguration, cudaErrorInvalidValue});
    } else if (which < 95) {
        static long nobody[32];
        l.function = w.r.chance(70) ? (const void *)nobody : nullptr;
        // There is no function at null.
        c.no({cudaErrorInvalidDeviceFunction});
        if (!l.function) c.no({cudaErrorInvalidValue});
    }
}
inline string say(const Launch &l) {
    return format("%s<<<{%u, %u, %u}, {%u, %u, %u}, %s>>>", l.text.c_str(), l.grid.x, l.grid.y, l.grid.z, l.block.x,
                  l.block.y, l.block.z, number(l.shared).c_str());
}

inline bool call_launch(World &w) {
    Call c;
    Launch l;
    Op op;
    StreamRef s;
    a_launch(w, l);
    spoil(w, c, l);
    l.set_arguments();
    cudaStream_t stream = w.stream(c, s);
    op.type = Op::Kernel;
    op.kernel = l.work;
    bool is_null = w.r.chance(2) && l.work.which != KNothing;
    if (is_null) c.no({cudaErrorInvalidValue});
    void **arguments = is_null ? nullptr : l.arguments.data();
    w.enter(c, s);
    int way = w.r.of({0, 0, 0, 1, 2, 3});
    if (way == 2 && w.r.chance(70)) way = 0;
    if (way == 3 && (l.work.which != KSet || is_null || l.function != kernel_address(KSet))) way = 0;
    const char *names[] = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel", "launch"};
    c.text = format("%s(%s, %s%s)", names[way], say(l).c_str(), w.say(s).c_str(), is_null ? ", no arguments" : "");
    if (way == 2) {
        // The grids of right launches are small; those of wrong ones may be too large first.
        if (!c.wrong.empty()) c.no({cudaErrorCooperativeLaunchTooLarge});
        c.may({cudaErrorCooperativeLaunchTooLarge});
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = l.grid;
    config.blockDim = l.block;
    config.dynamicSmemBytes = l.shared;
    config.stream = stream;
    int got;
    if (way == 0) got = cudaLaunchKernel(l.function, l.grid, l.block, arguments, l.shared, stream);
    else if (way == 1) got = cudaLaunchKernelExC(&config, l.function, arguments);
    else if (way == 2) got = cudaLaunchCooperativeKernel(l.function, l.grid, l.block, arguments, l.shared, stream);
    else {
        // The error of the launch is the last one then; there is none before it.
        cudaGetLastError();
        set<<<l.grid, l.block, l.shared, stream>>>(l.to, l.count, l.value);
        got = cudaPeekAtLastError();
        w.last = 0;
    }
    if (w.judge(c, got)) w.submit(s, op, cudaGraphNodeTypeKernel);
    return true;
}

// A kernel that faults, after which every call gives its error.
inline bool call_fault(World &w) {
    Call c;
    StreamRef s;
    vector<BlockRef> list;
    for (BlockRef &b : w.blocks)
        if (b->kind == Block::Device && !b->fixed && b->size >= 8) list.push_back(b);
    if (list.empty() || !w.captures.empty()) return false;
    BlockRef block = w.r.of(list);
    int kind = w.r.of<int>({Outside, Misaligned, Trap});
    int codes[] = {cudaErrorIllegalAddress, cudaErrorMisalignedAddress, cudaErrorLaunchFailure};
    cudaStream_t stream = w.stream(c, s);
    uint8_t *at = block->at;
    void *arguments[] = {&kind, &at};
    c.text = format("cudaLaunchKernel(fault %d, %s)", kind, w.say(s).c_str());
    // It faults now or later.
    c.may({codes[kind]});
    bool is_wrong = !c.wrong.empty();
    int got = cudaLaunchKernel((const void *)fault, dim3(1), dim3(1), arguments, 0, stream);
    if (is_wrong) {
        w.judge(c, got);
        return true;
    }
    w.judge(c, got);
    w.sticky = codes[kind];
    w.number++;
    Call after;
    after.text = "cudaDeviceSynchronize() after the fault";
    w.judge(after, cudaDeviceSynchronize());
    return true;
}

// A kernel by its address, or nothing with its complaint.
inline const void *a_function(World &w, Call &c, int &which) {
    static long nobody[32];
    bool is_right = w.r.chance(92);
    which = is_right ? w.r.below(Kernels + 1) : -1;
    if (is_right) return which == Kernels ? (const void *)roomy : kernel_address(which);
    c.no({cudaErrorInvalidDeviceFunction});
    if (w.r.chance(80)) return nobody;
    c.no({cudaErrorInvalidValue});
    return nullptr;
}
inline string say_function(int which) {
    return which < 0 ? "a wrong function" : which == Kernels ? "roomy" : kernel_name(which);
}
inline size_t static_shared(int which) { return which == Kernels ? 8192 : 0; }

inline bool call_function_attributes(World &w) {
    Call c;
    int which;
    const void *function = a_function(w, c, which);
    if (w.r.chance(50)) {
        Out<cudaFuncAttributes> out;
        cudaFuncAttributes *at = w.place(c, out);
        c.text = format("cudaFuncGetAttributes(%s, %s)", w.or_null(at), say_function(which).c_str());
        if (!w.judge(c, cudaFuncGetAttributes(at, function), out)) return true;
        w.demand(out.value.sharedSizeBytes == static_shared(which), "the shared memory of the kernel");
        w.demand(out.value.maxThreadsPerBlock > 0 && out.value.maxThreadsPerBlock <= 1024, "threads of a block");
        return true;
    }
    int attribute = w.r.of({8, 8, 8, 9, 0, 3, 7, 99, -1});
    int limit = w.shared_limit, value = w.r.of({0, 1024, limit - 8192, limit - 8191, limit, limit + 1, INT_MAX, -1, 50, 101});
    c.text = format("cudaFuncSetAttribute(%s, %d, %d)", say_function(which).c_str(), attribute, value);
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        if (value < 0 || value + (int64_t)static_shared(which) > limit) c.no({cudaErrorInvalidValue});
    } else if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
        if (value < -1 || value > 100) c.no({cudaErrorInvalidValue});
    } else c.no({cudaErrorInvalidValue});
    w.judge(c, cudaFuncSetAttribute(function, (cudaFuncAttribute)attribute, value));
    return true;
}

inline bool call_occupancy(World &w) {
    Call c;
    int which;
    const void *function = a_function(w, c, which);
    int threads = w.r.of({1, 32, 64, 100, 256, 1024, 1025, 0, -5, INT_MAX});
    if (w.r.chance(30)) {
        Out<size_t> out;
        size_t *at = w.place(c, out);
        int blocks = w.r.of({1, 2, 4, 0, -1});
        if (blocks <= 0) c.no({cudaErrorInvalidValue});
        // How many threads there may be is not said.
        if (threads > 1024 || threads <= 0) c.may({cudaErrorInvalidValue});
        c.text = format("cudaOccupancyAvailableDynamicSMemPerBlock(%s, %s, %d, %d)", w.or_null(at),
                        say_function(which).c_str(), blocks, threads);
        // More blocks than there is room for are not settled.
        if (blocks > 1) c.may({cudaErrorInvalidValue});
        if (w.judge(c, cudaOccupancyAvailableDynamicSMemPerBlock(at, function, blocks, threads), out))
            w.demand(out.value + static_shared(which) <= w.shared_limit, "no more shared memory than there is");
        return true;
    }
    if (threads <= 0) c.no({cudaErrorInvalidValue});
    Out<int> out;
    int *at = w.place(c, out);
    size_t shared = w.r.of<size_t>({0, 0, 100, 10000, w.shared_limit, w.shared_limit + 1, MOST, (size_t)1 << 32,
                                    ((size_t)1 << 32) + 64});
    bool has_flags = w.r.chance(30);
    c.text = format("cudaOccupancyMaxActiveBlocksPerMultiprocessor(%s, %s, %d, %s)", w.or_null(at),
                    say_function(which).c_str(), threads, number(shared).c_str());
    bool is_large = threads > 1024 || shared > w.shared_limit - static_shared(which);
    // None fit, which may be an error.
    if (is_large) c.may({cudaErrorInvalidValue});
    int got = has_flags ? cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(at, function, threads, shared, 0)
                        : cudaOccupancyMaxActiveBlocksPerMultiprocessor(at, function, threads, shared);
    if (!w.judge(c, got, out)) return true;
    if (is_large ? out.value != 0 : out.value < 1) w.fail(format("%d blocks", out.value), is_large ? "none" : "one or more");
    return true;
}

inline bool call_symbol(World &w) {
    Call c;
    static long nobody[32];
    BlockRef block = w.r.chance(50) ? table_block : variable_block;
    bool is_right = w.r.chance(90);
    const void *symbol = is_right ? block->symbol : nobody;
    if (!is_right) c.no({cudaErrorInvalidSymbol});
    string name = is_right ? block->name : "a wrong symbol";
    if (w.r.chance(50)) {
        Out<size_t> out;
        size_t *at = w.place(c, out);
        c.text = format("cudaGetSymbolSize(%s, %s)", w.or_null(at), name.c_str());
        if (w.judge(c, cudaGetSymbolSize(at, symbol), out)) w.demand(out.value == block->size, "the size of the variable");
        return true;
    }
    Out<void *> out;
    void **at = w.place(c, out);
    c.text = format("cudaGetSymbolAddress(%s, %s)", w.or_null(at), name.c_str());
    if (w.judge(c, cudaGetSymbolAddress(at, symbol), out)) w.demand(out.value == block->at, "the same address as before");
    return true;
}
