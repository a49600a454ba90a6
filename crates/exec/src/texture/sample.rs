//! What a fetch makes of its coordinates.

use super::{AddressMode, Filter, Raw, Texture};
use crate::math::convert::clamped;
use crate::math::f32_ops::{add_rn_f32, mul_rn_f32};
use raddle_ptx::num::{fit, nearest_f32};

/// What the coordinates of an instruction mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Geometry {
    /// A place in a row.
    #[default]
    D1,
    /// A place in rows.
    D2,
    /// A place in a volume.
    D3,
    /// A layer, and a place in its row.
    A1,
    /// A layer, and a place in its rows.
    A2,
    /// A direction from the middle of a cube.
    Cube,
    /// A cube, and a direction from its middle.
    ACube,
}

impl Geometry {
    /// All of them, in order.
    pub const ALL: [Self; 7] = [Self::D1, Self::D2, Self::D3, Self::A1, Self::A2, Self::Cube, Self::ACube];

    /// Whether the first coordinate is the number of a layer.
    #[must_use]
    pub fn is_layered(self) -> bool {
        matches!(self, Self::A1 | Self::A2 | Self::ACube)
    }
}

/// Where to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coords {
    /// What the values mean.
    pub geometry: Geometry,
    /// They are of single precision: texel numbers, or places in [0, 1) when normalised. Else they are whole texel
    /// numbers. Layers are always whole.
    pub is_float: bool,
    /// The values as the instruction has them.
    pub values: [u32; 4],
}

/// Along one axis: the two texels around a place, `None` outside, and the weight of the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) texels: [Option<u32>; 2],
    weight: f32,
}

impl Axis {
    /// Where there is no choice.
    const FIRST: Self = Self::only(Some(0));

    const fn only(texel: Option<u32>) -> Self {
        Self { texels: [texel; 2], weight: 0.0 }
    }

    /// The parts of its two texels.
    fn weights(self) -> [f32; 2] {
        [1.0 - self.weight, self.weight]
    }
}

