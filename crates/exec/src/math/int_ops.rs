//! Integer arithmetic that is more than a wrapping host operation.
//!
//! `add`, `sub`, `mul.lo`, `min`, `max`, `and`, `or`, `xor`, `not` are the host's; what is here has a
//! corner that PTX fixes (shift amounts beyond the width) or leaves open (division by zero).
//!
//! # Choices
//!
//! * Division by zero is unspecified. The quotient is all ones and the remainder is the dividend, signed
//!   or not; it does not trap, like the hardware.
//! * The most negative number divided by -1 wraps to itself, with remainder zero.
//! * `abs` and `neg` of the most negative number wrap to itself.

use raddle_ptx::num::{low8, low16, low32};

macro_rules! per_width {
    ($unsigned:ty, $signed:ty, $wide:ty, $wide_signed:ty, $bits:literal,
     $shl:ident $shr_u:ident $shr_s:ident $div_u:ident $div_s:ident $rem_u:ident $rem_s:ident
     $mul_hi_u:ident $mul_hi_s:ident $sad_u:ident $sad_s:ident $abs:ident) => {
        #[doc = concat!("`shl.b", $bits, "`: shifting by the width or more leaves zero.")]
        #[inline(always)]
        pub fn $shl(a: $unsigned, amount: u32) -> $unsigned {
            if amount < $bits { a << amount } else { 0 }
        }

        #[doc = concat!("`shr.u", $bits, "` and `shr.b", $bits, "`: shifting by the width or more leaves zero.")]
        #[inline(always)]
        pub fn $shr_u(a: $unsigned, amount: u32) -> $unsigned {
            if amount < $bits { a >> amount } else { 0 }
        }

        #[doc = concat!("`shr.s", $bits, "`: shifting by the width or more leaves copies of the sign.")]
        #[inline(always)]
        pub fn $shr_s(a: $signed, amount: u32) -> $signed {
            a >> amount.min($bits - 1)
        }

        #[doc = concat!("`div.u", $bits, "`: all ones for a zero divisor.")]
        #[inline(always)]
        pub fn $div_u(a: $unsigned, b: $unsigned) -> $unsigned {
            a.checked_div(b).unwrap_or(<$unsigned>::MAX)
        }

        #[doc = concat!("`div.s", $bits, "`: truncates; -1 for a zero divisor, wraps on overflow.")]
        #[inline(always)]
        pub fn $div_s(a: $signed, b: $signed) -> $signed {
            if b == 0 { -1 } else { a.wrapping_div(b) }
        }

        #[doc = concat!("`rem.u", $bits, "`: the dividend for a zero divisor.")]
        #[inline(always)]
        pub fn $rem_u(a: $unsigned, b: $unsigned) -> $unsigned {
            a.checked_rem(b).unwrap_or(a)
        }

        #[doc = concat!("`rem.s", $bits, "`: the sign of the dividend; the dividend for a zero divisor.")]
        #[inline(always)]
        pub fn $rem_s(a: $signed, b: $signed) -> $signed {
            if b == 0 { a } else { a.wrapping_rem(b) }
        }

        #[doc = concat!("`mul.hi.u", $bits, "`: the upper half of the product.")]
        #[inline(always)]
        pub fn $mul_hi_u(a: $unsigned, b: $unsigned) -> $unsigned {
            ((<$wide>::from(a) * <$wide>::from(b)) >> $bits) as $unsigned
        }

        #[doc = concat!("`mul.hi.s", $bits, "`: the upper half of the product.")]
        #[inline(always)]
        pub fn $mul_hi_s(a: $signed, b: $signed) -> $signed {
            ((<$wide_signed>::from(a) * <$wide_signed>::from(b)) >> $bits) as $signed
        }

        #[doc = concat!("`sad.u", $bits, "`: `c + |a - b|`, wrapping.")]
        #[inline(always)]
        pub fn $sad_u(a: $unsigned, b: $unsigned, c: $unsigned) -> $unsigned {
            c.wrapping_add(a.abs_diff(b))
        }

        #[doc = concat!("`sad.s", $bits, "`: `c + |a - b|`, wrapping.")]
        #[inline(always)]
        pub fn $sad_s(a: $signed, b: $signed, c: $signed) -> $signed {
            c.wrapping_add_unsigned(a.abs_diff(b))
        }

        #[doc = concat!("`abs.s", $bits, "`: the most negative number stays as it is.")]
        #[inline(always)]
        pub fn $abs(a: $signed) -> $signed {
            a.wrapping_abs()
        }
    };
}

