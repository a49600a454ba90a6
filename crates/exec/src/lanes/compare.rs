//! Comparisons: `setp`, `set` and `testp`.
//!
//! A comparison gives one bit per lane. What happens to the bits (negation, combination with a
//! predicate, a second destination, expansion to a value) is the same for all of them and done on
//! whole masks by [`Test`]'s write.

use super::plane::{Dst, Regs, pack};
use super::{LANES, lane_ops};
use crate::math::compare::{FloatClass, FloatCmp, compare_bf16, compare_f16, testp_f32, testp_f64};
use crate::math::f16_ops::ftz_f16;
use crate::math::f32_ops::ftz_f32;
use crate::op::Op;
use raddle_ptx::num::low16;

/// Bits of [`Op::aux`] of a comparison.
pub(crate) mod aux {
    /// The outcome is negated.
    pub(crate) const NEGATE: u64 = 1;
    /// Combined with the third source by `and`.
    pub(crate) const AND: u64 = 1 << 1;
    /// Combined by `or`.
    pub(crate) const OR: u64 = 2 << 1;
    /// Combined by `xor`.
    pub(crate) const XOR: u64 = 3 << 1;
    /// The result is a value: the high half of `aux` where true, 0 where false.
    pub(crate) const VALUE: u64 = 1 << 3;
    /// Floating-point outcomes that count as true: less.
    pub(crate) const LESS: u64 = 1 << 8;
    /// Equal.
    pub(crate) const EQUAL: u64 = 1 << 9;
    /// Greater.
    pub(crate) const GREATER: u64 = 1 << 10;
    /// Unordered.
    pub(crate) const UNORDERED: u64 = 1 << 11;
    /// Where the number of a comparison or class is kept for the rare kernels.
    pub(crate) const INDEX_SHIFT: u32 = 16;
}

/// The outcome of a comparison in one lane.
#[derive(Clone, Copy, Default)]
pub(crate) struct Test(pub(crate) bool);

impl Dst for Test {
    #[inline(always)]
    fn write(regs: &mut Regs<'_>, op: &Op, out: &[Self; LANES], mask: u32) {
        finish(regs, op, pack(&out.map(|t| t.0)), mask);
    }
}

/// Puts the outcome where it belongs.
#[inline(always)]
fn finish(regs: &mut Regs<'_>, op: &Op, bits: u32, mask: u32) {
    let bits = bits ^ 0u32.wrapping_sub((op.aux & aux::NEGATE) as u32);
    if op.aux & (aux::XOR | aux::VALUE) == 0 {
        regs.set_pred(op.d[0], bits, mask);
        regs.set_pred(op.d[1], !bits, mask);
    } else {
        combine(regs, op, bits, mask);
    }
}

#[cold]
fn combine(regs: &mut Regs<'_>, op: &Op, bits: u32, mask: u32) {
    let join = |bits: u32, c: u32| match op.aux & aux::XOR {
        aux::AND => bits & c,
        aux::OR => bits | c,
        aux::XOR => bits ^ c,
        _ => bits,
    };
    let c = if op.aux & aux::XOR == 0 { 0 } else { regs.pred(op.s[2]) };
    let first = join(bits, c);
    if op.aux & aux::VALUE == 0 {
        regs.set_pred(op.d[0], first, mask);
        regs.set_pred(op.d[1], join(!bits, c), mask);
    } else {
        let value = (op.aux >> 32) as u32;
        let out = std::array::from_fn(|lane| if first >> lane & 1 != 0 { value } else { 0 });
        regs.set32(op.d[0], &out, mask);
    }
}

/// Whether the outcome of comparing floats is among those that count as true.
macro_rules! float_test {
    ($aux:expr, $a:expr, $b:expr) => {{
        let less = ($a < $b) & ($aux & aux::LESS != 0);
        let equal = ($a == $b) & ($aux & aux::EQUAL != 0);
        let greater = ($a > $b) & ($aux & aux::GREATER != 0);
        let unordered = (($a != $a) | ($b != $b)) & ($aux & aux::UNORDERED != 0);
        Test(less | equal | greater | unordered)
    }};
}

