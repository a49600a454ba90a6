//! Register-to-register instructions.

use super::{Decoded, Decoder, malformed, unexpected};
use crate::image::{Image, LoadError, window};
use crate::lanes::{moves, select};
use crate::op::{Bank, CONST, Class, Op};
use raddle_ptx::ir::{Imm, Inst, Operand};
use raddle_ptx::isa::{Opcode, Special, Type, TypeRef, Word};

impl Decoder<'_> {
    pub(super) fn alu(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        match inst.opcode {
            // All threads of a block take their indices at once here, so that each may keep its own.
            Opcode::Mov | Opcode::Raddle => return self.mov(f, inst),
            Opcode::Cvta => return self.cvta(f, inst),
            Opcode::Isspacep => return self.isspacep(f, inst),
            Opcode::Createpolicy => return self.policy(f, inst),
            _ => {}
        }
        let bits = |operand: Option<&Operand>, otherwise: Type| match operand {
            Some(Operand::Reg(r)) => self.reg_type(f, *r).bits(),
            _ => otherwise.bits().max(16),
        };
        let dest_bits = bits(inst.operands.first(), inst.ty());
        let source_bits = bits(inst.operands.get(1), inst.nth_type(1).unwrap_or(inst.ty()));
        let selected = select(inst, dest_bits, source_bits)
            .ok_or_else(|| LoadError::Unsupported(format!("`{}` has no implementation", inst.mnemonic())))?;
        let mut op = self.blank(Class::Alu);
        op.aux = selected.aux;
        self.use_kernels(&mut op, selected.kernels);
        self.sources(&mut op, f, inst)?;
        if let Some(dest) = inst.operands.first() {
            self.set_dests(&mut op, f, dest)?;
        }
        if selected.swap {
            op.s.swap(0, 1);
            op.s_bank.swap(0, 1);
        }
        self.carry_operands(&mut op, inst);
        Ok(op)
    }

    /// Sources in order; an integer constant of `lop3` goes to `aux`.
    fn sources(&mut self, op: &mut Op, f: usize, inst: &Inst) -> Decoded<()> {
        let mut n = 0;
        for (spec, operand) in inst.form().operands.iter().zip(&inst.operands) {
            if spec.written {
                continue;
            }
            let ty = match spec.ty {
                Some(TypeRef::Nth(i)) => inst.nth_type(usize::from(i)).unwrap_or(Type::B32),
                Some(TypeRef::Wide) => inst.ty().wide().unwrap_or(Type::B64),
                Some(TypeRef::Fixed(ty)) => ty,
                Some(TypeRef::AddressSized) => Type::B64,
                None => {
                    if let Operand::Imm(Imm::Int(v)) = operand {
                        op.aux |= v.cast_unsigned() & 0xff;
                    }
                    continue;
                }
            };
            self.set_source(op, n, f, operand, ty)?;
            n += 1;
        }
        Ok(())
    }

    /// The carry flag is a hidden predicate: last source and second destination.
    fn carry_operands(&mut self, op: &mut Op, inst: &Inst) {
        let reads = matches!(inst.opcode, Opcode::Addc | Opcode::Subc | Opcode::Madc);
        let writes = inst.has(Word::Cc);
        if !reads && !writes {
            return;
        }
        let n = if matches!(inst.opcode, Opcode::Mad | Opcode::Madc) { 3 } else { 2 };
        let carry = self.carry();
        op.s_bank[n] = Bank::Pred;
        op.s[n] = if reads { carry } else { CONST };
        if writes {
            op.d_bank[1] = Bank::Pred;
            op.d[1] = carry;
        }
    }

    fn mov(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        let [dest, source] = &inst.operands[..] else { return Err(malformed(inst)) };
        let ty = inst.ty();
        let mut op = self.blank(Class::Alu);
        match (dest, source) {
            (Operand::Vector(parts), _) => {
                self.set_source(&mut op, 0, f, source, ty)?;
                for (n, part) in parts.iter().enumerate() {
                    self.set_dest(&mut op, n, f, part)?;
                }
                let kernels = match (ty.bytes(), parts.len()) {
                    (4, 2) => moves::UNPACK_16X2,
                    (8, 2) => moves::UNPACK_32X2,
                    (4, _) => moves::UNPACK_8X4,
                    _ => moves::UNPACK_16X4,
                };
                self.use_kernels(&mut op, kernels);
            }
            (_, Operand::Vector(parts)) => {
                let part_ty = if ty.bytes() as usize / parts.len() == 4 { Type::B32 } else { Type::B16 };
                for (n, part) in parts.iter().enumerate() {
                    self.set_source(&mut op, n, f, part, part_ty)?;
                }
                self.set_dest(&mut op, 0, f, dest)?;
                let kernels = match (ty.bytes(), parts.len()) {
                    (4, 2) => moves::PACK_16X2,
                    (8, 2) => moves::PACK_32X2,
                    (4, _) => moves::PACK_8X4,
                    _ => moves::PACK_16X4,
                };
                self.use_kernels(&mut op, kernels);
            }
            (_, Operand::Special(special)) if special.varies_in_time() => {
                op = self.blank(Class::Clock);
                op.variant = clock_variant(*special);
                self.set_dest(&mut op, 0, f, dest)?;
            }
            (_, Operand::VarAddress(..) | Operand::Func(_)) => {
                self.address_of(&mut op, f, source, ty, 0)?;
                self.set_dest(&mut op, 0, f, dest)?;
            }
            _ => {
                let selected = select(inst, ty.bits(), ty.bits()).ok_or_else(|| malformed(inst))?;
                self.use_kernels(&mut op, selected.kernels);
                self.set_source(&mut op, 0, f, source, ty)?;
                self.set_dest(&mut op, 0, f, dest)?;
            }
        }
        Ok(op)
    }

    /// Makes `op` compute the address of a variable or function, plus `extra`.
    fn address_of(&mut self, op: &mut Op, f: usize, operand: &Operand, ty: Type, extra: u64) -> Decoded<()> {
        let wide = ty.bytes() == 8;
        let address = match operand {
            Operand::Func(id) => Ok(Image::function_address(*id)),
            Operand::VarAddress(var, offset) => {
                let place = self.layout.var_address(self.image, self.placed[f].id, *var);
                place
                    .map(|a| a.wrapping_add_signed(*offset))
                    .map_err(|frame| u64::from(frame).wrapping_add_signed(*offset))
            }
            other => return Err(unexpected(other)),
        };
        match address {
            Ok(address) => {
                let bits = address.wrapping_add(extra);
                (op.s_bank[0], op.s[0]) = self.constant(bits, ty);
                self.use_kernels(op, if wide { moves::MOV64 } else { moves::MOV32 });
            }
            Err(offset) => {
                (op.s_bank[0], op.s[0]) = (Bank::R32, self.program.frame_pointer);
                op.aux = offset.wrapping_add(extra);
                self.use_kernels(op, if wide { moves::ADD_IMM64 } else { moves::ADD_IMM32 });
            }
        }
        Ok(())
    }

    fn cvta(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        let [dest, source] = &inst.operands[..] else { return Err(malformed(inst)) };
        let base = inst.space().map_or(0, window);
        let delta = if inst.has(Word::To) { base.wrapping_neg() } else { base };
        let mut op = self.blank(Class::Alu);
        self.set_dest(&mut op, 0, f, dest)?;
        if matches!(source, Operand::VarAddress(..)) {
            self.address_of(&mut op, f, source, inst.ty(), delta)?;
            return Ok(op);
        }
        self.set_source(&mut op, 0, f, source, inst.ty())?;
        op.aux = delta;
        let wide = inst.ty().bytes() == 8;
        let kernels = match (delta, wide) {
            (0, true) => moves::MOV64,
            (0, false) => moves::MOV32,
            (_, true) => moves::OFFSET64,
            (_, false) => moves::ADD_IMM32,
        };
        self.use_kernels(&mut op, kernels);
        Ok(op)
    }

    /// Policies of caches mean nothing here: all are zero.
    fn policy(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        let Some(dest) = inst.operands.first() else { return Err(malformed(inst)) };
        let selected = select(inst, 64, 64).ok_or_else(|| malformed(inst))?;
        let mut op = self.blank(Class::Alu);
        self.use_kernels(&mut op, selected.kernels);
        self.set_source(&mut op, 0, f, &Operand::Imm(Imm::Int(0)), Type::B64)?;
        self.set_dest(&mut op, 0, f, dest)?;
        Ok(op)
    }

    fn isspacep(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        let [dest, source] = &inst.operands[..] else { return Err(malformed(inst)) };
        let mut op = self.blank(Class::Alu);
        self.set_dest(&mut op, 0, f, dest)?;
        self.set_source(&mut op, 0, f, source, Type::B64)?;
        op.aux = inst.space().map_or(0, |s| s as u64);
        let wide = op.s_bank[0] == Bank::R64;
        self.use_kernels(&mut op, if wide { moves::ISSPACEP64 } else { moves::ISSPACEP32 });
        Ok(op)
    }
}

/// Which clock a special register reads: see [`crate::core`].
fn clock_variant(special: Special) -> u8 {
    match special {
        Special::Clock | Special::GlobaltimerLo => 0,
        Special::ClockHi | Special::GlobaltimerHi => 1,
        _ => 2,
    }
}
