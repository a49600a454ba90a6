use super::*;
use crate::math::testing::{Rng, edges_f64, oracle_round};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::Double;

/// Random cases per operation and rounding mode.
const CASES: usize = 300_000;

fn ap(x: f64) -> Double {
    Double::from_bits(u128::from(x.to_bits()))
}

/// The oracle's bits, under our NaN rule for these operands.
fn bits(operands: &[f64], x: Double) -> u64 {
    if let Some(nan) = operands.iter().find(|o| o.is_nan()) {
        return nan.to_bits() | QUIET;
    }
    if x.is_nan() { 0xfff8_0000_0000_0000 } else { x.to_bits() as u64 }
}

fn pairs(seed: u64) -> impl Iterator<Item = (f64, f64)> {
    let edges = edges_f64();
    let cross: Vec<_> = edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b))).collect();
    let mut rng = Rng::new(seed);
    cross.into_iter().chain((0..CASES).map(move |_| (rng.f64(), rng.f64())))
}

fn check_binary(ours: fn(f64, f64, Rounding) -> f64, oracle: fn(Double, Double, rustc_apfloat::Round) -> Double) {
    for r in Rounding::ALL {
        for (a, b) in pairs(r as u64) {
            let got = ours(a, b, r).to_bits();
            let want = bits(&[a, b], oracle(ap(a), ap(b), oracle_round(r)));
            assert_eq!(got, want, "{a:e} {b:e} {r:?}: {got:#x}, not {want:#x}");
        }
    }
}

#[test]
fn add_sub_mul_div_agree_with_the_oracle() {
    check_binary(add_f64, |a, b, r| a.add_r(b, r).value);
    check_binary(sub_f64, |a, b, r| a.sub_r(b, r).value);
    check_binary(mul_f64, |a, b, r| a.mul_r(b, r).value);
    check_binary(div_f64, |a, b, r| a.div_r(b, r).value);
}

#[test]
fn rcp_is_one_divided() {
    for (a, _) in pairs(9) {
        for r in Rounding::ALL {
            assert_eq!(rcp_f64(a, r).to_bits(), div_f64(1.0, a, r).to_bits());
        }
        assert_eq!(rcp_rn_f64(a).to_bits(), bits(&[a], ap(1.0).div_r(ap(a), oracle_round(Rounding::Rn)).value));
    }
}

#[test]
fn fma_agrees_with_the_oracle() {
    let edges = edges_f64();
    for r in Rounding::ALL {
        let mut rng = Rng::new(10 + r as u64);
        let cross = edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b)));
        let cross: Vec<_> = cross.flat_map(|(a, b)| edges.iter().step_by(3).map(move |&c| (a, b, c))).collect();
        let random = (0..CASES).map(|_| {
            let (a, b) = (rng.f64(), rng.f64());
            // Addends near the product make cancellation common.
            let c =
                if rng.below(2) == 0 { rng.f64() } else { -(a * b) * (1.0 + f64::from(rng.below(5)) * f64::EPSILON) };
            (a, b, c)
        });
        for (a, b, c) in cross.into_iter().chain(random) {
            let want = bits(&[a, b, c], ap(a).mul_add_r(ap(b), ap(c), oracle_round(r)).value);
            let got = fma_f64(a, b, c, r).to_bits();
            assert_eq!(got, want, "{a:e} * {b:e} + {c:e} {r:?}: {got:#x}, not {want:#x}");
        }
    }
}

/// Whether `root` is the square root of `a > 0` rounded as `r` says, by exact integer squares.
fn is_rounded_root(a: f64, root: f64, r: Rounding) -> bool {
    let split = |x: f64| {
        let biased = (x.to_bits() >> 52) as i32;
        let fraction = x.to_bits() & ((1 << 52) - 1);
        (u128::from(fraction | u64::from(biased > 0) << 52), biased.max(1) - 1075)
    };
    let (a_sig, a_exp) = split(a);
    // Roots are normal, so neighbours are one unit apart; work in half units to see the ties.
    let (x_sig, x_exp) = split(root);
    let (x, unit) = (x_sig << 1, 2u128);
    let shift = a_exp - 2 * (x_exp - 1);
    let a_wide = a_sig << shift;
    // Below a power of two the spacing halves.
    let down = if x_sig == 1 << 52 { unit / 2 } else { unit };
    let square = |x: u128| x * x;
    match r {
        // `down / 2` is one half unit, or a quarter that the low neighbour of a power of two needs.
        Rounding::Rn if down == 1 => square(2 * x - 1) < a_wide << 2 && a_wide < square(x + 1),
        Rounding::Rn => square(x - 1) < a_wide && a_wide < square(x + 1),
        Rounding::Rz | Rounding::Rm => square(x) <= a_wide && a_wide < square(x + unit),
        Rounding::Rp => square(x - down) < a_wide && a_wide <= square(x),
    }
}

#[test]
fn sqrt_brackets_the_exact_root() {
    let mut rng = Rng::new(20);
    let random = (0..CASES).map(|i| {
        let x = abs_f64(rng.f64());
        let short = f64::from_bits(x.to_bits() & !0x3ff_ffff);
        if i % 4 == 0 { short * short } else { x }
    });
    for a in edges_f64().into_iter().chain(random) {
        for r in Rounding::ALL {
            let root = sqrt_f64(a, r);
            if a == 0.0 || a == f64::INFINITY {
                assert_eq!(root.to_bits(), a.to_bits());
            } else if a.is_nan() || a < 0.0 {
                assert_eq!(root.to_bits(), bits(&[a], Double::NAN));
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
            (true, true) => (NAN_F64, NAN_F64),
            (true, false) => (b, b),
            (false, true) => (a, a),
            _ if a.total_cmp(&b).is_le() => (a, b),
            _ => (b, a),
        };
        assert_eq!(min_f64(a, b).to_bits(), least.to_bits(), "min {a:e} {b:e}");
        assert_eq!(max_f64(a, b).to_bits(), greatest.to_bits(), "max {a:e} {b:e}");
    }
}

#[test]
fn first_nan_wins_and_is_quieted() {
    let (first, second) = (f64::from_bits(0x7ff0_0000_0000_0abc), f64::from_bits(0xfff8_0000_0000_0def));
    assert_eq!(add_rn_f64(first, second).to_bits(), 0x7ff8_0000_0000_0abc);
    assert_eq!(sub_rn_f64(1.0, second).to_bits(), second.to_bits());
    assert_eq!(fma_rn_f64(0.0, f64::INFINITY, first).to_bits(), 0x7ff8_0000_0000_0abc);
    assert_eq!(mul_f64(0.0, f64::INFINITY, Rounding::Rp).to_bits(), 0xfff8_0000_0000_0000);
    assert_eq!(copysign_f64(-1.0, 2.0), -2.0);
    assert_eq!(neg_f64(first).to_bits(), 0xfff0_0000_0000_0abc);
    assert_eq!(ftz_f64(-5e-324).to_bits(), SIGN);
    assert_eq!((sat_f64(f64::NAN).to_bits(), sat_f64(-0.0).to_bits(), sat_f64(7.0)), (0, 0, 1.0));
}
