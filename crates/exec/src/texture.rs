//! Textures: texels, and how values are read from them.
//!
//! Texels are a copy that the texture holds, or a view of device memory that is read when it is fetched from. What a
//! fetch makes of coordinates is in `sample`; objects that kernels get as handles are in [`Objects`].

mod objects;
mod sample;
mod surface;
#[cfg(test)]
mod tests;

pub use objects::Objects;
pub use sample::{Coords, Geometry};

use crate::math::f16_ops::f16_to_f32;
use std::sync::Arc;

/// What lies outside the texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressMode {
    /// The nearest texel.
    #[default]
    Clamp,
    /// The texture again; normalised coordinates only.
    Wrap,
    /// The texture mirrored; normalised coordinates only.
    Mirror,
    /// [`Texture::border`].
    Border,
}

/// How a value between texels is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// The texel it falls into.
    #[default]
    Point,
    /// Linear interpolation with weights of 8 fractional bits.
    Linear,
}

/// What a texel channel is. Integers of 8 and 16 bits are integers to instructions that ask for one and fractions, of
/// the largest there is, to those that ask for single precision; 32 bits are passed on as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // Named after the PTX types.
pub enum Channel {
    S8,
    U8,
    S16,
    U16,
    S32,
    U32,
    F16,
    #[default]
    F32,
}

impl Channel {
    /// Bytes in memory.
    #[must_use]
    pub fn bytes(self) -> u32 {
        match self {
            Self::S8 | Self::U8 => 1,
            Self::S16 | Self::U16 | Self::F16 => 2,
            Self::S32 | Self::U32 | Self::F32 => 4,
        }
    }

    /// Whether what a fetch gives is single precision.
    fn gives_float(self, asked: bool) -> bool {
        match self {
            Self::F16 | Self::F32 => true,
            Self::S32 | Self::U32 => false,
            Self::S8 | Self::U8 | Self::S16 | Self::U16 => asked,
        }
    }

    /// What a register gets of a channel with these bits.
    fn value(self, bits: u32, asked: bool) -> u32 {
        let signed = |width: u32| (bits << (32 - width)).cast_signed() >> (32 - width);
        let fraction = |value: f32, largest: f32| (value / largest).max(-1.0).to_bits();
        match (self, asked) {
            (Self::F16, _) => f16_to_f32((bits & 0xffff) as u16).to_bits(),
            (Self::U8, true) => fraction(bits as f32, 255.0),
            (Self::U16, true) => fraction(bits as f32, 65535.0),
            (Self::S8, true) => fraction(signed(8) as f32, 127.0),
            (Self::S16, true) => fraction(signed(16) as f32, 32767.0),
            (Self::S8, false) => signed(8).cast_unsigned(),
            (Self::S16, false) => signed(16).cast_unsigned(),
            _ => bits,
        }
    }
}

/// The bytes of one texel, at most four channels of four bytes.
pub(crate) type Raw = [u8; 16];

/// Where the texels are.
#[derive(Clone, Debug, PartialEq)]
pub enum Texels {
    /// A copy, row by row and plane by plane, without gaps.
    Own {
        /// The copy.
        bytes: Arc<[u8]>,
        /// Where it lies in memory, if that is known; without it, in a place of its own.
        start: Option<u64>,
    },
    /// Device memory, as it is when it is read.
    View {
        /// Address of the first texel.
        at: u64,
        /// Bytes from row to row.
        pitch: u64,
        /// Bytes from plane to plane.
        plane: u64,
    },
}

impl Default for Texels {
    fn default() -> Self {
        Self::copy(&[])
    }
}

impl Texels {
    /// A copy of these bytes in a place of its own.
    #[must_use]
    pub fn copy(bytes: &[u8]) -> Self {
        Self::Own { bytes: bytes.into(), start: None }
    }
}

/// Texels with a sampler. Surfaces are the same; of them only the size and the texels count.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Texels of a row, rows, and planes: those of a volume, layers, or faces of cubes, six each. 1 for what it does
    /// not have.
    pub size: [u32; 3],
    /// What a channel is.
    pub channel: Channel,
    /// Channels of a texel: 1, 2 or 4. Those that are missing are 0, 0, 1.
    pub channels: u32,
    /// What lies outside, in each direction.
    pub address: [AddressMode; 3],
    /// Between texels.
    pub filter: Filter,
    /// Coordinates run from 0 to 1.
    pub normalized: bool,
    /// What fetches outside give with [`AddressMode::Border`].
    pub border: [f32; 4],
    /// The texels.
    pub texels: Texels,
}

/// Where textures lie that are in no buffer, 4 GiB each.
const APART: u64 = 0x100_0000_0000;

/// Bytes of a block of a texture with several rows.
const BLOCK: u64 = 128;

