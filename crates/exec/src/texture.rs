//! Textures and samplers, as far as compute kernels use them: 1D and 2D.

use crate::math::convert::clamped;
use raddle_ptx::num::{fit, nearest_f32};

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
    /// Zero.
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

/// What a texel channel is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Channel {
    /// Single precision.
    #[default]
    F32,
    /// Integer, signed or not: 32 bits handed on as they are.
    Int,
    /// A byte: an integer to instructions that ask for one, a fraction of 255 to those that ask
    /// for single precision.
    Unorm8,
}

/// A texture with its sampler.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Texels per row.
    pub width: u32,
    /// Rows; 1 for 1D.
    pub height: u32,
    /// Channel type.
    pub channel: Channel,
    /// Row-major texels, four channels each; channels the format lacks are 0, 0, 1.
    pub texels: Vec<[u32; 4]>,
    /// Bytes a texel takes in memory: one or four for each channel that the format has.
    pub texel_bytes: u32,
    /// Outside the texture.
    pub address: AddressMode,
    /// Between texels.
    pub filter: Filter,
    /// Coordinates run from 0 to 1.
    pub normalized: bool,
    /// Where it lies in memory, if that is known; without it, in a place of its own.
    pub start: Option<u64>,
}

/// Where textures lie that are in no buffer, 4 GiB each.
const APART: u64 = 0x100_0000_0000;

/// Bytes of a block of a texture with several rows.
const BLOCK: u64 = 128;

impl Default for Texture {
    fn default() -> Self {
        Self {
            width: 0,
            height: 0,
            channel: Channel::default(),
            texels: Vec::new(),
            texel_bytes: 4,
            address: AddressMode::default(),
            filter: Filter::default(),
            normalized: false,
            start: None,
        }
    }
}

/// Where to read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coords {
    /// Texel numbers, or places in [0, 1) when normalised; the second is ignored by 1D textures.
    Float([f32; 2]),
    /// Texel numbers.
    Int([i32; 2]),
}

/// Along one axis: the two texels around a place, `None` outside, and the weight of the second.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    texels: [Option<u32>; 2],
    weight: f32,
}

impl Texture {
    /// Reads one value, as `tex` does; `float` says whether single precision is asked for.
    #[must_use]
    pub fn fetch(&self, coords: Coords, float: bool) -> [u32; 4] {
        if self.channel == Channel::Unorm8 && float {
            return self.fractions().fetch(coords, true);
        }
        match (coords, self.filter) {
            (Coords::Int([x, y]), _) => {
                let x = self.texel_number(i64::from(x), self.width);
                self.texel(x, self.row(|height| self.texel_number(i64::from(y), height)))
            }
            (Coords::Float([x, y]), Filter::Point) => {
                let index = |v: f32, size: u32| self.texel_number(clamped!(self.place(v, size).floor(), i64), size);
                self.texel(index(x, self.width), self.row(|height| index(y, height)))
            }
            (Coords::Float([x, y]), Filter::Linear) => {
                let (x, y) = (self.axis(x, self.width), self.axis_of_rows(y));
                std::array::from_fn(|c| self.blend(x, y, c))
            }
        }
    }

    /// Where the texel that a fetch falls into (the first of those it blends) lies, if this is the launch's texture
    /// `number`; `None` outside.
    #[must_use]
    pub fn address_of(&self, number: usize, coords: Coords) -> Option<u64> {
        let start = self.start.unwrap_or(APART + ((number as u64) << 32));
        self.place_of(coords).map(|place| start + place)
    }

    /// The same in bytes from the start of the texture.
    fn place_of(&self, coords: Coords) -> Option<u64> {
        let number = |v: f32, size: u32| self.texel_number(clamped!(self.place(v, size).floor(), i64), size);
        let (x, y) = match coords {
            Coords::Int([x, y]) => {
                let x = self.texel_number(i64::from(x), self.width);
                (x, self.row(|height| self.texel_number(i64::from(y), height)))
            }
            Coords::Float([x, y]) => (number(x, self.width), self.row(|height| number(y, height))),
        };
        let (x, y, bytes) = (u64::from(x?), u64::from(y?), u64::from(self.texel_bytes));
        if self.height <= 1 {
            return Some(x * bytes);
        }
        // Rows of several lie in blocks that are as good in both directions, one after the other.
        let (across, down) = self.block();
        let block = y / down * u64::from(self.width).div_ceil(across) + x / across;
        Some(block * BLOCK + ((y % down) * across + x % across) * bytes)
    }

