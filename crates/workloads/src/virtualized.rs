//! What it costs the kernels of workloads to loop over logical blocks: registers, blocks of an SM, instructions.

use crate::error::Error;
use crate::manifest::Size;
use crate::run::{Ran, Request};
use crate::suite::Workload;
use raddle_ptx::transform::{Options, Refusal};
use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::outcome::Launched;
use raddle_runtime::timing::{TimingOptions, Watch};
use raddle_runtime::{Engine, EngineOptions, PtxFile, virtual_blocks};
use serde::{Deserialize, Serialize};

/// A kernel of a workload before and after, all its launches together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Virtualized {
    /// Workload.
    pub workload: String,
    /// Kernel.
    pub kernel: String,
    /// Blocks of all launches.
    pub blocks: u64,
    /// Blocks of all launches after it: those that loop.
    pub virtual_blocks: u64,
    /// Registers of a thread, as the machine rounds them.
    pub registers: u32,
    /// The same after it.
    pub virtual_registers: u32,
    /// Blocks an SM holds at once, in the first launch.
    pub blocks_per_sm: u32,
    /// The same after it.
    pub virtual_blocks_per_sm: u32,
    /// Instructions by thread.
    pub thread_insts: u64,
    /// The same after it.
    pub virtual_thread_insts: u64,
}

impl Virtualized {
    /// Instructions after it for each one before: `vInstr` of the VTW paper.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.virtual_thread_insts as f64 / self.thread_insts.max(1) as f64
    }
}

impl Workload {
    /// Runs it without time before and after its kernels loop over logical blocks, as many blocks at once as the machine
    /// holds: one for each kernel, in the order of their first launches, and the kernels that cannot be changed.
    ///
    /// # Errors
    /// When it cannot be run, or its results are wrong.
    pub fn virtualize(
        &self,
        options: &Options,
        timing: &TimingOptions,
        size: Size,
    ) -> Result<(Vec<Virtualized>, Vec<Refusal>), Error> {
        let before = self.module()?;
        let (after, refused) = before.virtualize(options)?;
        let engine = EngineOptions { engine: Engine::Fast, warp_width: timing.machine.sm.warp_width };
        let setup = Setup::new(RunOptions { engine, timing: Some(Box::new(timing.clone())), ..RunOptions::default() });
        let launches = |module: &PtxFile| -> Result<Vec<Launched>, Error> {
            let Ran { launches, wrong, .. } = self.run(module, &setup, Watch::default(), &Request::new(size))?;
            wrong.map_or(Ok(launches), Err)
        };
        let (first, second) = (launches(&before)?, launches(&after)?);
        let mut kernels: Vec<&Launched> = Vec::new();
        for launched in &first {
            let is_new = kernels.iter().all(|k| k.kernel != launched.kernel);
            let is_changed = after.virtualized.iter().any(|k| k.kernel == launched.kernel);
            kernels.extend(Some(launched).filter(|_| is_new && is_changed));
        }
        let row = |launched: &&Launched| {
            let kernel = launched.kernel.as_str();
            let [now, then] = [&before, &after]
                .map(|file| virtual_blocks::residency(file, kernel, timing, launched.block, launched.shared));
            let (now, then) = (now?, then?);
            let sum = |list: &[Launched], value: fn(&Launched) -> u64| {
                list.iter().filter(|l| l.kernel == kernel).map(value).sum::<u64>()
            };
            let blocks = |l: &Launched| l.grid.iter().map(|n| u64::from(*n)).product();
            Ok(Virtualized {
                workload: self.name.to_owned(),
                kernel: kernel.to_owned(),
                blocks: sum(&first, blocks),
                virtual_blocks: sum(&second, blocks),
                registers: now.registers,
                virtual_registers: then.registers,
                blocks_per_sm: now.ctas,
                virtual_blocks_per_sm: then.ctas,
                thread_insts: sum(&first, |l| l.report.thread_insts),
                virtual_thread_insts: sum(&second, |l| l.report.thread_insts),
            })
        };
        let rows: Result<Vec<Virtualized>, Error> = kernels.iter().map(row).collect();
        Ok((rows?, refused))
    }
}
