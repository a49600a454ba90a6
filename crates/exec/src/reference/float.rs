//! Floating point, in software: formats, rounding, the rules for NaN, and the instructions.

use super::approx;
use super::step::{Done, Step, low_mask};
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::num::low64;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use std::cmp::Ordering;

/// A floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Half,
    BFloat,
    Single,
    Double,
}

/// Runs `$body` with `$float` standing for the software type of a format.
macro_rules! in_format {
    ($format:expr, $float:ident => $body:expr) => {
        match $format {
            Format::Half => {
                type $float = Half;
                $body
            }
            Format::BFloat => {
                type $float = BFloat;
                $body
            }
            Format::Single => {
                type $float = Single;
                $body
            }
            Format::Double => {
                type $float = Double;
                $body
            }
        }
    };
}
pub(super) use in_format;

impl Format {
    /// The format of a type, and how many values of it the type holds.
    pub(super) fn of(ty: Type) -> (Self, u32) {
        match ty {
            Type::F16 => (Self::Half, 1),
            Type::F16x2 => (Self::Half, 2),
            Type::Bf16 => (Self::BFloat, 1),
            Type::Bf16x2 => (Self::BFloat, 2),
            Type::F64 => (Self::Double, 1),
            _ => (Self::Single, 1),
        }
    }

    pub(super) fn bits(self) -> u32 {
        match self {
            Self::Half | Self::BFloat => 16,
            Self::Single => 32,
            Self::Double => 64,
        }
    }

    /// Bits of the fraction.
    pub(super) fn fraction_bits(self) -> u32 {
        match self {
            Self::Half => 10,
            Self::BFloat => 7,
            Self::Single => 23,
            Self::Double => 52,
        }
    }

    pub(super) fn sign_bit(self) -> u64 {
        1 << (self.bits() - 1)
    }

    pub(super) fn sign(self, a: u64) -> u64 {
        a & self.sign_bit()
    }

    pub(super) fn magnitude(self, a: u64) -> u64 {
        a & (self.sign_bit() - 1)
    }

    pub(super) fn infinity(self) -> u64 {
        (self.sign_bit() - 1) & !low_mask(self.fraction_bits())
    }

    pub(super) fn one(self) -> u64 {
        (self.infinity() >> 1) & !low_mask(self.fraction_bits())
    }

    pub(super) fn is_nan(self, a: u64) -> bool {
        self.magnitude(a) > self.infinity()
    }

    pub(super) fn is_infinite(self, a: u64) -> bool {
        self.magnitude(a) == self.infinity()
    }

    pub(super) fn is_subnormal(self, a: u64) -> bool {
        let m = self.magnitude(a);
        m != 0 && m <= low_mask(self.fraction_bits())
    }

    /// The NaN with all bits but the sign set, which `min` and `max` give in every format.
    pub(super) fn canonical_nan(self) -> u64 {
        self.sign_bit() - 1
    }

    /// The NaN that results from these operands: in double precision the first NaN among them, made
    /// quiet; otherwise the canonical one.
    pub(super) fn nan_from(self, operands: &[u64]) -> u64 {
        match (self, operands.iter().find(|a| self.is_nan(**a))) {
            (Self::Double, Some(nan)) => nan | 1 << 51,
            (Self::Double, None) => 0xfff8_0000_0000_0000,
            _ => self.canonical_nan(),
        }
    }

    /// Subnormal numbers become zero with their sign.
    pub(super) fn flush(self, a: u64) -> u64 {
        if self.is_subnormal(a) { self.sign(a) } else { a }
    }

    /// Clamps to [0, 1]; NaN becomes +0.
    pub(super) fn saturate(self, a: u64) -> u64 {
        if self.is_nan(a) || self.sign(a) != 0 { 0 } else { a.min(self.one()) }
    }

    /// Negative numbers become +0.
    pub(super) fn relu(self, a: u64) -> u64 {
        if self.is_nan(a) {
            self.canonical_nan()
        } else if self.sign(a) != 0 {
            0
        } else {
            a
        }
    }

