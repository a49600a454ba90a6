//! Half precision and bfloat16, scalar and packed by two.

use super::float::aux;
use super::lane_ops;
use crate::math::f16_ops as m;
use raddle_ptx::num::low16;

/// A half-precision format's operations by name, so that one declaration serves both formats.
trait Format {
    const ADD: fn(u16, u16) -> u16;
    const SUB: fn(u16, u16) -> u16;
    const MUL: fn(u16, u16) -> u16;
    const FMA: fn(u16, u16, u16) -> u16;
    const FTZ: fn(u16) -> u16;
    const SAT: fn(u16) -> u16;
    const RELU: fn(u16) -> u16;
    const MIN: [fn(u16, u16) -> u16; 2];
    const MAX: [fn(u16, u16) -> u16; 2];
    const MIN_XORSIGN: fn(u16, u16, bool) -> u16;
    const MAX_XORSIGN: fn(u16, u16, bool) -> u16;
    const NEG: fn(u16) -> u16;
    const ABS: fn(u16) -> u16;
    const EX2: fn(u16) -> u16;
    const TANH: fn(u16) -> u16;
}

macro_rules! format {
    ($name:ident: $add:ident $sub:ident $mul:ident $fma:ident $ftz:ident $sat:ident $relu:ident $min:ident
     $min_nan:ident $max:ident $max_nan:ident $min_x:ident $max_x:ident $neg:ident $abs:ident $ex2:ident $tanh:ident) => {
        struct $name;
        impl Format for $name {
            const ADD: fn(u16, u16) -> u16 = m::$add;
            const SUB: fn(u16, u16) -> u16 = m::$sub;
            const MUL: fn(u16, u16) -> u16 = m::$mul;
            const FMA: fn(u16, u16, u16) -> u16 = m::$fma;
            const FTZ: fn(u16) -> u16 = m::$ftz;
            const SAT: fn(u16) -> u16 = m::$sat;
            const RELU: fn(u16) -> u16 = m::$relu;
            const MIN: [fn(u16, u16) -> u16; 2] = [m::$min, m::$min_nan];
            const MAX: [fn(u16, u16) -> u16; 2] = [m::$max, m::$max_nan];
            const MIN_XORSIGN: fn(u16, u16, bool) -> u16 = m::$min_x;
            const MAX_XORSIGN: fn(u16, u16, bool) -> u16 = m::$max_x;
            const NEG: fn(u16) -> u16 = m::$neg;
            const ABS: fn(u16) -> u16 = m::$abs;
            const EX2: fn(u16) -> u16 = m::$ex2;
            const TANH: fn(u16) -> u16 = m::$tanh;
        }
    };
}

format!(F16: add_f16 sub_f16 mul_f16 fma_f16 ftz_f16 sat_f16 relu_f16 min_f16 min_nan_f16 max_f16 max_nan_f16
    min_xorsign_abs_f16 max_xorsign_abs_f16 neg_f16 abs_f16 ex2_approx_f16 tanh_approx_f16);
format!(Bf16: add_bf16 sub_bf16 mul_bf16 fma_bf16 ftz_bf16 sat_bf16 relu_bf16 min_bf16 min_nan_bf16 max_bf16
    max_nan_bf16 min_xorsign_abs_bf16 max_xorsign_abs_bf16 neg_bf16 abs_bf16 ex2_approx_bf16 tanh_approx_bf16);

fn input<F: Format>(aux: u64, x: u16) -> u16 {
    if aux & aux::FTZ != 0 { F::FTZ(x) } else { x }
}

fn output<F: Format>(aux: u64, x: u16) -> u16 {
    let x = input::<F>(aux, x);
    if aux & aux::SAT != 0 {
        F::SAT(x)
    } else if aux & aux::RELU != 0 {
        F::RELU(x)
    } else {
        x
    }
}

