//! Parameters of nodes: as programs hand them over, and how those of a node, or of its counterpart in an executable graph,
//! are changed.

use super::nodes::event_operation;
use super::{Graphs, NodeId, Step};
use crate::abi::{Dim3, HostFunction, In, Out, Pointer, Size};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result};
use crate::runtime::copy::{self, Copy3D};
use crate::runtime::stream::copy::{Fill, Rows};
use crate::runtime::stream::{HostCall, Operation};
use raddle_runtime::device::Shape;

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct KernelNode {
    function: Pointer,
    grid: Dim3,
    block: Dim3,
    shared: u32,
    args: In<Pointer>,
    extra: Pointer,
}

impl KernelNode {
    pub(super) fn operation(self, context: &mut Context) -> Result<Operation> {
        let shape = Shape { grid: self.grid.list(), block: self.block.list(), shared: self.shared };
        context.kernel_operation(self.function, shape, self.args)
    }
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct FillNode {
    at: Pointer,
    pitch: Size,
    value: u32,
    element: u32,
    width: Size,
    height: Size,
}

impl FillNode {
    pub(super) fn operation(self) -> Result<Operation> {
        let rows = Rows::new(self.at, self.pitch);
        let (size, value) = ([self.width, self.height], self.value);
        Fill::elements("cudaGraphAddMemsetNode", rows, size, value, self.element as usize).map(Operation::Fill)
    }
}

/// A copy in three dimensions.
pub(crate) type CopyNode = Copy3D;

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct HostNode {
    function: HostFunction,
    data: Pointer,
}

impl HostNode {
    pub(super) fn operation(self) -> Result<Operation> {
        let Self { function, data } = self;
        function.ok_or(Error::INVALID_VALUE)?;
        Ok(Operation::Host(HostCall::Function { function, data }))
    }
}

impl Graphs {
    /// A node of an executable graph.
    pub(super) fn step(&mut self, exec: Pointer, node: Pointer) -> Result<&mut Step> {
        self.executables.get_mut(&exec.0).ok_or(Error::INVALID_VALUE)?.step(NodeId(node.0))
    }
}

/// Gives a node of a graph, or of an executable one, another operation of the same kind.
fn set(exec: Option<Pointer>, node: Pointer, make: impl FnOnce(&mut Context) -> Result<Operation>) -> Code {
    fn place(context: &mut Context, exec: Option<Pointer>, node: Pointer) -> Result<&mut Operation> {
        Ok(match exec {
            Some(exec) => &mut context.graphs.step(exec, node)?.operation,
            None => &mut context.graphs.node(NodeId(node.0))?.operation,
        })
    }
    api(|context| {
        let kind = place(context, exec, node)?.kind();
        let operation = make(context)?;
        if operation.kind() != kind {
            return Err(Error::INVALID_VALUE);
        }
        operation.check_as_node(context)?;
        *place(context, exec, node)? = operation;
        Ok(())
    })
}

/// Functions that change a node: of a graph by the first name, of an executable graph by the second.
macro_rules! changes {
    ($(fn $name:ident / $in_exec:ident($($arg:ident: $type:ty),*) => $make:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(node: Pointer, $($arg: $type),*) -> Code {
                set(None, node, $make)
            }

            #[unsafe(no_mangle)]
            extern "C" fn $in_exec(exec: Pointer, node: Pointer, $($arg: $type),*) -> Code {
                set(Some(exec), node, $make)
            }
        )*
    };
}

changes! {
    fn cudaGraphKernelNodeSetParams / cudaGraphExecKernelNodeSetParams(what: In<KernelNode>) =>
        |context| what.get()?.operation(context);
    fn cudaGraphMemsetNodeSetParams / cudaGraphExecMemsetNodeSetParams(what: In<FillNode>) =>
        |_| what.get()?.operation();
    fn cudaGraphMemcpyNodeSetParams / cudaGraphExecMemcpyNodeSetParams(what: In<CopyNode>) =>
        |context| copy::volume(context, "cudaGraphMemcpyNodeSetParams", what);
    fn cudaGraphMemcpyNodeSetParams1D / cudaGraphExecMemcpyNodeSetParams1D(
        to: Pointer, from: Pointer, bytes: Size, direction: i32
    ) => |_| copy::line("cudaGraphMemcpyNodeSetParams1D", to, from, bytes, direction);
    fn cudaGraphMemcpyNodeSetParamsToSymbol / cudaGraphExecMemcpyNodeSetParamsToSymbol(
        symbol: Pointer, from: Pointer, bytes: Size, offset: Size, direction: i32
    ) => |context| context.copy_to_symbol("cudaGraphMemcpyNodeSetParamsToSymbol", symbol, from, [bytes, offset], direction);
    fn cudaGraphMemcpyNodeSetParamsFromSymbol / cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        to: Pointer, symbol: Pointer, bytes: Size, offset: Size, direction: i32
    ) => |context| context.copy_from_symbol("cudaGraphMemcpyNodeSetParamsFromSymbol", to, symbol, [bytes, offset], direction);
    fn cudaGraphHostNodeSetParams / cudaGraphExecHostNodeSetParams(what: In<HostNode>) => |_| what.get()?.operation();
    fn cudaGraphEventRecordNodeSetEvent / cudaGraphExecEventRecordNodeSetEvent(event: Pointer) =>
        |context| event_operation(context, event, true);
    fn cudaGraphEventWaitNodeSetEvent / cudaGraphExecEventWaitNodeSetEvent(event: Pointer) =>
        |context| event_operation(context, event, false);
}

/// A child may only become one of the same shape.
#[unsafe(no_mangle)]
extern "C" fn cudaGraphExecChildGraphNodeSetParams(exec: Pointer, node: Pointer, child: Pointer) -> Code {
    api(|context| {
        let new = context.graphs.graph(child.0)?.executable()?;
        match &mut context.graphs.step(exec, node)?.operation {
            Operation::Graph(own) => own.update(new).map_err(|_| Error::INVALID_VALUE),
            _ => Err(Error::INVALID_VALUE),
        }
    })
}

/// What is asked of a node of one kind.
fn ask<T>(node: Pointer, out: Out<T>, answer: impl FnOnce(&Operation) -> Option<T>) -> Code {
    api(|context| {
        let operation = &context.graphs.node(NodeId(node.0))?.operation;
        out.put(answer(operation).ok_or(Error::INVALID_VALUE)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphHostNodeGetParams(node: Pointer, out: Out<HostNode>) -> Code {
    ask(node, out, |operation| match operation {
        Operation::Host(HostCall::Function { function, data }) => Some(HostNode { function: *function, data: *data }),
        _ => None,
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphEventRecordNodeGetEvent(node: Pointer, out: Out<Pointer>) -> Code {
    ask(node, out, |operation| match operation {
        Operation::Record { event } => Some(Pointer(*event)),
        _ => None,
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphEventWaitNodeGetEvent(node: Pointer, out: Out<Pointer>) -> Code {
    ask(node, out, |operation| match operation {
        Operation::Wait { event } => Some(Pointer(*event)),
        _ => None,
    })
}
