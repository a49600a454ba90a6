// The device, errors, arrays, textures.
#pragma once
#include "calls_kernel.h"

inline bool call_last_error(World &w) {
    bool is_peek = w.r.chance(40);
    w.text = is_peek ? "cudaPeekAtLastError()" : "cudaGetLastError()";
    int want = w.sticky ? w.sticky : w.last;
    int got = is_peek ? cudaPeekAtLastError() : cudaGetLastError();
    w.tally[w.text.substr(0, w.text.find('('))][got]++;
    if (got != want) w.fail(error_name(got), error_name(want));
    if (!is_peek && !w.sticky) w.last = 0;
    int code = w.r.below(1100);
    const char *name = cudaGetErrorName((cudaError_t)code), *text = cudaGetErrorString((cudaError_t)code);
    w.demand(name && text && *name && *text, "a name and a text of every number");
    return true;
}

inline bool call_device(World &w) {
    Call c;
    c.is_quiet = true;
    Out<int> out;
    int device = w.r.chance(85) ? 0 : w.r.of({1, -1, 99, INT_MAX});
    switch (w.r.below(7)) {
    case 0: {
        int *at = w.place(c, out);
        c.text = format("cudaGetDeviceCount(%s)", w.or_null(at));
        if (w.judge(c, cudaGetDeviceCount(at), out)) w.demand(out.value == 1, "one device");
        break;
    }
    case 1: {
        int *at = w.place(c, out);
        c.text = format("cudaGetDevice(%s)", w.or_null(at));
        if (w.judge(c, cudaGetDevice(at), out)) w.demand(out.value == 0, "device 0");
        break;
    }
    case 2:
        c.text = format("cudaSetDevice(%d)", device);
        if (device) c.no({cudaErrorInvalidDevice});
        w.judge(c, cudaSetDevice(device));
        break;
    case 3: {
        int *at = w.place(c, out);
        int attribute = w.r.chance(90) ? w.r.of<int>({1, 2, 5, 8, 10, 16, 39, 75, 81, 97, 106}) : w.r.of({0, -1, 9999});
        c.text = format("cudaDeviceGetAttribute(%s, %d, %d)", w.or_null(at), attribute, device);
        if (device) c.no({cudaErrorInvalidDevice});
        if (attribute < 1 || attribute > 9000) c.no({cudaErrorInvalidValue});
        if (w.judge(c, cudaDeviceGetAttribute(at, (cudaDeviceAttr)attribute, device), out))
            w.demand(out.value > 0, "more than none");
        break;
    }
    case 4: {
        Out<size_t> value;
        size_t *at = w.place(c, value);
        int limit = w.r.chance(85) ? w.r.below(3) : w.r.of({-1, 7, 1000});
        c.text = format("cudaDeviceGetLimit(%s, %d)", w.or_null(at), limit);
        if (limit < 0 || limit > 6) c.no({cudaErrorUnsupportedLimit});
        if (w.judge(c, cudaDeviceGetLimit(at, (cudaLimit)limit), value)) w.demand(value.value > 0, "more than none");
        break;
    }
    case 5: {
        int limit = w.r.chance(70) ? w.r.below(3) : w.r.of({-1, 7, 1000});
        size_t value = 0;
        if (limit >= 0 && limit < 3 && (w.sticky || cudaDeviceGetLimit(&value, (cudaLimit)limit))) return false;
        c.text = format("cudaDeviceSetLimit(%d, %s)", limit, number(value).c_str());
        if (limit < 0 || limit > 6) c.no({cudaErrorUnsupportedLimit});
        // Memory may have been used, and printing too.
        else c.may({cudaErrorInvalidValue});
        w.unsafe(c);
        w.judge(c, cudaDeviceSetLimit((cudaLimit)limit, value));
        break;
    }
    default: {
        int *at = w.place(c, out);
        bool is_driver = w.r.chance(50);
        c.text = format("%s(%s)", is_driver ? "cudaDriverGetVersion" : "cudaRuntimeGetVersion", w.or_null(at));
        if (w.judge(c, is_driver ? cudaDriverGetVersion(at) : cudaRuntimeGetVersion(at), out))
            w.demand(out.value >= CUDART_VERSION, "the version of the headers, or a later one");
    }
    }
    return true;
}

