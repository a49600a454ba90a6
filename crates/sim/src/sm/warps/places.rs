//! What every warp could do next, or why it cannot, as sets.

use crate::kernel::UnitKind;
use crate::saved;
use crate::seam::{MAX_WARPS, WarpId, WarpSet};
use raddle_ptx::num::fit;

/// What a warp could do next, or why it cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Place {
    /// Not in use.
    Free,
    /// Can issue to the SPs.
    ReadySp,
    /// Can issue to the SFU.
    ReadySfu,
    /// Can issue to the load-store unit.
    ReadyMem,
    /// The decoded instruction is not the one the warp is at.
    Hazard,
    /// Waits for a register from memory.
    DataMemory,
    /// Waits for a register from an arithmetic unit, or for the instruction before it.
    DataAlu,
    /// Has no decoded instruction: it was elsewhere than what was fetched.
    Redirected,
    /// Has no decoded instruction.
    Starved,
    /// At a fence, or waiting for atomics.
    Fence,
    /// Held by a mechanism.
    Held,
    /// Waiting for its next logical block, or with shared memory for warps of the one before.
    Sibling,
    /// At a barrier, or waiting for lanes of its warp.
    Barrier,
    /// Ended, with something of it left in the machine.
    Ended,
    /// Ended, with nothing left.
    Drained,
}

/// Schedulers of an SM at most, in all its slices.
pub const MAX_SCHEDULERS: usize = 64;

/// Places there are.
const PLACES: usize = 15;

impl Place {
    /// Ready to issue to a unit.
    #[inline]
    #[must_use]
    pub fn ready(unit: UnitKind) -> Self {
        match unit {
            UnitKind::Sp => Self::ReadySp,
            UnitKind::Sfu => Self::ReadySfu,
            UnitKind::Mem => Self::ReadyMem,
        }
    }

    /// Whether the end of an instruction may move it.
    #[inline]
    #[must_use]
    pub fn waits_for_results(self) -> bool {
        matches!(self, Self::DataMemory | Self::DataAlu | Self::Fence | Self::Ended)
    }

    /// What schedulers see as waiting: at a barrier, a fence, held, or ended.
    fn is_waiting(self) -> bool {
        matches!(self, Self::Fence | Self::Held | Self::Sibling | Self::Barrier | Self::Ended | Self::Drained)
    }
}

/// Warps by place: each is in exactly one.
#[derive(Clone, Debug)]
pub struct Sets {
    places: Vec<Place>,
    sets: [WarpSet; PLACES],
    /// Wants instructions.
    pub wanting: WarpSet,
    /// At a barrier, a fence, held, or ended: what schedulers see as waiting.
    pub waiting: WarpSet,
    /// Which scheduler a warp is of.
    schedulers: Box<[u8; MAX_WARPS]>,
    /// Grows with every change of a place, for each scheduler.
    versions: [u64; MAX_SCHEDULERS],
}

saved!(Sets { values: places, sets, wanting, waiting; parts: versions; fixed: schedulers });

impl Sets {
    /// All warps free; warp `w` is of scheduler `w` modulo their number.
    #[must_use]
    pub fn new(slots: usize, schedulers: usize) -> Self {
        let set = || WarpSet::new(slots);
        Self {
            places: vec![Place::Free; slots],
            sets: std::array::from_fn(|_| set()),
            wanting: set(),
            waiting: set(),
            schedulers: Box::new(std::array::from_fn(|warp| fit(warp % schedulers))),
            versions: [0; MAX_SCHEDULERS],
        }
    }

    /// The warps at a place.
    #[inline]
    #[must_use]
    pub fn at(&self, place: Place) -> &WarpSet {
        &self.sets[place as usize]
    }

    /// The warps that can issue to a unit.
    #[inline]
    #[must_use]
    pub fn ready(&self, unit: UnitKind) -> &WarpSet {
        self.at(Place::ready(unit))
    }

    /// Where a warp is.
    #[inline]
    #[must_use]
    pub fn place(&self, warp: WarpId) -> Place {
        self.places[warp.index()]
    }

    /// How often the warps of a scheduler have moved.
    #[inline]
    #[must_use]
    pub fn version(&self, scheduler: usize) -> u64 {
        self.versions[scheduler % MAX_SCHEDULERS]
    }

    /// How often any warp has moved.
    #[must_use]
    pub fn moves(&self) -> u64 {
        self.versions.iter().sum()
    }

    /// Something else about the warps of all schedulers has changed.
    pub fn touch(&mut self) {
        self.versions.iter_mut().for_each(|version| *version += 1);
    }

    /// Moves a warp.
    #[inline]
    pub fn put(&mut self, warp: WarpId, place: Place) {
        let old = std::mem::replace(&mut self.places[warp.index()], place);
        if old != place {
            let scheduler = self.schedulers[warp.index() % MAX_WARPS];
            self.versions[usize::from(scheduler) % MAX_SCHEDULERS] += 1;
            self.sets[old as usize].remove(warp);
            self.sets[place as usize].insert(warp);
            if old.is_waiting() != place.is_waiting() {
                self.waiting.set(warp, place.is_waiting());
            }
        }
    }
}
