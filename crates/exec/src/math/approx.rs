//! Approximate functions: `.approx` and `.full`.
//!
//! The ISA bounds the error of these instructions and leaves the bits open; hardware generations differ.
//! Here every `.f32` function is correctly rounded, which lies inside every documented bound and gives
//! the same bits on every host. What the ISA does fix, it tabulates: results for zeros, infinities,
//! NaN and, with `.ftz`, subnormal numbers. The correctly rounded functions agree with those tables once
//! the caller flushes operand and result, so `.ftz` needs no second set of functions:
//!
//! | `a` | `rcp` | `sqrt` | `rsqrt` | `lg2` | `ex2` | `sin` | `cos` | `tanh` |
//! |---|---|---|---|---|---|---|---|---|
//! | `-inf` | `-0` | NaN | NaN | NaN | `+0` | NaN | NaN | `-1` |
//! | negative | | NaN | NaN | NaN | | | | |
//! | `-0` | `-inf` | `-0` | `-inf` | `-inf` | `1` | `-0` | `1` | `-0` |
//! | `+0` | `+inf` | `+0` | `+inf` | `-inf` | `1` | `+0` | `1` | `+0` |
//! | `+inf` | `+0` | `+inf` | `+0` | `+inf` | `+inf` | NaN | NaN | `1` |
//! | NaN | NaN | NaN | NaN | NaN | NaN | NaN | NaN | NaN |
//!
//! Where this is kinder than hardware: `sin` and `cos` stay accurate for arguments of any size, while the
//! hardware's error grows with the argument.

use super::f32_ops::{NAN_F32, canonical_f32, div_rn_f32, rcp_rn_f32, sqrt_rn_f32};
use super::f64_ops::{ftz_f64, nan_rule_1};

/// `rcp.approx.f32` (ISA: within 1 ulp).
#[inline(always)]
pub fn rcp_approx_f32(a: f32) -> f32 {
    rcp_rn_f32(a)
}

/// `div.approx.f32` (ISA: within 2 ulp for `|b|` in `[2^-126, 2^126]`).
///
/// The instruction multiplies by a reciprocal, which underflows above that range. The ISA fixes the
/// outcome there: NaN for an infinite `a`, otherwise a zero with the sign of the quotient.
#[inline(always)]
pub fn div_approx_f32(a: f32, b: f32) -> f32 {
    const LIMIT: f32 = f32::from_bits((127 + 126) << 23);
    let quotient = div_rn_f32(a, b);
    let underflowed = if a.is_finite() { 0f32.copysign(quotient) } else { NAN_F32 };
    if b.abs() > LIMIT { underflowed } else { quotient }
}

/// `div.full.f32` (ISA: within 2 ulp over the full range).
#[inline(always)]
pub fn div_full_f32(a: f32, b: f32) -> f32 {
    div_rn_f32(a, b)
}

/// `sqrt.approx.f32` (ISA: relative error within 2^-23).
#[inline(always)]
pub fn sqrt_approx_f32(a: f32) -> f32 {
    sqrt_rn_f32(a)
}

/// `rsqrt.approx.f32` (ISA: relative error within 2^-22.9).
#[inline]
pub fn rsqrt_approx_f32(a: f32) -> f32 {
    canonical_f32(core_math::rsqrtf(a))
}

/// `sin.approx.f32` (ISA: absolute error within 2^-20.5 in `[-2pi, 2pi]`, 2^-14.7 in `[-100pi, 100pi]`).
#[inline]
pub fn sin_approx_f32(a: f32) -> f32 {
    canonical_f32(core_math::sinf(a))
}

/// `cos.approx.f32` (ISA: absolute error within 2^-20.5 in `[-2pi, 2pi]`, 2^-14.7 in `[-100pi, 100pi]`).
#[inline]
pub fn cos_approx_f32(a: f32) -> f32 {
    canonical_f32(core_math::cosf(a))
}

/// `lg2.approx.f32` (ISA: absolute error within 2^-22 in `(0.5, 2)`, else the relative one).
#[inline]
pub fn lg2_approx_f32(a: f32) -> f32 {
    canonical_f32(core_math::log2f(a))
}

/// `ex2.approx.f32` (ISA: within 2 ulp).
#[inline]
pub fn ex2_approx_f32(a: f32) -> f32 {
    canonical_f32(core_math::exp2f(a))
}

/// `tanh.approx.f32` (ISA: relative error within 2^-11).
#[inline]
pub fn tanh_approx_f32(a: f32) -> f32 {
    canonical_f32(core_math::tanhf(a))
}

/// The NaN of the coarse `.f64` approximations.
const COARSE_NAN: f64 = f64::from_bits(0x7fff_ffff_0000_0000);

