// Copies and fills, in all shapes.
#pragma once
#include "calls_alloc.h"

inline int a_kind(World &w) {
    if (w.r.chance(3)) return w.r.of({-1, 5, 9, INT_MAX});
    return w.r.of<int>({0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4});
}

// In a capture it is not said whether a copy is checked when it is written down or when it is done.
inline void soften(Call &c, Op &op, bool is_deferred) {
    if (!is_deferred) return;
    op.is_wrong = !c.wrong.empty();
    c.open.insert(c.wrong.begin(), c.wrong.end());
    c.wrong.clear();
}
// The stream of a call, and whether what it is asked is done later.
struct Where {
    bool is_async;
    StreamRef s;
    cudaStream_t stream = nullptr;
    string text;
};
// Chooses a stream, after the complaints about arguments; ends them.
inline Where where(World &w, Call &c, Op &op, int percent_async = 60) {
    Where at;
    at.is_async = w.r.chance(percent_async);
    if (!at.is_async) {
        w.synchronous(c);
        at.s = w.zero;
        return at;
    }
    Call of_stream;
    at.stream = w.stream(of_stream, at.s);
    soften(c, op, at.s && at.s->capture);
    // Nothing, written down or not: nobody says whether it is a node.
    if (at.s && at.s->capture && op.size.is_empty()) at.s->capture->graph->is_counted = false;
    c.wrong.insert(of_stream.wrong.begin(), of_stream.wrong.end());
    w.enter(c, at.s);
    at.text = ", " + w.say(at.s);
    return at;
}
inline void copied(World &w, Call &c, Where &at, Op &op, int got, cudaGraphNodeType type = cudaGraphNodeTypeMemcpy) {
    if (w.judge(c, got)) w.submit(at.s, op, type);
}

inline bool call_memcpy(World &w) {
    Call c;
    Op op;
    int kind = a_kind(w);
    bool is_peer = w.r.chance(6);
    if (is_peer) kind = cudaMemcpyDefault;
    int device = is_peer && w.r.chance(10) ? 3 : 0;
    uint8_t *to = address(w, role_of(kind, true)), *from = address(w, role_of(kind, false));
    size_t a = room(w, to), b = room(w, from), size = a_size(w, a < b ? a : b);
    if (device) c.no({cudaErrorInvalidDevice});
    if (!judge_copy(w, c, op, {to, 0, 0}, {from, 0, 0}, {size, 1, 1}, kind)) return false;
    Where at = where(w, c, op);
    c.text = format("cudaMemcpy%s%s(%s, %s, %s, %s%s)", is_peer ? "Peer" : "", at.is_async ? "Async" : "",
                    say(w, to).c_str(), say(w, from).c_str(), number(size).c_str(),
                    is_peer ? format("device %d", device).c_str() : say(kind).c_str(), at.text.c_str());
    int got = is_peer ? at.is_async ? cudaMemcpyPeerAsync(to, device, from, 0, size, at.stream)
                                    : cudaMemcpyPeer(to, device, from, 0, size)
              : at.is_async ? cudaMemcpyAsync(to, from, size, (cudaMemcpyKind)kind, at.stream)
                            : cudaMemcpy(to, from, size, (cudaMemcpyKind)kind);
    copied(w, c, at, op, got);
    return true;
}

// A pitch for rows of a width: tight, roomy, or wrong.
inline size_t a_pitch(World &w, uint8_t *p, size_t width) {
    size_t offset;
    BlockRef block = find(w, p, offset);
    int which = w.r.below(100);
    if (block && block->pitch && which < 60) return block->pitch;
    if (which < 84) return width + w.r.below(40);
    if (which < 92) return width;
    if (which < 95) return width ? width - 1 : 0;
    return w.r.of<size_t>({MOST, MOST - 7, (size_t)INT_MAX + 1, (size_t)1 << 32, (size_t)1 << 63, 0});
}
// How many rows fit.
inline size_t rows_in(size_t bytes, size_t width, size_t pitch) {
    if (!pitch || width > bytes) return 1;
    return (bytes - width) / pitch + 1;
}
inline size_t a_height(World &w, size_t fits) {
    if (fits > 12) fits = 12;
    int which = w.r.below(100);
    if (which < 75) return w.r.in(1, fits);
    if (which < 85) return fits;
    if (which < 89) return 0;
    if (which < 94) return fits + 1;
    return w.r.of<size_t>({MOST, (size_t)1 << 32, (size_t)1 << 63, MOST / 2, 1000000});
}

