//! Bits: logic, shifts, fields, permutations.

use super::step::{Done, Step, low_mask, sign_extend};
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::num::{fit, low32, low64};

/// `shl`, `shr`: amounts beyond the width behave as the width.
fn shift_left(a: u64, n: u64, bits: u32) -> u64 {
    if n >= u64::from(bits) { 0 } else { a << n & low_mask(bits) }
}

fn shift_right(a: u64, n: u64, ty: Type) -> u64 {
    let n = n.min(u64::from(ty.bits()));
    match ty.is_signed() {
        true => (sign_extend(a, ty.bits()) >> n.min(63)).cast_unsigned() & low_mask(ty.bits()),
        false => low64(u128::from(a) >> n),
    }
}

/// `shf`: the pair `hi:lo` shifted, the half that is asked for.
fn funnel(lo: u64, hi: u64, n: u64, left: bool, wrap: bool) -> u64 {
    let n = if wrap { n & 31 } else { n.min(32) };
    let pair = u128::from(hi) << 32 | u128::from(lo);
    let shifted = if left { pair << n >> 32 } else { pair >> n };
    low64(shifted) & low_mask(32)
}

fn lop3(a: u64, b: u64, c: u64, table: u64) -> u64 {
    (0..32)
        .map(|i| {
            let index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
            (table >> index & 1) << i
        })
        .sum()
}

/// `prmt`: bytes of `b:a` picked by `c`.
fn permute(a: u64, b: u64, c: u64, mode: Option<Word>) -> u64 {
    let bytes = (b << 32 | a).to_le_bytes();
    let n = c & 3;
    let pick = |i: u64| -> u64 {
        let index = match mode {
            None => {
                let selector = c >> (4 * i);
                let byte = bytes[fit::<usize, _>(selector & 7)];
                let sign = if byte >= 0x80 { 0xff } else { 0 };
                return u64::from(if selector & 8 != 0 { sign } else { byte });
            }
            Some(Word::F4e) => n + i,
            Some(Word::B4e) => (8 + n - i) % 8,
            Some(Word::Rc8) => n,
            Some(Word::Ecl) => n.max(i),
            Some(Word::Ecr) => n.min(i),
            Some(_) => (n & 1) * 2 + (i & 1),
        };
        u64::from(bytes[fit::<usize, _>(index)])
    };
    (0..4).map(|i| pick(i) << (8 * i)).sum()
}

/// Position of the highest bit that is not a copy of the sign; all ones when there is none.
fn find_bit(a: u64, ty: Type, shift_amount: bool) -> u64 {
    let bits = ty.bits();
    let a = if ty.is_signed() && a >> (bits - 1) & 1 == 1 { !a & low_mask(bits) } else { a };
    match a.checked_ilog2() {
        None => low_mask(32),
        Some(at) => u64::from(if shift_amount { bits - 1 - at } else { at }),
    }
}

/// `fns`: the n-th set bit counted from `base`.
fn nth_set(mask: u64, base: u64, offset: i64) -> u64 {
    let is_set = |i: i64| (0..32).contains(&i) && mask >> i & 1 == 1;
    let base = i64::from(low32(base));
    let found = match offset {
        0 => Some(base).filter(|i| is_set(*i)),
        1.. => (base..32).filter(|i| is_set(*i)).nth(fit(offset - 1)),
        _ => (0..=base.min(31)).rev().filter(|i| is_set(*i)).nth(fit(-offset - 1)).filter(|_| base < 32),
    };
    found.map_or(low_mask(32), |i| i as u64)
}

/// `bfe`: the field filled up with its sign, or with the value's sign when it reaches beyond.
fn extract(a: u64, at: u64, len: u64, ty: Type) -> u64 {
    let (at, len, top) = (at & 0xff, len & 0xff, u64::from(ty.bits() - 1));
    let bit = |i: u64| a >> i & 1;
    let sign = if ty.is_signed() && len > 0 { bit((at + len - 1).min(top)) } else { 0 };
    (0..=top).map(|i| (if i < len && at + i <= top { bit(at + i) } else { sign }) << i).sum()
}

/// `bfi`: the low bits of `a` put into `b`.
fn insert(a: u64, b: u64, at: u64, len: u64, bits: u32) -> u64 {
    let (at, len) = (at & 0xff, len & 0xff);
    (0..u64::from(bits))
        .map(|i| {
            let inside = i >= at && i < at + len;
            (if inside { a >> (i - at) & 1 } else { b >> i & 1 }) << i
        })
        .sum()
}

/// `szext`: the low `n` bits extended.
fn extend(a: u64, n: u64, signed: bool, wrap: bool) -> u64 {
    let n = low32(if wrap { n & 31 } else { n.min(32) });
    match (n, signed) {
        (0, _) => 0,
        (_, true) => sign_extend(a, n).cast_unsigned() & low_mask(32),
        (_, false) => a & low_mask(n),
    }
}

/// `bmsk`: ones from bit `at` on, `len` of them.
fn mask(at: u64, len: u64, wrap: bool) -> u64 {
    let (at, len) = if wrap { (at & 31, len & 31) } else { (at.min(32), len.min(32)) };
    low_mask(low32(len)) << at & low_mask(32)
}

