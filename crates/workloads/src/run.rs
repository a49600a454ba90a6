//! Running a workload, and what its driver gets to work with.

use crate::compare;
use crate::error::Error;
use crate::manifest::{Manifest, Size};
use crate::prelude::Shape;
use crate::rng::Rng;
use crate::suite::Workload;
use raddle_runtime::device::{Arg, Buffer, Device, Setup};
use raddle_runtime::outcome::{Launched, MemoryCheck};
use raddle_runtime::plan::Within;
use raddle_runtime::texture::{self, Texel};
use raddle_runtime::timing::Watch;
use raddle_runtime::value::Value;
use raddle_runtime::{Problem, PtxFile};

/// The seed of inputs when none is given.
pub const SEED: u64 = 1;

/// Which input to run on.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// How large.
    pub size: Size,
    /// From which random numbers.
    pub seed: u64,
    /// Changes the output of this number before it is compared, to see that the comparison finds it.
    pub spoil: Option<usize>,
    /// Keep what is in memory in the end.
    pub keep: bool,
}

impl Request {
    /// An input of this size.
    #[must_use]
    pub fn new(size: Size) -> Self {
        Self { size, seed: SEED, spoil: None, keep: false }
    }
}

/// What a run left behind.
#[derive(Debug)]
pub struct Ran {
    /// Launches in order; only the last can have stopped.
    pub launches: Vec<Launched>,
    /// Outputs that were compared and are right.
    pub checked: usize,
    /// Why the run is not good.
    pub wrong: Option<Error>,
    /// The comparison with the reference interpreter, if it was asked for.
    pub memory: Option<MemoryCheck>,
    /// Names and bytes of all allocations, if they were to be kept.
    pub kept: Vec<(String, Vec<u8>)>,
}

impl Ran {
    /// Thread-instructions of all launches.
    #[must_use]
    pub fn thread_insts(&self) -> u64 {
        self.launches.iter().map(|l| l.report.thread_insts).sum()
    }

    /// Whether all results are right.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.wrong.is_none() && self.memory.as_ref().is_none_or(MemoryCheck::is_equal)
    }
}

impl Workload {
    /// Runs it.
    ///
    /// # Errors
    /// When it cannot be run like this; what happens while it runs is in the result.
    pub fn run<'d>(
        &self,
        module: &'d PtxFile,
        setup: &'d Setup,
        watch: Watch<'d>,
        request: &Request,
    ) -> Result<Ran, Error> {
        let manifest = self.manifest(module)?;
        let width = setup.options().warp_width();
        if let Some(only) = manifest.warp_width.filter(|only| *only != width) {
            let message = format!("workload `{}` is written for warps of {only} lanes, not {width}", self.name);
            return Err(Problem::new(message).help(format!("run it with --warp-width {only}")).into());
        }
        let mut device = Device::new(setup, module)?;
        device.watch(watch);
        let rng = Rng::new(request.seed);
        let mut run = Run { device, rng, name: self.name, manifest, request: *request, checked: 0 };
        let mut wrong = (self.driver)(&mut run).err();
        if wrong.is_none() && run.checked == 0 {
            wrong = Some(Error::Wrong("its driver compares nothing".to_owned()));
        }
        let Run { mut device, checked, .. } = run;
        let memory = device.check().filter(|_| wrong.is_none());
        let kept = if request.keep { device.contents() } else { Vec::new() };
        Ok(Ran { launches: device.take_launches(), checked, wrong, memory, kept })
    }
}

/// A run of a workload, for its driver.
pub struct Run<'r> {
    device: Device<'r>,
    /// Random numbers from the seed.
    pub rng: Rng,
    name: &'static str,
    manifest: Manifest,
    request: Request,
    checked: usize,
}

