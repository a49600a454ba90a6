//! Textures that programs bind to the `.texref` variables of a module.

use crate::device::{Device, ModuleId};
use crate::error::{Error, Problem};
use raddle_exec::texture::{AddressMode, Channel, Filter, Texels, Texture};
use raddle_ptx::isa::Type;
use std::sync::Arc;

/// What a texture can be made of: a number, or two or four of them.
pub trait Texel: Copy {
    /// What a channel is.
    const CHANNEL: Channel;
    /// Channels.
    const CHANNELS: u32;

    /// Adds the bytes of its channels.
    fn put(self, to: &mut Vec<u8>);
}

macro_rules! texels {
    ($($rust:ty, $channel:ident;)*) => {
        $(impl Texel for $rust {
            const CHANNEL: Channel = Channel::$channel;
            const CHANNELS: u32 = 1;

            fn put(self, to: &mut Vec<u8>) {
                to.extend(self.to_le_bytes());
            }
        })*
    };
}

texels! {
    u8, U8;
    u32, U32;
    i32, S32;
    f32, F32;
}

impl<T: Texel> Texel for [T; 2] {
    const CHANNEL: Channel = T::CHANNEL;
    const CHANNELS: u32 = 2;

    fn put(self, to: &mut Vec<u8>) {
        self.into_iter().for_each(|channel| channel.put(to));
    }
}

impl<T: Texel> Texel for [T; 4] {
    const CHANNEL: Channel = T::CHANNEL;
    const CHANNELS: u32 = 4;

    fn put(self, to: &mut Vec<u8>) {
        self.into_iter().for_each(|channel| channel.put(to));
    }
}

/// A texture of texels in a row, read by their numbers. As in CUDA, a fetch outside gives zeros.
#[must_use]
pub fn row<T: Texel>(values: &[T]) -> Texture {
    let mut bytes = Vec::new();
    values.iter().for_each(|texel| texel.put(&mut bytes));
    Texture {
        size: [values.len() as u32, 1, 1],
        channel: T::CHANNEL,
        channels: T::CHANNELS,
        address: [AddressMode::Border; 3],
        texels: Texels::copy(&bytes),
        ..Texture::default()
    }
}

/// How the bytes of a buffer are read as a texture.
#[derive(Clone, Debug, PartialEq)]
pub struct Format {
    /// Texels per row; `None` for as many as there are.
    pub width: Option<u32>,
    /// Rows.
    pub height: u32,
    /// What a channel is.
    pub channel: Channel,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: u32,
    /// What lies outside.
    pub address: AddressMode,
    /// How a value between texels is found.
    pub filter: Filter,
    /// Coordinates run from 0 to 1.
    pub normalized: bool,
}

impl Format {
    /// The texture in these bytes, which lie at `start`, or in a place of its own.
    ///
    /// # Errors
    /// When there are too few.
    pub fn texture(&self, bytes: &[u8], start: Option<u64>) -> Result<Texture, Problem> {
        let texel_bytes = (self.channel.bytes() * self.channels) as usize;
        let there = bytes.len() / texel_bytes;
        let width = self.width.map_or(there / self.height.max(1) as usize, |width| width as usize);
        let wanted = width.saturating_mul(self.height as usize);
        if wanted > there || wanted == 0 {
            let shape = format!("{width} x {} texels of {texel_bytes} bytes", self.height);
            return Err(Problem::new(format!("a texture of {shape} does not lie in {} bytes", bytes.len())));
        }
        let width = u32::try_from(width).map_err(|_| Problem::new(format!("{width} texels in a row are too many")))?;
        Ok(Texture {
            size: [width, self.height, 1],
            channel: self.channel,
            channels: self.channels,
            address: [self.address; 3],
            filter: self.filter,
            normalized: self.normalized,
            texels: Texels::Own { bytes: bytes[..wanted * texel_bytes].into(), start },
            ..Texture::default()
        })
    }
}

