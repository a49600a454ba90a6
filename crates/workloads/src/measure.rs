//! What a workload's kernels are like on a machine: the figures papers sort benchmarks by.

use crate::error::Error;
use crate::manifest::{Class, Size};
use crate::run::{Ran, Request};
use crate::suite::Workload;
use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::measure::{DivergenceSet, LaunchSummary, Summaries};
use raddle_runtime::outcome::Launched;
use raddle_runtime::timing::{Timed, TimingOptions, Watch};
use raddle_runtime::{Engine, EngineOptions};
use raddle_sim::seam::Registry;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// SIMD efficiency below which a kernel counts as divergent: the line of the VWS paper.
pub const DIVERGENT_BELOW: f64 = 0.76;

/// Share of warps' lives at barriers above which a kernel counts as barrier-intensive: the line of the BAWS paper, which
/// counts the end of a block as a barrier.
pub const BARRIERS_ABOVE: f64 = 0.15;

/// A kernel of a workload, all its launches together. Shares are of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Workload.
    pub workload: String,
    /// Kernel.
    pub kernel: String,
    /// The class papers give it.
    pub class: Class,
    /// Launches.
    pub launches: u64,
    /// Blocks of all launches.
    pub blocks: u64,
    /// Threads of a block, in the largest launch.
    pub threads_per_block: u64,
    /// Blocks an SM holds at once, in the launch where it holds most.
    pub blocks_per_sm: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Shared memory of a block, in the launch that takes most.
    pub shared_bytes: u32,
    /// Instructions by thread.
    pub thread_insts: u64,
    /// Instructions by warp.
    pub warp_insts: u64,
    /// Cycles.
    pub cycles: u64,
    /// Cycles of all warps' lives.
    pub warp_cycles: u64,
    /// Barriers a warp comes to.
    pub barriers_per_warp: f64,
    /// Active lanes of those a warp has.
    pub simd_efficiency: f64,
    /// Share of warps' lives spent at barriers.
    pub barrier_share: f64,
    /// Share of warps' lives spent waiting for the block to end.
    pub exit_share: f64,
    /// Share of a block's time after its first warp has ended, where blocks waited to start; else 0.
    pub dwr: f64,
    /// Share of blocks whose warps are 50, 25, 10 and 5 % apart in instructions.
    pub insts_apart_50: f64,
    /// See above.
    pub insts_apart_25: f64,
    /// See above.
    pub insts_apart_10: f64,
    /// See above.
    pub insts_apart_5: f64,
    /// The same in cycles.
    pub cycles_apart_50: f64,
    /// See above.
    pub cycles_apart_25: f64,
    /// See above.
    pub cycles_apart_10: f64,
    /// See above.
    pub cycles_apart_5: f64,
}

impl Measured {
    /// Whether lanes diverge often.
    #[must_use]
    pub fn is_divergent(&self) -> bool {
        self.simd_efficiency < DIVERGENT_BELOW
    }

    /// Share of warps' lives spent at barriers, the end of the block included where there are others.
    #[must_use]
    pub fn barrier_time(&self) -> f64 {
        if self.barriers_per_warp > 0.0 { self.barrier_share + self.exit_share } else { 0.0 }
    }

    /// Whether warps wait at barriers for long.
    #[must_use]
    pub fn is_barrier_intensive(&self) -> bool {
        self.barrier_time() > BARRIERS_ABOVE
    }

    /// The set of the VTW paper that it is in.
    #[must_use]
    pub fn set(&self) -> DivergenceSet {
        DivergenceSet::new([self.insts_apart_10, self.insts_apart_5], self.cycles_apart_5)
    }

    /// Whether kernels, taken together, measure as a class says. What is barrier-intensive may be divergent or not.
    #[must_use]
    pub fn are(kernels: &[&Self], class: Class) -> bool {
        let warps: u64 = kernels.iter().map(|k| k.warp_insts).sum();
        let lives: u64 = kernels.iter().map(|k| k.warp_cycles).sum();
        let mean = |value: fn(&Self) -> f64, weight: fn(&Self) -> u64, all: u64| {
            kernels.iter().map(|k| value(k) * weight(k) as f64).sum::<f64>() / all.max(1) as f64
        };
        let efficiency = mean(|k| k.simd_efficiency, |k| k.warp_insts, warps);
        match class {
            Class::Divergent => efficiency < DIVERGENT_BELOW,
            Class::Coherent => efficiency >= DIVERGENT_BELOW,
            Class::Barrier => mean(Self::barrier_time, |k| k.warp_cycles, lives) > BARRIERS_ABOVE,
        }
    }

