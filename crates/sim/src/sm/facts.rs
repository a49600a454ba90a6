//! What does not change during a launch: the machine, the kernel, and what follows from them.

use super::build::Build;
use crate::config::MachineConfig;
use crate::kernel::{TimedKernel, TimedOp};
use crate::packet::NO_ORIGIN;
use raddle_exec::Launch;
use raddle_exec::core::Home;
use raddle_ptx::num::fit;

/// Where local memory is in the address space of the timing model: below the heap, as in GPGPU-Sim.
const LOCAL_BASE: u64 = 0x1F88_0000;

/// What does not change during a launch.
pub(super) struct Facts<'k> {
    /// Number of the SM.
    pub(super) id: u16,
    pub(super) config: &'k MachineConfig,
    pub(super) kernel: &'k TimedKernel<'k>,
    /// Blocks it can hold.
    pub(super) most_ctas: u32,
    /// Blocks it holds when they are handed out evenly: fewer where the grid is small.
    pub(super) held_ctas: u64,
    pub(super) warps_per_cta: u16,
    /// Slots of a block: its warps begin in the first slice.
    pub(super) slots_per_cta: u16,
    /// Rows of registers of a block: 32 threads each.
    rows_per_cta: u32,
    /// Bytes from a word of local memory to the next word of the same thread: there is room for as many blocks as SMs hold, or
    /// for all of the grid if that is less.
    pub(super) local_stride: u64,
    /// The number of its first operation in requests.
    pub(super) first_origin: u32,
    /// Runs every cycle instead of skipping those in which nothing moves.
    pub(super) never_skips: bool,
}

impl<'k> Facts<'k> {
    pub(super) fn new(
        id: u16,
        config: &'k MachineConfig,
        kernel: &'k TimedKernel<'k>,
        launch: &Launch,
        most_ctas: u32,
    ) -> Self {
        let sms = u64::from(config.gpu.sms);
        let threads = launch.threads_per_cta();
        let rows_per_cta = threads.div_ceil(32);
        let held_ctas = u64::from(most_ctas).min(launch.ctas().div_ceil(sms));
        let warps_per_cta = threads.div_ceil(config.sm.warp_width);
        Self {
            id,
            config,
            kernel,
            most_ctas,
            held_ctas,
            warps_per_cta: fit(warps_per_cta),
            slots_per_cta: fit(warps_per_cta.next_multiple_of(config.sm.slices.max(1))),
            rows_per_cta,
            local_stride: held_ctas * u64::from(rows_per_cta) * sms * 128,
            first_origin: 0,
            never_skips: false,
        }
    }

    /// What requests of an operation say of it, for profiles.
    #[inline]
    pub(super) fn origin<B: Build>(&self, pc: u32) -> u32 {
        if B::PROFILED { self.first_origin + pc } else { NO_ORIGIN }
    }

    /// The operation of a request.
    #[inline]
    pub(super) fn pc_of_origin(&self, origin: u32) -> u32 {
        origin.wrapping_sub(self.first_origin)
    }

    /// An operation of the kernel.
    #[inline]
    pub(super) fn op(&self, pc: u32) -> &'k TimedOp {
        &self.kernel.ops[pc as usize]
    }

    /// The first warp of a block.
    pub(super) fn first_warp(&self, slot: u32) -> u16 {
        fit(slot * u32::from(self.slots_per_cta))
    }

    /// Where a byte of a thread's local memory is: words of the same offset lie side by side, those of the threads of a block
    /// first, then of the blocks in the same place of all SMs, then of their next places.
    pub(super) fn local_address(&self, home: Home, offset: u64) -> u64 {
        let rows = u64::from(self.rows_per_cta);
        let row = u64::from(home.row.saturating_sub(1));
        let (place, row) = (row / rows, row % rows);
        let block = place * u64::from(self.config.gpu.sms) + u64::from(self.id);
        let thread = (block * rows + row) * 32 + u64::from(home.lane);
        LOCAL_BASE + offset / 4 * self.local_stride + thread * 4
    }
}
