// Sequences of random calls of the runtime API, compared with a model of what the documentation says.
//
//   sequences FROM TO            the sequences of these seeds
//   sequences SEED SEED+1 --calls N --show   only the first N calls of one, each shown
//   ... --without memset,register            none of these kinds of calls, by the names in the list below
//   ... --tally                              how often each function has returned what
//
// A sequence makes 10 to 60 calls with arguments of the right types, some of them wrong: sizes, directions, pitches, handles that
// were destroyed, made up or of another kind. Return codes, results and the bytes of all memory are compared with the model; what is
// refused must change nothing. In the end everything is freed, and no memory of the device may be missing. Some sequences end with a
// kernel that faults, calls after it, and a reset of the device.
#include "calls_graph.h"
#include <csignal>
#include <cstdlib>
#include <functional>
#include <sys/mman.h>
#include <unistd.h>

struct Kind {
    int weight;
    const char *name;
    bool (*call)(World &);
};
#define KIND(weight, name) {weight, #name, call_##name}
const Kind KINDS[] = {
    KIND(6, malloc), KIND(3, malloc_async), KIND(3, malloc_pitch), KIND(2, malloc_3d), KIND(4, malloc_host),
    KIND(3, malloc_managed), KIND(3, register), KIND(2, unregister), KIND(4, free), KIND(1, host_pointer),
    KIND(1, host_flags), KIND(1, pointer_attributes), KIND(1, mem_info), KIND(8, write), KIND(12, memcpy),
    KIND(7, memcpy_2d), KIND(6, memcpy_3d), KIND(5, memcpy_array), KIND(6, memcpy_symbol), KIND(8, memset),
    KIND(5, stream_create), KIND(2, stream_destroy), KIND(1, stream_info), KIND(3, stream_wait_done),
    KIND(1, device_synchronize), KIND(4, event_create), KIND(1, event_destroy), KIND(6, event_record),
    KIND(6, stream_wait_event), KIND(2, event_wait_done), KIND(2, event_elapsed), KIND(4, host_function),
    KIND(4, begin_capture), KIND(4, end_capture), KIND(3, capture_status), KIND(1, update_dependencies),
    KIND(1, exchange_mode), KIND(12, launch), KIND(1, function_attributes), KIND(1, occupancy), KIND(1, symbol),
    KIND(3, last_error), KIND(2, device), KIND(4, malloc_array), KIND(2, array), KIND(2, create_texture),
    KIND(1, texture), KIND(4, graph_create), KIND(16, add_node), KIND(4, dependency), KIND(1, destroy_node),
    KIND(2, graph_lists), KIND(1, node_info), KIND(2, clone), KIND(1, find_in_clone), KIND(5, instantiate),
    KIND(7, graph_launch), KIND(2, exec_update), KIND(4, set_params), KIND(1, enabled), KIND(2, graph_destroy),
};

// The program's own memory, in pages of its own.
const int OWN = 3;
const size_t OWN_BYTES = 8192;
static uint8_t *own;

static World *running;
static bool is_shown;
static string without; // Names of calls that are left out, each between commas.

// Says where a sequence has crashed or hangs.
static void stopped(int signal) {
    char line[700];
    const char *what = signal == SIGALRM ? "hangs" : "crashed";
    int length = snprintf(line, sizeof line, "DIFFERENCE seed %llu call %d: %s: %s (signal %d), expected a result\n",
                          (unsigned long long)running->seed, running->number, told.c_str(), what, signal);
    if (write(1, line, length) < 0) _exit(3);
    _exit(2);
}

static void add_own(World &w) {
    for (int i = 0; i < OWN; i++) {
        BlockRef block = std::make_shared<Block>(Block::Host, format("own%d", i), own + i * OWN_BYTES, OWN_BYTES);
        for (size_t k = 0; k < OWN_BYTES; k++) block->write(k, block->at[k] = w.r.next());
        block->fixed = true;
        w.blocks.push_back(block);
    }
}
static BlockRef add_variable(World &w, const char *name, const void *symbol, size_t size) {
    void *at = nullptr;
    cudaError_t got = cudaGetSymbolAddress(&at, symbol);
    if (got) w.fail(string(name) + ": " + error_name(got), "an address");
    BlockRef block = std::make_shared<Block>(Block::Device, name, at, size);
    block->symbol = symbol;
    block->fixed = true;
    for (size_t i = 0; i < size; i++) block->write(i, w.r.next());
    got = cudaMemcpyToSymbol(symbol, block->bytes.data(), size);
    if (got) w.fail(string(name) + ": " + error_name(got), "success");
    w.blocks.push_back(block);
    return block;
}
static size_t free_bytes(World &w) {
    size_t free = 0, total = 0;
    cudaError_t got = cudaMemGetInfo(&free, &total);
    if (got) w.fail("cudaMemGetInfo: " + error_name(got), "success");
    return free;
}

