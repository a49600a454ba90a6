//! Which lanes have power: what the gating scheme is asked and told.
//!
//! Everything here costs nothing while the gating scheme is `none`.

use super::build::Build;
use super::lanes::LaneCounters;
use super::shared::Shared;
use crate::config::SmConfig;
use crate::kernel::{Pipe, TimedOp};
use crate::packet::Cycle;
use crate::saved;
use crate::seam::{Cause, Census, Entry, Gating, GatingView, Place, Shape, WarpId};

/// The power of the lanes of an SM.
pub(super) struct Power {
    gating: Box<dyn Gating>,
    is_active: bool,
    /// The version of the sets the gating scheme last saw.
    saw: u64,
}

saved!(Power { values: saw; parts: gating; fixed: is_active });

impl Power {
    pub(super) fn new(gating: Box<dyn Gating>) -> Self {
        Self { is_active: gating.is_active(), gating, saw: 0 }
    }

    /// The gating scheme.
    pub(super) fn gating(&self) -> &dyn Gating {
        &*self.gating
    }

    /// Whether lanes may be gated.
    #[inline(always)]
    pub(super) fn is_active<B: Build>(&self) -> bool {
        !B::PLAIN && self.is_active
    }

    /// A cycle begins.
    #[inline]
    pub(super) fn begin_cycle<B: Build>(&mut self, on: &Shared<'_, B>, now: Cycle) {
        if !self.is_active::<B>() {
            return;
        }
        let (warps, sets) = (&on.warps, on.warps.sets());
        self.saw = sets.moves();
        let is_ideal = on.facts.config.sm.fetch.ideal;
        let census = || {
            let mut census = Census::default();
            for warp in WarpId::first(warps.table().slots()).filter(|w| warps.get(*w).valid) {
                let next = if is_ideal { Some(warps.get(warp).pc) } else { warps.front(warp).head() };
                let Some(pipe) = next.and_then(|pc| on.facts.kernel.ops.get(pc as usize)?.pipe()) else { continue };
                census.buffered[pipe as usize] += 1;
                let waits_for_none =
                    matches!(sets.place(warp), Place::ReadySp | Place::ReadyInt | Place::ArithmeticDependence);
                census.active[pipe as usize] += u32::from(waits_for_none);
            }
            census
        };
        self.gating.tick(&GatingView { now, census: &census });
    }

    /// When the gating scheme next acts on its own.
    #[inline]
    pub(super) fn next_event<B: Build>(&self, on: &Shared<'_, B>, now: Cycle) -> Option<Cycle> {
        if !self.is_active::<B>() {
            return None;
        }
        if self.saw != on.warps.sets().moves() && self.gating.is_undecided() {
            return Some(now);
        }
        self.gating.next_event(now)
    }

    /// Cycles passed without an instruction.
    pub(super) fn skip(&mut self, from: Cycle, to: Cycle) {
        self.gating.skip(from, to);
    }

    /// Why a warp may not issue.
    #[inline]
    pub(super) fn veto<B: Build>(&mut self, on: &Shared<'_, B>, warp: WarpId, now: Cycle) -> Option<Cause> {
        if !self.is_active::<B>() {
            return None;
        }
        let (op, mask) = (on.warps.op(warp), on.warps.get(warp).mask);
        self.gating.wants_to_issue(now, op, mask);
        self.gating.may_issue(now, op, mask).err()
    }

    /// An instruction is issued for these lanes: how it goes through its unit.
    #[inline(always)]
    pub(super) fn issued<B: Build>(&mut self, op: &TimedOp, active: u32, now: Cycle) -> Shape {
        if self.is_active::<B>() { self.gating.issued(now, op, active) } else { Shape::PLAIN }
    }

    /// Whether an instruction may enter an SP that has room for it; it then enters.
    #[inline(always)]
    pub(super) fn enters<B: Build>(&mut self, op: &TimedOp, shape: Shape, sp: usize, now: Cycle) -> bool {
        let Some(pipe) = op.pipe().filter(|_| self.is_active::<B>()) else { return true };
        let entry = Entry { now, sp, pipe, op, shape };
        self.gating.wants_to_enter(&entry);
        let may = self.gating.may_enter(&entry);
        if may {
            self.gating.entered(&entry);
        }
        may
    }

    /// What the lanes did in the first `cycles` cycles, integer and floating-point.
    ///
    /// # Panics
    /// When the states of the lanes do not sum up to their cycles, and the launch did not end by a fault.
    pub(super) fn lanes(&self, sm: &SmConfig, cycles: Cycle, has_fault: bool) -> [LaneCounters; 2] {
        let Some(lanes) = self.gating.lanes(cycles) else { return Default::default() };
        let (pipes, all) = (cycles * u64::from(sm.sps()), cycles * u64::from(sm.sps()) * u64::from(sm.units.sp_lanes));
        for (own, pipe) in lanes.iter().zip(Pipe::ALL).filter(|_| !has_fault) {
            let name = pipe.name();
            assert_eq!((own.pipe_cycles, own.lane_cycles), (pipes, all), "the {name} lanes are counted all the time");
            assert_eq!(own.states(), all, "every {name} lane is in one state in every cycle");
        }
        lanes
    }
}
