//! A decoded kernel with everything the pipeline asks about an instruction resolved once.

use crate::config::{MachineConfig, OpTiming};
use crate::op_timing::{self, Numbers, Work, work};
use raddle_exec::Program;
use raddle_exec::op::Origin;
use raddle_exec::op::{Class, MemSpace, NONE, Op};
use raddle_ptx::ir::{Base, Function, Inst, Operand, RegId, Space};
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::num::{fit, low16};

/// Where an instruction is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnitKind {
    /// Integer and single-precision pipelines.
    Sp,
    /// Special functions, division, double precision.
    Sfu,
    /// Load-store unit.
    Mem,
}

/// Units there are.
pub const UNITS: usize = 3;

/// Which pipelines of an SP's lanes an instruction uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Pipe {
    /// Integers, logic, moves of bits, control.
    Int,
    /// Whatever has a floating-point type in its name.
    Fp,
}

impl Pipe {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Int, Self::Fp];

    /// Its name in outputs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Fp => "fp",
        }
    }
}

/// What the load-store unit does with an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemKind {
    /// Not a memory instruction.
    None,
    /// Load through the data cache, or past it.
    Load,
    /// Store.
    Store,
    /// Atomic or reduction.
    Atomic,
    /// Constant or kernel parameter.
    Const,
    /// Texture.
    Texture,
    /// Waits until earlier accesses of the warp are done.
    Fence,
}

/// What an instruction works on: for energy and gating.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataKind {
    /// Integers, logic, control.
    Int,
    /// Single precision and narrower.
    F32,
    /// Double precision.
    F64,
    /// Memory.
    Mem,
}

/// Registers read at most (a vector store with its address and guard).
pub const MAX_READS: usize = 10;
/// Registers written at most.
pub const MAX_WRITES: usize = 5;

/// Registers as bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// Which word: registers from 64 times this on.
    pub word: u16,
    /// Which of its registers.
    pub mask: u64,
}

impl Bits {
    /// Registers as bits of as many words as they are in.
    fn of(registers: &[u16]) -> Box<[Self]> {
        let mut words: Vec<Self> = Vec::new();
        for register in registers {
            let (word, mask) = (register / 64, 1 << (register % 64));
            match words.iter_mut().find(|known| known.word == word) {
                Some(known) => known.mask |= mask,
                None => words.push(Self { word, mask }),
            }
        }
        words.into()
    }
}

/// An instruction as the pipeline sees it.
#[derive(Clone, Debug)]
pub struct TimedOp {
    /// Unit.
    pub unit: UnitKind,
    /// Memory behaviour.
    pub mem: MemKind,
    /// Address space of a memory instruction, as far as the instruction says.
    pub space: MemSpace,
    /// What it works on.
    pub data: DataKind,
    /// Cycles in the unit and between instructions, for a whole warp.
    pub timing: OpTiming,
    /// Goes past the L1.
    pub bypass_l1: bool,
    /// Bytes of an element, and elements.
    pub bytes: u8,
    /// Elements per lane.
    pub count: u8,
    /// Branches on which threads can part that it lies behind, before they meet again.
    pub nesting: u16,
    /// Address of a parameter or constant that is known beforehand.
    pub fixed_address: Option<u64>,
    /// Registers the scoreboard checks, the written ones first.
    hazards: [u16; MAX_READS + MAX_WRITES],
    hazard_count: u8,
    writes: u8,
    /// The same as bits.
    hazard_bits: Box<[Bits]>,
    write_bits: Box<[Bits]>,
    /// Numbers of the registers the operand collector reads, each once, then of those written.
    banks: [u16; MAX_READS + MAX_WRITES],
    read_count: u8,
    bank_count: u8,
}

impl TimedOp {
    /// The pipelines of the SPs it uses; none when it goes elsewhere.
    #[inline]
    #[must_use]
    pub fn pipe(&self) -> Option<Pipe> {
        match (self.unit, self.data) {
            (UnitKind::Sp, DataKind::F32 | DataKind::F64) => Some(Pipe::Fp),
            (UnitKind::Sp, _) => Some(Pipe::Int),
            _ => None,
        }
    }

    /// Registers written.
    #[inline]
    #[must_use]
    pub fn writes(&self) -> &[u16] {
        &self.hazards[..usize::from(self.writes)]
    }

    /// Registers that must not be pending when it issues: those written and those read.
    #[inline]
    #[must_use]
    pub fn hazards(&self) -> &[u16] {
        &self.hazards[..usize::from(self.hazard_count)]
    }

    /// [`TimedOp::writes`] as bits.
    #[inline]
    #[must_use]
    pub fn write_bits(&self) -> &[Bits] {
        &self.write_bits
    }

    /// [`TimedOp::hazards`] as bits.
    #[inline]
    #[must_use]
    pub fn hazard_bits(&self) -> &[Bits] {
        &self.hazard_bits
    }

    /// What the operand collector reads: all sources but the guard, each once. These are the numbers in the
    /// registers' names, which select the bank; `%r1` and `%f1` share one.
    #[inline]
    #[must_use]
    pub fn reads(&self) -> &[u16] {
        &self.banks[..usize::from(self.read_count)]
    }

