//! The warps of an SM: which threads they are made of, where they are, and what each could do next.
//!
//! The divergence model says who is in which warp and where it continues (`Warps::go_on`). What follows from that for a
//! warp, its [`Place`](crate::seam::Place), is kept in sets which events bring up to date: an instruction that is
//! issued or done, decoded instructions that come, a barrier that opens. No stage looks at all warps to find one that
//! can move.
//!
//! What others want to know of warps that come and go is left for them in `News`, in the order in which it happened.

mod control_flow;
mod copies;
pub mod front;
pub(super) mod news;
pub mod places;
mod readiness;
pub(super) mod rules;
pub mod scoreboard;
mod slots;

use super::blocks::phases::SeenBlocks;
use super::build::Build;
use super::in_flight::InFlight;
use crate::config::SmConfig;
use crate::kernel::{TimedKernel, TimedOp};
use crate::packet::Cycle;
use crate::saved;
use crate::seam::{Divergence, Outcome, SchedulerView, WarpId, WarpInfo, WarpTable};
use control_flow::Flow;
use front::Front;
use news::{News, Notice};
use places::Sets;
use raddle_exec::core::Lanes;
use readiness::Readiness;
use rules::Held;
use scoreboard::Hazard;
use slots::Slots;

/// The warps of an SM.
pub(super) struct Warps<'k, B> {
    kernel: &'k TimedKernel<'k>,
    /// Who is in which warp, and where it continues.
    pub(super) flow: Flow,
    ready: Readiness<'k, B>,
    /// Which slots are in use, since when, and what was issued from them.
    pub(super) slots: Slots,
    /// What others want to know.
    pub(super) news: News,
}

