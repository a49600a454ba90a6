//! `.f16` and `.bf16` arithmetic on raw bits.
//!
//! Scalars only: the packed `x2` forms apply these to both halves. Everything rounds to nearest even,
//! the only mode PTX has for these types, and is computed in a wider host format chosen so that the
//! second rounding cannot be seen. Every NaN result is [`NAN_F16`], which both formats share.

use super::f32_ops::sum_to_odd;
use raddle_ptx::num::{low16, nearest_f32};

/// The canonical NaN of `.f16` and of `.bf16`.
pub const NAN_F16: u16 = 0x7fff;

const SIGN: u16 = 0x8000;

/// Widens an `.f16`, exactly; a NaN becomes the canonical `.f32` NaN.
#[inline(always)]
pub fn f16_to_f32(a: u16) -> f32 {
    // Read as an f32, the shifted bits are the number scaled by 2^-112, subnormal or not.
    let scaled = f32::from_bits(u32::from(a & 0x7fff) << 13) * f32::from_bits((127 + 112) << 23);
    let magnitude = scaled.to_bits();
    let special = if a & 0x3ff == 0 { 0x7f80_0000 } else { 0x7fff_ffff };
    let magnitude = if a & 0x7c00 == 0x7c00 { special } else { magnitude };
    let sign = if is_nan_f16(a) { 0 } else { u32::from(a & SIGN) << 16 };
    f32::from_bits(magnitude | sign)
}

/// Widens a `.bf16`, exactly; a NaN becomes the canonical `.f32` NaN.
#[inline(always)]
pub fn bf16_to_f32(a: u16) -> f32 {
    f32::from_bits(if is_nan_bf16(a) { 0x7fff_ffff } else { u32::from(a) << 16 })
}

/// `cvt.rn.f16.f32`.
#[inline(always)]
pub fn f32_to_f16_rn(x: f32) -> u16 {
    let bits = x.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    // The last place of 0.5 is that of a subnormal `.f16`, so the host's addition does the rounding.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let odd = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_add(0xfff + odd).wrapping_sub(112 << 23) >> 13;
    let finite = if magnitude < 0x3880_0000 { subnormal } else { normal };
    // 65520, half-way between the largest number and the next power of two.
    let number = if magnitude < 0x477f_f000 { finite } else { 0x7c00 };
    if magnitude > 0x7f80_0000 { NAN_F16 } else { low16(u64::from(number)) | low16(u64::from(bits >> 16)) & SIGN }
}

/// `cvt.rn.bf16.f32`.
#[inline(always)]
pub fn f32_to_bf16_rn(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    if x.is_nan() { NAN_F16 } else { rounded as u16 }
}

/// `x` rounded to odd, after which rounding to a format shorter by two bits is exact.
#[inline(always)]
fn f64_to_f32_odd(x: f64) -> f32 {
    let near = nearest_f32(x);
    let bits = near.to_bits();
    let back = f64::from(near);
    let inexact = back != x && !x.is_nan();
    let odd = if back.abs() > x.abs() { bits.wrapping_sub(1) } else { bits.wrapping_add(1) };
    f32::from_bits(if inexact && bits & 1 == 0 { odd } else { bits })
}

/// `cvt.rn.f16.f64`.
#[inline(always)]
pub fn f64_to_f16_rn(x: f64) -> u16 {
    f32_to_f16_rn(f64_to_f32_odd(x))
}

/// `cvt.rn.bf16.f64`.
#[inline(always)]
pub fn f64_to_bf16_rn(x: f64) -> u16 {
    f32_to_bf16_rn(f64_to_f32_odd(x))
}

/// `add.rn.f16`. Single precision has `2p + 2` bits, enough for a sum to be rounded twice unnoticed.
#[inline(always)]
pub fn add_f16(a: u16, b: u16) -> u16 {
    f32_to_f16_rn(f16_to_f32(a) + f16_to_f32(b))
}

/// `sub.rn.f16`.
#[inline(always)]
pub fn sub_f16(a: u16, b: u16) -> u16 {
    f32_to_f16_rn(f16_to_f32(a) - f16_to_f32(b))
}

/// `mul.rn.f16`. The product is exact in single precision.
#[inline(always)]
pub fn mul_f16(a: u16, b: u16) -> u16 {
    f32_to_f16_rn(f16_to_f32(a) * f16_to_f32(b))
}