inline bool call_memcpy_2d(World &w) {
    Call c;
    Op op;
    int kind = a_kind(w);
    uint8_t *to = address(w, role_of(kind, true)), *from = address(w, role_of(kind, false));
    size_t a = room(w, to), b = room(w, from), least = a < b ? a : b;
    size_t width = w.r.chance(90) ? w.r.in(1, least < 100 ? least : 100) : a_size(w, least);
    size_t to_pitch = a_pitch(w, to, width), from_pitch = a_pitch(w, from, width);
    size_t to_rows = rows_in(a, width, to_pitch), from_rows = rows_in(b, width, from_pitch);
    size_t height = a_height(w, to_rows < from_rows ? to_rows : from_rows);
    Size3 size = {width, height, 1};
    judge_pitch(c, width, {to_pitch, from_pitch}, size.is_empty());
    if (!judge_copy(w, c, op, {to, to_pitch, 0}, {from, from_pitch, 0}, size, kind)) return false;
    Where at = where(w, c, op);
    c.text = format("cudaMemcpy2D%s(%s, %s, %s, %s, %s, %s, %s%s)", at.is_async ? "Async" : "", say(w, to).c_str(),
                    number(to_pitch).c_str(), say(w, from).c_str(), number(from_pitch).c_str(), number(width).c_str(),
                    number(height).c_str(), say(kind).c_str(), at.text.c_str());
    cudaMemcpyKind k = (cudaMemcpyKind)kind;
    int got = at.is_async ? cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, k, at.stream)
                          : cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, k);
    copied(w, c, at, op, got);
    return true;
}

// An array, or null with its complaint.
inline cudaArray_t an_array(World &w, Call &c, BlockRef &found) {
    vector<BlockRef> list;
    for (BlockRef &b : w.blocks)
        if (b->kind == Block::Array) list.push_back(b);
    found = nullptr;
    if (list.empty() || w.r.chance(6)) {
        static long nobody[32];
        // The list of errors has InvalidValue only; the text of InvalidResourceHandle fits too.
        c.no({cudaErrorInvalidValue, cudaErrorInvalidResourceHandle});
        if (w.r.chance(20)) return nullptr;
        return !w.dead_arrays.empty() && w.r.chance(60) ? w.r.of(w.dead_arrays) : (cudaArray_t)nobody;
    }
    found = w.r.of(list);
    return found->array;
}
inline string say_array(BlockRef b) { return b ? b->name : "a wrong array"; }

// What an array takes part in: rows of bytes, as the model keeps them.
inline Shape rows_of(BlockRef array, size_t x, size_t y, size_t z) {
    Shape shape;
    shape.block = array;
    shape.pitch = array->row();
    shape.plane = array->row() * (array->rows ? array->rows : 1);
    shape.offset = shape.at(y, z) + x;
    return shape;
}

