//! Streams. Everything that a program asks of one goes through [`on_stream`]: it makes an [`Operation`], which is done at
//! once or, where the stream is captured, becomes a node of a graph. Nothing else can perform an operation.
//!
//! Operations are done when they are asked for, so that streams are always in order and empty.

pub(crate) mod api;
pub(crate) mod capture;
pub(crate) mod copy;
pub(crate) mod event;
mod operation;

pub(crate) use operation::{HostCall, Operation};

use crate::abi::Pointer;
use crate::context::{Context, remember, with};
use crate::error::{Code, Error, Result};
use std::collections::BTreeMap;

/// The streams and events there are.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// The flags of each stream that the program has created.
    list: BTreeMap<u64, u32>,
    events: BTreeMap<u64, event::Event>,
}

/// The default stream.
pub(crate) const DEFAULT: Pointer = Pointer(0);
/// The default stream by its name.
const LEGACY: Pointer = Pointer(1);
/// The default stream of a thread.
const PER_THREAD: Pointer = Pointer(2);
/// The flag of a stream that does not wait for the default one.
const NON_BLOCKING: u32 = 1;

/// The stream that a program compiled for a default stream per thread means.
pub(crate) fn per_thread(stream: Pointer) -> Pointer {
    if stream == DEFAULT { PER_THREAD } else { stream }
}

/// Functions that ask something of a stream: each by its name, and by the name it has in programs compiled for a default
/// stream per thread. The closure makes the operation.
macro_rules! enqueued {
    ($($(#[$doc:meta])* fn $name:ident / $per_thread:ident($($arg:ident: $type:ty),* $(,)?) on $stream:expr => $make:expr;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub(crate) extern "C" fn $name($($arg: $type),*) -> $crate::error::Code {
                $crate::runtime::stream::on_stream($stream, $make)
            }

            #[unsafe(no_mangle)]
            pub(crate) extern "C" fn $per_thread($($arg: $type),*) -> $crate::error::Code {
                $crate::runtime::stream::on_stream($crate::runtime::stream::per_thread($stream), $make)
            }
        )*
    };
}

pub(crate) use enqueued;

/// Does what is asked of a stream, or writes it down where the stream is captured.
pub(crate) fn on_stream(stream: Pointer, make: impl FnOnce(&mut Context) -> Result<Operation>) -> Code {
    let admitted = with(|context| {
        context.healthy()?;
        context.check_stream(stream)?;
        let operation = make(context)?;
        context.admit(stream, operation)
    });
    remember(admitted.and_then(|operation| operation.map_or(Ok(()), perform)))
}

/// Performs an operation and those it consists of. Functions of the program are called outside of any lock: they may call
/// the API. What a kernel did wrong is said by the next call, and nothing is done after it.
fn perform(operation: Operation) -> Result {
    let mut next = vec![operation];
    let mut is_first = true;
    while let Some(operation) = next.pop() {
        match operation {
            Operation::Graph(graph) => next.extend(graph.operations().into_iter().rev()),
            Operation::Host(call) => call.make(),
            operation => {
                let done = with(|context| match context.healthy() {
                    Ok(()) => operation.perform(context).map(|()| true),
                    Err(error) if is_first => Err(error),
                    Err(_) => Ok(false),
                });
                if !done? {
                    break;
                }
            }
        }
        is_first = false;
    }
    Ok(())
}

impl Context {
    /// Refuses everything after a kernel has faulted.
    fn healthy(&self) -> Result {
        self.sticky.map_or(Ok(()), Err)
    }

    /// Refuses what is no stream.
    pub(crate) fn check_stream(&self, stream: Pointer) -> Result {
        match [DEFAULT, LEGACY, PER_THREAD].contains(&stream) || self.streams.list.contains_key(&stream.0) {
            true => Ok(()),
            false => Err(Error::INVALID_HANDLE),
        }
    }

    /// Whether a stream is the default one, which waits for others and for which others wait.
    fn is_default(stream: Pointer) -> bool {
        stream == DEFAULT || stream == LEGACY
    }

    /// Whether a stream and the default one wait for each other.
    fn is_blocking(&self, stream: u64) -> bool {
        self.streams.list.get(&stream).is_none_or(|flags| flags & NON_BLOCKING == 0)
    }
}