per_width!(u16, i16, u32, i32, 16, shl_b16 shr_u16 shr_s16 div_u16 div_s16 rem_u16 rem_s16
    mul_hi_u16 mul_hi_s16 sad_u16 sad_s16 abs_s16);
per_width!(u32, i32, u64, i64, 32, shl_b32 shr_u32 shr_s32 div_u32 div_s32 rem_u32 rem_s32
    mul_hi_u32 mul_hi_s32 sad_u32 sad_s32 abs_s32);
per_width!(u64, i64, u128, i128, 64, shl_b64 shr_u64 shr_s64 div_u64 div_s64 rem_u64 rem_s64
    mul_hi_u64 mul_hi_s64 sad_u64 sad_s64 abs_s64);

macro_rules! carries {
    ($unsigned:ty, $signed:ty, $type:literal,
     $add_cc:ident $sub_cc:ident $mul_hi_u:ident $mul_hi_s:ident
     $mad_lo_cc:ident $mad_hi_u_cc:ident $mad_hi_s_cc:ident) => {
        #[doc = concat!("`add.cc.", $type, "` and `addc.", $type, "`: `a + b + carry` and the carry out.")]
        #[inline(always)]
        pub fn $add_cc(a: $unsigned, b: $unsigned, carry: bool) -> ($unsigned, bool) {
            let (sum, first) = a.overflowing_add(b);
            let (sum, second) = sum.overflowing_add(carry.into());
            (sum, first | second)
        }

        #[doc = concat!("`sub.cc.", $type, "` and `subc.", $type, "`: `a - (b + borrow)` and the borrow out.")]
        ///
        /// The condition code holds the borrow itself, not its complement.
        #[inline(always)]
        pub fn $sub_cc(a: $unsigned, b: $unsigned, borrow: bool) -> ($unsigned, bool) {
            let (difference, first) = a.overflowing_sub(b);
            let (difference, second) = difference.overflowing_sub(borrow.into());
            (difference, first | second)
        }

        #[doc = concat!("`mad.lo.cc` and `madc.lo` of ", $type, " operands: lower half of `a * b`, plus `c` and carry.")]
        #[inline(always)]
        pub fn $mad_lo_cc(a: $unsigned, b: $unsigned, c: $unsigned, carry: bool) -> ($unsigned, bool) {
            $add_cc(a.wrapping_mul(b), c, carry)
        }

        #[doc = concat!("`mad.hi.cc` and `madc.hi`, unsigned, ", $type, ": upper half of `a * b`, plus `c` and carry.")]
        #[inline(always)]
        pub fn $mad_hi_u_cc(a: $unsigned, b: $unsigned, c: $unsigned, carry: bool) -> ($unsigned, bool) {
            $add_cc($mul_hi_u(a, b), c, carry)
        }

        #[doc = concat!("`mad.hi.cc` and `madc.hi`, signed, ", $type, ": upper half of `a * b`, plus `c` and carry.")]
        #[inline(always)]
        pub fn $mad_hi_s_cc(a: $signed, b: $signed, c: $signed, carry: bool) -> ($signed, bool) {
            let (sum, carry) = $add_cc($mul_hi_s(a, b) as $unsigned, c as $unsigned, carry);
            (sum as $signed, carry)
        }
    };
}

carries!(u32, i32, "32-bit", add_cc_u32 sub_cc_u32 mul_hi_u32 mul_hi_s32
    mad_lo_cc_u32 mad_hi_cc_u32 mad_hi_cc_s32);
carries!(u64, i64, "64-bit", add_cc_u64 sub_cc_u64 mul_hi_u64 mul_hi_s64
    mad_lo_cc_u64 mad_hi_cc_u64 mad_hi_cc_s64);

/// `add.sat.s32`: clamps instead of wrapping.
#[inline(always)]
pub fn add_sat_s32(a: i32, b: i32) -> i32 {
    a.saturating_add(b)
}

/// `sub.sat.s32`: clamps instead of wrapping.
#[inline(always)]
pub fn sub_sat_s32(a: i32, b: i32) -> i32 {
    a.saturating_sub(b)
}

