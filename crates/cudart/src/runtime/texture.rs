//! Textures and surfaces: objects that kernels get as handles, and references that are bound by their names. All of them
//! are views of memory: what is stored there is what is read.

use super::array::{Array, Texel};
use super::memory::Extent;
use crate::abi::{In, Out, Pointer, Size};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result};
use crate::registered::{Symbol, registered};
use raddle_exec::texture::{AddressMode, Channel, Filter, Texels, Texture};
use raddle_runtime::device::ModuleId;
use std::collections::BTreeMap;

/// Kinds of what a texture is made of.
const ARRAY: i32 = 0;
const MIPMAPPED: i32 = 1;
const LINEAR: i32 = 2;
const PITCHED: i32 = 3;

/// What a texture or surface is made of. Fields that a kind does not have hold nothing: an array has a handle only, in the
/// place of the address, and linear memory has its size in bytes in the place of the width.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Resource {
    kind: i32,
    at: Pointer,
    texel: Texel,
    width: usize,
    height: usize,
    pitch: usize,
}

/// How a texture is read.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Sampler {
    address: [i32; 3],
    filter: i32,
    /// What integers are is said by the instruction that reads them.
    read: i32,
    srgb: i32,
    border: [f32; 4],
    normalized: i32,
    /// Anisotropy, levels and edges of cubes.
    rest: [u32; 7],
}

/// Another view of a resource. Only its first field is looked at.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct ResourceView {
    format: i32,
}

/// The start of what a texture reference holds on the host. Programs may change it at any time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Reference {
    normalized: i32,
    filter: i32,
    address: [i32; 3],
    texel: Texel,
    srgb: i32,
}

/// A reference with what is bound to it.
struct Bound {
    /// As it was when the device was last told.
    seen: Reference,
    texture: Texture,
    is_linear: bool,
    /// The fat binary of the reference, and its module.
    binary: usize,
    module: ModuleId,
    name: String,
}

/// Objects by their handles, and bound references by their addresses.
#[derive(Default)]
pub(crate) struct Textures {
    objects: BTreeMap<u64, (Resource, Option<Sampler>)>,
    bound: BTreeMap<u64, Bound>,
}

/// What a channel is, and how many there are.
fn channels(texel: Texel) -> Result<(Channel, u32)> {
    let bits = [texel.x, texel.y, texel.z, texel.w];
    let count = bits.iter().take_while(|bits| **bits > 0).count();
    let is_even = bits[..count].iter().all(|bits| *bits == texel.x) && bits[count..].iter().all(|bits| *bits == 0);
    let channel = match (texel.kind, texel.x) {
        (0, 8) => Channel::S8,
        (0, 16) => Channel::S16,
        (0, 32) => Channel::S32,
        (1, 8) => Channel::U8,
        (1, 16) => Channel::U16,
        (1, 32) => Channel::U32,
        (2, 16) => Channel::F16,
        (2, 32) => Channel::F32,
        _ => return Err(Error::INVALID_CHANNEL),
    };
    if is_even && matches!(count, 1 | 2 | 4) { Ok((channel, count as u32)) } else { Err(Error::INVALID_CHANNEL) }
}

fn address(mode: i32) -> AddressMode {
    match mode {
        0 => AddressMode::Wrap,
        2 => AddressMode::Mirror,
        3 => AddressMode::Border,
        _ => AddressMode::Clamp,
    }
}

impl Sampler {
    fn of(reference: &Reference) -> Self {
        let Reference { normalized, filter, address, srgb, .. } = *reference;
        Self { address, filter, read: 0, srgb, border: [0.0; 4], normalized, rest: [0; 7] }
    }

    /// The texture read in this way. Linear memory has nothing outside.
    fn on(&self, texture: &Texture, is_linear: bool) -> Texture {
        Texture {
            address: if is_linear { [AddressMode::Border; 3] } else { self.address.map(address) },
            filter: if self.filter == 1 { Filter::Linear } else { Filter::Point },
            normalized: self.normalized != 0,
            border: if is_linear { [0.0; 4] } else { self.border },
            ..texture.clone()
        }
    }
}

