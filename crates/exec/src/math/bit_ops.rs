//! Bit-field and bit-permutation instructions.
//!
//! Loops in the ISA's pseudo-code become masks here; the tests run the pseudo-code beside them.

use raddle_ptx::num::{low8, low32};

/// `.clamp` or `.wrap`: what an amount beyond the width means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShiftMode {
    /// `.clamp`: amounts beyond 32 count as 32.
    Clamp,
    /// `.wrap`: only the low five bits count.
    Wrap,
}

/// The mode of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrmtMode {
    /// No mode: four selectors of four bits, the top bit of each replicating the sign of its byte.
    Generic,
    /// `.f4e`: four consecutive bytes, forward extract.
    F4e,
    /// `.b4e`: four consecutive bytes, backward extract.
    B4e,
    /// `.rc8`: one byte replicated.
    Rc8,
    /// `.ecl`: edge clamp left.
    Ecl,
    /// `.ecr`: edge clamp right.
    Ecr,
    /// `.rc16`: one half-word replicated.
    Rc16,
}

macro_rules! fields {
    ($unsigned:ty, $signed:ty, $bits:literal, $mask:ident $bfe_u:ident $bfe_s:ident $bfi:ident
     $bfind_u:ident $bfind_s:ident $brev:ident $clz:ident $popc:ident) => {
        /// `len` ones from bit zero; all ones for the width or more.
        #[inline(always)]
        fn $mask(len: u32) -> $unsigned {
            if len < $bits { (1 << len) - 1 } else { <$unsigned>::MAX }
        }

        #[doc = concat!("`bfe.u", $bits, "`: the field of `len` bits at `pos`, zero beyond the top.")]
        ///
        /// Only the low eight bits of `pos` and `len` count.
        #[inline(always)]
        pub fn $bfe_u(a: $unsigned, pos: u32, len: u32) -> $unsigned {
            let (pos, len) = (pos & 0xff, len & 0xff);
            let shifted = if pos < $bits { a >> pos } else { 0 };
            shifted & $mask(len)
        }

        #[doc = concat!("`bfe.s", $bits, "`: the field of `len` bits at `pos`, sign-extended.")]
        ///
        /// The sign is the field's top bit, or that of `a` where the field reaches beyond it; a field of
        /// no bits is zero. Only the low eight bits of `pos` and `len` count.
        #[inline(always)]
        pub fn $bfe_s(a: $signed, pos: u32, len: u32) -> $signed {
            let (pos, len) = (pos & 0xff, len & 0xff);
            // An arithmetic shift fills with the sign of `a`, which is right where the field overhangs.
            let shifted = a >> pos.min($bits - 1);
            let unused = ($bits - len.min($bits)).min($bits - 1);
            if len == 0 { 0 } else { shifted << unused >> unused }
        }

        #[doc = concat!("`bfi.b", $bits, "`: `b` with the low `len` bits of `a` inserted at `pos`.")]
        ///
        /// Only the low eight bits of `pos` and `len` count; what would land beyond the top is dropped.
        #[inline(always)]
        pub fn $bfi(a: $unsigned, b: $unsigned, pos: u32, len: u32) -> $unsigned {
            let (pos, len) = (pos & 0xff, len & 0xff);
            if pos >= $bits {
                return b;
            }
            let field = $mask(len) << pos;
            b & !field | a << pos & field
        }

        #[doc = concat!("`bfind.u", $bits, "`: position of the highest one, or `0xffffffff` if there is none.")]
        ///
        /// With `.shiftamt`, the left shift that brings it to the top.
        #[inline(always)]
        pub fn $bfind_u(a: $unsigned, shiftamt: bool) -> u32 {
            let zeros = a.leading_zeros();
            let found = if shiftamt { zeros } else { ($bits - 1u32).wrapping_sub(zeros) };
            if a == 0 { u32::MAX } else { found }
        }

        #[doc = concat!("`bfind.s", $bits, "`: position of the highest bit that differs from the sign.")]
        #[inline(always)]
        pub fn $bfind_s(a: $signed, shiftamt: bool) -> u32 {
            $bfind_u((if a < 0 { !a } else { a }) as $unsigned, shiftamt)
        }

        #[doc = concat!("`brev.b", $bits, "`: the bits in reverse order.")]
        #[inline(always)]
        pub fn $brev(a: $unsigned) -> $unsigned {
            a.reverse_bits()
        }

        #[doc = concat!("`clz.b", $bits, "`: leading zeros; ", $bits, " for zero.")]
        #[inline(always)]
        pub fn $clz(a: $unsigned) -> u32 {
            a.leading_zeros()
        }

        #[doc = concat!("`popc.b", $bits, "`: number of ones.")]
        #[inline(always)]
        pub fn $popc(a: $unsigned) -> u32 {
            a.count_ones()
        }
    };
}

fields!(u32, i32, 32, mask_b32 bfe_u32 bfe_s32 bfi_b32 bfind_u32 bfind_s32 brev_b32 clz_b32 popc_b32);
fields!(u64, i64, 64, mask_b64 bfe_u64 bfe_s64 bfi_b64 bfind_u64 bfind_s64 brev_b64 clz_b64 popc_b64);

