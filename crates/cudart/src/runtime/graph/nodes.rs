//! Adding nodes to graphs, and what they are.

use super::parameters::{CopyNode, FillNode, HostNode, KernelNode};
use super::{Graphs, NodeId};
use crate::abi::{In, Out, Pointer, Size};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result};
use crate::runtime::copy;
use crate::runtime::stream::Operation;
use std::collections::BTreeSet;

impl Graphs {
    /// Nodes that a program names, all of one graph and each named once.
    pub(crate) fn nodes_of(&self, graph: u64, nodes: In<Pointer>, count: Size) -> Result<BTreeSet<NodeId>> {
        let known = &self.graph(graph)?.nodes;
        let mut found = BTreeSet::new();
        for at in 0..count.get() {
            let id = NodeId(nodes.at(at)?.0);
            if !known.contains_key(&id) || !found.insert(id) {
                return Err(Error::INVALID_VALUE);
            }
        }
        Ok(found)
    }
}

/// Adds a node after others.
fn add(
    (node, graph, before, count): (Out<Pointer>, Pointer, In<Pointer>, Size),
    make: impl FnOnce(&mut Context) -> Result<Operation>,
) -> Code {
    api(|context| {
        let before = context.graphs.nodes_of(graph.0, before, count)?;
        if node.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let operation = make(context)?;
        operation.check_as_node(context)?;
        let added = context.graphs.add(graph.0, operation, before)?;
        node.put(Pointer(added.0))
    })
}

/// Functions that add a node: after the four arguments all of them have come their own.
macro_rules! adds {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) => $make:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub(crate) extern "C" fn $name(
                node: Out<Pointer>,
                graph: Pointer,
                before: In<Pointer>,
                count: Size,
                $($arg: $type),*
            ) -> Code {
                add((node, graph, before, count), $make)
            }
        )*
    };
}

adds! {
    fn cudaGraphAddKernelNode(what: In<KernelNode>) => |context| what.get()?.operation(context);
    fn cudaGraphAddMemsetNode(what: In<FillNode>) => |_| what.get()?.operation();
    fn cudaGraphAddMemcpyNode(what: In<CopyNode>) => |context| copy::volume(context, "cudaGraphAddMemcpyNode", what);
    fn cudaGraphAddMemcpyNode1D(to: Pointer, from: Pointer, bytes: Size, direction: i32) =>
        |_| copy::line("cudaGraphAddMemcpyNode1D", to, from, bytes, direction);
    fn cudaGraphAddMemcpyNodeToSymbol(symbol: Pointer, from: Pointer, bytes: Size, offset: Size, direction: i32) =>
        |context| context.copy_to_symbol("cudaGraphAddMemcpyNodeToSymbol", symbol, from, [bytes, offset], direction);
    fn cudaGraphAddMemcpyNodeFromSymbol(to: Pointer, symbol: Pointer, bytes: Size, offset: Size, direction: i32) =>
        |context| context.copy_from_symbol("cudaGraphAddMemcpyNodeFromSymbol", to, symbol, [bytes, offset], direction);
    fn cudaGraphAddHostNode(what: In<HostNode>) => |_| what.get()?.operation();
    fn cudaGraphAddEmptyNode() => |_| Ok(Operation::Nothing);
    fn cudaGraphAddEventRecordNode(event: Pointer) => |context| event_operation(context, event, true);
    fn cudaGraphAddEventWaitNode(event: Pointer) => |context| event_operation(context, event, false);
    // The child is what the graph is now: changing it later changes nothing here.
    fn cudaGraphAddChildGraphNode(child: Pointer) =>
        |context| Ok(Operation::Graph(Box::new(context.graphs.graph(child.0)?.executable()?)));
}

/// Recording an event, or waiting for one.
pub(super) fn event_operation(context: &mut Context, event: Pointer, is_record: bool) -> Result<Operation> {
    context.check_event(event)?;
    Ok(match is_record {
        true => Operation::Record { event: event.0 },
        false => Operation::Wait { event: event.0 },
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphDestroyNode(node: Pointer) -> Code {
    api(|context| context.graphs.remove(NodeId(node.0)))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphNodeGetType(node: Pointer, kind: Out<i32>) -> Code {
    api(|context| kind.put(context.graphs.node(NodeId(node.0))?.operation.kind()))
}

/// Kernels, copies and fills can be left out.
const CAN_BE_DISABLED: std::ops::RangeInclusive<i32> = 0..=2;

#[unsafe(no_mangle)]
extern "C" fn cudaGraphNodeSetEnabled(exec: Pointer, node: Pointer, is_enabled: u32) -> Code {
    api(|context| {
        let step = context.graphs.step(exec, node)?;
        if !CAN_BE_DISABLED.contains(&step.operation.kind()) {
            return Err(Error::INVALID_VALUE);
        }
        step.is_enabled = is_enabled != 0;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphNodeGetEnabled(exec: Pointer, node: Pointer, is_enabled: Out<u32>) -> Code {
    api(|context| {
        let step = context.graphs.step(exec, node)?;
        match CAN_BE_DISABLED.contains(&step.operation.kind()) {
            true => is_enabled.put(u32::from(step.is_enabled)),
            false => Err(Error::INVALID_VALUE),
        }
    })
}
