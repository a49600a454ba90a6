//! Streams and events. Everything is done when it is asked for, so that streams are always in order and empty.

use crate::abi::{HostFunction, Out, Pointer};
use crate::context::{Context, api, with};
use crate::error::{Code, Error, Result};
use crate::runtime::graph::Step;
use std::collections::{BTreeMap, BTreeSet};

/// The streams and events there are.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    list: BTreeSet<u64>,
    /// When each event was recorded.
    events: BTreeMap<u64, Event>,
}

#[derive(Debug, Default)]
struct Event {
    recorded: Option<u64>,
    has_no_time: bool,
}

/// Streams that are always there: the default one under three names.
const ALWAYS: [u64; 3] = [0, 1, 2];
/// An event without time.
const DISABLE_TIMING: u32 = 2;

impl Context {
    /// Refuses what is no stream.
    pub(crate) fn check_stream(&self, stream: Pointer) -> Result {
        match ALWAYS.contains(&stream.0) || self.streams.list.contains(&stream.0) {
            true => Ok(()),
            false => Err(Error::INVALID_HANDLE),
        }
    }

    fn event(&mut self, event: Pointer) -> Result<&mut Event> {
        self.streams.events.get_mut(&event.0).ok_or(Error::INVALID_HANDLE)
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamCreate(out: Out<Pointer>) -> Code {
    api(|context| {
        let handle = context.new_handle();
        out.put(Pointer(handle))?;
        context.streams.list.insert(handle);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamCreateWithFlags(out: Out<Pointer>, _flags: u32) -> Code {
    cudaStreamCreate(out)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamCreateWithPriority(out: Out<Pointer>, _flags: u32, _priority: i32) -> Code {
    cudaStreamCreate(out)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamDestroy(stream: Pointer) -> Code {
    api(|context| if context.streams.list.remove(&stream.0) { Ok(()) } else { Err(Error::INVALID_HANDLE) })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamSynchronize(stream: Pointer) -> Code {
    api(|context| context.check_stream(stream))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamQuery(stream: Pointer) -> Code {
    api(|context| context.check_stream(stream))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamWaitEvent(stream: Pointer, event: Pointer, _flags: u32) -> Code {
    api(|context| {
        context.check_stream(stream)?;
        context.event(event)?;
        context.join_capture(stream, event);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamGetPriority(_stream: Pointer, priority: Out<i32>) -> Code {
    api(|_| priority.put(0))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamGetFlags(_stream: Pointer, flags: Out<u32>) -> Code {
    api(|_| flags.put(0))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) -> Code {
    api(|_| {
        least.put_if_wanted(0);
        greatest.put_if_wanted(0);
        Ok(())
    })
}

/// Calls a function of the program, outside of any lock: it may call the API.
pub(crate) fn call(function: HostFunction, data: Pointer) {
    if let Some(function) = function {
        // SAFETY: the program says that the function takes this data.
        unsafe { function(data) };
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaLaunchHostFunc(stream: Pointer, function: HostFunction, data: Pointer) -> Code {
    let is_captured = with(|context| context.is_capturing(stream));
    if is_captured {
        return api(|context| context.submit(stream, Step::Host { function, data }));
    }
    let code = api(|context| context.check_stream(stream));
    if code == 0 {
        call(function, data);
    }
    code
}

/// A function that is told how the stream is.
type Callback = Option<unsafe extern "C" fn(Pointer, Code, Pointer)>;

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamAddCallback(
    stream: Pointer,
    function: Callback,
    data: Pointer,
    _flags: u32,
) -> Code {
    let code = api(|context| context.check_stream(stream));
    if let (0, Some(function)) = (code, function) {
        // SAFETY: the program says that the function takes this data.
        unsafe { function(stream, 0, data) };
    }
    code
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaEventCreateWithFlags(out: Out<Pointer>, flags: u32) -> Code {
    api(|context| {
        let handle = context.new_handle();
        out.put(Pointer(handle))?;
        let event = Event { recorded: None, has_no_time: flags & DISABLE_TIMING != 0 };
        context.streams.events.insert(handle, event);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaEventCreate(out: Out<Pointer>) -> Code {
    cudaEventCreateWithFlags(out, 0)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaEventDestroy(event: Pointer) -> Code {
    api(|context| context.streams.events.remove(&event.0).map(drop).ok_or(Error::INVALID_HANDLE))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaEventRecord(event: Pointer, stream: Pointer) -> Code {
    api(|context| {
        context.check_stream(stream)?;
        let now = context.now;
        context.event(event)?.recorded = Some(now);
        context.capture_event(stream, event);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaEventRecordWithFlags(event: Pointer, stream: Pointer, _flags: u32) -> Code {
    cudaEventRecord(event, stream)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaEventSynchronize(event: Pointer) -> Code {
    api(|context| context.event(event).map(drop))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaEventQuery(event: Pointer) -> Code {
    api(|context| context.event(event).map(drop))
}

/// Milliseconds of the simulated device between two events.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaEventElapsedTime(out: Out<f32>, start: Pointer, end: Pointer) -> Code {
    api(|context| {
        let mut recorded = |event| {
            let event = context.event(event)?;
            event.recorded.filter(|_| !event.has_no_time).ok_or(Error::INVALID_HANDLE)
        };
        let (start, end) = (recorded(start)?, recorded(end)?);
        out.put(((end as f64 - start as f64) * 1e-9) as f32)
    })
}
