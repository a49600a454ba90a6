//! How full machines are: the part of a machine that a workload fills, and how full its runs were.
//!
//! The rule of `[fill]`. Each launch of a workload, as the census of launches has it, has so many blocks for each place of
//! a machine, its waves; places come from the kernel as it is written, on the machine before any variant changes it.
//! A workload runs on the most SMs, at most those of the machine and at least one, on which launches with the wanted waves
//! or more have at least nine tenths ([`raddle_sim::fill::MOST`]) of the thread-instructions of the kernels that count. Memory becomes smaller with it,
//! see [`Part`]. Blocks that wait for each other must all be resident: such a workload runs on the fewest SMs that hold
//! all blocks of its largest launch.

use crate::experiment::Experiment;
use crate::figure::Values;
use crate::grid::Grid;
use crate::metric::Metric;
use crate::point::{Point, Program, Source};
use raddle_runtime::timing::TimingOptions;
use raddle_runtime::virtual_blocks::residency;
use raddle_sim::config::MachineConfig;
use raddle_sim::fill::{Fill, Fullness, Part};
use raddle_sim::residency::Residency;
use raddle_workloads::{Launches, Size};
use std::collections::BTreeMap;

/// The launches of a workload at a size beside the places of a machine. None when the census does not have them, or an SM
/// does not hold a block.
fn launches(program: &Program, size: Size, machine: &MachineConfig) -> Option<Vec<(Launches, Fill)>> {
    let timing = TimingOptions::new(machine.clone());
    let mut known: BTreeMap<(String, u32, u32), Residency> = BTreeMap::new();
    let mut fills = Vec::new();
    for launch in program.launches(size) {
        let Launches { kernel, threads, shared, blocks, .. } = &launch;
        let shape = (kernel.clone(), *threads, *shared);
        if !known.contains_key(&shape) {
            let found = residency(program.module.as_ref()?, kernel, &timing, [*threads, 1, 1], *shared).ok()?;
            known.insert(shape.clone(), found);
        }
        let fill = Fill::new(*blocks, known.get(&shape)?, machine.gpu.sms);
        fills.push((launch, fill));
    }
    (!fills.is_empty()).then_some(fills)
}

/// How full a workload makes a machine, by the kernels that count.
#[must_use]
pub fn fill(experiment: &Experiment, program: &Program, size: Size, machine: &MachineConfig) -> Option<Fill> {
    let name = program.name;
    let launches = launches(program, size, machine)?.into_iter().filter(|(l, _)| experiment.counts(name, &l.kernel));
    Fill::of_most(launches.map(|(launch, fill)| (fill, launch.thread_insts)))
}

/// The part of a machine a workload runs on, to have so many waves. None when it cannot run there at all.
#[must_use]
pub fn part(
    experiment: &Experiment,
    program: &Program,
    size: Size,
    machine: &MachineConfig,
    waves: f64,
) -> Option<Part> {
    let sms = if program.all_resident {
        let needed = launches(program, size, machine)?.into_iter().map(|(_, f)| f.blocks.div_ceil(f.per_sm.into()));
        needed.max()?.min(machine.gpu.sms.into()) as u32
    } else {
        fill(experiment, program, size, machine)?.sms_for(waves)
    };
    Some(Part::new(machine, sms))
}

/// A machine that a workload ran on, and how full it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// Workload.
    pub workload: &'static str,
    /// Size of its input.
    pub size: Size,
    /// The size of the machine.
    pub part: Part,
    /// Blocks and places; none where no SM holds a block.
    pub fill: Option<Fill>,
    /// Whether all its blocks must be resident at once, so that fewer SMs cannot run it.
    pub all_resident: bool,
    /// Share of issue slots without a warp, the mean over the runs that have a result.
    pub empty_slots: Option<f64>,
}

impl Filled {
    /// How full the runs were, once there are results.
    #[must_use]
    pub fn fullness(&self) -> Option<Fullness> {
        Some(Fullness { fill: self.fill?, empty_slots: self.empty_slots? })
    }

    /// Why the runs did not fill their machine, and what to do; none where they did.
    #[must_use]
    pub fn complaint(&self) -> Option<String> {
        let fullness = self.fullness().filter(|fullness| !fullness.is_full())?;
        let fewer = fullness
            .better_sms()
            .filter(|_| !self.all_resident)
            .map(|sms| format!("fewer SMs (`--set gpu.sms={sms}`, or [fill] in the experiment), "));
        Some(format!("{}: {fullness}. What helps: {}a larger size", self.title(), fewer.unwrap_or_default()))
    }

    /// Workload, size and SMs.
    fn title(&self) -> String {
        let sms = self.part.sms;
        format!("{} at size {} on {sms} SM{}", self.workload, self.size, if sms == 1 { "" } else { "s" })
    }
}

/// Where issue slots go when there is no warp.
pub(crate) fn empty_slots() -> Metric {
    Metric::StallShare("no_warp_resident".to_owned())
}

/// The machines of an experiment that differ in SMs or memory: for each workload in its order those it ran on, in the order
/// of the points.
#[must_use]
pub fn machines(experiment: &Experiment, grid: &Grid, values: &Values<'_>) -> Vec<Filled> {
    let mut all: Vec<(Filled, Vec<f64>)> = Vec::new();
    grid.each(|_, _, _, point| {
        let Point { program, target, size, .. } = point;
        // No census has the launches of the user's own files.
        if !matches!(program.source, Source::Workload(_)) {
            return;
        }
        let config = &target.config;
        let part = Part { sms: config.gpu.sms, channels: config.dram.channels, dram_mhz: config.clock.dram };
        let workload = program.name;
        let same = |f: &Filled| (f.workload, f.size, f.part) == (workload, *size, part);
        let at = all.iter().position(|(filled, _)| same(filled)).unwrap_or_else(|| {
            let fill = fill(experiment, program, *size, config);
            let all_resident = program.all_resident;
            all.push((Filled { workload, size: *size, part, fill, all_resident, empty_slots: None }, Vec::new()));
            all.len() - 1
        });
        all[at].1.extend(values.get(&point.key, &empty_slots()));
    });
    let order = |workload: &str| grid.programs.iter().position(|program| program.name == workload);
    all.sort_by_key(|(filled, _)| order(filled.workload));
    let mean = |shares: &[f64]| (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64);
    all.into_iter().map(|(filled, shares)| Filled { empty_slots: mean(&shares), ..filled }).collect()
}

#[cfg(test)]
mod tests;