/// `fns.b32`: position of the n-th set bit of `mask`, counted from `base`.
///
/// A positive `offset` counts upwards and a negative one downwards, the bit at `base` included; zero asks
/// for the bit at `base` itself. `0xffffffff` if there is no such bit. A `base` above 31 is unspecified in
/// the ISA and finds nothing here.
#[inline]
pub fn fns_b32(mask: u32, base: u32, offset: i32) -> u32 {
    if base > 31 {
        return u32::MAX;
    }
    if offset == 0 {
        return if mask >> base & 1 == 1 { base } else { u32::MAX };
    }
    // Counting downwards is counting upwards in the reversed word.
    let (word, start) = if offset > 0 { (mask, base) } else { (mask.reverse_bits(), 31 - base) };
    let mut rest = word >> start << start;
    // At most 32 bits can be skipped, so a larger count ends with an empty word.
    for _ in 1..offset.unsigned_abs().min(33) {
        rest &= rest.wrapping_sub(1);
    }
    match (rest, offset > 0) {
        (0, _) => u32::MAX,
        (_, true) => rest.trailing_zeros(),
        (_, false) => 31 - rest.trailing_zeros(),
    }
}

/// `prmt.b32`: four of the eight bytes of `b:a`, chosen by `selector` as the mode says.
///
/// All modes but the generic one read the low two bits of `selector`.
#[inline]
pub fn prmt_b32(a: u32, b: u32, selector: u32, mode: PrmtMode) -> u32 {
    let control = selector & 3;
    match mode {
        PrmtMode::Generic => permute(a, b, |i| selector >> (4 * i) & 0xf),
        PrmtMode::F4e => permute(a, b, |i| control + i),
        PrmtMode::B4e => permute(a, b, |i| control.wrapping_sub(i) & 7),
        PrmtMode::Rc8 => permute(a, b, |_| control),
        PrmtMode::Ecl => permute(a, b, |i| i.max(control)),
        PrmtMode::Ecr => permute(a, b, |i| i.min(control)),
        PrmtMode::Rc16 => permute(a, b, |i| (control & 1) * 2 + (i & 1)),
    }
}

/// Builds a word out of bytes of `b:a`; bit 3 of a choice replicates the sign instead.
#[inline(always)]
fn permute(a: u32, b: u32, choice: impl Fn(u32) -> u32) -> u32 {
    let pair = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |word, i| {
        let choice = choice(i);
        let byte = low8(pair >> (8 * (choice & 7)));
        let byte = if choice & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
        word | u32::from(byte) << (8 * i)
    })
}

/// `lop3.b32`: the bitwise function of three operands whose truth table is `lut`.
#[inline(always)]
pub fn lop3_b32(a: u32, b: u32, c: u32, lut: u8) -> u32 {
    let term = |index: u8| {
        let pick = |x: u32, bit: u8| if index >> bit & 1 == 1 { x } else { !x };
        let on = if lut >> index & 1 == 1 { u32::MAX } else { 0 };
        pick(a, 2) & pick(b, 1) & pick(c, 0) & on
    };
    term(0) | term(1) | term(2) | term(3) | term(4) | term(5) | term(6) | term(7)
}

/// The amount of a funnel shift.
#[inline(always)]
fn funnel_amount(c: u32, mode: ShiftMode) -> u32 {
    match mode {
        ShiftMode::Clamp => c.min(32),
        ShiftMode::Wrap => c & 31,
    }
}

/// `shf.l.b32`: the upper word of `b:a` shifted left by `c`.
#[inline(always)]
pub fn shf_l_b32(a: u32, b: u32, c: u32, mode: ShiftMode) -> u32 {
    let pair = u64::from(b) << 32 | u64::from(a);
    low32((pair << funnel_amount(c, mode)) >> 32)
}

/// `shf.r.b32`: the lower word of `b:a` shifted right by `c`.
#[inline(always)]
pub fn shf_r_b32(a: u32, b: u32, c: u32, mode: ShiftMode) -> u32 {
    let pair = u64::from(b) << 32 | u64::from(a);
    low32(pair >> funnel_amount(c, mode))
}

/// `szext.u32`: the low `n` bits of `a`, zero-extended; all of `a` for 32 or more with `.clamp`.
#[inline(always)]
pub fn szext_u32(a: u32, n: u32, mode: ShiftMode) -> u32 {
    a & mask_b32(funnel_amount(n, mode))
}

/// `szext.s32`: the low `n` bits of `a`, sign-extended; all of `a` for 32 or more with `.clamp`.
#[inline(always)]
pub fn szext_s32(a: i32, n: u32, mode: ShiftMode) -> i32 {
    bfe_s32(a, 0, funnel_amount(n, mode))
}

/// `bmsk.b32`: `width` ones from bit `pos` upwards, as far as they fit.
///
/// With `.wrap` the low five bits of both count; with `.clamp` a position of 32 or more gives zero and a
/// width of 32 or more reaches the top.
#[inline(always)]
pub fn bmsk_b32(pos: u32, width: u32, mode: ShiftMode) -> u32 {
    let (pos, width) = (funnel_amount(pos, mode), funnel_amount(width, mode));
    if pos > 31 { 0 } else { mask_b32(width) << pos }
}

#[cfg(test)]
mod tests;
