//! Events.

use super::capture::Captured;
use super::{Operation, enqueued};
use crate::abi::{Out, Pointer};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result};

/// An event.
#[derive(Debug, Default)]
pub(crate) struct Event {
    /// When it was recorded, in picoseconds.
    recorded: Option<u64>,
    has_no_time: bool,
    /// Where it was recorded last, if that stream was captured.
    pub(super) captured: Option<Captured>,
}

/// An event without time.
const DISABLE_TIMING: u32 = 2;
/// An event for other processes, which has no time.
const INTERPROCESS: u32 = 4;
/// These two, and one that says how the host waits.
const FLAGS: u32 = 7;
/// The event is a node of its own in a graph, and what is outside waits for it or is waited for.
const EXTERNAL: u32 = 1;

impl Context {
    pub(super) fn event(&mut self, event: Pointer) -> Result<&mut Event> {
        self.streams.events.get_mut(&event.0).ok_or(Error::INVALID_HANDLE)
    }

    /// Refuses what is no event.
    pub(crate) fn check_event(&mut self, event: Pointer) -> Result {
        self.event(event).map(drop)
    }

    /// An event is reached.
    pub(super) fn record(&mut self, event: Pointer) -> Result {
        let now = self.now;
        let event = self.event(event)?;
        (event.recorded, event.captured) = (Some(now), None);
        Ok(())
    }

    /// Refuses to look at an event that was recorded in a captured stream, whose capture is then worth nothing.
    fn seen(&mut self, event: Pointer) -> Result {
        let captured = self.event(event)?.captured.as_ref().map(|captured| captured.capture);
        match captured {
            Some(capture) => {
                self.captures.invalidate(capture);
                Err(Error::CAPTURED_EVENT)
            }
            None => Ok(()),
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaEventCreateWithFlags(out: Out<Pointer>, flags: u32) -> Code {
    api(|context| {
        let is_shared_with_time = flags & (INTERPROCESS | DISABLE_TIMING) == INTERPROCESS;
        if flags & !FLAGS != 0 || is_shared_with_time {
            return Err(Error::INVALID_VALUE);
        }
        let handle = context.new_handle();
        out.put(Pointer(handle))?;
        let event = Event { has_no_time: flags & DISABLE_TIMING != 0, ..Event::default() };
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

/// What a stream does when it comes to an event.
fn recorded(context: &mut Context, event: Pointer, stream: Pointer, flags: u32) -> Result<Operation> {
    if flags & !EXTERNAL != 0 {
        return Err(Error::INVALID_VALUE);
    }
    context.event(event)?;
    if flags == EXTERNAL && !context.is_capturing(stream) {
        return Err(Error::ILLEGAL_STATE);
    }
    match flags != EXTERNAL && context.capture_event(stream, event)? {
        true => Ok(Operation::Joined),
        false => Ok(Operation::Record { event: event.0 }),
    }
}

enqueued! {
    fn cudaEventRecord / cudaEventRecord_ptsz(event: Pointer, stream: Pointer) on stream =>
        |context| recorded(context, event, stream, 0);

    fn cudaEventRecordWithFlags / cudaEventRecordWithFlags_ptsz(event: Pointer, stream: Pointer, flags: u32) on stream =>
        |context| recorded(context, event, stream, flags);

    /// Streams are always in order, so that only captures have to know.
    fn cudaStreamWaitEvent / cudaStreamWaitEvent_ptsz(stream: Pointer, event: Pointer, flags: u32) on stream => |context| {
        if flags & !EXTERNAL != 0 {
            return Err(Error::INVALID_VALUE);
        }
        context.event(event)?;
        if flags == EXTERNAL {
            return Ok(Operation::Wait { event: event.0 });
        }
        context.join_capture(stream, event)?;
        Ok(Operation::Joined)
    };
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaEventSynchronize(event: Pointer) -> Code {
    api(|context| context.seen(event))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaEventQuery(event: Pointer) -> Code {
    api(|context| context.seen(event))
}

/// Milliseconds of the simulated device between two events.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaEventElapsedTime(out: Out<f32>, start: Pointer, end: Pointer) -> Code {
    api(|context| {
        let mut recorded = |event| {
            let event = context.event(event)?;
            if event.captured.is_some() {
                return Err(Error::CAPTURED_EVENT);
            }
            event.recorded.filter(|_| !event.has_no_time).ok_or(Error::INVALID_HANDLE)
        };
        let (start, end) = (recorded(start)?, recorded(end)?);
        out.put(((end as f64 - start as f64) * 1e-9) as f32)
    })
}
