// Graphs: made by hand, changed, cloned, instantiated and launched.
//
// What the library refuses by name (NotSupported) is open in the calls about nodes and instantiated graphs that programs rarely
// use; then nothing may have changed.
#pragma once
#include "calls_device.h"
#include <algorithm>

inline string say(GraphRef g) { return g ? g->name : "a wrong graph"; }
inline string say(ExecRef e) { return e ? e->name : "a wrong exec"; }

// Handles of graphs and their parts are resource handles by the text of that error; the lists have InvalidValue.
inline void wrong_graph(Call &c) { c.no({cudaErrorInvalidValue, cudaErrorInvalidResourceHandle}); }

inline cudaGraph_t a_graph(World &w, Call &c, GraphRef &found) {
    static long nobody[32];
    found = nullptr;
    if (w.graphs.empty() || w.r.chance(5)) {
        wrong_graph(c);
        if (w.r.chance(20)) return nullptr;
        return !w.dead_graphs.empty() && w.r.chance(60) ? w.r.of(w.dead_graphs) : (cudaGraph_t)nobody;
    }
    found = w.r.of(w.graphs);
    return found->handle;
}
inline cudaGraphExec_t an_exec(World &w, Call &c, ExecRef &found) {
    static long nobody[32];
    found = nullptr;
    if (w.execs.empty() || w.r.chance(5)) {
        wrong_graph(c);
        if (w.r.chance(20)) return nullptr;
        return !w.dead_execs.empty() && w.r.chance(60) ? w.r.of(w.dead_execs) : (cudaGraphExec_t)nobody;
    }
    found = w.r.of(w.execs);
    return found->handle;
}
// A node whose handle is known, of any graph or of one.
inline cudaGraphNode_t a_node(World &w, Call &c, NodeRef &found, GraphRef &graph, GraphRef in = nullptr) {
    static long nobody[32];
    found = nullptr;
    vector<std::pair<GraphRef, NodeRef>> list;
    for (GraphRef &g : w.graphs)
        if (!in || g == in)
            for (NodeRef &n : g->nodes)
                if (n->handle) list.push_back({g, n});
    if (list.empty() || w.r.chance(4)) {
        wrong_graph(c);
        return !w.dead_nodes.empty() && w.r.chance(60) ? w.r.of(w.dead_nodes) : (cudaGraphNode_t)nobody;
    }
    auto &pick = w.r.of(list);
    graph = pick.first;
    found = pick.second;
    return found->handle;
}

inline bool call_graph_create(World &w) {
    if (w.graphs.size() > 5) return false;
    Call c;
    Out<cudaGraph_t> out;
    cudaGraph_t *at = w.place(c, out);
    unsigned flags = w.r.chance(95) ? 0 : 1;
    if (flags) c.no({cudaErrorInvalidValue});
    c.text = format("cudaGraphCreate(%s, %u)", w.or_null(at), flags);
    if (!w.judge(c, cudaGraphCreate(at, flags), out)) return true;
    GraphRef g = std::make_shared<Graph>();
    g->handle = out.value;
    g->name = w.name("graph");
    w.drop(w.dead_graphs, g->handle);
    w.graphs.push_back(g);
    return true;
}

// An operation for a node, in the form in which nodes are given it.
struct NodeWork {
    cudaGraphNodeType type;
    Op op;
    Launch launch;
    cudaKernelNodeParams kernel = {};
    cudaMemsetParams fill = {};
    cudaHostNodeParams host = {};
    cudaMemcpy3DParms copy = {};
    uint8_t *to = nullptr, *from = nullptr;
    size_t bytes = 0;
    int kind = 0;
    bool is_wrong = false; // It is refused when it is added, or when it is done.
    string text;
};

