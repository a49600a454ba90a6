//! What the lanes of the SPs do: counters, what the gating scheme is asked and told, and the mix of instructions.
//!
//! Everything here costs nothing while the gating scheme is `none`: the mix is made at the end of a launch from how often
//! each operation issued.

use super::counters::SmCounters;
use super::state::Place;
use super::{Build, Sm};
use crate::counters;
use crate::kernel::{Pipe, TimedOp, UnitKind};
use crate::packet::Cycle;
use crate::seam::{Cause, Census, Entry, Gating, GatingView, Shape, WarpId};

counters! {
    /// What the pipelines of one kind, integer or floating-point, of an SM's SPs count.
    pub struct LaneCounters {
        entries: WarpInsts, "instructions that entered a pipeline";
        folded: WarpInsts, "of these in two halves, one behind the other on half of the lanes";
        pipe_cycles: Cycles, "cycles of all pipelines: cycles of the launch times SPs";
        bubble_1: Cycles, "cycles of pipelines in gaps of one cycle between instructions that enter";
        bubble_2_4: Cycles, "cycles of pipelines in gaps of 2 to 4 cycles";
        bubble_5_9: Cycles, "cycles of pipelines in gaps of 5 to 9 cycles";
        bubble_10_18: Cycles, "cycles of pipelines in gaps of 10 to 18 cycles";
        bubble_19_49: Cycles, "cycles of pipelines in gaps of 19 to 49 cycles";
        bubble_50_up: Cycles, "cycles of pipelines in gaps of 50 cycles and more";
        lane_cycles: Cycles, "cycles of all lanes: cycles of the launch times SPs times lanes; the next five are these";
        active: Cycles, "cycles lanes had an instruction in them";
        idle_detect: Cycles, "cycles lanes had none, and power";
        uncompensated: Cycles, "cycles lanes had no power, up to break-even";
        compensated: Cycles, "cycles lanes had no power, beyond break-even";
        waking: Cycles, "cycles lanes took to get power back";
        gatings: Events, "times a lane lost power";
        early_wakes: Events, "of these it was wanted back before break-even";
        overhead: Cycles, "break-even times `gatings`: what switching costs, in cycles of a lane's leakage";
    }
}

impl LaneCounters {
    /// The counter of gaps of this length.
    pub fn bubble(&mut self, cycles: Cycle) -> &mut u64 {
        match cycles {
            0..=1 => &mut self.bubble_1,
            2..=4 => &mut self.bubble_2_4,
            5..=9 => &mut self.bubble_5_9,
            10..=18 => &mut self.bubble_10_18,
            19..=49 => &mut self.bubble_19_49,
            _ => &mut self.bubble_50_up,
        }
    }

    /// Cycles of lanes in all states.
    #[must_use]
    pub fn states(&self) -> u64 {
        self.active + self.idle_detect + self.uncompensated + self.compensated + self.waking
    }

    /// Cycles of a lane's leakage that were saved; less than nothing when switching cost more.
    #[must_use]
    pub fn saved(&self) -> i64 {
        (self.uncompensated + self.compensated) as i64 - self.overhead as i64
    }

    /// Cycles of pipelines in gaps shorter than ten cycles.
    #[must_use]
    pub fn short_bubbles(&self) -> u64 {
        self.bubble_1 + self.bubble_2_4 + self.bubble_5_9
    }
}

/// Whether the gating scheme lets an instruction into an SP that has room for it; it then enters.
pub(super) fn enters(gating: &mut dyn Gating, op: &TimedOp, shape: Shape, sp: usize, now: Cycle) -> bool {
    let Some(pipe) = op.pipe() else { return true };
    let entry = Entry { now, sp, pipe, op, shape };
    let may = gating.may_enter(&entry);
    if may {
        gating.entered(&entry);
    }
    may
}

impl<B: Build> Sm<'_, B> {
    /// A cycle begins for the gating scheme.
    #[inline]
    pub(super) fn gating_tick(&mut self, now: Cycle) {
        if !self.has_gating() {
            return;
        }
        self.gating_saw = self.sets.moves();
        let (fronts, sets, table, ops) = (&self.fronts, &self.sets, &self.table, &self.kernel.ops);
        let is_ideal = self.config.sm.fetch.ideal;
        let census = || {
            let mut census = Census::default();
            for warp in WarpId::first(fronts.len()).filter(|w| table.get(*w).valid) {
                let next = if is_ideal { Some(table.get(warp).pc) } else { fronts[warp.index()].head() };
                let Some(pipe) = next.and_then(|pc| ops.get(pc as usize)?.pipe()) else { continue };
                census.buffered[pipe as usize] += 1;
                let waits_for_none = matches!(sets.place(warp), Place::ReadySp | Place::DataAlu);
                census.active[pipe as usize] += u32::from(waits_for_none);
            }
            census
        };
        self.mechanisms.gating.tick(&GatingView { now, census: &census });
    }

    /// When the gating scheme next acts on its own.
    #[inline]
    pub(super) fn gating_event(&self, now: Cycle) -> Option<Cycle> {
        if !self.has_gating() {
            return None;
        }
        let gating = &self.mechanisms.gating;
        if self.gating_saw != self.sets.moves() && gating.is_undecided() {
            return Some(now);
        }
        gating.next_event(now)
    }

    /// Why the gating scheme does not let a warp issue.
    #[inline]
    pub(super) fn gating_veto(&mut self, warp: WarpId, now: Cycle) -> Option<Cause> {
        if !self.has_gating() {
            return None;
        }
        let info = self.table.get(warp);
        let op = &self.kernel.ops[info.pc as usize];
        self.mechanisms.gating.may_issue(now, op, info.mask).err()
    }

    /// What the lanes did in the first `cycles` cycles, integer and floating-point.
    ///
    /// # Panics
    /// When the states of the lanes do not sum up to their cycles, and the launch did not end by a fault.
    #[must_use]
    pub fn lanes(&self, cycles: Cycle, has_fault: bool) -> [LaneCounters; 2] {
        let Some(lanes) = self.mechanisms.gating.lanes(cycles) else { return Default::default() };
        let units = &self.config.sm.units;
        let (pipes, all) = (cycles * u64::from(units.sp), cycles * u64::from(units.sp) * u64::from(units.sp_lanes));
        for (own, pipe) in lanes.iter().zip(Pipe::ALL).filter(|_| !has_fault) {
            let name = pipe.name();
            assert_eq!((own.pipe_cycles, own.lane_cycles), (pipes, all), "the {name} lanes are counted all the time");
            assert_eq!(own.states(), all, "every {name} lane is in one state in every cycle");
        }
        lanes
    }

    /// Adds what follows from how often each operation issued.
    pub(super) fn with_mix(&self, mut counters: SmCounters) -> SmCounters {
        for (op, [warps, threads]) in self.kernel.ops.iter().zip(&self.pc_counts) {
            counters.register_reads += threads * op.reads().len() as u64;
            counters.register_writes += threads * op.write_numbers().len() as u64;
            let (insts, by_thread) = match (op.unit, op.pipe()) {
                (_, Some(Pipe::Int)) => (Some(&mut counters.int_insts), &mut counters.int_threads),
                (_, Some(Pipe::Fp)) => (Some(&mut counters.fp_insts), &mut counters.fp_threads),
                (UnitKind::Mem, _) => (None, &mut counters.mem_threads),
                _ => (None, &mut counters.sfu_threads),
            };
            *by_thread += threads;
            if let Some(insts) = insts {
                *insts += warps;
            }
        }
        counters
    }
}
