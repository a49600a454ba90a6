//! The warp ganging unit: gangs issue before warps that go by themselves, fall apart where control flow parts, and may come
//! together again. Which gang goes first, and what else they do, says the mechanism ([`Ganging`]).

mod issue;
mod layout;
mod members;
pub mod table;
mod turns;

use super::blocks::StaticWarp;
use super::build::Build;
use super::datapath::Datapath;
use super::issue::path::Path;
use super::shared::Shared;
use crate::event::EventKind;
use crate::kernel::{TimedKernel, UnitKind};
use crate::packet::Cycle;
use crate::saved;
use crate::seam::{Gang, GangView, Ganging, MemorySplit, Place, Reform, WarpId, WarpSet};
use layout::Layout;
use members::Members;
use raddle_ptx::num::{fit, low8};
use table::{GangTable, slices};
use turns::Turns;

/// The unit.
pub(super) struct Gangs {
    unit: Box<dyn Ganging>,
    is_active: bool,
    /// Where the warps of original gangs are.
    layout: Layout,
    table: GangTable,
    split: MemorySplit,
    reform: Reform,
    members: Members,
    /// Whose turn it is to be fetched for.
    turns: Turns,
    /// Warps by the size of the gang they are in.
    sizes: [u16; 9],
    /// Up to when their time is counted.
    since: Cycle,
}

saved!(Gangs {
    values: table, turns, sizes, since;
    parts: unit, members;
    fixed: is_active, layout, split, reform;
});

impl Gangs {
    pub(super) fn new(unit: Box<dyn Ganging>, kernel: &TimedKernel<'_>, slots: usize, slices: usize) -> Self {
        let is_active = unit.is_active() && slices > 1;
        let reform = unit.reform();
        Self {
            is_active,
            layout: Layout { slices },
            split: unit.memory_split(),
            reform,
            unit,
            table: GangTable::new(if is_active { slots / slices } else { 0 }),
            members: Members::new(kernel, reform, slots),
            turns: Turns::new(usize::from(slots > slices)),
            sizes: [0; 9],
            since: 0,
        }
    }

    /// Whether warps may issue together.
    #[inline(always)]
    pub(super) fn is_active<B: Build>(&self) -> bool {
        !B::PLAIN && self.is_active
    }

    /// Warps in a gang.
    #[inline]
    pub(super) fn members(&self) -> &WarpSet {
        self.members.ganged()
    }

    /// Warps that may issue by themselves.
    #[inline]
    pub(super) fn free(&self) -> &WarpSet {
        self.members.free()
    }

    /// The mechanism.
    pub(super) fn unit(&self) -> &dyn Ganging {
        &*self.unit
    }

    /// Gangs that issue in a cycle at most.
    pub(super) fn per_cycle(&self) -> usize {
        self.unit.per_cycle()
    }

    /// Whether memory splits gangs.
    #[inline]
    pub(super) fn splits_by_memory(&self) -> bool {
        self.split != MemorySplit::None
    }

    /// When somebody has waited long enough where branches meet.
    #[inline]
    pub(super) fn next_event(&self) -> Option<Cycle> {
        if self.is_active { self.members.next_release() } else { None }
    }

    /// A block has come: its rows are original gangs.
    pub(super) fn start_block<B: Build>(&mut self, on: &mut Shared<'_, B>, warps: &[StaticWarp], now: Cycle) {
        if !self.is_active::<B>() {
            return;
        }
        let (mut set, mut mask) = (usize::MAX, 0u8);
        for (warp, ..) in warps.iter().chain([&(WarpId(u16::MAX), 0, 0, 0)]) {
            if warp.index() / self.layout.slices != set {
                if set != usize::MAX {
                    self.table.start(set, mask);
                    self.changed(on, now, set);
                }
                (set, mask) = (warp.index() / self.layout.slices, 0);
            }
            mask |= 1 << (warp.index() % self.layout.slices);
        }
    }

