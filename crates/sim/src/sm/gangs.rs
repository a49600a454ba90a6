//! The warp ganging unit: gangs issue before warps that go by themselves, fall apart where control flow parts, and may come
//! together again. Which gang goes first, and what else they do, says the mechanism ([`Ganging`]).

use super::gang_table::{GangTable, slices};
use super::issue::Issuing;
use super::state::Place;
use super::{Build, Sm};
use crate::event::EventKind;
use crate::kernel::UnitKind;
use crate::packet::Cycle;
use crate::seam::{Cause, Gang, GangView, Ganging, MemorySplit, Reform, WarpId, WarpSet};
use raddle_exec::memory::DeviceMemory;
use raddle_exec::op::Class;
use raddle_ptx::num::{fit, low8};

/// The unit.
pub(super) struct Gangs {
    pub(super) active: bool,
    pub(super) table: GangTable,
    split: MemorySplit,
    reform: Reform,
    /// Warps in a gang.
    pub(super) members: WarpSet,
    /// Warps that may issue by themselves: in no gang, and not held.
    pub(super) free: WarpSet,
    /// Original gangs of which a warp has moved.
    moved: Vec<u16>,
    /// Warps that wait for others where branches meet, and until when.
    held: WarpSet,
    until: Vec<Cycle>,
    /// Instructions a warp had issued when it last began to wait.
    waited: Vec<u64>,
    /// Operations where branches meet.
    meets: Vec<bool>,
    /// Where the next fetch for a gang is looked for.
    pub(super) next_fetch: usize,
    /// Warps by the size of the gang they are in.
    sizes: [u16; 9],
    /// Up to when their time is counted.
    since: Cycle,
}

impl Gangs {
    pub(super) fn new(unit: &dyn Ganging, slots: usize, slices: usize) -> Self {
        let active = unit.is_active() && slices > 1;
        Self {
            active,
            split: unit.memory_split(),
            reform: unit.reform(),
            table: GangTable::new(if active { slots / slices } else { 0 }),
            members: WarpSet::new(slots),
            free: {
                let mut all = WarpSet::new(slots);
                all.words_mut().fill(u64::MAX);
                all
            },
            moved: Vec::new(),
            held: WarpSet::new(slots),
            until: vec![0; slots],
            waited: vec![0; slots],
            meets: Vec::new(),
            next_fetch: usize::from(slots > slices),
            sizes: [0; 9],
            since: 0,
        }
    }

    /// A warp has gone elsewhere than behind its instruction, or may do so no more.
    #[inline]
    pub(super) fn moved(&mut self, set: usize) {
        let set = fit(set);
        if self.moved.last() != Some(&set) {
            self.moved.push(set);
        }
    }

    /// A warp waits where branches meet, or no more.
    fn set_held(&mut self, warp: WarpId, held: bool) {
        self.held.set(warp, held);
        self.free.set(warp, !held && !self.members.contains(warp));
    }

    /// A warp is in a gang, or in none.
    fn set_member(&mut self, warp: WarpId, member: bool) {
        self.members.set(warp, member);
        self.free.set(warp, !member && !self.held.contains(warp));
    }

    /// Whether memory splits gangs.
    #[inline]
    pub(super) fn splits_by_memory(&self) -> bool {
        self.split != MemorySplit::None
    }

    /// When somebody has waited long enough where branches meet.
    #[inline]
    pub(super) fn next_event(&self) -> Option<Cycle> {
        if self.active { self.next_release() } else { None }
    }

    fn next_release(&self) -> Option<Cycle> {
        self.held.iter().map(|warp| self.until[warp.index()]).min()
    }
}

