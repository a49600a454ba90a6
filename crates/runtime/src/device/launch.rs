//! Launches on a device.

use super::module::gone;
use super::{Arg, Device, ModuleId};
use crate::checkpoint::Keep;
use crate::error::{Error, Problem};
use crate::outcome::{Launched, Stop, timeless};
use crate::params;
use crate::plan::ArgValue;
use crate::timing::{Asked, Made, Watch};
use crate::virtual_blocks;
use raddle_exec::{KernelLayout, Launch, Logical};
use raddle_sim::config::MachineConfig;
use raddle_sim::residency::Residency;
use std::sync::Arc;
use std::time::Instant;

/// What is kept of what all launches print, in bytes.
const MAX_PRINTED: usize = 64 << 20;

/// How large a launch is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Thread blocks.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub shared: u32,
}

/// The launch that one of virtual blocks stands for: of the kernel as it was written, whose parameters come first.
fn original(launch: &Launch, layout: &KernelLayout) -> Launch {
    // What it reads outside of memory has been noted.
    let outside_reads = launch.outside_reads.as_ref().map(|_| Arc::default());
    let same = Launch { outside_reads, ..launch.clone() };
    let Some(logical) = launch.logical else { return same };
    let bytes = launch.params.len().min(layout.param_bytes as usize);
    Launch { grid: logical.grid, params: launch.params[..bytes].to_vec(), logical: None, ..same }
}

