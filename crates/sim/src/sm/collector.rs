//! The operand collector: instructions wait here until the register banks have delivered their sources.
//!
//! A bank serves one access in a cycle, writes first, reads in the order they were asked for. A collector unit takes
//! what all banks have for it.

mod queue;

use crate::config::{CollectorConfig, UnitsConfig};
use crate::kernel::{MAX_MATRIX_READS, MAX_READS, UNITS, UnitKind};
use crate::saved;
use crate::sm::build::Build;
use crate::sm::in_flight::InstId;
use queue::Queue;
use raddle_ptx::num::fit;

pub use queue::MAX_WIDTH;

/// The collector units of one pipeline.
#[derive(Clone, Debug)]
struct Group {
    /// Its units, as bits.
    units: u64,
    /// Ports by which instructions come and go: more than a queue holds are never used.
    ports: u8,
    /// Where each port last found a ready instruction.
    last: [u8; MAX_WIDTH as usize],
}

saved!(Group { parts: last; fixed: units, ports });

/// Banks, and collector units: sets of them are bits of a word.
const MOST: usize = u64::BITS as usize;

/// Operands a bank has to deliver: where its ring begins, and how many there are.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    first: u16,
    len: u16,
}

saved!(Waiting { parts: first, len });

/// Operands the banks have to deliver, as numbers of collector units.
#[derive(Clone, Debug)]
struct Operands {
    /// A ring for each bank, as long as all units' operands need.
    rings: Box<[u8]>,
    /// Binary logarithm of the length.
    size: u32,
    waiting: [Waiting; MOST],
}

saved!(Operands { parts: rings, waiting; fixed: size });

impl Operands {
    fn new(banks: usize, units: usize, reads: usize) -> Self {
        let size = (units * reads).next_power_of_two();
        Self { rings: vec![0; banks * size].into(), size: size.ilog2(), waiting: [Waiting::default(); MOST] }
    }

    #[inline]
    fn place(&self, bank: usize, number: u16) -> usize {
        bank << self.size | usize::from(number) & ((1 << self.size) - 1)
    }

    /// Asks a bank for an operand.
    #[inline]
    fn push(&mut self, bank: usize, unit: u8) {
        let Waiting { first, len } = self.waiting[bank % MOST];
        self.rings[self.place(bank, first.wrapping_add(len))] = unit;
        self.waiting[bank % MOST].len = len + 1;
    }

    /// A bank delivers: for which unit, and how many still wait for it.
    #[inline]
    fn pop(&mut self, bank: usize) -> (u8, u16) {
        let Waiting { first, len } = self.waiting[bank % MOST];
        self.waiting[bank % MOST] = Waiting { first: first.wrapping_add(1), len: len - 1 };
        (self.rings[self.place(bank, first)], len - 1)
    }
}

/// The operand collector with the registers before and after it.
pub struct Collector {
    enabled: bool,
    banks: usize,
    /// What selects a bank, where their number is a power of two.
    bank_bits: Option<usize>,
    /// The instruction of each collector unit.
    units: [InstId; MOST],
    /// Its operands still to come.
    missing: [u8; MOST],
    /// The pipeline of its instruction.
    pipeline: [u8; MOST],
    /// Kinds of pipelines it serves: the first ones.
    kinds: usize,
    /// Units serve every pipeline.
    serves_any: bool,
    /// Steps in a cycle.
    steps: u32,
    /// The unit whose instruction was sent last, where units serve every pipeline.
    last_sent: u32,
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
    input: [Queue; UNITS],
    /// Instructions with all operands, by pipeline.
    output: [Queue; UNITS],
    width: [usize; UNITS],
    /// Pipelines whose input has an instruction, as bits.
    issued: u8,
    /// Pipelines whose input has room.
    open: u8,
    /// Pipelines whose output has an instruction.
    collected: u8,
    occupied: usize,
    /// Cycles operands waited because their bank was busy.
    pub conflicts: u64,
}

