// What the model knows of the device, and how a call is judged.
//
// The model is written from the documentation of the runtime API of CUDA 12.3. A call has complaints (errors of which one must
// come) and open ones (errors that the documentation allows beside success, or does not settle). Where several arguments are
// wrong the documentation does not say which is found first: each of the complaints is right then.
#pragma once
#include "kernels.h"
#include <cstdarg>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <set>

const size_t MOST = ~(size_t)0;

// A generator with a state of 64 bits (splitmix).
struct Random {
    uint64_t state;
    uint64_t next() {
        uint64_t z = state += 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
    size_t below(size_t n) { return n ? next() % n : 0; }
    size_t in(size_t least, size_t most) { return least + below(most - least + 1); }
    bool chance(int percent) { return (int)below(100) < percent; }
    template <class T> T &of(vector<T> &list) { return list[below(list.size())]; }
    template <class T> T of(std::initializer_list<T> list) { return list.begin()[below(list.size())]; }
};

inline string format(const char *text, ...) {
    char line[512];
    va_list list;
    va_start(list, text);
    vsnprintf(line, sizeof line, text, list);
    va_end(list);
    return line;
}

struct Node;
typedef std::shared_ptr<Node> NodeRef;

struct Node {
    cudaGraphNode_t handle = nullptr; // Null where it is not known.
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    Op op;
    std::set<Node *> after;
    NodeRef original; // Of a clone.
};

struct Graph {
    cudaGraph_t handle = nullptr;
    string name;
    vector<NodeRef> nodes;
    bool is_captured = false;
    bool is_counted = true;               // Whether the documentation says how many nodes there are.
    std::shared_ptr<Graph> original = {}; // Of a clone.
    bool alive = true;
};
typedef std::shared_ptr<Graph> GraphRef;

struct Exec {
    cudaGraphExec_t handle = nullptr;
    string name;
    GraphRef graph;
    Plan plan;
};
typedef std::shared_ptr<Exec> ExecRef;

struct Stream;
typedef std::shared_ptr<Stream> StreamRef;

struct Capture {
    StreamRef origin;
    cudaStreamCaptureMode mode;
    bool is_invalid = false, is_over = false;
    bool is_vague = false; // What of it must be joined is not known.
    GraphRef graph = std::make_shared<Graph>();
    std::set<Node *> excused; // Nodes that need not be joined.
    unsigned long long id = 0;
};
typedef std::shared_ptr<Capture> CaptureRef;

struct Stream {
    cudaStream_t handle;
    string name;
    bool is_legacy = false, is_blocking = true, is_ours = true;
    unsigned flags = 0;
    int priority = 0;
    CaptureRef capture = {};
    std::set<Node *> after = {}; // What the next captured node depends on.
};

struct Event {
    cudaEvent_t handle;
    string name;
    bool is_timed, is_recorded = false;
    uint64_t when = 0;      // In the order of the records.
    bool is_vague = false; // A graph has recorded it: among other nodes, the order is not known.
    CaptureRef capture = {};
    std::set<Node *> after = {};
};
typedef std::shared_ptr<Event> EventRef;

struct Texture {
    cudaTextureObject_t handle;
    string name;
    bool is_surface;
    cudaResourceDesc resource;
    BlockRef block; // Where kernels can read it.
};
typedef std::shared_ptr<Texture> TextureRef;

// A call that was judged wrong.
struct Difference {
    string text, got, expected;
};

inline string error_name(int code) {
    const char *name = cudaGetErrorName((cudaError_t)code);
    return format("%s (%d)", name ? name : "null", code);
}

// The call that runs, for a crash. What it is told is kept before the call is made.
inline string told;
struct Told {
    string text;
    Told &operator=(const string &said) {
        text = told = said;
        return *this;
    }
    operator const string &() const { return text; }
};

// A call under test.
struct Call {
    Told text;
    std::set<int> wrong, open;
    bool is_quiet = false;       // It asks nothing of the device.
    vector<CaptureRef> killed;   // Captures that are invalid if the error is one of capture.
    vector<CaptureRef> doubtful; // Captures that may be invalid if the call is refused.
    void no(std::initializer_list<int> codes) { wrong.insert(codes); }
    void may(std::initializer_list<int> codes) { open.insert(codes); }
};

// What is passed for a result: a place that must stay as it is when the call is refused.
template <class T> struct Out {
    T value, before;
    T *at;
    Out() {
        memset((void *)&value, 0xA5, sizeof value);
        memcpy((void *)&before, (void *)&value, sizeof value);
        at = &value;
    }
    bool is_untouched() const { return !memcmp((void *)&value, (void *)&before, sizeof value); }
};

struct World {
    Random r;
    uint64_t seed = 0;
    int number = 0;    // Of the call.
    string text;       // Of the call that runs.
    int last = 0;      // What cudaGetLastError must return.
    int sticky = 0;    // After a fault.
    bool is_over = false; // The device must be reset now.
    cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;
    uint64_t records = 0;
    bool has_event_nodes = false;
    int names = 0;
    size_t shared_limit = 0;

