//! What programs announce before `main`: fat binaries, and which of their kernels and variables belongs to which address
//! of the host. Nothing is read before it is used.
//!
//! What a library announces is there as long as the library. Its destructors say that it goes, and may run kernels all
//! the same; it is gone when nothing, or something else, is loaded at its address. At the end of a program, libraries
//! stay, so that destructors can use whatever there was.

use crate::abi::{In, Name, Pointer};
use crate::managed;
use raddle_cuda::fat_binary;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A kernel, or a variable with its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// The fat binary it is in.
    pub(crate) binary: usize,
    pub(crate) name: String,
    pub(crate) size: usize,
}

/// A fat binary.
#[derive(Debug)]
struct Binary {
    /// Several where the kernels of several files are linked together.
    containers: Vec<Vec<u8>>,
    is_linked: bool,
    /// An address in the program or library that announced it, and where that is loaded.
    place: u64,
    object: u64,
    /// Its destructors have begun.
    is_leaving: bool,
}

/// Everything that was announced.
#[derive(Debug, Default)]
pub(crate) struct Registered {
    /// By their numbers, which are not given twice.
    binaries: BTreeMap<usize, Binary>,
    last: usize,
    pub(crate) kernels: BTreeMap<u64, Symbol>,
    pub(crate) variables: BTreeMap<u64, Symbol>,
    pub(crate) textures: BTreeMap<u64, Symbol>,
    /// Where programs and their libraries have managed variables: the section of each.
    /// Beside it, where the program or library is loaded.
    managed: Vec<(Range<u64>, u64)>,
}

impl Registered {
    /// The managed variables of a fat binary: address of the host, and what they are.
    pub(crate) fn managed(&self, binary: usize) -> Vec<(u64, Symbol)> {
        let is_managed = |host: u64| self.managed.iter().any(|(section, _)| section.contains(&host));
        let own = self.variables.iter().filter(|(host, symbol)| symbol.binary == binary && is_managed(**host));
        own.map(|(host, symbol)| (*host, symbol.clone())).collect()
    }

    /// The containers of a fat binary.
    pub(crate) fn containers(&self, binary: usize) -> Vec<Vec<u8>> {
        self.binaries.get(&binary).map(|found| found.containers.clone()).unwrap_or_default()
    }

    /// Whether a fat binary is still announced.
    pub(crate) fn has(&self, binary: usize) -> bool {
        self.binaries.contains_key(&binary)
    }

    /// Whether memory of a fat binary's library can be used without being asked to: it is not unloaded before this is
    /// dropped.
    pub(crate) fn stays(&self, binary: usize) -> bool {
        self.binaries.get(&binary).is_some_and(|found| !found.is_leaving)
    }

    fn add(&mut self, place: u64, object: u64, is_linked: bool) -> usize {
        self.last += 1;
        let binary = Binary { containers: Vec::new(), is_linked, place, object, is_leaving: false };
        self.binaries.insert(self.last, binary);
        self.last
    }

    fn remove(&mut self, binary: usize) {
        let Some(removed) = self.binaries.remove(&binary) else { return };
        self.managed.retain(|(_, object)| *object != removed.object);
        for symbols in [&mut self.kernels, &mut self.variables, &mut self.textures] {
            symbols.retain(|_, symbol| symbol.binary != binary);
        }
    }
}

static REGISTERED: Mutex<Registered> = Mutex::new(Registered {
    binaries: BTreeMap::new(),
    last: 0,
    kernels: BTreeMap::new(),
    variables: BTreeMap::new(),
    textures: BTreeMap::new(),
    managed: Vec::new(),
});

/// Whether a fat binary leaves.
static HAS_LEAVING: AtomicBool = AtomicBool::new(false);

/// What was announced until now.
pub(crate) fn registered() -> MutexGuard<'static, Registered> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the program or library is loaded that has an address; 0 if nothing has it.
///
/// The loader has a lock of its own, which it holds while it calls our functions: no thread may ask with one of ours.
fn object(place: u64) -> u64 {
    let mut found = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: the loader looks the address up, whatever it is, and writes into our structure.
    let is_found = unsafe { libc::dladdr(std::ptr::without_provenance(place as usize), &raw mut found) } != 0;
    if is_found { found.dli_fbase.addr() as u64 } else { 0 }
}

