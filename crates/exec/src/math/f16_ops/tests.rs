use super::*;
use crate::math::Rounding;
use crate::math::testing::{Rng, edges_f32, edges_f64, oracle_round};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

const RN: Round = Round::NearestTiesToEven;
const CASES: usize = 200_000;

/// The oracle's bits, under our NaN rule.
fn bits<F: Float>(x: F) -> u16 {
    if x.is_nan() { NAN_F16 } else { x.to_bits() as u16 }
}

fn ap<F: Float>(x: u16) -> F {
    F::from_bits(u128::from(x))
}

/// Values at every boundary of either format, with both signs.
fn edges() -> Vec<u16> {
    let magnitudes = [
        0, 1, 2, 3, 0x3f, 0x40, 0x7e, 0x7f, 0x80, 0x81, 0x1ff, 0x200, 0x3fe, 0x3ff, 0x400, 0x401, 0x1400, 0x2e66,
        0x37ff, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0x3e00, 0x3f7f, 0x3f80, 0x3f81, 0x4248, 0x477f, 0x63ff, 0x6400, 0x6800,
        0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7f00, 0x7f7e, 0x7f7f, 0x7f80, 0x7f81, 0x7fc0, 0x7fff,
    ];
    magnitudes.into_iter().flat_map(|m| [m, m | SIGN]).collect()
}

fn pairs(seed: u64) -> impl Iterator<Item = (u16, u16)> {
    let cross: Vec<_> = edges().into_iter().flat_map(|a| edges().into_iter().map(move |b| (a, b))).collect();
    let mut rng = Rng::new(seed);
    cross.into_iter().chain((0..CASES).map(move |_| (rng.u16(), rng.u16())))
}

fn check_binary<F: Float>(ours: fn(u16, u16) -> u16, oracle: fn(F, F) -> F) {
    for (a, b) in pairs(1) {
        let (got, want) = (ours(a, b), bits(oracle(ap(a), ap(b))));
        assert_eq!(got, want, "{a:#x} {b:#x}: {got:#x}, not {want:#x}");
    }
}

fn check_fma<F: Float>(ours: fn(u16, u16, u16) -> u16) {
    let mut rng = Rng::new(2);
    let cross = edges().into_iter().flat_map(|a| edges().into_iter().map(move |b| (a, b)));
    let cross: Vec<_> = cross.flat_map(|(a, b)| edges().into_iter().step_by(2).map(move |c| (a, b, c))).collect();
    for (a, b, c) in cross.into_iter().chain((0..CASES).map(|_| (rng.u16(), rng.u16(), rng.u16()))) {
        let (got, want) = (ours(a, b, c), bits(ap::<F>(a).mul_add_r(ap(b), ap(c), RN).value));
        assert_eq!(got, want, "{a:#x} * {b:#x} + {c:#x}: {got:#x}, not {want:#x}");
    }
}

#[test]
fn arithmetic_agrees_with_the_oracle() {
    check_binary::<Half>(add_f16, |a, b| a.add_r(b, RN).value);
    check_binary::<Half>(sub_f16, |a, b| a.sub_r(b, RN).value);
    check_binary::<Half>(mul_f16, |a, b| a.mul_r(b, RN).value);
    check_binary::<BFloat>(add_bf16, |a, b| a.add_r(b, RN).value);
    check_binary::<BFloat>(sub_bf16, |a, b| a.sub_r(b, RN).value);
    check_binary::<BFloat>(mul_bf16, |a, b| a.mul_r(b, RN).value);
}

#[test]
fn fma_rounds_once() {
    check_fma::<Half>(fma_f16);
    check_fma::<BFloat>(fma_bf16);
}

#[test]
fn widening_is_exact_for_all_bits() {
    for a in 0..=u16::MAX {
        let want = half::f16::from_bits(a).to_f32();
        let got = f16_to_f32(a);
        assert!(got.to_bits() == want.to_bits() || want.is_nan() && got.to_bits() == 0x7fff_ffff, "{a:#x}");
        assert_eq!(f32_to_f16_rn(got), canonical_f16(a));
        let want = half::bf16::from_bits(a).to_f32();
        let got = bf16_to_f32(a);
        assert!(got.to_bits() == want.to_bits() || want.is_nan() && got.to_bits() == 0x7fff_ffff, "{a:#x}");
        assert_eq!(f32_to_bf16_rn(got), canonical_bf16(a));
    }
}

/// Every narrow number, every point half-way between two, and its neighbours.
#[test]
fn narrowing_rounds_ties_to_even() {
    let mut loses = false;
    let mut rng = Rng::new(3);
    let ties = (0..=u16::MAX).flat_map(|a| {
        [u32::from(a) << 16 | 0x8000, f16_to_f32(a).to_bits() | 0x1000]
            .into_iter()
            .flat_map(|b| [b.wrapping_sub(1), b, b + 1])
    });
    let random: Vec<_> = (0..CASES).map(|_| rng.f32().to_bits()).collect();
    for b in ties.chain(random).chain(edges_f32().into_iter().map(f32::to_bits)) {
        let (x, wide) = (f32::from_bits(b), Single::from_bits(u128::from(b)));
        let half: Half = wide.convert_r(RN, &mut loses).value;
        assert_eq!(f32_to_f16_rn(x), bits(half), "{x:e}");
        let bfloat: BFloat = wide.convert_r(RN, &mut loses).value;
        assert_eq!(f32_to_bf16_rn(x), bits(bfloat), "{x:e}");
    }
}

