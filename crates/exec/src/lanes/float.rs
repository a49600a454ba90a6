//! Single and double precision.

use super::lane_ops;
use crate::math::approx::{
    cos_approx_f32, div_approx_f32, div_full_f32, ex2_approx_f32, lg2_approx_f32, rcp_approx_f32, rcp_approx_ftz_f64,
    rsqrt_approx_f32, rsqrt_approx_f64, rsqrt_approx_ftz_f64, sin_approx_f32, sqrt_approx_f32, tanh_approx_f32,
};
use crate::math::f32_ops::{
    abs_f32, add_f32, add_rn_f32, copysign_f32, div_f32, fma_f32, fma_rn_f32_host, fma_rn_f32_portable, ftz_f32,
    max_f32, max_nan_f32, max_xorsign_abs_f32, min_f32, min_nan_f32, min_xorsign_abs_f32, mul_f32, mul_rn_f32, neg_f32,
    rcp_f32, sat_f32, sqrt_f32, sub_f32, sub_rn_f32,
};
use crate::math::f64_ops::{
    abs_f64, add_f64, add_rn_f64, copysign_f64, div_f64, fma_f64, fma_rn_f64, max_f64, min_f64, mul_f64, mul_rn_f64,
    neg_f64, rcp_f64, sqrt_f64, sub_f64, sub_rn_f64,
};
use crate::math::round::Rounding;

/// Bits of [`crate::op::Op::aux`] of floating-point kernels.
pub(crate) mod aux {
    /// Flush subnormals.
    pub(crate) const FTZ: u64 = 1 << 2;
    /// Clamp to [0, 1].
    pub(crate) const SAT: u64 = 1 << 3;
    /// Clamp negative to 0.
    pub(crate) const RELU: u64 = 1 << 4;
    /// NaN operands win.
    pub(crate) const NAN: u64 = 1 << 5;
    /// Minimum or maximum of magnitudes, sign the product of signs.
    pub(crate) const XORSIGN: u64 = 1 << 6;
}

/// The rounding mode, in the low two bits.
#[inline(always)]
pub(super) fn rounding(aux: u64) -> Rounding {
    match aux & 3 {
        0 => Rounding::Rn,
        1 => Rounding::Rz,
        2 => Rounding::Rm,
        _ => Rounding::Rp,
    }
}

/// Flushes an operand if asked to.
#[inline(always)]
fn input(aux: u64, x: f32) -> f32 {
    if aux & aux::FTZ != 0 { ftz_f32(x) } else { x }
}

/// Flushes and clamps a result if asked to.
#[inline(always)]
pub(super) fn output(aux: u64, x: f32) -> f32 {
    let x = input(aux, x);
    if aux & aux::SAT != 0 { sat_f32(x) } else { x }
}

#[inline(always)]
fn min_any(aux: u64, a: f32, b: f32) -> f32 {
    let nan = aux & aux::NAN != 0;
    if aux & aux::XORSIGN != 0 {
        min_xorsign_abs_f32(a, b, nan)
    } else if nan {
        min_nan_f32(a, b)
    } else {
        min_f32(a, b)
    }
}

#[inline(always)]
fn max_any(aux: u64, a: f32, b: f32) -> f32 {
    let nan = aux & aux::NAN != 0;
    if aux & aux::XORSIGN != 0 {
        max_xorsign_abs_f32(a, b, nan)
    } else if nan {
        max_nan_f32(a, b)
    } else {
        max_f32(a, b)
    }
}