    /// Brings up to date what is known of the warps of an original gang.
    fn changed<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle, set: usize) {
        self.count_time(on, now);
        for slice in 0..self.layout.slices {
            let ganged = self.table.gang_of(set, slice).is_some();
            self.members.set_ganged(self.layout.warp(set, slice), ganged);
        }
        on.warps.sets_mut().touch();
        let mut sizes = [0; 9];
        for set in 0..self.table.len() {
            for gang in self.table.gangs(set) {
                sizes[gang.count_ones() as usize] += fit::<u16, _>(gang.count_ones());
            }
            sizes[1] += fit::<u16, _>(self.table.alone(set).count_ones());
        }
        if sizes != self.sizes {
            self.sizes = sizes;
            on.emit(now, EventKind::Gangs { sizes });
        }
    }

    /// Counts the time since the last change.
    fn count_time<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        let ganged: u64 = self.sizes[2..].iter().map(|warps| u64::from(*warps)).sum();
        on.account.counters.gang_time += ganged * (now - self.since);
        self.since = now;
    }

    /// Where a warp is, for those who may go with it: its operation, and whether it waits.
    fn place<B: Build>(&self, on: &Shared<'_, B>, set: usize, slice: usize) -> (u32, bool) {
        let info = on.warps.get(self.layout.warp(set, slice));
        (info.pc, info.blocked.is_some())
    }

    /// Gangs whose warps have parted fall apart, and warps that have ended leave theirs.
    pub(super) fn settle<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        while let Some(set) = on.warps.news.take_moved() {
            let mut changed = false;
            for slice in 0..self.layout.slices {
                let info = on.warps.get(self.layout.warp(set, slice));
                let alone = self.table.alone(set) >> slice & 1 != 0;
                if (!info.valid || info.ended) && (alone || self.table.gang_of(set, slice).is_some()) {
                    self.table.end(set, slice);
                    changed = true;
                }
            }
            let mut table = std::mem::replace(&mut self.table, GangTable::new(0));
            let splits = table.split(set, |slice| self.place(on, set, slice));
            self.table = table;
            on.account.counters.gang_splits += splits;
            if changed || splits > 0 {
                self.changed(on, now, set);
            }
            if let Reform::Sync(wait) = self.reform {
                self.hold(on, now, set, wait);
            }
        }
    }

    /// Parts of an original gang that have come where branches meet wait for the others.
    fn hold<B: Build>(&mut self, on: &Shared<'_, B>, now: Cycle, set: usize, wait: u32) {
        let whole = self.table.gangs(set).len() + self.table.alone(set).count_ones() as usize <= 1;
        for slice in 0..self.layout.slices {
            let warp = self.layout.warp(set, slice);
            let info = on.warps.get(warp);
            if info.valid && info.blocked.is_none() && !whole {
                let issued = on.warps.slots.issued_by(warp).0;
                self.members.comes(warp, info.pc, issued, now + Cycle::from(wait));
            } else {
                self.members.release(warp);
            }
        }
    }

    /// Two parts of an original gang become one; one original gang is looked at in a cycle, in turn.
    fn join<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        let set = fit(now % self.table.len() as Cycle);
        if let Some((a, b)) = self.table.alike(set, |slice| self.joinable(on, set, slice)) {
            self.table.join(set, a, b);
            on.account.counters.gang_joins += 1;
            self.changed(on, now, set);
            if self.table.gangs(set).len() + self.table.alone(set).count_ones() as usize == 1 {
                for slice in 0..self.layout.slices {
                    self.members.release(self.layout.warp(set, slice));
                }
            }
        }
    }

    /// The operation a warp is at, unless it waits.
    fn joinable<B: Build>(&self, on: &Shared<'_, B>, set: usize, slice: usize) -> Option<u32> {
        let (pc, waits) = self.place(on, set, slice);
        (!waits).then_some(pc)
    }

    /// Whether two parts of an original gang could become one.
    pub(super) fn can_join<B: Build>(&self, on: &Shared<'_, B>) -> bool {
        self.reform != Reform::None
            && (0..self.table.len()).any(|set| self.table.alike(set, |slice| self.joinable(on, set, slice)).is_some())
    }

    /// The warps of an original gang that could issue, units permitting.
    #[inline]
    fn ready_bits<B: Build>(&self, on: &Shared<'_, B>, set: usize) -> u8 {
        let ready = |unit| self.layout.bits_at(on, set, Place::ready(unit));
        ready(UnitKind::Sp) | ready(UnitKind::Mem) | ready(UnitKind::Sfu)
    }

    /// Gangs whose warps got data from memory at different times fall apart.
    fn split_by_memory<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        for set in 0..self.table.len() {
            if self.table.gangs(set).is_empty() {
                continue;
            }
            let waiting = self.layout.bits_at(on, set, Place::DataMemory);
            let splits = self.table.data_came(set, self.ready_bits(on, set), waiting, self.split);
            if splits > 0 {
                on.account.counters.gang_splits += splits;
                self.changed(on, now, set);
            }
        }
    }

    /// A gang as the mechanism sees it.
    fn view<B: Build>(&self, on: &Shared<'_, B>, set: usize, mask: u8) -> GangView {
        let first = self.layout.warp(set, mask.trailing_zeros() as usize);
        GangView {
            gang: Gang { set: fit(set), mask },
            pc: on.warps.get(first).pc,
            age: on.warps.slots.ages()[first.index()],
        }
    }

    /// Original gangs of which members of gangs could issue, units permitting, with those.
    #[inline]
    fn ready_sets<B: Build>(&self, on: &Shared<'_, B>) -> impl Iterator<Item = (usize, u8)> {
        let (sets, members, count) = (on.warps.sets(), self.members(), self.layout.slices);
        let (sp, mem, sfu) = (sets.ready(UnitKind::Sp), sets.ready(UnitKind::Mem), sets.ready(UnitKind::Sfu));
        let width: u32 = fit(count);
        (0..members.word_count()).flat_map(move |n| {
            let mut word = (sp.word(n) | mem.word(n) | sfu.word(n)) & members.word(n);
            std::iter::from_fn(move || {
                let first = word.trailing_zeros() / width * width;
                let bits = low8(word.checked_shr(first)?) & (u8::MAX >> (8 - count));
                word &= !(u64::from(bits) << first);
                Some(((n * 64 + first as usize) / count, bits))
            })
        })
    }

    /// Whether a gang could issue now.
    pub(super) fn can_issue<B: Build>(&self, on: &Shared<'_, B>, datapath: &Datapath) -> bool {
        self.ready_sets(on).any(|(set, ready)| {
            self.table.gangs(set).iter().any(|gang| {
                gang & ready == *gang && accept::<B>(datapath, *gang, on.op(self.view(on, set, *gang).pc).unit)
            })
        })
    }

    /// The gang to issue next, on schedulers that are free; with its rank.
    fn pick<B: Build>(&self, on: &Shared<'_, B>, datapath: &Datapath, used: u64) -> Option<(u64, Gang)> {
        let mut best: Option<(u64, Gang)> = None;
        for (set, ready) in self.ready_sets(on) {
            let ready = ready & !self.layout.bits(set, self.members.held());
            for mask in self.table.gangs(set).iter().copied().filter(|gang| gang & ready == *gang) {
                let view = self.view(on, set, mask);
                let rank = self.unit.rank(&view);
                let schedulers = self.schedulers_of(view.gang, on.warps.slots.schedulers());
                if best.is_some_and(|(known, _)| known <= rank) || schedulers & used != 0 {
                    continue;
                }
                if accept::<B>(datapath, mask, on.op(view.pc).unit) {
                    best = Some((rank, view.gang));
                }
            }
        }
        best
    }

    /// The schedulers of a gang's warps, out of `count`.
    fn schedulers_of(&self, gang: Gang, count: usize) -> u64 {
        let first = usize::from(gang.set) * self.layout.slices % count;
        u64::from(gang.mask) << first
    }

    /// Gangs issue, each up to so many instructions. Returns the schedulers whose slots they took.
    pub(super) fn issue<B: Build>(&mut self, path: &mut Path<'_, '_, B>, per_warp: u32) -> u64 {
        let now = path.now;
        self.settle(path.on, now);
        if self.reform != Reform::None {
            self.members.let_go(now);
            self.join(path.on, now);
        }
        if self.split != MemorySplit::None {
            self.split_by_memory(path.on, now);
        }
        let (mut used, mut nth, mut last) = (0, 0, 0);
        let count = path.on.warps.slots.schedulers();
        let all = u64::MAX >> (64 - count);
        while nth < self.unit.per_cycle() && used != all {
            let Some((rank, gang)) = self.pick(path.on, path.datapath, used) else {
                last = u64::MAX;
                break;
            };
            last = rank;
            let own = self.schedulers_of(gang, count);
            used |= own;
            if let Some(cause) = issue::veto(self, path, gang) {
                // Its schedulers wait for it.
                for scheduler in (0..count).filter(|n| own >> n & 1 != 0) {
                    path.on.charge(scheduler, cause, now, 1);
                }
                continue;
            }
            issue::issue_gang(self, path, gang, per_warp);
            self.unit.issued(gang, nth);
            nth += 1;
            if path.has_fault() {
                return used;
            }
        }
        self.flush(path.on, last);
        used
    }

    fn member(&self, gang: Gang, slice: usize) -> WarpId {
        self.layout.warp(usize::from(gang.set), slice)
    }

    /// Gangs that were looked at before the last one that issued, and whose decoded instructions are wrong, drop them.
    fn flush<B: Build>(&self, on: &mut Shared<'_, B>, before: u64) {
        if !on.warps.sets().meets(Place::Hazard, self.members()) {
            return;
        }
        for set in 0..self.table.len() {
            let wrong = self.layout.bits_at(on, set, Place::Hazard) & self.layout.bits(set, self.members());
            for slice in slices(wrong) {
                let Some(gang) = self.table.gang_of(set, slice) else { continue };
                if self.unit.rank(&self.view(on, set, gang.mask)) < before {
                    on.drop_decoded(self.member(gang, slice));
                }
            }
        }
    }

    /// The next gang that wants instructions, in turn: a warp, and those behind it that want the same, as bits.
    pub(super) fn pick_fetch<B: Build>(&mut self, on: &Shared<'_, B>) -> Option<(WarpId, u8)> {
        if !on.warps.sets().wanting.meets(self.members()) {
            return None;
        }
        self.turns.next(on, &self.table, self.layout)
    }
}

/// Whether all slices of a gang take an instruction for a unit.
fn accept<B: Build>(datapath: &Datapath, mask: u8, unit: UnitKind) -> bool {
    slices(mask).all(|slice| datapath.accepts::<B>(slice, unit))
}