impl<B: Build> Sm<'_, B> {
    /// A block has come: its rows are original gangs.
    pub(super) fn start_gangs(&mut self, now: Cycle, warps: &[(WarpId, u32, u8, u32)]) {
        if !self.has_gangs() {
            return;
        }
        let count = self.slices.len();
        if self.gangs.meets.is_empty() && matches!(self.gangs.reform, Reform::Sync(_)) {
            self.gangs.meets = vec![false; self.kernel.ops.len() + 1];
            for op in &self.kernel.program.ops {
                if let Some(meets) = self.gangs.meets.get_mut(op.reconverge as usize) {
                    *meets = true;
                }
            }
        }
        let (mut set, mut mask) = (usize::MAX, 0u8);
        for (warp, ..) in warps.iter().chain([&(WarpId(u16::MAX), 0, 0, 0)]) {
            if warp.index() / count != set {
                if set != usize::MAX {
                    self.gangs.table.start(set, mask);
                    self.gangs_changed(now, set);
                }
                (set, mask) = (warp.index() / count, 0);
            }
            mask |= 1 << (warp.index() % count);
        }
    }

    /// Brings up to date what is known of the warps of an original gang.
    fn gangs_changed(&mut self, now: Cycle, set: usize) {
        let count = self.slices.len();
        self.count_gangs(now);
        for slice in 0..count {
            let warp = WarpId::at(set * count + slice);
            let ganged = self.gangs.table.gang_of(set, slice).is_some();
            self.gangs.set_member(warp, ganged);
        }
        self.sets.touch();
        let mut sizes = [0; 9];
        for set in 0..self.gangs.table.len() {
            for gang in self.gangs.table.gangs(set) {
                sizes[gang.count_ones() as usize] += fit::<u16, _>(gang.count_ones());
            }
            sizes[1] += fit::<u16, _>(self.gangs.table.alone(set).count_ones());
        }
        if sizes != self.gangs.sizes {
            self.gangs.sizes = sizes;
            self.emit(now, EventKind::Gangs { sizes });
        }
    }

    /// Counts the time since the last change.
    pub(super) fn count_gangs(&mut self, now: Cycle) {
        let ganged: u64 = self.gangs.sizes[2..].iter().map(|warps| u64::from(*warps)).sum();
        self.counters.gang_time += ganged * (now - self.gangs.since);
        self.gangs.since = now;
    }

    /// Where a warp is, for those who may go with it: its operation, and whether it waits.
    fn place_in_gang(&self, set: usize, slice: usize) -> (u32, bool) {
        let info = self.table.get(WarpId::at(set * self.slices.len() + slice));
        (info.pc, info.blocked.is_some())
    }

    /// Gangs whose warps have parted fall apart, and warps that have ended leave theirs.
    pub(super) fn settle_gangs(&mut self, now: Cycle) {
        while let Some(set) = self.gangs.moved.pop() {
            let (set, count) = (usize::from(set), self.slices.len());
            let mut changed = false;
            for slice in 0..count {
                let info = self.table.get(WarpId::at(set * count + slice));
                let alone = self.gangs.table.alone(set) >> slice & 1 != 0;
                if (!info.valid || info.ended) && (alone || self.gangs.table.gang_of(set, slice).is_some()) {
                    self.gangs.table.end(set, slice);
                    changed = true;
                }
            }
            let mut table = std::mem::replace(&mut self.gangs.table, GangTable::new(0));
            let splits = table.split(set, |slice| self.place_in_gang(set, slice));
            self.gangs.table = table;
            self.counters.gang_splits += splits;
            if changed || splits > 0 {
                self.gangs_changed(now, set);
            }
            if let Reform::Sync(wait) = self.gangs.reform {
                self.hold(now, set, wait);
            }
        }
    }

    /// Parts of an original gang that have come where branches meet wait for the others.
    fn hold(&mut self, now: Cycle, set: usize, wait: u32) {
        let count = self.slices.len();
        let whole = self.gangs.table.gangs(set).len() + self.gangs.table.alone(set).count_ones() as usize <= 1;
        for slice in 0..count {
            let warp = WarpId::at(set * count + slice);
            let info = self.table.get(warp);
            let waits = info.valid && info.blocked.is_none() && !whole && self.gangs.meets[info.pc as usize];
            // It waits once for each time it comes.
            let issued = self.issued[warp.index()];
            if waits && !self.gangs.held.contains(warp) && self.gangs.waited[warp.index()] != issued {
                self.gangs.until[warp.index()] = now + Cycle::from(wait);
                self.gangs.waited[warp.index()] = issued;
                self.gangs.set_held(warp, true);
            } else if !waits {
                self.gangs.set_held(warp, false);
            }
        }
    }

    /// Nobody waits longer than it should.
    fn let_go(&mut self, now: Cycle) {
        if self.gangs.held.is_empty() {
            return;
        }
        for n in 0..self.gangs.held.word_count() {
            let mut word = self.gangs.held.word(n);
            while word != 0 {
                let warp = WarpId::at(n * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
                if self.gangs.until[warp.index()] <= now {
                    self.gangs.set_held(warp, false);
                }
            }
        }
    }

    /// Two parts of an original gang become one; one original gang is looked at in a cycle, in turn.
    fn join_gangs(&mut self, now: Cycle) {
        let set = fit(now % self.gangs.table.len() as Cycle);
        if let Some((a, b)) = self.gangs.table.alike(set, |slice| self.joinable(set, slice)) {
            self.gangs.table.join(set, a, b);
            self.counters.gang_joins += 1;
            self.gangs_changed(now, set);
            if self.gangs.table.gangs(set).len() + self.gangs.table.alone(set).count_ones() as usize == 1 {
                for slice in 0..self.slices.len() {
                    self.gangs.set_held(WarpId::at(set * self.slices.len() + slice), false);
                }
            }
        }
    }

    /// The operation a warp is at, unless it waits.
    fn joinable(&self, set: usize, slice: usize) -> Option<u32> {
        let (pc, waits) = self.place_in_gang(set, slice);
        (!waits).then_some(pc)
    }

    /// Whether two parts of an original gang could become one.
    pub(super) fn gangs_can_join(&self) -> bool {
        self.gangs.reform != Reform::None
            && (0..self.gangs.table.len())
                .any(|set| self.gangs.table.alike(set, |slice| self.joinable(set, slice)).is_some())
    }

    /// The bits of a set of warps for the slices of an original gang.
    #[inline]
    pub(super) fn bits(&self, set: usize, warps: &WarpSet) -> u8 {
        let first = set * self.slices.len();
        low8(warps.word(first / 64) >> (first % 64)) & (u8::MAX >> (8 - self.slices.len()))
    }

    /// The warps of an original gang that could issue, units permitting.
    #[inline]
    fn ready_bits(&self, set: usize) -> u8 {
        let sets = &self.sets;
        self.bits(set, sets.ready(UnitKind::Sp))
            | self.bits(set, sets.ready(UnitKind::Mem))
            | self.bits(set, sets.ready(UnitKind::Sfu))
    }

    /// Gangs whose warps got data from memory at different times fall apart.
    fn split_by_memory(&mut self, now: Cycle) {
        for set in 0..self.gangs.table.len() {
            if self.gangs.table.gangs(set).is_empty() {
                continue;
            }
            let (ready, waiting) = (self.ready_bits(set), self.bits(set, self.sets.at(Place::DataMemory)));
            let splits = self.gangs.table.data_came(set, ready, waiting, self.gangs.split);
            if splits > 0 {
                self.counters.gang_splits += splits;
                self.gangs_changed(now, set);
            }
        }
    }

    /// A gang as the mechanism sees it.
    fn gang_view(&self, set: usize, mask: u8) -> GangView {
        let first = set * self.slices.len() + mask.trailing_zeros() as usize;
        let pc = self.table.get(WarpId::at(first)).pc;
        GangView { gang: Gang { set: fit(set), mask }, pc, age: self.ages[first] }
    }

    /// Whether all slices of a gang take an instruction for a unit.
    fn slices_accept(&self, mask: u8, unit: UnitKind) -> bool {
        slices(mask).all(|slice| self.slices.accepts(slice, unit))
    }

    /// Original gangs of which members of gangs could issue, units permitting, with those.
    #[inline]
    fn ready_sets(&self) -> impl Iterator<Item = (usize, u8)> {
        let (sets, members, count) = (&self.sets, &self.gangs.members, self.slices.len());
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
    pub(super) fn gangs_can_issue(&self) -> bool {
        self.ready_sets().any(|(set, ready)| {
            self.gangs.table.gangs(set).iter().any(|gang| {
                gang & ready == *gang && self.slices_accept(*gang, self.op(self.gang_view(set, *gang).pc).unit)
            })
        })
    }

    /// The gang to issue next, on schedulers that are free; with its rank.
    fn pick_gang(&self, used: u64) -> Option<(u64, Gang)> {
        let mut best: Option<(u64, Gang)> = None;
        for (set, ready) in self.ready_sets() {
            let ready = ready & !self.bits(set, &self.gangs.held);
            for mask in self.gangs.table.gangs(set).iter().copied().filter(|gang| gang & ready == *gang) {
                let view = self.gang_view(set, mask);
                let rank = self.mechanisms.ganging.rank(&view);
                if best.is_some_and(|(known, _)| known <= rank) || self.schedulers_of(view.gang) & used != 0 {
                    continue;
                }
                if self.slices_accept(mask, self.op(view.pc).unit) {
                    best = Some((rank, view.gang));
                }
            }
        }
        best
    }

    /// The schedulers of a gang's warps.
    fn schedulers_of(&self, gang: Gang) -> u64 {
        let first = usize::from(gang.set) * self.slices.len() % self.scheduler_used.len();
        u64::from(gang.mask) << first
    }

    /// Gangs issue. Returns the schedulers whose slots they took.
    pub(super) fn issue_gangs(&mut self, now: Cycle, memory: &DeviceMemory) -> u64 {
        self.settle_gangs(now);
        if self.gangs.reform != Reform::None {
            self.let_go(now);
            self.join_gangs(now);
        }
        if self.gangs.split != MemorySplit::None {
            self.split_by_memory(now);
        }
        let (mut used, mut nth, mut last) = (0, 0, 0);
        let all = u64::MAX >> (64 - self.scheduler_used.len());
        while nth < self.mechanisms.ganging.per_cycle() && used != all {
            let Some((rank, gang)) = self.pick_gang(used) else {
                last = u64::MAX;
                break;
            };
            last = rank;
            if let Some(cause) = self.gang_veto(gang, now) {
                // Its schedulers wait for it.
                let waiting = self.schedulers_of(gang);
                used |= waiting;
                for scheduler in (0..self.scheduler_used.len()).filter(|n| waiting >> n & 1 != 0) {
                    self.charge_slot(scheduler, cause, now, 1);
                }
                continue;
            }
            self.issue_gang(gang, now, memory);
            self.mechanisms.ganging.issued(gang, nth);
            used |= self.schedulers_of(gang);
            nth += 1;
            if self.fault.is_some() {
                return used;
            }
        }
        self.flush_gangs(last);
        used
    }

    /// Why the gating scheme does not let a gang issue; it is asked for every warp, which wants its lanes.
    fn gang_veto(&mut self, gang: Gang, now: Cycle) -> Option<Cause> {
        if !self.has_gating() {
            return None;
        }
        slices(gang.mask).fold(None, |veto, slice| self.gating_veto(self.member(gang, slice), now).or(veto))
    }

    fn member(&self, gang: Gang, slice: usize) -> WarpId {
        WarpId::at(usize::from(gang.set) * self.slices.len() + slice)
    }

    fn issue_gang(&mut self, gang: Gang, now: Cycle, memory: &DeviceMemory) {
        for n in 0..self.config.sm.issue.per_warp {
            if n > 0 {
                let set = usize::from(gang.set);
                let first = self.place_in_gang(set, gang.mask.trailing_zeros() as usize);
                let together = slices(gang.mask).all(|slice| self.place_in_gang(set, slice) == first);
                let ready = self.ready_bits(set) & gang.mask == gang.mask;
                let accepted = self.slices_accept(gang.mask, self.op(first.0).unit);
                if !together || !ready || !accepted || self.gang_veto(gang, now).is_some() {
                    break;
                }
            }
            self.counters.gang_issues += 1;
            self.counters.gang_insts += u64::from(gang.mask.count_ones());
            if self.executes_together(gang) {
                if !self.issue_together(gang, now, memory, n == 0) {
                    return;
                }
                continue;
            }
            for slice in slices(gang.mask) {
                if !self.issue_or_fault(self.member(gang, slice), now, memory, n == 0) {
                    return;
                }
            }
        }
    }

    /// Whether the instruction of a gang can be executed once for all its lanes: they are of one row, and it does nothing
    /// but compute, load or store.
    #[inline]
    fn executes_together(&self, gang: Gang) -> bool {
        let pc = self.gang_view(usize::from(gang.set), gang.mask).pc;
        !self.regroups()
            && match self.kernel.program.ops[pc as usize].class {
                Class::Alu => self.op(pc).unit != UnitKind::Mem,
                Class::Load | Class::Store => true,
                _ => false,
            }
    }

    /// Executes the instruction of a gang once; each warp then goes on by itself. False when that ended the run.
    fn issue_together(&mut self, gang: Gang, now: Cycle, memory: &DeviceMemory, first: bool) -> bool {
        let leader = self.member(gang, gang.mask.trailing_zeros() as usize);
        let (pc, row) = (self.table.get(leader).pc, self.table.get(leader).row);
        let op = &self.kernel.program.ops[pc as usize];
        let mask = slices(gang.mask).fold(0, |all, slice| all | self.table.get(self.member(gang, slice)).mask);
        let active = self.core.guarded(op, self.table.lanes(leader), mask);
        let whole = Issuing { warp: leader, op, pc, mask, active, now, memory };
        let footprint = match self.touch_or_compute(whole) {
            Ok(footprint) => footprint,
            Err(fault) => {
                let lanes = self.table.lanes(leader);
                self.fault = Some((now, Box::new(self.core.fault(pc, lanes, fault))));
                return false;
            }
        };
        for slice in slices(gang.mask) {
            let warp = self.member(gang, slice);
            let mask = self.table.get(warp).mask;
            let one = Issuing { warp, mask, active: active & mask, ..whole };
            let inst = self.enter(one, self.op(pc), row, first);
            if let Some(all) = &footprint {
                *self.insts.get_mut(inst).footprint = all.of_lanes(active & mask);
            }
            self.go_behind(warp);
        }
        true
    }

    /// Gangs that were looked at before the last one that issued, and whose decoded instructions are wrong, drop them.
    fn flush_gangs(&mut self, before: u64) {
        if !self.sets.at(Place::Hazard).meets(&self.gangs.members) {
            return;
        }
        for set in 0..self.gangs.table.len() {
            let wrong = self.bits(set, self.sets.at(Place::Hazard)) & self.bits(set, &self.gangs.members);
            if wrong == 0 {
                continue;
            }
            for slice in slices(wrong) {
                let Some(gang) = self.gangs.table.gang_of(set, slice) else { continue };
                if self.mechanisms.ganging.rank(&self.gang_view(set, gang.mask)) < before {
                    self.drop_decoded(self.member(gang, slice));
                }
            }
        }
    }
}
