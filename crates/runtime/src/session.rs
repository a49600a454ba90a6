//! Running a plan.

use crate::compare::compare;
use crate::element::Element;
use crate::engine::{Engine, EngineOptions, Kernel};
use crate::error::{Error, Problem};
use crate::fill::Fill;
use crate::outcome::{Checked, Launched, MemoryCheck, Outcome, Stop, timeless};
use crate::params;
use crate::plan::{Buffer, Expect, LaunchPlan, Plan, Want};
use crate::timing::{Asked, Timer, TimingOptions, Watch};
use raddle_exec::{DeviceMemory, Image, KernelLayout, Launch};
use raddle_ptx::{Diagnostic, Module};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The most bytes a buffer may have.
const MAX_BYTES: u64 = 1 << 36;

/// A PTX file that has been read and checked.
#[derive(Clone, Debug)]
pub struct PtxFile {
    /// Its path as given.
    pub path: String,
    /// Its text.
    pub source: String,
    /// The module.
    pub module: Arc<Module>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

impl PtxFile {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// When it cannot be read or has errors.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| Error::Read { path: name.clone(), source })?;
        // Compilers put file names of any encoding into comments and `.file`.
        let source = String::from_utf8_lossy(&bytes).into_owned();
        let (module, diagnostics) = raddle_ptx::load(&source);
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(Error::Ptx { path: name, source_text: source, diagnostics });
        }
        Ok(Self { path: name, source, module: Arc::new(module), warnings: diagnostics })
    }

    /// The name of the kernel meant by `wanted`, which may be left out when there is one.
    ///
    /// # Errors
    /// When there is no such kernel, or it must be said which.
    pub fn kernel(&self, wanted: Option<&str>) -> Result<&str, Problem> {
        let names: Vec<&str> = self.module.kernels().map(|(_, f)| f.name.as_str()).collect();
        let list = || format!("the kernels in {} are {}", self.path, names.join(", "));
        match (wanted, &names[..]) {
            (_, []) => Err(Problem::new(format!("{} has no kernel", self.path))),
            (None, [only]) => Ok(*only),
            (None, _) => {
                Err(Problem::new(format!("{} has {} kernels: say which", self.path, names.len())).help(list()))
            }
            (Some(name), _) => names.iter().copied().find(|n| *n == name).ok_or_else(|| {
                let close = raddle_ptx::diag::closest(name, names.iter().copied());
                let help = close.map_or_else(list, |c| format!("did you mean `{c}`?"));
                Problem::new(format!("{} has no kernel `{name}`", self.path)).help(help)
            }),
        }
    }
}

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
    /// In the end, compare memory with what the reference interpreter makes of the same launches.
    pub check: bool,
}

/// A launch that has been checked.
struct Ready<'a> {
    plan: &'a LaunchPlan,
    name: String,
    kernel: Kernel,
    layout: KernelLayout,
    launch: Launch,
}

/// A plan with its module and buffers in device memory.
pub struct Session<'a> {
    plan: &'a Plan,
    ptx: &'a PtxFile,
    options: RunOptions,
    memory: DeviceMemory,
    image: Image,
    /// Of the plan's buffers.
    addresses: Vec<u64>,
    /// Launches with what they run, checked before the first is made.
    ready: Vec<Ready<'a>>,
    /// Right values, read before the first launch.
    wants: Vec<(&'a Expect, Vec<u8>)>,
}

