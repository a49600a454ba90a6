//! How many thread blocks an SM holds at once, and what limits it.

use crate::config::MachineConfig;
use crate::gpu::GpuError;
use raddle_exec::{Launch, Program};
use raddle_ptx::analysis::Resources;

/// How many thread blocks an SM holds at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Blocks.
    pub ctas: u32,
    /// Warps of these blocks.
    pub warps: u32,
    /// Registers a thread takes, rounded up as the machine does.
    pub registers: u32,
    /// Shared memory a block takes, in bytes.
    pub shared: u32,
    /// The resource that allows no more; the first of those that allow equally few.
    pub limit: &'static str,
}

impl Residency {
    /// Looks at each resource. `registers` per thread come from the PTX when they are not known better.
    ///
    /// # Errors
    /// When not even one block fits, with the resource that is short.
    pub fn new(
        config: &MachineConfig,
        program: &Program,
        launch: &Launch,
        registers: Option<u32>,
    ) -> Result<Self, GpuError> {
        let sm = &config.sm;
        let threads = launch.threads_per_cta().next_multiple_of(sm.warp_width);
        let registers = registers.unwrap_or_else(|| {
            let module = &program.image.module;
            Resources::new(module, program.layout.kernel).registers
        });
        let per_thread = registers.max(1).next_multiple_of(sm.register_grain.max(1));
        let shared = program.layout.static_shared + launch.dynamic_shared;
        let by_shared = sm.shared_bytes.checked_div(shared).unwrap_or(u32::MAX);
        let limits = [
            ("threads", sm.threads / threads.max(1), threads, sm.threads),
            ("blocks", sm.ctas, 1, sm.ctas),
            ("registers", sm.registers / (threads * per_thread), threads * per_thread, sm.registers),
            ("bytes of shared memory", by_shared, shared, sm.shared_bytes),
        ];
        for (what, fits, needs, has) in limits {
            if fits == 0 {
                return Err(GpuError::Launch(format!("a block needs {needs} {what}, an SM has {has}")));
            }
        }
        let (limit, ctas) = limits.iter().map(|l| (l.0, l.1)).min_by_key(|l| l.1).unwrap_or(("blocks", 1));
        let limit = if limit.starts_with("bytes") { "shared memory" } else { limit };
        Ok(Self { ctas, warps: ctas * (threads / sm.warp_width), registers: per_thread, shared, limit })
    }
}
