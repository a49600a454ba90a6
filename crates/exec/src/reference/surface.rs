//! `suld` and `sust`.

use super::step::{Done, Step};
use crate::FaultKind;
use crate::memory::Region;
use crate::texture::Texels;
use raddle_ptx::ir::Operand;
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::num::low32;

impl Step<'_> {
    pub(super) fn surface(&mut self) -> Done<()> {
        let is_store = self.inst.opcode == Opcode::Sust;
        let (at, data) = if is_store { (0, 1) } else { (1, 0) };
        let ty = self.inst.ty();
        let each = ty.bytes() as usize;
        let parts = match self.operand(data) {
            Operand::Vector(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut bytes = vec![0; each * parts.len()];
        let place = self.surface_place(at, bytes.len() as u64)?;
        if is_store {
            for (part, to) in parts.iter().zip(bytes.chunks_mut(each)) {
                to.copy_from_slice(&self.read(part, ty)?.to_le_bytes()[..each]);
            }
            return place.map_or(Ok(()), |address| self.write_memory(Region::Global(address), &bytes));
        }
        if let Some(address) = place {
            self.read_memory(Region::Global(address), &mut bytes)?;
        }
        for (part, from) in parts.iter().zip(bytes.chunks(each)) {
            let mut word = [0; 8];
            word[..each].copy_from_slice(from);
            self.put(part, ty, u64::from_le_bytes(word));
        }
        Ok(())
    }

    /// The address of so many bytes, of which x counts; `None` when they are outside and that is to be ignored.
    fn surface_place(&self, operand: usize, bytes: u64) -> Done<Option<u64>> {
        let Operand::Texture { texture, coords, .. } = self.operand(operand) else { return Ok(None) };
        let surface = self.bound(*texture, true)?;
        let mut values = [0i64; 4];
        for (value, coord) in values.iter_mut().zip(coords) {
            *value = low32(self.read(coord, Type::B32)?).cast_signed().into();
        }
        let [a, b, c, _] = values;
        let [x, y, z] = match self.inst.first_of(&[Word::D2, Word::D3, Word::A1d, Word::A2d]) {
            Some(Word::D2) => [a, b, 0],
            Some(Word::D3) => [a, b, c],
            Some(Word::A1d) => [b, 0, a],
            Some(Word::A2d) => [b, c, a],
            _ => [a, 0, 0],
        };
        let [width, height, depth] = surface.size.map(i64::from);
        // The last places at which an access is still inside.
        let last = [width * i64::from(surface.texel_bytes()) - bytes.cast_signed(), height - 1, depth - 1];
        let is_outside = [x, y, z].iter().zip(last).any(|(at, last)| *at < 0 || *at > last);
        let [x, y, z] = if self.inst.has(Word::Clamp) {
            let near = |at: i64, n: usize| at.min(last[n]).max(0);
            [near(x, 0), near(y, 1), near(z, 2)]
        } else if is_outside && self.inst.has(Word::Zero) {
            return Ok(None);
        } else if is_outside {
            let text = format!(
                "access of {bytes} bytes at ({x}, {y}, {z}) is outside a surface of {width} x {height} x {depth}"
            );
            return Err(FaultKind::Memory(text));
        } else {
            [x, y, z]
        };
        match surface.texels {
            Texels::View { at, pitch, plane } => {
                let [x, y, z] = [x, y, z].map(i64::cast_unsigned);
                Ok(Some(at + z * plane + y * pitch + x))
            }
            Texels::Own { .. } => Err(FaultKind::Memory("a texture that is a copy cannot be a surface".to_owned())),
        }
    }
}