// What a sequence starts with.
static void start(World &w) {
    w.text = told = "start";
    int value = 0;
    cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlock, 0);
    w.shared_limit = value;
    auto named = [&](cudaStream_t handle, const char *name, bool is_legacy) {
        StreamRef s = std::make_shared<Stream>();
        s->handle = handle;
        s->name = name;
        s->is_legacy = is_legacy;
        s->is_ours = false;
        s->is_blocking = !is_legacy;
        w.streams.push_back(s);
        return s;
    };
    w.zero = named(nullptr, "0", true);
    named(cudaStreamLegacy, "legacy", true);
    named(cudaStreamPerThread, "per-thread", false);
    add_own(w);
    table_block = add_variable(w, "table", &table, sizeof table);
    variable_block = add_variable(w, "variable", &variable, sizeof variable);
}

static void one_call(World &w) {
    int total = 0;
    for (const Kind &kind : KINDS) total += kind.weight;
    for (int tries = 0; tries < 50; tries++) {
        const Kind *kind = KINDS;
        for (int at = w.r.below(total); at >= kind->weight; kind++) at -= kind->weight;
        if (without.find(format(",%s,", kind->name)) != string::npos) continue;
        if (kind->call(w)) return;
    }
}

static void must(World &w, const string &text, int got) {
    w.text = told = text;
    w.tally[text.substr(0, text.find('('))][got]++;
    if (got) w.fail(error_name(got), "success");
}

// Ends captures and compares everything, then gives back what there is, in any order.
static void finish(World &w) {
    while (!w.captures.empty()) {
        Call c;
        StreamRef s = w.captures.back()->origin;
        size_t before = w.captures.size();
        do {
            c = Call();
            end(w, s, s->handle, c);
        } while (w.captures.size() == before && !w.sticky);
    }
    w.text = told = "at the end";
    compare_all(w);
    vector<std::function<void()>> left;
    for (ExecRef &e : w.execs) left.push_back([&w, e] { must(w, "cudaGraphExecDestroy(" + e->name + ")", cudaGraphExecDestroy(e->handle)); });
    for (GraphRef &g : w.graphs) left.push_back([&w, g] { must(w, "cudaGraphDestroy(" + g->name + ")", cudaGraphDestroy(g->handle)); });
    for (EventRef &e : w.events) left.push_back([&w, e] { must(w, "cudaEventDestroy(" + e->name + ")", cudaEventDestroy(e->handle)); });
    for (StreamRef &s : w.streams)
        if (s->is_ours) left.push_back([&w, s] { must(w, "cudaStreamDestroy(" + s->name + ")", cudaStreamDestroy(s->handle)); });
    for (TextureRef &t : w.textures)
        left.push_back([&w, t] {
            must(w, "destroy " + t->name, t->is_surface ? cudaDestroySurfaceObject(t->handle) : cudaDestroyTextureObject(t->handle));
        });
    auto mix = [&] {
        for (size_t i = left.size(); i > 1; i--) std::swap(left[i - 1], left[w.r.below(i)]);
        for (auto &each : left) each();
        left.clear();
    };
    if (w.r.chance(60)) mix();
    for (BlockRef &b : w.blocks) {
        for (auto &range : b->registered)
            left.push_back([&w, b, range] { must(w, "cudaHostUnregister(" + b->name + ")", cudaHostUnregister(b->at + range.first)); });
        if (b->fixed) continue;
        left.push_back([&w, b] {
            int got = b->kind == Block::Array ? cudaFreeArray(b->array) : b->kind == Block::Pinned ? cudaFreeHost(b->at) : cudaFree(b->at);
            must(w, "free " + b->name, got);
        });
    }
    mix();
    must(w, "cudaDeviceSynchronize()", cudaDeviceSynchronize());
    w.text = "cudaGetLastError() at the end";
    int got = cudaGetLastError();
    if (got != w.last) w.fail(error_name(got), error_name(w.last));
    must(w, "cudaGetLastError() again", cudaGetLastError());
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    must(w, "cudaThreadExchangeStreamCaptureMode(0)", cudaThreadExchangeStreamCaptureMode(&mode));
}

