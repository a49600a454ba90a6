//! The way of arithmetic instructions: operands are collected, pipelines entered, results written back.
//!
//! A machine with narrow warps has a slice of the datapath for the lanes of each warp of a row, so that together they
//! are as wide as a wide warp. A machine with sub-cores has one for the warps of each. Any other machine has one.

use super::build::Build;
use super::collector::Collector;
use super::in_flight::InstId;
use super::power::Power;
use super::shared::Shared;
use super::units::{HORIZON, Units, place};
use crate::config::SmConfig;
use crate::kernel::{UNITS, UnitKind};
use crate::packet::Cycle;
use crate::saved;
use crate::seam::{Shape, WarpId};

/// One slice: where its instructions collect their operands, and its pipelines.
struct Slice {
    collector: Collector,
    units: Units,
}

saved!(Slice { parts: collector, units });

/// Which slices have something to do, as bits; not used in plain builds, which have one.
struct Agenda {
    /// Those whose pipelines have results to write back, for each cycle to come.
    due: Box<[u64; HORIZON]>,
    /// Those with instructions that have their operands and wait for an arithmetic pipeline.
    collected: u64,
}

saved!(Agenda { values: collected; parts: due });

impl Agenda {
    /// A slice has a result to write back at this time.
    #[inline]
    fn set_due(&mut self, slice: usize, at: Cycle) {
        self.due[place(at)] |= 1 << slice;
    }

    /// The slices with results to write back now, which they are asked for once.
    #[inline]
    fn take_due(&mut self, now: Cycle) -> u64 {
        std::mem::take(&mut self.due[place(now)])
    }

    /// Whether a slice has instructions that wait for an arithmetic pipeline.
    #[inline]
    fn set_collected(&mut self, slice: usize, collected: bool) {
        self.collected = self.collected & !(1 << slice) | u64::from(collected) << slice;
    }
}

/// All slices of an SM. Warp `w` is of slice `w` modulo their number. Most machines have one, which is at hand.
pub(super) struct Datapath {
    first: Slice,
    others: Vec<Slice>,
    agenda: Agenda,
    /// They are of the lanes of narrow warps; otherwise sub-cores.
    are_of_lanes: bool,
    /// How many instructions sub-cores have issued, and which in this order each of those in flight was.
    issued: u64,
    order: Vec<u64>,
    /// When the one pipeline that all instructions enter takes the next, where there is one (`sm.units.unified`).
    unified: Option<Cycle>,
}

saved!(Datapath { values: unified, issued, order; parts: first, others, agenda; fixed: are_of_lanes });

impl Datapath {
    pub(super) fn new(sm: &SmConfig) -> Self {
        let slice = |_| Slice { collector: Collector::new(&sm.collector, &sm.units), units: Units::new(&sm.units) };
        let agenda = Agenda { due: Box::new([0; HORIZON]), collected: 0 };
        let unified = sm.units.unified.then_some(0);
        let count = sm.slices.max(1) * sm.subcores.max(1);
        let others = (1..count).map(slice).collect();
        Self { first: slice(0), others, agenda, are_of_lanes: sm.slices > 1, issued: 0, order: Vec::new(), unified }
    }