impl Step<'_> {
    pub(super) fn logic(&mut self) -> Done<()> {
        let ty = self.inst.ty();
        let has = |word| self.inst.has(word);
        let v = |i: usize| self.value(i, ty);
        let word = |i: usize| self.value(i, Type::U32);
        let bits = ty.bits();
        let (mut out, mut result) = (ty, 0);
        match self.inst.opcode {
            Opcode::And => result = v(1)? & v(2)?,
            Opcode::Or => result = v(1)? | v(2)?,
            Opcode::Xor => result = v(1)? ^ v(2)?,
            Opcode::Not => result = !v(1)?,
            Opcode::Cnot => result = u64::from(v(1)? == 0),
            Opcode::Lop3 => {
                let table = self.value(4, Type::U32)?;
                result = lop3(v(1)?, v(2)?, v(3)?, table);
                if let Some(op) = self.inst.first_of(&[Word::Or, Word::And]) {
                    let q = self.predicate(5)?;
                    let any = result != 0;
                    self.write_second(if op == Word::Or { any | q } else { any & q });
                }
            }
            Opcode::Shl => result = shift_left(v(1)?, word(2)?, bits),
            Opcode::Shr => result = shift_right(v(1)?, word(2)?, ty),
            Opcode::Shf => result = funnel(v(1)?, v(2)?, word(3)?, has(Word::L), has(Word::Wrap)),
            Opcode::Prmt => {
                let modes = [Word::F4e, Word::B4e, Word::Rc8, Word::Ecl, Word::Ecr, Word::Rc16];
                result = permute(v(1)?, v(2)?, word(3)?, self.inst.first_of(&modes));
            }
            Opcode::Popc => (out, result) = (Type::U32, v(1)?.count_ones().into()),
            Opcode::Clz => (out, result) = (Type::U32, (v(1)?.leading_zeros() + bits - 64).into()),
            Opcode::Bfind => (out, result) = (Type::U32, find_bit(v(1)?, ty, has(Word::Shiftamt))),
            Opcode::Fns => result = nth_set(v(1)?, v(2)?, sign_extend(self.value(3, Type::S32)?, 32)),
            Opcode::Brev => result = v(1)?.reverse_bits() >> (64 - bits),
            Opcode::Bfe => result = extract(v(1)?, word(2)?, word(3)?, ty),
            Opcode::Bfi => result = insert(v(1)?, v(2)?, word(3)?, word(4)?, bits),
            Opcode::Szext => result = extend(v(1)?, word(2)?, ty.is_signed(), has(Word::Wrap)),
            Opcode::Bmsk => result = mask(word(1)?, word(2)?, has(Word::Wrap)),
            _ => {}
        }
        self.write(0, out, result);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_beyond_the_width() {
        assert_eq!(shift_left(1, 40, 32), 0);
        assert_eq!(shift_right(0x8000_0000, 0xffff_ffff, Type::S32), 0xffff_ffff);
        assert_eq!(shift_right(u64::MAX, 64, Type::U64), 0);
        assert_eq!(shift_right(u64::MAX, 200, Type::S64), u64::MAX);
        assert_eq!(funnel(0x8000_0001, 0xffff_0000, 32, true, false), 0x8000_0001);
        assert_eq!(funnel(0x8000_0001, 0xffff_0000, 32, true, true), 0xffff_0000);
        assert_eq!(funnel(0x8000_0001, 0xffff_0000, 40, false, false), 0xffff_0000);
    }

    #[test]
    fn fields() {
        assert_eq!(extract(0xf0, 4, 4, Type::S32), 0xffff_ffff);
        assert_eq!(extract(0x8000_0000, 30, 8, Type::S32), 0xffff_fffe);
        assert_eq!(extract(0x8000_0000, 30, 8, Type::U32), 2);
        assert_eq!(extract(0x8000_0000, 40, 0, Type::S32), 0);
        assert_eq!(extract(0x8000_0000, 200, 200, Type::S32), 0xffff_ffff);
        assert_eq!(insert(0xff, 0, 28, 8, 32), 0xf000_0000);
        assert_eq!(insert(0xff, 0x1234, 40, 8, 32), 0x1234);
        assert_eq!(find_bit(0xffff_ffff, Type::S32, false), 0xffff_ffff);
        assert_eq!(find_bit(0xffff_fffb, Type::S32, false), 2);
        assert_eq!(find_bit(4, Type::U64, true), 61);
        assert_eq!(mask(4, 8, false), 0xff0);
        assert_eq!(mask(4, 40, false), 0xffff_fff0);
        assert_eq!(mask(33, 1, false), 0);
        assert_eq!(mask(33, 1, true), 2);
        assert_eq!(extend(0xffff_ff80, 8, true, false), 0xffff_ff80);
        assert_eq!(extend(0x80, 40, true, false), 0x80);
        assert_eq!(extend(0x180, 40, true, true), 0xffff_ff80);
        assert_eq!(nth_set(0b1010_1010, 4, 1), 5);
        assert_eq!(nth_set(0b1010_1010, 4, -2), 1);
        assert_eq!(nth_set(0b1010_1010, 4, 0), 0xffff_ffff);
    }

    #[test]
    fn permutations() {
        let (a, b) = (0x3322_1100, 0x7766_5584);
        assert_eq!(permute(a, b, 0x0123, None), 0x0011_2233);
        assert_eq!(permute(a, b, 0xcccc, None), 0xffff_ffff);
        assert_eq!(permute(a, b, 1, Some(Word::F4e)), 0x8433_2211);
        assert_eq!(permute(a, b, 0, Some(Word::B4e)), 0x5566_7700);
        assert_eq!(permute(a, b, 2, Some(Word::Ecl)), 0x3322_2222);
        assert_eq!(permute(a, b, 2, Some(Word::Ecr)), 0x2222_1100);
        assert_eq!(permute(a, b, 1, Some(Word::Rc16)), 0x3322_3322);
        assert_eq!(lop3(0xf0, 0xcc, 0xaa, 0xe8) & 0xff, 0xe8);
    }
}