    vector<BlockRef> blocks;  // Alive, with the program's own.
    vector<StreamRef> streams;
    vector<EventRef> events;
    vector<GraphRef> graphs;
    vector<ExecRef> execs;
    vector<TextureRef> textures;
    vector<CaptureRef> captures; // Under way.
    StreamRef zero;              // The default stream.

    // What was destroyed or freed.
    vector<cudaStream_t> dead_streams;
    vector<cudaEvent_t> dead_events;
    vector<cudaGraph_t> dead_graphs;
    vector<cudaGraphExec_t> dead_execs;
    vector<cudaGraphNode_t> dead_nodes;
    vector<cudaTextureObject_t> dead_textures;
    vector<cudaArray_t> dead_arrays;
    vector<std::pair<uint8_t *, size_t>> freed; // Memory of the device.
    vector<uint8_t *> freed_host;
    std::map<string, std::map<int, int>> tally; // Codes by function.

    string name(const char *kind) { return format("%s%d", kind, ++names); }

    [[noreturn]] void fail(string got, string expected) { throw Difference{text, got, expected}; }
    void demand(bool is_right, const char *what) {
        if (!is_right) fail("not so", what);
    }

    // Judges what a call returned. True if it did what it is for, in which case the model does it too.
    bool judge(Call &c, int got) {
        text = c.text;
        tally[text.substr(0, text.find('('))][got]++;
        if (got) last = got;
        if (sticky) {
            std::set<int> right = c.wrong;
            right.insert(sticky);
            if (c.is_quiet) right.insert(0);
            check(got, right);
            return false;
        }
        std::set<int> right = c.wrong;
        if (right.empty()) right.insert(0);
        right.insert(c.open.begin(), c.open.end());
        check(got, right);
        if (got) after_refusal(c, got);
        return !got;
    }
    template <class T> bool judge(Call &c, int got, const Out<T> &out) {
        bool is_done = judge(c, got);
        if (got && !out.is_untouched()) fail("a result was written", "none by a call that is refused");
        return is_done;
    }
    void check(int got, const std::set<int> &right) {
        if (right.count(got)) return;
        string list;
        for (int code : right) list += (list.empty() ? "" : " or ") + error_name(code);
        fail(error_name(got), list);
    }

    // Which captures a refused call has made invalid.
    void after_refusal(Call &c, int got) {
        bool is_of_capture = got == cudaErrorStreamCaptureUnsupported || got == cudaErrorStreamCaptureImplicit ||
                             got == cudaErrorStreamCaptureIsolation || got == cudaErrorStreamCaptureMerge ||
                             got == cudaErrorCapturedEvent;
        for (CaptureRef &capture : c.killed) look(capture, is_of_capture);
        for (CaptureRef &capture : c.doubtful) look(capture, false);
    }
    // Asks whether a capture is still valid.
    void look(CaptureRef &capture, bool must_be_invalid) {
        if (capture->is_over) return;
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        cudaError_t got = cudaStreamIsCapturing(capture->origin->handle, &status);
        if (got) fail("cudaStreamIsCapturing: " + error_name(got), "success");
        bool is_invalid = status == cudaStreamCaptureStatusInvalidated;
        if (!is_invalid && status != cudaStreamCaptureStatusActive) fail("the capture is gone", "a capture");
        if (!is_invalid && (must_be_invalid || capture->is_invalid)) fail("a valid capture", "an invalid one");
        capture->is_invalid = is_invalid;
    }