/// Forgets fat binaries whose libraries are gone. `loading` is where one is just being loaded: what was there before has
/// made room for it.
pub(crate) fn forget_unloaded(loading: Option<u64>) {
    if !HAS_LEAVING.load(Ordering::Acquire) {
        return;
    }
    let leaving: Vec<(usize, u64, u64)> = {
        let registered = registered();
        let leaving = registered.binaries.iter().filter(|(_, binary)| binary.is_leaving);
        leaving.map(|(number, binary)| (*number, binary.place, binary.object)).collect()
    };
    let is_gone = |place: u64, was: u64| Some(was) == loading || object(place) != was;
    let gone: Vec<usize> =
        leaving.iter().filter(|(_, place, was)| is_gone(*place, *was)).map(|found| found.0).collect();
    let mut registered = registered();
    gone.into_iter().for_each(|binary| registered.remove(binary));
    HAS_LEAVING.store(registered.binaries.values().any(|binary| binary.is_leaving), Ordering::Release);
}

/// Notes that fat binaries leave.
fn leave(which: impl Fn(usize, &Binary) -> bool) {
    let mut registered = registered();
    for (number, binary) in &mut registered.binaries {
        if which(*number, binary) {
            binary.is_leaving = true;
            HAS_LEAVING.store(true, Ordering::Release);
        }
    }
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
    let length = fat_binary::length(&unsafe { data.read(fat_binary::HEADER_BYTES) }.ok()?).ok()?;
    // SAFETY: its header says how long it is, and the linker has put it there with all its bytes.
    unsafe { data.read(length) }.ok()
}

/// The handle of a fat binary is its number.
fn number(handle: Pointer) -> usize {
    handle.0 as usize
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinary(wrapper: In<Wrapper>) -> Pointer {
    let place = wrapper.address();
    let object = object(place);
    forget_unloaded(Some(object));
    let mut registered = registered();
    let binary = registered.add(place, object, false);
    if let (Some(found), Some(container)) = (registered.binaries.get_mut(&binary), container(wrapper)) {
        found.containers.push(container);
    }
    Pointer(binary as u64)
}

/// A file's function that announces its kernels and variables.
type Globals = Option<unsafe extern "C-unwind" fn(Pointer)>;

/// One of the files whose kernels are linked together: see `raddle_cuda::relocatable`. Each program and library has
/// kernels of its own.
#[unsafe(no_mangle)]
extern "C" fn __raddleRegisterLinkedBinary(globals: Globals, wrapper: In<Wrapper>, _id: Pointer, _more: Pointer) {
    let place = wrapper.address();
    let object = object(place);
    forget_unloaded(Some(object));
    let handle = {
        let mut registered = registered();
        let is_same = |binary: &Binary| binary.is_linked && binary.object == object;
        let found = registered.binaries.iter().find(|(_, binary)| is_same(binary)).map(|(number, _)| *number);
        let binary = found.unwrap_or_else(|| registered.add(place, object, true));
        if let Some(found) = registered.binaries.get_mut(&binary) {
            found.containers.extend(container(wrapper));
        }
        Pointer(binary as u64)
    };
    if let Some(globals) = globals {
        // SAFETY: the compiler made this function for the handle of its fat binary.
        unsafe { globals(handle) };
    }
    __cudaRegisterFatBinaryEnd(handle);
}

/// The program or library that has this address leaves, with the kernels that were linked for it.
#[unsafe(no_mangle)]
extern "C" fn __raddleUnregisterLinkedBinary(place: Pointer) {
    let object = object(place.0);
    leave(|_, binary| binary.is_linked && binary.object == object);
}

/// All of a file is announced.
#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinaryEnd(handle: Pointer) {
    managed::set_first_values(number(handle));
}

/// Where a program has its managed variables. It is told before any of them is announced; see `crt/host_runtime.h`.
#[unsafe(no_mangle)]
extern "C" fn __raddleRegisterManaged(start: Pointer, stop: Pointer) {
    let object = object(start.0);
    forget_unloaded(Some(object));
    let section = (start.0..stop.0, object);
    let mut registered = registered();
    if !registered.managed.contains(&section) {
        registered.managed.push(section);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __cudaUnregisterFatBinary(handle: Pointer) {
    leave(|binary, _| binary == number(handle));
}

fn symbol(handle: Pointer, name: Name, size: usize) -> Option<Symbol> {
    Some(Symbol { binary: number(handle), name: name.text().ok()?, size })
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
