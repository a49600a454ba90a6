//! Captures: what is asked of a stream is written down as a graph. Streams join by waiting for events of the capture, and
//! have to be joined to the first one before it ends.

use super::{Operation, per_thread};
use crate::abi::{In, InOut, Out, Pointer, Size};
use crate::context::{Context, api, thread};
use crate::error::{Code, Error, Result};
use crate::runtime::graph::NodeId;
use std::collections::{BTreeMap, BTreeSet};

/// Which calls a capture forbids: to all threads, to the one that began it, to none.
const GLOBAL: i32 = 0;
const THREAD_LOCAL: i32 = 1;
const RELAXED: i32 = 2;

/// Where an event was recorded in a capture: the nodes that a stream comes after that waits for it.
#[derive(Clone, Debug)]
pub(crate) struct Captured {
    pub(super) capture: u64,
    nodes: BTreeSet<NodeId>,
}

/// A capture.
#[derive(Debug)]
struct Capture {
    graph: u64,
    origin: u64,
    mode: i32,
    thread: usize,
    is_invalid: bool,
    /// The last nodes of every stream that is part of it.
    last: BTreeMap<u64, BTreeSet<NodeId>>,
    /// The last nodes of streams as they were shown to the program, which may look at them until it asks for those of the
    /// same stream again.
    shown: BTreeMap<u64, Vec<Pointer>>,
}

/// The captures that have begun, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Captures {
    list: BTreeMap<u64, Capture>,
    begun: u64,
}

impl Captures {
    /// The capture that a stream is part of.
    fn of(&mut self, stream: Pointer) -> Option<(u64, &mut Capture)> {
        let found = self.list.iter_mut().find(|(_, capture)| capture.last.contains_key(&stream.0));
        found.map(|(number, capture)| (*number, capture))
    }

    /// What a capture has seen is worth nothing.
    pub(super) fn invalidate(&mut self, capture: u64) {
        if let Some(capture) = self.list.get_mut(&capture) {
            capture.is_invalid = true;
        }
    }

    /// Invalidates the captures that something would break, if there are any.
    fn break_where(&mut self, is_broken: impl Fn(&Capture) -> bool, error: Error) -> Result {
        let mut result = Ok(());
        for capture in self.list.values_mut().filter(|capture| is_broken(capture)) {
            capture.is_invalid = true;
            result = Err(error);
        }
        result
    }
}

impl Context {
    pub(crate) fn is_capturing(&mut self, stream: Pointer) -> bool {
        self.captures.of(stream).is_some()
    }

    /// Refuses what waits for a stream that is captured.
    pub(super) fn refuse_captured(&mut self, stream: Pointer) -> Result {
        self.check_default(stream)?;
        self.captures.break_where(|capture| capture.last.contains_key(&stream.0), Error::CAPTURE_UNSUPPORTED)
    }

    /// Refuses what waits for everything while something is captured.
    pub(crate) fn refuse_any_capture(&mut self) -> Result {
        self.captures.break_where(|_| true, Error::CAPTURE_UNSUPPORTED)
    }

    /// Refuses calls that may wait for the device, where a capture forbids them.
    pub(crate) fn refuse_unsafe_call(&mut self) -> Result {
        let (caller, mode) = (thread(), CAPTURE_MODE.get());
        let forbids = |capture: &Capture| match mode {
            RELAXED => false,
            THREAD_LOCAL => capture.thread == caller && capture.mode != RELAXED,
            _ => capture.mode == GLOBAL || capture.thread == caller && capture.mode != RELAXED,
        };
        self.captures.break_where(forbids, Error::CAPTURE_UNSUPPORTED)
    }

    /// Streams that are captured cannot wait for the default stream, nor it for them.
    fn check_default(&mut self, stream: Pointer) -> Result {
        if !Self::is_default(stream) {
            return Ok(());
        }
        let streams: Vec<u64> = self.captures.list.values().flat_map(|capture| capture.last.keys().copied()).collect();
        let blocking: BTreeSet<u64> = streams.into_iter().filter(|stream| self.is_blocking(*stream)).collect();
        let is_broken = |capture: &Capture| capture.last.keys().any(|stream| blocking.contains(stream));
        self.captures.break_where(is_broken, Error::CAPTURE_IMPLICIT)
    }

