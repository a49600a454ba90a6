//! The state of the process: one device, what ran on it, and the handles programs hold.

use crate::abi::Pointer;
use crate::error::{Code, Error, Result};
use crate::host_memory::HostMemory;
use crate::registered::{Symbol, registered};
use crate::runtime::array::Array;
use crate::runtime::graph::Graphs;
use crate::runtime::stream::Streams;
use crate::runtime::texture::Textures;
use raddle_cli::exec::Guest;
use raddle_cuda::fat_binary;
use raddle_exec::FaultKind;
use raddle_ptx::link::link;
use raddle_runtime::device::{ModuleId, Shape};
use raddle_runtime::outcome::{Launched, Stop};
use raddle_runtime::{Device, PtxFile};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

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
    modules: BTreeMap<usize, Result<ModuleId>>,
    pub(crate) streams: Streams,
    pub(crate) graphs: Graphs,
    pub(crate) arrays: BTreeMap<u64, Array>,
    /// Modules and kernels that the program loaded by itself, by their handles.
    own_modules: BTreeMap<u64, ModuleId>,
    own_kernels: BTreeMap<u64, (ModuleId, String)>,
    pub(crate) textures: Textures,
    /// Allocations made until now, for their names.
    allocations: u64,
    /// The last handle that was given out.
    handle: u64,
}

/// The context of the process.
struct Process(Option<Context>);

// SAFETY: a device is tied to a thread only by those who watch its launches; this one is watched by nobody, or by a trace
// behind a lock.
unsafe impl Send for Process {}

static PROCESS: Mutex<Process> = Mutex::new(Process(None));

thread_local! {
    /// The last error, until it is asked for.
    static LAST: Cell<Code> = const { Cell::new(0) };
}

/// The last error of this thread; `reset` forgets it.
pub(crate) fn last_error(reset: bool) -> Code {
    if reset { LAST.replace(0) } else { LAST.get() }
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

/// As [`api`] for a launch, which gives its own errors at once and those of its kernel with the next call.
pub(crate) fn api_launch(call: impl FnOnce(&mut Context) -> Result) -> Code {
    remember(with(|context| context.sticky.map_or_else(|| call(context), Err)))
}

/// Does something with the context, which is made at first use.
pub(crate) fn with<T>(call: impl FnOnce(&mut Context) -> T) -> T {
    let mut process = PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    call(process.0.get_or_insert_with(Context::open))
}

extern "C" fn at_exit() {
    // A program that ends in the midst of a call has nothing to report that could be read.
    if let Ok(mut process) = PROCESS.try_lock()
        && let Some(context) = &mut process.0
    {
        // What the program has printed comes first.
        // SAFETY: all streams of C are meant.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        context.guest.finish();
    }
}

impl Context {
    fn open() -> Self {
        let (mut guest, setup) = Guest::from_environment().unwrap_or_else(|code| std::process::exit(code));
        // Both are needed until the process ends.
        let setup = Box::leak(Box::new(setup));
        let mut device = Device::open(setup, true).unwrap_or_else(|error| {
            guest.refused("the device cannot be made", error);
            std::process::exit(2)
        });
        device.watch(guest.watch());
        // SAFETY: a function of this library, which is not unloaded: what the linker has loaded it keeps.
        unsafe { libc::atexit(at_exit) };
        Self {
            device,
            guest,
            host: HostMemory::default(),
            now: 0,
            sticky: None,
            modules: BTreeMap::new(),
            streams: Streams::default(),
            graphs: Graphs::default(),
            arrays: BTreeMap::new(),
            own_modules: BTreeMap::new(),
            own_kernels: BTreeMap::new(),
            textures: Textures::default(),
            allocations: 0,
            handle: 0x1000,
        }
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
            return *module;
        }
        let containers = registered().binaries.get(binary).cloned().unwrap_or_default();
        let texts: std::result::Result<Vec<String>, _> = containers.iter().map(|c| fat_binary::ptx(c)).collect();
        let module = match texts {
            Ok(texts) => self.link(texts).and_then(|text| self.load_managed(text, binary)),
            Err(error) => {
                self.guest.note(&error.to_string());
                Err(Error::NO_IMAGE)
            }
        };
        self.modules.insert(binary, module);
        module
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
        let loaded = PtxFile::parse("the program's device code", text)
            .and_then(|file| self.device.add_module_placed(Box::leak(Box::new(file)), placed));
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

    /// A handle for one of its kernels.
    pub(crate) fn keep_function(&mut self, module: ModuleId, kernel: String) -> Pointer {
        let handle = self.new_handle();
        self.own_kernels.insert(handle, (module, kernel));
        Pointer(handle)
    }

    /// Runs a kernel to its end. Its faults come back with the next call.
    pub(crate) fn launch(&mut self, module: ModuleId, kernel: &str, shape: Shape, params: Vec<u8>) -> Result {
        self.refresh_textures();
        let is_timed = self.guest.is_timed(kernel);
        let done = self.device.launch_bytes(module, kernel, shape, params, is_timed);
        let file = self.device.module_file(module);
        let launches = self.device.take_launches();
        if launches.is_empty()
            && let Err(error) = done
        {
            self.guest.refused(&format!("kernel {} cannot be launched", raddle_cuda::names::short(kernel)), error);
            return Err(Error::LAUNCH_FAILURE);
        }
        for launched in launches {
            print(&launched.report.output);
            self.sticky = fault(&launched).or(self.sticky);
            self.now += self.guest.launched(launched, file);
        }
        Ok(())
    }

    /// Forgets everything on the device.
    pub(crate) fn reset(&mut self) {
        self.sticky = None;
        self.modules.clear();
        self.arrays.clear();
        self.reset_textures();
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
