//! Memory: of the device, pinned, managed, from pools.

use super::stream::{Operation, enqueued};
use crate::abi::{In, Out, Pointer, Size};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result};
use crate::mappings::all_accessible;
use raddle_exec::memory::{AllocError, MAX_DEVICE_BYTES};

/// Rows of pitched memory start at multiples of this.
const PITCH: usize = 512;

/// Flags that calls know: a call with any other is refused.
mod flags {
    /// `cudaHostAlloc`: portable, mapped, write-combined.
    pub(super) const HOST_ALLOC: u32 = 1 | 2 | 4;
    /// `cudaHostRegister`: kernels do not write it.
    pub(super) const READ_ONLY: u32 = 8;
    /// `cudaHostRegister`: portable, mapped, input and output, and the above.
    pub(super) const HOST_REGISTER: u32 = 1 | 2 | 4 | READ_ONLY;
    /// `cudaMallocManaged`: attached to all streams, or to none. It is one of the two.
    pub(super) const ATTACH: [u32; 2] = [1, 2];
}

/// Refuses flags that are not among the known ones.
pub(crate) fn check_flags(given: u32, known: u32) -> Result {
    if given & !known == 0 { Ok(()) } else { Err(Error::INVALID_VALUE) }
}

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
    fn alloc_host(&mut self, call: &str, bytes: Size, kind: Kind, flags: u32) -> Result<Pointer> {
        let name = self.next_name(call);
        let memory = self.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
        let bytes = self.host.alloc(bytes.wide(), flags)?;
        let at = bytes.address();
        memory.map(name, bytes);
        self.allocated.insert(at, kind);
        Ok(Pointer(at))
    }

    /// The start of the allocation that has an address, and how the program has got it; memory of modules is the
    /// device's.
    fn holder(&self, at: Pointer) -> Option<(u64, Kind)> {
        let base = self.device.memory().holder(at.0)?.base;
        Some((base, self.allocated.get(&base).copied().unwrap_or(Kind::Device)))
    }

    /// How the program has got the memory that has an address.
    pub(super) fn kind_at(&self, at: Pointer) -> Option<Kind> {
        self.holder(at).map(|(_, kind)| kind)
    }

    /// What an address points to. Constants are the device's too, though not in its memory.
    fn pointer_attributes(&self, at: Pointer) -> PointerAttributes {
        let (kind, host_pointer) = match self.holder(at) {
            Some((_, Kind::Managed | Kind::Variable)) => (3, at),
            Some((_, Kind::Pinned | Kind::Registered)) => (1, at),
            None if !self.is_constant(at) => {
                return PointerAttributes { kind: 0, device: -2, device_pointer: Pointer::NULL, host_pointer: at };
            }
            _ => (2, Pointer::NULL),
        };
        PointerAttributes { kind, device: 0, device_pointer: at, host_pointer }
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
        out.check()?;
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
    out.check()?;
    Ok(Operation::Alloc { call, out: out.address(), bytes })
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
        out.check()?;
        pitch.check()?;
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
        out.check()?;
        let Extent { width, height, depth } = extent;
        let (row, bytes) = pitched([width, height, depth])?;
        let at = context.alloc("cudaMalloc3D", bytes, Kind::Device)?;
        out.put(PitchedPointer { at, pitch: row, width, height })
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMallocHost(out: Out<Pointer>, bytes: Size) -> Code {
    api(|context| {
        out.check()?;
        out.put(context.alloc_host("cudaMallocHost", bytes, Kind::Pinned, 0)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaHostAlloc(out: Out<Pointer>, bytes: Size, flags: u32) -> Code {
    api(|context| {
        out.check()?;
        check_flags(flags, flags::HOST_ALLOC)?;
        out.put(context.alloc_host("cudaHostAlloc", bytes, Kind::Pinned, flags)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaFreeHost(at: Pointer) -> Code {
    api(|context| context.free("cudaFreeHost", at, &[Kind::Pinned]))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMallocManaged(out: Out<Pointer>, bytes: Size, flags: u32) -> Code {
    api(|context| {
        out.check()?;
        if bytes.is_zero() || !flags::ATTACH.contains(&flags) {
            return Err(Error::INVALID_VALUE);
        }
        out.put(context.alloc_host("cudaMallocManaged", bytes, Kind::Managed, flags)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaHostRegister(at: Pointer, bytes: Size, flags: u32) -> Code {
    api(|context| {
        check_flags(flags, flags::HOST_REGISTER)?;
        let range = at.range(bytes)?;
        if at == Pointer::NULL || bytes.is_zero() || !all_accessible(&range, flags & flags::READ_ONLY == 0) {
            return Err(Error::INVALID_VALUE);
        }
        // As `cudaDevAttrHostRegisterReadOnlySupported` says: a kernel could write it.
        if flags & flags::READ_ONLY != 0 {
            return Err(Error::NOT_SUPPORTED);
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
pub(crate) extern "C" fn cudaHostGetDevicePointer(out: Out<Pointer>, at: Pointer, flags: u32) -> Code {
    api(|context| {
        check_flags(flags, 0)?;
        match context.holder(at) {
            Some((_, Kind::Pinned | Kind::Registered | Kind::Managed | Kind::Variable)) => out.put(at),
            _ => Err(Error::INVALID_VALUE),
        }
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaHostGetFlags(flags: Out<u32>, at: Pointer) -> Code {
    api(|context| match context.holder(at) {
        Some((base, Kind::Pinned)) => flags.put(context.host.flags(base).ok_or(Error::INVALID_VALUE)?),
        _ => Err(Error::INVALID_VALUE),
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemGetInfo(free: Out<usize>, total: Out<usize>) -> Code {
    api(|context| {
        free.check()?;
        total.check()?;
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
    api(|context| out.put(context.pointer_attributes(at)))
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