    /// Texels of a block across and down.
    fn block(&self) -> (u64, u64) {
        let across = match self.texel_bytes {
            0..=3 => 16,
            4..=15 => 8,
            _ => 4,
        };
        (across, BLOCK / (across * u64::from(self.texel_bytes)))
    }

    /// The same texture with its bytes as fractions. Whole, because such textures are small and
    /// rare in compute kernels.
    fn fractions(&self) -> Self {
        let fraction = |byte: u32| (byte as f32 / 255.0).to_bits();
        let texels = self.texels.iter().map(|texel| texel.map(fraction)).collect();
        Self { channel: Channel::F32, texels, ..self.clone() }
    }

    /// The row `find` finds; a 1D texture has one only, wherever the second coordinate points.
    fn row(&self, find: impl FnOnce(u32) -> Option<u32>) -> Option<u32> {
        if self.height <= 1 { Some(0) } else { find(self.height) }
    }

    fn axis_of_rows(&self, v: f32) -> Axis {
        match self.height {
            0 | 1 => Axis { texels: [Some(0); 2], weight: 0.0 },
            height => self.axis(v, height),
        }
    }

    /// Reads one component of the four texels linear filtering would use, as `tld4` does:
    /// counter-clockwise from the one at the lower left.
    #[must_use]
    pub fn gather(&self, component: usize, [x, y]: [f32; 2], float: bool) -> [u32; 4] {
        if self.channel == Channel::Unorm8 && float {
            return self.fractions().gather(component, [x, y], true);
        }
        let ([x0, x1], [y0, y1]) = (self.axis(x, self.width).texels, self.axis_of_rows(y).texels);
        [(x0, y1), (x1, y1), (x1, y0), (x0, y0)].map(|(x, y)| self.texel(x, y)[component & 3])
    }

    /// A coordinate in texels. Exact in double precision, as hardware is in its fixed-point format.
    fn place(&self, v: f32, size: u32) -> f64 {
        let v = f64::from(v);
        if !self.normalized {
            return v;
        }
        let fraction = v - v.floor();
        let inside = match self.address {
            AddressMode::Wrap => fraction,
            AddressMode::Mirror if v.floor().rem_euclid(2.0) == 1.0 => 1.0 - fraction,
            AddressMode::Mirror => fraction,
            AddressMode::Clamp | AddressMode::Border => v,
        };
        inside * f64::from(size)
    }

    fn axis(&self, v: f32, size: u32) -> Axis {
        let place = self.place(v, size) - 0.5;
        let first = place.floor();
        // A fixed-point number with 8 fractional bits; 1.0 can be represented.
        let weight = ((place - first) * 256.0).round_ties_even() / 256.0;
        let first = clamped!(first, i64);
        let texels = [first, first.saturating_add(1)].map(|i| self.texel_number(i, size));
        Axis { texels, weight: if weight.is_nan() { 0.0 } else { nearest_f32(weight) } }
    }

    /// The number of the texel at `i`, which may be outside the texture.
    fn texel_number(&self, i: i64, size: u32) -> Option<u32> {
        let n = i64::from(size.max(1));
        let mode = match self.address {
            AddressMode::Wrap | AddressMode::Mirror if !self.normalized => AddressMode::Clamp,
            mode => mode,
        };
        let inside = match mode {
            AddressMode::Clamp => i.clamp(0, n - 1),
            AddressMode::Wrap => i.rem_euclid(n),
            AddressMode::Mirror => {
                let m = i.rem_euclid(2 * n);
                if m < n { m } else { 2 * n - 1 - m }
            }
            AddressMode::Border if (0..n).contains(&i) => i,
            AddressMode::Border => return None,
        };
        Some(fit(inside))
    }

