//! Copies from global to shared memory that a thread does not wait for.

use super::{Decoded, Decoder, malformed};
use crate::op::{Bank, Class, Op, Slot};
use raddle_ptx::ir::{Inst, Operand};
use raddle_ptx::isa::Type;
use raddle_ptx::num::fit;

/// Where in the sources of an operation the address in shared memory is; that in global memory is the first.
pub(crate) const TO: usize = 1;
/// Where in the sources of an operation it says how much is copied, if it does.
pub(crate) const HOW_MUCH: usize = 2;

/// What `cp.async` does: more than an operation has room for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopySite {
    /// Added to the address in shared memory.
    pub(crate) to_offset: u64,
    /// Bytes written to shared memory.
    pub(crate) bytes: u32,
    /// Which of them come from global memory; the others are zero.
    pub(crate) part: CopyPart,
}

/// How much of a copy comes from global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyPart {
    /// All of it.
    All,
    /// As many bytes as a source says, and no more than are written.
    Bytes,
    /// Nothing where a predicate is true.
    Unless,
}

impl Decoder<'_> {
    /// `cp.async`: a copy, or the groups of copies that threads wait for.
    pub(super) fn copy(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        let [Operand::Memory(to), Operand::Memory(from), bytes, rest @ ..] = &inst.operands[..] else {
            // Copies are done at once, so that nobody has to wait.
            return Ok(self.blank(Class::Nop));
        };
        let bytes = match bytes {
            Operand::Imm(imm) => fit(imm.bits(Type::U32)),
            _ => return Err(malformed(inst)),
        };
        let mut op = self.blank(Class::Copy);
        self.address_in(&mut op, f, inst, inst.space_at(0), to);
        let (base, to_offset): ((Bank, Slot), u64) = ((op.s_bank[0], op.s[0]), op.aux);
        self.address_in(&mut op, f, inst, inst.space_at(1), from);
        (op.s_bank[TO], op.s[TO]) = base;
        (op.access.bytes, op.access.count) = if bytes == 16 { (8, 2) } else { (fit(bytes), 1) };
        let part = match rest {
            [] => CopyPart::All,
            [how_much, ..] if self.is_predicate(f, how_much) => {
                self.set_source(&mut op, HOW_MUCH, f, how_much, Type::Pred)?;
                CopyPart::Unless
            }
            [how_much, ..] => {
                self.set_source(&mut op, HOW_MUCH, f, how_much, Type::U32)?;
                CopyPart::Bytes
            }
        };
        op.target = fit(self.program.copies.len());
        self.program.copies.push(CopySite { to_offset, bytes, part });
        Ok(op)
    }

    fn is_predicate(&self, f: usize, operand: &Operand) -> bool {
        match operand {
            Operand::Not(_) => true,
            Operand::Reg(reg) => self.reg_type(f, *reg) == Type::Pred,
            _ => false,
        }
    }
}
