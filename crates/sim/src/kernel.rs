//! A decoded kernel with everything the pipeline asks about an instruction resolved once.

mod nesting;
mod op;

use crate::config::{MachineConfig, SmConfig};
use crate::op_timing::{self, Numbers, Work};
use raddle_exec::Program;
use raddle_exec::op::Origin;
use raddle_exec::op::{Class, MemSpace, Op};
use raddle_ptx::ir::{Base, Function, Inst, Operand, RegId, Space};
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::num::{fit, low16};

pub use op::{
    Bits, CopyRole, DataKind, MAX_MATRIX_READS, MAX_READS, MAX_WRITES, MemKind, Pipe, TimedOp, UNITS, UnitKind,
};

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

/// Whether a machine has the instructions and the units that a kernel and what it calls need.
///
/// # Errors
/// When it has not, with the instruction and what to do.
pub fn check_instructions(program: &Program, sm: &SmConfig) -> Result<(), String> {
    for (op, origin) in program.ops.iter().zip(&program.origins).filter(|(op, _)| !op.hidden) {
        let function = program.image.module.func(origin.func);
        let inst = &function.insts[origin.inst.index()];
        let refuse = |why: &str| {
            let (inst, function) = (inst.mnemonic(), &function.name);
            Err(format!("`{inst}` in `{function}` {why}, or run without time: --engine fast"))
        };
        let wanted = inst.form().target;
        if sm.arch != 0 && wanted > sm.arch {
            let (has, key) = (sm.arch, "`sm.arch`");
            return refuse(&format!("needs sm_{wanted}, and this machine is sm_{has} ({key}); choose a newer machine"));
        }
        if op.class == Class::Matrix && sm.units.tensor == 0 {
            return refuse(
                "needs tensor cores, which this machine does not have (`sm.units.tensor` is 0); choose a machine that has them, \
                 such as --preset v100",
            );
        }
    }
    Ok(())
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

/// Where the code of a module begins: all its functions, one after the other in the order of the file.
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
            if op.hidden {
                TimedOp::blank(config)
            } else {
                let mut timed = timed(config, op, function, inst, base[origin.func.index()]);
                if program.heap_call(op).is_some() {
                    at_memory(&mut timed);
                }
                timed
            }
        });
        let mut ops: Vec<TimedOp> = ops.collect();
        for (op, nesting) in ops.iter_mut().zip(nesting::nesting(&program.ops)) {
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

    /// Whether it has asynchronous copies.
    #[must_use]
    pub fn has_copies(&self) -> bool {
        self.ops.iter().any(|op| op.copies != CopyRole::None)
    }

    /// Where an operation is in memory; those after the program lie after its last.
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

fn timed(config: &MachineConfig, op: &Op, function: &Function, inst: &Inst, base: usize) -> TimedOp {
    let mut out = TimedOp::blank(config);
    let number = |reg: RegId| fit(base + reg.index());
    let mut hazards = Vec::new();
    inst.for_each_def(|reg| hazards.push(number(reg)));
    out.writes = fit(hazards.len());
    let guard = inst.guard.map(|g| number(g.reg));
    let mut first = guard.is_some();
    inst.for_each_use(|reg| {
        if !hazards.contains(&number(reg)) {
            hazards.push(number(reg));
        }
        // The guard comes first and is not read through the collector.
        if std::mem::take(&mut first) {
            return;
        }
        let read = digits(function, reg);
        if usize::from(out.read_count) < MAX_MATRIX_READS && !out.reads().contains(&read) {
            out.banks[usize::from(out.read_count)] = read;
            out.read_count += 1;
        }
    });
    out.bank_count = out.read_count;
    inst.for_each_def(|reg| {
        if usize::from(out.bank_count) < MAX_MATRIX_READS + MAX_WRITES {
            out.banks[usize::from(out.bank_count)] = digits(function, reg);
            out.bank_count += 1;
        }
    });
    out.hazards = hazards.into();
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
    let (work, numbers) = (op_timing::work_of(inst), Numbers::of(inst.ty()));
    out.data = data_kind(inst);
    out.unit = op_timing::unit(&config.sm, work, numbers);
    out.timing = op_timing::timing(&config.sm.latency, work, numbers);
    if let (Work::Matrix, Some(matrix)) = (work, inst.matrix()) {
        out.timing = op_timing::matrix_timing(config.sm.latency.tensor, &matrix);
    }
    if inst.opcode == Opcode::Cp {
        out.copies = copy_role(inst);
    }
    if work != Work::Memory {
        return;
    }
    out.bytes = op.access.bytes.max(1);
    out.count = op.access.count.max(1);
    out.space = op.access.space;
    out.mem = match inst.opcode {
        Opcode::Ld | Opcode::Ldu if matches!(op.access.space, MemSpace::Const | MemSpace::Param) => MemKind::Const,
        Opcode::St | Opcode::Sust => MemKind::Store,
        Opcode::Wmma | Opcode::Stmatrix if op.access.writes => MemKind::Store,
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

/// What an instruction of asynchronous copies does.
fn copy_role(inst: &Inst) -> CopyRole {
    match inst.first_of(&[Word::CommitGroup, Word::WaitAll, Word::WaitGroup]) {
        Some(Word::CommitGroup) => CopyRole::Commit,
        Some(Word::WaitAll) => CopyRole::WaitForAll,
        Some(_) => match inst.operands.first() {
            Some(Operand::Imm(groups)) => CopyRole::Wait(fit(groups.bits(Type::U32))),
            _ => CopyRole::WaitForAll,
        },
        None => CopyRole::Copy,
    }
}

/// A call of the allocator: it goes the way of an atomic on the word the heap begins with, one lane after the other.
fn at_memory(out: &mut TimedOp) {
    out.unit = UnitKind::Mem;
    out.mem = MemKind::Atomic;
    out.space = MemSpace::Global;
    out.data = DataKind::Mem;
    out.bypass_l1 = true;
    out.bytes = 8;
    out.count = 1;
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