inline bool kernel_node(World &w, Call &c, NodeWork &n) {
    n.op.type = Op::Kernel;
    a_launch(w, n.launch);
    Call of_launch;
    if (w.r.chance(30)) spoil(w, of_launch, n.launch);
    // A wrong configuration may be found when the node is added, or later.
    n.is_wrong = !of_launch.wrong.empty();
    c.open.insert(of_launch.wrong.begin(), of_launch.wrong.end());
    if (n.is_wrong) c.may({cudaErrorInvalidValue, cudaErrorInvalidDeviceFunction});
    n.launch.set_arguments();
    n.op.kernel = n.launch.work;
    if (n.launch.shared > UINT_MAX) return false;
    n.kernel = {(void *)n.launch.function, n.launch.grid, n.launch.block, (unsigned)n.launch.shared,
                n.launch.arguments.data(), nullptr};
    n.text = say(n.launch);
    return true;
}
inline bool copy_node(World &w, Call &c, NodeWork &n) {
    n.kind = w.r.chance(97) ? w.r.of<int>({1, 1, 2, 2, 3, 4, 0}) : 9;
    n.to = address(w, role_of(n.kind, true));
    n.from = address(w, role_of(n.kind, false));
    size_t a = room(w, n.to), b = room(w, n.from), least = a < b ? a : b;
    n.bytes = w.r.chance(92) ? w.r.in(1, least) : a_size(w, least);
    if (!n.bytes) return false;
    Call of_copy;
    if (!judge_copy(w, of_copy, n.op, {n.to, 0, 0}, {n.from, 0, 0}, {n.bytes, 1, 1}, n.kind)) return false;
    n.is_wrong = !of_copy.wrong.empty();
    c.open.insert(of_copy.wrong.begin(), of_copy.wrong.end());
    c.open.insert(of_copy.open.begin(), of_copy.open.end());
    n.copy.srcPtr = make_cudaPitchedPtr(n.from, n.bytes, n.bytes, 1);
    n.copy.dstPtr = make_cudaPitchedPtr(n.to, n.bytes, n.bytes, 1);
    n.copy.extent = make_cudaExtent(n.bytes, 1, 1);
    n.copy.kind = (cudaMemcpyKind)n.kind;
    if (n.bytes > INT_MAX) c.may({cudaErrorInvalidPitchValue});
    n.text = format("%s, %s, %s, %s", say(w, n.to).c_str(), say(w, n.from).c_str(), number(n.bytes).c_str(), say(n.kind).c_str());
    return true;
}
inline bool fill_node(World &w, Call &c, NodeWork &n) {
    n.op.type = Op::Fill;
    uint8_t *p = address(w, DeviceSide);
    unsigned element = w.r.chance(96) ? w.r.of<unsigned>({1, 1, 2, 4}) : w.r.of<unsigned>({0, 3, 8});
    if (element > 1) p = (uint8_t *)((uintptr_t)p & ~(uintptr_t)7);
    size_t have = room(w, p), step = element ? element : 1;
    size_t width = w.r.chance(93) ? w.r.in(1, have / step ? have / step : 1) : a_size(w, have / step), height = 1, pitch = width * step;
    if (!width) return false;
    if (w.r.chance(25) && width > 1 && width <= have) {
        width = w.r.in(1, width < 30 ? width : 30);
        pitch = (width * step + w.r.below(20) + 7) / 8 * 8;
        height = w.r.in(1, rows_in(have, width * step, pitch) < 6 ? rows_in(have, width * step, pitch) : 6);
    }
    unsigned value = w.r.chance(50) ? w.r.below(256) : (unsigned)w.r.next();
    // Whether a value must fit its elements is not said.
    if (element == 1) value &= 255;
    if (element == 2) value &= 65535;
    if (element != 1 && element != 2 && element != 4) c.no({cudaErrorInvalidValue});
    n.op.value = value;
    n.op.element = step;
    Wide bytes = (Wide)width * step;
    n.op.size = {bytes > MOST ? MOST : (size_t)bytes, height, 1};
    std::set<int> wrong, open;
    n.op.to = side(w, p, DeviceSide, n.op.size, pitch, 0, wrong, open);
    n.is_wrong = !wrong.empty();
    c.open.insert(wrong.begin(), wrong.end());
    // Of pitches that are too large for one row it is said that they are not used, and elsewhere that there is a largest.
    if (pitch > INT_MAX) c.may({cudaErrorInvalidValue, cudaErrorInvalidPitchValue});
    n.fill = {p, pitch, value, element, width, height};
    n.text = format("%s, 0x%x of %u, %s x %zu, pitch %s", say(w, p).c_str(), value, element, number(width).c_str(), height,
                    number(pitch).c_str());
    return true;
}
inline bool host_node(World &w, Call &c, NodeWork &n) {
    n.op.type = Op::Host;
    n.op.to.block = a_block(w, false, false, true);
    n.op.to.offset = w.r.below(n.op.to.block->size);
    n.host = {count_up, n.op.to.block->at + n.op.to.offset};
    if (w.r.chance(3)) {
        n.host.fn = nullptr;
        c.no({cudaErrorInvalidValue});
    }
    n.text = say(w, n.host.userData);
    return true;
}
inline bool a_work(World &w, Call &c, NodeWork &n, cudaGraphNodeType type) {
    n.type = type;
    switch (type) {
    case cudaGraphNodeTypeKernel: return kernel_node(w, c, n);
    case cudaGraphNodeTypeMemcpy: return copy_node(w, c, n);
    case cudaGraphNodeTypeMemset: return fill_node(w, c, n);
    case cudaGraphNodeTypeHost: return host_node(w, c, n);
    default: return true;
    }
}

