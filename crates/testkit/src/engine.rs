//! Every way the functional machine can execute a kernel.

use raddle_exec::reference;
use raddle_exec::{DeviceMemory, Image, KernelLayout, Launch, Level, Program, Report, RunError, RunOptions};

/// What executes a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Static warps, compiled for an instruction-set level of the host.
    Fast(Level),
    /// Warps of threads from different rows.
    Gather,
    /// One thread at a time.
    Reference,
}

impl Engine {
    /// All of them, the fast path at every level this host has.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all: Vec<Self> = Level::available().into_iter().map(Self::Fast).collect();
        all.extend([Self::Gather, Self::Reference]);
        all
    }

    /// Runs a launch.
    ///
    /// # Errors
    /// When the launch does not fit the kernel, or the kernel faults.
    pub fn run(
        self,
        image: &Image,
        layout: &KernelLayout,
        launch: &Launch,
        memory: &mut DeviceMemory,
        warp_width: u32,
    ) -> Result<Report, RunError> {
        let options = RunOptions { warp_width, gather: self == Self::Gather, ..RunOptions::default() };
        match self {
            Self::Fast(level) => raddle_exec::run(&Program::for_level(image, layout, level)?, launch, memory, &options),
            Self::Gather => raddle_exec::run(&Program::new(image, layout)?, launch, memory, &options),
            Self::Reference => {
                let options = reference::Options { warp_width, ..reference::Options::default() };
                Ok(reference::run(image, layout, launch, memory, &options)?)
            }
        }
    }
}