impl Device<'_> {
    /// Binds a texture to a `.texref` variable of the module the device was made with, for the launches to come. What was
    /// bound to it before is forgotten.
    ///
    /// # Errors
    /// When there is no such variable.
    pub fn bind_texture(&mut self, name: &str, texture: Texture) -> Result<(), Error> {
        self.bind_texture_in(ModuleId::FIRST, name, texture)
    }

    /// The same in any module; a surface is bound to a `.surfref` variable.
    ///
    /// # Errors
    /// When there is no such variable.
    pub fn bind_texture_in(&mut self, module: ModuleId, name: &str, texture: Texture) -> Result<(), Error> {
        let file = self.module_file(module)?;
        let is_reference = |ty: Type| matches!(ty, Type::Texref | Type::Surfref);
        let names = file.module.vars.iter().filter(|v| is_reference(v.ty)).map(|v| v.name.as_str());
        if !names.clone().any(|n| n == name) {
            let problem = Problem::new(format!("{} has no texture reference `{name}`", file.path));
            let close = raddle_ptx::diag::closest(name, names);
            return Err(close.map(|c| problem.clone().help(format!("did you mean `{c}`?"))).unwrap_or(problem).into());
        }
        self.act_on_texture(name, &texture);
        let textures = Arc::make_mut(self.textures_mut(module)?);
        match textures.iter_mut().find(|(n, _)| n == name) {
            Some((_, bound)) => *bound = texture,
            None => textures.push((name.to_owned(), texture)),
        }
        Ok(())
    }

    /// Forgets what is bound to a variable; says whether there was something.
    pub fn unbind_texture(&mut self, module: ModuleId, name: &str) -> bool {
        let Ok(textures) = self.textures_mut(module) else { return false };
        let textures = Arc::make_mut(textures);
        let before = textures.len();
        textures.retain(|(bound, _)| bound != name);
        textures.len() < before
    }

    /// Makes a texture object and gives the handle that kernels get as an argument.
    pub fn create_texture(&mut self, texture: Texture) -> u64 {
        self.act_on_texture("", &texture);
        Arc::make_mut(&mut self.objects).add_texture(texture)
    }

    /// The same for a surface, which kernels can write to.
    pub fn create_surface(&mut self, surface: Texture) -> u64 {
        self.act_on_texture("", &surface);
        Arc::make_mut(&mut self.objects).add_surface(surface)
    }

    /// Forgets a texture or surface object; says whether there was one.
    pub fn destroy_object(&mut self, handle: u64) -> bool {
        self.act("destroy", &[handle], &[]);
        Arc::make_mut(&mut self.objects).remove(handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{RunOptions, Setup};
    use crate::{Engine, EngineOptions, PtxFile};
    use raddle_exec::texture::{Coords, Geometry};

    /// What a kernel reads of a texel by its number.
    fn fetch(texture: &Texture, x: u32, y: u32) -> [u32; 4] {
        let coords = Coords { geometry: Geometry::D2, is_float: false, values: [x, y, 0, 0] };
        texture.fetch(&coords, false, |_, _| Err(())).unwrap()
    }

    #[test]
    fn rows_know_their_size_and_their_ends() {
        let bytes = row(&[7u8, 8]);
        assert_eq!((bytes.texel_bytes(), fetch(&bytes, 1, 0)[0]), (1, 8));
        let wide = row(&[[1i32, -2, 3, 4]]);
        assert_eq!((wide.texel_bytes(), fetch(&wide, 0, 0)), (16, [1, u32::MAX - 1, 3, 4]));
        assert_eq!(fetch(&wide, 1, 0), [0; 4]);
        assert_eq!(fetch(&row(&[[0.5f32, 2.0]]), 0, 0).map(f32::from_bits), [0.5, 2.0, 0.0, 1.0]);
    }

    #[test]
    fn a_buffer_is_read_in_its_format() {
        let format = Format {
            width: Some(2),
            height: 2,
            channel: Channel::U32,
            channels: 1,
            address: AddressMode::Clamp,
            filter: Filter::Point,
            normalized: false,
        };
        let bytes: Vec<u8> = (0..16).collect();
        let texture = format.texture(&bytes, None).unwrap();
        assert_eq!(fetch(&texture, 1, 1), [0x0f0e_0d0c, 0, 0, 1]);
        let row = Format { width: None, height: 1, ..format.clone() }.texture(&bytes, Some(0x1000)).unwrap();
        let third = Coords { values: [3, 0, 0, 0], ..Coords::default() };
        assert_eq!(row.address_of(3, &third), Some(0x100c));
        let bytes_of =
            |channels, height| Format { channel: Channel::U8, channels, height, width: None, ..format.clone() };
        let texture = bytes_of(4, 1).texture(&bytes, None).unwrap();
        assert_eq!((texture.size[0], fetch(&texture, 3, 0)), (4, [12, 13, 14, 15]));
        let error = Format { height: 3, ..bytes_of(1, 1) }.texture(&bytes[..2], None).unwrap_err();
        assert_eq!(error.message, "a texture of 0 x 3 texels of 1 bytes does not lie in 2 bytes");
    }

    const PTX: &str = ".version 6.0\n.target sm_50\n.address_size 64\n.global .texref table;\n\
        .visible .entry look(.param .u64 p) {\n.reg .b32 %r<6>; .reg .b64 %d<3>;\n\
        ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1;\n\
        tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [table, {%r0}]; st.global.u32 [%d0], %r1; ret;\n}\n";

    #[test]
    fn what_is_bound_last_is_read() {
        let ptx = PtxFile::parse("look.ptx", PTX.to_owned()).unwrap();
        for engine in [Engine::Fast, Engine::Reference] {
            let engine = EngineOptions { engine, ..EngineOptions::default() };
            let setup = Setup::new(RunOptions { engine, check: true, ..RunOptions::default() });
            let mut device = Device::new(&setup, &ptx).unwrap();
            let out = device.alloc::<i32>("out", 4).unwrap();
            for values in [[4, 3, 2, 1], [-1, -2, -3, -4]] {
                device.bind_texture("table", row(&values)).unwrap();
                device.launch("look", [1, 1, 1], [4, 1, 1], 0, &[out.into()]).unwrap();
                assert_eq!(device.download(out), values);
            }
            assert!(device.check().unwrap().is_equal());
        }
    }

    #[test]
    fn a_name_that_is_not_there_gets_advice() {
        let ptx = PtxFile::parse("look.ptx", PTX.to_owned()).unwrap();
        let setup = Setup::default();
        let mut device = Device::new(&setup, &ptx).unwrap();
        let error = device.bind_texture("tabel", row(&[0u8])).unwrap_err();
        assert_eq!(error.to_string(), "look.ptx has no texture reference `tabel`");
        let out = device.alloc::<i32>("out", 4).unwrap();
        let unbound = device.launch("look", [1, 1, 1], [4, 1, 1], 0, &[out.into()]).unwrap_err();
        assert!(unbound.to_string().contains("no texture is bound to `table`"), "{unbound}");
    }
}
