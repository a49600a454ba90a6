//! Element types of buffers and scalar arguments, and their values as text and as bits.

use half::{bf16, f16};
use raddle_ptx::diag::closest;
use raddle_ptx::isa::{Kind, Type};
use std::fmt;

/// A type that buffers and scalar arguments can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element(Type);

/// Why a text is not a type or not a value of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Not a type.
    #[error("`{name}` is not an element type{}", did_you_mean(.close))]
    UnknownType {
        /// As written.
        name: String,
        /// What was probably meant.
        close: Option<&'static str>,
    },
    /// Not a number, or not of this type.
    #[error("`{text}` is not a value of type {ty}: {reason}")]
    NotAValue {
        /// As written.
        text: String,
        /// Type it should have.
        ty: Element,
        /// What is wrong with it.
        reason: String,
    },
}

fn did_you_mean(close: &Option<&str>) -> String {
    close.map_or_else(String::new, |c| format!("; did you mean `{c}`?"))
}

/// PTX says `s32` where others say `i32`.
fn signed_in_c(name: &str) -> Option<&'static str> {
    let bits = name.strip_prefix('i')?;
    Element::ALL.iter().map(|e| e.name()).find(|n| n.strip_prefix('s') == Some(bits))
}

impl Element {
    /// Every element type.
    pub const ALL: [Self; 16] = [
        Self(Type::U8),
        Self(Type::U16),
        Self(Type::U32),
        Self(Type::U64),
        Self(Type::S8),
        Self(Type::S16),
        Self(Type::S32),
        Self(Type::S64),
        Self(Type::B8),
        Self(Type::B16),
        Self(Type::B32),
        Self(Type::B64),
        Self(Type::F16),
        Self(Type::Bf16),
        Self(Type::F32),
        Self(Type::F64),
    ];

    /// A type of values in Rust.
    pub(crate) const fn of(ty: Type) -> Self {
        Self(ty)
    }

    /// The element type named `name`, such as `f32`.
    ///
    /// # Errors
    /// When there is none.
    pub fn from_name(name: &str) -> Result<Self, ValueError> {
        Self::ALL.into_iter().find(|e| e.name() == name).ok_or_else(|| ValueError::UnknownType {
            name: name.to_owned(),
            close: signed_in_c(name).or_else(|| closest(name, Self::ALL.iter().map(|e| e.name()))),
        })
    }

