//! Tells mechanisms that ask for it what requests find at the data cache.

use super::super::build::Build;
use super::super::shared::Shared;
use super::outgoing::Lookup;
use super::parts::Parts;
use super::served::{Load, Store};
use crate::packet::Token;
use crate::seam::{DataAccess, DataOutcome, WarpId};
use raddle_exec::core::lanes_of;

/// A load that waits for its line.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Waiting {
    /// Whom it serves.
    token: Token,
    pc: u32,
    line: u64,
    lanes: u32,
}

/// Requests of loads that wait for their lines.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Watch {
    waiting: Vec<Waiting>,
    /// The first request has been refused.
    is_refused: bool,
}

/// Whether somebody asks.
#[inline]
pub(super) fn is_wanted<B: Build>(on: &Shared<'_, B>) -> bool {
    !B::PLAIN && (on.warps.news.watches_data() || on.warps.flow.watches_data())
}

impl Watch {
    /// A request has reached the tags, and a line was found, requested or refused.
    pub(super) fn looked_up<B: Build>(
        &mut self,
        on: &mut Shared<'_, B>,
        parts: &Parts,
        lookup: &Lookup,
        line: u64,
        is_store: bool,
        outcome: DataOutcome,
    ) {
        let was_refused = std::mem::replace(&mut self.is_refused, outcome == DataOutcome::Refused);
        if was_refused && self.is_refused {
            return;
        }
        let &Lookup { inst, access, token, .. } = lookup;
        let pc = on.insts.get(inst).pc;
        if !is_store && matches!(outcome, DataOutcome::Pending | DataOutcome::Miss) {
            self.waiting.push(Waiting { token, pc, line, lanes: access.lanes });
        }
        let event = DataAccess { warp: WarpId(0), pc, lanes: access.lanes, line, is_store, outcome };
        tell(on, parts, token, event);
    }

    /// The data of a line go to a load that waited for it.
    pub(super) fn came<B: Build>(&mut self, on: &mut Shared<'_, B>, parts: &Parts, token: Token, line: u64) {
        let Some(at) = self.waiting.iter().position(|w| (w.token, w.line) == (token, line)) else { return };
        let Waiting { pc, lanes, .. } = self.waiting.remove(at);
        let outcome = DataOutcome::Came;
        tell(on, parts, token, DataAccess { warp: WarpId(0), pc, lanes, line, is_store: false, outcome });
    }
}

/// Tells of a request, once for each warp it serves.
fn tell<B: Build>(on: &mut Shared<'_, B>, parts: &Parts, token: Token, event: DataAccess) {
    let all = lanes_of(on.facts.config.sm.warp_width);
    let mut tell = |warp: WarpId| {
        let lanes = event.lanes & all << on.warps.get(warp).base;
        let access = DataAccess { warp, lanes, ..event };
        on.warps.news.data_access(access);
        on.warps.flow.data_access(&access);
    };
    match event.is_store {
        true => parts.for_each_warp(Store::of(token), tell),
        false => parts.for_each_reader(&on.insts, Load::of(token), &mut tell),
    }
    on.warps.refresh_touched();
}
