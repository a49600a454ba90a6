//! `cvt`: conversions between integers and floats.
//!
//! Integers travel as `u64` together with an [`IntType`]; results are sign- or zero-extended to 64 bits
//! according to the destination type, so a caller that writes a wider register only truncates.
//! `.ftz`, `.sat` and `.relu` are composed by the caller from `ftz_*`, `sat_*` and `relu_*`: flush the
//! source, convert, saturate. Flushing a source matters even for integers, as `cvt.rpi.ftz` shows.
//!
//! # Choices
//!
//! * Float to integer clamps to the destination range with and without `.sat`, as the ISA says.
//! * NaN to integer follows PTX ISA 9.0, which is the first to spell it out: zero, unless the source is
//!   `.f64` or the destination has 64 bits, where it is the top bit alone (`1 << (width - 1)`).
//! * NaN from a narrower type to `.f64` keeps sign and payload and becomes quiet; to every other float type it
//!   becomes the canonical NaN of the destination. The ISA leaves the payload open.

use super::f16_ops::{
    NAN_F16, bf16_to_f32, f16_to_f32, f32_to_bf16_rn, f32_to_f16_rn, f64_to_bf16_rn, f64_to_f16_rn, is_nan_bf16,
    is_nan_f16,
};
use super::f32_ops::canonical_f32;
use super::f64_ops::nan_rule_1;
use super::round::{Rounding, round_integral_f32, round_integral_f64};
use super::soft::{self, Format, Value};
use raddle_ptx::num::{low8, low16, low32, low64, nearest_f32};

/// An integer type of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntType {
    /// `.u8`
    U8,
    /// `.s8`
    S8,
    /// `.u16`
    U16,
    /// `.s16`
    S16,
    /// `.u32`
    U32,
    /// `.s32`
    S32,
    /// `.u64`
    U64,
    /// `.s64`
    S64,
}

impl IntType {
    /// All integer types.
    pub const ALL: [Self; 8] = [Self::U8, Self::S8, Self::U16, Self::S16, Self::U32, Self::S32, Self::U64, Self::S64];

    /// Width in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::U8 | Self::S8 => 8,
            Self::U16 | Self::S16 => 16,
            Self::U32 | Self::S32 => 32,
            Self::U64 | Self::S64 => 64,
        }
    }

    /// Whether the type is signed.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// Reads the low bits of `x` as this type and extends them to 64 bits.
    #[inline(always)]
    pub const fn extend(self, x: u64) -> u64 {
        match self {
            Self::U8 => low8(x) as u64,
            Self::S8 => low8(x).cast_signed() as u64,
            Self::U16 => low16(x) as u64,
            Self::S16 => low16(x).cast_signed() as u64,
            Self::U32 => low32(x) as u64,
            Self::S32 => low32(x).cast_signed() as u64,
            Self::U64 | Self::S64 => x,
        }
    }

    /// The smallest and the largest value.
    const fn range(self) -> (i128, i128) {
        let bits = self.bits();
        if self.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }

    /// Reads the low bits of `x` as this type.
    const fn value(self, x: u64) -> i128 {
        let x = self.extend(x);
        if self.is_signed() { x as i64 as i128 } else { x as i128 }
    }

    /// What a NaN converts to.
    const fn of_nan(self, source_is_f64: bool) -> u64 {
        if source_is_f64 || self.bits() == 64 { self.extend(1 << (self.bits() - 1)) } else { 0 }
    }
}

/// `cvt` between integers: extends or truncates, or clamps to the destination range with `.sat`.
#[inline]
pub fn int_to_int(x: u64, from: IntType, to: IntType, sat: bool) -> u64 {
    if !sat {
        return to.extend(from.extend(x));
    }
    let (low, high) = to.range();
    low64(from.value(x).clamp(low, high).cast_unsigned())
}

fn int_value(x: u64, from: IntType) -> Value {
    let value = from.value(x);
    Value::from_integer(value < 0, low64(value.unsigned_abs()))
}

/// `cvt` from an integer to `.f32`.
#[inline]
pub fn int_to_f32(x: u64, from: IntType, r: Rounding) -> f32 {
    match r {
        Rounding::Rn if from.is_signed() => from.extend(x) as i64 as f32,
        Rounding::Rn => from.extend(x) as f32,
        _ => f32::from_bits(low32(soft::pack(int_value(x, from), soft::F32, r))),
    }
}

/// `cvt.f32.s32`, the common case of [`int_to_f32`] in a form that vectorises.
#[inline(always)]
pub fn s32_to_f32(x: i32, r: Rounding) -> f32 {
    if r == Rounding::Rn { x as f32 } else { int_to_f32(x as u64, IntType::S32, r) }
}

/// `cvt.f32.u32`, the common case of [`int_to_f32`] in a form that vectorises.
#[inline(always)]
pub fn u32_to_f32(x: u32, r: Rounding) -> f32 {
    if r == Rounding::Rn { x as f32 } else { int_to_f32(u64::from(x), IntType::U32, r) }
}