// The plan of a graph as it is now.
inline std::shared_ptr<Plan> plan_of(const Graph &g) {
    std::shared_ptr<Plan> plan = std::make_shared<Plan>();
    std::map<Node *, int> place;
    for (const NodeRef &n : g.nodes) place[n.get()] = place.size();
    for (const NodeRef &n : g.nodes) {
        vector<int> after;
        for (Node *d : n->after)
            if (place.count(d)) after.push_back(place[d]);
        plan->ops.push_back(n->op);
        plan->after.push_back(after);
        plan->origin.push_back(n.get());
        plan->enabled.push_back(1);
    }
    return plan;
}

// Whether edges are a cycle.
inline bool has_cycle(const Graph &g) { return plan_of(g)->order().size() != g.nodes.size(); }

inline bool call_add_node(World &w) {
    Call c;
    GraphRef g;
    NodeWork work;
    Out<cudaGraphNode_t> out;
    cudaGraph_t graph = a_graph(w, c, g);
    if (g && g->nodes.size() > 14) return false;
    cudaGraphNode_t *at = w.place(c, out);
    vector<cudaGraphNode_t> before;
    std::set<Node *> after;
    string list;
    if (g && w.r.chance(65)) {
        // Those that nobody waits for yet.
        std::set<Node *> last;
        for (NodeRef &n : g->nodes) last.insert(n.get());
        for (NodeRef &n : g->nodes)
            for (Node *d : n->after) last.erase(d);
        for (NodeRef &n : g->nodes)
            if (last.count(n.get()) && n->handle) {
                before.push_back(n->handle);
                after.insert(n.get());
            }
    } else if (g && w.r.chance(50)) {
        GraphRef from = w.r.chance(95) ? g : w.r.of(w.graphs), of;
        NodeRef n;
        Call ignored;
        before.push_back(a_node(w, ignored, n, of, from));
        if (!n || of != g) wrong_graph(c);
        else after.insert(n.get());
        if (n && w.r.chance(4)) {
            // No dependency twice.
            before.push_back(before[0]);
            wrong_graph(c);
        }
    }
    typedef cudaGraphNodeType Type;
    Type type = w.r.of<Type>({cudaGraphNodeTypeKernel, cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemcpy,
                              cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemset, cudaGraphNodeTypeMemset,
                              cudaGraphNodeTypeHost, cudaGraphNodeTypeEmpty, cudaGraphNodeTypeGraph,
                              cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeWaitEvent, cudaGraphNodeTypeMemAlloc});
    if (!a_work(w, c, work, type)) return false;
    int way = w.r.below(4);
    string what = format("(%s, %s, %zu before, ", w.or_null(at), say(g).c_str(), before.size());
    const cudaGraphNode_t *d = before.empty() ? nullptr : before.data();
    size_t n = before.size();
    if (n && w.r.chance(2)) {
        d = nullptr;
        c.no({cudaErrorInvalidValue});
    }
    auto named = [&](const char *name) { c.text = name + what + work.text + ")"; };
    GraphRef child;
    EventRef event;
    int got = 0;
    switch (type) {
    case cudaGraphNodeTypeKernel:
        named("cudaGraphAddKernelNode");
        got = cudaGraphAddKernelNode(at, graph, d, n, &work.kernel);
        break;
    case cudaGraphNodeTypeMemcpy:
        named(way ? "cudaGraphAddMemcpyNode1D" : "cudaGraphAddMemcpyNode");
        got = way ? cudaGraphAddMemcpyNode1D(at, graph, d, n, work.to, work.from, work.bytes, (cudaMemcpyKind)work.kind)
                  : cudaGraphAddMemcpyNode(at, graph, d, n, &work.copy);
        break;
    case cudaGraphNodeTypeMemset:
        named("cudaGraphAddMemsetNode");
        got = cudaGraphAddMemsetNode(at, graph, d, n, &work.fill);
        break;
    case cudaGraphNodeTypeHost:
        named("cudaGraphAddHostNode");
        got = cudaGraphAddHostNode(at, graph, d, n, &work.host);
        break;
    case cudaGraphNodeTypeGraph: {
        Call of_child;
        cudaGraph_t handle = a_graph(w, of_child, child);
        if (!child) wrong_graph(c);
        else if (child->nodes.size() > 6 || child == g) return false;
        else {
            for (NodeRef &inner : child->nodes)
                if (inner->op.type == Op::Child) return false;
            work.op.type = Op::Child;
            work.op.child = plan_of(*child);
            work.is_wrong = work.op.child->is_wrong() || has_cycle(*child);
            // It is found here, or when the whole is instantiated.
            if (work.is_wrong) c.may({cudaErrorInvalidValue});
        }
        c.may({cudaErrorNotSupported});
        work.text = say(child);
        named("cudaGraphAddChildGraphNode");
        got = cudaGraphAddChildGraphNode(at, graph, d, n, handle);
        break;
    }
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeWaitEvent: {
        Call of_event;
        cudaEvent_t handle = w.event(of_event, event);
        if (!event) c.no({cudaErrorInvalidValue, cudaErrorInvalidResourceHandle});
        c.may({cudaErrorNotSupported});
        bool is_record = type == cudaGraphNodeTypeEventRecord;
        if (event && is_record) work.op = w.record_of(event);
        else work.op.type = Op::Wait;
        w.has_event_nodes = true;
        work.text = w.say(event);
        named(is_record ? "cudaGraphAddEventRecordNode" : "cudaGraphAddEventWaitNode");
        got = is_record ? cudaGraphAddEventRecordNode(at, graph, d, n, handle)
                        : cudaGraphAddEventWaitNode(at, graph, d, n, handle);
        break;
    }
    case cudaGraphNodeTypeMemAlloc: {
        // Nodes that allocate are not supported.
        cudaMemAllocNodeParams p = {};
        p.poolProps.allocType = cudaMemAllocationTypePinned;
        p.poolProps.location.type = cudaMemLocationTypeDevice;
        p.bytesize = 64;
        c.no({cudaErrorNotSupported});
        named("cudaGraphAddMemAllocNode");
        got = cudaGraphAddMemAllocNode(at, graph, d, n, &p);
        break;
    }
    default:
        named("cudaGraphAddEmptyNode");
        got = cudaGraphAddEmptyNode(at, graph, d, n);
    }
    if (!w.judge(c, got, out)) return true;
    NodeRef node = std::make_shared<Node>();
    node->handle = out.value;
    node->type = type;
    node->op = work.op;
    node->op.is_wrong = work.is_wrong;
    node->after = after;
    for (GraphRef &other : w.graphs)
        for (NodeRef &was : other->nodes) w.demand(was->handle != node->handle, "a new handle");
    w.drop(w.dead_nodes, node->handle);
    g->nodes.push_back(node);
    return true;
}