inline bool call_memcpy_3d(World &w) {
    Call c;
    Op op;
    op.type = Op::Copy;
    cudaMemcpy3DParms p = {};
    int kind = a_kind(w);
    BlockRef arrays[2];
    uint8_t *memory[2] = {};
    size_t height = w.r.in(1, 3), depth = w.r.in(1, 3), width = w.r.in(1, 20);
    bool has_array[2] = {w.r.chance(25), w.r.chance(25)};
    string text[2];
    size_t elements[2] = {1, 1};
    for (int i = 0; i < 2; i++)
        if (has_array[i]) {
            (i ? p.srcArray : p.dstArray) = an_array(w, c, arrays[i]);
            // The array is on the device whatever the direction says of it.
            if (!(i ? p.srcArray : p.dstArray)) return false;
            if (arrays[i]) elements[i] = arrays[i]->element;
        }
    if (arrays[0] && arrays[1] && elements[0] != elements[1]) c.no({cudaErrorInvalidValue});
    size_t element = arrays[0] ? elements[0] : elements[1];
    if (w.r.chance(5)) width = a_size(w, width);
    if (w.r.chance(5)) (w.r.chance(50) ? height : depth) = w.r.of<size_t>({0, 7, MOST, (size_t)1 << 63});
    Size3 size = {width, height, depth};
    // Bytes of a row; a width that is too large for them is wrong in any case.
    Wide bytes = (Wide)width * element;
    if (bytes > MOST) {
        c.no({cudaErrorInvalidValue, cudaErrorInvalidPitchValue});
        bytes = MOST;
    }
    op.size = {(size_t)bytes, height, depth};
    bool is_empty = size.is_empty();
    std::set<int> wrong[2], open;
    bool is_kind = kind >= 0 && kind <= 4;
    bool is_hidden[2] = {};
    for (int i = 0; i < 2; i++) {
        cudaPos pos = make_cudaPos(w.r.below(3), w.r.chance(70) ? 0 : w.r.below(3), w.r.chance(70) ? 0 : w.r.below(3));
        if (w.r.chance(2)) pos.x = MOST - w.r.below(9);
        (i ? p.srcPos : p.dstPos) = pos;
        Shape &shape = i ? op.from : op.to;
        if (has_array[i]) {
            text[i] = say_array(arrays[i]);
            if (!arrays[i]) continue;
            Block &a = *arrays[i];
            size_t rows = a.rows ? a.rows : 1, planes = a.depth ? a.depth : 1;
            if ((Wide)pos.x + width > a.width || (Wide)pos.y + height > rows || (Wide)pos.z + depth > planes)
                wrong[i].insert(cudaErrorInvalidValue);
            shape = rows_of(arrays[i], pos.x * a.element, pos.y, pos.z);
        } else {
            Role role = is_kind ? role_of(kind, !i) : AnySide;
            // With an array on the other side, this one is where the direction says, too.
            memory[i] = address(w, role);
            size_t pitch = a_pitch(w, memory[i], (size_t)bytes + pos.x), high = height + w.r.below(2);
            if (high < height) high = height;
            size_t offset;
            BlockRef block = find(w, memory[i], offset);
            if (block && block->pitch && pitch == block->pitch) high = block->height;
            if (!is_empty && depth > 1 && high < height) return false; // Planes that overlap.
            (i ? p.srcPtr : p.dstPtr) = make_cudaPitchedPtr(memory[i], pitch, pitch, high);
            text[i] = format("{%s, %s, %s}", say(w, memory[i]).c_str(), number(pitch).c_str(), number(high).c_str());
            judge_pitch(c, (size_t)bytes, {pitch}, is_empty);
            Wide plane = (Wide)pitch * high, start = plane * pos.z + (Wide)pitch * pos.y + pos.x;
            if (start + bytes > (Wide)1 << 62 || plane > (Wide)1 << 62) wrong[i].insert(cudaErrorInvalidValue);
            else if (!memory[i]) wrong[i].insert(cudaErrorInvalidValue);
            else {
                size_t into;
                BlockRef first = find(w, memory[i], into);
                uint8_t *begin = memory[i] + (size_t)start;
                // The object is where its pointer says, and must contain what is copied.
                if (first && into + start < first->size) {
                    shape = side(w, begin, role, op.size, pitch, (size_t)plane, wrong[i], open);
                    is_hidden[i] = is_beyond_host(w, begin, op.size, pitch, (size_t)plane);
                } else {
                    is_hidden[i] = first && first->kind == Block::Host;
                    if (!is_hidden[i]) wrong[i].insert(cudaErrorInvalidValue);
                    if (is_empty) c.may({cudaErrorInvalidValue});
                }
            }
            if (pitch < (size_t)bytes + pos.x) open.insert({cudaErrorInvalidPitchValue, cudaErrorInvalidValue});
        }
        text[i] += format("@%s,%zu,%zu", number(pos.x).c_str(), pos.y, pos.z);
    }
    for (int i = 0; i < 2; i++)
        if (is_hidden[i] && wrong[1 - i].empty() && c.wrong.empty() && is_kind) return false;
    for (int i = 0; i < 2; i++) (is_empty ? c.open : c.wrong).insert(wrong[i].begin(), wrong[i].end());
    c.open.insert(open.begin(), open.end());
    if (!is_kind) (is_empty ? c.open : c.wrong).insert(cudaErrorInvalidMemcpyDirection);
    p.extent = make_cudaExtent(width, height, depth);
    p.kind = (cudaMemcpyKind)kind;
    bool is_null = w.r.chance(1);
    if (is_null) c.no({cudaErrorInvalidValue});
    Where at = where(w, c, op);
    c.text = format("cudaMemcpy3D%s(%sto %s, from %s, {%s, %s, %s}, %s%s)", at.is_async ? "Async" : "",
                    is_null ? "null: " : "", text[0].c_str(), text[1].c_str(), number(width).c_str(),
                    number(height).c_str(), number(depth).c_str(), say(kind).c_str(), at.text.c_str());
    cudaMemcpy3DParms *what = is_null ? nullptr : &p;
    copied(w, c, at, op, at.is_async ? cudaMemcpy3DAsync(what, at.stream) : cudaMemcpy3D(what));
    return true;
}