#[test]
fn narrowing_a_double_rounds_once() {
    let mut loses = false;
    let mut rng = Rng::new(4);
    let near_ties = (0..CASES).map(|_| {
        let bits = f64::from(f16_to_f32(rng.u16())).to_bits() | 1 << 41;
        f64::from_bits(bits.wrapping_add_signed(i64::from(rng.below(3)) - 1))
    });
    let near_ties: Vec<_> = near_ties.collect();
    for x in edges_f64().into_iter().chain(near_ties).chain((0..CASES).map(|_| rng.f64())) {
        let wide = Double::from_bits(u128::from(x.to_bits()));
        let half: Half = wide.convert_r(oracle_round(Rounding::Rn), &mut loses).value;
        assert_eq!(f64_to_f16_rn(x), bits(half), "{x:e}");
        let bfloat: BFloat = wide.convert_r(RN, &mut loses).value;
        assert_eq!(f64_to_bf16_rn(x), bits(bfloat), "{x:e}");
    }
}

#[test]
fn min_and_max_prefer_numbers_and_order_zeros() {
    for (a, b) in pairs(5) {
        let (x, y) = (f16_to_f32(a), f16_to_f32(b));
        let want = f32_to_f16_rn(crate::math::f32_ops::min_f32(x, y));
        assert_eq!(min_f16(a, b), want, "{a:#x} {b:#x}");
        let want = f32_to_f16_rn(crate::math::f32_ops::max_xorsign_abs_f32(restore(a, x), restore(b, y), false));
        assert_eq!(max_xorsign_abs_f16(a, b, false), want, "{a:#x} {b:#x}");
        let (x, y) = (bf16_to_f32(a), bf16_to_f32(b));
        assert_eq!(max_bf16(a, b), f32_to_bf16_rn(crate::math::f32_ops::max_f32(x, y)), "{a:#x} {b:#x}");
        let want = f32_to_bf16_rn(crate::math::f32_ops::min_nan_f32(x, y));
        assert_eq!(min_nan_bf16(a, b), want, "{a:#x} {b:#x}");
    }
}

/// The sign of a NaN, which widening drops and `xorsign` reads.
fn restore(a: u16, x: f32) -> f32 {
    if a & SIGN != 0 { -x.abs() } else { x }
}

#[test]
fn unary_operations_on_all_bits() {
    for a in 0..=u16::MAX {
        let x = f16_to_f32(a);
        assert_eq!(f16_to_f32(sat_f16(a)), crate::math::f32_ops::sat_f32(x), "{a:#x}");
        let relu = if x.is_nan() {
            NAN_F16
        } else if x > 0.0 {
            a
        } else {
            0
        };
        assert_eq!(relu_f16(a), relu, "{a:#x}");
        let subnormal = x != 0.0 && x.abs() < 2f32.powi(-14);
        assert_eq!(ftz_f16(a), if subnormal { a & SIGN } else { a }, "{a:#x}");
        assert_eq!(ftz_bf16(a), if bf16_to_f32(a).is_subnormal() { a & SIGN } else { a }, "{a:#x}");
        assert_eq!((neg_f16(neg_f16(a)), abs_bf16(a) & SIGN), (a, 0));
    }
}

#[test]
fn approximations_stay_within_the_documented_error() {
    for a in 0..=u16::MAX {
        let (x, b) = (f16_to_f32(a), bf16_to_f32(a));
        if is_nan_f16(a) {
            assert_eq!((ex2_approx_f16(a), tanh_approx_f16(a)), (NAN_F16, NAN_F16));
        } else {
            let want = core_math::exp2(f64::from(x));
            let got = f64::from(f16_to_f32(ex2_approx_f16(a)));
            if (6.2e-5..65504.0).contains(&want) {
                assert!(((got - want) / want).abs() <= 2f64.powf(-9.9), "ex2 {x}: {got}");
            }
            let got = f64::from(f16_to_f32(tanh_approx_f16(a)));
            assert!((got - core_math::tanh(f64::from(x))).abs() <= 2f64.powf(-10.987), "tanh {x}: {got}");
        }
        if !is_nan_bf16(a) {
            let want = core_math::exp2(f64::from(b));
            let got = f64::from(bf16_to_f32(ex2_approx_bf16(a)));
            if (1.2e-38..3.3e38).contains(&want) {
                assert!(((got - want) / want).abs() <= 2f64.powi(-7), "ex2 {b}: {got}");
            }
            let got = f64::from(bf16_to_f32(tanh_approx_bf16(a)));
            assert!((got - core_math::tanh(f64::from(b))).abs() <= 2f64.powi(-8), "tanh {b}: {got}");
        }
    }
}