inline bool call_dependency(World &w) {
    Call c;
    GraphRef g, of_from, of_to;
    cudaGraph_t graph = a_graph(w, c, g);
    if (!g || g->nodes.size() < 2) return false;
    NodeRef a, b;
    Call ignored;
    cudaGraphNode_t from = a_node(w, ignored, a, of_from, w.r.chance(96) ? g : nullptr), to = a_node(w, ignored, b, of_to, g);
    bool is_added = w.r.chance(60), is_none = w.r.chance(4);
    if (!is_added && w.r.chance(60))
        for (NodeRef &n : g->nodes)
            if (!n->after.empty() && n->handle && (*n->after.begin())->handle) {
                b = n;
                to = n->handle;
                from = (*n->after.begin())->handle;
                of_from = of_to = g;
                for (NodeRef &other : g->nodes)
                    if (other.get() == *n->after.begin()) a = other;
            }
    c.text = format("cudaGraph%sDependencies(%s, node %p -> %p, %d)", is_added ? "Add" : "Remove", say(g).c_str(),
                    a ? (void *)(intptr_t)(std::find(g->nodes.begin(), g->nodes.end(), a) - g->nodes.begin()) : nullptr,
                    b ? (void *)(intptr_t)(std::find(g->nodes.begin(), g->nodes.end(), b) - g->nodes.begin()) : nullptr,
                    !is_none);
    bool makes_cycle = false;
    if (!is_none) {
        bool are_here = a && b && of_from == g && of_to == g;
        if (!are_here) wrong_graph(c);
        else {
            bool is_there = b->after.count(a.get());
            if (is_there == is_added) c.no({cudaErrorInvalidValue});
            if (is_added && !is_there) {
                b->after.insert(a.get());
                makes_cycle = has_cycle(*g);
                b->after.erase(a.get());
            }
        }
    }
    // A cycle is found here, or when the graph is instantiated.
    if (makes_cycle) c.may({cudaErrorInvalidValue});
    if (!is_added) c.may({cudaErrorNotSupported});
    int got = is_added ? cudaGraphAddDependencies(graph, &from, &to, !is_none) : cudaGraphRemoveDependencies(graph, &from, &to, !is_none);
    if (!w.judge(c, got) || is_none) return true;
    if (is_added) b->after.insert(a.get());
    else b->after.erase(a.get());
    return true;
}