impl<'a> Session<'a> {
    /// Loads the module, allocates and fills the buffers and checks every launch and expectation,
    /// so that a long run does not end in a mistake that could have been seen at its start.
    ///
    /// # Errors
    /// When a file cannot be used, or a launch does not fit its kernel.
    pub fn new(plan: &'a Plan, ptx: &'a PtxFile, options: RunOptions) -> Result<Self, Error> {
        let mut memory = DeviceMemory::new();
        let image = Image::load(ptx.module.clone(), &mut memory);
        if options.report_uninitialised {
            memory.track_writes();
        }
        let addresses = plan.buffers.iter().map(|b| allocate(b, &mut memory)).collect::<Result<_, _>>()?;
        let mut session = Self { plan, ptx, options, memory, image, addresses, ready: Vec::new(), wants: Vec::new() };
        for launch in &plan.launches {
            let ready = session.prepare(launch)?;
            session.ready.push(ready);
        }
        for expect in &plan.expects {
            let want = session.want(expect)?;
            session.wants.push((expect, want));
        }
        Ok(session)
    }

    fn prepare(&self, plan: &'a LaunchPlan) -> Result<Ready<'a>, Error> {
        let name = self.ptx.kernel(plan.kernel.as_deref()).map_err(|p| p.at(plan.at.clone()))?;
        let layout = self.image.kernel(name)?;
        let module = &self.image.module;
        params::check_shape(module, &layout, plan)?;
        let bytes = params::encode(module, &layout, plan, &self.plan.buffers, &self.addresses)?;
        let launch = Launch {
            grid: plan.grid,
            block: plan.block,
            dynamic_shared: plan.shared,
            params: bytes,
            textures: Vec::new(),
            max_thread_insts: self.options.max_thread_insts,
            report_uninitialised: self.options.report_uninitialised,
        };
        let kernel = Kernel::new(&self.image, &layout, &self.options.engine)?;
        Ok(Ready { plan, name: name.to_owned(), kernel, layout, launch })
    }

    fn want(&self, expect: &Expect) -> Result<Vec<u8>, Error> {
        let buffer = &self.plan.buffers[expect.buffer];
        let len = self.bytes(expect.buffer).len() / buffer.ty.bytes();
        let (bytes, must_be_equal) = match &expect.want {
            Want::File(file) => (file.read(buffer.ty)?, true),
            Want::Values(values) => {
                let mut bytes = Vec::new();
                values.iter().for_each(|v| buffer.ty.store(*v, &mut bytes));
                (bytes, false)
            }
        };
        let wanted = bytes.len() / buffer.ty.bytes();
        if wanted > len || (must_be_equal && wanted != len) {
            let message = format!("buffer `{}` has {len} elements, {wanted} are expected of it", buffer.name);
            return Err(Problem::new(message).at(expect.at.clone()).into());
        }
        Ok(bytes)
    }

    /// Makes all launches, then compares and writes what the plan asks for. Ends early where a launch does not
    /// complete.
    ///
    /// # Errors
    /// When the executor cannot run a kernel, or a file cannot be written.
    pub fn run(&mut self, mut watch: Watch<'_>) -> Result<Outcome, Error> {
        let initial = self.options.check.then(|| self.memory.clone());
        let mut outcome = Outcome::default();
        self.launch_all(&mut outcome, &mut watch)?;
        if outcome.stop().is_some() {
            return Ok(outcome);
        }
        if let Some(memory) = initial {
            outcome.memory = Some(self.check(memory)?);
        }
        for (expect, want) in &self.wants {
            let ty = self.plan.buffers[expect.buffer].ty;
            let comparison = compare(ty, ty.iter(self.bytes(expect.buffer)), ty.iter(want), expect.within);
            outcome.checks.push(Checked { buffer: expect.buffer, comparison });
        }
        for output in &self.plan.outputs {
            output.file.write(self.plan.buffers[output.buffer].ty, self.bytes(output.buffer))?;
            outcome.written.push((output.buffer, output.file.path.display().to_string()));
        }
        Ok(outcome)
    }

    fn launch_all(&mut self, outcome: &mut Outcome, watch: &mut Watch<'_>) -> Result<(), Error> {
        let registry = raddle_mech::registry();
        let timing = self.options.timing.as_deref().filter(|_| self.options.engine.engine == Engine::Timing);
        if timing.is_none() && self.options.engine.engine == Engine::Timing {
            return Err(Error::Machine("the timing model needs a machine".to_owned()));
        }
        let mut timer = timing.map(|options| Timer::new(options, &registry)).transpose()?;
        for Ready { plan, name, kernel, launch, .. } in &self.ready {
            for _ in 0..plan.repeat {
                let start = Instant::now();
                let number = outcome.launches.len();
                let (report, stop, timed) = match (&mut timer, kernel.program()) {
                    (Some(timer), Some(program)) => {
                        let asked = Asked { number, program, launch, ptx: self.ptx };
                        let (stop, timed) = timer.launch(&asked, &mut self.memory, watch)?;
                        (timed.report(), stop, Some(Box::new(timed)))
                    }
                    _ => {
                        let (report, stop) = timeless(kernel.launch(launch, &mut self.memory)?);
                        (report, stop, None)
                    }
                };
                let (wall, kernel) = (start.elapsed(), name.clone());
                let (grid, block) = (plan.grid, plan.block);
                outcome.launches.push(Launched { kernel, grid, block, report, stop, timed, wall });
                if outcome.stop().is_some() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Makes the same launches on the reference interpreter and compares all of memory.
    fn check(&self, mut memory: DeviceMemory) -> Result<MemoryCheck, Error> {
        let engine = EngineOptions { engine: Engine::Reference, ..self.warps() };
        for Ready { plan, layout, launch, .. } in &self.ready {
            let kernel = Kernel::new(&self.image, layout, &engine)?;
            for _ in 0..plan.repeat {
                if let (_, Some(Stop::Fault(fault))) = timeless(kernel.launch(launch, &mut memory)?) {
                    return Ok(MemoryCheck::stopped(fault));
                }
            }
        }
        Ok(MemoryCheck::of(&self.memory, &memory))
    }

    /// Warps are as wide as on the machine.
    fn warps(&self) -> EngineOptions {
        let machine = self.options.timing.as_ref().filter(|_| self.options.engine.engine == Engine::Timing);
        let warp_width = machine.map_or(self.options.engine.warp_width, |t| t.machine.sm.warp_width);
        EngineOptions { warp_width, ..self.options.engine }
    }

    /// The bytes of a buffer as they are now.
    #[must_use]
    pub fn bytes(&self, buffer: usize) -> &[u8] {
        let found = self.addresses.get(buffer).and_then(|a| self.memory.find(*a, 0).ok());
        found.map_or(&[], |(index, _)| self.memory.bytes(index))
    }
}

/// Allocates a buffer and fills it.
fn allocate(buffer: &Buffer, memory: &mut DeviceMemory) -> Result<u64, Error> {
    let ty: Element = buffer.ty;
    let from_file = match &buffer.fill {
        Fill::File(file) => Some(file.read(ty)?),
        _ => None,
    };
    let own = from_file.as_ref().map(|b| (b.len() / ty.bytes()) as u64).or(buffer.fill.own_len());
    let len = buffer.len.or(own).unwrap_or(0);
    let problem = |message: String| Err(Problem::new(message).at(buffer.at.clone()).into());
    if own.is_some_and(|own| own > len) {
        return problem(format!("buffer `{}` has {len} elements, its contents {}", buffer.name, own.unwrap_or(0)));
    }
    let Some(size) = len.checked_mul(ty.bytes() as u64).filter(|n| *n <= MAX_BYTES) else {
        return problem(format!("buffer `{}` is larger than {} GiB", buffer.name, MAX_BYTES >> 30));
    };
    let address = memory.alloc(buffer.name.clone(), size);
    let (index, _) = memory.find(address, 0).map_err(|e| Problem::new(e.to_string()))?;
    if let Some(bytes) = from_file.or_else(|| buffer.fill.bytes(ty, len)) {
        memory.bytes_mut(index)[..bytes.len()].copy_from_slice(&bytes);
    }
    if buffer.fill != Fill::Unwritten {
        memory.mark_written(index, 0, size as usize);
    }
    Ok(address)
}
