//! Memories and the generic address space.
//!
//! A generic address names a byte of any state space: each space but global has a window.
//! Everything outside the windows is global, so a global address and the generic address of the
//! same byte are equal.

mod device;
mod error;
mod host;
mod view;
mod written;

pub use device::{Allocation, DeviceMemory, HEAP_BASE, MAX_DEVICE_BYTES, Reserve};
pub use error::{AccessError, AllocError};
pub use host::HostBytes;
pub use view::{Global, Merge, StoreLog};
pub use written::Written;

/// Start of the window onto the thread block's shared memory.
pub const SHARED_WINDOW: u64 = 0x1000_0000;
/// Start of the window onto the thread's local memory.
pub const LOCAL_WINDOW: u64 = 0x2000_0000;
/// Start of the window onto constant memory.
pub const CONST_WINDOW: u64 = 0x4000_0000;
/// Start of the window onto the kernel's parameters.
pub const PARAM_WINDOW: u64 = 0x5000_0000;
/// Addresses of functions start here, 16 bytes apart.
pub const FUNCTION_WINDOW: u64 = 0x6000_0000;
/// One past the last window.
pub const WINDOWS_END: u64 = 0x7000_0000;

/// What a generic address points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Shared memory, at this offset.
    Shared(u64),
    /// Local memory, at this offset.
    Local(u64),
    /// Constant memory, at this offset.
    Const(u64),
    /// Kernel parameters, at this offset.
    Param(u64),
    /// Global memory, at this address.
    Global(u64),
}

/// Splits a generic address.
#[must_use]
#[inline]
pub fn region(generic: u64) -> Region {
    match generic {
        SHARED_WINDOW..LOCAL_WINDOW => Region::Shared(generic - SHARED_WINDOW),
        LOCAL_WINDOW..CONST_WINDOW => Region::Local(generic - LOCAL_WINDOW),
        CONST_WINDOW..PARAM_WINDOW => Region::Const(generic - CONST_WINDOW),
        PARAM_WINDOW..FUNCTION_WINDOW => Region::Param(generic - PARAM_WINDOW),
        _ => Region::Global(generic),
    }
}
