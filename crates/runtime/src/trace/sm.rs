//! The tracks of one SM: its schedulers, the slots of its blocks, its warps.
//!
//! Slices are written when they end, so that nothing has to be kept of them, and neighbours that are alike are one.

use super::file::{Note, TraceFile, Track, What};
use super::ops::Ops;
use raddle_sim::event::{Event, EventKind};
use raddle_sim::packet::Cycle;
use raddle_sim::seam::{Cause, Place};
use std::collections::BTreeMap;

/// What is shown of an SM.
pub(super) struct SmTracks {
    schedulers: Vec<Scheduler>,
    blocks: Track,
    slots: BTreeMap<u32, Slot>,
    warps: Track,
    by_warp: BTreeMap<u16, Warp>,
}

/// What a scheduler does: `None` where it issues.
type Slots = Option<Cause>;

struct Scheduler {
    track: Track,
    /// The first cycle of which nothing is known.
    until: Cycle,
    /// What it does up to there, and since when.
    now: Option<(Slots, Cycle)>,
}

impl Scheduler {
    fn does(&mut self, file: &mut TraceFile, slots: Slots, to: Cycle) {
        if to <= self.until {
            return;
        }
        if self.now.is_none_or(|(now, _)| now != slots) {
            self.flush(file, self.until);
            self.now = Some((slots, self.until));
        }
        self.until = to;
    }

    fn flush(&mut self, file: &mut TraceFile, to: Cycle) {
        if let Some((slots, since)) = self.now.take() {
            let name = slots.map_or("issued", Cause::name);
            file.slice(self.track, since..to, What { kind: "slots", name, notes: &[] });
        }
    }
}

struct Slot {
    track: Track,
    /// The block in it, and since when.
    block: Option<(u64, Cycle)>,
}

struct Warp {
    track: Track,
    now: Option<State>,
}

/// What a warp could do, and since when.
#[derive(Clone, Copy)]
struct State {
    since: Cycle,
    place: Place,
    pc: u32,
    cta: u64,
}

/// The name of what a warp waits for: that of the cause an empty slot would have.
fn waits_for(place: Place) -> &'static str {
    place.cause().map_or("ready", Cause::name)
}

impl Warp {
    fn flush(&mut self, file: &mut TraceFile, ops: &Ops, to: Cycle) {
        if let Some(State { since, place, pc, cta }) = self.now.take() {
            let notes = [("pc", Note::Number(pc.into())), ("line", ops.line(pc)), ("block", Note::Number(cta))];
            file.slice(self.track, since..to, What { kind: "waits", name: waits_for(place), notes: &notes });
        }
    }

    fn issues(&mut self, file: &mut TraceFile, ops: &Ops, at: Cycle, pc: u32, lanes: u32) {
        let state = self.now;
        self.flush(file, ops, at);
        let lanes = Note::Number(lanes.count_ones().into());
        let notes = [("pc", Note::Number(pc.into())), ("line", ops.line(pc)), ("lanes", lanes)];
        file.slice(self.track, at..at + 1, What { kind: "issues", name: ops.name(pc), notes: &notes });
        // What it can do in the next cycle is told if it is something else.
        self.now = state.map(|state| State { since: at + 1, ..state });
    }
}

impl SmTracks {
    /// The tracks of an SM with so many schedulers.
    pub(super) fn new(file: &mut TraceFile, number: u16, rank: i32, schedulers: u32) -> Self {
        let sm = file.track(&format!("SM {number}"), None, rank);
        let scheduler = |n: u32| Scheduler {
            track: file.track(&format!("scheduler {n}"), Some(sm), n as i32),
            until: 0,
            now: None,
        };
        let schedulers = (0..schedulers).map(scheduler).collect();
        let blocks = file.track("blocks", Some(sm), 1000);
        let warps = file.track("warps", Some(sm), 1001);
        Self { schedulers, blocks, slots: BTreeMap::new(), warps, by_warp: BTreeMap::new() }
    }

    /// A launch starts.
    pub(super) fn start(&mut self, at: Cycle) {
        self.schedulers.iter_mut().for_each(|scheduler| scheduler.until = at);
    }

    /// Something happened.
    pub(super) fn event(&mut self, file: &mut TraceFile, ops: &Ops, event: &Event) {
        let at = event.at;
        match event.kind {
            EventKind::Stall { scheduler, cause, cycles } => {
                if let Some(scheduler) = self.schedulers.get_mut(usize::from(scheduler)) {
                    // Slots nothing is said of are those of instructions.
                    scheduler.does(file, None, at);
                    scheduler.does(file, Some(cause), at + cycles);
                }
            }
            // Blocks start and end after the issue stage of their cycle.
            EventKind::CtaStart { cta, slot } => {
                let track = self.slots.get(&slot).map(|slot| slot.track);
                let track =
                    track.unwrap_or_else(|| file.track(&format!("block slot {slot}"), Some(self.blocks), slot as i32));
                self.slots.insert(slot, Slot { track, block: Some((cta, at + 1)) });
            }
            EventKind::CtaEnd { slot, .. } => self.end_block(file, slot, at + 1),
            EventKind::State { warp, slot, pc, place } => {
                let cta = self.slots.get(&slot).and_then(|slot| slot.block).map_or(0, |(cta, _)| cta);
                let track = self.by_warp.get(&warp).map(|warp| warp.track);
                if track.is_none() && place == Place::Free {
                    return;
                }
                let track =
                    track.unwrap_or_else(|| file.track(&format!("warp {warp}"), Some(self.warps), i32::from(warp)));
                let warp = self.by_warp.entry(warp).or_insert(Warp { track, now: None });
                warp.flush(file, ops, at);
                warp.now = (place != Place::Free).then_some(State { since: at, place, pc, cta });
            }
            EventKind::Issue { warp, pc, lanes, .. } => {
                if let Some(warp) = self.by_warp.get_mut(&warp) {
                    warp.issues(file, ops, at, pc, lanes);
                }
            }
            EventKind::WarpExit { warp, .. } => {
                if let Some(warp) = self.by_warp.get_mut(&warp) {
                    warp.flush(file, ops, at + 1);
                }
            }
            _ => {}
        }
    }

    fn end_block(&mut self, file: &mut TraceFile, slot: u32, to: Cycle) {
        if let Some(slot) = self.slots.get_mut(&slot)
            && let Some((cta, since)) = slot.block.take()
        {
            file.slice(slot.track, since..to, What { kind: "blocks", name: &format!("block {cta}"), notes: &[] });
        }
    }

    /// A launch has ended, in the midst of what happens when it did not complete.
    pub(super) fn end(&mut self, file: &mut TraceFile, ops: &Ops, at: Cycle, has_fault: bool) {
        for scheduler in &mut self.schedulers {
            if !has_fault {
                scheduler.does(file, None, at);
            }
            // SMs run beyond the end of a launch, to the edge of a window.
            scheduler.flush(file, at.min(scheduler.until));
        }
        let slots: Vec<u32> = self.slots.keys().copied().collect();
        slots.into_iter().for_each(|slot| self.end_block(file, slot, at));
        self.by_warp.values_mut().for_each(|warp| warp.flush(file, ops, at));
    }
}