/// A view of rows in memory, with everything but the sampler.
fn rows(texel: Texel, at: Pointer, size: [usize; 3], pitch: usize) -> Result<Texture> {
    let (channel, channels) = channels(texel)?;
    let mut sizes = [1; 3];
    for (to, from) in sizes.iter_mut().zip(size) {
        *to = Size::new(from).or_one().narrow()?;
    }
    let plane = Size::new(pitch).times(Size::new(size[1]).or_one())?.wide();
    let texels = Texels::View { at: at.0, pitch: pitch as u64, plane };
    Ok(Texture { size: sizes, channel, channels, texels, ..Texture::default() })
}

impl Context {
    /// Refuses a view of memory that is not there.
    fn view(&mut self, call: &str, texture: Texture) -> Result<Texture> {
        let Some((at, bytes)) = texture.extent() else { return Err(Error::INVALID_VALUE) };
        let memory = self.device.memory();
        match memory.holder(at) {
            Some(holder) if bytes <= holder.base + holder.len() - at => Ok(texture),
            Some(holder) => {
                let text = format!("{bytes} bytes at {at:#x} reach past the end of `{}`", holder.name);
                self.guest.note(&format!("{call}: {text}"));
                Err(Error::INVALID_VALUE)
            }
            None => {
                self.guest.note(&format!("{call}: {at:#x} is not in memory of the device"));
                Err(Error::INVALID_VALUE)
            }
        }
    }

    fn view_of_array(&mut self, call: &str, array: Pointer, texel: Option<Texel>) -> Result<Texture> {
        let found = self.arrays.get(&array.0).ok_or(Error::INVALID_HANDLE)?;
        let Array { at, pitch, width, height, depth, texel: own, .. } = *found;
        let texture = rows(texel.unwrap_or(own), at, [width, height, depth], pitch)?;
        self.view(call, texture)
    }

    /// Texels of a row in linear memory. A size beyond the allocation, which is what nothing said means, ends with it.
    fn view_of_line(&mut self, call: &str, at: Pointer, texel: Texel, bytes: usize) -> Result<Texture> {
        let left = self.device.memory().holder(at.0).map_or(0, |holder| holder.base + holder.len() - at.0);
        let width = bytes.min(left as usize) / texel.bytes().max(1);
        let texture = rows(texel, at, [width, 1, 1], bytes)?;
        self.view(call, texture)
    }