fn add<F: Format>(aux: u64, a: u16, b: u16) -> u16 {
    output::<F>(aux, F::ADD(input::<F>(aux, a), input::<F>(aux, b)))
}
fn sub<F: Format>(aux: u64, a: u16, b: u16) -> u16 {
    output::<F>(aux, F::SUB(input::<F>(aux, a), input::<F>(aux, b)))
}
fn mul<F: Format>(aux: u64, a: u16, b: u16) -> u16 {
    output::<F>(aux, F::MUL(input::<F>(aux, a), input::<F>(aux, b)))
}
fn fma<F: Format>(aux: u64, a: u16, b: u16, c: u16) -> u16 {
    output::<F>(aux, F::FMA(input::<F>(aux, a), input::<F>(aux, b), input::<F>(aux, c)))
}
fn min<F: Format>(aux: u64, a: u16, b: u16) -> u16 {
    let (a, b, nan) = (input::<F>(aux, a), input::<F>(aux, b), aux & aux::NAN != 0);
    if aux & aux::XORSIGN != 0 { F::MIN_XORSIGN(a, b, nan) } else { F::MIN[usize::from(nan)](a, b) }
}
fn max<F: Format>(aux: u64, a: u16, b: u16) -> u16 {
    let (a, b, nan) = (input::<F>(aux, a), input::<F>(aux, b), aux & aux::NAN != 0);
    if aux & aux::XORSIGN != 0 { F::MAX_XORSIGN(a, b, nan) } else { F::MAX[usize::from(nan)](a, b) }
}
fn neg<F: Format>(aux: u64, a: u16) -> u16 {
    F::NEG(input::<F>(aux, a))
}
fn abs<F: Format>(aux: u64, a: u16) -> u16 {
    F::ABS(input::<F>(aux, a))
}
fn ex2<F: Format>(aux: u64, a: u16) -> u16 {
    output::<F>(aux, F::EX2(input::<F>(aux, a)))
}
fn tanh<F: Format>(_: u64, a: u16) -> u16 {
    F::TANH(a)
}

/// Both halves of packed operands.
fn x2(f: impl Fn(u16, u16, u16) -> u16, a: u32, b: u32, c: u32) -> u32 {
    let half = |x: u32| low16(u64::from(x));
    let low = f(half(a), half(b), half(c));
    let high = f(half(a >> 16), half(b >> 16), half(c >> 16));
    u32::from(low) | u32::from(high) << 16
}

macro_rules! half_ops {
    ($($unary:ident, $unary_x2:ident, $unary_bf:ident, $unary_bf_x2:ident = $f:ident;)+) => { lane_ops! { $(
        $unary[aux](a: u16) -> u16 = $f::<F16>(aux, a);
        $unary_x2[aux](a: u32) -> u32 = x2(|a, _, _| $f::<F16>(aux, a), a, 0, 0);
        $unary_bf[aux](a: u16) -> u16 = $f::<Bf16>(aux, a);
        $unary_bf_x2[aux](a: u32) -> u32 = x2(|a, _, _| $f::<Bf16>(aux, a), a, 0, 0);
    )+ } };
    (binary $($name:ident, $name_x2:ident, $name_bf:ident, $name_bf_x2:ident = $f:ident;)+) => { lane_ops! { $(
        $name[aux](a: u16, b: u16) -> u16 = $f::<F16>(aux, a, b);
        $name_x2[aux](a: u32, b: u32) -> u32 = x2(|a, b, _| $f::<F16>(aux, a, b), a, b, 0);
        $name_bf[aux](a: u16, b: u16) -> u16 = $f::<Bf16>(aux, a, b);
        $name_bf_x2[aux](a: u32, b: u32) -> u32 = x2(|a, b, _| $f::<Bf16>(aux, a, b), a, b, 0);
    )+ } };
}

half_ops! {
    Neg, NegX2, NegBf, NegBfX2 = neg;
    Abs, AbsX2, AbsBf, AbsBfX2 = abs;
    Ex2, Ex2X2, Ex2Bf, Ex2BfX2 = ex2;
    Tanh, TanhX2, TanhBf, TanhBfX2 = tanh;
}

half_ops! { binary
    Add, AddX2, AddBf, AddBfX2 = add;
    Sub, SubX2, SubBf, SubBfX2 = sub;
    Mul, MulX2, MulBf, MulBfX2 = mul;
    Min, MinX2, MinBf, MinBfX2 = min;
    Max, MaxX2, MaxBf, MaxBfX2 = max;
}

lane_ops! {
    Fma[aux](a: u16, b: u16, c: u16) -> u16 = fma::<F16>(aux, a, b, c);
    FmaX2[aux](a: u32, b: u32, c: u32) -> u32 = x2(|a, b, c| fma::<F16>(aux, a, b, c), a, b, c);
    FmaBf[aux](a: u16, b: u16, c: u16) -> u16 = fma::<Bf16>(aux, a, b, c);
    FmaBfX2[aux](a: u32, b: u32, c: u32) -> u32 = x2(|a, b, c| fma::<Bf16>(aux, a, b, c), a, b, c);
}
