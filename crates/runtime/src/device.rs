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

use crate::checkpoint::{Checkpoints, Keep};
use crate::element::Element;
use crate::engine::{Engine, EngineOptions, Kernel};
use crate::error::{Error, Problem};
use crate::outcome::{Launched, MemoryCheck, Stop, timeless};
use crate::params;
use crate::plan::ArgValue;
use crate::ptx_file::PtxFile;
use crate::timing::{Asked, Made, Timer, TimingOptions, Watch};
use crate::value::{Value, from_bytes, to_bytes};
use crate::virtual_blocks;
use raddle_exec::texture::Texture;
use raddle_exec::{DeviceMemory, Fault, Image, KernelLayout, Launch, Logical};
use raddle_ptx::Module;
use raddle_ptx::ir::Space;
use raddle_sim::seam::Registry;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

/// What is kept of what all launches print, in bytes.
const MAX_PRINTED: usize = 64 << 20;

/// What to watch for while running.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Executor and warp width.
    pub engine: EngineOptions,
    /// Ends a launch after this many thread-instructions.
    pub max_thread_insts: Option<u64>,
    /// Report reads of registers and memory never written.
    pub report_uninitialised: bool,
    /// The machine and its limits, for the timing model.
    pub timing: Option<Box<TimingOptions>>,
    /// Make every launch on the reference interpreter too, and compare memory in the end.
    pub check: bool,
    /// Bytes left free before the first allocation, in grains of 256. Where data is should not matter to a program, but
    /// does to caches and channels: what changes with it is noise.
    pub heap_offset: u64,
    /// The most blocks a launch of a virtualised kernel has; as many as the machine holds at once when nothing is said,
    /// and without a machine as many as there are logical ones.
    pub virtual_blocks: Option<u32>,
}

impl RunOptions {
    /// Lanes of a warp; on the timing model the machine says it.
    #[must_use]
    pub fn warp_width(&self) -> u32 {
        let machine = self.timing.as_ref().filter(|_| self.engine.engine == Engine::Timing);
        machine.map_or(self.engine.warp_width, |t| t.machine.sm.warp_width)
    }
}

/// How devices run kernels: the options, and the mechanisms machines can have.
pub struct Setup {
    options: RunOptions,
    registry: Arc<Registry>,
    checkpoints: Option<Checkpoints>,
}

impl Default for Setup {
    fn default() -> Self {
        Self::new(RunOptions::default())
    }
}

impl Setup {
    /// With the mechanisms that come with Raddle.
    #[must_use]
    pub fn new(options: RunOptions) -> Self {
        Self::with_registry(options, raddle_mech::registry())
    }

    /// With mechanisms of one's own.
    #[must_use]
    pub fn with_registry(options: RunOptions, registry: impl Into<Arc<Registry>>) -> Self {
        Self { options, registry: registry.into(), checkpoints: None }
    }

