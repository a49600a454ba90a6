//! `.f32` arithmetic.
//!
//! Every operation whose result is NaN delivers [`NAN_F32`], whatever the operands' payloads, as the
//! hardware does. `neg`, `abs` and `copysign` only touch the sign bit and keep a payload; the ISA leaves
//! it unspecified there.

use super::round::Rounding;
use super::soft;
use raddle_ptx::num::{low32, nearest_f32};

/// The canonical NaN.
pub const NAN_F32: f32 = f32::from_bits(0x7fff_ffff);

const SIGN: u32 = 0x8000_0000;

/// Replaces any NaN by [`NAN_F32`].
#[inline(always)]
pub fn canonical_f32(x: f32) -> f32 {
    if x.is_nan() { NAN_F32 } else { x }
}

/// `.ftz`: a subnormal number becomes a zero of the same sign.
#[inline(always)]
pub fn ftz_f32(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & SIGN } else { bits })
}

/// `.sat`: clamps to `[+0, 1]`; NaN and `-0` become `+0`.
#[inline(always)]
pub fn sat_f32(x: f32) -> f32 {
    // Written so that NaN fails the first comparison.
    let low = if x > 0.0 { x } else { 0.0 };
    if low < 1.0 { low } else { 1.0 }
}

/// `add.rn`.
#[inline(always)]
pub fn add_rn_f32(a: f32, b: f32) -> f32 {
    canonical_f32(a + b)
}

/// `sub.rn`.
#[inline(always)]
pub fn sub_rn_f32(a: f32, b: f32) -> f32 {
    canonical_f32(a - b)
}

/// `mul.rn`.
#[inline(always)]
pub fn mul_rn_f32(a: f32, b: f32) -> f32 {
    canonical_f32(a * b)
}

/// `div.rn`.
#[inline(always)]
pub fn div_rn_f32(a: f32, b: f32) -> f32 {
    canonical_f32(a / b)
}

/// `sqrt.rn`.
#[inline(always)]
pub fn sqrt_rn_f32(a: f32) -> f32 {
    let root = a.sqrt();
    // Not `canonical_f32`: LLVM turns "is the root NaN" into "is the operand not >= 0" and then drops
    // the whole select, taking the host's NaN for as good as ours. A comparison of bits survives.
    if root.to_bits() & !SIGN > 0x7f80_0000 { NAN_F32 } else { root }
}

/// `rcp.rn`.
#[inline(always)]
pub fn rcp_rn_f32(a: f32) -> f32 {
    canonical_f32(1.0 / a)
}

/// `fma.rn`.
///
/// Uses the host's instruction where the target is known to have one, and otherwise double
/// precision ([`fma_rn_f32_portable`]) rather than a call into libm. Both give the same bits.
#[inline(always)]
pub fn fma_rn_f32(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(target_feature = "fma") { fma_rn_f32_host(a, b, c) } else { fma_rn_f32_portable(a, b, c) }
}

/// `fma.rn` by the host's fused multiply-add: one instruction inside a function compiled for a
/// target that has it, a call into libm elsewhere.
#[inline(always)]
pub fn fma_rn_f32_host(a: f32, b: f32, c: f32) -> f32 {
    canonical_f32(a.mul_add(b, c))
}

/// `fma.rn` out of double-precision operations, which vectorise on any host.
#[inline(always)]
pub fn fma_rn_f32_portable(a: f32, b: f32, c: f32) -> f32 {
    canonical_f32(nearest_f32(sum_to_odd(f64::from(a) * f64::from(b), f64::from(c))))
}

/// `p + c` rounded to odd: truncated, with the last bit set if anything was lost.
///
/// A value rounded to odd can be rounded again, to a format at least two bits shorter, as if it were
/// exact; that is what makes a fused multiply-add out of an exact product and this sum. `p` and `c`
/// must be far enough from overflow for the error of the sum to be a double.
#[inline(always)]
pub(super) fn sum_to_odd(p: f64, c: f64) -> f64 {
    let sum = p + c;
    // Knuth's two-sum: `sum + error` is `p + c` exactly.
    let c_part = sum - p;
    let error = (p - (sum - c_part)) + (c - c_part);
    let bits = sum.to_bits();
    // One if the sum is inexact and even; the comparison fails for the NaN that an infinite sum makes
    // of the error. Then one bit up if the exact value lies outward of the sum, one down if inward,
    // without comparisons, which vectorise poorly on 64-bit integers.
    let step = if error.abs() > 0.0 { !bits & 1 } else { 0 };
    let inward = (bits ^ error.to_bits()) >> 63;
    f64::from_bits(bits.wrapping_add(step).wrapping_sub((step & inward) << 1))
}

fn value(x: f32) -> soft::Value {
    soft::unpack(u64::from(x.to_bits()), soft::F32)
}

fn rounded(v: soft::Value, r: Rounding) -> f32 {
    canonical_f32(f32::from_bits(low32(soft::pack(v, soft::F32, r))))
}

/// `add` with any rounding mode.
#[inline]
pub fn add_f32(a: f32, b: f32, r: Rounding) -> f32 {
    match r {
        Rounding::Rn => add_rn_f32(a, b),
        _ => rounded(soft::add(value(a), value(b), r), r),
    }
}

