//! Shared test inputs: a deterministic generator and lists of values at which arithmetic breaks.

use super::round::Rounding;
use rustc_apfloat::Round;

/// SplitMix64. Tests must not depend on a seed from outside.
pub(super) struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn u32(&mut self) -> u32 {
        (self.u64() >> 32) as u32
    }

    pub fn u16(&mut self) -> u16 {
        (self.u64() >> 48) as u16
    }

    pub fn below(&mut self, n: u32) -> u32 {
        self.u32() % n
    }

    /// Half of the time uniform bits, otherwise exponents near one and short significands, so that
    /// cancellation, ties and exact results are not rare.
    pub fn f32(&mut self) -> f32 {
        let bits = self.u32();
        if bits & 1 == 0 {
            return f32::from_bits(self.u32());
        }
        let exponent = 127 - 30 + self.below(60);
        let fraction = (self.u32() & 0x7f_ffff) & !((1u32 << self.below(24)) - 1);
        f32::from_bits(bits & 0x8000_0000 | exponent << 23 | fraction)
    }

    /// See [`Rng::f32`].
    pub fn f64(&mut self) -> f64 {
        let bits = self.u64();
        if bits & 1 == 0 {
            return f64::from_bits(self.u64());
        }
        let exponent = u64::from(1023 - 70 + self.below(140));
        let fraction = (self.u64() & ((1 << 52) - 1)) & !((1u64 << self.below(53)) - 1);
        f64::from_bits(bits & (1 << 63) | exponent << 52 | fraction)
    }
}

fn with_signs<const N: usize>(magnitudes: [u64; N], sign: u64) -> impl Iterator<Item = u64> {
    magnitudes.into_iter().flat_map(move |m| [m, m | sign])
}

/// Zeros, subnormals, limits, ties, infinities and NaNs.
pub(super) fn edges_f32() -> Vec<f32> {
    let magnitudes = [
        0,
        1,
        2,
        3,
        0x0040_0000,
        0x007f_fffe,
        0x007f_ffff,
        0x0080_0000,
        0x0080_0001,
        0x00ff_ffff,
        0x0100_0000,
        0x3380_0000,
        0x3f00_0000,
        0x3f7f_ffff,
        0x3f80_0000,
        0x3f80_0001,
        0x3fc0_0000,
        0x4020_0000,
        0x4060_0000,
        0x4b00_0000,
        0x4b80_0001,
        0x4eff_ffff,
        0x4f00_0000,
        0x4f7f_ffff,
        0x5f00_0000,
        0x7e80_0000,
        0x7f00_0000,
        0x7f7f_fffe,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7f80_0001,
        0x7fc0_0000,
        0x7fff_ffff,
    ];
    with_signs(magnitudes, 1 << 31).map(|b| f32::from_bits(b as u32)).collect()
}

/// See [`edges_f32`].
pub(super) fn edges_f64() -> Vec<f64> {
    let magnitudes = [
        0,
        1,
        2,
        3,
        0x0008_0000_0000_0000,
        0x000f_ffff_ffff_fffe,
        0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x0010_0000_0000_0001,
        0x001f_ffff_ffff_ffff,
        0x3690_0000_0000_0000,
        0x3690_0000_0000_0001,
        0x36a0_0000_0000_0000,
        0x380f_ffff_f000_0000,
        0x3810_0000_0000_0000,
        0x3ca0_0000_0000_0000,
        0x3fe0_0000_0000_0000,
        0x3fef_ffff_ffff_ffff,
        0x3ff0_0000_0000_0000,
        0x3ff0_0000_0000_0001,
        0x3ff8_0000_0000_0000,
        0x4004_0000_0000_0000,
        0x41df_ffff_ffc0_0000,
        0x41e0_0000_0000_0000,
        0x4340_0000_0000_0001,
        0x43e0_0000_0000_0000,
        0x43ef_ffff_ffff_ffff,
        0x47ef_ffff_e000_0000,
        0x47ef_ffff_f000_0000,
        0x7fe0_0000_0000_0000,
        0x7fef_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0x7ff0_0000_0000_0001,
        0x7ff8_0000_0000_0000,
        0x7fff_ffff_ffff_ffff,
    ];
    with_signs(magnitudes, 1 << 63).map(f64::from_bits).collect()
}

/// The oracle's name of a rounding mode.
pub(super) fn oracle_round(r: Rounding) -> Round {
    match r {
        Rounding::Rn => Round::NearestTiesToEven,
        Rounding::Rz => Round::TowardZero,
        Rounding::Rm => Round::TowardNegative,
        Rounding::Rp => Round::TowardPositive,
    }
}
