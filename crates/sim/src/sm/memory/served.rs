//! Whom a request serves, and how that is written into the token that goes with it to memory and back.

use super::super::in_flight::InstId;
use super::parts::PartId;
use crate::packet::Token;
use crate::seam::WarpId;
use raddle_ptx::num::low16;

/// A bit of tokens: it went past the data cache, so it is no number of one of the cache's entries.
const PAST_L1: u32 = 1 << 31;

/// A bit of tokens: the number is that of a part.
const PART: u32 = 1 << 30;

/// Whom a request of a load serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Load {
    /// An instruction of one warp.
    Inst(InstId),
    /// Instructions of several slices.
    Part(PartId),
}

impl Load {
    /// As a token, which caches hand back when the data are there.
    #[inline]
    pub(super) fn token(self) -> Token {
        match self {
            Self::Inst(inst) => Token(inst.0),
            Self::Part(part) => Token(PART | part.0),
        }
    }

    /// Whom a token is for.
    #[inline]
    pub(super) fn of(Token(token): Token) -> Self {
        let number = token & !(PAST_L1 | PART);
        if token & PART == 0 { Self::Inst(InstId(number)) } else { Self::Part(PartId(number)) }
    }

    /// As the token of a request that goes past the data cache.
    #[inline]
    pub(super) fn token_past_l1(self) -> Token {
        Token(self.token().0 | PAST_L1)
    }

    /// Whom a reply is for that went past the data cache; `None` of one that is for a line of the cache.
    #[inline]
    pub(super) fn past_l1(token: Token) -> Option<Self> {
        (token.0 & PAST_L1 != 0).then(|| Self::of(token))
    }
}

/// Whom a request of a store serves: its instruction has ended when the acknowledgement comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Store {
    /// One warp.
    Warp(WarpId),
    /// Warps of several slices.
    Part(PartId),
}

impl Store {
    /// As a token, which comes back with the acknowledgement.
    #[inline]
    pub(super) fn token(self) -> Token {
        match self {
            Self::Warp(warp) => Token(warp.0.into()),
            Self::Part(part) => Token(PART | part.0),
        }
    }

    /// Whom a token is for.
    #[inline]
    pub(super) fn of(Token(token): Token) -> Self {
        if token & PART == 0 { Self::Warp(WarpId(low16(token.into()))) } else { Self::Part(PartId(token & !PART)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_say_whom_they_are_for() {
        for load in [Load::Inst(InstId(7)), Load::Part(PartId(3))] {
            assert_eq!(Load::of(load.token()), load);
            assert_eq!(Load::past_l1(load.token()), None);
            assert_eq!(Load::past_l1(load.token_past_l1()), Some(load));
        }
        for store in [Store::Warp(WarpId(u16::MAX)), Store::Part(PartId(3))] {
            assert_eq!(Store::of(store.token()), store);
        }
    }
}
