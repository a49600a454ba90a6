// Calls that allocate and free, and those that ask about addresses.
#pragma once
#include "memory.h"

// A size to allocate: mostly small.
inline size_t alloc_size(World &w) {
    int which = w.r.below(100);
    if (which < 88) return w.r.in(1, which < 44 ? 300 : 2000);
    if (which < 93) return 0;
    return w.r.of<size_t>({MOST, MOST - w.r.below(600), (size_t)1 << 63, (size_t)1 << 40, MOST / 2 + 1});
}
inline bool is_huge(size_t n) { return n >= (size_t)1 << 36; }

// Takes note of memory that was allocated.
inline BlockRef keep(World &w, Block::Kind kind, const char *name, void *at, size_t size) {
    BlockRef block = std::make_shared<Block>(kind, w.name(name), at, size);
    if (size && !at) w.fail("a null pointer", "memory");
    for (BlockRef &other : w.blocks)
        if (size && other->at && block->at < other->at + other->size && other->at < block->at + size)
            w.fail("memory that " + other->name + " has", "memory that is free");
    for (size_t i = 0; i < w.freed.size(); i++)
        if (w.freed[i].first < block->at + size && block->at < w.freed[i].first + w.freed[i].second)
            w.freed.erase(w.freed.begin() + i--);
    w.drop(w.freed_host, block->at);
    w.blocks.push_back(block);
    return block;
}

// Sizes with which an allocation must, or may, fail.
inline void judge_size(Call &c, Wide bytes, bool is_empty) {
    if (bytes >= (Wide)1 << 36) c.no({cudaErrorMemoryAllocation, cudaErrorInvalidValue});
    // What comes of nothing is not said.
    if (is_empty) c.may({cudaErrorInvalidValue});
}

inline bool call_malloc(World &w) {
    Call c;
    Out<void *> out;
    void **at = w.place(c, out);
    size_t size = alloc_size(w);
    c.text = format("cudaMalloc(%s, %s)", w.or_null(at), number(size).c_str());
    if (is_huge(size)) c.no({cudaErrorMemoryAllocation});
    if (size == 0) c.may({cudaErrorInvalidValue});
    if (w.is_prohibited()) {
        c.no({cudaErrorStreamCaptureUnsupported});
        c.doubtful = w.captures;
    }
    if (!w.judge(c, cudaMalloc(at, size), out)) return true;
    if (size) keep(w, Block::Device, "device", out.value, size);
    else if (out.value && cudaFree(out.value)) w.fail("memory of no bytes that cannot be freed", "none or some");
    return true;
}

inline bool call_malloc_async(World &w) {
    Call c;
    Out<void *> out;
    StreamRef s;
    void **at = w.place(c, out);
    cudaStream_t stream = w.stream(c, s);
    size_t size = alloc_size(w);
    c.text = format("cudaMallocAsync(%s, %s, %s)", w.or_null(at), number(size).c_str(), w.say(s).c_str());
    if (is_huge(size)) c.no({cudaErrorMemoryAllocation});
    if (size == 0) c.may({cudaErrorInvalidValue});
    w.enter(c, s);
    // Nodes that allocate are not supported.
    if (s && s->capture) c.no({cudaErrorNotSupported});
    bool was_valid = s && s->capture && !s->capture->is_invalid;
    cudaError_t got = cudaMallocAsync(at, size, stream);
    bool is_done = w.judge(c, got, out);
    if (was_valid && got == cudaErrorNotSupported) w.demand(!s->capture->is_invalid, "the capture stays as it was");
    if (!is_done) return true;
    if (size) keep(w, Block::Device, "pooled", out.value, size)->pooled = true;
    else if (out.value && cudaFree(out.value)) w.fail("memory of no bytes that cannot be freed", "none or some");
    return true;
}