/// `mad.hi.sat.s32`: the upper half of the product plus `c`, clamped.
#[inline(always)]
pub fn mad_hi_sat_s32(a: i32, b: i32, c: i32) -> i32 {
    mul_hi_s32(a, b).saturating_add(c)
}

/// The low 24 bits, zero-extended.
#[inline(always)]
fn low24_u32(a: u32) -> u64 {
    u64::from(a & 0xff_ffff)
}

/// The low 24 bits, sign-extended.
#[inline(always)]
fn low24_s32(a: i32) -> i64 {
    i64::from(a << 8 >> 8)
}

/// `mul24.lo.u32`: bits 31..0 of the 48-bit product of the low 24 bits.
#[inline(always)]
pub fn mul24_lo_u32(a: u32, b: u32) -> u32 {
    low32(low24_u32(a) * low24_u32(b))
}

/// `mul24.lo.s32`: bits 31..0 of the 48-bit product of the low 24 bits.
#[inline(always)]
pub fn mul24_lo_s32(a: i32, b: i32) -> i32 {
    low32((low24_s32(a) * low24_s32(b)).cast_unsigned()).cast_signed()
}

/// `mul24.hi.u32`: bits 47..16 of the 48-bit product of the low 24 bits.
#[inline(always)]
pub fn mul24_hi_u32(a: u32, b: u32) -> u32 {
    low32((low24_u32(a) * low24_u32(b)) >> 16)
}

/// `mul24.hi.s32`: bits 47..16 of the 48-bit product of the low 24 bits.
#[inline(always)]
pub fn mul24_hi_s32(a: i32, b: i32) -> i32 {
    low32(((low24_s32(a) * low24_s32(b)) >> 16).cast_unsigned()).cast_signed()
}

/// `mad24.lo.u32`.
#[inline(always)]
pub fn mad24_lo_u32(a: u32, b: u32, c: u32) -> u32 {
    mul24_lo_u32(a, b).wrapping_add(c)
}

/// `mad24.lo.s32`.
#[inline(always)]
pub fn mad24_lo_s32(a: i32, b: i32, c: i32) -> i32 {
    mul24_lo_s32(a, b).wrapping_add(c)
}

/// `mad24.hi.u32`.
#[inline(always)]
pub fn mad24_hi_u32(a: u32, b: u32, c: u32) -> u32 {
    mul24_hi_u32(a, b).wrapping_add(c)
}

/// `mad24.hi.s32`.
#[inline(always)]
pub fn mad24_hi_s32(a: i32, b: i32, c: i32) -> i32 {
    mul24_hi_s32(a, b).wrapping_add(c)
}

/// `mad24.hi.sat.s32`: clamps instead of wrapping.
#[inline(always)]
pub fn mad24_hi_sat_s32(a: i32, b: i32, c: i32) -> i32 {
    mul24_hi_s32(a, b).saturating_add(c)
}

/// Byte `i` of `x`, extended as signed or unsigned.
#[inline(always)]
fn byte(x: u32, i: u32, signed: bool) -> i32 {
    let b = low8(u64::from(x >> (8 * i)));
    if signed { i32::from(b as i8) } else { i32::from(b) }
}

/// `dp4a`: `c` plus the dot product of four bytes with four bytes, wrapping.
#[inline(always)]
pub fn dp4a(a: u32, a_signed: bool, b: u32, b_signed: bool, c: u32) -> u32 {
    let product = |i| byte(a, i, a_signed) * byte(b, i, b_signed);
    let dot = product(0) + product(1) + product(2) + product(3);
    c.wrapping_add_signed(dot)
}