saved!(impl['k, B] Warps<'k, B> {
    parts: flow, ready, slots, news;
    fixed: kernel;
});

impl<'k, B: Build> Warps<'k, B> {
    /// For one launch, all `slots` free. `is_pool` says that the divergence model takes slots as it likes,
    /// `fetch_waiting` that warps at a barrier want instructions too.
    pub(super) fn new(
        kernel: &'k TimedKernel<'k>,
        sm: &SmConfig,
        slots: usize,
        divergence: Box<dyn Divergence>,
        is_pool: bool,
        fetch_waiting: bool,
    ) -> Self {
        Self {
            kernel,
            ready: Readiness::new(
                kernel,
                sm,
                slots,
                [divergence.regroups(), is_pool, divergence.splits(), fetch_waiting],
            ),
            flow: Flow::new(divergence, slots),
            slots: Slots::new(slots, sm.schedulers() as usize),
            news: News::default(),
        }
    }

    /// Control flow of all warps.
    #[inline]
    pub(super) fn table(&self) -> &WarpTable {
        &self.flow.table
    }

    /// A warp's control flow.
    #[inline]
    pub(super) fn get(&self, warp: WarpId) -> &WarpInfo {
        self.flow.table.get(warp)
    }

    /// Whose registers a warp works on.
    #[inline]
    pub(super) fn lanes(&self, warp: WarpId) -> Lanes<'_> {
        self.flow.table.lanes(warp)
    }

    /// Warps by what they could do next.
    #[inline]
    pub(super) fn sets(&self) -> &Sets<B> {
        &self.ready.sets
    }

    /// The front end of a warp.
    #[inline]
    pub(super) fn front(&self, warp: WarpId) -> &Front {
        &self.ready.fronts[warp.index()]
    }

    /// The same, to say what it has outstanding; if that may matter, [`Warps::refresh`] follows.
    #[inline]
    pub(super) fn front_mut(&mut self, warp: WarpId) -> &mut Front {
        self.ready.front(warp)
    }

    /// Warps of virtual blocks that are kept from something.
    #[inline]
    pub(super) fn held(&mut self) -> &mut Held {
        &mut self.ready.held
    }

    /// Whether a warp must not use shared memory yet: others could still use that of the logical block before.
    pub(super) fn is_kept_apart(&self, warp: WarpId, pc: u32) -> bool {
        self.ready.held.is_kept_apart(warp, pc)
    }

    /// The operation a warp is at.
    #[inline]
    pub(super) fn op(&self, warp: WarpId) -> &'k TimedOp {
        &self.kernel.ops[self.flow.table.get(warp).pc as usize]
    }

    /// What an issue scheduler may look at.
    #[inline]
    pub(super) fn view<'a>(&'a self, scheduler: usize, now: Cycle, blocks: SeenBlocks<'a>) -> SchedulerView<'a> {
        SchedulerView {
            now,
            warps: self.slots.used(scheduler),
            places: self.sets().places(),
            table: &self.flow.table,
            age: self.slots.ages(),
            issued: self.slots.issued(),
            blocks: blocks.states,
            iterations: blocks.iterations,
            ops: &self.kernel.ops,
        }
    }

    /// Whether threads change warps.
    #[inline(always)]
    pub(super) fn regroups(&self) -> bool {
        self.ready.regroups()
    }

    /// Whether the divergence model takes slots as it likes.
    #[inline(always)]
    pub(super) fn pooled(&self) -> bool {
        self.ready.is_pool()
    }

    // Blocks.

    /// Rows of registers belong to a block.
    pub(super) fn give_rows(&mut self, slot: u32, first: u32, count: u32) {
        self.ready.scoreboard.reserve_rows((first + count) as usize);
        self.flow.give_rows(slot, first, count);
    }

    /// Whether rows of registers have nothing in flight.
    pub(super) fn rows_are_done(&self, first: u32, count: u32) -> bool {
        (first..first + count).all(|row| self.ready.scoreboard.busy(row, u32::MAX) == Hazard::None)
    }

    /// A slot is used by a warp of a block that starts.
    pub(super) fn start(&mut self, warp: WarpId) {
        self.ready.restart(warp);
        if !B::PLAIN {
            self.ready.copies.start(warp);
        }
        self.use_slot(warp, true);
    }

    /// Says who is in the warps of a block that has started, and what these can do.
    pub(super) fn block_started(&mut self, warps: &[(WarpId, u32, u8, u32)]) {
        if !self.pooled() {
            warps.iter().for_each(|(warp, ..)| self.flow.tell_threads::<B>(&mut self.news, *warp));
        }
        self.refresh_touched();
    }

    /// A warp that has ended leaves its slot.
    pub(super) fn free(&mut self, warp: WarpId) {
        self.ready.refresh_free(warp);
        self.use_slot(warp, false);
        self.flow.table.free(warp);
    }

    fn use_slot(&mut self, warp: WarpId, used: bool) {
        self.slots.set_used(warp, used);
        self.news.notice(Notice::Changed(warp, used));
    }

    /// A cycle begins.
    #[inline]
    pub(super) fn begin_cycle(&mut self, now: Cycle) {
        if self.flow.begin_cycle(now) {
            self.refresh_touched();
        }
    }

    // Instructions.

    /// A warp issues an instruction, which is `entry` from now on: its registers are reserved.
    #[inline(always)]
    pub(super) fn enter(&mut self, warp: WarpId, op: &TimedOp, entry: &mut InFlight) {
        self.ready.enter(&self.flow.table, warp, op, entry);
    }

    /// An instruction is done: its registers are written, its warp may continue.
    #[inline]
    pub(super) fn complete(&mut self, entry: &InFlight) {
        self.ready.release(entry);
        if self.regroups() {
            self.finish(WarpId(entry.warp));
        } else {
            self.refresh_waiting(WarpId(entry.warp));
        }
    }

    /// A store is done, though its requests may be outstanding.
    pub(super) fn complete_store(&mut self, entry: &InFlight) {
        self.ready.release_store(entry);
        self.refresh(WarpId(entry.warp));
        if self.regroups() {
            self.finish(WarpId(entry.warp));
        }
    }

    /// A reply to an atomic of a warp has come.
    pub(super) fn atomic_done(&mut self, warp: WarpId) {
        self.ready.front(warp).atomic_done();
        self.refresh(warp);
    }

    /// A warp continues after its memory instruction. One whose threads may leave it does so when its fence or atomics
    /// are done; threads of a pool are let go then, and nobody may join them from now on.
    #[inline]
    pub(super) fn go_behind_memory(&mut self, warp: WarpId) {
        if self.regroups() && !self.pooled() && self.front(warp).waits_in_order() {
            self.ready.front(warp).stay();
            self.refresh(warp);
        } else {
            self.go_behind(warp);
        }
    }

    /// The warp continues after its instruction.
    #[inline]
    pub(super) fn go_behind(&mut self, warp: WarpId) {
        if self.flow.table.step(warp) {
            self.ready.refresh_running(&self.flow.table, warp);
        } else {
            self.go_on(warp, Outcome::Next);
        }
    }

    /// The warp continues as its instruction says.
    pub(super) fn go_on(&mut self, warp: WarpId, outcome: Outcome<'_>) {
        self.flow.issued(warp, outcome);
        self.refresh_touched();
    }

    // Fetched instructions.

    /// An instruction fetch for a warp is outstanding.
    #[inline]
    pub(super) fn is_fetched_for(&mut self, warp: WarpId) {
        self.ready.front(warp).fetching = true;
        self.ready.sets.wanting.remove(warp);
    }

    /// Instructions of a warp have come too late: it takes its turn again.
    pub(super) fn wants_again(&mut self, warp: WarpId) {
        self.ready.front(warp).end_fetch();
        self.refresh(warp);
    }

    /// Fetched instructions of a warp are decoded, unless it has left their path.
    #[inline]
    pub(super) fn decode(&mut self, warp: WarpId, pc: u32, width: u32) {
        self.ready.decode(self.flow.table.get(warp), warp, pc, width);
        self.refresh(warp);
    }

    /// The decoded instructions of a warp are wrong: it drops them.
    pub(super) fn drop_decoded(&mut self, warp: WarpId) {
        let pc = self.flow.table.get(warp).pc;
        self.ready.redirect(warp, pc);
        self.refresh(warp);
    }

    /// All threads of a warp have ended: nothing more of it is to be fetched or issued.
    pub(super) fn drop_ended(&mut self, warp: WarpId) {
        self.ready.redirect(warp, 0);
    }

    // Places.

    /// The sets, for schedulers that look at them and for what they do not show.
    #[inline]
    pub(super) fn sets_mut(&mut self) -> &mut Sets<B> {
        &mut self.ready.sets
    }

    /// Brings the sets up to date for every warp whose control flow changed.
    pub(super) fn refresh_touched(&mut self) {
        while let Some(warp) = self.flow.table.take_formed() {
            self.flow.tell_threads::<B>(&mut self.news, warp);
            let pc = self.flow.table.get(warp).pc;
            let front = self.front(warp);
            if front.head().unwrap_or(front.next_pc) != pc {
                self.ready.redirect(warp, pc);
            }
            if self.pooled() && !self.slots.is_used(warp) {
                self.use_slot(warp, true);
            }
        }
        while let Some(warp) = self.flow.table.take_touched() {
            if !B::PLAIN {
                self.news.moved(warp);
            }
            self.ready.sets.mark(warp);
            self.refresh(warp);
        }
        if self.regroups() {
            self.flow.look_ahead();
        }
    }

    /// An instruction of a warp whose threads change warps has ended: they may continue, in whatever warp they are now.
    fn finish(&mut self, warp: WarpId) {
        let front = self.front(warp);
        if self.pooled() && front.in_flight == 0 && !front.waits_in_order() {
            self.flow.finished(warp);
            self.refresh_touched();
        }
        // In the order of their numbers, also those that an earlier one makes wait.
        let mut from = 0;
        while let Some(warp) = self.sets().next_waiting_for_results(from) {
            from = warp.index() + 1;
            self.refresh_waiting(warp);
        }
    }

    /// An instruction of a warp has ended, for which it may have waited.
    #[inline]
    fn refresh_waiting(&mut self, warp: WarpId) {
        if !self.ready.sets.place(warp).waits_for_results() {
            return;
        }
        let info = self.flow.table.get(warp);
        if info.valid && info.blocked.is_none() && !self.front(warp).is_ordered() {
            self.ready.refresh_place(&self.flow.table, warp);
        } else {
            self.refresh(warp);
        }
    }

    /// A fence or atomics of a warp may be done; whether it has continued and is up to date.
    fn end_order(&mut self, warp: WarpId) -> bool {
        if self.ready.end_fence(warp) {
            self.news.fence_ended();
            if self.pooled() {
                self.finish(warp);
                return true;
            }
        }
        let goes_on = self.ready.front(warp).take_stay();
        if goes_on {
            self.go_behind(warp);
        }
        goes_on
    }

    /// Brings the sets up to date for one warp.
    pub(super) fn refresh(&mut self, warp: WarpId) {
        if self.front(warp).is_ordered() && self.end_order(warp) {
            return;
        }
        let info = self.flow.table.get(warp);
        if info.valid && info.blocked.is_none() {
            self.ready.refresh_running(&self.flow.table, warp);
        } else if self.pooled() && !info.valid {
            if self.slots.is_used(warp) {
                self.use_slot(warp, false);
            }
            self.ready.refresh_free(warp);
        } else {
            self.ready.refresh_blocked(info, warp);
        }
    }
}
