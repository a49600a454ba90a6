//! `tex`, `tld4` and `txq`.

use super::step::{Done, Step};
use crate::FaultKind;
use crate::texture::{Coords, Texture};
use raddle_ptx::ir::{Address, Base, Operand, VarId};
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::num::low32;

impl<'s> Step<'s> {
    pub(super) fn texture(&mut self) -> Done<()> {
        let base = match self.operand(1) {
            Operand::Texture { texture, .. } => *texture,
            Operand::Memory(Address { base, .. }) => *base,
            _ => Base::Absolute,
        };
        let texture = self.bound(base)?;
        if self.inst.opcode == Opcode::Txq {
            let size = if self.inst.has(Word::Width) { texture.width } else { texture.height };
            self.write(0, Type::B32, size.into());
            return Ok(());
        }
        let float = self.inst.ty().is_float();
        let texel = match (self.inst.opcode, self.coords()?) {
            (Opcode::Tld4, Coords::Float(at)) => texture.gather(self.component(), at, float),
            (_, coords) => texture.fetch(coords, float),
        };
        let ty = self.inst.ty();
        if let Operand::Vector(parts) = self.operand(0) {
            for (part, value) in parts.iter().zip(texel) {
                self.put(part, ty, value.into());
            }
        }
        Ok(())
    }

    /// The texture bound to a name; a register holds its number or the address of the `.texref` variable.
    fn bound(&self, base: Base) -> Done<&'s Texture> {
        let textures = &self.env.launch.textures;
        let (found, name) = match base {
            Base::Var(var) => {
                let name = &self.env.module.var(var).name;
                (textures.iter().find(|(n, _)| n == name), format!("`{name}`"))
            }
            Base::Reg(reg) => {
                let handle = self.register(reg)?;
                let vars = (0..self.env.module.vars.len()).map(VarId::from_index);
                let is_texref = |v: &VarId| self.env.module.var(*v).ty == Type::Texref;
                let named = vars.filter(is_texref).find(|v| self.env.image.address(*v) == Some(handle));
                if let Some(var) = named {
                    return self.bound(Base::Var(var));
                }
                (usize::try_from(handle).ok().and_then(|i| textures.get(i)), format!("handle {handle:#x}"))
            }
            Base::Absolute => (None, "this instruction".to_owned()),
        };
        let missing = || FaultKind::Memory(format!("no texture is bound to {name}"));
        found.map(|(_, texture)| texture).ok_or_else(missing)
    }

    fn coords(&self) -> Done<Coords> {
        let Operand::Texture { coords, .. } = self.operand(1) else { return Ok(Coords::Int([0; 2])) };
        let ty = if self.inst.opcode == Opcode::Tld4 { Type::F32 } else { self.inst.nth_type(1).unwrap_or(Type::F32) };
        let mut at = [0; 2];
        for (place, coord) in at.iter_mut().zip(coords) {
            *place = low32(self.read(coord, ty)?);
        }
        Ok(match ty {
            Type::F32 => Coords::Float(at.map(f32::from_bits)),
            _ => Coords::Int(at.map(u32::cast_signed)),
        })
    }

    fn component(&self) -> usize {
        match self.inst.first_of(&[Word::R, Word::G, Word::B, Word::A]) {
            Some(Word::G) => 1,
            Some(Word::B) => 2,
            Some(Word::A) => 3,
            _ => 0,
        }
    }
}
