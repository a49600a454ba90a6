//! What programs announce before `main`: fat binaries, and which of their kernels and variables belongs to which address
//! of the host. Nothing is read before it is used.

use crate::abi::{In, Name, Pointer};
use crate::managed;
use raddle_cuda::fat_binary;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A kernel, or a variable with its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// The fat binary it is in.
    pub(crate) binary: usize,
    pub(crate) name: String,
    pub(crate) size: usize,
}

/// Everything that was announced.
#[derive(Debug, Default)]
pub(crate) struct Registered {
    /// Containers of each fat binary: several where the kernels of several files are linked together.
    pub(crate) binaries: Vec<Vec<Vec<u8>>>,
    /// The one that is linked from several.
    linked: Option<usize>,
    pub(crate) kernels: BTreeMap<u64, Symbol>,
    pub(crate) variables: BTreeMap<u64, Symbol>,
    pub(crate) textures: BTreeMap<u64, Symbol>,
    /// Where programs and their libraries have managed variables: the section of each.
    managed: Vec<Range<u64>>,
}

impl Registered {
    /// The managed variables of a fat binary: address of the host, and what they are.
    pub(crate) fn managed(&self, binary: usize) -> Vec<(u64, Symbol)> {
        let is_managed = |host: u64| self.managed.iter().any(|section| section.contains(&host));
        let own = self.variables.iter().filter(|(host, symbol)| symbol.binary == binary && is_managed(**host));
        own.map(|(host, symbol)| (*host, symbol.clone())).collect()
    }
}

static REGISTERED: Mutex<Registered> = Mutex::new(Registered {
    binaries: Vec::new(),
    linked: None,
    kernels: BTreeMap::new(),
    variables: BTreeMap::new(),
    textures: BTreeMap::new(),
    managed: Vec::new(),
});

/// What was announced until now.
pub(crate) fn registered() -> MutexGuard<'static, Registered> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a program's `.nvFatBinSegment` holds.
#[derive(Clone, Copy)]
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    data: Pointer,
    unused: Pointer,
}

const WRAPPER_MAGIC: u32 = 0x4662_43b1;

/// The bytes of the container that a wrapper points to.
fn container(wrapper: In<Wrapper>) -> Option<Vec<u8>> {
    let wrapper = wrapper.get().ok()?;
    let (true, data) = (wrapper.magic == WRAPPER_MAGIC, wrapper.data) else { return None };
    // SAFETY: the wrapper points to a container, which has a header.
    let length = fat_binary::length(unsafe { data.host(fat_binary::HEADER_BYTES) }).ok()?;
    // SAFETY: its header says how long it is.
    Some(unsafe { data.host(length) }.to_vec())
}

/// The handle of a fat binary is a number that is not zero.
#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinary(wrapper: In<Wrapper>) -> Pointer {
    let mut registered = registered();
    registered.binaries.push(container(wrapper).into_iter().collect());
    Pointer(registered.binaries.len() as u64)
}

/// A file's function that announces its kernels and variables.
type Globals = Option<unsafe extern "C" fn(Pointer)>;

/// One of the files whose kernels are linked together: see `raddle_cuda::relocatable`.
#[unsafe(no_mangle)]
extern "C" fn __raddleRegisterLinkedBinary(globals: Globals, wrapper: In<Wrapper>, _id: Pointer, _more: Pointer) {
    let handle = {
        let mut registered = registered();
        let all = registered.binaries.len();
        let binary = *registered.linked.get_or_insert(all);
        if binary == all {
            registered.binaries.push(Vec::new());
        }
        registered.binaries[binary].extend(container(wrapper));
        Pointer(binary as u64 + 1)
    };
    if let Some(globals) = globals {
        // SAFETY: the compiler made this function for the handle of its fat binary.
        unsafe { globals(handle) };
    }
    __cudaRegisterFatBinaryEnd(handle);
}

/// All of a file is announced.
#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinaryEnd(handle: Pointer) {
    if let Some(binary) = usize::try_from(handle.0).ok().and_then(|number| number.checked_sub(1)) {
        managed::set_first_values(binary);
    }
}

/// Where a program has its managed variables. It is told before any of them is announced; see `crt/host_runtime.h`.
#[unsafe(no_mangle)]
extern "C" fn __raddleRegisterManaged(start: Pointer, stop: Pointer) {
    let mut registered = registered();
    if !registered.managed.contains(&(start.0..stop.0)) {
        registered.managed.push(start.0..stop.0);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __cudaUnregisterFatBinary(_handle: Pointer) {}

fn symbol(handle: Pointer, name: Name, size: usize) -> Option<Symbol> {
    let binary = usize::try_from(handle.0).ok()?.checked_sub(1)?;
    Some(Symbol { binary, name: name.text().ok()?, size })
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFunction(
    handle: Pointer,
    host: Pointer,
    _device: Name,
    name: Name,
    _threads: i32,
    _thread_index: Pointer,
    _block_index: Pointer,
    _block: Pointer,
    _grid: Pointer,
    _warp: Pointer,
) {
    if let Some(symbol) = symbol(handle, name, 0) {
        registered().kernels.insert(host.0, symbol);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterVar(
    handle: Pointer,
    host: Pointer,
    _device: Name,
    name: Name,
    _is_extern: i32,
    size: usize,
    _is_constant: i32,
    _is_global: i32,
) {
    if let Some(symbol) = symbol(handle, name, size) {
        registered().variables.insert(host.0, symbol);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterTexture(
    handle: Pointer,
    host: Pointer,
    _device: Pointer,
    name: Name,
    _dimensions: i32,
    _normalized: i32,
    _is_extern: i32,
) {
    if let Some(symbol) = symbol(handle, name, 0) {
        registered().textures.insert(host.0, symbol);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterSurface(
    handle: Pointer,
    host: Pointer,
    device: Pointer,
    name: Name,
    dimensions: i32,
    is_extern: i32,
) {
    __cudaRegisterTexture(handle, host, device, name, dimensions, 0, is_extern);
}