/// `cvt` from an integer to `.f64`.
#[inline]
pub fn int_to_f64(x: u64, from: IntType, r: Rounding) -> f64 {
    match r {
        Rounding::Rn if from.is_signed() => from.extend(x) as i64 as f64,
        Rounding::Rn => from.extend(x) as f64,
        _ => f64::from_bits(soft::pack(int_value(x, from), soft::F64, r)),
    }
}

/// `cvt` from an integer to `.f16`. Integers beyond its range round as any number would.
#[inline]
pub fn int_to_f16(x: u64, from: IntType, r: Rounding) -> u16 {
    low16(soft::pack(int_value(x, from), soft::F16, r))
}

/// `cvt` from an integer to `.bf16`.
#[inline]
pub fn int_to_bf16(x: u64, from: IntType, r: Rounding) -> u16 {
    low16(soft::pack(int_value(x, from), soft::BF16, r))
}

/// The nearest integer of a type to an integral number or infinity; zero for NaN.
macro_rules! clamped {
    ($x:expr, $int:ty) => {{
        #[allow(clippy::cast_possible_truncation, reason = "such a cast clamps, like PTX")]
        let clamped = $x as $int;
        clamped
    }};
}
pub(crate) use clamped;

macro_rules! float_to_int {
    ($name:ident, $float:ty, $integral:ident, $int:ty, $to:expr, $doc:literal) => {
        #[doc = $doc]
        #[inline(always)]
        pub fn $name(x: $float, r: Rounding) -> $int {
            let clamped = clamped!($integral(x, r), $int);
            #[allow(clippy::cast_possible_truncation, reason = "the number is one of this type, extended")]
            const NAN: $int = $to.of_nan(size_of::<$float>() == 8) as $int;
            if x.is_nan() { NAN } else { clamped }
        }
    };
}

float_to_int!(f32_to_s32, f32, round_integral_f32, i32, IntType::S32, "`cvt.s32.f32`.");
float_to_int!(f32_to_u32, f32, round_integral_f32, u32, IntType::U32, "`cvt.u32.f32`.");
float_to_int!(f32_to_s64, f32, round_integral_f32, i64, IntType::S64, "`cvt.s64.f32`.");
float_to_int!(f32_to_u64, f32, round_integral_f32, u64, IntType::U64, "`cvt.u64.f32`.");
float_to_int!(f64_to_s32, f64, round_integral_f64, i32, IntType::S32, "`cvt.s32.f64`.");
float_to_int!(f64_to_u32, f64, round_integral_f64, u32, IntType::U32, "`cvt.u32.f64`.");
float_to_int!(f64_to_s64, f64, round_integral_f64, i64, IntType::S64, "`cvt.s64.f64`.");
float_to_int!(f64_to_u64, f64, round_integral_f64, u64, IntType::U64, "`cvt.u64.f64`.");

/// `cvt` from `.f32` to any integer type.
#[inline]
pub fn f32_to_int(x: f32, to: IntType, r: Rounding) -> u64 {
    if x.is_nan() { to.of_nan(false) } else { clamp_to_int(round_integral_f32(x, r).into(), to) }
}

/// `cvt` from `.f64` to any integer type.
#[inline]
pub fn f64_to_int(x: f64, to: IntType, r: Rounding) -> u64 {
    if x.is_nan() { to.of_nan(true) } else { clamp_to_int(round_integral_f64(x, r), to) }
}

/// `cvt` from `.f16` to any integer type.
#[inline]
pub fn f16_to_int(x: u16, to: IntType, r: Rounding) -> u64 {
    f32_to_int(f16_to_f32(x), to, r)
}

/// `cvt` from `.bf16` to any integer type.
#[inline]
pub fn bf16_to_int(x: u16, to: IntType, r: Rounding) -> u64 {
    f32_to_int(bf16_to_f32(x), to, r)
}

/// The nearest value of the type to an integral number or infinity.
fn clamp_to_int(x: f64, to: IntType) -> u64 {
    match to {
        IntType::U8 => u64::from(clamped!(x, u8)),
        IntType::S8 => clamped!(x, i8) as u64,
        IntType::U16 => u64::from(clamped!(x, u16)),
        IntType::S16 => clamped!(x, i16) as u64,
        IntType::U32 => u64::from(clamped!(x, u32)),
        IntType::S32 => clamped!(x, i32) as u64,
        IntType::U64 => clamped!(x, u64),
        IntType::S64 => clamped!(x, i64).cast_unsigned(),
    }
}

/// `cvt.f64.f32`: exact; a NaN keeps sign and payload and becomes quiet.
#[inline(always)]
pub fn f32_to_f64(x: f32) -> f64 {
    let bits = u64::from(x.to_bits());
    let nan = (bits & 0x8000_0000) << 32 | 0x7ff8_0000_0000_0000 | (bits & 0x7f_ffff) << 29;
    if x.is_nan() { f64::from_bits(nan) } else { f64::from(x) }
}

/// `cvt.f64.f16`.
#[inline(always)]
pub fn f16_to_f64(x: u16) -> f64 {
    let nan = nan_f64(u64::from(x), 10);
    if is_nan_f16(x) { nan } else { f32_to_f64(f16_to_f32(x)) }
}

