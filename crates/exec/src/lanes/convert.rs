//! Conversions.

use super::float::{aux as f, output, rounding};
use super::lane_ops;
use crate::math::convert as m;
use crate::math::convert::IntType;
use crate::math::f16_ops::{canonical_f16, relu_bf16, relu_f16, sat_f16};
use crate::math::f32_ops::{canonical_f32, ftz_f32};
use crate::math::f64_ops::{nan_rule_1, sat_f64};
use raddle_ptx::num::low32;

/// Bits of [`crate::op::Op::aux`] of conversions, besides those of floating-point kernels.
pub(crate) mod aux {
    /// Number of the source integer type in [`IntType::ALL`](super::IntType::ALL).
    pub(crate) const FROM_SHIFT: u32 = 8;
    /// Number of the destination integer type.
    pub(crate) const TO_SHIFT: u32 = 12;
    /// The destination register has 16 bits.
    pub(crate) const NARROW: u64 = 1 << 16;
    /// Round to an integral value.
    pub(crate) const INTEGRAL: u64 = 1 << 17;
}

#[inline(always)]
fn from(aux: u64) -> IntType {
    IntType::ALL[(aux >> aux::FROM_SHIFT) as usize & 7]
}

#[inline(always)]
fn to(aux: u64) -> IntType {
    IntType::ALL[(aux >> aux::TO_SHIFT) as usize & 7]
}

/// An integer result as a 32-bit or narrower register holds it.
#[inline(always)]
fn narrow(aux: u64, x: u64) -> u32 {
    if aux & aux::NARROW != 0 { low32(x) & 0xffff } else { low32(x) }
}

#[inline(always)]
fn int_to_int(aux: u64, x: u64) -> u64 {
    m::int_to_int(x, from(aux), to(aux), aux & f::SAT != 0)
}

fn flush(aux: u64, x: f32) -> f32 {
    if aux & f::FTZ != 0 { ftz_f32(x) } else { x }
}

fn out64(aux: u64, x: f64) -> f64 {
    if aux & f::SAT != 0 { sat_f64(x) } else { x }
}

fn out16(aux: u64, x: u16) -> u16 {
    if aux & f::SAT != 0 {
        sat_f16(x)
    } else if aux & f::RELU != 0 {
        relu_f16(x)
    } else {
        x
    }
}

fn out_bf16(aux: u64, x: u16) -> u16 {
    if aux & f::RELU != 0 { relu_bf16(x) } else { x }
}

fn same32(aux: u64, x: f32) -> f32 {
    let x = flush(aux, x);
    output(aux, if aux & aux::INTEGRAL != 0 { m::integral_f32(x, rounding(aux)) } else { canonical_f32(x) })
}

fn same64(aux: u64, x: f64) -> f64 {
    out64(aux, if aux & aux::INTEGRAL != 0 { m::integral_f64(x, rounding(aux)) } else { nan_rule_1(x, x) })
}

fn same16(aux: u64, x: u16) -> u16 {
    out16(aux, if aux & aux::INTEGRAL != 0 { m::integral_f16(x, rounding(aux)) } else { canonical_f16(x) })
}

