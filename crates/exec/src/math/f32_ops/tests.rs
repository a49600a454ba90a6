use super::*;
use crate::math::testing::{Rng, edges_f32, oracle_round};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::Single;

/// Random cases per operation and rounding mode.
const CASES: usize = 300_000;

fn ap(x: f32) -> Single {
    Single::from_bits(u128::from(x.to_bits()))
}

/// The oracle's bits, under our NaN rule.
fn bits(x: Single) -> u32 {
    if x.is_nan() { 0x7fff_ffff } else { x.to_bits() as u32 }
}

fn pairs(seed: u64) -> impl Iterator<Item = (f32, f32)> {
    let edges = edges_f32();
    let cross: Vec<_> = edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b))).collect();
    let mut rng = Rng::new(seed);
    cross.into_iter().chain((0..CASES).map(move |_| (rng.f32(), rng.f32())))
}

fn check_binary(ours: fn(f32, f32, Rounding) -> f32, oracle: fn(Single, Single, rustc_apfloat::Round) -> Single) {
    for r in Rounding::ALL {
        for (a, b) in pairs(r as u64) {
            let got = ours(a, b, r).to_bits();
            let want = bits(oracle(ap(a), ap(b), oracle_round(r)));
            assert_eq!(got, want, "{a:e} {b:e} {r:?}: {got:#x}, not {want:#x}");
        }
    }
}

#[test]
fn add_sub_mul_div_agree_with_the_oracle() {
    check_binary(add_f32, |a, b, r| a.add_r(b, r).value);
    check_binary(sub_f32, |a, b, r| a.sub_r(b, r).value);
    check_binary(mul_f32, |a, b, r| a.mul_r(b, r).value);
    check_binary(div_f32, |a, b, r| a.div_r(b, r).value);
    check_binary(|_, b, r| rcp_f32(b, r), |_, b, r| ap(1.0).div_r(b, r).value);
}

#[test]
fn fma_agrees_with_the_oracle() {
    let edges = edges_f32();
    for r in Rounding::ALL {
        let mut rng = Rng::new(10 + r as u64);
        let cross = edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b)));
        let cross: Vec<_> = cross.flat_map(|(a, b)| edges.iter().step_by(3).map(move |&c| (a, b, c))).collect();
        let random = (0..CASES).map(|_| {
            let (a, b) = (rng.f32(), rng.f32());
            // Addends near the product make cancellation common.
            let c = if rng.below(2) == 0 {
                rng.f32()
            } else {
                -(a * b) * (1.0 + (rng.below(5) as f32 - 2.0) * f32::EPSILON)
            };
            (a, b, c)
        });
        for (a, b, c) in cross.into_iter().chain(random) {
            let want = bits(ap(a).mul_add_r(ap(b), ap(c), oracle_round(r)).value);
            let got = fma_f32(a, b, c, r).to_bits();
            assert_eq!(got, want, "{a:e} * {b:e} + {c:e} {r:?}: {got:#x}, not {want:#x}");
            if r == Rounding::Rn {
                assert_eq!(fma_rn_f32_portable(a, b, c).to_bits(), want, "{a:e} * {b:e} + {c:e}");
                assert_eq!(fma_rn_f32_host(a, b, c).to_bits(), want, "{a:e} * {b:e} + {c:e}");
            }
        }
    }
}

/// Whether `root` is the square root of `a > 0` rounded as `r` says, by exact squares.
fn is_rounded_root(a: f32, root: f32, r: Rounding) -> bool {
    // Roots and points half-way between them have at most 25 bits, so squares are exact doubles.
    let square = |x: f64| x * x;
    let (a, x) = (f64::from(a), f64::from(root));
    let below = f64::from(f32::from_bits(root.to_bits() - 1));
    let above = f64::from(f32::from_bits(root.to_bits() + 1));
    match r {
        // A root is never exactly half-way: its square would need more bits than `a` has.
        Rounding::Rn => square((below + x) / 2.0) < a && a < square((x + above) / 2.0),
        Rounding::Rz | Rounding::Rm => square(x) <= a && a < square(above),
        Rounding::Rp => square(below) < a && a <= square(x),
    }
}