/// `add.rn.bf16`. Through double precision, since `.bf16` has the exponents of single precision.
#[inline(always)]
pub fn add_bf16(a: u16, b: u16) -> u16 {
    f64_to_bf16_rn(sum_to_odd(f64::from(bf16_to_f32(a)), f64::from(bf16_to_f32(b))))
}

/// `sub.rn.bf16`.
#[inline(always)]
pub fn sub_bf16(a: u16, b: u16) -> u16 {
    add_bf16(a, b ^ SIGN)
}

/// `mul.rn.bf16`. The product is exact in double precision.
#[inline(always)]
pub fn mul_bf16(a: u16, b: u16) -> u16 {
    f64_to_bf16_rn(f64::from(bf16_to_f32(a)) * f64::from(bf16_to_f32(b)))
}

/// `ex2.approx.f16`: two to the power `a`, within half a unit in the last place and a trifle.
#[inline]
pub fn ex2_approx_f16(a: u16) -> u16 {
    f32_to_f16_rn(core_math::exp2f(f16_to_f32(a)))
}

/// `ex2.approx.ftz.bf16`: two to the power `a`; the ISA has it with `.ftz` only, which is the caller's.
#[inline]
pub fn ex2_approx_bf16(a: u16) -> u16 {
    f32_to_bf16_rn(core_math::exp2f(bf16_to_f32(a)))
}

/// `tanh.approx.f16`: hyperbolic tangent, within half a unit in the last place and a trifle.
#[inline]
pub fn tanh_approx_f16(a: u16) -> u16 {
    f32_to_f16_rn(core_math::tanhf(f16_to_f32(a)))
}

/// `tanh.approx.bf16`: hyperbolic tangent, within half a unit in the last place and a trifle.
#[inline]
pub fn tanh_approx_bf16(a: u16) -> u16 {
    f32_to_bf16_rn(core_math::tanhf(bf16_to_f32(a)))
}

