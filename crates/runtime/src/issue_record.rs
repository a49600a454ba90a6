//! What one SM issued in every cycle, with the threads in each lane: for pictures of divergence.

use crate::timing::LaunchObserver;
use raddle_sim::event::{Event, EventKind};
use raddle_sim::gpu::Observer;
use raddle_sim::packet::Cycle;
use raddle_sim::residency::Residency;
use std::collections::BTreeMap;

/// A thread in a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Lane.
    pub lane: u8,
    /// Slot of its block on the SM.
    pub slot: u32,
    /// Number in the block.
    pub number: u16,
    /// The instruction's guard is true for it.
    pub is_active: bool,
}

/// An instruction a warp issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    /// When.
    pub at: Cycle,
    /// Warp.
    pub warp: u16,
    /// Operation.
    pub pc: u32,
    /// The threads that are at it.
    pub threads: Vec<Thread>,
}

/// Records the first instructions an SM issues in one launch.
#[derive(Clone, Debug)]
pub struct IssueRecord {
    sm: Option<u16>,
    launch: usize,
    most: usize,
    current: Option<usize>,
    lanes: BTreeMap<(u16, u8), (u32, u16)>,
    /// What was issued, in order.
    pub issued: Vec<Issued>,
}

impl IssueRecord {
    /// Of this SM, or of the first one that gets threads, in launch number `launch`, `most` instructions at most.
    #[must_use]
    pub fn new(sm: Option<u16>, launch: usize, most: usize) -> Self {
        Self { sm, launch, most, current: None, lanes: BTreeMap::new(), issued: Vec::new() }
    }
}

impl Observer for IssueRecord {
    fn event(&mut self, event: &Event) {
        if self.current != Some(self.launch) || self.sm.is_some_and(|sm| sm != event.sm) {
            return;
        }
        match event.kind {
            EventKind::Thread { warp, lane, slot, thread } => {
                self.sm = Some(event.sm);
                self.lanes.insert((warp, lane), (slot, thread));
            }
            EventKind::Issue { warp, pc, at, lanes } if self.issued.len() < self.most => {
                let thread = |lane: u8| {
                    let (slot, number) = *self.lanes.get(&(warp, lane))?;
                    Some(Thread { lane, slot, number, is_active: lanes >> lane & 1 != 0 })
                };
                let threads = (0..32u8).filter(|lane| at >> lane & 1 != 0).filter_map(thread).collect();
                self.issued.push(Issued { at: event.at, warp, pc, threads });
            }
            _ => {}
        }
    }
}

impl LaunchObserver for IssueRecord {
    fn launch(&mut self, number: usize, _: &Residency) {
        self.current = Some(number);
    }
}
