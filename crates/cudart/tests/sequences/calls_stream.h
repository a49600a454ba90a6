// Streams, events and functions of the host.
#pragma once
#include "calls_copy.h"

inline bool call_stream_create(World &w) {
    if (w.streams.size() > 7) return false;
    Call c;
    Out<cudaStream_t> out;
    cudaStream_t *at = w.place(c, out);
    int way = w.r.below(3), priority = w.r.of({0, 0, -1, 5, -100, 100});
    unsigned flags = way == 0 ? 0 : w.r.chance(92) ? w.r.below(2) : w.r.of<unsigned>({2, 99});
    if (flags > 1) c.no({cudaErrorInvalidValue});
    const char *names[] = {"cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority"};
    c.text = format("%s(%s, %u, %d)", names[way], w.or_null(at), flags, priority);
    int got = way == 0 ? cudaStreamCreate(at) : way == 1 ? cudaStreamCreateWithFlags(at, flags)
                                                         : cudaStreamCreateWithPriority(at, flags, priority);
    if (!w.judge(c, got, out)) return true;
    int least = 0, greatest = 0;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    StreamRef s = std::make_shared<Stream>();
    s->handle = out.value;
    s->name = w.name("stream");
    s->flags = flags;
    s->is_blocking = flags != cudaStreamNonBlocking;
    s->priority = way < 2 ? 0 : priority > least ? least : priority < greatest ? greatest : priority;
    for (StreamRef &other : w.streams) w.demand(other->handle != s->handle, "a new handle");
    w.drop(w.dead_streams, s->handle);
    w.streams.push_back(s);
    return true;
}

inline bool call_stream_destroy(World &w) {
    Call c;
    StreamRef s;
    cudaStream_t handle = w.stream(c, s);
    if (s && s->is_ours && !s->capture && w.r.chance(50)) return false;
    c.text = format("cudaStreamDestroy(%s)", w.say(s).c_str());
    if (s && !s->is_ours) c.no({cudaErrorInvalidValue, cudaErrorInvalidResourceHandle});
    else if (s && s->capture) {
        // What becomes of the capture is not said: the sequence ends here.
        if (!w.r.chance(10)) return false;
        c.may({cudaErrorInvalidValue, cudaErrorIllegalState, cudaErrorStreamCaptureUnsupported,
               cudaErrorStreamCaptureInvalidated});
        w.is_over = true;
    }
    if (!w.judge(c, cudaStreamDestroy(handle))) return true;
    w.drop(w.streams, s);
    w.dead_streams.push_back(handle);
    return true;
}

inline bool call_stream_info(World &w) {
    Call c;
    StreamRef s;
    cudaStream_t handle = w.stream(c, s);
    if (w.r.chance(50)) {
        Out<unsigned> out;
        unsigned *at = w.place(c, out);
        c.text = format("cudaStreamGetFlags(%s, %s)", w.say(s).c_str(), w.or_null(at));
        if (w.judge(c, cudaStreamGetFlags(handle, at), out) && s->is_ours)
            w.demand(out.value == s->flags, "the flags of the stream");
        return true;
    }
    Out<int> out;
    int *at = w.place(c, out);
    c.text = format("cudaStreamGetPriority(%s, %s)", w.say(s).c_str(), w.or_null(at));
    if (w.judge(c, cudaStreamGetPriority(handle, at), out) && s->is_ours)
        w.demand(out.value == s->priority, "the priority of the stream, in the range of the device");
    return true;
}

// Everything is done when it is asked for, so that nothing is ever left to wait for.
inline bool call_stream_wait_done(World &w) {
    Call c;
    StreamRef s;
    cudaStream_t handle = w.stream(c, s);
    bool is_query = w.r.chance(50);
    c.text = format("%s(%s)", is_query ? "cudaStreamQuery" : "cudaStreamSynchronize", w.say(s).c_str());
    if (s && s->capture) {
        c.no({cudaErrorStreamCaptureUnsupported});
        if (s->capture->is_invalid) c.no({cudaErrorStreamCaptureInvalidated});
        c.killed.push_back(s->capture);
    } else if (s && s->is_legacy) w.use_legacy(c);
    w.judge(c, is_query ? cudaStreamQuery(handle) : cudaStreamSynchronize(handle));
    return true;
}

inline bool call_device_synchronize(World &w) {
    Call c;
    c.text = "cudaDeviceSynchronize()";
    for (CaptureRef &capture : w.captures) {
        c.no({cudaErrorStreamCaptureUnsupported});
        if (capture->is_invalid) c.no({cudaErrorStreamCaptureInvalidated});
        c.killed.push_back(capture);
    }
    w.judge(c, cudaDeviceSynchronize());
    return true;
}

