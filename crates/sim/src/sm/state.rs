//! State the stages of an SM share: warps' front ends, sets kept up to date by events, instructions in flight.

use crate::kernel::{TimedOp, UnitKind};
use crate::packet::Cycle;
use crate::seam::{MAX_WARPS, Shape, WarpId, WarpSet};
use crate::sm::coalesce::Access;
use crate::sm::collector::InstId;
use crate::sm::memory_op::Footprint;
use raddle_exec::atomics::AtomicWork;
use raddle_exec::core::{Home, Lanes, lanes_in};
use raddle_ptx::num::fit;

/// Decoded instructions a warp can hold at most.
pub const MAX_IBUFFER: u8 = 8;

/// The front end of a warp slot, and what it has outstanding.
#[derive(Clone, Debug, Default)]
pub struct Front {
    buffer: [u32; MAX_IBUFFER as usize],
    head: u8,
    len: u8,
    /// Where the next fetch goes.
    pub next_pc: u32,
    /// A line of instructions is on its way, or the fetched instructions are being decoded.
    pub fetching: bool,
    /// Instructions issued and not finished.
    pub in_flight: u32,
    /// The last one issued went to the load-store unit.
    pub last_is_memory: bool,
    /// Store acknowledgements to come.
    pub stores: u32,
    /// Atomic replies to come.
    pub atomics: u32,
    /// It has issued a fence that is not done.
    pub fence: bool,
    /// It goes behind its fence or atomic when that is done.
    pub stays: bool,
    /// Its decoded instructions were dropped, and new ones have not come.
    pub redirected: bool,
}

impl Front {
    /// The first decoded instruction.
    #[inline]
    #[must_use]
    pub fn head(&self) -> Option<u32> {
        (self.len > 0).then(|| self.buffer[usize::from(self.head % MAX_IBUFFER)])
    }

    /// Decoded instructions.
    #[inline]
    #[must_use]
    pub fn decoded(&self) -> u32 {
        u32::from(self.len)
    }

    /// Takes the first one.
    #[inline]
    pub fn pop(&mut self) {
        if self.len > 0 {
            self.head = (self.head + 1) % MAX_IBUFFER;
            self.len -= 1;
        }
    }

    /// Adds one.
    #[inline]
    pub fn push(&mut self, pc: u32) {
        self.redirected = false;
        self.buffer[usize::from((self.head + self.len) % MAX_IBUFFER)] = pc;
        self.len += 1;
    }

    /// Drops all; the next fetch goes to `pc`.
    pub fn flush(&mut self, pc: u32) {
        self.redirected = true;
        self.len = 0;
        self.next_pc = pc;
    }

    /// Whether nothing of it is left in the machine.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.stores == 0 && self.has_its_results()
    }

    /// Whether all it has asked for has come; stores may be on their way.
    pub fn has_its_results(&self) -> bool {
        self.in_flight == 0 && self.atomics == 0
    }
}

/// What a warp could do next, or why it cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
            self.sets[old as usize].set(warp, false);
            self.sets[place as usize].set(warp, true);
            if old.is_waiting() != place.is_waiting() {
                self.waiting.set(warp, place.is_waiting());
            }
        }
    }
}

/// An instruction between issue and completion.
#[derive(Debug, Default)]
pub struct InFlight {
    /// Warp.
    pub warp: u16,
    /// Operation.
    pub pc: u32,
    /// Lanes of the warp that issued it: their registers are pending.
    pub issued: u32,
    /// Row of the warp's registers.
    pub row: u32,
    /// Threads by lane, if `gathered`.
    pub homes: Box<[Home; 32]>,
    /// They are of several rows.
    pub gathered: bool,
    /// When it was issued.
    pub at: Cycle,
    /// How it goes through its unit.
    pub shape: Shape,
    /// Requests it makes, the last one first.
    pub accesses: Vec<Access>,
    /// What its atomic requests do, in the order of `accesses`.
    pub work: Vec<Box<AtomicWork>>,
    /// Parts of a load that have not come.
    pub pending: u32,
    /// Cycles it occupies the banks of shared memory.
    pub bank_cycles: u32,
    /// It goes to shared memory only.
    pub shared: bool,
    /// Its accesses are to local memory.
    pub local: bool,
    /// What it touches, until it comes to the load-store unit with those of other slices.
    pub footprint: Box<Option<Footprint>>,
    /// The instructions whose requests it carries, when it stands for those of several slices.
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
            lanes_in(self.issued).for_each(|lane| f(self.homes[lane].row, 1 << self.homes[lane].lane));
        } else {
            f(self.row, self.issued);
        }
    }
}