    /// Order of two numbers, -0 below +0; `None` when one is NaN.
    fn total_order(self, a: u64, b: u64) -> Option<Ordering> {
        if self.is_nan(a) || self.is_nan(b) {
            return None;
        }
        let key = |v: u64| match self.sign(v) {
            0 => i128::from(v),
            _ => -1 - i128::from(self.magnitude(v)),
        };
        Some(key(a).cmp(&key(b)))
    }

    /// Order of two numbers as values: both zeros are equal.
    pub(super) fn order(self, a: u64, b: u64) -> Option<Ordering> {
        match self.magnitude(a) | self.magnitude(b) {
            0 => Some(Ordering::Equal),
            _ => self.total_order(a, b),
        }
    }
}

/// The rounding mode a word names; to nearest even when it names none.
pub(super) fn rounding(word: Option<Word>) -> Round {
    match word {
        Some(Word::Rz | Word::Rzi) => Round::TowardZero,
        Some(Word::Rm | Word::Rmi) => Round::TowardNegative,
        Some(Word::Rp | Word::Rpi) => Round::TowardPositive,
        _ => Round::NearestTiesToEven,
    }
}

/// What to compute; the operands are in a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
}

/// One rounded operation.
pub(super) fn arithmetic(format: Format, operation: Operation, operands: &[u64], round: Round) -> u64 {
    if operands.iter().any(|a| format.is_nan(*a)) {
        return format.nan_from(operands);
    }
    let result = in_format!(format, F => {
        let v = |i: usize| F::from_bits(operands.get(i).copied().unwrap_or(0).into());
        let result = match operation {
            Operation::Add => v(0).add_r(v(1), round),
            Operation::Sub => v(0).sub_r(v(1), round),
            Operation::Mul => v(0).mul_r(v(1), round),
            Operation::Fma => v(0).mul_add_r(v(1), v(2), round),
            Operation::Div => v(0).div_r(v(1), round),
        };
        low64(result.value.to_bits())
    });
    if format.is_nan(result) { format.nan_from(&[]) } else { result }
}

/// The square root, from an integer square root with a sticky bit.
pub(super) fn square_root(format: Format, a: u64, round: Round) -> u64 {
    if format.is_nan(a) {
        return format.nan_from(&[a]);
    }
    if format.magnitude(a) == 0 || a == format.infinity() {
        return a;
    }
    if format.sign(a) != 0 {
        return format.nan_from(&[]);
    }
    in_format!(format, F => {
        // a = m * 2^e with m in [2^120, 2^122) and e even.
        let exponent = F::from_bits(a.into()).ilogb();
        let shift = 120 + exponent.rem_euclid(2);
        let e = exponent - shift;
        let scale = format.fraction_bits() as i32;
        let unit = F::from_bits(a.into()).scalbn(scale - exponent);
        let m = unit.to_u128(128).value << (shift - scale);
        let root = m.isqrt();
        let sticky = u128::from(root * root != m);
        let value = F::from_u128_r(root << 1 | sticky, round).value;
        low64(value.scalbn(e / 2 - 1).to_bits())
    })
}

/// `a` in another format. A NaN keeps sign and fraction when it becomes double precision, as far as they
/// fit; elsewhere it becomes the canonical one.
pub(super) fn convert(from: Format, to: Format, a: u64, round: Round) -> u64 {
    if from.is_nan(a) {
        if to != Format::Double {
            return to.canonical_nan();
        }
        let sign = u64::from(from.sign(a) != 0) << 63;
        let fraction = (a & low_mask(from.fraction_bits())) << (52 - from.fraction_bits());
        return sign | Format::Double.infinity() | 1 << 51 | fraction;
    }
    let mut lost = false;
    in_format!(from, F => {
        let value = F::from_bits(a.into());
        in_format!(to, G => {
            let converted: G = FloatConvert::<G>::convert_r(value, round, &mut lost).value;
            low64(converted.to_bits())
        })
    })
}