inline bool call_event_create(World &w) {
    if (w.events.size() > 7) return false;
    Call c;
    Out<cudaEvent_t> out;
    cudaEvent_t *at = w.place(c, out);
    bool has_flags = w.r.chance(60);
    unsigned flags = has_flags ? w.r.chance(90) ? w.r.below(4) : w.r.of<unsigned>({4, 6, 8, 1000}) : 0;
    c.text = has_flags ? format("cudaEventCreateWithFlags(%s, %u)", w.or_null(at), flags)
                       : format("cudaEventCreate(%s)", w.or_null(at));
    if (flags > 7 || (flags & 6) == 4) c.no({cudaErrorInvalidValue});
    // Nothing is shared with other processes.
    if (flags & 4) c.may({cudaErrorNotSupported});
    int got = has_flags ? cudaEventCreateWithFlags(at, flags) : cudaEventCreate(at);
    if (!w.judge(c, got, out)) return true;
    EventRef e = std::make_shared<Event>();
    e->handle = out.value;
    e->name = w.name("event");
    e->is_timed = !(flags & cudaEventDisableTiming);
    w.drop(w.dead_events, e->handle);
    w.events.push_back(e);
    return true;
}

inline bool call_event_destroy(World &w) {
    Call c;
    EventRef e;
    cudaEvent_t handle = w.event(c, e);
    if (e && w.r.chance(60)) return false;
    // Whether one may be destroyed before the graph that has a node for it is not said.
    if (e && w.has_event_nodes) return false;
    c.text = format("cudaEventDestroy(%s)", w.say(e).c_str());
    if (!w.judge(c, cudaEventDestroy(handle))) return true;
    w.drop(w.events, e);
    w.dead_events.push_back(handle);
    return true;
}

// A capture whose end has left an event behind; what such an event is good for is not said.
inline bool is_stale(EventRef e) { return e && e->capture && e->capture->is_over; }

inline bool call_event_record(World &w) {
    Call c;
    EventRef e;
    StreamRef s;
    cudaEvent_t event = w.event(c, e);
    cudaStream_t stream = w.stream(c, s);
    bool has_flags = w.r.chance(20);
    unsigned flags = has_flags ? w.r.chance(80) ? 0 : w.r.of<unsigned>({1, 2, 7}) : 0;
    c.text = has_flags ? format("cudaEventRecordWithFlags(%s, %s, %u)", w.say(e).c_str(), w.say(s).c_str(), flags)
                       : format("cudaEventRecord(%s, %s)", w.say(e).c_str(), w.say(s).c_str());
    if (flags > 1) c.no({cudaErrorInvalidValue});
    bool is_node = flags == 1 && s && s->capture;
    if (is_node) c.may({cudaErrorNotSupported});
    // What the flag means outside of a capture is not said.
    else if (flags == 1) c.may({cudaErrorInvalidValue, cudaErrorIllegalState});
    w.enter(c, s);
    if (!w.judge(c, has_flags ? cudaEventRecordWithFlags(event, stream, flags) : cudaEventRecord(event, stream))) return true;
    if (is_node) {
        w.submit(s, w.record_of(e), cudaGraphNodeTypeEventRecord);
        return true;
    }
    e->is_recorded = true;
    e->is_vague = false;
    e->when = ++w.records;
    e->capture = s->capture;
    e->after = s->after;
    return true;
}

inline bool call_stream_wait_event(World &w) {
    Call c;
    EventRef e;
    StreamRef s;
    cudaStream_t stream = w.stream(c, s);
    cudaEvent_t event = w.event(c, e);
    unsigned flags = w.r.chance(94) ? 0 : w.r.of<unsigned>({1, 2, 8});
    c.text = format("cudaStreamWaitEvent(%s, %s, %u)", w.say(s).c_str(), w.say(e).c_str(), flags);
    if (flags > 1) c.no({cudaErrorInvalidValue});
    // Outside of a capture the flag has no meaning; in one it makes a node.
    if (flags == 1) c.may({cudaErrorInvalidValue, cudaErrorNotSupported});
    w.enter(c, s);
    CaptureRef from = e ? e->capture : nullptr, to = s ? s->capture : nullptr;
    bool is_live = from && !from->is_over, joins = false;
    if (flags == 1) {
        if (is_live || is_stale(e)) return false;
    } else if (is_live) {
        if (from->is_invalid) c.no({cudaErrorStreamCaptureInvalidated});
        c.doubtful.push_back(from);
        if (to && to != from) {
            c.no({cudaErrorStreamCaptureMerge});
            if (!to->is_invalid && !from->is_invalid) c.killed = {from, to};
        } else if (s && s->is_legacy) {
            // The legacy stream cannot be captured; several texts of errors fit.
            c.no({cudaErrorStreamCaptureImplicit, cudaErrorStreamCaptureIsolation, cudaErrorStreamCaptureUnsupported});
        } else joins = true;
    } else if (is_stale(e)) {
        c.may({cudaErrorInvalidValue, cudaErrorInvalidResourceHandle, cudaErrorCapturedEvent,
               cudaErrorStreamCaptureIsolation, cudaErrorStreamCaptureMerge, cudaErrorStreamCaptureImplicit});
    } else if (to && e && e->is_recorded) {
        c.no({cudaErrorStreamCaptureIsolation});
        if (!to->is_invalid) c.killed.push_back(to);
    } else if (to) c.may({cudaErrorStreamCaptureIsolation}); // Never recorded: no work, and outside of the capture.
    if (!w.judge(c, cudaStreamWaitEvent(stream, event, flags))) return true;
    if (flags == 1 && to) {
        Op op;
        op.type = Op::Wait;
        w.submit(s, op, cudaGraphNodeTypeWaitEvent);
    }
    if (joins) {
        s->capture = from;
        s->after.insert(e->after.begin(), e->after.end());
    }
    return true;
}

