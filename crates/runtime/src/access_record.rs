//! What memory instructions of one SM asked for, lane by lane: for pictures of coalescing and of bank conflicts.

use crate::timing::LaunchObserver;
use raddle_sim::event::{AccessPart, Event, EventKind};
use raddle_sim::gpu::Observer;
use raddle_sim::packet::Cycle;
use raddle_sim::residency::Residency;
use std::collections::BTreeMap;

/// A request for lanes that want global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// First byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
    /// The lanes it is for.
    pub lanes: u32,
}

/// A lane that wants a word of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Banked {
    /// Lane.
    pub lane: u8,
    /// Offset in shared memory.
    pub offset: u32,
    /// The bank that has it.
    pub bank: u8,
    /// The cycle of the access in which the lane gets it, counted from 0.
    pub cycle: u8,
}

/// One memory instruction of one warp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// When.
    pub at: Cycle,
    /// Warp.
    pub warp: u16,
    /// Operation.
    pub pc: u32,
    /// Bytes of each lane.
    pub lane_bytes: u16,
    /// Sectors of global memory that its requests have.
    pub sectors: u16,
    /// Sectors that would do for the bytes.
    pub least_sectors: u16,
    /// Cycles the banks of shared memory take; none when it does not reach it.
    pub bank_cycles: u16,
    /// Lanes that want global memory, with their addresses.
    pub global: Vec<(u8, u64)>,
    /// The requests this makes.
    pub requests: Vec<Request>,
    /// Lanes that want shared memory.
    pub shared: Vec<Banked>,
}

impl Access {
    /// What a better order of data would save: sectors, and cycles of the banks.
    #[must_use]
    pub fn excess(&self) -> u16 {
        self.sectors.saturating_sub(self.least_sectors) + self.bank_cycles.saturating_sub(1)
    }
}

/// Records one access of each memory instruction that an SM, or any, executes in one launch.
#[derive(Clone, Debug)]
pub struct AccessRecord {
    sm: Option<u16>,
    launch: usize,
    number: u64,
    current: Option<usize>,
    seen: BTreeMap<u32, u64>,
    open: Option<u32>,
    /// By operation.
    pub accesses: BTreeMap<u32, Access>,
}

impl AccessRecord {
    /// Of this SM, or of all, in launch number `launch`: access `number` of each instruction, counted from 0.
    #[must_use]
    pub fn new(sm: Option<u16>, launch: usize, number: u64) -> Self {
        let (seen, accesses) = (BTreeMap::new(), BTreeMap::new());
        Self { sm, launch, number, current: None, seen, open: None, accesses }
    }

    fn part(&mut self, at: Cycle, part: AccessPart) {
        if let AccessPart::Start { warp, pc, lane_bytes, sectors, least_sectors, bank_cycles } = part {
            let seen = self.seen.entry(pc).or_default();
            self.open = (*seen == self.number).then_some(pc);
            *seen += 1;
            if self.open.is_some() {
                let new = Access { at, warp, pc, lane_bytes, sectors, least_sectors, bank_cycles, ..Access::default() };
                self.accesses.insert(pc, new);
            }
        }
        let Some(access) = self.open.and_then(|pc| self.accesses.get_mut(&pc)) else { return };
        match part {
            AccessPart::Start { .. } => {}
            AccessPart::Global { lane, address } => access.global.push((lane, address)),
            AccessPart::Request { address, bytes, lanes } => access.requests.push(Request { address, bytes, lanes }),
            AccessPart::Shared { lane, offset, bank, cycle } => {
                access.shared.push(Banked { lane, offset, bank, cycle });
            }
        }
    }
}

impl Observer for AccessRecord {
    fn event(&mut self, event: &Event) {
        if self.current == Some(self.launch)
            && self.sm.is_none_or(|sm| event.sm == sm)
            && let EventKind::Access(part) = event.kind
        {
            self.part(event.at, part);
        }
    }

    fn wants_slots(&self) -> bool {
        false
    }

    fn wants_accesses(&self) -> bool {
        true
    }
}

impl LaunchObserver for AccessRecord {
    fn launch(&mut self, number: usize, _: &Residency) {
        self.current = Some(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_asked_for_access_of_each_instruction_is_kept() {
        let mut record = AccessRecord::new(None, 0, 1);
        let start =
            |warp, pc| AccessPart::Start { warp, pc, lane_bytes: 4, sectors: 9, least_sectors: 4, bank_cycles: 3 };
        for (warp, pc) in [(0, 5), (0, 6), (1, 5), (2, 5), (1, 6)] {
            record.part(10, start(warp, pc));
            record.part(10, AccessPart::Global { lane: 3, address: u64::from(warp) });
            record.part(10, AccessPart::Request { address: 0, bytes: 32, lanes: 8 });
        }
        let kept: Vec<_> = record.accesses.values().map(|a| (a.pc, a.warp, a.global[0], a.requests.len())).collect();
        assert_eq!(kept, [(5, 1, (3, 1), 1), (6, 1, (3, 1), 1)]);
        assert_eq!(record.accesses[&5].excess(), 7);
    }
}
