//! Matrices that the lanes of a warp hold together.

use super::{Decoded, Decoder, malformed};
use crate::math::Rounding;
use crate::op::{Bank, Class, Op, Slot};
use raddle_ptx::ir::{Inst, Operand};
use raddle_ptx::isa::{MatrixKind, MatrixOp, Type, Word};
use raddle_ptx::num::fit;

/// A register or constant.
pub(crate) type Place = (Bank, Slot);

/// The source of a matrix instruction that says how far rows or columns are apart in memory.
pub(crate) const STRIDE: usize = 1;

/// What a matrix instruction does, with its registers: more than an operation has room for.
#[derive(Clone, Debug)]
pub struct MatrixSite {
    /// Shapes and elements.
    pub(crate) op: MatrixOp,
    /// Registers of `a`, `b` and `c`; those of a store or a transposition are the first.
    pub(crate) sources: [Vec<Place>; 3],
    /// Registers of the result.
    pub(crate) dest: Vec<Place>,
    /// Integers are clamped and do not wrap.
    pub(crate) saturates: bool,
    /// How double-precision sums are rounded.
    pub(crate) rounding: Rounding,
    /// Single bits are combined by `and`, not by `xor`.
    pub(crate) ands: bool,
    /// `ldmatrix` and the like: rows are columns.
    pub(crate) transposes: bool,
    /// For messages.
    pub(crate) name: String,
}

impl Decoder<'_> {
    pub(super) fn matrix(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        let what = inst.matrix().ok_or_else(|| malformed(inst))?;
        let mut op = self.blank(Class::Matrix);
        let mut site = MatrixSite {
            op: what,
            sources: [const { Vec::new() }; 3],
            dest: Vec::new(),
            saturates: inst.has(Word::Satfinite),
            rounding: rounding(inst),
            ands: inst.has(Word::And),
            transposes: inst.has(Word::Trans),
            name: inst.opcode.to_string(),
        };
        let (address, stride) = match (what.kind, &inst.operands[..]) {
            (MatrixKind::Mma | MatrixKind::Wmma, [d, a, b, c]) => {
                site.dest = self.fragment(f, d)?;
                for (into, from) in site.sources.iter_mut().zip([a, b, c]) {
                    *into = self.fragment(f, from)?;
                }
                (None, None)
            }
            (MatrixKind::Load(_) | MatrixKind::LoadRows, [d, Operand::Memory(address), stride @ ..]) => {
                site.dest = self.fragment(f, d)?;
                (Some(address), stride.first())
            }
            (MatrixKind::Store | MatrixKind::StoreRows, [Operand::Memory(address), d, stride @ ..]) => {
                site.sources[0] = self.fragment(f, d)?;
                op.access.writes = true;
                (Some(address), stride.first())
            }
            (MatrixKind::Transpose, [d, a]) => {
                site.dest = self.fragment(f, d)?;
                site.sources[0] = self.fragment(f, a)?;
                (None, None)
            }
            _ => return Err(malformed(inst)),
        };
        if let Some(address) = address {
            self.address(&mut op, f, inst, address);
        }
        if let Some(stride) = stride {
            self.set_source(&mut op, STRIDE, f, stride, Type::U32)?;
        }
        op.target = fit(self.program.matrices.len());
        self.program.matrices.push(site);
        Ok(op)
    }

    fn fragment(&mut self, f: usize, operand: &Operand) -> Decoded<Vec<Place>> {
        let ty = |o: &Operand, decoder: &Self| match o {
            Operand::Reg(reg) => decoder.reg_type(f, *reg),
            _ => Type::B32,
        };
        super::memory::elements(operand).iter().map(|o| self.source(f, o, ty(o, self))).collect()
    }
}

fn rounding(inst: &Inst) -> Rounding {
    match inst.first_of(&[Word::Rz, Word::Rm, Word::Rp]) {
        Some(Word::Rz) => Rounding::Rz,
        Some(Word::Rm) => Rounding::Rm,
        Some(_) => Rounding::Rp,
        None => Rounding::Rn,
    }
}
