//! The state of the process: one device, what ran on it, and the handles programs hold.

use crate::abi::{Pointer, Size};
use crate::addresses;
use crate::error::{Code, Error, Result};
use crate::host_memory::HostMemory;
use crate::registered::{Symbol, forget_unloaded, registered};
use crate::runtime::array::Array;
use crate::runtime::device::Limits;
use crate::runtime::graph::Graphs;
use crate::runtime::memory::Kind;
use crate::runtime::stream::Streams;
use crate::runtime::stream::capture::Captures;
use crate::runtime::symbol::Constants;
use crate::runtime::texture::Textures;
use raddle_cli::exec::Guest;
use raddle_cuda::fat_binary;
use raddle_exec::FaultKind;
use raddle_exec::memory::HostBytes;
use raddle_ptx::link::link;
use raddle_runtime::device::{ModuleId, Shape};
use raddle_runtime::outcome::{Launched, Stop};
use raddle_runtime::{Device, PtxFile};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A device and everything that is on it.
pub(crate) struct Context {
    pub(crate) device: Device<'static>,
    pub(crate) guest: Guest,
    pub(crate) host: HostMemory,
    /// The time of the device, in picoseconds.
    pub(crate) now: u64,
    /// What all calls return after a kernel has faulted.
    pub(crate) sticky: Option<Error>,
    /// Modules by the number of their fat binary.
    modules: BTreeMap<usize, Result<Module>>,
    pub(crate) streams: Streams,
    pub(crate) graphs: Graphs,
    pub(crate) captures: Captures,
    pub(crate) constants: Constants,
    pub(crate) arrays: BTreeMap<u64, Array>,
    /// Modules and kernels that the program loaded by itself, by their handles.
    own_modules: BTreeMap<u64, ModuleId>,
    own_kernels: BTreeMap<u64, (ModuleId, String)>,
    pub(crate) textures: Textures,
    /// What the program has allocated or mapped, and how.
    pub(crate) allocated: BTreeMap<u64, Kind>,
    pub(crate) limits: Limits,
    /// How often something was allocated, for names.
    allocations: u64,
    /// The last handle that was given out.
    handle: u64,
}

/// A module of a fat binary.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    pub(crate) id: ModuleId,
    /// Addresses of its managed variables.
    pub(crate) managed: Vec<u64>,
}

/// The context of the process.
enum Process {
    /// It has not been asked for.
    New,
    Open(Box<Context>),
    /// There can be none; the process ends.
    Failed,
}

static PROCESS: Mutex<Process> = Mutex::new(Process::New);

/// The process that asked first, by its number. A child that it forks later has neither its threads nor its files.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// The exit code of a program that cannot have a device.
const NO_DEVICE: i32 = 2;

thread_local! {
    /// The last error, until it is asked for.
    static LAST: Cell<Code> = const { Cell::new(0) };
}

/// The last error of this thread; `reset` forgets it.
pub(crate) fn last_error(reset: bool) -> Code {
    if reset { LAST.replace(0) } else { LAST.get() }
}

/// A number that no other thread has now.
pub(crate) fn thread() -> usize {
    LAST.with(|last| std::ptr::from_ref(last).addr())
}

/// Remembers an error as the last.
pub(crate) fn remember(result: Result) -> Code {
    match result {
        Ok(()) => 0,
        Err(Error(code)) => {
            LAST.set(code);
            code
        }
    }
}

/// Does what a function of the API is called for. After a fault all of them give the same error.
pub(crate) fn api(call: impl FnOnce(&mut Context) -> Result) -> Code {
    remember(with(|context| match context.sticky {
        Some(error) => Err(error),
        None => call(context).and_then(|()| context.sticky.map_or(Ok(()), Err)),
    }))
}

/// Whether a process has the context of another, by which it was forked.
fn is_child() -> bool {
    let own = std::process::id();
    OWNER.compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire).is_err_and(|owner| owner != own)
}