    fn view_of(&mut self, call: &str, resource: &Resource) -> Result<Texture> {
        let Resource { kind, at, texel, width, height, pitch } = *resource;
        match kind {
            ARRAY => self.view_of_array(call, at, None),
            LINEAR => self.view_of_line(call, at, texel, width),
            PITCHED => {
                let texture = rows(texel, at, [width, height, 1], pitch)?;
                self.view(call, texture)
            }
            MIPMAPPED => Err(self.no_levels(call)),
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn no_levels(&mut self, call: &str) -> Error {
        self.guest.note(&format!("{call}: arrays with mipmap levels are not supported"));
        Error::NOT_SUPPORTED
    }

    fn check_sampler(&mut self, call: &str, srgb: i32) -> Result {
        if srgb == 0 {
            return Ok(());
        }
        self.guest.note(&format!("{call}: conversion from sRGB is not supported"));
        Err(Error::NOT_SUPPORTED)
    }

    /// The object of a handle.
    fn object(&self, handle: u64, is_texture: bool) -> Result<(Resource, Option<Sampler>)> {
        let found = self.textures.objects.get(&handle).copied();
        found.filter(|(_, sampler)| sampler.is_some() == is_texture).ok_or(Error::INVALID_VALUE)
    }

    fn destroy_object(&mut self, handle: u64) -> Result {
        if handle == 0 || self.textures.objects.remove(&handle).is_some() {
            self.device.destroy_object(handle);
            return Ok(());
        }
        Err(Error::INVALID_VALUE)
    }

    /// The module of a reference, and what it is there.
    fn reference(&mut self, host: u64, wrong: Error) -> Result<(ModuleId, Symbol)> {
        let symbol = registered().textures.get(&host).cloned().ok_or(wrong)?;
        Ok((self.module(symbol.binary)?, symbol))
    }

    fn bind(&mut self, call: &str, host: In<Reference>, texture: Texture, is_linear: bool) -> Result {
        let seen = host.get()?;
        self.check_sampler(call, seen.srgb)?;
        let (module, Symbol { binary, name, .. }) = self.reference(host.address(), Error::INVALID_TEXTURE)?;
        let sampled = Sampler::of(&seen).on(&texture, is_linear);
        self.device.bind_texture_in(module, &name, sampled).map_err(|_| Error::INVALID_TEXTURE)?;
        self.textures.bound.insert(host.address(), Bound { seen, texture, is_linear, binary, module, name });
        Ok(())
    }

    /// Tells the device of references that the program has changed since they were bound.
    pub(crate) fn refresh_textures(&mut self) {
        let registered = registered();
        for (host, bound) in self.textures.bound.iter_mut().filter(|(_, bound)| registered.stays(bound.binary)) {
            let Ok(now) = In::<Reference>::from(Pointer(*host)).get() else { continue };
            if now != bound.seen {
                let sampled = Sampler::of(&now).on(&bound.texture, bound.is_linear);
                // It was there when it was bound.
                let _ = self.device.bind_texture_in(bound.module, &bound.name, sampled);
                bound.seen = now;
            }
        }
    }

    /// Forgets those of a module that goes.
    pub(crate) fn forget_textures(&mut self, module: ModuleId) {
        self.textures.bound.retain(|_, bound| bound.module != module);
    }

    /// Forgets all of them.
    pub(crate) fn reset_textures(&mut self) {
        let Textures { objects, bound } = std::mem::take(&mut self.textures);
        objects.into_keys().for_each(|handle| {
            self.device.destroy_object(handle);
        });
        for bound in bound.into_values() {
            self.device.unbind_texture(bound.module, &bound.name);
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudaCreateTextureObject(
    out: Out<u64>,
    resource: In<Resource>,
    sampler: In<Sampler>,
    view: In<ResourceView>,
) -> Code {
    const CALL: &str = "cudaCreateTextureObject";
    api(|context| {
        out.check()?;
        let (resource, sampler) = (resource.get()?, sampler.get()?);
        if view.get().is_ok_and(|view| view.format != 0) {
            context.guest.note(&format!("{CALL}: views in another format are not supported"));
            return Err(Error::NOT_SUPPORTED);
        }
        context.check_sampler(CALL, sampler.srgb)?;
        let texture = context.view_of(CALL, &resource)?;
        let handle = context.device.create_texture(sampler.on(&texture, resource.kind == LINEAR));
        context.textures.objects.insert(handle, (resource, Some(sampler)));
        out.put(handle)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDestroyTextureObject(handle: u64) -> Code {
    api(|context| context.destroy_object(handle))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetTextureObjectResourceDesc(out: Out<Resource>, handle: u64) -> Code {
    api(|context| out.put(context.object(handle, true)?.0))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetTextureObjectTextureDesc(out: Out<Sampler>, handle: u64) -> Code {
    api(|context| out.put(context.object(handle, true)?.1.ok_or(Error::INVALID_VALUE)?))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetTextureObjectResourceViewDesc(_out: Pointer, _handle: u64) -> Code {
    // No object has one.
    api(|_| Err(Error::INVALID_VALUE))
}

#[unsafe(no_mangle)]
extern "C" fn cudaCreateSurfaceObject(out: Out<u64>, resource: In<Resource>) -> Code {
    const CALL: &str = "cudaCreateSurfaceObject";
    api(|context| {
        out.check()?;
        let resource = resource.get()?;
        if resource.kind != ARRAY {
            context.guest.note(&format!("{CALL}: surfaces are made of arrays"));
            return Err(Error::INVALID_VALUE);
        }
        let surface = context.view_of(CALL, &resource)?;
        let handle = context.device.create_surface(surface);
        context.textures.objects.insert(handle, (resource, None));
        out.put(handle)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaDestroySurfaceObject(handle: u64) -> Code {
    api(|context| context.destroy_object(handle))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetSurfaceObjectResourceDesc(out: Out<Resource>, handle: u64) -> Code {
    api(|context| out.put(context.object(handle, false)?.0))
}

/// Views start at any address, so that there is never an offset for the kernel to add.
#[unsafe(no_mangle)]
extern "C" fn cudaBindTexture(
    offset: Out<usize>,
    reference: In<Reference>,
    at: Pointer,
    texel: In<Texel>,
    bytes: usize,
) -> Code {
    api(|context| {
        let texture = context.view_of_line("cudaBindTexture", at, texel.get()?, bytes)?;
        context.bind("cudaBindTexture", reference, texture, true)?;
        offset.put_if_wanted(0);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaBindTexture2D(
    offset: Out<usize>,
    reference: In<Reference>,
    at: Pointer,
    texel: In<Texel>,
    width: usize,
    height: usize,
    pitch: usize,
) -> Code {
    api(|context| {
        let texture = rows(texel.get()?, at, [width, height, 1], pitch)?;
        let texture = context.view("cudaBindTexture2D", texture)?;
        context.bind("cudaBindTexture2D", reference, texture, false)?;
        offset.put_if_wanted(0);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaBindTextureToArray(reference: In<Reference>, array: Pointer, texel: In<Texel>) -> Code {
    api(|context| {
        let texture = context.view_of_array("cudaBindTextureToArray", array, Some(texel.get()?))?;
        context.bind("cudaBindTextureToArray", reference, texture, false)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaBindTextureToMipmappedArray(_reference: In<Reference>, _array: Pointer, _texel: In<Texel>) -> Code {
    api(|context| Err(context.no_levels("cudaBindTextureToMipmappedArray")))
}

#[unsafe(no_mangle)]
extern "C" fn cudaUnbindTexture(reference: In<Reference>) -> Code {
    api(|context| {
        if let Some(bound) = context.textures.bound.remove(&reference.address()) {
            context.device.unbind_texture(bound.module, &bound.name);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetTextureAlignmentOffset(offset: Out<usize>, reference: In<Reference>) -> Code {
    api(|context| match context.textures.bound.contains_key(&reference.address()) {
        true => offset.put(0),
        false => Err(Error::INVALID_TEXTURE_BINDING),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetTextureReference(out: Out<Pointer>, symbol: Pointer) -> Code {
    api(|context| {
        context.reference(symbol.0, Error::INVALID_TEXTURE)?;
        out.put(symbol)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetSurfaceReference(out: Out<Pointer>, symbol: Pointer) -> Code {
    api(|context| {
        context.reference(symbol.0, Error::INVALID_SURFACE)?;
        out.put(symbol)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaBindSurfaceToArray(reference: Pointer, array: Pointer, _texel: In<Texel>) -> Code {
    api(|context| {
        let surface = context.view_of_array("cudaBindSurfaceToArray", array, None)?;
        let (module, symbol) = context.reference(reference.0, Error::INVALID_SURFACE)?;
        context.device.bind_texture_in(module, &symbol.name, surface).map_err(|_| Error::INVALID_SURFACE)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMallocMipmappedArray(
    _out: Out<Pointer>,
    _texel: In<Texel>,
    _extent: Extent,
    _levels: u32,
    _flags: u32,
) -> Code {
    api(|context| Err(context.no_levels("cudaMallocMipmappedArray")))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetMipmappedArrayLevel(_out: Out<Pointer>, _array: Pointer, _level: u32) -> Code {
    api(|context| Err(context.no_levels("cudaGetMipmappedArrayLevel")))
}

#[unsafe(no_mangle)]
extern "C" fn cudaFreeMipmappedArray(_array: Pointer) -> Code {
    api(|context| Err(context.no_levels("cudaFreeMipmappedArray")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_as_large_as_in_the_headers() {
        assert_eq!((size_of::<Resource>(), size_of::<Sampler>()), (64, 72));
        assert_eq!(std::mem::offset_of!(Resource, width), 40);
        assert_eq!(std::mem::offset_of!(Sampler, normalized), 40);
        assert_eq!(std::mem::offset_of!(Reference, srgb), 40);
    }

    #[test]
    fn channels_are_one_two_or_four_of_a_kind() {
        let texel = |x, y, z, w, kind| Texel { x, y, z, w, kind };
        assert_eq!(channels(texel(8, 8, 8, 8, 1)), Ok((Channel::U8, 4)));
        assert_eq!(channels(texel(16, 16, 0, 0, 2)), Ok((Channel::F16, 2)));
        for wrong in [texel(8, 8, 8, 0, 1), texel(8, 16, 0, 0, 1), texel(8, 0, 8, 0, 1), texel(8, 0, 0, 0, 2)] {
            assert_eq!(channels(wrong), Err(Error::INVALID_CHANNEL));
        }
    }
}
