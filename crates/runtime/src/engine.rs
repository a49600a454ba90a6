//! The executors, each under its name. Everything else in this crate and in the command line
//! reaches them through here.

use crate::error::Error;
use raddle_exec::{DeviceMemory, Fault, Image, KernelLayout, Launch, Report, reference};
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
}

impl Engine {
    /// Every engine.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Gather, Self::Reference];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Gather => "gather",
            Self::Reference => "reference",
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
    /// Lanes of a warp.
    pub warp_width: u32,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self { engine: Engine::default(), warp_width: 32 }
    }
}

/// Runs one launch to its end or to its first fault.
///
/// # Errors
/// When the executor cannot run the kernel at all.
pub fn execute(
    image: &Image,
    layout: &KernelLayout,
    launch: &Launch,
    memory: &mut DeviceMemory,
    options: &EngineOptions,
) -> Result<Result<Report, Fault>, Error> {
    match options.engine {
        Engine::Reference => {
            let options = reference::Options { warp_width: options.warp_width, ..Default::default() };
            Ok(reference::run(image, layout, launch, memory, &options))
        }
        Engine::Fast | Engine::Gather => Err(Error::NoEngine(options.engine.name())),
    }
}
