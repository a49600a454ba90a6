//! Memory: of the device, pinned, managed, from pools.

use crate::abi::{In, Out, Pointer};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result};
use raddle_exec::memory::MAX_DEVICE_BYTES;

/// Rows of pitched memory start at multiples of this.
const PITCH: u64 = 512;

impl Context {
    /// Allocates on the device.
    pub(crate) fn alloc(&mut self, call: &str, bytes: u64) -> Result<Pointer> {
        if bytes == 0 {
            return Ok(Pointer::NULL);
        }
        let name = self.next_name(call);
        let memory = self.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
        memory.alloc(name, bytes).map(Pointer).map_err(|_| Error::MEMORY_ALLOCATION)
    }

    /// Allocates memory of the host that kernels see too.
    fn alloc_host(&mut self, call: &str, bytes: u64) -> Result<Pointer> {
        let name = self.next_name(call);
        let memory = self.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
        let bytes = self.host.alloc(bytes)?;
        let at = Pointer(bytes.as_ptr().addr() as u64);
        memory.map(name, bytes);
        Ok(at)
    }

    /// Frees what was allocated in any way.
    pub(crate) fn free(&mut self, call: &str, at: Pointer) -> Result {
        if at == Pointer::NULL {
            return Ok(());
        }
        let memory = self.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
        if memory.free(at.0) {
            self.host.free(at.0);
            return Ok(());
        }
        let why = match memory.find(at.0, 1) {
            Ok(_) => "is not where an allocation starts".to_owned(),
            Err(error) => error.to_string(),
        };
        self.guest.note(&format!("{call}: {:#x}: {why}", at.0));
        Err(Error::INVALID_VALUE)
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMalloc(out: Out<Pointer>, bytes: usize) -> Code {
    api(|context| {
        if out.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        out.put(context.alloc("cudaMalloc", bytes as u64)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaFree(at: Pointer) -> Code {
    api(|context| context.free("cudaFree", at))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMallocAsync(out: Out<Pointer>, bytes: usize, _stream: Pointer) -> Code {
    api(|context| out.put(context.alloc("cudaMallocAsync", bytes as u64)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMallocFromPoolAsync(
    out: Out<Pointer>,
    bytes: usize,
    _pool: Pointer,
    stream: Pointer,
) -> Code {
    cudaMallocAsync(out, bytes, stream)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaFreeAsync(at: Pointer, _stream: Pointer) -> Code {
    api(|context| context.free("cudaFreeAsync", at))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMallocPitch(out: Out<Pointer>, pitch: Out<usize>, width: usize, height: usize) -> Code {
    api(|context| {
        let row = (width as u64).next_multiple_of(PITCH);
        let bytes = row.checked_mul(height as u64).ok_or(Error::MEMORY_ALLOCATION)?;
        out.put(context.alloc("cudaMallocPitch", bytes)?)?;
        pitch.put(row as usize)
    })
}

/// Memory in rows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct PitchedPointer {
    pub(crate) at: Pointer,
    pub(crate) pitch: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// A size in three directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Extent {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMalloc3D(out: Out<PitchedPointer>, extent: Extent) -> Code {
    api(|context| {
        let Extent { width, height, depth } = extent;
        let pitch = width.next_multiple_of(PITCH as usize);
        let bytes = pitch.checked_mul(height).and_then(|b| b.checked_mul(depth)).ok_or(Error::MEMORY_ALLOCATION)?;
        let at = context.alloc("cudaMalloc3D", bytes as u64)?;
        out.put(PitchedPointer { at, pitch, width, height })
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMallocHost(out: Out<Pointer>, bytes: usize) -> Code {
    api(|context| out.put(context.alloc_host("cudaMallocHost", bytes as u64)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaHostAlloc(out: Out<Pointer>, bytes: usize, _flags: u32) -> Code {
    api(|context| out.put(context.alloc_host("cudaHostAlloc", bytes as u64)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaFreeHost(at: Pointer) -> Code {
    api(|context| match at == Pointer::NULL || context.host.starts_at(at.0) {
        true => context.free("cudaFreeHost", at),
        false => Err(Error::INVALID_VALUE),
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMallocManaged(out: Out<Pointer>, bytes: usize, _flags: u32) -> Code {
    api(|context| match bytes {
        0 => Err(Error::INVALID_VALUE),
        _ => out.put(context.alloc_host("cudaMallocManaged", bytes as u64)?),
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaHostRegister(at: Pointer, bytes: usize, _flags: u32) -> Code {
    api(|context| {
        if at == Pointer::NULL || bytes == 0 {
            return Err(Error::INVALID_VALUE);
        }
        let name = context.next_name("cudaHostRegister");
        let memory = context.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
        let last = at.add(bytes as u64 - 1);
        if memory.holder(at.0).is_some() || memory.holder(last.0).is_some() {
            return Err(Error::ALREADY_REGISTERED);
        }
        // SAFETY: the program says that the memory is there until it unregisters it, and leaves it alone while kernels run.
        memory.map(name, unsafe { at.host_mut(bytes) });
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaHostUnregister(at: Pointer) -> Code {
    api(|context| {
        let memory = context.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
        if memory.free(at.0) { Ok(()) } else { Err(Error::NOT_REGISTERED) }
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaHostGetDevicePointer(out: Out<Pointer>, at: Pointer, _flags: u32) -> Code {
    api(|context| match context.device.memory().holder(at.0) {
        Some(_) => out.put(at),
        None => Err(Error::INVALID_VALUE),
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaHostGetFlags(flags: Out<u32>, at: Pointer) -> Code {
    api(|context| match context.device.memory().holder(at.0) {
        Some(_) => flags.put(0),
        None => Err(Error::INVALID_VALUE),
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemGetInfo(free: Out<usize>, total: Out<usize>) -> Code {
    api(|context| {
        free.put((MAX_DEVICE_BYTES - context.device.memory().taken()) as usize)?;
        total.put(MAX_DEVICE_BYTES as usize)
    })
}

/// What an address points to.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct PointerAttributes {
    kind: i32,
    device: i32,
    device_pointer: Pointer,
    host_pointer: Pointer,
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaPointerGetAttributes(out: Out<PointerAttributes>, at: Pointer) -> Code {
    api(|context| {
        let Some(holder) = context.device.memory().holder(at.0) else {
            return out.put(PointerAttributes { kind: 0, device: -2, device_pointer: Pointer::NULL, host_pointer: at });
        };
        let (kind, host) = match (holder.is_host(), holder.name.to_lowercase().contains("managed")) {
            (false, _) => (2, Pointer::NULL),
            (true, false) => (1, at),
            (true, true) => (3, at),
        };
        out.put(PointerAttributes { kind, device: 0, device_pointer: at, host_pointer: host })
    })
}

/// Managed memory is where it is; advice changes nothing.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemPrefetchAsync(_at: Pointer, _bytes: usize, _device: i32, _stream: Pointer) -> Code {
    api(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemAdvise(_at: Pointer, _bytes: usize, _advice: i32, _device: i32) -> Code {
    api(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaStreamAttachMemAsync(_stream: Pointer, _at: Pointer, _bytes: usize, _flags: u32) -> Code {
    api(|_| Ok(()))
}

/// There is one pool.
const POOL: Pointer = Pointer(0x10);

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceGetDefaultMemPool(pool: Out<Pointer>, _device: i32) -> Code {
    api(|_| pool.put(POOL))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceGetMemPool(pool: Out<Pointer>, device: i32) -> Code {
    cudaDeviceGetDefaultMemPool(pool, device)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceSetMemPool(_device: i32, _pool: Pointer) -> Code {
    api(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemPoolCreate(pool: Out<Pointer>, _properties: Pointer) -> Code {
    api(|_| pool.put(POOL))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemPoolDestroy(_pool: Pointer) -> Code {
    api(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemPoolSetAttribute(_pool: Pointer, _attribute: i32, _value: Pointer) -> Code {
    api(|_| Ok(()))
}

/// Attributes from 5 on are bytes in use or reserved; the others are settings.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemPoolGetAttribute(_pool: Pointer, attribute: i32, value: Out<u64>) -> Code {
    api(|context| value.put(if attribute >= 5 { context.device.memory().taken() } else { 0 }))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemPoolSetAccess(_pool: Pointer, _list: Pointer, _count: usize) -> Code {
    api(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemPoolTrimTo(_pool: Pointer, _bytes: usize) -> Code {
    api(|_| Ok(()))
}

/// Attributes of managed memory: none is set.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemRangeGetAttribute(
    data: Out<i32>,
    _size: usize,
    _attribute: i32,
    _at: In<u8>,
    _count: usize,
) -> Code {
    api(|_| data.put(-2))
}