    /// What is written back to the register banks.
    #[inline]
    #[must_use]
    pub fn write_numbers(&self) -> &[u16] {
        &self.banks[usize::from(self.read_count)..usize::from(self.bank_count)]
    }
}

/// Where parameters are in memory, as in GPGPU-Sim.
const PARAM_BASE: u64 = 0;
/// Where constants are.
const CONST_BASE: u64 = 0;

/// Registers the scoreboard can tell apart.
pub const MAX_REGISTERS: usize = 1 << 16;

/// Whether the scoreboard can tell the registers of a kernel and of what it calls apart, by their names.
///
/// # Errors
/// When it cannot, with why.
pub fn check_registers(program: &Program) -> Result<(), String> {
    let functions = program.layout.reachable.iter().map(|func| program.image.module.func(*func));
    let names: usize = functions.map(|function| function.regs.len()).sum();
    if names <= MAX_REGISTERS {
        return Ok(());
    }
    Err(format!("the kernel and what it calls name {names} registers, a scoreboard has {MAX_REGISTERS}"))
}

/// A kernel for a machine.
pub struct TimedKernel<'p> {
    /// The program.
    pub program: &'p Program,
    /// One for each operation of the program.
    pub ops: Vec<TimedOp>,
    /// Registers the scoreboard keeps for a thread: every register of every function has its own number.
    pub registers: usize,
    /// Where each operation is in memory.
    code: Vec<u64>,
    /// Bytes of an instruction.
    instruction_bytes: u64,
}

/// Where the code of a module begins: all its functions, one behind the other in the order of the file.
const CODE_BASE: u64 = 0xF000_0000;

impl<'p> TimedKernel<'p> {
    /// Resolves a program for a machine.
    ///
    /// # Panics
    /// When it has more than [`MAX_REGISTERS`] registers, see [`check_registers`].
    #[must_use]
    pub fn new(program: &'p Program, config: &MachineConfig) -> Self {
        let module = &program.image.module;
        let mut base = vec![0usize; module.functions.len()];
        let mut registers = 0usize;
        for &func in &program.layout.reachable {
            base[func.index()] = registers;
            registers += module.func(func).regs.len();
        }
        let ops = program.ops.iter().zip(&program.origins);
        let ops = ops.map(|(op, origin)| {
            let function = module.func(origin.func);
            let inst = &function.insts[origin.inst.index()];
            if op.hidden { blank(config) } else { timed(config, op, function, inst, base[origin.func.index()]) }
        });
        let mut ops: Vec<TimedOp> = ops.collect();
        for (op, nesting) in ops.iter_mut().zip(nesting(&program.ops)) {
            op.nesting = nesting;
        }
        let instruction_bytes = u64::from(config.sm.fetch.instruction_bytes);
        let mut next = CODE_BASE;
        let mut starts = Vec::with_capacity(module.functions.len());
        for function in &module.functions {
            starts.push(next);
            next += function.insts.len() as u64 * instruction_bytes;
        }
        let place = |origin: &Origin| starts[origin.func.index()] + origin.inst.index() as u64 * instruction_bytes;
        let code = program.origins.iter().map(place).collect();
        Self { program, ops, registers, code, instruction_bytes }
    }

    /// Where an operation is in memory; those behind the program lie behind its last.
    #[inline]
    #[must_use]
    pub fn address(&self, pc: u32) -> u64 {
        let known = self.code.len() as u64;
        match self.code.get(pc as usize) {
            Some(address) => *address,
            None => self.code.last().unwrap_or(&CODE_BASE) + (u64::from(pc) + 1 - known) * self.instruction_bytes,
        }
    }
}

/// For each operation, the branches it lies behind on which threads can part, and have not met again. Functions that
/// are called start anew.
fn nesting(ops: &[Op]) -> Vec<u16> {
    let mut nesting = vec![0u16; ops.len()];
    let (mut seen, mut open) = (vec![usize::MAX; ops.len()], Vec::new());
    for (branch, op) in ops.iter().enumerate() {
        if op.class != Class::Branch || op.guard == NONE || op.uniform {
            continue;
        }
        open.extend([op.target as usize, branch + 1]);
        while let Some(pc) = open.pop() {
            if pc == op.reconverge as usize || pc >= ops.len() || seen[pc] == branch {
                continue;
            }
            seen[pc] = branch;
            nesting[pc] = nesting[pc].saturating_add(1);
            match ops[pc].class {
                Class::Branch if ops[pc].guard == NONE => open.push(ops[pc].target as usize),
                Class::Branch => open.extend([ops[pc].target as usize, pc + 1]),
                Class::BranchTable | Class::Return => {}
                Class::Exit | Class::Trap if ops[pc].guard == NONE => {}
                _ => open.push(pc + 1),
            }
        }
    }
    nesting
}

