//! Exact floating-point arithmetic on integers, rounded once.
//!
//! The engine behind every operation the host cannot do directly: rounding modes other than nearest
//! even, and narrow formats. A finite number is `sig * 2^exp` with a 128-bit `sig`; operations are
//! exact except that bits far below any rounding position are folded into the lowest one ("jamming"),
//! which keeps every comparison with a tie correct. [`pack`] then rounds once.

use super::round::Rounding;
use raddle_ptx::num::{low32, low64};

/// An IEEE 754 binary interchange format, or `bf16`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// Stored fraction bits.
    pub fraction_bits: u32,
    /// Exponent bits.
    pub exponent_bits: u32,
}

pub(super) const F16: Format = Format { fraction_bits: 10, exponent_bits: 5 };
pub(super) const BF16: Format = Format { fraction_bits: 7, exponent_bits: 8 };
pub(super) const F32: Format = Format { fraction_bits: 23, exponent_bits: 8 };
pub(super) const F64: Format = Format { fraction_bits: 52, exponent_bits: 11 };

impl Format {
    const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    const fn sign_bit(self) -> u64 {
        1 << (self.fraction_bits + self.exponent_bits)
    }

    /// Encoding of plus infinity.
    const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }

    /// A quiet NaN. Callers that care about the payload replace it.
    const fn nan(self) -> u64 {
        self.infinity() | 1 << (self.fraction_bits - 1)
    }
}

/// A finite number other than zero: `sig * 2^exp`, negative if `negative`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finite {
    pub negative: bool,
    pub exp: i32,
    pub sig: u128,
}

/// A floating-point datum, without a format. `bool` is the sign: true for negative.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Nan,
    Infinite(bool),
    Zero(bool),
    Finite(Finite),
}

use Value::{Infinite, Nan, Zero};

impl Value {
    /// The integer `magnitude`, negative if `negative`.
    pub fn from_integer(negative: bool, magnitude: u64) -> Self {
        if magnitude == 0 {
            return Zero(false);
        }
        Self::Finite(Finite { negative, exp: 0, sig: u128::from(magnitude) })
    }
}

/// Decodes the low bits of `bits`.
pub(super) fn unpack(bits: u64, f: Format) -> Value {
    let negative = bits & f.sign_bit() != 0;
    let magnitude = bits & (f.sign_bit() - 1);
    if magnitude == 0 {
        return Zero(negative);
    }
    if magnitude >= f.infinity() {
        return if magnitude == f.infinity() { Infinite(negative) } else { Nan };
    }
    let fraction = magnitude & ((1 << f.fraction_bits) - 1);
    let biased = low32(magnitude >> f.fraction_bits).cast_signed();
    let hidden = u64::from(biased != 0) << f.fraction_bits;
    let exp = biased.max(1) - f.bias() - f.fraction_bits as i32;
    Value::Finite(Finite { negative, exp, sig: u128::from(hidden | fraction) })
}

/// Encodes `v`, rounding once. Overflow and gradual underflow follow IEEE 754 for the mode.
pub(super) fn pack(v: Value, f: Format, r: Rounding) -> u64 {
    match v {
        Nan => f.nan(),
        Infinite(negative) => signed(f.infinity(), negative, f),
        Zero(negative) => signed(0, negative, f),
        Value::Finite(n) => pack_finite(n, f, r),
    }
}

fn signed(magnitude: u64, negative: bool, f: Format) -> u64 {
    if negative { magnitude | f.sign_bit() } else { magnitude }
}

fn pack_finite(n: Finite, f: Format, r: Rounding) -> u64 {
    let top = 127 - n.sig.leading_zeros() as i32;
    let exponent = (n.exp + top).max(1 - f.bias());
    let away = match r {
        Rounding::Rp => !n.negative,
        Rounding::Rm => n.negative,
        Rounding::Rn | Rounding::Rz => false,
    };
    if exponent > f.bias() {
        let overflow = if away || r == Rounding::Rn { f.infinity() } else { f.infinity() - 1 };
        return signed(overflow, n.negative, f);
    }
    // Exponent of one unit in the last place of the result.
    let quantum = exponent - f.fraction_bits as i32;
    let kept = round_shift(n.sig, quantum - n.exp, r == Rounding::Rn, away);
    // Adding instead of or-ing lets a carry out of the fraction move into the exponent field, up to
    // infinity, and lets `kept` without hidden bit be a subnormal number.
    let field = (exponent + f.bias() - 1) as u64;
    signed((field << f.fraction_bits) + low64(kept), n.negative, f)
}

/// `sig * 2^-shift` rounded to an integer: to nearest even, or else away from zero or towards it.
pub(super) fn round_shift(sig: u128, shift: i32, nearest: bool, away: bool) -> u128 {
    if shift <= 0 {
        return sig << -shift;
    }
    // A shift of the whole width leaves less than one half, or a part of exactly its top bit; two
    // more than the width and only the sticky part is left.
    let (kept, rest, half) = match shift {
        1..=127 => (sig >> shift, sig & ((1 << shift) - 1), 1u128 << (shift - 1)),
        128 => (0, sig, 1 << 127),
        _ => (0, u128::from(sig != 0), 2),
    };
    let up = if nearest { rest > half || rest == half && kept & 1 == 1 } else { away && rest != 0 };
    kept + u128::from(up)
}

