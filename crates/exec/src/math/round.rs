//! Rounding modes, and rounding a float to an integral value in its own format.
//!
//! PTX writes `.rn .rz .rm .rp` where a result is rounded to the precision of the destination and
//! `.rni .rzi .rmi .rpi` where it is rounded to an integer; the direction is the same, so one enum
//! serves both and the instruction decides what is meant.

/// Direction in which an inexact result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Rounding {
    /// `.rn`, `.rni`: to nearest, ties to even.
    #[default]
    Rn,
    /// `.rz`, `.rzi`: towards zero.
    Rz,
    /// `.rm`, `.rmi`: towards minus infinity.
    Rm,
    /// `.rp`, `.rpi`: towards plus infinity.
    Rp,
}

impl Rounding {
    /// All modes, in the order of the ISA manual.
    pub const ALL: [Self; 4] = [Self::Rn, Self::Rz, Self::Rm, Self::Rp];
}

// The integral value nearest to `|x| < 2^(p-1)` falls out of adding and subtracting `2^(p-1)`, where
// one unit in the last place is 1. That needs no SSE4.1 `round` instruction and no libm call, and it
// vectorises on every host. The other directions correct that value by one where it overshot.
macro_rules! integral {
    ($name:ident, $t:ty, $limit:expr, $doc:literal) => {
        #[doc = $doc]
        ///
        /// The sign of the operand survives, also on a zero result; infinities and NaN pass through.
        #[inline(always)]
        pub fn $name(x: $t, r: Rounding) -> $t {
            const LIMIT: $t = $limit;
            let magnitude = x.abs();
            let nearest = ((magnitude + LIMIT) - LIMIT).copysign(x);
            let rounded = match r {
                Rounding::Rn => nearest,
                Rounding::Rz => {
                    let n = nearest.abs();
                    if n > magnitude { n - 1.0 } else { n }
                }
                Rounding::Rm if nearest > x => nearest - 1.0,
                Rounding::Rp if nearest < x => nearest + 1.0,
                Rounding::Rm | Rounding::Rp => nearest,
            };
            // Also the way out for NaN, which is not below anything.
            if magnitude < LIMIT { rounded.copysign(x) } else { x }
        }
    };
}

integral!(
    round_integral_f32,
    f32,
    8_388_608.0,
    "Rounds an `f32` to an integral value (`cvt.rni.f32.f32` and its kin)."
);
integral!(
    round_integral_f64,
    f64,
    4_503_599_627_370_496.0,
    "Rounds an `f64` to an integral value (`cvt.rni.f64.f64` and its kin)."
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::testing::{Rng, edges_f32, edges_f64};

    #[test]
    fn integral_f32_agrees_with_std() {
        let mut rng = Rng::new(1);
        for x in edges_f32().into_iter().chain((0..200_000).map(|_| rng.f32())) {
            for (r, want) in Rounding::ALL.into_iter().zip([x.round_ties_even(), x.trunc(), x.floor(), x.ceil()]) {
                let got = round_integral_f32(x, r);
                assert!(
                    got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                    "{x:e} {r:?}: {got:e}, not {want:e}"
                );
            }
        }
    }

    #[test]
    fn integral_f64_agrees_with_std() {
        let mut rng = Rng::new(2);
        for x in edges_f64().into_iter().chain((0..200_000).map(|_| rng.f64())) {
            for (r, want) in Rounding::ALL.into_iter().zip([x.round_ties_even(), x.trunc(), x.floor(), x.ceil()]) {
                let got = round_integral_f64(x, r);
                assert!(
                    got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                    "{x:e} {r:?}: {got:e}, not {want:e}"
                );
            }
        }
    }
}
