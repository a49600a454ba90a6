//! Comparing a buffer with what it should hold.

use crate::element::Element;
use crate::plan::Within;

/// An element that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which element.
    pub index: usize,
    /// Its bits.
    pub got: u64,
    /// The bits it should have.
    pub want: u64,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Elements compared.
    pub compared: usize,
    /// Elements that differ by too much.
    pub wrong: usize,
    /// The first few of them.
    pub first: Vec<Difference>,
    /// The largest distance in units in the last place seen among floating-point elements,
    /// wrong ones included; NaN against a number is not counted.
    pub max_ulp: u64,
}

/// How many differences are kept.
const KEPT: usize = 5;

/// Compares the elements of `got` with those of `want`, as far as `want` goes.
#[must_use]
pub fn compare(
    ty: Element,
    got: impl Iterator<Item = u64>,
    want: impl Iterator<Item = u64>,
    within: Within,
) -> Comparison {
    let mut result = Comparison::default();
    for (index, (got, want)) in got.zip(want).enumerate() {
        result.compared += 1;
        if got == want {
            continue;
        }
        let distance = ulps(ty, got, want);
        result.max_ulp = result.max_ulp.max(distance.unwrap_or(0));
        if !is_close(ty, got, want, distance, within) {
            result.wrong += 1;
            if result.first.len() < KEPT {
                result.first.push(Difference { index, got, want });
            }
        }
    }
    result
}

fn is_close(ty: Element, got: u64, want: u64, distance: Option<u64>, within: Within) -> bool {
    let (Some(a), Some(b)) = (ty.float(got), ty.float(want)) else {
        // Integers: a tolerance still means something, units in the last place are units.
        let difference = ty.int(got).abs_diff(ty.int(want));
        return match within {
            Within::Ulp(n) => difference <= u128::from(n),
            Within::Tolerance(t) => difference as f64 <= t * (ty.int(want).unsigned_abs() as f64).max(1.0),
        };
    };
    if a.is_nan() || b.is_nan() {
        return a.is_nan() && b.is_nan();
    }
    match within {
        Within::Ulp(n) => distance.is_some_and(|d| d <= n),
        Within::Tolerance(t) => a == b || (a - b).abs() <= t * b.abs().max(1.0),
    }
}

/// How many representable values apart two floating-point elements are; -0 and +0 are one apart.
fn ulps(ty: Element, a: u64, b: u64) -> Option<u64> {
    let is_nan = |bits| ty.float(bits).is_none_or(f64::is_nan);
    if is_nan(a) || is_nan(b) {
        return None;
    }
    let sign = 1u64 << (ty.ty().bits() - 1);
    let place = |bits: u64| {
        let magnitude = i128::from(bits & (sign - 1));
        if bits & sign == 0 { magnitude } else { -magnitude - 1 }
    };
    u64::try_from(place(a).abs_diff(place(b))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(ty: &str, got: &[&str], want: &[&str], within: Within) -> usize {
        let ty = Element::from_name(ty).unwrap();
        let bits = |list: &[&str]| list.iter().map(|t| ty.parse(t).unwrap()).collect::<Vec<_>>();
        compare(ty, bits(got).into_iter(), bits(want).into_iter(), within).wrong
    }

    #[test]
    fn exact_means_the_same_bits_or_nan() {
        let exact = Within::Ulp(0);
        assert_eq!(wrong("f32", &["1", "nan", "-0", "inf"], &["1", "nan", "0", "inf"], exact), 1);
        assert_eq!(wrong("f32", &["nan", "1"], &["1", "nan"], Within::Tolerance(1e9)), 2);
        assert_eq!(wrong("u8", &["1", "255"], &["2", "255"], exact), 1);
    }

    #[test]
    fn distances() {
        assert_eq!(wrong("f32", &["0f3f800001"], &["1"], Within::Ulp(0)), 1);
        assert_eq!(wrong("f32", &["0f3f800001"], &["1"], Within::Ulp(1)), 0);
        assert_eq!(wrong("f32", &["-0"], &["0"], Within::Ulp(1)), 0);
        assert_eq!(wrong("f64", &["1000.5"], &["1000"], Within::Tolerance(1e-3)), 0);
        assert_eq!(wrong("f64", &["1002"], &["1000"], Within::Tolerance(1e-3)), 1);
        assert_eq!(wrong("s32", &["-3"], &["-2"], Within::Tolerance(0.1)), 1);
        assert_eq!(wrong("s32", &["-3"], &["-2"], Within::Ulp(1)), 0);
    }

    #[test]
    fn the_first_differences_are_kept() {
        let ty = Element::from_name("u32").unwrap();
        let c = compare(ty, 0..100, 1..101, Within::Ulp(0));
        assert_eq!((c.compared, c.wrong, c.first.len()), (100, 100, 5));
        assert_eq!(c.first[1], Difference { index: 1, got: 1, want: 2 });
    }
}