inline bool call_destroy_node(World &w) {
    Call c;
    GraphRef g;
    NodeRef n;
    cudaGraphNode_t node = a_node(w, c, n, g);
    c.text = format("cudaGraphDestroyNode(%s)", n ? say(g).c_str() : "a wrong node");
    c.may({cudaErrorNotSupported});
    if (!w.judge(c, cudaGraphDestroyNode(node))) return true;
    for (NodeRef &other : g->nodes) other->after.erase(n.get());
    w.drop(g->nodes, n);
    w.dead_nodes.push_back(node);
    // Nodes of instantiated graphs and of clones no longer have one they came from.
    for (ExecRef &e : w.execs)
        for (const void *&origin : e->plan.origin)
            if (origin == n.get()) origin = nullptr;
    for (GraphRef &other : w.graphs)
        for (NodeRef &clone : other->nodes)
            if (clone->original == n) clone->original = nullptr;
    return true;
}

// Lists of nodes and edges.
inline bool call_graph_lists(World &w) {
    Call c;
    GraphRef g;
    cudaGraph_t graph = a_graph(w, c, g);
    int which = w.r.below(3);
    size_t roots = 0, edges = 0, nodes = g ? g->nodes.size() : 0;
    if (g)
        for (NodeRef &n : g->nodes) {
            roots += n->after.empty();
            edges += n->after.size();
        }
    size_t want = which == 0 ? nodes : which == 1 ? roots : edges;
    // How edges of captures are counted where a dependence follows from others is not said.
    if (g && (!g->is_counted || g->is_captured && which)) return false;
    size_t room = w.r.chance(40) ? 0 : w.r.chance(70) ? want + w.r.below(3) : w.r.below(want + 1), count = room;
    bool has_list = room > 0;
    vector<cudaGraphNode_t> list(room + 1, (cudaGraphNode_t)0x5A5A), other = list;
    const char *names[] = {"cudaGraphGetNodes", "cudaGraphGetRootNodes", "cudaGraphGetEdges"};
    c.text = format("%s(%s, room for %zu)", names[which], say(g).c_str(), room);
    if (which) c.may({cudaErrorNotSupported});
    cudaGraphNode_t *at = has_list ? list.data() : nullptr, *ends = has_list ? other.data() : nullptr;
    int got = which == 0 ? cudaGraphGetNodes(graph, at, &count) : which == 1 ? cudaGraphGetRootNodes(graph, at, &count)
                                                                             : cudaGraphGetEdges(graph, at, ends, &count);
    if (!w.judge(c, got)) return true;
    size_t filled = has_list && want > room ? room : want;
    if (count != filled) w.fail(format("%zu", count), format("%zu", filled));
    if (!has_list) return true;
    w.demand(list[room] == (cudaGraphNode_t)0x5A5A, "nothing is written past the list");
    for (size_t i = filled; i < room; i++) w.demand(!list[i], "null after the last of the list");
    for (NodeRef &n : g->nodes)
        if (!n->handle) return true;
    for (size_t i = 0; i < filled; i++) {
        bool is_found = false;
        for (NodeRef &n : g->nodes) {
            if (which == 2) {
                for (Node *d : n->after) is_found |= d->handle == list[i] && n->handle == other[i];
            } else is_found |= n->handle == list[i] && (which == 0 || n->after.empty());
        }
        w.demand(is_found, "what is in the graph");
    }
    return true;
}

inline bool call_node_info(World &w) {
    Call c;
    GraphRef g;
    NodeRef n;
    cudaGraphNode_t node = a_node(w, c, n, g);
    c.may({cudaErrorNotSupported});
    if (w.r.chance(50)) {
        Out<cudaGraphNodeType> out;
        cudaGraphNodeType *at = w.place(c, out);
        c.text = format("cudaGraphNodeGetType(%s, a node of %s)", w.or_null(at), say(n ? g : nullptr).c_str());
        if (w.judge(c, cudaGraphNodeGetType(node, at), out)) w.demand(out.value == n->type, "the type of the node");
        return true;
    }
    size_t count = 0, want = 0;
    bool is_back = w.r.chance(50);
    if (n && is_back) want = n->after.size();
    if (n && !is_back)
        for (NodeRef &other : g->nodes) want += other->after.count(n.get());
    c.text = format("cudaGraphNodeGetDepend%s(a node of %s)", is_back ? "encies" : "entNodes", say(n ? g : nullptr).c_str());
    int got = is_back ? cudaGraphNodeGetDependencies(node, nullptr, &count) : cudaGraphNodeGetDependentNodes(node, nullptr, &count);
    if (w.judge(c, got) && count != want) w.fail(format("%zu", count), format("%zu", want));
    return true;
}