/// The operations that differ between the two formats in nothing but constants.
macro_rules! half_format {
    ($type:literal, infinity $infinity:literal, one $one:literal, from $to_f32:ident to $from_f64:ident,
     $is_nan:ident $canonical:ident $ftz:ident $sat:ident $relu:ident $fma:ident
     $order:ident $number_or:ident $min:ident $max:ident $min_nan:ident $max_nan:ident
     $xorsign:ident $min_xorsign_abs:ident $max_xorsign_abs:ident $abs:ident $neg:ident) => {
        #[doc = concat!("Whether the bits are a `.", $type, "` NaN.")]
        #[inline(always)]
        pub fn $is_nan(a: u16) -> bool {
            a & 0x7fff > $infinity
        }

        #[doc = concat!("Replaces any `.", $type, "` NaN by [`NAN_F16`].")]
        #[inline(always)]
        pub fn $canonical(a: u16) -> u16 {
            if $is_nan(a) { NAN_F16 } else { a }
        }

        #[doc = concat!("`.ftz` for `.", $type, "`: a subnormal number becomes a zero of the same sign.")]
        #[inline(always)]
        pub fn $ftz(a: u16) -> u16 {
            if a & $infinity == 0 { a & SIGN } else { a }
        }

        #[doc = concat!("`.sat` for `.", $type, "`: clamps to `[+0, 1]`; NaN and `-0` become `+0`.")]
        #[inline(always)]
        pub fn $sat(a: u16) -> u16 {
            let clamped = if a > $one { $one } else { a };
            if a & SIGN != 0 || $is_nan(a) { 0 } else { clamped }
        }

        #[doc = concat!("`.relu` for `.", $type, "`: negative numbers and `-0` become `+0`, NaN becomes [`NAN_F16`].")]
        #[inline(always)]
        pub fn $relu(a: u16) -> u16 {
            let clamped = if a & SIGN != 0 { 0 } else { a };
            if $is_nan(a) { NAN_F16 } else { clamped }
        }

        #[doc = concat!("`fma.rn.", $type, "`: the product is exact in double precision, the sum rounded to odd.")]
        #[inline(always)]
        pub fn $fma(a: u16, b: u16, c: u16) -> u16 {
            let product = f64::from($to_f32(a)) * f64::from($to_f32(b));
            $from_f64(sum_to_odd(product, f64::from($to_f32(c))))
        }

        /// Maps a number to an integer of the same order, with `-0` below `+0`.
        #[inline(always)]
        fn $order(a: u16) -> i16 {
            let bits = a as i16;
            bits ^ ((bits >> 15) & 0x7fff)
        }

        /// `chosen` if neither operand is NaN, else the one that is a number.
        #[inline(always)]
        fn $number_or(a: u16, b: u16, chosen: u16) -> u16 {
            let without_a = if $is_nan(a) { b } else { chosen };
            $canonical(if $is_nan(b) { a } else { without_a })
        }

        #[doc = concat!("`min.", $type, "`: a NaN loses against a number, `-0` is below `+0`.")]
        #[inline(always)]
        pub fn $min(a: u16, b: u16) -> u16 {
            $number_or(a, b, if $order(a) < $order(b) { a } else { b })
        }

        #[doc = concat!("`max.", $type, "`: a NaN loses against a number, `+0` is above `-0`.")]
        #[inline(always)]
        pub fn $max(a: u16, b: u16) -> u16 {
            $number_or(a, b, if $order(a) > $order(b) { a } else { b })
        }

        #[doc = concat!("`min.NaN.", $type, "`: any NaN operand makes the result [`NAN_F16`].")]
        #[inline(always)]
        pub fn $min_nan(a: u16, b: u16) -> u16 {
            if $is_nan(a) || $is_nan(b) { NAN_F16 } else { $min(a, b) }
        }

        #[doc = concat!("`max.NaN.", $type, "`: any NaN operand makes the result [`NAN_F16`].")]
        #[inline(always)]
        pub fn $max_nan(a: u16, b: u16) -> u16 {
            if $is_nan(a) || $is_nan(b) { NAN_F16 } else { $max(a, b) }
        }

        /// Gives `magnitude` the product of the signs, unless it is NaN.
        #[inline(always)]
        fn $xorsign(a: u16, b: u16, magnitude: u16) -> u16 {
            if $is_nan(magnitude) { magnitude } else { magnitude | (a ^ b) & SIGN }
        }

        #[doc = concat!("`min.xorsign.abs.", $type, "`, with `.NaN` if `nan`.")]
        #[inline(always)]
        pub fn $min_xorsign_abs(a: u16, b: u16, nan: bool) -> u16 {
            let (x, y) = ($abs(a), $abs(b));
            $xorsign(a, b, if nan { $min_nan(x, y) } else { $min(x, y) })
        }

        #[doc = concat!("`max.xorsign.abs.", $type, "`, with `.NaN` if `nan`.")]
        #[inline(always)]
        pub fn $max_xorsign_abs(a: u16, b: u16, nan: bool) -> u16 {
            let (x, y) = ($abs(a), $abs(b));
            $xorsign(a, b, if nan { $max_nan(x, y) } else { $max(x, y) })
        }

        #[doc = concat!("`abs.", $type, "`: clears the sign bit, also of a NaN.")]
        #[inline(always)]
        pub fn $abs(a: u16) -> u16 {
            a & !SIGN
        }

        #[doc = concat!("`neg.", $type, "`: flips the sign bit, also of a NaN.")]
        #[inline(always)]
        pub fn $neg(a: u16) -> u16 {
            a ^ SIGN
        }
    };
}

half_format!("f16", infinity 0x7c00, one 0x3c00, from f16_to_f32 to f64_to_f16_rn,
    is_nan_f16 canonical_f16 ftz_f16 sat_f16 relu_f16 fma_f16
    order_f16 number_or_f16 min_f16 max_f16 min_nan_f16 max_nan_f16
    xorsign_f16 min_xorsign_abs_f16 max_xorsign_abs_f16 abs_f16 neg_f16);

half_format!("bf16", infinity 0x7f80, one 0x3f80, from bf16_to_f32 to f64_to_bf16_rn,
    is_nan_bf16 canonical_bf16 ftz_bf16 sat_bf16 relu_bf16 fma_bf16
    order_bf16 number_or_bf16 min_bf16 max_bf16 min_nan_bf16 max_nan_bf16
    xorsign_bf16 min_xorsign_abs_bf16 max_xorsign_abs_bf16 abs_bf16 neg_bf16);

#[cfg(test)]
mod tests;