    /// The same with checkpoints, of one device on the timing model.
    #[must_use]
    pub fn with_checkpoints(mut self, checkpoints: Option<Checkpoints>) -> Self {
        self.checkpoints = checkpoints;
        self
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &RunOptions {
        &self.options
    }
}

/// Elements in device memory. It is a handle: copies of it mean the same memory.
#[derive(Debug)]
pub struct Buffer<T> {
    index: usize,
    len: usize,
    element: PhantomData<T>,
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Buffer<T> {}

impl<T> Buffer<T> {
    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// An argument of a launch: a buffer or a number. Types are compared with what the kernel declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg(ArgValue);

impl Arg {
    /// Bytes of a parameter passed by value, such as a structure.
    #[must_use]
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self(ArgValue::Bytes(bytes))
    }
}

impl<T> From<Buffer<T>> for Arg {
    fn from(buffer: Buffer<T>) -> Self {
        Self(ArgValue::Buffer(buffer.index))
    }
}

impl<T: Value> From<T> for Arg {
    fn from(value: T) -> Self {
        Self(ArgValue::Scalar(T::ELEMENT, value.bits()))
    }
}

/// A kernel that has been made ready.
struct Prepared {
    layout: KernelLayout,
    kernel: Kernel,
    /// The same for the reference interpreter, if launches are to be made there too.
    reference: Option<Kernel>,
}

/// Memory as the reference interpreter leaves it.
struct Shadow {
    memory: DeviceMemory,
    /// The module as it was written, where kernels have been virtualised.
    image: Image,
    stopped: Option<Box<Fault>>,
}

/// A module in memory of its own.
fn load(module: &Arc<Module>, options: &RunOptions, has_guards: bool) -> Result<(DeviceMemory, Image), Error> {
    let mut memory = DeviceMemory::new();
    if has_guards {
        memory.guard();
    }
    memory.leave(options.heap_offset);
    let image = Image::load(module.clone(), &mut memory)?;
    if options.report_uninitialised {
        memory.track_writes();
    }
    Ok((memory, image))
}

/// The launch that one of virtual blocks stands for: of the kernel as it was written, whose parameters come first.
fn original(launch: &Launch, layout: &KernelLayout) -> Launch {
    let Some(logical) = launch.logical else { return launch.clone() };
    let bytes = launch.params.len().min(layout.param_bytes as usize);
    Launch { grid: logical.grid, params: launch.params[..bytes].to_vec(), logical: None, ..launch.clone() }
}

/// A module in device memory, and whatever runs its kernels. One GPU makes all launches, so that its L2 stays warm.
pub struct Device<'d> {
    setup: &'d Setup,
    ptx: &'d PtxFile,
    memory: DeviceMemory,
    image: Image,
    kernels: BTreeMap<String, Prepared>,
    timer: Option<Timer<'d>>,
    shadow: Option<Shadow>,
    watch: Watch<'d>,
    launches: Vec<Launched>,
    /// By the names of the `.texref` variables they are bound to.
    pub(crate) textures: Vec<(String, Texture)>,
    /// Bytes all launches have printed.
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
        let options = &setup.options;
        let (memory, image) = load(&ptx.module, options, has_guards)?;
        let timer = match (options.engine.engine, options.timing.as_deref()) {
            (Engine::Timing, Some(timing)) => Some(Timer::new(timing, &setup.registry)?),
            (Engine::Timing, None) => return Err(Error::Machine("the timing model needs a machine".to_owned())),
            _ => None,
        };
        let shadow = match options.check {
            true => {
                let (memory, image) = load(ptx.original.as_ref().unwrap_or(&ptx.module), options, has_guards)?;
                Some(Shadow { memory, image, stopped: None })
            }
            false => None,
        };
        let keep = match (&setup.checkpoints, &timer) {
            (Some(checkpoints), Some(timer)) => match timer.can_be_saved() {
                Ok(()) => Some(Keep::new(checkpoints, options, ptx)?),
                Err(_) if checkpoints.if_possible => None,
                Err(error) => return Err(error),
            },
            _ => None,
        };
        let (kernels, watch, launches, textures) = (BTreeMap::new(), Watch::default(), Vec::new(), Vec::new());
        Ok(Self { setup, ptx, memory, image, kernels, timer, shadow, watch, launches, textures, printed: 0, keep })
    }

    /// Has somebody told of what happens in the launches to come.
    pub fn watch(&mut self, watch: Watch<'d>) {
        self.watch = watch;
    }

