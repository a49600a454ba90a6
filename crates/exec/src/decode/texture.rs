//! Textures, and questions about surfaces.

use super::memory::elements;
use super::{Decoded, Decoder, malformed};
use crate::op::{Class, Op};
use crate::texture::Geometry;
use raddle_ptx::ir::{Base, Inst, Operand};
use raddle_ptx::isa::{Opcode, Type, Word};

/// What an instruction wants of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TextureOp {
    /// A value, by whole coordinates.
    FetchInt,
    /// A value, by coordinates of single precision.
    FetchFloat,
    /// The first channel of four texels.
    GatherR,
    /// The second.
    GatherG,
    /// The third.
    GatherB,
    /// The fourth.
    GatherA,
    /// Texels of a row.
    Width,
    /// Rows.
    Height,
    /// Planes or layers.
    Depth,
    /// Whether coordinates run from 0 to 1.
    Normalized,
}

impl TextureOp {
    /// Every operation, in order of its number.
    pub const ALL: [Self; 10] = [
        Self::FetchInt,
        Self::FetchFloat,
        Self::GatherR,
        Self::GatherG,
        Self::GatherB,
        Self::GatherA,
        Self::Width,
        Self::Height,
        Self::Depth,
        Self::Normalized,
    ];

    fn of(inst: &Inst) -> Self {
        let word = |among: &[(Word, Self)]| among.iter().find(|(word, _)| inst.has(*word)).map(|(_, op)| *op);
        let (found, other) = match inst.opcode {
            Opcode::Tex => ((!is_float(inst)).then_some(Self::FetchInt), Self::FetchFloat),
            Opcode::Tld4 => {
                (word(&[(Word::G, Self::GatherG), (Word::B, Self::GatherB), (Word::A, Self::GatherA)]), Self::GatherR)
            }
            _ => {
                let sizes = [(Word::Width, Self::Width), (Word::Height, Self::Height)];
                (word(&sizes).or_else(|| word(&[(Word::NormalizedCoords, Self::Normalized)])), Self::Depth)
            }
        };
        found.unwrap_or(other)
    }

    /// Whether texels are read.
    #[must_use]
    pub fn reads(self) -> bool {
        !matches!(self, Self::Width | Self::Height | Self::Depth | Self::Normalized)
    }
}

/// Whether coordinates are of single precision.
fn is_float(inst: &Inst) -> bool {
    inst.nth_type(1).unwrap_or(Type::F32).is_float()
}

/// What the coordinates of an instruction mean.
pub(super) fn geometry(inst: &Inst) -> Geometry {
    match inst.first_of(&[Word::D2, Word::D3, Word::A1d, Word::A2d, Word::Cube, Word::Acube]) {
        Some(Word::D2) => Geometry::D2,
        Some(Word::D3) => Geometry::D3,
        Some(Word::A1d) => Geometry::A1,
        Some(Word::A2d) => Geometry::A2,
        Some(Word::Cube) => Geometry::Cube,
        Some(Word::Acube) => Geometry::ACube,
        _ => Geometry::D1,
    }
}

impl Decoder<'_> {
    /// The variable is kept in `target`; a register with its handle is the last source. `aux` is the geometry, or for
    /// questions whether they are about a surface.
    pub(super) fn texture(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        let mut op = self.blank(Class::Texture);
        let dest = inst.operands.first().ok_or_else(|| malformed(inst))?;
        for (n, part) in elements(dest).iter().enumerate() {
            self.set_dest(&mut op, n, f, part)?;
        }
        let (texture, coords): (Base, &[Operand]) = match inst.operands.get(1) {
            Some(Operand::Texture { texture, coords, .. }) => (*texture, coords),
            Some(Operand::Memory(address)) => (address.base, &[]),
            _ => return Err(malformed(inst)),
        };
        match texture {
            Base::Var(var) => op.target = var.0,
            Base::Reg(reg) => (op.s_bank[4], op.s[4]) = self.slot(f, reg),
            Base::Absolute => return Err(malformed(inst)),
        }
        let geometry = geometry(inst);
        let coord_type = inst.nth_type(1).unwrap_or(Type::F32);
        for (n, coord) in coords.iter().enumerate().take(4) {
            let ty = if n == 0 && geometry.is_layered() { Type::B32 } else { coord_type };
            self.set_source(&mut op, n, f, coord, ty)?;
        }
        op.access.float = inst.ty().is_float();
        op.variant = TextureOp::of(inst) as u8;
        op.aux = if inst.opcode == Opcode::Suq { 1 } else { geometry as u64 };
        Ok(op)
    }
}
