//! Textures that programs bind to the `.texref` variables of a module.

use crate::device::Device;
use crate::error::{Error, Problem};
use raddle_exec::texture::{AddressMode, Channel, Filter, Texture};
use raddle_ptx::isa::Type;

/// What a texture can be made of: a number, or two or four of them.
pub trait Texel: Copy {
    /// What a channel is.
    const CHANNEL: Channel;
    /// Channels.
    const CHANNELS: u32;

    /// The bits of each channel; those it lacks are 0, 0, 1.
    fn channels(self) -> [u32; 4];
}

macro_rules! texels {
    ($($rust:ty, $channel:ident, |$v:ident| $bits:expr, $one:expr;)*) => {
        $(impl Texel for $rust {
            const CHANNEL: Channel = Channel::$channel;
            const CHANNELS: u32 = 1;

            fn channels(self) -> [u32; 4] {
                let $v = self;
                [$bits, 0, 0, $one]
            }
        })*
    };
}

texels! {
    u8, Unorm8, |v| u32::from(v), 255;
    u32, Int, |v| v, 1;
    i32, Int, |v| v.cast_unsigned(), 1;
    f32, F32, |v| v.to_bits(), 1f32.to_bits();
}

impl<T: Texel> Texel for [T; 2] {
    const CHANNEL: Channel = T::CHANNEL;
    const CHANNELS: u32 = 2;

    fn channels(self) -> [u32; 4] {
        let [[x, _, z, w], [y, ..]] = self.map(T::channels);
        [x, y, z, w]
    }
}

impl<T: Texel> Texel for [T; 4] {
    const CHANNEL: Channel = T::CHANNEL;
    const CHANNELS: u32 = 4;

    fn channels(self) -> [u32; 4] {
        self.map(|channel| channel.channels()[0])
    }
}

/// A texture of texels in a row, read by their numbers. As in CUDA, a fetch outside gives zeros.
#[must_use]
pub fn row<T: Texel>(values: &[T]) -> Texture {
    Texture {
        width: values.len() as u32,
        height: 1,
        channel: T::CHANNEL,
        texels: values.iter().map(|v| v.channels()).collect(),
        texel_bytes: channel_bytes(T::CHANNEL) * T::CHANNELS,
        address: AddressMode::Border,
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
        let channel_bytes = channel_bytes(self.channel) as usize;
        let texel_bytes = channel_bytes * self.channels as usize;
        let there = bytes.len() / texel_bytes;
        let width = self.width.map_or(there / self.height.max(1) as usize, |width| width as usize);
        let wanted = width.saturating_mul(self.height as usize);
        if wanted > there || wanted == 0 {
            let shape = format!("{width} x {} texels of {texel_bytes} bytes", self.height);
            return Err(Problem::new(format!("a texture of {shape} does not lie in {} bytes", bytes.len())));
        }
        let channel = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        let one = match self.channel {
            Channel::F32 => 1f32.to_bits(),
            Channel::Int => 1,
            Channel::Unorm8 => 255,
        };
        let texel = |bytes: &[u8]| {
            let mut texel = [0, 0, 0, one];
            bytes.chunks_exact(channel_bytes).zip(&mut texel).for_each(|(bytes, to)| *to = channel(bytes));
            texel
        };
        Ok(Texture {
            width: u32::try_from(width).map_err(|_| Problem::new(format!("{width} texels in a row are too many")))?,
            height: self.height,
            channel: self.channel,
            texels: bytes.chunks_exact(texel_bytes).take(wanted).map(texel).collect(),
            texel_bytes: channel_bytes as u32 * self.channels,
            address: self.address,
            filter: self.filter,
            normalized: self.normalized,
            start,
        })
    }
}

fn channel_bytes(channel: Channel) -> u32 {
    if channel == Channel::Unorm8 { 1 } else { 4 }
}

impl Device<'_> {
    /// Binds a texture to a `.texref` variable, for the launches to come. What was bound to it before is forgotten.
    ///
    /// # Errors
    /// When there is no such variable.
    pub fn bind_texture(&mut self, name: &str, texture: Texture) -> Result<(), Error> {
        let module = &self.ptx().module;
        let names = module.vars.iter().filter(|v| v.ty == Type::Texref).map(|v| v.name.as_str());
        if !names.clone().any(|n| n == name) {
            let problem = Problem::new(format!("{} has no texture reference `{name}`", self.ptx().path));
            let close = raddle_ptx::diag::closest(name, names);
            return Err(close.map(|c| problem.clone().help(format!("did you mean `{c}`?"))).unwrap_or(problem).into());
        }
        self.act_on_texture(name, &texture);
        match self.textures.iter_mut().find(|(n, _)| n == name) {
            Some((_, bound)) => *bound = texture,
            None => self.textures.push((name.to_owned(), texture)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{RunOptions, Setup};
    use crate::{Engine, EngineOptions, PtxFile};
    use raddle_exec::texture::Coords;

    #[test]
    fn rows_know_their_size_and_their_ends() {
        let bytes = row(&[7u8, 8]);
        assert_eq!((bytes.texel_bytes, bytes.fetch(Coords::Int([1, 0]), false)[0]), (1, 8));
        let wide = row(&[[1i32, -2, 3, 4]]);
        assert_eq!((wide.texel_bytes, wide.fetch(Coords::Int([0, 0]), false)), (16, [1, u32::MAX - 1, 3, 4]));
        assert_eq!(wide.fetch(Coords::Int([1, 0]), false), [0; 4]);
        assert_eq!(row(&[[0.5f32, 2.0]]).texels[0].map(f32::from_bits), [0.5, 2.0, 0.0, 1.0]);
    }

    #[test]
    fn a_buffer_is_read_in_its_format() {
        let format = Format {
            width: Some(2),
            height: 2,
            channel: Channel::Int,
            channels: 1,
            address: AddressMode::Clamp,
            filter: Filter::Point,
            normalized: false,
        };
        let bytes: Vec<u8> = (0..16).collect();
        let texture = format.texture(&bytes, None).unwrap();
        assert_eq!(texture.fetch(Coords::Int([1, 1]), false), [0x0f0e_0d0c, 0, 0, 1]);
        let row = Format { width: None, height: 1, ..format.clone() }.texture(&bytes, Some(0x1000)).unwrap();
        assert_eq!(row.address_of(3, Coords::Int([3, 0])), Some(0x100c));
        let bytes_of =
            |channels, height| Format { channel: Channel::Unorm8, channels, height, width: None, ..format.clone() };
        let texture = bytes_of(4, 1).texture(&bytes, None).unwrap();
        assert_eq!((texture.width, texture.fetch(Coords::Int([3, 0]), false)), (4, [12, 13, 14, 15]));
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
