//! Whether anything in an SM moves, and when it next does.
//!
//! Every stage knows that of itself; here their answers are put together. An SM in which nothing moves is not run until the first
//! of the times they give, and its slots are charged as if it had been.

use super::blocks::Blocks;
use super::build::Build;
use super::datapath::Datapath;
use super::fetch::Fetch;
use super::gangs::Gangs;
use super::issue::Schedulers;
use super::memory::LoadStore;
use super::port::Port;
use super::power::Power;
use super::shared::Shared;
use super::warps::places::Place;
use crate::kernel::UnitKind;
use crate::packet::Cycle;

/// The stages of an SM, to be asked.
pub(super) struct Stages<'a, 'k, B> {
    pub(super) shared: &'a Shared<'k, B>,
    pub(super) blocks: &'a Blocks,
    pub(super) fetch: &'a Fetch,
    pub(super) schedulers: &'a Schedulers,
    pub(super) gangs: &'a Gangs,
    pub(super) power: &'a Power,
    pub(super) datapath: &'a Datapath,
    pub(super) memory: &'a LoadStore,
    pub(super) port: &'a Port,
}

impl<B: Build> Stages<'_, '_, B> {
    /// Whether something in front of the units moves in this cycle, or a warp leaves; `mem_busy` says that the
    /// load-store unit takes nothing.
    #[inline(always)]
    fn front_moves(&self, mem_busy: bool, now: Cycle) -> bool {
        let Self { shared, datapath, gangs, .. } = self;
        let sets = shared.warps.sets();
        let is_open = datapath.is_open::<B>(self.memory.is_occupied(), now);
        let issues = |unit: UnitKind| {
            is_open && datapath.any_accepts::<B>(unit) && self.schedulers.has_ready(shared, gangs, unit)
        };
        self.fetch.is_busy()
            || !sets.wanting.is_empty()
            || datapath.can_move::<B>(mem_busy)
            || issues(UnitKind::Sp)
            || issues(UnitKind::Mem)
            || issues(UnitKind::Sfu)
            || !sets.at(Place::Hazard).is_empty()
            || !sets.at(Place::Drained).is_empty()
            || shared.warps.pooled() && self.blocks.are_ending()
            || gangs.is_active::<B>() && (gangs.can_issue(shared, datapath) || gangs.can_join(shared))
    }

    /// Whether everything in front of the units stands still in this cycle, in which they have had their turn.
    #[inline(always)]
    pub(super) fn is_quiet(&self, now: Cycle) -> bool {
        !self.front_moves(true, now)
            && !self.fetch.wants_to_send()
            && self.blocks.next_start().is_none_or(|at| at > now)
            && (B::PLAIN || self.gangs.next_event().is_none_or(|at| at > now))
    }

    /// When something will next move, if nothing moves now; [`Cycle::MAX`] when only a message can wake it.
    #[inline(always)]
    pub(super) fn sleep_until(&self, now: Cycle) -> Option<Cycle> {
        let Self { memory, port, .. } = self;
        if self.front_moves(memory.is_occupied(), now) || memory.is_busy(port, now) || self.fetch.can_send(port) {
            return None;
        }
        let mut wake = self.shared.warps.next_event();
        let mut at = |time: Option<Cycle>| wake = wake.min(time.unwrap_or(Cycle::MAX));
        at(self.blocks.next_start());
        at(port.inbox.front().map(|r| r.0));
        at(self.datapath.next_event::<B>(now));
        at(memory.next_event());
        at(self.schedulers.next_event(now));
        if !B::PLAIN {
            at(self.gangs.next_event());
            at(self.power.next_event(self.shared, now));
            at(self.blocks.next_logical());
        }
        (wake > now).then_some(wake)
    }
}
