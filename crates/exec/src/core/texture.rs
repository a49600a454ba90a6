//! Texture fetches.

use super::load_store::access_fault;
use super::{Core, Issue, LaneFault, Lanes, Moved, lanes_in};
use crate::decode::TextureOp;
use crate::fault::FaultKind;
use crate::image::LoadError;
use crate::lanes::LANES;
use crate::memory::Global;
use crate::op::{Class, NO_PC, NONE, Op};
use crate::texture::{Coords, Geometry, Objects, Texture};
use raddle_ptx::ir::VarId;
use raddle_ptx::isa::Type;
use raddle_ptx::num::{fit, low32};

/// A variable that a texture or surface is bound to.
pub(super) struct BoundVar {
    var: u32,
    /// Its address, which is its handle.
    address: u64,
    /// The number of what is bound to it.
    number: usize,
}

impl<'p> Core<'p> {
    /// Finds the variables that something is bound to, among them those that the program names.
    pub(super) fn bind_textures(&mut self) -> Result<(), LoadError> {
        let image = &self.program.image;
        for (var, declared) in image.module.vars.iter().enumerate() {
            let id = VarId::from_index(var);
            let bound = self.launch.textures.iter().position(|(name, _)| *name == declared.name);
            if let (Type::Texref | Type::Surfref, Some(number)) = (declared.ty, bound) {
                let address = image.address(id).unwrap_or(0);
                self.texture_vars.push(BoundVar { var: id.0, address, number });
            }
        }
        let named = self.program.ops.iter().filter(|op| op.class == Class::Texture && op.target != NO_PC);
        match named.map(|op| op.target).find(|var| self.by_variable(*var).is_none()) {
            Some(var) => {
                let name = &image.module.var(VarId(var)).name;
                Err(LoadError::Unsupported(format!("no texture is bound to `{name}`")))
            }
            None => self.check_surfaces(),
        }
    }

    /// The number and the texture, or surface, that is bound to a variable.
    pub(super) fn by_variable(&self, var: u32) -> Option<(usize, &'p Texture)> {
        let number = self.texture_vars.iter().find(|bound| bound.var == var)?.number;
        Some((number, &self.launch.textures[number].1))
    }

    /// The number and the texture, or surface, of a handle: that of an object, or the address of a variable.
    pub(super) fn by_handle(&self, handle: u64, surface: bool) -> Result<(usize, &'p Texture), String> {
        let launch = self.launch;
        if let Some(bound) = self.texture_vars.iter().find(|bound| bound.address == handle) {
            return Ok((bound.number, &launch.textures[bound.number].1));
        }
        let image = &self.program.image;
        let vars = (0..image.module.vars.len()).map(VarId::from_index);
        let is_it = |v: &VarId| image.address(*v) == Some(handle) && handle != 0;
        let is_reference = |v: &VarId| matches!(image.module.var(*v).ty, Type::Texref | Type::Surfref);
        launch
            .objects
            .find(handle, surface)
            .map(|found| (launch.textures.len() + Objects::number(handle), found))
            .map_err(|problem| match vars.filter(is_reference).find(is_it) {
                Some(var) => format!("nothing is bound to `{}`", image.module.var(var).name),
                None => problem,
            })
    }

    /// The number and the texture that a thread fetches from.
    fn texture_of(&mut self, op: &Op, row: u32, lane: usize) -> Result<(usize, &'p Texture), String> {
        if op.target == NO_PC {
            let is_surface = !TextureOp::ALL[usize::from(op.variant)].reads() && op.aux != 0;
            let handle = self.file.get(row, op.s[4], op.s_bank[4], lane);
            return self.by_handle(handle, is_surface);
        }
        self.by_variable(op.target).ok_or_else(|| "nothing is bound to this texture".to_owned())
    }

