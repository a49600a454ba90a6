//! Memory: of the device, pinned, managed, from pools.

use super::stream::{Operation, enqueued};
use crate::abi::{In, Out, Pointer, Size};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result};
use crate::mappings::all_accessible;
use raddle_exec::memory::{AllocError, MAX_DEVICE_BYTES};

/// Rows of pitched memory start at multiples of this.
const PITCH: usize = 512;

/// How the program has got memory, which says how it is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Device,
    Array,
    Pinned,
    Managed,
    Registered,
    /// A managed variable, which stays.
    Variable,
}

impl Context {
    /// Allocates on the device.
    pub(crate) fn alloc(&mut self, call: &str, bytes: Size, kind: Kind) -> Result<Pointer> {
        if bytes.is_zero() {
            return Ok(Pointer::NULL);
        }
        let name = self.next_name(call);
        let memory = self.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
        match memory.alloc(name, bytes.wide()) {
            Ok(at) => {
                self.allocated.insert(at, kind);
                Ok(Pointer(at))
            }
            Err(error) => {
                if matches!(error, AllocError::NoAddresses { .. }) {
                    self.guest.note(&error.to_string());
                }
                Err(Error::MEMORY_ALLOCATION)
            }
        }
    }

    /// Allocates memory of the host that kernels see too.
    fn alloc_host(&mut self, call: &str, bytes: Size, kind: Kind) -> Result<Pointer> {
        let name = self.next_name(call);
        let memory = self.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
        let bytes = self.host.alloc(bytes.wide())?;
        let at = bytes.address();
        memory.map(name, bytes);
        self.allocated.insert(at, kind);
        Ok(Pointer(at))
    }

