//! The ISA's pseudo-code, bit by bit, against the masks.

use super::*;
use crate::math::testing::Rng;

const CASES: usize = 100_000;

fn bit(x: u64, i: u32) -> bool {
    x >> i & 1 == 1
}

/// `bfe` for a register of `msb + 1` bits.
fn bfe_by_bits(a: u64, b: u32, c: u32, msb: u32, signed: bool) -> u64 {
    let (pos, len) = (b & 0xff, c & 0xff);
    let sign = signed && len != 0 && bit(a, (pos + len - 1).min(msb));
    (0..=msb).fold(0, |d, i| {
        let set = if i < len && pos + i <= msb { bit(a, pos + i) } else { sign };
        d | u64::from(set) << i
    })
}

fn bfi_by_bits(a: u64, b: u64, c: u32, d: u32, msb: u32) -> u64 {
    let (pos, len) = (c & 0xff, d & 0xff);
    (0..len).take_while(|i| pos + i <= msb).fold(b, |f, i| f & !(1 << (pos + i)) | u64::from(bit(a, i)) << (pos + i))
}

#[test]
fn fields_follow_the_pseudo_code() {
    let mut rng = Rng::new(1);
    for _ in 0..CASES {
        let (a, b) = (rng.u64(), rng.u64());
        let amount = |rng: &mut Rng| match rng.below(4) {
            0 => rng.u32(),
            1 => [0, 1, 31, 32, 33, 63, 64, 65, 255, 256][rng.below(10) as usize],
            _ => rng.below(66),
        };
        let (pos, len) = (amount(&mut rng), amount(&mut rng));
        let (a32, b32) = (a as u32, b as u32);
        let narrow = u64::from(a32);
        assert_eq!(u64::from(bfe_u32(a32, pos, len)), bfe_by_bits(narrow, pos, len, 31, false), "{a32:#x} {pos} {len}");
        assert_eq!(
            bfe_s32(a32 as i32, pos, len) as u32,
            bfe_by_bits(narrow, pos, len, 31, true) as u32,
            "{a32:#x} {pos} {len}"
        );
        assert_eq!(bfe_u64(a, pos, len), bfe_by_bits(a, pos, len, 63, false), "{a:#x} {pos} {len}");
        assert_eq!(bfe_s64(a as i64, pos, len) as u64, bfe_by_bits(a, pos, len, 63, true), "{a:#x} {pos} {len}");
        assert_eq!(bfi_b32(a32, b32, pos, len), bfi_by_bits(narrow, b32.into(), pos, len, 31) as u32, "{pos} {len}");
        assert_eq!(bfi_b64(a, b, pos, len), bfi_by_bits(a, b, pos, len, 63), "{pos} {len}");
    }
}

#[test]
fn bfind_reports_the_top_bit() {
    assert_eq!(
        (bfind_u32(0, false), bfind_u32(0, true), bfind_s32(-1, false), bfind_s64(0, true)),
        (u32::MAX, u32::MAX, u32::MAX, u32::MAX)
    );
    assert_eq!((bfind_u32(1, false), bfind_u32(1, true), bfind_u32(u32::MAX, true)), (0, 31, 0));
    assert_eq!((bfind_s32(-2, false), bfind_s32(i32::MIN, false), bfind_s32(i32::MIN, true)), (0, 30, 1));
    assert_eq!((bfind_u64(1 << 40, false), bfind_u64(1 << 40, true), bfind_s64(!(1 << 40), false)), (40, 23, 40));
    assert_eq!((clz_b32(0), clz_b64(0), clz_b32(1), popc_b32(0xf0f0), popc_b64(u64::MAX)), (32, 64, 31, 8, 64));
    assert_eq!((brev_b32(1), brev_b64(2)), (1 << 31, 1 << 62));
}

fn fns_by_bits(mask: u32, base: u32, offset: i32) -> u32 {
    if offset == 0 {
        return if bit(mask.into(), base) { base } else { u32::MAX };
    }
    let mut pos = base as i32;
    let mut count = offset.unsigned_abs() - 1;
    while (0..32).contains(&pos) {
        if bit(mask.into(), pos as u32) {
            if count == 0 {
                return pos as u32;
            }
            count -= 1;
        }
        pos += offset.signum();
    }
    u32::MAX
}

#[test]
fn fns_follows_the_pseudo_code() {
    let mut rng = Rng::new(2);
    for _ in 0..CASES {
        let (mask, base) = (rng.u32(), rng.below(32));
        for offset in [rng.below(20) as i32 - 10, rng.below(80) as i32 - 40, rng.u32() as i32] {
            assert_eq!(fns_b32(mask, base, offset), fns_by_bits(mask, base, offset), "{mask:#x} {base} {offset}");
        }
    }
    assert_eq!(fns_b32(u32::MAX, 32, 1), u32::MAX);
    assert_eq!(fns_b32(u32::MAX, 31, i32::MIN), u32::MAX);
    assert_eq!((fns_b32(u32::MAX, 0, 32), fns_b32(u32::MAX, 31, -32)), (31, 0));
}