#[test]
fn sqrt_brackets_the_exact_root() {
    let mut rng = Rng::new(20);
    let random = (0..CASES).map(|i| {
        let x = abs_f32(rng.f32());
        if i % 4 == 0 {
            f32::from_bits(x.to_bits() & 0x7fff_f000) * f32::from_bits(x.to_bits() & 0x7fff_f000)
        } else {
            x
        }
    });
    for a in edges_f32().into_iter().chain(random) {
        for r in Rounding::ALL {
            let root = sqrt_f32(a, r);
            if a == 0.0 || a == f32::INFINITY {
                assert_eq!(root.to_bits(), a.to_bits());
            } else if a.is_nan() || a < 0.0 {
                assert_eq!(root.to_bits(), 0x7fff_ffff);
            } else {
                assert!(is_rounded_root(a, root, r), "sqrt {a:e} {r:?}: {root:e}");
            }
        }
    }
}

#[test]
fn min_and_max_prefer_numbers_and_order_zeros() {
    for (a, b) in pairs(30) {
        let (least, greatest) = match (a.is_nan(), b.is_nan()) {
            (true, true) => (NAN_F32, NAN_F32),
            (true, false) => (b, b),
            (false, true) => (a, a),
            _ if a.total_cmp(&b).is_le() => (a, b),
            _ => (b, a),
        };
        assert_eq!(min_f32(a, b).to_bits(), least.to_bits(), "min {a:e} {b:e}");
        assert_eq!(max_f32(a, b).to_bits(), greatest.to_bits(), "max {a:e} {b:e}");
        let any_nan = a.is_nan() || b.is_nan();
        assert_eq!(min_nan_f32(a, b).to_bits(), if any_nan { NAN_F32 } else { least }.to_bits());
        assert_eq!(max_nan_f32(a, b).to_bits(), if any_nan { NAN_F32 } else { greatest }.to_bits());
    }
}

#[test]
fn xorsign_multiplies_the_signs() {
    assert_eq!(min_xorsign_abs_f32(-2.0, 3.0, false), -2.0);
    assert_eq!(max_xorsign_abs_f32(-2.0, -3.0, false), 3.0);
    assert_eq!(max_xorsign_abs_f32(-f32::NAN, 3.0, false), -3.0);
    assert_eq!(max_xorsign_abs_f32(-f32::NAN, 3.0, true).to_bits(), 0x7fff_ffff);
    assert_eq!(min_xorsign_abs_f32(-f32::NAN, f32::NAN, false).to_bits(), 0x7fff_ffff);
    assert_eq!(min_xorsign_abs_f32(-0.0, 1.0, false).to_bits(), SIGN);
}

#[test]
fn flush_saturate_and_signs() {
    for (x, flushed) in [(0x0000_0001, 0), (0x807f_ffff, SIGN), (0x0080_0000, 0x0080_0000), (0xff80_0001, 0xff80_0001)]
    {
        assert_eq!(ftz_f32(f32::from_bits(x)).to_bits(), flushed);
    }
    for (x, want) in
        [(f32::NAN, 0.0), (-0.0, 0.0), (-3.0, 0.0), (0.25, 0.25), (1.5, 1.0), (f32::INFINITY, 1.0), (1e-40, 1e-40)]
    {
        assert_eq!(sat_f32(x).to_bits(), f32::to_bits(want), "{x}");
    }
    assert_eq!(copysign_f32(-1.0, 2.0), -2.0);
    assert_eq!(neg_f32(f32::from_bits(0x7f80_0001)).to_bits(), 0xff80_0001);
    assert_eq!(abs_f32(f32::from_bits(0xffc0_0000)).to_bits(), 0x7fc0_0000);
}
