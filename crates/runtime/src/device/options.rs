//! How devices run kernels.

use crate::checkpoint::Checkpoints;
use crate::engine::{Engine, EngineOptions};
use crate::timing::TimingOptions;
use raddle_exec::Interrupt;
use raddle_exec::sanitize::Checks;
use raddle_sim::seam::Registry;
use std::sync::Arc;

/// What to watch for while running.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Executor and warp width.
    pub engine: EngineOptions,
    /// Ends a launch after this many thread-instructions.
    pub max_thread_insts: Option<u64>,
    /// Asked now and then, by the thread that launches, whether a launch is to end at once. A device cannot launch
    /// anything after that.
    pub interrupt: Option<Interrupt>,
    /// Report reads of registers and memory never written.
    pub report_uninitialised: bool,
    /// What to look for in what threads do to each other; only the functional machine does.
    pub checks: Checks,
    /// Reads outside of memory give zero and are noted, instead of ending the launch. Writes end it all the same.
    pub warn_of_reads: bool,
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
    pub(super) options: RunOptions,
    pub(super) registry: Arc<Registry>,
    pub(super) checkpoints: Option<Checkpoints>,
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
