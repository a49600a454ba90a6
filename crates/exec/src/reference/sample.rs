//! What textures give at a place, found step by step: the texels around it, the share of each, their sum.

use super::float::{Format, Operation, arithmetic, convert};
use super::step::Done;
use crate::FaultKind;
use crate::math::convert::clamped;
use crate::memory::{AccessError, DeviceMemory};
use crate::texture::{AddressMode, Channel, Filter, Texels, Texture};
use raddle_ptx::isa::Word;
use raddle_ptx::num::{fit, low32};
use rustc_apfloat::Round;

const NEAREST: Round = Round::NearestTiesToEven;

/// One texel along a direction, `None` outside, and its share in 256ths.
type Share = (Option<u32>, u64);

/// A texture and who reads it.
pub(super) struct Sampler<'a> {
    pub(super) texture: &'a Texture,
    pub(super) memory: &'a DeviceMemory,
    /// Single precision is asked for.
    pub(super) float: bool,
    /// Coordinates are of single precision.
    pub(super) by_float: bool,
}

impl Sampler<'_> {
    /// `tex`: the coordinates of the geometry that a word names.
    pub(super) fn fetch(&self, geometry: Word, at: [u32; 4]) -> Done<[u32; 4]> {
        let axes = self.axes(geometry, at, self.texture.filter);
        let whole: Vec<Vec<Share>> = axes.iter().map(|axis| vec![nearest(axis)]).collect();
        let counting = |axis: &Axis| axis.iter().copied().filter(|(_, share)| *share > 0).collect();
        let axes = if self.is_fractional() { axes.iter().map(counting).collect() } else { whole };
        if axes.iter().all(|axis| axis.len() == 1) {
            return self.texel([axes[0][0].0, axes[1][0].0, axes[2][0].0]);
        }
        let mut sum = [0u64; 4];
        for z in &axes[2] {
            for y in &axes[1] {
                for x in &axes[0] {
                    let texel = self.texel([x.0, y.0, z.0])?;
                    let share = shares_of_2_24(x.1 * y.1 * z.1);
                    for (sum, value) in sum.iter_mut().zip(texel) {
                        let part = single(Operation::Mul, share, value.into());
                        *sum = single(Operation::Add, *sum, part);
                    }
                }
            }
        }
        Ok(sum.map(low32))
    }

    /// `tld4`: a component of the four texels around a place, from the one at the lower left against the clock.
    pub(super) fn gather(&self, geometry: Word, component: usize, at: [u32; 4]) -> Done<[u32; 4]> {
        let [x, y, z] = self.axes(geometry, at, Filter::Linear).map(|axis| both(&axis));
        let mut out = [0; 4];
        for (out, (i, j)) in out.iter_mut().zip([(0, 1), (1, 1), (1, 0), (0, 0)]) {
            *out = self.texel([x[i], y[j], z[0]])?[component];
        }
        Ok(out)
    }

    /// Whether there is something between two values.
    fn is_fractional(&self) -> bool {
        match self.texture.channel {
            Channel::F16 | Channel::F32 => true,
            Channel::S32 | Channel::U32 => false,
            _ => self.float,
        }
    }

    fn axes(&self, geometry: Word, at: [u32; 4], filter: Filter) -> [Axis; 3] {
        let first = vec![(Some(0), 256)];
        let layer = |number: u64| {
            let last = u64::from(self.texture.size[2].max(1)) - 1;
            vec![(Some(low32(number.min(last))), 256)]
        };
        let axis = |n: usize, value: u32| self.axis(n, value, filter);
        match geometry {
            Word::D2 => [axis(0, at[0]), axis(1, at[1]), first],
            Word::D3 => [axis(0, at[0]), axis(1, at[1]), axis(2, at[2])],
            Word::A1d => [axis(0, at[1]), first, layer(at[0].into())],
            Word::A2d => [axis(0, at[1]), axis(1, at[2]), layer(at[0].into())],
            Word::Cube | Word::Acube => {
                let (cube, [x, y, z]) =
                    if geometry == Word::Cube { (0, [at[0], at[1], at[2]]) } else { (at[0], [at[1], at[2], at[3]]) };
                let (face, s, t) =
                    on_cube(f32::from_bits(x).into(), f32::from_bits(y).into(), f32::from_bits(z).into());
                let clamped = |n: usize, at: f64| {
                    let size = self.texture.size[n];
                    shares(at * f64::from(size), filter, &|i| Some(fit(i.clamp(0, last(size)))))
                };
                [clamped(0, s), clamped(1, t), layer(u64::from(cube) * 6 + face)]
            }
            _ => [axis(0, at[0]), first.clone(), first],
        }
    }

    /// The texels that a coordinate means in direction `n`.
    fn axis(&self, n: usize, value: u32, filter: Filter) -> Axis {
        let inside = |i: i64| self.inside(n, i);
        if !self.by_float {
            return vec![(inside(value.cast_signed().into()), 256)];
        }
        let mut v = f64::from(f32::from_bits(value));
        if self.texture.normalized {
            let below = v.floor();
            let is_odd = below % 2.0 != 0.0;
            v = match self.texture.address[n] {
                AddressMode::Mirror if is_odd => 1.0 - (v - below),
                AddressMode::Wrap | AddressMode::Mirror => v - below,
                AddressMode::Clamp | AddressMode::Border => v,
            } * f64::from(self.texture.size[n]);
        }
        shares(v, filter, &inside)
    }

    /// The texel that represents one that may be outside.
    fn inside(&self, n: usize, i: i64) -> Option<u32> {
        let size = i64::from(self.texture.size[n].max(1));
        let is_inside = i >= 0 && i < size;
        let number = match (self.texture.address[n], self.texture.normalized) {
            _ if is_inside => i,
            (AddressMode::Border, _) => return None,
            (AddressMode::Wrap, true) => (i % size + size) % size,
            (AddressMode::Mirror, true) => {
                // The picture and its mirror image, side by side, are repeated.
                let both = (i % (2 * size) + 2 * size) % (2 * size);
                both.min(2 * size - 1 - both)
            }
            _ => i.clamp(0, size - 1),
        };
        Some(fit(number))
    }

    fn texel(&self, at: [Option<u32>; 3]) -> Done<[u32; 4]> {
        let fractional = self.is_fractional();
        let [Some(x), Some(y), Some(z)] = at else {
            let whole = |v: f32| clamped!(v.max(0.0), u32);
            return Ok(self.texture.border.map(|v| if fractional { v.to_bits() } else { whole(v) }));
        };
        let bytes = self.bytes([x, y, z].map(u64::from))?;
        let each = self.texture.channel.bytes() as usize;
        let mut out = [0, 0, 0, if fractional { 1f32.to_bits() } else { 1 }];
        for (n, out) in out.iter_mut().enumerate().take(self.texture.channels as usize) {
            let bits =
                bytes[n * each..(n + 1) * each].iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
            *out = low32(self.channel(bits));
        }
        Ok(out)
    }

    /// The bytes of a texel.
    fn bytes(&self, [x, y, z]: [u64; 3]) -> Done<Vec<u8>> {
        let each = self.texture.texel_bytes() as usize;
        match &self.texture.texels {
            Texels::Own { bytes, .. } => {
                let [width, height, _] = self.texture.size.map(u64::from);
                let number = fit((z * height + y) * width + x);
                let texel = bytes.chunks_exact(each).nth(number);
                Ok(texel.map_or_else(|| vec![0; each], <[u8]>::to_vec))
            }
            Texels::View { at, pitch, plane } => {
                let address = at + z * plane + y * pitch + x * each as u64;
                let wrong = |e: AccessError| FaultKind::Memory(e.to_string());
                let (index, offset) = self.memory.find(address, low32(each as u64)).map_err(wrong)?;
                if let Some(never) = self.memory.first_unwritten(index, offset, each) {
                    return Err(wrong(AccessError::NeverWritten { address: address + (never - offset) as u64 }));
                }
                Ok(self.memory.bytes(index)[offset..offset + each].to_vec())
            }
        }
    }

    /// What a register gets of a channel.
    fn channel(&self, bits: u64) -> u64 {
        let (width, is_signed) = match self.texture.channel {
            Channel::F16 => return convert(Format::Half, Format::Single, bits, NEAREST),
            Channel::S32 | Channel::U32 | Channel::F32 => return bits,
            Channel::S8 => (8, true),
            Channel::S16 => (16, true),
            Channel::U8 => (8, false),
            Channel::U16 => (16, false),
        };
        let is_negative = is_signed && bits >> (width - 1) != 0;
        let value = bits.cast_signed() - if is_negative { 1 << width } else { 0 };
        if !self.float {
            return value.cast_unsigned();
        }
        let largest = if is_signed { (1i64 << (width - 1)) - 1 } else { (1 << width) - 1 };
        // The most negative number is -1 too.
        let whole = |v: i64| u64::from((v as f32).to_bits());
        single(Operation::Div, whole(value.max(-largest)), whole(largest))
    }
}

