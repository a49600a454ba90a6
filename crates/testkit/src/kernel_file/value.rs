//! Values as kernel files write them.

use crate::rng::Rng;
use raddle_ptx::isa::Type;

/// An expected value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    /// These bits.
    Bits(u64),
    /// Any NaN.
    Nan,
}

impl Value {
    /// Reads a value of type `ty`.
    pub(super) fn parse(text: &str, ty: Type) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a value of type {ty}");
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let hex = |d: &str| u64::from_str_radix(d, 16).map_err(|_| wrong());
        if let Some(bits) = digits.strip_prefix("0f").filter(|d| d.len() == 8) {
            return Ok(Self::Bits(hex(bits)?));
        }
        if let Some(bits) = digits.strip_prefix("0d").filter(|d| d.len() == 16) {
            return Ok(Self::Bits(hex(bits)?));
        }
        if let Some(bits) = digits.strip_prefix("0x") {
            let bits = hex(bits)?;
            return Ok(Self::Bits(if negative { bits.wrapping_neg() & mask(ty) } else { bits }));
        }
        if text == "nan" {
            return Ok(Self::Nan);
        }
        match ty {
            Type::F32 => Ok(Self::Bits(u64::from(text.parse::<f32>().map_err(|_| wrong())?.to_bits()))),
            Type::F64 => Ok(Self::Bits(text.parse::<f64>().map_err(|_| wrong())?.to_bits())),
            _ => {
                let value: u64 = digits.parse().map_err(|_| wrong())?;
                Ok(Self::Bits(if negative { value.wrapping_neg() & mask(ty) } else { value }))
            }
        }
    }

    /// The bits to store; a quiet NaN for `nan`.
    pub(super) fn bits(self, ty: Type) -> u64 {
        match (self, ty) {
            (Self::Bits(bits), _) => bits,
            (Self::Nan, Type::F64) => f64::NAN.to_bits(),
            (Self::Nan, Type::F32) => u64::from(f32::NAN.to_bits()),
            (Self::Nan, _) => 0x7fff,
        }
    }

    /// Whether `found` is this value, within `ulp` units in the last place.
    pub(super) fn matches(self, found: u64, ty: Type, ulp: u64) -> bool {
        match self {
            Self::Nan => is_nan(found, ty),
            Self::Bits(wanted) => {
                found == wanted & mask(ty) || ulp > 0 && distance(found, wanted, ty).is_some_and(|d| d <= ulp)
            }
        }
    }

    pub(super) fn show(self, ty: Type) -> String {
        match self {
            Self::Nan => "nan".to_owned(),
            Self::Bits(bits) => show(bits, ty),
        }
    }
}

/// A random value: any bits of an integer; mostly a number of moderate size of a floating-point type.
pub(super) fn random(rng: &mut Rng, ty: Type) -> u64 {
    let bits = rng.next_u64();
    // Bits of the fraction, and of the exponent.
    let (fraction, exponent) = match ty {
        Type::F16 => (10, 5),
        Type::Bf16 => (7, 8),
        Type::F32 => (23, 8),
        Type::F64 => (52, 11),
        _ => return bits & mask(ty),
    };
    if bits & 31 == 0 {
        return bits >> 5 & mask(ty);
    }
    let bias = (1u64 << (exponent - 1)) - 1;
    let sign = bits >> 63 << (fraction + exponent);
    sign | (bias - 4 + (bits >> 5 & 7)) << fraction | bits >> 8 & ((1 << fraction) - 1)
}

fn mask(ty: Type) -> u64 {
    u64::MAX >> (64 - ty.bits())
}

fn is_nan(bits: u64, ty: Type) -> bool {
    match ty {
        Type::F32 => f32::from_bits(bits as u32).is_nan(),
        Type::F64 => f64::from_bits(bits).is_nan(),
        Type::F16 => bits & 0x7fff > 0x7c00,
        Type::Bf16 => bits & 0x7fff > 0x7f80,
        _ => false,
    }
}

/// Units in the last place between two numbers of the same sign order; `None` for NaN.
fn distance(a: u64, b: u64, ty: Type) -> Option<u64> {
    if is_nan(a, ty) || is_nan(b, ty) {
        return None;
    }
    let sign = 1u64 << (ty.bits() - 1);
    let ordered = |x: u64| {
        let magnitude = (x & (sign - 1)).cast_signed();
        if x & sign == 0 { i128::from(magnitude) } else { -i128::from(magnitude) }
    };
    u64::try_from((ordered(a) - ordered(b)).abs()).ok()
}

/// A value for messages: bits, and the number for floating point.
pub(super) fn show(bits: u64, ty: Type) -> String {
    match ty {
        Type::F32 => format!("0f{bits:08X} ({:?})", f32::from_bits(bits as u32)),
        Type::F64 => format!("0d{bits:016X} ({:?})", f64::from_bits(bits)),
        _ => format!("{bits:#x}"),
    }
}