lane_ops! {
    Sext32to64(a: i32) -> i64 = i64::from(a);
    Zext32to64(a: u32) -> u64 = u64::from(a);
    Trunc64to32(a: u64) -> u32 = low32(a);
    Int32to32[aux](a: u32) -> u32 = narrow(aux, int_to_int(aux, u64::from(a)));
    Int32to64[aux](a: u32) -> u64 = int_to_int(aux, u64::from(a));
    Int64to32[aux](a: u64) -> u32 = narrow(aux, int_to_int(aux, a));
    Int64to64[aux](a: u64) -> u64 = int_to_int(aux, a);

    S32toF32(a: i32) -> f32 = a as f32;
    U32toF32(a: u32) -> f32 = a as f32;
    Int32toF32[aux](a: u32) -> f32 = output(aux, m::int_to_f32(u64::from(a), from(aux), rounding(aux)));
    Int64toF32[aux](a: u64) -> f32 = output(aux, m::int_to_f32(a, from(aux), rounding(aux)));
    Int32toF64[aux](a: u32) -> f64 = out64(aux, m::int_to_f64(u64::from(a), from(aux), rounding(aux)));
    Int64toF64[aux](a: u64) -> f64 = out64(aux, m::int_to_f64(a, from(aux), rounding(aux)));
    Int32toF16[aux](a: u32) -> u16 = out16(aux, m::int_to_f16(u64::from(a), from(aux), rounding(aux)));
    Int64toF16[aux](a: u64) -> u16 = out16(aux, m::int_to_f16(a, from(aux), rounding(aux)));
    Int32toBf16[aux](a: u32) -> u16 = m::int_to_bf16(u64::from(a), from(aux), rounding(aux));
    Int64toBf16[aux](a: u64) -> u16 = m::int_to_bf16(a, from(aux), rounding(aux));

    F32toInt32[aux](a: f32) -> u32 = narrow(aux, m::f32_to_int(flush(aux, a), to(aux), rounding(aux)));
    F32toInt64[aux](a: f32) -> u64 = m::f32_to_int(flush(aux, a), to(aux), rounding(aux));
    F64toInt32[aux](a: f64) -> u32 = narrow(aux, m::f64_to_int(a, to(aux), rounding(aux)));
    F64toInt64[aux](a: f64) -> u64 = m::f64_to_int(a, to(aux), rounding(aux));
    F16toInt32[aux](a: u16) -> u32 = narrow(aux, m::f16_to_int(a, to(aux), rounding(aux)));
    F16toInt64[aux](a: u16) -> u64 = m::f16_to_int(a, to(aux), rounding(aux));
    Bf16toInt32[aux](a: u16) -> u32 = narrow(aux, m::bf16_to_int(a, to(aux), rounding(aux)));
    Bf16toInt64[aux](a: u16) -> u64 = m::bf16_to_int(a, to(aux), rounding(aux));

    F32toF32[aux](a: f32) -> f32 = same32(aux, a);
    F64toF64[aux](a: f64) -> f64 = same64(aux, a);
    F16toF16[aux](a: u16) -> u16 = same16(aux, a);
    F32toF64[aux](a: f32) -> f64 = out64(aux, m::f32_to_f64(flush(aux, a)));
    F64toF32[aux](a: f64) -> f32 = output(aux, m::f64_to_f32(a, rounding(aux)));
    F32toF16[aux](a: f32) -> u16 = out16(aux, m::f32_to_f16(flush(aux, a), rounding(aux)));
    F64toF16[aux](a: f64) -> u16 = out16(aux, m::f64_to_f16(a, rounding(aux)));
    F16toF32[aux](a: u16) -> f32 = output(aux, crate::math::f16_ops::f16_to_f32(a));
    F16toF64[aux](a: u16) -> f64 = out64(aux, m::f16_to_f64(a));
    F32toBf16[aux](a: f32) -> u16 = out_bf16(aux, m::f32_to_bf16(a, rounding(aux)));
    F64toBf16[aux](a: f64) -> u16 = m::f64_to_bf16(a, rounding(aux));
    F16toBf16[aux](a: u16) -> u16 = m::f16_to_bf16(a, rounding(aux));
    Bf16toF32[aux](a: u16) -> f32 = output(aux, crate::math::f16_ops::bf16_to_f32(a));
    Bf16toF64(a: u16) -> f64 = m::bf16_to_f64(a);
    Bf16toF16[aux](a: u16) -> u16 = m::bf16_to_f16(a, rounding(aux));
    /// The first operand goes to the upper half.
    F32toF16x2[aux](a: f32, b: f32) -> u32 =
        m::pack_x2(out16(aux, m::f32_to_f16(a, rounding(aux))), out16(aux, m::f32_to_f16(b, rounding(aux))));
    F32toBf16x2[aux](a: f32, b: f32) -> u32 =
        m::pack_x2(out_bf16(aux, m::f32_to_bf16(a, rounding(aux))), out_bf16(aux, m::f32_to_bf16(b, rounding(aux))));
}