    /// Gives an operation back to be performed, unless the stream is captured: then it becomes a node.
    pub(super) fn admit(&mut self, stream: Pointer, operation: Operation) -> Result<Option<Operation>> {
        if matches!(operation, Operation::Joined) {
            return Ok(None);
        }
        let Some((_, capture)) = self.captures.of(stream) else {
            self.check_default(stream)?;
            return Ok(Some(operation));
        };
        if capture.is_invalid {
            return Err(Error::CAPTURE_INVALIDATED);
        }
        operation.check_as_node(self)?;
        let Some((_, capture)) = self.captures.of(stream) else { return Ok(None) };
        let before = capture.last.get(&stream.0).cloned().unwrap_or_default();
        let node = self.graphs.add(capture.graph, operation, before)?;
        capture.last.insert(stream.0, BTreeSet::from([node]));
        Ok(None)
    }

    /// Records an event in a capture; says whether the stream is part of one.
    pub(super) fn capture_event(&mut self, stream: Pointer, event: Pointer) -> Result<bool> {
        let Some((number, capture)) = self.captures.of(stream) else { return Ok(false) };
        if capture.is_invalid {
            return Err(Error::CAPTURE_INVALIDATED);
        }
        let nodes = capture.last.get(&stream.0).cloned().unwrap_or_default();
        self.event(event)?.captured = Some(Captured { capture: number, nodes });
        Ok(true)
    }

    /// A stream waits for an event: one of a capture takes the stream along.
    pub(super) fn join_capture(&mut self, stream: Pointer, event: Pointer) -> Result {
        let captured = self.event(event)?.captured.clone();
        let own = self.captures.of(stream).map(|(number, capture)| (number, capture.is_invalid));
        let Some(captured) = captured else {
            return match own {
                None => self.check_default(stream),
                Some((_, true)) => Err(Error::CAPTURE_INVALIDATED),
                // What happened outside of the capture cannot be waited for in it.
                Some((number, false)) => {
                    self.captures.invalidate(number);
                    Err(Error::CAPTURE_ISOLATION)
                }
            };
        };
        if Self::is_default(stream) {
            self.captures.invalidate(captured.capture);
            self.check_default(stream)?;
            return Err(Error::CAPTURE_IMPLICIT);
        }
        if let Some((number, _)) = own.filter(|(number, _)| *number != captured.capture) {
            self.captures.invalidate(number);
            self.captures.invalidate(captured.capture);
            return Err(Error::CAPTURE_MERGE);
        }
        let Some(capture) = self.captures.list.get_mut(&captured.capture) else { return Err(Error::CAPTURED_EVENT) };
        if capture.is_invalid {
            return Err(Error::CAPTURE_INVALIDATED);
        }
        capture.last.entry(stream.0).or_default().extend(captured.nodes);
        Ok(())
    }

    /// Begins a capture whose first nodes come after some that a graph has.
    fn begin_capture(&mut self, stream: Pointer, graph: Option<(u64, BTreeSet<NodeId>)>, mode: i32) -> Result {
        self.check_stream(stream)?;
        if ![GLOBAL, THREAD_LOCAL, RELAXED].contains(&mode) {
            return Err(Error::INVALID_VALUE);
        }
        if Self::is_default(stream) {
            return Err(Error::CAPTURE_UNSUPPORTED);
        }
        if self.is_capturing(stream) {
            return Err(Error::ILLEGAL_STATE);
        }
        let (graph, nodes) = match graph {
            Some(found) => found,
            None => (self.new_graph(), BTreeSet::new()),
        };
        let last = BTreeMap::from([(stream.0, nodes)]);
        let origin = stream.0;
        self.captures.begun += 1;
        let capture =
            Capture { graph, origin, mode, thread: thread(), is_invalid: false, last, shown: BTreeMap::new() };
        self.captures.list.insert(self.captures.begun, capture);
        Ok(())
    }

    /// Ends the capture that began in a stream.
    fn end_capture(&mut self, stream: Pointer, graph: Out<Pointer>) -> Result {
        self.check_stream(stream)?;
        let Some((number, capture)) = self.captures.of(stream) else { return Err(Error::ILLEGAL_STATE) };
        if capture.origin != stream.0 {
            capture.is_invalid = true;
            return Err(Error::CAPTURE_UNMATCHED);
        }
        if capture.mode != RELAXED && capture.thread != thread() {
            return Err(Error::CAPTURE_WRONG_THREAD);
        }
        let Some(capture) = self.captures.list.remove(&number) else { return Err(Error::ILLEGAL_STATE) };
        let wrong = if capture.is_invalid {
            Some(Error::CAPTURE_INVALIDATED)
        } else {
            let joined = self.graphs.reached(capture.graph, &capture.last[&stream.0]);
            let is_joined = capture.last.values().flatten().all(|node| joined.contains(node));
            (!is_joined).then_some(Error::CAPTURE_UNJOINED)
        };
        match wrong {
            None => graph.put(Pointer(capture.graph)),
            Some(error) => {
                self.graphs.forget(capture.graph);
                graph.put_if_wanted(Pointer::NULL);
                Err(error)
            }
        }
    }

