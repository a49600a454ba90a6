//! Integer arithmetic, in 128 bits and cut to size at the end.

use super::step::{Done, Step, low_mask, sign_extend};
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::num::low64;

/// The number that a bit pattern represents.
pub(super) fn number(bits: u64, ty: Type) -> i128 {
    match ty.is_signed() {
        true => i128::from(sign_extend(bits, ty.bits())),
        false => i128::from(bits & low_mask(ty.bits())),
    }
}

/// The low bits of a number.
pub(super) fn cut(value: i128, bits: u32) -> u64 {
    low64(value.cast_unsigned()) & low_mask(bits)
}

/// The least and the greatest number of an integer type.
pub(super) fn range(ty: Type) -> (i128, i128) {
    let bits = ty.bits();
    match ty.is_signed() {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

/// The product of two numbers, as 128 bits.
fn product(a: i128, b: i128) -> u128 {
    // Two unsigned 64-bit factors fill 128 bits; two signed ones fit with their sign.
    a.cast_unsigned().wrapping_mul(b.cast_unsigned())
}

/// The half of a product an instruction asks for: low, high or, for `.wide`, all of it.
fn product_part(a: i128, b: i128, ty: Type, word: Option<Word>) -> i128 {
    let full = product(a, b);
    let part = match word {
        Some(Word::Hi) => full >> ty.bits(),
        Some(Word::Wide) => full,
        _ => full & u128::from(low_mask(ty.bits())),
    };
    match word {
        Some(Word::Wide) => part.cast_signed(),
        _ => number(low64(part), ty),
    }
}

/// The part of the 48-bit product of two 24-bit factors.
fn product24(a: u64, b: u64, ty: Type, high: bool) -> i128 {
    let factor = |v: u64| match ty.is_signed() {
        true => i128::from(sign_extend(v, 24)),
        false => i128::from(v & low_mask(24)),
    };
    let full = factor(a) * factor(b);
    number(cut(if high { full >> 16 } else { full }, 32), ty)
}

/// Division towards zero. By zero: all bits set.
fn quotient(a: i128, b: i128) -> i128 {
    if b == 0 { -1 } else { a / b }
}

/// The remainder with the sign of the dividend. By zero: the dividend.
fn remainder(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { a % b }
}

/// A dot product of `lanes` of `a` of `a_bits` bits each with bytes of `b`, plus `c`.
fn dot(a: (u64, Type, u32), b: (u64, Type), lanes: u32, c: i128) -> i128 {
    let lane = |value: u64, ty: Type, bits: u32, i: u32| {
        let part = value >> (i * bits);
        if ty.is_signed() { i128::from(sign_extend(part, bits)) } else { i128::from(part & low_mask(bits)) }
    };
    c + (0..lanes).map(|i| lane(a.0, a.1, a.2, i) * lane(b.0, b.1, 8, i)).sum::<i128>()
}

impl Step<'_> {
    pub(super) fn integer(&mut self) -> Done<()> {
        let ty = self.inst.ty();
        let (carry_out, carry_in) = (self.inst.has(Word::Cc), i128::from(self.thread.carry));
        let part = self.inst.first_of(&[Word::Lo, Word::Hi, Word::Wide]);
        let bits = |i: usize| self.value(i, ty);
        let n = |i: usize| bits(i).map(|v| number(v, ty));
        let wide = ty.wide().filter(|_| part == Some(Word::Wide)).unwrap_or(ty);
        let result = match self.inst.opcode {
            Opcode::Add | Opcode::Addc => {
                let extra = if self.inst.opcode == Opcode::Addc { carry_in } else { 0 };
                return self.sum(ty, bits(1)?, bits(2)?, extra, carry_out);
            }
            Opcode::Sub | Opcode::Subc => {
                let extra = if self.inst.opcode == Opcode::Subc { carry_in } else { 0 };
                return self.difference(ty, bits(1)?, bits(2)?, extra, carry_out);
            }
            Opcode::Mul => product_part(n(1)?, n(2)?, ty, part),
            Opcode::Mad | Opcode::Madc => {
                let factor = product_part(n(1)?, n(2)?, ty, part);
                let c = self.value(3, wide)?;
                let extra = if self.inst.opcode == Opcode::Madc { carry_in } else { 0 };
                return self.sum(wide, cut(factor, wide.bits()), c, extra, carry_out);
            }
            Opcode::Mul24 => product24(bits(1)?, bits(2)?, ty, part == Some(Word::Hi)),
            Opcode::Mad24 => {
                let factor = product24(bits(1)?, bits(2)?, ty, part == Some(Word::Hi));
                return self.sum(ty, cut(factor, 32), bits(3)?, 0, false);
            }
            Opcode::Sad => n(3)? + (n(1)? - n(2)?).abs(),
            Opcode::Div => quotient(n(1)?, n(2)?),
            Opcode::Rem => remainder(n(1)?, n(2)?),
            Opcode::Abs => n(1)?.abs(),
            Opcode::Neg => -n(1)?,
            Opcode::Min => n(1)?.min(n(2)?),
            Opcode::Max => n(1)?.max(n(2)?),
            Opcode::Dp4a | Opcode::Dp2a => self.dot_product()?,
            _ => 0,
        };
        self.write(0, wide, cut(result, wide.bits()));
        Ok(())
    }

    /// `a + b + extra`; `.cc` keeps the carry out of the unsigned sum, `.sat` clamps the signed one.
    fn sum(&mut self, ty: Type, a: u64, b: u64, extra: i128, carry_out: bool) -> Done<()> {
        if carry_out {
            let unsigned = i128::from(a) + i128::from(b) + extra;
            self.thread.carry = unsigned >> ty.bits() != 0;
        }
        self.finish(ty, number(a, ty) + number(b, ty) + extra);
        Ok(())
    }

    /// `a - b - extra`; `.cc` keeps the borrow of the unsigned difference.
    fn difference(&mut self, ty: Type, a: u64, b: u64, extra: i128, carry_out: bool) -> Done<()> {
        if carry_out {
            self.thread.carry = i128::from(a) - i128::from(b) - extra < 0;
        }
        self.finish(ty, number(a, ty) - number(b, ty) - extra);
        Ok(())
    }

    fn finish(&mut self, ty: Type, value: i128) {
        let (least, greatest) = range(ty);
        let value = if self.inst.has(Word::Sat) { value.clamp(least, greatest) } else { value };
        self.write(0, ty, cut(value, ty.bits()));
    }

    fn dot_product(&self) -> Done<i128> {
        let a_type = self.inst.nth_type(0).unwrap_or(Type::U32);
        let b_type = self.inst.nth_type(1).unwrap_or(Type::U32);
        let (a, b) = (self.value(1, Type::B32)?, self.value(2, Type::B32)?);
        let c = number(self.value(3, Type::B32)?, Type::S32);
        Ok(match self.inst.opcode {
            Opcode::Dp4a => dot((a, a_type, 8), (b, b_type), 4, c),
            _ => {
                let b = if self.inst.has(Word::Hi) { b >> 16 } else { b };
                dot((a, a_type, 16), (b, b_type), 2, c)
            }
        })
    }
}
