// Memory as the model has it: blocks with the bytes that must be in them, and which of the bytes are known.
#pragma once
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using std::string;
using std::vector;
typedef unsigned __int128 Wide;

struct Block {
    enum Kind { Device, Pinned, Managed, Host, Array } kind;
    string name;
    uint8_t *at;  // Null for arrays, which have a handle.
    size_t size;
    vector<uint8_t> bytes, known;
    size_t pitch = 0, height = 0; // Of memory that was allocated in rows.
    unsigned flags = 0;
    bool fixed = false, pooled = false;          // A variable; from cudaMallocAsync.
    const void *symbol = nullptr;                // Of a variable.
    vector<std::pair<size_t, size_t>> registered; // Offsets and sizes, of the program's own memory.
    cudaArray_t array = nullptr;
    cudaChannelFormatDesc desc = {};
    size_t element = 1, width = 0, rows = 0, depth = 0;

    Block(Kind kind, string name, void *at, size_t size)
        : kind(kind), name(name), at((uint8_t *)at), size(size), bytes(size), known(size) {}
    bool is_seen_by_host() const { return kind == Pinned || kind == Managed || kind == Host; }
    size_t row() const { return width * element; }
    void forget(size_t offset, size_t count) {
        for (size_t i = offset; i < offset + count && i < size; i++) known[i] = 0;
    }
    void write(size_t offset, uint8_t byte, bool is_known = true) {
        bytes[offset] = byte;
        known[offset] = is_known;
    }
};
typedef std::shared_ptr<Block> BlockRef;

struct Size3 {
    size_t width, height, depth;
    bool is_empty() const { return !width || !height || !depth; }
};

// Rows in a block.
struct Shape {
    BlockRef block;
    size_t offset = 0, pitch = 0, plane = 0;
    size_t at(size_t y, size_t z) const { return offset + z * plane + y * pitch; }
};

// The end of rows that start at 0, without overflow.
inline Wide end_of(Size3 s, size_t pitch, size_t plane) {
    if (s.is_empty()) return 0;
    const Wide most = (Wide)1 << 100;
    if (s.depth > 1 && plane > most / (s.depth - 1)) return most;
    return (Wide)(s.depth - 1) * plane + (Wide)(s.height - 1) * pitch + s.width;
}

// What a kernel does, see kernels.h.
struct KernelWork {
    int which = 0;
    Shape to, from;
    size_t count = 0;
    uint8_t value = 0;
    uint8_t list[16] = {};
};

struct Plan;

// Something a stream or a graph does.
struct Op {
    enum Type { Copy, Fill, Kernel, Host, Empty, Child, Record, Wait } type = Empty;
    Shape to, from;
    Size3 size = {0, 0, 0};
    unsigned value = 0, element = 1; // Of a fill, whose width is in bytes.
    KernelWork kernel;
    std::shared_ptr<Plan> child;
    std::function<void()> record; // What becomes of an event.
    bool is_wrong = false; // It was taken, and cannot be done.
};

// What is read or written, for races.
struct Access {
    Block *block;
    size_t begin, end;
    bool writes;
};

void run(Plan &plan);
void accesses(const Op &op, vector<Access> &list);

inline void add_rows(vector<Access> &list, const Shape &shape, Size3 size, bool writes) {
    if (size.is_empty()) return;
    for (size_t z = 0; z < size.depth; z++)
        for (size_t y = 0; y < size.height; y++)
            list.push_back({shape.block.get(), shape.at(y, z), shape.at(y, z) + size.width, writes});
}

// Copies rows; what overlaps is not known afterwards.
inline void copy_rows(const Op &op) {
    const Size3 &s = op.size;
    if (s.is_empty()) return;
    struct Byte { uint8_t value, known; };
    vector<Byte> all;
    vector<uint8_t> read(op.from.block->size);
    for (size_t z = 0; z < s.depth; z++)
        for (size_t y = 0; y < s.height; y++)
            for (size_t x = 0; x < s.width; x++) {
                size_t i = op.from.at(y, z) + x;
                all.push_back({op.from.block->bytes[i], op.from.block->known[i]});
                read[i] = 1;
            }
    size_t next = 0;
    bool is_same = op.from.block == op.to.block;
    for (int overlaps = 0, pass = 0; pass < 2; pass++, next = 0)
        for (size_t z = 0; z < s.depth; z++)
            for (size_t y = 0; y < s.height; y++)
                for (size_t x = 0; x < s.width; x++, next++) {
                    size_t i = op.to.at(y, z) + x;
                    if (pass == 0) overlaps |= is_same && read[i];
                    else op.to.block->write(i, all[next].value, all[next].known && !overlaps);
                }
}

