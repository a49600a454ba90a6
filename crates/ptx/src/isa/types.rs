//! The scalar types of PTX.

use super::word::Word;

/// A fundamental PTX type as it appears behind an opcode or in a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// One bit, in predicate registers.
    Pred,
    /// Untyped bits.
    B8,
    /// Untyped bits.
    B16,
    /// Untyped bits.
    B32,
    /// Untyped bits.
    B64,
    /// Untyped bits; declarations only.
    B128,
    /// Unsigned integer.
    U8,
    /// Unsigned integer.
    U16,
    /// Unsigned integer.
    U32,
    /// Unsigned integer.
    U64,
    /// Signed integer.
    S8,
    /// Signed integer.
    S16,
    /// Signed integer.
    S32,
    /// Signed integer.
    S64,
    /// IEEE half precision.
    F16,
    /// Two halves in 32 bits.
    F16x2,
    /// bfloat16.
    Bf16,
    /// Two bfloat16 in 32 bits.
    Bf16x2,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// Opaque texture reference; module-scope variables only.
    Texref,
    /// Opaque sampler reference; module-scope variables only.
    Samplerref,
    /// Opaque surface reference; module-scope variables only.
    Surfref,
}

/// What the bits of a type mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A predicate.
    Pred,
    /// Untyped bits.
    Bits,
    /// Unsigned integer.
    Unsigned,
    /// Signed integer.
    Signed,
    /// Any floating-point format.
    Float,
    /// Opaque handle.
    Opaque,
}

impl Type {
    /// The type a word names, if it names one.
    #[must_use]
    pub fn from_word(word: Word) -> Option<Self> {
        Self::WORDS.iter().find(|(_, w)| *w == word).map(|(ty, _)| *ty)
    }

    /// The type named `name`, without the dot.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Word::from_name(name).and_then(Self::from_word)
    }

    /// The word that names this type.
    #[must_use]
    pub fn word(self) -> Word {
        // Types and their words are listed in the order of the types.
        Self::WORDS[self as usize].1
    }

    /// Every type with the word that names it.
    const WORDS: [(Self, Word); 23] = [
        (Self::Pred, Word::Pred),
        (Self::B8, Word::B8),
        (Self::B16, Word::B16),
        (Self::B32, Word::B32),
        (Self::B64, Word::B64),
        (Self::B128, Word::B128),
        (Self::U8, Word::U8),
        (Self::U16, Word::U16),
        (Self::U32, Word::U32),
        (Self::U64, Word::U64),
        (Self::S8, Word::S8),
        (Self::S16, Word::S16),
        (Self::S32, Word::S32),
        (Self::S64, Word::S64),
        (Self::F16, Word::F16),
        (Self::F16x2, Word::F16x2),
        (Self::Bf16, Word::Bf16),
        (Self::Bf16x2, Word::Bf16x2),
        (Self::F32, Word::F32),
        (Self::F64, Word::F64),
        (Self::Texref, Word::Texref),
        (Self::Samplerref, Word::Samplerref),
        (Self::Surfref, Word::Surfref),
    ];

    /// Name without the dot.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.word().as_str()
    }

    /// Size in bytes; predicates count one, opaque handles eight.
    #[must_use]
    pub fn bytes(self) -> u32 {
        match self {
            Self::Pred | Self::B8 | Self::U8 | Self::S8 => 1,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 2,
            Self::B32 | Self::U32 | Self::S32 | Self::F32 | Self::F16x2 | Self::Bf16x2 => 4,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 => 8,
            Self::Texref | Self::Samplerref | Self::Surfref => 8,
            Self::B128 => 16,
        }
    }

    /// Size in bits; a predicate has one.
    #[must_use]
    pub fn bits(self) -> u32 {
        if self == Self::Pred { 1 } else { self.bytes() * 8 }
    }

    /// What the bits mean.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Self::Pred => Kind::Pred,
            Self::B8 | Self::B16 | Self::B32 | Self::B64 | Self::B128 => Kind::Bits,
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Kind::Unsigned,
            Self::S8 | Self::S16 | Self::S32 | Self::S64 => Kind::Signed,
            Self::F16 | Self::F16x2 | Self::Bf16 | Self::Bf16x2 | Self::F32 | Self::F64 => Kind::Float,
            Self::Texref | Self::Samplerref | Self::Surfref => Kind::Opaque,
        }
    }

    /// Whether this is a signed integer.
    #[must_use]
    pub fn is_signed(self) -> bool {
        self.kind() == Kind::Signed
    }

    /// Whether this is a floating-point type.
    #[must_use]
    pub fn is_float(self) -> bool {
        self.kind() == Kind::Float
    }

    /// The type of twice the width that `.wide` instructions write.
    #[must_use]
    pub fn wide(self) -> Option<Self> {
        Some(match self {
            Self::U16 => Self::U32,
            Self::S16 => Self::S32,
            Self::U32 => Self::U64,
            Self::S32 => Self::S64,
            Self::B32 => Self::B64,
            _ => return None,
        })
    }

    /// Whether a register declared with this type may stand where an instruction wants `wanted`,
    /// sizes being equal: untyped bits match everything, signedness is ignored.
    #[must_use]
    pub fn agrees_with(self, wanted: Self) -> bool {
        use Kind::{Bits, Float, Pred, Signed, Unsigned};
        if self == wanted {
            return true;
        }
        if self.bytes() != wanted.bytes() {
            return false;
        }
        match (self.kind(), wanted.kind()) {
            (Pred, _) | (_, Pred) => false,
            (Bits, _) | (_, Bits) => true,
            (Unsigned | Signed, Unsigned | Signed) => true,
            // Packed formats have no register type of their own besides .b32.
            (Float, Float) => self == wanted,
            _ => false,
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, ".{}", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_their_types() {
        for (ty, word) in Type::WORDS {
            assert_eq!((ty.word(), Type::from_word(word)), (word, Some(ty)));
        }
    }
}