inline bool call_malloc_pitch(World &w) {
    Call c;
    Out<void *> out;
    Out<size_t> pitch;
    void **at = w.place(c, out);
    size_t *pitch_at = w.place(c, pitch);
    size_t width = alloc_size(w), height = w.r.chance(85) ? w.r.in(1, 6) : alloc_size(w);
    if (width < 1 << 20 && width * (Wide)height < (Wide)1 << 36 && width * (Wide)height > 1 << 20) height = 3;
    c.text = format("cudaMallocPitch(%s, %s, %s, %s)", w.or_null(at), w.or_null(pitch_at), number(width).c_str(),
                    number(height).c_str());
    judge_size(c, (Wide)width * height, !width || !height);
    // Of a row of no bytes there may be too many.
    if (is_huge(width) || is_huge(height)) c.may({cudaErrorMemoryAllocation});
    w.unsafe(c);
    if (!w.judge(c, cudaMallocPitch(at, pitch_at, width, height), out)) {
        w.demand(w.sticky || pitch.is_untouched(), "no pitch is written");
        return true;
    }
    if (!width || !height) {
        if (out.value && cudaFree(out.value)) w.fail("memory of no bytes that cannot be freed", "none or some");
        return true;
    }
    w.demand(pitch.value >= width && pitch.value < width + 4096, "a pitch that holds a row");
    BlockRef block = keep(w, Block::Device, "pitched", out.value, pitch.value * height);
    block->pitch = pitch.value;
    block->height = height;
    return true;
}

inline bool call_malloc_3d(World &w) {
    Call c;
    Out<cudaPitchedPtr> out;
    cudaPitchedPtr *at = w.place(c, out);
    auto few = [&] { return w.r.chance(88) ? w.r.in(1, 4) : w.r.of<size_t>({0, MOST, (size_t)1 << 63, (size_t)1 << 40}); };
    cudaExtent e = make_cudaExtent(w.r.chance(90) ? w.r.in(1, 300) : alloc_size(w), few(), few());
    c.text = format("cudaMalloc3D(%s, {%s, %s, %s})", w.or_null(at), number(e.width).c_str(), number(e.height).c_str(),
                    number(e.depth).c_str());
    bool is_empty = !e.width || !e.height || !e.depth;
    bool is_large = is_huge(e.width) || is_huge(e.height) || is_huge(e.depth);
    if (is_large && !is_empty) c.no({cudaErrorMemoryAllocation, cudaErrorInvalidValue});
    if (is_empty) c.may({cudaErrorInvalidValue, cudaErrorMemoryAllocation});
    w.unsafe(c);
    if (!w.judge(c, cudaMalloc3D(at, e), out)) return true;
    if (is_empty) {
        if (out.value.ptr && cudaFree(out.value.ptr)) w.fail("memory of no bytes that cannot be freed", "none or some");
        return true;
    }
    w.demand(out.value.pitch >= e.width, "a pitch that holds a row");
    w.demand(out.value.xsize == e.width && out.value.ysize == e.height, "the sizes that were asked for");
    BlockRef block = keep(w, Block::Device, "volume", out.value.ptr, out.value.pitch * e.height * e.depth);
    block->pitch = out.value.pitch;
    block->height = e.height;
    return true;
}

inline bool call_malloc_host(World &w) {
    Call c;
    Out<void *> out;
    void **at = w.place(c, out);
    size_t size = alloc_size(w);
    bool has_flags = w.r.chance(60);
    unsigned flags = w.r.chance(85) ? w.r.below(8) : w.r.of<unsigned>({8, 64, 1u << 31});
    if (has_flags && flags > 7) c.no({cudaErrorInvalidValue});
    c.text = has_flags ? format("cudaHostAlloc(%s, %s, %u)", w.or_null(at), number(size).c_str(), flags)
                       : format("cudaMallocHost(%s, %s)", w.or_null(at), number(size).c_str());
    if (is_huge(size)) c.no({cudaErrorMemoryAllocation});
    if (size == 0) c.may({cudaErrorInvalidValue});
    w.unsafe(c);
    cudaError_t got = has_flags ? cudaHostAlloc(at, size, flags) : cudaMallocHost(at, size);
    if (!w.judge(c, got, out)) return true;
    if (size) keep(w, Block::Pinned, "pinned", out.value, size)->flags = has_flags ? flags : 0;
    else if (out.value && cudaFreeHost(out.value)) w.fail("memory of no bytes that cannot be freed", "none or some");
    return true;
}

