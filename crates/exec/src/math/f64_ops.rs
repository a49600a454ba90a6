//! `.f64` arithmetic.
//!
//! An operation with a NaN operand delivers the first one (in the order `a`, `b`, `c`), quieted; an
//! invalid operation without one delivers [`INVALID_F64`]. The host's own choice of payload is not
//! relied on, since a compiler may swap operands. `min` and `max` of two NaNs deliver [`NAN_F64`].

use super::round::Rounding;
use super::soft;

/// The NaN that `min` and `max` deliver.
pub const NAN_F64: f64 = f64::from_bits(0x7fff_ffff_ffff_ffff);

/// The NaN that an invalid operation on numbers delivers.
pub const INVALID_F64: f64 = f64::from_bits(0xfff8_0000_0000_0000);

const SIGN: u64 = 1 << 63;
const QUIET: u64 = 1 << 51;

/// Sets the quiet bit of a NaN operand.
#[inline(always)]
fn quiet(x: f64) -> f64 {
    f64::from_bits(x.to_bits() | QUIET)
}

/// The NaN rule for one operand: `result`, unless it is NaN.
#[inline(always)]
pub(crate) fn nan_rule_1(a: f64, result: f64) -> f64 {
    let fresh = if result.is_nan() { INVALID_F64 } else { result };
    if a.is_nan() { quiet(a) } else { fresh }
}

/// The NaN rule for two operands.
#[inline(always)]
fn nan_rule_2(a: f64, b: f64, result: f64) -> f64 {
    let without_a = nan_rule_1(b, result);
    if a.is_nan() { quiet(a) } else { without_a }
}

/// The NaN rule for three operands.
#[inline(always)]
fn nan_rule_3(a: f64, b: f64, c: f64, result: f64) -> f64 {
    let without_a = nan_rule_2(b, c, result);
    if a.is_nan() { quiet(a) } else { without_a }
}

/// Flushes a subnormal number to a zero of the same sign, for the few `.f64` forms with `.ftz`.
#[inline(always)]
pub fn ftz_f64(x: f64) -> f64 {
    let bits = x.to_bits();
    f64::from_bits(if bits & 0x7ff0_0000_0000_0000 == 0 { bits & SIGN } else { bits })
}

/// `.sat`: clamps to `[+0, 1]`; NaN and `-0` become `+0`. Only `cvt` has it for `.f64`.
#[inline(always)]
pub fn sat_f64(x: f64) -> f64 {
    // Written so that NaN fails the first comparison.
    let low = if x > 0.0 { x } else { 0.0 };
    if low < 1.0 { low } else { 1.0 }
}

/// `add.rn`.
#[inline(always)]
pub fn add_rn_f64(a: f64, b: f64) -> f64 {
    nan_rule_2(a, b, a + b)
}

/// `sub.rn`. A NaN in `b` keeps its sign.
#[inline(always)]
pub fn sub_rn_f64(a: f64, b: f64) -> f64 {
    nan_rule_2(a, b, a - b)
}

/// `mul.rn`.
#[inline(always)]
pub fn mul_rn_f64(a: f64, b: f64) -> f64 {
    nan_rule_2(a, b, a * b)
}

/// `div.rn`.
#[inline(always)]
pub fn div_rn_f64(a: f64, b: f64) -> f64 {
    nan_rule_2(a, b, a / b)
}

/// `sqrt.rn`.
#[inline(always)]
pub fn sqrt_rn_f64(a: f64) -> f64 {
    let root = a.sqrt();
    // Compares bits for the reason given at `sqrt_rn_f32`.
    let fresh = if root.to_bits() & !SIGN > 0x7ff0_0000_0000_0000 { INVALID_F64 } else { root };
    if a.is_nan() { quiet(a) } else { fresh }
}

/// `rcp.rn`.
#[inline(always)]
pub fn rcp_rn_f64(a: f64) -> f64 {
    nan_rule_1(a, 1.0 / a)
}

/// `fma.rn`: one instruction where the target is known to have it, a call into libm elsewhere.
#[inline(always)]
pub fn fma_rn_f64(a: f64, b: f64, c: f64) -> f64 {
    nan_rule_3(a, b, c, a.mul_add(b, c))
}

