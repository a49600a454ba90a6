use super::*;
use crate::math::testing::{Rng, edges_f32, edges_f64, oracle_round};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

const CASES: usize = 100_000;

fn integers() -> Vec<u64> {
    let mut rng = Rng::new(1);
    let near_powers = (0..64).flat_map(|bit| {
        let power = 1u64 << bit;
        [
            power.wrapping_sub(1),
            power,
            power | 1,
            power.wrapping_neg(),
            power | power >> 11 | 1,
            power | power >> 24,
            power | power >> 25,
        ]
    });
    let mut all: Vec<_> = near_powers.collect();
    // Every width, with ties common.
    all.extend((0..CASES).map(|_| {
        let x = rng.u64() >> rng.below(64);
        x & !((1u64 << rng.below(40)) - 1)
    }));
    all
}

#[test]
fn integers_extend_truncate_and_clamp() {
    let check =
        |x, from, to, sat, want: u64| assert_eq!(int_to_int(x, from, to, sat), want, "{x:#x} {from:?} {to:?} {sat}");
    use IntType::*;
    check(0xff80, S8, S32, false, -128i64 as u64);
    check(0xff80, U8, S32, false, 0x80);
    check(0x1_2345, U32, U8, false, 0x45);
    check(0x1_2345, U32, U8, true, 0xff);
    check(0xffff_fffe, S32, U64, false, -2i64 as u64);
    check(0xffff_fffe, S32, U64, true, 0);
    check(0xffff_fffe, U32, S32, true, 0x7fff_ffff);
    check(-40_000i64 as u64, S64, S16, true, -32_768i64 as u64);
    check(u64::MAX, U64, S64, true, i64::MAX as u64);
    for x in integers() {
        for from in IntType::ALL {
            for to in IntType::ALL {
                let saturated = int_to_int(x, from, to, true);
                if from.value(x) == to.value(int_to_int(x, from, to, false)) {
                    assert_eq!(to.value(saturated), from.value(x));
                } else {
                    assert_eq!(to.value(saturated), if from.value(x) < 0 { to.range().0 } else { to.range().1 });
                }
            }
        }
    }
}

#[test]
fn integers_to_floats_agree_with_the_oracle() {
    for x in integers() {
        for from in [IntType::S64, IntType::U64, IntType::S32, IntType::U32, IntType::S16, IntType::U8] {
            for r in Rounding::ALL {
                let (v, round) = (from.value(x), oracle_round(r));
                let f32 = Single::from_i128_r(v, round).value.to_bits() as u32;
                assert_eq!(int_to_f32(x, from, r).to_bits(), f32, "{v} {from:?} {r:?}");
                let f64 = Double::from_i128_r(v, round).value.to_bits() as u64;
                assert_eq!(int_to_f64(x, from, r).to_bits(), f64, "{v} {from:?} {r:?}");
                assert_eq!(
                    int_to_f16(x, from, r),
                    Half::from_i128_r(v, round).value.to_bits() as u16,
                    "{v} {from:?} {r:?}"
                );
                assert_eq!(
                    int_to_bf16(x, from, r),
                    BFloat::from_i128_r(v, round).value.to_bits() as u16,
                    "{v} {from:?} {r:?}"
                );
                match from {
                    IntType::S32 => assert_eq!(s32_to_f32(x as i32, r).to_bits(), f32),
                    IntType::U32 => assert_eq!(u32_to_f32(x as u32, r).to_bits(), f32),
                    _ => {}
                }
            }
        }
    }
}

/// The exact integer, clamped, by the oracle.
fn oracle_int(x: f64, to: IntType, r: Rounding) -> u64 {
    let (low, high) = to.range();
    if x.abs() >= 2f64.powi(100) {
        return if x < 0.0 { low as u64 } else { high as u64 };
    }
    let exact = Double::from_bits(u128::from(x.to_bits())).to_i128_r(128, oracle_round(r), &mut false).value;
    exact.clamp(low, high) as u64
}

