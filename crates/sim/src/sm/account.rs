//! What is counted on an SM, and told to those who listen.

use super::build::Build;
use super::counters::SmCounters;
use crate::event::{Event, EventKind};
use crate::kernel::{Pipe, TimedOp, UnitKind};
use crate::packet::Cycle;
use crate::profile::{PcCounters, SmProfile};
use crate::saved;
use crate::seam::{Cause, Place};
use raddle_ptx::num::fit;
use std::marker::PhantomData;

/// Which events are collected beside those that are few.
#[derive(Clone, Copy)]
pub struct Wants {
    /// Those of issue slots and requests.
    pub slots: bool,
    /// What every warp could do in every cycle.
    pub states: bool,
    /// What memory instructions ask for, lane by lane.
    pub accesses: bool,
}

/// Counters and events of an SM.
pub(super) struct Account<B> {
    build: PhantomData<B>,
    sm: u16,
    /// Counters.
    pub(super) counters: SmCounters,
    /// Instructions issued at each operation, by warp and by thread.
    pcs: Vec<[u64; 2]>,
    /// The last cycle in which an instruction was issued.
    last_issue: Cycle,
    events: Option<Vec<Event>>,
    slot_events: bool,
    /// What was told last of what every warp could do, if somebody wants to know.
    states: Option<Vec<(Place, u32)>>,
    access_events: bool,
    /// What is charged to operations; nothing in builds without a profile.
    profile: SmProfile,
}

saved!(impl[B] Account<B> {
    values: pcs, last_issue;
    parts: counters;
    fixed: build, sm, events, slot_events, states, access_events, profile;
});

impl<B: Build> Account<B> {
    /// Nothing is counted yet of a kernel with this many operations.
    pub(super) fn new(sm: u16, operations: usize) -> Self {
        Self {
            build: PhantomData,
            sm,
            counters: SmCounters::default(),
            pcs: vec![[0; 2]; operations],
            last_issue: 0,
            events: None,
            slot_events: false,
            states: None,
            access_events: false,
            profile: SmProfile::new(if B::PROFILED { operations } else { 0 }),
        }
    }

    /// Collects events from now on, of an SM with so many warps.
    pub(super) fn listen(&mut self, wants: Wants, warps: usize) {
        self.events = Some(Vec::new());
        self.slot_events = wants.slots;
        self.access_events = wants.accesses;
        self.states = wants.states.then(|| vec![(Place::Free, 0); warps]);
    }

    /// Whether events are collected.
    pub(super) fn is_heard(&self) -> bool {
        self.events.is_some()
    }

    /// What was told last of what every warp could do, if somebody wants to know.
    #[inline(always)]
    pub(super) fn states(&mut self) -> Option<&mut Vec<(Place, u32)>> {
        self.states.as_mut().filter(|_| !B::PLAIN)
    }

    /// Whether somebody listens to what memory instructions ask for.
    #[inline(always)]
    pub(super) fn hears_accesses(&self) -> bool {
        !B::PLAIN && self.access_events
    }

    /// Whether somebody listens to every issue slot and request.
    #[inline(always)]
    pub(super) fn hears_slots(&self) -> bool {
        !B::PLAIN && self.slot_events
    }

    /// Tells that something happened.
    #[inline]
    pub(super) fn emit(&mut self, at: Cycle, kind: EventKind) {
        if let Some(events) = self.events.as_mut().filter(|_| !B::PLAIN) {
            events.push(Event { at, sm: self.sm, kind });
        }
    }

    /// Moves the events to where others take them.
    pub(super) fn hand_over(&mut self, to: &mut Vec<Event>) {
        if let Some(events) = &mut self.events {
            to.append(events);
        }
    }

    /// What is charged to an operation, where there is a profile.
    #[inline(always)]
    pub(super) fn row(&mut self, pc: u32) -> Option<&mut PcCounters> {
        if B::PROFILED { self.profile.pcs.get_mut(pc as usize) } else { None }
    }

    /// An instruction enters the machine, in a slot of its own if it is the first.
    #[inline(always)]
    pub(super) fn enters(&mut self, pc: u32, mask: u32, now: Cycle, first: bool) {
        if first {
            *self.counters.issued_bucket(mask.count_ones()) += 1;
            self.row(pc).into_iter().for_each(|row| row.issued += 1);
        }
        self.counters.issue_cycles += u64::from(self.last_issue != now || self.counters.issue_cycles == 0);
        self.last_issue = now;
    }

    /// It counts as one of the program, for this many threads.
    #[inline(always)]
    pub(super) fn issues(&mut self, pc: u32, unit: UnitKind, threads: u64) {
        self.counters.warp_insts += 1;
        self.counters.thread_insts += threads;
        let counts = &mut self.pcs[pc as usize];
        counts[0] += 1;
        counts[1] += threads;
        match unit {
            UnitKind::Sp | UnitKind::Int => self.counters.sp_insts += 1,
            UnitKind::Sfu | UnitKind::Dp | UnitKind::Tensor => self.counters.sfu_insts += 1,
            UnitKind::Mem => self.counters.mem_insts += 1,
        }
    }

    /// A line has come for an operation, or a sector that goes past the data cache.
    pub(super) fn line_came(&mut self, pc: u32, latency: Cycle) {
        if let Some(row) = self.row(pc) {
            row.lines_done += 1;
            row.read_latency += latency;
        }
    }

    /// Whether an instruction was issued in the cycle before: something then moves, and it is not worth a look.
    #[inline]
    pub(super) fn has_just_issued(&self, now: Cycle) -> bool {
        self.last_issue + 1 >= now && self.counters.warp_insts > 0
    }

    /// Charges the empty slots of a scheduler to a cause, and to the operation it waited for.
    #[inline]
    pub(super) fn charge(&mut self, scheduler: usize, cause: Cause, pc: u32, now: Cycle, cycles: u64) {
        *self.counters.stall(cause) += cycles;
        if B::PROFILED {
            self.profile.charge(pc, cause, cycles);
        }
        if self.hears_slots() {
            self.emit(now, EventKind::Stall { scheduler: fit(scheduler), cause, cycles });
        }
    }

    /// What is charged to operations, with how often each was issued.
    pub(super) fn profile(&self) -> SmProfile {
        let mut profile = self.profile.clone();
        for (row, [warps, threads]) in profile.pcs.iter_mut().zip(&self.pcs) {
            (row.warp_insts, row.lanes_active) = (*warps, *threads);
        }
        profile
    }

    /// Instructions issued at each operation, by warp and by thread.
    pub(super) fn pcs(&self) -> &[[u64; 2]] {
        &self.pcs
    }

    /// The counters, with what follows from how often each operation issued.
    pub(super) fn with_mix(&self, ops: &[TimedOp]) -> SmCounters {
        let mut counters = self.counters.clone();
        for (op, [warps, threads]) in ops.iter().zip(&self.pcs) {
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