/// `sub` with any rounding mode.
#[inline]
pub fn sub_f32(a: f32, b: f32, r: Rounding) -> f32 {
    match r {
        Rounding::Rn => sub_rn_f32(a, b),
        _ => rounded(soft::add(value(a), soft::neg(value(b)), r), r),
    }
}

/// `mul` with any rounding mode.
#[inline]
pub fn mul_f32(a: f32, b: f32, r: Rounding) -> f32 {
    match r {
        Rounding::Rn => mul_rn_f32(a, b),
        _ => rounded(soft::mul(value(a), value(b)), r),
    }
}

/// `fma` with any rounding mode.
#[inline]
pub fn fma_f32(a: f32, b: f32, c: f32, r: Rounding) -> f32 {
    match r {
        Rounding::Rn => fma_rn_f32(a, b, c),
        _ => rounded(soft::fma(value(a), value(b), value(c), r), r),
    }
}

/// `div` with any rounding mode.
#[inline]
pub fn div_f32(a: f32, b: f32, r: Rounding) -> f32 {
    match r {
        Rounding::Rn => div_rn_f32(a, b),
        _ => rounded(soft::div(value(a), value(b)), r),
    }
}

/// `sqrt` with any rounding mode.
#[inline]
pub fn sqrt_f32(a: f32, r: Rounding) -> f32 {
    match r {
        Rounding::Rn => sqrt_rn_f32(a),
        _ => rounded(soft::sqrt(value(a)), r),
    }
}

/// `rcp` with any rounding mode.
#[inline]
pub fn rcp_f32(a: f32, r: Rounding) -> f32 {
    div_f32(1.0, a, r)
}

/// Maps a number to an integer of the same order, with `-0` below `+0`.
#[inline(always)]
fn order(x: f32) -> i32 {
    let bits = x.to_bits() as i32;
    bits ^ ((bits >> 31) & 0x7fff_ffff)
}

/// `min`: a NaN loses against a number, `-0` is below `+0`, two NaNs give [`NAN_F32`].
#[inline(always)]
pub fn min_f32(a: f32, b: f32) -> f32 {
    let least = if order(a) < order(b) { a } else { b };
    number_or(a, b, least)
}

/// `max`: a NaN loses against a number, `+0` is above `-0`, two NaNs give [`NAN_F32`].
#[inline(always)]
pub fn max_f32(a: f32, b: f32) -> f32 {
    let greatest = if order(a) > order(b) { a } else { b };
    number_or(a, b, greatest)
}

/// `chosen` if neither operand is NaN, else the one that is a number.
#[inline(always)]
fn number_or(a: f32, b: f32, chosen: f32) -> f32 {
    let without_a = if a.is_nan() { b } else { chosen };
    canonical_f32(if b.is_nan() { a } else { without_a })
}

/// `min.NaN`: any NaN operand makes the result [`NAN_F32`].
#[inline(always)]
pub fn min_nan_f32(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { NAN_F32 } else { min_f32(a, b) }
}

/// `max.NaN`: any NaN operand makes the result [`NAN_F32`].
#[inline(always)]
pub fn max_nan_f32(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { NAN_F32 } else { max_f32(a, b) }
}

/// Sign of `min.xorsign.abs` and `max.xorsign.abs`: applied unless the result is NaN.
#[inline(always)]
fn xorsign(a: f32, b: f32, magnitude: f32) -> f32 {
    let sign = (a.to_bits() ^ b.to_bits()) & SIGN;
    if magnitude.is_nan() { magnitude } else { f32::from_bits(magnitude.to_bits() | sign) }
}

/// `min.xorsign.abs`, with `.NaN` if `nan`: the smaller magnitude, with the product of the signs.
#[inline(always)]
pub fn min_xorsign_abs_f32(a: f32, b: f32, nan: bool) -> f32 {
    let (x, y) = (abs_f32(a), abs_f32(b));
    xorsign(a, b, if nan { min_nan_f32(x, y) } else { min_f32(x, y) })
}

/// `max.xorsign.abs`, with `.NaN` if `nan`: the larger magnitude, with the product of the signs.
#[inline(always)]
pub fn max_xorsign_abs_f32(a: f32, b: f32, nan: bool) -> f32 {
    let (x, y) = (abs_f32(a), abs_f32(b));
    xorsign(a, b, if nan { max_nan_f32(x, y) } else { max_f32(x, y) })
}

/// `abs`: clears the sign bit, also of a NaN.
#[inline(always)]
pub fn abs_f32(a: f32) -> f32 {
    f32::from_bits(a.to_bits() & !SIGN)
}

/// `neg`: flips the sign bit, also of a NaN.
#[inline(always)]
pub fn neg_f32(a: f32) -> f32 {
    f32::from_bits(a.to_bits() ^ SIGN)
}

/// `copysign d, a, b`: the value of `b` with the sign of `a`.
///
/// Mind the order, which is the reverse of C's `copysign`.
#[inline(always)]
pub fn copysign_f32(a: f32, b: f32) -> f32 {
    f32::from_bits(a.to_bits() & SIGN | b.to_bits() & !SIGN)
}

#[cfg(test)]
mod tests;