/// `cvt.f64.bf16`.
#[inline(always)]
pub fn bf16_to_f64(x: u16) -> f64 {
    let nan = nan_f64(u64::from(x), 7);
    if is_nan_bf16(x) { nan } else { f32_to_f64(bf16_to_f32(x)) }
}

/// The quiet NaN with sign and payload of one that has 16 bits, this many of them fraction.
fn nan_f64(bits: u64, fraction: u32) -> f64 {
    let payload = (bits & ((1 << fraction) - 1)) << (52 - fraction);
    f64::from_bits((bits & 0x8000) << 48 | 0x7ff8_0000_0000_0000 | payload)
}

/// `cvt.f32.f64`.
#[inline]
pub fn f64_to_f32(x: f64, r: Rounding) -> f32 {
    canonical_f32(match r {
        Rounding::Rn => nearest_f32(x),
        _ => f32::from_bits(low32(soft::pack(soft::unpack(x.to_bits(), soft::F64), soft::F32, r))),
    })
}

/// Narrows `bits` of the format `from` to one of the 16-bit formats.
fn to_half(bits: u64, from: Format, to: Format, r: Rounding) -> u16 {
    match soft::unpack(bits, from) {
        Value::Nan => NAN_F16,
        v => low16(soft::pack(v, to, r)),
    }
}

/// `cvt.f16.f32`.
#[inline]
pub fn f32_to_f16(x: f32, r: Rounding) -> u16 {
    match r {
        Rounding::Rn => f32_to_f16_rn(x),
        _ => to_half(x.to_bits().into(), soft::F32, soft::F16, r),
    }
}

/// `cvt.bf16.f32`.
#[inline]
pub fn f32_to_bf16(x: f32, r: Rounding) -> u16 {
    match r {
        Rounding::Rn => f32_to_bf16_rn(x),
        _ => to_half(x.to_bits().into(), soft::F32, soft::BF16, r),
    }
}

/// `cvt.f16.f64`.
#[inline]
pub fn f64_to_f16(x: f64, r: Rounding) -> u16 {
    match r {
        Rounding::Rn => f64_to_f16_rn(x),
        _ => to_half(x.to_bits(), soft::F64, soft::F16, r),
    }
}

/// `cvt.bf16.f64`.
#[inline]
pub fn f64_to_bf16(x: f64, r: Rounding) -> u16 {
    match r {
        Rounding::Rn => f64_to_bf16_rn(x),
        _ => to_half(x.to_bits(), soft::F64, soft::BF16, r),
    }
}

/// `cvt.bf16.f16`.
#[inline]
pub fn f16_to_bf16(x: u16, r: Rounding) -> u16 {
    f32_to_bf16(f16_to_f32(x), r)
}

/// `cvt.f16.bf16`.
#[inline]
pub fn bf16_to_f16(x: u16, r: Rounding) -> u16 {
    f32_to_f16(bf16_to_f32(x), r)
}

/// `cvt.rna.tf32.f32`: ten fraction bits, ties away from zero; the low 13 bits of the result are zero.
///
/// The ISA leaves those bits open. A NaN becomes the canonical NaN cut to the format, `0x7fffe000`.
#[inline(always)]
pub fn f32_to_tf32_rna(x: f32) -> u32 {
    let rounded = x.to_bits().wrapping_add(0x1000) & !0x1fff;
    // An infinity has no fraction bits to round, so it survives the addition.
    if x.is_nan() { 0x7fff_e000 } else { rounded }
}

/// `cvt.rni.f32.f32` and its kin: rounds to an integral value, NaN becomes canonical.
#[inline(always)]
pub fn integral_f32(x: f32, r: Rounding) -> f32 {
    canonical_f32(round_integral_f32(x, r))
}

/// `cvt.rni.f64.f64` and its kin: rounds to an integral value, NaN becomes quiet.
#[inline(always)]
pub fn integral_f64(x: f64, r: Rounding) -> f64 {
    nan_rule_1(x, round_integral_f64(x, r))
}

/// `cvt.rni.f16.f16` and its kin. An integral value of the format is always representable.
#[inline(always)]
pub fn integral_f16(x: u16, r: Rounding) -> u16 {
    f32_to_f16_rn(round_integral_f32(f16_to_f32(x), r))
}

/// `cvt.rni.bf16.bf16` and its kin. An integral value of the format is always representable.
#[inline(always)]
pub fn integral_bf16(x: u16, r: Rounding) -> u16 {
    f32_to_bf16_rn(round_integral_f32(bf16_to_f32(x), r))
}

/// Packs two halves. `cvt.rn.f16x2.f32 d, a, b` puts `a` in the upper half and `b` in the lower.
#[inline(always)]
pub fn pack_x2(upper: u16, lower: u16) -> u32 {
    u32::from(upper) << 16 | u32::from(lower)
}

/// The upper and the lower half of a packed pair.
#[inline(always)]
pub fn unpack_x2(x: u32) -> (u16, u16) {
    (low16(u64::from(x >> 16)), low16(u64::from(x)))
}

#[cfg(test)]
mod tests;
