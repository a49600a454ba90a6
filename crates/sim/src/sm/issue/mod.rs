//! The issue stage: each scheduler picks a warp, or its slot is charged to the cause that kept it from doing so.

pub mod path;

use super::build::Build;
use super::datapath::Datapath;
use super::gangs::Gangs;
use super::shared::Shared;
use super::warps::news::Notice;
use crate::config::SmConfig;
use crate::kernel::UnitKind;
use crate::packet::Cycle;
use crate::saved;
use crate::seam::{Cause, IssueScheduler, Place, WarpId, WarpSet};
use path::Path;
use raddle_ptx::num::fit;

/// What schedulers see of the load-store unit.
#[derive(Clone, Copy)]
pub(super) struct MemoryState {
    /// An instruction is handing out its requests.
    pub(super) is_occupied: bool,
    /// The last request could not be handed on.
    pub(super) is_stalled: bool,
}

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
    /// One of its warps has wrong instructions to drop.
    drops: bool,
    /// The first cycle that has not been charged; [`Cycle::MAX`] before the first look.
    since: Cycle,
}

impl Idle {
    /// Nothing is known.
    const UNKNOWN: Self = Self {
        is_known: false,
        cause: Cause::NoWarp,
        state: UnitState(0),
        is_quiet: false,
        drops: false,
        since: Cycle::MAX,
    };
}

/// What a scheduler has seen of the units, as bits: whether the load-store unit is stalled, whether it keeps others from the
/// one pipeline, and in plain builds which units take an instruction.
#[derive(Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct UnitState(u8);

impl UnitState {
    #[inline]
    fn new<B: Build>(datapath: &Datapath, memory: MemoryState) -> Self {
        let open = if B::PLAIN { datapath.open() } else { 0 };
        let in_the_way = datapath.memory_is_in_the_way::<B>(memory.is_occupied);
        Self(u8::from(memory.is_stalled) | u8::from(in_the_way) << 1 | open << 2)
    }
}

/// The schedulers of an SM.
pub(super) struct Schedulers {
    policies: Vec<Box<dyn IssueScheduler>>,
    /// Schedulers take turns to be the first.
    rotate: bool,
    /// Instructions a warp issues in a slot at most.
    per_warp: u32,
    eligible: WarpSet,
    scratch: Vec<WarpId>,
    idle: Vec<Idle>,
    /// In plain builds: nobody could issue or had wrong instructions to drop with the units like this.
    rests: Option<UnitState>,
}

saved!(Schedulers { values: eligible, scratch, idle, rests; parts: policies; fixed: rotate, per_warp });

impl Schedulers {
    pub(super) fn new(policies: Vec<Box<dyn IssueScheduler>>, config: &SmConfig, slots: usize) -> Self {
        Self {
            idle: vec![Idle::UNKNOWN; policies.len()],
            policies,
            rotate: config.issue.rotate,
            per_warp: config.issue.per_warp,
            eligible: WarpSet::new(slots),
            scratch: Vec::new(),
            rests: None,
        }
    }

    /// The policies, for those who want to fetch as they issue.
    #[inline]
    pub(super) fn policies(&self) -> &[Box<dyn IssueScheduler>] {
        &self.policies
    }

    /// Tells policies what happened to their warps.
    #[inline]
    pub(super) fn hear<B: Build>(&mut self, on: &mut Shared<'_, B>) {
        if !on.warps.news.has_notices() {
            return;
        }
        let count = self.policies.len();
        for notice in on.warps.news.take_notices() {
            match notice {
                Notice::Changed(warp, present) => self.policies[warp.index() % count].warp_changed(warp, present),
                Notice::Barrier(warp, arrives) => self.policies[warp.index() % count].barrier(warp, arrives),
            }
        }
    }

    /// When a policy next acts on its own.
    #[inline]
    pub(super) fn next_event(&self, now: Cycle) -> Option<Cycle> {
        self.policies.iter().filter_map(|policy| policy.next_event(now)).min()
    }

    /// Cycles passed in which nothing could issue.
    pub(super) fn skip(&mut self, from: Cycle, to: Cycle) {
        self.policies.iter_mut().for_each(|policy| policy.skip(from, to));
    }

