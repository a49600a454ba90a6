//! Gangs: warps of different slices that issue the same instruction in the same cycle, before warps that issue on their
//! own. The mechanism ([`Ganging`]) decides which warps form a gang and which gang comes first.

mod issue;
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
use crate::seam::{Gang, GangTable, GangView, Ganging, GangingView, Parts, Place, WarpId, WarpSet, slices_in};
use raddle_ptx::num::{fit, low8};
use turns::Turns;

/// The gangs, with the ganging unit.
pub(super) struct Gangs {
    unit: Box<dyn Ganging>,
    is_active: bool,
    /// Who goes together.
    table: GangTable,
    /// Whose turn it is to be fetched for.
    turns: Turns,
    /// Warps in gangs.
    ganged: u64,
    /// Up to when their time is counted.
    since: Cycle,
}

saved!(Gangs {
    values: turns, ganged, since;
    parts: unit, table;
    fixed: is_active;
});

impl Gangs {
    pub(super) fn new(mut unit: Box<dyn Ganging>, kernel: &TimedKernel<'_>, slots: usize, slices: usize) -> Self {
        unit.start_launch(kernel.program, slots);
        Self {
            is_active: unit.is_active() && slices > 1,
            unit,
            table: GangTable::new(slots, slices),
            turns: Turns::new(usize::from(slots > slices)),
            ganged: 0,
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
        self.table.ganged()
    }

    /// Warps that may issue on their own.
    #[inline]
    pub(super) fn free(&self) -> &WarpSet {
        self.table.free()
    }

    /// The mechanism.
    pub(super) fn unit(&self) -> &dyn Ganging {
        &*self.unit
    }

    /// Gangs that issue in a cycle at most.
    pub(super) fn per_cycle(&self) -> usize {
        self.unit.per_cycle()
    }

    /// When the mechanism next acts because of the time.
    #[inline]
    pub(super) fn next_event(&self, now: Cycle) -> Option<Cycle> {
        if self.is_active { self.unit.next_event(&self.table, now) } else { None }
    }

    /// Whether the mechanism may act because of where warps are.
    pub(super) fn can_change<B: Build>(&self, on: &Shared<'_, B>, now: Cycle) -> bool {
        self.unit.can_change(&self.table, &warps_of(on, now))
    }

    // Who goes together.

    /// A block has come: its rows are original gangs.
    pub(super) fn start_block<B: Build>(&mut self, on: &mut Shared<'_, B>, warps: &[StaticWarp], now: Cycle) {
        if !self.is_active::<B>() {
            return;
        }
        let slices = self.table.slices();
        for row in warps.chunk_by(|(a, ..), (b, ..)| a.index() / slices == b.index() / slices) {
            let set = row[0].0.index() / slices;
            let mask = row.iter().fold(0, |mask, (warp, ..)| mask | 1 << (warp.index() % slices));
            self.table.set_parts(set, Parts::default());
            self.unit.start(&mut self.table, set, mask);
            self.take_changes(on, now);
        }
    }

    /// The mechanism hears of warps that have gone different ways, wait or have ended.
    pub(super) fn settle<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        while let Some(set) = on.warps.news.take_moved() {
            self.unit.moved(&mut self.table, set, &warps_of(on, now));
            self.take_changes(on, now);
        }
    }

