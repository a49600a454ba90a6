//! Issue slots that stay empty, and what they are charged to.
//!
//! They are not counted cycle by cycle, but when their cause changes.

use super::super::build::Build;
use super::super::datapath::Datapath;
use super::super::gangs::Gangs;
use super::super::shared::Shared;
use super::MemoryState;
use crate::kernel::UnitKind;
use crate::packet::Cycle;
use crate::saved;
use crate::seam::{Cause, Place};
use raddle_exec::op::NO_PC;

/// Why a scheduler could not issue when it last looked, as long as none of its warps has moved.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
struct Idle {
    /// It has looked.
    is_known: bool,
    cause: Cause,
    /// The units it saw.
    state: UnitState,
    /// None of its warps can issue, whatever the units do.
    is_quiet: bool,
    /// It must look again in every cycle: one of its warps has wrong instructions to drop, or its policy wanted none of those
    /// that could issue, and may want one later.
    is_restless: bool,
    /// The first cycle that has not been charged; [`Cycle::MAX`] before the first look.
    since: Cycle,
}

impl Idle {
    /// Nothing is known.
    const UNKNOWN: Self = Self {
        is_known: false,
        cause: Cause::NoWarpResident,
        state: UnitState(0),
        is_quiet: false,
        is_restless: false,
        since: Cycle::MAX,
    };
}

/// What a scheduler has seen of the units, as bits: whether the load-store unit is stalled, whether it keeps others from the
/// one pipeline, and in plain builds which units take an instruction.
#[derive(Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct UnitState(u8);

impl UnitState {
    #[inline]
    pub(super) fn new<B: Build>(datapath: &Datapath, memory: MemoryState) -> Self {
        let open = if B::PLAIN { datapath.open() } else { 0 };
        let in_the_way = datapath.memory_is_in_the_way::<B>(memory.is_occupied);
        Self(u8::from(memory.is_stalled) | u8::from(in_the_way) << 1 | open << 2)
    }
}

/// The slots of all schedulers.
pub(in super::super) struct EmptySlots {
    idle: Vec<Idle>,
    /// The operation each waits for, in builds with a profile; [`NO_PC`] where there is no warp.
    waits_at: Vec<u32>,
}

saved!(EmptySlots { values: idle; fixed: waits_at });

/// Where the warps are that keep a scheduler from issuing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// It has no warp.
    None,
    /// Those at this place.
    At(Place),
    /// All have ended.
    Ended,
}

impl EmptySlots {
    /// Nothing is known of this many schedulers.
    pub(super) fn new(schedulers: usize) -> Self {
        Self { idle: vec![Idle::UNKNOWN; schedulers], waits_at: vec![NO_PC; schedulers] }
    }

    /// Whether none of the schedulers must look again while nothing changes.
    pub(super) fn can_rest(&self) -> bool {
        self.idle.iter().all(|idle| !idle.is_restless)
    }