    /// Every scheduler issues, or its slot is charged to a cause.
    #[inline]
    pub(super) fn run<B: Build>(&mut self, path: &mut Path<'_, '_, B>, gangs: &mut Gangs, memory: MemoryState) {
        if B::PLAIN && self.rest(path, memory) {
            return;
        }
        let (count, now) = (self.policies.len(), path.now);
        let used = if gangs.is_active::<B>() { gangs.issue(path, self.per_warp) } else { 0 };
        let mut seen = 0;
        let turn = if self.rotate { path.blocks.turn(now) } else { 0 };
        let mut scheduler = match count.is_power_of_two() {
            true => fit(turn & (count as Cycle - 1)),
            false => fit(turn % count as Cycle),
        };
        for _ in 0..count {
            if path.has_fault() {
                return self.end(path.on, seen, now);
            }
            if used >> scheduler & 1 != 0 {
                self.settle(path.on, scheduler, now, now + 1);
            } else if self.stays_idle(path.on, path.datapath, memory, scheduler) {
                self.tell(path.on, scheduler, now + 1);
            } else {
                self.schedule(path, gangs, memory, scheduler);
            }
            seen |= u64::from(!path.has_fault()) << scheduler;
            scheduler = if scheduler + 1 == count { 0 } else { scheduler + 1 };
        }
        if path.has_fault() {
            return self.end(path.on, seen, now);
        }
        if gangs.is_active::<B>() {
            gangs.settle(path.on, now);
        }
        if B::PLAIN {
            let has_issued = path.on.account.has_just_issued(now + 1);
            let rests = !has_issued && path.on.warps.sets().moved() == 0 && self.idle.iter().all(|idle| !idle.drops);
            self.rests = rests.then(|| UnitState::new::<B>(path.datapath, memory));
        }
    }

    /// Whether nothing has changed since no scheduler had anything to do.
    #[inline]
    fn rest<B: Build>(&self, path: &Path<'_, '_, B>, memory: MemoryState) -> bool {
        self.rests == Some(UnitState::new::<B>(path.datapath, memory)) && path.on.warps.sets().moved() == 0
    }

    #[inline(always)]
    fn schedule<B: Build>(&mut self, path: &mut Path<'_, '_, B>, gangs: &Gangs, memory: MemoryState, scheduler: usize) {
        let now = path.now;
        self.hear(path.on);
        let (sets, own) = (path.on.warps.sets(), path.on.warps.slots.used(scheduler));
        let is_open = path.datapath.is_open::<B>(memory.is_occupied, now);
        let open = |unit: UnitKind| if is_open && path.datapath.accepts::<B>(scheduler, unit) { u64::MAX } else { 0 };
        let (sp, sfu, mem) = (open(UnitKind::Sp), open(UnitKind::Sfu), open(UnitKind::Mem));
        let (on_sp, on_sfu, on_mem) = (sets.ready(UnitKind::Sp), sets.ready(UnitKind::Sfu), sets.ready(UnitKind::Mem));
        let mut any = 0;
        for n in 0..sets.word_count() {
            let ready = on_sp.word(n) & sp | on_sfu.word(n) & sfu | on_mem.word(n) & mem;
            let free = if B::PLAIN { u64::MAX } else { gangs.free().word(n) };
            let eligible = ready & own.word(n) & free;
            self.eligible.set_word(n, eligible);
            any |= eligible;
        }
        let mut vetoed = None;
        let pick = if any == 0 { None } else { self.choose(path, scheduler, &mut vetoed) };
        if path.on.warps.sets().has(scheduler, Place::Hazard) {
            self.flush_ahead(path, gangs, scheduler, pick);
        }
        let Some(warp) = pick else {
            match vetoed {
                Some(cause) => {
                    self.settle(path.on, scheduler, now, now + 1);
                    path.on.charge(scheduler, cause, now, 1);
                }
                None => self.look(path.on, path.datapath, gangs, memory, scheduler, now),
            }
            return self.tell(path.on, scheduler, now + 1);
        };
        self.settle(path.on, scheduler, now, now + 1);
        for n in 0..self.per_warp {
            if n > 0 && !self.goes_on(path, scheduler, warp) {
                break;
            }
            let occupied = if B::PLAIN { 0 } else { path.on.warps.op(warp).timing.interval };
            if !path.issue(warp, n == 0) {
                return;
            }
            path.datapath.occupy::<B>(now + Cycle::from(occupied));
        }
        self.hear(path.on);
        let seen = path.on.warps.view(scheduler, now, path.blocks.seen());
        self.policies[scheduler].issued(&seen, warp);
    }

