//! Executing the instructions of one thread.

use super::Env;
use super::thread::{Bytes, Cta, Thread};
use crate::memory::DeviceMemory;
use crate::{Fault, FaultKind, Image, Report, ThreadId};
use raddle_ptx::ir::{Function, Imm, Inst, InstId, Operand, RegId, VarId};
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::num::fit;

pub(super) type Done<T> = Result<T, FaultKind>;

/// Why a thread stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Its quantum is used up.
    Budget,
    Exited,
    /// The pc points at a barrier instruction that was counted but not done.
    Barrier,
    /// The pc points at a warp instruction that was counted but not done.
    Collective,
}

/// Where a thread goes after an instruction.
pub(super) enum Flow {
    Next,
    Jump(InstId),
    /// Function and pc have been set.
    Moved,
    Stop(Stop),
}

/// One thread with everything it can reach.
pub(super) struct Step<'s> {
    pub(super) env: &'s Env<'s>,
    pub(super) memory: &'s mut DeviceMemory,
    pub(super) report: &'s mut Report,
    pub(super) cta: [u32; 3],
    pub(super) shared: &'s mut Bytes,
    pub(super) thread: &'s mut Thread,
    pub(super) func: &'s Function,
    pub(super) inst: &'s Inst,
}

/// The low `bits` bits of a word.
pub(super) fn low_mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The low `bits` bits of `value`, sign-extended.
pub(super) fn sign_extend(value: u64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    (value << unused).cast_signed() >> unused
}

impl<'s> Step<'s> {
    pub(super) fn new(
        env: &'s Env<'s>,
        memory: &'s mut DeviceMemory,
        report: &'s mut Report,
        cta: &'s mut Cta,
        t: usize,
    ) -> Self {
        let thread = &mut cta.threads[t];
        let func = env.module.func(thread.func);
        let inst = &func.insts[thread.pc as usize];
        Self { env, memory, report, cta: cta.coords, shared: &mut cta.shared, thread, func, inst }
    }

    /// Runs until the thread stops.
    pub(super) fn run(&mut self) -> Done<Stop> {
        let limit = self.env.launch.max_thread_insts.unwrap_or(u64::MAX);
        while self.thread.budget > 0 {
            self.func = self.env.module.func(self.thread.func);
            self.inst = &self.func.insts[self.thread.pc as usize];
            self.thread.budget -= 1;
            if !self.guard()? {
                self.thread.pc += 1;
                continue;
            }
            if self.report.thread_insts >= limit {
                return Err(FaultKind::InstructionLimit(String::new()));
            }
            self.report.thread_insts += 1;
            self.thread.clock += 1;
            match self.execute()? {
                Flow::Next => self.thread.pc += 1,
                Flow::Jump(to) => self.thread.pc = to.0,
                Flow::Moved => {}
                Flow::Stop(stop) => return Ok(stop),
            }
        }
        Ok(Stop::Budget)
    }

    pub(super) fn fault(&self, kind: FaultKind) -> Fault {
        let thread = Some(ThreadId { cta: self.cta, thread: self.thread.coords });
        Fault { kind, thread, at: Some((self.thread.func, InstId(self.thread.pc))), output: String::new() }
    }

    fn guard(&self) -> Done<bool> {
        match self.inst.guard {
            None => Ok(true),
            Some(guard) => Ok((self.register(guard.reg)? != 0) != guard.negated),
        }
    }

    fn execute(&mut self) -> Done<Flow> {
        use Opcode as O;
        let float = self.inst.ty().is_float();
        match self.inst.opcode {
            O::Bra | O::Brx | O::Call | O::Ret | O::Exit | O::Trap | O::Brkpt => return self.control(),
            O::Bar | O::Barrier if self.inst.has(Word::Warp) => return Ok(Flow::Stop(Stop::Collective)),
            O::Bar | O::Barrier => return Ok(Flow::Stop(Stop::Barrier)),
            O::Raddle if self.inst.has(Word::NextTbid) => return Ok(Flow::Stop(Stop::Barrier)),
            O::Vote | O::Shfl | O::Match | O::Activemask | O::Redux | O::Elect => {
                return Ok(Flow::Stop(Stop::Collective));
            }
            O::Mma | O::Wmma | O::Ldmatrix | O::Stmatrix | O::Movmatrix => return Ok(Flow::Stop(Stop::Collective)),
            O::Add | O::Sub | O::Mul | O::Mad | O::Fma | O::Div | O::Neg | O::Abs | O::Min | O::Max if float => {
                self.float()?;
            }
            O::Rcp | O::Sqrt | O::Rsqrt | O::Sin | O::Cos | O::Lg2 | O::Ex2 | O::Tanh | O::Copysign => self.float()?,
            O::Setp | O::Set | O::Selp | O::Slct | O::Testp => self.compare()?,
            O::And | O::Or | O::Xor | O::Not | O::Cnot | O::Lop3 | O::Shl | O::Shr | O::Shf | O::Prmt => {
                self.logic()?
            }
            O::Popc | O::Clz | O::Bfind | O::Fns | O::Brev | O::Bfe | O::Bfi | O::Szext | O::Bmsk => self.logic()?,
            O::Mov | O::Raddle => self.mov()?,
            O::Cvt => self.cvt()?,
            O::Cvta | O::Isspacep | O::Ld | O::Ldu | O::St | O::Atom | O::Red | O::Cp => self.memory_access()?,
            O::Tex | O::Tld4 | O::Txq | O::Suq => self.texture()?,
            O::Suld | O::Sust => self.surface()?,
            // No effect on values: ordering is that of the program here, and nothing is cached.
            O::Createpolicy => self.write(0, Type::B64, 0),
            O::Membar | O::Fence | O::Prefetch | O::Prefetchu | O::Nanosleep | O::Pmevent => {}
            _ => self.integer()?,
        }
        Ok(Flow::Next)
    }