    /// Frees what was allocated in one of these ways.
    pub(crate) fn free(&mut self, call: &str, at: Pointer, kinds: &[Kind]) -> Result {
        if at == Pointer::NULL {
            return Ok(());
        }
        let found = self.allocated.get(&at.0).copied();
        let memory = self.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
        if found.is_some_and(|kind| kinds.contains(&kind)) {
            self.allocated.remove(&at.0);
            memory.free(at.0);
            self.host.free(at.0);
            return Ok(());
        }
        let why = match (found, memory.find(at.0, 1)) {
            (Some(_), _) => "was allocated in another way".to_owned(),
            (None, Ok(_)) => "is not where an allocation starts".to_owned(),
            (None, Err(error)) => error.to_string(),
        };
        self.guest.note(&format!("{call}: {:#x}: {why}", at.0));
        Err(Error::INVALID_VALUE)
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMalloc(out: Out<Pointer>, bytes: Size) -> Code {
    api(|context| {
        if out.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        context.refuse_unsafe_call()?;
        out.put(context.alloc("cudaMalloc", bytes, Kind::Device)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaFree(at: Pointer) -> Code {
    api(|context| {
        context.refuse_unsafe_call()?;
        context.free("cudaFree", at, &[Kind::Device, Kind::Managed])
    })
}

/// An allocation when the stream comes to it, which is now.
fn allocated(call: &'static str, out: Out<Pointer>, bytes: Size) -> Result<Operation> {
    if out.is_null() { Err(Error::INVALID_VALUE) } else { Ok(Operation::Alloc { call, out: out.address(), bytes }) }
}

enqueued! {
    fn cudaMallocAsync / cudaMallocAsync_ptsz(out: Out<Pointer>, bytes: Size, stream: Pointer) on stream =>
        |_| allocated("cudaMallocAsync", out, bytes);

    fn cudaMallocFromPoolAsync / cudaMallocFromPoolAsync_ptsz(
        out: Out<Pointer>, bytes: Size, _pool: Pointer, stream: Pointer,
    ) on stream => |_| allocated("cudaMallocFromPoolAsync", out, bytes);

    fn cudaFreeAsync / cudaFreeAsync_ptsz(at: Pointer, stream: Pointer) on stream =>
        |_| Ok(Operation::Free { call: "cudaFreeAsync", at });
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMallocPitch(out: Out<Pointer>, pitch: Out<Size>, width: Size, height: Size) -> Code {
    api(|context| {
        if out.is_null() || pitch.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let (row, bytes) = pitched([width, height, Size::ONE])?;
        out.put(context.alloc("cudaMallocPitch", bytes, Kind::Device)?)?;
        pitch.put(row)
    })
}

/// Bytes of a row, and of all rows of all planes.
fn pitched([width, height, depth]: [Size; 3]) -> Result<(Size, Size)> {
    let row = width.rounded_up(PITCH);
    let all = row.and_then(|row| row.times(height)?.times(depth));
    row.and_then(|row| Ok((row, all?))).or(Err(Error::MEMORY_ALLOCATION))
}

/// Memory in rows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct PitchedPointer {
    pub(crate) at: Pointer,
    pub(crate) pitch: Size,
    pub(crate) width: Size,
    pub(crate) height: Size,
}

/// A size in three directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Extent {
    pub(crate) width: Size,
    pub(crate) height: Size,
    pub(crate) depth: Size,
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMalloc3D(out: Out<PitchedPointer>, extent: Extent) -> Code {
    api(|context| {
        if out.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let Extent { width, height, depth } = extent;
        let (row, bytes) = pitched([width, height, depth])?;
        let at = context.alloc("cudaMalloc3D", bytes, Kind::Device)?;
        out.put(PitchedPointer { at, pitch: row, width, height })
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMallocHost(out: Out<Pointer>, bytes: Size) -> Code {
    api(|context| out.put(context.alloc_host("cudaMallocHost", bytes, Kind::Pinned)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaHostAlloc(out: Out<Pointer>, bytes: Size, _flags: u32) -> Code {
    api(|context| out.put(context.alloc_host("cudaHostAlloc", bytes, Kind::Pinned)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaFreeHost(at: Pointer) -> Code {
    api(|context| context.free("cudaFreeHost", at, &[Kind::Pinned]))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMallocManaged(out: Out<Pointer>, bytes: Size, _flags: u32) -> Code {
    api(|context| match bytes.is_zero() {
        true => Err(Error::INVALID_VALUE),
        false => out.put(context.alloc_host("cudaMallocManaged", bytes, Kind::Managed)?),
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaHostRegister(at: Pointer, bytes: Size, flags: u32) -> Code {
    /// Kernels do not write it.
    const READ_ONLY: u32 = 8;
    api(|context| {
        let range = at.range(bytes)?;
        if at == Pointer::NULL || bytes.is_zero() || !all_accessible(&range, flags & READ_ONLY == 0) {
            return Err(Error::INVALID_VALUE);
        }
        let name = context.next_name("cudaHostRegister");
        context.map_host(name, at, bytes, Kind::Registered)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaHostUnregister(at: Pointer) -> Code {
    api(|context| match context.allocated.get(&at.0) {
        Some(Kind::Registered) => context.free("cudaHostUnregister", at, &[Kind::Registered]),
        _ => Err(Error::NOT_REGISTERED),
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
        let (kind, host) = match context.allocated.get(&holder.base) {
            Some(Kind::Managed | Kind::Variable) => (3, at),
            Some(Kind::Pinned | Kind::Registered) => (1, at),
            _ => (2, Pointer::NULL),
        };
        out.put(PointerAttributes { kind, device: 0, device_pointer: at, host_pointer: host })
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemAdvise(_at: Pointer, _bytes: usize, _advice: i32, _device: i32) -> Code {
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

/// Attributes up to 3 are settings of type `int`. Those from 5 on are bytes in use or reserved.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemPoolGetAttribute(_pool: Pointer, attribute: i32, value: Out<u64>) -> Code {
    api(|context| match attribute {
        ..=3 => Out::<i32>::from(value.address()).put(0),
        4 => value.put(0),
        _ => value.put(context.device.memory().taken()),
    })
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
    size: usize,
    _attribute: i32,
    _at: In<u8>,
    _count: usize,
) -> Code {
    api(|_| if size < size_of::<i32>() { Err(Error::INVALID_VALUE) } else { data.put(-2) })
}
