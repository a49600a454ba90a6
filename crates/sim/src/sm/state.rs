//! State the stages of an SM share: warps' front ends, sets kept up to date by events, instructions in flight.

use crate::kernel::{TimedOp, UNITS};
use crate::packet::Cycle;
use crate::seam::{WarpId, WarpSet};
use crate::sm::coalesce::Access;
use crate::sm::collector::InstId;
use raddle_exec::atomics::AtomicWork;

/// Decoded instructions a warp can hold at most.
pub const MAX_IBUFFER: usize = 8;

/// The front end of a warp slot, and what it has outstanding.
#[derive(Clone, Debug, Default)]
pub struct Front {
    buffer: [u32; MAX_IBUFFER],
    head: u8,
    len: u8,
    /// Where the next fetch goes.
    pub next_pc: u32,
    /// A line of instructions is on its way, or the fetched instructions are being decoded.
    pub fetching: bool,
    /// Instructions issued and not finished.
    pub in_flight: u32,
    /// Store acknowledgements to come.
    pub stores: u32,
    /// Atomic replies to come.
    pub atomics: u32,
    /// It has issued a fence that is not done.
    pub fence: bool,
}

impl Front {
    /// The first decoded instruction.
    #[inline]
    #[must_use]
    pub fn head(&self) -> Option<u32> {
        (self.len > 0).then(|| self.buffer[usize::from(self.head) % MAX_IBUFFER])
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
            self.head = (self.head + 1) % MAX_IBUFFER as u8;
            self.len -= 1;
        }
    }

    /// Adds one.
    #[inline]
    pub fn push(&mut self, pc: u32) {
        self.buffer[(usize::from(self.head) + usize::from(self.len)) % MAX_IBUFFER] = pc;
        self.len += 1;
    }

    /// Drops all; the next fetch goes to `pc`.
    pub fn flush(&mut self, pc: u32) {
        self.len = 0;
        self.next_pc = pc;
    }

    /// Whether nothing of it is left in the machine.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.in_flight == 0 && self.stores == 0 && self.atomics == 0
    }
}

/// Sets of warps by what they could do next; each warp in use is in exactly one of those that say why it cannot
/// issue, or in one of `ready`.
#[derive(Clone, Debug)]
pub struct Sets {
    /// In use.
    pub used: WarpSet,
    /// Can issue, by unit.
    pub ready: [WarpSet; UNITS],
    /// The decoded instruction is not the one the warp is at.
    pub hazard: WarpSet,
    /// Waits for a register from memory.
    pub data_memory: WarpSet,
    /// Waits for a register from an arithmetic unit, or for the instruction before it.
    pub data_alu: WarpSet,
    /// Has no decoded instruction.
    pub starved: WarpSet,
    /// At a barrier, or waiting for lanes of its warp.
    pub barrier: WarpSet,
    /// At a fence, or waiting for atomics.
    pub fence: WarpSet,
    /// Ended.
    pub ended: WarpSet,
    /// Held by a mechanism.
    pub held: WarpSet,
    /// Wants instructions.
    pub wanting: WarpSet,
    /// At a barrier, a fence, held, or ended: what schedulers see as waiting.
    pub waiting: WarpSet,
    /// Grows with every change.
    pub version: u64,
}

impl Sets {
    /// All empty.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        let set = || WarpSet::new(slots);
        Self {
            used: set(),
            ready: std::array::from_fn(|_| set()),
            hazard: set(),
            data_memory: set(),
            data_alu: set(),
            starved: set(),
            barrier: set(),
            fence: set(),
            ended: set(),
            held: set(),
            wanting: set(),
            waiting: set(),
            version: 0,
        }
    }

    /// Takes a warp out of all sets but `used` and `wanting`.
    #[inline]
    pub fn clear(&mut self, warp: WarpId) {
        self.version += 1;
        let (word, bit) = (warp.index() / 64, !(1u64 << (warp.0 % 64)));
        for set in &mut self.ready {
            set.words_mut()[word] &= bit;
        }
        let rest = [
            &mut self.hazard,
            &mut self.data_memory,
            &mut self.data_alu,
            &mut self.starved,
            &mut self.barrier,
            &mut self.fence,
            &mut self.ended,
            &mut self.held,
            &mut self.waiting,
        ];
        for set in rest {
            set.words_mut()[word] &= bit;
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
    /// Lanes whose guard was true.
    pub mask: u32,
    /// Lanes of the warp that issued it: their registers are pending.
    pub issued: u32,
    /// Row of the warp's registers.
    pub row: u32,
    /// When it was issued.
    pub at: Cycle,
    /// Extra passes through its unit and cycles of latency.
    pub extra: (u32, u32),
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
            self.slots.len() as InstId - 1
        })
    }

    /// Ends an instruction.
    pub fn release(&mut self, id: InstId) {
        let slot = &mut self.slots[id as usize];
        slot.accesses.clear();
        slot.work.clear();
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

    /// Instructions in flight.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Pending register writes: a mask of lanes for each row and register.
#[derive(Debug, Default)]
pub struct Scoreboard {
    registers: usize,
    pending: Vec<u32>,
    from_memory: Vec<u32>,
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
        Self { registers: registers.max(1), ..Self::default() }
    }

    /// Makes room for rows up to `rows`.
    pub fn reserve(&mut self, rows: usize) {
        let size = rows * self.registers;
        if self.pending.len() < size {
            self.pending.resize(size, 0);
            self.from_memory.resize(size, 0);
        }
    }

    /// Whether lanes of a row may issue an instruction.
    #[inline]
    #[must_use]
    pub fn check(&self, op: &TimedOp, row: u32, lanes: u32) -> Hazard {
        let base = row as usize * self.registers;
        let mut hazard = Hazard::None;
        for register in op.hazards() {
            let at = base + usize::from(*register);
            if self.pending[at] & lanes != 0 {
                if self.from_memory[at] & lanes != 0 {
                    return Hazard::Memory;
                }
                hazard = Hazard::Alu;
            }
        }
        hazard
    }

    /// An instruction will write its registers.
    #[inline]
    pub fn reserve_writes(&mut self, op: &TimedOp, row: u32, lanes: u32, memory: bool) {
        let base = row as usize * self.registers;
        for register in op.writes() {
            let at = base + usize::from(*register);
            self.pending[at] |= lanes;
            if memory {
                self.from_memory[at] |= lanes;
            }
        }
    }

    /// It has written them.
    #[inline]
    pub fn release(&mut self, op: &TimedOp, row: u32, lanes: u32) {
        let base = row as usize * self.registers;
        for register in op.writes() {
            let at = base + usize::from(*register);
            self.pending[at] &= !lanes;
            self.from_memory[at] &= !lanes;
        }
    }
}