saved!(Collector {
    values: busy, ready, requested, written, input, output, issued, open, collected, occupied, conflicts, last_sent;
    parts: units, missing, pipeline, groups, operands;
    fixed: enabled, banks, bank_bits, width, kinds, serves_any, steps;
});

impl Collector {
    /// An empty collector.
    #[must_use]
    pub fn new(config: &CollectorConfig, units: &UnitsConfig) -> Self {
        // Double precision and matrices take the places of the SFUs, integers those of the SPs.
        let of = |sp: u32, sfu: u32, mem: u32| {
            UnitKind::ALL.map(|kind| match kind {
                UnitKind::Sp => sp,
                UnitKind::Int => sp * u32::from(units.int > 0),
                UnitKind::Sfu => sfu,
                UnitKind::Dp => sfu * u32::from(units.dp > 0),
                UnitKind::Tensor => sfu * u32::from(units.tensor > 0),
                UnitKind::Mem => mem,
            })
        };
        let serves_any = config.any_units > 0;
        let counts = of(config.sp_units, config.sfu_units, config.mem_units);
        let ports = of(config.sp_ports, config.sfu_ports, config.mem_ports);
        let mut first = 0;
        let groups = std::array::from_fn(|n| {
            let count = if serves_any { config.any_units } else { counts[n] };
            let units = if count == 0 { 0 } else { (u64::MAX >> (64 - count)) << first };
            let ports = fit(if serves_any { MAX_WIDTH.into() } else { ports[n].min(MAX_WIDTH.into()) });
            let group = Group { units, ports, last: [fit(first.min(63)); MAX_WIDTH as usize] };
            first += if serves_any { 0 } else { count };
            group
        });
        let first = if serves_any { config.any_units } else { first };
        let width = of(units.sp_issue, units.sfu_issue, units.mem_issue).map(|n| n.min(MAX_WIDTH.into()) as usize);
        let open = (0..UNITS).filter(|n| width[*n] > 0).fold(0, |open, n| open | 1 << n);
        Self {
            enabled: config.enabled,
            banks: config.banks as usize,
            bank_bits: config.banks.is_power_of_two().then(|| config.banks as usize - 1),
            units: [InstId::default(); MOST],
            missing: [0; MOST],
            pipeline: [0; MOST],
            kinds: if units.int + units.dp + units.tensor > 0 { UNITS } else { UnitKind::BASIC.len() },
            serves_any,
            steps: config.steps.max(1),
            last_sent: 0,
            busy: 0,
            ready: 0,
            groups,
            operands: Operands::new(
                config.banks as usize,
                first.max(1) as usize,
                if units.tensor > 0 { MAX_MATRIX_READS } else { MAX_READS },
            ),
            requested: 0,
            written: 0,
            input: Default::default(),
            output: Default::default(),
            width,
            issued: 0,
            open,
            collected: 0,
            occupied: 0,
            conflicts: 0,
        }
    }

    /// Whether an instruction can be issued to a pipeline.
    #[inline]
    #[must_use]
    pub fn accepts(&self, unit: UnitKind) -> bool {
        self.open >> unit as u8 & 1 != 0
    }

    /// The pipelines to which an instruction can be issued, as bits.
    #[inline]
    #[must_use]
    pub fn open(&self) -> u8 {
        self.open
    }

    /// Takes an issued instruction.
    #[inline]
    pub fn push(&mut self, unit: UnitKind, inst: InstId) {
        let (number, bit) = (unit as usize, 1 << unit as u8);
        self.input[number].push_back(inst);
        self.issued |= bit;
        if self.input[number].len() >= self.width[number] {
            self.open &= !bit;
        }
        self.occupied += 1;
    }

    /// The instruction that has waited longest for its unit.
    #[inline]
    #[must_use]
    pub fn front(&self, unit: UnitKind) -> Option<InstId> {
        self.output[unit as usize].front()
    }

