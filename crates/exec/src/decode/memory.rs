//! Loads, stores and atomics.

use super::{Decoded, Decoder, ParamConst, malformed};
use crate::image::LoadError;
use crate::lanes::moves;
use crate::op::{Access, Bank, CONST, Class, MemSpace, Op};
use raddle_ptx::ir::{Address, Base, Inst, Operand, Space};
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::num::fit;

/// What an atomic does to the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Named after the PTX operations.
#[repr(u8)]
#[derive(serde::Serialize, serde::Deserialize)]
pub enum AtomicOp {
    Add,
    AddF32,
    AddF64,
    AddF16,
    AddF16x2,
    AddBf16,
    AddBf16x2,
    And,
    Or,
    Xor,
    Exch,
    Cas,
    Inc,
    Dec,
    MinU,
    MinS,
    MaxU,
    MaxS,
}

impl AtomicOp {
    /// Every operation, in order of its number.
    pub const ALL: [Self; 18] = [
        Self::Add,
        Self::AddF32,
        Self::AddF64,
        Self::AddF16,
        Self::AddF16x2,
        Self::AddBf16,
        Self::AddBf16x2,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Exch,
        Self::Cas,
        Self::Inc,
        Self::Dec,
        Self::MinU,
        Self::MinS,
        Self::MaxU,
        Self::MaxS,
    ];
}

impl Decoder<'_> {
    /// Where an access looks and from which register or constant it counts.
    pub(super) fn address(&mut self, op: &mut Op, f: usize, inst: &Inst, address: &Address) {
        self.address_in(op, f, inst, inst.space(), address);
    }

    /// The same in a state space.
    pub(super) fn address_in(&mut self, op: &mut Op, f: usize, inst: &Inst, space: Option<Space>, address: &Address) {
        let is_variable = matches!(address.base, Base::Var(_));
        let in_kernel = self.placed[f].id == self.layout.kernel && (is_variable || !inst.has(Word::ParamFunc));
        let space = match space {
            None => MemSpace::Generic,
            Some(Space::Global | Space::Tex | Space::Reg) => MemSpace::Global,
            Some(Space::Shared) => MemSpace::Shared,
            Some(Space::Local) => MemSpace::Local,
            Some(Space::Const) => MemSpace::Const,
            Some(Space::Param) if in_kernel => MemSpace::Param,
            // Parameters of functions are in their frame.
            Some(Space::Param) => MemSpace::Local,
        };
        op.access.space = space;
        op.aux = address.offset.cast_unsigned();
        match address.base {
            Base::Reg(reg) => (op.s_bank[0], op.s[0]) = self.slot(f, reg),
            Base::Absolute => (op.s_bank[0], op.s[0]) = self.constant(0, Type::B64),
            Base::Var(var) => match self.layout.var_address(self.image, self.placed[f].id, var) {
                Ok(place) => {
                    (op.s_bank[0], op.s[0]) = self.constant(0, Type::B64);
                    op.aux = place.wrapping_add_signed(address.offset);
                }
                Err(frame) => {
                    op.access.space = MemSpace::Local;
                    (op.s_bank[0], op.s[0]) = (Bank::R32, self.program.frame_pointer);
                    op.aux = u64::from(frame).wrapping_add_signed(address.offset);
                }
            },
        }
        op.access.wide_address = op.s_bank[0] == Bank::R64;
    }

    fn access(&self, f: usize, inst: &Inst, register: Option<&Operand>) -> Access {
        let ty = inst.ty();
        let register_bits = match register {
            Some(Operand::Reg(reg)) => self.reg_type(f, *reg).bits(),
            _ => ty.bits().max(16),
        };
        Access {
            space: MemSpace::Generic,
            bytes: fit(ty.bytes()),
            count: fit(inst.vector_width()),
            signed: ty.is_signed(),
            register_bits: fit(register_bits),
            float: ty.is_float(),
            ..Access::default()
        }
    }

    pub(super) fn load(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        let [dest, Operand::Memory(address), ..] = &inst.operands[..] else { return Err(malformed(inst)) };
        let mut op = self.blank(Class::Load);
        let parts = elements(dest);
        op.access = self.access(f, inst, parts.iter().find(|o| matches!(o, Operand::Reg(_))));
        for (n, part) in parts.iter().enumerate() {
            self.set_dest(&mut op, n, f, part)?;
        }
        self.address(&mut op, f, inst, address);
        let constant_address = op.s[0] & CONST != 0;
        if op.access.space == MemSpace::Param && constant_address && op.access.count == 1 {
            self.param_constant(&mut op);
        }
        Ok(op)
    }

    /// A kernel parameter at a known place is a constant of the launch.
    fn param_constant(&mut self, op: &mut Op) {
        let bytes = u64::from(op.access.bytes);
        let end = op.aux.checked_add(bytes);
        if end.is_none_or(|end| end > u64::from(self.layout.param_bytes)) || !op.aux.is_multiple_of(bytes) {
            // A fault of the thread that comes here.
            return;
        }
        let bank = op.d_bank[0];
        // Known when the kernel is launched: shared with no other constant.
        let slot = match bank {
            Bank::R32 => super::constant(&mut self.program.c32, 0),
            Bank::R64 => super::constant(&mut self.program.c64, 0),
            _ => return,
        };
        let param = ParamConst { slot: slot & !CONST, bank, offset: fit(op.aux), access: op.access };
        self.program.param_consts.push(param);
        op.class = Class::Alu;
        op.s_bank[0] = bank;
        op.s[0] = slot;
        self.use_kernels(op, if bank == Bank::R64 { moves::MOV64 } else { moves::MOV32 });
    }

    pub(super) fn store(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        let [Operand::Memory(address), source, ..] = &inst.operands[..] else { return Err(malformed(inst)) };
        let mut op = self.blank(Class::Store);
        let parts = elements(source);
        op.access = self.access(f, inst, None);
        let ty = if inst.ty().bytes() < 4 { Type::B32 } else { inst.ty() };
        for (n, part) in parts.iter().enumerate() {
            let ty = if inst.ty().is_float() { inst.ty() } else { ty };
            self.set_source(&mut op, n + 1, f, part, ty)?;
        }
        self.address(&mut op, f, inst, address);
        if op.access.space == MemSpace::Param {
            return Err(LoadError::Unsupported("kernel parameters cannot be written".to_owned()));
        }
        Ok(op)
    }

    pub(super) fn atomic(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        let (dest, rest) = match inst.opcode {
            Opcode::Atom => (inst.operands.first(), inst.operands.get(1..).unwrap_or(&[])),
            _ => (None, &inst.operands[..]),
        };
        let [Operand::Memory(address), values @ ..] = rest else { return Err(malformed(inst)) };
        let mut op = self.blank(Class::Atomic);
        op.access = self.access(f, inst, dest);
        op.variant = atomic_op(inst).ok_or_else(|| malformed(inst))? as u8;
        if let Some(dest) = dest {
            self.set_dest(&mut op, 0, f, dest)?;
        }
        for (n, value) in values.iter().enumerate() {
            self.set_source(&mut op, n + 1, f, value, inst.ty())?;
        }
        self.address(&mut op, f, inst, address);
        Ok(op)
    }
}