inline bool call_clone(World &w) {
    if (w.graphs.size() > 5) return false;
    Call c;
    GraphRef g;
    Out<cudaGraph_t> out;
    cudaGraph_t graph = a_graph(w, c, g);
    cudaGraph_t *at = w.place(c, out);
    c.text = format("cudaGraphClone(%s, %s)", w.or_null(at), say(g).c_str());
    if (!w.judge(c, cudaGraphClone(at, graph), out)) return true;
    GraphRef clone = std::make_shared<Graph>(*g);
    clone->handle = out.value;
    clone->name = w.name("clone");
    clone->original = g;
    clone->nodes.clear();
    std::map<Node *, Node *> pairs;
    for (NodeRef &n : g->nodes) {
        NodeRef copy = std::make_shared<Node>(*n);
        copy->handle = nullptr;
        copy->original = n;
        if (copy->op.child) copy->op.child = std::make_shared<Plan>(*copy->op.child);
        pairs[n.get()] = copy.get();
        clone->nodes.push_back(copy);
    }
    for (NodeRef &n : clone->nodes) {
        std::set<Node *> after;
        for (Node *d : n->after)
            if (pairs.count(d)) after.insert(pairs[d]);
        n->after = after;
    }
    w.drop(w.dead_graphs, clone->handle);
    w.graphs.push_back(clone);
    return true;
}

inline bool call_find_in_clone(World &w) {
    Call c;
    GraphRef g, of;
    NodeRef n, found;
    Out<cudaGraphNode_t> out;
    cudaGraph_t graph = a_graph(w, c, g);
    cudaGraphNode_t node = a_node(w, c, n, of, g && g->original && w.r.chance(90) ? g->original : nullptr);
    cudaGraphNode_t *at = w.place(c, out);
    c.text = format("cudaGraphNodeFindInClone(%s, a node of %s, %s)", w.or_null(at), say(n ? of : nullptr).c_str(), say(g).c_str());
    c.may({cudaErrorNotSupported});
    if (g && n)
        for (NodeRef &clone : g->nodes)
            if (clone->original == n) found = clone;
    // Whether a node can be asked for that is gone, when its clone is not, is not said.
    if (!n && std::find(w.dead_nodes.begin(), w.dead_nodes.end(), node) != w.dead_nodes.end()) return false;
    if (!found) wrong_graph(c);
    if (!w.judge(c, cudaGraphNodeFindInClone(at, node, graph), out)) return true;
    if (found->handle) w.demand(found->handle == out.value, "the same node as before");
    w.demand(out.value && out.value != node, "a node of the clone");
    found->handle = out.value;
    w.drop(w.dead_nodes, out.value);
    return true;
}

inline bool call_instantiate(World &w) {
    if (w.execs.size() > 5) return false;
    Call c;
    GraphRef g;
    Out<cudaGraphExec_t> out;
    cudaGraph_t graph = a_graph(w, c, g);
    cudaGraphExec_t *at = w.place(c, out);
    bool has_flags = w.r.chance(30);
    c.text = format("cudaGraphInstantiate%s(%s, %s)", has_flags ? "WithFlags" : "", w.or_null(at), say(g).c_str());
    if (g && has_cycle(*g)) c.no({cudaErrorInvalidValue});
    // A wrong node may be found here, or when it is done.
    if (g && plan_of(*g)->is_wrong())
        c.may({cudaErrorInvalidValue, cudaErrorInvalidPitchValue, cudaErrorInvalidConfiguration,
               cudaErrorInvalidDeviceFunction, cudaErrorInvalidMemcpyDirection});
    w.unsafe(c);
    if (!w.judge(c, has_flags ? cudaGraphInstantiateWithFlags(at, graph, 0) : cudaGraphInstantiate(at, graph, 0), out)) return true;
    ExecRef e = std::make_shared<Exec>();
    e->handle = out.value;
    e->name = w.name("exec");
    e->graph = g;
    e->plan = *plan_of(*g);
    w.drop(w.dead_execs, e->handle);
    w.execs.push_back(e);
    return true;
}

// Whether all memory of a plan is still there.
inline bool is_whole(World &w, const Plan &plan) {
    vector<Access> list;
    for (const Op &op : plan.ops) accesses(op, list);
    for (const Access &a : list) {
        bool is_there = false;
        for (BlockRef &b : w.blocks) is_there |= b.get() == a.block;
        if (!is_there) return false;
    }
    return true;
}