    /// Finds out why a scheduler cannot issue from now on, from the sets; nothing if it knows already. Where its warps are held up by different things, the
    /// one closest to issue counts: a warp that only waits for its unit before one that waits for data, that before one
    /// whose instruction is not there, and so on.
    #[inline]
    pub(super) fn look<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        datapath: &Datapath,
        gangs: &Gangs,
        memory: MemoryState,
        scheduler: usize,
        now: Cycle,
    ) -> Option<Waiting> {
        let (known, state) = (self.idle[scheduler], UnitState::new::<B>(datapath, memory));
        if known.is_known && known.state == state && on.warps.sets().moved() >> scheduler & 1 == 0 {
            return None;
        }
        self.settle(on, scheduler, now, now);
        let in_the_way = datapath.memory_is_in_the_way::<B>(memory.is_occupied);
        let unit_cause = |unit: UnitKind| match unit {
            _ if gangs.is_active::<B>() && !has_ready_alone(on, gangs, scheduler, unit) => Cause::Mechanism,
            _ if datapath.is_unified::<B>() => match in_the_way {
                true if memory.is_stalled => Cause::MemoryBackPressure,
                true => Cause::LoadStoreBusy,
                false => Cause::SpBusy,
            },
            UnitKind::Mem if memory.is_stalled => Cause::MemoryBackPressure,
            UnitKind::Mem => Cause::LoadStoreBusy,
            UnitKind::Sfu | UnitKind::Dp | UnitKind::Tensor => Cause::SfuBusy,
            UnitKind::Sp | UnitKind::Int => Cause::SpBusy,
        };
        let (cause, waiting) = find_idle_cause(on, scheduler, unit_cause);
        let is_restless = on.warps.sets().has(scheduler, Place::Hazard);
        let has_ready = matches!(waiting, Waiting::At(place) if place.is_ready());
        let is_quiet = !has_ready && !is_restless;
        on.warps.sets_mut().looked(scheduler);
        self.idle[scheduler] = Idle { is_known: true, cause, state, is_quiet, is_restless, since: now };
        Some(waiting)
    }

    /// Says which operation a scheduler waits for as long as its slots have the cause it has found.
    pub(super) fn waits_at(&mut self, scheduler: usize, pc: u32) {
        self.waits_at[scheduler] = pc;
    }

    /// The policy of a scheduler wanted none of the warps that could issue: it is asked again.
    pub(super) fn declined(&mut self, scheduler: usize) {
        self.idle[scheduler].is_restless = true;
    }

    /// Whether a scheduler has nothing to do, as when it last looked: none of its warps can issue or has wrong instructions to
    /// drop, whatever the units do or because they are as they were. A policy that wanted none of its warps is asked again.
    #[inline]
    pub(super) fn stays_idle<B: Build>(
        &self,
        on: &Shared<'_, B>,
        datapath: &Datapath,
        memory: MemoryState,
        scheduler: usize,
    ) -> bool {
        let known = &self.idle[scheduler];
        let is_alike = || B::PLAIN && !known.is_restless && known.state == UnitState::new::<B>(datapath, memory);
        known.is_known && on.warps.sets().moved() >> scheduler & 1 == 0 && (known.is_quiet || is_alike())
    }

    /// Charges the slots of a scheduler up to `to` to what it found; those from `since` on are to be charged later.
    #[inline]
    pub(super) fn settle<B: Build>(&mut self, on: &mut Shared<'_, B>, scheduler: usize, to: Cycle, since: Cycle) {
        let idle = &mut self.idle[scheduler];
        let from = std::mem::replace(&mut idle.since, since);
        if from < to {
            let pc = if B::PROFILED { self.waits_at[scheduler] } else { NO_PC };
            on.charge(scheduler, idle.cause, pc, from, to - from);
        }
    }

    /// The same when somebody listens, who is told of every slot at once.
    #[inline]
    pub(super) fn tell<B: Build>(&mut self, on: &mut Shared<'_, B>, scheduler: usize, to: Cycle) {
        if on.account.hears_slots() {
            self.settle(on, scheduler, to, to);
        }
    }

    /// Charges all slots before this cycle.
    pub(in super::super) fn settle_all<B: Build>(&mut self, on: &mut Shared<'_, B>, to: Cycle) {
        (0..self.idle.len()).for_each(|scheduler| self.settle(on, scheduler, to, to));
    }

    /// A fault has ended the run; `seen` are the schedulers whose slot of this cycle counts.
    #[cold]
    pub(super) fn end<B: Build>(&mut self, on: &mut Shared<'_, B>, seen: u64, now: Cycle) {
        for scheduler in 0..self.idle.len() {
            self.settle(on, scheduler, now + (seen >> scheduler & 1), Cycle::MAX);
        }
    }
}

/// Whether a warp of a scheduler that is in no gang could issue to a unit.
fn has_ready_alone<B: Build>(on: &Shared<'_, B>, gangs: &Gangs, scheduler: usize, unit: UnitKind) -> bool {
    let (own, ready) = (on.warps.slots.used(scheduler), on.warps.sets().ready(unit));
    (0..own.word_count()).any(|n| own.word(n) & ready.word(n) & gangs.free().word(n) != 0)
}

/// In which order units are asked whether a warp is ready for them.
fn order<B: Build>() -> &'static [UnitKind] {
    use UnitKind::{Dp, Int, Mem, Sfu, Sp, Tensor};
    if B::PLAIN { &[Mem, Sfu, Sp] } else { &[Mem, Tensor, Dp, Sfu, Sp, Int] }
}

/// Why a scheduler cannot issue, and which of its warps are held up by that; `unit_cause` says why units do not take what is ready
/// for them.
fn find_idle_cause<B: Build>(
    on: &Shared<'_, B>,
    scheduler: usize,
    unit_cause: impl Fn(UnitKind) -> Cause,
) -> (Cause, Waiting) {
    let (own, sets) = (on.warps.slots.used(scheduler), on.warps.sets());
    if own.is_empty() {
        return (Cause::NoWarpResident, Waiting::None);
    }
    let ready = order::<B>().iter().copied().find(|unit| sets.has(scheduler, Place::ready(*unit)));
    if let Some(unit) = ready {
        return (unit_cause(unit), Waiting::At(Place::ready(unit)));
    }
    let rest = [
        Place::MemoryDependence,
        Place::ArithmeticDependence,
        Place::Hazard,
        Place::Redirected,
        Place::Starved,
        Place::Fence,
        Place::Held,
        Place::Sibling,
        Place::Barrier,
    ];
    let first = rest.into_iter().find(|place| sets.has(scheduler, *place));
    let found = first.and_then(|place| Some((place.cause()?, Waiting::At(place))));
    found.unwrap_or((Cause::Draining, Waiting::Ended))
}