inline void fill_rows(const Op &op) {
    if (op.size.is_empty()) return;
    for (size_t z = 0; z < op.size.depth; z++)
        for (size_t y = 0; y < op.size.height; y++)
            for (size_t x = 0; x < op.size.width; x++)
                op.to.block->write(op.to.at(y, z) + x, op.value >> (8 * (x % op.element)));
}

void do_kernel(const KernelWork &work);
void kernel_accesses(const KernelWork &work, vector<Access> &list);

// Does in the model what the device does.
inline void apply(const Op &op) {
    if (op.is_wrong) return;
    switch (op.type) {
    case Op::Copy: copy_rows(op); break;
    case Op::Fill: fill_rows(op); break;
    case Op::Kernel: do_kernel(op.kernel); break;
    case Op::Host: {
        Block &block = *op.to.block;
        block.write(op.to.offset, block.bytes[op.to.offset] + 1, block.known[op.to.offset]);
        break;
    }
    case Op::Child: run(*op.child); break;
    case Op::Record: op.record(); break;
    default: break;
    }
}

// Operations in the order of their dependences, which are numbers of earlier or later ones.
struct Plan {
    vector<Op> ops;
    vector<vector<int>> after;
    vector<const void *> origin; // The nodes they came from.
    vector<char> enabled;

    // An order in which all can be done; shorter if there is a cycle.
    vector<int> order() const {
        vector<int> left(ops.size()), list;
        for (size_t i = 0; i < ops.size(); i++) left[i] = after[i].size();
        for (size_t i = 0; i < ops.size(); i++)
            if (!left[i]) list.push_back(i);
        for (size_t next = 0; next < list.size(); next++)
            for (size_t i = 0; i < ops.size(); i++)
                for (int before : after[i])
                    if (before == list[next] && --left[i] == 0) list.push_back(i);
        return list;
    }
    bool is_wrong() const {
        for (const Op &op : ops)
            if (op.is_wrong || (op.child && op.child->is_wrong())) return true;
        return false;
    }
};

inline void accesses(const Op &op, vector<Access> &list) {
    if (op.is_wrong) return;
    switch (op.type) {
    case Op::Copy:
        add_rows(list, op.to, op.size, true);
        add_rows(list, op.from, op.size, false);
        break;
    case Op::Fill: add_rows(list, op.to, op.size, true); break;
    case Op::Kernel: kernel_accesses(op.kernel, list); break;
    case Op::Host: list.push_back({op.to.block.get(), op.to.offset, op.to.offset + 1, true}); break;
    case Op::Child:
        for (const Op &inner : op.child->ops) accesses(inner, list);
        break;
    default: break;
    }
}

// Does a plan. What two operations without an order between them touch, and one writes, is not known afterwards.
inline void run(Plan &plan) {
    size_t n = plan.ops.size();
    vector<vector<char>> before(n, vector<char>(n));
    vector<int> order = plan.order();
    vector<vector<Access>> touched(n);
    for (int i : order) {
        for (int d : plan.after[i]) {
            before[i][d] = 1;
            for (size_t k = 0; k < n; k++) before[i][k] |= before[d][k];
        }
        if (plan.enabled[i]) accesses(plan.ops[i], touched[i]);
    }
    vector<Access> races;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (!before[i][k] && !before[k][i])
                for (const Access &a : touched[i])
                    for (const Access &b : touched[k])
                        if (a.block == b.block && (a.writes || b.writes) && a.begin < b.end && b.begin < a.end)
                            races.push_back(a.writes ? a : b);
    auto forget = [&] {
        for (const Access &race : races) race.block->forget(race.begin, race.end - race.begin);
    };
    forget();
    for (int i : order) {
        if (plan.enabled[i]) apply(plan.ops[i]);
        forget();
    }
}
