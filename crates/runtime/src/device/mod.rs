//! A device as programs use one: memory that is allocated and copied, variables, launches.
//!
//! ```
//! use raddle_runtime::device::{Device, Setup};
//! use raddle_runtime::PtxFile;
//!
//! let ptx = ".version 6.0\n.target sm_50\n.address_size 64\n\
//!     .visible .entry twice(.param .u64 p) {\n.reg .b32 %r<5>; .reg .b64 %d<5>;\n\
//!     ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n\
//!     ld.global.u32 %r2, [%d3]; add.u32 %r3, %r2, %r2; st.global.u32 [%d3], %r3; ret;\n}\n";
//! let ptx = PtxFile::parse("twice.ptx", ptx.to_owned())?;
//! let setup = Setup::default();
//! let mut device = Device::new(&setup, &ptx)?;
//! let data = device.upload("data", &[1u32, 2, 3, 4])?;
//! device.launch("twice", [1, 1, 1], [4, 1, 1], 0, &[data.into()])?;
//! assert_eq!(device.download(data), [2, 4, 6, 8]);
//! # Ok::<(), raddle_runtime::Error>(())
//! ```

mod by_address;
mod handle;
mod launch;
mod module;
mod options;

pub use handle::{Arg, Buffer};
pub use launch::Shape;
pub use module::{ModuleFile, ModuleId};
pub use options::{RunOptions, Setup};

use crate::checkpoint::Keep;
use crate::element::Element;
use crate::engine::Engine;
use crate::error::{Error, Problem};
use crate::outcome::{Launched, MemoryCheck};
use crate::ptx_file::PtxFile;
use crate::timing::{Timer, Watch};
use crate::value::{Value, from_bytes, to_bytes};
use module::Loaded;
use raddle_exec::texture::Objects;
use raddle_exec::{DeviceMemory, Fault};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

/// Memory as the reference interpreter leaves it.
struct Shadow {
    memory: DeviceMemory,
    stopped: Option<Box<Fault>>,
}

/// Memory without anything in it.
fn empty_memory(options: &RunOptions, has_guards: bool) -> DeviceMemory {
    let mut memory = DeviceMemory::new();
    if has_guards {
        memory.guard();
    }
    if options.report_uninitialised {
        memory.track_writes();
    } else if options.checks.init {
        memory.note_writes();
    }
    memory.leave(options.heap_offset);
    memory
}

/// Modules in device memory, and whatever runs their kernels. One GPU makes all launches, so that its L2 stays warm.
pub struct Device<'d> {
    setup: &'d Setup,
    memory: DeviceMemory,
    /// By their numbers, which are not given twice.
    modules: BTreeMap<usize, Loaded<'d>>,
    next_module: usize,
    timer: Option<Timer<'d>>,
    shadow: Option<Shadow>,
    watch: Watch<'d>,
    launches: Vec<Launched>,
    /// Bytes of the heap of `malloc` in kernels, if not as many as usual.
    heap_bytes: Option<u64>,
    /// Texture and surface objects.
    pub(crate) objects: Arc<Objects>,
    /// Bytes that the launches of the list have printed.
    printed: usize,
    /// What checkpoints need, if there are any.
    pub(crate) keep: Option<Keep<'d>>,
}

impl<'d> Device<'d> {
    /// Loads the module.
    ///
    /// # Errors
    /// When the machine cannot be made, or a variable of the module is too large.
    pub fn new(setup: &'d Setup, ptx: &'d PtxFile) -> Result<Self, Error> {
        Self::load(setup, ptx, false)
    }

    /// The same, if wished with room after every variable and buffer, so that an access past its end is found.
    ///
    /// # Errors
    /// When the machine cannot be made.
    pub fn load(setup: &'d Setup, ptx: &'d PtxFile, has_guards: bool) -> Result<Self, Error> {
        let mut device = Self::open(setup, has_guards)?;
        device.add_module(ptx)?;
        if setup.checkpoints.as_ref().is_some_and(|c| !c.if_possible) && setup.options.warn_of_reads {
            return Err(Problem::new("a run that notes reads outside of memory cannot have checkpoints").into());
        }
        device.keep = match (&setup.checkpoints, &device.timer) {
            (Some(checkpoints), Some(timer)) if !setup.options.warn_of_reads => match timer.can_be_saved() {
                Ok(()) => Some(Keep::new(checkpoints, &setup.options, ptx)?),
                Err(_) if checkpoints.if_possible => None,
                Err(error) => return Err(error),
            },
            _ => None,
        };
        Ok(device)
    }

