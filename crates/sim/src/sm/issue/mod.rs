//! The issue stage: each scheduler picks a warp, or its slot is charged to the cause that kept it from doing so.

pub mod path;

use super::build::Build;
use super::datapath::Datapath;
use super::gangs::Gangs;
use super::shared::Shared;
use super::warps::news::Notice;
use super::warps::places::Place;
use crate::config::SmConfig;
use crate::kernel::UnitKind;
use crate::packet::Cycle;
use crate::saved;
use crate::seam::{Cause, IssueScheduler, WarpId, WarpSet};
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

/// Why a scheduler could not issue, for the state in which that was found.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
struct Idle {
    /// The version of its warps' places.
    version: u64,
    /// Whether the load-store unit was stalled, and whether it kept others from the one pipeline.
    memory: [bool; 2],
    cause: Cause,
    /// None of its warps can issue or has wrong instructions to drop, whatever the units do.
    is_quiet: bool,
}

impl Idle {
    /// Nothing is known.
    const UNKNOWN: Self = Self { version: u64::MAX, memory: [false; 2], cause: Cause::NoWarp, is_quiet: false };
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
}

saved!(Schedulers { values: eligible, scratch, idle; parts: policies; fixed: rotate, per_warp });

impl Schedulers {
    pub(super) fn new(policies: Vec<Box<dyn IssueScheduler>>, config: &SmConfig, slots: usize) -> Self {
        Self {
            idle: vec![Idle::UNKNOWN; policies.len()],
            policies,
            rotate: config.issue.rotate,
            per_warp: config.issue.per_warp,
            eligible: WarpSet::new(slots),
            scratch: Vec::new(),
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
    pub(super) fn run<B: Build>(&mut self, path: &mut Path<'_, '_, B>, gangs: &mut Gangs, memory: MemoryState) {
        let (count, now) = (self.policies.len(), path.now);
        let used = if gangs.is_active::<B>() { gangs.issue(path, self.per_warp) } else { 0 };
        if path.has_fault() {
            return;
        }
        let turn = path.blocks.turn(now);
        let mut scheduler = match self.rotate {
            false => 0,
            true if count.is_power_of_two() => fit(turn & (count as Cycle - 1)),
            true => fit(turn % count as Cycle),
        };
        for _ in 0..count {
            if used >> scheduler & 1 == 0 {
                match self.known_idle_cause(path.on, scheduler) {
                    Some(cause) => path.on.charge(scheduler, cause, now, 1),
                    None => self.schedule(path, gangs, memory, scheduler),
                }
            }
            scheduler = if scheduler + 1 == count { 0 } else { scheduler + 1 };
            if path.has_fault() {
                return;
            }
        }
        if gangs.is_active::<B>() {
            gangs.settle(path.on, now);
        }
    }

    fn schedule<B: Build>(&mut self, path: &mut Path<'_, '_, B>, gangs: &Gangs, memory: MemoryState, scheduler: usize) {
        let now = path.now;
        self.hear(path.on);
        let (sets, own) = (path.on.warps.sets(), path.on.warps.slots.used(scheduler));
        let is_open = path.datapath.is_open::<B>(memory.is_occupied, now);
        let open = |unit: UnitKind| if is_open && path.datapath.accepts::<B>(scheduler, unit) { u64::MAX } else { 0 };
        let (sp, sfu, mem) = (open(UnitKind::Sp), open(UnitKind::Sfu), open(UnitKind::Mem));
        let (on_sp, on_sfu, on_mem) = (sets.ready(UnitKind::Sp), sets.ready(UnitKind::Sfu), sets.ready(UnitKind::Mem));
        let mut any = 0;
        for n in 0..own.word_count() {
            let ready = on_sp.word(n) & sp | on_sfu.word(n) & sfu | on_mem.word(n) & mem;
            let free = if B::PLAIN { u64::MAX } else { gangs.free().word(n) };
            let eligible = ready & own.word(n) & free;
            self.eligible.set_word(n, eligible);
            any |= eligible;
        }
        let mut vetoed = None;
        let pick = if any == 0 { None } else { self.choose(path, scheduler, &mut vetoed) };
        if path.on.warps.sets().at(Place::Hazard).meets(path.on.warps.slots.used(scheduler)) {
            self.flush_ahead(path, gangs, scheduler, pick);
        }
        let Some(warp) = pick else {
            let cause = vetoed.unwrap_or_else(|| self.idle_cause(path.on, path.datapath, gangs, memory, scheduler));
            path.on.charge(scheduler, cause, now, 1);
            return;
        };
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
        unit.is_some_and(|u| warps.sets().ready(u).contains(warp) && path.datapath.accepts::<B>(scheduler, u))
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

    /// Why a scheduler cannot issue, from the sets. Where warps of a scheduler are held up by different things,
    /// the one closest to issue counts: a warp that only waits for its unit before one that waits for data, that
    /// before one whose instruction is not there, and so on.
    #[inline]
    fn idle_cause<B: Build>(
        &mut self,
        on: &Shared<'_, B>,
        datapath: &Datapath,
        gangs: &Gangs,
        memory: MemoryState,
        scheduler: usize,
    ) -> Cause {
        let version = on.warps.sets().version(scheduler);
        let in_the_way = datapath.memory_is_in_the_way::<B>(memory.is_occupied);
        let known = self.idle[scheduler];
        if (known.version, known.memory) == (version, [memory.is_stalled, in_the_way]) {
            return known.cause;
        }
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
        let (cause, is_quiet) = find_idle_cause(on, scheduler, unit_cause);
        self.idle[scheduler] = Idle { version, memory: [memory.is_stalled, in_the_way], cause, is_quiet };
        cause
    }

    /// Why a scheduler cannot issue, when it is known that none of its warps has anything to do in the issue stage, even
    /// if units were free.
    #[inline]
    fn known_idle_cause<B: Build>(&self, on: &Shared<'_, B>, scheduler: usize) -> Option<Cause> {
        let known = self.idle[scheduler];
        (known.is_quiet && known.version == on.warps.sets().version(scheduler)).then_some(known.cause)
    }

    /// Charges the empty slots of all schedulers to their causes.
    pub(super) fn charge_all<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        datapath: &Datapath,
        gangs: &Gangs,
        memory: MemoryState,
        now: Cycle,
        cycles: u64,
    ) {
        for scheduler in 0..self.policies.len() {
            let cause = self.idle_cause(on, datapath, gangs, memory, scheduler);
            on.charge(scheduler, cause, now, cycles);
        }
    }

    /// Whether a warp can issue to a unit by itself.
    #[inline]
    pub(super) fn has_ready<B: Build>(&self, on: &Shared<'_, B>, gangs: &Gangs, unit: UnitKind) -> bool {
        let ready = on.warps.sets().ready(unit);
        if !gangs.is_active::<B>() || gangs.splits_by_memory() {
            return !ready.is_empty();
        }
        (0..ready.word_count()).any(|n| ready.word(n) & gangs.free().word(n) != 0)
    }
}

/// Whether a warp of a scheduler that is in no gang could issue to a unit.
fn has_ready_alone<B: Build>(on: &Shared<'_, B>, gangs: &Gangs, scheduler: usize, unit: UnitKind) -> bool {
    let (own, ready) = (on.warps.slots.used(scheduler), on.warps.sets().ready(unit));
    (0..own.word_count()).any(|n| own.word(n) & ready.word(n) & gangs.free().word(n) != 0)
}

/// Why a scheduler cannot issue, and whether that is so whatever the units do; `unit_cause` says why units do not take what is
/// ready for them.
fn find_idle_cause<B: Build>(
    on: &Shared<'_, B>,
    scheduler: usize,
    unit_cause: impl Fn(UnitKind) -> Cause,
) -> (Cause, bool) {
    let (own, sets) = (on.warps.slots.used(scheduler), on.warps.sets());
    if own.is_empty() {
        return (Cause::NoWarp, true);
    }
    let ready = [UnitKind::Mem, UnitKind::Sfu, UnitKind::Sp].into_iter().find(|unit| own.meets(sets.ready(*unit)));
    if let Some(unit) = ready {
        return (unit_cause(unit), false);
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
    let first = rest.iter().find(|(place, _)| own.meets(sets.at(*place)));
    // Wrong instructions are dropped in the issue stage.
    (first.map_or(Cause::ExitWait, |(_, cause)| *cause), !own.meets(sets.at(Place::Hazard)))
}