inline bool call_malloc_managed(World &w) {
    Call c;
    Out<void *> out;
    void **at = w.place(c, out);
    size_t size = alloc_size(w);
    unsigned flags = w.r.chance(90) ? w.r.in(1, 2) : w.r.of<unsigned>({0, 4, 3, 99});
    c.text = format("cudaMallocManaged(%s, %s, %u)", w.or_null(at), number(size).c_str(), flags);
    if (flags != 1 && flags != 2) c.no({cudaErrorInvalidValue});
    if (size == 0) c.no({cudaErrorInvalidValue});
    if (is_huge(size)) c.no({cudaErrorMemoryAllocation});
    w.unsafe(c);
    if (!w.judge(c, cudaMallocManaged(at, size, flags), out)) return true;
    keep(w, Block::Managed, "managed", out.value, size);
    return true;
}

inline bool call_register(World &w) {
    Call c;
    BlockRef block = a_block(w, w.r.chance(5), w.r.chance(5), true);
    if (!block || block->fixed && block->kind != Block::Host) return false;
    size_t offset = w.r.chance(50) ? 0 : w.r.below(block->size), size = a_size(w, block->size - offset);
    uint8_t *p = w.r.chance(4) ? nullptr : block->at + offset;
    unsigned flags = w.r.chance(90) ? w.r.below(4) : w.r.of<unsigned>({8, 256});
    c.text = format("cudaHostRegister(%s, %s, %u)", say(w, p).c_str(), number(size).c_str(), flags);
    bool is_host = block->kind == Block::Host;
    if (!p || !size) c.no({cudaErrorInvalidValue});
    // Memory that is not there cannot be locked; the documentation names two errors, and some of it may be registered.
    if (is_huge(size)) c.no({cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorHostMemoryAlreadyRegistered});
    else if (p && is_host && offset + size > block->size) return false;
    if (p && !is_host) c.no({cudaErrorInvalidValue, cudaErrorHostMemoryAlreadyRegistered});
    if (flags > 15) c.no({cudaErrorInvalidValue});
    int is_read_only_supported = 0;
    cudaDeviceGetAttribute(&is_read_only_supported, cudaDevAttrHostRegisterReadOnlySupported, 0);
    if (flags == cudaHostRegisterReadOnly && !is_read_only_supported) c.no({cudaErrorNotSupported});
    for (auto &range : block->registered)
        if (p && range.first < (Wide)offset + size && offset < range.first + range.second)
            c.no({cudaErrorHostMemoryAlreadyRegistered});
    w.unsafe(c);
    if (w.judge(c, cudaHostRegister(p, size, flags))) block->registered.push_back({offset, size});
    return true;
}

// Whether a plan has to do with a block.
inline bool has_block(const Plan &plan, Block *block, size_t begin, size_t end) {
    vector<Access> list;
    for (const Op &op : plan.ops) {
        if (op.is_wrong) continue;
        accesses(op, list);
    }
    for (const Access &a : list)
        if (a.block == block && a.begin < end && begin < a.end) return true;
    return false;
}
// Memory of the host that a graph uses stays: what comes of launching the graph otherwise is undefined.
inline bool is_in_graph(World &w, Block *block, size_t begin = 0, size_t end = MOST) {
    vector<GraphRef> all = w.graphs;
    for (CaptureRef &c : w.captures) all.push_back(c->graph);
    for (GraphRef &g : all)
        for (NodeRef &n : g->nodes) {
            Plan plan;
            plan.ops.push_back(n->op);
            if (has_block(plan, block, begin, end)) return true;
        }
    for (ExecRef &e : w.execs)
        if (has_block(e->plan, block, begin, end)) return true;
    return false;
}