/// The upper word of `x`: a double with 20 fraction bits.
#[inline(always)]
fn upper_word(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0xffff_ffff_0000_0000)
}

/// Finishes a coarse approximation: cut to the upper word, flushed, with its own NaN.
#[inline(always)]
fn coarse(result: f64) -> f64 {
    if result.is_nan() { COARSE_NAN } else { ftz_f64(upper_word(result)) }
}

/// `rcp.approx.ftz.f64`: reads and writes upper words only; the lower word of the result is zero.
///
/// The ISA calls it a gross approximation and gives no bound. The reciprocal of the operand's upper word
/// is exact here up to the final cut. Cutting comes first, so a NaN whose payload lies in the lower word
/// reads as an infinity. Subnormal operands and results are flushed.
#[inline]
pub fn rcp_approx_ftz_f64(a: f64) -> f64 {
    coarse(1.0 / ftz_f64(upper_word(a)))
}

/// `rsqrt.approx.ftz.f64`: reads and writes upper words only, like [`rcp_approx_ftz_f64`].
#[inline]
pub fn rsqrt_approx_ftz_f64(a: f64) -> f64 {
    coarse(core_math::rsqrt(ftz_f64(upper_word(a))))
}

/// `rsqrt.approx.f64`: correctly rounded, with subnormal operands; NaN as in [`super::f64_ops`].
#[inline]
pub fn rsqrt_approx_f64(a: f64) -> f64 {
    nan_rule_1(a, core_math::rsqrt(a))
}

#[cfg(test)]
mod tests {
    use super::super::f32_ops::ftz_f32;
    use super::*;
    use crate::math::testing::{Rng, edges_f32};

    const CASES: usize = 200_000;

    /// One column of the table of special values, from `-inf` to NaN.
    fn check_specials(f: fn(f32) -> f32, want: [f32; 6]) {
        let inputs = [f32::NEG_INFINITY, -1.5, -0.0, 0.0, f32::INFINITY, -f32::NAN];
        for (x, want) in inputs.into_iter().zip(want) {
            // A blank cell of the table is an ordinary result.
            if x == -1.5 && !want.is_nan() {
                continue;
            }
            let want = canonical_f32(want).to_bits();
            assert_eq!(f(x).to_bits(), want, "{x}");
            if x == 0.0 {
                let subnormal = f32::from_bits(x.to_bits() | 0x7f_ffff);
                assert_eq!(ftz_f32(f(ftz_f32(subnormal))).to_bits(), want, "flushed {subnormal:e}");
            }
        }
    }

    #[test]
    fn special_values_are_those_of_the_isa() {
        const NAN: f32 = f32::NAN;
        const INF: f32 = f32::INFINITY;
        check_specials(rcp_approx_f32, [-0.0, 0.0, -INF, INF, 0.0, NAN]);
        check_specials(sqrt_approx_f32, [NAN, NAN, -0.0, 0.0, INF, NAN]);
        check_specials(rsqrt_approx_f32, [NAN, NAN, -INF, INF, 0.0, NAN]);
        check_specials(lg2_approx_f32, [NAN, NAN, -INF, -INF, INF, NAN]);
        check_specials(ex2_approx_f32, [0.0, 0.0, 1.0, 1.0, INF, NAN]);
        check_specials(sin_approx_f32, [NAN, 0.0, -0.0, 0.0, NAN, NAN]);
        check_specials(cos_approx_f32, [NAN, 0.0, 1.0, 1.0, NAN, NAN]);
        check_specials(tanh_approx_f32, [-1.0, 0.0, -0.0, 0.0, 1.0, NAN]);
    }

    /// Whether `got` is `want` within a relative error, or within the last place of a subnormal number.
    fn close(got: f32, want: f64, relative: f64) -> bool {
        let error = (f64::from(got) - want).abs();
        error <= want.abs() * relative || error <= f64::from(f32::from_bits(1)) || want.abs() > f32::MAX.into()
    }