    /// How it runs kernels.
    #[must_use]
    pub fn options(&self) -> &'d RunOptions {
        &self.setup.options
    }

    /// The module's file.
    #[must_use]
    pub fn ptx(&self) -> &'d PtxFile {
        self.ptx
    }

    /// Launches made so far; only the last can have stopped.
    #[must_use]
    pub fn launches(&self) -> &[Launched] {
        &self.launches
    }

    /// Gives away the launches made so far; counting starts anew.
    #[must_use]
    pub fn take_launches(&mut self) -> Vec<Launched> {
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

    fn memories(&mut self) -> impl Iterator<Item = &mut DeviceMemory> {
        [Some(&mut self.memory), self.shadow.as_mut().map(|s| &mut s.memory)].into_iter().flatten()
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

    /// Name and address of an allocation.
    pub(crate) fn allocation(&self, index: usize) -> (&str, u64) {
        self.memory.allocations().get(index).map_or(("?", 0), |a| (a.name.as_str(), a.base))
    }

    /// The address of an element, for pointers into a buffer.
    #[must_use]
    pub fn address<T: Value>(&self, buffer: Buffer<T>, element: usize) -> u64 {
        self.allocation(buffer.index).1 + (element * T::ELEMENT.bytes()) as u64
    }

    /// Writes the start of a module's `.const` or `.global` variable.
    ///
    /// # Errors
    /// When there is no such variable, or it is too small.
    pub fn set_variable<T: Value>(&mut self, name: &str, values: &[T]) -> Result<(), Error> {
        let (space, at, _) = self.variable(name, values.len() * T::ELEMENT.bytes())?;
        let bytes = to_bytes(values);
        self.act("set", &[u64::from(space == Space::Const), at], &bytes);
        if space == Space::Const {
            let images = [Some(&mut self.image), self.shadow.as_mut().map(|shadow| &mut shadow.image)];
            for image in images.into_iter().flatten() {
                image.const_bank[at as usize..][..bytes.len()].copy_from_slice(&bytes);
            }
            // They hold the constants they were made with.
            self.kernels.clear();
            return Ok(());
        }
        for memory in self.memories() {
            memory.write(at, &bytes).map_err(|e| Problem::new(e.to_string()))?;
        }
        Ok(())
    }

    /// The values of a module's `.const` or `.global` variable.
    ///
    /// # Errors
    /// When there is no such variable.
    pub fn variable_values<T: Value>(&self, name: &str) -> Result<Vec<T>, Error> {
        let (space, at, size) = self.variable(name, 0)?;
        if space == Space::Const {
            return Ok(from_bytes(&self.image.const_bank[at as usize..][..size]));
        }
        let mut bytes = vec![0; size];
        self.memory.read(at, &mut bytes).map_err(|e| Problem::new(e.to_string()))?;
        Ok(from_bytes(self.read(at, &bytes)))
    }

    /// Space, place and size of a variable that must hold so many bytes.
    fn variable(&self, name: &str, bytes: usize) -> Result<(Space, u64, usize), Problem> {
        let vars = &self.image.module.vars;
        let is_one = |space| matches!(space, Space::Const | Space::Global);
        let found = vars.iter().enumerate().filter(|(_, v)| v.owner.is_none() && is_one(v.space));
        let mut names = found.clone().map(|(_, v)| v.name.as_str());
        for (i, var) in found.filter(|(_, v)| v.name == name) {
            let Some(at) = self.image.address(raddle_ptx::ir::VarId(i as u32)) else { continue };
            if bytes as u64 > var.size {
                return Err(Problem::new(format!("variable `{name}` has {} bytes, not {bytes}", var.size)));
            }
            return Ok((var.space, at, var.size as usize));
        }
        let problem = Problem::new(format!("{} has no variable `{name}`", self.ptx.path));
        Err(match raddle_ptx::diag::closest(name, &mut names) {
            Some(close) => problem.help(format!("did you mean `{close}`?")),
            None => problem,
        })
    }

    /// Makes a kernel ready, unless it is.
    fn prepare(&mut self, name: &str) -> Result<(), Error> {
        if self.kernels.contains_key(name) {
            return Ok(());
        }
        let name = self.ptx.kernel(Some(name))?;
        let layout = self.image.kernel(name)?;
        let options = &self.setup.options;
        let kernel = Kernel::new(&self.image, &layout, &options.engine)?;
        let slow = EngineOptions { engine: Engine::Reference, warp_width: options.warp_width() };
        let reference = match &self.shadow {
            Some(shadow) => Some(Kernel::new(&shadow.image, &shadow.image.kernel(name)?, &slow)?),
            None => None,
        };
        self.kernels.insert(name.to_owned(), Prepared { layout, kernel, reference });
        Ok(())
    }

    /// Checks a launch against its kernel; the arguments must have been laid out.
    pub(crate) fn check_launch(&mut self, name: &str, shape: &Launch) -> Result<&KernelLayout, Error> {
        self.prepare(name)?;
        let layout = &self.kernels[name].layout;
        params::check_shape(&self.image.module, layout, shape)?;
        Ok(layout)
    }

    /// A launch with nothing said of its arguments.
    pub(crate) fn shape(&self, grid: [u32; 3], block: [u32; 3], shared: u32) -> Launch {
        Launch {
            grid,
            block,
            dynamic_shared: shared,
            params: Vec::new(),
            textures: self.textures.clone(),
            max_thread_insts: self.setup.options.max_thread_insts,
            report_uninitialised: self.setup.options.report_uninitialised,
            logical: None,
        }
    }

    /// Launches a kernel and waits for its end.
    ///
    /// # Errors
    /// When it cannot be launched like this, or did not complete: then the last of [`Self::launches`] says why.
    pub fn launch(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        args: &[Arg],
    ) -> Result<(), Error> {
        let mut launch = self.shape(grid, block, shared);
        let sizes = self.virtualize(kernel, &mut launch)?;
        let layout = self.check_launch(kernel, &launch)?.clone();
        let args: Vec<_> = args.iter().map(|a| &a.0).chain(&sizes).map(|value| (value, &None)).collect();
        launch.params = params::encode(&self.image.module, &layout, &args, &|index| self.allocation(index))?;
        self.start(kernel, &launch)
    }

    /// Turns a launch of a virtualised kernel into one of its virtual blocks; gives the arguments that say how many
    /// logical ones there are. Other launches stay as they are.
    pub(crate) fn virtualize(&mut self, name: &str, launch: &mut Launch) -> Result<Vec<ArgValue>, Error> {
        let Some(kernel) = self.ptx.virtualized.iter().find(|k| k.kernel == name) else { return Ok(Vec::new()) };
        let logical = virtual_blocks::logical(kernel, launch)?;
        launch.logical = Some(Logical { grid: launch.grid, barrier: kernel.barrier });
        launch.grid = [1, 1, 1];
        self.check_launch(name, launch)?;
        let options = &self.setup.options;
        let resident = match (options.timing.as_deref(), self.kernels[name].kernel.program()) {
            (Some(timing), Some(program)) => virtual_blocks::resident(timing, program, launch)?,
            _ => u64::from(u32::MAX),
        };
        let most = options.virtual_blocks.map_or(resident, u64::from);
        launch.grid[0] = most.min(logical.blocks).max(1) as u32;
        Ok(logical.args)
    }

    /// Makes a launch that has been checked.
    pub(crate) fn start(&mut self, name: &str, launch: &Launch) -> Result<(), Error> {
        self.prepare(name)?;
        let Prepared { kernel, reference, .. } = &self.kernels[name];
        let start = Instant::now();
        let made = match (&mut self.timer, kernel.program()) {
            (Some(timer), Some(program)) => {
                if self.keep.is_some() && self.watch.observer.is_some() {
                    return Err(Problem::new("there are no checkpoints of runs whose events are recorded").into());
                }
                let asked = Asked { number: self.launches.len(), kernel: name, program, launch, ptx: self.ptx };
                timer.make(&asked, &mut self.memory, &mut self.watch, self.keep.as_mut())?
            }
            _ => {
                let (report, stop) = timeless(kernel.launch(launch, &mut self.memory)?);
                Made { report, stop, timed: None, sample: None }
            }
        };
        let Made { mut report, stop, mut timed, sample } = made;
        self.printed = self.printed.saturating_add(report.output.len());
        if self.printed > MAX_PRINTED && !report.output.is_empty() {
            report.output = format!("[all launches printed more than {MAX_PRINTED} bytes; this one's is dropped]\n");
            timed.iter_mut().for_each(|timed| timed.result.output.clear());
        }
        let wall = self.keep.as_ref().map_or_else(|| start.elapsed(), Keep::wall);
        let kernel = name.to_owned();
        let (grid, block, ending) = (launch.grid, launch.block, stop.as_ref().map(Stop::name));
        let shared = launch.dynamic_shared;
        self.launches.push(Launched { kernel, grid, block, shared, report, stop, timed, sample, wall });
        if let Some(ending) = ending {
            return Err(Error::Stopped { kernel: name.to_owned(), ending });
        }
        if let (Some(shadow), Some(kernel)) = (self.shadow.as_mut().filter(|s| s.stopped.is_none()), reference)
            && let (_, Some(Stop::Fault(fault))) =
                timeless(kernel.launch(&original(launch, &shadow.image.kernel(name)?), &mut shadow.memory)?)
        {
            shadow.stopped = Some(fault);
        }
        Ok(())
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