inline bool call_unregister(World &w) {
    Call c;
    BlockRef block = a_block(w, w.r.chance(10), w.r.chance(10), true);
    if (!block) return false;
    uint8_t *p = block->at + (w.r.chance(50) ? 0 : w.r.below(block->size));
    if (!block->registered.empty() && w.r.chance(80)) p = block->at + w.r.of(block->registered).first;
    if (w.r.chance(3)) p = nullptr;
    size_t found = MOST;
    for (size_t i = 0; i < block->registered.size(); i++)
        if (block->at + block->registered[i].first == p) found = i;
    c.text = format("cudaHostUnregister(%s)", say(w, p).c_str());
    if (found == MOST) c.no({cudaErrorHostMemoryNotRegistered, cudaErrorInvalidValue});
    else if (is_in_graph(w, block.get())) return false;
    w.unsafe(c);
    if (w.judge(c, cudaHostUnregister(p))) block->registered.erase(block->registered.begin() + found);
    return true;
}

// Forgets a block that was freed.
inline void release(World &w, BlockRef block) {
    if (block->kind == Block::Device) w.freed.push_back({block->at, block->size});
    else if (block->at) w.freed_host.push_back(block->at);
    w.drop(w.blocks, block);
}

// Frees in one of three ways, mostly what may be freed so.
inline bool call_free(World &w) {
    Call c;
    enum { Device, Host, Async } way = w.r.of({Device, Device, Host, Async});
    bool is_odd = w.r.chance(12);
    BlockRef block = a_block(w, way != Host || is_odd, way != Async || is_odd, is_odd);
    uint8_t *p = block ? block->at : nullptr;
    int which = w.r.below(100);
    if (which < 5) p = nullptr;
    else if (which < 12 && !w.freed.empty()) p = w.r.of(w.freed).first;
    else if (which < 15 && !w.freed_host.empty()) p = w.r.of(w.freed_host);
    else if (which < 20 && block && block->size > 1) p = block->at + w.r.in(1, block->size - 1);
    else if (which < 22) p = (uint8_t *)0x1234;
    size_t offset = 0;
    BlockRef found = find(w, p, offset);
    if (found && (offset || found->fixed)) found = nullptr;
    StreamRef s;
    cudaStream_t stream = way == Async ? w.stream(c, s) : nullptr;
    const char *name = way == Device ? "cudaFree" : way == Host ? "cudaFreeHost" : "cudaFreeAsync";
    c.text = format("%s(%s%s)", name, say(w, p).c_str(), way == Async ? (", " + w.say(s)).c_str() : "");
    bool fits = found && (way == Host ? found->kind == Block::Pinned
                                      : found->kind == Block::Device || way == Device && found->kind == Block::Managed);
    if (way == Async && !p) c.may({cudaErrorInvalidValue});
    if (p && !fits) c.no({cudaErrorInvalidValue});
    // Whether memory in no pool can be freed in a stream is not said.
    if (way == Async && fits && !found->pooled) c.may({cudaErrorInvalidValue});
    if (way == Async) w.enter(c, s);
    if (s && s->capture) c.no({cudaErrorNotSupported});
    if (fits && found->kind != Block::Device && is_in_graph(w, found.get())) return false;
    if (way != Async) {
        w.unsafe(c);
        for (CaptureRef &blocked : w.blocking_captures()) {
            c.may({cudaErrorStreamCaptureImplicit});
            c.doubtful.push_back(blocked);
        }
    }
    cudaError_t got = way == Device ? cudaFree(p) : way == Host ? cudaFreeHost(p) : cudaFreeAsync(p, stream);
    if (w.judge(c, got) && fits) release(w, found);
    return true;
}