impl Device<'_> {
    /// Checks a launch against its kernel; the arguments must have been laid out.
    pub(crate) fn check_launch(&mut self, name: &str, shape: &Launch) -> Result<&KernelLayout, Error> {
        self.check_in(ModuleId::FIRST, name, shape)
    }

    fn check_in(&mut self, module: ModuleId, name: &str, shape: &Launch) -> Result<&KernelLayout, Error> {
        let setup = self.setup;
        let loaded = self.loaded(module)?;
        loaded.prepare(name, &setup.options)?;
        let layout = &loaded.kernels[name].layout;
        params::check_shape(&loaded.image.module, layout, shape)?;
        Ok(layout)
    }

    /// A launch with nothing said of its arguments.
    pub(crate) fn shape(&self, module: ModuleId, Shape { grid, block, shared }: Shape) -> Result<Launch, Problem> {
        Ok(Launch {
            grid,
            block,
            dynamic_shared: shared,
            params: Vec::new(),
            textures: self.textures(module)?.clone(),
            objects: self.objects.clone(),
            max_thread_insts: self.setup.options.max_thread_insts,
            interrupt: self.setup.options.interrupt.clone(),
            report_uninitialised: self.setup.options.report_uninitialised,
            checks: self.setup.options.checks,
            outside_reads: self.setup.options.warn_of_reads.then(Arc::default),
            heap_bytes: self.heap_bytes,
            logical: None,
        })
    }

    /// Launches a kernel of the module the device was made with and waits for its end.
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
        self.launch_in(ModuleId::FIRST, kernel, Shape { grid, block, shared }, args, None)
    }

    /// The same for a kernel of any module; `watch` is told what happens in place of who watches the device.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub fn launch_in(
        &mut self,
        module: ModuleId,
        kernel: &str,
        shape: Shape,
        args: &[Arg],
        watch: Option<&mut Watch<'_>>,
    ) -> Result<(), Error> {
        let mut launch = self.shape(module, shape)?;
        let sizes = if module == ModuleId::FIRST { self.virtualize(kernel, &mut launch)? } else { Vec::new() };
        let layout = self.check_in(module, kernel, &launch)?.clone();
        let args: Vec<_> = args.iter().map(|a| &a.0).chain(&sizes).map(|value| (value, &None)).collect();
        let declared = &self.module(module).image.module;
        launch.params = params::encode(declared, &layout, &args, &|index| self.allocation(index))?;
        self.make(module, kernel, &launch, true, watch)
    }

    /// Launches a kernel of any module with its parameters as bytes, laid out as [`Device::layout`] says, and waits for
    /// its end. Without time it is executed only, also on a device that has a machine.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub fn launch_bytes(
        &mut self,
        module: ModuleId,
        kernel: &str,
        shape: Shape,
        params: Vec<u8>,
        in_time: bool,
    ) -> Result<(), Error> {
        let launch = Launch { params, ..self.shape(module, shape)? };
        self.check_in(module, kernel, &launch)?;
        self.make(module, kernel, &launch, in_time, None)
    }

    /// Blocks of a kernel that an SM of a machine holds at once.
    ///
    /// # Errors
    /// When there is no such kernel, or not even one block fits.
    pub fn residency(
        &mut self,
        module: ModuleId,
        kernel: &str,
        shape: Shape,
        machine: &MachineConfig,
    ) -> Result<Residency, Error> {
        self.loaded(module)?;
        let launch = self.shape(module, shape)?;
        let setup = self.setup;
        let prepared = self.loaded(module)?.prepare(kernel, &setup.options)?;
        let refused = |e: raddle_sim::gpu::GpuError| Problem::new(e.to_string());
        match prepared.kernel.program() {
            Some(program) => Ok(Residency::new(machine, program, &launch, None).map_err(refused)?),
            None => Err(Problem::new("the reference interpreter has no SMs").into()),
        }
    }

    /// Turns a launch of a virtualised kernel into one of its virtual blocks; gives the arguments that say how many
    /// logical ones there are. Other launches stay as they are.
    pub(crate) fn virtualize(&mut self, name: &str, launch: &mut Launch) -> Result<Vec<ArgValue>, Error> {
        let file = self.module_file(ModuleId::FIRST)?;
        let Some(kernel) = file.virtualized.iter().find(|k| k.kernel == name) else { return Ok(Vec::new()) };
        let logical = virtual_blocks::logical(kernel, launch)?;
        launch.logical = Some(Logical { grid: launch.grid, barrier: kernel.barrier });
        launch.grid = [1, 1, 1];
        self.check_launch(name, launch)?;
        let options = &self.setup.options;
        let resident = match (options.timing.as_deref(), self.module(ModuleId::FIRST).kernels[name].kernel.program()) {
            (Some(timing), Some(program)) => virtual_blocks::resident(timing, program, launch)?,
            _ => u64::from(u32::MAX),
        };
        let most = options.virtual_blocks.map_or(resident, u64::from);
        launch.grid[0] = most.min(logical.blocks).max(1) as u32;
        Ok(logical.args)
    }

    /// Makes a launch that has been checked.
    pub(crate) fn start(&mut self, name: &str, launch: &Launch) -> Result<(), Error> {
        self.make(ModuleId::FIRST, name, launch, true, None)
    }

    fn make(
        &mut self,
        module: ModuleId,
        name: &str,
        launch: &Launch,
        in_time: bool,
        watch: Option<&mut Watch<'_>>,
    ) -> Result<(), Error> {
        let loaded = self.modules.get_mut(&module.0).ok_or_else(gone)?;
        let ptx = &*loaded.ptx.clone();
        let prepared = loaded.prepare(name, &self.setup.options)?;
        if let Some(program) = prepared.kernel.program() {
            // The timing model needs the heap from the start, and memories have the same allocations.
            program.reserve_heap(launch, &mut self.memory);
            self.shadow.iter_mut().for_each(|shadow| program.reserve_heap(launch, &mut shadow.memory));
        }
        let start = Instant::now();
        let made = match (&mut self.timer, prepared.kernel.program()) {
            (Some(timer), Some(program)) => {
                if self.keep.is_some() && self.watch.observer.is_some() {
                    return Err(Problem::new("a run whose events are recorded cannot have checkpoints").into());
                }
                let asked = Asked { number: self.launches.len(), kernel: name, program, launch, ptx };
                match (in_time, watch) {
                    (true, Some(watch)) => timer.make(&asked, &mut self.memory, watch, self.keep.as_mut())?,
                    (true, None) => timer.make(&asked, &mut self.memory, &mut self.watch, self.keep.as_mut())?,
                    (false, _) => timer.execute(&asked, &mut self.memory)?,
                }
            }
            _ => {
                let (report, stop) = timeless(prepared.kernel.launch(launch, &mut self.memory)?);
                Made { report, stop, timed: None, sample: None }
            }
        };
        let wall = self.keep.as_ref().map_or_else(|| start.elapsed(), Keep::wall);
        if let (Some(shadow), Some((layout, kernel))) = (&mut self.shadow, &prepared.reference)
            && shadow.stopped.is_none()
            && made.stop.is_none()
            && let (_, Some(Stop::Fault(fault))) =
                timeless(kernel.launch(&original(launch, layout), &mut shadow.memory)?)
        {
            shadow.stopped = Some(fault);
        }
        self.record(name, launch, made, wall)
    }

    /// Adds a launch to the list.
    fn record(&mut self, name: &str, launch: &Launch, made: Made, wall: std::time::Duration) -> Result<(), Error> {
        let Made { mut report, stop, mut timed, sample } = made;
        self.printed = self.printed.saturating_add(report.output.len());
        if self.printed > MAX_PRINTED && !report.output.is_empty() {
            report.output = format!("[all launches printed more than {MAX_PRINTED} bytes; this one's is dropped]\n");
            timed.iter_mut().for_each(|timed| timed.result.output.clear());
        }
        let kernel = name.to_owned();
        let (grid, block, ending) = (launch.grid, launch.block, stop.as_ref().map(Stop::name));
        let shared = launch.dynamic_shared;
        let outside_reads = launch.outside_reads.as_ref().map(|reads| reads.list()).unwrap_or_default();
        self.launches.push(Launched { kernel, grid, block, shared, report, stop, outside_reads, timed, sample, wall });
        match ending {
            Some(ending) => Err(Error::Stopped { kernel: name.to_owned(), ending }),
            None => Ok(()),
        }
    }
}