    /// The value of a register.
    pub(super) fn register(&self, reg: RegId) -> Done<u64> {
        let registers = &self.thread.registers;
        if registers.written.as_ref().is_some_and(|w| !w[reg.index()]) {
            return Err(FaultKind::UninitialisedRegister(self.func.reg(reg).name.clone()));
        }
        Ok(registers.values[reg.index()])
    }

    pub(super) fn set_register(&mut self, reg: RegId, value: u64) {
        let bits = self.func.reg(reg).ty.bits();
        self.thread.registers.values[reg.index()] = value & low_mask(bits);
        if let Some(written) = &mut self.thread.registers.written {
            written[reg.index()] = true;
        }
    }

    /// Operand `i`; a sink when there is none.
    pub(super) fn operand(&self, i: usize) -> &'s Operand {
        self.inst.operands.get(i).unwrap_or(&Operand::Sink)
    }

    /// Operand `i` as a value of type `ty`, in the low bits.
    pub(super) fn value(&self, i: usize, ty: Type) -> Done<u64> {
        self.read(self.operand(i), ty)
    }

    pub(super) fn predicate(&self, i: usize) -> Done<bool> {
        Ok(self.value(i, Type::Pred)? != 0)
    }

    pub(super) fn read(&self, operand: &Operand, ty: Type) -> Done<u64> {
        let raw = match operand {
            Operand::Reg(reg) => self.register(*reg)?,
            Operand::Not(reg) => self.register(*reg)? ^ 1,
            Operand::Imm(Imm::Int(value)) if ty == Type::Pred => u64::from(*value != 0),
            Operand::Imm(imm) => imm.bits(ty),
            Operand::Special(special) => self.special(*special),
            Operand::VarAddress(var, offset) => self.var_address(*var).wrapping_add_signed(*offset),
            Operand::Func(func) => Image::function_address(*func),
            Operand::Vector(parts) => {
                let bits = ty.bits() / fit::<u32, _>(parts.len().max(1));
                let mut packed = 0;
                for (i, part) in (0..).zip(parts) {
                    let value = self.read(part, part_type(bits))?;
                    packed |= value << (bits * i);
                }
                packed
            }
            _ => 0,
        };
        Ok(raw & low_mask(ty.bits()))
    }

    /// Writes operand `i`: the first destination when there are two.
    pub(super) fn write(&mut self, i: usize, ty: Type, value: u64) {
        match self.operand(i) {
            Operand::Pair(pair) => self.put(&pair[0], ty, value),
            operand => self.put(operand, ty, value),
        }
    }

    /// Writes the predicate after `|` in operand 0.
    pub(super) fn write_second(&mut self, value: bool) {
        if let Operand::Pair(pair) = self.operand(0) {
            self.put(&pair[1], Type::Pred, u64::from(value));
        }
    }

    /// Writes a value of type `ty`, extended to the width of the register.
    pub(super) fn put(&mut self, to: &Operand, ty: Type, value: u64) {
        match to {
            Operand::Reg(reg) => {
                let value = match ty.is_signed() {
                    true => sign_extend(value, ty.bits()).cast_unsigned(),
                    false => value & low_mask(ty.bits()),
                };
                self.set_register(*reg, value);
            }
            Operand::Vector(parts) => {
                let bits = ty.bits() / fit::<u32, _>(parts.len().max(1));
                for (i, part) in (0..).zip(parts) {
                    self.put(part, part_type(bits), value >> (bits * i));
                }
            }
            _ => {}
        }
    }

    fn mov(&mut self) -> Done<()> {
        let ty = self.inst.ty();
        let value = self.value(1, ty)?;
        self.write(0, ty, value);
        Ok(())
    }

    /// The address of a variable in its own state space.
    pub(super) fn var_address(&self, var: VarId) -> u64 {
        match self.env.layout.var_address(self.env.image, self.thread.func, var) {
            Ok(address) => address,
            Err(offset) => u64::from(self.thread.frame_base) + u64::from(offset),
        }
    }
}

/// The type of a part of a packed value.
fn part_type(bits: u32) -> Type {
    match bits {
        8 => Type::B8,
        16 => Type::B16,
        _ => Type::B32,
    }
}
