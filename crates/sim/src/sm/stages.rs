//! What the stages of an SM answer together: whether anything moves, and when it next does; what was counted.
//!
//! An SM in which nothing moves is not run until the first of the times the stages give, and its slots are charged as
//! if it had been.

use super::blocks::Blocks;
use super::build::{Build, units};
use super::counters::SmCounters;
use super::datapath::Datapath;
use super::fetch::Fetch;
use super::gangs::Gangs;
use super::issue::Schedulers;
use super::memory::LoadStore;
use super::port::Port;
use super::power::Power;
use super::shared::Shared;
use crate::kernel::UnitKind;
use crate::packet::Cycle;
use crate::result::SmResult;
use crate::seam::{Place, Seam};

/// The stages of an SM, to be asked.
pub(crate) struct Stages<'a, 'k, B> {
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
    /// load-store unit accepts nothing.
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
            || units::<B>().iter().any(|unit| issues(*unit))
            || !sets.is_empty(Place::Hazard)
            || !sets.is_empty(Place::Drained)
            || shared.warps.pooled() && self.blocks.are_ending()
            || gangs.is_active::<B>() && (gangs.can_issue(shared, datapath) || gangs.can_change(shared, now))
    }

    /// Whether everything in front of the units stands still in this cycle, in which they have had their turn.
    #[inline(always)]
    pub(super) fn is_quiet(&self, now: Cycle) -> bool {
        !self.front_moves(true, now)
            && !self.fetch.wants_to_send()
            && self.blocks.next_start().is_none_or(|at| at > now)
            && (B::PLAIN || self.gangs.next_event(now).is_none_or(|at| at > now))
    }

    /// When something will next move, if nothing moves now; [`Cycle::MAX`] when only a message can wake it.
    #[inline(always)]
    pub(super) fn sleep_until(&self, now: Cycle) -> Option<Cycle> {
        let Self { memory, port, .. } = self;
        if self.front_moves(memory.is_occupied(), now) || memory.is_busy::<B>(port, now) || self.fetch.can_send(port) {
            return None;
        }
        let mut wake = self.shared.warps.flow.next_event();
        let mut at = |time: Option<Cycle>| wake = wake.min(time.unwrap_or(Cycle::MAX));
        at(self.blocks.next_start());
        at(port.inbox.front().map(|r| r.0));
        at(self.datapath.next_event::<B>(now));
        at(memory.next_event::<B>());
        at(self.schedulers.next_event(now));
        if !B::PLAIN {
            at(self.gangs.next_event(now));
            at(self.power.next_event(self.shared, now));
            at(self.blocks.next_logical());
        }
        (wake > now).then_some(wake)
    }

    /// What was counted in a launch that ended `trailing` cycles before the SM stopped: nothing was there then.
    ///
    /// # Panics
    /// When a slot of a scheduler has no cause or two, or a lane is in no state or two; not after a fault.
    pub(crate) fn result(&self, trailing: Cycle, has_fault: bool) -> SmResult {
        let Shared { warps, account, facts, .. } = self.shared;
        let (stack_depth, register_bank_conflicts) = (u64::from(warps.flow.stack_depth()), self.datapath.conflicts());
        let mut sm = SmCounters { register_bank_conflicts, stack_depth, ..account.with_mix(&facts.kernel.ops) };
        let schedulers = warps.slots.schedulers() as u64;
        sm.cycles -= trailing;
        sm.stall_no_warp_resident -= trailing * schedulers;
        if !has_fault {
            assert_eq!(sm.slots(), sm.cycles * schedulers, "every scheduler slot has one cause");
        }
        let [int, fp] = self.power.lanes(&facts.config.sm, sm.cycles, has_fault);
        let [l1d, l1c, l1t] = self.memory.counters().map(Clone::clone);
        SmResult { sm, int, fp, l1i: self.fetch.counters().clone(), l1d, l1c, l1t, own: Vec::new() }
    }

    /// The values of the counters that mechanisms at a seam declare, object by object.
    pub(crate) fn counted(&self, seam: Seam) -> Vec<Vec<u64>> {
        match seam {
            Seam::Divergence => vec![self.shared.warps.flow.divergence().counters()],
            Seam::Issue => self.schedulers.policies().iter().map(|policy| policy.counters()).collect(),
            Seam::Fetch => self.fetch.policies().iter().map(|policy| policy.counters()).collect(),
            Seam::Ganging => vec![self.gangs.unit().counters()],
            Seam::Gating => vec![self.power.gating().counters()],
            Seam::LogicalBlocks => self.blocks.logical_blocks().iter().map(|policy| policy.counters()).collect(),
            Seam::Dispatch => Vec::new(),
        }
    }
}
