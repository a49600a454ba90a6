//! What the stages of an SM work on together: warps, instructions in flight, what threads compute, counters.

use super::account::Account;
use super::build::Build;
use super::facts::Facts;
use super::in_flight::InFlightTable;
use super::in_flight::InstId;
use super::threads::Threads;
use super::warps::Warps;
use crate::event::EventKind;
use crate::gpu::GpuError;
use crate::kernel::TimedOp;
use crate::packet::{Cycle, Request};
use crate::saved;
use crate::seam::{Cause, Divergence, MAX_WARPS, WarpId};
use raddle_exec::Launch;
use raddle_exec::core::Core;
use raddle_exec::memory::DeviceMemory;
use raddle_exec::op::Op;
use raddle_ptx::num::fit;

/// What stages share.
pub(super) struct Shared<'k, B> {
    pub(super) facts: Facts<'k>,
    pub(super) threads: Threads<'k>,
    pub(super) warps: Warps<'k, B>,
    pub(super) insts: InFlightTable,
    pub(super) account: Account<B>,
}

saved!(impl['k, B] Shared<'k, B> { values: insts; parts: threads, warps, account; fixed: facts });

/// An instruction in the cycle it issues.
#[derive(Clone, Copy)]
pub(super) struct Issuing<'a> {
    pub(super) warp: WarpId,
    pub(super) op: &'a Op,
    pub(super) pc: u32,
    /// Lanes of the warp that are at it.
    pub(super) mask: u32,
    /// Those of them whose guard is true.
    pub(super) active: u32,
    pub(super) now: Cycle,
    pub(super) memory: &'a DeviceMemory,
}

impl<'k, B: Build> Shared<'k, B> {
    /// For one launch. `fetch_waiting` says that warps at a barrier want instructions too.
    ///
    /// # Errors
    /// When the launch does not fit the kernel, or the divergence model refuses the kernel.
    pub(super) fn new(
        facts: Facts<'k>,
        launch: &'k Launch,
        mut divergence: Box<dyn Divergence>,
        fetch_waiting: bool,
    ) -> Result<Self, GpuError> {
        let Facts { id, config, kernel, .. } = facts;
        divergence.start_launch(kernel.program).map_err(|(pc, why)| {
            let place = kernel.program.place(pc, None);
            GpuError::Refused(format!("divergence model `{}`: {why}, {place}", config.mechanism.divergence.name()))
        })?;
        let sm = &config.sm;
        let core = Core::new(kernel.program, launch, sm.warp_width).map_err(|e| GpuError::Launch(e.to_string()))?;
        let slots = (sm.threads / sm.warp_width) as usize;
        let pool = divergence.pool(slots);
        let slots = pool.unwrap_or(slots).min(MAX_WARPS);
        Ok(Self {
            threads: Threads::new(core.on_sm(u32::from(id), config.gpu.sms), launch.checks.any()),
            warps: Warps::new(kernel, sm, slots, divergence, pool.is_some(), fetch_waiting),
            insts: InFlightTable::default(),
            account: Account::new(id, kernel.ops.len()),
            facts,
        })
    }

    /// An operation of the kernel.
    #[inline]
    pub(super) fn op(&self, pc: u32) -> &'k TimedOp {
        self.facts.op(pc)
    }

    /// The operation of an instruction in flight.
    #[inline]
    pub(super) fn op_of(&self, inst: InstId) -> &'k TimedOp {
        self.facts.op(self.insts.get(inst).pc)
    }

    /// Tells that something happened, after what warps had to tell.
    #[inline]
    pub(super) fn emit(&mut self, at: Cycle, kind: EventKind) {
        if !B::PLAIN {
            self.tell_threads();
            self.account.emit(at, kind);
        }
    }

    /// The same for what happens to issue slots, and for requests.
    #[inline]
    pub(super) fn emit_slot(&mut self, at: Cycle, kind: EventKind) {
        if self.account.hears_slots() {
            self.emit(at, kind);
        }
    }

    /// Tells who is in which warp, if that has changed.
    pub(super) fn tell_threads(&mut self) {
        if B::PLAIN {
            return;
        }
        let now = self.warps.table().now();
        self.warps.news.take_told().for_each(|kind| self.account.emit(now, kind));
    }

    /// Tells what warps can do now, as schedulers see it, where that is something else than before.
    #[inline(always)]
    pub(super) fn tell_states(&mut self, now: Cycle) {
        if self.account.states().is_some() {
            self.tell_new_states(now);
        }
    }

    #[cold]
    fn tell_new_states(&mut self, now: Cycle) {
        for number in 0..self.warps.table().slots() {
            let warp = WarpId::at(number);
            let (place, info) = (self.warps.sets().place(warp), self.warps.get(warp));
            let (pc, slot) = (info.pc, info.cta);
            let told = self.account.states().and_then(|states| states.get_mut(number));
            if told.is_some_and(|told| std::mem::replace(told, (place, pc)) != (place, pc)) {
                self.account.emit(now, EventKind::State { warp: warp.0, slot, pc, place });
            }
        }
    }

    /// A request leaves the SM.
    #[inline]
    pub(super) fn emit_request(&mut self, at: Cycle, request: &Request) {
        let write = request.purpose.is_write();
        self.emit_slot(at, EventKind::Request { address: request.address, bytes: request.bytes, write });
    }

    /// Charges the empty slots of a scheduler to a cause, and to the operation it waited for.
    #[inline]
    pub(super) fn charge(&mut self, scheduler: usize, cause: Cause, pc: u32, now: Cycle, cycles: u64) {
        if self.account.hears_slots() {
            self.tell_threads();
        }
        self.account.charge(scheduler, cause, pc, now, cycles);
    }

    /// Charges what lanes of a warp do that is at an operation, if somebody asks.
    #[inline(always)]
    pub(super) fn charge_lanes(&mut self, warp: WarpId, pc: u32, mask: u32, active: u32) {
        if !B::PROFILED {
            return;
        }
        let width = self.facts.config.sm.warp_width;
        let off = width - mask.count_ones();
        let ended = if off > 0 && !self.warps.regroups() && !self.warps.pooled() { self.ended_lanes(warp) } else { 0 };
        if let Some(row) = self.account.row(pc) {
            row.lanes_guard += u64::from((mask & !active).count_ones());
            row.lanes_ended += u64::from(ended);
            row.lanes_diverged += u64::from(off - ended);
        }
    }

    /// Lanes of a static warp whose threads have ended or never were.
    fn ended_lanes(&self, warp: WarpId) -> u32 {
        let info = self.warps.get(warp);
        let (first, _) = self.threads.core.cta_rows(info.cta);
        let thread = (info.row - first) * 32 + u32::from(info.base);
        self.threads.core.gone(info.cta, fit(thread / self.facts.config.sm.warp_width)).count_ones()
    }

    /// The decoded instructions of a warp are wrong: it drops them.
    pub(super) fn drop_decoded(&mut self, warp: WarpId) {
        self.account.counters.fetch_flushes += 1;
        self.warps.drop_decoded(warp);
    }

    /// An instruction is done: its registers are written, its warp may continue.
    #[inline]
    pub(super) fn complete(&mut self, inst: InstId) {
        self.warps.complete(self.insts.get(inst));
        self.insts.release(inst);
    }
}
