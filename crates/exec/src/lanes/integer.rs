//! Integer arithmetic.

use super::lane_ops;
use crate::math::int_ops::{
    abs_s16, abs_s32, abs_s64, add_sat_s32, div_s16, div_s32, div_s64, div_u16, div_u32, div_u64, dp2a, dp4a,
    mad_hi_sat_s32, mad24_hi_s32, mad24_hi_sat_s32, mad24_hi_u32, mad24_lo_s32, mad24_lo_u32, mul_hi_s16, mul_hi_s32,
    mul_hi_s64, mul_hi_u16, mul_hi_u32, mul_hi_u64, mul24_hi_s32, mul24_hi_u32, mul24_lo_s32, mul24_lo_u32, rem_s16,
    rem_s32, rem_s64, rem_u16, rem_u32, rem_u64, sad_s16, sad_s32, sad_s64, sad_u16, sad_u32, sad_u64, sub_sat_s32,
};

lane_ops! {
    Add16(a: u16, b: u16) -> u16 = a.wrapping_add(b);
    Add32(a: u32, b: u32) -> u32 = a.wrapping_add(b);
    Add64(a: u64, b: u64) -> u64 = a.wrapping_add(b);
    AddSat(a: i32, b: i32) -> i32 = add_sat_s32(a, b);
    Sub16(a: u16, b: u16) -> u16 = a.wrapping_sub(b);
    Sub32(a: u32, b: u32) -> u32 = a.wrapping_sub(b);
    Sub64(a: u64, b: u64) -> u64 = a.wrapping_sub(b);
    SubSat(a: i32, b: i32) -> i32 = sub_sat_s32(a, b);
    MulLo16(a: u16, b: u16) -> u16 = a.wrapping_mul(b);
    MulLo32(a: u32, b: u32) -> u32 = a.wrapping_mul(b);
    MulLo64(a: u64, b: u64) -> u64 = a.wrapping_mul(b);
    MulHiU16(a: u16, b: u16) -> u16 = mul_hi_u16(a, b);
    MulHiS16(a: i16, b: i16) -> i16 = mul_hi_s16(a, b);
    MulHiU32(a: u32, b: u32) -> u32 = mul_hi_u32(a, b);
    MulHiS32(a: i32, b: i32) -> i32 = mul_hi_s32(a, b);
    MulHiU64(a: u64, b: u64) -> u64 = mul_hi_u64(a, b);
    MulHiS64(a: i64, b: i64) -> i64 = mul_hi_s64(a, b);
    MulWideU16(a: u16, b: u16) -> u32 = u32::from(a) * u32::from(b);
    MulWideS16(a: i16, b: i16) -> i32 = i32::from(a) * i32::from(b);
    MulWideU32(a: u32, b: u32) -> u64 = u64::from(a) * u64::from(b);
    MulWideS32(a: i32, b: i32) -> i64 = i64::from(a) * i64::from(b);
    MadLo16(a: u16, b: u16, c: u16) -> u16 = a.wrapping_mul(b).wrapping_add(c);
    MadLo32(a: u32, b: u32, c: u32) -> u32 = a.wrapping_mul(b).wrapping_add(c);
    MadLo64(a: u64, b: u64, c: u64) -> u64 = a.wrapping_mul(b).wrapping_add(c);
    MadHiU16(a: u16, b: u16, c: u16) -> u16 = mul_hi_u16(a, b).wrapping_add(c);
    MadHiS16(a: i16, b: i16, c: i16) -> i16 = mul_hi_s16(a, b).wrapping_add(c);
    MadHiU32(a: u32, b: u32, c: u32) -> u32 = mul_hi_u32(a, b).wrapping_add(c);
    MadHiS32(a: i32, b: i32, c: i32) -> i32 = mul_hi_s32(a, b).wrapping_add(c);
    MadHiU64(a: u64, b: u64, c: u64) -> u64 = mul_hi_u64(a, b).wrapping_add(c);
    MadHiS64(a: i64, b: i64, c: i64) -> i64 = mul_hi_s64(a, b).wrapping_add(c);
    MadHiSat(a: i32, b: i32, c: i32) -> i32 = mad_hi_sat_s32(a, b, c);
    MadWideU16(a: u16, b: u16, c: u32) -> u32 = (u32::from(a) * u32::from(b)).wrapping_add(c);
    MadWideS16(a: i16, b: i16, c: i32) -> i32 = (i32::from(a) * i32::from(b)).wrapping_add(c);
    MadWideU32(a: u32, b: u32, c: u64) -> u64 = (u64::from(a) * u64::from(b)).wrapping_add(c);
    MadWideS32(a: i32, b: i32, c: i64) -> i64 = (i64::from(a) * i64::from(b)).wrapping_add(c);
    Mul24LoU(a: u32, b: u32) -> u32 = mul24_lo_u32(a, b);
    Mul24LoS(a: i32, b: i32) -> i32 = mul24_lo_s32(a, b);
    Mul24HiU(a: u32, b: u32) -> u32 = mul24_hi_u32(a, b);
    Mul24HiS(a: i32, b: i32) -> i32 = mul24_hi_s32(a, b);
    Mad24LoU(a: u32, b: u32, c: u32) -> u32 = mad24_lo_u32(a, b, c);
    Mad24LoS(a: i32, b: i32, c: i32) -> i32 = mad24_lo_s32(a, b, c);
    Mad24HiU(a: u32, b: u32, c: u32) -> u32 = mad24_hi_u32(a, b, c);
    Mad24HiS(a: i32, b: i32, c: i32) -> i32 = mad24_hi_s32(a, b, c);
    Mad24HiSat(a: i32, b: i32, c: i32) -> i32 = mad24_hi_sat_s32(a, b, c);
    SadU16(a: u16, b: u16, c: u16) -> u16 = sad_u16(a, b, c);
    SadS16(a: i16, b: i16, c: i16) -> i16 = sad_s16(a, b, c);
    SadU32(a: u32, b: u32, c: u32) -> u32 = sad_u32(a, b, c);
    SadS32(a: i32, b: i32, c: i32) -> i32 = sad_s32(a, b, c);
    SadU64(a: u64, b: u64, c: u64) -> u64 = sad_u64(a, b, c);
    SadS64(a: i64, b: i64, c: i64) -> i64 = sad_s64(a, b, c);
    DivU16(a: u16, b: u16) -> u16 = div_u16(a, b);
    DivS16(a: i16, b: i16) -> i16 = div_s16(a, b);
    DivU32(a: u32, b: u32) -> u32 = div_u32(a, b);
    DivS32(a: i32, b: i32) -> i32 = div_s32(a, b);
    DivU64(a: u64, b: u64) -> u64 = div_u64(a, b);
    DivS64(a: i64, b: i64) -> i64 = div_s64(a, b);
    RemU16(a: u16, b: u16) -> u16 = rem_u16(a, b);
    RemS16(a: i16, b: i16) -> i16 = rem_s16(a, b);
    RemU32(a: u32, b: u32) -> u32 = rem_u32(a, b);
    RemS32(a: i32, b: i32) -> i32 = rem_s32(a, b);
    RemU64(a: u64, b: u64) -> u64 = rem_u64(a, b);
    RemS64(a: i64, b: i64) -> i64 = rem_s64(a, b);
    AbsS16(a: i16) -> i16 = abs_s16(a);
    AbsS32(a: i32) -> i32 = abs_s32(a);
    AbsS64(a: i64) -> i64 = abs_s64(a);
    NegS16(a: i16) -> i16 = a.wrapping_neg();
    NegS32(a: i32) -> i32 = a.wrapping_neg();
    NegS64(a: i64) -> i64 = a.wrapping_neg();
    MinU16(a: u16, b: u16) -> u16 = a.min(b);
    MinS16(a: i16, b: i16) -> i16 = a.min(b);
    MinU32(a: u32, b: u32) -> u32 = a.min(b);
    MinS32(a: i32, b: i32) -> i32 = a.min(b);
    MinU64(a: u64, b: u64) -> u64 = a.min(b);
    MinS64(a: i64, b: i64) -> i64 = a.min(b);
    MaxU16(a: u16, b: u16) -> u16 = a.max(b);
    MaxS16(a: i16, b: i16) -> i16 = a.max(b);
    MaxU32(a: u32, b: u32) -> u32 = a.max(b);
    MaxS32(a: i32, b: i32) -> i32 = a.max(b);
    MaxU64(a: u64, b: u64) -> u64 = a.max(b);
    MaxS64(a: i64, b: i64) -> i64 = a.max(b);
    /// `aux`: bit 0 and 1 say whether a and b are signed.
    Dp4a[aux](a: u32, b: u32, c: u32) -> u32 = dp4a(a, aux & 1 != 0, b, aux & 2 != 0, c);
    /// `aux`: bit 0 and 1 say whether a and b are signed, bit 2 selects the high half.
    Dp2a[aux](a: u32, b: u32, c: u32) -> u32 = dp2a(a, aux & 1 != 0, b, aux & 2 != 0, aux & 4 != 0, c);
}
