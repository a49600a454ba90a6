// Addresses, and what the documentation says of copies to and from them.
#pragma once
#include "world.h"

// What a direction says that an address is.
enum Role { HostSide, DeviceSide, AnySide };

inline Role role_of(int kind, bool is_to) {
    if (kind == cudaMemcpyDefault) return AnySide;
    bool is_device = kind == cudaMemcpyDeviceToDevice || kind == (is_to ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
    return is_device ? DeviceSide : HostSide;
}

// The block at an address, and where in it.
inline BlockRef find(World &w, const uint8_t *p, size_t &offset) {
    for (BlockRef &block : w.blocks)
        if (block->at && p >= block->at && p < block->at + block->size) {
            offset = p - block->at;
            return block;
        }
    return nullptr;
}

inline string say(World &w, const void *p) {
    if (!p) return "null";
    size_t offset;
    BlockRef block = find(w, (const uint8_t *)p, offset);
    if (block) return format("%s+%zu", block->name.c_str(), offset);
    for (auto &f : w.freed)
        if ((uint8_t *)p >= f.first && (uint8_t *)p < f.first + f.second) return "freed";
    for (BlockRef &b : w.blocks)
        if (b->at && b->at + b->size == p) return format("%s+%zu", b->name.c_str(), b->size);
    return "made-up";
}

inline string say(int kind) {
    const char *names[] = {"HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice", "Default"};
    return kind >= 0 && kind < 5 ? names[kind] : format("kind %d", kind);
}

// Blocks of some kinds that kernels or copies can use.
inline BlockRef a_block(World &w, bool device, bool both, bool host) {
    vector<BlockRef> list;
    for (BlockRef &b : w.blocks) {
        bool fits = b->kind == Block::Device ? device : b->kind == Block::Host ? host : b->kind != Block::Array && both;
        if (fits && b->size) list.push_back(b);
    }
    return list.empty() ? nullptr : w.r.of(list);
}

// An address for a role, mostly a right one. A wrong one is such that it can be seen to be wrong.
inline uint8_t *address(World &w, Role role) {
    int which = w.r.below(100);
    if (which < 3) return nullptr;
    if (which < 5 && !w.freed.empty()) return w.r.of(w.freed).first;
    if (which < 6 && role == DeviceSide) return (uint8_t *)0x1234;
    bool is_odd = which < 9; // Of the other kind.
    BlockRef block = a_block(w, role != HostSide || is_odd, true, role != DeviceSide || is_odd);
    if (!block) block = a_block(w, true, true, true);
    if (w.r.chance(50)) return block->at;
    if (w.r.chance(4) && block->kind == Block::Device) return block->at + block->size;
    return block->at + w.r.below(block->size);
}

// What is left of the block at an address.
inline size_t room(World &w, const uint8_t *p) {
    size_t offset;
    BlockRef block = find(w, p, offset);
    return block ? block->size - offset : 16;
}

// A number of bytes where so many would fit.
inline size_t a_size(World &w, size_t fits) {
    int which = w.r.below(100);
    if (which < 70) return w.r.in(1, fits ? fits : 1);
    if (which < 83) return fits;
    if (which < 88) return 0;
    if (which < 94) return fits + 1;
    return w.r.of<size_t>({MOST, MOST - w.r.below(64), (size_t)1 << 63, (size_t)1 << 32, fits + 4096, MOST / 2});
}

// Judges one side of a copy or fill and finds its rows. What is wrong with it is added to the complaints.
inline Shape side(World &w, const uint8_t *p, Role role, Size3 size, size_t pitch, size_t plane, std::set<int> &wrong,
                  std::set<int> &open) {
    Shape shape;
    shape.pitch = pitch;
    shape.plane = plane;
    shape.block = find(w, p, shape.offset);
    if (!shape.block) {
        wrong.insert(cudaErrorInvalidValue);
        return shape;
    }
    Block &block = *shape.block;
    Wide end = shape.offset + end_of(size, pitch, plane);
    // Where the program's own memory ends nobody can see.
    if (end > block.size && block.kind != Block::Host) wrong.insert(cudaErrorInvalidValue);
    if (role == HostSide && block.kind == Block::Device) wrong.insert(cudaErrorInvalidValue);
    if (block.kind != Block::Host) return shape;
    // Registered memory is of both; whether a copy may begin or end outside of what is registered is not said.
    bool is_inside = false, is_touched = false;
    for (auto &range : block.registered) {
        bool begins = shape.offset >= range.first && shape.offset < range.first + range.second;
        is_inside |= begins && end <= range.first + range.second;
        is_touched |= shape.offset < range.first + range.second && end > range.first;
    }
    if (role == DeviceSide && !is_inside) wrong.insert(cudaErrorInvalidValue);
    if (role != DeviceSide && is_touched && !is_inside) open.insert(cudaErrorInvalidValue);
    return shape;
}

// Whether the program's own memory ends before the rows do, which nobody can see.
inline bool is_beyond_host(World &w, const uint8_t *p, Size3 size, size_t pitch, size_t plane) {
    size_t offset;
    BlockRef block = find(w, p, offset);
    return block && block->kind == Block::Host && offset + end_of(size, pitch, plane) > block->size;
}

// One side of a copy as it was asked for.
struct Side {
    uint8_t *at;
    size_t pitch, plane;
};

// Judges a copy of rows. False if it would read or write the program's own memory where there is none.
inline bool judge_copy(World &w, Call &c, Op &op, Side to, Side from, Size3 size, int kind) {
    std::set<int> to_wrong, from_wrong, open;
    op.type = Op::Copy;
    op.size = size;
    bool is_kind = kind >= 0 && kind <= 4;
    if (!is_kind) kind = cudaMemcpyDefault;
    op.to = side(w, to.at, role_of(kind, true), size, to.pitch, to.plane, to_wrong, open);
    op.from = side(w, from.at, role_of(kind, false), size, from.pitch, from.plane, from_wrong, open);
    bool is_seen = !is_kind || !c.wrong.empty();
    if (is_beyond_host(w, to.at, size, to.pitch, to.plane) && from_wrong.empty() && !is_seen) return false;
    if (is_beyond_host(w, from.at, size, from.pitch, from.plane) && to_wrong.empty() && !is_seen) return false;
    // Nothing is wrong with a copy of nothing, or the error of its arguments is given.
    std::set<int> &into = size.is_empty() ? c.open : c.wrong;
    into.insert(to_wrong.begin(), to_wrong.end());
    into.insert(from_wrong.begin(), from_wrong.end());
    if (!is_kind) into.insert(cudaErrorInvalidMemcpyDirection);
    c.open.insert(open.begin(), open.end());
    return true;
}

// Pitches and widths of a copy.
inline void judge_pitch(Call &c, size_t width, std::initializer_list<size_t> pitches, bool is_empty) {
    for (size_t pitch : pitches)
        if (pitch > INT_MAX || width > pitch) (is_empty ? c.open : c.wrong).insert(cudaErrorInvalidPitchValue);
}

// Compares a block with the model.
inline void compare(World &w, Block &block, const uint8_t *real) {
    for (size_t i = 0; i < block.size; i++)
        if (block.known[i] && real[i] != block.bytes[i])
            w.fail(format("%s+%zu is %u", block.name.c_str(), i, real[i]), format("%u", block.bytes[i]));
}

// Compares memory of the device. The bytes are fetched in ways that a capture does not mind.
inline void compare_device(World &w, Block &block) {
    vector<uint8_t> real(block.size);
    cudaError_t got = cudaSuccess;
    if (block.symbol) got = cudaMemcpyFromSymbol(real.data(), block.symbol, block.size, 0, cudaMemcpyDeviceToHost);
    else if (block.kind == Block::Device) got = cudaMemcpy(real.data(), block.at, block.size, cudaMemcpyDeviceToHost);
    else {
        cudaMemcpy3DParms p = {};
        p.srcArray = block.array;
        p.dstPtr = make_cudaPitchedPtr(real.data(), block.row(), block.row(), block.rows ? block.rows : 1);
        p.extent = make_cudaExtent(block.width, block.rows ? block.rows : 1, block.depth ? block.depth : 1);
        p.kind = cudaMemcpyDeviceToHost;
        got = cudaMemcpy3D(&p);
    }
    if (got) w.fail("reading " + block.name + ": " + error_name(got), "success");
    compare(w, block, real.data());
}

// Compares everything that can be read now.
inline void compare_all(World &w) {
    for (BlockRef &block : w.blocks) {
        if (!block->size) continue;
        if (block->is_seen_by_host()) compare(w, *block, block->at);
        else if (w.captures.empty() && !w.sticky) compare_device(w, *block);
    }
}