impl Default for Texture {
    fn default() -> Self {
        Self {
            size: [0, 1, 1],
            channel: Channel::default(),
            channels: 1,
            address: [AddressMode::default(); 3],
            filter: Filter::default(),
            normalized: false,
            border: [0.0; 4],
            texels: Texels::default(),
        }
    }
}

impl Texture {
    /// Bytes of a texel in memory.
    #[must_use]
    pub fn texel_bytes(&self) -> u32 {
        self.channel.bytes() * self.channels
    }

    /// The bytes of device memory from the first texel to the last, if it is a view of it: address and number.
    #[must_use]
    pub fn extent(&self) -> Option<(u64, u64)> {
        let Texels::View { at, pitch, plane } = self.texels else { return None };
        let [width, height, depth] = self.size.map(|n| u64::from(n.max(1)));
        let row = width * u64::from(self.texel_bytes());
        Some((at, pitch.saturating_mul(height - 1).saturating_add(plane.saturating_mul(depth - 1)).saturating_add(row)))
    }

    /// Where the texel that a fetch falls into (the first of those it blends) lies, if this is the launch's texture
    /// `number`; `None` outside.
    #[must_use]
    pub fn address_of(&self, number: usize, coords: &Coords) -> Option<u64> {
        let [x, y, z] = self.axes(coords, Filter::Point).map(|axis| axis.texels[0]);
        let (x, y, z) = (x?, y?, z?);
        Some(match self.texels {
            Texels::View { at, pitch, plane } => at.wrapping_add(self.linear([x, y, z], pitch, plane)),
            Texels::Own { start, .. } => {
                start.unwrap_or(APART + ((number as u64) << 32)) + self.blocked([x, y, z].map(u64::from))
            }
        })
    }

    /// Bytes from the first texel to another.
    fn linear(&self, at: [u32; 3], pitch: u64, plane: u64) -> u64 {
        let [x, y, z] = at.map(u64::from);
        let row = y.wrapping_mul(pitch).wrapping_add(x * u64::from(self.texel_bytes()));
        z.wrapping_mul(plane).wrapping_add(row)
    }

    /// The same where rows of several lie in blocks that are as good in both directions, one after the other.
    fn blocked(&self, [x, y, z]: [u64; 3]) -> u64 {
        let bytes = u64::from(self.texel_bytes());
        let [width, height, _] = self.size.map(u64::from);
        if height <= 1 {
            return (z * width + x) * bytes;
        }
        let (across, down) = self.block();
        let (blocks, rows) = (width.div_ceil(across), height.div_ceil(down));
        let block = (z * rows + y / down) * blocks + x / across;
        block * BLOCK + ((y % down) * across + x % across) * bytes
    }

    /// Texels of a block across and down.
    fn block(&self) -> (u64, u64) {
        let across = match self.texel_bytes() {
            0..=3 => 16,
            4..=15 => 8,
            _ => 4,
        };
        (across, BLOCK / (across * u64::from(self.texel_bytes())))
    }

    /// The bytes of a texel; `read` gives those of device memory.
    fn raw<E>(&self, at: [u32; 3], read: &mut impl FnMut(u64, u32) -> Result<Raw, E>) -> Result<Raw, E> {
        let bytes = self.texel_bytes();
        match &self.texels {
            Texels::View { at: start, pitch, plane } => {
                read(start.wrapping_add(self.linear(at, *pitch, *plane)), bytes)
            }
            Texels::Own { bytes: all, .. } => {
                let [width, height, _] = self.size.map(u64::from);
                let pitch = width * u64::from(bytes);
                let start = usize::try_from(self.linear(at, pitch, pitch * height)).unwrap_or(usize::MAX);
                let mut raw = [0; 16];
                let found = all.get(start..start.saturating_add(bytes as usize)).unwrap_or_default();
                raw[..found.len()].copy_from_slice(found);
                Ok(raw)
            }
        }
    }

    /// What registers get of a texel; `float` says whether single precision is asked for.
    fn values(&self, raw: &Raw, float: bool) -> [u32; 4] {
        let one = if self.channel.gives_float(float) { 1f32.to_bits() } else { 1 };
        let mut values = [0, 0, 0, one];
        let bytes = self.channel.bytes() as usize;
        for (value, bits) in values.iter_mut().zip(raw.chunks_exact(bytes)).take(self.channels as usize) {
            let mut word = [0; 4];
            word[..bytes].copy_from_slice(bits);
            *value = self.channel.value(u32::from_le_bytes(word), float);
        }
        values
    }

    /// What registers get outside the texture.
    fn outside(&self, float: bool) -> [u32; 4] {
        let gives_float = self.channel.gives_float(float);
        self.border.map(|value| if gives_float { value.to_bits() } else { crate::math::convert::clamped!(value, u32) })
    }
}