    /// Slices, or sub-cores.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.others.len() + 1
    }

    /// Slices for the lanes of narrow warps.
    #[inline]
    pub(super) fn slices(&self) -> usize {
        if self.are_of_lanes { self.count() } else { 1 }
    }

    /// Whether there are sub-cores.
    #[inline]
    pub(super) fn has_subcores<B: Build>(&self) -> bool {
        !B::PLAIN && !self.are_of_lanes && !self.others.is_empty()
    }

    /// Which slice a warp is of, and a scheduler: their number is a multiple of that of the slices.
    #[inline]
    fn slice_of<B: Build>(&self, index: usize) -> usize {
        if B::PLAIN || self.others.is_empty() { 0 } else { index % self.count() }
    }

    #[inline]
    fn with_agenda<B: Build>(&mut self, slice: usize) -> (&mut Slice, &mut Agenda) {
        let is_first = B::PLAIN || slice == 0;
        (if is_first { &mut self.first } else { &mut self.others[slice - 1] }, &mut self.agenda)
    }

    #[inline]
    fn at<B: Build>(&self, slice: usize) -> &Slice {
        if B::PLAIN || slice == 0 { &self.first } else { &self.others[slice - 1] }
    }

    /// Whether something holds for one of them.
    #[inline]
    fn any<B: Build>(&self, holds: impl Fn(&Slice) -> bool) -> bool {
        holds(&self.first) || !B::PLAIN && self.others.iter().any(holds)
    }

    /// The collector of a warp's slice.
    #[inline]
    fn collector<B: Build>(&mut self, warp: WarpId) -> &mut Collector {
        let slice = self.slice_of::<B>(warp.index());
        &mut self.with_agenda::<B>(slice).0.collector
    }

    /// Takes an instruction that a warp has issued.
    #[inline]
    pub(super) fn push<B: Build>(&mut self, warp: WarpId, unit: UnitKind, inst: InstId) {
        if self.has_subcores::<B>() {
            self.issued += 1;
            if self.order.len() <= inst.index() {
                self.order.resize(inst.index() + 1, 0);
            }
            self.order[inst.index()] = self.issued;
        }
        self.collector::<B>(warp).push(unit, inst);
    }

    /// A register of a warp is written in this cycle; false when its bank is taken by another write.
    #[inline]
    pub(super) fn write<B: Build>(&mut self, warp: WarpId, register: u16) -> bool {
        self.collector::<B>(warp).write(register, warp.0)
    }

    /// Whether a warp or a scheduler of this number can issue to a unit.
    #[inline]
    pub(super) fn accepts<B: Build>(&self, index: usize, unit: UnitKind) -> bool {
        self.at::<B>(self.slice_of::<B>(index)).collector.accepts(unit)
    }

    /// The units for which the first slice takes an instruction, as bits.
    #[inline]
    pub(super) fn open(&self) -> u8 {
        self.first.collector.open()
    }

    /// Whether any slice takes an instruction for a unit.
    #[inline]
    pub(super) fn any_accepts<B: Build>(&self, unit: UnitKind) -> bool {
        self.any::<B>(|slice| slice.collector.accepts(unit))
    }

    /// Whether something in a collector moves in the next cycle; `mem_busy` says that the load-store unit accepts
    /// nothing.
    #[inline]
    pub(super) fn can_move<B: Build>(&self, mem_busy: bool) -> bool {
        self.any::<B>(|slice| slice.collector.can_move::<B>(mem_busy))
    }

    /// Whether an instruction has its operands and waits for the load-store unit.
    #[inline]
    pub(super) fn has_memory<B: Build>(&self) -> bool {
        self.any::<B>(|slice| slice.collector.has_collected(UnitKind::Mem))
    }

    /// The first instruction of a slice that waits for the load-store unit.
    #[inline]
    pub(super) fn memory_head<B: Build>(&self, slice: usize) -> Option<InstId> {
        self.at::<B>(slice).collector.front(UnitKind::Mem)
    }

    /// The load-store unit takes it.
    #[inline]
    pub(super) fn take_memory<B: Build>(&mut self, slice: usize) -> Option<InstId> {
        self.with_agenda::<B>(slice).0.collector.take(UnitKind::Mem)
    }

    /// Ends a cycle in which nothing in the collectors could move.
    #[inline]
    pub(super) fn end_cycle<B: Build>(&mut self) {
        self.first.collector.end_cycle();
        if !B::PLAIN {
            self.others.iter_mut().for_each(|slice| slice.collector.end_cycle());
        }
    }

    /// When the next instruction is written back, or the one pipeline takes the next.
    #[inline]
    pub(super) fn next_event<B: Build>(&self, now: Cycle) -> Option<Cycle> {
        let first = self.first.units.next_event(now);
        if B::PLAIN {
            return first;
        }
        let others = self.others.iter().filter_map(|slice| slice.units.next_event(now));
        others.chain(first).chain(self.unified.filter(|free_at| *free_at > now)).min()
    }

    /// Cycles operands waited because their bank was busy.
    pub(super) fn conflicts(&self) -> u64 {
        self.first.collector.conflicts + self.others.iter().map(|slice| slice.collector.conflicts).sum::<u64>()
    }

    /// Whether all instructions go through one pipeline.
    #[inline(always)]
    pub(super) fn is_unified<B: Build>(&self) -> bool {
        !B::PLAIN && self.unified.is_some()
    }

    /// Whether a memory instruction occupies the one pipeline: it sends its requests (`occupied`), or is about to.
    #[inline]
    pub(super) fn memory_is_in_the_way<B: Build>(&self, occupied: bool) -> bool {
        self.is_unified::<B>() && (occupied || self.has_memory::<B>())
    }

    /// Whether an instruction may issue as far as the one pipeline is concerned; always, where units have their own.
    #[inline]
    pub(super) fn is_open<B: Build>(&self, occupied: bool, now: Cycle) -> bool {
        let is_free = |free_at: Cycle| free_at <= now && !self.memory_is_in_the_way::<B>(occupied);
        B::PLAIN || self.unified.is_none_or(is_free)
    }

    /// A warp has issued, and enters the one pipeline with all its lanes up to this time.
    #[inline]
    pub(super) fn occupy<B: Build>(&mut self, until: Cycle) {
        if let Some(free_at) = self.unified.as_mut().filter(|_| !B::PLAIN) {
            *free_at = until;
        }
    }

    /// Results of the arithmetic units are written back.
    #[inline]
    pub(super) fn write_back<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        if B::PLAIN {
            return self.first.write_back(on, now);
        }
        let mut due = self.agenda.take_due(now);
        while due != 0 {
            let slice = due.trailing_zeros() as usize;
            due &= due - 1;
            self.with_agenda::<B>(slice).0.write_back(on, now);
        }
    }

    /// Instructions with their operands enter the arithmetic units.
    #[inline]
    pub(super) fn execute<B: Build>(&mut self, on: &Shared<'_, B>, power: &mut Power, now: Cycle) {
        if B::PLAIN {
            if self.first.collector.has_collected_arithmetic() {
                self.first.execute(on, power, 0, now, |_| {});
            }
            return;
        }
        let sps = if self.has_subcores::<B>() { on.facts.config.sm.units.sp as usize } else { 0 };
        let first_sp = |slice: usize| slice * sps;
        let mut collected = self.agenda.collected;
        while collected != 0 {
            let slice = collected.trailing_zeros() as usize;
            collected &= collected - 1;
            let (own, agenda) = self.with_agenda::<B>(slice);
            own.execute(on, power, first_sp(slice), now, |written| agenda.set_due(slice, written));
            agenda.set_collected(slice, own.collector.has_collected_arithmetic());
        }
    }

    /// One cycle of the operand collectors.
    #[inline]
    pub(super) fn collect<B: Build>(&mut self, on: &Shared<'_, B>) {
        if self.has_subcores::<B>() {
            return self.collect_in_subcores(on);
        }
        for slice in 0..if B::PLAIN { 1 } else { self.count() } {
            let (Slice { collector, .. }, agenda) = self.with_agenda::<B>(slice);
            if collector.is_empty() {
                collector.end_cycle();
                continue;
            }
            collector.cycle::<B>(|inst| {
                let entry = on.insts.get(inst);
                (on.op(entry.pc).reads(), entry.warp)
            });
            if !B::PLAIN {
                agenda.set_collected(slice, collector.has_collected_arithmetic());
            }
        }
    }
}

