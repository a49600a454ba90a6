//! The warps of an SM: which threads they are made of, where they are, and what each could do next.
//!
//! The divergence model says who is in which warp and where it goes on ([`Warps::go_on`]). What follows from that for a
//! warp, its [`Place`], is kept in sets which events bring up to date: an instruction that is issued or done, decoded
//! instructions that come, a barrier that opens. No stage looks at all warps to find one that can move.
//!
//! What others want to know of warps that come and go is left for them here, in the order in which it happened:
//! [`Warps::take_notice`], [`Warps::take_told`], [`Warps::take_moved`].

pub mod front;
pub mod places;
pub mod scoreboard;

use super::blocks::phases::SeenBlocks;
use super::build::Build;
use super::in_flight::InFlight;
use crate::config::SmConfig;
use crate::event::EventKind;
use crate::kernel::{TimedKernel, TimedOp, UnitKind};
use crate::packet::Cycle;
use crate::seam::{Cause, Divergence, Leaving, Outcome, SchedulerView, WarpId, WarpInfo, WarpSet, WarpTable};
use front::Front;
use places::{Place, Sets};
use raddle_exec::core::{Lanes, lanes_in, lanes_of};
use raddle_ptx::num::fit;
use scoreboard::{Hazard, Scoreboard};
use std::marker::PhantomData;

/// What happened to a warp, for its scheduler.
#[derive(Clone, Copy, Debug)]
pub(super) enum Notice {
    /// It came to the SM, or its slot was freed.
    Changed(WarpId, bool),
    /// It came to a barrier, or may leave it.
    Barrier(WarpId, bool),
}

/// What the machine says about warps.
#[derive(Clone, Copy)]
struct Rules {
    /// Decoded instructions up to which a warp wants more.
    fetch_below: u32,
    /// Warps at a barrier want instructions too.
    fetch_waiting: bool,
    ideal_fetch: bool,
    single_in_flight: bool,
    fence_waits_for_stores: bool,
    fence_empties_l1d: bool,
    /// All lanes of a warp.
    lanes: u32,
}

impl Rules {
    fn new(sm: &SmConfig, fetch_waiting: bool) -> Self {
        Self {
            fetch_below: match &sm.fetch {
                fetch if fetch.ideal => 0,
                fetch if fetch.only_when_empty => 1,
                fetch => (fetch.ibuffer + 1).saturating_sub(fetch.width),
            },
            fetch_waiting,
            ideal_fetch: sm.fetch.ideal,
            single_in_flight: sm.single_in_flight,
            fence_waits_for_stores: sm.fence_waits_for_stores,
            fence_empties_l1d: sm.fence_empties_l1d,
            lanes: lanes_of(sm.warp_width),
        }
    }
}

/// Warps of virtual blocks that may not do all they otherwise could.
#[derive(Default)]
struct Held {
    /// Wait for their next logical block.
    between: Option<WarpSet>,
    /// May not use shared memory yet.
    apart: Option<WarpSet>,
    /// Operations that may go to shared memory.
    shared_ops: Vec<bool>,
}

/// Who moved, where warps of neighbouring slots go together.
struct Moved {
    /// Slots of a group.
    group: usize,
    groups: Vec<u16>,
}

/// The warps of an SM.
pub(super) struct Warps<'k, B> {
    build: PhantomData<B>,
    kernel: &'k TimedKernel<'k>,
    rules: Rules,
    table: WarpTable,
    divergence: Box<dyn Divergence>,
    /// When the divergence model next acts on its own.
    due: Cycle,
    /// Threads change warps.
    regroups: bool,
    /// Warps are made of threads from several blocks, one instruction at a time.
    pooled: bool,
    fronts: Vec<Front>,
    sets: Sets,
    scoreboard: Scoreboard,
    /// Warps of each scheduler that are in use.
    used: Vec<WarpSet>,
    ages: Vec<u64>,
    next_age: u64,
    issued: Vec<u64>,
    issued_threads: Vec<u64>,
    /// The block of each row of registers, and the row's number in it.
    rows: Vec<(u32, u32)>,
    held: Held,
    /// A fence has ended that empties the data cache.
    fence_ended: bool,
    notices: Vec<Notice>,
    moved: Option<Moved>,
    /// Who is in which warp, if somebody listens.
    told: Option<Vec<EventKind>>,
}