    fn coords(&mut self, op: &Op, row: u32, lane: usize) -> Coords {
        let value = |n: usize| match op.s[n] {
            NONE => 0,
            slot => low32(self.file.get(row, slot, op.s_bank[n], lane)),
        };
        Coords {
            geometry: Geometry::ALL[fit::<usize, _>(op.aux)],
            is_float: TextureOp::ALL[usize::from(op.variant)] != TextureOp::FetchInt,
            values: [0, 1, 2, 3].map(value),
        }
    }

    /// Executes a texture fetch, or an access to a surface, for the lanes of `mask`. Where the texel lies that each lane
    /// fetched, or what it loaded from or stored to the surface; `None` outside and for queries.
    ///
    /// # Errors
    /// When nothing is bound there, or a surface ends before.
    pub fn texels(
        &mut self,
        memory: &mut Global<'_>,
        op: &Op,
        lanes: Lanes<'_>,
        mask: u32,
    ) -> Result<[Option<u64>; LANES], LaneFault> {
        let texels = self.texel_places(op, lanes, mask);
        self.execute(memory, op, lanes, mask)?;
        Ok(texels)
    }

    fn texel_places(&mut self, op: &Op, lanes: Lanes<'_>, mask: u32) -> [Option<u64>; LANES] {
        let mut out = [None; LANES];
        if op.class == Class::Surface {
            return self.surface_addresses(op, lanes, mask);
        }
        if !TextureOp::ALL[usize::from(op.variant)].reads() {
            return out;
        }
        for lane in lanes_in(mask) {
            let home = lanes.home(lane);
            let (row, own) = (home.row, usize::from(home.lane));
            let coords = self.coords(op, row, own);
            let texture = self.texture_of(op, row, own);
            out[lane] = texture.ok().and_then(|(number, texture)| texture.address_of(number, &coords));
        }
        out
    }

    /// Executes a texture fetch for the lanes of `mask`; `fetched` are then the texels in device memory that they read.
    pub(crate) fn fetch(
        &mut self,
        memory: &mut Global<'_>,
        op: &Op,
        lanes: Lanes<'_>,
        mask: u32,
        fetched: &mut Vec<Moved>,
    ) -> Result<(), LaneFault> {
        fetched.clear();
        let mut note = |lane, address, bytes| fetched.push(Moved { step: 0, lane, address, bytes });
        self.in_row(op, lanes, mask, |core, issue| core.texture(memory, issue, &mut note))
    }

    /// Calls `note` with the lane, the address and the size of every texel that is read from device memory.
    pub(super) fn texture(
        &mut self,
        memory: &Global<'_>,
        Issue { op, row, mask, .. }: Issue<'_>,
        note: &mut impl FnMut(usize, u64, u32),
    ) -> Result<(), LaneFault> {
        let (what, float) = (TextureOp::ALL[usize::from(op.variant)], op.access.float);
        for lane in lanes_in(mask) {
            let found = self.texture_of(op, row, lane);
            let (_, texture) = found.map_err(|text| LaneFault { lane, kind: FaultKind::Memory(text) })?;
            let coords = self.coords(op, row, lane);
            let near = &mut self.last_allocation;
            let read = |address: u64, bytes: u32| {
                note(lane, address, bytes);
                memory.piece(near, address, bytes)
            };
            let values = match what {
                TextureOp::FetchInt | TextureOp::FetchFloat => texture.fetch(&coords, float, read),
                TextureOp::GatherR => texture.gather(0, &coords, float, read),
                TextureOp::GatherG => texture.gather(1, &coords, float, read),
                TextureOp::GatherB => texture.gather(2, &coords, float, read),
                TextureOp::GatherA => texture.gather(3, &coords, float, read),
                TextureOp::Width => Ok([texture.size[0]; 4]),
                TextureOp::Height => Ok([texture.size[1]; 4]),
                TextureOp::Depth => Ok([texture.size[2]; 4]),
                TextureOp::Normalized => Ok([texture.normalized.into(); 4]),
            };
            for (n, value) in values.map_err(|error| access_fault(lane, &error))?.into_iter().enumerate() {
                self.file.put(row, op.d[n], op.d_bank[n], lane, u64::from(value));
            }
        }
        Ok(())
    }
}