// Everything on the device is gone, and it can be used again.
static void reset(World &w) {
    must(w, "cudaDeviceReset()", cudaDeviceReset());
    cudaGetLastError();
    must(w, "cudaGetLastError() after a reset", cudaGetLastError());
    must(w, "cudaDeviceSynchronize() after a reset", cudaDeviceSynchronize());
    void *at = nullptr;
    for (const void *symbol : {(const void *)&table, (const void *)&variable})
        must(w, "cudaGetSymbolAddress after a reset", cudaGetSymbolAddress(&at, symbol));
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    must(w, "cudaThreadExchangeStreamCaptureMode(0)", cudaThreadExchangeStreamCaptureMode(&mode));
}

static uint64_t mixed(uint64_t seed, uint64_t number) {
    Random r{seed * 0x2545F4914F6CDD1D + number};
    return r.next();
}

// Makes the calls of a sequence.
static void calls(World &w, int most) {
    int count = w.r.in(10, 60);
    bool faults = w.r.chance(8);
    if (most >= 0 && most < count) count = most;
    for (w.number = 1; w.number <= count && !w.is_over && !w.sticky; w.number++) {
        w.r.state = mixed(w.seed, w.number);
        one_call(w);
        if (is_shown) fprintf(stderr, "%d: %s -> %d\n", w.number, w.text.c_str(), w.last);
        if (!w.is_over && w.r.chance(w.last ? 25 : 8)) compare_all(w);
    }
    if (!faults || w.is_over || most >= 0) return;
    for (int tries = 0; tries < 5 && !w.sticky; tries++) call_fault(w);
    for (int more = w.r.in(1, 12); w.sticky && more; more--) {
        w.number++;
        one_call(w);
        if (is_shown) fprintf(stderr, "%d: %s (after a fault)\n", w.number, w.text.c_str());
    }
}

static std::map<string, std::map<int, int>> tally;

static bool sequence(uint64_t seed, int most) {
    static size_t first = 0; // Free bytes before the first sequence.
    World w;
    running = &w;
    w.seed = seed;
    w.r.state = mixed(seed, 0);
    bool is_right = true;
    alarm(120);
    try {
        start(w);
        size_t before = free_bytes(w);
        if (!first) first = before;
        if (before != first) w.fail(format("%zu bytes free", before), format("%zu as at first", first));
        calls(w, most);
        if (w.sticky || w.is_over) reset(w);
        else finish(w);
        w.text = "cudaMemGetInfo in the end";
        size_t after = free_bytes(w);
        if (after != before) w.fail(format("%zu bytes free", after), format("%zu as before", before));
    } catch (const Difference &d) {
        printf("DIFFERENCE seed %llu call %d: %s: got %s, expected %s\n", (unsigned long long)seed, w.number,
               d.text.c_str(), d.got.c_str(), d.expected.c_str());
        is_right = false;
    }
    alarm(0);
    for (auto &entry : w.tally)
        for (auto &code : entry.second) tally[entry.first][code.first] += code.second;
    return is_right;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: sequences FROM TO [--calls N] [--show] [--tally] [--without NAME,NAME]\n");
        return 2;
    }
    uint64_t from = strtoull(argv[1], nullptr, 0), to = strtoull(argv[2], nullptr, 0), done = 0, made = 0;
    int most = -1;
    bool is_told = false;
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "--calls") && i + 1 < argc) most = atoi(argv[++i]);
        if (!strcmp(argv[i], "--without") && i + 1 < argc) without = format(",%s,", argv[++i]);
        is_shown |= !strcmp(argv[i], "--show");
        is_told |= !strcmp(argv[i], "--tally");
    }
    setvbuf(stdout, nullptr, _IOLBF, 0);
    own = (uint8_t *)mmap(nullptr, OWN * OWN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED) return 2;
    for (int which : {SIGSEGV, SIGBUS, SIGABRT, SIGALRM, SIGFPE}) signal(which, stopped);
    bool is_right = true;
    // What comes after a difference is not to be trusted: the process ends with it.
    for (uint64_t seed = from; seed < to && is_right; seed++, done++) is_right = sequence(seed, most);
    for (auto &entry : tally)
        for (auto &code : entry.second) made += code.second;
    if (is_told)
        for (auto &entry : tally)
            for (auto &code : entry.second) printf("%s %d %d\n", entry.first.c_str(), code.first, code.second);
    printf("%llu sequences, %llu calls\n%s\n", (unsigned long long)(is_right ? done : done - 1), (unsigned long long)made,
           is_right ? "PASS" : "FAIL");
    return !is_right;
}