impl<'k, B: Build> Warps<'k, B> {
    /// For one launch, all `slots` free. `fetch_waiting` says that warps at a barrier want instructions too.
    pub(super) fn new(
        kernel: &'k TimedKernel<'k>,
        sm: &SmConfig,
        slots: usize,
        divergence: Box<dyn Divergence>,
        is_pool: bool,
        fetch_waiting: bool,
    ) -> Self {
        let schedulers = sm.schedulers() as usize;
        Self {
            build: PhantomData,
            kernel,
            rules: Rules::new(sm, fetch_waiting),
            table: WarpTable::new(slots),
            due: divergence.next_event(),
            regroups: divergence.regroups(),
            pooled: is_pool,
            divergence,
            fronts: vec![Front::default(); slots],
            sets: Sets::new(slots, schedulers),
            scoreboard: Scoreboard::new(kernel.registers),
            used: vec![WarpSet::new(slots); schedulers],
            ages: vec![0; slots],
            next_age: 0,
            issued: vec![0; slots],
            issued_threads: vec![0; slots],
            rows: Vec::new(),
            held: Held::default(),
            fence_ended: false,
            notices: Vec::new(),
            moved: None,
            told: None,
        }
    }

    /// Says from now on who is in which warp.
    pub(super) fn tell(&mut self) {
        self.told = Some(Vec::new());
    }

    /// Remembers from now on which groups of this many neighbouring slots have a warp that moved.
    pub(super) fn watch_groups(&mut self, slots: usize) {
        self.moved = Some(Moved { group: slots, groups: Vec::new() });
    }

    /// Warps may be kept from shared memory, to which these operations may go.
    pub(super) fn hold_back(&mut self, shared_ops: Vec<bool>) {
        let none = || Some(WarpSet::new(self.table.slots()));
        self.held = Held { between: none(), apart: none(), shared_ops };
    }

    // What others may look at.

    /// Control flow of all warps.
    #[inline]
    pub(super) fn table(&self) -> &WarpTable {
        &self.table
    }

    /// A warp's control flow.
    #[inline]
    pub(super) fn get(&self, warp: WarpId) -> &WarpInfo {
        self.table.get(warp)
    }