/// Does something with the context, which is made at first use.
///
/// # Errors
/// Those of the call, and that of a process that was forked after its parent had used the device.
pub(crate) fn with<T>(call: impl FnOnce(&mut Context) -> Result<T>) -> Result<T> {
    if is_child() {
        return Err(Error::INITIALIZATION);
    }
    // The loader is asked before there is a lock that its callers may want.
    forget_unloaded(None);
    let mut process = PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(*process, Process::New) {
        *process = Context::open().map_or(Process::Failed, |context| Process::Open(Box::new(context)));
    }
    match &mut *process {
        Process::Open(context) => {
            context.forget_modules();
            call(context)
        }
        _ => end_without_device(process),
    }
}

/// Ends a program that cannot have a device; why has been said. Its destructors do not run: they might ask for one, and
/// this may be one of them.
fn end_without_device(process: MutexGuard<'_, Process>) -> ! {
    drop(process);
    // SAFETY: both can be called from every thread, also while another ends the process. What the program has printed is
    // kept.
    unsafe {
        libc::fflush(stdout);
        libc::_exit(NO_DEVICE)
    }
}

/// Prints the table, unless there is nothing to report: a program may end while another thread is in a call.
fn finish() {
    if !is_child()
        && let Ok(mut process) = PROCESS.try_lock()
        && let Process::Open(context) = &mut *process
    {
        context.guest.finish();
    }
}