inline bool call_host_pointer(World &w) {
    Call c;
    Out<void *> out;
    void **at = w.place(c, out);
    BlockRef block = a_block(w, w.r.chance(20), true, w.r.chance(60));
    if (!block) return false;
    size_t offset = w.r.chance(60) ? 0 : w.r.below(block->size);
    if (!block->registered.empty() && w.r.chance(70)) offset = w.r.of(block->registered).first;
    uint8_t *p = w.r.chance(4) ? nullptr : block->at + offset;
    unsigned flags = w.r.chance(95) ? 0 : w.r.in(1, 9);
    c.text = format("cudaHostGetDevicePointer(%s, %s, %u)", w.or_null(at), say(w, p).c_str(), flags);
    bool is_registered = false;
    for (auto &range : block->registered) is_registered |= offset >= range.first && offset < range.first + range.second;
    if (!p || flags || block->kind == Block::Device || block->kind == Block::Host && !is_registered)
        c.no({cudaErrorInvalidValue});
    // The documentation has nothing on managed memory.
    if (block->kind == Block::Managed) c.may({cudaErrorInvalidValue});
    if (!w.judge(c, cudaHostGetDevicePointer(at, p, flags), out)) return true;
    // The device says that it can use the host's pointers.
    w.demand(out.value == p, "the pointer of the host");
    return true;
}

inline bool call_host_flags(World &w) {
    Call c;
    Out<unsigned> out;
    unsigned *at = w.place(c, out);
    BlockRef block = a_block(w, w.r.chance(20), true, w.r.chance(30));
    if (!block) return false;
    size_t offset = w.r.chance(60) ? 0 : w.r.below(block->size);
    uint8_t *p = block->at + offset;
    c.text = format("cudaHostGetFlags(%s, %s)", w.or_null(at), say(w, p).c_str());
    bool is_registered = false;
    for (auto &range : block->registered) is_registered |= offset >= range.first && offset < range.first + range.second;
    if (block->kind == Block::Managed || is_registered) c.may({cudaErrorInvalidValue});
    else if (block->kind != Block::Pinned) c.no({cudaErrorInvalidValue});
    if (!w.judge(c, cudaHostGetFlags(at, p), out)) return true;
    w.demand((out.value & block->flags) == block->flags, "the flags it was allocated with");
    return true;
}

inline bool call_pointer_attributes(World &w) {
    Call c;
    Out<cudaPointerAttributes> out;
    cudaPointerAttributes *at = w.place(c, out);
    uint8_t *p = address(w, AnySide);
    size_t offset;
    BlockRef block = find(w, p, offset);
    c.text = format("cudaPointerGetAttributes(%s, %s)", w.or_null(at), say(w, p).c_str());
    // Of what is not known to CUDA version 11 and later say so, and earlier ones gave an error.
    if (!block) c.may({cudaErrorInvalidValue});
    if (!w.judge(c, cudaPointerGetAttributes(at, p), out) || !block) return true;
    bool is_registered = false;
    for (auto &range : block->registered) is_registered |= offset >= range.first && offset < range.first + range.second;
    cudaMemoryType type = block->kind == Block::Device    ? cudaMemoryTypeDevice
                          : block->kind == Block::Managed ? cudaMemoryTypeManaged
                          : block->kind == Block::Pinned || is_registered ? cudaMemoryTypeHost
                                                                          : cudaMemoryTypeUnregistered;
    if (out.value.type != type) w.fail(format("type %d", out.value.type), format("type %d", type));
    if (type == cudaMemoryTypeDevice) w.demand(!out.value.hostPointer && out.value.devicePointer == p, "a device pointer");
    if (type == cudaMemoryTypeHost) w.demand(out.value.hostPointer == p, "a host pointer");
    return true;
}

inline bool call_mem_info(World &w) {
    Call c;
    Out<size_t> free, total;
    size_t *a = w.place(c, free), *b = w.place(c, total);
    c.text = format("cudaMemGetInfo(%s, %s)", w.or_null(a), w.or_null(b));
    if (!w.judge(c, cudaMemGetInfo(a, b), free)) return true;
    w.demand(free.value <= total.value, "no more free than there is");
    return true;
}

// The program changes memory of its own.
inline bool call_write(World &w) {
    BlockRef block = a_block(w, false, true, true);
    if (!block) return false;
    size_t offset = w.r.below(block->size), n = w.r.in(1, block->size - offset);
    w.text = format("host writes %zu bytes at %s+%zu", n, block->name.c_str(), offset);
    for (size_t i = offset; i < offset + n; i++) {
        block->at[i] = w.r.next();
        block->write(i, block->at[i]);
    }
    return true;
}