inline bool call_memcpy_array(World &w) {
    Call c;
    Op op;
    op.type = Op::Copy;
    BlockRef array;
    cudaArray_t handle = an_array(w, c, array);
    bool is_to = w.r.chance(50), is_flat = w.r.chance(30);
    int kind = w.r.chance(90) ? (is_to ? w.r.of<int>({1, 1, 3, 4}) : w.r.of<int>({2, 2, 3, 4})) : w.r.of({9, -1});
    bool is_kind = kind >= 0 && kind <= 4;
    Role role = is_kind ? role_of(kind, !is_to) : AnySide;
    uint8_t *p = address(w, role);
    size_t element = array ? array->element : 1, row = array ? array->row() : 16, rows = array && array->rows ? array->rows : 1;
    size_t x = w.r.below(row / element) * element, y = w.r.below(rows);
    size_t width = w.r.chance(90) ? w.r.in(1, (row - x) / element) * element : (row - x) + element, height = w.r.in(1, rows - y);
    if (w.r.chance(3)) width = w.r.of<size_t>({MOST - 15, (size_t)1 << 63, (size_t)1 << 32});
    if (w.r.chance(3)) height = w.r.of<size_t>({MOST, rows + 1, (size_t)1 << 63});
    if (w.r.chance(2)) x = MOST - 15;
    if (w.r.chance(2)) y = MOST;
    size_t pitch = a_pitch(w, p, width), count = 0;
    if (is_flat) {
        // From row to row without gaps, where the documentation leaves no doubt: in one row, or in whole ones.
        if (x <= row && width > row - x) return false;
        if (x) height = 1;
        else width = height == 1 ? width : row;
        if ((Wide)width * height > MOST) return false;
        count = width * height;
        pitch = width;
    }
    op.size = {width, height, 1};
    std::set<int> of_array, of_memory, open;
    if (!is_flat) judge_pitch(c, width, {pitch}, op.size.is_empty());
    if ((Wide)x + width > row || (Wide)y + height > rows) of_array.insert(cudaErrorInvalidValue);
    (is_to ? op.from : op.to) = side(w, p, role, op.size, pitch, 0, of_memory, open);
    if (array) (is_to ? op.to : op.from) = rows_of(array, x, y, 0);
    if (is_beyond_host(w, p, op.size, pitch, 0) && of_array.empty() && c.wrong.empty() && is_kind) return false;
    c.wrong.insert(of_array.begin(), of_array.end());
    c.wrong.insert(of_memory.begin(), of_memory.end());
    c.open.insert(open.begin(), open.end());
    if (!is_kind) c.no({cudaErrorInvalidMemcpyDirection});
    Where at = where(w, c, op, 40);
    const char *name = is_flat ? is_to ? "cudaMemcpyToArray" : "cudaMemcpyFromArray"
                               : is_to ? "cudaMemcpy2DToArray" : "cudaMemcpy2DFromArray";
    c.text = format("%s%s(%s at %s, %s, %s, pitch %s, %s x %s, %s%s)", name, at.is_async ? "Async" : "",
                    say_array(array).c_str(), number(x).c_str(), number(y).c_str(), say(w, p).c_str(),
                    number(pitch).c_str(), number(width).c_str(), number(height).c_str(), say(kind).c_str(),
                    at.text.c_str());
    cudaMemcpyKind k = (cudaMemcpyKind)kind;
    int got;
    if (is_flat && is_to)
        got = at.is_async ? cudaMemcpyToArrayAsync(handle, x, y, p, count, k, at.stream)
                          : cudaMemcpyToArray(handle, x, y, p, count, k);
    else if (is_flat)
        got = at.is_async ? cudaMemcpyFromArrayAsync(p, handle, x, y, count, k, at.stream)
                          : cudaMemcpyFromArray(p, handle, x, y, count, k);
    else if (is_to)
        got = at.is_async ? cudaMemcpy2DToArrayAsync(handle, x, y, p, pitch, width, height, k, at.stream)
                          : cudaMemcpy2DToArray(handle, x, y, p, pitch, width, height, k);
    else
        got = at.is_async ? cudaMemcpy2DFromArrayAsync(p, pitch, handle, x, y, width, height, k, at.stream)
                          : cudaMemcpy2DFromArray(p, pitch, handle, x, y, width, height, k);
    copied(w, c, at, op, got);
    return true;
}

