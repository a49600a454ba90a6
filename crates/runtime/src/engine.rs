//! The executors, each under its name. Everything else in this crate and in the command line
//! reaches them through here.

use crate::error::Error;
use raddle_exec::{DeviceMemory, Fault, Image, KernelLayout, Launch, Program, Report, RunError, RunOptions, reference};
use std::fmt;

/// Which executor runs a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Lanes in rows, the way everything is run.
    #[default]
    Fast,
    /// The same, with every lane gathered from its thread's home: what regrouped threads use.
    Gather,
    /// One thread at a time, written apart to check the others.
    Reference,
    /// On a machine, cycle by cycle: the timing model.
    Timing,
}

impl Engine {
    /// Every engine.
    pub const ALL: [Self; 4] = [Self::Timing, Self::Fast, Self::Gather, Self::Reference];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Gather => "gather",
            Self::Reference => "reference",
            Self::Timing => "timing",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How kernels are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// By which executor.
    pub engine: Engine,
    /// Lanes of a warp; on the timing model the machine says it.
    pub warp_width: u32,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self { engine: Engine::default(), warp_width: 32 }
    }
}

/// A kernel made ready for one of the executors; it can be launched any number of times.
#[derive(Clone, Debug)]
pub enum Kernel {
    /// Decoded, for the fast and the gather path and the timing model.
    Decoded(Box<Program>, RunOptions),
    /// As it stands, for the reference interpreter.
    Interpreted(Box<(Image, KernelLayout)>, reference::Options),
}

impl Kernel {
    /// Makes a kernel ready.
    ///
    /// # Errors
    /// When the executor cannot run the kernel at all.
    pub fn new(image: &Image, layout: &KernelLayout, options: &EngineOptions) -> Result<Self, Error> {
        let warp_width = options.warp_width;
        match options.engine {
            Engine::Fast | Engine::Gather | Engine::Timing => {
                let gather = options.engine == Engine::Gather;
                let options = RunOptions { warp_width, gather, ..RunOptions::default() };
                Ok(Self::Decoded(Box::new(Program::new(image, layout)?), options))
            }
            Engine::Reference => {
                let options = reference::Options { warp_width, ..reference::Options::default() };
                Ok(Self::Interpreted(Box::new((image.clone(), layout.clone())), options))
            }
        }
    }

    /// The decoded program; the reference interpreter has none.
    #[must_use]
    pub fn program(&self) -> Option<&Program> {
        match self {
            Self::Decoded(program, _) => Some(program),
            Self::Interpreted(..) => None,
        }
    }

    /// The module in memory that it was made of.
    pub(crate) fn image_mut(&mut self) -> &mut Image {
        match self {
            Self::Decoded(program, _) => &mut program.image,
            Self::Interpreted(kernel, _) => &mut kernel.0,
        }
    }

    /// Runs one launch to its end or to its first fault, without a notion of time.
    ///
    /// # Errors
    /// When the launch does not fit the kernel.
    pub fn launch(&self, launch: &Launch, memory: &mut DeviceMemory) -> Result<Result<Report, Fault>, Error> {
        match self {
            Self::Decoded(program, options) => match raddle_exec::run(program, launch, memory, options) {
                Ok(report) => Ok(Ok(report)),
                Err(RunError::Fault(fault)) => Ok(Err(*fault)),
                Err(RunError::Load(error)) => Err(error.into()),
            },
            Self::Interpreted(kernel, options) => {
                let (image, layout) = &**kernel;
                Ok(reference::run(image, layout, launch, memory, options))
            }
        }
    }
}