    /// The element type that is the PTX type `ty`, if buffers can have it.
    #[must_use]
    pub fn from_ptx(ty: Type) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.0 == ty)
    }

    /// The PTX type.
    #[must_use]
    pub fn ty(self) -> Type {
        self.0
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.0.bytes() as usize
    }

    fn not_a_value(self, text: &str, reason: impl Into<String>) -> ValueError {
        ValueError::NotAValue { text: text.to_owned(), ty: self, reason: reason.into() }
    }

    /// The bits of the value written as `text`: a decimal or hexadecimal integer; for
    /// floating-point types also `1.5`, `inf`, `nan`, and `0f3f800000` or `0d3ff0000000000000`,
    /// the exact bits of a single or double.
    ///
    /// # Errors
    /// When the text is not a number or the number does not fit.
    pub fn parse(self, text: &str) -> Result<u64, ValueError> {
        match self.0.kind() {
            Kind::Float => self.parse_float(text),
            _ => self.parse_int(text),
        }
    }

    fn parse_int(self, text: &str) -> Result<u64, ValueError> {
        let value = integer(text).ok_or_else(|| {
            let reason = if text.parse::<f64>().is_ok() { "it is not an integer" } else { "it is not a number" };
            self.not_a_value(text, reason)
        })?;
        let bits = self.0.bits();
        let (low, high) = match self.0.kind() {
            Kind::Signed => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            Kind::Unsigned => (0, (1i128 << bits) - 1),
            _ => (-(1i128 << (bits - 1)), (1i128 << bits) - 1),
        };
        if value < low || value > high {
            return Err(self.not_a_value(text, format!("the range is {low} to {high}")));
        }
        Ok(value as u64 & mask(bits))
    }

    fn parse_float(self, text: &str) -> Result<u64, ValueError> {
        let exact = |prefix: &str, digits: usize| {
            let hex = text.strip_prefix(prefix).filter(|h| h.len() == digits)?;
            u64::from_str_radix(hex, 16).ok()
        };
        let single = exact("0f", 8).map(|b| f32::from_bits(b as u32));
        let double = exact("0d", 16).map(f64::from_bits);
        if let (Type::F32, Some(v)) = (self.0, single) {
            return Ok(u64::from(v.to_bits()));
        }
        if let (Type::F64, Some(v)) = (self.0, double) {
            return Ok(v.to_bits());
        }
        // Hexadecimal integers are values, not bits; decimals go to the type in one rounding.
        let is_hex = text.contains(['x', 'X']);
        let text_value = integer(text).filter(|_| is_hex).map_or_else(|| text.replace('_', ""), |v| v.to_string());
        let wide: f64 = match (single, double) {
            (Some(v), _) => f64::from(v),
            (_, Some(v)) => v,
            _ => text_value.parse().map_err(|_| self.not_a_value(text, "it is not a number"))?,
        };
        Ok(match self.0 {
            Type::F64 => wide.to_bits(),
            Type::F32 => match (single, double) {
                (None, None) => u64::from(text_value.parse::<f32>().unwrap_or(wide as f32).to_bits()),
                _ => u64::from((wide as f32).to_bits()),
            },
            Type::F16 => u64::from(f16::from_f64(wide).to_bits()),
            _ => u64::from(bf16::from_f64(wide).to_bits()),
        })
    }

    /// The bits of the integer `value` converted to this type; integers keep the low bits.
    #[must_use]
    pub fn from_u64(self, value: u64) -> u64 {
        match self.0 {
            Type::F64 => (value as f64).to_bits(),
            Type::F32 => u64::from((value as f32).to_bits()),
            Type::F16 => u64::from(f16::from_f64(value as f64).to_bits()),
            Type::Bf16 => u64::from(bf16::from_f64(value as f64).to_bits()),
            _ => value & mask(self.0.bits()),
        }
    }

    /// The bits of the element in the first bytes of `bytes`, little-endian.
    #[must_use]
    pub fn load(self, bytes: &[u8]) -> u64 {
        let mut wide = [0; 8];
        let n = self.bytes().min(bytes.len());
        wide[..n].copy_from_slice(&bytes[..n]);
        u64::from_le_bytes(wide)
    }

    /// The elements in `bytes`, as bits.
    pub fn iter(self, bytes: &[u8]) -> impl Iterator<Item = u64> {
        bytes.chunks_exact(self.bytes()).map(move |chunk| self.load(chunk))
    }

    /// Appends the element with these bits to `bytes`.
    pub fn store(self, bits: u64, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&bits.to_le_bytes()[..self.bytes()]);
    }

    /// The value of a floating-point element; `None` for other types.
    #[must_use]
    pub fn float(self, bits: u64) -> Option<f64> {
        match self.0 {
            Type::F64 => Some(f64::from_bits(bits)),
            Type::F32 => Some(f64::from(f32::from_bits(bits as u32))),
            Type::F16 => Some(f16::from_bits(bits as u16).to_f64()),
            Type::Bf16 => Some(bf16::from_bits(bits as u16).to_f64()),
            _ => None,
        }
    }

    /// The value of an integer element; 0 for floating-point types.
    #[must_use]
    pub fn int(self, bits: u64) -> i128 {
        let unused = 64 - self.0.bits().min(64);
        match self.0.kind() {
            Kind::Signed => i128::from(((bits << unused) as i64) >> unused),
            Kind::Float => 0,
            _ => i128::from(bits),
        }
    }

    /// The value as text that [`Self::parse`] reads back: decimal, hexadecimal for untyped bits,
    /// the shortest exact decimal for floating point.
    #[must_use]
    pub fn show(self, bits: u64) -> String {
        match (self.0, self.0.kind()) {
            (Type::F32, _) => float_text(f32::from_bits(bits as u32)),
            (_, Kind::Float) => float_text(self.float(bits).unwrap_or(0.0)),
            (_, Kind::Bits) => format!("{bits:#0width$x}", width = self.bytes() * 2 + 2),
            _ => self.int(bits).to_string(),
        }
    }
}

