//! Graphs: lists of what is to be done, captured from streams or built by hand, and done later. They are done in the
//! order in which they were written down, which is one their dependences allow.

use super::memory::Extent;
use super::stream::call;
use crate::abi::{Dim3, HostFunction, In, Out, Pointer};
use crate::context::{Context, api, remember, with};
use crate::error::{Code, Error, Result};
use raddle_runtime::device::{ModuleId, Shape};
use std::collections::BTreeMap;

/// Something for the device to do.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Kernel { module: ModuleId, kernel: String, shape: Shape, params: Vec<u8> },
    Copy { to: Pointer, from: Pointer, bytes: usize, direction: i32 },
    Fill { at: Pointer, value: u8, bytes: usize },
    Host { function: HostFunction, data: Pointer },
    Nothing,
}

/// Captures, graphs, and graphs that were made ready, which are the same here.
#[derive(Debug, Default)]
pub(crate) struct Graphs {
    /// The capture that each stream is part of, by the stream where it began.
    capturing: BTreeMap<u64, u64>,
    /// What each capture has seen.
    captured: BTreeMap<u64, Vec<Step>>,
    /// Events that were recorded in a capture.
    events: BTreeMap<u64, u64>,
    graphs: BTreeMap<u64, Vec<Step>>,
}

impl Context {
    pub(crate) fn is_capturing(&self, stream: Pointer) -> bool {
        self.graphs.capturing.contains_key(&stream.0)
    }

    /// An event that is recorded in a capture takes it along.
    pub(crate) fn capture_event(&mut self, stream: Pointer, event: Pointer) {
        match self.graphs.capturing.get(&stream.0) {
            Some(origin) => self.graphs.events.insert(event.0, *origin),
            None => self.graphs.events.remove(&event.0),
        };
    }

    /// A stream that waits for such an event is part of the capture.
    pub(crate) fn join_capture(&mut self, stream: Pointer, event: Pointer) {
        if let Some(origin) = self.graphs.events.get(&event.0) {
            self.graphs.capturing.insert(stream.0, *origin);
        }
    }

    /// Does something now, or writes it down where the stream is captured.
    pub(crate) fn submit(&mut self, stream: Pointer, step: Step) -> Result {
        if let Some(origin) = self.graphs.capturing.get(&stream.0) {
            self.graphs.captured.entry(*origin).or_default().push(step);
            return Ok(());
        }
        self.check_stream(stream)?;
        self.run(step)
    }

    fn run(&mut self, step: Step) -> Result {
        match step {
            Step::Kernel { module, kernel, shape, params } => self.launch(module, &kernel, shape, params),
            Step::Copy { to, from, bytes, direction } => self.copy("cudaMemcpyAsync", to, from, bytes, direction),
            Step::Fill { at, value, bytes } => self.fill("cudaMemsetAsync", at, value, bytes),
            Step::Host { .. } | Step::Nothing => Ok(()),
        }
    }

    fn new_graph(&mut self, steps: Vec<Step>) -> Pointer {
        let handle = self.new_handle();
        self.graphs.graphs.insert(handle, steps);
        Pointer(handle)
    }

