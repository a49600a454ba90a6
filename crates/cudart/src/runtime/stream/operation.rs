//! What a stream does.

use super::copy::{Copy, Fill};
use crate::abi::{HostFunction, Out, Pointer, Size};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::runtime::graph::Executable;
use crate::runtime::memory::Kind;
use raddle_runtime::device::{ModuleId, Shape};

/// Something for a stream to do. It can only be given to a stream or to a graph.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Kernel {
        module: ModuleId,
        kernel: String,
        shape: Shape,
        params: Vec<u8>,
    },
    Copy(Copy),
    Fill(Fill),
    Host(HostCall),
    Record {
        event: u64,
    },
    Wait {
        event: u64,
    },
    Alloc {
        call: &'static str,
        /// Where the address is put.
        out: Pointer,
        bytes: Size,
    },
    Free {
        call: &'static str,
        at: Pointer,
    },
    Graph(Box<Executable>),
    /// Only the order matters, or not even that.
    Nothing,
    /// Order between streams, which is always kept. Captures have taken note of it.
    Joined,
}

/// A function of the program, and what it is called with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostCall {
    Function { function: HostFunction, data: Pointer },
    Callback { function: Callback, stream: Pointer, data: Pointer },
}

/// A function that is told how the stream is.
pub(crate) type Callback = Option<unsafe extern "C-unwind" fn(Pointer, Code, Pointer)>;

impl HostCall {
    /// Calls it, outside of any lock.
    pub(super) fn make(self) {
        match self {
            // SAFETY: the program says that the function takes this data.
            Self::Function { function: Some(function), data } => unsafe { function(data) },
            // SAFETY: as above.
            Self::Callback { function: Some(function), stream, data } => unsafe { function(stream, 0, data) },
            Self::Function { function: None, .. } | Self::Callback { function: None, .. } => {}
        }
    }
}

impl Operation {
    /// Does it. Graphs and functions of the program are performed outside of the lock.
    pub(super) fn perform(self, context: &mut Context) -> Result {
        match self {
            Self::Kernel { module, kernel, shape, params } => context.launch(module, &kernel, shape, params),
            Self::Copy(copy) => copy.perform(context),
            Self::Fill(fill) => fill.perform(context),
            Self::Record { event } => context.record(Pointer(event)),
            Self::Alloc { call, out, bytes } => {
                let at = context.alloc(call, bytes, Kind::Device)?;
                Out::from(out).put(at)
            }
            Self::Free { call, at } => context.free(call, at, &[Kind::Device]),
            Self::Wait { .. } | Self::Nothing | Self::Joined | Self::Host(_) | Self::Graph(_) => Ok(()),
        }
    }

    /// Refuses what cannot be performed, or cannot be part of a graph.
    pub(crate) fn check_as_node(&self, context: &mut Context) -> Result {
        match self {
            Self::Copy(copy) => copy.check(context),
            Self::Fill(fill) => fill.check(context),
            Self::Host(HostCall::Callback { .. }) => Err(Error::CAPTURE_UNSUPPORTED),
            Self::Alloc { call, .. } | Self::Free { call, .. } => {
                context.guest.note(&format!("{call} is not supported in a stream that is captured"));
                Err(Error::NOT_SUPPORTED)
            }
            _ => Ok(()),
        }
    }

    /// The number that the interface has for nodes of this kind.
    pub(crate) fn kind(&self) -> i32 {
        match self {
            Self::Kernel { .. } => 0,
            Self::Copy(_) => 1,
            Self::Fill(_) => 2,
            Self::Host(_) => 3,
            Self::Graph(_) => 4,
            Self::Nothing | Self::Joined => 5,
            Self::Wait { .. } => 6,
            Self::Record { .. } => 7,
            Self::Alloc { .. } => 10,
            Self::Free { .. } => 11,
        }
    }
}