    /// Whether a warp that has issued can issue another instruction in the same slot.
    fn goes_on<B: Build>(&self, path: &mut Path<'_, '_, B>, scheduler: usize, warp: WarpId) -> bool {
        let warps = &path.on.warps;
        let info = warps.get(warp);
        let unit = (info.valid && info.blocked.is_none()).then(|| warps.op(warp).unit);
        unit.is_some_and(|u| warps.sets().place(warp) == Place::ready(u) && path.datapath.accepts::<B>(scheduler, u))
            && path.power.veto(path.on, warp, path.now).is_none()
    }

    /// Asks the policy, and the gating scheme, which may veto.
    #[inline]
    fn choose<B: Build>(
        &mut self,
        path: &mut Path<'_, '_, B>,
        scheduler: usize,
        vetoed: &mut Option<Cause>,
    ) -> Option<WarpId> {
        loop {
            let seen = path.on.warps.view(scheduler, path.now, path.blocks.seen());
            let picked = self.policies[scheduler].pick(&seen, &self.eligible, &mut self.scratch);
            let warp = picked.filter(|w| self.eligible.contains(*w))?;
            let Some(cause) = path.power.veto(path.on, warp, path.now) else { return Some(warp) };
            vetoed.get_or_insert(cause);
            self.eligible.set(warp, false);
        }
    }

    /// Warps that are looked at before the pick and whose decoded instructions are wrong drop them.
    fn flush_ahead<B: Build>(
        &mut self,
        path: &mut Path<'_, '_, B>,
        gangs: &Gangs,
        scheduler: usize,
        pick: Option<WarpId>,
    ) {
        let warps = &path.on.warps;
        let seen = warps.view(scheduler, path.now, path.blocks.seen());
        let policy = &self.policies[scheduler];
        let (members, own) = (gangs.members(), warps.slots.used(scheduler));
        self.scratch.clear();
        let wrong = warps.sets().at(Place::Hazard).iter().filter(|w| own.contains(*w) && !members.contains(*w));
        self.scratch.extend(wrong);
        if let Some(pick) = pick {
            self.scratch.retain(|w| policy.is_before(&seen, *w, pick));
        }
        for warp in self.scratch.drain(..) {
            path.on.drop_decoded(warp);
        }
    }

    // Slots that stay empty.
    //
    // What they are charged to is not counted cycle by cycle, but when it changes.

