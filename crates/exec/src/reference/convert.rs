//! `cvt`.

use super::float::{Format, convert, in_format, rounding};
use super::integer::{cut, number, range};
use super::step::{Done, Step};
use raddle_ptx::isa::{Type, Word};
use raddle_ptx::num::low64;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, Round};

/// Rounds to an integer and clamps to the range of `ty`. NaN becomes 0 where neither side is 64 bits
/// wide, the number with only its top bit set otherwise.
fn to_integer(format: Format, a: u64, ty: Type, round: Round) -> u64 {
    if format.is_nan(a) {
        let wide = format == Format::Double || ty.bits() == 64;
        return if wide { 1 << (ty.bits() - 1) } else { 0 };
    }
    let mut exact = false;
    // 128 bits hold every 64-bit result; greater numbers saturate on the way.
    let rounded = in_format!(format, F => F::from_bits(a.into()).to_i128_r(128, round, &mut exact).value);
    let (least, greatest) = range(ty);
    cut(rounded.clamp(least, greatest), ty.bits())
}

fn from_integer(a: i128, format: Format, round: Round) -> u64 {
    in_format!(format, F => low64(F::from_i128_r(a, round).value.to_bits()))
}

/// Rounds to an integral value of the same format.
fn integral(format: Format, a: u64, round: Round) -> u64 {
    if format.is_nan(a) {
        return format.nan_from(&[a]);
    }
    in_format!(format, F => low64(F::from_bits(a.into()).round_to_integral(round).value.to_bits()))
}

impl Step<'_> {
    pub(super) fn cvt(&mut self) -> Done<()> {
        let to = self.inst.nth_type(0).unwrap_or(Type::B32);
        let from = self.inst.nth_type(1).unwrap_or(Type::B32);
        let result = match Format::of(to) {
            // The first operand goes to the upper half.
            (_, 2) => {
                let (high, low) = (self.value(1, from)?, self.value(2, from)?);
                self.convert(high, from, to) << 16 | self.convert(low, from, to)
            }
            _ => {
                let value = self.value(1, from)?;
                self.convert(value, from, to)
            }
        };
        self.write(0, to, result);
        Ok(())
    }

    fn convert(&self, a: u64, from: Type, to: Type) -> u64 {
        let has = |word| self.inst.has(word);
        let integral_word = self.inst.first_of(&[Word::Rni, Word::Rzi, Word::Rmi, Word::Rpi]);
        let round = rounding(integral_word.or(self.inst.first_of(&[Word::Rn, Word::Rz, Word::Rm, Word::Rp])));
        // .ftz speaks of single precision only.
        let flush = |v: u64, f: Format| if has(Word::Ftz) && f == Format::Single { f.flush(v) } else { v };
        let finish = |v: u64, f: Format| match flush(v, f) {
            v if has(Word::Sat) => f.saturate(v),
            v if has(Word::Relu) => f.relu(v),
            v => v,
        };
        match (from.is_float(), to.is_float()) {
            (false, false) => {
                let (value, (least, greatest)) = (number(a, from), range(to));
                let value = if has(Word::Sat) { value.clamp(least, greatest) } else { value };
                cut(value, to.bits())
            }
            (true, false) => {
                let f = Format::of(from).0;
                to_integer(f, flush(a, f), to, round)
            }
            (false, true) => {
                let f = Format::of(to).0;
                finish(from_integer(number(a, from), f, round), f)
            }
            (true, true) => {
                let (f, g) = (Format::of(from).0, Format::of(to).0);
                let a = flush(a, f);
                let value = match integral_word {
                    Some(_) => integral(f, a, round),
                    None if f == g && f.is_nan(a) => f.nan_from(&[a]),
                    None => convert(f, g, a, round),
                };
                finish(value, g)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_to_integer_clamps() {
        let f = |a: f32, ty, round| to_integer(Format::Single, a.to_bits().into(), ty, round);
        assert_eq!(f(-1.5, Type::U32, Round::TowardZero), 0);
        assert_eq!(f(3e9, Type::S32, Round::TowardZero), 0x7fff_ffff);
        assert_eq!(f(f32::NEG_INFINITY, Type::S64, Round::TowardZero), 1 << 63);
        assert_eq!(f(f32::MAX, Type::U64, Round::TowardZero), u64::MAX);
        assert_eq!(f(300.0, Type::U8, Round::TowardZero), 255);
        assert_eq!(f(-129.0, Type::S8, Round::TowardZero), 0x80);
        assert_eq!(f(2.5, Type::S32, Round::NearestTiesToEven), 2);
        assert_eq!(f(-2.5, Type::S32, Round::TowardNegative), 0xffff_fffd);
        assert_eq!(f(f32::NAN, Type::S32, Round::TowardNegative), 0);
    }

    #[test]
    fn integers_round_when_they_must() {
        assert_eq!(from_integer(0x0100_0001, Format::Single, Round::TowardPositive), 0x4b80_0001);
        assert_eq!(from_integer(i128::from(u64::MAX), Format::Double, Round::TowardZero), 0x43ef_ffff_ffff_ffff);
        assert_eq!(from_integer(100_000, Format::Half, Round::TowardZero), 0x7bff);
        assert_eq!(from_integer(100_000, Format::Half, Round::NearestTiesToEven), 0x7c00);
        assert_eq!(integral(Format::Single, 0xbf00_0000, Round::NearestTiesToEven), 0x8000_0000);
    }
}
