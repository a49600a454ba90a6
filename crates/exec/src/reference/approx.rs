//! The approximate functions, all rounded correctly to nearest even.
//!
//! The ISA leaves their bits open within an error bound; the project's choice is the correctly rounded
//! value. What the ISA fixes is kept: results for special operands, and that the `.ftz.f64` forms
//! read and write upper words only.

use super::float::{Format, Operation, arithmetic, convert};
use raddle_ptx::isa::Opcode;
use raddle_ptx::num::low32;
use rustc_apfloat::Round;

const NEAREST: Round = Round::NearestTiesToEven;

/// `div.approx.f32` multiplies by a reciprocal, which is zero for divisors beyond 2^126.
pub(super) fn divide(a: u64, b: u64) -> u64 {
    const LIMIT: u64 = (127 + 126) << 23;
    let f = Format::Single;
    let quotient = arithmetic(f, Operation::Div, &[a, b], NEAREST);
    if f.magnitude(b) <= LIMIT || f.magnitude(b) >= f.infinity() || f.is_nan(a) {
        quotient
    } else if f.is_infinite(a) {
        f.canonical_nan()
    } else {
        f.sign(a ^ b)
    }
}

/// What a function of upper words makes of its result.
fn upper_word(result: u64) -> u64 {
    match Format::Double.is_nan(result) {
        true => 0x7fff_ffff_0000_0000,
        false => Format::Double.flush(result & !0xffff_ffff),
    }
}

/// `rcp.approx.f32` and `rcp.approx.ftz.f64`.
pub(super) fn reciprocal(format: Format, a: u64) -> u64 {
    match format {
        Format::Double => upper_word(arithmetic(format, Operation::Div, &[format.one(), a & !0xffff_ffff], NEAREST)),
        _ => arithmetic(format, Operation::Div, &[format.one(), a], NEAREST),
    }
}

/// `rsqrt.approx`.
pub(super) fn reciprocal_root(format: Format, a: u64, ftz: bool) -> u64 {
    match format {
        Format::Double if ftz => upper_word(root64(a & !0xffff_ffff)),
        Format::Double => root64(a),
        _ => single(core_math::rsqrtf, a),
    }
}

fn root64(a: u64) -> u64 {
    let result = core_math::rsqrt(f64::from_bits(a)).to_bits();
    if Format::Double.is_nan(result) { Format::Double.nan_from(&[a]) } else { result }
}

fn single(f: fn(f32) -> f32, a: u64) -> u64 {
    let result = u64::from(f(f32::from_bits(low32(a))).to_bits());
    if Format::Single.is_nan(result) { Format::Single.canonical_nan() } else { result }
}

/// `sin`, `cos`, `lg2`, `ex2`, `tanh`; the 16-bit formats by way of double precision, whose 53 bits are far
/// more than twice theirs.
pub(super) fn function(opcode: Opcode, format: Format, a: u64) -> u64 {
    if format == Format::Single {
        return match opcode {
            Opcode::Sin => single(core_math::sinf, a),
            Opcode::Cos => single(core_math::cosf, a),
            Opcode::Lg2 => single(core_math::log2f, a),
            Opcode::Ex2 => single(core_math::exp2f, a),
            _ => single(core_math::tanhf, a),
        };
    }
    // Of the others, only these two exist in 16 bits.
    let x = f64::from_bits(convert(format, Format::Double, a, NEAREST));
    let exact = if opcode == Opcode::Ex2 { core_math::exp2(x) } else { core_math::tanh(x) }.to_bits();
    convert(Format::Double, format, exact, NEAREST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_by_huge_numbers() {
        let f = |a: f32, b: f32| f32::from_bits(divide(a.to_bits().into(), b.to_bits().into()) as u32);
        let huge = f32::from_bits(((127 + 126) << 23) + 1);
        assert_eq!(f(-1e38, huge).to_bits(), 0x8000_0000);
        assert!(f(f32::INFINITY, huge).is_nan());
        assert_eq!(f(f32::INFINITY, huge.next_down()), f32::INFINITY);
        assert_eq!(f(1.0, f32::NEG_INFINITY).to_bits(), 0x8000_0000);
        assert_eq!(f(1.0, 0.0), f32::INFINITY);
    }

    #[test]
    fn upper_words() {
        assert_eq!(reciprocal(Format::Double, 3f64.to_bits()), (1f64 / 3.0).to_bits() & !0xffff_ffff);
        assert_eq!(reciprocal(Format::Double, 0), Format::Double.infinity());
        assert_eq!(reciprocal_root(Format::Double, (-1f64).to_bits(), true), 0x7fff_ffff_0000_0000);
        assert_eq!(reciprocal_root(Format::Double, 4f64.to_bits(), false), 0.5f64.to_bits());
        assert_eq!(function(Opcode::Ex2, Format::Half, 0x4000), 0x4400);
    }
}
