//! Logic, shifts, moves and selection.

use super::lane_ops;
use super::plane::Regs;
use crate::math::bit_ops::lop3_b32;
use crate::math::int_ops::{shl_b16, shl_b32, shl_b64, shr_s16, shr_s32, shr_s64, shr_u16, shr_u32, shr_u64};
use crate::op::Op;
use raddle_ptx::num::{low8, low32};

/// Whether a generic address points into the state space with this number.
#[inline(always)]
fn in_space(space: u64, address: u64) -> bool {
    use crate::memory::{Region, region};
    use raddle_ptx::ir::Space;
    let found = match region(address) {
        Region::Shared(_) => Space::Shared,
        Region::Local(_) => Space::Local,
        Region::Const(_) => Space::Const,
        Region::Param(_) => Space::Param,
        Region::Global(_) => Space::Global,
    };
    found as u64 == space
}

lane_ops! {
    Isspacep32[aux](a: u32) -> bool = in_space(aux, u64::from(a));
    Isspacep64[aux](a: u64) -> bool = in_space(aux, a);
    And32(a: u32, b: u32) -> u32 = a & b;
    And64(a: u64, b: u64) -> u64 = a & b;
    Or32(a: u32, b: u32) -> u32 = a | b;
    Or64(a: u64, b: u64) -> u64 = a | b;
    Xor32(a: u32, b: u32) -> u32 = a ^ b;
    Xor64(a: u64, b: u64) -> u64 = a ^ b;
    Not16(a: u16) -> u16 = !a;
    Not32(a: u32) -> u32 = !a;
    Not64(a: u64) -> u64 = !a;
    Cnot16(a: u16) -> u16 = u16::from(a == 0);
    Cnot32(a: u32) -> u32 = u32::from(a == 0);
    Cnot64(a: u64) -> u64 = u64::from(a == 0);
    Lop3[aux](a: u32, b: u32, c: u32) -> u32 = lop3_b32(a, b, c, low8(aux));
    /// The predicate is `(result != 0) op q`; `aux` bit 8 selects `and` instead of `or`.
    Lop3Bool[aux](a: u32, b: u32, c: u32, q: bool) -> (u32, bool) = {
        let d = lop3_b32(a, b, c, low8(aux));
        (d, if aux & 0x100 != 0 { (d != 0) & q } else { (d != 0) | q })
    };
    Shl16(a: u16, n: u32) -> u16 = shl_b16(a, n);
    Shl32(a: u32, n: u32) -> u32 = shl_b32(a, n);
    Shl64(a: u64, n: u32) -> u64 = shl_b64(a, n);
    ShrU16(a: u16, n: u32) -> u16 = shr_u16(a, n);
    ShrS16(a: i16, n: u32) -> i16 = shr_s16(a, n);
    ShrU32(a: u32, n: u32) -> u32 = shr_u32(a, n);
    ShrS32(a: i32, n: u32) -> i32 = shr_s32(a, n);
    ShrU64(a: u64, n: u32) -> u64 = shr_u64(a, n);
    ShrS64(a: i64, n: u32) -> i64 = shr_s64(a, n);
    Mov32(a: u32) -> u32 = a;
    Mov64(a: u64) -> u64 = a;
    /// `aux` is added: the address of a variable in the thread's frame.
    AddImm32[aux](a: u32) -> u32 = a.wrapping_add(low32(aux));
    /// As [`AddImm32`], from a 32-bit frame pointer to a 64-bit address.
    AddImm64[aux](a: u32) -> u64 = u64::from(a).wrapping_add(aux);
    /// `aux` is added to a 64-bit address: into or out of a window.
    Offset64[aux](a: u64) -> u64 = a.wrapping_add(aux);
    Selp32(a: u32, b: u32, p: bool) -> u32 = if p { a } else { b };
    Selp64(a: u64, b: u64, p: bool) -> u64 = if p { a } else { b };
    SlctS32(a: u32, b: u32, c: i32) -> u32 = if c >= 0 { a } else { b };
    SlctS64(a: u64, b: u64, c: i32) -> u64 = if c >= 0 { a } else { b };
    // A NaN selects the second operand, -0 the first.
    SlctF32(a: u32, b: u32, c: f32) -> u32 = if c >= 0.0 { a } else { b };
    SlctF64(a: u64, b: u64, c: f32) -> u64 = if c >= 0.0 { a } else { b };
    SlctFtz32(a: u32, b: u32, c: f32) -> u32 = if crate::math::f32_ops::ftz_f32(c) >= 0.0 { a } else { b };
    SlctFtz64(a: u64, b: u64, c: f32) -> u64 = if crate::math::f32_ops::ftz_f32(c) >= 0.0 { a } else { b };
    Pack16x2(lo: u16, hi: u16) -> u32 = u32::from(lo) | u32::from(hi) << 16;
    Pack32x2(lo: u32, hi: u32) -> u64 = u64::from(lo) | u64::from(hi) << 32;
    Pack8x4(a: u32, b: u32, c: u32, e: u32) -> u32 = a & 0xff | (b & 0xff) << 8 | (c & 0xff) << 16 | e << 24;
    Pack16x4(a: u16, b: u16, c: u16, e: u16) -> u64 =
        u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(e) << 48;
    Unpack16x2(a: u32) -> (u32, u32) = (a & 0xffff, a >> 16);
    Unpack32x2(a: u64) -> (u32, u32) = (low32(a), low32(a >> 32));
    Unpack8x4(a: u32) -> [u32; 4] = [a & 0xff, a >> 8 & 0xff, a >> 16 & 0xff, a >> 24];
    Unpack16x4(a: u64) -> [u32; 4] =
        [(a & 0xffff) as u32, (a >> 16 & 0xffff) as u32, (a >> 32 & 0xffff) as u32, (a >> 48) as u32];
}

/// Logic on predicates works on whole masks.
macro_rules! pred_ops {
    ($($name:ident |$a:ident, $b:ident| $body:expr;)+) => { $(
        pub(super) fn $name(regs: &mut Regs<'_>, op: &Op, mask: u32) {
            let ($a, $b) = (regs.pred(op.s[0]), regs.pred(op.s[1]));
            regs.set_pred(op.d[0], $body, mask);
        }
    )+ };
}

pred_ops! {
    and_pred |a, b| a & b;
    or_pred |a, b| a | b;
    xor_pred |a, b| a ^ b;
}

pub(super) fn not_pred(regs: &mut Regs<'_>, op: &Op, mask: u32) {
    let bits = !regs.pred(op.s[0]);
    regs.set_pred(op.d[0], bits, mask);
}

pub(super) fn mov_pred(regs: &mut Regs<'_>, op: &Op, mask: u32) {
    let bits = regs.pred(op.s[0]);
    regs.set_pred(op.d[0], bits, mask);
}
