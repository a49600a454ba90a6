//! Functions for streams as a whole, and functions of the program in them.

use super::operation::Callback;
use super::{HostCall, NON_BLOCKING, Operation, enqueued, per_thread};
use crate::abi::{HostFunction, Out, Pointer, Size};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result};

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamCreateWithFlags(out: Out<Pointer>, flags: u32) -> Code {
    api(|context| {
        if flags & !NON_BLOCKING != 0 {
            return Err(Error::INVALID_VALUE);
        }
        let handle = context.new_handle();
        out.put(Pointer(handle))?;
        context.streams.list.insert(handle, flags);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamCreate(out: Out<Pointer>) -> Code {
    cudaStreamCreateWithFlags(out, 0)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamCreateWithPriority(out: Out<Pointer>, flags: u32, _priority: i32) -> Code {
    cudaStreamCreateWithFlags(out, flags)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamDestroy(stream: Pointer) -> Code {
    api(|context| {
        if !context.streams.list.contains_key(&stream.0) {
            return Err(Error::INVALID_HANDLE);
        }
        context.refuse_captured(stream)?;
        context.streams.list.remove(&stream.0);
        Ok(())
    })
}

/// Whether a stream has done everything, which it always has, unless it is captured.
fn is_done(stream: Pointer) -> Code {
    api(|context| {
        context.check_stream(stream)?;
        context.refuse_captured(stream)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamSynchronize(stream: Pointer) -> Code {
    is_done(stream)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamQuery(stream: Pointer) -> Code {
    is_done(stream)
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamSynchronize_ptsz(stream: Pointer) -> Code {
    is_done(per_thread(stream))
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamQuery_ptsz(stream: Pointer) -> Code {
    is_done(per_thread(stream))
}

/// The value of an attribute that all streams have.
fn same_for_all<T>(stream: Pointer, out: Out<T>, value: T) -> Code {
    api(|context| {
        context.check_stream(stream)?;
        out.put(value)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamGetPriority(stream: Pointer, priority: Out<i32>) -> Code {
    same_for_all(stream, priority, 0)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamGetFlags(stream: Pointer, flags: Out<u32>) -> Code {
    api(|context| {
        context.check_stream(stream)?;
        flags.put(context.streams.list.get(&stream.0).copied().unwrap_or(0))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamSetAttribute(stream: Pointer, _attribute: i32, _value: Pointer) -> Code {
    api(|context| context.check_stream(stream))
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamCopyAttributes(to: Pointer, from: Pointer) -> Code {
    api(|context| {
        context.check_stream(to)?;
        context.check_stream(from)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) -> Code {
    api(|_| {
        least.put_if_wanted(0);
        greatest.put_if_wanted(0);
        Ok(())
    })
}

impl Context {
    /// Advice about memory that host code and kernels share changes nothing: it is where it is.
    fn advised(&self, at: Pointer, bytes: Size) -> Result<Operation> {
        let holder = self.device.memory().holder(at.0).filter(|holder| holder.is_host()).ok_or(Error::INVALID_VALUE)?;
        let is_inside = at.range(bytes)?.end <= holder.base + holder.len();
        if is_inside { Ok(Operation::Nothing) } else { Err(Error::INVALID_VALUE) }
    }
}

enqueued! {
    fn cudaLaunchHostFunc / cudaLaunchHostFunc_ptsz(stream: Pointer, function: HostFunction, data: Pointer) on stream => |_| {
        function.ok_or(Error::INVALID_VALUE)?;
        Ok(Operation::Host(HostCall::Function { function, data }))
    };

    fn cudaStreamAddCallback / cudaStreamAddCallback_ptsz(
        stream: Pointer, function: Callback, data: Pointer, flags: u32,
    ) on stream => |_| {
        if function.is_none() || flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        Ok(Operation::Host(HostCall::Callback { function, stream, data }))
    };

    fn cudaMemPrefetchAsync / cudaMemPrefetchAsync_ptsz(
        at: Pointer, bytes: Size, _device: i32, stream: Pointer,
    ) on stream => |context| context.advised(at, bytes);

    fn cudaMemPrefetchAsync_v2 / cudaMemPrefetchAsync_v2_ptsz(
        at: Pointer, bytes: Size, _location: u64, _flags: u32, stream: Pointer,
    ) on stream => |context| context.advised(at, bytes);

    fn cudaStreamAttachMemAsync / cudaStreamAttachMemAsync_ptsz(
        stream: Pointer, at: Pointer, bytes: Size, _flags: u32,
    ) on stream => |context| context.advised(at, bytes);
}
