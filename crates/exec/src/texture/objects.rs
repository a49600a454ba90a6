//! Texture and surface objects, which kernels get as handles.

use super::Texture;

/// Handles of textures are numbers from here on, of surfaces from there. Neither is an address of memory, and zero is no
/// handle.
const TEXTURES: u64 = 0x7e00_0000_0000_0000;
const SURFACES: u64 = 0x5f00_0000_0000_0000;

/// Texture and surface objects. Handles are not used twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Objects {
    textures: Vec<Option<Texture>>,
    surfaces: Vec<Option<Texture>>,
}

/// What a handle names: whether a surface, and its number.
fn number(handle: u64) -> Option<(bool, usize)> {
    let surface = (SURFACES..TEXTURES).contains(&handle);
    let index = handle.checked_sub(if surface { SURFACES } else { TEXTURES })?;
    usize::try_from(index).ok().map(|index| (surface, index))
}

impl Objects {
    /// Makes a texture object and gives its handle.
    pub fn add_texture(&mut self, texture: Texture) -> u64 {
        self.textures.push(Some(texture));
        TEXTURES + self.textures.len() as u64 - 1
    }

    /// Makes a surface object and gives its handle.
    pub fn add_surface(&mut self, surface: Texture) -> u64 {
        self.surfaces.push(Some(surface));
        SURFACES + self.surfaces.len() as u64 - 1
    }

    /// Forgets an object; says whether there was one.
    pub fn remove(&mut self, handle: u64) -> bool {
        let Some((is_surface, index)) = number(handle) else { return false };
        let list = if is_surface { &mut self.surfaces } else { &mut self.textures };
        list.get_mut(index).is_some_and(|place| place.take().is_some())
    }

    /// The texture, or surface, of a handle.
    ///
    /// # Errors
    /// Why there is none, for a message.
    pub fn find(&self, handle: u64, surface: bool) -> Result<&Texture, String> {
        let what = if surface { "surface" } else { "texture" };
        match number(handle) {
            Some((is_surface, index)) => {
                let list = if is_surface { &self.surfaces } else { &self.textures };
                match list.get(index) {
                    Some(_) if is_surface != surface => {
                        let other = if is_surface { "surface" } else { "texture" };
                        Err(format!("{handle:#x} is the handle of a {other}, not of a {what}"))
                    }
                    Some(Some(found)) => Ok(found),
                    Some(None) => Err(format!("the {what} of handle {handle:#x} was destroyed")),
                    None => Err(format!("{handle:#x} is not the handle of a {what}")),
                }
            }
            None => Err(format!("{handle:#x} is not the handle of a {what}")),
        }
    }

    /// The number of a texture's handle among all textures, for places of their own.
    #[must_use]
    pub fn number(handle: u64) -> usize {
        number(handle).map_or(0, |(_, index)| index)
    }
}