fn blank(config: &MachineConfig) -> TimedOp {
    TimedOp {
        unit: UnitKind::Sp,
        mem: MemKind::None,
        space: MemSpace::Generic,
        data: DataKind::Int,
        timing: config.sm.latency.simple,
        bypass_l1: false,
        bytes: 4,
        count: 1,
        nesting: 0,
        fixed_address: None,
        hazards: [0; MAX_READS + MAX_WRITES],
        hazard_count: 0,
        writes: 0,
        hazard_bits: Box::default(),
        write_bits: Box::default(),
        banks: [0; MAX_READS + MAX_WRITES],
        read_count: 0,
        bank_count: 0,
    }
}

fn timed(config: &MachineConfig, op: &Op, function: &Function, inst: &Inst, base: usize) -> TimedOp {
    let mut out = blank(config);
    let number = |reg: RegId| fit(base + reg.index());
    inst.for_each_def(|reg| {
        if usize::from(out.writes) < MAX_WRITES {
            out.hazards[usize::from(out.writes)] = number(reg);
            out.writes += 1;
        }
    });
    out.hazard_count = out.writes;
    let guard = inst.guard.map(|g| number(g.reg));
    let mut first = guard.is_some();
    inst.for_each_use(|reg| {
        let known = out.hazards[..usize::from(out.hazard_count)].contains(&number(reg));
        if !known && usize::from(out.hazard_count) < MAX_READS + MAX_WRITES {
            out.hazards[usize::from(out.hazard_count)] = number(reg);
            out.hazard_count += 1;
        }
        // The guard comes first and is not read through the collector.
        if std::mem::take(&mut first) {
            return;
        }
        let read = digits(function, reg);
        if usize::from(out.read_count) < MAX_READS && !out.reads().contains(&read) {
            out.banks[usize::from(out.read_count)] = read;
            out.read_count += 1;
        }
    });
    out.bank_count = out.read_count;
    inst.for_each_def(|reg| {
        if usize::from(out.bank_count) < MAX_READS + MAX_WRITES {
            out.banks[usize::from(out.bank_count)] = digits(function, reg);
            out.bank_count += 1;
        }
    });
    out.hazard_bits = Bits::of(out.hazards());
    out.write_bits = Bits::of(out.writes());
    place(config, op, inst, &mut out);
    let passes = config.sm.warp_width.div_ceil(config.sm.simd_width).max(1);
    out.timing.interval *= passes;
    out.timing.latency += passes - 1;
    out
}

/// The first number in a register's name, its low bits: it selects a bank.
fn digits(function: &Function, reg: RegId) -> u16 {
    let name = &function.reg(reg).name;
    let number = name.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect::<String>();
    low16(number.parse::<u32>().unwrap_or(reg.0).into())
}

/// What an instruction works on: the widest floating-point type of those in its name, of which conversions have two.
fn data_kind(inst: &Inst) -> DataKind {
    let types = [Some(inst.ty()), inst.nth_type(1)];
    let has = |wanted: &[Type]| types.iter().flatten().any(|ty| wanted.contains(ty));
    if has(&[Type::F64]) {
        DataKind::F64
    } else if has(&[Type::F32, Type::F16, Type::F16x2, Type::Bf16, Type::Bf16x2]) {
        DataKind::F32
    } else {
        DataKind::Int
    }
}

/// Unit, latency and what the load-store unit does.
fn place(config: &MachineConfig, op: &Op, inst: &Inst, out: &mut TimedOp) {
    let (work, numbers) = (work(inst.opcode), Numbers::of(inst.ty()));
    out.data = data_kind(inst);
    out.unit = op_timing::unit(&config.sm, work, numbers);
    out.timing = op_timing::timing(&config.sm.latency, work, numbers);
    if work != Work::Memory {
        return;
    }
    out.bytes = op.access.bytes.max(1);
    out.count = op.access.count.max(1);
    out.space = op.access.space;
    out.mem = match inst.opcode {
        Opcode::Ld | Opcode::Ldu if matches!(op.access.space, MemSpace::Const | MemSpace::Param) => MemKind::Const,
        Opcode::St => MemKind::Store,
        Opcode::Atom | Opcode::Red => MemKind::Atomic,
        Opcode::Tex | Opcode::Tld4 => MemKind::Texture,
        Opcode::Membar | Opcode::Fence => MemKind::Fence,
        _ => MemKind::Load,
    };
    out.data = DataKind::Mem;
    out.bypass_l1 = inst.has(Word::Cg) || out.mem == MemKind::Atomic;
    if out.mem == MemKind::Const {
        out.fixed_address = fixed_address(op, inst);
    }
}

/// The address of a parameter whose place does not depend on a register.
fn fixed_address(op: &Op, inst: &Inst) -> Option<u64> {
    let memory = inst.operands.iter().find_map(|o| match o {
        Operand::Memory(address) => Some(address),
        _ => None,
    })?;
    // Decoding has put variable and offset together.
    match (memory.base, inst.space()) {
        (Base::Reg(_), _) => None,
        (_, Some(Space::Const)) => Some(CONST_BASE.wrapping_add(op.aux)),
        _ => Some(PARAM_BASE.wrapping_add(op.aux)),
    }
}

#[cfg(test)]
mod tests;