    /// Whose registers a warp works on.
    #[inline]
    pub(super) fn lanes(&self, warp: WarpId) -> Lanes<'_> {
        self.table.lanes(warp)
    }

    /// Warps by what they could do next.
    #[inline]
    pub(super) fn sets(&self) -> &Sets {
        &self.sets
    }

    /// The front end of a warp.
    #[inline]
    pub(super) fn front(&self, warp: WarpId) -> &Front {
        &self.fronts[warp.index()]
    }

    /// Slots, used or not.
    #[inline]
    pub(super) fn slots(&self) -> usize {
        self.fronts.len()
    }

    /// Warps of a scheduler that are in use.
    #[inline]
    pub(super) fn used(&self, scheduler: usize) -> &WarpSet {
        &self.used[scheduler]
    }

    /// Schedulers, of which each has every so many-th warp.
    #[inline]
    pub(super) fn schedulers(&self) -> usize {
        self.used.len()
    }

    /// The operation a warp is at.
    #[inline]
    pub(super) fn op(&self, warp: WarpId) -> &'k TimedOp {
        &self.kernel.ops[self.table.get(warp).pc as usize]
    }

    /// When a warp came: a number that grows with every warp.
    #[inline]
    pub(super) fn age(&self, warp: WarpId) -> u64 {
        self.ages[warp.index()]
    }

    /// Instructions every warp has issued.
    #[inline]
    pub(super) fn issued(&self) -> &[u64] {
        &self.issued
    }

    /// The same for one, by warp and by thread.
    pub(super) fn issued_by(&self, warp: WarpId) -> (u64, u64) {
        (self.issued[warp.index()], self.issued_threads[warp.index()])
    }

    /// The block a row of registers belongs to.
    #[inline]
    pub(super) fn block_of_row(&self, row: u32) -> u32 {
        self.rows[row as usize].0
    }

    /// What an issue scheduler may look at.
    #[inline]
    pub(super) fn view<'a>(&'a self, scheduler: usize, now: Cycle, blocks: SeenBlocks<'a>) -> SchedulerView<'a> {
        SchedulerView {
            now,
            warps: &self.used[scheduler],
            waits_for_memory: self.sets.at(Place::DataMemory),
            waiting: &self.sets.waiting,
            table: &self.table,
            age: &self.ages,
            issued: &self.issued,
            blocks: blocks.states,
            iterations: blocks.iterations,
            ops: &self.kernel.ops,
        }
    }

    /// Whether threads change warps.
    #[inline(always)]
    pub(super) fn regroups(&self) -> bool {
        !B::PLAIN && self.regroups
    }

    /// Whether warps are made of threads from several blocks, one instruction at a time.
    #[inline(always)]
    pub(super) fn pooled(&self) -> bool {
        !B::PLAIN && self.pooled
    }

    /// Entries of a reconvergence stack at most.
    pub(super) fn stack_depth(&self) -> u32 {
        self.divergence.stack_depth()
    }

    /// The divergence model, for reports.
    pub(super) fn divergence(&self) -> &dyn Divergence {
        &*self.divergence
    }

    // What is left for others.

    /// The next thing that happened to a warp, for its scheduler.
    #[inline]
    pub(super) fn has_notices(&self) -> bool {
        !self.notices.is_empty()
    }

    /// What happened to warps, for their schedulers.
    pub(super) fn take_notices(&mut self) -> impl Iterator<Item = Notice> + '_ {
        self.notices.drain(..)
    }

    /// Who is in which warp, for those who listen.
    pub(super) fn take_told(&mut self) -> Option<impl Iterator<Item = EventKind> + '_> {
        self.told.as_mut().map(|told| told.drain(..))
    }

    /// A group of neighbouring slots with a warp that has gone elsewhere than behind its instruction.
    pub(super) fn take_moved(&mut self) -> Option<usize> {
        self.moved.as_mut()?.groups.pop().map(usize::from)
    }

    /// Whether a fence has ended that empties the data cache; it is asked once.
    #[inline]
    pub(super) fn take_fence(&mut self) -> bool {
        std::mem::take(&mut self.fence_ended)
    }

    // Blocks.

    /// Rows of registers belong to a block.
    pub(super) fn give_rows(&mut self, slot: u32, first: u32, count: u32) {
        let end = (first + count) as usize;
        self.scoreboard.reserve(end);
        if self.rows.len() < end {
            self.rows.resize(end, (0, 0));
        }
        for (number, row) in (0..).zip(&mut self.rows[first as usize..end]) {
            *row = (slot, number);
        }
    }

    /// Whether rows of registers have nothing in flight.
    pub(super) fn rows_are_done(&self, first: u32, count: u32) -> bool {
        (first..first + count).all(|row| self.scoreboard.busy(row, u32::MAX) == Hazard::None)
    }

    /// A slot is used by a warp of a block that starts.
    pub(super) fn start(&mut self, warp: WarpId) {
        self.fronts[warp.index()] = Front::default();
        self.use_slot(warp);
    }

    /// Gives the warps of a block that starts to the divergence model: slot, row, first lane and lanes of each.
    pub(super) fn start_block(&mut self, slot: u32, warps: &[(WarpId, u32, u8, u32)]) {
        self.divergence.start_cta(slot, warps, &mut self.table);
    }

    /// Says who is in the warps of a block that has started, and what these can do.
    pub(super) fn block_started(&mut self, warps: &[(WarpId, u32, u8, u32)]) {
        if !self.pooled() {
            warps.iter().for_each(|(warp, ..)| self.tell_threads(*warp));
        }
        self.refresh_touched();
    }

    /// A block has ended.
    pub(super) fn end_block(&mut self, slot: u32) {
        self.divergence.end_cta(slot, &mut self.table);
    }

    /// A warp that has ended leaves its slot.
    pub(super) fn free(&mut self, warp: WarpId) {
        self.sets.put(warp, Place::Free);
        self.sets.wanting.set(warp, false);
        self.set_used(warp, false);
        self.table.free(warp);
    }

    fn use_slot(&mut self, warp: WarpId) {
        self.ages[warp.index()] = self.next_age;
        self.next_age += 1;
        self.issued[warp.index()] = 0;
        self.issued_threads[warp.index()] = 0;
        self.set_used(warp, true);
    }

    fn set_used(&mut self, warp: WarpId, used: bool) {
        let scheduler = warp.index() % self.used.len();
        self.used[scheduler].set(warp, used);
        self.notices.push(Notice::Changed(warp, used));
    }

    // Time.

    /// A cycle begins.
    #[inline]
    pub(super) fn begin_cycle(&mut self, now: Cycle) {
        self.table.set_now(now);
        if self.due <= now {
            self.divergence.tick(&mut self.table);
            self.refresh_touched();
        }
    }

    /// When the divergence model next acts on its own.
    #[inline]
    pub(super) fn next_event(&self) -> Cycle {
        self.due
    }

    // Instructions.

    /// A warp issues an instruction that is counted for this many threads.
    #[inline]
    pub(super) fn count(&mut self, warp: WarpId, threads: u64) {
        self.issued[warp.index()] += 1;
        self.issued_threads[warp.index()] += threads;
    }

    /// A warp issues an instruction, which is `entry` from now on: its registers are reserved.
    #[inline(always)]
    pub(super) fn enter(&mut self, warp: WarpId, op: &TimedOp, entry: &mut InFlight) {
        let is_memory = op.unit == UnitKind::Mem;
        let front = &mut self.fronts[warp.index()];
        front.pop();
        front.in_flight += 1;
        front.last_is_memory = is_memory;
        if self.regroups() {
            let homes = self.table.get(warp).homes();
            entry.gathered = homes.is_some();
            if let Some(homes) = homes {
                *entry.homes = *homes;
            }
            entry.for_each_row(|row, lanes| self.scoreboard.set_busy(row, lanes, true, is_memory));
        }
        self.table.for_each_row(warp, entry.issued, |row, lanes| {
            self.scoreboard.reserve_writes(op, row, lanes, is_memory);
        });
    }

    /// An instruction is done: its registers are written, its warp may go on.
    #[inline]
    pub(super) fn complete(&mut self, entry: &InFlight) {
        let warp = WarpId(entry.warp);
        let op = &self.kernel.ops[entry.pc as usize];
        self.fronts[warp.index()].in_flight -= 1;
        if self.regroups() {
            entry.for_each_row(|row, lanes| {
                self.scoreboard.release(op, row, lanes);
                self.scoreboard.set_busy(row, lanes, false, false);
            });
            self.finish(warp);
        } else {
            self.scoreboard.release(op, entry.row, entry.issued);
            self.refresh_waiting(warp);
        }
    }

    /// A store is done, though its requests may be on their way.
    pub(super) fn complete_store(&mut self, entry: &InFlight) {
        let warp = WarpId(entry.warp);
        self.fronts[warp.index()].in_flight -= 1;
        if self.regroups() {
            entry.for_each_row(|row, lanes| self.scoreboard.set_busy(row, lanes, false, false));
        }
        self.refresh(warp);
        if self.regroups() {
            self.finish(warp);
        }
    }

    /// A warp is at a fence.
    pub(super) fn begin_fence(&mut self, warp: WarpId) {
        self.fronts[warp.index()].fence = true;
    }

    /// A warp waits for this many more acknowledgements of stores.
    #[inline]
    pub(super) fn stores_sent(&mut self, warp: WarpId, sectors: u32) {
        self.fronts[warp.index()].stores += sectors;
    }

    /// It waits for fewer. Whoever calls has the warp looked at again ([`Warps::refresh`]) if that may matter.
    #[inline]
    pub(super) fn stores_done(&mut self, warp: WarpId, sectors: u32) {
        self.fronts[warp.index()].stores -= sectors;
    }

    /// A warp waits for this many replies to its atomics.
    pub(super) fn atomics_sent(&mut self, warp: WarpId, count: u32) {
        self.fronts[warp.index()].atomics += count;
    }

    /// One of them has come.
    pub(super) fn atomic_done(&mut self, warp: WarpId) {
        self.fronts[warp.index()].atomics -= 1;
        self.refresh(warp);
    }

    /// A warp goes on behind its memory instruction. One whose threads may leave it does so when its fence or atomics
    /// are done; threads of a pool are let go then, and nobody may join them from now on.
    #[inline]
    pub(super) fn go_behind_memory(&mut self, warp: WarpId) {
        let may_leave = self.regroups() && !self.pooled();
        let front = &mut self.fronts[warp.index()];
        if may_leave && (front.fence || front.atomics > 0) {
            front.stays = true;
            self.refresh(warp);
        } else {
            self.go_behind(warp);
        }
    }

    /// The warp goes on behind its instruction.
    #[inline]
    pub(super) fn go_behind(&mut self, warp: WarpId) {
        if self.table.step(warp) {
            self.refresh_running(warp);
        } else {
            self.go_on(warp, Outcome::Next);
        }
    }

    /// The warp goes on as its instruction says.
    pub(super) fn go_on(&mut self, warp: WarpId, outcome: Outcome<'_>) {
        self.divergence.issued(warp, outcome, &mut self.table);
        self.refresh_touched();
    }

    /// Nothing of an ended warp is to be fetched or issued.
    pub(super) fn flush_ended(&mut self, warp: WarpId) {
        if self.table.get(warp).ended {
            self.fronts[warp.index()].flush(0);
        }
    }

    /// A warp has come to a barrier and waits.
    pub(super) fn arrives(&mut self, warp: WarpId) {
        self.notices.push(Notice::Barrier(warp, true));
    }

    /// A warp leaves a barrier.
    pub(super) fn leaves(&mut self, warp: WarpId) {
        self.notices.push(Notice::Barrier(warp, false));
    }

    /// Lets everyone at a barrier go on; `leave` is called with them.
    pub(super) fn release(&mut self, slot: u32, barrier: u8, leave: &mut dyn FnMut(Leaving<'_>)) {
        self.divergence.release(slot, barrier, &mut self.table, leave);
    }

    /// Lanes of a warp that wait at the same warp-wide operation and whose partners have all come.
    pub(super) fn take_sync(&mut self, warp: WarpId) -> Option<(u32, u32)> {
        self.divergence.take_sync(warp, &mut self.table)
    }

    // Fetched instructions.

    /// Instructions of a warp are on their way.
    #[inline]
    pub(super) fn is_fetched_for(&mut self, warp: WarpId) {
        self.fronts[warp.index()].fetching = true;
        self.sets.wanting.remove(warp);
    }

    /// Instructions of a warp have come too late: it takes its turn again.
    pub(super) fn wants_again(&mut self, warp: WarpId) {
        self.fronts[warp.index()].fetching = false;
        self.refresh(warp);
    }

    /// Instructions of a warp are decoded.
    #[inline]
    pub(super) fn decode(&mut self, warp: WarpId, pc: u32, width: u32) {
        let front = &mut self.fronts[warp.index()];
        front.fetching = false;
        if self.table.get(warp).valid && !self.table.get(warp).ended {
            // What lies behind the program is fetched too: the warp is found to be elsewhere and drops it.
            for next in pc..pc + width {
                front.push(next);
            }
            front.next_pc = pc + width;
        }
        self.refresh(warp);
    }

    /// The decoded instructions of a warp are wrong: it drops them.
    pub(super) fn drop_decoded(&mut self, warp: WarpId) {
        let pc = self.table.get(warp).pc;
        self.fronts[warp.index()].flush(pc);
        self.refresh(warp);
    }

    // Places.

    /// Something about the warps of all schedulers has changed that the sets do not show.
    pub(super) fn touch(&mut self) {
        self.sets.touch();
    }

    /// Whether a warp waits for its next logical block, and whether it may not use shared memory yet.
    pub(super) fn set_held(&mut self, warp: WarpId, between: bool, apart: bool) {
        if let Held { between: Some(all_between), apart: Some(all_apart), .. } = &mut self.held {
            all_between.set(warp, between);
            all_apart.set(warp, apart);
        }
    }

    /// Whether a warp may not issue an operation because others could still use the shared memory of the logical block
    /// before.
    #[inline]
    pub(super) fn is_kept_apart(&self, warp: WarpId, pc: u32) -> bool {
        let apart = self.held.apart.as_ref().filter(|_| !B::PLAIN);
        apart.is_some_and(|apart| apart.contains(warp) && self.held.shared_ops[pc as usize])
    }

    /// Brings the sets up to date for every warp whose control flow changed.
    pub(super) fn refresh_touched(&mut self) {
        while let Some(warp) = self.table.take_formed() {
            self.tell_threads(warp);
            let pc = self.table.get(warp).pc;
            let front = &mut self.fronts[warp.index()];
            if front.head().unwrap_or(front.next_pc) != pc {
                front.flush(pc);
            }
            let scheduler = warp.index() % self.used.len();
            if self.pooled() && !self.used[scheduler].contains(warp) {
                self.use_slot(warp);
            }
        }
        while let Some(warp) = self.table.take_touched() {
            if let Some(Moved { group, groups }) = self.moved.as_mut().filter(|_| !B::PLAIN) {
                let number = fit(warp.index() / *group);
                if groups.last() != Some(&number) {
                    groups.push(number);
                }
            }
            self.refresh(warp);
        }
        if self.regroups() {
            self.due = self.divergence.next_event();
        }
    }

    /// Tells who listens which threads are in a warp.
    fn tell_threads(&mut self, warp: WarpId) {
        let Some(told) = self.told.as_mut().filter(|_| !B::PLAIN) else { return };
        for lane in lanes_in(self.table.get(warp).mask) {
            let home = self.table.lanes(warp).home(lane);
            let (slot, row) = self.rows[home.row as usize];
            let thread = fit(row * 32 + u32::from(home.lane));
            told.push(EventKind::Thread { warp: warp.0, lane: fit(lane), slot, thread });
        }
    }

    /// An instruction of a warp whose threads change warps has ended: they may go on, in whatever warp they are now.
    fn finish(&mut self, warp: WarpId) {
        let front = &self.fronts[warp.index()];
        if self.pooled() && front.in_flight == 0 && front.atomics == 0 && !front.fence {
            self.divergence.finished(warp, &mut self.table);
            self.refresh_touched();
        }
        for warp in WarpId::first(self.table.slots()) {
            self.refresh_waiting(warp);
        }
    }

    /// An instruction of a warp has ended, for which it may have waited.
    #[inline]
    fn refresh_waiting(&mut self, warp: WarpId) {
        if self.sets.place(warp).waits_for_results() {
            self.refresh(warp);
        }
    }

    /// Brings the sets up to date for one warp.
    pub(super) fn refresh(&mut self, warp: WarpId) {
        let pooled = self.pooled();
        let info = self.table.get(warp);
        let front = &mut self.fronts[warp.index()];
        let rules = self.rules;
        if front.fence && front.has_its_results() && (front.stores == 0 || !rules.fence_waits_for_stores) {
            front.fence = false;
            self.fence_ended |= rules.fence_empties_l1d;
            if pooled {
                self.finish(warp);
                return;
            }
        }
        if front.stays && !front.fence && front.atomics == 0 {
            front.stays = false;
            self.go_behind(warp);
            return;
        }
        if pooled && !info.valid {
            let scheduler = warp.index() % self.used.len();
            if self.used[scheduler].contains(warp) {
                self.set_used(warp, false);
            }
            self.sets.wanting.set(warp, false);
            self.sets.put(warp, Place::Free);
            return;
        }
        if info.valid && info.blocked.is_none() {
            self.refresh_running(warp);
            return;
        }
        let serves = rules.fetch_waiting || info.blocked != Some(Cause::Barrier);
        let wants = info.valid && !info.ended && !front.fetching && front.decoded() < rules.fetch_below && serves;
        self.sets.wanting.set(warp, wants);
        let front = &self.fronts[warp.index()];
        let between = |warp| self.held.between.as_ref().is_some_and(|between| between.contains(warp));
        let place = match info.blocked {
            _ if !info.valid => Place::Free,
            Some(Cause::ExitWait) if front.is_drained() => Place::Drained,
            Some(Cause::ExitWait) => Place::Ended,
            Some(Cause::Barrier) if between(warp) => Place::Sibling,
            Some(Cause::Barrier) => Place::Barrier,
            Some(Cause::DataAlu) if front.fence || front.atomics > 0 => Place::Fence,
            Some(Cause::DataAlu) if front.last_is_memory => Place::DataMemory,
            Some(Cause::DataAlu) => Place::DataAlu,
            _ => Place::Held,
        };
        self.sets.put(warp, place);
    }

    /// The same for a warp that is in use and not blocked.
    #[inline]
    fn refresh_running(&mut self, warp: WarpId) {
        let front = &self.fronts[warp.index()];
        self.sets.wanting.set(warp, !front.fetching && front.decoded() < self.rules.fetch_below);
        let place = self.place_of(warp, front);
        self.sets.put(warp, place);
    }

    #[inline]
    fn place_of(&self, warp: WarpId, front: &Front) -> Place {
        if front.atomics > 0 || front.fence {
            return Place::Fence;
        }
        let info = self.table.get(warp);
        match front.head() {
            Some(head) if head == info.pc => {}
            _ if self.rules.ideal_fetch => {}
            Some(_) => return Place::Hazard,
            None => return if front.redirected { Place::Redirected } else { Place::Starved },
        }
        let op = &self.kernel.ops[info.pc as usize];
        if self.rules.single_in_flight || self.pooled() {
            let hazard = match (self.regroups(), front.in_flight) {
                (true, _) => self.hazard_of(warp, info.mask, |row, lanes| self.scoreboard.busy(row, lanes)),
                (false, 0) => Hazard::None,
                _ if front.last_is_memory => Hazard::Memory,
                _ => Hazard::Alu,
            };
            match hazard {
                Hazard::Memory => return Place::DataMemory,
                Hazard::Alu => return Place::DataAlu,
                Hazard::None => {}
            }
        }
        let hazard = match info.homes() {
            // Lanes of a warp that have parted wait for each other's results.
            None => self.scoreboard.check(op, info.row, self.rules.lanes << info.base),
            Some(_) => self.hazard_of(warp, info.mask, |row, lanes| self.scoreboard.check(op, row, lanes)),
        };
        match hazard {
            Hazard::Memory => Place::DataMemory,
            Hazard::Alu => Place::DataAlu,
            Hazard::None if op.unit == UnitKind::Mem && self.is_kept_apart(warp, info.pc) => Place::Sibling,
            Hazard::None => Place::ready(op.unit),
        }
    }

    /// What the threads of a warp wait for, when `of` says so for the lanes of a row.
    fn hazard_of(&self, warp: WarpId, mask: u32, of: impl Fn(u32, u32) -> Hazard) -> Hazard {
        let mut hazard = Hazard::None;
        self.table.for_each_row(warp, mask, |row, lanes| match of(row, lanes) {
            Hazard::None => {}
            Hazard::Memory => hazard = Hazard::Memory,
            Hazard::Alu if hazard == Hazard::None => hazard = Hazard::Alu,
            Hazard::Alu => {}
        });
        hazard
    }
}