/// `min` or `max`: a NaN loses against a number unless `nan_wins`.
fn extreme(format: Format, a: u64, b: u64, want: Ordering, nan_wins: bool) -> u64 {
    match format.total_order(a, b) {
        Some(order) if order == want => a,
        Some(_) => b,
        None if nan_wins || format.is_nan(a) && format.is_nan(b) => format.canonical_nan(),
        None if format.is_nan(a) => b,
        None => a,
    }
}

impl Step<'_> {
    /// All floating-point arithmetic: one value, or both halves of a packed one.
    pub(super) fn float(&mut self) -> Done<()> {
        let ty = self.inst.ty();
        let (format, count) = Format::of(ty);
        let inputs = self.inst.operands.len().clamp(1, 4) - 1;
        let mut operands = [0; 3];
        for (i, operand) in operands[..inputs].iter_mut().enumerate() {
            *operand = self.value(i + 1, ty)?;
        }
        let mut result = 0;
        for i in 0..count {
            let at = i * format.bits();
            let lane = operands.map(|v| v >> at & low_mask(format.bits()));
            result |= self.float_lane(format, &lane[..inputs]) << at;
        }
        self.write(0, ty, result);
        Ok(())
    }

    fn float_lane(&self, format: Format, operands: &[u64]) -> u64 {
        let has = |word| self.inst.has(word);
        let flush = |v: u64| if has(Word::Ftz) { format.flush(v) } else { v };
        let mut flushed = [0; 3];
        for (to, from) in flushed.iter_mut().zip(operands) {
            *to = flush(*from);
        }
        let operands = &flushed[..operands.len().min(3)];
        let v = |i: usize| operands.get(i).copied().unwrap_or(0);
        let round = rounding(self.inst.first_of(&[Word::Rn, Word::Rz, Word::Rm, Word::Rp]));
        let approximate = has(Word::Approx) || has(Word::Full);
        let result = match self.inst.opcode {
            Opcode::Add => arithmetic(format, Operation::Add, operands, round),
            Opcode::Sub => arithmetic(format, Operation::Sub, operands, round),
            Opcode::Mul => arithmetic(format, Operation::Mul, operands, round),
            Opcode::Mad | Opcode::Fma => arithmetic(format, Operation::Fma, operands, round),
            Opcode::Div if has(Word::Approx) => approx::divide(v(0), v(1)),
            Opcode::Div => arithmetic(format, Operation::Div, operands, round),
            Opcode::Rcp if approximate => approx::reciprocal(format, v(0)),
            Opcode::Rcp => {
                if format.is_nan(v(0)) {
                    format.nan_from(operands)
                } else {
                    arithmetic(format, Operation::Div, &[format.one(), v(0)], round)
                }
            }
            Opcode::Sqrt => square_root(format, v(0), round),
            Opcode::Rsqrt => approx::reciprocal_root(format, v(0), has(Word::Ftz)),
            Opcode::Sin | Opcode::Cos | Opcode::Lg2 | Opcode::Ex2 | Opcode::Tanh => {
                approx::function(self.inst.opcode, format, v(0))
            }
            // The sign bit only, NaN or not.
            Opcode::Neg => v(0) ^ format.sign_bit(),
            Opcode::Abs => format.magnitude(v(0)),
            Opcode::Copysign => format.sign(v(0)) | format.magnitude(v(1)),
            Opcode::Min => self.extreme_lane(format, v(0), v(1), Ordering::Less),
            Opcode::Max => self.extreme_lane(format, v(0), v(1), Ordering::Greater),
            _ => 0,
        };
        let result = flush(result);
        if has(Word::Sat) {
            format.saturate(result)
        } else if has(Word::Relu) {
            format.relu(result)
        } else {
            result
        }
    }

    fn extreme_lane(&self, format: Format, a: u64, b: u64, want: Ordering) -> u64 {
        let (x, y) = match self.inst.has(Word::Abs) {
            true => (format.magnitude(a), format.magnitude(b)),
            false => (a, b),
        };
        let result = extreme(format, x, y, want, self.inst.has(Word::NaN));
        if self.inst.has(Word::Xorsign) && !format.is_nan(result) {
            return format.magnitude(result) | format.sign(a ^ b);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(a: f32, round: Round) -> f32 {
        f32::from_bits(square_root(Format::Single, a.to_bits().into(), round) as u32)
    }

    #[test]
    fn square_roots_round_in_every_direction() {
        for a in [2.0f32, 3.0, 0.25, 1e-45, 1.5e-38, 3.4e38, 144.0, 1.999_999_9] {
            assert_eq!(root(a, Round::NearestTiesToEven), a.sqrt(), "{a:e}");
            let (down, up) = (root(a, Round::TowardNegative), root(a, Round::TowardPositive));
            let exact = f64::from(a);
            assert!(f64::from(down) * f64::from(down) <= exact && f64::from(up) * f64::from(up) >= exact, "{a:e}");
            assert!(down == up || down.next_up() == up, "{a:e}");
        }
        for a in [2.0f64, 5e-324, 1.7e308, 1e-300, 0.1] {
            let got = square_root(Format::Double, a.to_bits(), Round::NearestTiesToEven);
            assert_eq!(f64::from_bits(got), a.sqrt());
        }
        assert_eq!(square_root(Format::Double, (-1f64).to_bits(), Round::TowardZero), 0xfff8_0000_0000_0000);
        assert_eq!(root(-0.0, Round::TowardPositive).to_bits(), 0x8000_0000);
    }

    #[test]
    fn nan_rules() {
        let s = |op, a: &[u64]| arithmetic(Format::Single, op, a, Round::NearestTiesToEven);
        let d = |op, a: &[u64]| arithmetic(Format::Double, op, a, Round::NearestTiesToEven);
        let inf = f64::INFINITY.to_bits();
        assert_eq!(s(Operation::Add, &[0x7f80_0001, 0]), 0x7fff_ffff);
        assert_eq!(s(Operation::Mul, &[0x7f80_0000, 0]), 0x7fff_ffff);
        assert_eq!(d(Operation::Add, &[0, 0x7ff0_0000_0000_0001]), 0x7ff8_0000_0000_0001);
        assert_eq!(d(Operation::Sub, &[inf, inf]), 0xfff8_0000_0000_0000);
        assert_eq!(d(Operation::Fma, &[inf, 0, 0xfff8_0000_0000_0005]), 0xfff8_0000_0000_0005);
        assert_eq!(convert(Format::Single, Format::Double, 0xffc0_0001, Round::TowardZero), 0xfff8_0000_2000_0000);
        assert_eq!(convert(Format::Double, Format::Half, 0x7ff8_0000_0000_0000, Round::TowardZero), 0x7fff);
    }

    #[test]
    fn extremes() {
        let min =
            |a: f32, b: f32| extreme(Format::Single, a.to_bits().into(), b.to_bits().into(), Ordering::Less, false);
        assert_eq!(min(0.0, -0.0), 0x8000_0000);
        assert_eq!(min(-0.0, 0.0), 0x8000_0000);
        assert_eq!(min(f32::NAN, 1.0), u64::from(1f32.to_bits()));
        assert_eq!(min(f32::NAN, -f32::NAN), 0x7fff_ffff);
        assert_eq!(min(-2.0, -1.0), u64::from((-2f32).to_bits()));
        assert_eq!(min(f32::NEG_INFINITY, -1.0), u64::from(f32::NEG_INFINITY.to_bits()));
    }

    #[test]
    fn clamping() {
        assert_eq!(Format::Single.saturate(0x8000_0000), 0);
        assert_eq!(Format::Single.saturate(0x7fff_ffff), 0);
        assert_eq!(Format::Single.saturate(0x7f80_0000), 0x3f80_0000);
        assert_eq!(Format::Half.one(), 0x3c00);
        assert_eq!(Format::BFloat.one(), 0x3f80);
        assert_eq!(Format::Double.one(), 1f64.to_bits());
        assert_eq!(Format::Half.relu(0x8000), 0);
    }
}
