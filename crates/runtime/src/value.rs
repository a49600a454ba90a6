//! Rust types that buffers, variables and arguments can have.

use crate::element::Element;
use raddle_ptx::isa::Type;

/// A number that goes to the device and back.
pub trait Value: Copy {
    /// What it is there.
    const ELEMENT: Element;

    /// Its bits.
    fn bits(self) -> u64;

    /// The value with these bits; those it has no room for are left out.
    fn from_bits(bits: u64) -> Self;
}

macro_rules! values {
    ($($rust:ty, $element:ident, |$v:ident| $bits:expr, |$b:ident| $from:expr;)*) => {
        $(impl Value for $rust {
            const ELEMENT: Element = Element::of(Type::$element);

            fn bits(self) -> u64 {
                let $v = self;
                $bits
            }

            fn from_bits($b: u64) -> Self {
                $from
            }
        })*
    };
}

values! {
    u8, U8, |v| u64::from(v), |b| b as u8;
    u16, U16, |v| u64::from(v), |b| b as u16;
    u32, U32, |v| u64::from(v), |b| b as u32;
    u64, U64, |v| v, |b| b;
    i8, S8, |v| u64::from(v as u8), |b| b as i8;
    i16, S16, |v| u64::from(v as u16), |b| b as i16;
    i32, S32, |v| u64::from(v as u32), |b| b as i32;
    i64, S64, |v| v as u64, |b| b as i64;
    f32, F32, |v| u64::from(v.to_bits()), |b| f32::from_bits(b as u32);
    f64, F64, |v| v.to_bits(), |b| f64::from_bits(b);
}

/// The bytes of values, one after the other.
#[must_use]
pub fn to_bytes<T: Value>(values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(values.len() * T::ELEMENT.bytes());
    values.iter().for_each(|v| T::ELEMENT.store(v.bits(), &mut bytes));
    bytes
}

/// The values in these bytes.
#[must_use]
pub fn from_bytes<T: Value>(bytes: &[u8]) -> Vec<T> {
    T::ELEMENT.iter(bytes).map(T::from_bits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        assert_eq!(from_bytes::<i32>(&to_bytes(&[-1, i32::MIN])), [-1, i32::MIN]);
        assert_eq!(from_bytes::<i8>(&to_bytes(&[-1i8, 5])), [-1, 5]);
        assert_eq!(from_bytes::<f64>(&to_bytes(&[0.1, f64::INFINITY])), [0.1, f64::INFINITY]);
        assert_eq!(to_bytes(&[1.0f32]), 1.0f32.to_le_bytes());
    }
}