    fn texel(&self, x: Option<u32>, y: Option<u32>) -> [u32; 4] {
        let (Some(x), Some(y)) = (x, y) else { return [0; 4] };
        let index = y as usize * self.width as usize + x as usize;
        self.texels.get(index).copied().unwrap_or_default()
    }

    fn blend(&self, x: Axis, y: Axis, component: usize) -> u32 {
        let value = |i: usize, j: usize| self.texel(x.texels[i], y.texels[j])[component];
        if self.channel != Channel::F32 {
            // Integers are not interpolated: the nearer texel.
            return value(usize::from(x.weight >= 0.5), usize::from(y.weight >= 0.5));
        }
        let v = |i: usize, j: usize| f32::from_bits(value(i, j));
        let (a, b) = (x.weight, y.weight);
        let result =
            (1.0 - a) * (1.0 - b) * v(0, 0) + a * (1.0 - b) * v(1, 0) + (1.0 - a) * b * v(0, 1) + a * b * v(1, 1);
        result.to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(width: u32, height: u32) -> Texture {
        let texel = |i: u32| [(i as f32).to_bits(), 0, 0, 1f32.to_bits()];
        Texture { width, height, texels: (0..width * height).map(texel).collect(), ..Texture::default() }
    }

    fn x(texture: &Texture, at: [f32; 2]) -> f32 {
        f32::from_bits(texture.fetch(Coords::Float(at), true)[0])
    }

    #[test]
    fn points_and_edges() {
        let t = ramp(4, 1);
        assert_eq!([-1.0, 0.0, 1.99, 3.5, 9.0].map(|v| x(&t, [v, 0.0])), [0.0, 0.0, 1.0, 3.0, 3.0]);
        assert_eq!(t.fetch(Coords::Int([2, 0]), true)[0], 2f32.to_bits());
        let t = Texture { address: AddressMode::Border, ..t };
        assert_eq!([-0.5, 3.5, 4.0].map(|v| x(&t, [v, 0.0])), [0.0, 3.0, 0.0]);
        let t = Texture { address: AddressMode::Wrap, normalized: true, ..t };
        assert_eq!([-0.25, 0.0, 0.5, 1.3].map(|v| x(&t, [v, 0.0])), [3.0, 0.0, 2.0, 1.0]);
        let t = Texture { address: AddressMode::Mirror, ..t };
        assert_eq!([-0.1, 0.9, 1.1, 1.9].map(|v| x(&t, [v, 0.0])), [0.0, 3.0, 3.0, 0.0]);
        assert_eq!(x(&t, [f32::NAN, 0.0]), 0.0);
        assert_eq!(x(&t, [f32::INFINITY, 0.0]), 0.0);
    }

    #[test]
    fn texels_lie_in_blocks() {
        let t = ramp(4, 2);
        assert_eq!(t.place_of(Coords::Int([3, 1])), Some(4 * 11), "a block is eight words across and four down");
        let t = ramp(20, 8);
        let places = [[7, 3], [8, 0], [16, 0], [0, 4]].map(|at| t.place_of(Coords::Int(at)));
        assert_eq!(places, [Some(4 * 31), Some(128), Some(256), Some(3 * 128)]);
        let t = Texture { texel_bytes: 16, address: AddressMode::Border, ..ramp(4, 2) };
        assert_eq!([[1, 0], [4, 0]].map(|at| t.place_of(Coords::Int(at))), [Some(16), None]);
    }

    #[test]
    fn linear_weights_have_eight_bits() {
        let t = Texture { filter: Filter::Linear, ..ramp(4, 1) };
        assert_eq!(x(&t, [1.0, 0.5]), 0.5);
        assert_eq!(x(&t, [1.5, 0.5]), 1.0);
        assert_eq!(x(&t, [0.2, 0.5]), 0.0);
        assert_eq!(x(&t, [1.501, 0.5]), 1.0);
        let t = Texture { filter: Filter::Linear, ..ramp(2, 2) };
        assert_eq!(x(&t, [1.0, 1.0]), 1.5);
    }

    #[test]
    fn gather_goes_round() {
        let t = ramp(3, 3);
        assert_eq!(t.gather(0, [1.0, 1.0], true).map(f32::from_bits), [3.0, 4.0, 1.0, 0.0]);
    }
}