    /// 0 for a stream that is not captured, 1 for one that is, 2 where that is worth nothing.
    fn capture_status(&mut self, stream: Pointer) -> Result<i32> {
        self.check_stream(stream)?;
        let streams = self.captures.list.values().flat_map(|capture| capture.last.keys());
        if Self::is_default(stream) && streams.into_iter().any(|other| self.is_blocking(*other)) {
            return Err(Error::CAPTURE_IMPLICIT);
        }
        Ok(self.captures.of(stream).map_or(0, |(_, capture)| 1 + i32::from(capture.is_invalid)))
    }
}

thread_local! {
    /// Which calls the thread lets captures forbid.
    static CAPTURE_MODE: std::cell::Cell<i32> = const { std::cell::Cell::new(GLOBAL) };
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaThreadExchangeStreamCaptureMode(mode: InOut<i32>) -> Code {
    api(|_| {
        let new = mode.get()?;
        if ![GLOBAL, THREAD_LOCAL, RELAXED].contains(&new) {
            return Err(Error::INVALID_VALUE);
        }
        mode.put(CAPTURE_MODE.replace(new))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamBeginCapture(stream: Pointer, mode: i32) -> Code {
    api(|context| context.begin_capture(stream, None, mode))
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamBeginCapture_ptsz(stream: Pointer, mode: i32) -> Code {
    cudaStreamBeginCapture(per_thread(stream), mode)
}

/// The graph gets what is captured; edges carry no data.
#[unsafe(no_mangle)]
extern "C" fn cudaStreamBeginCaptureToGraph(
    stream: Pointer,
    graph: Pointer,
    before: In<Pointer>,
    _data: Pointer,
    count: Size,
    mode: i32,
) -> Code {
    api(|context| {
        let before = context.graphs.nodes_of(graph.0, before, count)?;
        context.begin_capture(stream, Some((graph.0, before)), mode)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamEndCapture(stream: Pointer, graph: Out<Pointer>) -> Code {
    api(|context| context.end_capture(stream, graph))
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamEndCapture_ptsz(stream: Pointer, graph: Out<Pointer>) -> Code {
    cudaStreamEndCapture(per_thread(stream), graph)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamIsCapturing(stream: Pointer, status: Out<i32>) -> Code {
    api(|context| {
        let found = context.capture_status(stream)?;
        status.put(found)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamIsCapturing_ptsz(stream: Pointer, status: Out<i32>) -> Code {
    cudaStreamIsCapturing(per_thread(stream), status)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamGetCaptureInfo(stream: Pointer, status: Out<i32>, id: Out<u64>) -> Code {
    api(|context| {
        let found = context.capture_status(stream)?;
        if let Some((number, _)) = context.captures.of(stream) {
            id.put_if_wanted(number);
        }
        status.put(found)
    })
}

/// The list of nodes is there until the next call for the same stream, or the end of the capture.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamGetCaptureInfo_v2(
    stream: Pointer,
    status: Out<i32>,
    id: Out<u64>,
    graph: Out<Pointer>,
    last: Out<Pointer>,
    count: Out<usize>,
) -> Code {
    api(|context| {
        let found = context.capture_status(stream)?;
        status.put(found)?;
        if let Some((number, capture)) = context.captures.of(stream).filter(|(_, capture)| !capture.is_invalid) {
            id.put_if_wanted(number);
            graph.put_if_wanted(Pointer(capture.graph));
            let nodes: Vec<Pointer> = capture.last[&stream.0].iter().map(|node| Pointer(node.0)).collect();
            last.put_if_wanted(Pointer(nodes.as_ptr().expose_provenance() as u64));
            count.put_if_wanted(nodes.len());
            capture.shown.insert(stream.0, nodes);
        }
        Ok(())
    })
}

/// The next node comes after these, and with flag 0 also after those it would have come after.
#[unsafe(no_mangle)]
extern "C" fn cudaStreamUpdateCaptureDependencies(
    stream: Pointer,
    nodes: In<Pointer>,
    count: Size,
    flags: u32,
) -> Code {
    const SET: u32 = 1;
    api(|context| {
        context.check_stream(stream)?;
        let Some((_, capture)) = context.captures.of(stream) else { return Err(Error::ILLEGAL_STATE) };
        if flags > SET {
            return Err(Error::INVALID_VALUE);
        }
        if capture.is_invalid {
            return Err(Error::CAPTURE_INVALIDATED);
        }
        let nodes = context.graphs.nodes_of(capture.graph, nodes, count)?;
        let last = capture.last.entry(stream.0).or_default();
        if flags == SET {
            last.clear();
        }
        last.extend(nodes);
        Ok(())
    })
}