    /// Counts and tells what the mechanism has changed, and has schedulers look at their warps again.
    fn take_changes<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        let changes = self.table.changes();
        if !std::mem::take(&mut changes.any) {
            return;
        }
        let counters = &mut on.account.counters;
        counters.gang_splits += std::mem::take(&mut changes.splits);
        counters.gang_joins += std::mem::take(&mut changes.joins);
        counters.gang_time += self.ganged * (now - self.since);
        self.since = now;
        for sizes in changes.sizes.drain(..) {
            self.ganged = sizes[2..].iter().map(|warps| u64::from(*warps)).sum();
            on.emit(now, EventKind::Gangs { sizes });
        }
        on.warps.sets_mut().touch();
    }

    // Issue.

    /// Where a warp is, for those who go with it: its operation, and whether it waits.
    fn place<B: Build>(&self, on: &Shared<'_, B>, set: usize, slice: usize) -> (u32, bool) {
        let info = on.warps.get(self.table.warp(set, slice));
        (info.pc, info.blocked.is_some())
    }

    /// The bits of the warps at a place for the slices of an original gang.
    #[inline]
    fn bits_at<B: Build>(&self, on: &Shared<'_, B>, set: usize, place: Place) -> u8 {
        let warps = on.warps.sets().at(place);
        self.table.bits(set, |n| warps.word(n))
    }

    /// The warps of an original gang that could issue, units permitting.
    #[inline]
    fn ready_bits<B: Build>(&self, on: &Shared<'_, B>, set: usize) -> u8 {
        let ready = |unit| self.bits_at(on, set, Place::ready(unit));
        UnitKind::ALL.into_iter().fold(0, |all, unit| all | ready(unit))
    }

    /// A gang as the mechanism sees it.
    fn view<B: Build>(&self, on: &Shared<'_, B>, set: usize, mask: u8) -> GangView {
        let first = self.table.warp(set, mask.trailing_zeros() as usize);
        GangView {
            gang: Gang { set: fit(set), mask },
            pc: on.warps.get(first).pc,
            age: on.warps.slots.ages()[first.index()],
        }
    }

    /// Original gangs of which members of gangs could issue, units permitting, and are not held back, with those.
    #[inline]
    fn ready_sets<B: Build>(&self, on: &Shared<'_, B>) -> impl Iterator<Item = (usize, u8)> {
        let (sets, members, held, count) = (on.warps.sets(), self.members(), self.table.held(), self.table.slices());
        let width: u32 = fit(count);
        (0..members.word_count()).flat_map(move |n| {
            let ready = UnitKind::ALL.into_iter().fold(0, |all, unit| all | sets.ready(unit).word(n));
            let mut word = ready & members.word(n) & !held.word(n);
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
            self.table.parts(set).gangs().iter().any(|gang| {
                gang & ready == *gang && accept::<B>(datapath, *gang, on.op(self.view(on, set, *gang).pc).unit)
            })
        })
    }

    /// The gang to issue next, on schedulers that are free; with its rank.
    fn pick<B: Build>(&self, on: &Shared<'_, B>, datapath: &Datapath, used: u64) -> Option<(u64, Gang)> {
        let mut best: Option<(u64, Gang)> = None;
        for (set, ready) in self.ready_sets(on) {
            for mask in self.table.parts(set).gangs().iter().copied().filter(|gang| gang & ready == *gang) {
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
        let first = usize::from(gang.set) * self.table.slices() % count;
        u64::from(gang.mask) << first
    }

    /// Gangs issue, each up to so many instructions. Returns the schedulers whose slots they took.
    pub(super) fn issue<B: Build>(&mut self, path: &mut Path<'_, '_, B>, per_warp: u32) -> u64 {
        let now = path.now;
        self.settle(path.on, now);
        self.unit.tick(&mut self.table, &warps_of(path.on, now));
        self.take_changes(path.on, now);
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
                let pc = self.view(path.on, usize::from(gang.set), gang.mask).pc;
                for scheduler in (0..count).filter(|n| own >> n & 1 != 0) {
                    path.on.charge(scheduler, cause, pc, now, 1);
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
        self.table.warp(usize::from(gang.set), slice)
    }

    /// Gangs that were looked at before the last one that issued, and whose decoded instructions are wrong, drop them.
    fn flush<B: Build>(&self, on: &mut Shared<'_, B>, before: u64) {
        if !on.warps.sets().meets(Place::Hazard, self.members()) {
            return;
        }
        for set in 0..self.table.sets() {
            let wrong = self.bits_at(on, set, Place::Hazard) & self.table.bits(set, |n| self.members().word(n));
            for slice in slices_in(wrong) {
                let Some(mask) = self.table.parts(set).gang_of(slice) else { continue };
                if self.unit.rank(&self.view(on, set, mask)) < before {
                    on.drop_decoded(self.table.warp(set, slice));
                }
            }
        }
    }

    /// The next gang that wants instructions, in turn: a warp, and those after it that want the same, as bits.
    pub(super) fn pick_fetch<B: Build>(&mut self, on: &Shared<'_, B>) -> Option<(WarpId, u8)> {
        if !on.warps.sets().wanting.meets(self.members()) {
            return None;
        }
        self.turns.next(on, &self.table)
    }
}

/// The warps as the mechanism sees them.
fn warps_of<'a, B: Build>(on: &'a Shared<'_, B>, now: Cycle) -> GangingView<'a> {
    let warps = &on.warps;
    GangingView { now, table: warps.table(), places: warps.sets().places(), issued: warps.slots.issued() }
}

/// Whether all slices of a gang take an instruction for a unit.
fn accept<B: Build>(datapath: &Datapath, mask: u8, unit: UnitKind) -> bool {
    slices_in(mask).all(|slice| datapath.accepts::<B>(slice, unit))
}
