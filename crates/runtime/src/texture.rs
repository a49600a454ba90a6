//! Textures that programs bind to the `.texref` variables of a module.

use crate::device::Device;
use crate::error::{Error, Problem};
use raddle_exec::texture::{AddressMode, Channel, Texture};
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
    let channel_bytes = if T::CHANNEL == Channel::Unorm8 { 1 } else { 4 };
    Texture {
        width: values.len() as u32,
        height: 1,
        channel: T::CHANNEL,
        texels: values.iter().map(|v| v.channels()).collect(),
        texel_bytes: channel_bytes * T::CHANNELS,
        address: AddressMode::Border,
        ..Texture::default()
    }
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