inline bool call_malloc_array(World &w) {
    Call c;
    Out<cudaArray_t> out;
    cudaArray_t *at = w.place(c, out);
    int bits = w.r.of({8, 8, 8, 16, 32}), channels = w.r.of({1, 1, 1, 2, 4});
    cudaChannelFormatDesc desc = {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0,
                                  bits == 32 && w.r.chance(30) ? cudaChannelFormatKindFloat : cudaChannelFormatKindUnsigned};
    if (w.r.chance(5)) {
        desc.x = w.r.of({0, 7, -8, 1 << 30});
        c.no({cudaErrorInvalidChannelDescriptor, cudaErrorInvalidValue});
    }
    bool is_3d = w.r.chance(30);
    cudaExtent e = make_cudaExtent(w.r.in(1, 24), w.r.chance(30) ? 0 : w.r.in(1, 5), 0);
    if (is_3d && e.height && w.r.chance(60)) e.depth = w.r.in(1, 3);
    int which = w.r.below(100);
    if (which < 3) e.width = 0;
    else if (which < 10) (w.r.chance(50) ? e.width : e.height) = w.r.of<size_t>({MOST, MOST - 15, (size_t)1 << 63, (size_t)1 << 40});
    else if (which < 12 && is_3d && e.height) e.depth = w.r.of<size_t>({MOST, (size_t)1 << 60});
    bool is_large = is_huge(e.width) || is_huge(e.height) || is_huge(e.depth);
    if (!e.width) c.no({cudaErrorInvalidValue});
    if (is_large) c.no({cudaErrorInvalidValue, cudaErrorMemoryAllocation});
    unsigned flags = w.r.chance(95) ? w.r.of<unsigned>({0, 0, 2}) : 1u << 30;
    if (flags > 255) c.no({cudaErrorInvalidValue});
    bool is_null = w.r.chance(2);
    if (is_null) c.no({cudaErrorInvalidValue, cudaErrorInvalidChannelDescriptor});
    c.text = format("cudaMalloc%sArray(%s, {%d, %d, %d, %d}, {%s, %s, %s}, %u)", is_3d ? "3D" : "", w.or_null(at), desc.x,
                    desc.y, desc.z, desc.w, number(e.width).c_str(), number(e.height).c_str(), number(e.depth).c_str(), flags);
    w.unsafe(c);
    cudaChannelFormatDesc *d = is_null ? nullptr : &desc;
    int got = is_3d ? cudaMalloc3DArray(at, d, e, flags) : cudaMallocArray(at, d, e.width, e.height, flags);
    if (!w.judge(c, got, out)) return true;
    size_t element = bits / 8 * channels;
    size_t bytes = e.width * element * (e.height ? e.height : 1) * (e.depth ? e.depth : 1);
    BlockRef block = std::make_shared<Block>(Block::Array, w.name("array"), nullptr, bytes);
    block->array = out.value;
    block->desc = desc;
    block->element = element;
    block->width = e.width;
    block->rows = e.height;
    block->depth = e.depth;
    block->flags = flags;
    w.drop(w.dead_arrays, out.value);
    w.blocks.push_back(block);
    return true;
}

inline bool call_array(World &w) {
    Call c;
    BlockRef block;
    cudaArray_t array = an_array(w, c, block);
    if (w.r.chance(40)) {
        Out<cudaChannelFormatDesc> desc;
        Out<cudaExtent> extent;
        Out<unsigned> flags;
        c.text = format("cudaArrayGetInfo(%s)", say_array(block).c_str());
        if (!w.judge(c, cudaArrayGetInfo(desc.at, extent.at, flags.at, array), extent)) return true;
        cudaExtent e = extent.value;
        w.demand(e.width == block->width && e.height == block->rows && e.depth == block->depth, "the extent of the array");
        w.demand(!memcmp(&desc.value, &block->desc, sizeof block->desc), "the format of the array");
        w.demand(flags.value == block->flags, "the flags of the array");
        return true;
    }
    // What comes of launching graphs and reading textures without their arrays is undefined.
    for (TextureRef &t : w.textures)
        if (block && t->block == block) return false;
    if (block && is_in_graph(w, block.get())) return false;
    c.text = format("cudaFreeArray(%s)", block ? block->name.c_str() : array ? "a wrong array" : "null");
    if (!array) c.wrong.clear();
    w.unsafe(c);
    for (CaptureRef &blocked : w.blocking_captures()) {
        c.may({cudaErrorStreamCaptureImplicit});
        c.doubtful.push_back(blocked);
    }
    if (!w.judge(c, cudaFreeArray(array)) || !block) return true;
    w.drop(w.blocks, block);
    w.dead_arrays.push_back(array);
    return true;
}