/// An integer in decimal or hexadecimal, with an optional sign and `_` between digits.
#[must_use]
pub fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.starts_with(['-', '+', '_']) || digits.ends_with('_') {
        return None;
    }
    let digits = digits.replace('_', "");
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with('+'))?,
        None => digits.parse::<u64>().ok()?,
    };
    Some(if negative { -i128::from(value) } else { i128::from(value) })
}

fn float_text(value: impl fmt::Debug) -> String {
    let text = format!("{value:?}").to_ascii_lowercase();
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(ty: &str, text: &str) -> Result<u64, String> {
        Element::from_name(ty).and_then(|e| e.parse(text)).map_err(|e| e.to_string())
    }

    #[test]
    fn values_become_bits() {
        assert_eq!(parse("u32", "5"), Ok(5));
        assert_eq!(parse("u32", "0xffff_ffff"), Ok(0xffff_ffff));
        assert_eq!(parse("s16", "-2"), Ok(0xfffe));
        assert_eq!(parse("b8", "-1"), Ok(0xff));
        assert_eq!(parse("u64", "18446744073709551615"), Ok(u64::MAX));
        assert_eq!(parse("f32", "1.5"), Ok(0x3fc0_0000));
        assert_eq!(parse("f32", "0x10"), Ok(0x4180_0000));
        assert_eq!(parse("f32", "0f3f800001"), Ok(0x3f80_0001));
        assert_eq!(parse("f64", "-inf"), Ok(f64::NEG_INFINITY.to_bits()));
        assert_eq!(parse("f16", "1"), Ok(0x3c00));
        assert_eq!(parse("bf16", "1"), Ok(0x3f80));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let message = |ty, text| parse(ty, text).unwrap_err();
        assert_eq!(message("u8", "256"), "`256` is not a value of type u8: the range is 0 to 255");
        assert_eq!(message("s8", "-129"), "`-129` is not a value of type s8: the range is -128 to 127");
        assert_eq!(message("u32", "1.5"), "`1.5` is not a value of type u32: it is not an integer");
        assert_eq!(message("u32", "x"), "`x` is not a value of type u32: it is not a number");
        assert_eq!(message("u32", "--1"), "`--1` is not a value of type u32: it is not a number");
        assert_eq!(message("f32", ""), "`` is not a value of type f32: it is not a number");
        assert_eq!(message("f23", "1"), "`f23` is not an element type");
        assert_eq!(message("i32", "1"), "`i32` is not an element type; did you mean `s32`?");
    }

    #[test]
    fn what_is_shown_reads_back() {
        for e in Element::ALL {
            for bits in [0, 1, 0x3c01, 0x7fff_0000_1234_5678, u64::MAX] {
                let bits = bits & mask(e.ty().bits());
                let back = e.parse(&e.show(bits)).unwrap();
                let is_nan = e.float(bits).is_some_and(f64::is_nan);
                assert!(back == bits || is_nan, "{e} {bits:#x} {}", e.show(bits));
            }
        }
        assert_eq!(Element(Type::F32).show(0x3dcc_cccd), "0.1");
        assert_eq!(Element(Type::B16).show(10), "0x000a");
        assert_eq!(Element(Type::S8).show(0xff), "-1");
    }
}