inline bool call_event_wait_done(World &w) {
    Call c;
    EventRef e;
    cudaEvent_t event = w.event(c, e);
    bool is_query = w.r.chance(50);
    c.text = format("%s(%s)", is_query ? "cudaEventQuery" : "cudaEventSynchronize", w.say(e).c_str());
    if (is_stale(e)) c.may({cudaErrorCapturedEvent});
    else if (e && e->capture) {
        c.no({cudaErrorCapturedEvent});
        if (e->capture->is_invalid) c.no({cudaErrorStreamCaptureInvalidated});
        c.doubtful.push_back(e->capture);
    }
    w.judge(c, is_query ? cudaEventQuery(event) : cudaEventSynchronize(event));
    return true;
}

inline bool call_event_elapsed(World &w) {
    Call c;
    EventRef a, b;
    Out<float> out;
    float *at = w.place(c, out);
    cudaEvent_t start = w.event(c, a), end = w.event(c, b);
    c.text = format("cudaEventElapsedTime(%s, %s, %s)", w.or_null(at), w.say(a).c_str(), w.say(b).c_str());
    for (EventRef &e : {std::ref(a), std::ref(b)}) {
        if (!e) continue;
        if (!e->is_recorded || !e->is_timed) c.no({cudaErrorInvalidResourceHandle});
        if (is_stale(e)) c.may({cudaErrorCapturedEvent, cudaErrorInvalidResourceHandle});
        else if (e->capture) {
            // Recorded in a capture, it has no time; both texts fit.
            c.no({cudaErrorCapturedEvent, cudaErrorInvalidResourceHandle});
            c.doubtful.push_back(e->capture);
        }
    }
    if (!w.judge(c, cudaEventElapsedTime(at, start, end), out)) return true;
    bool is_right = a->capture || b->capture || a->is_vague || b->is_vague || (a->when <= b->when ? out.value >= 0 : out.value <= 0);
    w.demand(is_right, "time that does not run backwards");
    return true;
}

// A byte of the program's own that a function of the host counts up.
inline void CUDART_CB count_up(void *data) { ++*(uint8_t *)data; }
inline void CUDART_CB count_up_told(cudaStream_t, cudaError_t status, void *data) {
    if (!status) ++*(uint8_t *)data;
}

inline bool call_host_function(World &w) {
    Call c;
    Op op;
    StreamRef s;
    op.type = Op::Host;
    cudaStream_t stream = w.stream(c, s);
    bool is_callback = w.r.chance(40), is_null = w.r.chance(4);
    unsigned flags = is_callback && w.r.chance(5) ? 1 : 0;
    op.to.block = a_block(w, false, false, true);
    op.to.offset = w.r.below(op.to.block->size);
    uint8_t *data = op.to.block->at + op.to.offset;
    c.text = format("%s(%s, %s, %s, %u)", is_callback ? "cudaStreamAddCallback" : "cudaLaunchHostFunc", w.say(s).c_str(),
                    is_null ? "null" : "function", say(w, data).c_str(), flags);
    if (is_null || flags) c.no({cudaErrorInvalidValue});
    w.enter(c, s);
    if (is_callback && s && s->capture) {
        c.no({cudaErrorStreamCaptureUnsupported, cudaErrorNotSupported});
        c.doubtful.push_back(s->capture);
    }
    int got = is_callback ? cudaStreamAddCallback(stream, is_null ? nullptr : count_up_told, data, flags)
                          : cudaLaunchHostFunc(stream, is_null ? nullptr : count_up, data);
    if (w.judge(c, got)) w.submit(s, op, cudaGraphNodeTypeHost);
    return true;
}