    /// A device without modules, which come later.
    ///
    /// # Errors
    /// When the machine cannot be made.
    pub fn open(setup: &'d Setup, has_guards: bool) -> Result<Self, Error> {
        let options = &setup.options;
        let timer = match (options.engine.engine, options.timing.as_deref()) {
            (Engine::Timing, Some(timing)) => Some(Timer::new(timing, &setup.registry)?),
            (Engine::Timing, None) => return Err(Error::Machine("the timing model needs a machine".to_owned())),
            _ => None,
        };
        let shadow = options.check.then(|| Shadow { memory: empty_memory(options, has_guards), stopped: None });
        let memory = empty_memory(options, has_guards);
        let (modules, watch, launches, objects) = (BTreeMap::new(), Watch::default(), Vec::new(), Arc::default());
        Ok(Self {
            setup,
            memory,
            modules,
            next_module: 0,
            timer,
            shadow,
            watch,
            launches,
            heap_bytes: None,
            objects,
            printed: 0,
            keep: None,
        })
    }

    /// Has somebody told of what happens in the launches to come.
    pub fn watch(&mut self, watch: Watch<'d>) {
        self.watch = watch;
    }

    /// Says how many bytes the heap has that `malloc` in kernels allocates from. It is made by the first launch that asks for
    /// some, and keeps its size from then on.
    pub fn set_heap_bytes(&mut self, bytes: u64) {
        self.heap_bytes = Some(bytes);
    }

    /// Whether a launch has made that heap.
    #[must_use]
    pub fn has_heap(&self) -> bool {
        raddle_exec::has_heap(&self.memory)
    }