impl Texture {
    /// Reads one value, as `tex` does; `float` says whether single precision is asked for, `read` gives bytes of device
    /// memory.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn fetch<E>(
        &self,
        coords: &Coords,
        float: bool,
        mut read: impl FnMut(u64, u32) -> Result<Raw, E>,
    ) -> Result<[u32; 4], E> {
        let axes = self.axes(coords, self.filter);
        if self.channel.gives_float(float) {
            return self.blend(axes, float, &mut read);
        }
        // Integers are not interpolated: the nearer texel.
        let nearer = axes.map(|axis| axis.texels[usize::from(axis.weight >= 0.5)]);
        self.texel(nearer, float, &mut read)
    }

    /// Reads one component of the four texels linear filtering would use, as `tld4` does: counter-clockwise from the one
    /// at the lower left.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn gather<E>(
        &self,
        component: usize,
        coords: &Coords,
        float: bool,
        mut read: impl FnMut(u64, u32) -> Result<Raw, E>,
    ) -> Result<[u32; 4], E> {
        let [[x0, x1], [y0, y1], [z, _]] = self.axes(coords, Filter::Linear).map(|axis| axis.texels);
        let mut out = [0; 4];
        for (out, at) in out.iter_mut().zip([[x0, y1, z], [x1, y1, z], [x1, y0, z], [x0, y0, z]]) {
            *out = self.texel(at, float, &mut read)?[component & 3];
        }
        Ok(out)
    }

    /// The texels around a place.
    pub(super) fn axes(&self, coords: &Coords, filter: Filter) -> [Axis; 3] {
        let Coords { geometry, is_float, values: [a, b, c, d] } = *coords;
        let along = |n: usize, value: u32| match is_float {
            true => self.around(n, self.place(n, f32::from_bits(value)), filter),
            false => Axis::only(self.texel_number(n, i64::from(value.cast_signed()))),
        };
        // Numbers of layers are clamped whatever the sampler says.
        let layer = |number: u32| Axis::only(Some(number.min(self.size[2].max(1) - 1)));
        match geometry {
            Geometry::D1 => [along(0, a), Axis::FIRST, Axis::FIRST],
            Geometry::D2 => [along(0, a), along(1, b), Axis::FIRST],
            Geometry::D3 => [along(0, a), along(1, b), along(2, c)],
            Geometry::A1 => [along(0, b), Axis::FIRST, layer(a)],
            Geometry::A2 => [along(0, b), along(1, c), layer(a)],
            Geometry::Cube | Geometry::ACube => {
                let (cube, direction) = if geometry == Geometry::Cube { (0, [a, b, c]) } else { (a, [b, c, d]) };
                let (face, at) = face(direction.map(f32::from_bits));
                let [x, y] = [0, 1].map(|n| self.around_clamped(n, at[n] * f64::from(self.size[n]), filter));
                [x, y, layer(cube.saturating_mul(6).saturating_add(face))]
            }
        }
    }

    /// A coordinate in texels. Exact in double precision, as hardware is in its fixed-point format.
    fn place(&self, n: usize, v: f32) -> f64 {
        let v = f64::from(v);
        if !self.normalized {
            return v;
        }
        let fraction = v - v.floor();
        let inside = match self.address[n] {
            AddressMode::Wrap => fraction,
            AddressMode::Mirror if v.floor().rem_euclid(2.0) == 1.0 => 1.0 - fraction,
            AddressMode::Mirror => fraction,
            AddressMode::Clamp | AddressMode::Border => v,
        };
        inside * f64::from(self.size[n])
    }

    fn around(&self, n: usize, place: f64, filter: Filter) -> Axis {
        let (first, weight) = neighbours(place, filter);
        let texels = [first, first.saturating_add(1)].map(|i| self.texel_number(n, i));
        Axis { texels, weight }
    }

    /// The same on a face of a cube, which ends at its edges.
    fn around_clamped(&self, n: usize, place: f64, filter: Filter) -> Axis {
        let (first, weight) = neighbours(place, filter);
        let last = i64::from(self.size[n].max(1)) - 1;
        let texels = [first, first.saturating_add(1)].map(|i| Some(fit(i.clamp(0, last))));
        Axis { texels, weight }
    }

    /// The number of the texel at `i`, which may be outside the texture.
    fn texel_number(&self, axis: usize, i: i64) -> Option<u32> {
        let n = i64::from(self.size[axis].max(1));
        let mode = match self.address[axis] {
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

    fn texel<E>(
        &self,
        at: [Option<u32>; 3],
        float: bool,
        read: &mut impl FnMut(u64, u32) -> Result<Raw, E>,
    ) -> Result<[u32; 4], E> {
        match at {
            [Some(x), Some(y), Some(z)] => Ok(self.values(&self.raw([x, y, z], read)?, float)),
            _ => Ok(self.outside(float)),
        }
    }

    /// The texels around a place, each with its part: x goes fastest. One that has no part counts for nothing, whatever
    /// it holds.
    fn blend<E>(
        &self,
        axes: [Axis; 3],
        float: bool,
        read: &mut impl FnMut(u64, u32) -> Result<Raw, E>,
    ) -> Result<[u32; 4], E> {
        let [x, y, z] = axes;
        if axes.iter().all(|axis| axis.weight == 0.0 || axis.weight == 1.0) {
            return self.texel(axes.map(|axis| axis.texels[usize::from(axis.weight == 1.0)]), float, read);
        }
        let mut sum = [0f32; 4];
        for corner in 0..8usize {
            let [i, j, k] = [corner & 1, corner >> 1 & 1, corner >> 2];
            // Products of three numbers of 8 bits are exact.
            let part = x.weights()[i] * y.weights()[j] * z.weights()[k];
            if part == 0.0 {
                continue;
            }
            let texel = self.texel([x.texels[i], y.texels[j], z.texels[k]], float, read)?;
            for (sum, value) in sum.iter_mut().zip(texel) {
                *sum = add_rn_f32(*sum, mul_rn_f32(part, f32::from_bits(value)));
            }
        }
        Ok(sum.map(f32::to_bits))
    }
}

/// The first of the two texels around a place, and the weight of the other.
fn neighbours(place: f64, filter: Filter) -> (i64, f32) {
    if filter == Filter::Point {
        return (clamped!(place.floor(), i64), 0.0);
    }
    let place = place - 0.5;
    let first = place.floor();
    // A fixed-point number with 8 fractional bits; 1.0 can be represented.
    let weight = ((place - first) * 256.0).round_ties_even() / 256.0;
    (clamped!(first, i64), if weight.is_nan() { 0.0 } else { nearest_f32(weight) })
}

/// The face of a cube that a direction meets, and where on it, from 0 to 1. The faces are +x, -x, +y, -y, +z, -z; of equal
/// coordinates the first decides; NaN is not longer than anything.
fn face([x, y, z]: [f32; 3]) -> (u32, [f64; 2]) {
    let [x, y, z] = [x, y, z].map(f64::from);
    let longest = x.abs().max(y.abs()).max(z.abs());
    let (positive, along, s, t) = if x.abs() >= longest {
        (0, x, if x < 0.0 { z } else { -z }, -y)
    } else if y.abs() >= longest {
        (2, y, x, if y < 0.0 { -z } else { z })
    } else {
        (4, z, if z < 0.0 { -x } else { x }, -y)
    };
    let number = positive + u32::from(along < 0.0);
    (number, [s, t].map(|v| (v / along.abs() + 1.0) / 2.0))
}
