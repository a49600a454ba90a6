//! Instructions between issue and completion.

use super::footprint::Footprint;
use super::memory::coalesce::Access;
use crate::packet::Cycle;
use crate::saved;
use crate::saved::{Pass, Saved};
use crate::seam::Shape;
use raddle_exec::atomics::AtomicWork;
use raddle_exec::core::{Home, Lanes};
use raddle_ptx::num::fit;

/// The number of an instruction in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct InstId(pub u32);

impl InstId {
    /// No instruction.
    pub const NONE: Self = Self(u32::MAX);

    /// As an index.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Saved for InstId {
    fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), saved::Error> {
        pass.value(self)
    }
}

/// An instruction between issue and completion.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct InFlight {
    /// Warp.
    pub warp: u16,
    /// Operation.
    pub pc: u32,
    /// The next free entry, when this one is free.
    next: InstId,
    /// Lanes of the warp that issued it: their registers are pending.
    pub issued: u32,
    /// Row of the warp's registers.
    pub row: u32,
    /// Threads by lane, if `gathered`.
    pub homes: Box<[Home; 32]>,
    /// They are of several rows.
    pub gathered: bool,
    /// Those rows, each with its lanes.
    pub rows: Vec<(u32, u32)>,
    /// When it was issued.
    pub at: Cycle,
    /// How it goes through its unit.
    pub shape: Shape,
    /// Requests it makes, the last one first.
    pub accesses: Vec<Access>,
    /// What its atomic requests do, in the order of `accesses`.
    #[allow(clippy::vec_box, reason = "requests take the boxes along and bring them back")]
    pub work: Vec<Box<AtomicWork>>,
    /// Parts of a load that have not come.
    pub pending: u32,
    /// Cycles it occupies the banks of shared memory.
    pub bank_cycles: u32,
    /// Accesses to shared memory that it makes one after another, each of one cycle without conflicts.
    pub bank_steps: u32,
    /// The group of an asynchronous copy.
    pub group: u32,
    /// It goes to shared memory only.
    pub shared: bool,
    /// Its accesses are to local memory.
    pub local: bool,
    /// What it touches, until it comes to the load-store unit with those of other slices.
    pub footprint: Box<Option<Footprint>>,
    /// The instructions whose requests it carries, when it represents those of several slices.
    pub members: Vec<InstId>,
}

impl InFlight {
    /// Whose registers it works on.
    #[inline]
    #[must_use]
    pub fn lanes(&self) -> Lanes<'_> {
        if self.gathered { Lanes::Gathered(&self.homes) } else { Lanes::Row(self.row) }
    }

    /// Calls `f` with each row that has lanes of it, and those lanes in the row.
    #[inline]
    pub fn for_each_row(&self, mut f: impl FnMut(u32, u32)) {
        if self.gathered {
            self.rows.iter().for_each(|(row, lanes)| f(*row, *lanes));
        } else {
            f(self.row, self.issued);
        }
    }
}

/// Instructions in flight, by number.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct InFlightTable {
    slots: Vec<InFlight>,
    /// The first free entry; each has the next.
    free: InstId,
    /// Atomic work that can be used again.
    #[allow(clippy::vec_box, reason = "requests take the boxes along and bring them back")]
    pub spare_work: Vec<Box<AtomicWork>>,
}

impl Default for InFlightTable {
    fn default() -> Self {
        Self { slots: Vec::new(), free: InstId::NONE, spare_work: Vec::new() }
    }
}

impl InFlightTable {
    /// A free entry; its lists are empty, their memory kept.
    #[inline]
    pub fn alloc(&mut self) -> InstId {
        let id = self.free;
        match self.slots.get(id.index()) {
            Some(slot) => self.free = slot.next,
            None => return self.grow(),
        }
        id
    }

    #[cold]
    fn grow(&mut self) -> InstId {
        self.slots.push(InFlight::default());
        InstId(fit(self.slots.len() - 1))
    }

    /// Ends an instruction.
    #[inline]
    pub fn release(&mut self, id: InstId) {
        let slot = &mut self.slots[id.index()];
        slot.accesses.clear();
        slot.work.clear();
        slot.members.clear();
        slot.next = std::mem::replace(&mut self.free, id);
    }

    /// An instruction.
    #[inline]
    #[must_use]
    pub fn get(&self, id: InstId) -> &InFlight {
        &self.slots[id.index()]
    }

    /// Whether an instruction represents those of several slices.
    #[inline]
    #[must_use]
    pub fn is_carrier(&self, id: InstId) -> bool {
        !self.get(id).members.is_empty()
    }

    /// An instruction, to be changed.
    #[inline]
    pub fn get_mut(&mut self, id: InstId) -> &mut InFlight {
        &mut self.slots[id.index()]
    }
}