    // A capture that is under way in a stream that waits for the legacy stream.
    vector<CaptureRef> blocking_captures() {
        vector<CaptureRef> found;
        for (CaptureRef &capture : captures)
            for (StreamRef &s : streams)
                if (s->capture == capture && s->is_blocking) {
                    found.push_back(capture);
                    break;
                }
        return found;
    }
    // Whether calls that are not safe in a capture are forbidden to this thread.
    bool is_prohibited() {
        if (thread_mode == cudaStreamCaptureModeRelaxed) return false;
        for (CaptureRef &capture : captures)
            if (capture->mode != cudaStreamCaptureModeRelaxed) return true;
        return false;
    }
    // A call that may be unsafe in a capture. The documentation names cudaMalloc, and leaves open which others.
    void unsafe(Call &c) {
        if (!is_prohibited()) return;
        c.may({cudaErrorStreamCaptureUnsupported});
        c.doubtful.insert(c.doubtful.end(), captures.begin(), captures.end());
    }
    void use_legacy(Call &c) {
        vector<CaptureRef> blocked = blocking_captures();
        if (blocked.empty()) return;
        c.no({cudaErrorStreamCaptureImplicit});
        c.killed = blocked;
    }
    // A call that waits for the device in the legacy stream.
    void synchronous(Call &c) {
        use_legacy(c);
        unsafe(c);
    }

    // Enters work into a stream, or into its capture.
    void enter(Call &c, StreamRef s) {
        if (!s) return;
        if (s->capture && s->capture->is_invalid) c.no({cudaErrorStreamCaptureInvalidated});
        else if (s->capture) c.doubtful.push_back(s->capture);
        if (s->is_legacy) use_legacy(c);
    }
    // The work itself, after it was accepted.
    void submit(StreamRef s, const Op &op, cudaGraphNodeType type) {
        if (!s->capture) {
            apply(op);
            return;
        }
        NodeRef node = std::make_shared<Node>();
        node->op = op;
        node->type = type;
        node->after = s->after;
        s->after = {node.get()};
        s->capture->graph->nodes.push_back(node);
    }

    // A node that records an event.
    Op record_of(EventRef e) {
        Op op;
        op.type = Op::Record;
        has_event_nodes = true;
        op.record = [this, e] {
            e->is_recorded = e->is_vague = true;
            e->when = ++records;
            e->capture = nullptr;
        };
        return op;
    }

    template <class T> static void drop(vector<T> &list, const T &value) {
        for (size_t i = 0; i < list.size(); i++)
            if (list[i] == value) list.erase(list.begin() + i--);
    }

    // A stream to use, or null with its complaint.
    cudaStream_t stream(Call &c, StreamRef &found) {
        int which = r.below(100);
        found = nullptr;
        if (which >= 95) {
            static long nobody[32];
            c.no({cudaErrorInvalidResourceHandle});
            if (which >= 98 && !dead_streams.empty()) return r.of(dead_streams);
            if (which == 97 && !events.empty()) return (cudaStream_t)r.of(events)->handle;
            return (cudaStream_t)nobody;
        }
        found = which < 25 ? zero : r.of(streams);
        return found->handle;
    }
    cudaEvent_t event(Call &c, EventRef &found) {
        int which = r.below(100);
        found = nullptr;
        if (which >= 94 || events.empty()) {
            static long nobody[32];
            c.no({cudaErrorInvalidResourceHandle});
            if (which >= 97 && !dead_events.empty()) return r.of(dead_events);
            if (which == 96) return (cudaEvent_t)r.of(streams)->handle;
            return (cudaEvent_t)nobody;
        }
        found = r.of(events);
        return found->handle;
    }
    string say(StreamRef s) { return s ? s->name : "a wrong stream"; }
    string say(EventRef e) { return e ? e->name : "a wrong event"; }

    // Sometimes nowhere for a result.
    template <class T> T *place(Call &c, Out<T> &out) {
        if (!r.chance(3)) return out.at;
        c.no({cudaErrorInvalidValue});
        return nullptr;
    }
    static const char *or_null(const void *p) { return p ? "&out" : "null"; }
};

inline string number(size_t n) {
    if (n == MOST) return "SIZE_MAX";
    if (n > MOST - 4096) return format("SIZE_MAX-%zu", MOST - n);
    return n >= (size_t)1 << 32 ? format("0x%zx", n) : format("%zu", n);
}