    /// Takes it.
    #[inline]
    pub fn take(&mut self, unit: UnitKind) -> Option<InstId> {
        let output = &mut self.output[unit as usize];
        let inst = output.pop_front()?;
        if output.is_empty() {
            self.collected &= !(1 << unit as u8);
        }
        self.occupied -= 1;
        Some(inst)
    }

    /// Whether instructions with all operands wait for a pipeline.
    #[inline]
    #[must_use]
    pub fn has_collected(&self, unit: UnitKind) -> bool {
        self.collected >> unit as u8 & 1 != 0
    }

    /// Whether they do for an arithmetic one.
    #[inline]
    #[must_use]
    pub fn has_collected_arithmetic(&self) -> bool {
        self.collected & !(1 << UnitKind::Mem as u8) != 0
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
    #[inline]
    pub fn cycle<'a, B: Build>(&mut self, reads: impl Fn(InstId) -> (&'a [u16], u16)) {
        if !self.enabled {
            if self.issued != 0 {
                self.pass_on::<B>();
            }
            self.written = 0;
            return;
        }
        for _ in 0..if B::PLAIN { 1 } else { self.steps } {
            self.move_out::<B>();
            if self.issued != 0 {
                self.accept::<B>(&reads);
            }
            self.written = 0;
        }
    }

    /// Steps in a cycle; none where nothing is collected.
    #[inline]
    #[must_use]
    pub fn steps(&self) -> u32 {
        if self.enabled { self.steps } else { 0 }
    }

    /// The first part of a step: instructions leave, and banks deliver.
    #[inline]
    pub fn move_out<B: Build>(&mut self) {
        if self.ready != 0 {
            self.send::<B>();
        }
        if self.requested != 0 {
            self.deliver();
        }
    }

    /// The instruction that was issued first of those for a pipeline.
    #[inline]
    #[must_use]
    pub fn issued(&self, number: usize) -> Option<InstId> {
        self.input[number].front()
    }

    /// Ends a cycle in which nothing in it could move.
    #[inline]
    pub fn end_cycle(&mut self) {
        self.written = 0;
    }

    /// Whether something in it moves in the next cycle; `mem_busy` says that the load-store unit accepts nothing.
    #[inline]
    #[must_use]
    pub fn can_move<B: Build>(&self, mem_busy: bool) -> bool {
        if self.occupied == 0 {
            return false;
        }
        let taken = self.collected & !(u8::from(mem_busy) << UnitKind::Mem as u8);
        if self.requested != 0 || taken != 0 {
            return true;
        }
        (0..self.kinds::<B>()).any(|n| {
            let (has_room, units) = (self.has_room(n), self.groups[n].units);
            let accepts = if self.enabled { !self.busy & units != 0 } else { has_room };
            has_room && self.ready & units != 0 || accepts && self.issued >> n & 1 != 0
        })
    }

    /// Kinds of pipelines it serves: the first ones.
    #[inline(always)]
    fn kinds<B: Build>(&self) -> usize {
        if B::PLAIN { UnitKind::BASIC.len() } else { self.kinds }
    }

    /// Whether the output of a pipeline has room.
    #[inline]
    fn has_room(&self, number: usize) -> bool {
        self.output[number].len() < self.width[number]
    }

    /// An instruction has all it needs.
    #[inline]
    fn put_out(&mut self, number: usize, inst: InstId) {
        self.output[number].push_back(inst);
        self.collected |= 1 << number;
    }

    /// Takes the first instruction of an input.
    #[inline]
    fn take_in(&mut self, number: usize) -> Option<InstId> {
        let inst = self.input[number].pop_front()?;
        if self.input[number].is_empty() {
            self.issued &= !(1 << number);
        }
        self.open |= 1 << number;
        Some(inst)
    }

    /// Instructions continue at once: nothing is collected.
    fn pass_on<B: Build>(&mut self) {
        for number in 0..self.kinds::<B>() {
            while self.has_room(number)
                && let Some(inst) = self.take_in(number)
            {
                self.put_out(number, inst);
            }
        }
    }

    /// Instructions with all operands continue.
    #[inline]
    fn send<B: Build>(&mut self) {
        if !B::PLAIN && self.serves_any {
            return self.send_any();
        }
        for number in 0..self.kinds::<B>() {
            let Group { units, ports, .. } = self.groups[number];
            let mut ready = self.ready & units;
            for port in 0..usize::from(ports) {
                if ready == 0 || !self.has_room(number) {
                    break;
                }
                // The first after the one that was sent last.
                let last = &mut self.groups[number].last[port % MAX_WIDTH as usize];
                let behind = ready & (u64::MAX - 1) << (*last % 64);
                let found = if behind == 0 { ready } else { behind }.trailing_zeros();
                *last = fit(found);
                ready &= !(1 << found);
                self.busy &= !(1 << found);
                self.ready &= !(1 << found);
                self.put_out(number, self.units[found as usize % MOST]);
            }
        }
    }

    /// The same where units serve every pipeline: from the one after that which was served last.
    fn send_any(&mut self) {
        let (mut ready, last) = (self.ready, self.last_sent);
        while ready != 0 {
            let behind = ready & (u64::MAX - 1) << (last % 64);
            let found = if behind == 0 { ready } else { behind }.trailing_zeros();
            ready &= !(1 << found);
            let number = usize::from(self.pipeline[found as usize % MOST]);
            if self.has_room(number) {
                self.last_sent = found;
                self.busy &= !(1 << found);
                self.ready &= !(1 << found);
                self.put_out(number, self.units[found as usize % MOST]);
            }
        }
    }

    /// Banks deliver operands.
    #[inline]
    fn deliver(&mut self) {
        let mut banks = self.requested & !self.written;
        let mut conflicts = u64::from((self.requested & self.written).count_ones());
        while banks != 0 {
            let bank = banks.trailing_zeros() as usize;
            banks &= banks - 1;
            let (unit, left) = self.operands.pop(bank);
            let missing = &mut self.missing[usize::from(unit) % MOST];
            *missing -= 1;
            self.ready |= u64::from(*missing == 0) << (unit % 64);
            conflicts += u64::from(left);
            self.requested &= !(u64::from(left == 0) << bank);
        }
        self.conflicts += conflicts;
    }

    /// Issued instructions take free collector units and ask for their operands.
    #[inline]
    fn accept<'a, B: Build>(&mut self, reads: &impl Fn(InstId) -> (&'a [u16], u16)) {
        for number in 0..self.kinds::<B>() {
            for _ in 0..self.groups[number].ports {
                if !self.accept_one(number, reads) {
                    break;
                }
            }
        }
    }

    /// The first instruction that was issued to a pipeline takes a free collector unit and asks for its operands; false
    /// when there is no instruction or no unit.
    #[inline]
    pub fn accept_one<'a>(&mut self, number: usize, reads: &impl Fn(InstId) -> (&'a [u16], u16)) -> bool {
        let free = self.groups[number].units & !self.busy;
        if free == 0 || self.issued >> number & 1 == 0 {
            return false;
        }
        let Some(inst) = self.take_in(number) else { return false };
        let unit = free.trailing_zeros();
        let (registers, warp) = reads(inst);
        self.units[unit as usize % MOST] = inst;
        self.pipeline[unit as usize % MOST] = fit(number);
        self.missing[unit as usize % MOST] = fit(registers.len());
        self.busy |= 1 << unit;
        self.ready |= u64::from(registers.is_empty()) << unit;
        for register in registers {
            let bank = self.bank(*register, warp);
            self.operands.push(bank, fit(unit));
            self.requested |= 1 << (bank % 64);
        }
        true
    }
}

#[cfg(test)]
mod tests;