/// The texels that count along a direction.
type Axis = Vec<Share>;

fn single(operation: Operation, a: u64, b: u64) -> u64 {
    arithmetic(Format::Single, operation, &[a, b], NEAREST)
}

/// A number of 2^-24ths in single precision.
fn shares_of_2_24(n: u64) -> u64 {
    u64::from((n as f32 / (1u32 << 24) as f32).to_bits())
}

fn last(size: u32) -> i64 {
    i64::from(size.max(1)) - 1
}

/// Of several texels the one with the larger share, the second when they are equal.
fn nearest(axis: &[Share]) -> Share {
    *axis.iter().max_by_key(|(_, share)| *share).unwrap_or(&(Some(0), 256))
}

/// The two texels around a place.
fn both(axis: &[Share]) -> [Option<u32>; 2] {
    [axis.first(), axis.last()].map(|share| share.and_then(|s| s.0))
}

/// The texels around a place and their shares.
fn shares(place: f64, filter: Filter, inside: &dyn Fn(i64) -> Option<u32>) -> Axis {
    let floor = |v: f64| clamped!(v.floor(), i64);
    if filter == Filter::Point {
        return vec![(inside(floor(place)), 256)];
    }
    let from_middle = place - 0.5;
    let first = floor(from_middle);
    let fraction = if from_middle.is_finite() { from_middle - from_middle.floor() } else { 0.0 };
    let second = clamped!((fraction * 256.0).round_ties_even(), u64);
    vec![(inside(first), 256 - second), (inside(first.saturating_add(1)), second)]
}

/// The face that a direction meets, and where on it.
fn on_cube(x: f64, y: f64, z: f64) -> (u64, f64, f64) {
    // The faces with their normals, and the directions in which their columns and rows run.
    let faces = [(x, -z, -y), (-x, z, -y), (y, x, z), (-y, x, -z), (z, x, -y), (-z, -x, -y)];
    let longest = x.abs().max(y.abs()).max(z.abs());
    let met = faces.iter().position(|(along, ..)| *along == longest).unwrap_or(4);
    let (along, s, t) = faces[met];
    (met as u64, (s / along + 1.0) / 2.0, (t / along + 1.0) / 2.0)
}
