//! The issue stage: each scheduler picks a warp, or its slot is charged to the cause that kept it from doing so.

mod empty_slots;
pub mod path;

use super::blocks::phases::SeenBlocks;
use super::build::{Build, units};
use super::datapath::Datapath;
use super::gangs::Gangs;
use super::shared::Shared;
use super::warps::news::Notice;
use crate::config::SmConfig;
use crate::kernel::{UNITS, UnitKind};
use crate::packet::Cycle;
use crate::saved;
use crate::seam::{Cause, IssueScheduler, Place, WarpId, WarpSet};
use empty_slots::{EmptySlots, UnitState, Waiting};
use path::Path;
use raddle_exec::op::NO_PC;
use raddle_ptx::num::fit;
use std::ops::Range;

/// What schedulers see of the load-store unit.
#[derive(Clone, Copy)]
pub(super) struct MemoryState {
    /// An instruction is handing out its requests.
    pub(super) is_occupied: bool,
    /// The last request could not be sent.
    pub(super) is_stalled: bool,
}

/// The schedulers of an SM.
pub(super) struct Schedulers {
    policies: Vec<Box<dyn IssueScheduler>>,
    /// Schedulers take turns to be the first.
    rotate: bool,
    /// Instructions a warp issues in a slot at most.
    per_warp: u32,
    eligible: WarpSet,
    /// Warps that keep a scheduler from issuing, while it is found out which comes first.
    waiting: WarpSet,
    scratch: Vec<WarpId>,
    empty: EmptySlots,
    /// In plain builds: nobody could issue or had to look again with the units like this.
    rests: Option<UnitState>,
}

saved!(Schedulers { values: eligible, scratch, rests; parts: policies, empty; fixed: rotate, per_warp, waiting });

impl Schedulers {
    pub(super) fn new(policies: Vec<Box<dyn IssueScheduler>>, config: &SmConfig, slots: usize) -> Self {
        Self {
            empty: EmptySlots::new(policies.len()),
            policies,
            rotate: config.issue.rotate,
            per_warp: config.issue.per_warp,
            eligible: WarpSet::new(slots),
            waiting: WarpSet::new(slots),
            scratch: Vec::new(),
            rests: None,
        }
    }

    /// The policies, for those who want to fetch as they issue.
    #[inline]
    pub(super) fn policies(&self) -> &[Box<dyn IssueScheduler>] {
        &self.policies
    }

    /// Slots that stay empty.
    #[inline]
    pub(super) fn empty(&mut self) -> &mut EmptySlots {
        &mut self.empty
    }

    /// Tells policies what happened to their warps.
    #[inline]
    pub(super) fn hear<B: Build>(&mut self, on: &mut Shared<'_, B>) {
        if on.warps.news.has_notices() {
            self.hear_notices(on);
        }
    }

    #[cold]
    fn hear_notices<B: Build>(&mut self, on: &mut Shared<'_, B>) {
        let count = self.policies.len();
        for notice in on.warps.news.take_notices() {
            match notice {
                Notice::Changed(warp, present) => self.policies[warp.index() % count].warp_changed(warp, present),
                Notice::Data(access) => self.policies[access.warp.index() % count].data_access(&access),
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
                return self.empty.end(path.on, seen, now);
            }
            if used >> scheduler & 1 != 0 {
                self.empty.settle(path.on, scheduler, now, now + 1);
            } else if self.empty.stays_idle(path.on, path.datapath, memory, scheduler) {
                self.empty.tell(path.on, scheduler, now + 1);
            } else {
                self.schedule(path, gangs, memory, scheduler);
            }
            seen |= u64::from(!path.has_fault()) << scheduler;
            scheduler = if scheduler + 1 == count { 0 } else { scheduler + 1 };
        }
        if path.has_fault() {
            return self.empty.end(path.on, seen, now);
        }
        if gangs.is_active::<B>() {
            gangs.settle(path.on, now);
        }
        if B::PLAIN {
            let has_issued = path.on.account.has_just_issued(now + 1);
            let rests = !has_issued && path.on.warps.sets().moved() == 0 && self.empty.can_rest();
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
        let mut opens = [0; UNITS];
        units::<B>().iter().for_each(|unit| opens[*unit as usize] = open(*unit));
        let mut any = 0;
        for n in 0..sets.word_count() {
            let ready_for = |unit: &UnitKind| sets.ready(*unit).word(n) & opens[*unit as usize];
            let ready = units::<B>().iter().fold(0, |all, unit| all | ready_for(unit));
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
                Some((cause, warp)) => {
                    self.empty.settle(path.on, scheduler, now, now + 1);
                    let pc = path.on.warps.get(warp).pc;
                    path.on.charge(scheduler, cause, pc, now, 1);
                }
                None => {
                    self.look(path.on, path.blocks.seen(), path.datapath, gangs, memory, scheduler, now);
                    if any != 0 {
                        self.empty.declined(scheduler);
                    }
                }
            }
            return self.empty.tell(path.on, scheduler, now + 1);
        };
        self.empty.settle(path.on, scheduler, now, now + 1);
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

    /// No scheduler issues in these cycles.
    #[inline]
    pub(super) fn pass<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        blocks: SeenBlocks<'_>,
        datapath: &Datapath,
        gangs: &Gangs,
        memory: MemoryState,
        cycles: Range<Cycle>,
    ) {
        for scheduler in 0..self.policies.len() {
            self.look(on, blocks, datapath, gangs, memory, scheduler, cycles.start);
            self.empty.tell(on, scheduler, cycles.end);
        }
    }