/// Shifts the top bit to position 125, leaving room for the carry of an addition.
fn normalise(n: Finite) -> Finite {
    let shift = n.sig.leading_zeros() as i32 - 2;
    debug_assert!(shift >= 0, "significand too wide to be added");
    Finite { sig: n.sig << shift, exp: n.exp - shift, ..n }
}

/// `a + b`. The mode decides the sign of an exact zero and nothing else.
pub(super) fn add(a: Value, b: Value, r: Rounding) -> Value {
    match (a, b) {
        (Nan, _) | (_, Nan) => Nan,
        (Infinite(x), Infinite(y)) if x != y => Nan,
        (Infinite(x), _) | (_, Infinite(x)) => Infinite(x),
        (Zero(x), Zero(y)) if x == y => Zero(x),
        (Zero(_), Zero(_)) => Zero(r == Rounding::Rm),
        (Zero(_), n) | (n, Zero(_)) => n,
        (Value::Finite(x), Value::Finite(y)) => add_finite(x, y, r),
    }
}

fn add_finite(a: Finite, b: Finite, r: Rounding) -> Value {
    let (a, b) = (normalise(a), normalise(b));
    let (big, small) = if (a.exp, a.sig) >= (b.exp, b.sig) { (a, b) } else { (b, a) };
    let distance = big.exp - small.exp;
    // Significands have at most 106 of 126 bits, so bits are lost only at distances above 20, where
    // no cancellation can bring the jammed bit near the rounding position.
    let aligned = if distance < 126 {
        let lost = small.sig & ((1 << distance) - 1) != 0;
        small.sig >> distance | u128::from(lost)
    } else {
        1
    };
    let sig = if big.negative == small.negative { big.sig + aligned } else { big.sig - aligned };
    if sig == 0 {
        return Zero(r == Rounding::Rm);
    }
    Value::Finite(Finite { sig, ..big })
}

/// `a * b`, exact for significands of up to 64 bits.
pub(super) fn mul(a: Value, b: Value) -> Value {
    match (a, b) {
        (Nan, _) | (_, Nan) | (Infinite(_), Zero(_)) | (Zero(_), Infinite(_)) => Nan,
        (Infinite(x), y) | (y, Infinite(x)) => Infinite(x != negative(y)),
        (Zero(x), y) | (y, Zero(x)) => Zero(x != negative(y)),
        (Value::Finite(x), Value::Finite(y)) => {
            Value::Finite(Finite { negative: x.negative != y.negative, exp: x.exp + y.exp, sig: x.sig * y.sig })
        }
    }
}

fn negative(v: Value) -> bool {
    match v {
        Nan => false,
        Infinite(x) | Zero(x) => x,
        Value::Finite(n) => n.negative,
    }
}

/// `a * b + c` without a rounding in between.
pub(super) fn fma(a: Value, b: Value, c: Value, r: Rounding) -> Value {
    add(mul(a, b), c, r)
}

/// `-a`.
pub(super) fn neg(a: Value) -> Value {
    match a {
        Nan => Nan,
        Infinite(x) => Infinite(!x),
        Zero(x) => Zero(!x),
        Value::Finite(n) => Value::Finite(Finite { negative: !n.negative, ..n }),
    }
}

/// `a / b`, for significands of up to 53 bits.
pub(super) fn div(a: Value, b: Value) -> Value {
    // 53 + 70 bits fit, and a quotient of at least 2^17 times the target precision remains.
    const EXTRA: i32 = 70;
    match (a, b) {
        (Nan, _) | (_, Nan) | (Infinite(_), Infinite(_)) | (Zero(_), Zero(_)) => Nan,
        (Infinite(x), y) => Infinite(x != negative(y)),
        (x, Infinite(y)) | (Zero(y), x) => Zero(y != negative(x)),
        (x, Zero(y)) => Infinite(y != negative(x)),
        (Value::Finite(x), Value::Finite(y)) => {
            // Subnormal operands may be much shorter than the divisor; the top bit must not be lost.
            let x_shift = x.sig.leading_zeros() as i32 - (128 - 53) + EXTRA;
            let dividend = x.sig << x_shift;
            let quotient = dividend / y.sig;
            let sticky = u128::from(dividend != quotient * y.sig);
            Value::Finite(Finite {
                negative: x.negative != y.negative,
                exp: x.exp - x_shift - y.exp,
                sig: quotient | sticky,
            })
        }
    }
}

/// Square root, for significands of up to 53 bits.
pub(super) fn sqrt(a: Value) -> Value {
    match a {
        Zero(_) | Infinite(false) => a,
        Nan | Infinite(true) => Nan,
        Value::Finite(n) if n.negative => Nan,
        Value::Finite(n) => {
            // An even exponent and at least 126 bits give a root of at least 63 bits.
            let shift = n.sig.leading_zeros() as i32;
            let shift = if (n.exp - shift) % 2 == 0 { shift } else { shift - 1 };
            let radicand = n.sig << shift;
            let root = radicand.isqrt();
            let sticky = u128::from(root * root != radicand);
            // Jamming needs a spare low bit: the root itself may be odd and inexact.
            Value::Finite(Finite { negative: false, exp: (n.exp - shift) / 2 - 1, sig: root << 1 | sticky })
        }
    }
}