    /// How it runs kernels.
    #[must_use]
    pub fn options(&self) -> &'d RunOptions {
        &self.setup.options
    }

    /// The file of the module it was made with.
    ///
    /// # Panics
    /// When there is none that was lent.
    #[must_use]
    pub fn ptx(&self) -> &'d PtxFile {
        match self.modules[&0].ptx {
            ModuleFile::Lent(file) => file,
            ModuleFile::Kept(_) => panic!("the file of the first module was not lent"),
        }
    }

    /// Launches made so far; only the last can have stopped.
    #[must_use]
    pub fn launches(&self) -> &[Launched] {
        &self.launches
    }

    /// Gives away the launches made so far; counting starts anew.
    #[must_use]
    pub fn take_launches(&mut self) -> Vec<Launched> {
        self.printed = 0;
        std::mem::take(&mut self.launches)
    }

    /// Allocates zeroed elements. They count as never written.
    ///
    /// # Errors
    /// When they are too many.
    pub fn alloc<T: Value>(&mut self, name: &str, len: usize) -> Result<Buffer<T>, Error> {
        let index = self.alloc_bytes(name, (len as u64).saturating_mul(T::ELEMENT.bytes() as u64))?;
        Ok(Buffer { index, len, element: PhantomData })
    }

    /// Allocates bytes and gives the number of the allocation.
    pub(crate) fn alloc_bytes(&mut self, name: &str, bytes: u64) -> Result<usize, Problem> {
        self.act("allocate", &[bytes], name.as_bytes());
        for memory in self.memories() {
            memory.alloc(name, bytes).map_err(|error| Problem::new(format!("buffer {error}")))?;
        }
        Ok(self.memory.allocations().len() - 1)
    }

    /// Allocates a buffer for these elements and copies them.
    ///
    /// # Errors
    /// When they are too many.
    pub fn upload<T: Value>(&mut self, name: &str, values: &[T]) -> Result<Buffer<T>, Error> {
        let buffer = self.alloc(name, values.len())?;
        self.write(buffer, values);
        Ok(buffer)
    }

    /// Copies elements to the start of a buffer.
    ///
    /// # Panics
    /// When the buffer has fewer.
    pub fn write<T: Value>(&mut self, buffer: Buffer<T>, values: &[T]) {
        assert!(values.len() <= buffer.len, "{} elements for a buffer of {}", values.len(), buffer.len);
        self.write_bytes(buffer.index, &to_bytes(values));
    }

    pub(crate) fn write_bytes(&mut self, index: usize, bytes: &[u8]) {
        self.write_bytes_at(index, 0, bytes);
    }

    fn write_bytes_at(&mut self, index: usize, at: usize, bytes: &[u8]) {
        self.act("write", &[index as u64, at as u64], bytes);
        for memory in self.memories() {
            memory.bytes_mut(index)[at..at + bytes.len()].copy_from_slice(bytes);
            memory.mark_written(index, at, bytes.len());
        }
    }

    /// Writes elements, given as bits, to the start of an allocation. They are never all in memory a second time.
    pub(crate) fn write_elements(&mut self, index: usize, ty: Element, mut values: impl Iterator<Item = u64>) {
        let (mut at, mut piece) = (0, Vec::new());
        loop {
            values.by_ref().take(4096).for_each(|bits| ty.store(bits, &mut piece));
            if piece.is_empty() {
                return;
            }
            self.write_bytes_at(index, at, &piece);
            at += piece.len();
            piece.clear();
        }
    }

    /// Counts all of an allocation as written.
    pub(crate) fn mark_written(&mut self, index: usize) {
        self.act("mark as written", &[index as u64], &[]);
        for memory in self.memories() {
            memory.mark_written(index, 0, memory.bytes(index).len());
        }
    }

    /// Sets every element.
    pub fn fill<T: Value>(&mut self, buffer: Buffer<T>, value: T) {
        self.write(buffer, &vec![value; buffer.len]);
    }

    /// The elements of a buffer as they are now.
    #[must_use]
    pub fn download<T: Value>(&self, buffer: Buffer<T>) -> Vec<T> {
        from_bytes(self.bytes(buffer.index))
    }

    pub(crate) fn bytes(&self, index: usize) -> &[u8] {
        self.read(index as u64, self.memory.bytes(index))
    }

    /// So many bytes of an allocation from a byte on.
    pub(crate) fn bytes_at(&self, index: usize, at: usize, len: usize) -> &[u8] {
        self.read(index as u64, &self.memory.bytes(index)[at..at + len])
    }

    /// Bytes of an allocation.
    pub(crate) fn size(&self, index: usize) -> usize {
        self.memory.bytes(index).len()
    }

    /// Names and bytes of all allocations as they are now.
    #[must_use]
    pub fn contents(&self) -> Vec<(String, Vec<u8>)> {
        let list = self.memory.allocations().iter().enumerate();
        list.map(|(index, a)| (a.name.clone(), self.bytes(index).to_vec())).collect()
    }

    /// Memory as it is now.
    #[must_use]
    pub fn memory(&self) -> &DeviceMemory {
        &self.memory
    }

    /// Memory, for host code that allocates, frees and copies by address. Checkpoints and checks against the reference
    /// interpreter do not see what is done here: devices that have these refuse.
    ///
    /// # Errors
    /// When there are checkpoints or a check.
    pub fn memory_mut(&mut self) -> Result<&mut DeviceMemory, Error> {
        if self.keep.is_some() || self.shadow.is_some() {
            return Err(Problem::new("memory that host code uses by address can be neither checked nor saved").into());
        }
        Ok(&mut self.memory)
    }

    /// Name and address of an allocation.
    pub(crate) fn allocation(&self, index: usize) -> (&str, u64) {
        self.memory.allocations().get(index).map_or(("?", 0), |a| (a.name.as_str(), a.base))
    }

    /// The address of an element, for pointers into a buffer.
    #[must_use]
    pub fn address<T: Value>(&self, buffer: Buffer<T>, element: usize) -> u64 {
        self.allocation(buffer.index).1 + (element * T::ELEMENT.bytes()) as u64
    }

    /// All of memory against what the reference interpreter made of the same launches, if that was asked for.
    #[must_use]
    pub fn check(&self) -> Option<MemoryCheck> {
        let shadow = self.shadow.as_ref()?;
        Some(match &shadow.stopped {
            Some(fault) => MemoryCheck::stopped(fault.clone()),
            None => MemoryCheck::of(&self.memory, &shadow.memory),
        })
    }
}

#[cfg(test)]
mod tests;