inline bool call_create_texture(World &w) {
    if (w.textures.size() > 5) return false;
    Call c;
    Out<cudaTextureObject_t> out;
    cudaTextureObject_t *at = w.place(c, out);
    bool is_surface = w.r.chance(25), is_linear = !is_surface && w.r.chance(30);
    cudaResourceDesc resource = {};
    cudaTextureDesc sampler = {};
    for (auto &mode : sampler.addressMode) mode = cudaAddressModeClamp;
    BlockRef block;
    string text;
    resource.resType = is_linear ? cudaResourceTypeLinear : cudaResourceTypeArray;
    if (is_linear) {
        uint8_t *p = address(w, DeviceSide);
        size_t offset, bytes = a_size(w, room(w, p));
        BlockRef of = find(w, p, offset);
        resource.res.linear.devPtr = p;
        resource.res.linear.desc = cudaCreateChannelDesc<unsigned char>();
        resource.res.linear.sizeInBytes = bytes;
        text = format("%s, %s bytes", say(w, p).c_str(), number(bytes).c_str());
        bool is_registered = of && of->kind == Block::Host && !of->registered.empty();
        if (!of || of->kind == Block::Host && !is_registered) c.no({cudaErrorInvalidValue});
        // How much of it must be there, and whether memory must be aligned when an address is not, is not settled.
        else c.may({cudaErrorInvalidValue});
    } else {
        resource.res.array.array = an_array(w, c, block);
        text = say_array(block);
        // An array is for surfaces if it was made for them; that others are refused is not said.
        if (is_surface && block && !(block->flags & cudaArraySurfaceLoadStore))
            c.may({cudaErrorInvalidValue, cudaErrorInvalidResourceHandle, cudaErrorInvalidChannelDescriptor});
    }
    if (w.r.chance(2)) {
        resource.resType = (cudaResourceType)77;
        c.no({cudaErrorInvalidValue});
    }
    bool is_null = w.r.chance(2);
    if (is_null) c.no({cudaErrorInvalidValue});
    c.text = format("%s(%s, %s%s)", is_surface ? "cudaCreateSurfaceObject" : "cudaCreateTextureObject", w.or_null(at),
                    is_null ? "null: " : "", text.c_str());
    cudaResourceDesc *from = is_null ? nullptr : &resource;
    int got = is_surface ? cudaCreateSurfaceObject(at, from) : cudaCreateTextureObject(at, from, &sampler, nullptr);
    if (!w.judge(c, got, out)) return true;
    TextureRef t = std::make_shared<Texture>();
    t->handle = out.value;
    t->name = w.name(is_surface ? "surface" : "texture");
    t->is_surface = is_surface;
    t->resource = resource;
    // Those of two dimensions and of bytes are read by a kernel.
    if (block && block->element == 1 && block->rows && !block->depth) t->block = block;
    else if (block) t->block = nullptr;
    w.drop(w.dead_textures, t->handle);
    w.textures.push_back(t);
    return true;
}

inline bool call_texture(World &w) {
    Call c;
    TextureRef t;
    cudaTextureObject_t handle = 0x7777777;
    bool is_surface = w.r.chance(25), is_query = w.r.chance(40);
    if (!w.textures.empty() && w.r.chance(88)) {
        t = w.r.of(w.textures);
        is_surface = t->is_surface;
        handle = t->handle;
    } else {
        if (!w.dead_textures.empty() && w.r.chance(60)) handle = w.r.of(w.dead_textures);
        c.no({cudaErrorInvalidValue, cudaErrorInvalidResourceHandle});
    }
    string name = t ? t->name : "a wrong object";
    if (is_query) {
        Out<cudaResourceDesc> out;
        cudaResourceDesc *at = w.place(c, out);
        c.text = format("cudaGet%sObjectResourceDesc(%s, %s)", is_surface ? "Surface" : "Texture", w.or_null(at), name.c_str());
        int got = is_surface ? cudaGetSurfaceObjectResourceDesc(at, handle) : cudaGetTextureObjectResourceDesc(at, handle);
        if (!w.judge(c, got, out)) return true;
        w.demand(out.value.resType == t->resource.resType, "the kind of its resource");
        if (t->resource.resType == cudaResourceTypeArray)
            w.demand(out.value.res.array.array == t->resource.res.array.array, "its array");
        else w.demand(out.value.res.linear.sizeInBytes == t->resource.res.linear.sizeInBytes, "the bytes of its resource");
        return true;
    }
    // A graph may have a kernel that reads it.
    if (t && (!w.graphs.empty() || !w.execs.empty() || !w.captures.empty())) return false;
    c.text = format("cudaDestroy%sObject(%s)", is_surface ? "Surface" : "Texture", name.c_str());
    if (!w.judge(c, is_surface ? cudaDestroySurfaceObject(handle) : cudaDestroyTextureObject(handle))) return true;
    w.drop(w.textures, t);
    w.dead_textures.push_back(handle);
    return true;
}
