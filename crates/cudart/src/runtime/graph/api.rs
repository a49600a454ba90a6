//! Functions for graphs as a whole.

use super::{Graph, NodeId};
use crate::abi::{In, InOut, Out, Pointer, Size};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result};
use crate::runtime::stream::{Operation, enqueued};

impl Context {
    /// The handle of a new graph.
    pub(crate) fn new_graph(&mut self) -> u64 {
        let handle = self.new_handle();
        self.graphs.graphs.insert(handle, Graph::default());
        handle
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphCreate(graph: Out<Pointer>, flags: u32) -> Code {
    api(|context| {
        if graph.is_null() || flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        graph.put(Pointer(context.new_graph()))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphDestroy(graph: Pointer) -> Code {
    api(|context| if context.graphs.forget(graph.0) { Ok(()) } else { Err(Error::INVALID_VALUE) })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphClone(out: Out<Pointer>, graph: Pointer) -> Code {
    api(|context| {
        context.graphs.graph(graph.0)?;
        let handle = context.new_handle();
        out.put(Pointer(handle))?;
        context.graphs.copy(graph.0, handle)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphNodeFindInClone(out: Out<Pointer>, original: Pointer, graph: Pointer) -> Code {
    api(|context| {
        let nodes = &context.graphs.graph(graph.0)?.nodes;
        let found = nodes.iter().find(|(_, node)| node.original == Some(NodeId(original.0)));
        out.put(Pointer(found.ok_or(Error::INVALID_VALUE)?.0.0))
    })
}

fn instantiate(out: Out<Pointer>, graph: Pointer) -> Code {
    api(|context| {
        let executable = context.graphs.graph(graph.0)?.executable()?;
        let handle = context.new_handle();
        out.put(Pointer(handle))?;
        context.graphs.executables.insert(handle, executable);
        Ok(())
    })
}

/// The arguments after the graph differ from version to version, and none matters here.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphInstantiate(out: Out<Pointer>, graph: Pointer) -> Code {
    instantiate(out, graph)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphInstantiateWithFlags(out: Out<Pointer>, graph: Pointer, _flags: u64) -> Code {
    instantiate(out, graph)
}

/// What became of an update.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct UpdateResult {
    result: i32,
    node: Pointer,
    from: Pointer,
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphExecUpdate(exec: Pointer, graph: Pointer, result: Out<UpdateResult>) -> Code {
    const CIRCLE: i32 = 1;
    api(|context| {
        let graph = context.graphs.graph(graph.0)?.clone();
        let own = context.graphs.executables.get_mut(&exec.0).ok_or(Error::INVALID_VALUE)?;
        let updated = graph.executable().map_err(|_| (CIRCLE, None)).and_then(|new| own.update(new));
        let why = updated.err();
        let node = why.and_then(|(_, place)| graph.nodes.keys().nth(place?)).map_or(Pointer::NULL, |id| Pointer(id.0));
        result.put_if_wanted(UpdateResult { result: why.map_or(0, |(why, _)| why), node, from: Pointer::NULL });
        if why.is_none() { Ok(()) } else { Err(Error::GRAPH_UPDATE) }
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphExecDestroy(exec: Pointer) -> Code {
    api(|context| context.graphs.executables.remove(&exec.0).map(drop).ok_or(Error::INVALID_VALUE))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphExecGetFlags(exec: Pointer, flags: Out<u64>) -> Code {
    api(|context| {
        context.graphs.executables.get(&exec.0).ok_or(Error::INVALID_VALUE)?;
        flags.put(0)
    })
}

enqueued! {
    fn cudaGraphLaunch / cudaGraphLaunch_ptsz(exec: Pointer, stream: Pointer) on stream => |context| {
        let executable = context.graphs.executables.get(&exec.0).ok_or(Error::INVALID_VALUE)?;
        Ok(Operation::Graph(Box::new(executable.clone())))
    };
}

/// There is nothing to upload, in a captured stream neither.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphUpload(exec: Pointer, stream: Pointer) -> Code {
    api(|context| {
        context.check_stream(stream)?;
        context.graphs.executables.get(&exec.0).map(drop).ok_or(Error::INVALID_VALUE)
    })
}

/// Gives a list: only its length where nothing is to be filled, otherwise what there is room for, and zeros after its end.
fn list<const N: usize>(outs: [Out<Pointer>; N], count: InOut<usize>, list: &[[u64; N]]) -> Result {
    if outs[0].is_null() {
        return count.put(list.len());
    }
    let room = count.get()?;
    for at in 0..room {
        let entry = list.get(at).copied().unwrap_or([0; N]);
        outs.iter().zip(entry).try_for_each(|(out, value)| out.put_at(at, Pointer(value)))?;
    }
    count.put(list.len().min(room))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphGetNodes(graph: Pointer, nodes: Out<Pointer>, count: InOut<usize>) -> Code {
    api(|context| {
        let all: Vec<[u64; 1]> = context.graphs.graph(graph.0)?.nodes.keys().map(|id| [id.0]).collect();
        list([nodes], count, &all)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphGetRootNodes(graph: Pointer, nodes: Out<Pointer>, count: InOut<usize>) -> Code {
    api(|context| {
        let nodes_there = &context.graphs.graph(graph.0)?.nodes;
        let roots = nodes_there.iter().filter(|(_, node)| node.before.is_empty());
        list([nodes], count, &roots.map(|(id, _)| [id.0]).collect::<Vec<_>>())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphGetEdges(graph: Pointer, from: Out<Pointer>, to: Out<Pointer>, count: InOut<usize>) -> Code {
    api(|context| {
        let edges: Vec<[u64; 2]> = context.graphs.graph(graph.0)?.edges().map(|(from, to)| [from.0, to.0]).collect();
        if from.is_null() != to.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        list([from, to], count, &edges)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphNodeGetDependencies(node: Pointer, nodes: Out<Pointer>, count: InOut<usize>) -> Code {
    api(|context| {
        let before: Vec<[u64; 1]> = context.graphs.node(NodeId(node.0))?.before.iter().map(|id| [id.0]).collect();
        list([nodes], count, &before)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphNodeGetDependentNodes(node: Pointer, nodes: Out<Pointer>, count: InOut<usize>) -> Code {
    api(|context| {
        let id = NodeId(node.0);
        let graph = *context.graphs.owners.get(&id).ok_or(Error::INVALID_VALUE)?;
        let edges = context.graphs.graph(graph)?.edges().filter(|(from, _)| *from == id);
        list([nodes], count, &edges.map(|(_, to)| [to.0]).collect::<Vec<_>>())
    })
}

/// The edges that a program names, none of which is named twice.
fn named(context: &Context, graph: u64, from: In<Pointer>, to: In<Pointer>, count: Size) -> Result<Vec<[NodeId; 2]>> {
    let nodes = &context.graphs.graph(graph)?.nodes;
    let mut edges: Vec<[NodeId; 2]> = Vec::new();
    for at in 0..count.get() {
        let edge = [from.at(at)?, to.at(at)?].map(|node| NodeId(node.0));
        if !edge.iter().all(|id| nodes.contains_key(id)) || edge[0] == edge[1] || edges.contains(&edge) {
            return Err(Error::INVALID_VALUE);
        }
        edges.push(edge);
    }
    Ok(edges)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphAddDependencies(
    graph: Pointer,
    from: In<Pointer>,
    to: In<Pointer>,
    count: Size,
) -> Code {
    api(|context| {
        let edges = named(context, graph.0, from, to, count)?;
        if edges.iter().any(|[from, to]| context.graphs.node(*to).is_ok_and(|node| node.before.contains(from))) {
            return Err(Error::INVALID_VALUE);
        }
        for [from, to] in edges {
            context.graphs.node(to)?.before.insert(from);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphRemoveDependencies(graph: Pointer, from: In<Pointer>, to: In<Pointer>, count: Size) -> Code {
    api(|context| {
        let edges = named(context, graph.0, from, to, count)?;
        if !edges.iter().all(|[from, to]| context.graphs.node(*to).is_ok_and(|node| node.before.contains(from))) {
            return Err(Error::INVALID_VALUE);
        }
        for [from, to] in edges {
            context.graphs.node(to)?.before.remove(&from);
        }
        Ok(())
    })
}