/// After everything of the program, its destructors included.
extern "C" fn at_exit() {
    // What the program has printed comes first. Other streams may be locked by a thread that waits for input.
    // SAFETY: the stream is C's own.
    unsafe { libc::fflush(stdout) };
    finish();
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

/// A program that ends without its destructors leaves what it has printed unwritten; that is its own affair.
extern "C" fn at_quick_exit() {
    finish();
}

impl Context {
    /// Makes it; what is wrong is said.
    fn open() -> Option<Self> {
        let (mut guest, setup) = Guest::from_environment().ok()?;
        // It is needed until the process ends.
        let setup = Box::leak(Box::new(setup));
        let mut device = match Device::open(setup, true) {
            Ok(device) => device,
            Err(error) => {
                guest.refused("the device cannot be made", error);
                return None;
            }
        };
        let Ok(offset) = addresses::device_offset() else {
            guest.note("device memory has no addresses: the program uses all of its places");
            return None;
        };
        if offset > 0 {
            guest.note(&format!(
                "the program uses addresses of device memory, which therefore starts {offset:#x} bytes after its usual \
                 place; times can differ from those of `raddle run`"
            ));
        }
        let memory = device.memory_mut().ok()?;
        memory.leave(offset);
        memory.reserve_with(addresses::reserve_device);
        device.watch(guest.watch());
        call_at_quick_exit(at_quick_exit);
        Some(Self {
            device,
            guest,
            host: HostMemory::default(),
            now: 0,
            sticky: None,
            modules: BTreeMap::new(),
            streams: Streams::default(),
            graphs: Graphs::default(),
            captures: Captures::default(),
            constants: Constants::new(),
            arrays: BTreeMap::new(),
            own_modules: BTreeMap::new(),
            own_kernels: BTreeMap::new(),
            textures: Textures::default(),
            allocated: BTreeMap::new(),
            limits: Limits::default(),
            allocations: 0,
            handle: 0x1000,
        })
    }

    /// A handle nobody has.
    pub(crate) fn new_handle(&mut self) -> u64 {
        self.handle += 16;
        self.handle
    }

    /// A name for the next allocation.
    pub(crate) fn next_name(&mut self, call: &str) -> String {
        self.allocations += 1;
        format!("allocation {} ({call})", self.allocations)
    }

    /// The module of a fat binary, which is read at first use.
    pub(crate) fn module(&mut self, binary: usize) -> Result<ModuleId> {
        if let Some(module) = self.modules.get(&binary) {
            return module.as_ref().map(|module| module.id).map_err(|error| *error);
        }
        let containers = registered().containers(binary);
        let texts: std::result::Result<Vec<String>, _> = containers.iter().map(|c| fat_binary::ptx(c)).collect();
        let module = match texts {
            Ok(texts) => self.link(texts).and_then(|text| self.load_managed(text, binary)),
            Err(error) => {
                self.guest.note(&error.to_string());
                Err(Error::NO_IMAGE)
            }
        };
        let id = module.as_ref().map(|module| module.id).map_err(|error| *error);
        self.modules.insert(binary, module);
        id
    }

    /// Forgets the modules of fat binaries that are gone.
    fn forget_modules(&mut self) {
        let gone: Vec<usize> = {
            let registered = registered();
            self.modules.keys().copied().filter(|binary| !registered.has(*binary)).collect()
        };
        for binary in gone {
            if let Some(Ok(module)) = self.modules.remove(&binary) {
                self.forget_managed(module.managed);
                self.forget_module(module.id);
            }
        }
    }

    /// Takes a module from the device.
    fn forget_module(&mut self, module: ModuleId) {
        self.forget_textures(module);
        self.own_kernels.retain(|_, (of, _)| *of != module);
        self.forget_constants(module);
        // A device with checkpoints or a check, which programs cannot have, would refuse.
        let _ = self.device.remove_module(module);
    }

    /// The text of a module that is linked from several.
    fn link(&mut self, mut texts: Vec<String>) -> Result<String> {
        if texts.len() == 1 {
            return Ok(texts.swap_remove(0));
        }
        let files: Vec<(String, String)> = (1..).map(|n| format!("device code {n}")).zip(texts).collect();
        link(&files).map_err(|error| {
            self.guest.note(&format!("the kernels of several files cannot be linked: {error}"));
            Error::INVALID_IMAGE
        })
    }

    /// Loads a module from its text.
    pub(crate) fn load(&mut self, text: String) -> Result<ModuleId> {
        self.load_placed(text, &BTreeMap::new())
    }

    /// The same with some of its variables at addresses that have memory.
    pub(crate) fn load_placed(&mut self, text: String, placed: &BTreeMap<String, u64>) -> Result<ModuleId> {
        let loaded =
            PtxFile::parse("the program's device code", text).and_then(|file| self.device.keep_module(file, placed));
        loaded.map_err(|error| {
            self.guest.refused("the program's device code cannot be used", error);
            Error::INVALID_PTX
        })
    }

    /// The kernel that an address of the host stands for.
    pub(crate) fn kernel(&mut self, host: Pointer) -> Result<(ModuleId, String)> {
        if let Some(own) = self.own_kernels.get(&host.0) {
            return Ok(own.clone());
        }
        let Symbol { binary, name, .. } = registered().kernels.get(&host.0).cloned().ok_or(Error::INVALID_FUNCTION)?;
        Ok((self.module(binary)?, name))
    }

    /// The variable that an address of the host stands for.
    pub(crate) fn variable(&mut self, host: Pointer) -> Result<(ModuleId, Symbol)> {
        let symbol = registered().variables.get(&host.0).cloned().ok_or(Error::INVALID_SYMBOL)?;
        Ok((self.module(symbol.binary)?, symbol))
    }

    /// A handle for a module that the program loaded.
    pub(crate) fn keep_module(&mut self, module: ModuleId) -> Pointer {
        let handle = self.new_handle();
        self.own_modules.insert(handle, module);
        Pointer(handle)
    }

    /// The module of such a handle.
    pub(crate) fn kept_module(&self, handle: Pointer) -> Result<ModuleId> {
        self.own_modules.get(&handle.0).copied().ok_or(Error::INVALID_HANDLE)
    }

    /// Unloads such a module.
    pub(crate) fn unload(&mut self, handle: Pointer) -> Result {
        let module = self.own_modules.remove(&handle.0).ok_or(Error::INVALID_HANDLE)?;
        self.forget_module(module);
        Ok(())
    }

    /// A handle for one of its kernels.
    pub(crate) fn keep_function(&mut self, module: ModuleId, kernel: String) -> Pointer {
        let handle = self.new_handle();
        self.own_kernels.insert(handle, (module, kernel));
        Pointer(handle)
    }

    /// Runs a kernel to its end. Its faults come back with the next call.
    pub(crate) fn launch(&mut self, module: ModuleId, kernel: &str, shape: Shape, params: Vec<u8>) -> Result {
        let file = self.device.module_file(module).map_err(|_| Error::INVALID_HANDLE)?;
        self.refresh_textures();
        let is_timed = self.guest.is_timed(kernel);
        let done = self.device.launch_bytes(module, kernel, shape, params, is_timed);
        let launches = self.device.take_launches();
        if launches.is_empty()
            && let Err(error) = done
        {
            self.guest.refused(&format!("kernel {} cannot be launched", raddle_cuda::names::short(kernel)), error);
            return Err(Error::LAUNCH_FAILURE);
        }
        for launched in launches {
            print(&launched.report.output);
            self.limits.has_printed |= !launched.report.output.is_empty();
            self.sticky = fault(&launched).or(self.sticky);
            self.now += self.guest.launched(launched, &file);
        }
        Ok(())
    }

    /// Lets kernels see memory of the program, at the same addresses.
    pub(crate) fn map_host(&mut self, name: String, at: Pointer, bytes: Size, kind: Kind) -> Result {
        let range = at.range(bytes)?;
        if addresses::are_windows(&range) {
            self.guest.note(&format!("{name}: kernels see other memory at {:#x}; link without -no-pie", at.0));
            return Err(Error::INVALID_VALUE);
        }
        let memory = self.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
        if memory.overlaps(&range) {
            return Err(Error::ALREADY_REGISTERED);
        }
        let start = NonNull::new(at.bytes()).ok_or(Error::INVALID_VALUE)?;
        // SAFETY: the program says that the bytes are there until it takes them back, and leaves them alone while kernels
        // run. No other allocation has any of them.
        memory.map(name, unsafe { HostBytes::new(start, bytes.get()) });
        self.allocated.insert(at.0, kind);
        Ok(())
    }

    /// Forgets everything on the device.
    pub(crate) fn reset(&mut self) {
        self.sticky = None;
        self.constants.clear();
        self.arrays.clear();
        (self.streams, self.graphs, self.captures) = Default::default();
        self.reset_textures();
        let modules = std::mem::take(&mut self.modules).into_values().flatten().map(|module| module.id);
        let own = std::mem::take(&mut self.own_modules).into_values();
        modules.chain(own).collect::<Vec<_>>().into_iter().for_each(|module| self.forget_module(module));
        self.allocated.clear();
        self.limits = Limits::default();
        self.device.set_heap_bytes(self.limits.heap());
        let Ok(memory) = self.device.memory_mut() else { return };
        let all: Vec<(u64, u64)> = memory.allocations().iter().map(|a| (a.base, a.len())).collect();
        for (base, _) in all.into_iter().filter(|(_, bytes)| *bytes > 0) {
            memory.free(base);
            self.host.free(base);
        }
    }
}

/// The error that a program sees of a launch that did not complete.
fn fault(launched: &Launched) -> Option<Error> {
    Some(match launched.stop.as_ref()? {
        Stop::Fault(fault) => match &fault.kind {
            FaultKind::Memory(text) if text.contains("misaligned") => Error::MISALIGNED,
            FaultKind::Memory(_) => Error::ILLEGAL_ADDRESS,
            FaultKind::Assert(_) => Error::ASSERT,
            FaultKind::BadTarget(_) => Error::INVALID_PC,
            FaultKind::StackOverflow => Error::STACK,
            FaultKind::Deadlock(_) | FaultKind::InstructionLimit(_) => Error::LAUNCH_TIMEOUT,
            _ => Error::LAUNCH_FAILURE,
        },
        Stop::Deadlock(_) | Stop::InstructionLimit(_) | Stop::CycleLimit => Error::LAUNCH_TIMEOUT,
    })
}

unsafe extern "C" {
    /// Has a function called by `quick_exit`.
    #[link_name = "at_quick_exit"]
    safe fn call_at_quick_exit(function: extern "C" fn()) -> i32;

    /// C's standard output, in whose buffer host code's own lines are.
    static stdout: *mut libc::FILE;
}

/// Prints what a kernel printed, in order with what host code prints.
fn print(text: &str) {
    if !text.is_empty() {
        // SAFETY: the stream is C's own, and the bytes are there.
        unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout) };
    }
}