inline bool call_memcpy_symbol(World &w) {
    Call c;
    Op op;
    op.type = Op::Copy;
    static long nobody[32];
    bool is_to = w.r.chance(50), is_right = w.r.chance(94);
    BlockRef block = w.r.chance(50) ? table_block : variable_block;
    const void *symbol = is_right ? block->symbol : w.r.chance(50) ? nobody : kernel_address(KSet);
    if (!is_right) c.no({cudaErrorInvalidSymbol});
    int kind = w.r.chance(90) ? (is_to ? w.r.of<int>({1, 1, 3, 4}) : w.r.of<int>({2, 2, 3, 4}))
                              : (is_to ? w.r.of({2, 0, 9, -1}) : w.r.of({1, 0, 9, -1}));
    bool is_kind = kind == 3 || kind == 4 || kind == (is_to ? 1 : 2);
    // A direction that does not fit: a list of the right ones is given, and an error for wrong ones.
    if (!is_kind) c.no({cudaErrorInvalidMemcpyDirection, cudaErrorInvalidValue});
    Role role = is_kind ? role_of(kind, !is_to) : AnySide;
    uint8_t *p = address(w, role);
    size_t offset = w.r.below(block->size), left = block->size - offset, have = room(w, p);
    size_t count = a_size(w, left < have ? left : have);
    if (w.r.chance(3)) offset = w.r.of<size_t>({MOST, MOST - 3, (size_t)1 << 63, block->size + 1});
    op.size = {count, 1, 1};
    std::set<int> of_symbol, of_memory, open;
    if ((Wide)offset + count > block->size) of_symbol.insert(cudaErrorInvalidValue);
    Shape shape = side(w, p, role, op.size, 0, 0, of_memory, open);
    (is_to ? op.from : op.to) = shape;
    Shape &own = is_to ? op.to : op.from;
    own.block = block;
    own.offset = offset;
    if (is_beyond_host(w, p, op.size, 0, 0) && of_symbol.empty() && c.wrong.empty()) return false;
    if (count == 0) c.open.insert(c.wrong.begin(), c.wrong.end()), c.wrong.clear();
    std::set<int> &into = count ? c.wrong : c.open;
    into.insert(of_symbol.begin(), of_symbol.end());
    into.insert(of_memory.begin(), of_memory.end());
    c.open.insert(open.begin(), open.end());
    Where at = where(w, c, op);
    c.text = format("cudaMemcpy%sSymbol%s(%s, %s, %s, %s, %s%s)", is_to ? "To" : "From", at.is_async ? "Async" : "",
                    is_right ? block->name.c_str() : "a wrong symbol", say(w, p).c_str(), number(count).c_str(),
                    number(offset).c_str(), say(kind).c_str(), at.text.c_str());
    cudaMemcpyKind k = (cudaMemcpyKind)kind;
    int got;
    if (is_to)
        got = at.is_async ? cudaMemcpyToSymbolAsync(symbol, p, count, offset, k, at.stream)
                          : cudaMemcpyToSymbol(symbol, p, count, offset, k);
    else
        got = at.is_async ? cudaMemcpyFromSymbolAsync(p, symbol, count, offset, k, at.stream)
                          : cudaMemcpyFromSymbol(p, symbol, count, offset, k);
    copied(w, c, at, op, got);
    return true;
}

