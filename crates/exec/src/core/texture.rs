//! Texture fetches.

use super::{Core, Issue, LaneFault, Lanes, lanes_in};
use crate::fault::FaultKind;
use crate::image::LoadError;
use crate::lanes::LANES;
use crate::op::{Class, NO_PC, NONE, Op};
use crate::texture::Coords;
use raddle_ptx::ir::VarId;
use raddle_ptx::isa::Type;
use raddle_ptx::num::low32;

impl Core<'_> {
    /// Finds the texture of every `.texref` the program reads.
    pub(super) fn bind_textures(&mut self) -> Result<(), LoadError> {
        let reads = self.program.ops.iter().filter(|op| op.class == Class::Texture && op.target != NO_PC);
        for var in reads.map(|op| op.target) {
            let name = &self.program.image.module.var(VarId(var)).name;
            let found = self.launch.textures.iter().position(|(n, _)| n == name);
            let Some(index) = found else {
                return Err(LoadError::Unsupported(format!("no texture is bound to `{name}`")));
            };
            if !self.texture_vars.contains(&(var, index)) {
                self.texture_vars.push((var, index));
            }
        }
        Ok(())
    }

    /// A handle is the number of a texture, or the address of a `.texref` variable.
    fn texture_by_handle(&self, handle: u64) -> usize {
        let image = &self.program.image;
        let is_it = |v: &VarId| image.module.var(*v).ty == Type::Texref && image.address(*v) == Some(handle);
        match (0..image.module.vars.len()).map(VarId::from_index).find(is_it) {
            Some(var) => {
                let name = &image.module.var(var).name;
                self.launch.textures.iter().position(|(n, _)| n == name).unwrap_or(usize::MAX)
            }
            None => usize::try_from(handle).unwrap_or(usize::MAX),
        }
    }

    /// The number of the texture a thread fetches from.
    fn texture_index(&mut self, op: &Op, row: u32, lane: usize) -> usize {
        if op.target == NO_PC {
            let handle = self.file.get(row, op.s[4], op.s_bank[4], lane);
            return self.texture_by_handle(handle);
        }
        self.texture_vars.iter().find(|(v, _)| *v == op.target).map_or(usize::MAX, |(_, i)| *i)
    }

    /// Where the texel lies that each lane of `mask` fetches; `None` outside the texture and for queries.
    pub fn texels(&mut self, op: &Op, lanes: Lanes<'_>, mask: u32) -> [Option<u64>; LANES] {
        let mut out = [None; LANES];
        if matches!(op.variant, 6 | 7) {
            return out;
        }
        for lane in lanes_in(mask) {
            let home = lanes.home(lane);
            let (row, own) = (home.row, usize::from(home.lane));
            let index = self.texture_index(op, row, own);
            let mut coord = |n: usize| {
                if op.s[n] == NONE { 0 } else { low32(self.file.get(row, op.s[n], op.s_bank[n], own)) }
            };
            let (x, y) = (coord(0), coord(1));
            let coords = match op.variant {
                1 => Coords::Int([x.cast_signed(), y.cast_signed()]),
                _ => Coords::Float([f32::from_bits(x), f32::from_bits(y)]),
            };
            let texture = self.launch.textures.get(index);
            out[lane] = texture.and_then(|(_, t)| t.address_of(index, coords));
        }
        out
    }

    pub(super) fn texture(&mut self, Issue { op, row, mask, .. }: Issue<'_>) -> Result<(), LaneFault> {
        for lane in lanes_in(mask) {
            let index = self.texture_index(op, row, lane);
            let float = op.access.float;
            let launch = self.launch;
            let Some((_, texture)) = launch.textures.get(index) else {
                let kind = FaultKind::Memory(format!("{index} is not the handle of a texture"));
                return Err(LaneFault { lane, kind });
            };
            let coord = |core: &mut Self, n: usize| {
                if op.s[n] == NONE { 0 } else { low32(core.file.get(row, op.s[n], op.s_bank[n], lane)) }
            };
            let (x, y) = (coord(self, 0), coord(self, 1));
            let floats = [f32::from_bits(x), f32::from_bits(y)];
            let values = match op.variant {
                0 => texture.fetch(Coords::Float(floats), float),
                1 => texture.fetch(Coords::Int([x.cast_signed(), y.cast_signed()]), float),
                6 => [texture.width; 4],
                7 => [texture.height; 4],
                component => texture.gather(usize::from(component - 2), floats, float),
            };
            for (n, value) in values.into_iter().enumerate() {
                self.file.put(row, op.d[n], op.d_bank[n], lane, u64::from(value));
            }
        }
        Ok(())
    }
}