lane_ops! {
    AddRn32(a: f32, b: f32) -> f32 = add_rn_f32(a, b);
    SubRn32(a: f32, b: f32) -> f32 = sub_rn_f32(a, b);
    MulRn32(a: f32, b: f32) -> f32 = mul_rn_f32(a, b);
    FmaRn32(a: f32, b: f32, c: f32) -> f32 = fma_rn_f32_host(a, b, c);
    FmaRn32Portable(a: f32, b: f32, c: f32) -> f32 = fma_rn_f32_portable(a, b, c);
    AddRnFtz32(a: f32, b: f32) -> f32 = ftz_f32(add_rn_f32(ftz_f32(a), ftz_f32(b)));
    SubRnFtz32(a: f32, b: f32) -> f32 = ftz_f32(sub_rn_f32(ftz_f32(a), ftz_f32(b)));
    MulRnFtz32(a: f32, b: f32) -> f32 = ftz_f32(mul_rn_f32(ftz_f32(a), ftz_f32(b)));
    FmaRnFtz32(a: f32, b: f32, c: f32) -> f32 = ftz_f32(fma_rn_f32_host(ftz_f32(a), ftz_f32(b), ftz_f32(c)));
    FmaRnFtz32Portable(a: f32, b: f32, c: f32) -> f32 =
        ftz_f32(fma_rn_f32_portable(ftz_f32(a), ftz_f32(b), ftz_f32(c)));
    AddRn64(a: f64, b: f64) -> f64 = add_rn_f64(a, b);
    SubRn64(a: f64, b: f64) -> f64 = sub_rn_f64(a, b);
    MulRn64(a: f64, b: f64) -> f64 = mul_rn_f64(a, b);
    FmaRn64(a: f64, b: f64, c: f64) -> f64 = fma_rn_f64(a, b, c);

    Add32[aux](a: f32, b: f32) -> f32 = output(aux, add_f32(input(aux, a), input(aux, b), rounding(aux)));
    Sub32[aux](a: f32, b: f32) -> f32 = output(aux, sub_f32(input(aux, a), input(aux, b), rounding(aux)));
    Mul32[aux](a: f32, b: f32) -> f32 = output(aux, mul_f32(input(aux, a), input(aux, b), rounding(aux)));
    Fma32[aux](a: f32, b: f32, c: f32) -> f32 =
        output(aux, fma_f32(input(aux, a), input(aux, b), input(aux, c), rounding(aux)));
    Div32[aux](a: f32, b: f32) -> f32 = output(aux, div_f32(input(aux, a), input(aux, b), rounding(aux)));
    Rcp32[aux](a: f32) -> f32 = output(aux, rcp_f32(input(aux, a), rounding(aux)));
    Sqrt32[aux](a: f32) -> f32 = output(aux, sqrt_f32(input(aux, a), rounding(aux)));
    Add64[aux](a: f64, b: f64) -> f64 = add_f64(a, b, rounding(aux));
    Sub64[aux](a: f64, b: f64) -> f64 = sub_f64(a, b, rounding(aux));
    Mul64[aux](a: f64, b: f64) -> f64 = mul_f64(a, b, rounding(aux));
    Fma64[aux](a: f64, b: f64, c: f64) -> f64 = fma_f64(a, b, c, rounding(aux));
    Div64[aux](a: f64, b: f64) -> f64 = div_f64(a, b, rounding(aux));
    Rcp64[aux](a: f64) -> f64 = rcp_f64(a, rounding(aux));
    Sqrt64[aux](a: f64) -> f64 = sqrt_f64(a, rounding(aux));
    Neg32[aux](a: f32) -> f32 = neg_f32(input(aux, a));
    Abs32[aux](a: f32) -> f32 = abs_f32(input(aux, a));
    Neg64(a: f64) -> f64 = neg_f64(a);
    Abs64(a: f64) -> f64 = abs_f64(a);
    Min32[aux](a: f32, b: f32) -> f32 = min_any(aux, input(aux, a), input(aux, b));
    Max32[aux](a: f32, b: f32) -> f32 = max_any(aux, input(aux, a), input(aux, b));
    Min64(a: f64, b: f64) -> f64 = min_f64(a, b);
    Max64(a: f64, b: f64) -> f64 = max_f64(a, b);
    Copysign32(a: f32, b: f32) -> f32 = copysign_f32(a, b);
    Copysign64(a: f64, b: f64) -> f64 = copysign_f64(a, b);

    RcpApprox32[aux](a: f32) -> f32 = output(aux, rcp_approx_f32(input(aux, a)));
    DivApprox32[aux](a: f32, b: f32) -> f32 = output(aux, div_approx_f32(input(aux, a), input(aux, b)));
    DivFull32[aux](a: f32, b: f32) -> f32 = output(aux, div_full_f32(input(aux, a), input(aux, b)));
    SqrtApprox32[aux](a: f32) -> f32 = output(aux, sqrt_approx_f32(input(aux, a)));
    RsqrtApprox32[aux](a: f32) -> f32 = output(aux, rsqrt_approx_f32(input(aux, a)));
    Sin32[aux](a: f32) -> f32 = output(aux, sin_approx_f32(input(aux, a)));
    Cos32[aux](a: f32) -> f32 = output(aux, cos_approx_f32(input(aux, a)));
    Lg232[aux](a: f32) -> f32 = output(aux, lg2_approx_f32(input(aux, a)));
    Ex232[aux](a: f32) -> f32 = output(aux, ex2_approx_f32(input(aux, a)));
    Tanh32(a: f32) -> f32 = tanh_approx_f32(a);
    RcpApproxFtz64(a: f64) -> f64 = rcp_approx_ftz_f64(a);
    RsqrtApproxFtz64(a: f64) -> f64 = rsqrt_approx_ftz_f64(a);
    RsqrtApprox64(a: f64) -> f64 = rsqrt_approx_f64(a);
}