inline bool call_graph_launch(World &w) {
    Call c;
    ExecRef e;
    StreamRef s;
    cudaGraphExec_t exec = an_exec(w, c, e);
    cudaStream_t stream = w.stream(c, s);
    c.text = format("cudaGraphLaunch(%s, %s)", say(e).c_str(), w.say(s).c_str());
    w.enter(c, s);
    bool is_wrong = e && e->plan.is_wrong(), is_gone = e && !is_whole(w, e->plan);
    if ((is_wrong || is_gone) && (s && s->capture || w.r.chance(80))) return false;
    if (is_wrong || is_gone) {
        // It fails here or later, and what was done of it is not known: the sequence ends.
        c.may({cudaErrorInvalidValue, cudaErrorInvalidPitchValue, cudaErrorInvalidConfiguration, cudaErrorIllegalAddress,
               cudaErrorInvalidDeviceFunction, cudaErrorInvalidMemcpyDirection, cudaErrorLaunchFailure});
        w.is_over = true;
        w.judge(c, cudaGraphLaunch(exec, stream));
        return true;
    }
    if (!w.judge(c, cudaGraphLaunch(exec, stream))) return true;
    Op op;
    op.type = Op::Child;
    op.child = std::make_shared<Plan>(e->plan);
    if (s->capture) s->capture->graph->is_counted = false; // Whether it becomes one node is not said.
    if (op.child->ops.empty() && s->capture) return true;
    w.submit(s, op, cudaGraphNodeTypeGraph);
    return true;
}

inline bool call_exec_update(World &w) {
    Call c;
    ExecRef e;
    GraphRef g;
    cudaGraphExec_t exec = an_exec(w, c, e);
    cudaGraph_t graph = a_graph(w, c, g);
    if (e && w.r.chance(60) && w.r.chance(90))
        for (GraphRef &other : w.graphs)
            if (other == e->graph) {
                g = other;
                graph = g->handle;
                if (c.wrong.size()) return false;
            }
    cudaGraphExecUpdateResultInfo info = {};
    c.text = format("cudaGraphExecUpdate(%s, %s)", say(e).c_str(), say(g).c_str());
    bool is_count = false;
    if (e && g) {
        std::shared_ptr<Plan> plan = plan_of(*g);
        is_count = plan->ops.size() == e->plan.ops.size();
        bool is_same = is_count && plan->after == e->plan.after;
        for (size_t i = 0; is_same && i < plan->ops.size(); i++) is_same = plan->ops[i].type == e->plan.ops[i].type;
        // A graph of other size or form is not updated; how nodes are paired otherwise, and what may change of them, has
        // many restrictions that may be added to.
        if (!is_count) c.no({cudaErrorGraphExecUpdateFailure});
        else c.may({cudaErrorGraphExecUpdateFailure});
        if (plan->is_wrong()) c.may({cudaErrorInvalidValue, cudaErrorInvalidConfiguration});
        if (has_cycle(*g)) c.no({cudaErrorGraphExecUpdateFailure, cudaErrorInvalidValue});
    }
    c.may({cudaErrorNotSupported});
    w.unsafe(c);
    if (!w.judge(c, cudaGraphExecUpdate(exec, graph, &info))) return true;
    w.demand(info.result == cudaGraphExecUpdateSuccess, "a result that says so");
    vector<char> enabled = e->plan.enabled;
    vector<const void *> origin = e->plan.origin;
    e->plan = *plan_of(*g);
    e->plan.enabled = enabled;
    e->plan.origin = origin;
    return true;
}