    #[test]
    fn errors_are_within_the_documented_bounds() {
        let mut rng = Rng::new(1);
        for x in edges_f32().into_iter().chain((0..CASES).map(|_| rng.f32())) {
            if !x.is_finite() {
                continue;
            }
            let wide = f64::from(x);
            assert!(close(ex2_approx_f32(x), core_math::exp2(wide), 2f64.powf(-22.5)), "ex2 {x:e}");
            assert!(close(tanh_approx_f32(x), core_math::tanh(wide), 2f64.powi(-11)), "tanh {x:e}");
            if x.abs() <= 100.0 * std::f32::consts::PI {
                assert!((f64::from(sin_approx_f32(x)) - core_math::sin(wide)).abs() <= 2f64.powf(-20.5), "sin {x:e}");
                assert!((f64::from(cos_approx_f32(x)) - core_math::cos(wide)).abs() <= 2f64.powf(-20.5), "cos {x:e}");
            }
            if x != 0.0 {
                assert!(close(rcp_approx_f32(x), 1.0 / wide, 2f64.powi(-23)), "rcp {x:e}");
            }
            if x > 0.0 {
                assert!(close(sqrt_approx_f32(x), wide.sqrt(), 2f64.powi(-23)), "sqrt {x:e}");
                assert!(close(rsqrt_approx_f32(x), core_math::rsqrt(wide), 2f64.powf(-22.9)), "rsqrt {x:e}");
                assert!(close(lg2_approx_f32(x), core_math::log2(wide), 2f64.powi(-22)), "lg2 {x:e}");
            }
        }
    }

    #[test]
    fn approximate_division_gives_up_on_large_divisors() {
        let (limit, above) = (2f32.powi(126), f32::from_bits(2f32.powi(126).to_bits() + 1));
        assert_eq!(div_approx_f32(limit, limit), 1.0);
        assert_eq!(div_approx_f32(-above, above).to_bits(), (-0f32).to_bits());
        assert_eq!(div_approx_f32(3.0, f32::MAX).to_bits(), 0);
        assert_eq!(div_approx_f32(f32::INFINITY, above).to_bits(), 0x7fff_ffff);
        assert_eq!(div_approx_f32(f32::NAN, above).to_bits(), 0x7fff_ffff);
        assert_eq!(div_approx_f32(3.0, f32::NEG_INFINITY).to_bits(), (-0f32).to_bits());
        assert_eq!(div_approx_f32(3.0, -0.0), f32::NEG_INFINITY);
        assert_eq!(div_approx_f32(3.0, f32::NAN).to_bits(), 0x7fff_ffff);
        assert_eq!(div_full_f32(f32::MAX, f32::MAX), 1.0);
    }

    #[test]
    fn coarse_doubles_use_upper_words() {
        let mut rng = Rng::new(2);
        for _ in 0..CASES {
            let x = f64::from_bits(rng.u64() & !(1 << 63));
            if !x.is_normal() || x > 1e307 {
                continue;
            }
            // Both cuts lose less than 2^-20 of the value.
            let (rcp, rsqrt) = (rcp_approx_ftz_f64(x), rsqrt_approx_ftz_f64(x));
            assert!((rcp * x - 1.0).abs() <= 2f64.powi(-19), "rcp {x:e}: {rcp:e}");
            assert!((rsqrt * x.sqrt() - 1.0).abs() <= 2f64.powi(-19), "rsqrt {x:e}: {rsqrt:e}");
            assert_eq!((rcp.to_bits() | rsqrt.to_bits()) << 32, 0);
        }
        let specials = [
            (0x7ff0_0000_0000_0000, 0, 0),
            (0xfff0_0000_0000_0000, 0x8000_0000_0000_0000, 0x7fff_ffff_0000_0000),
            (0x8000_0000_0000_0000, 0xfff0_0000_0000_0000, 0xfff0_0000_0000_0000),
            (0x000f_ffff_ffff_ffff, 0x7ff0_0000_0000_0000, 0x7ff0_0000_0000_0000),
            (0x7ff8_0000_0000_0000, 0x7fff_ffff_0000_0000, 0x7fff_ffff_0000_0000),
            (0x7ff0_0000_0000_0001, 0, 0),
            (0xbff0_0000_0000_0000, 0xbff0_0000_0000_0000, 0x7fff_ffff_0000_0000),
            (0x3ff0_0000_0000_0001, 0x3ff0_0000_0000_0000, 0x3ff0_0000_0000_0000),
            // A reciprocal below the normal range is flushed.
            (0x7fe8_0000_0000_0000, 0, 0x1ff2_79a7_0000_0000),
        ];
        for (x, rcp, rsqrt) in specials {
            assert_eq!(rcp_approx_ftz_f64(f64::from_bits(x)).to_bits(), rcp, "rcp {x:#x}");
            assert_eq!(rsqrt_approx_ftz_f64(f64::from_bits(x)).to_bits(), rsqrt, "rsqrt {x:#x}");
        }
        assert_eq!(rsqrt_approx_f64(4.0), 0.5);
        assert_eq!(rsqrt_approx_f64(5e-324), core_math::rsqrt(5e-324));
        assert_eq!(rsqrt_approx_f64(-1.0).to_bits(), 0xfff8_0000_0000_0000);
        assert_eq!(rsqrt_approx_f64(f64::from_bits(0x7ff0_0000_0000_0001)).to_bits(), 0x7ff8_0000_0000_0001);
    }
}
