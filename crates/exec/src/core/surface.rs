//! Loads from and stores to surfaces.

use super::load_store::{Place, access_fault, extend};
use super::{Core, Home, Issue, LaneFault, Lanes, lanes_in};
use crate::decode::{Bounds, SurfaceSite};
use crate::fault::FaultKind;
use crate::image::LoadError;
use crate::lanes::LANES;
use crate::memory::{AccessError, Global};
use crate::op::Op;
use crate::texture::Texture;
use raddle_ptx::ir::VarId;
use raddle_ptx::num::low32;

impl<'p> Core<'p> {
    /// Checks that something is bound to the surfaces that the program names.
    pub(super) fn check_surfaces(&self) -> Result<(), LoadError> {
        let named = self.program.surfaces.iter().filter_map(|site| site.surface.ok());
        match named.into_iter().find(|var| self.by_variable(*var).is_none()) {
            Some(var) => {
                let name = &self.program.image.module.var(VarId(var)).name;
                Err(LoadError::Unsupported(format!("no surface is bound to `{name}`")))
            }
            None => Ok(()),
        }
    }

    fn surface_of(&mut self, site: &SurfaceSite, home: Home) -> Result<&'p Texture, String> {
        match site.surface {
            Ok(var) => self.by_variable(var).map(|(_, found)| found).ok_or_else(|| "no surface is bound".to_owned()),
            Err((bank, slot)) => {
                let handle = self.file.get(home.row, slot, bank, usize::from(home.lane));
                self.by_handle(handle, true).map(|(_, found)| found)
            }
        }
    }

    /// Where a thread's access of `bytes` bytes goes; `None` outside, where that counts as nothing.
    fn surface_address(&mut self, site: &SurfaceSite, home: Home, bytes: u32) -> Result<Option<u64>, String> {
        let surface = self.surface_of(site, home)?;
        let mut coords = [0; 4];
        for (to, (bank, slot)) in coords.iter_mut().zip(&site.coords) {
            *to = low32(self.file.get(home.row, *slot, *bank, usize::from(home.lane))).cast_signed();
        }
        match surface.surface_place(site.geometry, coords, bytes, site.bounds == Bounds::Clamp) {
            Err(text) if site.bounds == Bounds::Trap => Err(text),
            found => Ok(found.ok()),
        }
    }

    /// Where each lane of `mask` loads from a surface or stores to it; `None` outside.
    pub(super) fn surface_addresses(&mut self, op: &Op, lanes: Lanes<'_>, mask: u32) -> [Option<u64>; LANES] {
        let site = &self.program.surfaces[op.target as usize];
        let bytes = u32::from(op.access.bytes) * u32::from(op.access.count);
        let mut out = [None; LANES];
        for lane in lanes_in(mask) {
            out[lane] = self.surface_address(site, lanes.home(lane), bytes).unwrap_or_default();
        }
        out
    }

    pub(super) fn surface(&mut self, memory: &mut Global<'_>, issue: Issue<'_>) -> Result<(), LaneFault> {
        let Issue { op, lanes, mask, .. } = issue;
        let site = &self.program.surfaces[op.target as usize];
        let bytes = op.access.bytes;
        let total = u32::from(bytes) * u32::from(op.access.count);
        for lane in lanes_in(mask) {
            let home = lanes.home(lane);
            let address = self.surface_address(site, home, total);
            let address = address.map_err(|text| LaneFault { lane, kind: FaultKind::Memory(text) })?;
            let place = match address {
                Some(address) => Some(self.surface_bytes(memory, issue, site, (lane, address), total)?),
                None => None,
            };
            for (n, value) in site.values.iter().enumerate() {
                let Some((bank, slot)) = *value else { continue };
                let (at, own) = (n as u64 * u64::from(bytes), usize::from(home.lane));
                match (site.is_store, place) {
                    (true, Some(place)) => {
                        let value = self.file.get(home.row, slot, bank, own);
                        self.poke(memory, place, at, bytes, value);
                    }
                    (true, None) => {}
                    (false, place) => {
                        let raw = place.map_or(0, |place| self.peek(memory, place, at, bytes));
                        let value = extend(raw, bytes, false, op.access.register_bits);
                        self.file.put(home.row, slot, bank, own, value);
                    }
                }
            }
        }
        Ok(())
    }

    /// The bytes at an address in a surface, which may have been freed.
    fn surface_bytes(
        &self,
        memory: &Global<'_>,
        issue: Issue<'_>,
        site: &SurfaceSite,
        (lane, address): (usize, u64),
        bytes: u32,
    ) -> Result<Place, LaneFault> {
        let image = memory.image();
        let is_new = site.is_store || memory.pending().is_some_and(|log| log.may_touch(address));
        let found = if is_new { image.check_write(address, bytes) } else { image.check_read(address, bytes) };
        match found {
            Ok((index, offset)) => Ok(Place::Global(index, offset)),
            Err(error @ AccessError::Outside { .. }) if !site.is_store => {
                self.excuse(issue, lane, || error.to_string())
            }
            Err(error) => Err(access_fault(lane, &error)),
        }
    }
}
