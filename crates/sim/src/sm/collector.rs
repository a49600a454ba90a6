//! The operand collector: instructions wait here until the register banks have delivered their sources.
//!
//! A bank serves one access in a cycle, writes first, reads in the order they were asked for. A collector unit takes
//! what all banks have for it.

use crate::config::{CollectorConfig, UnitsConfig};
use crate::kernel::{MAX_READS, UNITS, UnitKind};
use crate::saved;
use raddle_ptx::num::fit;

/// An instruction in the pipeline, by its number in the SM's table.
pub type InstId = u32;

/// Instructions a queue in front of or behind the collector holds at most.
pub const MAX_WIDTH: u8 = 16;

/// A short queue of instructions.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Queue {
    insts: [InstId; MAX_WIDTH as usize],
    first: u8,
    len: u8,
}

impl Queue {
    /// How many there are.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The one that came first.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<InstId> {
        (self.len > 0).then(|| self.insts[usize::from(self.first % MAX_WIDTH)])
    }

    #[inline]
    fn push_back(&mut self, inst: InstId) {
        self.insts[usize::from((self.first + self.len) % MAX_WIDTH)] = inst;
        self.len += 1;
    }

    #[inline]
    fn pop_front(&mut self) -> Option<InstId> {
        let inst = self.front()?;
        self.first = (self.first + 1) % MAX_WIDTH;
        self.len -= 1;
        Some(inst)
    }
}

/// The collector units of one pipeline.
#[derive(Clone, Debug)]
struct Group {
    /// Its units, as bits.
    units: u64,
    /// Where each port last found a ready instruction.
    last: Vec<u32>,
}

saved!(Group { values: last; fixed: units });

/// Banks, and collector units: sets of them are bits of a word.
const MOST: usize = u64::BITS as usize;

/// Operands the banks have to deliver, as numbers of collector units.
#[derive(Clone, Debug)]
struct Operands {
    /// A ring for each bank, as long as all units' operands need, a power of two.
    rings: Box<[u8]>,
    size: usize,
    first: [u16; MOST],
    len: [u16; MOST],
}

saved!(Operands { parts: rings, first, len; fixed: size });

impl Operands {
    fn new(banks: usize, units: usize) -> Self {
        let size = (units * MAX_READS).next_power_of_two().max(1);
        Self { rings: vec![0; banks * size].into(), size, first: [0; MOST], len: [0; MOST] }
    }

    /// Asks a bank for an operand.
    #[inline]
    fn push(&mut self, bank: usize, unit: u8) {
        let len = &mut self.len[bank % MOST];
        let last = usize::from(self.first[bank % MOST].wrapping_add(*len));
        self.rings[bank * self.size + (last & (self.size - 1))] = unit;
        *len += 1;
    }

    /// A bank delivers: for which unit, and how many still wait for it.
    #[inline]
    fn pop(&mut self, bank: usize) -> (u8, u16) {
        let (first, len) = (&mut self.first[bank % MOST], &mut self.len[bank % MOST]);
        let unit = self.rings[bank * self.size + (usize::from(*first) & (self.size - 1))];
        *first = first.wrapping_add(1);
        *len -= 1;
        (unit, *len)
    }
}

/// The operand collector with the registers in front of it and behind it.
pub struct Collector {
    enabled: bool,
    banks: usize,
    /// What selects a bank, where their number is a power of two.
    bank_bits: Option<usize>,
    /// Instruction and operands still to come of each collector unit.
    units: [(InstId, u8); MOST],
    /// Units with an instruction.
    busy: u64,
    /// Units whose instruction has all its operands.
    ready: u64,
    groups: [Group; UNITS],
    operands: Operands,
    /// Banks with something to deliver.
    requested: u64,
    /// Banks that are written in this cycle.
    written: u64,
    /// Issued instructions that have no collector unit yet, by pipeline.
    pub input: [Queue; UNITS],
    /// Instructions with all operands, by pipeline.
    pub output: [Queue; UNITS],
    width: [usize; UNITS],
    occupied: usize,
    /// Cycles operands waited because their bank was busy.
    pub conflicts: u64,
}

