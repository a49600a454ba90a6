//! Extended-precision arithmetic: the carry is a predicate of its own.

use super::lane_ops;
use crate::math::int_ops::{
    add_cc_u32, add_cc_u64, mad_hi_cc_s32, mad_hi_cc_s64, mad_hi_cc_u32, mad_hi_cc_u64, mad_lo_cc_u32, mad_lo_cc_u64,
    sub_cc_u32, sub_cc_u64,
};

lane_ops! {
    AddCc32(a: u32, b: u32, carry: bool) -> (u32, bool) = add_cc_u32(a, b, carry);
    AddCc64(a: u64, b: u64, carry: bool) -> (u64, bool) = add_cc_u64(a, b, carry);
    SubCc32(a: u32, b: u32, carry: bool) -> (u32, bool) = sub_cc_u32(a, b, carry);
    SubCc64(a: u64, b: u64, carry: bool) -> (u64, bool) = sub_cc_u64(a, b, carry);
    MadLoCc32(a: u32, b: u32, c: u32, carry: bool) -> (u32, bool) = mad_lo_cc_u32(a, b, c, carry);
    MadLoCc64(a: u64, b: u64, c: u64, carry: bool) -> (u64, bool) = mad_lo_cc_u64(a, b, c, carry);
    MadHiCcU32(a: u32, b: u32, c: u32, carry: bool) -> (u32, bool) = mad_hi_cc_u32(a, b, c, carry);
    MadHiCcU64(a: u64, b: u64, c: u64, carry: bool) -> (u64, bool) = mad_hi_cc_u64(a, b, c, carry);
    MadHiCcS32(a: i32, b: i32, c: i32, carry: bool) -> (u32, bool) = {
        let (value, out) = mad_hi_cc_s32(a, b, c, carry);
        (value.cast_unsigned(), out)
    };
    MadHiCcS64(a: i64, b: i64, c: i64, carry: bool) -> (u64, bool) = {
        let (value, out) = mad_hi_cc_s64(a, b, c, carry);
        (value.cast_unsigned(), out)
    };
}