#[test]
fn floats_to_integers_round_and_clamp() {
    let mut rng = Rng::new(2);
    let doubles: Vec<_> = (0..CASES).map(|_| rng.f64()).collect();
    for x in edges_f64().into_iter().chain(doubles).filter(|x| !x.is_nan()) {
        for r in Rounding::ALL {
            for to in IntType::ALL {
                assert_eq!(f64_to_int(x, to, r), oracle_int(x, to, r), "{x:e} {to:?} {r:?}");
            }
            assert_eq!(f64_to_s32(x, r) as u64, oracle_int(x, IntType::S32, r));
            assert_eq!(u64::from(f64_to_u32(x, r)), oracle_int(x, IntType::U32, r));
            assert_eq!(f64_to_s64(x, r) as u64, oracle_int(x, IntType::S64, r));
            assert_eq!(f64_to_u64(x, r), oracle_int(x, IntType::U64, r));
        }
    }
    for x in edges_f32().into_iter().chain((0..CASES).map(|_| rng.f32())).filter(|x| !x.is_nan()) {
        for r in Rounding::ALL {
            for to in IntType::ALL {
                assert_eq!(f32_to_int(x, to, r), oracle_int(x.into(), to, r), "{x:e} {to:?} {r:?}");
            }
            assert_eq!(f32_to_s32(x, r) as u64, oracle_int(x.into(), IntType::S32, r));
            assert_eq!(u64::from(f32_to_u32(x, r)), oracle_int(x.into(), IntType::U32, r));
            assert_eq!(f32_to_s64(x, r) as u64, oracle_int(x.into(), IntType::S64, r));
            assert_eq!(f32_to_u64(x, r), oracle_int(x.into(), IntType::U64, r));
        }
    }
}

#[test]
fn nan_to_integer_depends_on_the_widths() {
    for r in Rounding::ALL {
        assert_eq!((f32_to_s32(f32::NAN, r), f32_to_u32(-f32::NAN, r)), (0, 0));
        assert_eq!((f32_to_s64(f32::NAN, r), f32_to_u64(f32::NAN, r)), (i64::MIN, 1 << 63));
        assert_eq!((f64_to_s32(f64::NAN, r), f64_to_u32(f64::NAN, r)), (i32::MIN, 1 << 31));
        assert_eq!((f64_to_s64(f64::NAN, r), f64_to_u64(f64::NAN, r)), (i64::MIN, 1 << 63));
        assert_eq!(f64_to_int(f64::NAN, IntType::S16, r), i64::from(i16::MIN) as u64);
        assert_eq!(f64_to_int(f64::NAN, IntType::U8, r), 0x80);
        assert_eq!((f16_to_int(0x7e00, IntType::S16, r), bf16_to_int(0x7fc0, IntType::S64, r)), (0, 1 << 63));
    }
}

#[test]
fn narrowing_agrees_with_the_oracle() {
    fn bits<F: Float>(x: F, nan: u64) -> u64 {
        if x.is_nan() { nan } else { x.to_bits() as u64 }
    }
    let mut loses = false;
    let mut rng = Rng::new(3);
    let near_floats: Vec<_> =
        (0..CASES).map(|_| f64::from_bits(f64::from(rng.f32()).to_bits() ^ u64::from(rng.below(4)))).collect();
    for x in edges_f64().into_iter().chain(near_floats).chain((0..CASES).map(|_| rng.f64())) {
        let wide = Double::from_bits(u128::from(x.to_bits()));
        for r in Rounding::ALL {
            let single: Single = wide.convert_r(oracle_round(r), &mut loses).value;
            assert_eq!(u64::from(f64_to_f32(x, r).to_bits()), bits(single, 0x7fff_ffff), "{x:e} {r:?}");
            let half: Half = wide.convert_r(oracle_round(r), &mut loses).value;
            assert_eq!(u64::from(f64_to_f16(x, r)), bits(half, 0x7fff), "{x:e} {r:?}");
            let bfloat: BFloat = wide.convert_r(oracle_round(r), &mut loses).value;
            assert_eq!(u64::from(f64_to_bf16(x, r)), bits(bfloat, 0x7fff), "{x:e} {r:?}");
        }
    }
    for x in edges_f32().into_iter().chain((0..CASES).map(|_| rng.f32())) {
        let wide = Single::from_bits(u128::from(x.to_bits()));
        for r in Rounding::ALL {
            let half: Half = wide.convert_r(oracle_round(r), &mut loses).value;
            assert_eq!(u64::from(f32_to_f16(x, r)), bits(half, 0x7fff), "{x:e} {r:?}");
            let bfloat: BFloat = wide.convert_r(oracle_round(r), &mut loses).value;
            assert_eq!(u64::from(f32_to_bf16(x, r)), bits(bfloat, 0x7fff), "{x:e} {r:?}");
        }
    }
}