#[test]
fn prmt_modes_follow_the_table() {
    // Byte i of b:a is i.
    let (a, b) = (0x0302_0100, 0x0706_0504);
    let tables: [(PrmtMode, [u32; 4]); 6] = [
        (PrmtMode::F4e, [0x0302_0100, 0x0403_0201, 0x0504_0302, 0x0605_0403]),
        (PrmtMode::B4e, [0x0506_0700, 0x0607_0001, 0x0700_0102, 0x0001_0203]),
        (PrmtMode::Rc8, [0x0000_0000, 0x0101_0101, 0x0202_0202, 0x0303_0303]),
        (PrmtMode::Ecl, [0x0302_0100, 0x0302_0101, 0x0302_0202, 0x0303_0303]),
        (PrmtMode::Ecr, [0x0000_0000, 0x0101_0100, 0x0202_0100, 0x0302_0100]),
        (PrmtMode::Rc16, [0x0100_0100, 0x0302_0302, 0x0100_0100, 0x0302_0302]),
    ];
    for (mode, rows) in tables {
        for (control, want) in (0..).zip(rows) {
            assert_eq!(prmt_b32(a, b, control, mode), want, "{mode:?} {control}");
            assert_eq!(prmt_b32(a, b, control | 0xfffc, mode), want, "{mode:?} {control}");
        }
    }
    assert_eq!(prmt_b32(a, b, 0x7531, PrmtMode::Generic), 0x0705_0301);
    assert_eq!(prmt_b32(0x80, 0x7f00_0000, 0xf8, PrmtMode::Generic), 0x8080_00ff);
}

#[test]
fn lop3_is_its_truth_table() {
    let (ta, tb, tc) = (0xf0u8, 0xccu8, 0xaau8);
    let mut rng = Rng::new(3);
    for _ in 0..1000 {
        let (a, b, c) = (rng.u32(), rng.u32(), rng.u32());
        assert_eq!(lop3_b32(a, b, c, ta & tb & tc), a & b & c);
        assert_eq!(lop3_b32(a, b, c, ta ^ tb ^ tc), a ^ b ^ c);
        assert_eq!(lop3_b32(a, b, c, (ta & tb) | (!ta & tc)), (a & b) | (!a & c));
        assert_eq!(lop3_b32(a, b, c, !(ta | !tb)), !(a | !b));
        assert_eq!((lop3_b32(a, b, c, 0), lop3_b32(a, b, c, 0xff)), (0, u32::MAX));
    }
}

#[test]
fn funnel_shifts() {
    use ShiftMode::{Clamp, Wrap};
    let (a, b) = (0x89ab_cdef, 0x0123_4567);
    for mode in [Clamp, Wrap] {
        assert_eq!((shf_l_b32(a, b, 0, mode), shf_r_b32(a, b, 0, mode)), (b, a));
        assert_eq!((shf_l_b32(a, b, 8, mode), shf_r_b32(a, b, 8, mode)), (0x2345_6789, 0x6789_abcd));
    }
    assert_eq!((shf_l_b32(a, b, 32, Clamp), shf_r_b32(a, b, 99, Clamp)), (a, b));
    assert_eq!((shf_l_b32(a, b, 32, Wrap), shf_r_b32(a, b, 40, Wrap)), (b, 0x6789_abcd));
}

fn szext_by_steps(a: u32, b: u32, clamp: bool, signed: bool) -> u32 {
    let b1 = b & 0x1f;
    let too_large = b >= 32 && clamp;
    let mask = if too_large { 0 } else { u32::MAX << b1 };
    let sign = b1 != 0 && !too_large && signed && bit(a.into(), b1.wrapping_sub(1) & 0x1f);
    a & !mask | if sign { mask } else { 0 }
}

fn bmsk_by_steps(a: u32, b: u32, clamp: bool) -> u32 {
    let (a1, b1) = (a & 0x1f, b & 0x1f);
    let sum = a1 + b1;
    let mask0 = if clamp && a >= 32 { 0 } else { u32::MAX << a1 };
    let overflow = sum >= 32 || clamp && (a >= 32 || b >= 32);
    let mask1 = match (overflow, b1) {
        (true, _) => 0,
        (false, 0) => u32::MAX,
        _ => u32::MAX << sum,
    };
    mask0 & !mask1
}

#[test]
fn extension_and_masks_follow_the_pseudo_code() {
    let mut rng = Rng::new(4);
    let amounts: Vec<u32> = (0..70).chain([255, 256, 1 << 31, u32::MAX]).collect();
    for &n in &amounts {
        for (mode, clamp) in [(ShiftMode::Clamp, true), (ShiftMode::Wrap, false)] {
            for _ in 0..50 {
                let a = rng.u32();
                assert_eq!(szext_u32(a, n, mode), szext_by_steps(a, n, clamp, false), "{a:#x} {n} {mode:?}");
                assert_eq!(
                    szext_s32(a as i32, n, mode) as u32,
                    szext_by_steps(a, n, clamp, true),
                    "{a:#x} {n} {mode:?}"
                );
            }
            for &m in &amounts {
                assert_eq!(bmsk_b32(n, m, mode), bmsk_by_steps(n, m, clamp), "{n} {m} {mode:?}");
            }
        }
    }
}