saved!(Collector {
    values: busy, ready, requested, written, input, output, occupied, conflicts;
    parts: units, groups, operands;
    fixed: enabled, banks, bank_bits, width;
});

impl Collector {
    /// An empty collector.
    #[must_use]
    pub fn new(config: &CollectorConfig, units: &UnitsConfig) -> Self {
        let counts = [config.sp_units, config.sfu_units, config.mem_units];
        let ports = [config.sp_ports, config.sfu_ports, config.mem_ports].map(|n| n as usize);
        let mut first = 0;
        let groups = std::array::from_fn(|n| {
            let units = if counts[n] == 0 { 0 } else { (u64::MAX >> (64 - counts[n])) << first };
            let group = Group { units, last: vec![first; ports[n]] };
            first += counts[n];
            group
        });
        let width = [units.sp_issue, units.sfu_issue, units.mem_issue].map(|n| n.min(MAX_WIDTH.into()) as usize);
        Self {
            enabled: config.enabled,
            banks: config.banks as usize,
            bank_bits: config.banks.is_power_of_two().then(|| config.banks as usize - 1),
            units: [(0, 0); MOST],
            busy: 0,
            ready: 0,
            groups,
            operands: Operands::new(config.banks as usize, first as usize),
            requested: 0,
            written: 0,
            input: Default::default(),
            output: Default::default(),
            width,
            occupied: 0,
            conflicts: 0,
        }
    }

    /// Whether an instruction can be issued to a pipeline.
    #[inline]
    #[must_use]
    pub fn accepts(&self, unit: UnitKind) -> bool {
        self.input[unit as usize].len() < self.width[unit as usize]
    }

    /// Takes an issued instruction.
    #[inline]
    pub fn push(&mut self, unit: UnitKind, inst: InstId) {
        self.input[unit as usize].push_back(inst);
        self.occupied += 1;
    }

    /// Takes the instruction that has waited longest for its unit.
    #[inline]
    pub fn take(&mut self, unit: UnitKind) -> Option<InstId> {
        let inst = self.output[unit as usize].pop_front()?;
        self.occupied -= 1;
        Some(inst)
    }

    /// Whether instructions with all operands wait for an arithmetic pipeline.
    #[inline]
    #[must_use]
    pub fn has_collected(&self) -> bool {
        !(self.output[UnitKind::Sp as usize].is_empty() && self.output[UnitKind::Sfu as usize].is_empty())
    }