impl Datapath {
    /// One cycle of the operand collectors of sub-cores. What was issued to a kind of pipeline leaves in order of time:
    /// an instruction that finds no free unit in its sub-core keeps those of other sub-cores that were issued after it.
    fn collect_in_subcores<B: Build>(&mut self, on: &Shared<'_, B>) {
        let reads = |inst| {
            let entry = on.insts.get(inst);
            (on.op(entry.pc).reads(), entry.warp)
        };
        let steps = self.first.collector.steps();
        for _ in 0..steps {
            self.for_each(|_, slice| slice.collector.move_out::<B>());
            let mut open = u8::MAX;
            while open != 0 {
                let before = open;
                for number in (0..UNITS).filter(|n| before >> n & 1 != 0) {
                    let issued = |slice| Some((self.order_of(self.at::<B>(slice).collector.issued(number)?), slice));
                    let first = (0..self.count()).filter_map(issued).min();
                    let took = first
                        .is_some_and(|(_, slice)| self.with_agenda::<B>(slice).0.collector.accept_one(number, &reads));
                    open &= !(u8::from(!took) << number);
                }
                open &= (1 << UNITS) - 1;
            }
            self.for_each(|_, slice| slice.collector.end_cycle());
        }
        if steps == 0 {
            self.for_each(|_, slice| slice.collector.cycle::<B>(reads));
        }
        for slice in 0..self.count() {
            let (own, agenda) = self.with_agenda::<B>(slice);
            agenda.set_collected(slice, own.collector.has_collected_arithmetic());
        }
    }

    /// Which of the instructions that sub-cores have issued one was.
    fn order_of(&self, inst: InstId) -> u64 {
        self.order[inst.index()]
    }

    /// The sub-core whose instruction for the load-store unit was issued first, of those that have their operands.
    pub(super) fn first_with_memory<B: Build>(&self) -> Option<usize> {
        let issued = |slice| Some((self.order_of(self.memory_head::<B>(slice)?), slice));
        (0..self.count()).filter_map(issued).min().map(|(_, slice)| slice)
    }

    fn for_each(&mut self, mut f: impl FnMut(usize, &mut Slice)) {
        f(0, &mut self.first);
        self.others.iter_mut().enumerate().for_each(|(n, slice)| f(n + 1, slice));
    }
}

impl Slice {
    /// Its results are written back.
    #[inline]
    fn write_back<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        while let Some(inst) = self.units.next_done(now) {
            let entry = on.insts.get(inst);
            for number in on.op(entry.pc).write_numbers() {
                self.collector.write(*number, entry.warp);
            }
            on.complete(inst);
        }
    }

    /// Its instructions with their operands enter its arithmetic units, the first of its SPs being this one of the
    /// SM's; `due` is told when they are written back.
    #[inline]
    fn execute<B: Build>(
        &mut self,
        on: &Shared<'_, B>,
        power: &mut Power,
        first_sp: usize,
        now: Cycle,
        mut due: impl FnMut(Cycle),
    ) {
        let Self { collector, units } = self;
        for pipeline in 0..units.len() {
            let kind = units.kind(pipeline);
            let Some(inst) = collector.front(kind) else { continue };
            let entry = on.insts.get(inst);
            let (op, shape) = (on.op(entry.pc), if B::PLAIN { Shape::PLAIN } else { entry.shape });
            let latency = op.timing.latency + shape.extra_latency;
            if units.accepts(pipeline, latency, now)
                && power.enters::<B>(op, shape, first_sp + units.number(pipeline), now)
            {
                collector.take(kind);
                due(units.enter(pipeline, inst, latency, op.timing.interval * shape.passes, now));
            }
        }
    }
}
