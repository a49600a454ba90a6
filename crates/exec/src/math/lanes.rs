//! The same bits in a vectorised loop as one at a time.
//!
//! The compiler rewrites a select around a host operation differently when it vectorises, and has been
//! seen to take one NaN for another (see `sqrt_rn_f32`). These tests run the fast functions over lanes
//! as an interpreter does and compare with calls it cannot see through.

use super::testing::{edges_f32, edges_f64};
use super::{Rounding, convert, f32_ops, f64_ops};
use std::hint::black_box;

const LANES: usize = 32;

/// Applies `f` to blocks of lanes; inlined, so that the loop is compiled for this very `f`.
#[inline(always)]
fn by_lanes<T: Copy, U: Copy>(a: &[T], b: &[T], zero: U, f: impl Fn(T, T) -> U) -> Vec<U> {
    let mut out = Vec::new();
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        let (a, b): (&[T; LANES], &[T; LANES]) = (a.try_into().unwrap(), b.try_into().unwrap());
        let mut lanes = [zero; LANES];
        for i in 0..LANES {
            lanes[i] = f(a[i], b[i]);
        }
        out.extend_from_slice(&lanes);
    }
    out
}

fn cross<T: Copy>(edges: &[T]) -> (Vec<T>, Vec<T>) {
    edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b))).unzip()
}

macro_rules! same_bits {
    ($t:ty, $edges:expr, $($f:expr),+ $(,)?) => {{
        let (a, b) = cross(&$edges);
        $({
            let f: fn($t, $t) -> $t = black_box($f);
            let lanes = by_lanes(&a, &b, 0.0, $f);
            for (i, lane) in lanes.into_iter().enumerate() {
                let alone = f(black_box(a[i]), black_box(b[i]));
                assert_eq!(lane.to_bits(), alone.to_bits(), "{} of {:e} {:e}", stringify!($f), a[i], b[i]);
            }
        })+
    }};
}

#[test]
fn f32_lanes() {
    use f32_ops::*;
    same_bits!(
        f32,
        edges_f32(),
        add_rn_f32,
        sub_rn_f32,
        mul_rn_f32,
        div_rn_f32,
        min_f32,
        max_f32,
        min_nan_f32,
        |a, _| sqrt_rn_f32(a),
        |a, _| rcp_rn_f32(a),
        |a, b| fma_rn_f32(a, b, a),
        |a, b| ftz_f32(add_rn_f32(ftz_f32(a), ftz_f32(b))),
        |a, b| sat_f32(mul_rn_f32(a, b)),
        |a, _| convert::integral_f32(a, Rounding::Rm),
        |a, _| f32::from_bits(convert::f32_to_s32(a, Rounding::Rz) as u32),
    );
}

#[test]
fn f64_lanes() {
    use f64_ops::*;
    same_bits!(
        f64,
        edges_f64(),
        add_rn_f64,
        sub_rn_f64,
        mul_rn_f64,
        div_rn_f64,
        min_f64,
        max_f64,
        |a, _| sqrt_rn_f64(a),
        |a, _| rcp_rn_f64(a),
        |a, b| fma_rn_f64(a, b, a),
        |a, _| f64::from_bits(convert::f64_to_s64(a, Rounding::Rn) as u64),
    );
}