inline bool call_memset(World &w) {
    Call c;
    Op op;
    op.type = Op::Fill;
    int shape = w.r.of({1, 1, 2, 3});
    uint8_t *p = address(w, DeviceSide);
    size_t have = room(w, p), width = a_size(w, have), pitch = 0, height = 1, depth = 1, high = 1;
    if (shape > 1) {
        if (w.r.chance(90)) width = w.r.in(1, have < 100 ? have : 100);
        pitch = a_pitch(w, p, width);
        height = a_height(w, rows_in(have, width, pitch));
        high = height + w.r.below(2);
        if (high < height) high = height;
        if (shape == 3) depth = w.r.chance(90) ? w.r.in(1, 3) : w.r.of<size_t>({0, 5, MOST, (size_t)1 << 63});
    }
    int value = w.r.chance(80) ? w.r.below(256) : (int)w.r.next();
    op.value = value & 255;
    op.size = {width, height, depth};
    bool is_flat = height == 1 && depth == 1; // The pitch is not used then.
    std::set<int> wrong, open;
    Wide plane = (Wide)pitch * high;
    op.to = side(w, p, DeviceSide, op.size, pitch, plane > MOST ? MOST : (size_t)plane, wrong, open);
    // Only InvalidValue is listed, and the text of InvalidPitchValue fits.
    if (!is_flat && width > pitch) wrong.insert({cudaErrorInvalidValue, cudaErrorInvalidPitchValue});
    // Whether there is a largest pitch is not said of fills.
    if (pitch > INT_MAX) c.may({cudaErrorInvalidValue, cudaErrorInvalidPitchValue});
    // Nothing is set, in steps that no address space has.
    if (plane > MOST || height > INT_MAX || depth > INT_MAX) open.insert(cudaErrorInvalidValue);
    if (op.size.is_empty()) c.open.insert(open.begin(), open.end());
    (op.size.is_empty() ? c.open : c.wrong).insert(wrong.begin(), wrong.end());
    Where at = where(w, c, op);
    string sizes = number(width);
    if (shape > 1) sizes += format(" x %s, pitch %s", number(height).c_str(), number(pitch).c_str());
    if (shape == 3) sizes += format(", %s planes of %s", number(depth).c_str(), number(high).c_str());
    const char *names[] = {"", "cudaMemset", "cudaMemset2D", "cudaMemset3D"};
    c.text = format("%s%s(%s, %d, %s%s)", names[shape], at.is_async ? "Async" : "", say(w, p).c_str(), value,
                    sizes.c_str(), at.text.c_str());
    cudaPitchedPtr where_to = make_cudaPitchedPtr(p, pitch, width, high);
    cudaExtent extent = make_cudaExtent(width, height, depth);
    int got;
    if (shape == 1) got = at.is_async ? cudaMemsetAsync(p, value, width, at.stream) : cudaMemset(p, value, width);
    else if (shape == 2)
        got = at.is_async ? cudaMemset2DAsync(p, pitch, value, width, height, at.stream)
                          : cudaMemset2D(p, pitch, value, width, height);
    else got = at.is_async ? cudaMemset3DAsync(where_to, value, extent, at.stream) : cudaMemset3D(where_to, value, extent);
    copied(w, c, at, op, got, cudaGraphNodeTypeMemset);
    return true;
}
