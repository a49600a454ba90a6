// Captures of streams.
#pragma once
#include "calls_stream.h"

inline bool call_begin_capture(World &w) {
    Call c;
    StreamRef s;
    cudaStream_t stream = w.stream(c, s);
    int mode = w.r.chance(95) ? w.r.of({0, 1, 2, 2}) : w.r.of({3, -1, 77});
    c.text = format("cudaStreamBeginCapture(%s, mode %d)", w.say(s).c_str(), mode);
    if (mode < 0 || mode > 2) c.no({cudaErrorInvalidValue});
    if (s && s->is_legacy) {
        // It may not be captured. InvalidValue is listed, StreamCaptureUnsupported is for this by its text.
        c.no({cudaErrorStreamCaptureUnsupported, cudaErrorInvalidValue});
        for (CaptureRef &blocked : w.blocking_captures()) {
            c.may({cudaErrorStreamCaptureImplicit});
            c.doubtful.push_back(blocked);
        }
    } else if (s && s->capture) {
        c.no({cudaErrorStreamCaptureUnsupported, cudaErrorIllegalState, cudaErrorInvalidValue});
        if (s->capture->is_invalid) c.no({cudaErrorStreamCaptureInvalidated});
        c.doubtful.push_back(s->capture);
    }
    if (!w.judge(c, cudaStreamBeginCapture(stream, (cudaStreamCaptureMode)mode))) return true;
    CaptureRef capture = std::make_shared<Capture>();
    capture->origin = s;
    capture->mode = (cudaStreamCaptureMode)mode;
    capture->graph->is_captured = true;
    s->capture = capture;
    s->after.clear();
    w.captures.push_back(capture);
    return true;
}

// All nodes that come before some.
inline std::set<Node *> ancestors(const std::set<Node *> &of) {
    std::set<Node *> all;
    vector<Node *> next(of.begin(), of.end());
    while (!next.empty()) {
        Node *node = next.back();
        next.pop_back();
        if (all.insert(node).second) next.insert(next.end(), node->after.begin(), node->after.end());
    }
    return all;
}

// Takes the streams out of a capture that has ended.
inline void end_capture(World &w, CaptureRef capture) {
    capture->is_over = true;
    for (StreamRef &s : w.streams)
        if (s->capture == capture) {
            s->capture = nullptr;
            s->after.clear();
        }
    w.drop(w.captures, capture);
}

inline bool end(World &w, StreamRef s, cudaStream_t stream, Call &c) {
    Out<cudaGraph_t> out;
    cudaGraph_t *at = w.place(c, out);
    c.text = format("cudaStreamEndCapture(%s, %s)", w.say(s).c_str(), w.or_null(at));
    CaptureRef capture = s ? s->capture : nullptr;
    bool is_origin = capture && capture->origin == s, ends = is_origin && at;
    if (s && !capture) c.no({cudaErrorIllegalState});
    if (s && s->is_legacy)
        for (CaptureRef &blocked : w.blocking_captures()) {
            c.no({cudaErrorStreamCaptureImplicit, cudaErrorStreamCaptureUnsupported});
            c.doubtful.push_back(blocked);
        }
    if (capture && !is_origin) {
        c.no({cudaErrorStreamCaptureUnmatched});
        if (capture->is_invalid) c.no({cudaErrorStreamCaptureInvalidated});
        c.doubtful.push_back(capture);
    }
    bool is_unjoined = false;
    if (is_origin && capture->is_invalid) c.no({cudaErrorStreamCaptureInvalidated});
    else if (is_origin) {
        std::set<Node *> joined = ancestors(s->after);
        for (NodeRef &node : capture->graph->nodes)
            is_unjoined |= !joined.count(node.get()) && !capture->excused.count(node.get());
        if (is_unjoined && !capture->is_vague) c.no({cudaErrorStreamCaptureUnjoined});
        // Of streams that were forked and did nothing, the documentation does not say whether they must be joined.
        int others = 0;
        for (StreamRef &other : w.streams) others += other->capture == capture;
        if (others > 1 || capture->is_vague) c.may({cudaErrorStreamCaptureUnjoined});
        // With nowhere for the graph it is not said whether the capture ends.
        if (!at) c.may({cudaErrorStreamCaptureInvalidated});
    }
    cudaError_t got = cudaStreamEndCapture(stream, at);
    if (!at && is_origin) {
        w.judge(c, got);
        if (w.sticky) return true;
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        if (cudaStreamIsCapturing(stream, &status)) w.fail("the stream cannot be asked", "a status");
        capture->is_invalid |= status == cudaStreamCaptureStatusInvalidated;
        if (status == cudaStreamCaptureStatusNone) end_capture(w, capture);
        return true;
    }
    if (!ends) {
        w.judge(c, got, out);
        return true;
    }
    bool is_done = w.judge(c, got);
    if (w.sticky) return true;
    end_capture(w, capture);
    if (!is_done) {
        w.demand(out.is_untouched() || !out.value, "no graph where a capture has failed");
        return true;
    }
    w.demand(out.value && !out.is_untouched(), "a graph");
    GraphRef graph = capture->graph;
    graph->handle = out.value;
    graph->name = w.name("graph");
    w.drop(w.dead_graphs, graph->handle);
    w.graphs.push_back(graph);
    size_t count = 0;
    cudaError_t asked = cudaGraphGetNodes(out.value, nullptr, &count);
    if (asked) w.fail("cudaGraphGetNodes: " + error_name(asked), "success");
    if (graph->is_counted && count != graph->nodes.size())
        w.fail(format("%zu nodes", count), format("%zu nodes", graph->nodes.size()));
    return true;
}

