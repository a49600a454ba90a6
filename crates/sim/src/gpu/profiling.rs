//! The profile of a launch: it begins before the launch, and is merged and checked after it.

use super::seat::Seat;
use super::{Gpu, GpuError, RunOptions};
use crate::kernel::TimedKernel;
use crate::mem::dram::DramCounters;
use crate::mem::l2::L2Counters;
use crate::packet::{Cycle, NO_ORIGIN};
use crate::parallel::lock;
use crate::profile::{LaunchProfile, Totals};
use crate::result::{Ending, LaunchResult};
use crate::sm::build::Build;
use crate::stats::Counters;
use raddle_ptx::num::fit;

/// What is known before a launch.
pub(super) struct Profiling {
    /// The number of the launch's first operation in requests. Those of earlier launches have others.
    first: u32,
    start: Cycle,
    /// The memory side counts on from launch to launch.
    l2: L2Counters,
    dram: DramCounters,
}

/// What the memory side has counted so far.
fn counted(gpu: &Gpu<'_>) -> (L2Counters, DramCounters) {
    let (mut l2, mut dram) = (L2Counters::default(), DramCounters::default());
    for berth in &*gpu.memory.partitions() {
        let partition = berth.lock();
        l2.add(&partition.l2_counters());
        dram.add(partition.dram_counters());
    }
    (l2, dram)
}

impl Profiling {
    /// The memory side charges what it does to the operations of a kernel from now on.
    pub(super) fn start(
        gpu: &mut Gpu<'_>,
        kernel: &TimedKernel<'_>,
        options: &RunOptions<'_>,
    ) -> Result<Self, GpuError> {
        if options.keeper.is_some() || options.resume.is_some() {
            return Err(GpuError::Launch("a launch with a profile cannot be kept or resumed".to_owned()));
        }
        let operations: u32 = fit(kernel.ops.len());
        // No number is given twice before all others have been, and none is that of fetches.
        let first = if gpu.next_origin < NO_ORIGIN - operations { gpu.next_origin } else { 0 };
        gpu.next_origin = first + operations;
        for berth in &*gpu.memory.partitions() {
            berth.lock().start_profile(first, kernel.ops.len());
        }
        let (l2, dram) = counted(gpu);
        Ok(Self { first, start: gpu.now, l2, dram })
    }

    /// The number of the launch's first operation in requests.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// The profile of the launch; its sums are checked.
    pub(super) fn finish<B: Build>(self, gpu: &Gpu<'_>, sms: &[Seat<'_, B>], result: &LaunchResult) -> LaunchProfile {
        let mut profile = LaunchProfile::default();
        for seat in sms {
            profile.add_sm(&lock(&seat.sm).profile());
        }
        let burst_bytes = u64::from(gpu.config.dram.burst_bytes);
        for berth in &*gpu.memory.partitions() {
            berth.lock().end_profile().iter().for_each(|own| profile.add_memory(own, burst_bytes));
        }
        let (mut l2, mut dram) = counted(gpu);
        l2.subtract(&self.l2);
        dram.subtract(&self.dram);
        let total = result.total();
        // What SMs were run beyond the end of the launch belongs to nobody.
        let trailing = match result.ending {
            Ending::Completed => gpu.now - (self.start + result.cycles),
            _ => 0,
        };
        profile.no_warp -= trailing * u64::from(gpu.config.sm.schedulers()) * sms.len() as u64;
        let warp_width = gpu.config.sm.warp_width.into();
        profile.check(&Totals { sms: &total, l2, dram, warp_width, burst_bytes });
        profile
    }
}