#[test]
fn halves_on_all_bits() {
    for a in 0..=u16::MAX {
        let (x, y) = (half::f16::from_bits(a), half::bf16::from_bits(a));
        // NaN keep sign and payload, and become quiet.
        assert_eq!(f16_to_f64(a).to_bits(), x.to_f64().to_bits());
        assert_eq!(bf16_to_f64(a).to_bits(), y.to_f64().to_bits());
        for (r, want) in Rounding::ALL.into_iter().zip([f64::round_ties_even, f64::trunc, f64::floor, f64::ceil]) {
            if !x.is_nan() {
                assert_eq!(f16_to_f64(integral_f16(a, r)).to_bits(), want(x.to_f64()).to_bits());
                assert_eq!(f16_to_int(a, IntType::S32, r) as i64, i64::from(want(x.to_f64()) as i32));
            }
            if !y.is_nan() {
                assert_eq!(bf16_to_f64(integral_bf16(a, r)).to_bits(), want(y.to_f64()).to_bits());
                assert_eq!(bf16_to_int(a, IntType::U32, r), u64::from(want(y.to_f64()) as u32));
            }
            assert_eq!(f16_to_bf16(a, r), f64_to_bf16(f16_to_f64(a), r));
            assert_eq!(bf16_to_f16(a, r), f64_to_f16(bf16_to_f64(a), r));
        }
    }
    assert_eq!((integral_f16(0xfe01, Rounding::Rz), integral_bf16(0xffc1, Rounding::Rn)), (0x7fff, 0x7fff));
}

#[test]
fn nan_payloads_and_the_small_conversions() {
    assert_eq!(f32_to_f64(f32::from_bits(0xff80_0001)).to_bits(), 0xfff8_0000_2000_0000);
    assert_eq!(f32_to_f64(f32::from_bits(0x7fff_ffff)).to_bits(), 0x7fff_ffff_e000_0000);
    assert_eq!(integral_f32(f32::from_bits(0xff80_0001), Rounding::Rm).to_bits(), 0x7fff_ffff);
    assert_eq!(integral_f64(f64::from_bits(0xfff0_0000_0000_0001), Rounding::Rm).to_bits(), 0xfff8_0000_0000_0001);
    assert_eq!(f32_to_tf32_rna(f32::from_bits(0x3f80_1000)), 0x3f80_2000);
    assert_eq!(f32_to_tf32_rna(f32::from_bits(0xbf80_0fff)), 0xbf80_0000);
    assert_eq!(f32_to_tf32_rna(f32::MAX), f32::INFINITY.to_bits());
    assert_eq!(f32_to_tf32_rna(f32::NEG_INFINITY), f32::NEG_INFINITY.to_bits());
    assert_eq!(f32_to_tf32_rna(f32::from_bits(0xffff_ffff)), 0x7fff_e000);
    assert_eq!(pack_x2(0x1234, 0x5678), 0x1234_5678);
    assert_eq!(unpack_x2(0x1234_5678), (0x1234, 0x5678));
}