    /// Whether nothing is in it.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.occupied == 0
    }

    #[inline]
    fn bank(&self, register: u16, warp: u16) -> usize {
        let place = usize::from(register) + usize::from(warp);
        self.bank_bits.map_or_else(|| place % self.banks, |bits| place & bits)
    }

    /// A register of a warp is written in this cycle; false when its bank is taken by another write.
    #[inline]
    pub fn write(&mut self, register: u16, warp: u16) -> bool {
        if !self.enabled {
            return true;
        }
        let bit = 1u64 << (self.bank(register, warp) % 64);
        let free = self.written & bit == 0;
        self.written |= bit;
        free
    }

    /// One cycle. `reads` gives the registers an instruction reads, and its warp.
    pub fn step<'a>(&mut self, reads: impl Fn(InstId) -> (&'a [u16], u16)) {
        if self.occupied > 0 {
            if self.enabled {
                self.send();
                self.deliver();
                self.accept(reads);
            } else {
                for unit in 0..UNITS {
                    while self.output[unit].len() < self.width[unit]
                        && let Some(inst) = self.input[unit].pop_front()
                    {
                        self.output[unit].push_back(inst);
                    }
                }
            }
        }
        self.written = 0;
    }

    /// Ends a cycle in which nothing in it could move.
    #[inline]
    pub fn end_cycle(&mut self) {
        self.written = 0;
    }

    /// Whether something in it moves in the next cycle; `mem_busy` says that the load-store unit takes nothing.
    #[inline]
    #[must_use]
    pub fn can_move(&self, mem_busy: bool) -> bool {
        if self.occupied == 0 {
            return false;
        }
        if self.requested != 0 {
            return true;
        }
        for n in 0..UNITS {
            let waits = !self.output[n].is_empty();
            let full = self.output[n].len() >= self.width[n];
            let units = self.groups[n].units;
            let accepts = if self.enabled { !self.busy & units != 0 } else { !full };
            if waits && (n != UnitKind::Mem as usize || !mem_busy)
                || !full && self.ready & units != 0
                || accepts && !self.input[n].is_empty()
            {
                return true;
            }
        }
        false
    }

    /// Instructions with all operands go on.
    fn send(&mut self) {
        for (number, group) in self.groups.iter_mut().enumerate() {
            let mut ready = self.ready & group.units;
            if ready == 0 {
                continue;
            }
            for last in &mut group.last {
                if ready == 0 || self.output[number].len() >= self.width[number] {
                    break;
                }
                // The first behind the one that was sent last.
                let behind = ready & u64::MAX.checked_shl(*last + 1).unwrap_or(0);
                let found = if behind == 0 { ready.trailing_zeros() } else { behind.trailing_zeros() };
                *last = found;
                ready &= !(1 << found);
                self.busy &= !(1 << found);
                self.ready &= !(1 << found);
                self.output[number].push_back(self.units[found as usize % MOST].0);
            }
        }
    }

    /// Banks deliver operands.
    fn deliver(&mut self) {
        if self.requested == 0 {
            return;
        }
        self.conflicts += u64::from((self.requested & self.written).count_ones());
        let mut banks = self.requested & !self.written;
        while banks != 0 {
            let bank = banks.trailing_zeros() as usize;
            banks &= banks - 1;
            let (unit, left) = self.operands.pop(bank);
            let waiting = &mut self.units[usize::from(unit) % MOST].1;
            *waiting -= 1;
            self.ready |= u64::from(*waiting == 0) << unit;
            self.conflicts += u64::from(left);
            self.requested &= !(u64::from(left == 0) << bank);
        }
    }

    /// Issued instructions take free collector units and ask for their operands.
    fn accept<'a>(&mut self, reads: impl Fn(InstId) -> (&'a [u16], u16)) {
        for number in 0..UNITS {
            for _ in 0..self.groups[number].last.len() {
                let Some(inst) = self.input[number].front() else { break };
                let free = self.groups[number].units & !self.busy;
                if free == 0 {
                    break;
                }
                let unit = free.trailing_zeros();
                self.input[number].pop_front();
                let (registers, warp) = reads(inst);
                self.units[unit as usize % MOST] = (inst, fit(registers.len()));
                self.busy |= 1 << unit;
                self.ready |= u64::from(registers.is_empty()) << unit;
                for register in registers {
                    let bank = self.bank(*register, warp);
                    self.operands.push(bank, fit(unit));
                    self.requested |= 1 << bank;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::test_machine::gtx480;

    fn collector() -> Collector {
        let sm = gtx480().sm;
        Collector::new(&sm.collector, &sm.units)
    }

    /// Cycles until instruction 0 comes out.
    fn cycles(registers: &[u16]) -> u32 {
        let mut c = collector();
        c.push(UnitKind::Sp, 0);
        for cycle in 1..50 {
            c.step(|_| (registers, 0));
            if c.take(UnitKind::Sp).is_some() {
                assert!(c.is_empty());
                return cycle;
            }
        }
        panic!("it never came out");
    }

    #[test]
    fn operands_cost_a_cycle_and_conflicts_one_more_each() {
        assert_eq!(cycles(&[]), 2);
        assert_eq!(cycles(&[1]), 3);
        assert_eq!(cycles(&[1, 2, 3]), 3);
        assert_eq!(cycles(&[1, 17]), 4);
        assert_eq!(cycles(&[1, 17, 33]), 5);
    }

    #[test]
    fn writes_go_before_reads() {
        let mut c = collector();
        c.push(UnitKind::Sp, 0);
        c.step(|_| (&[3], 0));
        assert!(c.write(19, 0), "same bank as register 3");
        assert!(!c.write(3, 0), "one write in a cycle");
        c.step(|_| (&[3], 0));
        assert_eq!(c.conflicts, 1);
        c.step(|_| (&[3], 0));
        c.step(|_| (&[3], 0));
        assert_eq!(c.take(UnitKind::Sp), Some(0));
    }
}