    fn add_node(&mut self, node: Out<Pointer>, graph: Pointer, step: Step) -> Result {
        let handle = self.new_handle();
        self.graphs.graphs.get_mut(&graph.0).ok_or(Error::INVALID_VALUE)?.push(step);
        node.put(Pointer(handle))
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamBeginCapture(stream: Pointer, _mode: i32) -> Code {
    api(|context| {
        context.check_stream(stream)?;
        if stream == Pointer::NULL || context.is_capturing(stream) {
            return Err(Error::CAPTURE_UNSUPPORTED);
        }
        context.graphs.capturing.insert(stream.0, stream.0);
        context.graphs.captured.insert(stream.0, Vec::new());
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamEndCapture(stream: Pointer, graph: Out<Pointer>) -> Code {
    api(|context| {
        let steps = context.graphs.captured.remove(&stream.0).ok_or(Error::CAPTURE_UNMATCHED)?;
        context.graphs.capturing.retain(|_, origin| *origin != stream.0);
        context.graphs.events.retain(|_, origin| *origin != stream.0);
        let handle = context.new_graph(steps);
        graph.put(handle)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamIsCapturing(stream: Pointer, status: Out<i32>) -> Code {
    api(|context| status.put(i32::from(context.is_capturing(stream))))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamGetCaptureInfo(stream: Pointer, status: Out<i32>, id: Out<u64>) -> Code {
    api(|context| {
        id.put_if_wanted(stream.0);
        status.put(i32::from(context.is_capturing(stream)))
    })
}

/// What it could say beyond that of a capture, nobody has asked for yet.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamGetCaptureInfo_v2(stream: Pointer, status: Out<i32>, id: Out<u64>) -> Code {
    cudaStreamGetCaptureInfo(stream, status, id)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaThreadExchangeStreamCaptureMode(_mode: Out<i32>) -> Code {
    0
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphCreate(graph: Out<Pointer>, _flags: u32) -> Code {
    api(|context| graph.put(context.new_graph(Vec::new())))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphClone(out: Out<Pointer>, graph: Pointer) -> Code {
    api(|context| {
        let steps = context.graphs.graphs.get(&graph.0).cloned().ok_or(Error::INVALID_VALUE)?;
        out.put(context.new_graph(steps))
    })
}

/// The arguments behind the graph differ from version to version, and none matters here.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphInstantiate(out: Out<Pointer>, graph: Pointer) -> Code {
    cudaGraphClone(out, graph)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphInstantiateWithFlags(out: Out<Pointer>, graph: Pointer, _flags: u64) -> Code {
    cudaGraphClone(out, graph)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphExecUpdate(exec: Pointer, graph: Pointer, result: Out<i32>) -> Code {
    api(|context| {
        let steps = context.graphs.graphs.get(&graph.0).cloned().ok_or(Error::INVALID_VALUE)?;
        result.put_if_wanted(0);
        context.graphs.graphs.insert(exec.0, steps);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphUpload(_exec: Pointer, _stream: Pointer) -> Code {
    api(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphLaunch(exec: Pointer, stream: Pointer) -> Code {
    let steps = with(|context| match context.sticky {
        Some(error) => Err(error),
        None => context.graphs.graphs.get(&exec.0).cloned().ok_or(Error::INVALID_VALUE),
    });
    let steps = match steps {
        Ok(steps) => steps,
        Err(error) => return remember(Err(error)),
    };
    for step in steps {
        if let Step::Host { function, data } = step {
            call(function, data);
            continue;
        }
        let code = api(|context| context.submit(stream, step));
        if code != 0 {
            return code;
        }
    }
    0
}

fn forget(graph: Pointer) -> Code {
    api(|context| context.graphs.graphs.remove(&graph.0).map(drop).ok_or(Error::INVALID_VALUE))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphDestroy(graph: Pointer) -> Code {
    forget(graph)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphExecDestroy(exec: Pointer) -> Code {
    forget(exec)
}

/// Counts the nodes; their handles are not kept.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphGetNodes(graph: Pointer, _nodes: Pointer, count: Out<usize>) -> Code {
    api(|context| count.put(context.graphs.graphs.get(&graph.0).ok_or(Error::INVALID_VALUE)?.len()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphAddDependencies(
    _graph: Pointer,
    _from: Pointer,
    _to: Pointer,
    _count: usize,
) -> Code {
    api(|_| Ok(()))
}

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

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphAddKernelNode(
    node: Out<Pointer>,
    graph: Pointer,
    _before: Pointer,
    _count: usize,
    what: In<KernelNode>,
) -> Code {
    api(|context| {
        let what = what.get()?;
        let shape = Shape { grid: what.grid.list(), block: what.block.list(), shared: what.shared };
        let step = context.kernel_step(what.function, shape, what.args)?;
        context.add_node(node, graph, step)
    })
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct FillNode {
    at: Pointer,
    pitch: usize,
    value: u32,
    element: u32,
    width: usize,
    height: usize,
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphAddMemsetNode(
    node: Out<Pointer>,
    graph: Pointer,
    _before: Pointer,
    _count: usize,
    what: In<FillNode>,
) -> Code {
    api(|context| {
        let what = what.get()?;
        let bytes = what.value.to_le_bytes();
        let is_even = bytes[..(what.element as usize).clamp(1, 4)].iter().all(|byte| *byte == bytes[0]);
        if what.height > 1 || !is_even {
            context.guest.note("cudaGraphAddMemsetNode: only rows of equal bytes can be set");
            return Err(Error::NOT_SUPPORTED);
        }
        let bytes = what.width * what.element as usize;
        context.add_node(node, graph, Step::Fill { at: what.at, value: what.value as u8, bytes })
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphAddMemcpyNode1D(
    node: Out<Pointer>,
    graph: Pointer,
    _before: Pointer,
    _count: usize,
    to: Pointer,
    from: Pointer,
    bytes: usize,
    direction: i32,
) -> Code {
    api(|context| context.add_node(node, graph, Step::Copy { to, from, bytes, direction }))
}

/// The part of a copy in three dimensions that is a plain one.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct CopyNode {
    from_array: Pointer,
    from_place: Extent,
    from: super::memory::PitchedPointer,
    to_array: Pointer,
    to_place: Extent,
    to: super::memory::PitchedPointer,
    extent: Extent,
    direction: i32,
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphAddMemcpyNode(
    node: Out<Pointer>,
    graph: Pointer,
    _before: Pointer,
    _count: usize,
    what: In<CopyNode>,
) -> Code {
    api(|context| {
        let what = what.get()?;
        let has_array = what.from_array != Pointer::NULL || what.to_array != Pointer::NULL;
        if has_array || what.extent.height > 1 || what.extent.depth > 1 {
            context.guest.note("cudaGraphAddMemcpyNode: only copies of one row can be added");
            return Err(Error::NOT_SUPPORTED);
        }
        let (to, from) = (what.to.at.add(what.to_place.width as u64), what.from.at.add(what.from_place.width as u64));
        let (bytes, direction) = (what.extent.width, what.direction);
        context.add_node(node, graph, Step::Copy { to, from, bytes, direction })
    })
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct HostNode {
    function: HostFunction,
    data: Pointer,
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphAddHostNode(
    node: Out<Pointer>,
    graph: Pointer,
    _before: Pointer,
    _count: usize,
    what: In<HostNode>,
) -> Code {
    api(|context| {
        let HostNode { function, data } = what.get()?;
        context.add_node(node, graph, Step::Host { function, data })
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGraphAddEmptyNode(
    node: Out<Pointer>,
    graph: Pointer,
    _before: Pointer,
    _count: usize,
) -> Code {
    api(|context| context.add_node(node, graph, Step::Nothing))
}