    /// Finds out why a scheduler cannot issue from now on, and in builds with a profile for which operation it waits.
    #[inline]
    #[allow(clippy::too_many_arguments, reason = "what it looks at is apart")]
    fn look<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        blocks: SeenBlocks<'_>,
        datapath: &Datapath,
        gangs: &Gangs,
        memory: MemoryState,
        scheduler: usize,
        now: Cycle,
    ) {
        let waiting = self.empty.look(on, datapath, gangs, memory, scheduler, now);
        if B::PROFILED
            && let Some(waiting) = waiting
        {
            let pc = self.find_waiting(on, blocks, scheduler, waiting, now);
            self.empty.waits_at(scheduler, pc);
        }
    }

    /// The operation a scheduler waits for: that of the warp that comes first in its order, of those that are held up
    /// by what its slots are charged to. A policy that ranks none of them leaves it to the lowest slot.
    fn find_waiting<B: Build>(
        &mut self,
        on: &Shared<'_, B>,
        blocks: SeenBlocks<'_>,
        scheduler: usize,
        waiting: Waiting,
        now: Cycle,
    ) -> u32 {
        let (own, sets) = (on.warps.slots.used(scheduler), on.warps.sets());
        for n in 0..sets.word_count() {
            let held = match waiting {
                Waiting::None => return NO_PC,
                Waiting::At(place) => sets.at(place).word(n),
                Waiting::Ended => u64::MAX,
            };
            self.waiting.set_word(n, own.word(n) & held);
        }
        let seen = on.warps.view(scheduler, now, blocks);
        let first = self.policies[scheduler].first_of(&seen, &self.waiting, &mut self.scratch);
        let first = first.filter(|warp| self.waiting.contains(*warp)).or_else(|| self.waiting.iter().next());
        let last: u32 = fit(on.facts.kernel.ops.len() - 1);
        first.map_or(NO_PC, |warp| on.warps.get(warp).pc.min(last))
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
        vetoed: &mut Option<(Cause, WarpId)>,
    ) -> Option<WarpId> {
        loop {
            let seen = path.on.warps.view(scheduler, path.now, path.blocks.seen());
            let picked = self.policies[scheduler].pick(&seen, &self.eligible, &mut self.scratch);
            let warp = picked.filter(|w| self.eligible.contains(*w))?;
            let Some(cause) = path.power.veto(path.on, warp, path.now) else { return Some(warp) };
            vetoed.get_or_insert((cause, warp));
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

    /// Whether a warp can issue to a unit on its own.
    #[inline]
    pub(super) fn has_ready<B: Build>(&self, on: &Shared<'_, B>, gangs: &Gangs, unit: UnitKind) -> bool {
        let sets = on.warps.sets();
        if !gangs.is_active::<B>() {
            return !sets.is_empty(Place::ready(unit));
        }
        let ready = sets.ready(unit);
        (0..sets.word_count()).any(|n| ready.word(n) & gangs.free().word(n) != 0)
    }
}