    fn new(workload: &str, kernel: &str, class: Class, width: u32, launches: &[(&Launched, &LaunchSummary)]) -> Self {
        let sum = |f: &dyn Fn(&Launched, &LaunchSummary) -> u64| launches.iter().map(|(l, s)| f(l, s)).sum::<u64>();
        let most = |f: &dyn Fn(&Launched) -> u64| launches.iter().map(|(l, _)| f(l)).max().unwrap_or(0);
        let timed = |f: &dyn Fn(&Timed) -> u64| most(&|l| l.timed.as_ref().map_or(0, |t| f(t)));
        let part = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let warp_insts = sum(&|l, _| l.report.warp_insts);
        let thread_insts = sum(&|l, _| l.report.thread_insts);
        let (blocks, life) = (sum(&|_, s| s.blocks), sum(&|_, s| s.life));
        let with_dwr = launches.iter().filter_map(|(_, s)| Some((s.dwr?, s.blocks)));
        let (dwr, waited) = with_dwr.fold((0.0, 0), |(sum, n), (dwr, blocks)| (sum + dwr * blocks as f64, n + blocks));
        let insts = [0, 1, 2, 3].map(|n| part(sum(&|_, s| s.insts_over[n]), blocks));
        let cycles = [0, 1, 2, 3].map(|n| part(sum(&|_, s| s.cycles_over[n]), blocks));
        Self {
            workload: workload.to_owned(),
            kernel: kernel.to_owned(),
            class,
            launches: launches.len() as u64,
            blocks,
            threads_per_block: most(&|l| l.block.iter().map(|n| u64::from(*n)).product()),
            blocks_per_sm: timed(&|t| u64::from(t.residency.ctas)) as u32,
            registers: timed(&|t| u64::from(t.residency.registers)) as u32,
            shared_bytes: timed(&|t| u64::from(t.residency.shared)) as u32,
            thread_insts,
            warp_insts,
            cycles: sum(&|l, _| l.timed.as_ref().map_or(0, |t| t.result.cycles)),
            warp_cycles: life,
            barriers_per_warp: part(sum(&|_, s| s.barriers), sum(&|_, s| s.warps)),
            simd_efficiency: part(thread_insts, warp_insts * u64::from(width)),
            barrier_share: part(sum(&|_, s| s.barrier_wait), life),
            exit_share: part(sum(&|_, s| s.exit_wait), life),
            dwr: dwr / waited.max(1) as f64,
            insts_apart_50: insts[0],
            insts_apart_25: insts[1],
            insts_apart_10: insts[2],
            insts_apart_5: insts[3],
            cycles_apart_50: cycles[0],
            cycles_apart_25: cycles[1],
            cycles_apart_10: cycles[2],
            cycles_apart_5: cycles[3],
        }
    }
}

impl Workload {
    /// Runs it on a machine with mechanisms of the registry and gives one for each kernel, in the order of their first
    /// launches.
    ///
    /// # Errors
    /// When it cannot be run, or its results are wrong.
    pub fn measure(
        &self,
        timing: &TimingOptions,
        registry: &Arc<Registry>,
        size: Size,
    ) -> Result<Vec<Measured>, Error> {
        let (width, sms) = (timing.machine.sm.warp_width, timing.machine.gpu.sms);
        let engine = EngineOptions { engine: Engine::Timing, warp_width: width };
        let timing = Some(Box::new(timing.clone()));
        let setup = Setup::with_registry(RunOptions { engine, timing, ..RunOptions::default() }, Arc::clone(registry));
        let module = self.module()?;
        let manifest = self.manifest(&module)?;
        let mut summaries = Summaries::new(sms);
        let watch = Watch { observer: Some(&mut summaries), ..Watch::default() };
        let Ran { launches, wrong, .. } = self.run(&module, &setup, watch, &Request::new(size))?;
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        let summaries = summaries.finish();
        let mut kernels: Vec<&str> = Vec::new();
        launches.iter().for_each(|l| {
            if !kernels.contains(&l.kernel.as_str()) {
                kernels.push(&l.kernel);
            }
        });
        let of = |kernel: &str| launches.iter().zip(&summaries).filter(|(l, _)| l.kernel == kernel).collect::<Vec<_>>();
        let measured = |kernel: &str| Measured::new(self.name, kernel, manifest.class_of(kernel), width, &of(kernel));
        Ok(kernels.into_iter().map(measured).collect())
    }
}
