//! Records of blocks and warps from the event stream, and what follows from them.
//!
//! ```text
//!  warp:  start ── phase 0 ──► arrives ··· barrier lets go ── phase 1 ──► ... ──► exits ··· block ends
//!                                      wait                                             exit wait
//! ```
//!
//! A warp's life lasts from its start to the end of its block, because that is how long its resources are taken. It
//! waits at a barrier from its last lanes' arrival until it may go on.

use crate::timing::LaunchObserver;
use raddle_sim::event::{Event, EventKind};
use raddle_sim::gpu::Observer;
use raddle_sim::packet::Cycle;
use raddle_sim::residency::Residency;
use std::collections::BTreeMap;

mod summary;
pub use summary::{BlockDivergence, DivergenceSet, LaunchSummary, Phase, THRESHOLDS, rtru};

/// A warp's visit to a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Barrier.
    pub number: u8,
    /// The operation it came to.
    pub pc: u32,
    /// When its last lanes arrived.
    pub arrive: Cycle,
    /// When it could go on; never when it only announced its arrival.
    pub leave: Option<Cycle>,
}

/// What one warp did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarpRecord {
    /// When it was formed.
    pub start: Cycle,
    /// When it ended.
    pub exit: Option<Cycle>,
    /// Instructions it issued.
    pub warp_insts: u64,
    /// The same by thread.
    pub thread_insts: u64,
    /// Its visits to barriers, in order.
    pub waits: Vec<Wait>,
}

/// What one block did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockRecord {
    /// Number in the grid.
    pub cta: u64,
    /// SM it ran on.
    pub sm: u16,
    /// When it became resident.
    pub start: Cycle,
    /// When it ended.
    pub end: Option<Cycle>,
    /// Its warps, in the order they were formed.
    pub warps: Vec<WarpRecord>,
}

/// What one launch did.
#[derive(Clone, Debug, Default)]
pub struct LaunchRecord {
    /// Blocks an SM holds at once.
    pub residency: u32,
    /// Blocks in the order they became resident.
    pub blocks: Vec<BlockRecord>,
    /// Empty issue slots of each SM and scheduler, in order: from this cycle up to that one, the latter excluded.
    pub stalls: BTreeMap<(u16, u8), Vec<[Cycle; 2]>>,
    live_blocks: BTreeMap<(u16, u32), usize>,
    live_warps: BTreeMap<(u16, u16), (usize, usize)>,
}

impl LaunchRecord {
    fn warp(&mut self, sm: u16, warp: u16) -> Option<&mut WarpRecord> {
        let (block, warp) = *self.live_warps.get(&(sm, warp))?;
        self.blocks.get_mut(block)?.warps.get_mut(warp)
    }

    /// Takes note of an event.
    pub fn event(&mut self, event: &Event) {
        let Event { at, sm, kind } = *event;
        match kind {
            EventKind::CtaStart { cta, slot } => {
                self.live_blocks.insert((sm, slot), self.blocks.len());
                self.blocks.push(BlockRecord { cta, sm, start: at, ..BlockRecord::default() });
            }
            EventKind::CtaEnd { slot, .. } => {
                if let Some(block) = self.live_blocks.remove(&(sm, slot)) {
                    self.blocks[block].end = Some(at);
                }
            }
            EventKind::WarpStart { warp, slot, .. } => {
                if let Some(&block) = self.live_blocks.get(&(sm, slot)) {
                    let warps = &mut self.blocks[block].warps;
                    self.live_warps.insert((sm, warp), (block, warps.len()));
                    warps.push(WarpRecord { start: at, ..WarpRecord::default() });
                }
            }
            EventKind::WarpExit { warp, warp_insts, thread_insts, .. } => {
                if let Some(record) = self.warp(sm, warp) {
                    (record.exit, record.warp_insts, record.thread_insts) = (Some(at), warp_insts, thread_insts);
                }
                self.live_warps.remove(&(sm, warp));
            }
            EventKind::BarrierArrive { warp, pc, number, .. } => {
                if let Some(record) = self.warp(sm, warp) {
                    match record.waits.last_mut().filter(|w| w.number == number && w.leave.is_none()) {
                        Some(open) => open.arrive = at,
                        None => record.waits.push(Wait { number, pc, arrive: at, leave: None }),
                    }
                }
            }
            EventKind::BarrierLeave { warp, number, .. } => {
                if let Some(record) = self.warp(sm, warp) {
                    let open = record.waits.iter_mut().rev().find(|w| w.number == number && w.leave.is_none());
                    open.into_iter().for_each(|w| w.leave = Some(at));
                }
            }
            EventKind::Stall { scheduler, cycles, .. } => {
                let stalls = self.stalls.entry((sm, scheduler)).or_default();
                match stalls.last_mut().filter(|[_, until]| *until == at) {
                    Some([_, until]) => *until += cycles,
                    None => stalls.push([at, at + cycles]),
                }
            }
            EventKind::Thread { .. }
            | EventKind::State { .. }
            | EventKind::Issue { .. }
            | EventKind::Request { .. }
            | EventKind::Access(_)
            | EventKind::Gangs { .. } => {}
        }
    }
}

/// Records every launch of a run.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// Launches, in order.
    pub launches: Vec<LaunchRecord>,
    /// Empty issue slots are not looked at.
    is_without_stalls: bool,
}

impl Recorder {
    /// One that does not look at empty issue slots: these are far more than everything else.
    #[must_use]
    pub fn without_stalls() -> Self {
        Self { is_without_stalls: true, ..Self::default() }
    }
}

impl Observer for Recorder {
    fn event(&mut self, event: &Event) {
        if let Some(launch) = self.launches.last_mut() {
            launch.event(event);
        }
    }

    fn wants_slots(&self) -> bool {
        !self.is_without_stalls
    }
}

impl LaunchObserver for Recorder {
    fn launch(&mut self, _: usize, residency: &Residency) {
        self.launches.push(LaunchRecord { residency: residency.ctas, ..LaunchRecord::default() });
    }
}

/// Sums up every launch of a run when it ends, and keeps no record: for long runs. Stalls are not looked at.
#[derive(Clone, Debug, Default)]
pub struct Summaries {
    sms: u32,
    current: Option<LaunchRecord>,
    launches: Vec<LaunchSummary>,
}

impl Summaries {
    /// For a machine with this many SMs.
    #[must_use]
    pub fn new(sms: u32) -> Self {
        Self { sms, ..Self::default() }
    }

    fn close(&mut self) {
        self.launches.extend(self.current.take().map(|record| LaunchSummary::new(&record, self.sms)));
    }

    /// One for each launch, in order.
    #[must_use]
    pub fn finish(mut self) -> Vec<LaunchSummary> {
        self.close();
        self.launches
    }
}

impl Observer for Summaries {
    fn event(&mut self, event: &Event) {
        if let Some(record) = &mut self.current {
            record.event(event);
        }
    }

    fn wants_slots(&self) -> bool {
        false
    }
}

impl LaunchObserver for Summaries {
    fn launch(&mut self, _: usize, residency: &Residency) {
        self.close();
        self.current = Some(LaunchRecord { residency: residency.ctas, ..LaunchRecord::default() });
    }
}

#[cfg(test)]
mod tests;