/// `dp2a`: `c` plus the dot product of two 16-bit values with the two lower bytes of `b` (`.lo`), or
/// with the two upper ones if `hi` (`.hi`), wrapping.
#[inline(always)]
pub fn dp2a(a: u32, a_signed: bool, b: u32, b_signed: bool, hi: bool, c: u32) -> u32 {
    let half = |i: u32| {
        let h = low16(u64::from(a >> (16 * i)));
        if a_signed { i32::from(h as i16) } else { i32::from(h) }
    };
    let first = if hi { 2 } else { 0 };
    let dot = half(0) * byte(b, first, b_signed) + half(1) * byte(b, first + 1, b_signed);
    c.wrapping_add_signed(dot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::testing::Rng;

    #[test]
    fn shifts_clamp_at_the_width() {
        for (amount, left, right, arithmetic) in [
            (0, 0x8001, 0x8001, 0x8001),
            (1, 0x0002, 0x4000, 0xc000),
            (15, 0x8000, 1, 0xffff),
            (16, 0, 0, 0xffff),
            (u32::MAX, 0, 0, 0xffff),
        ] {
            assert_eq!(shl_b16(0x8001, amount), left);
            assert_eq!(shr_u16(0x8001, amount), right);
            assert_eq!(shr_s16(0x8001u16 as i16, amount) as u16, arithmetic);
        }
        assert_eq!((shl_b32(1, 31), shl_b32(1, 32), shr_u32(u32::MAX, 32)), (1 << 31, 0, 0));
        assert_eq!((shr_s32(-5, 32), shr_s32(5, 99), shr_s32(-5, 1)), (-1, 0, -3));
        assert_eq!((shl_b64(1, 63), shl_b64(1, 64), shr_u64(u64::MAX, 256)), (1 << 63, 0, 0));
        assert_eq!((shr_s64(i64::MIN, 64), shr_s64(i64::MIN, 62)), (-1, -2));
    }

    #[test]
    fn division_has_no_traps() {
        assert_eq!((div_u32(7, 0), rem_u32(7, 0), div_s32(7, 0), rem_s32(-7, 0)), (u32::MAX, 7, -1, -7));
        assert_eq!((div_s32(i32::MIN, -1), rem_s32(i32::MIN, -1)), (i32::MIN, 0));
        assert_eq!((div_s32(-7, 2), rem_s32(-7, 2), rem_s32(7, -2)), (-3, -1, 1));
        assert_eq!((div_u16(7, 0), div_s16(i16::MIN, -1), rem_u16(9, 4), rem_s16(5, 0)), (u16::MAX, i16::MIN, 1, 5));
        assert_eq!(
            (div_u64(7, 0), div_s64(i64::MIN, -1), rem_u64(9, 0), rem_s64(i64::MIN, -1)),
            (u64::MAX, i64::MIN, 9, 0)
        );
        assert_eq!((abs_s16(i16::MIN), abs_s32(-3), abs_s64(i64::MIN)), (i16::MIN, 3, i64::MIN));
    }

    #[test]
    fn products_match_wider_arithmetic() {
        let mut rng = Rng::new(1);
        for _ in 0..100_000 {
            let (a, b, c) = (rng.u32(), rng.u32(), rng.u32());
            let (x, y) = (rng.u64(), rng.u64());
            assert_eq!(mul_hi_u16(a as u16, b as u16), ((a & 0xffff).wrapping_mul(b & 0xffff) >> 16) as u16);
            assert_eq!(mul_hi_s32(a as i32, b as i32), ((i128::from(a as i32) * i128::from(b as i32)) >> 32) as i32);
            assert_eq!(mul_hi_u64(x, y), ((u128::from(x) * u128::from(y)) >> 64) as u64);
            // The signed upper half differs from the unsigned one by the operands of negative partners.
            let correction = if (x as i64) < 0 { y } else { 0 }.wrapping_add(if (y as i64) < 0 { x } else { 0 });
            assert_eq!(mul_hi_s64(x as i64, y as i64) as u64, mul_hi_u64(x, y).wrapping_sub(correction));
            let wide = u128::from(a & 0xff_ffff) * u128::from(b & 0xff_ffff);
            assert_eq!((mul24_lo_u32(a, b), mul24_hi_u32(a, b)), (wide as u32, (wide >> 16) as u32));
            let sign = |v: u32| i128::from(v & 0xff_ffff) - if v & 0x80_0000 != 0 { 1 << 24 } else { 0 };
            let wide = sign(a) * sign(b);
            assert_eq!(mad24_lo_s32(a as i32, b as i32, 3), (wide as i32).wrapping_add(3));
            assert_eq!(mad24_hi_s32(a as i32, b as i32, 3), ((wide >> 16) as i32).wrapping_add(3));
            let clamp = |v: i128| v.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
            assert_eq!(
                mad24_hi_sat_s32(a as i32, b as i32, c as i32),
                clamp(i128::from((wide >> 16) as i32) + i128::from(c as i32))
            );
            let hi = (i128::from(a as i32) * i128::from(b as i32)) >> 32;
            assert_eq!(mad_hi_sat_s32(a as i32, b as i32, c as i32), clamp(hi + i128::from(c as i32)));
        }
        assert_eq!((mad24_lo_u32(3, 4, u32::MAX), mad24_hi_u32(1 << 23, 1 << 23, 5)), (11, (1 << 30) + 5));
    }

    #[test]
    fn carries_chain_into_wider_arithmetic() {
        let mut rng = Rng::new(2);
        for _ in 0..100_000 {
            let (a, b, c) = (rng.u64(), rng.u64() >> rng.below(64), rng.u64());
            let (lo, carry) = add_cc_u32(a as u32, b as u32, false);
            let (hi, _) = add_cc_u32((a >> 32) as u32, (b >> 32) as u32, carry);
            assert_eq!(u64::from(hi) << 32 | u64::from(lo), a.wrapping_add(b));
            let (lo, borrow) = sub_cc_u32(a as u32, b as u32, false);
            let (hi, out) = sub_cc_u32((a >> 32) as u32, (b >> 32) as u32, borrow);
            assert_eq!((u64::from(hi) << 32 | u64::from(lo), out), a.overflowing_sub(b));
            let (lo, carry) = mad_lo_cc_u64(a, b, c, false);
            let (hi, out) = mad_hi_cc_u64(a, b, c, carry);
            let want = (u128::from(a) * u128::from(b)).overflowing_add(u128::from(c) << 64 | u128::from(c));
            assert_eq!((u128::from(hi) << 64 | u128::from(lo), out), want);
            let (lo, carry) = mad_lo_cc_u32(a as u32, b as u32, c as u32, false);
            let (hi, _) = mad_hi_cc_s32(a as i32, b as i32, -1, carry);
            let want = (i64::from(a as i32) * i64::from(b as i32)).wrapping_add((-1i64 << 32) + i64::from(c as u32));
            assert_eq!((i64::from(hi) << 32) + i64::from(lo), want);
        }
        assert_eq!(add_cc_u64(u64::MAX, 0, true), (0, true));
        assert_eq!(add_cc_u64(u64::MAX, u64::MAX, true), (u64::MAX, true));
        assert_eq!(sub_cc_u64(0, u64::MAX, true), (0, true));
        assert_eq!(mad_hi_cc_u32(u32::MAX, u32::MAX, 1, true), (0, true));
        assert_eq!(mad_hi_cc_s64(-1, 1, 1, false), (0, true));
        assert_eq!((add_sat_s32(i32::MAX, 1), sub_sat_s32(i32::MIN, 1)), (i32::MAX, i32::MIN));
    }

    #[test]
    fn sums_of_differences() {
        assert_eq!((sad_u32(3, 10, 100), sad_u32(10, 3, u32::MAX)), (107, 6));
        assert_eq!((sad_s32(i32::MIN, i32::MAX, 1), sad_s32(-3, 4, -10)), (0, -3));
        assert_eq!((sad_u16(1, 3, 5), sad_s16(-1, 1, 0), sad_u64(9, 1, 1), sad_s64(1, -1, -2)), (7, 2, 9, 0));
    }

    #[test]
    fn dot_products() {
        assert_eq!(dp4a(0x0102_0304, false, 0x0506_0708, false, 10), 5 + 12 + 21 + 32 + 10);
        assert_eq!(dp4a(0xffff_ffff, true, 0x0101_0101, false, 0) as i32, -4);
        assert_eq!(dp4a(0xffff_ffff, false, 0xffff_ffff, true, 0) as i32, -4 * 255);
        assert_eq!(dp4a(0xffff_ffff, false, 0xffff_ffff, false, u32::MAX), 4 * 255 * 255 - 1);
        assert_eq!(dp2a(0x0002_0003, false, 0x0a0b_0c0d, false, false, 1), 3 * 13 + 2 * 12 + 1);
        assert_eq!(dp2a(0x0002_0003, false, 0x0a0b_0c0d, false, true, 1), 3 * 11 + 2 * 10 + 1);
        assert_eq!(dp2a(0x8000_ffff, true, 0x0000_0102, false, false, 0) as i32, -2 - 32768);
        assert_eq!(dp2a(0xffff_ffff, false, 0x80ff_0000, true, true, 0) as i32, -65535 - 65535 * 128);
    }
}