    /// Finds out why a scheduler cannot issue from now on, from the sets. Where its warps are held up by different things, the
    /// one closest to issue counts: a warp that only waits for its unit before one that waits for data, that before one
    /// whose instruction is not there, and so on.
    #[inline]
    fn look<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        datapath: &Datapath,
        gangs: &Gangs,
        memory: MemoryState,
        scheduler: usize,
        now: Cycle,
    ) {
        let (known, state) = (self.idle[scheduler], UnitState::new::<B>(datapath, memory));
        if known.is_known && known.state == state && on.warps.sets().moved() >> scheduler & 1 == 0 {
            return;
        }
        self.settle(on, scheduler, now, now);
        let in_the_way = datapath.memory_is_in_the_way::<B>(memory.is_occupied);
        let unit_cause = |unit: UnitKind| match unit {
            _ if gangs.is_active::<B>() && !has_ready_alone(on, gangs, scheduler, unit) => Cause::Mechanism,
            _ if datapath.is_unified::<B>() => match in_the_way {
                true if memory.is_stalled => Cause::BackPressure,
                true => Cause::UnitMem,
                false => Cause::UnitSp,
            },
            UnitKind::Mem if memory.is_stalled => Cause::BackPressure,
            UnitKind::Mem => Cause::UnitMem,
            UnitKind::Sfu => Cause::UnitSfu,
            UnitKind::Sp => Cause::UnitSp,
        };
        let (cause, has_ready) = find_idle_cause(on, scheduler, unit_cause);
        let drops = on.warps.sets().has(scheduler, Place::Hazard);
        on.warps.looked(scheduler);
        self.idle[scheduler] = Idle { is_known: true, cause, state, is_quiet: !has_ready && !drops, drops, since: now };
    }

    /// Whether a scheduler has nothing to do, as when it last looked: none of its warps can issue or has wrong instructions to
    /// drop, whatever the units do or because they are as they were.
    #[inline]
    fn stays_idle<B: Build>(
        &self,
        on: &Shared<'_, B>,
        datapath: &Datapath,
        memory: MemoryState,
        scheduler: usize,
    ) -> bool {
        let known = &self.idle[scheduler];
        let is_alike = || B::PLAIN && !known.drops && known.state == UnitState::new::<B>(datapath, memory);
        known.is_known && on.warps.sets().moved() >> scheduler & 1 == 0 && (known.is_quiet || is_alike())
    }

    /// Charges the slots of a scheduler up to `to` to what it found; those from `since` on are to be charged later.
    #[inline]
    fn settle<B: Build>(&mut self, on: &mut Shared<'_, B>, scheduler: usize, to: Cycle, since: Cycle) {
        let idle = &mut self.idle[scheduler];
        let from = std::mem::replace(&mut idle.since, since);
        if from < to {
            on.charge(scheduler, idle.cause, from, to - from);
        }
    }

    /// The same when somebody listens, who is told of every slot at once.
    #[inline]
    fn tell<B: Build>(&mut self, on: &mut Shared<'_, B>, scheduler: usize, to: Cycle) {
        if on.account.hears_slots() {
            self.settle(on, scheduler, to, to);
        }
    }

    /// No scheduler issues up to `to`.
    #[inline]
    pub(super) fn pass<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        datapath: &Datapath,
        gangs: &Gangs,
        memory: MemoryState,
        now: Cycle,
        to: Cycle,
    ) {
        for scheduler in 0..self.policies.len() {
            self.look(on, datapath, gangs, memory, scheduler, now);
            self.tell(on, scheduler, to);
        }
    }

    /// Charges all slots before this cycle.
    pub(super) fn settle_all<B: Build>(&mut self, on: &mut Shared<'_, B>, to: Cycle) {
        (0..self.idle.len()).for_each(|scheduler| self.settle(on, scheduler, to, to));
    }

    /// A fault has ended the run; `seen` are the schedulers whose slot of this cycle counts.
    #[cold]
    fn end<B: Build>(&mut self, on: &mut Shared<'_, B>, seen: u64, now: Cycle) {
        for scheduler in 0..self.idle.len() {
            self.settle(on, scheduler, now + (seen >> scheduler & 1), Cycle::MAX);
        }
    }

    /// Whether a warp can issue to a unit by itself.
    #[inline]
    pub(super) fn has_ready<B: Build>(&self, on: &Shared<'_, B>, gangs: &Gangs, unit: UnitKind) -> bool {
        let sets = on.warps.sets();
        if !gangs.is_active::<B>() || gangs.splits_by_memory() {
            return !sets.is_empty(Place::ready(unit));
        }
        let ready = sets.ready(unit);
        (0..sets.word_count()).any(|n| ready.word(n) & gangs.free().word(n) != 0)
    }
}

/// Whether a warp of a scheduler that is in no gang could issue to a unit.
fn has_ready_alone<B: Build>(on: &Shared<'_, B>, gangs: &Gangs, scheduler: usize, unit: UnitKind) -> bool {
    let (own, ready) = (on.warps.slots.used(scheduler), on.warps.sets().ready(unit));
    (0..own.word_count()).any(|n| own.word(n) & ready.word(n) & gangs.free().word(n) != 0)
}

/// Why a scheduler cannot issue, and whether one of its warps is ready; `unit_cause` says why units do not take what is ready
/// for them.
fn find_idle_cause<B: Build>(
    on: &Shared<'_, B>,
    scheduler: usize,
    unit_cause: impl Fn(UnitKind) -> Cause,
) -> (Cause, bool) {
    let (own, sets) = (on.warps.slots.used(scheduler), on.warps.sets());
    if own.is_empty() {
        return (Cause::NoWarp, false);
    }
    let ready =
        [UnitKind::Mem, UnitKind::Sfu, UnitKind::Sp].into_iter().find(|unit| sets.has(scheduler, Place::ready(*unit)));
    if let Some(unit) = ready {
        return (unit_cause(unit), true);
    }
    let rest = [
        (Place::DataMemory, Cause::DataMemory),
        (Place::DataAlu, Cause::DataAlu),
        (Place::Hazard, Cause::Control),
        (Place::Redirected, Cause::Control),
        (Place::Starved, Cause::Fetch),
        (Place::Fence, Cause::Fence),
        (Place::Held, Cause::Mechanism),
        (Place::Sibling, Cause::Sibling),
        (Place::Barrier, Cause::Barrier),
    ];
    let first = rest.iter().find(|(place, _)| sets.has(scheduler, *place));
    (first.map_or(Cause::ExitWait, |(_, cause)| *cause), false)
}
