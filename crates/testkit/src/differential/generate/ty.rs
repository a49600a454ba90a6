//! The integer types of generated programs.

use crate::rng::Rng;

/// An integer type of the prelude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl Ty {
    pub(super) const ALL: [Self; 8] =
        [Self::I8, Self::U8, Self::I16, Self::U16, Self::I32, Self::U32, Self::I64, Self::U64];

    /// A type, the machine's own word sizes more often than the narrow ones.
    pub(super) fn any(rng: &mut Rng) -> Self {
        if rng.one_in(2) { *rng.pick(&[Self::I32, Self::U32, Self::U64, Self::I64]) } else { *rng.pick(&Self::ALL) }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
        }
    }

    pub(super) fn bits(self) -> u32 {
        match self {
            Self::I8 | Self::U8 => 8,
            Self::I16 | Self::U16 => 16,
            Self::I32 | Self::U32 => 32,
            Self::I64 | Self::U64 => 64,
        }
    }

    pub(super) fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The unsigned type in which arithmetic of this type wraps. Narrow types would be promoted
    /// to the signed `int`, whose overflow is undefined.
    pub(super) fn wrapping(self) -> &'static str {
        if self.bits() == 64 { "u64" } else { "u32" }
    }

    /// A constant expression of this type.
    pub(super) fn literal(self, rng: &mut Rng) -> String {
        let bits = self.bits();
        let mask = u64::MAX >> (64 - bits);
        let value = match rng.below(8) {
            0 => 0,
            1 => 1,
            2 => mask,
            3 => 1 << (bits - 1),
            4 => mask >> 1,
            5 => 1 << rng.below(bits),
            6 => u64::from(rng.below(100)),
            _ => rng.next_u64() & mask,
        };
        format!("({}){:#x}ull", self.name(), value)
    }
}
