//! Parts of the datapath. A machine with narrow warps has one for the lanes of each warp of a row, so that together they
//! are as wide as a wide warp; any other machine has one.

use super::collector::{Collector, InstId};
use super::units::{HORIZON, Units, place};
use crate::config::SmConfig;
use crate::kernel::UnitKind;
use crate::packet::Cycle;
use crate::seam::WarpId;

/// One slice: where its instructions collect their operands, and its pipelines.
pub(super) struct Slice {
    pub(super) collector: Collector,
    pub(super) units: Units,
}

/// Which slices have something to do, as bits.
pub(super) struct Agenda {
    /// Those whose pipelines have results to write back, for each cycle to come.
    due: Box<[u64; HORIZON]>,
    /// Those with instructions that have their operands and wait for an arithmetic pipeline.
    pub(super) collected: u64,
}

impl Agenda {
    /// A slice has a result to write back at this time.
    #[inline]
    pub(super) fn set_due(&mut self, slice: usize, at: Cycle) {
        self.due[place(at)] |= 1 << slice;
    }

    /// The slices with results to write back now, which they are asked for once.
    #[inline]
    pub(super) fn take_due(&mut self, now: Cycle) -> u64 {
        std::mem::take(&mut self.due[place(now)])
    }

    /// Whether a slice has instructions that wait for an arithmetic pipeline.
    #[inline]
    pub(super) fn set_collected(&mut self, slice: usize, collected: bool) {
        self.collected = self.collected & !(1 << slice) | u64::from(collected) << slice;
    }
}

/// All slices of an SM. Warp `w` is of slice `w` modulo their number. Most machines have one, which is at hand.
pub(super) struct Slices {
    first: Slice,
    others: Vec<Slice>,
    pub(super) agenda: Agenda,
}

impl Slices {
    pub(super) fn new(sm: &SmConfig) -> Self {
        let slice = |_| Slice { collector: Collector::new(&sm.collector, &sm.units), units: Units::new(&sm.units) };
        let agenda = Agenda { due: Box::new([0; HORIZON]), collected: 0 };
        Self { first: slice(0), others: (1..sm.slices.max(1)).map(slice).collect(), agenda }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.others.len() + 1
    }

    /// Which slice a warp is of, and a scheduler: their number is a multiple of that of the slices.
    #[inline]
    pub(super) fn of(&self, index: usize) -> usize {
        if self.others.is_empty() { 0 } else { index % self.len() }
    }

    #[inline]
    pub(super) fn get(&mut self, slice: usize) -> &mut Slice {
        self.with_agenda(slice).0
    }

    /// The same, and what all of them have to do.
    #[inline]
    pub(super) fn with_agenda(&mut self, slice: usize) -> (&mut Slice, &mut Agenda) {
        (if slice == 0 { &mut self.first } else { &mut self.others[slice - 1] }, &mut self.agenda)
    }

    #[inline]
    fn at(&self, slice: usize) -> &Slice {
        if slice == 0 { &self.first } else { &self.others[slice - 1] }
    }

    /// Whether something holds for one of them.
    #[inline]
    fn any(&self, holds: impl Fn(&Slice) -> bool) -> bool {
        holds(&self.first) || !self.others.is_empty() && self.others.iter().any(holds)
    }

    /// The collector of a warp's slice.
    #[inline]
    pub(super) fn collector(&mut self, warp: WarpId) -> &mut Collector {
        let slice = self.of(warp.index());
        &mut self.get(slice).collector
    }

    /// Whether a warp or a scheduler of this number can issue to a unit.
    #[inline]
    pub(super) fn accepts(&self, index: usize, unit: UnitKind) -> bool {
        self.at(self.of(index)).collector.accepts(unit)
    }

    /// Whether any slice takes an instruction for a unit.
    #[inline]
    pub(super) fn any_accepts(&self, unit: UnitKind) -> bool {
        self.any(|slice| slice.collector.accepts(unit))
    }

    /// Whether something in a collector moves in the next cycle; `mem_busy` says that the load-store unit takes nothing.
    #[inline]
    pub(super) fn can_move(&self, mem_busy: bool) -> bool {
        self.any(|slice| slice.collector.can_move(mem_busy))
    }

    /// Whether an instruction has its operands and waits for the load-store unit.
    #[inline]
    pub(super) fn has_memory(&self) -> bool {
        self.any(|slice| !slice.collector.output[UnitKind::Mem as usize].is_empty())
    }

    /// The first instruction of a slice that waits for the load-store unit.
    #[inline]
    pub(super) fn memory_head(&self, slice: usize) -> Option<InstId> {
        self.at(slice).collector.output[UnitKind::Mem as usize].front()
    }

    /// Ends a cycle in which nothing in the collectors could move.
    #[inline]
    pub(super) fn end_cycle(&mut self) {
        self.first.collector.end_cycle();
        self.others.iter_mut().for_each(|slice| slice.collector.end_cycle());
    }

    /// When the next instruction is written back.
    #[inline]
    pub(super) fn next_event(&self, now: Cycle) -> Option<Cycle> {
        let first = self.first.units.next_event(now);
        if self.others.is_empty() {
            return first;
        }
        self.others.iter().filter_map(|slice| slice.units.next_event(now)).chain(first).min()
    }

    /// Cycles operands waited because their bank was busy.
    pub(super) fn conflicts(&self) -> u64 {
        self.first.collector.conflicts + self.others.iter().map(|slice| slice.collector.conflicts).sum::<u64>()
    }
}
