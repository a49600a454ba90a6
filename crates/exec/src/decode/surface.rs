//! Surfaces.

use super::memory::elements;
use super::texture::geometry;
use super::{Decoded, Decoder, malformed};
use crate::op::{Access, Bank, Class, MemSpace, Op, Slot};
use crate::texture::Geometry;
use raddle_ptx::ir::{Base, Inst, Operand};
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::num::fit;

/// What becomes of an access outside the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// A fault.
    Trap,
    /// The nearest place inside.
    Clamp,
    /// Loads give zero, stores do nothing.
    Zero,
}

/// A register or constant.
pub(crate) type Place = (Bank, Slot);

/// What a surface instruction works on: more than an operation has room for.
#[derive(Clone, Debug)]
pub(crate) struct SurfaceSite {
    /// The variable, or where its handle is.
    pub(crate) surface: Result<u32, Place>,
    pub(crate) geometry: Geometry,
    pub(crate) coords: Vec<Place>,
    /// What is loaded or stored; `None` for what is not wanted.
    pub(crate) values: Vec<Option<Place>>,
    pub(crate) bounds: Bounds,
    pub(crate) is_store: bool,
}

impl Decoder<'_> {
    pub(super) fn surface(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        let is_store = inst.opcode == Opcode::Sust;
        let (place, values) = if is_store { (0, 1) } else { (1, 0) };
        let (Some(Operand::Texture { texture, coords, .. }), Some(values)) =
            (inst.operands.get(place), inst.operands.get(values))
        else {
            return Err(malformed(inst));
        };
        let surface = match texture {
            Base::Var(var) => Ok(var.0),
            Base::Reg(reg) => Err(self.slot(f, *reg)),
            Base::Absolute => return Err(malformed(inst)),
        };
        let coords = coords.iter().map(|coord| self.source(f, coord, Type::B32)).collect::<Decoded<_>>()?;
        let (ty, values) = (inst.ty(), elements(values));
        let register_bits = match values.iter().find(|o| matches!(o, Operand::Reg(_))) {
            Some(Operand::Reg(reg)) => self.reg_type(f, *reg).bits(),
            _ => 32,
        };
        let wide = if ty.bytes() < 4 { Type::B32 } else { ty };
        let value = |decoder: &mut Self, value: &Operand| match value {
            Operand::Sink => Ok(None),
            value => decoder.source(f, value, wide).map(Some),
        };
        let values: Vec<Option<Place>> = values.iter().map(|v| value(self, v)).collect::<Decoded<_>>()?;
        let mut op = self.blank(Class::Surface);
        op.access = Access {
            space: MemSpace::Global,
            bytes: fit(ty.bytes()),
            count: fit(values.len()),
            register_bits: fit(register_bits),
            ..Access::default()
        };
        let bounds = match inst.first_of(&[Word::Clamp, Word::Zero]) {
            Some(Word::Clamp) => Bounds::Clamp,
            Some(_) => Bounds::Zero,
            None => Bounds::Trap,
        };
        op.target = fit(self.program.surfaces.len());
        let geometry = geometry(inst);
        self.program.surfaces.push(SurfaceSite { surface, geometry, coords, values, bounds, is_store });
        Ok(op)
    }
}
