//! `tex`, `tld4`, `txq` and `suq`.

use super::sample::Sampler;
use super::step::{Done, Step};
use crate::FaultKind;
use crate::texture::Texture;
use raddle_ptx::ir::{Address, Base, Operand, VarId};
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::num::low32;

/// The words that say what coordinates mean.
const GEOMETRIES: [Word; 7] = [Word::D1, Word::D2, Word::D3, Word::A1d, Word::A2d, Word::Cube, Word::Acube];

impl<'s> Step<'s> {
    pub(super) fn texture(&mut self) -> Done<()> {
        let base = match self.operand(1) {
            Operand::Texture { texture, .. } => *texture,
            Operand::Memory(Address { base, .. }) => *base,
            _ => Base::Absolute,
        };
        let texture = self.bound(base, self.inst.opcode == Opcode::Suq)?;
        if matches!(self.inst.opcode, Opcode::Txq | Opcode::Suq) {
            let size = self.property(texture);
            self.write(0, Type::B32, size.into());
            return Ok(());
        }
        let ty = self.inst.ty();
        let by = if self.inst.opcode == Opcode::Tld4 { Type::F32 } else { self.inst.nth_type(1).unwrap_or(Type::F32) };
        let geometry = self.inst.first_of(&GEOMETRIES).unwrap_or(Word::D1);
        let at = self.coords(geometry, by)?;
        let sampler = Sampler { texture, memory: self.memory, float: ty.is_float(), by_float: by == Type::F32 };
        let texel = match self.inst.opcode {
            Opcode::Tld4 => sampler.gather(geometry, self.component(), at)?,
            _ => sampler.fetch(geometry, at)?,
        };
        if let Operand::Vector(parts) = self.operand(0) {
            for (part, value) in parts.iter().zip(texel) {
                self.put(part, ty, value.into());
            }
        }
        Ok(())
    }

    fn property(&self, texture: &Texture) -> u32 {
        let [width, height, depth] = texture.size;
        match self.inst.words.first() {
            Some(Word::Width) => width,
            Some(Word::Height) => height,
            Some(Word::NormalizedCoords) => texture.normalized.into(),
            _ => depth,
        }
    }

    /// The texture, or surface, bound to a name; a register holds the handle of an object or the address of the variable.
    pub(super) fn bound(&self, base: Base, surface: bool) -> Done<&'s Texture> {
        let launch = self.env.launch;
        let fault = FaultKind::Memory;
        match base {
            Base::Var(var) => {
                let name = &self.env.module.var(var).name;
                let found = launch.textures.iter().find(|(n, _)| n == name);
                found.map(|(_, texture)| texture).ok_or_else(|| fault(format!("nothing is bound to `{name}`")))
            }
            Base::Reg(reg) => {
                let handle = self.register(reg)?;
                let vars = (0..self.env.module.vars.len()).map(VarId::from_index);
                let is_reference = |v: &VarId| matches!(self.env.module.var(*v).ty, Type::Texref | Type::Surfref);
                let mut named = vars.filter(is_reference);
                match named.find(|v| self.env.image.address(*v) == Some(handle)) {
                    Some(var) => self.bound(Base::Var(var), surface),
                    None => launch.objects.find(handle, surface).map_err(fault),
                }
            }
            Base::Absolute => Err(fault("nothing is bound to this instruction".to_owned())),
        }
    }

    fn coords(&self, geometry: Word, ty: Type) -> Done<[u32; 4]> {
        let Operand::Texture { coords, .. } = self.operand(1) else { return Ok([0; 4]) };
        let is_layered = matches!(geometry, Word::A1d | Word::A2d | Word::Acube);
        let mut at = [0; 4];
        for (n, (place, coord)) in at.iter_mut().zip(coords).enumerate() {
            let ty = if n == 0 && is_layered { Type::B32 } else { ty };
            *place = low32(self.read(coord, ty)?);
        }
        Ok(at)
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