impl Run<'_> {
    /// A parameter of the size.
    ///
    /// # Errors
    /// When the manifest does not have it.
    pub fn size(&self, key: &str) -> Result<usize, Error> {
        let size = self.request.size;
        let found = self.manifest.sizes.get(&size).and_then(|s| s.get(key));
        let missing = || Error::Parameter { name: self.name, key: key.to_owned(), size };
        found.map(|n| *n as usize).ok_or_else(missing)
    }

    /// Allocates zeroed elements.
    ///
    /// # Errors
    /// When they are too many.
    pub fn zeros<T: Value>(&mut self, name: &str, len: usize) -> Result<Buffer<T>, Error> {
        let buffer = self.device.alloc(name, len)?;
        self.device.fill(buffer, T::from_bits(0));
        Ok(buffer)
    }

    /// Allocates a buffer for these elements and copies them.
    ///
    /// # Errors
    /// When they are too many.
    pub fn upload<T: Value>(&mut self, name: &str, values: &[T]) -> Result<Buffer<T>, Error> {
        Ok(self.device.upload(name, values)?)
    }

    /// Copies elements to the start of a buffer.
    pub fn write<T: Value>(&mut self, buffer: Buffer<T>, values: &[T]) {
        self.device.write(buffer, values);
    }

    /// The elements of a buffer as they are now.
    #[must_use]
    pub fn download<T: Value>(&self, buffer: Buffer<T>) -> Vec<T> {
        self.device.download(buffer)
    }

    /// The address of an element, to be passed as a pointer.
    #[must_use]
    pub fn address<T: Value>(&self, buffer: Buffer<T>, element: usize) -> u64 {
        self.device.address(buffer, element)
    }

    /// Writes the start of a `__constant__` or `__device__` variable.
    ///
    /// # Errors
    /// When there is no such variable, or it is too small.
    pub fn set_variable<T: Value>(&mut self, name: &str, values: &[T]) -> Result<(), Error> {
        Ok(self.device.set_variable(name, values)?)
    }

    /// Binds texels in a row to a texture reference by its name, for the launches to come.
    ///
    /// # Errors
    /// When there is no such texture reference.
    pub fn bind_texture<T: Texel>(&mut self, name: &str, texels: &[T]) -> Result<(), Error> {
        Ok(self.device.bind_texture(name, texture::row(texels))?)
    }

    /// Launches a kernel without dynamic shared memory and waits for its end.
    ///
    /// # Errors
    /// When it cannot be launched like this or does not complete.
    pub(crate) fn launch(
        &mut self,
        kernel: &str,
        grid: impl Shape,
        block: impl Shape,
        args: &[Arg],
    ) -> Result<(), Error> {
        self.launch_shared(kernel, grid, block, 0, args)
    }

    /// The same with so many bytes of dynamic shared memory.
    ///
    /// # Errors
    /// When it cannot be launched like this or does not complete.
    pub(crate) fn launch_shared(
        &mut self,
        kernel: &str,
        grid: impl Shape,
        block: impl Shape,
        shared: usize,
        args: &[Arg],
    ) -> Result<(), Error> {
        Ok(self.device.launch(kernel, grid.xyz(), block.xyz(), shared as u32, args)?)
    }

    /// Compares an output with what it should be, as closely as the manifest says.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn check<T: Value>(&mut self, name: &str, output: Buffer<T>, want: &[T]) -> Result<(), Error> {
        self.compare(name, output, want, self.manifest.check.within())
    }

    /// Compares an output exactly, also where the manifest has a tolerance for others.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn check_exact<T: Value>(&mut self, name: &str, output: Buffer<T>, want: &[T]) -> Result<(), Error> {
        self.compare(name, output, want, Within::Ulp(0))
    }

    fn compare<T: Value>(&mut self, name: &str, output: Buffer<T>, want: &[T], within: Within) -> Result<(), Error> {
        let mut got = self.device.download(output);
        if self.request.spoil == Some(self.checked)
            && let Some(last) = got.last_mut()
        {
            // The sign and the top of an exponent: wrong within any tolerance.
            *last = T::from_bits(last.bits() ^ (3 << (T::ELEMENT.bytes() * 8 - 2)));
        }
        compare::elements(name, &got, want, within)?;
        self.checked += 1;
        Ok(())
    }
}