// New parameters of a node, in its graph or in an instantiated one.
inline bool call_set_params(World &w) {
    Call c;
    GraphRef g;
    NodeRef n;
    ExecRef e;
    cudaGraphNode_t node = a_node(w, c, n, g);
    if (!n) return false;
    cudaGraphNodeType type = w.r.chance(95) ? n->type : cudaGraphNodeTypeMemset;
    if (type > cudaGraphNodeTypeHost) return false;
    if (type != n->type) c.no({cudaErrorInvalidValue, cudaErrorInvalidResourceHandle});
    NodeWork work;
    if (!a_work(w, c, work, type)) return false;
    bool is_exec = !w.execs.empty() && w.r.chance(50);
    cudaGraphExec_t exec = nullptr;
    size_t place = MOST;
    if (is_exec) {
        exec = an_exec(w, c, e);
        if (e)
            for (size_t i = 0; i < e->plan.origin.size(); i++)
                if (e->plan.origin[i] == n.get()) place = i;
        if (place == MOST) wrong_graph(c);
        // Changes of kinds of memory, of functions and of shapes may be refused.
        c.may({cudaErrorInvalidValue});
        if (type == cudaGraphNodeTypeKernel && n->type == type && work.launch.work.which != n->op.kernel.which)
            c.may({cudaErrorInvalidDeviceFunction, cudaErrorGraphExecUpdateFailure, cudaErrorNotSupported});
    }
    c.may({cudaErrorNotSupported});
    const char *names[] = {"Kernel", "Memcpy", "Memset", "Host"};
    c.text = format("cudaGraph%s%sNodeSetParams%s(%sa node of %s, %s)", is_exec ? "Exec" : "", names[type],
                    type == cudaGraphNodeTypeMemcpy ? "1D" : "", is_exec ? (say(e) + ", ").c_str() : "", say(g).c_str(),
                    work.text.c_str());
    cudaMemcpyKind k = (cudaMemcpyKind)work.kind;
    int got = 0;
    switch (type) {
    case cudaGraphNodeTypeKernel:
        got = is_exec ? cudaGraphExecKernelNodeSetParams(exec, node, &work.kernel) : cudaGraphKernelNodeSetParams(node, &work.kernel);
        break;
    case cudaGraphNodeTypeMemcpy:
        got = is_exec ? cudaGraphExecMemcpyNodeSetParams1D(exec, node, work.to, work.from, work.bytes, k)
                      : cudaGraphMemcpyNodeSetParams1D(node, work.to, work.from, work.bytes, k);
        break;
    case cudaGraphNodeTypeMemset:
        got = is_exec ? cudaGraphExecMemsetNodeSetParams(exec, node, &work.fill) : cudaGraphMemsetNodeSetParams(node, &work.fill);
        break;
    default: got = is_exec ? cudaGraphExecHostNodeSetParams(exec, node, &work.host) : cudaGraphHostNodeSetParams(node, &work.host);
    }
    if (!w.judge(c, got)) return true;
    Op &op = is_exec ? e->plan.ops[place] : n->op;
    op = work.op;
    op.is_wrong = work.is_wrong;
    return true;
}

inline bool call_enabled(World &w) {
    Call c;
    GraphRef g;
    NodeRef n;
    ExecRef e;
    cudaGraphNode_t node = a_node(w, c, n, g);
    cudaGraphExec_t exec = an_exec(w, c, e);
    if (!n || !e) return false;
    size_t place = MOST;
    for (size_t i = 0; i < e->plan.origin.size(); i++)
        if (e->plan.origin[i] == n.get()) place = i;
    if (place == MOST) wrong_graph(c);
    // Kernels, copies and fills have it.
    if (n->type > cudaGraphNodeTypeMemset) c.no({cudaErrorInvalidValue});
    c.may({cudaErrorNotSupported});
    if (w.r.chance(40)) {
        Out<unsigned> out;
        unsigned *at = w.place(c, out);
        c.text = format("cudaGraphNodeGetEnabled(%s, a node of %s, %s)", say(e).c_str(), say(g).c_str(), w.or_null(at));
        if (w.judge(c, cudaGraphNodeGetEnabled(exec, node, at), out))
            w.demand(!!out.value == !!e->plan.enabled[place], "whether the node is enabled");
        return true;
    }
    unsigned is_enabled = w.r.chance(50);
    c.text = format("cudaGraphNodeSetEnabled(%s, a node of %s, %u)", say(e).c_str(), say(g).c_str(), is_enabled);
    if (w.judge(c, cudaGraphNodeSetEnabled(exec, node, is_enabled))) e->plan.enabled[place] = is_enabled;
    return true;
}

inline void destroyed(World &w, GraphRef g) {
    for (NodeRef &n : g->nodes) {
        if (n->handle) w.dead_nodes.push_back(n->handle);
        for (ExecRef &e : w.execs)
            for (const void *&origin : e->plan.origin)
                if (origin == n.get()) origin = nullptr;
        for (GraphRef &other : w.graphs)
            for (NodeRef &clone : other->nodes)
                if (clone->original == n) clone->original = nullptr;
    }
    g->alive = false;
    w.drop(w.graphs, g);
    w.dead_graphs.push_back(g->handle);
}

inline bool call_graph_destroy(World &w) {
    Call c;
    if (w.r.chance(50)) {
        GraphRef g;
        cudaGraph_t graph = a_graph(w, c, g);
        if (g && w.r.chance(50)) return false;
        c.text = format("cudaGraphDestroy(%s)", say(g).c_str());
        if (w.judge(c, cudaGraphDestroy(graph))) destroyed(w, g);
        return true;
    }
    ExecRef e;
    cudaGraphExec_t exec = an_exec(w, c, e);
    if (e && w.r.chance(40)) return false;
    c.text = format("cudaGraphExecDestroy(%s)", say(e).c_str());
    if (!w.judge(c, cudaGraphExecDestroy(exec))) return true;
    w.drop(w.execs, e);
    w.dead_execs.push_back(exec);
    return true;
}