inline bool call_end_capture(World &w) {
    Call c;
    StreamRef s;
    cudaStream_t stream = w.stream(c, s);
    if (!w.captures.empty() && w.r.chance(75)) {
        c = Call();
        s = w.r.of(w.captures)->origin;
        stream = s->handle;
    }
    return end(w, s, stream, c);
}

inline bool call_capture_status(World &w) {
    Call c;
    StreamRef s;
    Out<cudaStreamCaptureStatus> out;
    cudaStream_t stream = w.stream(c, s);
    cudaStreamCaptureStatus *at = w.place(c, out);
    bool is_blocked = s && s->is_legacy && !w.blocking_captures().empty();
    // It is only refused: the capture stays as it is.
    if (is_blocked) c.no({cudaErrorStreamCaptureImplicit});
    CaptureRef capture = s ? s->capture : nullptr;
    cudaStreamCaptureStatus status = !capture               ? cudaStreamCaptureStatusNone
                                     : capture->is_invalid ? cudaStreamCaptureStatusInvalidated
                                                           : cudaStreamCaptureStatusActive;
    auto is_right = [&] {
        if (out.value != status) w.fail(format("status %d", out.value), format("status %d", status));
    };
    if (w.r.chance(60)) {
        c.text = format("cudaStreamIsCapturing(%s, %s)", w.say(s).c_str(), w.or_null(at));
        bool is_done = w.judge(c, cudaStreamIsCapturing(stream, at));
        if (is_done) is_right();
        return true;
    }
    Out<unsigned long long> id;
    Out<cudaGraph_t> graph;
    Out<const cudaGraphNode_t *> list;
    Out<size_t> count;
    bool all = w.r.chance(50);
    c.text = format("cudaStreamGetCaptureInfo(%s, %s, %s)", w.say(s).c_str(), w.or_null(at), all ? "all" : "id");
    cudaError_t got = all ? cudaStreamGetCaptureInfo(stream, at, id.at, graph.at, list.at, count.at)
                          : cudaStreamGetCaptureInfo(stream, at, id.at, nullptr, nullptr, nullptr);
    if (!w.judge(c, got)) return true;
    is_right();
    if (status != cudaStreamCaptureStatusActive) return true;
    if (capture->id) w.demand(capture->id == id.value, "the id of the capture");
    for (CaptureRef &other : w.captures)
        w.demand(other == capture || !other->id || other->id != id.value, "an id of its own");
    capture->id = id.value;
    if (!all || !capture->graph->is_counted) return true;
    w.demand(!count.is_untouched() && (count.value > 0) == !s->after.empty(), "what the next node depends on");
    size_t nodes = 0;
    w.demand(cudaGraphGetNodes(graph.value, nullptr, &nodes) == cudaSuccess, "a graph that can be asked");
    if (nodes != capture->graph->nodes.size())
        w.fail(format("%zu nodes", nodes), format("%zu nodes", capture->graph->nodes.size()));
    return true;
}

inline bool call_update_dependencies(World &w) {
    Call c;
    StreamRef s;
    cudaStream_t stream = w.stream(c, s);
    c.text = format("cudaStreamUpdateCaptureDependencies(%s, none, set)", w.say(s).c_str());
    c.may({cudaErrorNotSupported});
    if (s && !s->capture) c.no({cudaErrorIllegalState});
    if (s && s->is_legacy) return false;
    w.enter(c, s);
    int got = cudaStreamUpdateCaptureDependencies(stream, nullptr, 0, cudaStreamSetCaptureDependencies);
    if (!w.judge(c, got)) return true;
    for (Node *node : ancestors(s->after)) s->capture->excused.insert(node);
    s->after.clear();
    return true;
}

inline bool call_exchange_mode(World &w) {
    Call c;
    int value = w.r.chance(90) ? w.r.of({0, 0, 1, 2}) : w.r.of({3, -1});
    cudaStreamCaptureMode mode = (cudaStreamCaptureMode)value;
    bool is_null = w.r.chance(5);
    c.text = format("cudaThreadExchangeStreamCaptureMode(%s %d)", is_null ? "null" : "mode", value);
    c.is_quiet = true;
    if (is_null || value < 0 || value > 2) c.no({cudaErrorInvalidValue});
    bool is_done = w.judge(c, cudaThreadExchangeStreamCaptureMode(is_null ? nullptr : &mode));
    if (!is_done) {
        w.demand(w.sticky || mode == value, "the mode is not written");
        return true;
    }
    if (mode != w.thread_mode) w.fail(format("mode %d", mode), format("mode %d", w.thread_mode));
    w.thread_mode = (cudaStreamCaptureMode)value;
    return true;
}