fn atomic_op(inst: &Inst) -> Option<AtomicOp> {
    let ty = inst.ty();
    Some(match inst.words.iter().find(|w| is_atomic_word(**w))? {
        Word::Add => match ty {
            Type::F32 => AtomicOp::AddF32,
            Type::F64 => AtomicOp::AddF64,
            Type::F16 => AtomicOp::AddF16,
            Type::F16x2 => AtomicOp::AddF16x2,
            Type::Bf16 => AtomicOp::AddBf16,
            Type::Bf16x2 => AtomicOp::AddBf16x2,
            _ => AtomicOp::Add,
        },
        Word::And => AtomicOp::And,
        Word::Or => AtomicOp::Or,
        Word::Xor => AtomicOp::Xor,
        Word::Exch => AtomicOp::Exch,
        Word::Cas => AtomicOp::Cas,
        Word::Inc => AtomicOp::Inc,
        Word::Dec => AtomicOp::Dec,
        Word::Min if ty.is_signed() => AtomicOp::MinS,
        Word::Min => AtomicOp::MinU,
        Word::Max if ty.is_signed() => AtomicOp::MaxS,
        Word::Max => AtomicOp::MaxU,
        _ => return None,
    })
}

fn is_atomic_word(word: Word) -> bool {
    matches!(
        word,
        Word::Add
            | Word::And
            | Word::Or
            | Word::Xor
            | Word::Exch
            | Word::Cas
            | Word::Inc
            | Word::Dec
            | Word::Min
            | Word::Max
    )
}

/// The elements of a vector, or the one of a scalar.
pub(super) fn elements(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::Vector(list) => list,
        other => std::slice::from_ref(other),
    }
}