/// Instructions in flight, by number.
#[derive(Debug, Default)]
pub struct InFlightTable {
    slots: Vec<InFlight>,
    free: Vec<InstId>,
    /// Atomic work that can be used again.
    pub spare_work: Vec<Box<AtomicWork>>,
}

impl InFlightTable {
    /// A free entry; its lists are empty, their memory kept.
    pub fn alloc(&mut self) -> InstId {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(InFlight::default());
            fit(self.slots.len() - 1)
        })
    }

    /// Ends an instruction.
    pub fn release(&mut self, id: InstId) {
        let slot = &mut self.slots[id as usize];
        slot.accesses.clear();
        slot.work.clear();
        slot.members.clear();
        self.free.push(id);
    }

    /// An instruction.
    #[inline]
    #[must_use]
    pub fn get(&self, id: InstId) -> &InFlight {
        &self.slots[id as usize]
    }

    /// An instruction, to be changed.
    #[inline]
    pub fn get_mut(&mut self, id: InstId) -> &mut InFlight {
        &mut self.slots[id as usize]
    }
}

/// Pending register writes: masks of lanes for each row and register.
#[derive(Debug, Default)]
pub struct Scoreboard {
    /// Of a thread; behind them, whether it has an instruction in flight.
    registers: usize,
    pending: Vec<Pending>,
}

/// Lanes of a row whose register is pending.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    lanes: u32,
    /// Those of them that wait for memory.
    from_memory: u32,
}

impl Pending {
    /// What these lanes wait for.
    #[inline]
    fn hazard(self, lanes: u32) -> Hazard {
        match (self.lanes & lanes, self.from_memory & lanes) {
            (0, _) => Hazard::None,
            (_, 0) => Hazard::Alu,
            _ => Hazard::Memory,
        }
    }

    #[inline]
    fn set(&mut self, lanes: u32, memory: bool) {
        self.lanes |= lanes;
        self.from_memory |= if memory { lanes } else { 0 };
    }

    #[inline]
    fn clear(&mut self, lanes: u32) {
        self.lanes &= !lanes;
        self.from_memory &= !lanes;
    }
}

/// Why registers are not ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hazard {
    /// They are.
    None,
    /// A result of an arithmetic unit.
    Alu,
    /// A load.
    Memory,
}

impl Scoreboard {
    /// For threads with this many registers.
    #[must_use]
    pub fn new(registers: usize) -> Self {
        Self { registers: registers + 1, pending: Vec::new() }
    }

    /// The registers of a row.
    #[inline]
    fn row(&self, row: u32) -> &[Pending] {
        &self.pending[row as usize * self.registers..][..self.registers]
    }

    #[inline]
    fn row_mut(&mut self, row: u32) -> &mut [Pending] {
        &mut self.pending[row as usize * self.registers..][..self.registers]
    }

    /// Whether lanes of a row have an instruction in flight.
    #[inline]
    #[must_use]
    pub fn busy(&self, row: u32, lanes: u32) -> Hazard {
        self.row(row)[self.registers - 1].hazard(lanes)
    }

    /// Lanes of a row have one, or have none any more.
    #[inline]
    pub fn set_busy(&mut self, row: u32, lanes: u32, busy: bool, memory: bool) {
        let last = self.registers - 1;
        let pending = &mut self.row_mut(row)[last];
        pending.clear(lanes);
        if busy {
            pending.set(lanes, memory);
        }
    }

    /// Makes room for rows up to `rows`.
    pub fn reserve(&mut self, rows: usize) {
        let size = rows * self.registers;
        if self.pending.len() < size {
            self.pending.resize(size, Pending::default());
        }
    }

    /// Whether lanes of a row may issue an instruction.
    #[inline]
    #[must_use]
    pub fn check(&self, op: &TimedOp, row: u32, lanes: u32) -> Hazard {
        let row = self.row(row);
        let all = op.hazards().iter().fold(Pending::default(), |all, register| {
            let Pending { lanes, from_memory } = row[usize::from(*register)];
            Pending { lanes: all.lanes | lanes, from_memory: all.from_memory | from_memory }
        });
        all.hazard(lanes)
    }

    /// An instruction will write its registers.
    #[inline]
    pub fn reserve_writes(&mut self, op: &TimedOp, row: u32, lanes: u32, memory: bool) {
        let row = self.row_mut(row);
        op.writes().iter().for_each(|register| row[usize::from(*register)].set(lanes, memory));
    }

    /// It has written them.
    #[inline]
    pub fn release(&mut self, op: &TimedOp, row: u32, lanes: u32) {
        let row = self.row_mut(row);
        op.writes().iter().for_each(|register| row[usize::from(*register)].clear(lanes));
    }
}
