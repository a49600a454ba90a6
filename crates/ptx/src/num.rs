//! Numbers in a narrower type: cut where the low bits are what is meant, checked where the value has to fit.
//!
//! `as` says neither, so that a value that outgrew its type goes unseen. In these crates a cast that can lose bits is an
//! error of the build; one of these functions, or a type that holds every value, stands in its place.

/// The low 8 bits.
#[inline(always)]
#[must_use]
pub const fn low8(x: u64) -> u8 {
    (x & 0xff) as u8
}

/// The low 16 bits.
#[inline(always)]
#[must_use]
pub const fn low16(x: u64) -> u16 {
    (x & 0xffff) as u16
}

/// The low 32 bits.
#[inline(always)]
#[must_use]
pub const fn low32(x: u64) -> u32 {
    (x & 0xffff_ffff) as u32
}

/// The low 64 bits.
#[inline(always)]
#[must_use]
pub const fn low64(x: u128) -> u64 {
    (x & 0xffff_ffff_ffff_ffff) as u64
}

/// The nearest single, to even where two are as near.
#[inline(always)]
#[must_use]
pub const fn nearest_f32(x: f64) -> f32 {
    #[allow(clippy::cast_possible_truncation, reason = "rounding is what is meant")]
    let near = x as f32;
    near
}

/// A number that something else keeps in the bounds of `T`: a count of instructions of a text of the longest size, a warp of
/// an SM. Checked: should that bound ever be left out, the program stops here instead of going on with another number.
///
/// # Panics
/// When the number does not fit.
#[inline(always)]
#[must_use]
#[track_caller]
pub fn fit<T: TryFrom<N>, N: Copy + std::fmt::Display>(n: N) -> T {
    match T::try_from(n) {
        Ok(fits) => fits,
        Err(_) => outgrown(&n),
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outgrown(n: &dyn std::fmt::Display) -> ! {
    panic!("{n} is more than its type holds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_bits_are_cut() {
        let x = 0x0123_4567_89ab_cdef;
        assert_eq!((low8(x), low16(x), low32(x)), (0xef, 0xcdef, 0x89ab_cdef));
        assert_eq!(low64(u128::from(x) << 32 | 7), 0x89ab_cdef_0000_0007);
    }

    #[test]
    fn what_fits_is_kept() {
        assert_eq!((fit::<u16, _>(65_535_usize), fit::<u8, _>(255_u32)), (65_535, 255));
    }

    #[test]
    #[should_panic(expected = "65536 is more than its type holds")]
    fn what_does_not_fit_is_found() {
        let _: u16 = fit(65_536_usize);
    }
}