fn float_cmp(aux: u64) -> FloatCmp {
    FloatCmp::ALL[(aux >> aux::INDEX_SHIFT) as usize & 15]
}

fn class(aux: u64) -> FloatClass {
    match aux >> aux::INDEX_SHIFT & 7 {
        0 => FloatClass::Finite,
        1 => FloatClass::Infinite,
        2 => FloatClass::Number,
        3 => FloatClass::NotANumber,
        4 => FloatClass::Normal,
        _ => FloatClass::Subnormal,
    }
}

lane_ops! {
    Eq32(a: u32, b: u32) -> Test = Test(a == b);
    Eq64(a: u64, b: u64) -> Test = Test(a == b);
    LtU32(a: u32, b: u32) -> Test = Test(a < b);
    LtS32(a: i32, b: i32) -> Test = Test(a < b);
    LtS16(a: i16, b: i16) -> Test = Test(a < b);
    LtU64(a: u64, b: u64) -> Test = Test(a < b);
    LtS64(a: i64, b: i64) -> Test = Test(a < b);
    CmpF32[aux](a: f32, b: f32) -> Test = float_test!(aux, a, b);
    CmpFtzF32[aux](a: f32, b: f32) -> Test = {
        let (a, b) = (ftz_f32(a), ftz_f32(b));
        float_test!(aux, a, b)
    };
    CmpF64[aux](a: f64, b: f64) -> Test = float_test!(aux, a, b);
    CmpF16[aux](a: u16, b: u16) -> Test = Test(compare_f16(float_cmp(aux), a, b));
    CmpFtzF16[aux](a: u16, b: u16) -> Test = Test(compare_f16(float_cmp(aux), ftz_f16(a), ftz_f16(b)));
    CmpBf16[aux](a: u16, b: u16) -> Test = Test(compare_bf16(float_cmp(aux), a, b));
    TestpF32[aux](a: f32) -> Test = Test(testp_f32(class(aux), a));
    TestpF64[aux](a: f64) -> Test = Test(testp_f64(class(aux), a));
}

/// `setp` on packed halves: the low half decides the first predicate, the high half the second.
macro_rules! packed_setp {
    ($($name:ident |$aux:ident, $a:ident, $b:ident| $body:expr;)+) => { $(
        pub(super) fn $name(regs: &mut Regs<'_>, op: &Op, mask: u32) {
            let $aux = op.aux;
            let (x, y) = (*regs.plane32(op.s[0]), *regs.plane32(op.s[1]));
            let test = |shift: u32| {
                let mut bits = 0;
                for lane in 0..LANES {
                    let ($a, $b) = (low16(u64::from(x[lane] >> shift)), low16(u64::from(y[lane] >> shift)));
                    bits |= u32::from($body) << lane;
                }
                bits
            };
            let (low, high) = (test(0), test(16));
            regs.set_pred(op.d[0], low, mask);
            regs.set_pred(op.d[1], high, mask);
        }
    )+ };
}

packed_setp! {
    setp_f16x2 |aux, a, b| compare_f16(float_cmp(aux), a, b);
    setp_ftz_f16x2 |aux, a, b| compare_f16(float_cmp(aux), ftz_f16(a), ftz_f16(b));
    setp_bf16x2 |aux, a, b| compare_bf16(float_cmp(aux), a, b);
}

lane_ops! {
    /// `set` on packed halves gives 1.0 or 0.0 in each.
    SetF16x2[aux](a: u32, b: u32) -> u32 = {
        let test = |shift: u32| {
            let (a, b) = (low16(u64::from(a >> shift)), low16(u64::from(b >> shift)));
            let (a, b) = if aux & aux::NEGATE != 0 { (ftz_f16(a), ftz_f16(b)) } else { (a, b) };
            if compare_f16(float_cmp(aux), a, b) { 0x3c00u32 << shift } else { 0 }
        };
        test(0) | test(16)
    };
}