fn value(x: f64) -> soft::Value {
    soft::unpack(x.to_bits(), soft::F64)
}

fn rounded(v: soft::Value, r: Rounding) -> f64 {
    f64::from_bits(soft::pack(v, soft::F64, r))
}

/// `add` with any rounding mode.
#[inline]
pub fn add_f64(a: f64, b: f64, r: Rounding) -> f64 {
    match r {
        Rounding::Rn => add_rn_f64(a, b),
        _ => nan_rule_2(a, b, rounded(soft::add(value(a), value(b), r), r)),
    }
}

/// `sub` with any rounding mode.
#[inline]
pub fn sub_f64(a: f64, b: f64, r: Rounding) -> f64 {
    match r {
        Rounding::Rn => sub_rn_f64(a, b),
        _ => nan_rule_2(a, b, rounded(soft::add(value(a), soft::neg(value(b)), r), r)),
    }
}

/// `mul` with any rounding mode.
#[inline]
pub fn mul_f64(a: f64, b: f64, r: Rounding) -> f64 {
    match r {
        Rounding::Rn => mul_rn_f64(a, b),
        _ => nan_rule_2(a, b, rounded(soft::mul(value(a), value(b)), r)),
    }
}

/// `fma` with any rounding mode.
#[inline]
pub fn fma_f64(a: f64, b: f64, c: f64, r: Rounding) -> f64 {
    match r {
        Rounding::Rn => fma_rn_f64(a, b, c),
        _ => nan_rule_3(a, b, c, rounded(soft::fma(value(a), value(b), value(c), r), r)),
    }
}

/// `div` with any rounding mode.
#[inline]
pub fn div_f64(a: f64, b: f64, r: Rounding) -> f64 {
    match r {
        Rounding::Rn => div_rn_f64(a, b),
        _ => nan_rule_2(a, b, rounded(soft::div(value(a), value(b)), r)),
    }
}

/// `sqrt` with any rounding mode.
#[inline]
pub fn sqrt_f64(a: f64, r: Rounding) -> f64 {
    match r {
        Rounding::Rn => sqrt_rn_f64(a),
        _ => nan_rule_1(a, rounded(soft::sqrt(value(a)), r)),
    }
}

/// `rcp` with any rounding mode.
#[inline]
pub fn rcp_f64(a: f64, r: Rounding) -> f64 {
    div_f64(1.0, a, r)
}

/// Maps a number to an integer of the same order, with `-0` below `+0`.
#[inline(always)]
fn order(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    bits ^ ((bits >> 63) & i64::MAX)
}

/// `min`: a NaN loses against a number, `-0` is below `+0`, two NaNs give [`NAN_F64`].
#[inline(always)]
pub fn min_f64(a: f64, b: f64) -> f64 {
    let least = if order(a) < order(b) { a } else { b };
    number_or(a, b, least)
}

/// `max`: a NaN loses against a number, `+0` is above `-0`, two NaNs give [`NAN_F64`].
#[inline(always)]
pub fn max_f64(a: f64, b: f64) -> f64 {
    let greatest = if order(a) > order(b) { a } else { b };
    number_or(a, b, greatest)
}

/// `chosen` if neither operand is NaN, else the one that is a number.
#[inline(always)]
fn number_or(a: f64, b: f64, chosen: f64) -> f64 {
    let without_a = if a.is_nan() { b } else { chosen };
    let number = if b.is_nan() { a } else { without_a };
    if number.is_nan() { NAN_F64 } else { number }
}

/// `abs`: clears the sign bit, also of a NaN.
#[inline(always)]
pub fn abs_f64(a: f64) -> f64 {
    f64::from_bits(a.to_bits() & !SIGN)
}

/// `neg`: flips the sign bit, also of a NaN.
#[inline(always)]
pub fn neg_f64(a: f64) -> f64 {
    f64::from_bits(a.to_bits() ^ SIGN)
}

/// `copysign d, a, b`: the value of `b` with the sign of `a`.
///
/// Mind the order, which is the reverse of C's `copysign`.
#[inline(always)]
pub fn copysign_f64(a: f64, b: f64) -> f64 {
    f64::from_bits(a.to_bits() & SIGN | b.to_bits() & !SIGN)
}

#[cfg(test)]
mod tests;
